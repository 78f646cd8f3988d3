#!/usr/bin/env python3
"""All outputs of a table agree: views.py

The rows of --to csv and --to jsonl, read by Python's own csv and json, are those of --json, number by number, in ordinary
traces and in one whose names contain every character with a meaning in some output. Output for people has no control
characters."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "generate"))
import tracelog_expect

# Tables, each with a suitable trace in test/golden/input.
TABLES = [("gc", "tracelog-vs.log"), ("jit", "tracelog-vs.log"), ("alloc", "tracelog-vs.log"), ("heap", "tracelog-vs.log"), ("cpu", "tracelog-vs.log")]
WHOLE = [("trace", "ctf-18"), ("track", "ctf-18"), ("damage", "damaged-fdr-v5-le-unknown-kind.xray"), ("damage", "ctf-18-damaged"),
         ("loss", "ctf-18"), ("loss", "damaged-fdr-v5-le-unknown-kind.xray"), ("property", "rec-live-ring.xray"), ("state", "ctf-sched")]
INFO = ["basic-v3-le.xray", "program.elf", "damaged-fdr-v5-le-unknown-kind.xray", "profile-le.xray", "ctf-18", "tracelog-vs.log"]
HOSTILE = b'"a, ""b"" |\x1b[2J\r<i>&amp;`*_\xff\xc3\xa9\\n\xe2\x80\xae"'
NAMES = (b'"System.String"', b'"Shop.Json:ReadValue"')


def run(*arguments):
    done = subprocess.run(harness.binary() + ["report", *arguments], capture_output=True, env=dict(os.environ, LC_ALL="C.UTF-8"))
    assert done.returncode in (0, 3), (arguments, done.returncode, done.stderr)
    return done.stdout


def first_list(value):
    """The rows of the first relation: the first member that is a list."""
    for member in value.values():
        found = member if isinstance(member, list) else first_list(member) if isinstance(member, dict) else None
        if found is not None:
            return found
    return None


def leaves(value):
    """Values without their names, which differ; without nulls, which --json may omit."""
    if isinstance(value, dict):
        return [leaf for member in value.values() for leaf in leaves(member)]
    if isinstance(value, list):
        return [[leaf for member in value for leaf in leaves(member)]]
    return [] if value is None else [(type(value).__name__, value)]


def flat(row, path=""):
    """{"a.b": value} of {"a": {"b": value}}."""
    out = {}
    for name, value in row.items():
        out.update(flat(value, path + name + ".") if isinstance(value, dict) else {path + name: value})
    return out


def same_cell(cell, value):
    if value is None:
        return cell == ""
    if isinstance(value, bool):
        return cell == str(int(value))
    if isinstance(value, float):
        return float(cell) == value
    if isinstance(value, list):
        return json.loads(cell) == value
    return cell == str(value)


def check(by, path, *options):
    whole = json.loads(run("--json", "--by", by, path, *options))
    lines = run("--to", "jsonl", "--by", by, path, *options).decode("utf-8").split("\n")
    assert lines.pop() == "", "the last line has no end"
    rows = [json.loads(line) for line in lines]
    wanted = first_list(whole)
    for row in wanted if by == "gc" else []: # letters, one for each
        row["generations"] = tracelog_expect.generation_words(row["generations"])
    assert [leaves(row) for row in rows] == [leaves(row) for row in wanted], "jsonl is not json: %s" % by
    text = run("--to", "csv", "--by", by, path, *options).decode("utf-8")
    cells = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert text.endswith("\r\n") and len(cells) == len(rows) + 1, "csv: %d lines of %d rows" % (len(cells), len(rows))
    for line, row in zip(cells[1:], rows):
        row = flat(row)
        assert cells[0] == list(row), "csv has other columns: %s, %s" % (cells[0], list(row))
        for cell, (name, value) in zip(line, row.items()):
            assert same_cell(cell, value), "%s: %s is %r in csv, %r in jsonl" % (by, name, cell, value)
    for view in ("table", "markdown"):
        shown = run("--to", view, "--by", by, path, *options).decode("utf-8")
        assert view == "table" or "<i>" not in shown, "markdown has tags"
        assert not any(c < " " and c != "\n" or c in "\x7f\u202e" for c in shown), "%s has control characters" % view
    check_markdown(by, shown)
    return len(rows)


def check_markdown(by, shown):
    """Each row of a table has as many cells as its title."""
    width = 0
    for line in shown.split("\n"):
        line = line.replace("\\\\", "").replace("\\|", "")
        width = width if line.startswith("|") else 0
        width = width or line.count("|")
        assert not line.startswith("|") or line.count("|") == width, "%s: a row with other cells: %s" % (by, line)


def check_info(inputs):
    """info of several traces: a row for each, with its own --json; a file that is no trace is left out."""
    paths = [os.path.join(inputs, name) for name in INFO]
    def info(*arguments):
        done = subprocess.run(harness.binary() + ["info", *arguments], capture_output=True)
        assert done.returncode == 3, (arguments, done.returncode, done.stderr)
        return done.stdout.decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(info("--to", "csv", *paths), newline="")))
    alone = [json.loads(line) for line in info("--json", *paths).splitlines()]
    assert len(rows) == len(alone) == len(INFO) - 1, (len(rows), len(alone))
    for row, one in zip(rows, alone):
        wanted = {"format": one["format"], "version": one["version"], "bytes": one["bytes"], "events": one["events"], "clock": one["clock"]["name"],
                  "hz": one["clock"]["hz"], "ts": one["begin"], "end_ts": one["end"], "begin_utc": one["start_utc"],
                  "lost_events": one["lost"]["events"], "damage_places": len(one["damage"]),
                  "calls": one.get("profile", {}).get("calls"), "paths": one.get("profile", {}).get("paths")}
        for name, value in wanted.items():
            assert same_cell(row[name], value), (row["path"], name, row[name], value)
        assert os.path.basename(row["path"]) == one["path"] and paths[int(row["trace"]) - 1] == row["path"], row
    lines = [json.loads(line) for line in info("--to", "jsonl", *paths).splitlines()]
    assert [{k: "" if v is None else str(v) for k, v in line.items()} for line in lines] == rows
    assert info("--to", "table", *paths) == info(*paths) and info("--to", "json", *paths) == info("--json", *paths)
    assert info("--to", "markdown", *paths).count("\n|") == len(rows) + 2
    with tempfile.TemporaryDirectory(dir=os.environ["TL_WORK"]) as folder:
        for suffix, to in ((".csv", "csv"), (".jsonl", "jsonl"), (".json", "json"), (".txt", "table"), (".md", "markdown")):
            out = os.path.join(folder, "out" + suffix)
            assert info("-o", out, *paths) == ""
            with open(out, encoding="utf-8", newline="") as f:
                assert f.read() == info("--to", to, *paths), suffix
    return len(rows)


def main():
    inputs = os.path.join(harness.SOURCE, "test", "golden", "input")
    rows = 0
    with tempfile.TemporaryDirectory(dir=os.environ["TL_WORK"]) as folder:
        for by, name in TABLES:
            path = os.path.join(inputs, name)
            found = check(by, path)
            assert found > 1, "%s has no rows in %s" % (by, name)
            rows += found + check(by, path, "--top", "1")
            hostile = os.path.join(folder, "a|b`*<i>.log")
            with open(path, "rb") as f:
                text = f.read()
            for old in NAMES:
                assert old in text
                text = text.replace(old, HOSTILE)
            with open(hostile, "wb") as f:
                f.write(text)
            rows += check(by, hostile)
            assert by not in ("jit", "alloc") or b"\\u001b[2J" in run("--to", "jsonl", "--by", by, hostile), "no name of %s" % by
    for by, name in WHOLE:
        found = check(by, os.path.join(inputs, name))
        assert found > 0, "%s has no rows in %s" % (by, name)
        rows += found
    rows += check_info(inputs)
    print("%d rows" % rows)


if __name__ == "__main__":
    main()
