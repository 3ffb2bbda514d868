"""What stands on the pages of examples/train/results: reading the trainer's CSV, tables, the suite. Needs Python alone;
plots are tried where matplotlib is."""
import importlib.machinery
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "examples" / "train" / "results"
sys.path.insert(0, str(RESULTS))
sys.dont_write_bytecode = True

import records  # noqa: E402 (from that folder)
from records import DataError, Results  # noqa: E402

CURVE_HEAD = "format,seed,epoch,step,loss,accuracy,learning_rate,scale,skipped,nonfinite,seconds,diverged\n"
SWITCH_HEAD = "format,seed,step,layer,word_length,fraction_length,lookback,resolution,diversity,loss\n"
STATISTICS_HEAD = "format,seed,epoch,step,layer,tensor,statistic,first_bin,values\n"


def curve(kind, seed, accuracies, seconds=10, diverged=0):
    """The lines of a run with these accuracies after its epochs, each of which took so long."""
    last = len(accuracies)
    return "".join(f"{kind},{seed},{epoch},{epoch * 100},0.5,{accuracy},0.01,65536,0,0,{epoch * seconds},"
                   f"{diverged if epoch == last else 0}\n" for epoch, accuracy in enumerate(accuracies, 1))


def run(program, *arguments, **environment):
    command = [sys.executable, str(RESULTS / program)] if program != "suite" else ["sh", str(RESULTS / program)]
    keep = {key: value for key, value in os.environ.items() if key not in ("SEEDS", "THREADS", "JOBS")}
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False,
                          env={**keep, "PYTHONDONTWRITEBYTECODE": "1", **environment})


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="narrow results ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.csv = self.folder / "csv"
        self.csv.mkdir()

    def put(self, name, text):
        path = self.csv / name
        path.write_text(text, encoding="ascii")
        return path


class Reading(InFolder):
    def test_curves_by_seed_in_the_order_of_epochs(self):
        lines = curve("fp16", 2, [0.25, 0.5]) + curve("fp32", 1, [0.75]) + curve("fp16", 1, [0.125])
        self.put("a.csv", CURVE_HEAD + "".join(reversed(lines.splitlines(True))))
        curves = Results(self.csv).curves("a", "fp16")
        self.assertEqual(list(curves), [1, 2])
        self.assertEqual([point.accuracy for point in curves[2]], [0.25, 0.5])

    def test_what_is_not_there_has_no_lines(self):
        self.put("empty.csv", CURVE_HEAD)
        for name in ("absent", "empty"):
            self.assertEqual(Results(self.csv).curves(name, "fp32"), {})
        self.assertEqual(Results(self.csv).statistics("absent", "fp32"), [])

    def test_a_loss_may_be_nan(self):
        self.put("a.csv", CURVE_HEAD + "fp16,1,1,9,nan,0.1,0.01,1,0,9,1,1\n")
        self.assertEqual(Results(self.csv).curves("a", "fp16")[1][0].diverged, 1)

    def test_errors_name_file_and_line(self):
        good = "fp32,1,1,9,1,0.5,0.01,1,0,0,1,0\n"
        for text, where, what in (
                ("", 1, "no column format"),
                (CURVE_HEAD.replace("accuracy", "error") + good, 1, "no column accuracy"),
                (CURVE_HEAD + good + "fp32,1,2\n", 3, "3 fields"),
                (CURVE_HEAD + good + good, 3, "a second line of fp32, 1, 1"),
                (CURVE_HEAD + good.replace("0.5", "1.5"), 2, "accuracy: 1.5"),
                (CURVE_HEAD + good.replace("0.5", "nan"), 2, "accuracy: nan"),
                (CURVE_HEAD + good.replace("fp32,1", "fp32,one"), 2, "seed: "),
                (CURVE_HEAD + good.replace("1,0\n", "inf,0\n"), 2, "seconds: inf"),
                (CURVE_HEAD + good.replace("1,0\n", "1,2\n"), 2, "diverged: 2"),
                (CURVE_HEAD + '"fp32\n', 2, "")):
            path = self.put("a.csv", text)
            with self.assertRaises(DataError) as raised:
                Results(self.csv).curves("a", "fp32")
            self.assertIn(f"{path}:{where}: {what}", str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))

    def test_what_is_not_ascii_is_an_error(self):
        (self.csv / "a.csv").write_bytes(CURVE_HEAD.encode() + b"\xff\n")
        with self.assertRaisesRegex(DataError, "a.csv"):
            Results(self.csv).curves("a", "fp32")

    def test_statistics_are_of_the_first_seed(self):
        self.put("a.statistics.csv", STATISTICS_HEAD + "int8,3,1,1,weights 1,weights,zeros,0,7\n"
                 "int8,2,1,1,weights 1,weights,exponents,-3,1 0 2\n")
        (row,) = Results(self.csv).statistics("a", "int8")
        self.assertEqual((row.seed, row.first_bin, row.values), (2, -3, (1, 0, 2)))

    def test_a_tensor_may_be_all_zero(self):
        self.put("a.statistics.csv", STATISTICS_HEAD + "fp32,1,1,0,weights 1,weights,exponents,0,\n")
        (row,) = Results(self.csv).statistics("a", "fp32")
        self.assertTrue(records.math.isnan(records.exponents(row).share_below(-24)))

    def test_the_share_below_a_power_of_two(self):
        random.seed(1)
        numbers = [random.gauss(0, 1) * 2.0 ** random.randint(-30, -18) for _ in range(1000)]
        exponents = [records.math.frexp(x)[1] - 1 for x in numbers]
        first = min(exponents)
        counts = tuple(exponents.count(first + i) for i in range(max(exponents) - first + 1))
        for power in (-100, -26, -24, -20, 10):
            expected = sum(abs(x) < 2.0 ** power for x in numbers) / len(numbers)
            self.assertAlmostEqual(records.ExponentCounts(first, counts).share_below(power), expected)
        self.assertTrue(records.math.isnan(records.ExponentCounts(0, (0,)).share_below(0)))

    def test_layers_in_the_order_of_the_network(self):
        rows = [records.Switch("marvin", 1, 1, f"weights {n}", 8, 4, 0, 0) for n in (10, 2, 1)]
        self.assertEqual(records.layers(rows), ["weights 1", "weights 2", "weights 10"])


class Tables(InFolder):
    def setUp(self):
        super().setUp()
        self.pages = self.folder / "pages"
        self.pages.mkdir()
        self.page = self.pages / "page.md"

    def fill(self, text=None, *options, **environment):
        if text is not None:
            self.page.write_text(text, encoding="ascii")
        return run("tables", "--csv", self.csv, "--pages", self.pages, *options, **environment)

    def lines(self, table):
        """Of a table by the names of its rows: the cells that follow."""
        done = self.fill(f"<!-- table: {table} -->\n<!-- end -->\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.strip("| ").split(" | ") for line in self.page.read_text().splitlines() if line.startswith("|")]
        return {row[0]: [cell.strip() for cell in row[1:]] for row in rows}

    def test_mean_spread_and_difference(self):
        self.put("mnist-mixed.csv", CURVE_HEAD
                 + "".join(curve("fp32", seed, [0.5, last], 10) for seed, last in ((1, 0.99), (2, 0.98), (3, 0.985)))
                 + "".join(curve("fp16", seed, [0.5, last], 5) for seed, last in ((1, 0.97), (2, 0.975), (3, 0.98))))
        lines = self.lines("mnist-mixed")
        self.assertEqual(lines["fp32"], ["98.50", "98.00..99.00", "1, 2, 3", "2"])
        self.assertEqual(lines["fp16, master copy, dynamic scale"],
                         ["97.50", "97.00..98.00", "1, 2, 3", "2", "-1.00"])
        self.assertEqual(lines["fp8"][0], "not run")

    def test_differences_are_of_the_seeds_of_both(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + curve("fp32", 1, [0.9]) + curve("fp32", 2, [0.5])
                 + curve("fp16", 1, [0.91]) + curve("bf16", 1, [0.5, 0.9]) + curve("fp8", 7, [0.9]))
        lines = self.lines("mnist-mixed")
        self.assertEqual(lines["fp16, master copy, dynamic scale"][4], "+1.00")
        self.assertEqual(lines["bf16, master copy"][4], "-")  # of other epochs
        self.assertEqual(lines["fp8"][4], "-")  # of other seeds

    def test_runs_that_diverged_are_marked(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + curve("fp32", 1, [0.5, 0.9]) + curve("fp16", 1, [0.5, 0.9])
                 + curve("fp16", 2, [0.1], diverged=1))
        line = self.lines("mnist-mixed")["fp16, master copy, dynamic scale"]
        self.assertEqual(line[:2], ["50.00, diverged: 1 of 2", "10.00..90.00"])

    def test_the_papers_figures_stand_beside(self):
        lines = self.lines("cifar-hbfp")
        self.assertEqual(lines["hbfp8"][-1], "8.25 (+0.16)")  # of errors: 8.41 in fp32

    def test_differences_of_unlike_seeds_are_explained(self):
        note = "\n\nAgainst fp32: over the seeds that both have.\n\n"
        for seed, explained in ((1, False), (2, True)):
            self.put("mnist-mixed.csv", CURVE_HEAD + curve("fp32", 1, [0.9]) + curve("fp16", seed, [0.9]))
            self.lines("mnist-mixed")
            self.assertEqual(note in self.page.read_text(), explained)

    def test_a_command_is_of_the_formats_with_the_same_seeds(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + "".join(
            curve(kind, seed, [0.5]) for kind, seed in (("fp8", 4), ("fp32", 2), ("fp32", 4), ("fp16", 4))))
        self.lines("mnist-mixed")
        self.assertEqual([line.partition(" --formats ")[2] for line in self.page.read_text().splitlines()
                          if line.startswith("    train ")],
                         [f"{formats} --threads 1 --jobs 1" for formats in (
                             "fp32 --seed 2,4", "fp16,fp8 --seed 4", "bf16 --seed 1,2,3")])

    def test_an_experiment_without_the_format_of_a_table_is_an_error(self):
        loader = importlib.machinery.SourceFileLoader("tables", str(RESULTS / "tables"))
        tables = importlib.util.module_from_spec(importlib.util.spec_from_loader("tables", loader))
        loader.exec_module(tables)
        with self.assertRaisesRegex(DataError, "there is no mnist-mixed of fp64, which a table is about"):
            tables.Commands().of(Results(self.csv), [("mnist-mixed", "fp64")])

    def test_the_index_computes_from_the_papers_figures(self):
        lines = self.lines("claims")
        for claim, paper in (("fp16 at most 0.5 points below fp32", "-0.01 to +0.28, ImageNet"),
                             ("hbfp8 at most 1 point below fp32", "+0.16, ResNet-20, CIFAR-10"),
                             ("hbfp8 with nearest rounding below stochastic", "-1.25, ResNet-20, CIFAR-10"),
                             ("int8 `both` at most 1 point below fp32", "+0.41, ResNet-20, CIFAR-10"),
                             ("int8 `global` not above `both` by more than the seeds spread",
                              "-0.53, ResNet-18, ImageNet"),
                             ("marvin at most 1 point below fp32", "+1.40, ResNet-20, CIFAR-10"),
                             ("marvin's final word lengths", "14 to 23 bits")):
            self.assertEqual(lines[claim][0], paper)

    def test_claims_are_judged(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + "".join(
            curve(kind, seed, [end]) for kind, end in (("fp32", 0.9), ("fp16", 0.895), ("bf16", 0.894))
            for seed in (1, 2)))
        self.put("mnist-int8-both.csv", CURVE_HEAD + curve("int8", 1, [0.90]) + curve("int8", 2, [0.91]))
        self.put("mnist-int8-global.csv", CURVE_HEAD + curve("int8", 1, [0.93]) + curve("int8", 2, [0.93]))
        lines = self.lines("claims")
        self.assertEqual(lines["fp16 at most 0.5 points below fp32"][1:3], ["-0.50: holds", "not run"])
        self.assertEqual(lines["bf16 at most 0.5 points below fp32"][1], "-0.60: **does not hold**")
        self.assertEqual(lines["int8 `global` not above `both` by more than the seeds spread"][1],
                         "+2.50, spread 1.00: **does not hold**")

    def test_one_seed_is_not_judged(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + curve("fp32", 1, [0.9]) + curve("fp32", 2, [0.9])
                 + curve("fp16", 1, [0.91]) + curve("bf16", 2, [0.8]) + curve("bf16", 3, [0.8]))
        self.put("mnist-int8-both.csv", CURVE_HEAD + curve("int8", 1, [0.90]) + curve("int8", 2, [0.91]))
        self.put("mnist-int8-global.csv", CURVE_HEAD + curve("int8", 1, [0.93]))
        self.put("mnist-master.csv", CURVE_HEAD + curve("fp16", 1, [0.9]))
        self.put("mnist-no-master.csv", CURVE_HEAD + curve("fp16", 1, [0.8]))
        lines = self.lines("claims")
        self.assertEqual(lines["fp16 at most 0.5 points below fp32"][1], "+1.00, one seed")
        self.assertEqual(lines["bf16 at most 0.5 points below fp32"][1], "-10.00, one seed")  # that both have
        self.assertEqual(lines["int8 `global` not above `both` by more than the seeds spread"][1], "+3.00, one seed")
        self.assertEqual(lines["fp16 without the master copy below fp16 with it"][1], "-10.00, one seed")

    def put_switches(self, *changes):
        self.put("mnist-marvin.switches.csv", SWITCH_HEAD + "".join(
            f"marvin,{seed},{step},weights {layer},{bits},4,25,50,1,0.5\n" for seed, step, layer, bits in changes))

    def test_word_lengths_are_the_last_and_kernels_those_of_all_steps(self):
        self.put("mnist-marvin.csv", CURVE_HEAD + curve("marvin", 1, [0.5]) + curve("marvin", 2, [0.5]))  # 100 steps
        self.put_switches((1, 91, 1, 12), (1, 1, 1, 8), (1, 1, 2, 16), (1, 51, 2, 17), (2, 1, 1, 32), (2, 1, 2, 32))
        self.assertEqual(self.lines("word-lengths")["marvin, MNIST"],
                         ["12..32", "23.2", "0.73", "45.00", "30.00", "25.00"])

    def test_switches_of_a_run_without_a_curve_are_an_error(self):
        self.put_switches((1, 1, 1, 8))
        done = self.fill("<!-- table: word-lengths -->\n<!-- end -->\n")
        self.assertEqual((done.returncode, done.stderr), (
            2, f"tables: {self.csv}/mnist-marvin.csv: no marvin with seed 1, whose switches are there\n"))

    def test_statistics(self):
        row = "{0},1,1,{1},weights 1,activation_gradients,{2}\n"
        none = "fp32,1,1,{},weights {},weights,exponents,0,{}\n"  # below 2^-24; of layer 2 all are zero
        self.put("mnist-statistics.statistics.csv", STATISTICS_HEAD
                 + row.format("fp32", 1, "exponents,-26,1 1 1 1") + row.format("fp32", 9, "exponents,-25,3 1")
                 + none.format(1, 1, "5") + none.format(9, 1, "5") + none.format(9, 2, "")
                 + row.format("int8", 1, "error_global,0,0.25") + row.format("int8", 1, "error_gvq,0,0.125")
                 + row.format("int8", 2, "error_global,0,0.25") + row.format("int8", 2, "error_gvq,0,0.5"))
        self.assertEqual(self.lines("mnist-small-values")["activation gradients"],
                         ["50.00", "75.00", "100.00", "100.00", "75.00 (layer 1)"])
        self.assertEqual(self.lines("mnist-small-values")["weights"], ["0.00"] * 5)
        lines = self.lines("mnist-quantization-errors")
        self.assertEqual(lines["gvq"], ["0.3125", "1 of 2"])
        self.assertNotIn("mcs", lines)

    def test_filling_again_changes_nothing(self):
        text = ("# Before\n\n<!-- table: claims -->\nold\n<!-- end -->\n\nBetween.\n\n"
                "<!-- plot: mnist-mixed -->\n<!-- end -->\nAfter.\n")
        self.assertEqual(self.fill(text, "--check").returncode, 1)
        self.assertEqual(self.page.read_text(), text)
        self.assertEqual(self.fill().returncode, 0)
        once = self.page.read_text()
        self.assertNotIn("old", once)
        for part in ("# Before\n\n<!-- table", "\nBetween.\n", "<!-- end -->\nAfter.\n"):
            self.assertIn(part, once)
        self.assertEqual(self.fill(None, "--check").returncode, 0)
        self.assertEqual(self.fill().stdout, "")
        self.assertEqual(self.page.read_text(), once)

    def test_a_plot_is_shown_once_it_is_there(self):
        text = "<!-- plot: mnist-mixed -->\n<!-- end -->\n"
        self.fill(text)
        self.assertIn("Not drawn", self.page.read_text())
        (self.pages / "plots").mkdir()
        (self.pages / "plots" / "mnist-mixed.svg").touch()
        self.fill(text)
        self.assertIn("](plots/mnist-mixed.svg)", self.page.read_text())

    def test_a_page_with_an_error_changes_no_page(self):
        first = self.pages / "a.md"
        for text, line in (("\n<!-- table: none -->\n<!-- end -->\n", 2), ("<!-- table: claims -->\n", 1),
                           ("<!-- end -->\n", 1), ("<!-- plot: none -->\n<!-- end -->\n", 1),
                           ("<!-- table: claims -->\n<!-- table: claims -->\n<!-- end -->\n", 2)):
            first.write_text("<!-- table: claims -->\n<!-- end -->\n")
            done = self.fill(text)
            self.assertEqual(done.returncode, 2)
            self.assertTrue(done.stderr.startswith(f"tables: {self.page}:{line}: "), done.stderr)
            self.assertEqual(len(first.read_text().splitlines()), 2)

    def test_an_unreadable_file_is_an_error(self):
        path = self.put("mnist-mixed.csv", CURVE_HEAD + "fp32,1\n")
        done = self.fill("<!-- table: mnist-mixed -->\n<!-- end -->\n")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn(f"{path}:2: ", done.stderr)

    def test_the_pages_are_up_to_date(self):
        for made_by in ("tables", "ranks_page"):
            done = run(made_by, "--check")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def git(self, *arguments):
        return subprocess.run(["git", "-C", str(self.csv), "-c", "user.name=n", "-c", "user.email=e", *arguments],
                              capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, *names):
        self.git("add", *names)
        self.git("commit", "-q", "-m", "results")
        return self.git("rev-parse", "HEAD")[:7]

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_files_have_the_commits_that_changed_them(self):
        self.git("init", "-q", str(self.folder))
        first = self.put("a.csv", CURVE_HEAD + curve("fp32", 2, [0.5]) + curve("fp16", 1, [0.5]))
        begun = self.commit("a.csv")
        self.put("b.switches.csv", SWITCH_HEAD + "marvin,1,1,weights 1,8,4,25,50,1,0.5\n")
        other = self.commit("b.switches.csv")
        with open(first, "a", encoding="ascii") as file:
            file.write(curve("fp32", 1, [0.5]))
        more = self.commit("a.csv")
        self.put("c.statistics.csv", STATISTICS_HEAD + "int8,3,1,1,weights 1,weights,zeros,0,7\n")
        self.assertEqual(self.lines("files"), {
            "file": ["formats: seeds", "commits"], "---": ["---", "---"],
            "a.csv": ["fp32: 1, 2; fp16: 1", f"{begun}, {more}"], "b.switches.csv": ["marvin: 1", other],
            "c.statistics.csv": ["int8: 3", "none yet"]})

    def test_without_a_history_the_files_stay_as_they_were(self):
        self.put("a.csv", CURVE_HEAD + curve("fp32", 1, [0.5]))
        text = "<!-- table: files -->\n\n| a.csv | since 1234567 |\n\n<!-- end -->\nAfter.\n"
        done = self.fill(text, GIT_CEILING_DIRECTORIES=str(self.folder.parent))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.page.read_text(), text)
        no_git = self.folder / "git"
        no_git.write_text("#!/bin/sh\nexit 1\n")
        no_git.chmod(0o755)
        done = self.fill(text, PATH=f"{self.folder}:{os.environ['PATH']}")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.page.read_text(), text)

    def test_every_file_of_the_pages_has_a_commit(self):
        page = (RESULTS / "README.md").read_text()
        (table,) = re.findall("<!-- table: files -->(.*?)<!-- end -->", page, re.DOTALL)
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]
        self.assertEqual([line[0] for line in lines], sorted(path.name for path in (RESULTS / "csv").glob("*.csv")))
        for name, _runs, commits in lines:
            self.assertRegex(commits, "^[0-9a-f]{7}(, [0-9a-f]{7})*$", name)

    def test_the_pages_show_everything(self):
        text = "".join(page.read_text() for page in RESULTS.glob("*.md"))
        import claims
        import figures
        for names, kind in ((claims.ACCURACY, "table"), ([figure.name for figure in figures.FIGURES], "plot")):
            for name in names:
                self.assertTrue(f"<!-- {kind}: {name} -->" in text, f"no page has the {kind} {name}")


class Suite(InFolder):
    STUB = """#!/bin/sh
printf '<%s>' "$@"
while [ $# -gt 1 ]; do
  case $1 in --csv) echo text > "$2" ;; esac
  shift
done
exit ${STUB_CODE-0}
"""

    def setUp(self):
        super().setUp()
        self.train = self.folder / "the trainer"
        self.train.write_text(self.STUB)
        self.train.chmod(0o755)
        self.out = self.folder / "out put"

    def suite(self, *names, **environment):
        return run("suite", self.train, self.out, "folder of * mnist", "folder of cifar", *names, **environment)

    def test_folders_with_spaces(self):
        done = self.suite("mnist-mixed", "cifar-fp32")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        given = (self.out / "mnist-mixed.txt").read_text()
        self.assertIn("<--dataset><mnist><--data><folder of * mnist>", given)
        self.assertIn(f"<--csv><{self.out}/mnist-mixed.csv>", given)
        self.assertIn("<--data><folder of cifar>", (self.out / "cifar-fp32.txt").read_text())

    def test_what_is_done_is_skipped_and_what_failed_is_not_done(self):
        self.assertEqual(self.suite("mnist-mixed", STUB_CODE="2").returncode, 2)
        self.assertFalse((self.out / "mnist-mixed.txt").exists())
        self.assertIn("--resume", (self.out / "mnist-mixed.partial").read_text())
        self.assertIn("--dataset", self.suite("mnist-mixed", SEEDS="5").stdout)
        self.assertIn("<--seed><5>", (self.out / "mnist-mixed.txt").read_text())
        self.assertEqual(self.suite("mnist-mixed", SEEDS="5", THREADS="2").stdout, "mnist-mixed: done\n")

    def test_more_seeds_are_run(self):
        self.suite("mnist-mixed", SEEDS="1")
        self.assertEqual(self.suite("mnist-mixed", SEEDS="1,2", STUB_CODE="2").returncode, 2)
        self.assertIn("<--seed><1>", (self.out / "mnist-mixed.txt").read_text())
        self.assertIn("--dataset", self.suite("mnist-mixed", SEEDS="1,2").stdout)
        self.assertIn("<--seed><1,2>", (self.out / "mnist-mixed.txt").read_text())
        self.assertEqual(self.suite("mnist-mixed", SEEDS="1,2").stdout, "mnist-mixed: done\n")

    def test_statistics_are_asked_for_by_the_experiment(self):
        self.suite("mnist-statistics", "mnist-mixed")
        self.assertIn(f"<--statistics-csv><{self.out}/mnist-statistics.statistics.csv>",
                      (self.out / "mnist-statistics.txt").read_text())
        self.assertEqual((self.out / "mnist-statistics.txt").read_text().count("<--seed>"), 1)
        self.assertNotIn("statistics", (self.out / "mnist-mixed.txt").read_text())

    def test_a_name_that_begins_none_is_an_error(self):
        done = run("suite", "-n", "train", self.folder, "m", "c", "mnist", "nothing")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "suite: no experiment's name begins with nothing\n")

    def test_printing_runs_nothing(self):
        done = run("suite", "-n", "train", self.out, "M", "C")
        self.assertFalse(self.out.exists())
        names = [line.split(": ")[0] for line in done.stdout.splitlines()]
        self.assertEqual(len(set(names)), len(names))
        self.assertNotIn("$", done.stdout)


class Collecting(InFolder):
    def test_complete_experiments_without_what_nothing_shows(self):
        out = self.folder / "out"
        out.mkdir()
        for name in ("done", "begun"):
            (out / f"{name}.csv").write_text(CURVE_HEAD + curve("fp32", 1, [0.5]))
            (out / f"{name}.switches.csv").write_text(SWITCH_HEAD)
        rows = [f"fp32,{seed},1,{step},weights 1,weights,{statistic}\n" for seed in (1, 2) for step in (0, 1, 2, 3, 100)
                for statistic in ("exponents,0,5", "zeros,0,1", "ks_gaussian,0,0.5", "values_channel_0,0,1 2")]
        (out / "done.statistics.csv").write_text(STATISTICS_HEAD + "".join(rows))
        (out / "done.txt").touch()
        self.assertEqual(run("collect", "--csv", self.csv, out).stdout, "done: taken\n")
        self.assertEqual(sorted(path.name for path in self.csv.iterdir()), ["done.csv", "done.statistics.csv"])
        self.assertEqual((self.csv / "done.csv").read_text(), (out / "done.csv").read_text())
        self.assertEqual((self.csv / "done.statistics.csv").read_text(), STATISTICS_HEAD + "".join(
            row for row in rows if row.startswith("fp32,1") and (
                "ks_" in row or "exponents" in row and row.split(",")[3] in ("0", "2", "100")
                or "channel" in row and row.split(",")[3] == "100")))

    def test_a_folder_that_is_a_file_is_an_error(self):
        self.put("a.csv", CURVE_HEAD + curve("fp32", 1, [0.5]))
        self.put("a.txt", "")
        done = run("collect", "--csv", self.put("file", ""), self.csv)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^collect: .*file.*\n$")

    def test_switches_of_the_first_seed_and_the_last_of_others(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "done.csv").write_text(CURVE_HEAD + curve("marvin", 1, [0.5]))
        rows = [f"marvin,{seed},{step},weights {layer},{bits},4,25,50,1,0.5\n" for seed in (2, 1) for layer in (1, 2)
                for step, bits in ((1, 8), (50, 15), (90, 12))]
        (out / "done.switches.csv").write_text(SWITCH_HEAD + "".join(rows))
        (out / "done.txt").touch()
        self.assertEqual(run("collect", "--csv", self.csv, out).stdout, "done: taken\n")
        self.assertEqual((self.csv / "done.switches.csv").read_text(), SWITCH_HEAD + "".join(
            row for row in rows if row.startswith("marvin,1,") or row.split(",")[2] == "90"))


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
class Plots(InFolder):
    def plot(self, *names):
        return run("plot", "--csv", self.csv, "--out", self.folder / "plots", *names)

    def test_the_same_bytes_again(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + curve("fp32", 1, [0.5, 0.9]) + curve("fp16", 1, [0.5, 0.8])
                 + curve("fp16", 2, [0.1], diverged=1))
        path, texts = self.folder / "plots" / "mnist-mixed.svg", []
        for _ in range(2):
            self.assertEqual(self.plot("mnist-mixed").returncode, 0)
            texts.append(path.read_bytes())
        self.assertEqual(texts[0], texts[1])
        self.assertTrue(texts[0].isascii())
        self.assertIn(b"90.00 fp32", texts[0])
        self.assertIn(b"; x: diverged<", texts[0])

    def texts(self, name):
        """What is written in a figure."""
        self.assertEqual(self.plot(name).returncode, 0)
        return re.findall("<text[^>]*>([^<]*)", (self.folder / "plots" / f"{name}.svg").read_text())

    def test_the_baseline_has_the_seeds_of_what_is_beside_it(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + curve("fp32", 1, [0.5, 0.9]) + curve("fp32", 2, [0.5, 0.8])
                 + curve("fp16", 1, [0.5, 0.7]) + curve("bf16", 1, [0.5, 0.6]))
        texts = self.texts("mnist-mixed")
        self.assertIn("seed 1", texts)
        self.assertIn("90.00 fp32", texts)
        with open(self.csv / "mnist-mixed.csv", "a", encoding="ascii") as file:
            file.write(curve("fp16", 2, [0.5, 0.6]))
        texts = self.texts("mnist-mixed")
        self.assertIn("mean of seeds 1, 2 where no other is named; bands: lowest to highest", texts)
        for end in ("85.00 fp32", "90.00 fp32, seed 1", "65.00 fp16, master copy, dynamic scale",
                    "60.00 bf16, master copy, seed 1"):
            self.assertIn(end, texts)

    def test_runs_that_fail_leave_the_axis_to_the_others(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + curve("fp32", 1, [0.98, 0.99]) + curve("fp16", 1, [0.98, 0.985])
                 + curve("bf16", 1, [0.1, 0.1]) + curve("fp8", 1, [0], diverged=1))
        texts = self.texts("mnist-mixed")
        self.assertIn("seed 1; triangle: below the axis", texts)
        self.assertIn("10.00 bf16, master copy", texts)
        self.assertIn("diverged fp8", texts)
        self.assertIn("98.5", texts)
        self.assertNotIn("95", texts)  # at no tick

    def test_a_narrow_range_of_accuracies_has_ticks(self):
        self.put("mnist-mixed.csv", CURVE_HEAD + curve("fp32", 1, [0.5, 0.8]) + curve("fp16", 1, [0.6, 0.78]))
        texts = self.texts("mnist-mixed")
        for tick in ("50", "55", "60", "65", "70", "75", "78", "80"):
            self.assertIn(tick, texts)

    def test_a_figure_of_word_lengths_shows_the_first_and_the_extreme(self):
        self.put("mnist-marvin.csv", CURVE_HEAD + curve("marvin", 1, [0.5]))
        plotted = {}
        for bits in (18, 32):
            self.put("mnist-marvin.switches.csv", SWITCH_HEAD + "".join(
                f"marvin,1,{step},weights 1,{word_length},4,25,50,1,0.5\n"
                for step, word_length in ((1, 8), (3, 18), (40, bits), (41, 18))))
            texts = self.texts("mnist-word-lengths")
            self.assertIn("layer 1", texts)
            plotted[bits] = texts
        self.put("mnist-marvin.switches.csv", SWITCH_HEAD + "marvin,1,1,weights 1,8,4,25,50,1,nan\n")
        self.assertIn("layer 1", self.texts("mnist-word-lengths"))
        self.assertIn("10", plotted[18])
        self.assertIn("30", plotted[32])
        self.assertNotIn("30", plotted[18])

    def test_what_is_missing_is_left_out_and_what_is_damaged_is_an_error(self):
        done = self.plot("mnist-mixed")
        self.assertEqual((done.returncode, done.stdout), (0, "mnist-mixed: left out, no results of mnist-mixed\n"))
        path = self.put("mnist-mixed.csv", CURVE_HEAD + "fp32,1\n")
        done = self.plot("mnist-mixed")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{path}:2: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
