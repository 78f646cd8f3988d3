#!/usr/bin/env python3
"""The lists in debian/ match the build: packages.py BUILD [--update]

The version is that of CMakeLists.txt; each installed file goes into one package, and each pattern finds a file; the module for
Python is in its package; the symbols files have the exports of the shared libraries. --update writes the symbols files: new symbols get the version
of CMakeLists.txt, which is the first one that has them."""
import fnmatch
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

DEBIAN = os.path.join(harness.SOURCE, "debian")
LIBRARIES = {"libtraceloom.so.0": ("libtraceloom0", "libtraceloom-dev"),
             "libtraceloom-rt.so.0": ("libtraceloom-rt0", "libtraceloom-rt-dev")}
# Files that override_dh_install in debian/rules omits from a package, since they are another's.
LEFT_OUT = {"libtraceloom-dev": "usr/include/traceloom/rt.h", "traceloom": "usr/share/man/man1/traceloom-mpi.1"}
# Packages of programs that not every build makes.
OPTIONAL = {"traceloom-mpi": "usr/bin/traceloom-mpi"}


def read(*path):
    with open(os.path.join(harness.SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def version():
    return re.search(r"^project\(traceloom VERSION ([0-9.]+)", read("CMakeLists.txt"), re.M).group(1)


def check_version(checks):
    newest = re.match(r"traceloom \(([0-9.]+)-\d+\) ", read("debian", "changelog"))
    checks.equal(newest and newest.group(1), version(), "debian/changelog: its first version, beside that of CMakeLists.txt")


def install(build, folder):
    """The installed files by path, as in a package: with the processor's folder below lib."""
    done = subprocess.run(["cmake", "--install", build, "--prefix", os.path.join(folder, "usr")], capture_output=True, text=True)
    if done.returncode:
        sys.exit("cmake --install: " + done.stderr)
    found = []
    for root, _, names in os.walk(folder):
        inside = os.path.relpath(root, folder)
        found += [re.sub(r"^usr/lib/([^/]+-linux-gnu[^/]*/)?", "usr/lib/*/", os.path.join(inside, name)) for name in names]
    return found


def patterns():
    """Pairs of a package and a pattern of debian/PACKAGE.install, without those of files in the sources."""
    for path in glob.glob(os.path.join(DEBIAN, "*.install")):
        for line in read(path).splitlines():
            if line.startswith("usr/"):
                yield os.path.basename(path)[:-len(".install")], line.split()[0]


def owns(package, pattern, path):
    inside = fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path, pattern + "/*")
    return inside and LEFT_OUT.get(package) != path


def check_files(checks, installed):
    for path in installed:
        owners = [package for package, pattern in patterns() if owns(package, pattern, path)]
        checks.that(len(owners) == 1, path, "is installed, and goes into the packages", owners)
    for package, pattern in patterns():
        if OPTIONAL.get(package, installed[0]) not in installed:
            print("%s is not compared: this build does not make it" % package)
            continue
        checks.that(any(owns(package, pattern, path) for path in installed), "debian/%s.install:" % package, pattern, "finds nothing")


def check_module(checks):
    """The module for Python is not installed by CMake: its package takes it from the sources."""
    lines = [line.split() for line in read("debian", "python3-traceloom.install").splitlines()]
    for name in os.listdir(os.path.join(harness.SOURCE, "python", "traceloom")):
        if name != "__pycache__":
            places = [words[1] for words in lines if fnmatch.fnmatchcase("python/traceloom/" + name, words[0])]
            checks.equal(places, ["usr/lib/python3/dist-packages/traceloom"], "debian/python3-traceloom.install:", name, "goes into")


def exported(library):
    """The symbols that a program linked with the library requires: NAME@NODE, or NAME@Base without versions."""
    lines = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for kind, name in (line.split()[-2:] for line in lines):
        if kind == "A":     # a node of versions
            yield "%s@%s" % (name, name)
        else:
            yield name.replace("@@", "@") if "@" in name else name + "@Base"


def check_symbols(checks, library, soname, update):
    package, development = LIBRARIES[soname]
    path = os.path.join(DEBIAN, package + ".symbols")
    listed = dict(re.findall(r"^ (\S+) (\S+)$", read(path), re.M)) if os.path.exists(path) else {}
    symbols = sorted(exported(library))
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write("%s %s #MINVER#\n* Build-Depends-Package: %s\n" % (soname, package, development))
            file.writelines(" %s %s\n" % (symbol, listed.get(symbol, version())) for symbol in symbols)
        return
    checks.equal(sorted(listed), symbols, "debian/%s.symbols is not what the library exports (packages.py BUILD --update writes it):" % package,
                 sorted(set(listed) ^ set(symbols)))


def main():
    build, update = sys.argv[1], sys.argv[2:] == ["--update"]
    checks = harness.Checks()
    with harness.work_folder() as folder:
        installed = install(build, folder)
        there = {os.path.basename(path) for path in installed}
        for soname in LIBRARIES:
            if soname in there:
                library = next(glob.iglob(os.path.join(folder, "usr", "lib", "**", soname), recursive=True))
                check_symbols(checks, library, soname, update)
    if update:
        return
    check_version(checks)
    check_module(checks)
    if set(LIBRARIES) <= there:
        check_files(checks, installed)
    else:
        print("files are not compared: this build has not all libraries")
    checks.end()


if __name__ == "__main__":
    main()
