#!/usr/bin/env python3
"""Makes the HTML site of the headers and the guides: site.py OUTPUT, a folder. html/index.html is the first page.

Doxygen does it. Its warnings are errors, and so is a link that leads nowhere.
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

from headers import INTERNAL
from pages import LINK, ROOT, fenced, pages, target_of

HERE = pathlib.Path(__file__).resolve().parent


def copy_linked_files(output):
    for page in pages():
        for part, is_code in fenced((ROOT / page).read_text()):
            for match in () if is_code else LINK.finditer(part):
                _, name = target_of(page, match[3])
                if name:
                    to = output / "html/files" / name
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(ROOT / name, to)


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
    version = re.findall(r"NARROW_VERSION_\w+ (\d+)", (ROOT / "include/narrow/version.hpp").read_text())
    values = {"ROOT": ROOT, "OUTPUT": output, "HERE": HERE, "VERSION": ".".join(version),
              "PAGES": " ".join(f'"{ROOT / page}"' for page in pages()), "INTERNAL": " ".join(f'"{path}"' for path in INTERNAL)}
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


if __name__ == "__main__":
    sys.exit(build(pathlib.Path(sys.argv[1]).resolve()))
