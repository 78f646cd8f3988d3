#!/usr/bin/env python3
"""The number of allocations must not depend on the number of events: growth.py SHIM ITERATE

A log of 200,000 events and one of 1,000,000 are read, both large enough for threads that decode ahead; the second may
allocate only a little more (arrays that double)."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

SMALL, LARGE = 200_000, 1_000_000
# Growing arrays double: from SMALL to LARGE is less than 3 doublings; index and histograms have a few such arrays.
ALLOWED = 120


def main():
    shim, iterate = sys.argv[1:3]
    import xray_gen
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
        for command in (["info", "--json"], ["report", "--json", "--threads", "1"], ["report", "--json", "--by", "tree", "--threads", "1"],
                        ["convert", "-q", "-f", "-o", os.path.join(folder, "out.jsonl")]):
            counts = {}
            for wanted, path in paths.items():
                report = os.path.join(folder, "report")
                result = harness.run(*command, path, which="TL_PLAIN_BINARY",
                                     env={"LD_PRELOAD": shim, "TL_FAULT": "count", "TL_FAULT_REPORT": report})
                checks.equal(result.status, 0, command[0], result)
                with open(report) as file:
                    counts[wanted] = int(file.read().split()[0])
            print(" ".join(command[:3]), counts)
            checks.that(counts[LARGE] <= counts[SMALL] + ALLOWED, command[0], "allocates with the number of events", counts)
    checks.end()


if __name__ == "__main__":
    main()
