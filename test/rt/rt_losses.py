#!/usr/bin/env python3
"""Events that the recorder could not keep are counted, in every mode, and the file says how many.

    rt_losses.py beyond MODE HOOK    too deep a stack, and two children after that
    rt_losses.py early MODE HOOK     no room for the first event of any thread"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_matrix


def lost_of(checks, path):
    checks.equal(harness.run("check", "-q", path).status, 0, "check of", path)
    return json.loads(harness.run("info", "--json", path).out)["lost"]["events"]


def beyond(mode, hook):
    """Each call beyond the limit is one lost event. The parent's losses are not a child's."""
    program, checks = rt_build.build(hook, "count_beyond.c"), harness.Checks()
    with harness.work_folder() as folder:
        base = os.path.join(folder, "run")
        done = rt_matrix.run_program(hook, mode, base, program, [])
        checks.equal((done.returncode, done.stderr), (0, ""), "the program")
        printed = rt_matrix.Printed(done.stdout).calls
        made, depth = sum(printed.values()), printed["down"]
        for one in mode.split(","):
            path = base + rt_matrix.SUFFIX[one]
            table, lost = rt_matrix.report(checks, path, "--by", "func"), lost_of(checks, path)
            checks.that(0 < lost < depth, one, "lost", lost)
            checks.equal(sum(row["calls"] for row in table["functions"]) + lost, made, one, "calls and losses")
            # In a log, the entry after `most` calls of down() closes them all: so deep a stack counts as a
            # loop of exceptions. Their exits come, and match nothing.
            most = rt_matrix.stack_limit("TL_STACK_UNWIND_DEPTH") - 1  # beyond_thread() is the first frame
            closed = 0 if one == "profile" else (depth - lost - 1) // most * most
            checks.equal(table["unmatched"], {"exits": closed, "open": closed}, one, "unmatched")
            checks.equal({row["name"]: row.get("unwound", 0) for row in table["functions"]},
                         {"main": 0, "beyond_thread": 0, "down": closed}, one, "unwound")
            for number in (1, 2):
                child = "%s.%d%s" % (base, number, rt_matrix.SUFFIX[one])
                calls = rt_matrix.by_name(rt_matrix.report(checks, child, "--by", "func")["functions"])
                checks.equal((calls.get("down"), lost_of(checks, child)), (3, 0), child, "the child's calls and losses")
    checks.end()


def early(mode, hook):
    """No event can be written: all are lost, two for each call."""
    program, checks = rt_build.build(hook, "fault_early.c"), harness.Checks()
    with harness.work_folder() as folder:
        base = os.path.join(folder, "run")
        done = rt_matrix.run_program(hook, mode, base, program, [])
        checks.equal(done.returncode, 0, "the program")
        checks.equal(done.stderr.count("File too large"), 1, "messages", done.stderr)
        made = sum(rt_matrix.Printed(done.stdout).calls.values())
        checks.equal(lost_of(checks, base + rt_matrix.SUFFIX[mode]), 2 * made, "lost events")
    checks.end()


if __name__ == "__main__":
    {"beyond": beyond, "early": early}[sys.argv[1]](sys.argv[2], rt_build.HOOKS[sys.argv[3]])
