#!/usr/bin/env python3
"""Recipes over fields of any class, against Python: field_recipes.py

field-top and latency-between of classes and fields that occur, chosen at random; events are those of `convert --to jsonl`."""
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import harness
from query_oracle import members
from query_own import GROUPS, INPUT, traces


def value_of(line, field):
    """As the operator ->> of SQL: the first member of that name; null if it is none that can be compared as it is."""
    for part in ("fields", "context"):
        for name, value in members(line, part):
            if name == field and value is not None:
                return value
    return None


def is_plain(value):
    return isinstance(value, str) or isinstance(value, int) and not isinstance(value, bool) and -2 ** 63 <= value < 2 ** 63


def plain_fields(trace):
    """(class, field) whose values are all whole numbers or text."""
    values = {}
    for line in trace.lines:
        for part in ("context", "fields"):
            for name, value in members(line, part):
                if "." not in name and name not in ("function", "id"):
                    values.setdefault((line["class"], name), []).append(value)
    return sorted(key for key, all_values in values.items() if all(map(is_plain, all_values)))


def run(trace, *words):
    result = harness.run("query", "-q", "--to", "jsonl", *trace.words(None), "--recipe", *words)
    return [json.loads(line) for line in result.out.splitlines()] if result.status in (0, 3) else result


def order(value):
    """Numbers come before text."""
    return isinstance(value, str), value.encode() if isinstance(value, str) else value


def check_top(checks, trace, cls, field):
    counts = {}
    for line in trace.lines:
        value = value_of(line, field) if line["class"] == cls else None
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
    expected = sorted(counts.items(), key=lambda item: (-item[1], order(item[0])))
    got = run(trace, "field-top", "class=" + cls, "field=" + field, "top=100000")
    checks.equal(got, [{"value": value, "events": n} for value, n in expected], trace.path, cls, field)
    return len(expected)


def rank(values, percent):
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


def check_between(checks, trace, first, second):
    waits, last = [], {}
    for line in trace.lines:  # by time
        cls = line["class"]
        value = value_of(line, second[1] if cls == second[0] else first[1]) if cls in (first[0], second[0]) else None
        if value is None or line.get("ts") is None:
            continue
        if cls == second[0]:
            if last.get(value) is not None:
                waits.append(line["ts"] - last[value])
            last[value] = None
        else:
            last[value] = line["ts"]
    got = run(trace, "latency-between", "from=" + first[0], "to=" + second[0], "from_field=" + first[1], "to_field=" + second[1])
    expected = {"pairs": len(waits), "shortest": min(waits, default=None), "p50": rank(waits, 50) if waits else None,
                "p99": rank(waits, 99) if waits else None, "longest": max(waits, default=None)}
    checks.equal(got, [expected], trace.path, first, second)
    return len(waits)


def has_order(trace):
    """Is the order of events with the same value that of time alone?"""
    times = [line["ts"] for line in trace.lines if line.get("ts") is not None]
    return times == sorted(times) and len(set(times)) == len(times)


def common(trace, fields, rng):
    """Pairs of fields, those with the same values first; none if the order of events is not that of time alone."""
    values = {key: {value_of(line, key[1]) for line in trace.lines if line["class"] == key[0]} for key in fields}
    all_pairs = [(a, b) for a in fields for b in fields if has_order(trace)]
    rng.shuffle(all_pairs)
    return sorted(all_pairs, key=lambda pair: -len(values[pair[0]] & values[pair[1]]) * (pair[0][0] != pair[1][0]))


def main():
    if b"without SQLite" in harness.run("query", "-q", os.path.join(INPUT, GROUPS["xray"][0]), "SELECT 1").err:
        harness.skip("this build has no SQL")
    checks, rng, values, pairs = harness.Checks(), random.Random(11), 0, 0
    with harness.work_folder() as folder:
        for group in ("ctf", "tracelog", "xray"):
            for trace in traces(folder, group):
                fields = plain_fields(trace)
                for cls, field in rng.sample(fields, min(3, len(fields))):
                    values += check_top(checks, trace, cls, field)
                for first, second in common(trace, fields, rng)[:6]:
                    pairs += check_between(checks, trace, first, second)
    checks.that(values > 100 and pairs > 20, "values", values, "pairs", pairs)
    checks.end()


if __name__ == "__main__":
    main()
