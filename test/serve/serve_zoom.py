#!/usr/bin/env python3
"""Ranges of a served trace, which is read in part, against `report` and `query`, which read all of it, and against calls that this
script matches itself. The traces are long enough for checkpoints between their events."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_lib import Server, harness, need
import program
import xray_gen

HZ = 10 ** 9
EVENTS = 5000  # of each thread
STYLE = {"args": 30, "custom": 20, "typed": 20, "tail": 100, "migrate": 40}
LOSSY = {**STYLE, "missing": 30, "stray": 20, "cut": True}
TABLES = ("func", "tree", "hist", "callers", "thread", "loss")
SQL = "SELECT name, count(*) AS n, sum(dur), max(dur), sum(self), min(depth), count(DISTINCT thread), max(ts) FROM calls GROUP BY name ORDER BY n, name"
STATS = "SELECT name, calls, total, self, p99 FROM function_stats ORDER BY name"
ROWS = "SELECT ts, dur, self, depth, is_outermost, name, caller, thread FROM calls ORDER BY ts, depth LIMIT 200"
PLACES = "SELECT place_id, path, count(*) FROM calls GROUP BY 1, 2 ORDER BY 1"
IDS = "SELECT id, parent_id, ts FROM calls ORDER BY id LIMIT 50"


def damaged(data, random):
    """The same with a byte changed here and there, but not in the header."""
    out = bytearray(data)
    for _ in range(6):
        out[64 + random.below(len(out) - 64)] ^= 1 + random.below(255)
    return bytes(out)


def make(kind):
    """Threads, the name of the trace, and whether this script knows its calls."""
    lossy = kind in ("lossy", "damaged")
    threads = program.run(41, 3, EVENTS, **(LOSSY if lossy else STYLE))
    if kind == "basic":
        name, data = "t.xray", xray_gen.basic(3, "little", threads, hz=HZ).data
    else:
        name, data = "t.xray", xray_gen.fdr(5, "little", threads, hz=HZ, buffer=2048).data
    if kind == "damaged":
        data = damaged(data, program.Random(5))
    with open(name, "wb") as file:
        file.write(data)
    if kind == "ctf":
        harness.run("convert", "-q", name, "--to", "ctf", "-o", "t.ctf")
        name = "t.ctf"
    return threads, name, kind not in ("damaged",)


def within(threads, begin, low, high):
    """{id: [calls, total, self]} of the calls that lie in low <= t < high, from the begin of the trace."""
    rows = {}
    for _, events in threads:
        stack = []  # [id, entered, ticks of callees, ticks of closed inner calls of this function that count]
        for event in events:
            if event.kind in (program.ENTER, program.ENTER_ARGS):
                stack.append([event.function, event.tsc, 0, 0])
                continue
            if event.kind not in (program.EXIT, program.TAIL_EXIT) or all(call[0] != event.function for call in stack):
                continue
            last = False
            while not last:
                function, entered, callees, inner = stack.pop()
                last, ticks = function == event.function, event.tsc - entered
                if stack:
                    stack[-1][2] += ticks
                row = rows.setdefault(function, [0, 0, 0])
                passed = inner
                if entered - begin >= low and event.tsc - begin < high:
                    row[0] += 1
                    row[2] += ticks - callees
                    passed = ticks
                outer = [call for call in stack if call[0] == function]
                if outer:
                    outer[-1][3] += passed
                else:
                    row[1] += passed
        for function, _, _, inner in reversed(stack):  # never ended
            outer = [call for call in stack if call[0] == function]
            if inner and outer:
                rows.setdefault(function, [0, 0, 0])[1] += inner
    return {function: row for function, row in rows.items() if row[0]}


def ranges(span):
    random = program.Random(77)
    yield 0, span + 1
    yield span // 2, span // 2 + 1
    for i in range(14):
        low = random.below(span)
        yield low, low + random.below(max(2, span >> i % 7))


def own(checks, threads, answer, low, high):
    begin = min(event.tsc for _, events in threads for event in events)
    got = {f["id"]: [f["calls"], f["total"], f["self"]] for f in answer.json()["functions"] if f["calls"]}
    checks.equal(got, within(threads, begin, low, high), "calls within", low, high)


def compare(checks, kind):
    threads, name, known = make(kind)
    tsc = [event.tsc for _, events in threads for event in events]
    span = max(tsc) - min(tsc)
    with Server(name, "-q", cwd=os.getcwd()) as server:
        for low, high in ranges(span):
            t = "%dns..%dns" % (low, high)
            for by in TABLES:
                told, answer = harness.run("report", "-q", name, "--by", by, "--json", "--time", t), server.ask("table", by=by, t=t)
                if told.out:
                    checks.equal(answer.body, told.out, by, t)
                else:
                    checks.equal(answer.status, {1: 404, 2: 400}[told.status], by, t, told)
                if by == "func" and known:
                    own(checks, threads, answer, low, high)
            file, got = harness.run("report", "-q", name, "--to", "html", "--time", t), server.ask("spans", t=t).json()["sections"]
            sums = server.ask("profile", t=t).json()["sections"]
            for section in ("functions", "tree", "hist", "damage") if "tree" in got else ():  # a page without any calls has none
                checks.equal(sums.get(section), got.get(section), section, t)
                if section in got and "data" in got[section]:
                    checks.that(got[section]["data"].encode() in file.out, section, t)
            if harness.built_with("SQLite"):
                for sql in (SQL, STATS, ROWS, PLACES, IDS):
                    told, answer = harness.run("query", "-q", name, sql, "--json", "--time", t), server.ask("sql", sql=sql, t=t)
                    checks.equal(answer.body, told.out, sql, t)
        checks.equal(server.end(), 0, "^C")


def main():
    need()
    checks = harness.Checks()
    with harness.work_folder() as folder:
        os.chdir(folder)
        compare(checks, sys.argv[1])
        os.chdir("/")
    checks.end()


main()
