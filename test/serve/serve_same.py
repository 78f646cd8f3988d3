#!/usr/bin/env python3
"""Answers of `serve` are what the file of `report` has, and what `report --json` and `query --json` print; also the second time."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_lib import INPUT, Server, harness, need

SECTION = re.compile(rb'^<script type="application/(json|octet-stream)" data-section="([a-z-]+)"(?: data-n="(\d+)")?>(.*)</script>$', re.M)
SUMS = ("functions", "tree", "hist", "damage")
TABLES = "func tree callers callees hist thread line module class trace track damage loss property gc jit alloc heap cpu mix block branch page reuse cache syscall".split()
RANGES = ("0..10us", "5us..", "..12345ns", "1h..2h", "3us..3us")
SQL = ("SELECT count(*) FROM events", "SELECT name, count(*) AS n, sum(dur) FROM calls GROUP BY name ORDER BY n, name", "SELECT * FROM functions", "SELECT 1; SELECT 'a\nb' AS x",
       "SELECT * FROM classes", "SELECT name, p99 FROM function_stats ORDER BY name")
INPUTS = {
    "calls": ["fdr-v5-le.xray"], "messy": ["fdr-v5-le-messy.xray"], "basic": ["basic-v3-le.xray"], "no-clock": ["fdr-v5-le-no-clock.xray"],
    "damaged": ["damaged-rec-note-overlap.xray"], "samples": ["tracelog-saved.log"], "log": ["tracelog-damaged.log"], "profile": ["profile-le.xray"],
    "live": ["live-adding.tlp.live"], "insns": ["xtrace-cores"], "events": ["ctf-18"], "several": ["fdr-v5-le.xray", "fdr-v3-le.xray"],
}


def sections(page):
    return {m[2].decode(): (m[3], m[4]) for m in SECTION.finditer(page)}


def report(files, *options):
    return harness.run("report", *files, *options, cwd=INPUT)


def same_sections(checks, answer, page, what):
    """The answer has the bytes of the file's sections, and no others."""
    if not checks.equal(answer.status, 200, what):
        return
    expected = sections(page)
    got = answer.json()["sections"]
    checks.equal(sorted(set(got) - {"served"}), sorted(expected), what, "names of sections")
    for name, (n, text) in expected.items():
        if n is None:
            checks.that(b'"%s":%s' % (name.encode(), text) in answer.body, what, name)
        else:
            checks.equal((str(got[name]["n"]).encode(), got[name]["data"].encode()), (n, text), what, name)


def page(checks, server, files):
    file = report(files, "--to", "html")
    checks.equal(file.status in (0, 3), True, file)
    got = server.get("")
    checks.equal(got.status, 200, "the page")
    text = re.sub(rb'^<script type="application/json" data-section="served">.*\n', b"", got.body, flags=re.M).replace(b"; connect-src 'self'", b"")
    checks.equal(text, file.out, "the served page is that of the file, but for what it may ask")
    same_sections(checks, server.ask("profile"), file.out, "the whole")
    checks.equal(server.ask("meta").body.strip(), sections(file.out)["meta"][1], "meta")
    checks.equal(server.ask("profile", fresh=1).body, server.ask("profile").body, "read again")


def ranges(checks, server, files):
    for time in RANGES:
        file = report(files, "--to", "html", "--time", time)
        answer, sums = server.ask("spans", t=time), server.ask("profile", t=time)
        checks.equal(sums.status, answer.status, "sums and times of", time)
        if sums.status == 200:
            got, times = sums.json()["sections"], answer.json()["sections"]
            if "tree" in times:  # a page without any calls has none
                checks.equal([got.get(name) for name in SUMS], [times.get(name) for name in SUMS], time)
            checks.that(not set(got) & {"slices", "spans", "grid", "heat", "class"}, time, sorted(got))
        if file.status in (0, 3) and file.out:
            same_sections(checks, answer, file.out, time)
        elif "no calls and no stack samples" in file.err.decode():  # a file without anything is refused; a range may be empty
            checks.equal(answer.status, 200, time)
            checks.equal(answer.json()["sections"]["meta"]["calls"], 0, time)
        else:
            checks.equal(answer.status, 400, time, answer.body, file)


def tables(checks, server, files):
    done = 0
    for by in TABLES:
        for options in ((), ("--top", "2")) + ((("--time", "0..10us"),) if done < 3 else ()):
            keys = {k.strip("-").replace("time", "t"): v for k, v in zip(options[::2], options[1::2])}
            told = report(files, "--by", by, "--json", *options)
            answer = server.ask("table", by=by, **keys)
            if told.status in (0, 3) and told.out:
                done += 1
                checks.equal((answer.status, answer.body), (200, told.out), by, *options)
            else:
                checks.equal(answer.status, {1: 404, 2: 400, 3: 500}[told.status], by, *options, told, answer.body)
    checks.that(done > 5, "tables of", files)


def sql(checks, server, files):
    if not harness.built_with("SQLite"):
        checks.equal(server.ask("sql", sql="SELECT 1").status, 400, "built without SQLite")
        return
    for statement in SQL:
        told = harness.run("query", *files, statement, "--json", cwd=INPUT)
        answer = server.ask("sql", sql=statement)
        if told.status in (0, 3) and told.out:
            checks.equal((answer.status, answer.body), (200, told.out), statement)
        else:
            checks.equal(answer.status, 400, statement, told)
    for wrong in ("SELECT nothing FROM events", "DELETE FROM events", "ATTACH 'x' AS y", "PRAGMA temp_store", "SELECT load_extension('x')", "SELECT", "CREATE TABLE x(y)",
                  "SELECT readfile('/etc/passwd')", "VACUUM INTO 'x'"):
        answer = server.ask("sql", sql=wrong)
        checks.equal((answer.status, answer.code()), (400, "request"), wrong)
    rows = server.ask("sql", sql="SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", n=2).json()
    checks.equal((rows["rows"], rows.get("more")), ([[1], [2]], True), "cut")
    rows = server.ask("sql", sql="SELECT 1 UNION ALL SELECT 2", n=2).json()
    checks.equal((rows["rows"], rows.get("more")), ([[1], [2]], None), "not cut")


def calls(checks, server, files):
    if not harness.built_with("SQLite") or server.ask("sql", sql="SELECT 1 FROM calls LIMIT 1").json().get("rows", []) == []:
        return
    whole = server.ask("calls", n=10000).json()
    names = [c["name"] for c in whole["columns"]]
    dur, name, ts = (names.index(n) for n in ("dur", "name", "ts"))
    known = [row for row in whole["rows"] if row[dur] is not None]
    checks.that(known == sorted(known, key=lambda row: (-row[dur], row[ts])) or len({row[0] for row in known}) > 1, "longest first")
    checks.equal(server.ask("calls", n=3).json()["rows"], whole["rows"][:3], "the first ones")
    one = whole["rows"][0][name]
    checks.equal(server.ask("calls", n=10000, f=one).json()["rows"], [row for row in whole["rows"] if row[name] == one], "of", one)
    if files == INPUTS["calls"]:
        inside = server.ask("calls", n=10000, t="0..10us").json()["rows"]
        checks.equal(inside, [row for row in whole["rows"] if row[dur] is not None and row[ts] + row[dur] <= 10000], "within a range")
    events = server.ask("events", n=5).json()
    told = harness.run("query", *files, "SELECT * FROM events LIMIT 5", "--json", cwd=INPUT)
    checks.equal(events, told.json(), "events")


def main():
    need()
    checks, files = harness.Checks(), INPUTS[sys.argv[1]]
    with Server(*files, "-q") as server:
        for _ in range(2):  # inputs that stay open are read again
            for part in (page, ranges, tables, sql, calls):
                part(checks, server, files)
        checks.equal(server.end(), 0, "^C")
        checks.equal(server.err, b"", "messages")
    checks.end()


main()
