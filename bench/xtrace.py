#!/usr/bin/env python3
"""Speed and memory of traceloom with instruction streams of aarch64, beside hand-written code and beside QEMU's own log.

    xtrace.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the streams if they are not there (record_xtrace.sh), runs all commands in turns, N times, and keeps the best
time of each. --quick takes a stream of a tenth. --write puts the tables into bench/results.md."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

import bench_results
from run import HERE, TOP, Command, build, machine

SKIP = 77
SLOW = 2                                # turns of what takes seconds
MB, M = 1000000, 1000000
PART = 5 * M                            # instructions of what is written as text for programs
FOR_REFERENCE = 300000                  # and of what a reader in Python gets
WALK, MIX, BLOCK = "hand-written: walk", "hand-written: mix", "hand-written: block"
PLAIN = "zstd's library in a loop"
# What is promised: (what, ours, whose rate, least ratio, or None: only told)
RATIOS = [
    ("every event, of the hand-written rate", "library: key ^ aux of every event", WALK, 0.5),
    ("the same, telling classes apart", "library: the sums of walk", WALK, None),
    ("the same with every field", "library: every field", WALK, None),
    ("compressed, one frame, every event", "zstd -3: library: key ^ aux", PLAIN, 0.6),
    ("compressed, one frame, 1 thread", "zstd -3: mix, 1 thread", PLAIN, 0.6),
    ("compressed, one frame, 2 threads", "zstd -3: mix, 2 threads", PLAIN, 0.6),
    ("compressed, our frames, 1 thread", "our .zst: mix, 1 thread", PLAIN, None),
    ("compressed, our frames, 2 threads", "our .zst: mix, 2 threads", PLAIN, None),
    ("two streams, two threads", "two streams: mix, 2 threads", "two streams: mix, 1 thread", None),
    ("two streams, two threads", "two streams: block, 2 threads", "two streams: block, 1 thread", None),
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


class Row(Command):
    """A command that reads `insns` instructions."""

    def __init__(self, name, arguments, insns, **more):
        super().__init__(name, arguments, "xtrace", **more)
        self.insns = insns


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def record(folder, name, options, *arguments):
    """The streams and the snapshots' files of a recording; None where nothing can be recorded here."""
    done = subprocess.run([os.path.join(HERE, "record_xtrace.sh"), folder, name, options] + [str(a) for a in arguments], check=False)
    if done.returncode == SKIP:
        return None
    if done.returncode:
        sys.exit(done.returncode)
    path = os.path.join(folder, name)
    return [os.path.join(path, file) for file in sorted(os.listdir(path)) if "xinsndata" in file]


def build_with(folder, name, *flags):
    path = os.path.join(folder, name)
    subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-O3", "-march=native", "-I", os.path.join(TOP, "include"),
                    os.path.join(HERE, name + ".c")] + list(flags) + ["-o", path], check=True)
    return path


def build_library(args):
    """A program with the library of the same build as the command; what it needs is in the build's .pc file."""
    built = os.path.dirname(os.path.abspath(args.traceloom))
    with open(os.path.join(built, "traceloom.pc"), encoding="utf-8") as file:
        needs = re.search(r"^Libs.private: *(.*)$", file.read(), re.M).group(1).split()
    return build_with(args.folder, "iterate_xtrace", os.path.join(built, "libtraceloom.a"), *needs)


def made(path, source, command):
    """A file that is made of another one, unless it is there and newer."""
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(source):
        subprocess.run(command, check=True)
    return path


def plain_rows(args, tools, stream, insns):
    def traceloom(name, *arguments, count=insns, once=False, before=()):
        return Row(name, list(before) + [args.traceloom] + list(arguments) + [stream], count, once=once)

    report = ["report", "-q", "--threads", "1", "--by"]
    convert = ["convert", "-q", "-o", "-", "--to"]
    rows = [Row(name, [tools["limit_xtrace"], name.split()[-1], stream], insns) for name in (WALK, MIX, BLOCK)]
    rows += [Row("library: " + name, [tools["iterate_xtrace"], mode, stream], insns)
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
                       count=min(PART, insns), once=True)]
    return rows


def zstd_rows(args, tools, files, insns):
    single, ours = files
    rows = [Row(PLAIN, [tools["limit_zstd"], single], insns), Row("zstd -dc", ["zstd", "-dcq", single], insns),
            Row("zstd -3: library: key ^ aux", [tools["iterate_xtrace"], "sum", single], insns)]
    for name, path in (("zstd -3", single), ("our .zst", ours)):
        for threads in ("1", "2"):
            rows.append(Row("%s: mix, %s thread%s" % (name, threads, "s" if threads == "2" else ""),
                            [args.traceloom, "report", "-q", "--by", "mix", "--threads", threads, path], insns))
    return rows


def two_rows(args, folder, insns):
    return [Row("two streams: %s, %s thread%s" % (by, threads, "s" if threads == "2" else ""),
                [args.traceloom, "report", "-q", "--by", by, "--threads", threads, folder], insns)
            for by in ("mix", "block", "cache") for threads in ("1", "2")]


def seek_rows(args, tools, stream, at):
    there = ["--insns", "%d..%d" % (at, at + 10), stream]
    convert = [args.traceloom, "convert", "-q", "-o", "-", "--to"]
    return [Row("10 instructions, convert --to none", convert + ["none"] + there, 10),
            Row("10 instructions, convert to listing, without LLVM", ["env", "TRACELOOM_LLVM=off"] + convert + ["listing"] + there, 10),
            Row("info --at", ["env", "TRACELOOM_LLVM=off", args.traceloom, "info", "-q", "--at", str(at), stream], 1),
            Row("the same without snapshots, convert --to none", convert + ["none"] + there[:2] + [tools["alone"]], 10)]


def timed(command, output=None):
    begin = time.monotonic()
    with open(output or os.devnull, "wb") as file:
        subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def peers(args, tools):
    """What one has without such streams: QEMU's log as text, of a small run of the same program. And disagreements."""
    log, arguments = os.path.join(args.folder, "qemu.log"), ["200", "16", "1"]
    emulate = ["qemu-aarch64", "-cpu", "neoverse-n1", "-singlestep"]
    write = timed(emulate + ["-d", "exec,nochain,in_asm", "-D", log, tools["app"]] + arguments)
    count = int(output_of("grep", "-c", "^Trace ", log))
    text = os.path.join(args.folder, "grepped")
    grep = min(timed(["grep", "-c", "^Trace .* sort_numbers$", log], text) for _ in range(3))
    with open(text, encoding="ascii") as file:
        grepped = int(file.read())
    folder = os.path.join(args.folder, "small")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    plugin = os.path.join(args.folder, "xtrace_plugin.so")
    ours = timed(emulate + ["-plugin", "%s,out=%s,always=on" % (plugin, folder), tools["app"]] + arguments)
    stream = next(os.path.join(folder, name) for name in os.listdir(folder) if "xinsndata" in name)
    report = [args.traceloom, "report", "-q", "--json", "--by", "func", "-e", tools["app"], stream]
    asked = min(timed(report, text) for _ in range(3))
    with open(text, encoding="utf-8") as file:
        found = next(row["self"] for row in json.load(file)["functions"] if row["name"] == "sort_numbers")
    sizes = os.path.getsize(log), os.path.getsize(stream)
    lines = ["| of %.2f M instructions | QEMU's log, `-d exec,nochain,in_asm` | stream | ratio |" % (count / M), "|---|---:|---:|---:|",
             "| bytes an instruction | %.1f | %.1f | %.1f |" % (sizes[0] / count, sizes[1] / count, sizes[0] / sizes[1]),
             "| seconds to record | %.2f | %.2f | %.1f |" % (write, ours, write / ours),
             "| seconds to find how many are in one function: grep, report --by func | %.3f | %.3f | %.1f |" % (grep, asked, grep / asked),
             "| accesses, values, system calls, registers | no | yes | |"]
    os.unlink(log)
    return lines, [] if grepped == found else ["DIFFERENT NUMBERS: sort_numbers has %d instructions, in QEMU's log %d" % (found, grepped)]


def reference_line(args, stream):
    """The speed of the reader in Python that says what is right, where it is there."""
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
    """All must have read the same, or the ratios mean nothing."""
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


def table(rows, size, walk):
    lines = ["| command | time | instructions a second | of the stream a second | of the hand-written walk | processor time | peak memory | result |",
             "|---|---:|---:|---:|---:|---:|---:|---|"]
    for c in rows:
        if c.status != 0:
            lines.append("| %s | | | | | | | FAILS, status %d |" % (c.name, c.status))
            continue
        whole = c.insns == rows[0].insns
        lines.append("| %s | %.3f s | %.0f M | %s | %s | %.3f s | %.1f MB | ok |" % (
            c.name, c.best(), c.insns / M / c.best(), "%.0f MB" % (size / MB / c.best()) if whole else "",
            "%.2f" % (walk / c.best()) if whole and walk else "", min(c.cpu), c.peak / MB))
    return lines


def seek_table(rows, at):
    lines = ["| at instruction %d | time | processor time | peak memory | result |" % at, "|---|---:|---:|---:|---|"]
    for c in rows:
        lines.append("| %s | %.1f ms | %.1f ms | %.1f MB | %s |" % (
            c.name, c.best() * 1e3, min(c.cpu) * 1e3, c.peak / MB, "ok" if c.status == 0 else "FAILS, status %d" % c.status))
    return lines


def yes(good):
    return "yes" if good else "NO"


def bars(rows, accesses):
    best = {c.name: c for c in rows if c.status == 0}
    lines = ["| bar | measured | by processor time | demanded | reached |", "|---|---:|---:|---:|---|"]
    for what, ours, theirs, least in RATIOS:
        bar = "| %s: %s / %s " % (what, ours, theirs)
        if ours not in best or theirs not in best:
            lines.append("%s| not measured | | | %s |" % (bar, "NO" if least else ""))
            continue
        ratio = best[theirs].best() / best[ours].best()
        work = "" if "2 threads" in ours else "%.2f" % (min(best[theirs].cpu) / max(min(best[ours].cpu), 1e-6))
        lines.append("%s| %.2f | %s | %s | %s |" % (bar, ratio, work, ">= %g" % least if least else "", yes(ratio >= least) if least else ""))
    for ours, least, of_what, theirs in RATES:
        bar = "| %s, %s a second " % (ours, of_what)
        if ours not in best:
            lines.append("%s| not measured | | | NO |" % bar)
            continue
        c = best[ours]
        count = accesses if of_what.startswith("loads") else c.insns
        rate, demanded = count / c.best(), ">= %d M" % (least // M)
        good = rate >= least
        if theirs in best:
            ratio = best[theirs].best() / c.best()
            demanded += ", or %g of %s, which is %.2f" % (QUARTER, theirs, ratio)
            good = good or ratio >= QUARTER
        lines.append("%s| %.0f M | %.0f M | %s | %s |" % (bar, rate / M, count / M / min(c.cpu), demanded, yes(good)))
    return lines


def prepare(args):
    """Streams, and what is made of them; None where nothing can be recorded."""
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(TOP, "build-bench", "xtrace"))
    parser.add_argument("--traceloom", default=os.path.join(TOP, "build", "traceloom"))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a stream of a tenth, 3 times")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    args.folder = os.path.abspath(args.folder)
    os.makedirs(args.folder, exist_ok=True)
    ready = prepare(args)
    if ready is None:
        print("xtrace.py: not measured: there is no QEMU with plugins here that could record the streams")
        return 0
    stream, two, files, tools = ready
    measure = build(args.folder, "measure")
    tools.update(limit_xtrace=build(args.folder, "limit_xtrace"), limit_zstd=build_with(args.folder, "limit_zstd", "-lzstd"),
                 iterate_xtrace=build_library(args))
    (insns, accesses), (in_two, _) = totals(args, stream), totals(args, two)
    at = insns // 4 * 3 if args.quick else 80 * M
    agreed = agree(args, tools, stream, files, at)
    groups = [plain_rows(args, tools, stream, insns), zstd_rows(args, tools, files, insns), two_rows(args, two, in_two),
              seek_rows(args, tools, stream, at)]
    rows = [row for group in groups for row in group]
    repeat = 3 if args.quick else args.repeat
    for turn in range(repeat):
        for row in rows:
            if turn < SLOW or not row.once:
                row.run(measure)
    peer, wrong = peers(args, tools)
    agreed += wrong
    size, walk = os.path.getsize(stream), groups[0][0].best()
    single, ours = (os.path.getsize(path) for path in files)
    lines = ["Machine: " + machine() + ".", "",
             "Best of %d runs in turns (of %d where seconds pass), files in the page cache; all output goes to /dev/null." % (repeat, SLOW), "",
             "## Instruction stream of %.0f MB: %.1f M instructions and %.1f M loads and stores of a real program" % (size / MB, insns / M, accesses / M), ""]
    lines += table(groups[0], size, walk)
    lines += ["", "Compressed, one frame of zstd -3 (%.1f MB) and as we write it (%.1f MB):" % (single / MB, ours / MB), ""]
    lines += table(groups[1], size, walk)
    bytes_of_two = sum(os.path.getsize(os.path.join(two, name)) for name in os.listdir(two) if "xinsndata" in name)
    lines += ["", "A folder of two streams, %.1f M instructions:" % (in_two / M), ""] + table(groups[2], bytes_of_two, None)
    lines += ["", "Seeking, with snapshots every million instructions:", ""] + seek_table(groups[3], at)
    lines += ["", "Beside QEMU's log:", ""] + peer + reference_line(args, stream) + [""] + bars(rows, accesses) + [""]
    lines += agreed or ["traceloom, the hand-written programs, the program itself and QEMU's log say the same numbers"]
    text = "\n".join(lines)
    print(text)
    if args.write:
        bench_results.write("xtrace", text)
    return 0 if not agreed and all(c.status == 0 for c in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
