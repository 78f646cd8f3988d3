#!/usr/bin/env python3
"""Functions of SQL over histograms, and those that name things, against Python: query_hist.py

Histograms are encoded, decoded, merged, subtracted and asked here, from docs/format/profile.md alone; names are those of
Python's errno and of c++filt, if it is there."""
import errno
import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import harness
from query_oracle import ask
from query_sums import bucket, decoded

TRACE = os.path.join(harness.SOURCE, "test", "golden", "input", "basic-v3-le.xray")
MOST = 2 ** 63 - 1


class Plain:
    """A trace as ask() takes it."""
    path, options = TRACE, ()

    def words(self, stdin):
        return [self.path]


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def bounds(number):
    """The values of a bucket."""
    if number < 512:
        return number, number
    power, part = divmod(number - 512, 256)
    low = (256 + part) << (power + 1)
    return low, low + (2 << power) - 1


def encode(calls, total, low, high, counts):
    if calls == 0:
        return b"\0"
    out, at = varint(calls) + varint(total) + varint(low) + varint(high - low), bucket(low)
    if at == bucket(high):
        return out
    out += varint(counts[at])
    for number in sorted(counts)[1:]:
        out += varint(number - at) + varint(counts[number])
        at = number
    return out


def of_values(values):
    counts = {}
    for value in values:
        counts[bucket(value)] = counts.get(bucket(value), 0) + 1
    return (len(values), min(sum(values), 2 ** 64 - 1), min(values), max(values), counts) if values else (0, 0, 0, 0, {})


def percentile(h, percent):
    """percent in tenths, 0 .. 1000."""
    calls, total, low, high, counts = h
    number = max(1, -(-percent * calls // 1000))
    if number in (1, calls):
        return low if number == 1 else high
    for at in sorted(counts):
        number -= counts[at]
        if number <= 0:
            first, last = bounds(at)
            return min(max((first + last) // 2, low), high)
    raise AssertionError(h)


def subtracted(a, b):
    counts = {at: n - b[4].get(at, 0) for at, n in a[4].items() if n > b[4].get(at, 0)}
    calls = sum(counts.values())
    if calls == 0:
        return 0, 0, 0, 0, {}
    first, last = min(counts), max(counts)
    low = a[2] if first == bucket(a[2]) else bounds(first)[0]
    high = a[3] if last == bucket(a[3]) else bounds(last)[1]
    return calls, min(max(a[1] - b[1], low * calls, 0), high * calls, 2 ** 64 - 1), low, high, counts


def parted(h, parts):
    rows = {}
    for at, n in h[4].items():
        low = bounds(at)[0]
        width = max(1, (1 << max(low.bit_length() - 1, 0)) // parts)
        rows[low // width * width] = rows.get(low // width * width, 0) + n
    return [[low, min(MOST, low + max(1, (1 << max(low.bit_length() - 1, 0)) // parts) - 1), n] for low, n in sorted(rows.items())]


def some_values(rng):
    most = rng.choice([1, 20, 511, 512, 2000, 10 ** 6, 2 ** 40, MOST])
    return [min(MOST, abs(int(rng.gauss(most // 2, most // 8)))) if rng.random() < 0.7 else rng.randint(0, most) for i in range(rng.choice([1, 2, 5, 40]))]


def blob(h):
    return "x'%s'" % encode(*h).hex()


def cases(rng, count):
    """(SQL, its rows)"""
    for i in range(count):
        values, others = some_values(rng), some_values(rng)
        a, b, both = of_values(values), of_values(others), of_values(values + others)
        rows = "(VALUES %s)" % ", ".join("(%d)" % v for v in values)
        yield "SELECT hist(column1) FROM " + rows, [[encode(*a).hex()]]
        yield "SELECT hist_merge(column1) FROM (VALUES (%s), (NULL), (%s))" % (blob(a), blob(b)), [[encode(*both).hex()]]
        yield "SELECT hist_count(%s), hist_sum(%s)" % (blob(both), blob(both)), [[both[0], min(both[1], MOST)]]
        yield "SELECT hist_diff(%s, %s)" % (blob(both), blob(b)), [[encode(*subtracted(both, b)).hex()]]
        yield "SELECT hist_diff(%s, %s)" % (blob(a), blob(b)), [[encode(*subtracted(a, b)).hex()]]
        for percent in (0, 500, rng.randint(0, 1000), 999, 1000):
            yield "SELECT hist_percentile(%s, %s)" % (blob(both), percent / 10), [[percentile(both, percent)]]
        parts = rng.choice([1, 2, 4, 8, 16, 32, 64, 128, 256])
        yield "SELECT low, high, calls FROM hist_buckets(%s, %d)" % (blob(both), parts), parted(both, parts)
    for number in list(range(-3, 133)) + [4095, 2 ** 32 + 1, MOST]:
        name = errno.errorcode.get(number)
        if name not in ("EDEADLOCK", "ENOTSUP"):  # second names
            yield "SELECT errno_name(%d)" % number, [[name]]


def check_names(checks):
    """Mangled names against c++filt."""
    if not shutil.which("c++filt"):
        return
    names = ["_Z3foov", "_ZN3foo3barEi", "_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
             "_Z", "_Zfoo", "main", "_ZN", "_ZTV3foo", "_ZGVZ3foovE1x"]
    expected = subprocess.run(["c++filt"] + names, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    answers, result = ask(Plain(), ["SELECT demangle('%s')" % name for name in names])
    for name, answer, other in zip(names, answers, expected):
        if name.endswith("E") and "17h" in name:
            other = other.split("::h")[0]  # the hash of an old name of Rust is left out
        checks.equal(answer.rows, [[other]], name)


def main():
    if b"without SQLite" in harness.run("query", "-q", TRACE, "SELECT 1").err:
        harness.skip("this build has no SQL")
    checks, rng = harness.Checks(), random.Random(5)
    everything = list(cases(rng, 2000 if harness.THOROUGH else 120))
    for h in (of_values(some_values(rng)) for i in range(200)):
        checks.equal(decoded(encode(*h).hex()), h, "encode and decode")
    for first in range(0, len(everything), 200):
        part = everything[first:first + 200]
        answers, result = ask(Plain(), [sql for sql, rows in part])
        if checks.equal(len(answers), len(part), result, part[len(answers):len(answers) + 1]):
            for (sql, rows), answer in zip(part, answers):
                checks.equal(answer.rows, rows, sql[:300])
    check_names(checks)
    checks.end()


if __name__ == "__main__":
    main()
