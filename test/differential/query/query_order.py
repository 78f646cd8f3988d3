#!/usr/bin/env python3
"""ORDER BY and GROUP BY of a table whose conditions have values that are not constants: parameters, and columns of outer
statements and of other tables, for each of whose rows it is read again. Orders that the table promises must hold there,
whichever column it finds its rows by."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from query_oracle import ask, check_goldens, difference, stored
from random_queries import literal

TRACES = ("tracelog-vs.log", "fdr-v5-le.xray", "rec-done.xray", "ctf-2", "xtrace-user")
TABLES = ("events", "calls", "spans", "samples", "instructions", "accesses")
COLUMNS = ("ts", "track_id", "thread", "name", "class_id", "cpu", "function_id", "depth", "pc", "end_ts", "kind", "address")
OUTER = 7  # rows of the outer statement: the inner one keeps its rows before the last
STATEMENTS = 8  # of each kind, for each table
INNER = ("SELECT y, (SELECT group_concat(v) FROM (SELECT quote(i.{order}) AS v FROM {table} AS i WHERE {terms} ORDER BY i.{order} LIMIT {limit})) AS v FROM w",
         "SELECT y, (SELECT group_concat(v) FROM (SELECT quote(i.{order}) || ' ' || count(*) AS v FROM {table} AS i WHERE {terms} GROUP BY i.{order} "
         "ORDER BY i.{order} LIMIT {limit})) AS v FROM w",
         "SELECT i.{order}, count(*) FROM w CROSS JOIN {table} AS i ON {terms} GROUP BY i.{order}",
         "SELECT i.{order}, count(*) FROM w JOIN {table} AS i ON {terms} GROUP BY i.{order}",
         "SELECT i.{order}, count(y) FROM w LEFT JOIN {table} AS i ON {terms} GROUP BY i.{order}")
ALONE = ("SELECT i.{order} FROM {table} AS i WHERE {terms} ORDER BY i.{order} LIMIT {limit}",
         "SELECT i.{order}, count(*) FROM {table} AS i WHERE {terms} GROUP BY i.{order}")


class Table:
    def __init__(self, name, answer):
        self.name = name
        values = {c: sorted({row[i] for row in answer.rows if row[i] is not None}) for i, c in enumerate(answer.columns) if c in COLUMNS}
        self.values = {c: v for c, v in values.items() if v}

    def statement(self, rng, pattern, other):
        """other: the value that is not constant, or None: a row of the outer statement."""
        columns = sorted(self.values)
        key = rng.choice([c for c in columns if other is None or isinstance(self.values[c][0], type(other[1]))])
        terms = ["i.%s %s %s" % (key, rng.choice(("=", "<", "<=", ">", ">=", "IN")), other[0] if other else "y")]
        if terms[0].split()[1] == "IN":
            terms[0] = "i.%s IN (%s, %s)" % (key, terms[0].split()[2], literal(rng.choice(self.values[key])))
        if rng.random() < 0.3:
            terms[0] = "+" + terms[0]  # the table is not told about it, and knows constants alone
        for column in rng.choices(columns, k=rng.randint(0, 2)):
            terms.append("i.%s %s %s" % (column, rng.choice(("=", "<=", "<", ">", ">=")), literal(rng.choice(self.values[column]))))
        text = pattern.format(order=rng.choice(["ts"] * ("ts" in columns) + columns), table=self.name, terms=" AND ".join(terms), limit=rng.choice((1, 9, -1)))
        outer = "WITH w(y) AS (VALUES %s) " % ", ".join("(%s)" % literal(rng.choice(self.values[key])) for i in range(OUTER))
        return text if other else outer + text


def compare(checks, trace, db, said, parameter=None):
    options = [] if parameter is None else ["--param", "v=%s" % parameter]
    answers, result = ask(trace, said, *options)
    if checks.equal(len(answers), len(said), trace.path, result.err[-500:]):
        for text, answer in zip(said, answers):
            expected = db.execute(text, {} if parameter is None else {"v": parameter}).fetchall()
            why = difference([[stored(v) for v in row] for row in answer.rows], [[stored(v) for v in row] for row in expected], "GROUP" in text)
            checks.that(why is None, trace.path, "\n  " + text, parameter, why)


def check_trace(checks, trace, rng):
    tables = [Table(name, trace.table(name)) for name in TABLES if name in trace.schema and trace.table(name).rows]
    db = trace.database([t.name for t in tables])
    compare(checks, trace, db, [t.statement(rng, pattern, None) for t in tables for pattern in INNER for i in range(STATEMENTS)])
    for t in tables:
        values = [v for column in t.values.values() for v in column if not str(v).startswith("0x")]  # text that --param takes for a number
        for value in {type(v): v for v in rng.choices(values, k=6)}.values():
            compare(checks, trace, db, [t.statement(rng, pattern, (":v", value)) for pattern in ALONE for i in range(STATEMENTS)], value)


if __name__ == "__main__":
    check_goldens(TRACES, check_trace)
