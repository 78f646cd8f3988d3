#!/usr/bin/env python3
"""`info --at` against the snapshots of a real recording: replayed registers are those that the tracer saw.

Each snapshot's state is replayed without it: once from the snapshot before it, once from the first one. Every known
register must equal the snapshot's, and nearly all must be known."""
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

KNOWN_LEAST = 0.95


def compare(checks, got, fields, what):
    """The number of known registers, and of all."""
    known = 0
    for number in range(32):
        value = got["registers"]["sp" if number == 31 else "x%d" % number]
        if value is not None:
            known += 1
            checks.equal(int(value, 16), int(fields["x"][number], 16), what, "x%d" % number)
        value = got["registers"]["v%d" % number]
        if value is not None:
            known += 1
            checks.equal(value, fields["z"][number][:32], what, "v%d" % number)
    if got["registers"]["nzcv"] is not None:
        known += 1
        checks.equal(int(got["registers"]["nzcv"], 16) >> 28, int(fields["nzcv"], 16) >> 28, what, "nzcv")
    return known, 65


def main():
    folder = harness.shared("corpus", "xtrace", "recorded")
    streams = sorted(name for name in os.listdir(folder) if name.endswith(".xinsndata.bin"))
    if not streams:
        harness.skip("no recorded streams")
    checks, known, all_of_them = harness.Checks(), 0, 0
    for name in streams:
        beside = name.replace("xinsndata", "xsnapshot")
        with open(os.path.join(folder, beside), "rb") as file:
            data = file.read()
        info = harness.run("info", "--json", os.path.join(folder, beside)).json()
        header, count = info["header"]["size"] if info["header"] else 0, info["events"]
        size = (len(data) - header) // count
        lines = harness.run("convert", "-q", "--to", "jsonl", os.path.join(folder, beside)).text().splitlines()
        records = [json.loads(line)["fields"] for line in lines]
        with tempfile.TemporaryDirectory() as work:
            stream = shutil.copy(os.path.join(folder, name), work)
            for number in range(1, count):
                for start in sorted({0, number - 1}):
                    with open(os.path.join(work, beside), "wb") as file:
                        at = header + start * size
                        file.write(data[:header] + data[at:at + size])
                    got = harness.run("info", "--json", "--at", records[number]["insns"], stream).json()
                    checks.equal(got["from"], records[start]["insns"], "replaying begins")
                    one, whole = compare(checks, got, records[number], "snapshot %d from %d:" % (number, start))
                    known += one
                    all_of_them += whole
    checks.that(known >= KNOWN_LEAST * all_of_them, "only", known, "of", all_of_them, "registers are known")
    print("%d of %d registers known" % (known, all_of_them))
    checks.end()


main()
