"""Reads the CSV files that `train` writes: curves, switches of formats, statistics of tensors.

All that is wrong with a file is a DataError that names the file and the line.
"""
import csv
import math
import os
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent


class DataError(Exception):
    """What a user can put right; its text is one line."""


class Point(NamedTuple):
    """A run after an epoch: NAME.csv."""
    format: str
    seed: int
    epoch: int
    step: int
    loss: float  # may be NaN
    accuracy: float  # on the test images, in [0, 1]
    seconds: float  # of training so far
    diverged: int  # 1 in the last line of a run that did


class Switch(NamedTuple):
    """A layer's format from a step on: NAME.switches.csv. A word length of 32 is fp32."""
    format: str
    seed: int
    step: int
    layer: str
    word_length: int
    fraction_length: int
    lookback: float
    loss: float


class Statistic(NamedTuple):
    """A number or a histogram of a tensor after a step: NAME.statistics.csv.

    What `statistic` says the values are: `exponents` are counts of floor(log2 |x|), from first_bin on; `values` and
    `values_channel_K`, `values_sample_K` counts in 64 equal bins from -largest to largest; the others one number.
    """
    format: str
    seed: int
    epoch: int
    step: int
    layer: str
    tensor: str
    statistic: str
    first_bin: int
    values: tuple  # of exponents none, if all are zero


class ExponentCounts(NamedTuple):
    """How many values of a tensor have which floor(log2 |x|)."""
    first_bin: int
    counts: tuple

    def share_below(self, exponent):
        """Of the values other than zero, the part whose magnitude is below 2^exponent; NaN if there are none."""
        total = sum(self.counts)
        below = sum(self.counts[:max(exponent - self.first_bin, 0)])
        return below / total if total else math.nan


def _accuracy(text):
    value = float(text)
    if not 0 <= value <= 1:
        raise ValueError(f"{text} is not in 0..1")
    return value


def _finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not finite")
    return value


def _flag(text):
    if text not in ("0", "1"):
        raise ValueError(f"{text} is neither 0 nor 1")
    return int(text)


def _numbers(text):
    return tuple(float(word) for word in text.split())


_CURVE = {"format": str, "seed": int, "epoch": int, "step": int, "loss": float, "accuracy": _accuracy,
          "seconds": _finite, "diverged": _flag}
_SWITCHES = {"format": str, "seed": int, "step": int, "layer": str, "word_length": int, "fraction_length": int,
             "lookback": _finite, "loss": float}
_STATISTICS = {"format": str, "seed": int, "epoch": int, "step": int, "layer": str, "tensor": str, "statistic": str,
               "first_bin": int, "values": _numbers}


def _read(path, record, columns, key):
    """The lines of a file, of which no two may agree in the columns of the key; nothing if there is no such file."""
    if not path.exists():
        return []
    records, seen = [], set()
    try:
        with open(path, newline="", encoding="ascii") as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            missing = [name for name in columns if name not in header]
            if missing:
                raise DataError(f"{path}:1: no column {missing[0]}")
            places = {name: header.index(name) for name in columns}
            for fields in lines:
                where = f"{path}:{lines.line_num}"
                if len(fields) != len(header):
                    raise DataError(f"{where}: {len(fields)} fields, the first line has {len(header)}")
                values = []
                for name, parse in columns.items():
                    try:
                        values.append(parse(fields[places[name]]))
                    except ValueError as error:
                        raise DataError(f"{where}: {name}: {error}") from None
                records.append(record(*values))
                identity = tuple(getattr(records[-1], name) for name in key)
                if identity in seen:
                    raise DataError(f"{where}: a second line of {', '.join(map(str, identity))}")
                seen.add(identity)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}") from None
    except csv.Error as error:
        raise DataError(f"{path}:{lines.line_num}: {error}") from None
    return records


class Results:
    """The files of a folder, by the names of their experiments; each is read once. What is not there has no lines."""

    def __init__(self, folder):
        self._folder = Path(folder)
        self._cache = {}

    def _lines(self, name, *how):
        if name not in self._cache:
            self._cache[name] = _read(self._folder / name, *how)
        return self._cache[name]

    @property
    def folder(self):
        return self._folder

    def runs(self, file):
        """What is in one of the files: {format: its seeds}, in order."""
        experiment, _, kind = file.removesuffix(".csv").partition(".")
        rows = {"": self._curves, "switches": self._switches, "statistics": self._statistics}[kind](experiment)
        formats = {}
        for row in rows:
            formats.setdefault(row.format, set()).add(row.seed)
        return {name: sorted(seeds) for name, seeds in formats.items()}

    def _curves(self, experiment):
        return self._lines(f"{experiment}.csv", Point, _CURVE, ("format", "seed", "epoch"))

    def _switches(self, experiment):
        return self._lines(f"{experiment}.switches.csv", Switch, _SWITCHES, ("format", "seed", "step", "layer"))

    def _statistics(self, experiment):
        return self._lines(f"{experiment}.statistics.csv", Statistic, _STATISTICS,
                           ("format", "seed", "step", "layer", "tensor", "statistic"))

    def curves(self, experiment, kind):
        """The curves of a format: {seed: its points, in order}."""
        return _by_seed(self._curves(experiment), kind, key=lambda p: p.epoch)

    def switches(self, experiment, kind):
        """The formats of a format's layers: {seed: changes, in order}."""
        return _by_seed(self._switches(experiment), kind, key=lambda c: c.step)

    def last_step(self, experiment, kind, seed):
        """Of a run."""
        curves = self.curves(experiment, kind)
        if seed not in curves:
            raise DataError(f"{self._folder / experiment}.csv: no {kind} with seed {seed}, whose switches are there")
        return curves[seed][-1].step

    def statistics(self, experiment, kind):
        """What was measured in the first run of a format, in order."""
        runs = _by_seed(self._statistics(experiment), kind, key=lambda r: r.step)
        return runs[min(runs)] if runs else []


def _by_seed(records, kind, key):
    runs = {}
    for record in records:
        if record.format == kind:
            runs.setdefault(record.seed, []).append(record)
    return {seed: sorted(runs[seed], key=key) for seed in sorted(runs)}


def select(rows, statistic, tensor=None, layer=None):
    """Rows of a statistic, of one tensor and layer where they are given."""
    return [r for r in rows if r.statistic == statistic and tensor in (None, r.tensor) and layer in (None, r.layer)]


def exponents(row):
    return ExponentCounts(row.first_bin, row.values)


def few(items, count):
    """So many at most of a sequence: the first, the last, and some at equal distances between them."""
    if len(items) <= count:
        return list(items)
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def shown_steps(steps):
    """Those of which exponents are shown."""
    return few(sorted(steps), 3)


def layers(records):
    """The names of the layers, in the order of the network: weights 2 before weights 10."""
    def place(name):
        head, _, tail = name.rpartition(" ")
        return (head, int(tail)) if tail.isdecimal() else (name, 0)
    return sorted({r.layer for r in records}, key=place)


def layer_name(layer):
    """What the pages call a layer, which the files name by its weights."""
    return layer.replace("weights", "layer")


def held(changes, last_step):
    """Of a layer's changes, which are in order, each with its first step and the one after its last."""
    ends = [change.step for change in changes[1:]] + [last_step + 1]
    return [(change, change.step, end) for change, end in zip(changes, ends)]


def final_word_lengths(changes):
    """The word length of each layer after the last of its changes, which are in order."""
    return {c.layer: c.word_length for c in changes}


def percent(share):
    """Of a part of 1. What is not 0 does not look like it."""
    return "-" if math.isnan(share) else "< 0.01" if 0 < share < 5e-5 else f"{100 * share:.2f}"


def signed(points):
    """A difference; None where there is none."""
    return "-" if points is None else f"{round(points, 2) + 0.0:+.2f}"  # + 0.0: no -0.00


def replace(path, text):
    """A file that is the old one or the new one at any time."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")  # no other process's
    partial.write_text(text, encoding="ascii", newline="\n")
    partial.replace(path)
