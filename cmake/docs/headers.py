#!/usr/bin/env python3
"""The headers as Doxygen is to read them: headers.py FILE prints one, with as many lines. Lines of a docstring
such as

    /// Rounding  each element once, by Round.
    /// Throws    std::invalid_argument if the sizes differ.

become a list of terms, and what a macro declares has the docstring of the macro.
"""

import pathlib
import re
import sys

from pages import ROOT, escaped

# What members that have one meaning in every class are, where a header says nothing more of them.
OF_EIGEN = "As of other matrices of Eigen."
OF_THE_LIBRARY = "For the library itself."
MEMBERS = {
    "rows": "How many rows there are.", "cols": "How many columns there are.",
    "size": "How many elements there are.", "order": "Whether rows or columns lie along memory.",
    "swap": "Exchanges the contents; no element is copied.",
    "transposed": "The same elements, rows and columns exchanged; nothing is copied.",
    "options": "What it was made with.", "steps": "How many steps it has counted.",
    "value_type": "The type of an element.", "element_type": "What an element is stored as.",
    "scale_type": "What a scale is stored as.", "block_type": "What shares a scale.",
    "tile_rows": "How many rows a block has, of a matrix with so many.",
    "tile_cols": "How many columns a block has, of a matrix with so many.",
    "bits_type": "The integer type of a code.", "bits": "The code.",
    "carrier": "The built-in type that holds every value.",
    "round_policy": "How it is rounded where nothing else is asked for.",
    "overflow_policy": "What becomes of a number beyond the largest.",
    "format": "The format of the elements.", "tensor": "The tensor that it holds.",
    "view": "What products read.", "view_type": "What products read.",
    "seed": "What random numbers are drawn from.", "offset": "The index of the draw.",
    "zeros": "How many zeros there are.", "infinities": "How many infinities there are.",
    "nans": "How many NaNs there are.", "nonfinite": "How many infinities and NaNs there are.",
    "input": "Refers to the array.", "layout": "The shape, and the order of the elements.",
    "elements": "The elements, in the order of the layout.",
    "epochs": "How many epochs it has counted.", "weights_bytes": "Bytes of the narrow weights.",
    "panel_bytes": "Bytes of all panels that products have asked for up to now.",
    "prepacked_tensor": "Holds a copy of the tensor.",
    "prepacked_tensor_expression": "Holds a copy of the matrix.",
    "away": "Whether the magnitude grows by one unit in the last place.",
    "overflows_to_infinity": "Whether a number beyond the largest becomes infinity, or else the largest.",
    "with": "This format with other blocks, or rounded otherwise.",
    "below": "P(X &lt; x).", "up_to": "P(X &lt;= x).",
    **dict.fromkeys(["resize", "resizeLike", "conservativeResize", "setConstant", "setRandom", "setZero",
                     "setOnes", "setIdentity", "setLinSpaced", "transposeInPlace", "innerStride", "outerStride"],
                    OF_EIGEN),
    **dict.fromkeys(["Base", "PlainObject", "PointerType", "Tensor", "store", "store_product", "write_part",
                     "panels", "step", "statistic", "write_statistic", "scale_of", "partner", "unpack"],
                    OF_THE_LIBRARY),
}

LABEL = re.compile(r"^ {1,4}(\S+(?: \S+)?) {2,}(\S.*)$")


def listed_terms(lines):
    """The lines of a docstring, without the slashes, whose labels become a list of terms; as many lines."""
    result = []
    inside = False
    for line in lines:
        label = LABEL.match(line)
        if label:
            result.append(f" {'' if inside else '<dl>'}<dt>{label[1]}</dt><dd>{label[2]}")
            inside = True
            continue
        if inside and not line.startswith("  "):
            result[-1] += "</dd></dl>"
            inside = False
        result.append(line)
    if inside:
        result[-1] += "</dd></dl>"
    # Each term but the last of its list ends where the next one begins.
    for i, line in enumerate(result):
        if line.startswith(" <dt>"):
            result[i - 1] += "</dd>"
    return result


def documented_macros(lines):
    """Lines in which what a macro declares has the docstring of the macro, or, if that has none, of the macro that
    it calls."""
    texts, bodies = {}, {}
    result = []
    comment = []
    for i, line in enumerate(lines):
        define = re.match(r"#define (NARROW_\w+)\(([^)]*)\)", line)
        if define:
            last = i
            while lines[last].endswith("\\"):
                last += 1
            body = " ".join(part.rstrip(" \\") for part in lines[i:last + 1]).removeprefix(define[0])
            bodies[define[1]] = define[2].split(", "), body
            called = [texts[name] for name in re.findall(r"NARROW_\w+", body) if name in texts]
            texts[define[1]] = " ".join(c.strip() for c in comment) or (called[0] if called else "")
        call = re.match(r"(NARROW_\w+)\((.*)\)$", line)
        if line == "NARROW_CATALOG(NARROW_ALIAS)":
            formats = re.findall(r"FORMAT\((\w+), (\d+), (\d+), (\w+)\) */\* (.*?) \*/", "\n".join(lines))
            line = " ".join(f"/** {source[0].upper() + source[1:]}. */ "
                            f"using {name} = floating<{e}, {m}, specials::{kind}>;"
                            for name, e, m, kind, source in formats)
        elif call and call[1] in texts:
            line = expanded(texts[call[1]], *bodies[call[1]], call[2].split(", "))
        elif call and call[2] in texts:  # for each of a list
            line = " ".join(expanded(texts[call[2]], *bodies[call[2]], [name]) for name in listed(call[1]))
        comment = comment + [line.strip()[3:]] if line.strip().startswith("///") else []
        result.append(line)
    return result


def expanded(text, names, body, arguments):
    """The declarations in the body of a macro, each with a docstring."""
    for name, argument in zip(names, arguments):
        body = re.sub(rf"\b{name}\b", lambda _: argument, body)
    declarations = re.split(r"(?=  template <)", body.replace("##", ""))
    return " ".join(f"/** {text} */ {part.strip()}" for part in declarations
                    if part.strip() and "= delete" not in part)


def listed(macro):
    """The names in a list of the library, `#define LIST(F) F(name) F(name) ...`."""
    for path in sorted((ROOT / "include").rglob("*.hpp")):
        found = re.search(rf"^#define {macro}\(F\)((?:[^\n]*\\\n)*[^\n]*)", path.read_text(), re.M)
        if found:
            return re.findall(r"F\((\w+)\)", found[1])
    return []


DECLARATION = re.compile(r"^(?:  ){1,2}(?:template <.*> (?=using))?(?:using (\w+) = |"
                         r"(?!return|else)[\w:][\w:<>,&*()\- ]*? [&*]?(\w+)\()")


def described_members(lines):
    """Lines in which the members of MEMBERS that have no docstring have that text."""
    result = list(lines)
    for i, line in enumerate(lines):
        declaration = DECLARATION.match(line)
        name = declaration and (declaration[1] or declaration[2])
        if name not in MEMBERS:
            continue
        first = i
        while re.match(r"\s*(template|requires)\b[^{;]*$", lines[first - 1]):
            first -= 1
        if not lines[first - 1].strip().startswith("///"):
            result[first] = f"/** {MEMBERS[name]} */ {result[first].strip()}"
    return result


def without_specialisations(lines):
    """Lines without the specialisations of the standard library's templates, of which a page tells."""
    result = list(lines)
    for i, line in enumerate(lines):
        if re.search(r"\b(class|struct) std::", line) and not line.startswith(" "):
            first, last = i, i
            while re.match(r"template <|///", lines[first - 1]):
                first -= 1
            while not re.match(r"\S.*\};$|\};$", lines[last]):
                last += 1
            result[first:last + 1] = [""] * (last + 1 - first)
    return result


def header(text):
    text = re.sub(r"::inline NARROW_ABI|^NARROW_STRICT_(BEGIN|END)$|\bNARROW_KERNEL\b", "", text, flags=re.M)
    # What the language itself defines goes without saying.
    lines = [re.sub(r"^(\s*)(.*= default;)", r"\1// \2", line) for line in text.split("\n")]
    lines = without_specialisations(lines)
    begin = 0
    while begin < len(lines):
        end = begin
        while end < len(lines) and re.match(r"\s*///(?!<)", lines[end]):
            end += 1
        if end > begin:
            indents = [re.match(r"\s*", line)[0] for line in lines[begin:end]]
            body = escaped("\n".join(line.strip()[3:] for line in lines[begin:end])).split("\n")
            lines[begin:end] = [f"{indent}///{line}" for indent, line in zip(indents, listed_terms(body))]
        begin = max(end, begin + 1)
    lines = [re.sub(r"(///<)(.*)", lambda m: m[1] + escaped(m[2]), line) for line in lines]
    return "\n".join(described_members(documented_macros(lines)))


if __name__ == "__main__":
    sys.stdout.write(header(pathlib.Path(sys.argv[1]).read_text()))
