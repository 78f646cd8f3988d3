#!/usr/bin/env python3
"""Compares traceloom's results for the logs of mono.sh with the program's own numbers: mono_check.py BINARY LOG TEXT LOG_WITH_LINES TEXT SOURCE"""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

NODE, KEPT = 2 * 8 + 8 + 16, 8 + 16     # bytes of an object: fields and header, on a 64-bit host
METHODS = ("App.Program:Main", "App.Program:Run", "App.Work:Hot", "App.Work:Warm", "App.Work:Plant", "App.Work:Graft")


def run(binary, *arguments):
    done = subprocess.run([binary] + list(arguments), capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def report(checks, binary, log, *arguments):
    status, out, err = run(binary, "report", "--json", log, *arguments)
    if not checks.equal(status, 0, "report", *arguments, "status:", err):
        return collections.defaultdict(list)
    return json.loads(out)


def check_samples(checks, binary, log, lines):
    rows = report(checks, binary, log, "--by", "func")
    counted = sum(int(line.split()[4]) for line in lines if line.startswith("sam str"))
    checks.equal(rows["samples"]["counted"], counted, "samples counted")
    own = {row["name"]: row for row in rows["functions"] if (row["name"] or "").startswith("App.")}
    checks.that(set(METHODS) <= set(own), "methods of the program:", METHODS, "found:", sorted(own))
    most = max(own.values(), key=lambda row: row["self"], default={"name": None})
    if checks.equal(most["name"], "App.Work:Hot", "the method with most samples"):
        checks.that(most["calls"] > 50, "hardly any samples:", most)
        checks.that(most["self"] > 2 * own["App.Work:Warm"]["self"] > 0, "a quarter of the work is in Warm:", own["App.Work:Warm"], most)
        checks.that(own["App.Program:Run"]["total"] >= most["total"], "Run calls Hot")
    tree = report(checks, binary, log, "--by", "tree")
    text = json.dumps(tree)
    checks.that("App.Work:Hot" in text, "the tree lacks Hot")
    status, out, err = run(binary, "report", "--by", "thread", log)
    checks.that(status == 0 and "thread 0x0" in out.decode("utf-8"), "report --by thread lacks the first one", err)


def check_lines(checks, binary, log, source):
    """Hot is a loop of two lines, which have its samples."""
    with open(source, encoding="utf-8") as file:
        texts = file.read().splitlines()
    loop = next(i for i, text in enumerate(texts) if "1664525" in text)
    rows = report(checks, binary, log, "--by", "line")
    hot = {row["line"]: row["self"] for row in rows["lines"] if row["function"] == "App.Work:Hot"}
    checks.that(all(os.path.basename(row["file"] or "") == os.path.basename(source) for row in rows["lines"] if row["function"] == "App.Work:Hot"),
                "Hot is in", [row["file"] for row in rows["lines"] if row["function"] == "App.Work:Hot"])
    checks.that(sum(hot.get(line, 0) for line in (loop, loop + 1)) > 0.9 * sum(hot.values()) > 0, "lines of Hot:", hot, "expected", loop, loop + 1)


def check_runtime(checks, binary, log, did):
    rows = report(checks, binary, log, "--by", "gc")
    checks.equal(rows["by_generation"], {"gen0": did["minor"] + did["major"], "gen1": did["major"], "gen2": 0, "loh": did["major"]},
                 "collections")
    checks.equal(rows["unmatched"], {"ends": 0, "open": 0}, "all collections end")

    rows = report(checks, binary, log, "--by", "alloc")
    of = {row["name"]: (row["count"], row["bytes"]) for row in rows["classes"]}
    nodes = did["planted"] + did["grafted"]
    checks.equal(of.get("App.Node"), (nodes, nodes * NODE), "nodes allocated")
    checks.equal(of.get("App.Kept"), (did["kept"], did["kept"] * KEPT), "kept objects allocated")
    live = {row["name"]: (row["count"], row["bytes"]) for row in (rows["live"] or {"classes": []})["classes"]}
    checks.equal(live.get("App.Kept"), (did["kept"], did["kept"] * KEPT), "kept objects that live")

    rows = report(checks, binary, log, "--by", "func", "--weight", "bytes")
    sites = {row["name"]: row["total"] for row in rows["functions"]}
    checks.equal((sites.get("App.Work:Plant"), sites.get("App.Work:Graft")), (did["planted"] * NODE, did["grafted"] * NODE),
                 "bytes by call site")

    rows = report(checks, binary, log, "--by", "jit")
    methods = {row["name"]: row for row in rows["methods"]}
    for name in METHODS:
        row = methods.get(name, {})
        checks.that(row.get("compiled") == 1 and row.get("code_bytes", 0) > 0, "compilation of", name, row)
    checks.equal(rows["unmatched"], {"ends": 0, "open": 0}, "all compilations end")

    rows = report(checks, binary, log, "--by", "cpu")
    used = {row["track"]: row["used"] for row in rows["tracks"]}
    checks.that(used.get("process", 0) > 0 and used.get("thread 0x0", 0) > 0, "processor time:", used)


def check_copy(checks, binary, log, data):
    status, out, err = run(binary, "convert", log, "--to", "tracelog", "-o", "-")
    checks.that(status == 0 and out == data, "the copy is not the log: status", status, err, len(out), "bytes of", len(data))


def check_log(checks, binary, log, text, version):
    with open(text, encoding="utf-8") as file:
        did = {name: int(number) for name, number in (line.split() for line in file)}
    with open(log, "rb") as file:
        data = file.read()
    lines = data.decode("utf-8").splitlines()
    for what in ("LostSamples", "LostEvents", "CutStacks"):
        checks.equal([line for line in lines if line.startswith("prf cfg %s " % what)], ["prf cfg %s 0" % what], "the recorder")
    status, out, err = run(binary, "check", "--json", log)
    checks.that(status == 0 and json.loads(out)["ok"], "check:", status, out, err)
    status, out, err = run(binary, "info", "--json", log)
    info = json.loads(out)
    checks.equal((info["version"], info["events"]), (version, len(lines)), "dialect and events", err)
    check_samples(checks, binary, log, lines)
    check_runtime(checks, binary, log, did)
    check_copy(checks, binary, log, data)


def main():
    binary, log, text, log_with_lines, its_text, source = sys.argv[1:]
    checks = harness.Checks()
    check_log(checks, binary, log, text, "doc")
    check_log(checks, binary, log_with_lines, its_text, "saved")
    check_lines(checks, binary, log_with_lines, source)
    checks.end()


if __name__ == "__main__":
    main()
