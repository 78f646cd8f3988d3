#!/usr/bin/env python3
"""Simulated machines in SQL against plain models in Python: query_machine.py

cache_misses, cache_levels, predictions, reuse and page_intervals of generated instruction streams, with several
arguments; snapshots against the events of JSON lines."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import harness
import machine_oracle
import xtrace_gen
from query_oracle import Trace, ask, difference, plain, signed

CASES = ("user", "kernel", "threads", "no-first-pc", "pc-at-jumps", "timed-kernel", "vl-256", "user-long")
K = 1024
USUAL = {"l1i": (64 * K, 4, 64), "l1d": (64 * K, 4, 64), "l2": (512 * K, 8, 64), "itlb": (48, 48, 1), "dtlb": (48, 48, 1), "l2tlb": (1280, 5, 1)}
# The argument, and how it changes the usual caches; None: there is no such cache.
CACHES = {None: {},
          "l1d=128:1:64,l2=0,l2tlb=0": {"l1d": (128, 1, 64), "l2": None, "l2tlb": None},
          "l1i=64:1:16,l1d=64:2:16,l2=256:2:64": {"l1i": (64, 1, 16), "l1d": (64, 2, 16), "l2": (256, 2, 64)},
          "l1d=128:2:32,l2=256:4:32,itlb=1,dtlb=1,l2tlb=2:2": {"l1d": (128, 2, 32), "l2": (256, 4, 32), "itlb": (1, 1, 1),
                                                              "dtlb": (1, 1, 1), "l2tlb": (2, 2, 1)}}
LEVELS = {"L1I": "l1i", "L1D": "l1d", "L2": "l2", "ITLB": "itlb", "DTLB": "dtlb", "L2 TLB": "l2tlb"}
PREDICTORS = {None: lambda: machine_oracle.Counters(12, 12), "bimodal:1": lambda: machine_oracle.Counters(1),
              "bimodal": lambda: machine_oracle.Counters(12), "gshare:4:2": lambda: machine_oracle.Counters(4, 2),
              "gshare:3:9": lambda: machine_oracle.Counters(3, 9), "ras:1": lambda: machine_oracle.Returns(1),
              "ras": lambda: machine_oracle.Returns(16), "btb:1": lambda: machine_oracle.Targets(1), "btb": lambda: machine_oracle.Targets(9)}


def text(value):
    return "NULL" if value is None else "'%s'" % value


def answer(checks, trace, sql):
    answers, result = ask(trace, [sql])
    return answers[0].rows if checks.equal(len(answers), 1, trace.path, sql, result) else []


def compare(checks, trace, sql, expected):
    why = difference(answer(checks, trace, sql), expected)
    checks.that(why is None, trace.path, sql, why)
    return len(expected)


def check_caches(checks, trace):
    rows = 0
    for argument, changes in CACHES.items():
        shapes = {name: shape for name, shape in {**USUAL, **changes}.items() if shape}
        by_pc, levels = machine_oracle.caches(trace.lines, shapes)
        rows += compare(checks, trace, "SELECT pc, loads, stores, l2 FROM cache_misses(%s)" % text(argument),
                        [[signed(row[0])] + row[1:] for row in by_pc])
        got = answer(checks, trace, "SELECT name, lookups, misses, writebacks FROM cache_levels(%s)" % text(argument))
        checks.equal({LEVELS[row[0]]: row[1:] for row in got}, levels, trace.path, argument)
    return rows


def check_predictors(checks, trace):
    rows = 0
    for argument, make in PREDICTORS.items():
        expected = machine_oracle.predictions(trace.lines, make)
        rows += compare(checks, trace, "SELECT pc, kind, taken, not_taken, misses FROM predictions(%s)" % text(argument),
                        [[signed(row[0])] + row[1:] for row in expected])
    return rows


def check_memory(checks, trace):
    rows = 0
    for argument in (None, 16, 64, 4096):
        rows += compare(checks, trace, "SELECT low, high, accesses FROM reuse(%s)" % (argument or "NULL"),
                        machine_oracle.reuse(trace.lines, argument or 64))
    sums = dict(answer(checks, trace, "SELECT line_size, sum(accesses) FROM reuse WHERE line_size IN (16, 64) GROUP BY 1"))
    for size in sums:
        checks.equal(sums[size], sum(row[2] for row in machine_oracle.reuse(trace.lines, size)), trace.path, "sum of", size)
    for step in (1, 7, 100, None):
        rows += compare(checks, trace, "SELECT thread, ts, end_ts, code_pages, data_pages, new_pages FROM page_intervals(%s)" % (step or "NULL"),
                        machine_oracle.page_intervals(trace.lines, step or 1000000))
    return rows


def check_snapshots(checks, trace):
    expected = []
    for line in trace.lines:
        if line["class"] == "snapshot":
            fields = dict(line["fields"])
            expected.append([line["ts"], line["track"], fields["insns"], fields["user_insns"], plain(fields["x"]),
                             signed(machine_oracle.number(fields["nzcv"]))])
    return compare(checks, trace, "SELECT ts, thread, insns, user_insns, x, nzcv FROM snapshots", expected)


def main():
    if b"without SQLite" in harness.run("query", "-q", os.path.join(harness.SOURCE, "test", "golden", "input", "basic-v3-le.xray"), "SELECT 1").err:
        harness.skip("this build has no SQL")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        for name in CASES:
            xtrace_gen.save(os.path.join(folder, name), name)
            trace = Trace(os.path.join(folder, name))
            for check in (check_caches, check_predictors, check_memory):
                checks.that(check(checks, trace) > 0, name, check.__name__, "has rows")
            check_snapshots(checks, trace)
    checks.end()


if __name__ == "__main__":
    main()
