#!/usr/bin/env python3
"""report --by class: classes.py

Counts, times, rates and gaps are those of the events that convert writes as lines of JSON, in order of time; counts are
also those of info. A trace without calls and samples shows this table by default."""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

INPUTS = ["ctf-18", "ctf-2", "ctf-2010", "ctf-folders", "tracelog-vs.log", "tracelog-records.log", "fdr-v5-le.xray", "basic-v3-le.xray"]


def run(*words):
    done = subprocess.run(harness.binary() + list(words), capture_output=True, env=dict(os.environ, LC_ALL="C"))
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout.decode("utf-8")


def rank(values, share):
    """The value at the nearest rank."""
    return sorted(values)[max(0, -(-len(values) * share // 1000) - 1)]


def is_near(got, wanted):
    """Percentiles are off by 0.2 % at most; both are rounded to ns."""
    return abs(got - wanted) <= 2 + wanted * 0.002


def check(path, *choice):
    times = collections.defaultdict(list)
    for line in run("convert", path, "--to", "jsonl", "-o", "-", "-q", *choice).split("\n")[:-1]:
        event = json.loads(line)
        times[event["class"]].append(event.get("ts"))
    rows = json.loads(run("report", path, "--by", "class", "--json", "-q", *choice))["classes"]
    assert [(-r["events"], r["class"]) for r in rows] == sorted((-r["events"], r["class"]) for r in rows), "not sorted"
    assert {r["class"]: r["events"] for r in rows} == {name: len(ts) for name, ts in times.items()}, (path, "counts")
    total = sum(r["events"] for r in rows)
    gaps_seen = 0
    for r in rows:
        ts = [t for t in times[r["class"]] if t is not None]
        what = (path, r, ts[:5])
        assert abs(r["share"] * total - r["events"]) < 1e-6, what
        if r["ts"] is None:
            continue
        assert r["ts"] == min(ts) and r["end_ts"] == max(ts), what
        gaps = [b - a for a, b in zip(ts, ts[1:])]
        assert (r["gap_max"] is None) == (not gaps), what
        if not gaps or min(gaps) < 0:
            continue
        gaps_seen += 1
        assert abs(r["gap_max"] - max(gaps)) <= 2, what
        assert is_near(r["gap_p50"], rank(gaps, 500)) and is_near(r["gap_p99"], rank(gaps, 990)), what
        span = max(ts) - min(ts)
        assert (r["rate"] is None) == (span == 0), what
        assert not span or abs(r["rate"] * span / 1e9 - len(gaps)) <= 1e-6 * len(gaps) + 4 * len(gaps) / span, what
    return rows, gaps_seen


def main():
    seen = 0
    for name in INPUTS:
        path = os.path.join(harness.SOURCE, "test", "golden", "input", name)
        rows, gaps = check(path)
        seen += gaps
        counted = {(c["name"], c["kind"]): c["events"] for c in json.loads(run("info", "--json", "-q", path))["classes"]}
        assert counted == {(r["class"], r["kind"]): r["events"] for r in rows}, (name, counted)
        shown = run("report", path, "-q")
        is_class_table = shown == run("report", path, "--by", "class", "-q")
        assert is_class_table == name.startswith("ctf"), "%s shows %s" % (name, shown)
    assert check(os.path.join(harness.SOURCE, "test", "golden", "input", "ctf-2"), "--time", "1ms..600ms")[0]
    assert seen > 20, "%d classes have gaps" % seen
    print("%d classes with gaps" % seen)


main()
