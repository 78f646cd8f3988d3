#!/usr/bin/env python3
"""Patched programs count exactly: one of the counting programs of test/rt, built without any hook in many ways.

    patch_count.py PROGRAM [ARGUMENT...]       a sample of the ways; in `make slow` all of rt_build.patched()

The program prints how often each of its functions was called (rt_matrix.py)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
sys.path.insert(0, os.path.join(harness.SOURCE, "test", "rt"))
import rt_build
import rt_matrix

SAMPLE = 3
# Libraries with sleds that are opened later are found within a second, which is too late here: rt.found.later.
LATER = ("count_dlopen", "count_reload")


def main():
    name, arguments = sys.argv[1], sys.argv[2:]
    ways = [hook for hook in rt_build.mixed(rt_build.patched()) if not (name in LATER and hook.name.endswith("-sleds"))]
    tried = [hook for hook in harness.some_of(name, ways, SAMPLE) if not hook.needs(rt_matrix.source_of(name).endswith(".cpp"))]
    if not tried:
        harness.skip("no compiler")
    checks, skipped = harness.Checks(), []
    for hook in tried:
        failed = checks.failed
        missing = rt_matrix.check_program(checks, name, hook, "fdr,profile", list(arguments))
        if missing:
            skipped.append(missing)
        if checks.failed != failed:
            print("FAILED: with", hook.name, "in", rt_build.folder(hook.name))
    if skipped and len(skipped) == len(tried):
        harness.skip(skipped[0])
    checks.end()


if __name__ == "__main__":
    main()
