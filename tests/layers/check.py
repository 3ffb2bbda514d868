#!/usr/bin/env python3
"""Checks how the headers are laid out: check.py [ROOT], by default the repository that this file stands in.

- Includes run one way, between the rooms of include/narrow in the order of LEVELS, between the folders of kernel/ in that
  of KERNELS. Files outside of kernel/ and simd/ include of kernel/ only its doors, the headers that stand directly in it.
  Only eigen/ includes Eigen, only mpi/ MPI.
- No file has more than MAX_FILE_LINES lines, no function more than MAX_FUNCTION_LINES, everything is ASCII.
- Headers that comments and pages name are there.

Prints each fault as FILE:LINE: TEXT, and exits with 1 if there is one. `check.py --functions N [ROOT]` lists all
functions of at least N lines, the longest first.
"""
import os
import re
import runpy
import sys

MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60

# A file includes files of its own room, of its own line where the line says so, and of the lines above it. A room is
# a folder of include/narrow, or a header that stands directly there.
LEVELS = [
    "version.hpp",
    "config.hpp",
    "integers.hpp",
    "errors.hpp concepts.hpp",
    "stream_errors.hpp",
    "round",
    "format",
    "charconv.hpp",
    "accumulator.hpp matrix_view.hpp io.hpp math.hpp",
    "foreign.hpp",
    "runtime",
    "threads.hpp",
    "kernel simd",  # instruction sets include the bodies of kernels, and kernels what an instruction set is
    "isa.hpp compiled_kernels.hpp convert.hpp",
    "product.hpp",
    "block",
    "prepacked.hpp",
    "format_name.hpp",
    "files",
    "train",
    "mpi",
    "narrow.hpp mpi.hpp",
    "eigen",
    "eigen.hpp",
]
# The same of the folders of kernel/, for what they include of one another. All of them include what stands directly there.
KERNELS = ["convert", "quantize elementwise", "product", "reduce"]
TOGETHER = {"kernel", "simd"}
INTO_SIMD = {"kernel", "simd", "isa.hpp", "compiled_kernels.hpp"}
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms.split()}
KERNEL_LEVEL = {folder: level for level, folders in enumerate(KERNELS) for folder in folders.split()}


def room_of(path):
    return path.split("/")[0]


def include_fault(path, included):
    """What is wrong with the file `path` including `included`, both relative to include/narrow; None if nothing."""
    room, other = room_of(path), room_of(included)
    for unknown in {room, other} - LEVEL.keys():
        return f"{unknown} has no place in the levels of tests/layers/check.py"
    if room == other == "kernel":
        folder, below = (os.path.dirname(name).removeprefix("kernel").strip("/") for name in (path, included))
        for unknown in {folder, below} - KERNEL_LEVEL.keys() - {""}:
            return f"kernel/{unknown} has no place in the levels of tests/layers/check.py"
        if folder and below and folder != below and KERNEL_LEVEL[below] >= KERNEL_LEVEL[folder]:
            return f"kernel/{folder} includes {included}, which is no layer below it"
    if room == other or {room, other} == TOGETHER:
        return None
    if LEVEL[other] >= LEVEL[room]:
        return f"{room} includes {included}, which is no layer below it"
    if other == "kernel" and included.count("/") > 1:
        return f"includes {included}: outside of kernel/ and simd/ only the doors kernel/*.hpp are included"
    if other == "simd" and room not in INTO_SIMD:
        return f"includes {included}: what is in simd/ is for kernel/, isa.hpp and compiled_kernels.hpp"
    return None


def include_faults(root, path, lines):
    folder = os.path.dirname(path)
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if not match:
            continue
        kind, name = match.groups()
        if kind == "<":
            if re.match(r"(unsupported/)?Eigen/", name) and room_of(path) != "eigen":
                yield number, f"includes {name}: only eigen/ includes Eigen"
            if name == "mpi.h" and room_of(path) != "mpi":
                yield number, f"includes {name}: only mpi/ includes MPI"
            continue
        included = os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
        if not os.path.isfile(os.path.join(root, included)):
            yield number, f"includes {name}, which is not there"
            continue
        fault = include_fault(path, included)
        if fault:
            yield number, fault


def mention_faults(headers, texts):
    """Of the headers that `texts`, pairs of a line's number and a text, name by the end of their paths those that are not there."""
    for number, text in texts:
        for name in re.findall(r"[\w/]+\.(?:hpp|inl)\b", text):
            if not any(f"/{path}".endswith(f"/{name}") for path in headers):
                yield number, f"names {name}, which is not there"


TOKEN = re.compile(
    r"""(?P<no_code>//[^\n]*|/\*.*?\*/
      |^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*            # a directive
      |^[ \t]*[A-Z][A-Z_0-9]+(?:\([^\n]*\))?$    # a macro on a line of its own, after which stands no semicolon
      |\s+)
    |R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"        # a raw string
    |"(?:\\.|[^"\\\n])*"                         # a string
    |(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'         # a character; in a number ' separates digits
    |[{}();]|[^\s{}();"'/\#]+|.""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"^(inline )?(namespace|extern)\b|^(template <.*> )?(export )?(class|struct|union|enum)\b")


def functions(text):
    """(first line, last line, first words) of each function body at the level of a namespace or a class, from the
    line where its declaration begins, and of other blocks there, such as those of lambdas and tables."""
    blocks = []       # for each open brace: what it belongs to: (is a scope, first line, words)
    words = []        # of the present declaration
    first = 0         # its line
    parentheses = 0   # open ones in it
    line = 1
    for match in TOKEN.finditer(text):
        token = match.group()
        begin, line = line, line + token.count("\n")
        if match["no_code"]:
            continue
        in_scope = all(block[0] for block in blocks)
        if not words:
            first = begin
        if token in "()":
            parentheses += 1 if token == "(" else -1
        if token == "{":
            declaration = " ".join(words)
            scope = parentheses == 0 and in_scope and SCOPE.search(declaration) is not None
            blocks.append((scope, first, words, parentheses))
            words, parentheses = [], 0
        elif token == "}":
            if not blocks:
                raise ValueError(f"line {begin}: a brace closes that was not opened")
            scope, opened, declaration, parentheses = blocks.pop()
            if scope:
                words = []
            elif all(block[0] for block in blocks) and parentheses == 0:
                yield opened, begin, " ".join(declaration)
                # What a member initialiser in braces or a function's body ends; the former goes on.
                words, first = ([*declaration, "{}"], opened) if initialises(declaration) else ([], begin)
            else:
                words, first = [*declaration, "{}"], opened
        elif token == ";" and parentheses == 0:
            words = []
        else:
            words = [*words, token]
    if blocks:
        raise ValueError(f"the brace of line {blocks[-1][1]} is not closed")


def initialises(declaration):
    """Whether a block after these words is the initialiser of a member or of a variable, and no function's body."""
    return declaration[-1:] not in ([")"], ["const"], ["noexcept"], ["override"]) and not (
        ")" in declaration and "->" in declaration)


def files(root, endings=(".hpp", ".inl")):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if not name.startswith("build")]
        for name in names:
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def faults(repository):
    """(file, line, fault) of each, the file relative to the repository."""
    root = os.path.join(repository, "include", "narrow")
    single_headers = runpy.run_path(os.path.join(repository, "cmake", "single.py"))["FILES"]
    headers = [*files(repository), *single_headers]
    for path, number, fault in header_faults(root, headers):
        yield f"include/narrow/{path}", number, fault
    for path in sorted(files(repository, (".md",))):
        with open(os.path.join(repository, path), encoding="latin-1") as file:
            lines = file.read().splitlines()
        quoted = [(number, words) for number, line in enumerate(lines, 1) for words in re.findall("`([^`]+)`", line)
                  if "NAME" not in words]
        for number, fault in mention_faults(headers, quoted):
            yield path, number, fault


def header_faults(root, headers):
    for path in sorted(files(root)):
        with open(os.path.join(root, path), encoding="latin-1") as file:
            text = file.read()
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            if not line.isascii():
                yield path, number, "is not ASCII"
        if len(lines) > MAX_FILE_LINES:
            yield path, len(lines), f"has {len(lines)} lines, of at most {MAX_FILE_LINES}"
        for number, fault in include_faults(root, path, lines):
            yield path, number, fault
        comments = [(number, line.partition("//")[2]) for number, line in enumerate(lines, 1)]
        for number, fault in mention_faults(headers, comments):
            yield path, number, fault
        for first, last, declaration in functions(text):
            if last - first + 1 > MAX_FUNCTION_LINES:
                yield path, first, (f"{last - first + 1} lines, of at most {MAX_FUNCTION_LINES} for a function: "
                                    f"{declaration[:80]}")


def main(arguments):
    shortest = None
    if arguments[:1] == ["--functions"]:
        shortest, arguments = int(arguments[1]), arguments[2:]
    repository = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    if shortest is not None:
        root = os.path.join(repository, "include", "narrow")
        found = []
        for path in files(root):
            with open(os.path.join(root, path), encoding="latin-1") as file:
                found += [(last - first + 1, path, first, declaration)
                          for first, last, declaration in functions(file.read())]
        for length, path, first, declaration in sorted(found, reverse=True):
            if length >= shortest:
                print(f"{length:4} include/narrow/{path}:{first}: {declaration[:90]}")
        return 0
    count = 0
    for path, number, fault in faults(repository):
        print(f"{path}:{number}: {fault}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
