#!/usr/bin/env python3
"""Recipes in pandas, over the Parquet that `query --export` writes: the same rows, in the same order, as SQLite has.

The files are read by parquet_read.py, not by pandas, whose readers of Parquet Debian does not have. Runs in the system's
Python, for its pandas."""
import fractions
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "roundtrip"))
import parquet_read

PYTHON = "/usr/bin/python3"
INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
CALLS, OTHER, DOC, VS, LOG = "fdr-v5-le.xray", "fdr-v5-le-messy.xray", "tracelog-doc.log", "tracelog-vs.log", "tracelog-calls.log"
USER, CORES, CTF = "xtrace-user", "xtrace-cores", "ctf-18"


class Tables:
    """Tables of some traces as data frames, each read when it is asked for."""

    def __init__(self, pd, folder, paths):
        self.pd, self.folder, self.known = pd, folder, {}
        done = harness.run("query", "-q", *paths, "--export", folder, "--to", "parquet")
        if done.status not in (0, 3):
            sys.exit("the export failed: %s" % done)

    def __getattr__(self, name):
        if name not in self.known:
            file = parquet_read.File(os.path.join(self.folder, name + ".parquet"))
            self.known[name] = self.pd.DataFrame({column: self.array([row[i] for row in file.rows]) for i, column in enumerate(file.columns)})
        return self.known[name].copy()

    def array(self, values):
        kinds = {type(v) for v in values} - {type(None)}
        return self.pd.array(values, dtype="Int64" if kinds <= {int} else "Float64" if kinds <= {int, float} else "boolean" if kinds == {bool} else object)


def total(frame, keys, **columns):
    """Groups, and sums that are missing where all values are: name=(column, how)."""
    groups = frame.groupby(keys, dropna=False, sort=False)
    return groups.agg(**{name: (column, (lambda s: s.sum(min_count=1)) if how == "sum" else how) for name, (column, how) in columns.items()}).reset_index()


def order(frame, falling, *rising):
    """Rows by one column from the largest on, those without a value last, then by others."""
    by, ascending = [falling, *rising], [False] + [True] * len(rising)
    frame = frame.assign(**{"_%d" % i: frame[column].isna() != (i > 0) for i, column in enumerate(by)})
    return frame.sort_values([c for i, column in enumerate(by) for c in ("_%d" % i, column)],
                             ascending=[x for i, a in enumerate(ascending) for x in (i == 0, a)], kind="stable")


def sides(frame, key, *columns):
    """Sums of both traces beside each other, the largest difference of `self` first."""
    out = frame[[key]].drop_duplicates()
    for column in columns:
        for trace, name in ((1, "before"), (2, "after")):
            sums = frame[frame.trace == trace].groupby(key)[column].sum().rename("%s_%s" % (column, name)).reset_index()
            out = out.merge(sums, how="left", on=key)
            out["%s_%s" % (column, name)] = out["%s_%s" % (column, name)].fillna(0)
    return order(out.assign(_change=(out.self_before - out.self_after).abs()), "_change", key)


def floor_to(column, step):
    return column - column % step


def concurrency(t, name):
    of = t.slices[lambda s: s.name == name]
    steps = [(ts, 1) for ts in of.ts] + [(ts, -1) for ts in of.end_ts.dropna()]
    frame = t.pd.DataFrame(sorted(steps), columns=["ts", "step"])
    return t.pd.DataFrame({"most_at_once": [frame.step.cumsum().max()]})


def field_of(row, key):
    found = None
    for text in (row.fields, row.context):
        if found is None and isinstance(text, str):
            found = json.loads(text).get(key)
    return found


def field_top(t, of, field):
    events = t.events[lambda e: e.name == of]
    values = events.apply(field_of, axis=1, key=field).dropna()
    return order(values.value_counts().rename_axis("value").reset_index(name="events"), "events", "value")


def gaps(t, least):
    calls = t.calls[lambda c: c.depth == 1].sort_values(["trace", "track_id", "ts"], kind="stable")
    calls["idle"] = calls.ts - calls.groupby(["trace", "track_id"]).end_ts.shift()
    return order(calls[(calls.idle >= least).fillna(False)], "idle", "ts").rename(columns={"ts": "until"})


def in_pauses(t):
    columns = ["trace", "id", "ts", "dur", "end_ts", "thread", "name"]
    spans = t.spans[lambda s: s.role.notna() & (s.role != "collection")]
    spans["name"] = spans.function_name.where(spans.function_name.notna(), spans.name)
    work = t.pd.concat([t.slices[lambda s: s.category == "call"][columns], spans[columns]])
    both = work.merge(t.collections, on="trace", suffixes=("", "_g"))
    both = both[((both.ts < both.end_ts_g) & (both.end_ts > both.ts_g)).fillna(False)]
    ends = both.end_ts.where(both.end_ts < both.end_ts_g, both.end_ts_g)
    begins = both.ts.where(both.ts > both.ts_g, both.ts_g)
    return order(both.assign(in_pause=ends - begins), "in_pause", "ts", "id", "ts_g")


def latency(t, first, second, field):
    events = t.events[lambda e: e.name.isin([first, second]) & e.ts.notna()]
    events["value"] = events.apply(field_of, axis=1, key=field)
    events = events[events.value.notna()].sort_values(["ts", "id"])
    events["begin"] = events.ts.where(events.name == first)
    wait = (events.ts - events.groupby(["trace", "value"]).begin.shift())[events.name == second].dropna().sort_values()
    rank = {p: wait.iloc[max(math.ceil(p / 100 * len(wait)) - 1, 0)] for p in (50, 99)} if len(wait) else {50: None, 99: None}
    return t.pd.DataFrame({"pairs": [len(wait)], "shortest": [wait.min()], "p50": [rank[50]], "p99": [rank[99]], "longest": [wait.max()]})


def hist_diff(t, name):
    """From calls, in place of the histograms of their places: powers of two are borders of both."""
    calls = t.calls[lambda c: (c.name == name) & c.dur.notna()]
    calls["bits"] = [int(dur).bit_length() for dur in calls.dur]
    rows = [[1 << bits >> 1, (1 << bits) - 1] + [sum(of.trace == trace) for trace in (1, 2)] for bits, of in calls.groupby("bits")]
    return t.pd.DataFrame(rows, columns=["low", "high", "calls_before", "calls_after"])


def percentile(values, p, bits=8):
    """As in a histogram: a value in the middle of its bucket, of which there are 2^bits from each power of two to the next, but
    the smallest and the largest value exactly."""
    values = sorted(values)
    rank = max(-(-p * len(values) // 100), 1)
    shift = max(values[rank - 1].bit_length() - 1 - bits, 0)
    middle = (values[rank - 1] >> shift << shift) + ((1 << shift) - 1) // 2
    return min(max(middle, values[0]), values[-1]) if 1 < rank < len(values) else values[rank - 1]


def p99_by_path(t, step):
    """In ticks, as histograms are; Python rounds half to even, too."""
    calls = t.calls[lambda c: c.dur.notna() & c.place_id.notna()].merge(t.traces[["trace", "hz"]], on="trace")
    calls = calls.assign(step=floor_to(calls.ts, step), hz=calls.hz.fillna(10**9))
    rows = [[at, path, len(of), round(fractions.Fraction(percentile([int(ticks) for ticks in of.dur_ticks], 99) * 10**9, int(of.hz.iloc[0])))]
            for (at, path), of in calls.groupby(["step", "path"])]
    return t.pd.DataFrame(rows, columns=["step", "path", "calls", "p99"]).sort_values(["step", "p99", "path"], ascending=[True, False, True])


def losses(t):
    joined = t.losses.merge(t.traces[["trace", "path"]], on="trace")
    return joined.sort_values(["trace", "what"], kind="stable")


def outliers(t, times):
    both = t.calls.merge(t.places[["trace", "place_id", "p50"]], on=["trace", "place_id"]).rename(columns={"p50": "median"})
    both = both[((both["median"] > 0) & (both.dur > times * both["median"])).fillna(False)]
    both["times"] = both.dur.astype(float) / both["median"].astype(float)
    return order(both, "times", "ts")


def samples_in_gc(t):
    both = t.collections.merge(t.samples, on="trace", suffixes=("_g", ""))
    both = both[((both.ts >= both.ts_g) & (both.ts < both.end_ts)).fillna(False)]
    return order(total(both, "name", samples=("samples", "sum"), time=("time", "sum")), "samples", "name")


def slowest(t):
    calls = order(t.calls[lambda c: c.name.notna()], "dur", "ts").head(20).drop(columns="path")
    return order(calls.merge(t.places[["trace", "place_id", "path"]], on=["trace", "place_id"]), "dur", "ts")


def utilisation(t):
    both = t.calls[lambda c: c.depth == 1].merge(t.traces[["trace", "dur"]], on="trace", suffixes=("", "_t"))
    out = total(both, "thread", busy=("dur", "sum"), whole=("dur_t", "max"), outermost_calls=("ts", "size"))
    return order(out.assign(percent=100.0 * out.busy.astype(float) / out.whole.astype(float)), "busy", "thread")


def working_set(t, step):
    accesses = t.accesses
    accesses = accesses.assign(step=floor_to(accesses.ts, step), page=floor_to(accesses.address, 4096), line=floor_to(accesses.address, 64))
    return total(accesses, "step", pages=("page", "nunique"), lines=("line", "nunique"), accesses=("ts", "size")).sort_values("step")


def callers(t, key, other, name):
    calls = t.calls[lambda c: c[key] == name]
    out = total(calls, other, calls=("ts", "size"), total=("dur", "sum"), max_dur=("dur", "max"))
    return order(out, "total", other)


# (recipe, groups of traces, its parameters, the same in pandas)
RECIPES = [
    ("alloc-by-path", (DOC, VS, LOG), {}, lambda t: order(total(t.allocations, "path", objects=("objects", "sum"), bytes=("bytes", "sum")), "bytes", "path")),
    ("alloc-by-type", (DOC, VS, LOG), {}, lambda t: order(total(t.allocations, "type_name", objects=("objects", "sum"), bytes=("bytes", "sum")), "bytes", "type_name")),
    ("cache-hot", (USER, CORES), {}, lambda t: order(t.cache_misses.assign(misses=lambda c: c.loads + c.stores), "misses", "pc")),
    ("callees-of", (CALLS, OTHER), {"name": "#2"}, lambda t: callers(t, "caller", "name", "#2").rename(columns={"name": "callee"})),
    ("callers-of", (CALLS, OTHER), {"name": "#3"}, lambda t: callers(t, "name", "caller", "#3")),
    ("concurrency", (CALLS, OTHER), {"name": "#2"}, lambda t: concurrency(t, "#2")),
    ("cpu-by-thread", (DOC, VS, LOG), {"step": "500ms"}, lambda t: total(t.cpu_usage[lambda c: c.ts.notna()].assign(step=lambda c: floor_to(c.ts, 500000000)),
                                                                     ["step", "trace", "thread"], used=("used", "sum")).sort_values(["step", "trace", "thread"])),
    ("diff-paths", ((CALLS, OTHER), (DOC, VS)), {}, lambda t: sides(t.places, "path", "calls", "self")),
    ("diff", ((CALLS, OTHER), (DOC, VS), (USER, CORES)), {}, lambda t: sides(t.function_stats, "name", "calls", "self")),
    ("event-rate", (CALLS, LOG, CTF), {"step": "1ms"}, lambda t: total(t.events[lambda e: e.ts.notna()].assign(step=lambda e: floor_to(e.ts, 1000000)), ["step", "name"],
                                                                     events=("ts", "size")).sort_values(["step", "name"])),
    ("field-top", (CALLS, OTHER), {"class": "xray.typed", "field": "type"}, lambda t: field_top(t, "xray.typed", "type")),
    ("function-stats", (CALLS, LOG, USER), {}, lambda t: order(t.function_stats, "self", "name")),
    ("gaps", (CALLS, LOG, CORES), {"min": "1"}, lambda t: gaps(t, 1)),
    ("gc-overlap", (DOC, VS), {}, in_pauses),
    ("gc-pauses", (DOC, VS), {}, lambda t: order(t.collections, "dur", "ts")),
    ("hist-diff", ((CALLS, OTHER), (OTHER, CALLS)), {"name": "#2"}, lambda t: hist_diff(t, "#2")),
    ("hot-blocks", (USER, CORES), {}, lambda t: order(t.blocks.assign(instructions=lambda b: b.executions * b.length), "instructions", "start")),
    ("jit-slowest", (DOC, VS, LOG), {}, lambda t: order(t.spans[lambda s: s.role == "compilation"], "dur", "ts", "id")),
    ("latency-between", (CALLS, OTHER), {"from": "xray.enter", "to": "xray.exit", "from_field": "id", "to_field": "id"}, lambda t: latency(t, "xray.enter", "xray.exit", "id")),
    ("losses", (OTHER, CTF, (OTHER, CTF)), {}, losses),
    ("outliers", (CALLS, LOG), {"times": "1"}, lambda t: outliers(t, 1)),
    ("p99-by-path", (CALLS, OTHER, LOG), {"step": "10us"}, lambda t: p99_by_path(t, 10000)),
    ("samples-in-gc", (DOC, VS), {}, samples_in_gc),
    ("slowest-calls", (CALLS, LOG, CORES), {}, slowest),
    ("spans-longest", (DOC, VS, LOG), {}, lambda t: order(t.spans[lambda s: s.name.notna()], "dur", "ts", "id")),
    ("syscall-errors", (USER, CORES), {}, lambda t: order(total(t.syscalls[lambda s: s.errno.notna()], ["number", "name", "errno", "error"], failed=("ts", "size")), "failed", "number", "errno")),
    ("thread-utilisation", (CALLS, LOG, CORES), {}, utilisation),
    ("working-set", (USER, CORES), {"step": "10"}, lambda t: working_set(t, 10)),
]


TIES = ("slowest-calls",)  # its order has rows that are equal, which may be in any


def plain(pd, cell):
    if cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell):
        return None
    return cell.item() if hasattr(cell, "item") else cell


def alike(mine, theirs):
    """Numbers that are large, or in hexadecimal, are text in JSON lines."""
    if isinstance(mine, int) and isinstance(theirs, str):
        return mine % 2**64 == int(theirs, 0) % 2**64
    if isinstance(mine, (int, float)) and isinstance(theirs, (int, float)):
        return math.isclose(mine, theirs, rel_tol=1e-12)
    return mine == theirs


def compare(checks, pd, name, frame, expected, what):
    frame = frame.head(len(expected)) if len(expected) == 20 else frame  # :top
    if name in TIES and expected and set(expected[0]) <= set(frame):
        columns = list(expected[0])
        frame = frame.sort_values(columns)
        expected = sorted(expected, key=lambda row: [row[column] for column in columns])
    if not checks.equal(len(frame), len(expected), what, "rows"):
        return
    for at, theirs in enumerate(expected):
        mine = {name: plain(pd, frame[name].iloc[at]) if name in frame else "no column" for name in theirs}
        if not checks.that(all(alike(mine[name], cell) for name, cell in theirs.items()), what, "row", at, mine, theirs):
            return


def recipes():
    import pandas as pd
    checks, tables, found = harness.Checks(), {}, set()
    with harness.work_folder() as folder:
        for name, traces, parameters, answer in RECIPES:
            for trace in traces:
                paths = [os.path.join(INPUT, one) for one in ((trace,) if isinstance(trace, str) else trace)]
                if trace not in tables:
                    tables[trace] = Tables(pd, os.path.join(folder, str(len(tables))), paths)
                done = harness.run("query", "-q", *paths, "--recipe", name, *["%s=%s" % pair for pair in parameters.items()], "--to", "jsonl")
                if checks.that(done.status in (0, 3), name, trace, done):
                    expected = [json.loads(line) for line in done.text().splitlines()]
                    compare(checks, pd, name, answer(tables[trace]), expected, "%s of %s" % (name, trace))
                    found.update([name] if expected else [])
    everything = {line.split()[0] for line in harness.run("query", "--recipes").text().splitlines() if line[:1].strip()}
    checks.equal(sorted(everything - {name for name, *_ in RECIPES}), [], "recipes that are not tried")
    checks.equal(sorted({name for name, *_ in RECIPES} - found), [], "recipes without rows")
    checks.end()


def main():
    if not harness.built_with("SQLite"):
        harness.skip("this build has no SQLite")
    if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import pandas"], check=False, capture_output=True).returncode:
        harness.skip("python3-pandas is not installed")
    return subprocess.run([PYTHON, "-B", os.path.abspath(__file__), "run"], check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        recipes()
    else:
        sys.exit(main())
