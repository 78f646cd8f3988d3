"""The cases of python_tests.py: what the module says is what the command says, and others do."""
import ctypes
import gc
import json
import math
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import traceloom
from traceloom import Code, _library, _rows

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
BINARY = os.path.join(INPUT, "program.elf")
TRACES = ["fdr-v5-le.xray", "fdr-v5-le-messy.xray", "basic-v3-le.xray", "tracelog-doc.log", "ctf-18", "ctf-18-damaged", "xtrace-cores", "profile-le.xray"]
checks = harness.Checks()


def path_of(name):
    return os.path.join(INPUT, name)


def opened(name, **more):
    return traceloom.open(path_of(name), executable=BINARY, **more)


def asked(name, *words):
    """What the command prints as JSON lines."""
    env = {"LD_PRELOAD": ""}
    done = harness.run("query", "-q", "-e", BINARY, "--to", "jsonl", path_of(name), *words, env=env)
    if done.status not in (0, 3):
        return None
    return [json.loads(line) for line in done.text().splitlines()]


def plain(column, value):
    """A value as JSON lines have it."""
    if column.unit == "json" and value is not None:
        return json.loads(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if column.type == "bool" and value is not None:
        return bool(value)
    return value


def alike(rows, expected, *what):
    """Rows as JSON lines have them: numbers that are large, or in hexadecimal, may be text there."""
    got = [{c.name: plain(c, v) for c, v in zip(rows.columns, row)} for row in rows]
    checks.equal(len(got), len(expected), *what)
    for mine, theirs in zip(got, expected):
        for name, value in mine.items():
            other = theirs.get(name)
            if isinstance(value, int) and isinstance(other, str):
                other = int(other, 0)
            if isinstance(value, int) and isinstance(other, int) and not isinstance(value, bool):
                value, other = value % 2**64, other % 2**64
            if isinstance(value, float) and isinstance(other, (int, float)):
                other = float(other)
            if not checks.that(value == other, *what, name, mine, theirs):
                return


def tables():
    for name in TRACES:
        trace = opened(name)
        for table in trace.tables:
            expected = asked(name, 'SELECT * FROM "%s"' % table)
            if expected is None:
                checks.that(False, name, table, "the command cannot read it")
                continue
            alike(trace.table(table), expected, name, table)
            alike(trace.query('SELECT * FROM "%s"' % table), expected, name, "SQL", table)
        checks.that(len(trace.tables) > 20, name, trace.tables)
    both = traceloom.open([path_of(name) for name in TRACES[:2]])
    checks.equal({row[0] for row in both.table("events", ["trace"])}, {1, 2}, "two traces")
    some = both.table("events", ["name", "ts"])
    checks.equal([row for batch in some.batches(10) for row in batch], list(some), "batches")
    checks.equal(some.names, ["name", "ts"])
    checks.equal(list(zip(*some.lists().values())), list(some), "lists")


def recipes():
    values = {"name": "main", "class": "xray.enter", "field": "id", "cache": "l1d=1K:2:64,l2=0,l2tlb=0", "from": "a.b", "to": "a.b"}
    checks.equal(traceloom.recipes(), [line.split()[0] for line in harness.run("query", "--recipes", env={"LD_PRELOAD": ""}).text().splitlines() if line[:1].strip()], "names")
    for trace_name in ("fdr-v5-le.xray", "tracelog-doc.log", "xtrace-cores"):
        trace = opened(trace_name)
        for name in traceloom.recipes():
            sql = _library.text(_library.lib.tl_recipe_sql(name.encode()))
            wanted = {key: values[key] for key in re.findall(r"^-- :(\w+)", sql, re.M) if key in values}
            expected = asked(trace_name, "--recipe", name, *["%s=%s" % pair for pair in wanted.items()])
            try:
                alike(trace.recipe(name, **wanted), expected or [], trace_name, name)
            except (traceloom.Error, ValueError) as error:
                checks.that(expected is None, trace_name, name, error)
    got = opened("fdr-v5-le.xray").query("SELECT :a AS a, :b AS b, :c AS c, :d AS d", {"a": 1, "b": "ü\0x", "c": None, "d": b"\0\1"})
    checks.equal(list(got), [(1, "ü\0x", None, b"\0\1")], "named parameters")
    checks.equal(list(opened("fdr-v5-le.xray").query("SELECT ?, ? + 1, ?", [True, 2**63 - 2, 1.5])), [(1, 2**63 - 1, 1.5)], "parameters in order")


def events():
    for name in TRACES[:-1]:
        done = harness.run("convert", "-q", "-e", BINARY, "--to", "jsonl", path_of(name), env={"LD_PRELOAD": ""})
        expected = [json.loads(line) for line in done.text().splitlines()]
        trace = opened(name)
        got = list(trace)
        checks.equal(len(got), len(expected), name)
        for mine, theirs in zip(got, expected):
            checks.equal((mine.name, mine.ts, mine.thread), (theirs["class"], theirs["ts"], theirs["track"]), name)
            checks.equal(mine.cpu, theirs.get("cpu"), name, "cpu")
            fields = dict(theirs["fields"], **theirs.get("context", {}))
            for key, value in fields.items():
                if key in mine and isinstance(value, (int, float)) and not isinstance(value, bool):
                    alike = math.isclose(mine[key], value, rel_tol=1e-6) if isinstance(value, float) else mine[key] == value  # 32 bits are shown with fewer digits
                    checks.that(alike, name, mine.name, key, mine[key], value)
            checks.that("no such field" not in mine and mine.get("no such field", 5) == 5, name)
        ids = {row[0] for row in trace.table("events", ["id"])}
        checks.equal({event.id for event in got}, ids, name, "ids")
        batches = trace.columns()
        checks.equal(sum(len(b) for b in batches.values()), len(expected), name, "columns")
        checks.equal(sorted(batches), sorted({e["class"] for e in expected}), name, "classes")
        for key, batch in batches.items():
            table = [row for row in trace.query("SELECT table_name FROM classes WHERE name = ?", [key])][0][0]
            mask = [c.unsigned for c in batch.columns]
            rows = [tuple(v % 2**64 if m and v is not None else v for v, m in zip(row, mask)) for row in trace.table(table)]
            checks.equal(list(batch), rows, name, key)
    both = traceloom.open([path_of("fdr-v5-le.xray"), path_of("ctf-18")])
    checks.equal({event.trace for event in both}, {1, 2}, "two traces")
    try:
        both.events(ordered=True)
        checks.that(False, "two traces have an order")
    except traceloom.Error as error:
        checks.equal(error.code, Code.UNSUPPORTED)


def babeltrace():
    """The two loops of docs/python.md print the same."""
    with open(os.path.join(harness.SOURCE, "docs", "python.md"), encoding="utf-8") as file:
        loops = [code for code in re.findall(r"```python\n(.*?)```", file.read(), re.S) if "# prints each event" in code]
    if not checks.equal(len(loops), 2, "loops in docs/python.md"):
        return
    corpus = harness.shared("corpus", "ctf", "lttng")
    traces = [where for name in ("small", "snap") for where, _, files in os.walk(os.path.join(corpus, name)) if "metadata" in files]
    checks.that(len(traces) > 1, traces)
    for trace in traces:
        out = []
        for code in loops:
            done = subprocess.run([sys.executable, "-B", "-c", code, trace], capture_output=True, text=True, check=False)
            checks.equal(done.returncode, 0, trace, done.stderr)
            out.append(re.sub(r"(col=-?\d+) \([^)]*\)", r"\1", done.stdout))  # babeltrace2's text of an enumeration has its labels
        checks.that(out[0] == out[1] and len(out[0]) > 100, trace, *[text[:500] for text in out])


def numpy():
    import numpy as np
    for name in TRACES:
        trace = opened(name)
        for table in trace.tables:
            rows = trace.table(table)
            arrays = rows.numpy()
            lists = rows.lists()
            for column in rows.columns:
                array, values = arrays[column.name], lists[column.name]
                if isinstance(array, np.ma.MaskedArray):
                    checks.equal(array.mask.tolist(), [v is None for v in values], name, table, column.name)
                    array, values = array.compressed(), [v for v in values if v is not None]
                if column.format == "tsn:UTC":
                    array = array.astype(np.int64)
                got = array.tolist()
                checks.that(got == values or all(a == b or a != a for a, b in zip(got, values)), name, table, column.name, got[:5], values[:5])
    trace = opened("fdr-v5-le.xray")
    batch = next(trace.table("events", ["ts"]).batches())
    array = batch.numpy(0)
    checks.equal(array.__array_interface__["data"][0], batch._child(0).buffers[1], "no copy")
    checks.that(not array.flags.writeable, "read only")
    expected = array.tolist()
    del batch, trace
    gc.collect()
    checks.equal(array.tolist(), expected, "an array keeps what it points to")
    # Text: runs of equal ones, of equal and other lengths, empty ones, bytes that are no characters of their own, and none at all.
    for words in (["a"] * 40, ["a"] * 20 + ["aa"] * 30, ["aa"] * 20 + ["ab"] * 20 + [""] * 20 + ["\u00e9"] * 20, [""] * 40, ["aa", "a", "aaa"] * 20, ["x"] * 30 + [None] * 10,
                  ["a"] * 20 + ["b", "c"] * 10, [str(i) for i in range(100)], ["a"], []):
        rows = opened("fdr-v5-le.xray").query("SELECT value AS t FROM json_each(?)", [json.dumps(words)])
        checks.equal(rows.numpy()["t"].tolist(), words, "text as an array")
        checks.equal(rows.lists()["t"], words, "text as a list")
        checks.equal([t for batch in rows.batches() for t in batch.list(0)], words, "text of batches")
    empty = opened("fdr-v5-le.xray").query("SELECT ts, name, 1.5 AS x FROM events WHERE ts < 0").numpy()
    checks.equal([(k, len(v)) for k, v in empty.items()], [("ts", 0), ("name", 0), ("x", 0)], "no rows")


def pandas():
    import pandas as pd
    for name in TRACES:
        trace = opened(name)
        for table in trace.tables:
            rows = trace.table(table)
            frame, lists = rows.to_pandas(), rows.lists()
            checks.equal(list(frame.columns), rows.names, name, table)
            for column in rows.columns:
                got = [None if value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value) else value for value in frame[column.name]]
                if column.format == "tsn:UTC":
                    got = [None if v is None else v.value for v in got]
                expected = [None if isinstance(v, float) and v != v else v for v in lists[column.name]]
                checks.that(got == expected, name, table, column.name, got[:5], expected[:5])
    frame = opened("fdr-v5-le.xray").query("SELECT 2 * id + 9007199254740993 AS n, CASE WHEN id % 2 THEN 9007199254740993 + id END AS m FROM events").to_pandas()
    checks.equal(str(frame["n"].dtype), "int64")
    checks.equal(str(frame["m"].dtype), "Int64", "no number is rounded")


class Taken:
    """A consumer of the PyCapsule interface: it moves the struct out of the capsule, as libraries do."""

    def __init__(self, capsule, name, kind):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        source = kind.from_address(pointer(capsule, name))
        self.struct = kind()
        ctypes.memmove(ctypes.byref(self.struct), ctypes.byref(source), ctypes.sizeof(kind))
        source.release = None


def arrow():
    trace = opened("fdr-v5-le.xray")
    rows = trace.table("events")
    expected = list(rows)
    schema = Taken(rows.__arrow_c_schema__(), b"arrow_schema", _library.ArrowSchema).struct
    checks.equal([_library.text(schema.children[i].contents.name) for i in range(schema.n_children)], rows.names)
    _rows.release(schema)
    checks.that(not schema.release, "released")
    stream = _rows._Stream()
    stream.struct = Taken(rows.__arrow_c_stream__(), b"arrow_array_stream", _library.ArrowArrayStream).struct
    columns = rows.columns
    trace.close()
    del trace, rows
    gc.collect()
    got = []
    while True:
        batch = stream.next(columns)
        if batch is None:
            break
        got += list(batch)
    checks.equal(got, expected, "a stream outlives its trace")
    rows = opened("fdr-v5-le.xray").table("events")
    for _ in range(1000):  # capsules that nobody takes
        rows.__arrow_c_schema__()
        rows.__arrow_c_stream__()
    checks.equal(len(_rows._kept), 0, "structs of capsules that are gone")


def fails(code, action, *pieces, kind=traceloom.Error):
    try:
        action()
    except kind as error:
        if kind is traceloom.Error:
            checks.equal(error.code, code, error)
        for piece in pieces:
            checks.that(piece in str(error), piece, "is not in", error)
        return error
    checks.that(False, "no error:", *pieces)
    return None


def errors():
    trace = opened("fdr-v5-le.xray")
    error = fails(Code.IO, lambda: traceloom.open("absent.xray"), "absent.xray")
    checks.equal(error.file, "absent.xray")
    checks.equal(fails(Code.FORMAT, lambda: traceloom.open(BINARY)).file, BINARY)
    checks.that(isinstance(fails(Code.DAMAGED, lambda: list(traceloom.open(path_of("damaged-fdr-v5-le-unknown-kind.xray"), strict=True))).offset, int), "an offset of damage")
    checks.equal(fails(Code.SYNTAX, lambda: trace.query("SELECT absent FROM events"), "no such column").offset, 7)
    fails(Code.SYNTAX, lambda: trace.query("SELEC 1"), "syntax error")
    fails(Code.SYNTAX, lambda: trace.query("  "), "no statement")
    fails(Code.UNSUPPORTED, lambda: trace.query("ATTACH 'x' AS y"), "can only read")
    fails(Code.SYNTAX, lambda: trace.table("absent"), "no such table: absent")
    fails(Code.SYNTAX, lambda: trace.table("events", ["ts", "absent"]), "events.absent")
    fails(Code.SYNTAX, lambda: trace.recipe("absent"), "no such recipe")
    fails(None, lambda: trace.recipe("callers-of"), "needs the parameter name", kind=ValueError)
    fails(None, lambda: trace.recipe("callers-of", name="a", other=1), "no parameter other", kind=ValueError)
    fails(None, lambda: trace.query("SELECT ?"), "1 parameters", kind=ValueError)
    fails(None, lambda: trace.query("SELECT :a", {"b": 1}), "a has no value", kind=ValueError)
    fails(None, lambda: trace.query("SELECT ?", [object()]), "not object", kind=TypeError)
    fails(None, lambda: trace.query("SELECT ?", [2**63]), "64 bits", kind=OverflowError)
    fails(None, lambda: trace.query("SELECT 1\0"), "NUL", kind=ValueError)
    fails(None, lambda: traceloom.open("a\0b"), "NUL", kind=ValueError)
    fails(None, lambda: traceloom.open([]), "no path", kind=ValueError)
    fails(None, lambda: next(iter(trace))["absent"], "absent", kind=KeyError)
    fails(Code.INVALID, lambda: list(trace.query("SELECT CASE i WHEN 15000 THEN 'text' ELSE i END AS v FROM "
                                                 "(WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n)")), "has text in column v")
    fails(Code.LIMIT, lambda: list(opened("fdr-v5-le.xray", timeout=0.05).query("WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")), "time limit")
    trace.close()
    trace.close()
    for action in (lambda: trace.query("SELECT 1"), lambda: list(trace), lambda: trace.table("events"), trace.__enter__, trace.columns):
        fails(None, action, "closed", kind=ValueError)
    env = dict(os.environ, TRACELOOM_LIBRARY="/absent/libtraceloom.so.0")
    done = subprocess.run([sys.executable, "-c", "import traceloom"], env=env, capture_output=True, text=True, check=False)
    checks.that(done.returncode and "libtraceloom0" in done.stderr, "the message names the package", done.stderr[-300:])


def lifetimes():
    for order in range(6):
        trace = opened("fdr-v5-le.xray")
        iterator, rows = iter(trace), iter(trace.table("events"))
        event, row, array = next(iterator), next(rows), trace.table("events").numpy()["ts"]
        batch = trace.columns()
        before = (event.fields, row, array.tolist())
        things = {"trace": trace, "iterator": iterator, "rows": rows}
        del trace, iterator, rows
        for name in [("trace", "iterator", "rows"), ("rows", "iterator", "trace"), ("iterator", "trace", "rows")][order % 3]:
            if order > 2 and name == "trace":
                things[name].close()
            del things[name]
            gc.collect()
        checks.equal((event.fields, row, array.tolist()), before, "values after everything is closed", order)
        checks.that(sum(len(b) for b in batch.values()) > 0, "batches")
    trace = opened("fdr-v5-le.xray")
    iterator, rows = iter(trace), iter(trace.table("events"))
    with trace:
        next(iterator)
        next(rows)
    checks.equal(1 + sum(1 for _ in iterator), 1 + sum(1 for _ in rows), "an iterator outlives its trace")
    code = "import traceloom; t = traceloom.open(%r); i = iter(t); next(i); r = iter(t.table('events')); next(r); c = t.table('events').__arrow_c_stream__(); b = t.columns()" % path_of("fdr-v5-le.xray")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    checks.equal((done.returncode, done.stderr), (0, ""), "the end of a program")


def threads():
    trace = opened("fdr-v5-le.xray")
    expected = sum(1 for _ in trace)
    got, wrong = [], []

    def read():
        for _ in range(20):
            try:
                got.append(sum(1 for _ in trace))
                got.append(len(list(trace.query("SELECT id FROM events"))))
            except traceloom.Error as error:
                wrong.append(error)

    workers = [threading.Thread(target=read) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    checks.equal(set(got) | {expected}, {expected}, "counts")
    for error in wrong:
        checks.equal((error.code, str(error)), (Code.INVALID, "another thread uses the session"))

    # One thread waits inside of the library; the others run meanwhile.
    endless = "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    ended = []

    def wait():
        while not ended:
            try:
                list(trace.query(endless))
            except traceloom.Error as error:
                if error.code != Code.INVALID:  # it was not refused itself
                    ended.append(error)

    worker = threading.Thread(target=wait)
    worker.start()
    refused = None
    while refused is None and worker.is_alive():
        try:
            list(trace.table("events", ["id"]))
        except traceloom.Error as error:
            refused = error
    checks.that(refused is not None and "another thread" in str(refused), "refused", refused)
    while worker.is_alive():
        trace.interrupt()
        worker.join(0.05)
    checks.equal([error.code for error in ended], [Code.LIMIT], "interrupted")


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def leaks():
    def once():
        trace = opened("fdr-v5-le.xray")
        for _ in trace:
            break
        list(trace)
        trace.columns()
        trace.table("events").numpy()
        rows = trace.query("SELECT name, count(*) FROM events GROUP BY name")
        list(rows)
        rows.__arrow_c_stream__()
        rows.__arrow_c_schema__()
        trace.profile().tree()
        for sql in ("SELECT absent", "ATTACH 'a' AS b"):
            try:
                trace.query(sql)
            except traceloom.Error:
                pass
        try:
            traceloom.open(BINARY)
        except traceloom.Error:
            pass

    for _ in range(30):
        once()
    gc.collect()
    before = resident()
    for _ in range(300):
        once()
    gc.collect()
    grown = resident() - before
    checks.that(grown < 12 << 20, "memory grew by", grown, "bytes in 300 rounds")


def hostile():
    """Files that were cut or changed are errors or have fewer events; nothing crashes."""
    import random
    rng = random.Random(1)
    with harness.work_folder() as folder:
        for name in ("fdr-v5-le.xray", "tracelog-doc.log", "basic-v3-le.xray"):
            with open(path_of(name), "rb") as file:
                whole = file.read()
            for _ in range(40):
                data = bytearray(whole[:rng.randrange(len(whole))] if rng.random() < 0.3 else whole)
                for _ in range(rng.randrange(8)):
                    if data:
                        data[rng.randrange(len(data))] = rng.randrange(256)
                path = os.path.join(folder, name)
                with open(path, "wb") as file:
                    file.write(data)
                try:
                    with traceloom.open(path, names=False) as trace:
                        n = sum(1 for event in trace if event.fields is not None)
                        checks.equal(sum(len(b) for b in trace.columns().values()), n, name)
                        trace.table("calls").lists()
                except traceloom.Error as error:
                    checks.that(error.code != Code.INVALID, name, error)
    for name in ("\"; DROP TABLE x; --", "x" * 100000, "\n", "é\u202e", ""):
        fails(Code.SYNTAX, lambda n=name: opened("fdr-v5-le.xray").table(n), "no such table")
    checks.equal(list(opened("fdr-v5-le.xray").query('SELECT 1 AS "a""b;\n", 2 AS "é"').lists()), ["a\"b;\n", "é"], "names of columns")


def structs():
    """The structs of the module are those of the headers, and its functions have as many arguments."""
    lines = ["#include <stdio.h>", "#include <stddef.h>", "#include <traceloom/traceloom.h>", "int main(void) {"]
    for name, kind in _library.STRUCTS.items():
        lines.append('printf("%%s %%zu", "%s", sizeof(%s));' % (name, name))
        lines += ['printf(" %%zu", offsetof(%s, %s));' % (name, field.rstrip("_")) for field, _ in kind._fields_]
        lines.append('printf("\\n");')
    lines.append("return 0; }")
    with harness.work_folder() as folder:
        source, program = os.path.join(folder, "structs.c"), os.path.join(folder, "structs")
        with open(source, "w", encoding="ascii") as file:
            file.write("\n".join(lines))
        env = dict(os.environ, LD_PRELOAD="")
        subprocess.run([os.environ["TL_COMPILER"], "-I", os.path.join(harness.SOURCE, "include"), source, "-o", program], check=True, env=env)
        out = subprocess.run([program], check=True, capture_output=True, text=True, env=env).stdout
    expected = "".join("%s %d%s\n" % (name, ctypes.sizeof(kind), "".join(" %d" % getattr(kind, field).offset for field, _ in kind._fields_))
                       for name, kind in _library.STRUCTS.items())
    checks.equal(expected, out)
    header = ""
    for name in os.listdir(os.path.join(harness.SOURCE, "include", "traceloom")):
        with open(os.path.join(harness.SOURCE, "include", "traceloom", name), encoding="utf-8") as file:
            header += re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    for name, _, arguments in _library.FUNCTIONS:
        found = re.search(r"\b%s\(([^)]*)\)" % name, header)
        checks.equal(0 if found[1] == "void" else found[1].count(",") + 1, len(arguments), name)
    codes = dict(re.findall(r"(TL_\w+) = (-?\d+)", header[header.index("TL_OK"):header.index("TL_NO_OFFSET")]))
    checks.equal(sorted(int(v) for v in codes.values()), sorted(int(c) for c in Code), "codes")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    checks.end()
