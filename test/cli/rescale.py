#!/usr/bin/env python3
"""report --clock ns: every number of a profile against fractions, read by an independent reader; and any order of files."""
import fractions
import itertools
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "rt"))
import harness
import tlp_reader

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
NS = 10 ** 9
FREQUENCIES = [1, 999_999_937, NS, 2_112_000_000, 3_600_000_001]


def logs(folder):
    """Logs of one program, on processors of different clocks."""
    with open(os.path.join(INPUT, "fdr-v5-le.xray"), "rb") as file:
        data = file.read()
    for hz in FREQUENCIES:
        path = os.path.join(folder, "%d.xray" % hz)
        with open(path, "wb") as file:
            file.write(data[:8] + struct.pack("<Q", hz) + data[16:])
        yield path


def middle(bucket):
    if bucket < 512:
        return bucket
    e = bucket // 256 - 1
    low = (256 + bucket % 256) << e
    return low + ((1 << e) - 1) // 2


def expected(place, hz):
    """Sums, min, max and buckets of the new clock; Python rounds half to even."""
    def scaled(v):
        return round(fractions.Fraction(v * NS, hz))

    calls = [place.min, place.max][:place.calls]  # known exactly
    buckets = {}
    for at, count in place.histogram:
        value = min(max(middle(at), place.min), place.max)
        count -= sum(tlp_reader.bucket(v) == at for v in ([place.min, place.max] if place.calls > 1 else [place.min]))
        buckets[tlp_reader.bucket(scaled(value))] = buckets.get(tlp_reader.bucket(scaled(value)), 0) + count
    for value in calls:
        buckets[tlp_reader.bucket(scaled(value))] = buckets.get(tlp_reader.bucket(scaled(value)), 0) + 1
    return (place.calls, scaled(place.total), scaled(place.self_time), scaled(place.outer), scaled(place.min), scaled(place.max),
            sorted((at, n) for at, n in buckets.items() if n))


def report(checks, out, *arguments):
    done = harness.run("report", *arguments, "-o", out, "-f", "-q")
    checks.equal(done.status, 0, arguments, done)
    with open(out, "rb") as file:
        return file.read()


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        made, compared = [], 0
        others = [os.path.join(INPUT, "live-done.tlp.live")]
        for number, path in enumerate([*logs(folder), *others]):
            plain, ns = os.path.join(folder, "plain.tlp"), os.path.join(folder, "ns%d.tlp" % number)
            report(checks, plain, path)
            made.append((path, ns, report(checks, ns, path, "--clock", "ns")))
            before, after = tlp_reader.Profile(plain), tlp_reader.Profile(ns)
            checks.equal((after.clock, after.hz), ("rescaled", NS), path)
            with open(ns, "rb") as file:
                flags = int.from_bytes(file.read(12)[10:], "little")
            checks.equal(bool(flags & 128), before.hz != NS, path, "flag of a rescaled profile")
            checks.equal(len(after.places), len(before.places), path)
            for a, b in zip(before.places, after.places):
                if a.calls:
                    got = (b.calls, b.total, b.self_time, b.outer, b.min, b.max, b.histogram)
                    checks.equal(got, expected(a, before.hz), path, str(a.what))
                    compared += 1
        checks.that(compared > 50, "only", compared, "places were compared")
        checks.that(len({tlp_reader.Profile(ns).hz for _, ns, _ in made}) == 1, "clocks differ")
        made = made[:len(FREQUENCIES)]  # a live file has trees of threads
        # Rescaling each, then adding up in any order and grouping.
        whole, orders = None, list(itertools.permutations(range(len(made))))
        for order in random.Random(1).sample(orders, 6):
            got = report(checks, os.path.join(folder, "all.tlp"), *[made[i][0] for i in order], "--clock", "ns")
            whole = whole or got
            checks.that(got == whole, "another order gives other bytes:", order)
            first = os.path.join(folder, "first.tlp")
            report(checks, first, *[made[i][1] for i in order[:2]])
            got = report(checks, os.path.join(folder, "all.tlp"), first, *[made[i][0] for i in order[2:]], "--clock", "ns")
            checks.that(got == whole, "another grouping gives other bytes:", order)
    checks.end()


main()
