#!/usr/bin/env python3
"""SQL over traces, compared with Python's SQLite over the same rows: query_own.py PART GROUP

tables: each table holds what JSON lines and `report` say, and it is the same with any number of threads, compressed, and
through a pipe. random: random statements, each with and without pushdown, and joins. selection: --time, -t, --class and -F leave the
rows that WHERE leaves. GROUP: xray, ctf, tracelog, xtrace: inputs of our own generators."""
import gzip
import json
import os
import random
import struct
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import harness
from query_oracle import Trace, ask, check_table, difference, stored
from random_queries import SORTED, Maker, literal

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
GROUPS = {"xray": ("basic-v3-le.xray", "fdr-v5-le.xray", "fdr-v1-be.xray", "fdr-v5-le-messy.xray", "rec-done.xray"),
          "ctf": ("ctf-18", "ctf-2", "ctf-2010", "ctf-2-damaged"),
          "tracelog": ("tracelog-doc.log", "tracelog-calls.log", "tracelog-vs.log", "tracelog-damaged.log"),
          "xtrace": ("xtrace-user", "xtrace-cores", "xtrace-damaged-cut")}
OPTIONS = {"xtrace-user": ("-e", os.path.join(INPUT, "xtrace-user.elf")), "fdr-v5-le.xray": ("-e", os.path.join(INPUT, "program.elf"))}
STATEMENTS = 90  # of a group in `make check`; four groups
THOROUGH = 2600
JOINS = 20  # of a trace


def fresh(folder, group):
    """Traces of the generators that the goldens do not have."""
    if group == "xray":
        import xray_gen
        for order in ("le", "be"):
            path = os.path.join(folder, order + ".xray")
            with open(path, "wb") as file:
                file.write(xray_gen.make("fdr-v3-" + order)[0])
            yield path
        path = os.path.join(folder, "fast.xray")  # several ticks are one ns
        with open(os.path.join(INPUT, "basic-v3-le.xray"), "rb") as log, open(path, "wb") as file:
            file.write(log.read(8) + struct.pack("<Q", 7 * 10 ** 9) + log.read()[8:])
        yield path
    elif group == "ctf":
        import ctf_gen
        for name in harness.some_of("query", ctf_gen.cases(), 2)[:12]:
            ctf_gen.save(folder, name, ctf_gen.make(name, 5)[0], None)
            yield os.path.join(folder, name)
    elif group == "tracelog":
        import tracelog_gen
        cases = tracelog_gen.cases()
        for name in sorted(set(harness.some_of("query", cases, 2)[:12]) | {name for name in cases if "calls" in name}):
            path = os.path.join(folder, name + ".log")
            with open(path, "wb") as file:
                file.write(tracelog_gen.make(name)[0])
            yield path
    else:
        import xtrace_gen
        for name in ("kernel", "vectors"):
            if name in xtrace_gen.cases():
                xtrace_gen.save(os.path.join(folder, name), name)
                yield os.path.join(folder, name)


def is_small(path):
    """The log of two million events takes minutes in Python."""
    return harness.THOROUGH or os.path.isdir(path) or os.path.getsize(path) < 1 << 17


def traces(folder, group):
    paths = [os.path.join(INPUT, name) for name in GROUPS[group]] + [path for path in fresh(folder, group) if is_small(path)]
    return [Trace(path, *OPTIONS.get(os.path.basename(path), ())) for path in paths]


def check_tables(checks, trace, folder):
    names = list(trace.schema)
    statements = ['SELECT * FROM "%s"' % name for name in names]
    answers, result = ask(trace, statements, "--threads", "1")
    if not checks.equal(len(answers), len(names), trace.path, "answers", result.err[-500:]):
        return
    for name, answer in zip(names, answers):
        trace.tables[name] = answer
        why = check_table(trace, name)
        checks.that(why is None, trace.path, name, why)
    ways = [("--threads 2", ["--threads", "2"], trace)]
    if os.path.isfile(trace.path) and os.path.getsize(trace.path) > 0:  # an empty log is one only by its name
        packed = os.path.join(folder, "packed.gz")
        with open(trace.path, "rb") as file, gzip.open(packed, "wb") as out:
            data = file.read()
            out.write(data)
        same = Trace.__new__(Trace)
        same.path, same.options = packed, trace.options
        ways += [("gzip", [], same), ("a pipe", [], None)]
    for what, options, other in ways:
        got, result = ask(other or trace, statements, *options, stdin=data if other is None else None)
        checks.equal(len(got), len(names), trace.path, what, result.err[-500:])
        for name, a, b in zip(names, got, answers):
            if what == "--threads 2" or name not in ("traces", "damage"):  # which name the file
                checks.equal(a.rows, b.rows, trace.path, what, name)


def judge(text, how, got, expected):
    expected = [[stored(v) for v in row] for row in expected]
    got = [[stored(v) for v in row] for row in got]
    return difference(got, expected, sort=how == SORTED)


def check_random(checks, trace, count, rng):
    """A batch of statements at a time: one run of the command each."""
    # `columns` has those of a class only once that was used.
    names = [name for name in trace.schema if name != "columns" and trace.table(name).rows]
    db = trace.database(names)
    makers = [Maker(rng, name, trace.table(name).columns, trace.table(name).rows, trace.schema[name]) for name in names]
    many = [maker for maker in makers if maker.name == "events"] * len(makers) + makers
    for first in range(0, count, 100):
        pairs = [rng.choice(many).pair() for i in range(min(100, count - first))]
        statements = [text for pair in pairs for text in pair[:2]]
        one, result = ask(trace, statements, "--threads", "1")
        if not checks.equal(len(one), len(statements), trace.path, "answers", statements[len(one):len(one) + 1], result.err[-500:]):
            continue
        two = ask(trace, statements, "--threads", "2")[0]
        checks.that([a.rows for a in one] == [a.rows for a in two], trace.path, "--threads 2",
                    [text for text, a, b in zip(statements, one, two) if a.rows != b.rows][:1])
        for i, (text, free, how) in enumerate(pairs):
            for answer, said in ((one[2 * i], text), (one[2 * i + 1], free)):
                why = judge(said, how, answer.rows, db.execute(said).fetchall())
                checks.that(why is None, trace.path, "\n  " + said, why)


def check_joins(checks, trace, count, rng):
    """Joins, whose inner tables are kept and looked up: intervals that overlap, equal keys, and both with conditions."""
    timed = [name for name in trace.schema if {"ts", "dur", "end_ts", "thread"} <= set(trace.schema[name]) and trace.table(name).rows][:4]
    if not timed:
        return
    db = trace.database(timed + ["events"])
    ends = [row for name in timed for row in db.execute('SELECT ts, end_ts FROM "%s" WHERE end_ts IS NOT NULL' % name)]
    texts = []
    for i in range(count if ends else 0):
        name, (low, high) = rng.choice(timed), rng.choice(ends)
        width = rng.choice((0, 1, max(high - low, 1), 3 * max(high - low, 1)))
        ranges = "WITH p(t, e) AS (VALUES %s) " % ", ".join("(%d, %s)" % (t, rng.choice(("%d", "%d.5")) % (t + width)) for t in
                                                            [rng.choice(rng.choice(ends)) + rng.randint(-2, 2) for k in range(rng.randint(1, 30))])
        before, after = rng.choice(("<", "<=")), rng.choice((">", ">="))
        more = rng.choice(("", "", ' AND c.thread = (SELECT max(thread) FROM "%s")' % name, " AND c.ts >= p.t", " AND c.end_ts IS NOT NULL"))
        texts.append(rng.choice((
            ranges + 'SELECT p.t, count(*), sum(c.dur) FROM p JOIN "%s" AS c ON c.ts %s p.e AND c.end_ts %s p.t%s GROUP BY 1' % (name, before, after, more),
            ranges + 'SELECT p.t, c.ts, c.end_ts FROM p LEFT JOIN "%s" AS c ON c.end_ts %s p.t AND c.ts %s p.e%s' % (name, after, before, more),
            ranges + 'SELECT p.t, (SELECT count(*) FROM "%s" AS c WHERE c.ts %s p.e AND c.end_ts %s p.t%s) FROM p' % (name, before, after, more),
            'SELECT a.ts, count(*) FROM "%s" AS a JOIN events AS b ON b.ts %s a.end_ts AND b.ts %s a.ts AND b.thread = a.thread GROUP BY 1' % (
                name, before, after),
            'SELECT a.ts, b.ts FROM "%s" AS a JOIN "%s" AS b ON a.ts = b.end_ts%s' % (name, rng.choice(timed), more.replace("c.", "b.").replace("p.t", "a.ts")))))
    for first in range(0, len(texts), 50):
        some = texts[first:first + 50]
        answers, result = ask(trace, some)
        checks.equal(len(answers), len(some), trace.path, some[len(answers):len(answers) + 1], result.err[-500:])
        for text, answer in zip(some, answers):
            why = judge(text, SORTED, answer.rows, db.execute(text).fetchall())
            checks.that(why is None, trace.path, "\n  " + text, why)


def check_selection(checks, trace, rng):
    """Options of the command line against WHERE, and against what `convert` takes with them."""
    events = trace.table("events")
    column = {name: [row[i] for row in events.rows if row[i] is not None] for i, name in enumerate(events.columns)}
    if not events.rows:
        return
    thread = rng.choice(column["thread"])
    ways = [(["--class", "*e*"], "name GLOB '*e*'"), (["-t", thread], "thread = " + literal(thread))]
    if harness.run("info", "--json", trace.path).json()["clock"]["hz"] and column["ts"]:
        low, high = sorted(rng.choice(column["ts"]) for i in range(2))
        ways.append((["--time", "%dns..%dns" % (low, high)], "ts >= %d AND ts < %d" % (low, high)))
    if column["function_id"]:
        ways.append((["-F", "#%d" % rng.choice(column["function_id"])], None))
    for options, where in ways:
        fields = "trace, id, ts, track_id, thread, cpu, name"
        got, result = ask(trace, ["SELECT %s FROM events" % fields], *options)
        lines = harness.run("convert", "-q", *trace.options, *options, "--to", "jsonl", "-o", "-", trace.path).out.splitlines()
        lines = [[line.get("ts"), line["track"], line["class"]] for line in map(json.loads, lines)]
        if not checks.that(len(got) == 1, trace.path, options, result):
            continue
        why = difference([[row[2], row[4], row[6]] for row in got[0].rows], lines)
        checks.that(why is None, trace.path, options, "and convert", why)
        if where:
            expected = ask(trace, ["SELECT %s FROM events WHERE %s" % (fields, where)])[0][0]
            why = difference(got[0].rows, expected.rows)
            checks.that(why is None, trace.path, options, where, why)


def main():
    part, group = sys.argv[1:3]
    if b"without SQLite" in harness.run("query", "-q", os.path.join(INPUT, GROUPS["xray"][0]), "SELECT 1").err:
        harness.skip("this build has no SQL")
    checks, rng = harness.Checks(), random.Random(zlib.crc32((part + group).encode()))
    with harness.work_folder() as folder:
        all_traces = traces(folder, group)
        for trace in all_traces:
            if part == "tables":
                check_tables(checks, trace, folder)
            elif part == "random":
                check_joins(checks, trace, JOINS * (10 if harness.THOROUGH else 1), rng)
                check_random(checks, trace, (THOROUGH if harness.THOROUGH else STATEMENTS) // len(all_traces) + 1, rng)
            else:
                check_selection(checks, trace, rng)
    checks.end()


if __name__ == "__main__":
    main()
