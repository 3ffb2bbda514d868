#!/usr/bin/env python3
"""Makes single headers of the library: single.py OUTPUT, a folder that gets the FILES below.

Each file has all that its header includes: headers once, .inl files wherever they are included. A header in it has a guard
with its name, so that one source file may include several of the files.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE_DIR = ROOT / "include"

# The files, the header of which each is made, and what it is.
FILES = {
    "narrow.hpp": ("narrow/narrow.hpp", "everything that needs no matrix library"),
    "narrow_eigen.hpp": ("narrow/eigen.hpp", "everything, with what it does in Eigen, which is not in it"),
    "narrow_compiled_kernels.hpp": (
        "narrow/compiled_kernels.hpp",
        "for one source file of a program, all files of which define NARROW_COMPILED_KERNELS"),
}

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def is_header(path):
    return path.suffix == ".hpp"


def lines_of(path):
    """The lines of a file: each with the file that it includes, if any, and how many conditions it stands in."""
    result = []
    depth = 0
    for line in path.read_text().splitlines():
        depth -= bool(re.match(r"\s*#\s*endif\b", line))
        include = INCLUDE.match(line)
        result.append((line, (path.parent / include[1]).resolve() if include else None, depth))
        depth += bool(re.match(r"\s*#\s*if", line))
    return result


def always_included(path, found):
    """Adds to `found` the files that `path` includes under no condition, and those that they include so."""
    for _, included, depth in lines_of(path):
        if included and depth == 0 and included not in found:
            found.add(included)
            always_included(included, found)
    return found


class Single:
    def __init__(self, header):
        self.always = always_included(header, {header})
        self.lines = []
        self.there = [set()]  # the headers that stand in it, and for each condition that is open those within it
        self.add(header)

    def add(self, path):
        """Adds a file where it is included; says whether there was something to add."""
        if is_header(path):
            if any(path in headers for headers in self.there):
                return False
            self.there[-1].add(path)
        name = path.relative_to(INCLUDE_DIR).as_posix()
        guard = "NARROW_SINGLE_" + re.sub(r"\W", "_", name.removeprefix("narrow/").removesuffix(".hpp")).upper()
        self.lines.append(f"// ---- {name}")
        if is_header(path):
            self.lines += [f"#ifndef {guard}", f"#define {guard}"]
        self.add_lines(name, lines_of(path))
        if is_header(path):
            self.lines.append(f"#endif  // {guard}")
        return True

    def add_lines(self, name, lines):
        interrupted = False
        for number, (line, included, depth) in enumerate(lines):
            if included:
                interrupted |= self.add(included)
                continue
            if re.match(r"#pragma once\b", line):
                continue
            if depth == 0 and re.match(r"\s*#\s*if", line):
                interrupted |= self.add_of_condition(lines[number + 1:])
            if interrupted and line.strip():
                self.lines.append(f"// ---- {name}, continued")
                interrupted = False
            self.note_condition(line)
            self.lines.append(line)

    def add_of_condition(self, lines):
        """What stands in the condition that begins, and elsewhere in none, comes before it: it need not come twice."""
        added = False
        for _, included, depth in lines:
            if depth == 0:
                break
            if included and is_header(included) and included in self.always:
                added |= self.add(included)
        return added

    def note_condition(self, line):
        condition = re.match(r"\s*#\s*(if|el|endif)", line)
        if condition:
            if condition[1] != "if":
                self.there.pop()
            if condition[1] != "endif":
                self.there.append(set())


START = """\
// narrow {version}, <{header}> in one file: {what}.
//
{licence}#pragma once

#if defined(NARROW_VERSION_MAJOR) && !defined(NARROW_SINGLE_VERSION)
#error "narrow: a source file includes either single headers or those in the folder narrow/, which define the same names"
#else

"""


def build(output):
    output.mkdir(parents=True, exist_ok=True)
    version = ".".join(re.findall(r"NARROW_VERSION_\w+ (\d+)", (INCLUDE_DIR / "narrow/version.hpp").read_text()))
    licence = "".join(f"// {line}".rstrip() + "\n" for line in (ROOT / "LICENSE").read_text().splitlines())
    for name, (header, what) in FILES.items():
        start = START.format(version=version, header=header, what=what, licence=licence)
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(Single(INCLUDE_DIR / header).lines))
        (output / name).write_text(f"{start}{text}\n\n#endif\n")
        print(output / name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build(pathlib.Path(sys.argv[1]))
