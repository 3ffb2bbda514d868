#!/usr/bin/env python3
"""Uses the library as users of one tool do: check.py WAY FOLDER ..., a function below and a folder for what it makes.

Where a tool is missing the exit status is 77.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

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


def compile_and_run(a, name, *arguments):
    program = a.work / name
    run(a.compiler, *shlex.split(a.flags), "-std=c++20", "-O0", PROGRAM, "-o", program, *arguments)
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


def use_pkg_config(a, prefix):
    compile_and_run(a, "without_eigen", *pkg_config_flags(prefix, "narrow"))
    compile_and_run(a, "with_eigen", "-DWITH_EIGEN", *pkg_config_flags(prefix, "narrow-eigen"))


def pkg_config(a):
    """From an installation that was moved."""
    need("pkg-config")
    run(a.cmake, "--install", a.build, "--prefix", a.work / "staged")
    (a.work / "staged").rename(a.work / "prefix")
    use_pkg_config(a, a.work / "prefix")


def copy_source(to):
    """What git has of this repository, changes that are not committed, too."""
    for name in run("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, to / name)


def FetchContent(a):
    """From a repository of git, by a tag."""
    need("git")
    source = a.work / "narrow"
    copy_source(source)
    run("git", "init", "-q", cwd=source)
    run("git", "add", "-A", cwd=source)
    run("git", "-c", "user.name=test", "-c", "user.email=test@example", "commit", "-q", "-m", "source", cwd=source)
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
    use_pkg_config(a, a.work / "root/usr")
    build_consumer(a, "-DWAY=find_package", f"-DVERSION={a.version}", f"-DCMAKE_PREFIX_PATH={a.work}/root/usr")


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
