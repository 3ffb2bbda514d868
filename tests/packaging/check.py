#!/usr/bin/env python3
"""Uses the library as users of one tool do: check.py WAY FOLDER ..., a function below and a folder for what it makes.

Where a tool is missing the exit status is 77.
"""

import argparse
import ast
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile

import conan_recipe

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONSUMER = ROOT / "tests/install/consumer"
PROGRAM = CONSUMER / "app/main.cpp"


def run(*command, **options):
    """What the command prints; an error where it fails."""
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if result.returncode:
        sys.exit(f"failed: {shlex.join(str(word) for word in command)}\n{result.stdout}")
    return result.stdout


def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{what} is {found!r}, and not {expected!r}")
    print(f"{what}: {found}")


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            print(f"{tool} is missing")
            sys.exit(77)


def compile_and_run(a, name, *arguments, source=PROGRAM):
    program = a.work / name
    run(a.compiler, *shlex.split(a.flags), "-std=c++20", "-O0", source, "-o", program, *arguments)
    expect(f"the sum of {name}", run(program).strip(), "4096")


def build_consumer(a, *arguments):
    """Builds and runs the program of tests/install/consumer, of CMake."""
    build = a.work / "build"
    run(a.cmake, "-S", CONSUMER, "-B", build, f"-DCMAKE_CXX_COMPILER={a.compiler}", f"-DCMAKE_CXX_FLAGS={a.flags}",
        "-DEIGEN=with", *arguments)
    run(a.cmake, "--build", build, "--target", "consumer")
    expect("the sum", run(build / "app/consumer").strip(), "4096")


def pkg_config_flags(prefix, package):
    environment = os.environ | {"PKG_CONFIG_PATH": str(prefix / "share/pkgconfig")}
    return shlex.split(run("pkg-config", "--cflags", "--libs", package, env=environment))


def pkg_config(a):
    """From an installation that was moved."""
    need("pkg-config")
    run(a.cmake, "--install", a.build, "--prefix", a.work / "staged")
    (a.work / "staged").rename(a.work / "prefix")
    compile_and_run(a, "without_eigen", *pkg_config_flags(a.work / "prefix", "narrow"))
    compile_and_run(a, "with_eigen", "-DWITH_EIGEN", *pkg_config_flags(a.work / "prefix", "narrow-eigen"))


def copy_source(to):
    """What git has of this repository, changes that are not committed, too."""
    need("git")
    for name in run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, to / name)


def FetchContent(a):
    """From a repository of git, by a tag."""
    source = a.work / "narrow"
    copy_source(source)
    run("git", "init", "-q", cwd=source)
    run("git", "add", "-A", cwd=source)
    run("git", "-c", "user.name=test", "-c", "user.email=test@example", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "source", cwd=source)
    run("git", "tag", f"v{a.version}", cwd=source)
    build_consumer(a, "-DWAY=FetchContent", f"-DNARROW_REPOSITORY=file://{source}", f"-DNARROW_TAG=v{a.version}")


def debian(a):
    """The package, unpacked elsewhere, used by way of pkg-config and of CMake."""
    need("dpkg-deb", "pkg-config")
    if not (a.build / "CPackConfig.cmake").exists():
        print("a part of another project makes no package")
        sys.exit(77)
    run(pathlib.Path(a.cmake).with_name("cpack"), "--config", a.build / "CPackConfig.cmake", "-B", a.work)
    package = a.work / f"libnarrow-dev_{a.version}_all.deb"
    if shutil.which("lintian"):
        root = ["--allow-root"] if os.geteuid() == 0 else []
        print(run("lintian", "--fail-on", "error,warning", *root, package))
    else:
        print("without lintian")
    run("dpkg-deb", "-x", package, a.work / "root")
    compile_and_run(a, "with_eigen", "-DWITH_EIGEN", *pkg_config_flags(a.work / "root/usr", "narrow-eigen"))
    build_consumer(a, "-DWAY=find_package", f"-DVERSION={a.version}", f"-DCMAKE_PREFIX_PATH={a.work}/root/usr")


def filled(a):
    """The files for package managers, for an archive of this source as a server makes it."""
    archive = a.work / f"v{a.version}.tar.gz"
    copy_source(a.work / "source")
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(a.work / "source", f"narrow-{a.version}")
    files = a.work / "files"
    run(sys.executable, "-B", ROOT / "cmake/packaging/fill.py", "example/narrow", archive, files)
    return archive, files


def eigen_flags():
    return shlex.split(run("pkg-config", "--cflags", "eigen3"))


def check_manifest(port):
    """What vcpkg's reference of vcpkg.json says of the fields that a port has."""
    fields = ["name", "version", "description", "homepage", "license", "supports", "dependencies"]
    expect("the fields, in the order that vcpkg writes them in", list(port), fields)
    names = [port["name"]]
    for dependency in port["dependencies"]:
        names.append(dependency if isinstance(dependency, str) else dependency["name"])
        if not isinstance(dependency, str):
            expect(f"{names[-1]} is for the machine that builds", dependency, {"name": names[-1], "host": True})
    expect("the dependencies, in alphabetical order", names[1:], sorted(names[1:]))
    for field, pattern, values in (("name", "[a-z0-9]+(-[a-z0-9]+)*", names), ("version", r"\d+(\.\d+)*", [port["version"]]),
                                   ("homepage", "https://[^@ ]+", [port["homepage"]]), ("license", "[A-Za-z0-9.+-]+", [port["license"]]),
                                   ("supports", r"[a-z0-9!&|() ]+", [port["supports"]]), ("description", "[^.].*[^.]", [port["description"]])):
        expect(f"{field} {values} is one", all(re.fullmatch(pattern, value) for value in values), True)


def vcpkg(a):
    """The port, with stand-ins for vcpkg's functions."""
    archive, files = filled(a)
    port = json.loads((files / "vcpkg/vcpkg.json").read_text())
    check_manifest(port)
    packages = a.work / "packages"
    run(a.cmake, f"-DPORTFILE={files}/vcpkg/portfile.cmake", f"-DARCHIVE={archive}", f"-DPACKAGES_DIR={packages}",
        f"-DBUILD_DIR={a.work}/port", f"-DVERSION={port['version']}", "-P", HERE / "vcpkg.cmake")
    found = sorted(path.name for path in packages.glob("*/*"))
    expect("the package", found, ["narrow", "narrow", "pkgconfig"])
    build_consumer(a, "-DWAY=find_package", f"-DVERSION={a.version}", f"-DCMAKE_PREFIX_PATH={packages}")


def conan(a):
    """The recipe, with stand-ins for the parts of Conan that it uses."""
    need("pkg-config")
    archive, files = filled(a)
    recipe = conan_recipe.run(files / "conan/all", archive, a.work / "conan", a.version, "gcc", "12")
    expect("what it requires", recipe.required, ["eigen/3.4.0"])
    for compiler in (("gcc", "11"), ("clang", "13"), ("msvc", "193")):
        try:
            conan_recipe.run(files / "conan/all", archive, a.work / "refused", a.version, *compiler)
        except conan_recipe.ConanInvalidConfiguration as error:
            print(f"{' '.join(compiler)}: {error}")
        else:
            sys.exit(f"{compiler} was taken")
    targets = [component.properties["cmake_target_name"] for component in recipe.cpp_info.components.values()]
    expect("its targets", targets, ["narrow::narrow", "narrow::eigen"])
    package = a.work / "conan/package"
    for module in recipe.cpp_info.properties["cmake_build_modules"]:
        expect(module, (package / module).exists(), True)
    compile_and_run(a, "test_package", "-DWITH_EIGEN", f"-I{package}/include", *eigen_flags(), "-pthread",
                    source=files / "conan/all/test_package/test_package.cpp")


def meson(a):
    """A project that has the wrap among its subprojects."""
    need("meson", "ninja", "pkg-config")
    archive, files = filled(a)
    project = a.work / "project"
    overlay, cache = project / "subprojects/packagefiles/narrow", project / "subprojects/packagecache"
    overlay.mkdir(parents=True)
    cache.mkdir()
    shutil.copy(files / "meson/narrow.wrap", project / "subprojects")
    shutil.copy(files / "meson/meson.build", overlay)
    shutil.copy(archive, cache / f"narrow-{a.version}.tar.gz")  # which is not downloaded
    shutil.copy(PROGRAM, project)
    (project / "meson.build").write_text(f"""project('user', 'cpp', default_options: ['cpp_std=c++20', 'optimization=0'])
executable('with_eigen', 'main.cpp', cpp_args: '-DWITH_EIGEN', dependencies: dependency('narrow-eigen'))
executable('without_eigen', 'main.cpp', dependencies: dependency('narrow', version: '{a.version}'))
""")
    environment = os.environ | {"CXX": a.compiler, "CXXFLAGS": a.flags}
    run("meson", "setup", a.work / "build", project, env=environment)
    run("ninja", "-C", a.work / "build")
    for name in ("with_eigen", "without_eigen"):
        expect(f"the sum of {name}", run(a.work / "build" / name).strip(), "4096")


def check_starlark(path, *others):
    """What Bazel takes in such a file: calls with literals by name, and assignments of a call's result, of functions known
    to it and of `others`; no definitions, conditions and loops, of which Python has more."""
    known = {*others}
    for statement in ast.parse(path.read_text()).body:
        call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        if not isinstance(call, ast.Call) or call.func.id not in known:
            sys.exit(f"{path.name}: {ast.unparse(statement)}")
        if isinstance(statement, ast.Assign):
            known.add(statement.targets[0].id)
        if call.func.id == "load":
            known |= {name.value for name in call.args[1:]}


def bazel(a):
    """The files for Bazel, which are Python, too, with stand-ins for Bazel's functions."""
    archive, files = filled(a)
    check_starlark(files / "bazel/narrow.MODULE.bazel", "bazel_dep", "use_repo_rule")  # there is no `load` in it
    check_starlark(files / "bazel/narrow.BUILD.bazel", "load", "package")
    with tarfile.open(archive) as tar:
        tar.extractall(a.work / "unpacked")
    rules, sources, libraries = {}, {}, {}
    module = {"bazel_dep": lambda name, version: rules.update({name: version}),
              "use_repo_rule": lambda file, rule: lambda **values: sources.update(values)}
    exec((files / "bazel/narrow.MODULE.bazel").read_text(), module)
    root = a.work / "unpacked" / sources["strip_prefix"]
    expect("its sum", run("sha256sum", archive).split()[0], sources["sha256"])
    build = {"load": lambda *names: None, "package": lambda **values: None, "glob": lambda patterns: patterns,
             "cc_library": lambda name, **values: libraries.update({name: values})}
    exec((files / sources["build_file"].replace("//:", "bazel/")).read_text(), build)
    expect("its headers", all(any(root.glob(pattern)) for pattern in libraries["narrow"]["hdrs"]), True)
    expect("what it needs", {name.strip("@:") for name in libraries["narrow_eigen"]["deps"]}, {"narrow", "eigen"})
    compile_and_run(a, "user", *(f"-I{root}/{folder}" for folder in libraries["narrow"]["includes"]),
                    *libraries["narrow"]["linkopts"])


def mixed(a):
    """A single header after one that is part of it is one error, and not thousands."""
    run(sys.executable, "-B", ROOT / "cmake/single.py", a.work)
    source = a.work / "mixed.cpp"
    source.write_text('#include <narrow/format/catalog.hpp>\n#include "narrow.hpp"\n')
    result = subprocess.run([a.compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT}/include", source], capture_output=True, text=True)
    errors = re.findall("error: (.*)", result.stderr)
    expect("the number of errors", len(errors), 1)
    expect("what it says", "a source file includes either single headers or those in the folder" in errors[0], True)


def versions(a):
    """What include/narrow/version.hpp says is said everywhere."""
    _, files = filled(a)
    header = (ROOT / "include/narrow/version.hpp").read_text()
    version = ".".join(re.findall(r"define NARROW_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    expect("the version of CMake", a.version, version)
    for name in ("narrow", "narrow-eigen"):
        text = (a.build / f"{name}.pc").read_text()
        expect(f"that of {name}.pc", re.search("^Version: (.*)", text, re.M)[1], version)
    expect("that of vcpkg", json.loads((files / "vcpkg/vcpkg.json").read_text())["version"], version)
    for name in ("config.yml", "all/conandata.yml"):
        expect(f"that of Conan in {name}", re.findall('^  "(.*)":', (files / "conan" / name).read_text(), re.M), [version])
    expect("that of Meson", re.search(" version: '(.*?)'", (files / "meson/meson.build").read_text())[1], version)
    expect("that of Bazel", "/v" + version + ".tar.gz" in (files / "bazel/narrow.MODULE.bazel").read_text(), True)
    expect("the newest in changes.md",
           re.search("^## (.*)", (ROOT / "examples/guides/changes.md").read_text(), re.M)[1], version)
    told = r"(?:find_package\(narrow |GIT_TAG v|narrow::v|\bv(?=[\d.]+tar))(\d+[._]\d+)"
    for page in (ROOT / "README.md", *sorted((ROOT / "examples/guides").glob("*.md")), ROOT / "cmake/packaging/README.md"):
        for number in re.findall(told, page.read_text()):
            expect(f"that in {page.name}", number.replace("_", "."), ".".join(version.split(".")[:2]))
    run(sys.executable, "-B", ROOT / "cmake/single.py", a.work / "single")
    expect("that of the single header", (a.work / "single/narrow.hpp").read_text().split(",")[0], f"// narrow {version}")
    source = a.work / "abi.cpp"
    source.write_text("#include <narrow/config.hpp>\nthe_abi NARROW_ABI\n")
    text = run(a.compiler, "-std=c++20", "-E", f"-I{ROOT}/include", source)
    expect("the inline namespace", re.search("the_abi (.*)", text)[1], "v" + "_".join(version.split(".")[:2]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("way", type=lambda name: globals()[name])
    parser.add_argument("work", type=pathlib.Path)
    for option in ("--build", "--cmake", "--compiler", "--flags", "--version"):
        parser.add_argument(option, required=True)
    a = parser.parse_args()
    a.build = pathlib.Path(a.build)
    shutil.rmtree(a.work, ignore_errors=True)
    a.work.mkdir(parents=True)
    a.way(a)


if __name__ == "__main__":
    main()
