#!/usr/bin/env python3
"""Makes the HTML site of the headers and the guides: site.py OUTPUT, a folder whose html/index.html is the first page.

Doxygen does it. Its warnings are errors, and so is a link that leads nowhere. Doxygen reads every file by way of
`site.py --filter FILE`, which prints that file in Doxygen's words: a docstring's lines such as

    /// Rounding  each element once, by Round.
    /// Throws    std::invalid_argument if the sizes differ.

become a list of terms, what a macro defines has the docstring of the macro, and the links of Markdown pages, which GitHub
shows as well, lead to pages of the site or to a copy of the file.
"""

import html
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# The pages beside README.md, which is the first one.
PAGES = ["examples/guides/*.md", "examples/train/README.md", "examples/train/results/*.md", "bench/README.md",
         ".github/CONTRIBUTING.md"]


def pages():
    """The Markdown files of the site, by their paths from the root, and their names in it."""
    result = {"README.md": "index"}
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            result[name] = re.sub("[^a-z0-9]+", "-", name.lower().removesuffix(".md")).strip("-")
    return result


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.lower())
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def escaped(text):
    """Text in which Doxygen finds no commands and no tags; `code` stays code. What is quoted it leaves as it is."""
    def plain(s):
        return re.sub(r"[\\@]|#(?=[\w:])|--", lambda m: "\\" + m[0], html.escape(s, quote=False))

    parts = re.split('(`[^`]+`|"[^"\n]*")', text)
    return "".join(part if part.startswith('"') else f"<code>{plain(part[1:-1])}</code>" if part.startswith("`") else
                   plain(part) for part in parts)


# ---- headers

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
    """Lines in which what a macro declares has the docstring of the macro: `#define NARROW_...`, calls of it and `#undef`.
    The text of a macro that calls another one is that of the other one, if it has none."""
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
            line = " ".join(f"/** {source[0].upper() + source[1:]}. */ using {name} = floating<{e}, {m}, specials::{kind}>;"
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
    declarations = [part for part in re.split(r"(?=  template <)", body.replace("##", "")) if "= delete" not in part]
    return " ".join(f"/** {text} */ {part.strip()}" for part in declarations if part.strip())


def listed(macro):
    """The names in a list of the library, `#define LIST(F) F(name) F(name) ...`."""
    for path in sorted((ROOT / "include").rglob("*.hpp")):
        found = re.search(rf"^#define {macro}\(F\)((?:[^\n]*\\\n)*[^\n]*)", path.read_text(), re.M)
        if found:
            return re.findall(r"F\((\w+)\)", found[1])
    return []


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
    "epochs": "How many epochs it has counted.", "weights_bytes": "Bytes of the narrow weights.",
    "panel_bytes": "Bytes of all panels that products have asked for up to now.",
    "prepacked_tensor": "Holds a copy of the tensor.", "prepacked_tensor_expression": "Holds a copy of the matrix.",
    "away": "Whether the magnitude grows by one unit in the last place.",
    "overflows_to_infinity": "Whether a number beyond the largest becomes infinity, or else the largest.",
    "with": "This format with other blocks, or rounded otherwise.",
    "below": "P(X &lt; x).", "up_to": "P(X &lt;= x).",
    **dict.fromkeys(["resize", "resizeLike", "conservativeResize", "setConstant", "setRandom", "setZero", "setOnes", "setIdentity",
                     "setLinSpaced", "transposeInPlace", "innerStride", "outerStride"], OF_EIGEN),
    **dict.fromkeys(["Base", "PlainObject", "PointerType", "Tensor", "store", "store_product", "write_part", "panels",
                     "step", "statistic", "write_statistic", "scale_of", "partner", "unpack"], OF_THE_LIBRARY),
}
DECLARATION = re.compile(r"^(?:  ){1,2}(?:explicit )?(?:template <.*> (?=using))?(?:using (\w+) = |(?!return|else)[\w:][\w:<>,&*()\- ]*? [&*]?(\w+)\()")


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
            while not lines[last].endswith(("};", "{};")) or (lines[last].startswith(" ") and lines[last].endswith("};")):
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


# ---- Markdown

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\n)*?)\]\(([^()\s]+)\)")


def target_of(page, link):
    """Where a link of a page leads: the address in the site, and the file that has to be copied there, if any."""
    if urllib.parse.urlsplit(link).scheme:
        return link, None
    path, _, anchor = link.partition("#")
    name = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if name in pages():
        return pages()[name] + ".html" + (f"#{pages()[name]}-{anchor}" if anchor else ""), None
    if not (ROOT / name).exists():
        raise SystemExit(f"{page}: {link} is no file")
    return (f"files/{name}", name) if (ROOT / name).is_file() else (None, None)


def fenced(text):
    """The parts of a page, each with whether it is a block of code."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return [(part, i % 2 == 1) for i, part in enumerate(parts)]


def markdown(page, text):
    def link(match):
        address, _ = target_of(page, match[3].replace("\\", ""))
        if match[1]:
            return f'<img src="{address}" alt="{html.escape(match[2])}" style="max-width: 100%"/>'
        return f'<a href="{address}">{match[2]}</a>' if address else match[2]

    result = []
    count = 0
    for part, is_code in fenced(re.sub(r"<!--.*?-->\n", "", text, flags=re.S)):
        if is_code:
            result.append(part)
            continue
        lines = []
        for line in part.split("\n"):
            heading = re.match(r"(#+) (.*)", line)
            if heading:
                name = pages()[page]
                label = ("mainpage" if page == "README.md" else name) if count == 0 else f"{name}-{slug(heading[2])}"
                count += 1
                line = f"{heading[1]} {heading[2]} {{#{label}}}"
            elif not line.startswith("    ") and not re.match(r"[|\- :]+$", line):
                line = escaped(line)
            lines.append(line)
        result.append(LINK.sub(link, "\n".join(lines)))
    return "".join(result)


def copy_linked_files(output):
    for page in pages():
        for part, is_code in fenced((ROOT / page).read_text()):
            for match in () if is_code else LINK.finditer(part):
                _, name = target_of(page, match[3])
                if name:
                    to = output / "html/files" / name
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(ROOT / name, to)


# ---- the site

class Links(html.parser.HTMLParser):
    """The links of a page and the anchors in it."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors = set(), set()

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("href", "src") and value:
                self.links.add(value)
            if key in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(folder):
    read = {}
    for path in sorted(folder.glob("*.html")):
        read[path.name] = Links()
        read[path.name].feed(path.read_text())
    result = []
    for page, found in read.items():
        for link in sorted(found.links):
            address = urllib.parse.urlsplit(link)
            if address.scheme:
                continue
            name, anchor = urllib.parse.unquote(address.path) or page, urllib.parse.unquote(address.fragment)
            if not (folder / name).exists() or (anchor and name in read and anchor not in read[name].anchors):
                result.append(f"{page}: the link {link} leads nowhere")
    return result


def build(output):
    shutil.rmtree(output / "html", ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    version = dict(re.findall(r"NARROW_VERSION_(\w+) (\d+)", (ROOT / "include/narrow/version.hpp").read_text()))
    values = {"ROOT": ROOT, "OUTPUT": output, "FILTER": HERE / "site.py",
              "VERSION": ".".join(version[part] for part in ("MAJOR", "MINOR", "PATCH")),
              "PAGES": " ".join(f'"{ROOT / page}"' for page in pages())}
    text = (HERE / "Doxyfile.in").read_text()
    (output / "Doxyfile").write_text(re.sub(r"@(\w+)@", lambda m: str(values[m[1]]), text))
    code = subprocess.run(["doxygen", "Doxyfile"], cwd=output).returncode
    if code:
        return code
    copy_linked_files(output)
    broken = broken_links(output / "html")
    for link in broken:
        print(link, file=sys.stderr)
    if not broken:
        print(output / "html/index.html")
    return 1 if broken else 0


def main():
    if sys.argv[1] == "--filter":
        path = pathlib.Path(sys.argv[2]).resolve()
        text = path.read_text()
        sys.stdout.write(markdown(path.relative_to(ROOT).as_posix(), text) if path.suffix == ".md" else header(text))
        return 0
    return build(pathlib.Path(sys.argv[1]).resolve())


if __name__ == "__main__":
    sys.exit(main())
