#!/usr/bin/env python3
"""Conditions with OR over columns that are pushed down: SQLite reads the table once for each side, and a row that fulfils
both counts once, as do rows that look the same. GROUP BY makes that way the cheaper one."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from query_oracle import ask, check_goldens, difference, stored
from random_queries import literal

TRACES = ("tracelog-vs.log", "tracelog-damaged.log", "fdr-v5-le.xray", "rec-done.xray", "ctf-2", "xtrace-user")
TABLES = ("events", "calls", "spans", "counters", "slices", "samples", "instructions", "classes")
SIDES = ("ts", "utc", "track_id", "thread", "name", "class_id", "cpu", "function_id")
STATEMENTS = 12  # for each table


def side(rng, name, values):
    value = literal(rng.choice(values))
    return rng.choice(("%s = %s", "%s = %s COLLATE NOCASE", "%s <= %s", "%s >= %s", "%s IN (%s)")) % (name, value)


def statement(rng, table, rows):
    columns = {name: sorted({row[i] for row in rows if row[i] is not None}) for i, name in enumerate(table.columns) if name in SIDES}
    columns = {name: values for name, values in columns.items() if values}
    terms = [side(rng, name, columns[name]) for name in rng.choices(sorted(columns), k=rng.randint(2, 3))]
    what = rng.choice(("trace, count(*)", "trace, %s, count(*)" % rng.choice(sorted(columns)), "DISTINCT trace"))
    group = "" if what.startswith("DISTINCT") else " GROUP BY " + what[:-len(", count(*)")]
    return "SELECT %s FROM {} WHERE %s%s" % (what, " OR ".join(terms), group)


def check_trace(checks, trace, rng):
    names = [name for name in TABLES if name in trace.schema and trace.table(name).rows]
    db = trace.database(names)
    said = [statement(rng, trace.table(name), trace.table(name).rows).format(name) for name in names for i in range(STATEMENTS)]
    answers, result = ask(trace, said)
    if checks.equal(len(answers), len(said), trace.path, result.err[-500:]):
        for text, answer in zip(said, answers):
            expected = [[stored(v) for v in row] for row in db.execute(text).fetchall()]
            why = difference([[stored(v) for v in row] for row in answer.rows], expected)
            checks.that(why is None, trace.path, "\n  " + text, why)


if __name__ == "__main__":
    check_goldens(TRACES, check_trace)
