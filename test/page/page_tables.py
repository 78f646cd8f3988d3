#!/usr/bin/env python3
"""Tables on a page are those of `report --by X --json`: page_tables.py CASE

Each section equals the table of the same input, or is its first rows and says how many others there are. The first events
and the numbers of events over time are recounted from `query`. Names are hostile where a trace can name things."""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import small_ctf
from page_read import parse, read

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
TABLES = {"runtime": ["gc", "jit", "alloc", "heap", "cpu"], "code": ["mix", "block", "branch", "page", "cache", "reuse", "syscall"], "events": ["class", "state"]}
ROWS, BYTES, EVENTS, DENSITY, COLUMNS = 2000, 250000, 2000, 256, 512      # docs/page.md
CASES = {
    "runtime": ["tracelog-vs.log"], "runtime-doc": ["tracelog-doc.log"], "runtime-damaged": ["tracelog-damaged.log"],
    "runtime-several": ["tracelog-vs.log", "tracelog-doc.log"], "runtime-time": ["tracelog-vs.log", "--time", "60ms..150ms"],
    "runtime-bytes": ["tracelog-vs.log", "--weight", "bytes"],
    "code": ["xtrace-user", "-e", "xtrace-user.elf"], "code-cores": ["xtrace-cores", "-e", "xtrace-cores.elf"],
    "code-damaged": ["xtrace-damaged-load"], "code-insns": ["xtrace-user", "--insns", "50..200"],
    "events-2": ["ctf-2"], "events-18": ["ctf-18"], "events-2010": ["ctf-2010"], "events-damaged": ["ctf-2-damaged"], "events-state": ["ctf-sched"],
    "events-class": ["ctf-2", "--class", "prov0:*"], "calls": ["fdr-v5-le.xray", "-e", "program.elf"], "profile": ["profile-le.xray"],
    "events-of-calls": ["tracelog-calls.log"], "cache-options": ["xtrace-user", "--by", "cache", "--cache", "l1d=1K:2"],
}
# Kinds of events that have tabs of their own where there is a profile.
OWN_TABS = ("enter", "exit", "sample", "insn", "mem", "state", "regs")
HOSTILE = ["</script><script>alert(1)</script>", "]]>", "<!--", '"onload="x', "\u202eevil", "__proto__", "constructor", "%s%n", "a\x01\x1b[2Jb", "$&"]


def lists(value, key=None):
    """Lists of rows in an object: {path: rows}."""
    found = {}
    for name, inner in value.items():
        path = name if key is None else key + "." + name
        if isinstance(inner, dict):
            found.update(lists(inner, path))
        elif isinstance(inner, list) and (not inner or isinstance(inner[0], dict)):
            found[path] = inner
    return found


def without_lists(value):
    return {name: without_lists(inner) if isinstance(inner, dict) else inner for name, inner in value.items()
            if not (isinstance(inner, list) and (not inner or isinstance(inner[0], dict)))}


def first_rows(checks, what, got, right):
    """The number of rows that `got` lacks of `right`; other rows are the same, but for lists in them."""
    missing = 0
    for path, rows in lists(right).items():
        have = lists(got)[path]
        checks.that(len(have) <= min(len(rows), ROWS), what, path, "has too many rows")
        missing += len(rows) - len(have)
        for one, other in zip(have, rows):
            if one == other:
                continue
            for key, value in other.items():
                if one[key] == value:
                    continue
                checks.that(isinstance(value, list) and one[key] == value[:len(one[key])] and len(one[key]) == ROWS // 8 + 1, what, path, key)
                missing += len(value) - len(one[key])
    checks.equal(without_lists(got), without_lists(right), what, "facts")
    return missing


def described(checks, page, word):
    """Every member of a row is a column that `tables` describes."""
    table = next(t for t in page["tables"]["tables"] if t["section"] == word)
    for part in table["parts"]:
        keys = {re.split(r"[.\[]", c["key"])[0] for c in part["columns"]}
        rows = lists(page[word]).get(part["key"], []) if part["key"] else []
        for row in rows:
            checks.that(set(row) <= keys, word, part["key"], "has other columns", set(row) - keys)
        for c in part["columns"]:
            checks.that(c["unit"] in ("", "count", "time", "bytes", "share", "hex", "bool", "json", "utc", "blob"), "column", c)
    known = {path.split(".")[0] for path in lists(page[word])} | {c["key"].split(".")[0] for p in table["parts"] if p["key"] is None for c in p["columns"]}
    named = {p["key"].split(".")[0] for p in table["parts"] if p["key"]}
    checks.that(set(page[word]) - {"schema", "unit", "left_out"} <= known | named, word, "has members without a column")


def check_tables(checks, page, words, cwd):
    plain, at = [], 0
    while at < len(words):
        skip = 2 if words[at] in ("--weight", "--by") else 1
        plain += words[at:at + 1] if skip == 1 else []
        at += skip
    own = words[words.index("--by") + 1] if "--by" in words else None
    for tab, names in TABLES.items():
        for word in names:
            given = [w for w in plain if own in (None, word) or w not in ("--cache", words[-1])]
            result = harness.run("report", *given, "--by", word, "--json", cwd=cwd)
            if word not in page:
                text = harness.run("report", *given, "--by", word, cwd=cwd)
                calls = word == "class" and page["meta"]["kind"] != "events" and not others(plain, cwd)
                several = len([w for w in words if not w.startswith("-")]) > 1 and text.status == 2
                checks.that(calls or several or text.status == 1 or b", no " in text.out, "no section", word, text)
                continue
            got, right = dict(page[word]), result.json()
            right.pop("damage", None)
            left = got.pop("left_out")
            checks.equal(first_rows(checks, word, got, right), left, word, "left out")
            checks.equal(next(t["tab"] for t in page["tables"]["tables"] if t["section"] == word), tab, word, "tab")
            described(checks, page, word)
            said = sum(one["n"] for one in page["meta"]["left_out"] if one["section"] == word)
            checks.equal(said, left, word, "said in meta")


def query(words, sql, cwd):
    keep = [w for w in words if w not in ("-e", "--weight", "bytes") and not w.endswith(".elf")]
    result = harness.run("query", *keep[:1], sql, *keep[1:], "--to", "jsonl", cwd=cwd)
    return [json.loads(line) for line in result.out.decode().splitlines()]


def others(words, cwd):
    """Has the trace events that no other tab shows?"""
    return query(words, "SELECT 1 FROM events WHERE kind NOT IN ('%s') LIMIT 1" % "', '".join(OWN_TABS), cwd)


def check_events(checks, page, words, cwd):
    classes = [(row["class"], row["kind"]) for row in page["class"]["classes"]]
    rows = query(words, "SELECT ts, thread, cpu, name, kind, fields, context, ts_ticks FROM events ORDER BY ts", cwd)
    named = {(r["name"], r["kind"]) for r in rows}
    if page["meta"]["kind"] != "events":
        rows = [r for r in rows if r["kind"] not in OWN_TABS]
    events, density = page["events"], page["density"]
    checks.equal(len(events["events"]) + events["left_out"], len(rows), "events")
    checks.that(len(events["events"]) <= EVENTS and (events["left_out"] == 0 or len(events["events"]) == EVENTS or
                                                   len(json.dumps(events)) >= BYTES / 2), "first events")
    key = lambda ts, thread, cpu, name, fields: (ts, thread, -1 if cpu is None else cpu, name, json.dumps(fields, sort_keys=True))
    got = collections.Counter(key(e["ts"], e["thread"], e["cpu"], e["class"], [e["fields"], e.get("context")]) for e in events["events"])
    right = collections.Counter(key(r["ts"], r["thread"], r["cpu"], r["name"], [r["fields"], r["context"]]) for r in rows)
    checks.that(not got - right, "not events of the trace", list((got - right).elements())[:2])
    times = [e["ts"] for e in events["events"] if e["ts"] is not None]
    checks.equal(times, sorted(times), "order")
    if events["left_out"]:
        checks.that(not times or times[-1] <= sorted(r["ts"] for r in rows if r["ts"] is not None)[len(times)], "not the first")
    # Over time.
    ticks = [r["ts_ticks"] for r in rows if r["ts"] is not None]
    begin, width = min(ticks), density["width"]
    counted = collections.defaultdict(collections.Counter)
    for r in rows:
        if r["ts"] is not None:
            counted[r["name"], r["kind"]][(r["ts_ticks"] - begin) // width] += 1
    columns = (max(ticks) - begin) // width + 1
    checks.equal(density["columns"], columns, "columns")
    checks.that(columns <= COLUMNS and (columns > COLUMNS // 2 or width == 1), "width", width)
    checks.equal(len(density["classes"]) + density["left_out"], len(named), "classes")
    for one, cells in zip(classes, density["classes"]):
        at, found = 0, {}
        for gap, n in zip(cells[::2], cells[1::2]):
            at += gap
            found[at] = n
        checks.equal(found, dict(counted[one]), "density of", one)


def check(checks, words, cwd, *more):
    result = harness.run("report", *words, "--to", "html", *more, cwd=cwd)
    checks.that(result.status in (0, 3), "status", result)
    page = read(result.out)
    check_tables(checks, page, words, cwd)
    if "class" in page:
        check_events(checks, page, words, cwd)
    if page["meta"]["kind"] == "events":
        checks.equal((page["tree"], page["meta"]["histogram"]), ([], False), "without a profile")
    for threads in (1, 2, 5):
        checks.that(harness.run("report", *words, "--to", "html", *more, "--threads", threads, cwd=cwd).out == result.out, "other bytes with", threads, "threads")
    return page, result


CALLS = [("cyg:func_entry", [("addr", "u64")]), ("cyg:func_exit", [("addr", "u64")])]
SWITCH = ("sched_switch", [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_state", "i64"), ("next_comm", "string"), ("next_tid", "i32")])


def calls_with(folder, n, more, event):
    """A trace of n calls with an event(i) of the classes `more` in each of them."""
    events = []
    for i in range(n):
        events += [(1000 * i, 0, [64 + i % 5]), (1000 * i + 100, *event(i)), (1000 * i + 300, 1, [64 + i % 5])]
    return small_ctf.write(folder, CALLS + more, [(0, events)])


def mixed(checks, folder):
    """Calls, switches of threads and other events: all tabs; and a trace of the same calls that has only declared the others."""
    switch = lambda i: (2, ["a", i % 2 + 1, 0, "b", (i + 1) % 2 + 1]) if i % 2 else (3, ["x%d" % i])
    path = calls_with(os.path.join(folder, "mixed"), 300, [SWITCH, ("note", [("text", "string")])], switch)
    page, _ = check(checks, [os.path.basename(path)], folder)
    checks.equal((page["meta"]["kind"], page["meta"]["calls"]), ("calls", 300), "calls")
    checks.that({"class", "state", "events", "density", "tree", "slices"} <= set(page), "sections", sorted(page))
    checks.equal({e["class"] for e in page["events"]["events"]}, {"sched_switch", "note"}, "first events")
    checks.equal((len(page["events"]["events"]), page["events"]["left_out"]), (300, 0), "only others are counted")
    path = small_ctf.write(os.path.join(folder, "plain"), CALLS + [("note", [("text", "string")])], [(0, [(10 * i, i % 2, [64]) for i in range(20)])])
    page, _ = check(checks, [os.path.basename(path)], folder)
    checks.that("class" not in page and page["meta"]["calls"] == 10, "no other events", sorted(page))


def hostile(checks, folder):
    """Names of classes, fields and values that mean something elsewhere."""
    pages = []
    for number, names in enumerate((HOSTILE, ["plain%02d" % i for i in range(len(HOSTILE))])):
        classes = [(name, [(names[i - 1], "string"), ("n", "i64")]) for i, name in enumerate(names)]
        events = [(10 * i, i % len(names), [names[i % len(names)] if i % 3 else "", -i]) for i in range(200)]
        path = small_ctf.write(os.path.join(folder, "t%d" % number), classes, [(0, events[::2]), (1, events[1::2])])
        page, result = check(checks, [os.path.basename(path)], folder)
        checks.equal({row["class"] for row in page["class"]["classes"]}, set(names), "names of classes")
        checks.equal({name for e in page["events"]["events"] for name in e["fields"]} - {"n"}, set(names), "names of fields")
        pages.append([(tag, sorted((k, v) for k, v in attributes.items() if k != "data-n")) for tag, attributes, _ in parse(result.out)])
        outside = result.out.split(b'<script type="application/json"')[0]
        checks.that(b"<script" not in outside and b"\x1b" not in outside, "names outside of the data")
    tags = [collections.Counter(tag for tag, _ in page) for page in pages]
    checks.equal(tags[0], tags[1], "other elements")
    checks.equal(pages[0], pages[1], "other attributes")


def bounds(checks, folder):
    """More events, classes and text than a page has."""
    classes = [("class %d" % i, [("text", "string")]) for i in range(2500)]
    events = [(i * 1000, i % 2500 if i % 7 else i % 3, ["x" * (5000 if i == 5 else 10)]) for i in range(6000)]
    path = small_ctf.write(os.path.join(folder, "many"), classes, [(0, events)])
    for limit in ("10M", "1M"):
        result = harness.run("report", path, "--to", "html", "--page-limit", limit)
        page, most = read(result.out), 10_000_000 if limit == "10M" else 1_000_000
        checks.that(len(result.out) <= most, "bytes", len(result.out))
        got, right = dict(page["class"]), harness.run("report", path, "--by", "class", "--json").json()
        left = got.pop("left_out")
        checks.equal(first_rows(checks, "class", got, right), left, "left out")
        checks.that(left > 0 and len(json.dumps(page["class"])) <= 1.3 * min(BYTES, most // 40), "bytes of a table", len(json.dumps(page["class"])))
        checks.equal(len(page["events"]["events"]) + page["events"]["left_out"], 6000, "events")
        checks.equal(page["events"]["events"][5]["fields"], None, "fields of a large event")
        checks.equal(len(page["density"]["classes"]) + page["density"]["left_out"], 2500, "classes over time")
        checks.that(len(page["density"]["classes"]) <= DENSITY, "classes over time")
        if limit == "10M":
            checks.equal((len(page["events"]["events"]), len(page["density"]["classes"])), (EVENTS, DENSITY), "bounds")
        for one in page["meta"]["left_out"]:
            checks.that("not written: %s %s" % (format(one["n"], ","), one["text"]) in result.err.decode(), "not said", one, result.err)
    # The same beside many calls.
    path = calls_with(os.path.join(folder, "calls"), 20000, [("note %d" % i, [("text", "string")]) for i in range(2500)], lambda i: (2 + i % 2500, ["y" * 40]))
    for limit in (2_000_000, 1_000_000):
        result = harness.run("report", path, "--to", "html", "--page-limit", str(limit))
        page = read(result.out)
        checks.that(len(result.out) <= limit, "bytes with calls", len(result.out))
        checks.equal(len(page["events"]["events"]) + page["events"]["left_out"], 20000, "other events")
        checks.that(len(json.dumps(page["events"])) <= 1.3 * limit / 40 and page["class"]["left_out"] > 0, "bytes of events with calls")
    # A name of a class that is larger than a table may be.
    path = small_ctf.write(os.path.join(folder, "long"), [("y" * 400_000, []), ("z", [])], [(0, [(1, 0, []), (2, 1, []), (3, 1, [])])])
    page = read(harness.run("report", path, "--to", "html").out)
    checks.equal(([r["class"] for r in page["class"]["classes"]], page["class"]["left_out"]), (["z"], 1), "a long name")
def options(checks, folder):
    """What cannot be a page, or cannot be narrowed."""
    run = lambda *words: harness.run("report", *words, "--to", "html", cwd=INPUT)
    checks.equal(run("tracelog-vs.log", "--by", "thread", "--sort", "total").status in (0, 2), True, "--sort")
    for words, text in ((["ctf-2", "--by", "track"], b"not a table of the page"), (["ctf-2", "--by", "class", "--json"], b"--json"),
                        (["ctf-2", "--by", "class", "--sort", "total"], b"--sort")):
        result = run(*words)
        checks.that(result.status == 2 and text in result.err and not result.out, words, result)
    page = read(run("tracelog-vs.log", "-F", "*").out)
    checks.that("gc" not in page and "tables" not in page, "tables that -F cannot narrow")
    checks.equal(read(run("tracelog-vs.log", "--by", "gc").out)["meta"]["by"], "gc", "the first tab")
    empty = small_ctf.write(os.path.join(folder, "empty"), [("a", [])], [(0, [])])
    result = harness.run("report", empty, "--to", "html")
    checks.that(result.status == 2 and b"no calls and no stack samples" in result.err, "an empty trace", result)


def main():
    checks, case = harness.Checks(), sys.argv[1]
    if case in CASES:
        check(checks, CASES[case], INPUT)
    else:
        with harness.work_folder() as folder:
            {"mixed": mixed, "hostile": hostile, "bounds": bounds, "options": options}[case](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
