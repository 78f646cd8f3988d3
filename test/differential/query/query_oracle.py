"""What the tables of `query` must hold, from `convert --to jsonl`, and Python's SQLite over plain tables of the same rows.

A table is read once without any constraint, and what another reader says about it is compared (TRUTHS: one entry each).
Random statements then run over real SQLite tables of these rows: nothing is pushed down there."""
import json
import os
import random
import re
import sqlite3
import struct

import call_oracle
import class_oracle
import harness
from access_oracle import check_accesses
import line_oracle
import loss_oracle
import profile_oracle
from runtime_oracle import check_runtime
import sample_oracle
from sample_oracle import check_samples
from syscall_oracle import check_syscalls
import told_oracle

HEAD = ("trace", "id", "ts", "utc", "track_id", "thread", "cpu")
FUNCTION = ("function_id", "function_name")  # and then these, of events that have a function
# Tables of SQL and the tables of `report` that they are.
REPORTS = {"function_stats": "func", "stack_stats": "tree", "caller_stats": "callers", "callee_stats": "callees", "line_stats": "line",
           "module_stats": "module", "thread_stats": "thread", "thread_insns": "thread", "class_stats": "class", "states": "state", "traces": "trace",
           "tracks": "track", "damage": "damage", "losses": "loss", "properties": "property", "collections": "gc", "compiled_functions": "jit",
           "allocated_types": "alloc", "heap_snapshots": "heap", "cpu_stats": "cpu", "domains": "domain", "assemblies": "assembly",
           "modules": "netmodule", "types": "type", "insn_mix": "mix", "reuse": "reuse", "pages": "page",
           "cache_levels": "cache", "syscall_stats": "syscall", "blocks": "block", "branches": "branch"}


class Pairs(list):
    """An object of JSON: its members in their order, since names may repeat."""


def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def plain(value):
    """JSON as it is compared: members are pairs."""
    if isinstance(value, Pairs):
        return {"members": [(key, plain(v)) for key, v in value]}
    return [plain(v) for v in value] if isinstance(value, list) else value


def same_number(a, b):
    """Reals within 1e-9; JSON lines print those of 32 bits as short as possible."""
    if a == b:
        return True
    try:
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) or struct.pack("f", a) == struct.pack("f", b)
    except OverflowError:
        return False


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and same_number(a, b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


def order(row):
    """A key for rows of mixed types; reals are left to same()."""
    return repr([None if isinstance(v, float) else v for v in row]), repr(row)


def difference(got, expected, sort=True):
    """Of two lists of rows; None: they are equal."""
    if len(got) != len(expected):
        return "%d rows, expected %d" % (len(got), len(expected))
    if sort:
        got, expected = sorted(got, key=order), sorted(expected, key=order)
    for a, b in zip(got, expected):
        if not same(list(a), list(b)):
            return "got %.700r\n  expected %.700r" % (a, b)
    return None


class Answer:
    """One statement's rows, from a line of --to json."""

    def __init__(self, line):
        value = json.loads(line, object_pairs_hook=Pairs)
        members = dict(value)
        self.columns = [dict(c)["name"] for c in members["columns"]]
        self.units = [dict(c)["unit"] for c in members["columns"]]
        self.rows = [[plain(v) for v in row] for row in members["rows"]]


def ask(trace, statements, *options, stdin=None):
    """The answers of statements, and the result of the run."""
    result = harness.run("query", "-q", *options, "--to", "json", *trace.words(stdin), ";\n".join(statements), stdin=stdin, timeout=300)
    lines = result.out.decode("utf-8").split("\n")
    return [Answer(line) for line in lines if line], result


class Trace:
    """An input, and the rows of its tables."""

    def __init__(self, path, *options):
        self.path, self.options, self.tables = path, options, {}
        self.lines = [json.loads(line, object_pairs_hook=Pairs)
                      for line in harness.run("convert", "-q", *options, "--to", "jsonl", "-o", "-", path, timeout=300).out.splitlines()]
        self.lines = [dict(line) for line in self.lines]
        self.schema = schema(harness.run("query", "-q", *options, path, "--schema").text())
        self.status = harness.run("check", "-q", path).status
        self.number = "#%d" if path.endswith((".xray", ".tlp")) else "0x%x"  # of a function without a name

    def words(self, stdin=None):
        return list(self.options) + ["-" if stdin is not None else self.path]

    def table(self, name):
        if name not in self.tables:
            answers, result = ask(self, ['SELECT * FROM "%s"' % name])
            if len(answers) != 1:
                raise ValueError("%s of %s: %s" % (name, self.path, result))
            self.tables[name] = answers[0]
        return self.tables[name]

    def database(self, names):
        """Real tables of the rows."""
        db = sqlite3.connect(":memory:")
        for name in names:
            answer = self.table(name)
            types = self.schema[name]
            db.execute('CREATE TABLE "%s" (%s)' % (name, ",".join('"%s" %s' % (c.replace('"', '""'), types[c]) for c in answer.columns)))
            marks = ",".join("?" * len(answer.columns))
            db.executemany('INSERT INTO "%s" VALUES (%s)' % (name, marks), [[stored(v) for v in row] for row in answer.rows])
        return db


def check_goldens(names, check):
    """check(checks, trace, random numbers) for inputs of the golden tests; ends the test."""
    folder = os.path.join(harness.SOURCE, "test", "golden", "input")
    if b"without SQLite" in harness.run("query", "-q", os.path.join(folder, names[0]), "SELECT 1").err:
        harness.skip("this build has no SQL")
    checks = harness.Checks()
    for name in names:
        check(checks, Trace(os.path.join(folder, name)), random.Random(name))
    checks.end()


def stored(value):
    """A value of JSON as SQLite holds it."""
    if isinstance(value, bool):
        return int(value)
    return "json" if isinstance(value, (list, dict)) else value


def schema(text):
    """{table: {column: type}} of --schema."""
    tables, columns = {}, None
    for line in text.split("\n"):
        if line and not line.startswith(" "):
            columns = tables.setdefault(line.split(": ")[0], {})
        elif line:
            name, kind = re.match("  (.*?) +(INTEGER|REAL|TEXT|BLOB)(?: [A-Z]+)?  ", line).groups()
            columns[name] = kind
    return tables


def members(line, key):
    return list(line.get(key) or [])


def is_key(line):
    """Does the line begin with the function of its event, which is no field?"""
    fields = members(line, "fields")
    return len(fields) >= 2 and fields[0][0] == "function" and fields[1][0] == "id" and line["class"].startswith(("xray.", "call"))


def expected_events(trace):
    """ts, thread, cpu, name, function_id, function_name, fields, context."""
    rows = []
    for line in trace.lines:
        fields, function, number = Pairs(members(line, "fields")), None, None
        if is_key(line):
            function, number = fields[0][1], fields[1][1]
            fields = Pairs(fields[2:])
        context = plain(Pairs(line["context"])) if "context" in line else None
        rows.append([line.get("ts"), line["track"], line.get("cpu"), line["class"], number, function, plain(fields), context])
    return rows


def check_events(trace):
    table = trace.table("events")
    names = ["ts", "thread", "cpu", "name", "function_id", "function_name", "fields", "context"]
    at = [table.columns.index(name) for name in names]
    got = [[row[i] for i in at] for row in table.rows]
    expected = expected_events(trace)
    by_key = {line["class"] for line in trace.lines if is_key(line)}
    for row in got:  # events whose function is one of their fields: JSON lines do not say which
        if row[3] not in by_key:
            row[4] = row[5] = None
    return difference(got, expected) or dependent(table)


def dependent(table):
    """Columns that say the same thing twice."""
    column = {name: [row[i] for row in table.rows] for i, name in enumerate(table.columns)}
    for a, b in (("class_id", "name"), ("class_id", "kind"), ("track_id", "thread"), ("track_id", "tid"), ("function_id", "function_name")):
        seen = {}
        for x, y in zip(column[a], column[b]):
            if seen.setdefault(x, y) != y:
                return "%s %s has two: %r and %r" % (a, x, y, seen[x])
    away = [u - t for u, t in zip(column["utc"], column["ts"]) if u is not None and t is not None]
    if away and max(away) - min(away) > 1:
        return "utc and ts differ by %d to %d" % (min(away), max(away))
    if len(set(column["id"])) != len(column["id"]):
        return "ids repeat"
    return None


def flat(prefix, pairs, depth=0):
    """Fields as columns: members of structs down to depth 4, labels of enumerations."""
    for name, value in pairs:
        name = prefix + name.replace(".", "_", 1) if name.startswith(("stream.", "event.")) else prefix + (name or ("" if prefix else "field"))
        if isinstance(value, Pairs) and [key for key, v in value] == ["value", "labels"]:
            yield name, value[0][1]
            yield name + "_label", "|".join(value[1][1]) or None
        elif isinstance(value, Pairs) and value and depth < 4:
            yield from flat(name + "_", value, depth + 1)
        else:
            yield name, value


def as_column(value, unit, kind):
    """A value of JSON lines as the column of this unit has it."""
    if value is None:
        return None
    if unit == "json":
        return plain(value)
    if kind == "INTEGER" and isinstance(value, str):
        return signed(int(value, 16))
    if kind == "REAL" and isinstance(value, str):
        return None  # infinity and others that JSON has not
    return signed(value) if kind == "INTEGER" and not isinstance(value, bool) else value


def has_functions(trace, table_name):
    """Of a table of a class: those of no field have their places behind HEAD."""
    columns, fields = list(trace.schema[table_name]), trace.table("fields")
    at = [fields.columns.index(name) for name in ("column_name", "class_name")]
    mine = {row[at[0]] for row in fields.rows if as_table(row[at[1]]) == table_name}
    return columns[7:9] == list(FUNCTION) and not mine & set(FUNCTION)


def expected_class(trace, name, table):
    """Rows of a class, in the columns of its table; and names that are not among these."""
    lower, types = {column.lower(): i for i, column in reversed(list(enumerate(table.columns)))}, trace.schema[table.name]
    rows, missing, has_function = [], set(), has_functions(trace, table.name)
    for line in trace.lines:
        if line["class"] != name:
            continue
        row = [None] * len(table.columns)
        for column, value in (("ts", line.get("ts")), ("thread", line["track"]), ("cpu", line.get("cpu"))):
            row[table.columns.index(column)] = value
        taken = {column.lower() for column in HEAD + (FUNCTION if has_function else ())}
        if has_function and is_key(line):
            row[7:9] = [members(line, "fields")[1][1], members(line, "fields")[0][1]]
        fields = members(line, "fields")[2:] if is_key(line) else members(line, "fields")
        for column, value in list(flat("", members(line, "context"))) + list(flat("", fields)):
            number, free = 2, column
            while free.lower() in taken:
                free, number = "%s_%d" % (column, number), number + 1
            taken.add(free.lower())
            if free.lower() not in lower:
                missing.add(free)
                continue
            at = lower[free.lower()]
            row[at] = as_column(value, table.units[at], types[table.columns[at]])
        rows.append(row)
    return rows, missing


def check_class(trace, table_name):
    """A table event_<class>."""
    table = trace.table(table_name)
    table.name = table_name
    events, classes = trace.table("events"), {}
    for row in events.rows:
        classes[row[events.columns.index("id")]] = row[events.columns.index("name")]
    names = {classes[row[1]] for row in table.rows}
    if len(names) > 1:
        return "events of classes %s" % names
    summary = [line["class"] for line in trace.lines if as_table(line["class"]) == table_name]
    for name in names or set(summary):
        expected, missing = expected_class(trace, name, table)
        borrowed = [table.columns.index(c) for c in ("trace", "id", "utc", "track_id")]
        if has_functions(trace, table_name) and not any(is_key(line) for line in trace.lines if line["class"] == name):
            borrowed += [7, 8]  # JSON lines do not say which field it is
        got = [[None if i in borrowed else v for i, v in enumerate(row)] for row in table.rows]
        return "no columns %s" % sorted(missing) if missing else difference(got, expected)
    return None


def as_table(name):
    text = "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789" else "_" for c in name.lower())
    while "__" in text:
        text = text.replace("__", "_")
    return "event_" + text.strip("_")


def named(line, shown):
    """SQL has the number of a function without a name."""
    line = dict(line)
    for name, number in (("name", "function_id"), ("function", "function_id"), ("caller", "caller_id"), ("callee", "callee_id")):
        if name in line and line[name] is None and isinstance(line.get(number), int):
            line[name] = shown % line[number]
    return line


def check_report(trace, table_name):
    """A table of `report`: equal cell by cell to its JSON lines."""
    result = harness.run("report", "-q", *trace.options, "--by", REPORTS[table_name], "--to", "jsonl", trace.path, "--top", "0")
    lines = [json.loads(line, object_pairs_hook=Pairs) for line in result.out.splitlines()]
    table = trace.table(table_name)
    if result.status not in (0, 3):
        return "report cannot, but there are rows" if table.rows else None
    theirs = [dict(line) for line in lines]
    if table_name in ("thread_stats", "thread_insns") and theirs and not theirs[0].keys() <= set(table.columns):
        return "other rows" if table.rows else None  # `thread` is another table of instructions
    columns = sorted(set().union(*theirs)) if theirs else []
    if not set(columns) <= set(table.columns):
        return "no columns %s" % (set(columns) - set(table.columns))
    at = [table.columns.index(column) for column in columns]
    types = trace.schema[table_name]
    theirs = [named(line, trace.number) for line in theirs]
    expected = [[as_column(line.get(column), table.units[i], types[column]) for column, i in zip(columns, at)] for line in theirs]
    return difference([[None if row[i] == "?" else row[i] for i in at] for row in table.rows], expected)  # "?": of no number


def check_places(trace):
    """Of calls, or else of samples; and stack() of each of them."""
    why = call_oracle.check_places(trace, "places") or loss_oracle.check_stacks(trace, ask)
    if why is None and trace.table("samples").rows:
        why = difference(*sample_oracle.check_places(trace, "places"))
    return why


WITH_ARGUMENTS = ("event_counts",)  # query_sums.py compares it
# What another reader says of a table, by name: a text of the difference, or None. Others are event_<class> and REPORTS.
TRUTHS = {"events": check_events,
          "accesses": lambda trace: difference(*check_accesses(trace), sort=False),
          "syscalls": lambda trace: difference(*check_syscalls(trace)),
          "calls": lambda trace: (difference(*told_oracle.check_calls(trace)) if told_oracle.is_told(trace) else
                                  call_oracle.check_calls(trace, "calls")),
          "places": lambda trace: None if told_oracle.is_told(trace) else check_places(trace),
          "losses": lambda trace: check_report(trace, "losses") or loss_oracle.check_losses(trace, "losses"),
          "tracks": lambda trace: check_report(trace, "tracks") or class_oracle.check_tracks(trace, "tracks"),
          "snapshots": lambda trace: class_oracle.check_snapshots(trace, "snapshots"),
          "instructions": lambda trace: class_oracle.check_instructions(trace, "instructions"),
          "classes": lambda trace: class_oracle.check_classes(trace, "classes"),
          "fields": lambda trace: class_oracle.check_fields(trace, "fields"),
          "enum_labels": lambda trace: class_oracle.check_labels(trace, "enum_labels"),
          "functions": lambda trace: class_oracle.check_functions(trace, "functions"),
          "compilations": lambda trace: difference(*check_runtime(trace, "compilations"), sort=False),
          "cpu_usage": lambda trace: difference(*check_runtime(trace, "cpu_usage"), sort=False),
          "pauses": lambda trace: difference(*check_runtime(trace, "pauses"), sort=False),
          "samples": lambda trace: difference(*check_samples(trace, "samples"), sort=False),
          "allocations": lambda trace: difference(*check_samples(trace, "allocations"), sort=False),
          **line_oracle.truths(difference), **profile_oracle.truths(difference)}


def check_table(trace, name):
    if name in TRUTHS:
        return TRUTHS[name](trace)
    if name in REPORTS:
        return check_report(trace, name)
    return check_class(trace, name) if name.startswith("event_") and name not in WITH_ARGUMENTS else None
