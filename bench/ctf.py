#!/usr/bin/env python3
"""Speed and memory of traceloom with traces of CTF, beside babeltrace2 and beside hand-written code, on the same bytes.

    ctf.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the trace with LTTng-UST if it is not there (record_lttng.sh), runs all commands in turns, N times, and keeps the
best time of each. --write puts the tables into bench/results.md, beside those of run.py."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import bench_results
from mix_metadata import text_of
from run import HERE, TOP, Command, build, machine

SKIP = 77
SLOW = 2                                # turns of what takes seconds
MIB = 1 << 20
# What is promised: (what, one command, the other, least or largest ratio of their times)
BARS = [
    ("all fields, merged by time, one thread", "babeltrace2 -o dummy", "convert --to none, 1 thread", ">=", 12),
    ("counting, one thread", "babeltrace2 -o dummy", "info, 1 thread", ">=", 25),
    ("text", "babeltrace2 as text", "convert to text", ">=", 8),
    ("text as babeltrace2 writes it", "babeltrace2 as text", "convert to text like babeltrace2", ">=", 8),
    ("the last 10,000 events", "babeltrace2 --begin near the end", "convert --time near the end", ">=", 100),
    ("beside hand-written code", "convert --to none, 1 thread", "hand-written: all fields, merged", "<=", 2.5),
    ("two threads", "convert --to none, 1 thread", "convert --to none, 2 threads", ">=", 1.7),
    ("two threads, counting", "info, 1 thread", "info, 2 threads", ">=", 1.7),
]
SEEK_SECONDS, PEAK = 0.020, 64 * MIB


def values(limit, *arguments):
    """What the hand-written program prints: name -> number"""
    text = subprocess.run([limit] + list(arguments), check=True, capture_output=True, text=True).stdout
    return {name: int(number) for name, number in (line.split("\t") for line in text.splitlines())}


def commands(args, limit, trace, second):
    times = values(limit, "--tail", trace)
    offset = int(re.search(r"\boffset = (-?\d+);", text_of(os.path.join(trace, "metadata"))).group(1))
    utc = times["tail"] + offset
    since = "%dns.." % (times["tail"] - times["begin"])
    convert = [args.traceloom, "convert", "-q", "-o", "-"]
    out = [Command("look at every byte", [limit, "--sum", trace], "ctf"),
           Command("hand-written: count", [limit, "--count", trace], "ctf"),
           Command("hand-written: all fields, merged", [limit, trace], "ctf")]
    for threads in (1, 2):
        more = ["--threads", str(threads)]
        name = ", %d thread%s" % (threads, "s" if threads > 1 else "")
        out += [Command("info" + name, [args.traceloom, "info", "-q", "--json"] + more + [trace], "ctf"),
                Command("convert --to none" + name, convert + ["--to", "none"] + more + [trace], "ctf")]
    out += [Command("the same with metadata of CTF 2, 1 thread", convert + ["--to", "none", "--threads", "1", second], "ctf"),
            Command("convert to text", convert + ["--to", "text", trace], "ctf"),
            Command("convert to text like babeltrace2", convert + ["--to", "text", "--text-style=babeltrace", trace], "ctf"),
            Command("convert to jsonl", convert + ["--to", "jsonl", trace], "ctf", once=True),
            Command("convert --time near the end", convert + ["--to", "text", "--time", since, trace], "ctf")]
    if shutil.which("babeltrace2"):
        out += [Command("babeltrace2 -o dummy", ["babeltrace2", trace, "-o", "dummy"], "ctf", once=True),
                Command("babeltrace2 as text", ["babeltrace2", trace], "ctf", once=True),
                Command("babeltrace2 --begin near the end",
                        ["babeltrace2", "--begin=%d.%09d" % divmod(utc, 10**9), trace], "ctf", once=True)]
    return out


def agree(args, limit, trace, second):
    """All must have seen the same events, or the ratios mean nothing."""
    with open(os.path.join(args.folder, "fired"), encoding="ascii") as file:
        fired = {name: int(number) for name, number in (line.split("\t") for line in file)}
    out = []
    for path in (trace, second):
        reply = subprocess.run([args.traceloom, "info", "--json", path], check=True, capture_output=True, text=True)
        found = {c["name"]: c["events"] for c in json.loads(reply.stdout)["classes"] if c["events"]}
        out.append("" if found == fired else "DIFFERENT COUNTS in %s: %s, the program fired %s" % (path, found, fired))
    for mode in ([], ["--count"]):
        found = {name: n for name, n in values(limit, *mode, trace).items() if name.startswith("mix:")}
        out.append("" if found == fired else "DIFFERENT COUNTS of the hand-written program %s" % mode)
    tail = values(limit, "--tail", trace)
    reply = subprocess.run([args.traceloom, "convert", "-q", "--to", "jsonl", "-o", "-", "--time",
                            "%dns.." % (tail["tail"] - tail["begin"]), trace], check=True, capture_output=True, text=True)
    lines = reply.stdout.count("\n")
    out.append("" if lines == 10000 else "DIFFERENT COUNTS: %d events are near the end, not 10,000" % lines)
    wrong = [line for line in out if line]
    return wrong or ["traceloom and the hand-written program find exactly the events that the traced program fired"]


def table(rows, events):
    lines = ["| command | time | ns an event | processor time | peak memory | result |", "|---|---:|---:|---:|---:|---|"]
    for c in rows:
        lines.append("| %s | %.3f s | %.1f | %.3f s | %.1f MB | %s |" % (
            c.name, c.best(), c.best() * 1e9 / events, min(c.cpu), c.peak / 1e6, "ok" if c.status == 0 else "fails, status %d" % c.status))
    return lines


def ratios(rows):
    best = {c.name: c for c in rows}
    lines = ["| bar | measured | by processor time | demanded | |", "|---|---:|---:|---:|---|"]
    for what, first, second, sense, bound in BARS:
        if first in best and second in best:
            ratio = best[first].best() / best[second].best()
            met = ratio >= bound if sense == ">=" else ratio <= bound
            work = "" if "2 threads" in second else "%.1f" % (min(best[first].cpu) / max(min(best[second].cpu), 1e-6))
            lines.append("| %s: %s / %s | %.1f | %s | %s %g | %s |" % (what, first, second, ratio, work, sense, bound, "yes" if met else "NO"))
    seek = best["convert --time near the end"].best()
    lines.append("| seeking with a warm index | %.1f ms | | < %.0f ms | %s |" % (seek * 1e3, SEEK_SECONDS * 1e3,
                                                                             "yes" if seek < SEEK_SECONDS else "NO"))
    peak = max(c.peak for c in rows if c.name.startswith(("info", "convert", "the same")))
    lines.append("| most memory of traceloom | %.1f MiB | | <= %d MiB | %s |" % (peak / MIB, PEAK // MIB, "yes" if peak <= PEAK else "NO"))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(TOP, "build-bench", "lttng"))
    parser.add_argument("--traceloom", default=os.path.join(TOP, "build", "traceloom"))
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="3 times")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    done = subprocess.run([os.path.join(HERE, "record_lttng.sh"), args.folder], check=False)
    if done.returncode == SKIP:
        print("ctf.py: not measured: there is no LTTng here that could record the trace")
        return 0
    if done.returncode:
        return done.returncode
    # An index of the trace is kept here, not in the user's cache.
    os.environ["XDG_CACHE_HOME"] = os.path.join(args.folder, "cache")
    repeat = 3 if args.quick else args.repeat
    limit, measure = build(args.folder, "limit_ctf"), build(args.folder, "measure")
    trace, second = os.path.join(args.folder, "ctf18"), os.path.join(args.folder, "ctf2")
    agreed = agree(args, limit, trace, second)
    rows = commands(args, limit, trace, second)
    for turn in range(repeat):
        for command in rows:
            if turn < SLOW or not command.once:
                command.run(measure)
    size = sum(os.path.getsize(os.path.join(trace, name)) for name in os.listdir(trace) if name.startswith("ch0_"))
    events = sum(n for name, n in values(limit, "--count", trace).items() if name.startswith("mix:"))
    title = "## CTF: %.0f million events of 46 classes in random order, 2 streams, %.0f MB" % (events / 1e6, size / 1e6)
    lines = ["Machine: " + machine() + ".", "",
             "Best of %d runs in turns (of %d where seconds pass), files in the page cache; all text goes to /dev/null." % (repeat, SLOW),
             "", title, ""] + table(rows, events) + [""] + ratios(rows) + [""] + agreed
    text = "\n".join(lines)
    print(text)
    if args.write:
        bench_results.write("ctf", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
