#!/usr/bin/env python3
"""A page of more than it may have: page_bounds.py

A log of 130,000 functions in as many places, all of another duration, so that it is known which are the widest. What is
left out is said, on the page and on standard error, and is in sums that are exact."""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
from page_read import read

FUNCTIONS, PLACES, FINE, COARSE = 100000, 100000, 512, 20000    # docs/page.md
N, HZ = 130000, 10 ** 9


def log(path):
    """Basic log: main calls each function once; function i takes i + 1 ticks. Returns (function, duration) of each."""
    out, now = [struct.pack("<HHIQ16x", 3, 0, 3, HZ)], 1000

    def event(kind, function):
        out.append(struct.pack("<HBBiQII8x", 0, 0, kind, function, now, 7, 7))
    event(0, 1)
    for i in range(N):
        number = i * 7919 % N       # not in the order of duration
        event(0, number + 2)
        now += number + 1
        event(1, number + 2)
    event(1, 1)
    with open(path, "wb") as file:
        file.write(b"".join(out))


def check_page(checks, data, err, divisor):
    page = read(data)
    meta, tree = page["meta"], page["tree"]
    places, functions = PLACES // divisor, FUNCTIONS // divisor
    left = {one["section"]: one for one in meta["left_out"]}
    whole = N * (N + 1) // 2
    kept = [row for row in tree[1:] if not row["others"]]
    others = [row for row in tree if row["others"]]
    checks.equal(len(kept), places, "places")
    checks.equal([row["others"] for row in others], [N + 1 - places], "places in others")
    checks.equal(tree[-1]["others"], N + 1 - places, "others come last")
    checks.equal(sum(row["self"] for row in tree), whole, "self")
    checks.equal(sum(row["calls"] for row in tree), N + 1, "calls")
    checks.equal(meta["self"], whole, "self of the whole")
    narrow = N + 1 - (places - 1)           # main is one of them
    checks.equal(sorted(row["total"] for row in kept), sorted([whole, *range(narrow, N + 1)]), "the widest places")
    checks.equal((others[0]["total"], others[0]["self"]), (narrow * (narrow - 1) // 2,) * 2, "others")
    checks.equal((left["tree"]["n"], left["tree"]["self"]), (N + 1 - places, narrow * (narrow - 1) // 2), "said of the tree")
    checks.equal(len(page["rows"]), functions, "functions")
    checks.equal(left["functions"]["n"], N + 1 - functions, "said of functions")
    checks.equal(sum(row["self"] for row in page["rows"]) + left["functions"]["self"], whole, "self of functions")
    checks.equal(sorted(row["total"] for row in page["rows"]), sorted([whole, *range(narrow, N + 1)]), "the largest functions")
    bits = [bits for bits, _ in page["hist"].values()]
    checks.equal((bits.count(8), bits.count(3)), (FINE // divisor, COARSE // divisor), "histograms")
    checks.equal(left["hist"]["n"], functions - len(bits), "said of histograms")
    of = {row["function"]: row for row in page["rows"]}
    for function, (_, found) in page["hist"].items():
        row = of[function]
        checks.that(sum(calls for _, _, calls in found) == row["calls"] == 1 and found[0][0] <= row["total"] <= found[0][1], "bucket", row, found)
    for one in meta["left_out"]:
        text = "%s %s" % (format(one["n"], ","), one["text"])
        checks.that("not written: " + text in err, "not said:", text, err)


def divided(data):
    """What the limits were divided by, as the tree has it."""
    return PLACES // sum(not row["others"] for row in read(data)["tree"][1:])


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        path = os.path.join(folder, "large.xray")
        log(path)
        result = harness.run("report", path, "--to", "html")
        checks.equal(result.status, 0, "status")
        checks.that(len(result.out) <= 10_000_000, "bytes", len(result.out))
        divisor = divided(result.out)
        checks.that(divisor == 1 or not harness.built_with("zlib"), "halved", divisor)     # stored bytes are more
        check_page(checks, result.out, result.err.decode(), divisor)
        again = harness.run("report", path, "--to", "html", "--threads", 1)
        checks.that(again.out == result.out, "other bytes with one thread")
        least = harness.run("report", path, "--to", "html", "--page-limit", "1M")
        checks.that(len(least.out) <= 1_000_000, "bytes of the least page", len(least.out))
        divisor = divided(least.out)
        checks.that(divisor > 1 and divisor & (divisor - 1) == 0, "halved", divisor)
        check_page(checks, least.out, least.err.decode(), divisor)
        for wrong in ("999999", "1", "x", "-1"):
            result = harness.run("report", path, "--to", "html", "--page-limit", wrong)
            checks.that(result.status == 2 and not result.out, "--page-limit", wrong, result)
        for option in (["--title", "x"], ["--page-limit", "2M"]):
            result = harness.run("report", path, *option)
            checks.that(result.status == 2 and re.search(rb"goes with -o FILE.html", result.err), option, result)
    checks.end()


main()
