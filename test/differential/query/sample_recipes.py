#!/usr/bin/env python3
"""Recipes over samples, allocations and system calls, compared with Python over the rows of these tables."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import harness
from line_recipes import INPUT, recipe, rows
from query_oracle import Trace

INPUTS = ("tracelog-doc.log", "tracelog-vs.log", "tracelog-damaged.log", "tracelog-calls.log", "xtrace-user", "xtrace-cores")


def sums(found, key, *values):
    """{key: sums of values}"""
    groups = {}
    for row in found:
        of = groups.setdefault(row[key], [0] * len(values))
        for i, value in enumerate(values):
            of[i] += row[value]
    return groups


def ranked(groups, by):
    """Largest first, then by key: null before text."""
    order = sorted(groups.items(), key=lambda item: (-item[1][by], item[0] is not None, item[0]))
    return [[key] + values for key, values in order]


def in_collections(samples, collections):
    return [s for s in samples for g in collections if g["end_ts"] is not None and g["ts"] <= s["ts"] < g["end_ts"]]


def errors(calls):
    groups = {}
    for call in calls:
        if call["errno"] is not None:
            key = (call["number"], call["name"], call["errno"], call["error"])
            groups[key] = groups.get(key, 0) + 1
    order = sorted(groups, key=lambda key: (-groups[key], key[0], key[2]))
    return [[key[0], key[1], groups[key], key[2], key[3]] for key in order]


def main():
    if b"without SQLite" in harness.run("query", "-q", os.path.join(INPUT, INPUTS[0]), "SELECT 1").err:
        harness.skip("this build has no SQL")
    checks, top = harness.Checks(), "top=100000"
    for trace in [Trace(os.path.join(INPUT, name)) for name in INPUTS]:
        samples, allocations, collections, calls = [rows(trace, t) for t in ("samples", "allocations", "collections", "syscalls")]
        for name, key in (("alloc-by-type", "type_name"), ("alloc-by-path", "path")):
            checks.equal(recipe(trace, name, top), ranked(sums(allocations, key, "objects", "bytes"), 1), trace.path, name)
        expected = ranked(sums(in_collections(samples, collections), "name", "samples", "time"), 0)
        checks.equal(recipe(trace, "samples-in-gc", top), expected, trace.path, "samples-in-gc")
        checks.equal(recipe(trace, "syscall-errors", top), errors(calls), trace.path, "syscall-errors")
    checks.end()


if __name__ == "__main__":
    main()
