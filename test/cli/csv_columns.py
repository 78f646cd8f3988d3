#!/usr/bin/env python3
"""CSV with a column for each field (--class of one class), read with Python's csv: the same values as in JSON lines."""
import csv
import io
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
TRACES = ("ctf-18", "ctf-2", "ctf-11", "tracelog-records.log", "tracelog-vs.log", "fdr-v5-le.xray",
          "xtrace-user/xtrace.1750000001.4711.hint9.xinsndata.bin")
FIRST = ["ts", "class", "track", "cpu", "function", "id"]


def value_at(event, column):
    """The JSON value of a column: members of members; None if it is not there."""
    words = column.split(".")
    if words[0] == "context":
        at, words = event.get("context", {}), words[1:]
    else:
        at = event.get("fields", {})
        if words[0] == "fields":
            words = words[1:]
    if column in ("pc", "addr", "stack"):  # a key
        return event.get(column, event.get("fields", {}).get(column))
    while words:
        for n in range(len(words), 0, -1):  # names may have dots
            name = ".".join(words[:n])
            if isinstance(at, dict) and name in at:
                at, words = at[name], words[n:]
                break
        else:
            return None
    return at


def same(cell, value):
    if value is None:
        return cell == ""
    if isinstance(value, str):
        return cell == value or json.loads('"%s"' % cell) == value  # bytes that are not UTF-8 are escaped
    return cell == json.dumps(value) or json.loads(cell) == value


def leaves(value, prefix=""):
    """Names of all values that are not in structs."""
    if isinstance(value, dict) and value and set(value) != {"value", "labels"}:
        return [name for key, inner in value.items() for name in leaves(inner, prefix + key + ".")]
    return [prefix[:-1]]


def compare(checks, path, name):
    pattern = "".join("[%s]" % c if c in "*?[" else c for c in name)
    done = harness.run("convert", path, "--class", pattern, "--to", "csv", "-o", "-")
    lines = harness.run("convert", path, "--class", pattern, "--to", "jsonl", "-o", "-").text().split("\n")[:-1]
    events = [json.loads(line) for line in lines]
    rows = list(csv.reader(io.StringIO(done.text(), newline=""), strict=True))
    checks.equal(len(rows) - 1, len(events), path, name)
    if rows[0][6:] == ["fields"] and not any("fields" in e.get("fields", {}) for e in events):
        checks.that(all(row[6] == "" for row in rows[1:]), path, name, "has fields and no columns")
        return 0
    checks.that(rows[0][:6] == FIRST and len(set(rows[0])) == len(rows[0]), path, name, rows[0])
    for row, event in zip(rows[1:], events):
        checks.that(len(row) == len(rows[0]) and row[0] == str(event["ts"]) and row[1] == name, path, row)
        for column, cell in zip(rows[0][6:], row[6:]):
            checks.that(same(cell, value_at(event, column)), path, name, column, repr(cell), value_at(event, column))
        found = {c[7:] if c.startswith("fields.") else c for c in rows[0]}
        shown = leaves(event.get("fields", {})) + ["context." + n for n in leaves(event.get("context", {})) if n]
        missing = [n for n in shown if n and n not in found and not any(n.startswith(c + ".") for c in found)]
        checks.that(not missing, path, name, "lacks", missing)
    return len(rows[0]) - 6


def main():
    checks, columns = harness.Checks(), 0
    for trace in TRACES:
        path = os.path.join(INPUT, trace)
        if not os.path.exists(path):
            continue
        for c in harness.run("info", "--json", path).json()["classes"]:
            columns += compare(checks, path, c["name"])
    checks.that(columns > 100, columns, "columns in all")
    both = harness.run("convert", os.path.join(INPUT, "ctf-18"), "--class", "prov0:*", "--to", "csv", "-o", "-")
    checks.that(both.text().startswith("ts,class,track,cpu,function,id,fields\n"), "several classes have one column")
    print("%d columns" % columns)
    checks.end()


if __name__ == "__main__":
    main()
