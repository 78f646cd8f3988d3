#!/usr/bin/env python3
"""Speed and memory of traceloom with instruction streams of aarch64, beside hand-written code and beside QEMU's own log.

    xtrace.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the streams if they are not there (record_xtrace.sh), runs all commands in turns, N times, and keeps the best
time of each. --quick takes a stream of a tenth. --write puts the tables into bench/results.md."""
import json
import os
import re
import subprocess
import sys
import time

from bench_tools import (M, MB, Command, arguments, bar_line, bars, build, build_with_library, finish, in_turns, introduction,
                         made, output_of, recorded, table, threads_of)

PART = 5 * M                            # instructions of what is written as text for programs
FOR_REFERENCE = 300000                  # and of what a reader in Python gets
WALK, MIX, BLOCK = "hand-written: walk", "hand-written: mix", "hand-written: block"
PLAIN = "zstd's library in a loop"
# The targets for rates
BARS = [
    ("every event, of the hand-written rate", WALK, "library: key ^ aux of every event", ">=", 0.5),
    ("the same, telling classes apart", WALK, "library: the sums of walk", ">=", None),
    ("the same with every field", WALK, "library: every field", ">=", None),
    ("compressed, one frame, every event", PLAIN, "zstd -3: library: key ^ aux", ">=", 0.6),
    ("compressed, one frame, 1 thread", PLAIN, "zstd -3: mix, 1 thread", ">=", 0.6),
    ("compressed, one frame, 2 threads", PLAIN, "zstd -3: mix, 2 threads", ">=", 0.6),
    ("compressed, our frames, 1 thread", PLAIN, "our .zst: mix, 1 thread", ">=", None),
    ("compressed, our frames, 2 threads", PLAIN, "our .zst: mix, 2 threads", ">=", None),
    ("two streams, two threads", "two streams: mix, 1 thread", "two streams: mix, 2 threads", ">=", None),
    ("two streams, two threads", "two streams: block, 1 thread", "two streams: block, 2 threads", ">=", None),
]
# (ours, least rate, of what, a hand-written one of whose rate a quarter will do, too)
RATES = [
    ("report --by mix", 100 * M, "instructions", MIX),
    ("report --by block", 100 * M, "instructions", BLOCK),
    ("convert to listing", 30 * M, "lines", None),
    ("convert to listing, without LLVM", 30 * M, "lines", None),
    ("report --by cache", 20 * M, "loads and stores", None),
]
QUARTER = 0.25


def record(folder, name, options, *words):
    """The streams of a recording; None where nothing can be recorded here."""
    if not recorded("record_xtrace.sh", folder, name, options, *words):
        return None
    path = os.path.join(folder, name)
    return sorted(os.path.join(path, file) for file in os.listdir(path) if "xinsndata" in file)


def row(name, words, insns, **more):
    """A command that reads `insns` instructions."""
    return Command(name, list(words), count=insns, **more)


def plain_rows(args, tools, stream, insns):
    def traceloom(name, *words, count=insns, before=(), **more):
        return row(name, list(before) + [args.traceloom] + list(words) + [stream], count, **more)

    report = ["report", "-q", "--threads", "1", "--by"]
    convert = ["convert", "-q", "-o", "-", "--to"]
    rows = [row(name, [tools["limit_xtrace"], name.split()[-1], stream], insns) for name in (WALK, MIX, BLOCK)]
    rows += [row("library: " + name, [tools["iterate_xtrace"], mode, stream], insns)
             for mode, name in (("sum", "key ^ aux of every event"), ("walk", "the sums of walk"), ("fields", "every field"))]
    rows += [traceloom("report --by " + by, *report, *by.split()) for by in ("mix", "block", "branch", "page", "cache", "reuse")]
    rows += [traceloom("report --by reuse --sample 64", *report, "reuse", "--sample", "64"),
             traceloom("report --by func", *report, "func", "-e", tools["app"]),
             traceloom("report --by syscall", *report, "syscall"),
             traceloom("check", "check", "-q"),
             traceloom("info --json", "info", "-q", "--json"),
             traceloom("convert to none", *convert, "none"),
             traceloom("convert to none, 1 thread", *convert, "none", "--threads", "1"),
             traceloom("convert to listing", *convert, "listing", once=True),
             traceloom("convert to listing, 1 thread", *convert, "listing", "--threads", "1", once=True),
             traceloom("convert to listing, without LLVM", *convert, "listing", once=True, before=["env", "TRACELOOM_LLVM=off"]),
             traceloom("convert to champsim", *convert, "champsim", once=True),
             traceloom("convert to simpoint", *convert, "simpoint", "--interval", "10000000"),
             traceloom("convert to jsonl, %d M instructions" % (min(PART, insns) // M), *convert, "jsonl", "--insns", "0..%d" % PART,
                       count=min(PART, insns), once=True, part=True)]
    return rows


def zstd_rows(args, tools, files, insns):
    single, ours = files
    rows = [row(PLAIN, [tools["limit_zstd"], single], insns), row("zstd -dc", ["zstd", "-dcq", single], insns),
            row("zstd -3: library: key ^ aux", [tools["iterate_xtrace"], "sum", single], insns)]
    for name, path in (("zstd -3", single), ("our .zst", ours)):
        for threads in (1, 2):
            rows.append(row("%s: mix, %s" % (name, threads_of(threads)),
                            [args.traceloom, "report", "-q", "--by", "mix", "--threads", str(threads), path], insns))
    return rows


def two_rows(args, folder, insns):
    return [row("two streams: %s, %s" % (by, threads_of(threads)),
                [args.traceloom, "report", "-q", "--by", by, "--threads", str(threads), folder], insns)
            for by in ("mix", "block", "cache") for threads in (1, 2)]


def seek_rows(args, tools, stream, at):
    there = ["--insns", "%d..%d" % (at, at + 10), stream]
    convert = [args.traceloom, "convert", "-q", "-o", "-", "--to"]
    return [row("10 instructions, convert --to none", convert + ["none"] + there, None),
            row("10 instructions, convert to listing, without LLVM", ["env", "TRACELOOM_LLVM=off"] + convert + ["listing"] + there, None),
            row("info --at", ["env", "TRACELOOM_LLVM=off", args.traceloom, "info", "-q", "--at", str(at), stream], None),
            row("the same without snapshots, convert --to none", convert + ["none"] + there[:2] + [tools["alone"]], None)]


def timed(command, output=None):
    begin = time.monotonic()
    with open(output or os.devnull, "wb") as file:
        subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def executed(args, app, stream, function):
    """How many instructions of a function there are."""
    rows = json.loads(output_of(args.traceloom, "report", "-q", "--json", "--by", "func", "-e", app, stream))["functions"]
    return next(found["self"] for found in rows if found["name"] == function)


def peers(args, tools):
    """The alternative to such streams: QEMU's log as text, of a small run of the same program. And disagreements."""
    log, words = os.path.join(args.folder, "qemu.log"), ["200", "16", "1"]
    emulate = ["qemu-aarch64", "-cpu", "neoverse-n1", "-singlestep"]
    write = timed(emulate + ["-d", "exec,nochain,in_asm", "-D", log, tools["app"]] + words)
    count = int(output_of("grep", "-c", "^Trace ", log))
    text = os.path.join(args.folder, "grepped")
    grep = min(timed(["grep", "-c", "^Trace .* sort_numbers$", log], text) for _ in range(3))
    with open(text, encoding="ascii") as file:
        grepped = int(file.read())
    folder = os.path.join(args.folder, "small.xtrace")
    ours = timed([args.traceloom, "record", "--insn", "-q", "-f", "-o", folder, tools["app"]] + words)
    stream = next(os.path.join(folder, name) for name in os.listdir(folder) if "xinsndata" in name)
    asked = min(timed([args.traceloom, "report", "-q", "--by", "func", "-e", tools["app"], stream]) for _ in range(3))
    found = executed(args, tools["app"], stream, "sort_numbers")
    sizes = os.path.getsize(log), os.path.getsize(stream)
    lines = ["| of %.2f M instructions | QEMU's log, `-d exec,nochain,in_asm` | stream | ratio |" % (count / M), "|---|---:|---:|---:|",
             "| bytes an instruction | %.1f | %.1f | %.1f |" % (sizes[0] / count, sizes[1] / count, sizes[0] / sizes[1]),
             "| seconds to record | %.2f | %.2f | %.1f |" % (write, ours, write / ours),
             "| seconds to find how many are in one function: grep, report --by func | %.3f | %.3f | %.1f |" % (grep, asked, grep / asked),
             "| accesses, values, system calls, registers | no | yes | |"]
    os.unlink(log)
    return lines, [] if grepped == found else ["DIFFERENT NUMBERS: sort_numbers has %d instructions, in QEMU's log %d" % (found, grepped)]


def reference_line(args, stream):
    """The speed of the reference reader in Python, if it is available."""
    tool = os.path.join(os.environ.get("TL_SHARED", ""), "tools", "xtrace_reference.py")
    if not os.environ.get("TL_SHARED") or not os.path.exists(tool):
        return []
    part = os.path.join(args.folder, "part.xinsndata.bin")
    subprocess.run([args.traceloom, "convert", "-q", "-f", "--to", "xtrace", "--insns", "0..%d" % FOR_REFERENCE, "-o", part, stream], check=True)
    seconds = timed([sys.executable, "-B", tool, "report", "--by", "mix", part])
    return ["", "A plain reader in Python (report --by mix, %d instructions): %.2f M instructions a second." % (
        FOR_REFERENCE, FOR_REFERENCE / M / seconds)]


def totals(args, *options):
    """Instructions and accesses, as `info` counts them."""
    classes = {c["name"]: c["events"] for c in json.loads(output_of(args.traceloom, "info", "-q", "--json", *options))["classes"]}
    return classes.get("insn", 0), classes.get("load", 0) + classes.get("store", 0)


def agree(args, tools, stream, files, at):
    """Checks that all read the same; otherwise the ratios mean nothing."""
    out = []

    def same(what, got, expected):
        if got != expected:
            out.append("DIFFERENT NUMBERS: %s: %s, not %s" % (what, got, expected))

    limit = {mode: output_of(tools["limit_xtrace"], mode, stream) for mode in ("walk", "mix", "block")}
    by_hand = {mode: tuple(int(n) for n in re.findall(r"\b\d+(?= )", text)) for mode, text in limit.items()}
    same("the sums of the library", output_of(tools["iterate_xtrace"], "walk", stream), limit["walk"])
    for path in (stream,) + files:
        same("info of " + os.path.basename(path), totals(args, path), by_hand["walk"][:2])
    mix = json.loads(output_of(args.traceloom, "report", "-q", "--json", "--by", "mix", stream))
    same("report --by mix", (mix["instructions"], mix["loads"]["bytes"], mix["stores"]["bytes"]), by_hand["mix"])
    blocks = json.loads(output_of(args.traceloom, "report", "-q", "--json", "--by", "block", stream))["blocks"]
    same("report --by block", (sum(b["executions"] * b["instructions"] for b in blocks), len(blocks)), by_hand["block"])
    with open(tools["said"], encoding="ascii") as file:
        said = {name: int(n) for name, n in (line.split("\t") for line in file) if name != "result"}
    rows = json.loads(output_of(args.traceloom, "report", "-q", "--json", "--by", "func", "-e", tools["app"], stream))["functions"]
    same("report --by func", {row["name"]: row["calls"] for row in rows if row["name"] in said}, said)
    listing = output_of(args.traceloom, "convert", "-q", "-o", "-", "--to", "listing", "--insns", "%d..%d" % (at, at + 10), stream)
    same("a listing of ten", [int(line.split()[0]) for line in listing.splitlines()], list(range(at, at + 10)))
    return out


def rates(rows, accesses):
    """The target per second: a rate, or a quarter of the hand-written one."""
    best = {c.name: c for c in rows if c.ok()}
    lines = []
    for ours, least, of_what, theirs in RATES:
        c, demanded = best[ours], ">= %d M" % (least // M)
        count = accesses if of_what.startswith("loads") else c.count
        rate = count / c.best()
        good = rate >= least
        if theirs:
            ratio = best[theirs].best() / c.best()
            demanded += ", or %g of %s, which is %.2f" % (QUARTER, theirs, ratio)
            good = good or ratio >= QUARTER
        lines.append(bar_line("%s, %s a second" % (ours, of_what), "%.0f M" % (rate / M), "%.0f M" % (count / M / min(c.cpu)), demanded, good))
    return lines


def prepare(args):
    """Streams and their conversions; None if recording is impossible."""
    rounds, quick = (1, "-quick") if args.quick else (9, "")
    one = record(args.folder, "one" + quick, "", 20000, 96, rounds)
    two = record(args.folder, "two" + quick, "", 20000, 96, max(1, rounds // 4), 2)
    if not one or not two:
        return None
    stream, base = one[0], os.path.join(args.folder, "one" + quick)
    single = made(base + "-single.xinsndata.bin.zst", stream, ["zstd", "-3", "-q", "-f", "-T1", stream, "-o", base + "-single.xinsndata.bin.zst"])
    ours = base + "-ours.xinsndata.bin.zst"
    made(ours, stream, [args.traceloom, "convert", "-q", "-f", "--to", "xtrace", stream, "-o", ours])
    alone = base + "-alone.xinsndata.bin"
    if os.path.lexists(alone):
        os.unlink(alone)
    os.symlink(stream, alone)
    tools = {"app": os.path.join(args.folder, "app"), "said": base + ".txt", "alone": alone}
    return stream, os.path.dirname(two[0]), (single, ours), tools


def describe(groups, stream, two, files, accesses, at):
    """The tables, each under its heading."""
    insns, size = groups[0][0].count, os.path.getsize(stream)
    of_two = sum(os.path.getsize(os.path.join(two, name)) for name in os.listdir(two) if "xinsndata" in name)
    titles = ["Instruction stream of %.0f MB: %.1f M instructions and %.1f M loads and stores of a real program" % (size / MB, insns / M, accesses / M),
              "The same compressed, in one frame of zstd -3 (%.1f MB) and as we write it (%.1f MB)" % tuple(os.path.getsize(path) / MB for path in files),
              "A folder of two streams, %.1f M instructions" % (groups[2][0].count / M),
              "Seeking to instruction {:,}, with snapshots every million instructions".format(at)]
    shown = [(size, WALK), (size, PLAIN), (of_two, None), (None, None)]
    lines = []
    for title, rows, (length, limit) in zip(titles, groups, shown):
        lines += ["", "### " + title, ""] + table(rows, length, limit, "instruction")
    return lines


def main():
    args = arguments(__doc__, "xtrace", 5, "a stream of a tenth, twice")
    ready = prepare(args)
    if ready is None:
        print("xtrace.py: not measured: there is no QEMU with plugins here that could record the streams")
        return 0
    stream, two, files, tools = ready
    measure = build(args.folder, "measure")
    tools.update(limit_xtrace=build(args.folder, "limit_xtrace"), limit_zstd=build(args.folder, "limit_zstd", "-lzstd"),
                 iterate_xtrace=build_with_library(args, "iterate_xtrace"))
    (insns, accesses), (in_two, _) = totals(args, stream), totals(args, two)
    at = insns // 4 * 3 if args.quick else 80 * M
    wrong = agree(args, tools, stream, files, at)
    groups = [plain_rows(args, tools, stream, insns), zstd_rows(args, tools, files, insns), two_rows(args, two, in_two),
              seek_rows(args, tools, stream, at)]
    rows = [c for group in groups for c in group]
    in_turns(rows, measure, args.repeat, args.slow)
    peer, differences = peers(args, tools)
    wrong += differences
    lines = introduction(args) + describe(groups, stream, two, files, accesses, at)
    lines += ["", "### Beside QEMU's log", ""] + peer + reference_line(args, stream)
    lines += ["", "### Instruction streams: what is promised", ""] + bars(rows, BARS) + rates(rows, accesses) + [""]
    lines += wrong or ["traceloom, the hand-written programs, the program itself and QEMU's log say the same numbers."]
    return finish(args, "xtrace", lines, wrong + [c.name for c in rows if not c.ok()])


if __name__ == "__main__":
    sys.exit(main())
