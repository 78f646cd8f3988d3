#!/usr/bin/env python3
"""Files of columns, Parquet and Arrow, read by programs that are not ours: the values are those of `query --to csv`.

columns.py PART: recipes, tables, hostile, many, refused, export or notes."""
import glob
import json
import os
import re
import sqlite3
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import column_readers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "roundtrip"))
import parquet_read

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
FDR = [os.path.join(INPUT, "fdr-v5-le.xray"), "-e", os.path.join(INPUT, "program.elf")]
LOG = [os.path.join(INPUT, "tracelog-doc.log")]
CTF = [os.path.join(INPUT, "ctf-18")]
TRACES = {"xray": FDR, "log": LOG}


def numbers(n):
    """A table of 0 .. n - 1 by SQL."""
    return "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < %d) " % (n - 1)


# Of any trace: what SQL can put into a result.
HOSTILE = {
    "nulls": numbers(3000) + "SELECT NULL AS \"nothing\", CASE WHEN i % 7 THEN i END AS some, CASE WHEN i % 3 = 0 THEN 'x' || (i % 5) END AS text FROM n",
    "one row": "SELECT 1 AS a, 'b' AS b, 1.5 AS c, x'00ff' AS d",
    "no rows": "SELECT ts, name, utc, fields, 1.5 * ts AS x FROM events WHERE 0",
    "an empty table": "SELECT * FROM collections",
    "long text": numbers(40) + "SELECT i, printf('%.*c', 1048576 + i, 'y') AS long FROM n",
    "text of different lengths": numbers(70000) + "SELECT i, printf('%.*c', i % 100, 'abc') || i AS t, substr('abcdefgh', 1, i % 9) AS short FROM n",
    "not UTF-8": "SELECT CAST(x'61ff62' AS TEXT) AS a, CAST(x'c3a4' AS TEXT) AS b, CAST(x'eda080' AS TEXT) AS c, x'61ff62' AS d",
    "limits of numbers": "SELECT 9223372036854775807 AS most, -9223372036854775807 - 1 AS least, 18446744073709551615 AS real, ~0 AS all_bits UNION ALL SELECT 0, 0, 0.0, 5 UNION ALL SELECT -9223372036854775807 - 1, 9223372036854775807, -1.5, NULL",
    "real numbers": "SELECT 1e400 AS x UNION ALL SELECT -1e400 UNION ALL SELECT 0.0 UNION ALL SELECT -0.0 UNION ALL SELECT 5e-324 UNION ALL SELECT 1.7976931348623157e308 UNION ALL SELECT 0.1 UNION ALL SELECT NULL UNION ALL SELECT 1e400 - 1e400",
    "many real numbers": numbers(70000) + "SELECT i * 0.1 AS x, CASE WHEN i % 2 THEN 1.0 / (1 + i) END AS y, i % 4 / 4.0 AS z FROM n",
    "numbers among real ones": "SELECT 1 AS x UNION ALL SELECT 2.5 UNION ALL SELECT NULL",
    "numbers among text": "SELECT 1 AS x UNION ALL SELECT 'a' UNION ALL SELECT 2.5 UNION ALL SELECT NULL",
    "bytes": numbers(500) + "SELECT CAST('b' || (i % 30) AS BLOB) AS b FROM n",
    "empty text": "SELECT '' AS a, NULL AS b UNION ALL SELECT 'x', 'y' UNION ALL SELECT '', ''",
    "text that is no JSON": "SELECT fields FROM events UNION ALL SELECT 'not JSON'",
    "strange names": "SELECT 1 AS \"a,b\", 2 AS \"q\"\"q\", 3 AS \"\u00e4 \u4e2d\", 4 AS \"\", 5 AS \"SELECT\", 6 AS \"x\ny\", 7 AS \"a.b\"",
    "1,000 columns": numbers(50) + "SELECT " + ",".join("i * %d AS c%d" % (k, k) for k in range(1000)) + " FROM n",
    "truth": "SELECT is_outermost, dur FROM calls",
    "many values": numbers(200000) + "SELECT i, i * 2654435761 % 4294967296 AS mixed, i / 1000 AS slow, i % 17 AS few, -i AS falls, CASE WHEN i > 100000 THEN i END AS late FROM n",
    "runs": numbers(100000) + "SELECT i / 9 % 2 AS a, i / 8 % 3 AS b, i / 7 % 4 AS c, CASE WHEN i / 9 % 2 THEN 'on' END AS d, CASE WHEN i / 8 % 3 = 0 THEN i % 5 END AS e FROM n",
    "wide differences": numbers(3000) + "SELECT CASE i % 3 WHEN 0 THEN 9223372036854775807 - i WHEN 1 THEN -9223372036854775807 + i ELSE i END AS x, (i << 57) AS y, (i * i << 40) AS z FROM n",
}


def check(checks, readers, folder, name, words, sql, formats=tuple(column_readers.OF)):
    """All formats, by all readers."""
    text = harness.run("query", "-q", *words, sql, "--to", "csv", "--memory", "1G")
    if not checks.that(text.status in (0, 3), name, text):
        return
    expected = column_readers.csv(text)
    for to in formats:
        who = column_readers.OF[to]
        path = os.path.join(folder, "out" + column_readers.SUFFIX[to])
        done = harness.run("query", "-q", *words, sql, "-f", "-o", path, "--memory", "1G")
        if checks.that(done.status == text.status and b"Sanitizer" not in done.err, name, done):
            for reader in who:
                column_readers.compare(checks, readers.read(reader, path), expected, "%s, %s by %s:" % (name, to, reader))


def recipes(checks, readers, folder):
    for name in re.findall(r"^(\S+)", harness.run("query", "--recipes").text(), re.M):
        for trace, words in TRACES.items():
            values = {"callers-of": ["name=*"], "callees-of": ["name=*"]}.get(name, [])
            text = harness.run("query", "-q", *words, "--recipe", name, *values, "--to", "csv")
            if text.status == 2 and b"is missing" in text.err:
                continue
            if not checks.that(text.status in (0, 3), name, text):
                continue
            for to, who in column_readers.OF.items():
                path = os.path.join(folder, "out" + column_readers.SUFFIX[to])
                done = harness.run("query", "-q", *words, "--recipe", name, *values, "-f", "-o", path)
                if checks.equal(done.status, text.status, name, done):
                    for reader in who:
                        column_readers.compare(checks, readers.read(reader, path), column_readers.csv(text), "%s of %s by %s:" % (name, trace, reader))


def tables(checks, readers, folder):
    for trace, words in TRACES.items():
        for table in harness.run("query", "-q", *words, "SELECT name FROM tables WHERE name NOT LIKE '%(%'", "--to", "csv").text().split()[1:]:
            check(checks, readers, folder, trace + " " + table, words, "SELECT * FROM %s LIMIT 3000" % table)


def hostile(checks, readers, folder):
    for name, sql in HOSTILE.items():
        check(checks, readers, folder, name, FDR, sql)
    path = os.path.join(folder, "bytes.parquet")
    harness.run("query", "-q", *FDR, "SELECT x'' AS a, NULL AS b", "-f", "-o", path)
    for reader in column_readers.OF["parquet"]:
        checks.equal(readers.read(reader, path), (["a", "b"], [["b", None]]), reader, "empty bytes")
    # Names that differ in case only, or not at all, get numbers.
    path = os.path.join(folder, "names.parquet")
    harness.run("query", "-q", *FDR, "SELECT 1 AS a, 2 AS A, 3 AS a, 4 AS a_2", "-f", "-o", path)
    for reader in column_readers.OF["parquet"]:
        columns, rows = readers.read(reader, path)
        checks.that(rows == [["i1", "i2", "i3", "i4"]] and len({name.lower() for name in columns}) == 4, reader, columns, rows)


def many(checks, readers, folder):
    """Row groups."""
    check(checks, readers, folder, "two row groups", FDR, numbers(1100000) + "SELECT 'n' || (i % 100) AS t, CASE WHEN i % 5 THEN i / 3 END AS x FROM n", ["parquet"])
    check(checks, readers, folder, "many row groups", FDR, numbers(70) + "SELECT i, printf('%.*c', 1048576, char(97 + i % 26)) AS t FROM n")


def refused(checks, _, folder):
    for sql, message in ((numbers(20000) + "SELECT CASE WHEN i = 15000 THEN 'x' ELSE i END AS c FROM n", b"row 15001 has text in column c"),
                         (numbers(20000) + "SELECT CASE WHEN i = 15000 THEN 9223372036854775807 ELSE 1.5 END AS c FROM n", b"a whole number"),
                         (numbers(20000) + "SELECT CASE WHEN i = 15000 THEN x'00' ELSE 'a' END AS c FROM n", b"bytes"),
                         ("SELECT 1; SELECT 2", b"more than one statement")):
        path = os.path.join(folder, "refused.parquet")
        done = harness.run("query", "-q", *FDR, sql, "-o", path)
        checks.that(done.status == 2 and message in done.err and not glob.glob(path + "*"), sql, done)
    for option in ("--explain", "--schema"):
        done = harness.run("query", "-q", *FDR, *(["SELECT 1"] if option == "--explain" else []), option, "--to", "parquet")
        checks.that(done.status == 2 and b"holds rows" in done.err, option, done)


def exported(words, table):
    return column_readers.csv(harness.run("query", "-q", *words, "SELECT * FROM " + table, "--to", "csv"))


def cut(checks, readers, folder, words):
    """Tables in files of some rows each."""
    whole, parts = os.path.join(folder, "whole"), os.path.join(folder, "parts")
    checks.equal(harness.run("query", "-q", *words, "--export", whole).status, 0)
    for n in (1, 7, 100000):
        done = harness.run("query", "-q", *words, "--export", parts, "--rows-per-file", n, "-f", *(["t*s", "collections"] if n == 1 else []))
        checks.equal(done.status, 0, "replaced", done)
        with open(os.path.join(parts, "_schema.json"), encoding="utf-8") as file:
            schema = json.load(file)["tables"]
        checks.equal(sorted(os.listdir(parts)), sorted(["_schema.json"] + [table["name"] for table in schema]), n)
        for table in schema:
            name = table["name"]
            files = sorted(glob.glob(os.path.join(parts, table["file"])))
            checks.equal([os.path.basename(path) for path in files], ["part-%05d.parquet" % i for i in range(-(-table["rows"] // n))], name)
            read = [parquet_read.File(path) for path in files]
            checks.that(all(len(file.rows) == n for file in read[:-1]), name, "parts have other rows")
            one = parquet_read.File(os.path.join(whole, name + ".parquet"))
            checks.equal([row for file in read for row in file.rows], one.rows, name)
            if n == 7:
                together = readers.read("duckdb", os.path.join(parts, table["file"]))
                column_readers.compare(checks, together, exported(words, name), "%s in parts:" % name)
            keys(checks, table, one)
    for words_after in (["--to", "csv"], ["--to", "arrow"]):
        done = harness.run("query", *words, "--export", os.path.join(folder, "never"), "--rows-per-file", "5", *words_after)
        checks.that(done.status == 2 and b"--rows-per-file is for" in done.err, done)
    done = harness.run("query", *words, "--rows-per-file", "5", "SELECT 1")
    checks.that(done.status == 2 and b"needs --export" in done.err, done)
    with open(os.path.join(parts, "events", "mine"), "w", encoding="utf-8") as file:
        file.write("mine")
    done = harness.run("query", *words, "--export", parts, "-f")
    checks.that(done.status != 0 and os.path.exists(os.path.join(parts, "events", "mine")), "a folder with other files is replaced", done)


def keys(checks, table, file):
    """Keys are there and differ, and columns of the key have a value in each row for every reader."""
    key = table.get("key", [])
    at = [file.columns.index(name) for name in key]
    checks.equal(len({tuple(row[i] for i in at) for row in file.rows}) if key else len(file.rows), len(file.rows), table["name"], "keys")
    required = {name for name, is_required in zip(file.columns, file.required) if is_required}
    checks.equal(required, set(key) | ({"trace"} & set(file.columns)), table["name"], "required")
    columns = {column["name"]: column for column in table["columns"]}
    checks.that(table["name"] == "traces" or "trace" not in columns or columns["trace"]["refers"] == "traces.trace", table["name"])


def notes_of(readers, path):
    """By DuckDB."""
    return {key[1:]: value[1:] for key, value in readers.read("duckdb-notes", path)[1]}


def check_notes(checks, readers, words, path, table):
    """Which traces a file is of, as the table `traces` has them, and which table it has."""
    found = notes_of(readers, path)
    checks.equal((found.get("traceloom.version"), found.get("traceloom.table")), (harness.run("--version").text().split()[1], table), path)
    said = harness.run("query", "-q", *words, "SELECT trace, path, format, version, unit, utc_ns(begin_utc) AS begin_utc FROM traces", "--to", "jsonl").text()
    expected = [{**row, "begin_utc": row["begin_utc"] and int(row["begin_utc"])} for row in map(json.loads, said.splitlines())]
    checks.equal(json.loads(found.get("traceloom.trace", "null")), expected, path)
    checks.equal(parquet_read.File(path).notes, found, path, "notes by our reader")


def notes(checks, readers, folder):
    for words in (FDR, LOG, CTF, [*LOG, *CTF, os.path.join(INPUT, "rec-done.xray")]):
        path = os.path.join(folder, "notes.parquet")
        done = harness.run("query", "-q", *words, "SELECT name FROM events", "-f", "-o", path)
        if checks.equal(done.status, 0, done):
            check_notes(checks, readers, words, path, None)
        done = harness.run("query", "-q", *words, "--export", os.path.join(folder, "all"), "-f", "events", "traces")
        for table in ("events", "traces") if checks.equal(done.status, 0, done) else ():
            check_notes(checks, readers, words, os.path.join(folder, "all", table + ".parquet"), table)
        if len(words) == 1 or words == FDR:
            done = harness.run("convert", "-q", *words, "-f", "-o", path)
            if checks.equal(done.status, 0, done):
                check_notes(checks, readers, words, path, "events")
    # A path that is not text, and a result of several processes, which has traces of its own.
    odd = os.fsdecode(os.path.join(os.fsencode(folder), b"\xff\".log"))
    os.symlink(LOG[0], odd)
    harness.run("query", "-q", odd, "SELECT 1 AS a", "-f", "-o", path)
    checks.equal(json.loads(notes_of(readers, path)["traceloom.trace"])[0]["path"], folder + '/\u00ff".log', "a strange path")
    harness.run("query", "-q", "--each", *LOG, *CTF, "SELECT 1 AS a", "-f", "-o", path)
    checks.that("traceloom.trace" not in notes_of(readers, path), "traces of --each")


def export(checks, readers, folder):
    """All tables: a folder, and a database."""
    for trace, words in TRACES.items():
        whole, database = os.path.join(folder, trace), os.path.join(folder, trace + ".db")
        listed = harness.run("query", "-q", *words, "SELECT name FROM tables", "--to", "csv").text().split()[1:]
        done = harness.run("query", *words, "--export", whole)
        checks.that(done.status == 0 and b"wrote" in done.err, done)
        done = harness.run("query", *words, "--export", database)
        checks.that(done.status == 0 and b"wrote" in done.err, done)
        with open(os.path.join(whole, "_schema.json"), encoding="utf-8") as file:
            schema = {table["name"]: table for table in json.load(file)["tables"]}
        checks.equal(sorted(os.listdir(whole)), sorted(["_schema.json"] + [name + ".parquet" for name in schema]), trace, "files")
        with sqlite3.connect(database) as db:
            checks.equal(db.execute("PRAGMA integrity_check").fetchone()[0], "ok", trace)
            checks.equal({name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}, set(schema), trace, "tables")
            for table in listed:
                expected = exported(words, table)
                checks.equal(table in schema, bool(expected[1]), trace, table)
                if table not in schema:
                    continue
                checks.equal(schema[table]["rows"], len(expected[1]), trace, table)
                checks.equal([column["name"] for column in schema[table]["columns"]], expected[0], trace, table)
                column_readers.compare(checks, readers.read("duckdb", os.path.join(whole, table + ".parquet")), expected, "%s %s:" % (trace, table))
                kinds = {int: "i", float: "r", str: "t", bytes: "b"}
                rows = []
                for row in db.execute("SELECT * FROM " + table):
                    rows.append([None if v is None else kinds[type(v)] + (v.hex() if isinstance(v, bytes) else
                                 struct.pack(">d", v).hex() if isinstance(v, float) else str(v)) for v in row])
                column_readers.compare(checks, (expected[0], rows), expected, "%s %s in the database:" % (trace, table))
            indexes = {name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}
            checks.that({"events.ts", "events.id", "events.class_id"} <= indexes, indexes)
    # Whole or not at all, and only what is ours is replaced.
    for path in (whole, database):
        done = harness.run("query", *words, "--export", path)
        checks.that(done.status == 2 and b"exists" in done.err, done)
        done = harness.run("query", "-q", *words, "--export", path, "-f", "events")
        checks.that(done.status == 0, done)
    checks.equal(sorted(os.listdir(whole)), ["_schema.json", "events.parquet"], "replaced")
    other = os.path.join(folder, "other")
    os.mkdir(other)
    with open(os.path.join(other, "mine.parquet"), "w", encoding="utf-8") as file:
        file.write("mine")
    done = harness.run("query", *words, "--export", other, "-f")
    checks.that(done.status != 0 and os.listdir(other) == ["mine.parquet"], done)
    before = sorted(os.listdir(folder))
    for words_after, message in ((["nothing_*"], b"no table matches"), (["--to", "markdown"], b"--export writes"), (["--each"], b"does not go with"), (["--memory", "1"], b"memory")):
        for name in ("new", "new.db"):
            done = harness.run("query", *words, "--export", os.path.join(folder, name), *words_after)
            checks.that(done.status != 0 and (message in done.err or name == "new.db"), words_after, done)
            checks.equal(sorted(os.listdir(folder)), before, words_after, "leaves")
    cut(checks, readers, folder, words)
    for to, suffix in (("csv", ".csv"), ("jsonl", ".jsonl"), ("arrow", ".arrows")):
        done = harness.run("query", *words, "--export", os.path.join(folder, to), "--to", to, "events", "t*s")
        checks.that(done.status == 0 and "events" + suffix in os.listdir(os.path.join(folder, to)), done)


def main():
    checks, part = harness.Checks(), sys.argv[1]
    if not harness.built_with("SQLite", "zstd"):
        harness.skip("this build has no SQLite, or no zstd")
    readers = column_readers.Readers()
    with harness.work_folder() as folder:
        {"recipes": recipes, "tables": tables, "hostile": hostile, "many": many, "refused": refused, "export": export, "notes": notes}[part](checks, readers, folder)
    readers.end()
    checks.end()


if __name__ == "__main__":
    main()
