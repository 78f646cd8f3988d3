#!/usr/bin/env python3
"""What a run of ctest skipped, and how long it took: ctest_summary.py RESULTS.xml [--may-skip LIST] [--labels]

RESULTS.xml is what ctest --output-junit wrote. Each skipped test is printed with the reason that it gave. With --may-skip, a
skipped test that no line of LIST allows is an error: `build | test | reason | why it may`, the first three as regular
expressions that are searched for in the name of the build's folder, of the test, and in what it said. With --labels, a table:
label (a test's first word), tests, skipped, seconds."""
import argparse
import collections
import os
import re
import sys
import xml.etree.ElementTree as tree


class Skip(collections.namedtuple("Skip", "test reason")):
    def __str__(self):
        return "%s: %s" % (self.test, self.reason)


def skips_of(case):
    """The skipped test itself; of a whole executable (TRACELOOM_WHOLE_UNITS), the skipped cases in it."""
    name, out = case.get("name"), case.findtext("system-out") or ""
    reasons = re.findall(r"^skipped: (.*)", out, re.M)
    cases = re.findall(r"^\[  SKIPPED \] (?!\d+ test)(\S+)$", out, re.M)
    if cases and name.count(".") < 2:
        cases = list(dict.fromkeys(cases))
        reasons += ["no reason given"] * (len(cases) - len(reasons))
        return [Skip("%s.%s" % (name, re.sub("^test_", "", one)), reason) for one, reason in zip(cases, reasons)]
    if case.find("skipped") is None:
        return []
    return [Skip(name, reasons[0] if reasons else "no reason given")]


def read_list(path, build):
    """What LIST allows in a build."""
    allowed = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.strip() or line.startswith("#"):
                continue
            parts = [part.strip() for part in line.split(" | ")]
            if len(parts) != 4 or not all(parts):
                sys.exit("%s: expected `build | test | reason | why it may`, found: %s" % (path, line.strip()))
            if re.search(parts[0], build):
                allowed.append((re.compile(parts[1]), re.compile(parts[2])))
    return allowed


def print_skips(skips):
    by_reason = collections.defaultdict(list)
    for skip in skips:
        by_reason[skip.reason].append(skip.test)
    for reason, tests in sorted(by_reason.items()):
        more = " and %d more" % (len(tests) - 3) if len(tests) > 3 else ""
        print("%7d  %s (%s%s)" % (len(tests), reason, ", ".join(tests[:3]), more))


def print_labels(cases, skips):
    tests, seconds = collections.Counter(), collections.Counter()
    skipped = collections.Counter(skip.test.split(".")[0] for skip in skips)
    for case in cases:
        label = case.get("name").split(".")[0]
        tests[label] += 1
        seconds[label] += float(case.get("time"))
    print("%-14s %7s %8s %9s" % ("label", "tests", "skipped", "seconds"))
    for label, took in seconds.most_common():
        print("%-14s %7d %8d %9.1f" % (label, tests[label], skipped[label], took))


def main():
    parser = argparse.ArgumentParser(description="skipped tests and seconds of a run of ctest")
    parser.add_argument("results")
    parser.add_argument("--may-skip")
    parser.add_argument("--labels", action="store_true")
    options = parser.parse_args()
    cases = tree.parse(options.results).getroot().findall("testcase")
    skips = [skip for case in cases for skip in skips_of(case)]
    if options.labels:
        print_labels(cases, skips)
    if skips:
        print("%d tests were skipped. Reasons given:" % len(skips))
        print_skips(skips)
    if options.may_skip:
        allowed = read_list(options.may_skip, os.path.basename(os.path.dirname(os.path.abspath(options.results))))
        wrong = [s for s in skips if not any(test.search(s.test) and why.search(s.reason) for test, why in allowed)]
        for skip in wrong:
            print("skipped, but not in %s: %s" % (options.may_skip, skip))
        if wrong:
            sys.exit(1)


if __name__ == "__main__":
    main()
