"""The figures of the pages: a line for each. `plot` draws them with the function that is named."""
from typing import NamedTuple

from claims import ACCURACY, DISTRIBUTION_DISTANCES, QUANTIZATION_ERRORS, SMALL_VALUES, Run
from records import layer_name


class Figure(NamedTuple):
    name: str  # of the file, NAME.svg
    draw: str
    title: str
    runs: dict  # {label: run}
    layer: str = ""  # where one alone is shown


def _curves(name, title, *tables):
    """The learning curves of what some tables consist of, which have one baseline."""
    tables = [ACCURACY[table] for table in tables or (name,)]
    runs = {"fp32": tables[0].baseline}
    runs.update({row.label.replace("`", ""): row.run for table in tables for row in table.rows})
    return Figure(name, "learning_curves", f"Test accuracy, {title}", runs)


def _one(run):
    return {run.format: run}


ERROR, DISTANCE = "Error of quantising a layer's gradient to int8", "Kolmogorov-Smirnov distance of a layer's gradient"
MIDDLE = "weights 10"  # of ResNet-20
LENET, RESNET, RESNET_SHORT = "LeNet on MNIST", "ResNet-20 on CIFAR-10", "ResNet-20 on CIFAR-10, 4 epochs"

FIGURES = (
    _curves("mnist-mixed", LENET),
    _curves("cifar-mixed", RESNET),
    _curves("mnist-master", f"{LENET}: learning rate 1e-4"),
    _curves("mnist-scale", f"{LENET}: loss weighted by 1e-5"),
    _curves("mnist-flush", f"{LENET}: small activation gradients are zero"),
    _curves("mnist-hbfp", LENET),
    _curves("cifar-hbfp", RESNET),
    _curves("mnist-hbfp-ablation", LENET),
    _curves("mnist-hbfp4-mlp", "three dense layers on MNIST"),
    _curves("cifar-hbfp-ablation", RESNET_SHORT),
    _curves("mnist-floats", LENET),
    _curves("cifar-floats", RESNET_SHORT),
    _curves("mnist-int8", LENET),
    _curves("cifar-int8", RESNET),
    _curves("cifar-int8-ablation", RESNET_SHORT),
    _curves("mnist-fixed", LENET, "mnist-marvin", "mnist-muppet"),
    _curves("cifar-fixed", RESNET, "cifar-marvin", "cifar-muppet"),

    Figure("mnist-word-lengths", "word_lengths", f"Formats of layers, {LENET}",
           {kind: Run("mnist-marvin", kind) for kind in ("marvin", "marvin_extension")}),
    Figure("cifar-word-lengths", "word_lengths", f"Formats of layers, {RESNET}",
           {"marvin": Run("cifar-marvin", "marvin"),
            "marvin_extension": Run("cifar-marvin-extension", "marvin_extension")}),

    Figure("mnist-exponents", "exponent_histograms", f"Exponents, {LENET}, fp32",
           _one(SMALL_VALUES["mnist-small-values"])),
    Figure("mnist-small-loss-exponents", "exponent_histograms", f"Exponents, {LENET}, fp32, loss weighted by 1e-5",
           _one(SMALL_VALUES["mnist-small-loss-values"])),
    Figure("cifar-exponents", "exponent_histograms", f"Exponents, {RESNET}, int8",
           _one(SMALL_VALUES["cifar-small-values"])),

    Figure("mnist-quantization-errors", "quantization_errors", f"{ERROR}, {LENET}",
           _one(QUANTIZATION_ERRORS["mnist-quantization-errors"])),
    Figure("cifar-quantization-errors", "quantization_errors", f"{ERROR}, {RESNET}",
           _one(QUANTIZATION_ERRORS["cifar-quantization-errors"])),
    Figure("mnist-distances", "distribution_distances", f"{DISTANCE}, {LENET}",
           _one(DISTRIBUTION_DISTANCES["mnist-distances"])),
    Figure("cifar-distances", "distribution_distances", f"{DISTANCE}, {RESNET}",
           _one(DISTRIBUTION_DISTANCES["cifar-distances"])),
    Figure("cifar-gradients", "gradient_distributions", f"Gradient of the output of {layer_name(MIDDLE)}, {RESNET}",
           _one(DISTRIBUTION_DISTANCES["cifar-distances"]), MIDDLE),
)
