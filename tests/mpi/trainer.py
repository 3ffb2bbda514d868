#!/usr/bin/env python3
"""Trains on several ranks: trainer.py WORK_FOLDER TRAIN EXAMPLE MPIEXEC [ARGUMENT OF MPIEXEC...]

The weights do not depend on how many ranks there are, nor on whether a run went on from a checkpoint on another number of
them; a rank that fails ends all with its message and leaves the last checkpoint whole."""
import csv
import os
import shutil
import subprocess
import sys

work, train, example, *mpiexec = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
network = ["--model", "mlp", "--limit", "300", "--batch", "32", "--micro-batch", "6", "--formats", "fp16"]


def run(ranks, *arguments, other=None, fails=False):
    """The program on so many ranks; `other`: arguments of one more rank. Returns what it says."""
    command = [*mpiexec, "-n", str(ranks), train, *network, *arguments]
    if other is not None:
        command += [":", "-n", "1", train, *network, *other]
    ended = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=100)
    if (ended.returncode != 0) != fails:
        sys.exit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout + ended.stderr


def contents(name):
    with open(os.path.join(work, name), "rb") as file:
        return file.read()


def require(holds, what):
    if not holds:
        sys.exit(what)


said = {ranks: subprocess.run([*mpiexec, "-n", str(ranks), example], capture_output=True, text=True, timeout=100).stdout
        for ranks in [1, 2, 3]}
require("digest" in said[1] and len(set(said.values())) == 1, f"the example's weights differ: {said}")

model = "mlp-fp16-1.model"
for form, several in [("exact16", [1, 3]), ("exact8", [1, 2, 4])]:
    for ranks in several:
        run(ranks, "--reduce", form, "--epochs", "2", "--export", f"{form}.{ranks}", "--csv", f"{form}.{ranks}.csv")
        require(contents(f"{form}.{ranks}/{model}") == contents(f"{form}.1/{model}"),
                f"{form}: the weights of {ranks} ranks are not those of one")
    curves = [[{k: v for k, v in row.items() if k != "seconds"} for row in
               csv.DictReader(contents(f"{form}.{ranks}.csv").decode().splitlines())] for ranks in several]
    require(len(curves[0]) == 2 and all(c == curves[0] for c in curves), f"{form}: the curves differ: {curves}")

carried = ["--reduce", "exact8", "--checkpoint", "saved"]
run(2, *carried, "--epochs", "1")
text = run(3, *carried, "--epochs", "2", "--resume", "--export", "resumed")
require(text.count("epoch 2/2") == 1, f"not one line of progress for an epoch: {text}")
require(contents(f"resumed/{model}") == contents(f"exact8.1/{model}"), "a run that went on on other ranks has other weights")

before = contents("saved/mlp-fp16-1.checkpoint")
more = [*carried, "--resume", "--epochs", "3"]
text = run(1, *more, other=[*more, "--dataset", "mnist", "--data", "nowhere"], fails=True)
require("train: rank 1: " in text and "nowhere" in text, f"the rank that failed did not say why: {text}")
require(contents("saved/mlp-fp16-1.checkpoint") == before, "the checkpoint did not stay")

text = run(2, "--reduce", "exact7", fails=True)
require(text.count("train: --reduce") == 1, f"a mistake is not told once: {text}")
text = run(7, "--reduce", "wide", fails=True)
require("--micro-batch: 6 leaves some of the 7 ranks without images" in text, text)
print("7 runs, one of them in two parts, and the weights of each form are the same")
