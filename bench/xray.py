#!/usr/bin/env python3
"""Speed and memory of traceloom with logs of XRay, beside llvm-xray and beside hand-written code, on the same bytes.

    xray.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the logs if they are not there (record.sh), runs all commands in turns, N times, and keeps the best time of each."""
import json
import os
import shutil
import sys

from bench_tools import MB, Command, arguments, bars, build, finish, in_turns, introduction, output_of, recorded, table

LIMIT, ONE, TWO = "hand-written, 1 thread", "report --by func, 1 thread", "report --by func, 2 threads"
EVERY, ONE_PERCENT = "convert to nothing, 1 thread", "the same with --time, 1 % of the log"
ACCOUNT, THEIR_CHROME, CHROME = "llvm-xray account", "llvm-xray convert to Chrome JSON", "convert to Chrome JSON"
BARS = [
    ("beside hand-written code, one thread", ONE, LIMIT, "<=", None),
    ("the same with two threads", TWO, LIMIT, "<=", None),
    ("two threads", ONE, TWO, ">=", None),
    ("1 % of the time", EVERY, ONE_PERCENT, ">=", None),
    ("functions, one thread", ACCOUNT, ONE, ">=", None),
    ("functions, two threads", ACCOUNT, TWO, ">=", None),
    ("Chrome JSON", THEIR_CHROME, CHROME, ">=", None),
]
# (name, rounds of each thread, buffers, bytes of a buffer, what it is); llvm-xray would need more than 20 GB for the last.
# Buffers of 16 KiB are what the runtime has by default; one thread in few large ones is what llvm-xray can account for.
LOGS = {
    "100m": ((4, 16000, 12000, 16384), "four threads"),
    "single": ((1, 64000, 20, 8388608), "one thread in large buffers"),
    "1g": ((4, 165000, 100000, 16384), "four threads"),
}


def llvm_xray():
    return next((name for name in ("llvm-xray-19", "llvm-xray") if shutil.which(name)), None)


def record(folder, name, *numbers, mode="xray-fdr"):
    """The path of a log of programs/busy.c: threads, rounds, buffers, bytes of a buffer."""
    recorded("record.sh", folder, name, mode, *numbers)
    return os.path.join(folder, name + ".xray")


def commands(args, tools, log, path):
    busy, out = os.path.join(args.folder, "busy"), os.path.join(args.folder, "output")
    info = json.loads(output_of(args.traceloom, "info", "-q", "--json", path))
    events = sum(c["events"] for c in info["classes"])

    def row(name, *words, part=False, **more):
        return Command(name, list(words), count=None if part else events, part=part, **more)

    report = [args.traceloom, "report", "-q", "--by"]
    rows = [row("look at every byte", tools["every_byte"], path), row(LIMIT, tools["limit_xray"], path)]
    rows += [row(name, *report, "func", "-e", busy, "--threads", name.split()[-2], path) for name in (ONE, TWO)]
    if log != "1g" and llvm_xray():
        rows.append(row(ACCOUNT, llvm_xray(), "account", path, "-m", busy, once=True))
    if log == "100m":
        convert = [args.traceloom, "convert", "-q", "-f", path, "-o", out, "--to"]
        nothing, half = [args.traceloom, "convert", "-q", "--threads", "1", "-o", "-", "--to", "none"], info["end"] // 2
        rows += [row(EVERY, *nothing, path),
                 row(ONE_PERCENT, *nothing, "--time", "%dns..%dns" % (half, half + info["end"] // 100), path, part=True),
                 row("report --by tree, 2 threads", *report, "tree", "--threads", "2", path),
                 row("convert to jsonl", *convert, "jsonl", output=out, once=True),
                 row(CHROME, *convert, "chrome", output=out, once=True)]
        if llvm_xray():
            rows.append(row(THEIR_CHROME, llvm_xray(), "convert", "-f", "trace_event", path, "-o", out, output=out, once=True))
    return rows


def agree(traceloom, limit, *paths):
    """The hand-written program and traceloom must give the same numbers, or the ratio means nothing."""
    columns = ("calls", "total", "self", "min", "p50", "p90", "p99", "max")
    rows = {int(line.split("\t")[0]): [int(x) for x in line.split("\t")[1:]] for line in output_of(limit, *paths).splitlines()}
    functions = json.loads(output_of(traceloom, "report", "-q", "--json", "--by", "func", *paths))["functions"]
    ours = {f["id"]: [f[c] for c in columns if f[c] is not None] for f in functions if f["calls"]}
    different = [i for i in sorted(set(rows) | set(ours)) if rows.get(i) != ours.get(i)]
    return ["DIFFERENT NUMBERS of function %s: %s by hand, %s" % (i, rows.get(i), ours.get(i)) for i in different[:3]]


def main():
    args = arguments(__doc__, "", 7, "only the logs of 100 MB, twice")
    tools = {name: build(args.folder, name) for name in ("limit_xray", "every_byte", "measure")}
    logs = [name for name in LOGS if name != "1g" or not args.quick]
    groups, wrong = [], []
    for log in logs:
        path = record(args.folder, log, *LOGS[log][0])
        groups.append((log, path, commands(args, tools, log, path)))
        wrong += agree(args.traceloom, tools["limit_xray"], path)
    lines = introduction(args)
    for log, path, rows in groups:
        in_turns(rows, tools["measure"], args.repeat, args.slow)
        size = os.path.getsize(path)
        lines += ["", "### FDR log of %.0f MB, %s" % (size / MB, LOGS[log][1]), ""] + table(rows, size, LIMIT) + [""]
        if any(row.name == ACCOUNT and not row.ok() for row in rows):
            lines += ["llvm-xray account has only loaded this log: it cannot account for FDR logs of several threads.", ""]
        found = {row.name for row in rows}
        # Commands that fail are compared, too: until then they have only loaded the log.
        lines += bars(rows, [bar for bar in BARS if bar[1] in found and bar[2] in found], failing=(ACCOUNT,))
    lines += [""] + (wrong or ["The hand-written program and traceloom print the same numbers."])
    return finish(args, "xray", lines, wrong)


if __name__ == "__main__":
    sys.exit(main())
