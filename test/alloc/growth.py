#!/usr/bin/env python3
"""The number of allocations must not depend on the number of events: growth.py SHIM ITERATE

Reads a log of 200,000 events and one of 1,000,000, both large enough for threads that decode ahead; the second may
allocate only a little more (arrays that double). The same with text logs of 10 and 50 MB, and with streams of
instructions."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

SMALL, LARGE = 200_000, 1_000_000
SMALL_TEXT, LARGE_TEXT = 10, 50  # MB
# Growing arrays double: from SMALL to LARGE is less than 3 doublings; index and histograms have a few such arrays.
ALLOWED = 120


def compare(checks, folder, shim, small, large, commands):
    for command in commands:
        counts = []
        for path in (small, large):
            report = os.path.join(folder, "report")
            result = harness.run(*command, path, which="TL_PLAIN_BINARY",
                                 env={"LD_PRELOAD": shim, "TL_FAULT": "count", "TL_FAULT_REPORT": report})
            checks.equal(result.status, 0, command[0], result)
            with open(report) as file:
                counts.append(int(file.read().split()[0]))
        print(" ".join(command[:3] + command[5:6]), counts)
        checks.that(counts[1] <= counts[0] + ALLOWED, command[0], "allocates with the number of events", counts)


def main():
    shim, iterate = sys.argv[1:3]
    import tracelog_gen
    import xray_gen
    import xtrace_gen
    checks = harness.Checks()
    with harness.work_folder() as folder:
        paths = {}
        for wanted in (SMALL, LARGE):
            paths[wanted] = os.path.join(folder, "%d.xray" % wanted)
            xray_gen.bulk(paths[wanted], wanted)
        inside = {}
        for wanted, path in paths.items():
            done = subprocess.run([iterate, path], check=True, capture_output=True, text=True)
            events, allocations, streams = map(int, done.stdout.split())
            print("reading batches of %d events in %d streams: %d allocations after the first batches" % (events, streams, allocations))
            checks.that(events > wanted / 2, "too few events", events)
            inside[wanted] = allocations
        checks.that(inside[LARGE] <= inside[SMALL] + ALLOWED, "reading batches allocates with the number of events", inside)

        harness.binary("TL_PLAIN_BINARY")
        out = ["convert", "-q", "-f", "-o", os.path.join(folder, "out.jsonl")]
        compare(checks, folder, shim, paths[SMALL], paths[LARGE],
                [["info", "--json"], ["report", "--json", "--threads", "1"], ["report", "--json", "--by", "tree", "--threads", "1"], out])
        texts = [os.path.join(folder, "%d.log" % size) for size in (SMALL_TEXT, LARGE_TEXT)]
        for path, size in zip(texts, (SMALL_TEXT, LARGE_TEXT)):
            tracelog_gen.bulk(path, size)
        compare(checks, folder, shim, *texts, [["info", "--json"], ["report", "--json", "--by", "cpu", "--threads", "1"], out])
        streams = [os.path.join(folder, "%d.xinsndata.bin" % size) for size in (SMALL, LARGE)]
        for path, size in zip(streams, (SMALL, LARGE)):
            xtrace_gen.bulk(path, size)
        report = ["report", "--json", "--threads", "1", "--by"]
        compare(checks, folder, shim, *streams,
                [["info", "--json"], out, out[:-1] + [os.path.join(folder, "out.xinsndata.bin")],
                 out[:-1] + [os.path.join(folder, "out.champsim")]] +
                [report + [by] for by in ("mix", "block", "branch", "page", "cache", "reuse", "syscall", "thread", "func")])
    checks.end()


if __name__ == "__main__":
    main()
