"""What the tables of the pages consist of: the papers' figures, each once, and the runs that stand beside them.
What the index says of a paper is computed from its figures.

A run is the name of its experiment and of its format.
"""
from typing import NamedTuple

from records import signed


class Run(NamedTuple):
    experiment: str
    format: str


class Paper(NamedTuple):
    """Figures of a paper, in %, of which `higher` or `lower` is better; or a word where there is none."""
    source: str
    network: str  # and data
    measured: str
    better: str
    baseline: float  # its fp32
    figures: dict

    def better_by(self, figure, than=None):
        """Than fp32, or than another figure."""
        difference = self.figures[figure] - (self.figures[than] if than else self.baseline)
        return difference if self.better == "higher" else -difference


class PaperTable(NamedTuple):
    """A table of a paper as it is printed."""
    source: str
    head: tuple
    lines: tuple

    def figure(self, line, column):
        (cells,) = (cells for cells in self.lines if cells[0] == line)
        return float(cells[self.head.index(column)])


class Row(NamedTuple):
    label: str
    run: Run
    figure: str = ""  # of the table's paper


class Table(NamedTuple):
    baseline: Run
    rows: tuple
    paper: str = ""


class Claim(NamedTuple):
    """What the index says of a paper, with how `tables` judges it: the name of a function, and its arguments by data
    set."""
    text: str
    paper: str
    page: str
    judge: str
    runs: dict


# The first version, End-to-End DNN Training with Block Floating Point Arithmetic; later ones have other figures.
_DRUMOND = "Drumond et al. (2018, arXiv:1804.01526v1)"

# What the papers print of several networks. Where one of them stands beside a run the figure is taken from here.
PAPER_TABLES = {
    "mixed": PaperTable("Micikevicius et al. (2018), Table 1: ImageNet, top-1 in %", ("network", "fp32", "mixed"), (
        ("AlexNet", "56.77", "56.93"), ("VGG-D", "65.40", "65.43"), ("GoogLeNet", "68.33", "68.43"),
        ("Inception v2", "70.03", "70.02"), ("Inception v3", "73.85", "74.13"), ("ResNet-50", "75.92", "76.04"))),
    "mixed detection": PaperTable("Micikevicius et al. (2018), Table 2: detection, mean average precision in %",
                                  ("network", "fp32", "mixed, no loss scale", "mixed, loss scale"), (
        ("Faster R-CNN", "69.1", "68.6", "69.7"), ("SSD", "76.9", "diverges", "77.1"))),
    "hbfp": PaperTable(f"{_DRUMOND}: test error in %", ("network", "fp32", "M = 8", "M = 12"), (
        ("ResNet-20, CIFAR-10", "8.41", "8.25", "8.41"), ("ResNet-50, CIFAR-100", "33.02", "29.60", "32.40"),
        ("SVHN", "4.56", "4.34", "4.50"), ("WideResNet-28-10", "27.69", "27.69", "27.93"))),
    "int8": PaperTable("Zhao et al. (2021): accuracy in %", ("network", "fp32", "int8"), (
        ("ResNet-18, ImageNet", "70.22", "70.21"), ("ResNet-50, ImageNet", "76.50", "76.59"),
        ("MobileNetV2, ImageNet", "72.44", "71.92"), ("ResNet-20, CIFAR-10", "92.35", "92.76"),
        ("MobileNetV2, CIFAR-10", "94.73", "94.37"), ("InceptionV3, CIFAR-10", "95.00", "95.21"))),
    "int8 times": PaperTable("Zhao et al. (2021): training iteration of ResNet-50, ms",
                             ("pass", "fp32", "fp16", "int8"), (
        ("forward", "71.1", "38.3", "33.7"), ("backward", "151.3", "87.4", "72.6"),
        ("all", "237.8", "136.4", "115.6"))),
    "marvin": PaperTable("Kummer et al. (2021): accuracy in %",
                         ("network", "fp32", "MARViN", "fp32 of MuPPET", "MuPPET"), (
        ("AlexNet, CIFAR-10", "76.3", "75.8", "75.5", "74.5"), ("ResNet-20, CIFAR-10", "89.0", "90.4", "90.1", "90.9"),
        ("AlexNet, CIFAR-100", "44.2", "45.0", "38.2", "38.2"),
        ("ResNet-20, CIFAR-100", "65.7", "65.4", "64.6", "65.8"))),
}

RESNET_20, RESNET_18 = "ResNet-20, CIFAR-10", "ResNet-18, ImageNet"


def _printed(table, network, *columns):
    """Figures of a line of such a table."""
    return [PAPER_TABLES[table].figure(network, column) for column in columns]


_HBFP, _HBFP8, _HBFP12 = _printed("hbfp", RESNET_20, "fp32", "M = 8", "M = 12")
_INT8, _INT8_BOTH = _printed("int8", RESNET_20, "fp32", "int8")
_IMAGENET, _IMAGENET_BOTH = _printed("int8", RESNET_18, "fp32", "int8")
_MARVIN_FP32, _MARVIN, _MUPPET_FP32, _MUPPET = _printed("marvin", RESNET_20, "fp32", "MARViN", "fp32 of MuPPET",
                                                        "MuPPET")

PAPERS = {
    "hbfp": Paper(f"{_DRUMOND}, Table 2", RESNET_20, "250 epochs, test error in %", "lower", _HBFP, {
        "hbfp4": 13.39, "hbfp8": _HBFP8, "hbfp12": _HBFP12, "hbfp16": 8.43, "hbfp8 nearest": 9.50,
        "hbfp4 nearest": "diverges", "hbfp8 avg": "does not train", "hbfp8 min": "does not train"}),
    "floats": Paper(f"{_DRUMOND}, Table 1", RESNET_20, "test error in %", "lower", _HBFP, {
        "m1": "fails", "m2": 9.77, "m4": 8.22, "m8": 8.05, "m16": 7.97, "e2": "diverges", "e6": 14.67}),
    "int8": Paper("Zhao et al. (2021)", RESNET_20, "test accuracy in %", "higher", _INT8, {"both": _INT8_BOTH}),
    "int8 ablation": Paper("Zhao et al. (2021), ablation", RESNET_18, "top-1 in %", "higher", _IMAGENET, {
        "global": 69.68, "gvq": 69.98, "mcs": 70.01, "both": _IMAGENET_BOTH}),
    "marvin": Paper("Kummer et al. (2021)", RESNET_20, "test accuracy in %", "higher", _MARVIN_FP32,
                    {"marvin": _MARVIN}),
    "muppet": Paper("Kummer et al. (2021), of MuPPET", RESNET_20, "test accuracy in %", "higher", _MUPPET_FP32,
                    {"muppet": _MUPPET}),
}

# Kummer et al. (2021): the smallest and the largest of the final sizes, against fp32, and the bits of a weight there.
MARVIN_SIZES = (0.44, 0.73)
MARVIN_LENGTHS = tuple(round(32 * size) for size in MARVIN_SIZES)

MNIST, CIFAR, SHORT = Run("mnist-mixed", "fp32"), Run("cifar-fp32", "fp32"), Run("cifar-short", "fp32")


def _rows(*rows):
    return tuple(Row(label, Run(experiment, kind), *figure) for label, experiment, kind, *figure in rows)


_FLOATS = (("m1", "e8m1"), ("m2", "e8m2"), ("m4", "e8m4"), ("m8", "e8m8"), ("m16", "e8m16"), ("e2", "e2m16"),
           ("e6", "e6m16"))

ACCURACY = {
    "mnist-mixed": Table(MNIST, _rows(
        ("fp16, master copy, dynamic scale", "mnist-mixed", "fp16"), ("bf16, master copy", "mnist-mixed", "bf16"),
        ("fp8", "mnist-mixed", "fp8"))),
    "cifar-mixed": Table(CIFAR, _rows(
        ("fp16, master copy, dynamic scale", "cifar-fp16", "fp16"), ("bf16, master copy", "cifar-bf16", "bf16"),
        ("fp8", "cifar-fp8", "fp8"))),
    "mnist-master": Table(Run("mnist-master", "fp32"), _rows(
        ("fp16, master copy", "mnist-master", "fp16"), ("fp16, no master copy", "mnist-no-master", "fp16"))),
    "mnist-scale": Table(Run("mnist-small-loss", "fp32"), _rows(
        ("fp16, dynamic scale", "mnist-small-loss", "fp16"),
        ("fp16, scale from the histogram", "mnist-auto-scale", "fp16"), ("fp16, no scale", "mnist-no-scale", "fp16"))),
    "mnist-flush": Table(MNIST, _rows(
        *((f"fp32, zero below 2^-{t}", f"mnist-flush-{t}", "fp32") for t in (27, 18, 12, 9)))),
    "mnist-narrow-sums": Table(MNIST, _rows(
        *((f"{kind}, sums in {kind}", "mnist-narrow-sums", kind) for kind in ("fp16", "bf16")))),

    "mnist-hbfp": Table(MNIST, _rows(
        *((f"hbfp{m}", "mnist-hbfp", f"hbfp{m}", f"hbfp{m}") for m in (4, 8, 12, 16))), "hbfp"),
    "cifar-hbfp": Table(CIFAR, _rows(
        *((f"hbfp{m}", f"cifar-hbfp{m}", f"hbfp{m}", f"hbfp{m}") for m in (8, 12))), "hbfp"),
    "mnist-hbfp-ablation": Table(MNIST, _rows(
        ("hbfp8, stochastic, max", "mnist-hbfp", "hbfp8", "hbfp8"),
        ("hbfp8, nearest", "mnist-hbfp-nearest", "hbfp8", "hbfp8 nearest"),
        ("hbfp4, nearest", "mnist-hbfp-nearest", "hbfp4", "hbfp4 nearest"),
        ("hbfp8, avg", "mnist-hbfp-avg", "hbfp8", "hbfp8 avg"), ("hbfp8, min", "mnist-hbfp-min", "hbfp8", "hbfp8 min"),
        ("hbfp8, avg, 1 bit kept", "mnist-hbfp-avg-1", "hbfp8", "hbfp8 avg"),
        ("hbfp8, min, 1 bit kept", "mnist-hbfp-min-1", "hbfp8", "hbfp8 min"),
        *((f"hbfp{m}, weights of 16 bits", "mnist-hbfp-wide", f"hbfp{m}") for m in (2, 3, 4, 8))), "hbfp"),
    "mnist-hbfp4-mlp": Table(Run("mnist-mlp", "fp32"), _rows(
        ("hbfp4, stochastic", "mnist-hbfp4-mlp", "hbfp4", "hbfp4"),
        ("hbfp4, nearest", "mnist-hbfp4-nearest", "hbfp4", "hbfp4 nearest")), "hbfp"),
    "cifar-hbfp-ablation": Table(SHORT, _rows(
        ("hbfp8, stochastic, max", "cifar-short", "hbfp8", "hbfp8"),
        ("hbfp8, nearest", "cifar-hbfp-nearest", "hbfp8", "hbfp8 nearest"),
        ("hbfp8, nearest, weights of 16 bits", "cifar-hbfp-wide", "hbfp8"),
        ("hbfp4, nearest", "cifar-hbfp-nearest", "hbfp4", "hbfp4 nearest"),
        ("hbfp8, avg", "cifar-hbfp-avg", "hbfp8", "hbfp8 avg"),
        ("hbfp8, min", "cifar-hbfp-min", "hbfp8", "hbfp8 min")), "hbfp"),
    "mnist-floats": Table(MNIST, _rows(
        *((f"float_{kind}", "mnist-floats", f"float_{kind}", figure) for figure, kind in _FLOATS),
        ("float_e4m16", "mnist-floats", "float_e4m16")), "floats"),
    "cifar-floats": Table(SHORT, _rows(
        *((f"float_{kind}", "cifar-floats", f"float_{kind}", figure) for figure, kind in _FLOATS)), "floats"),

    "mnist-int8": Table(MNIST, _rows(
        *((f"int8, `--clip {clip}`", f"mnist-int8-{clip}", "int8", clip) for clip in ("global", "gvq", "mcs", "both"))),
        "int8 ablation"),
    "cifar-int8": Table(CIFAR, _rows(
        ("int8, `--clip global`", "cifar-int8-global", "int8"),
        ("int8, `--clip both`", "cifar-int8-both", "int8", "both")),
        "int8"),
    "cifar-int8-ablation": Table(SHORT, _rows(
        ("int8, `--clip global`", "cifar-short-global", "int8", "global"),
        ("int8, `--clip gvq`", "cifar-int8-gvq", "int8", "gvq"),
        ("int8, `--clip mcs`", "cifar-int8-mcs", "int8", "mcs"),
        ("int8, `--clip both`", "cifar-short-both", "int8", "both")), "int8 ablation"),

    "mnist-marvin": Table(MNIST, _rows(
        ("marvin", "mnist-marvin", "marvin", "marvin"),
        ("marvin_extension", "mnist-marvin", "marvin_extension")), "marvin"),
    "cifar-marvin": Table(CIFAR, _rows(
        ("marvin", "cifar-marvin", "marvin", "marvin"),
        ("marvin_extension", "cifar-marvin-extension", "marvin_extension")), "marvin"),
    "mnist-muppet": Table(MNIST, _rows(("muppet", "mnist-muppet", "muppet", "muppet")), "muppet"),
    "cifar-muppet": Table(CIFAR, _rows(("muppet", "cifar-muppet", "muppet", "muppet")), "muppet"),
}

# Final word lengths, by label.
WORD_LENGTHS = {
    "word-lengths": {
        "marvin, MNIST": Run("mnist-marvin", "marvin"),
        "marvin_extension, MNIST": Run("mnist-marvin", "marvin_extension"),
        "muppet, MNIST": Run("mnist-muppet", "muppet"), "marvin, CIFAR-10": Run("cifar-marvin", "marvin"),
        "marvin_extension, CIFAR-10": Run("cifar-marvin-extension", "marvin_extension"),
        "muppet, CIFAR-10": Run("cifar-muppet", "muppet")},
}

# Statistics of one run.
SMALL_VALUES = {
    "mnist-small-values": Run("mnist-statistics", "fp32"),
    "mnist-small-loss-values": Run("mnist-small-statistics", "fp32"),
    "cifar-small-values": Run("cifar-statistics", "int8"),
}
QUANTIZATION_ERRORS = {
    "mnist-quantization-errors": Run("mnist-statistics", "int8"),
    "cifar-quantization-errors": Run("cifar-statistics", "int8"),
}
DISTRIBUTION_DISTANCES = {
    "mnist-distances": Run("mnist-statistics", "int8"),
    "cifar-distances": Run("cifar-statistics", "int8"),
}


def _at_most(points, mnist, cifar):
    return {"MNIST": (mnist, MNIST, points), "CIFAR-10": (cifar, CIFAR, points)}


def _better(paper, figure, than=None):
    return f"{signed(PAPERS[paper].better_by(figure, than))}, {PAPERS[paper].network}"


_MIXED = PAPER_TABLES["mixed"]
_MIXED_BETTER = [_MIXED.figure(network, "mixed") - _MIXED.figure(network, "fp32") for network, *_ in _MIXED.lines]

CLAIMS = (
    Claim("fp16 at most 0.5 points below fp32",
          f"{signed(min(_MIXED_BETTER))} to {signed(max(_MIXED_BETTER))}, ImageNet", "mixed-precision.md",
          "not_far_below",
          _at_most(0.5, Run("mnist-mixed", "fp16"), Run("cifar-fp16", "fp16"))),
    Claim("bf16 at most 0.5 points below fp32", "", "mixed-precision.md", "not_far_below",
          _at_most(0.5, Run("mnist-mixed", "bf16"), Run("cifar-bf16", "bf16"))),
    Claim("fp16 without the master copy below fp16 with it", "80 % of the accuracy lost, speech", "mixed-precision.md",
          "below", {"MNIST": (Run("mnist-no-master", "fp16"), Run("mnist-master", "fp16"))}),
    Claim("fp16 without a loss scale below fp16 with it", "SSD diverges", "mixed-precision.md",
          "below", {"MNIST": (Run("mnist-no-scale", "fp16"), Run("mnist-small-loss", "fp16"))}),
    Claim("hbfp8 at most 1 point below fp32", _better("hbfp", "hbfp8"), "hybrid-block-floating-point.md",
          "not_far_below",
          _at_most(1, Run("mnist-hbfp", "hbfp8"), Run("cifar-hbfp8", "hbfp8"))),
    Claim("hbfp12 at most 1 point below fp32", _better("hbfp", "hbfp12"), "hybrid-block-floating-point.md",
          "not_far_below",
          _at_most(1, Run("mnist-hbfp", "hbfp12"), Run("cifar-hbfp12", "hbfp12"))),
    Claim("hbfp8 with nearest rounding below stochastic", _better("hbfp", "hbfp8 nearest", than="hbfp8"),
          "hybrid-block-floating-point.md", "below",
          {"MNIST": (Run("mnist-hbfp-nearest", "hbfp8"), Run("mnist-hbfp", "hbfp8")),
           "CIFAR-10": (Run("cifar-hbfp-nearest", "hbfp8"), Run("cifar-short", "hbfp8"))}),
    Claim("int8 `both` at most 1 point below fp32", _better("int8", "both"), "distribution-adaptive-int8.md",
          "not_far_below",
          _at_most(1, Run("mnist-int8-both", "int8"), Run("cifar-int8-both", "int8"))),
    Claim("int8 `global` not above `both` by more than the seeds spread",
          _better("int8 ablation", "global", than="both"),
          "distribution-adaptive-int8.md", "not_above",
          {"MNIST": (Run("mnist-int8-global", "int8"), Run("mnist-int8-both", "int8")),
           "CIFAR-10": (Run("cifar-int8-global", "int8"), Run("cifar-int8-both", "int8"))}),
    Claim("quantisation error of gvq below that of global", "throughout, Figure 3a", "distribution-adaptive-int8.md",
          "smaller_error", {"MNIST": (QUANTIZATION_ERRORS["mnist-quantization-errors"],),
                            "CIFAR-10": (QUANTIZATION_ERRORS["cifar-quantization-errors"],)}),
    Claim("marvin at most 1 point below fp32", _better("marvin", "marvin"), "marvin.md", "not_far_below",
          _at_most(1, Run("mnist-marvin", "marvin"), Run("cifar-marvin", "marvin"))),
    Claim("marvin's final word lengths", "{} to {} bits".format(*MARVIN_LENGTHS), "marvin.md", "word_lengths",
          {"MNIST": (Run("mnist-marvin", "marvin"),), "CIFAR-10": (Run("cifar-marvin", "marvin"),)}),
)
