#!/usr/bin/env python3
"""Fills in the files for package managers: fill.py OWNER/NAME ARCHIVE OUTPUT.

OWNER/NAME is the public repository, ARCHIVE what it offers for the tag of a version, as .tar.gz, and OUTPUT a folder that
gets the files as they are sent to a package manager: README.md says where each belongs. In them @REPOSITORY@ is
OWNER/NAME, @VERSION@ what include/narrow/version.hpp in the archive says, @FOLDER@ the folder that is all of the archive,
@SHA256@ and @SHA512@ its sums.
"""

import hashlib
import pathlib
import re
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent


def values_of(repository, archive):
    with tarfile.open(archive) as tar:
        folder = re.match("[^/]+", next(m.name for m in tar if m.isfile()))[0]
        text = tar.extractfile(f"{folder}/include/narrow/version.hpp").read().decode()
    content = pathlib.Path(archive).read_bytes()
    return {"REPOSITORY": repository, "FOLDER": folder,
            "VERSION": ".".join(re.findall(r"NARROW_VERSION_\w+ (\d+)", text)),
            "SHA256": hashlib.sha256(content).hexdigest(), "SHA512": hashlib.sha512(content).hexdigest()}


def fill(values, output):
    for manager in ("vcpkg", "conan", "meson", "bazel"):
        for path in sorted((HERE / manager).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                to = output / path.relative_to(HERE)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(re.sub("@([A-Z0-9]+)@", lambda match: values[match[1]], path.read_text()))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    fill(values_of(sys.argv[1], sys.argv[2]), pathlib.Path(sys.argv[3]))
