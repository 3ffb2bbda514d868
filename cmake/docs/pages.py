#!/usr/bin/env python3
"""The Markdown pages of the site: pages.py FILE prints one as Doxygen is to read it. Headings have the anchors
that GitHub gives them, and links lead to other pages of the site or to a copy of the file, in the folder files.
"""

import html
import os
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The pages beside README.md, which is the first one.
PAGES = ["examples/guides/*.md", "examples/train/README.md", "examples/train/results/*.md", "bench/README.md",
         "cmake/packaging/README.md", ".github/CONTRIBUTING.md"]


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
    """Text in which Doxygen finds no commands and no tags; `code` stays code. Quotations it leaves as they are."""
    def plain(s):
        return re.sub(r"[\\@]|#(?=[\w:])|--|(?<=&gt;)::", lambda m: "\\" + m[0], html.escape(s, quote=False))

    def written(part):
        if part.startswith("`"):
            return f"<code>{plain(part[1:-1])}</code>"
        return part if part.startswith('"') else plain(part)

    return "".join(map(written, re.split('(`[^`]+`|"[^"\n]*")', text)))


LINK = re.compile(r"(!?)\[((?:[^\[\]]|\n)*?)\]\(([^()\s]+)\)")


def target_of(page, link):
    """Where a link of a page leads: the address in the site, and the file that is copied there, if any."""
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
                label = f"{name}-{slug(heading[2])}" if count > 0 else "mainpage" if name == "index" else name
                count += 1
                line = f"{heading[1]} {heading[2]} {{#{label}}}"
            elif not line.startswith("    ") and not re.match(r"[|\- :]+$", line):
                line = escaped(line)
            lines.append(line)
        result.append(LINK.sub(link, "\n".join(lines)))
    return "".join(result)


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1]).resolve()
    sys.stdout.write(markdown(path.relative_to(ROOT).as_posix(), path.read_text()))
