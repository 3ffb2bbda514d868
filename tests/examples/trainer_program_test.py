"""The trainer as a program: exit codes, what it says on stderr, several of them at a time. The first argument is the
program."""
import csv
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else ""
SMALL = ("--formats", "fp16", "--model", "linear", "--epochs", "1", "--limit", "160")


def command(*arguments):
    return [PROGRAM, *map(str, arguments)]


def train(*arguments, **environment):
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, **environment})


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="narrow trainer ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def curve(self, *arguments):
        """The lines of the run's file but for the times."""
        path = self.folder / "curve.csv"
        done = train(*arguments, "--csv", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, newline="", encoding="ascii") as file:
            lines = list(csv.DictReader(file))
        return [{name: value for name, value in line.items() if name != "seconds"} for line in lines], done


class Checkpoints(Program):
    def test_a_folder_is_one_runs_at_a_time(self):
        place = self.folder / "check points"
        long = ("--formats", "fp32", "--model", "linear", "--epochs", "10000", "--limit", "64", "--checkpoint", place)
        with subprocess.Popen(command(*long), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            try:
                checkpoint = place / "linear-fp32-1.checkpoint"
                until = time.monotonic() + 120
                while not checkpoint.exists() and time.monotonic() < until:
                    time.sleep(0.05)
                self.assertTrue(checkpoint.exists())
                for other in ((*SMALL, "--checkpoint", place), (*SMALL, "--checkpoint", place, "--resume")):
                    done = train(*other)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertEqual(done.stderr, f"train: --checkpoint: another run uses {place} now; this one needs "
                                                  "another folder\n")
                self.assertEqual(list(place.glob("*fp16*")), [])
                self.assertIsNone(first.poll())
            finally:
                first.send_signal(signal.SIGKILL)
        left = place / "linear-fp32-1.checkpoint.1-0.partial"
        left.write_text("of a run that was killed")
        self.assertEqual(train(*SMALL, "--checkpoint", place).returncode, 0)
        self.assertFalse(left.exists())
        self.assertTrue((place / "linear-fp16-1.checkpoint").exists())

    def test_runs_in_folders_of_their_own_do_not_hinder_each_other(self):
        runs = [subprocess.Popen(command(*SMALL, "--checkpoint", self.folder / str(i), "--csv", self.folder / "all.csv"),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(4)]
        self.assertEqual([run.wait() for run in runs], [0] * 4)
        self.assertEqual(len((self.folder / "all.csv").read_text().splitlines()), 2)
        self.assertEqual(list(self.folder.rglob("*.partial")), [])

    def test_another_build_is_refused_unless_it_is_accepted(self):
        place = ("--checkpoint", self.folder / "c")
        more = (*SMALL[:4], "--epochs", "2", *SMALL[6:], *place)
        self.assertEqual(train(*SMALL, *place, NARROW_ISA="portable").returncode, 0)
        names = [name for name in ("avx2", "neon") if train(*SMALL, NARROW_ISA=name).returncode == 0]
        for name in names:
            refused = train(*more, "--resume", NARROW_ISA=name)
            self.assertEqual((refused.returncode, refused.stderr.count("\n")), (2, 1))
            for part in ("linear-fp16-1.checkpoint was written by another build", "kernels portable", f"kernels {name}",
                         "--other-build"):
                self.assertIn(part, refused.stderr)
            accepted = train(*more, "--resume", "--other-build", NARROW_ISA=name)
            self.assertEqual(accepted.returncode, 0)
            self.assertIn("train: linear-fp16-1 goes on from a checkpoint of another build (", accepted.stderr)
            self.assertIn("epoch 2/2", accepted.stderr)
            same = train(*more, "--resume", NARROW_ISA=name)  # which it is from now on
            self.assertEqual(same.returncode, 0)
            self.assertNotIn("another build", same.stderr)
        self.assertLessEqual(len(names), 1)


class Threads(Program):
    def test_more_than_there_are_processors_are_told(self):
        available = len(os.sched_getaffinity(0))
        few, many = train(*SMALL, "--threads", available), train(*SMALL, "--threads", 255)
        self.assertEqual((few.returncode, many.returncode), (0, 0))
        self.assertNotIn("--threads", few.stderr)
        if available < 255:
            word = "thread" if available == 1 else "threads"
            self.assertTrue(many.stderr.startswith(
                f"train: --threads 255 is more than the processors that this process may use: {available} {word}\n"),
                many.stderr)

    def test_the_processors_of_the_process_count(self):
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        try:
            done = train(*SMALL, "--threads", 2)
        finally:
            os.sched_setaffinity(0, before)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--threads 2 is more than the processors that this process may use: 1 thread\n", done.stderr)


class LossScales(Program):
    def test_scales_that_leave_nothing_are_refused(self):
        for scale in ("1e38", "1e-30"):
            done = train("--loss-scale", scale)  # in all formats that are trained without an option
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
            self.assertIn(f"--loss-scale: {scale} is not from ", done.stderr)
            self.assertIn("is in the range of fp16", done.stderr)

    def test_a_run_that_trains_nothing_says_so(self):
        for options, why in ((("--loss-scale", "1e6", "--batch", "2", "--loss-weight", "0.1"), "10 were skipped"),
                             (("--flush-below", "1e9"), "in 10 the gradients of all weights were zero"),
                             (("--loss-scale", "none", "--loss-weight", "1e-9"), "in 10 the gradients")):
            batch = () if "--batch" in options else ("--batch", "2")
            done = train(*SMALL[:6], "--limit", "20", *batch, *options)
            self.assertEqual(done.returncode, 2, done.stderr)
            told = [line for line in done.stderr.splitlines() if line.startswith("train: ")]
            self.assertEqual(len(told), 2, done.stderr)
            self.assertIn("fp16 seed 1 trained nothing: of 10 steps ", told[0])
            self.assertIn(why, told[0])
            self.assertEqual(told[1], "train: no run has trained anything: fp16 seed 1 changed no weight by a gradient")
            self.assertIn(told[0].removeprefix("train: "), done.stdout)

    def test_the_first_steps_of_a_dynamic_scale_are_nothing_to_tell(self):
        lines, done = self.curve(*SMALL[:4], "--epochs", "3", *SMALL[6:], "--loss-weight", "100", "--lr",
                                 "1e-4")
        self.assertNotIn("trained", done.stderr + done.stdout)
        self.assertGreater(int(lines[-1]["skipped"]), 0)
        self.assertEqual(lines[-1]["lost"], "0")

    def test_one_run_that_trains_is_enough(self):
        done = train("--formats", "fp32,fp16", *SMALL[2:], "--loss-scale", "none", "--loss-weight", "1e-9")
        self.assertEqual(done.returncode, 0)
        self.assertIn("train: fp16 seed 1 trained nothing", done.stderr)
        self.assertNotIn("fp32 seed 1 trained", done.stderr)


class Validation(Program):
    def put(self, name, first, count, rows=28, columns=28):
        """Files of MNIST's format: images of a sequence that begins somewhere else than the first."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        images, labels = [], []
        for i in range(first, first + count):
            source = random.Random(i)
            images.append(source.randbytes(rows * columns))
            labels.append(source.randrange(10))
        return struct.pack(">iiii", 2051, count, rows, columns) + b"".join(images), \
            struct.pack(">ii", 2049, count) + bytes(labels)

    def folder_of(self, name, train_images, test_images):
        for prefix, (images, labels) in (("train", self.put(name, *train_images)), ("t10k", self.put(name, *test_images))):
            (self.folder / name / f"{prefix}-images-idx3-ubyte").write_bytes(images)
            (self.folder / name / f"{prefix}-labels-idx1-ubyte").write_bytes(labels)
        return self.folder / name

    def test_the_last_training_images_are_tested_and_the_test_images_are_not_looked_at(self):
        options = ("--dataset", "mnist", "--formats", "fp32,hbfp8", "--model", "linear", "--epochs", "2", "--batch", "8",
                   "--seed", "3")
        split = self.folder_of("split", (0, 70), (70, 30))  # 70 of 100 to train on, the last 30 in place of tests
        whole = self.folder_of("whole", (0, 100), (1000, 20))
        expected, plain = self.curve(*options, "--data", split)
        got, held_out = self.curve(*options, "--data", whole, "--validation", "30")
        self.assertEqual(len(got), 4)
        self.assertEqual(got, expected)
        self.assertIn("validation accuracy", held_out.stdout)
        self.assertIn("validation accuracy", held_out.stderr)
        self.assertNotIn("test accuracy", held_out.stdout + held_out.stderr)
        self.assertIn("test accuracy", plain.stdout)
        other_tests = self.folder_of("other", (0, 100), (5000, 7))
        self.assertEqual(self.curve(*options, "--data", other_tests, "--validation", "30")[0], expected)
        fewer = self.curve(*options, "--data", whole, "--validation", "30", "--limit", "40")[0]
        self.assertEqual(fewer, self.curve(*options, "--data", split, "--limit", "40")[0])

    def test_too_many_are_refused(self):
        whole = self.folder_of("whole", (0, 100), (1000, 20))
        for count in (100, 101):
            done = train("--dataset", "mnist", "--data", whole, "--validation", count)
            self.assertEqual((done.returncode, done.stderr), (
                2, f"train: --validation: {count} images held out of 100 leave none to train on\n"))


if __name__ == "__main__":
    if not PROGRAM:
        sys.exit(f"usage: {sys.argv[0]} TRAIN")
    unittest.main()
