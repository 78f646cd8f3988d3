#!/usr/bin/env python3
"""Do profiles made of samples have the same sums in every output format, and in the programs that read them?

    samples.py TRACELOOM TRACE...

Each trace is written by each weight as folded, callgrind, svg and speedscope, and once as pprof and tlp. Their sums must
be those of `report --by func --json` for the weight; `go tool pprof` and callgrind_annotate, if installed, must find the
same. Exit status: 0 right, 1 wrong, 77 no trace is there.
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

WEIGHTS = {"samples": "samples", "time": "time", "bytes": "alloc_space", "allocations": "alloc_objects"}
problems = []
readers = set()


def problem(*text):
    problems.append(" ".join(str(part) for part in text))


def run(*command, env=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    if done.returncode not in (0, 3):  # 3: a damaged trace
        problem(*command, "failed:", done.stderr.decode())
    return done.stdout


class Trace:
    def __init__(self, traceloom, path, work):
        self.traceloom, self.path, self.work = traceloom, path, work

    def report(self, *options, path=None):
        return run(self.traceloom, "report", path or self.path, *options)

    def written(self, to, weight="time", suffix=None):
        out = os.path.join(self.work, "out" + (suffix or "." + to))
        self.report("--to", to, "-o", out, "--force", "--weight", weight)
        return out


def expected(trace, weight, path=None):
    """label -> [self, total, count, functions of that label]. Tables of functions have the last name of each, files and
    trees the one at the time: if a name changed, rows are made from the tree."""
    report, tree = (json.loads(trace.report("--by", by, "--json", "--weight", weight, path=path)) for by in ("func", "tree"))
    rows = {}
    for f in report["functions"]:
        label = f["name"] if f["name"] is not None else "?" if f["id"] is None else "0x%x" % f["id"]
        row = rows.setdefault(label, [0, 0, 0, 0])
        for i, key in enumerate(("self", "total", "calls")):
            row[i] += f[key]
        row[3] += 1
    if {node["stack"][-1] for node in tree["nodes"]} == set(rows):
        return rows
    of_tree = {}
    for node in tree["nodes"]:
        label = node["stack"][-1]
        row = of_tree.setdefault(label, [0, 0, 0, rows.get(label, [1])[-1]])
        row[0] += node["self"]
        if label not in node["stack"][:-1]:
            row[1] += node["total"]
            row[2] += node["calls"]
    return of_tree


def sums(rows):
    return {name: row[0] for name, row in rows.items() if row[0]}


def check(what, got, wanted):
    got = {name: value for name, value in got.items() if value}
    if got != wanted:
        different = [n for n in set(got) | set(wanted) if got.get(n) != wanted.get(n)]
        problem(what, "differs in", [(n, got.get(n), wanted.get(n)) for n in different[:3]])


def folded(path):
    own = {}
    for line in open(path, encoding="utf-8"):
        stack, number = line.rstrip("\n").rsplit(" ", 1)
        name = stack.rsplit(";", 1)[-1]
        own[name] = own.get(name, 0) + int(number)
    return own


def callgrind(path, what):
    own, names, current = {}, {}, None
    lines = iter(open(path, encoding="utf-8").read().split("\n"))
    summary = None
    for line in lines:
        if line.startswith("summary:"):
            summary = int(line.split()[1])
        elif line.startswith(("fn=", "cfn=")):
            number, _, name = line.split("=", 1)[1].partition(" ")
            names.setdefault(number, name)
            if line.startswith("fn="):
                current = names[number]
        elif line.startswith("calls="):
            if line.startswith("calls=0 "):
                problem(what, "says", line)
            next(lines)
        elif re.match(r"\d", line):
            own[current] = own.get(current, 0) + int(line.split()[1])
    if summary != sum(own.values()):
        problem(what, "has the summary", summary)
    return own


def svg(path):
    data = json.loads(re.search(r'<script type="application/json"><!\[CDATA\[(.*?)\]\]>', open(path, encoding="utf-8").read(), re.S).group(1))
    own = {}
    for depth, name, number in zip(data["d"], data["f"], data["s"]):
        if depth:
            label = data["names"][name][0]
            own[label] = own.get(label, 0) + number
    return own, data["unit"]


def speedscope(path, weight, what):
    data = json.load(open(path, encoding="utf-8"))
    frames = [f["name"] for f in data["shared"]["frames"]]
    profiles = data["profiles"]
    active = profiles[data["activeProfileIndex"]]
    own = {}
    for stack, number in zip(active["samples"], active["weights"]):
        own[frames[stack[-1]]] = own.get(frames[stack[-1]], 0) + number
    names = [p["name"] for p in profiles]
    threads = [p for p in profiles if p["name"] not in WEIGHTS.values()]
    if sum(own.values()) and active["name"] != WEIGHTS[weight]:
        problem(what, "shows", active["name"])
    if sum(p["endValue"] for p in threads) != sum(own.values()):
        problem(what, "threads", names, "do not add up to", sum(own.values()))
    return own, active["unit"]


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value

    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            yield tag >> 3, data[at : at + value]
            at += value
        else:
            yield tag >> 3, value


def numbers(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


def pprof(path):
    """Own values by name of function, of each sample type."""
    strings, types, samples, location, function = [], [], [], {}, {}
    for number, inside in fields(gzip.open(path).read()):
        part = dict(fields(inside)) if isinstance(inside, bytes) and number in (1, 2, 4, 5) else {}
        if number == 1:
            types.append(part[1])
        elif number == 2:
            samples.append((numbers(part[1])[0], numbers(part[2])))
        elif number == 4:
            location[part[1]] = dict(fields(part[4]))[1]
        elif number == 5:
            function[part[1]] = part[2]
        elif number == 6:
            strings.append(inside.decode())
    own = {strings[t]: {} for t in types}
    for top, values in samples:
        name = strings[function[location[top]]]
        for t, value in zip(types, values):
            rows = own[strings[t]]
            rows[name] = rows.get(name, 0) + value
    return own


def go_pprof(path, weight, rows, env):
    text = run("go", "tool", "pprof", "-top", "-nodefraction=0", "-nodecount=0", "-symbolize=none", "-sample_index=" + WEIGHTS[weight],
               "-unit=" + {"time": "ns", "bytes": "B"}.get(weight, "count"), path, env=env).decode()
    readers.add("pprof")
    got = {}
    for line in text.split("\n"):
        found = re.match(r"\s*(\d+)[a-zA-Z]*\s+[\d.]+%\s+[\d.]+%\s+(\d+)[a-zA-Z]*\s+[\d.]+%\s+(.*)$", line)
        if found:
            got[found.group(3)] = int(found.group(1)), int(found.group(2))
    check("pprof's " + weight, {n: v[0] for n, v in got.items()}, sums(rows))
    for name, row in rows.items():
        if row[3] == 1 and name in got and got[name][1] != row[1]:
            problem("pprof's total of", name, got[name][1], "instead of", row[1])


def annotate(path, weight, rows):
    readers.add("callgrind_annotate")
    text = run("callgrind_annotate", "--threshold=100", "--auto=no", "--inclusive=no", path).decode()
    check("callgrind_annotate's " + weight, annotated(text), sums(rows))
    text = run("callgrind_annotate", "--threshold=100", "--auto=no", "--inclusive=yes", path).decode()
    got = annotated(text)
    for name, row in rows.items():
        if row[3] == 1 and name in got and got[name] != row[1]:
            problem("callgrind_annotate's inclusive", weight, "of", name, got[name], "instead of", row[1])


def annotated(text):
    got = {}
    for line in text.split("\n"):
        found = re.match(r"\s*([\d,]+) \([\d. ]+%\)\s+(?:[\d,]+ \([\d. ]+%\)|\.)?\s*\?\?\?:(.*?)( \[[^\[\]]*\])?$", line)
        if found:
            got[found.group(2)] = got.get(found.group(2), 0) + int(found.group(1).replace(",", ""))
    return got


def check_trace(trace):
    profile = pprof(trace.written("pprof", suffix=".pb.gz"))
    tlp = trace.written("tlp")
    env = dict(os.environ, PPROF_TMPDIR=trace.work, HOME=trace.work)
    for weight, name in WEIGHTS.items():
        rows = expected(trace, weight)
        own = sums(rows)
        unit = {"time": "ns", "bytes": "bytes"}.get(weight, weight)
        check("folded by " + weight, folded(trace.written("folded", weight)), own)
        graph = trace.written("callgrind", weight)
        check("callgrind by " + weight, callgrind(graph, "callgrind by " + weight), own)
        got, said = svg(trace.written("svg", weight))
        check("svg by " + weight, got, own)
        if said != unit:
            problem("svg by", weight, "is in", said)
        got, said = speedscope(trace.written("speedscope", weight), weight, "speedscope by " + weight)
        check("speedscope by " + weight, got, own)
        if said != {"time": "nanoseconds", "bytes": "bytes"}.get(weight, "none"):
            problem("speedscope by", weight, "is in", said)
        check("pprof by " + weight, profile.get(name, {}), own)
        if expected(trace, weight, tlp) != rows:
            problem("tlp by", weight, "differs")
        if own and shutil.which("go"):
            go_pprof(os.path.join(trace.work, "out.pb.gz"), weight, rows, env)
        if own and shutil.which("callgrind_annotate"):
            annotate(graph, weight, rows)
    # A profile file has lines, too, which tables by function do not show; nor do those beside a profile by line.
    for by in ("line", "func", "tree", "callers"):
        wanted = trace.report("--by", by, "--json")
        if trace.report("--by", by, "--json", path=tlp) != wanted:
            problem("tlp by", by, "differs")
        beside = os.path.join(trace.work, "beside.tlp")
        if trace.report("--by", by, "--json", "--force", "-o", beside) != wanted:
            problem("the table by", by, "beside a profile differs")
    # The same profile merged twice is the trace read twice.
    twice = os.path.join(trace.work, "twice.tlp")
    again = os.path.join(trace.work, "again.tlp")
    trace.report("-o", again, "--force", path=trace.path)
    run(trace.traceloom, "report", tlp, again, "--force", "-o", twice)
    for weight in WEIGHTS:
        doubled = {name: [2 * v for v in row[:3]] for name, row in expected(trace, weight, tlp).items()}
        merged = {name: row[:3] for name, row in expected(trace, weight, twice).items()}
        if merged != doubled:
            problem("merged by", weight, "differs")


def main():
    traceloom, traces = sys.argv[1], [path for path in sys.argv[2:] if os.path.exists(path)]
    if not traces:
        print("skipped: no traces")
        return 77
    for path in traces:
        with tempfile.TemporaryDirectory() as work:
            before = len(problems)
            check_trace(Trace(traceloom, path, work))
            print(os.path.basename(path), "%d problems" % (len(problems) - before) if len(problems) > before else "right")
    print("\n".join(problems[:20]))
    print("read by", ", ".join(sorted(readers)) or "nobody else")
    return 1 if problems else 0


sys.exit(main())
