#!/usr/bin/env python3
"""Adds up which lines of src the tests ran: coverage.py BUILD_FOLDER writes BUILD_FOLDER/coverage.txt"""
import json
import os
import subprocess
import sys


def main():
    build = os.path.abspath(sys.argv[1])
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    lines = {}                                              # file -> {line: runs}
    for folder, _, names in os.walk(build):
        for name in names:
            if not name.endswith(".gcda"):
                continue
            done = subprocess.run(["gcov", "--json-format", "--stdout", os.path.join(folder, name)], cwd=build,
                                  capture_output=True, text=True, check=True)
            for text in done.stdout.splitlines():
                for file in json.loads(text)["files"]:
                    path = os.path.relpath(os.path.join(build, file["file"]), source)
                    if path.startswith("src" + os.sep):
                        counts = lines.setdefault(path, {})
                        for line in file["lines"]:
                            counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
    rows, run, known = [], 0, 0
    for path, counts in lines.items():
        here = sum(1 for count in counts.values() if count)
        missing = sorted(line for line, count in counts.items() if not count)
        rows.append((here / len(counts), path, len(counts), missing))
        run, known = run + here, known + len(counts)
    with open(os.path.join(build, "coverage.txt"), "w") as out:
        for share, path, count, missing in sorted(rows):
            out.write("%5.1f %%  %5d lines  %s  not run: %s\n" % (100 * share, count, path, " ".join(map(str, missing[:40]))))
    print("%.1f %% of %d lines of src were run; see %s" % (100 * run / max(known, 1), known, os.path.join(build, "coverage.txt")))


if __name__ == "__main__":
    main()
