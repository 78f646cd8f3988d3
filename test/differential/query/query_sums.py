#!/usr/bin/env python3
"""Tables with arguments against sums made by Python from `convert --to jsonl`: query_sums.py GROUP

call_stats: calls are matched here, entry by exit, and summed up for any keys and steps; percentiles and histograms, too.
Calls of instructions, which are matched in another way, have the sums of the table `calls`.
event_counts: events are counted here; sample_stats: the rows of `samples`. cache_misses and predictions are what `report` says with these options."""
import itertools
import json
import os
import random
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import harness
import told_oracle
from query_oracle import ask, difference, signed
from query_own import GROUPS, INPUT, traces

KEYS = {"function": "function_id, name", "place": "path", "thread": "thread", "cpu": "cpu", "depth": "depth"}


class Call:
    """path: names from the outermost function on."""

    def __init__(self, line, caller, number, name):
        self.function_id, self.name, self.begin = number, name, line["ts"]
        self.thread, self.cpu, self.children = line["track"], line.get("cpu"), 0
        self.caller, self.depth = caller, caller.depth + 1 if caller else 1
        self.path = caller.path + ";" + name if caller else name
        self.end = None

    def is_inner(self):
        """Is it in another call of its function that ended?"""
        outer = self.caller
        while outer and (outer.function_id != self.function_id or outer.end is None):
            outer = outer.caller
        return outer is not None


def matched(trace):
    """All calls of an XRay log that ended: an exit ends all calls above the innermost one of its function. And whether it
    ended any."""
    stacks, calls, unwound = {}, [], False
    for line in trace.lines:
        if line["class"] not in ("xray.enter", "xray.enter_args", "xray.exit", "xray.tail_exit"):
            continue
        fields = dict(line["fields"])
        stack = stacks.setdefault(line["track"], [])
        if "exit" not in line["class"]:
            stack.append(Call(line, stack[-1] if stack else None, fields["id"], fields.get("function") or "#%d" % fields["id"]))
            continue
        if all(call.function_id != fields["id"] for call in stack):
            continue
        while True:
            call = stack.pop()
            call.end = line["ts"]
            if stack:
                stack[-1].children += call.end - call.begin
            calls.append(call)
            if call.function_id == fields["id"]:
                break
            unwound = True
    return calls, unwound


def bucket(value):
    """docs/format/profile.md: values below 512 are their bucket; then 256 buckets for each power of two."""
    if value < 512:
        return value
    power = value.bit_length() - 1
    return 512 + (power - 9) * 256 + ((value - (1 << power)) >> (power - 8))


def varints(data):
    value, shift = 0, 0
    for byte in bytes.fromhex(data):
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            yield value
            value, shift = 0, 0


def decoded(data):
    """calls, sum, min, max, {bucket: calls} of a histogram in bytes."""
    numbers = list(varints(data))
    if numbers == [0]:
        return 0, 0, 0, 0, {}
    calls, total, low, above = numbers[:4]
    at = bucket(low)
    if at == bucket(low + above):
        return calls, total, low, low + above, {at: calls}
    counts = {at: numbers[4]}
    for step, n in zip(numbers[5::2], numbers[6::2]):
        at += step
        counts[at] = n
    return calls, total, low, low + above, counts


def rank(values, percent):
    values = sorted(values)
    return values[max(0, -(-len(values) * percent // 1000) - 1)]


def near(a, b, slack):
    return a is not None and abs(a - b) <= slack


def check_sum(row, calls, by_place, exact, has_total):
    """A row of call_stats and the calls that it is the sum of; times in Python are differences of rounded ns."""
    durations = [call.end - call.begin for call in calls]
    slack = 0 if exact else len(calls)
    total = sum(d for d, call in zip(durations, calls) if by_place or not call.is_inner())
    if row["calls"] != len(calls) or has_total and not near(row["total"], total, slack):
        return "calls, total: %s, expected %s" % ([row["calls"], row["total"]], [len(calls), total])
    if not near(row["self"], sum(max(0, d - call.children) for d, call in zip(durations, calls)), 4 * slack):
        return "self %s" % row["self"]
    for column, percent in (("min_dur", 0), ("p50", 500), ("p90", 900), ("p99", 990), ("p999", 999), ("max_dur", 1000)):
        value = rank(durations, percent) if percent else min(durations)
        if not near(row[column], value, (not exact) + (value // 300 if 0 < percent < 1000 else 0)):
            return "%s %s, expected about %s" % (column, row[column], value)
    number, added, low, high, counts = decoded(row["hist"])
    if (number, low, high, sum(counts.values())) != (len(calls), row["min_dur"], row["max_dur"], len(calls)):
        return "hist of %s" % [number, low, high]
    expected = {}
    for d in durations:
        expected[bucket(d)] = expected.get(bucket(d), 0) + 1
    return "hist %s, expected %s" % (counts, expected) if exact and (counts != expected or added != sum(durations)) else None


def check_calls(checks, trace, rng, calls, cut):
    """Sums of calls, for some sets of keys. cut: some were ended by others, or did not end."""
    hz = harness.run("info", "--json", trace.path).json()["clock"]["hz"]
    exact, is_whole = hz == 1000000000, 1000000000 % hz == 0  # histograms; times
    sets = [keys for n in range(len(KEYS) + 1) for keys in itertools.combinations(KEYS, n)]
    for keys in rng.sample(sets, 12):
        step = rng.choice([None, 1, 1000, 77777, 10 ** 6, 10 ** 12])
        columns = [column for key in keys for column in KEYS[key].split(", ")]
        # What is in such a call is part of the total of that one, which may be in another row of the function.
        has_total = not cut or step is None and not {"depth", "cpu"} & set(keys)
        names = ["ts"] + columns + ["calls", "total", "self", "min_dur", "p50", "p90", "p99", "p999", "max_dur", "hist"]
        source = "call_stats('%s', %s)" % (rng.choice(" ,").join(keys), "NULL" if step is None else step)
        answer, result = ask(trace, ["SELECT %s FROM %s" % (", ".join(names), source)], "--threads", str(rng.randint(1, 3)))
        if not checks.that(len(answer) == 1, trace.path, source, result):
            continue
        groups = {}
        for call in calls:
            key = (None if step is None else call.begin // step * step,) + tuple(getattr(call, c) for c in columns)
            groups.setdefault(key, []).append(call)
        found = {tuple(row[:1 + len(columns)]): dict(zip(names, row)) for row in answer[0].rows if row[names.index("calls")]}
        if checks.that(found.keys() == groups.keys(), trace.path, source, sorted(map(repr, found.keys() ^ groups.keys()))[:4]):
            for key, members in groups.items():
                why = check_sum(found[key], members, "place" in keys, exact, has_total)
                checks.that(why is None or step is not None and not is_whole, trace.path, source, key, why)


def check_table_of_calls(checks, trace):
    """What can be said of any trace with calls: sums by keys are those of `calls`, and by function those of the report."""
    statements = ["SELECT floor_to(ts, 1000), function_id, thread, depth, count(*), min(dur_ticks) > 0 FROM calls WHERE dur IS NOT NULL GROUP BY 1, 2, 3, 4",
                  "SELECT ts, function_id, thread, depth, calls, min_dur > 0 FROM call_stats('function thread depth', 1000) WHERE calls > 0",
                  "SELECT place_id, path, count(*), max(dur_ticks), sum(self_ticks) FROM calls WHERE dur IS NOT NULL GROUP BY 1, 2",
                  "SELECT place_id, path, calls, calls, total >= self FROM call_stats('place') WHERE calls > 0",
                  "SELECT calls, total, self, min_dur, p50, p90, p99, max_dur FROM call_stats('function')",
                  "SELECT calls, total, self, min_dur, p50, p90, p99, max_dur FROM function_stats WHERE min_dur IS NOT NULL"]
    answers, result = ask(trace, statements, "--threads", "2")
    if not checks.equal(len(answers), len(statements), trace.path, result):
        return 0
    rows = [answer.rows for answer in answers]
    why = difference([row[:5] for row in rows[0]], [row[:5] for row in rows[1]])
    checks.that(why is None, trace.path, "sums by step", why)
    why = difference([row[:3] for row in rows[2]], [row[:3] for row in rows[3]])
    checks.that(why is None and all(row[4] for row in rows[3]), trace.path, "sums by place", why)
    why = difference(rows[4], rows[5]) if rows[0] else None
    checks.that(why is None, trace.path, "function_stats", why)
    return len(rows[0])


def check_events(checks, trace, rng):
    """Numbers of events by all sets of keys."""
    columns = {"class": "name", "thread": "thread", "cpu": "cpu"}
    members = {"class": "class", "thread": "track", "cpu": "cpu"}
    for keys in [keys for n in range(4) for keys in itertools.combinations(columns, n)]:
        step = rng.choice([None, 1, 1000, 77777, 10 ** 9])
        source = "event_counts('%s', %s)" % (" ".join(keys), "NULL" if step is None else step)
        names = ["ts"] + [columns[key] for key in keys] + ["sum(events)"]
        answer, result = ask(trace, ["SELECT %s FROM %s GROUP BY %s" % (", ".join(names), source, ", ".join(names[:-1]))])
        expected = {}
        for line in trace.lines:
            ts = line.get("ts")
            key = (None if step is None or ts is None else ts // step * step,) + tuple(line.get(members[k]) for k in keys)
            expected[key] = expected.get(key, 0) + 1
        if checks.that(len(answer) == 1, trace.path, source, result):
            why = difference(answer[0].rows, [list(key) + [n] for key, n in expected.items()])
            checks.that(why is None, trace.path, source, why)
    recipe = harness.run("query", "-q", "--to", "jsonl", *trace.words(None), "--recipe", "event-rate", "step=1us").out
    expected = {}
    for line in trace.lines:
        if line.get("ts") is not None:
            key = line["ts"] // 1000 * 1000, line["class"]
            expected[key] = expected.get(key, 0) + 1
    got = {(row["step"], row["name"]): row["events"] for row in map(json.loads, recipe.splitlines())}
    checks.equal(got, expected, trace.path, "event-rate")


def check_samples(checks, trace, rng):
    """Sums of the rows of `samples`; returns how many there are."""
    columns = {"function": ["function_id", "name"], "path": ["path"], "thread": ["thread"]}
    for keys in [keys for n in range(4) for keys in itertools.combinations(columns, n)]:
        step, names = rng.choice([None, 1000, 10 ** 7, 10 ** 9]), [name for key in keys for name in columns[key]]
        source = "sample_stats('%s', %s)" % (" ".join(keys), "NULL" if step is None else step)
        answers, result = ask(trace, ["SELECT ts, %s samples, time FROM %s" % ("".join(name + ", " for name in names), source),
                                      "SELECT ts, %s samples, time FROM samples" % "".join(name + ", " for name in names)])
        if not checks.that(len(answers) == 2, trace.path, source, result):
            continue
        sums = {}
        for row in answers[1].rows:
            key = (None if step is None else row[0] // step * step,) + tuple(row[1:-2])
            was = sums.get(key, (0, None))
            sums[key] = was[0] + row[-2], was[1] if row[-1] is None else (was[1] or 0) + row[-1]
        why = difference(answers[0].rows, [list(key) + list(both) for key, both in sums.items()])
        checks.that(why is None, trace.path, source, why)
    return len(answers[1].rows)


def rows_of_report(trace, part, *options):
    result = harness.run("report", "-q", "--json", "--top", "0", *trace.options, *options, trace.path)
    return result.json()[part] if result.status in (0, 3) else []


def check_simulations(checks, trace):
    """Tables of instructions with the options of report; returns the number of rows."""
    number = 0
    ways = [("cache_misses", "misses_by_pc", "cache", "--cache", ("l1d=1K:2:64,l2=0,l2tlb=0", "l1d=512:1:64,l2=4K:4:64", None)),
            ("predictions", "branches", "branch", "--predictor", ("gshare:4:2", "bimodal:1", "ras:2", "btb:3"))]
    for table, part, word, option, values in ways:
        for value in values:
            answers, result = ask(trace, ["SELECT * FROM %s%s" % (table, "('%s')" % value if value else "")])
            if not checks.that(len(answers) == 1, trace.path, table, value, result):
                continue
            expected = []
            for row in rows_of_report(trace, part, "--by", word, *([option, value] if value else [])):
                row["misses"] = (row.get("misses") or [None])[0]
                expected.append([1] + [signed(int(row["pc"], 16)) if c == "pc" else row.get(c) for c in answers[0].columns[1:]])
            why = difference(answers[0].rows, expected, sort=False)
            checks.that(why is None, trace.path, table, value, why)
            number += len(expected)
    return number


def main():
    group = sys.argv[1]
    if b"without SQLite" in harness.run("query", "-q", os.path.join(INPUT, GROUPS["xray"][0]), "SELECT 1").err:
        harness.skip("this build has no SQL")
    checks, rng, calls, rows = harness.Checks(), random.Random(zlib.crc32(group.encode())), 0, 0
    with harness.work_folder() as folder:
        for trace in traces(folder, group):
            check_events(checks, trace, rng)
            rows += check_simulations(checks, trace) + check_samples(checks, trace, rng)
            if group != "tracelog":  # report has functions with several names as one
                calls += check_table_of_calls(checks, trace)
            if group == "xray":
                check_calls(checks, trace, rng, *matched(trace))
            if group == "tracelog" and told_oracle.is_told(trace):
                ended, some_open = told_oracle.ended_calls(trace)
                check_calls(checks, trace, rng, ended, some_open)
                calls += len(ended)
    checks.that(calls >= {"xray": 100, "xtrace": 50, "tracelog": 100}.get(group, 0), group, "calls", calls)
    checks.that(rows >= {"xtrace": 100, "tracelog": 50}.get(group, 0), group, "rows of simulations, samples", rows)
    checks.end()


if __name__ == "__main__":
    main()
