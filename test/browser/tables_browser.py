#!/usr/bin/env python3
"""The tables of a page in a real browser: tables_browser.py CASE

Each tab shows the numbers of `report --by X --json`, sorts them, and draws them; nothing else is asked for."""
import csv
import json
import os
import subprocess
import sys

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "page")]
import harness
import page_browser
import recount
import small_ctf
from page_read import read
from page_tables import HOSTILE, OWN_TABS, SWITCH, calls_with, lists

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = {"runtime": ["tracelog-vs.log"], "code": ["xtrace-user", "-e", "xtrace-user.elf"], "events": ["ctf-2"], "states": ["ctf-sched"]}
TABS = {"runtime": ["gc", "jit", "alloc", "heap", "cpu"], "code": ["mix", "block", "branch", "page", "cache", "reuse", "syscall"]}


def watch(folder, file, **argument):
    path = os.path.join(folder, "argument.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(argument, out)
    done = subprocess.run(["node", os.path.join(HERE, "table_scenes.mjs"), file, path], capture_output=True, env=page_browser.tools(), timeout=540)
    if done.returncode != 0:
        sys.exit("%s%s" % (done.stdout[-1000:].decode(errors="replace"), done.stderr[-3000:].decode(errors="replace")))
    return json.loads(done.stdout)


def size(v):
    """Bytes as `report` writes them: one digit behind the point."""
    if v < 1024:
        return "%d B" % v
    for power, unit in enumerate(("KiB", "MiB", "GiB", "TiB"), 1):
        tenths = (v * 10 + 1024 ** power // 2) // 1024 ** power
        if tenths < 10240:
            return "%d.%d %s" % (*divmod(tenths, 10), unit)
    raise AssertionError(v)


def shown(v, unit, times):
    if v is None:
        return "-"
    if unit == "time":
        return recount.time(v) if times == "ns" else recount.three_digits(v, ("", " k", " M", " G"))
    if unit == "bytes":
        return size(v)
    if unit == "count":
        return "{:,}".format(v)
    if unit == "share":
        return recount.percent(v, 1)
    if isinstance(v, list):
        return str(len(v))
    if isinstance(v, float):
        return None         # rounded: not compared
    return recount.visible(str(v))


def member(row, key):
    for part in key.split("."):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def identifier(number, key):
    return (str(number) + "".join(c for c in key if c in "abcdefghijklmnopqrstuvwxyz0123456789"))[:20]


def title(key):
    text = key.replace(".", " ").replace("_", " ")
    return text[:1].upper() + text[1:]


def generations(v):
    """What was collected, or how large each is."""
    if isinstance(v, list):
        return " \u00b7 ".join("%s %s" % (g["name"], size(g["alloc"])) for g in v)
    young = len(v) - len(v.lstrip("t")) if v[:3] != "ttt" else 3
    old = [{3: "LOH"}.get(i, "gen %d" % i) for i, letter in enumerate(v) if i >= young and letter == "t"]
    return ", ".join(([["gen 0", "gen 0\u20131", "gen 0\u20132"][young - 1]] if young else []) + old) or "no generation"


def check_lists(checks, seen, table, right, names=None, first=0):
    """Each list of a table has a table of its own, with every value."""
    for number, part in enumerate(table["parts"], first):
        rows = lists(right).get(part["key"]) if part["key"] else None
        if not rows:
            continue
        got = seen["tables"][(names or {}).get(part["key"], title(part["key"]))]
        checks.equal(len(got), len(rows), table["section"], part["key"], "rows")
        columns = [c for c in part["columns"] if any(member(row, c["key"]) is not None for row in rows)]
        texts = lambda row: [generations(row["generations"]) if c["key"] == "generations" else shown(member(row, c["key"]), c["unit"], right["unit"])
                             for c in columns]
        wanted = sorted((texts(row) for row in rows), key=repr)
        found = sorted(([None if wanted[0][i] is None or shown(member(rows[0], c["key"]), c["unit"], right["unit"]) is None
                         else row.get(identifier(number, c["key"])) for i, c in enumerate(columns)] for row in got), key=repr)
        checks.equal(found, wanted, table["section"], part["key"])


def check_facts(checks, seen, table, right):
    wanted = [[title(c["key"]), shown(member(right, c["key"]), c["unit"], right["unit"])]
              for part in table["parts"] if part["key"] is None for c in part["columns"] if member(right, c["key"]) is not None]
    checks.equal(seen["facts"], wanted, table["section"], "facts")


def make(folder, words, cwd):
    file = os.path.join(folder, "page.html")
    harness.run("report", *words, "-o", file, cwd=cwd)
    with open(file, "rb") as data:
        return file, read(data.read())


def check_seen(checks, seen):
    for one in seen["seen"]:
        page_browser.quiet(checks, one)
    checks.equal(seen["elements"], 0, "elements")
    checks.that(seen["labels"] > 0, "no text in a chart")
    checks.equal(seen["clipped"], [], "text of charts outside of them")
    for hash_, width, wide, small, tab in seen["wide"]:
        checks.that(tab, hash_, "the chosen tab is out of sight at", width)
        checks.that(wide <= width, hash_, "is", wide, "wide, of", width)
        checks.equal(small, [], hash_, "small buttons")


def tab(checks, folder, case):
    words = INPUTS[case]
    file, page = make(folder, words, page_browser.GOLDEN)
    right = {word: harness.run("report", *words, "--by", word, "--json", cwd=page_browser.GOLDEN).json() for word in TABS[case]}
    more = {"sort": ["v=runtime&rel=jit", "0compiled"]} if case == "runtime" else {"sort": ["v=code&rel=block", "0executions"]}
    if case == "runtime":
        collections = right["gc"]["collections"]
        longest = max(collections, key=lambda c: c["pause"])
        end = max([c["end"] for c in collections] + [h["ts"] for h in right["gc"]["heap"]])
        more["point"] = ["v=runtime&rel=gc", "Pauses over time", (longest["begin"] + longest["end"]) / 2 / end]
    else:
        level = right["cache"]["levels"]
        used = [one for one in level if one["lookups"]]
        worst = max(range(len(used)), key=lambda i: used[i]["misses"])
        more["point"] = ["v=code&rel=cache", "Misses by level", (worst + 0.4) / len(used)]
    seen = watch(folder, file, views=["v=%s&rel=%s" % (case, word) for word in TABS[case]], **more)
    check_seen(checks, seen)
    checks.equal([t for t in seen["tabs"] if t in ("Runtime", "Code", "Events")], {"runtime": ["Runtime", "Events"], "code": ["Code"]}[case], "tabs")
    for word in TABS[case]:
        view, table = seen["views"]["v=%s&rel=%s" % (case, word)], next(t for t in page["tables"]["tables"] if t["section"] == word)
        checks.equal(view["pressed"], [word], "the chosen table")
        check_facts(checks, view, table, right[word])
        check_lists(checks, view, table, right[word])
        checks.that("not in this page" not in view["text"], word, "left out")
    if case == "runtime":
        said = csv.DictReader(harness.run("report", *words, "--by", "gc", "--to", "csv", cwd=page_browser.GOLDEN).text().splitlines())
        checks.equal([generations(one["generations"]).replace("\u2013", "-") for one in right["gc"]["collections"]], [row["generations"] for row in said], "generations")
    column = more["sort"][1]
    numbers = [[int(row[column].replace(",", "")) for row in rows] for rows in seen["sorted"]]
    checks.equal(numbers[0], sorted(numbers[0], reverse=True), "sorted")
    checks.equal(numbers[1], sorted(numbers[0]), "sorted the other way")
    checks.that([column, "ascending"] in seen["order"], "aria-sort", seen["order"])
    if case == "runtime":
        checks.that(seen["tip"] and recount.time(longest["begin"]) in seen["tip"] and recount.time(longest["pause"]) in seen["tip"], "tip", seen["tip"])
        checks.that(abs(seen["column"]["height"] - seen["column"]["room"]) <= 3, "the longest pause is the highest", seen["column"])
    else:
        checks.that(seen["tip"] and used[worst]["name"] in seen["tip"], "tip", seen["tip"])
        mix = right["mix"]["classes"]
        whole = sum(c["instructions"] for c in mix)
        said = ", ".join("%s %s" % (c["name"], recount.percent(c["instructions"], whole)) for c in mix if c["instructions"] / whole > 0.003)
        checks.equal(seen["views"]["v=code&rel=mix"]["parts"], [said], "the bar of the mix")


def events(checks, folder, case):
    if case == "hostile":
        classes = [(name, [(HOSTILE[i - 1], "string")]) for i, name in enumerate(HOSTILE)]
        stream = [(i, i % len(HOSTILE), [HOSTILE[(i + 3) % len(HOSTILE)]]) for i in range(300)]
        words, cwd = [small_ctf.write(os.path.join(folder, "trace"), classes, [(0, stream)])], folder
    elif case == "mixed":
        switch = lambda i: (2, ["a", i % 2 + 1, 0, "b", (i + 1) % 2 + 1]) if i % 2 else (3, ["x%d" % i])
        words, cwd = [calls_with(os.path.join(folder, "trace"), 200, [SWITCH, ("note", [("text", "string")])], switch)], folder
    else:
        words, cwd = INPUTS[case], page_browser.GOLDEN
    file, page = make(folder, words, cwd)
    right = harness.run("report", *words, "--by", "class", "--json", cwd=cwd).json()
    picked = [row for row in right["classes"] if case != "mixed" or row["kind"] not in OWN_TABS][-1]["class"]
    everything, one = "v=events", "v=events&cls=" + "".join("%%%02X" % b for b in picked.encode())
    seen = watch(folder, file, views=[everything, one, "v=losses"], sort=["v=events", "0events"])
    check_seen(checks, seen)
    if case == "mixed":
        checks.equal(seen["tabs"], ["Overview", "Flame", "Tree", "Timeline", "Latency", "Functions", "Events", "Losses"], "tabs")
        checks.that("The first 200 events other than calls, samples and instructions: all" in seen["views"][everything]["text"], "what the first events are")
    else:
        checks.equal(seen["tabs"], ["Events", "Losses"], "tabs")
        checks.equal(seen["chosen"], "Events", "the first tab")
    lines = harness.run("report", *words, "--by", "class", cwd=cwd).text().splitlines()
    checks.that(case in ("hostile", "mixed") or lines[0].endswith(seen["facts"]), "facts", seen["facts"], lines[0])
    table = next(t for t in page["tables"]["tables"] if t["section"] == "class")
    check_lists(checks, seen["views"][everything], table, right, {"classes": "Classes of events", "pairs": "Pairs of classes"})
    if case in ("states", "mixed"):
        states = harness.run("report", *words, "--by", "state", "--json", cwd=cwd).json()
        check_lists(checks, seen["views"][everything], next(t for t in page["tables"]["tables"] if t["section"] == "state"), states, {"states": "States of threads"}, 2)
    rows = seen["views"][everything]["tables"]["First events"]
    first = page["events"]["events"]
    checks.equal([(row["ts"], row["class"]) for row in rows], [(recount.time(e["ts"]), recount.visible(e["class"])) for e in first], "the first events")
    for row, e in zip(rows, first):
        for name, value in e["fields"].items():
            if isinstance(value, (int, str)):
                checks.that(recount.visible("%s=%s" % (name, value)) in row["fields"] or len(row["fields"]) >= 399, "field", name, row["fields"])
    some = seen["views"][one]["tables"]["First events"]
    checks.equal([row["ts"] for row in some], [recount.time(e["ts"]) for e in first if e["class"] == picked], "of one class")
    checks.equal([row["selected"] for row in seen["views"][one]["tables"]["Classes of events"]].count(True), 1, "the picked class")
    for name, value in next(e for e in first if e["class"] == picked)["fields"].items():
        checks.that(recount.visible(name) in seen["views"][one]["text"], "fields of the class", name)
    numbers = [[int(row["0events"].replace(",", "")) for row in found] for found in seen["sorted"]]
    checks.equal((numbers[0], numbers[1]), (sorted(numbers[0], reverse=True), sorted(numbers[0])), "sorted")
    checks.that(case == "mixed" or "every row of its tables" in seen["views"]["v=losses"]["text"], "losses")


def main():
    page_browser.tools()
    checks, case = harness.Checks(), sys.argv[1]
    with harness.work_folder() as folder:
        (events if case in ("events", "hostile", "states", "mixed") else tab)(checks, folder, case)
    checks.end()


if __name__ == "__main__":
    main()
