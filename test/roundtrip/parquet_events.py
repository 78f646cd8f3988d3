#!/usr/bin/env python3
"""`convert --to parquet` by a reader of our tests: parquet_events.py lines|query|parts

lines: the same events as in JSON lines, in the same order. query: the same rows as those of the table `events` of SQL.
parts: of a part of the time, of several inputs, of no events; to standard output, and split."""
import csv
import glob
import io
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import parquet_read

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
FDR = os.path.join(INPUT, "fdr-v5-le.xray")
ELF = ["-e", os.path.join(INPUT, "program.elf")]


def traces():
    """Those that have events."""
    for path in sorted(glob.glob(os.path.join(INPUT, "*"))):
        name = os.path.basename(path)
        if not name.endswith((".elf", ".live")) and "profile" not in name and name != "ctf-folders":
            yield path, ELF if "fdr" in name else []


def convert(checks, folder, *words, status=0):
    """The file of a conversion; None, and a failure, if there is none."""
    out = os.path.join(folder, "out.parquet")
    done = harness.run("convert", "-q", "-f", *words, "-o", out)
    if not checks.that(done.status in (status, 3) and b"Sanitizer" not in done.err, words, done):
        return None
    try:
        return parquet_read.File(out)
    except parquet_read.Malformed as error:
        checks.that(False, words, error)
        return None


def events(file):
    return [dict(zip(file.columns, row)) for row in file.rows]


def as_line(event):
    """What a line of JSON has of it."""
    fields, context = json.loads(event["fields"]), event["context"] and json.loads(event["context"])
    line = {"ts": event["ts"] or 0, "class": event["name"], "track": event["thread"]}
    if event["cpu"] is not None:
        line["cpu"] = event["cpu"]
    if event["function_id"] is not None:
        fields = {"function": event["function_name"], "id": event["function_id"], **fields}
    line["fields"] = fields
    return {**line, "context": context} if context else line


def lines(checks, folder):
    for path, words in traces():
        file = convert(checks, folder, path, *words)
        text = harness.run("convert", "-q", path, *words, "--to", "jsonl")
        if file:
            expected = [json.loads(line) for line in text.text().split("\n")[:-1]]
            checks.that(expected or not file.rows, path, "has no events")
            got = [as_line(event) for event in events(file)]
            checks.equal(len(got), len(expected), path)
            for at, (one, other) in enumerate(zip(got, expected)):
                if not checks.equal(one, other, path, "event", at):
                    break


def shown(rows, ts):
    """Rows as text in the order of ids, times from the first one: where a trace does not say when it begins, SQL counts from the
    clock's 0."""
    first = min((int(row[ts]) for row in rows if row[ts] not in ("", None)), default=0)
    return sorted([str(int(value) - first) if i == ts and value not in ("", None) else "" if value is None else str(value)
                   for i, value in enumerate(row)] for row in rows)


def query(checks, folder):
    if not harness.built_with("SQLite"):
        harness.skip("this build has no SQLite")
    for path, words in traces():
        file = convert(checks, folder, path, *words)
        done = harness.run("query", "-q", path, *words, "SELECT * FROM events", "--to", "csv")
        if file and checks.that(done.status in (0, 3), done):
            head, *rows = list(csv.reader(io.StringIO(done.text(), newline="")))
            checks.equal(file.columns, head, path)
            checks.equal(shown(file.rows, 2), shown(rows, 2), path)


def parts(checks, folder):
    whole = convert(checks, folder, FDR, *ELF)
    rows = {event["id"]: event for event in events(whole)}
    checks.that(len(rows) == len(whole.rows) > 100, "ids are not unique")
    checks.equal([event["ts"] for event in rows.values()], sorted(event["ts"] for event in rows.values()), "order")
    checks.equal(whole.sorted, [["ts"]], "the order, as the file describes it")
    checks.equal([name for name, required in zip(whole.columns, whole.required) if required], ["trace", "id"], "columns without nulls")
    # A part of the time has the same rows.
    part = convert(checks, folder, FDR, *ELF, "--time", "20us..60us")
    checks.that(0 < len(part.rows) < len(whole.rows), "a part has", len(part.rows), "rows")
    expected = [event for event in rows.values() if 20000 <= event["ts"] < 60000]
    checks.equal(events(part), expected, "a part of the time")
    # Several inputs are one trace.
    other = os.path.join(INPUT, "basic-v3-le.xray")
    alone = convert(checks, folder, other)
    both = convert(checks, folder, FDR, other)
    checks.equal(len(both.rows), len(whole.rows) + len(alone.rows), "two inputs")
    checks.equal(len({event["id"] for event in events(both)}), len(both.rows), "ids of two inputs")
    checks.equal({event["trace"] for event in events(both)}, {1}, "the trace of two inputs")
    # Nothing is a file, too.
    none = convert(checks, folder, FDR, "--time", "1h..")
    checks.equal((none.rows, none.groups, none.columns), ([], [], whole.columns), "no events")
    piped = harness.run("convert", "-q", FDR, *ELF, "--to", "parquet", "-o", "-")
    with open(os.path.join(folder, "piped.parquet"), "wb") as file:
        file.write(piped.out)
    checks.equal(parquet_read.File(file.name).rows, whole.rows, "standard output")
    done = harness.run("convert", "-q", FDR, *ELF, "--split", "track", "-o", os.path.join(folder, "split.parquet"))
    checks.equal(done.status, 0, done)
    split = [parquet_read.File(path) for path in sorted(glob.glob(os.path.join(folder, "split*.parquet")))]
    checks.that(len(split) > 1, "it is not split")
    checks.equal(sorted(row[1] for file in split for row in file.rows), sorted(rows), "split")
    checks.that(all(len({event["thread"] for event in events(file)}) == 1 for file in split), "files of several threads")
    for words in (("--follow", os.path.join(INPUT, "tracelog-doc.log")), (os.path.join(INPUT, "profile-le.xray"),)):
        done = harness.run("convert", "-q", *words, "-o", os.path.join(folder, "refused.parquet"))
        checks.that(done.status == 2 and not glob.glob(os.path.join(folder, "refused*")), done)


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        {"lines": lines, "query": query, "parts": parts}[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
