#!/usr/bin/env python3
"""Generates, compiles and runs random programs, and reports what goes wrong.

    tests/random/hunt.py --seed 7 --programs 1000                 1000 programs, each with every instruction set
    tests/random/hunt.py --seed 7 --only 123                      one of them, with its source
    tests/random/hunt.py --build=-O0 --build="-O2 -march=native -ffp-contract=off"
                                                                  compiled twice: the bits must be the same
    tests/random/hunt.py --float                                  of float: whether the reference is right

Views of triangles and of symmetric matrices are left out of the comparison of bits: Eigen's own loops multiply there, with
the vectors of the flags. For the same reason contractions are switched off, which change what Eigen computes in float.

A program that does not compile is left out; if it compiles with float in place of the narrow formats, it is a fault. What
is built stays in the folder of --folder, where a second call finds the kernels. CXX is another compiler than g++.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMPILER = os.environ.get("CXX", "g++")
PER_FILE = 40
AS_FLOAT = "-DNARROW_RANDOM_FLOAT -DEIGEN_DONT_VECTORIZE "
KERNELS = ("simd/compiled_kernels", "kernel/compiled_products")
SOURCES = ("main.cpp", "reference.cpp", "reference_formats.cpp")


def compile_file(source, flags, target):
    command = [COMPILER, "-std=c++20", *flags.split(), "-DNARROW_COMPILED_KERNELS", f"-I{ROOT}/include", f"-I{ROOT}/tests",
               "-isystem", "/usr/include/eigen3", "-w", "-c", source, "-o", target]
    return subprocess.run(command, capture_output=True, text=True)


class Batch:
    """Some programs of a seed, and what came of them."""

    def __init__(self, options, numbers, folder):
        self.options, self.numbers, self.folder = options, list(numbers), folder
        self.flags = AS_FLOAT if options.float else ""
        self.faults, self.not_compiled, self.totals = [], [], [0, 0, 0, 0]

    def run(self, objects):
        bits = {}
        for flags in self.options.build or ["-O0"]:
            compiled = self.compile(self.numbers, self.flags + flags)
            if compiled:
                self.run_build(compiled, flags, objects, bits)
        return self

    def compile(self, numbers, flags, reports=True):
        """The object of those programs that compile; the others leave self.numbers."""
        while numbers:
            subprocess.run([sys.executable, os.path.join(HERE, "generate.py"), self.folder, "--seed", str(self.options.seed),
                            "--only", *map(str, numbers)], check=True)
            source, target = (os.path.join(self.folder, "programs_0" + end) for end in (".cpp", ".o"))
            done = compile_file(source, flags, target)
            if done.returncode == 0:
                return target
            rejected = self.programs_at(source, done.stderr)
            if not rejected:
                raise RuntimeError(done.stderr[:5000])
            numbers = [n for n in numbers if n not in rejected]
            if reports:
                self.numbers = numbers
                for number in sorted(rejected):
                    self.reject(number)
        return None

    def programs_at(self, source, errors):
        """The numbers of the programs whose lines a compiler's messages name."""
        lines = {int(n) for n in re.findall(re.escape(source) + r":(\d+):", errors)}
        found, current = set(), None
        for n, line in enumerate(open(source), 1):
            start = re.match(r"void program_(\d+)\(", line)
            current = int(start.group(1)) if start else current
            if n in lines and current is not None:
                found.add(current)
        return found

    def programs_with(self, source, text):
        return {int(number) for number, program in re.findall(r"^void program_(\d+)\((.*?)^}", open(source).read(),
                                                              flags=re.M | re.S) if text in program}

    def reject(self, number):
        if self.options.float or self.compile([number], AS_FLOAT + "-fsyntax-only", reports=False) is None:
            self.not_compiled.append(number)
        else:
            self.faults.append(f"FAILED program {number} compiles with float only")

    def run_build(self, compiled, flags, objects, bits):
        program = os.path.join(self.folder, "programs")
        linked = subprocess.run([COMPILER, *flags.split(), compiled, *objects, "-lgmpxx", "-lgmp", "-lpthread", "-o",
                                 program], capture_output=True, text=True)
        if linked.returncode:
            raise RuntimeError(linked.stderr[:5000])
        done = subprocess.run([program], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            self.faults.append(f"FAILED: {self.numbers} with {flags}: exit {done.returncode} {done.stderr[-3000:]}")
        views = self.programs_with(compiled.replace(".o", ".cpp"), "View<")
        failures = {}
        for line in done.stdout.splitlines():
            of_failure = re.match(r"FAILED program (\d+),", line)
            of_bits = re.match(r"program (\d+): (\w+)$", line)
            if of_failure:
                failures.setdefault(of_failure.group(1), line)
            elif of_bits:
                number, current = of_bits.groups()
                first = bits.setdefault(number, (current, flags))
                if first[0] != current and number not in failures and int(number) not in views:
                    self.faults.append(f"FAILED program {number}: other bits with {flags} than with {first[1]}")
        for number, line in failures.items():
            text = re.search(rf"^program {number}: \w+\n(.*?)^(?=program |FAILED|\d+ programs)", done.stdout,
                             flags=re.M | re.S)
            self.faults.append(f"{line} [{flags}]\n{text.group(1) if text else ''}")
        count = re.search(r"(\d+) programs, (\d+) runs, (\d+) numbers compared, (\d+) of them", done.stdout)
        if count:
            self.totals = [a + int(b) for a, b in zip(self.totals, count.groups())]


def shared_objects(options):
    """What is the same for all programs: the kernels, the reference and what runs programs."""
    objects = []
    for part in KERNELS:
        source = os.path.join(options.folder, os.path.basename(part) + ".cpp")
        with open(source, "w") as file:
            file.write(f"#include <narrow/{part}.hpp>\n")
        objects.append((source, source.replace(".cpp", ".o"), "-O1"))
    for name in SOURCES:
        flags = "-O2 " + (AS_FLOAT if options.float else "")
        objects.append((os.path.join(HERE, name), os.path.join(options.folder, f"{options.float:d}_{name}.o"), flags))
    newest = max(os.path.getmtime(os.path.join(folder, name))
                 for top in (HERE, os.path.join(ROOT, "include")) for folder, _, names in os.walk(top) for name in names)
    for source, target, flags in objects:
        if os.path.exists(target) and os.path.getmtime(target) > newest:
            continue
        done = compile_file(source, flags, target)
        if done.returncode:
            sys.exit(done.stderr)
    return [target for _, target, _ in objects]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--programs", type=int, default=40)
    options.add_argument("--build", action="append")
    options.add_argument("--only", type=int, nargs="+")
    options.add_argument("--float", action="store_true")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--folder", default=os.path.join(ROOT, "build", "random"))
    given = options.parse_args()
    started = time.time()
    os.makedirs(given.folder, exist_ok=True)
    objects = shared_objects(given)
    numbers = given.only or list(range(given.programs))
    faults, not_compiled, totals = 0, 0, [0, 0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        batches = [Batch(given, numbers[first:first + PER_FILE], os.path.join(given.folder, f"batch_{first}"))
                   for first in range(0, len(numbers), PER_FILE)]
        for batch in pool.map(lambda b: b.run(objects), batches):
            print("".join(fault + "\n" for fault in batch.faults), end="", flush=True)
            faults += len(batch.faults)
            not_compiled += len(batch.not_compiled)
            totals = [a + b for a, b in zip(totals, batch.totals)]
    print(f"seed {given.seed}: {totals[0]} programs, {totals[1]} runs, {totals[2]} numbers compared, {totals[3]} of them "
          f"determined, in {time.time() - started:.0f} s; {faults} faults; {not_compiled} programs that float does not "
          "compile either")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
