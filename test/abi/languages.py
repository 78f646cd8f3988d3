#!/usr/bin/env python3
"""Every public header compiles alone, and all of them together in any order, in the languages that docs/abi.md names,
without warnings, with each installed compiler."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import public_api

harness = public_api.harness
COMPILERS = {"c": ("gcc", "clang-14", "clang-19", "clang"), "c++": ("g++", "clang++-14", "clang++-19", "clang++")}
STANDARDS = {"c": ("c99", "c11", "c17"), "c++": ("c++11", "c++17", "c++20")}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Werror"]
# The macros of rt.h need _Generic.
SINCE = {"rt.h": {"c": "c11", "c++": "c++11"}}


def write(folder, name, headers):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines("#include <traceloom/%s>\n" % header for header in headers)
        file.write("int main(void) { return 0; }\n")
    return path


def main():
    checks, compilers = harness.Checks(), set()
    headers = public_api.headers()
    with harness.work_folder() as folder:
        for language, names in COMPILERS.items():
            suffix = "." + language.replace("+", "p")
            for name in filter(shutil.which, names):
                real = os.path.realpath(shutil.which(name))
                if real in compilers:
                    continue
                compilers.add(real)
                for standard in STANDARDS[language]:
                    here = [h for h in headers if h not in SINCE or standard >= SINCE[h][language]]
                    files = [write(folder, "alone_" + h.replace(".h", "_h") + suffix, [h]) for h in here]
                    files += [write(folder, "together" + suffix, here + here), write(folder, "reversed" + suffix, here[::-1])]
                    done = subprocess.run([name, "-x", language, "-std=" + standard, *WARNINGS, "-fsyntax-only",
                                           "-I" + os.path.join(harness.SOURCE, "include"), *files], capture_output=True, text=True)
                    checks.that(done.returncode == 0, name, standard, "says\n", done.stderr[:2000])
    print("%d compilers" % len(compilers))
    if not compilers:
        harness.skip("no compiler is installed")
    checks.end()


if __name__ == "__main__":
    main()
