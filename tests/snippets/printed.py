#!/usr/bin/env python3
"""Compares what pages say that programs print with what they print: printed.py FOLDER PAGE...

FOLDER has the programs of examples/. A block in `text` follows one of these lines, which no reader sees:

    <!-- printed by NAME -->                              lines of what FOLDER/NAME prints, one after the other
    <!-- printed by NAME, numbers to a factor of 3 -->    the same, but for numbers, which differ by no more than that
    <!-- printed by no program -->                        a drawing
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(?:^<!-- (.*?) -->\n)?^```text\n(.*?)^```$", re.M | re.S)
MARKER = re.compile(r"printed by (?:(no program)|(\w+)(?:, numbers to a factor of (\d+))?)")
NUMBER = re.compile(r"(?<![\w<])\d+(?:\.\d+)?(?:e[+-]\d+)?")


def alike(said, printed, factor):
    """Whether the texts are equal but for numbers, which differ at most by the factor."""
    if factor == 1 or NUMBER.sub("#", said) != NUMBER.sub("#", printed):
        return said == printed
    pairs = zip(map(float, NUMBER.findall(said)), map(float, NUMBER.findall(printed)))
    return all(a == b or (a > 0 and b > 0 and max(a, b) <= factor * min(a, b)) for a, b in pairs)


def printed_in(output, said, factor):
    """Whether lines of the output are alike what is said of them."""
    lines, count = output.splitlines(keepends=True), said.count("\n")
    return any(alike(said, "".join(lines[i:i + count]), factor) for i in range(len(lines) - count + 1))


def faults(folder, page):
    count, result = 0, []
    for comment, said in BLOCK.findall(page.read_text()):
        marker = MARKER.fullmatch(comment)
        if not marker:
            result.append(f"{page}: no line before this block says what prints it:\n{said}")
        elif marker[2]:
            output = subprocess.run([folder / marker[2]], stdout=subprocess.PIPE, text=True, check=True).stdout
            count += 1
            if not printed_in(output, said, int(marker[3] or 1)):
                result.append(f"{page}: the page says\n{said}{marker[2]} prints\n{output}")
    return count, result


def main():
    folder, count, found = pathlib.Path(sys.argv[1]), 0, []
    for name in sys.argv[2:]:
        more, result = faults(folder, pathlib.Path(name))
        count += more
        found += result
    print(*found, sep="\n", end="")
    print(f"{count} outputs")
    sys.exit(1 if found or count == 0 else 0)


if __name__ == "__main__":
    main()
