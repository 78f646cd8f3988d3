#!/usr/bin/env python3
"""clang has no warnings for the files that gcc compiles: clang.py BUILD_FOLDER

Gives each file of the library, the command, the recorder and the fuzz targets to clang with gcc's flags, without
generating code."""
import json
import multiprocessing.pool
import os
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

CLANG = next(filter(None, map(shutil.which, ("clang-19", "clang-14", "clang"))), None)
FOLDERS = "src/", "fuzz/", "examples/"
GCC_ONLY = ("-fno-tree-loop-distribute-patterns",)


def commands(build):
    """path -> the words after the compiler; for files compiled more than once, the last."""
    out = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            path = os.path.relpath(entry["file"], harness.SOURCE)
            if path.endswith(".c") and path.startswith(FOLDERS):
                words = shlex.split(entry["command"])
                at = words.index("-o")
                compiler = next(i for i, word in enumerate(words) if word.startswith("-"))
                out[path] = (entry["directory"], [word for word in words[compiler:at] + words[at + 2:] if word not in GCC_ONLY])
    return out


def main():
    if not CLANG:
        print("SKIP: no clang")
        sys.exit(77)
    checks = harness.Checks(show=20)
    found = commands(sys.argv[1])
    checks.that(len(found) > 300, "hardly any files:", len(found))

    def look(path):
        folder, words = found[path]
        done = subprocess.run([CLANG, "-fsyntax-only", "-Wno-unused-command-line-argument"] + words,
                              cwd=folder, capture_output=True, text=True, check=False)
        return path, done.returncode, done.stderr
    with multiprocessing.pool.ThreadPool(os.cpu_count()) as pool:
        for path, status, said in pool.imap_unordered(look, sorted(found)):
            checks.that(status == 0 and not said, path, said)
    checks.end()


if __name__ == "__main__":
    main()
