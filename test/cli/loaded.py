#!/usr/bin/env python3
"""report --by domain, assembly, netmodule and type: loaded.py

The rows are the lines `apd crf`, `asm ldf`, `mod ldf` and `cls ldf` of the logs, read here word by word."""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

KEYS = {"domain": "domains", "assembly": "assemblies", "netmodule": "netmodules", "type": "types"}


def number(word):
    """An id in JSON: null if it is ? or 0."""
    return None if word == "?" else int(word, 16) or None


def text(line):
    return line[line.index('"') + 1:-1]


def row(id_, parent, name, status):
    return {"id": id_, "parent_id": parent, "name": name, "failed": int(status, 16) >= 1 << 31}


def expected(path):
    rows = {by: [] for by in KEYS}
    type_names, numbers = {}, []
    with open(path, "rb") as file:
        lines = file.read().decode("utf-8").split("\n")
    for line in lines:
        words = line.rstrip("\r").split(" ")
        what, words = " ".join(words[:2]), words[2:]
        if what == "apd crf":
            rows["domain"].append(row(number(words[0]), None, text(line), words[2]))
        elif what == "asm ldf":
            rows["assembly"].append(row(number(words[0]), number(words[1]), text(line), words[3]))
        elif what == "mod ldf":
            rows["netmodule"].append(row(number(words[0]), number(words[2]), text(line), words[3]))
        elif what == "mod ata":
            [r for r in rows["netmodule"] if r["id"] == number(words[0])][-1]["parent_id"] = number(words[1])
        elif what == "cls ldf":
            rows["type"].append(row(number(words[0]), number(words[-3]), None, words[-1]))
            numbers.append(words[1] if len(words) == 5 else None)
        elif what == "cls nam" and words[0] != "?":
            type_names[int(words[0], 16)] = text(line)
    for r, word in zip(rows["type"], numbers):
        r["name"] = type_names.get(int(word, 16)) if word and word != "?" else None
    names = {by: {r["id"]: r["name"] for r in found} for by, found in rows.items()}
    for by, parents in (("assembly", "domain"), ("netmodule", "assembly"), ("type", "netmodule")):
        for r in rows[by]:
            r["parent"] = names[parents].get(r["parent_id"]) if r["parent_id"] else None
    for r in rows["domain"]:
        r["parent"] = None
    return rows


def main():
    seen = dict.fromkeys(KEYS, 0)
    for path in sorted(glob.glob(os.path.join(harness.SOURCE, "test", "golden", "input", "tracelog-*.log"))):
        if any(word in path for word in ("damaged", "cut", "lost", "records")):
            continue
        wanted = expected(path)
        for by, key in KEYS.items():
            done = subprocess.run(harness.binary() + ["report", "--json", "-q", "--by", by, path], capture_output=True)
            assert done.returncode == 0, (path, by, done.stderr)
            got = json.loads(done.stdout)[key]
            assert all(r.pop("ts") >= 0 for r in got)
            for r in got:
                r.update({name: r[name] and int(r[name], 16) for name in ("id", "parent_id")}, failed=bool(r["failed"]))
            assert got == [{name: r[name] for name in got[0]} for r in wanted[by]], (path, by, got, wanted[by])
            seen[by] += len(got)
    assert min(seen.values()) >= 5, seen
    print(seen)


main()
