"""Readers of columns that are not ours, and CSV as they have it: shared by the tests of files of columns."""
import codecs
import json
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = {"duckdb": "@duckdb/node-api", "hyparquet": "hyparquet", "arrow": "apache-arrow", "arrow-rs": "parquet-wasm"}
OF = {"parquet": ("duckdb", "hyparquet", "arrow-rs"), "arrow": ("arrow", "arrow-rs")}
SUFFIX = {"parquet": ".parquet", "arrow": ".arrows"}


def modules():
    """The folder of packages; without it, or one of them, the test is skipped."""
    folder = os.environ.get("TL_NODE_MODULES", "")
    missing = [name for name in PACKAGES.values() if not os.path.isdir(os.path.join(folder, name))]
    if not shutil.which("node") or missing:
        harness.skip("no node, or build-node lacks %s: tools/install-deps.sh test gets them" % " ".join(missing))
    return folder


class Readers:
    """One process that reads all files."""

    def __init__(self):
        self.process = subprocess.Popen(["node", "--max-old-space-size=3000", os.path.join(HERE, "read_columns.mjs"), modules()],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def read(self, reader, path):
        """(columns, rows)"""
        self.process.stdin.write("%s %s\n" % (reader, path))
        self.process.stdin.flush()
        head = json.loads(self.process.stdout.readline())
        if "error" in head:
            return head["error"], None
        return head["columns"], [json.loads(self.process.stdout.readline()) for _ in range(head["rows"])]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def cells(text):
    """Lists of cells of CSV: None, (text, whether it was in quotes)."""
    row, at = [], 0
    while at < len(text):
        if text[at] == '"':
            end, parts = at + 1, []
            while True:
                quote = text.index('"', end)
                parts.append(text[end:quote])
                end = quote + 1
                if text[end:end + 1] != '"':
                    break
                parts.append('"')
                end += 1
            row.append(("".join(parts), True))
            at = end
        else:
            end = min(i for i in (text.find(",", at), text.find("\r\n", at)) if i >= 0)
            row.append((text[at:end], False) if end > at else None)
            at = end
        if text[at] == ",":
            at += 1
            if text[at:at + 2] == "\r\n":
                row.append(None)
        if text[at:at + 2] == "\r\n":
            yield row
            row, at = [], at + 2


def as_read(cell, kind):
    """A cell of CSV as a reader shows it that has a value of this kind there."""
    if cell is None:
        return None
    if kind == "r":
        text = {"Infinity": "inf", "-Infinity": "-inf"}.get(cell[0], cell[0])
        return "r" + struct.pack(">d", float(text)).hex()
    return kind + cell[0]


def csv(result):
    """(columns, rows) of the command's output; bytes that are not UTF-8 are repaired, as in JSON lines"""
    codecs.register_error("repair", lambda e: ("".join(map(chr, e.object[e.start:e.end])), e.end))
    found = list(cells(result.out.decode("utf-8", "repair")))
    return [cell[0] if cell else "" for cell in found[0]], found[1:]


def compare(checks, got, expected, what):
    """A reader's columns and rows with those of CSV; true if they are equal."""
    columns, rows = got
    expected = ([name or "column_%d" % (i + 1) for i, name in enumerate(expected[0])], expected[1])
    if rows is None:
        return checks.that(False, what, "is not read:", columns)
    if not checks.equal(columns, expected[0], what, "columns") or not checks.equal(len(rows), len(expected[1]), what, "rows"):
        return False
    for at, (row, cell) in enumerate(zip(rows, expected[1])):
        want = [as_read(c, value[0] if value else "t") for c, value in zip(cell, row)]
        if row != want:
            column = next(i for i in range(len(row)) if row[i] != want[i])
            return checks.that(False, what, "row %d, column %s: %.200r, not %.200r" % (at, columns[column], row[column], want[column]))
    return checks.that(True)
