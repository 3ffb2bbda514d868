#!/usr/bin/env python3
"""The headers as Doxygen is to read them: headers.py FILE prints one, with as many lines. Lines of a docstring
such as

    /// Rounding  each element once, by Round.
    /// Throws    std::invalid_argument if the sizes differ.

become a list of terms, what a macro declares has the docstring of the macro, and a member without a docstring that of a
member with its name.
"""

import functools
import pathlib
import re
import sys

from pages import ROOT, escaped

# How the library works inside, of which the site has nothing.
INTERNAL = [ROOT / "include/narrow" / folder for folder in ("kernel", "simd", "runtime", "eigen/expressions", "eigen/solvers")]

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


def members(lines):
    """The members that lines declare: each one's name, the line it begins in, and its docstring."""
    for i, line in enumerate(lines):
        declaration = DECLARATION.match(line)
        name = declaration and (declaration[1] or declaration[2])
        if name:
            first = i
            while re.match(r"\s*(template|requires)\b[^{;]*$", lines[first - 1]):
                first -= 1
            begin = first
            while re.match(r"\s*///(?!<)", lines[begin - 1]):
                begin -= 1
            yield name, first, " ".join(line.strip()[3:].strip() for line in lines[begin:first])


@functools.cache
def documented_members():
    """Every docstring of a member of that name, by the path of its header."""
    result = {}
    for path in sorted((ROOT / "include").rglob("*.hpp")):
        if any(folder in path.parents for folder in INTERNAL):
            continue
        for name, _, text in members(path.read_text().split("\n")):
            if text:
                result.setdefault(name, {}).setdefault(path, text)
    return result


def described_members(path, lines):
    """Lines in which a member without a docstring has that of a member of its name: in this header, else in another one
    of its folder, else in the first one that has it. `rows` need not be told in every class that has rows."""
    result = list(lines)
    for name, first, text in members(lines):
        others = documented_members().get(name, {}) if not text else {}
        if others and "/**" not in lines[first]:
            nearest = min(others, key=lambda other: (other != path, other.parent != path.parent, other))
            result[first] = f"/** {escaped(others[nearest])} */ {result[first].strip()}"
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


def header(path):
    text = path.read_text()
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
    return "\n".join(described_members(path, documented_macros(lines)))


if __name__ == "__main__":
    sys.stdout.write(header(pathlib.Path(sys.argv[1]).resolve()))
