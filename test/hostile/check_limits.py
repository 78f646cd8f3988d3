#!/usr/bin/env python3
"""Each limit in SECURITY.md has a test that reaches it, and the test exists: check_limits.py BUILD_FOLDER

Rows of the table are | `NAME` | value | `file` | reason | `test` |; a row without a test has the reason in that column:
"none: ..."."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

ROW = re.compile(r"^\| `([A-Z][A-Z0-9_]+)` \| ([\d,]+)[^|]*\| `([^`]+)` \| ([^|]*) \| ([^|]*) \|$", re.M)
ANY_ROW = re.compile(r"^\| `[A-Z][A-Z0-9_]+` \| [\d,]+.*$", re.M)
# Tests that a build may lack: only the sources have their names.
OPTIONAL = "hostile.large.zstd-", "hostile.large.bzip2", "hostile.large.gzip"


def text_of():
    with open(os.path.join(harness.SOURCE, "SECURITY.md"), encoding="utf-8") as file:
        return file.read()


def rows():
    """Of each limit: its name, its value with commas, the file that defines it, the reason, the test."""
    return ROW.findall(text_of())


def main():
    checks = harness.Checks(show=60)
    tests = set(harness.tests_of(sys.argv[1]))
    checks.equal(len(rows()), len(ANY_ROW.findall(text_of())), "rows of the table that have all columns")
    checks.that(len(rows()) > 50, "hardly any limits:", len(rows()))
    for name, _, _, _, test in rows():
        if test.startswith("none: "):
            continue
        named = re.fullmatch(r"`([a-zA-Z0-9_.-]+)`", test)
        if checks.that(named, name, "has no test, but", test):
            found = named.group(1) in tests or named.group(1).startswith(OPTIONAL)
            checks.that(found, name, "names the test", named.group(1), "which there is not")
    checks.end()


if __name__ == "__main__":
    main()
