"""Runs a Conan recipe as Conan does, with what the parts of Conan that it uses do here in their place."""

import fnmatch
import hashlib
import pathlib
import re
import runpy
import shutil
import sys
import tarfile
import types


class CppInfo:
    def __init__(self):
        self.properties, self.components = {}, {}

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = CppInfo()
        return self[name]


class ConanFile:
    def __init__(self, folder, version, compiler, compiler_version):
        self.version, self.ref = version, f"{self.name}/{version}"
        self.required = []
        self.requires = self.required.append
        self.source_folder, self.package_folder = str(folder / "source"), str(folder / "package")
        self.options = types.SimpleNamespace(**self.default_options)
        compiler = type("compiler", (str,), {"version": compiler_version})(compiler)
        self.settings = types.SimpleNamespace(os="Linux", compiler=compiler)
        self.info = types.SimpleNamespace(clear=lambda: None)
        self.cpp_info = CppInfo()
        self.cpp_info.components = Components()


class Version(int):
    def __lt__(self, other):
        return int(self) < int(other)


class ConanInvalidConfiguration(Exception):
    pass


def copy(recipe, pattern, source, to):
    for path in pathlib.Path(source).rglob("*"):
        if path.is_file() and fnmatch.fnmatch(path.name, pattern):
            target = pathlib.Path(to) / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def get_from(archive):
    def get(recipe, url, sha256, strip_root):
        if hashlib.sha256(archive.read_bytes()).hexdigest() != sha256 or not url.startswith("https://") or not strip_root:
            raise SystemExit(f"the source is told wrongly: {url} {sha256}")
        unpacked = pathlib.Path(recipe.source_folder + "_unpacked")
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked)
        next(unpacked.iterdir()).rename(recipe.source_folder)
    return get


def stand_in(archive):
    nothing = lambda *arguments, **options: None
    for name, members in {
            "conan": {"ConanFile": ConanFile}, "conan.errors": {"ConanInvalidConfiguration": ConanInvalidConfiguration},
            "conan.tools": {}, "conan.tools.build": {"check_min_cppstd": nothing, "can_run": nothing},
            "conan.tools.cmake": {"CMake": nothing, "cmake_layout": nothing}, "conan.tools.layout": {"basic_layout": nothing},
            "conan.tools.files": {"copy": copy, "get": get_from(archive)}, "conan.tools.scm": {"Version": Version}}.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)


def run(folder, archive, work, version, *compiler):
    """The recipe in `folder` after it was run for a compiler; the package is in work/package."""
    stand_in(archive)
    runpy.run_path(str(folder / "test_package/conanfile.py"))
    recipe = runpy.run_path(str(folder / "conanfile.py"))["NarrowConan"](work, version, *compiler)
    versions = re.findall(r'^  "(.*)":\n    url: "(.*)"\n    sha256: "(.*)"\n', (folder / "conandata.yml").read_text(), re.M)
    recipe.conan_data = {"sources": {number: {"url": url, "sha256": sum} for number, url, sum in versions}}
    for step in ("layout", "requirements", "validate", "source", "build", "package", "package_id", "package_info"):
        getattr(recipe, step)()
    return recipe
