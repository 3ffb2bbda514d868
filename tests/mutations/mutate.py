#!/usr/bin/env python3
"""Whether tests notice a wrong library: changes one place of it at a time and runs the test that must fail then.

    tests/mutations/mutate.py                 every mutation of mutations.py
    tests/mutations/mutate.py NAME...         those whose names contain one of these words
    tests/mutations/mutate.py --list          their names

The changes are made in a copy of include/. A test passes without them, is then compiled and run with each of its mutations,
and has to fail: to stop compiling is no failure that counts. A mutation of an instruction set's own header is run with that
one in use; where the processor has it not, it is not run. Cases with the tag [long] are left out. CXX is another compiler than
clang++. Prints a table, and exits with 1 if a mutation survives.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter

from mutations import MUTATIONS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COMPILER = os.environ.get("CXX", "clang++")
LIBRARIES = ["-lgmpxx", "-lgmp", "-lmpfr", "-pthread"]
MOST_SECONDS = 600  # of a test; an endless loop is a failure, too


class Workshop:
    """The copy of the library, and what is compiled against it."""

    def __init__(self, folder):
        self.folder = folder
        self.include = os.path.join(folder, "include")
        shutil.rmtree(self.include, ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "include"), self.include)
        self.main = os.path.join(folder, "main.o")
        source = os.path.join(folder, "main.cpp")
        with open(source, "w", encoding="ascii") as file:
            file.write("#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
        self.compile(["-O0", source, "-c", "-o", self.main], check=True)

    def compile(self, arguments, check=False):
        command = [COMPILER, "-std=c++20", "-w", f"-I{self.include}", f"-I{ROOT}/tests", "-isystem",
                   "/usr/include/eigen3", *arguments]
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=check)

    def outcome(self, test, level, instruction_set):
        """'passed', 'failed', 'not compiled' or 'not run', and what the compiler or the test said."""
        source, = glob.glob(f"{ROOT}/tests/**/{test}_test.cpp", recursive=True)
        program = os.path.join(self.folder, "test")
        made = self.compile([level, source, self.main, "-o", program, *LIBRARIES])
        if made.returncode != 0:
            return "not compiled", made.stderr
        try:
            run = subprocess.run([program, "~[.]~[long]"], cwd=self.folder, capture_output=True, text=True, errors="replace",
                                 timeout=MOST_SECONDS, check=False, env={**os.environ, "NARROW_ISA": instruction_set})
        except subprocess.TimeoutExpired:
            return "failed", "no end"
        output = run.stdout + run.stderr
        if f'NARROW_ISA: "{instruction_set}" must be one of' in output:
            return "not run", f"the processor has no {instruction_set}"
        return "passed" if run.returncode == 0 else "failed", output

    def change(self, mutation):
        """Applies it; the returned function takes it back."""
        path = os.path.join(self.include, "narrow", mutation.file)
        with open(path, encoding="ascii") as file:
            text = file.read()
        if text.count(mutation.old) != 1:
            sys.exit(f"{mutation.name}: {mutation.file} has {text.count(mutation.old)} times: {mutation.old}")
        with open(path, "w", encoding="ascii") as file:
            file.write(text.replace(mutation.old, mutation.new))

        def restore():
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        return restore


def instruction_set_of(file):
    """The one whose own header this is, or '', which leaves the choice to the library."""
    own = re.fullmatch(r"simd/\w+/(\w+)\.hpp", file)
    return own.group(1) if own else ""


def first_failure(output):
    """What a line of the table says of how a test failed."""
    lines = [line.strip() for line in output.splitlines()]
    for i, line in enumerate(lines):
        if line.endswith("FAILED:") and i > 0:
            return next((lines[j] for j in range(i, min(i + 4, len(lines))) if "(" in lines[j]), line)
    return lines[-1] if lines else "no output"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "mutations"))
    options = parser.parse_args()
    chosen = [m for m in MUTATIONS if not options.names or any(name in m.name for name in options.names)]
    if options.list or not chosen:
        print("\n".join(f"{m.name:32} {m.test}" for m in (chosen or MUTATIONS)))
        return 0 if chosen else 2
    os.makedirs(options.folder, exist_ok=True)
    workshop = Workshop(options.folder)
    outcomes, without = Counter(), {}
    print(f"{'mutation':32} {'test':24} {'outcome':12} seconds")
    for mutation in chosen:
        test = (mutation.test, mutation.level, instruction_set_of(mutation.file))
        begin = time.time()
        if test not in without:
            without[test] = workshop.outcome(*test)
        result, output = without[test]
        if result == "passed":
            restore = workshop.change(mutation)
            begin = time.time()
            result, output = workshop.outcome(*test)
            restore()
        elif result != "not run":
            sys.exit(f"{mutation.test} {result} without a mutation:\n{output[-2000:]}")
        outcomes[result] += 1
        print(f"{mutation.name:32} {mutation.test:24} {result:12} {time.time() - begin:.0f}  "
              f"{first_failure(output) if result != 'passed' else ''}", flush=True)
    print(f"mutations: {len(chosen)}, caught: {outcomes['failed']}, not run: {outcomes['not run']}")
    survivors = outcomes["passed"] + outcomes["not compiled"]
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
