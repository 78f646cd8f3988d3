#!/usr/bin/env python3
"""Recipes over spans, slices and processor times, compared with Python over the rows of these tables."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import harness
import tracelog_gen
from line_oracle import TICK
from query_oracle import Answer, Trace, difference

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
LOGS = ("tracelog-doc.log", "tracelog-vs.log", "tracelog-records.log", "tracelog-damaged.log")
CASES = ("vs-long", "calls-memory", "damaged-runtime-ends", "suspended-small")  # of the generator
CALLS = "rec-done.xray"


def recipe(trace, name, *words):
    result = harness.run("query", "-q", trace.path, "--recipe", name, *words, "--to", "json")
    return Answer(result.out.decode()).rows


def rows(trace, table):
    answer = trace.table(table)
    return [dict(zip(answer.columns, row)) for row in answer.rows]


def by_length(row):
    return (-row["dur"] if row["dur"] is not None else 1, row["ts"], row["id"])


def longest(spans):
    return [[s["ts"], s["dur"], s["thread"], s["name"], s["function_name"]] for s in sorted(spans, key=by_length)]


def slowest(spans):
    jit = [s for s in spans if s["role"] == "compilation"]
    return [[s["ts"], s["dur"], s["thread"], s["function_id"], s["function_name"]] for s in sorted(jit, key=by_length)]


def in_pauses(work, collections):
    found = []
    for w in work:
        for g in collections:
            if None not in (w["dur"], g["end_ts"]) and w["ts"] < g["end_ts"] and w["end_ts"] > g["ts"]:
                shared = min(w["end_ts"], g["end_ts"]) - max(w["ts"], g["ts"])
                found.append((-shared, w["ts"], w["id"], g["ts"], [w["name"], w["thread"], w["ts"], w["dur"], shared, g["generations"]]))
    return [row[-1] for row in sorted(found, key=lambda row: row[:4])]


def at_once(slices, name):
    """Of how many the latest that began is a part, ends before begins: one by one."""
    most = None
    for s in slices:
        if s["name"] == name:
            others = [o for o in slices if o["name"] == name and o["ts"] <= s["ts"]]
            most = max(most or 0, sum(1 for o in others if o["end_ts"] is None or o["end_ts"] > s["ts"]))
    return most


def used_times(events, step):
    """Of events, whose key is the tick at which measuring began."""
    used = {}
    for e in events:
        if e["name"] in ("thr.cpu", "prc.cpu") and e["key"] != -1:
            began = e["ts"] - (e["ts_ticks"] - e["key"]) * TICK
            key = (began // step * step, e["thread"])
            used[key] = used.get(key, 0) + max(dict(e["fields"]["members"])["usage"], 0) * 1000
    return [[*key, used[key]] for key in sorted(used)]


def check_trace(checks, trace):
    spans, slices, collections = [rows(trace, t) for t in ("spans", "slices", "collections")]
    ended = [s for s in spans if s["dur"] is not None]
    same = lambda what, got, expected: checks.that(difference(got, expected, sort=False) is None, trace.path, what,
                                                   difference(got, expected, sort=False))
    top = "top=100000"
    got = recipe(trace, "spans-longest", top)
    same("spans-longest", got[:len(ended)], longest(spans)[:len(ended)])
    checks.equal(len(got), len(spans), trace.path, "spans-longest")
    same("spans-longest of GC", recipe(trace, "spans-longest", "name=G*", "top=3"), longest(s for s in spans if s["name"] == "GC")[:3])
    same("jit-slowest", [r for r in recipe(trace, "jit-slowest", top) if r[1] is not None], slowest(ended))
    work = [s for s in slices if s["category"] == "call"]
    work += [dict(s, name=s["function_name"] or s["name"]) for s in spans if s["role"] != "collection"]
    same("gc-overlap", recipe(trace, "gc-overlap", top), in_pauses(work, collections))
    for name in sorted({s["name"] for s in slices})[:3]:
        checks.equal(recipe(trace, "concurrency", "name='%s'" % name), [[at_once(slices, name)]], trace.path, "concurrency", name)
    for step in (20, 1000):
        same("cpu-by-thread", recipe(trace, "cpu-by-thread", "step=%dms" % step), used_times(rows(trace, "events"), step * TICK))


def main():
    if b"without SQLite" in harness.run("query", "-q", os.path.join(INPUT, CALLS), "SELECT 1").err:
        harness.skip("this build has no SQL")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        paths = [os.path.join(INPUT, name) for name in (*LOGS, CALLS)]
        for name in CASES:
            paths.append(os.path.join(folder, name + ".log"))
            with open(paths[-1], "wb") as file:
                file.write(tracelog_gen.make(name)[0])
        for path in paths:
            check_trace(checks, Trace(path))
    checks.end()


if __name__ == "__main__":
    main()
