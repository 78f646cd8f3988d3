#!/usr/bin/env python3
"""Speed and memory of traceloom with traces of CTF, beside babeltrace2 and beside hand-written code, on the same bytes.

    ctf.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the trace with LTTng-UST if it is not there (record_lttng.sh), runs all commands in turns, N times, and keeps the
best time of each. --write puts the tables into bench/results.md, beside those of run.py."""
import json
import os
import re
import shutil
import sys

from bench_tools import MB, Command, arguments, bar_line, bars, build, finish, in_turns, introduction, numbers, output_of, recorded, seconds_text, table, threads_of
from mix_metadata import text_of

MIB = 1 << 20
LIMIT, ALL, COUNT = "hand-written: all fields, merged", "convert --to none", "info"
# The targets: (what, one command, the other, sense and bound of the ratio of their times)
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


def values(limit, *words):
    """What the hand-written program prints: name -> number"""
    return numbers(output_of(limit, *words))


def seek(limit, trace):
    """Where the last 10,000 events begin: for us, after the begin of the trace; for babeltrace2, in UTC."""
    times = values(limit, "--tail", trace)
    offset = int(re.search(r"\boffset = (-?\d+);", text_of(os.path.join(trace, "metadata"))).group(1))
    return "%dns.." % (times["tail"] - times["begin"]), "--begin=%d.%09d" % divmod(times["tail"] + offset, 10**9)


def streams(trace):
    return sorted(os.path.join(trace, name) for name in os.listdir(trace) if name.startswith("ch0_"))


def commands(args, tools, trace, second, events):
    since, begin = seek(tools["limit_ctf"], trace)
    convert, limit = [args.traceloom, "convert", "-q", "-o", "-", "--to"], tools["limit_ctf"]

    def row(name, *words, part=False, **more):
        return Command(name, list(words), count=None if part else events, part=part, **more)

    rows = [row("look at every byte", tools["every_byte"], *streams(trace)), row("hand-written: count", limit, "--count", trace), row(LIMIT, limit, trace)]
    for threads in (1, 2):
        more = ["--threads", str(threads), trace]
        rows += [row("%s, %s" % (COUNT, threads_of(threads)), args.traceloom, "info", "-q", "--json", *more),
                 row("%s, %s" % (ALL, threads_of(threads)), *convert, "none", *more)]
    rows += [row("the same with metadata of CTF 2, 1 thread", *convert, "none", "--threads", "1", second),
             row("convert to text", *convert, "text", trace),
             row("convert to text like babeltrace2", *convert, "text", "--text-style=babeltrace", trace),
             row("convert to jsonl", *convert, "jsonl", trace, once=True),
             row("convert --time near the end", *convert, "text", "--time", since, trace, part=True)]
    if shutil.which("babeltrace2"):
        rows += [row("babeltrace2 -o dummy", "babeltrace2", trace, "-o", "dummy", once=True),
                 row("babeltrace2 as text", "babeltrace2", trace, once=True),
                 row("babeltrace2 --begin near the end", "babeltrace2", begin, trace, once=True, part=True)]
    return rows


def agree(args, limit, trace, second):
    """Checks that all saw the same events; otherwise the ratios mean nothing."""
    with open(os.path.join(args.folder, "fired"), encoding="ascii") as file:
        fired = numbers(file.read())
    out = []
    for path in (trace, second):
        reply = json.loads(output_of(args.traceloom, "info", "-q", "--json", path))
        found = {c["name"]: c["events"] for c in reply["classes"] if c["events"]}
        out.append("" if found == fired else "DIFFERENT COUNTS in %s: %s, the program fired %s" % (path, found, fired))
    for mode in ([], ["--count"]):
        found = {name: n for name, n in values(limit, *mode, trace).items() if name.startswith("mix:")}
        out.append("" if found == fired else "DIFFERENT COUNTS of the hand-written program %s" % mode)
    lines = output_of(args.traceloom, "convert", "-q", "--to", "jsonl", "-o", "-", "--time", seek(limit, trace)[0], trace).count("\n")
    out.append("" if lines == 10000 else "DIFFERENT COUNTS: %d events are near the end, not 10,000" % lines)
    return [line for line in out if line]


def verdicts(rows):
    best = {c.name: c for c in rows}
    near = best["convert --time near the end"].best()
    peak = max(c.peak for c in rows if c.name.startswith(("info", "convert", "the same")))
    return bars(rows, BARS) + [
        bar_line("seeking with a warm index", seconds_text(near), "", "< " + seconds_text(SEEK_SECONDS), near < SEEK_SECONDS),
        bar_line("most memory of traceloom", "%.1f MiB" % (peak / MIB), "", "<= %d MiB" % (PEAK // MIB), peak <= PEAK)]


def main():
    args = arguments(__doc__, "lttng", 7, "twice")
    if not recorded("record_lttng.sh", args.folder):
        print("ctf.py: not measured: there is no LTTng here that could record the trace")
        return 0
    # An index of the trace is kept here, not in the user's cache.
    os.environ["XDG_CACHE_HOME"] = os.path.join(args.folder, "cache")
    tools = {name: build(args.folder, name) for name in ("limit_ctf", "every_byte", "measure")}
    trace, second = os.path.join(args.folder, "ctf18"), os.path.join(args.folder, "ctf2")
    wrong = agree(args, tools["limit_ctf"], trace, second)
    events = sum(n for name, n in values(tools["limit_ctf"], "--count", trace).items() if name.startswith("mix:"))
    rows = commands(args, tools, trace, second, events)
    in_turns(rows, tools["measure"], args.repeat, args.slow)
    size = sum(map(os.path.getsize, streams(trace)))
    lines = introduction(args) + ["", "### CTF: %.0f million events of 46 classes in random order, 2 streams, %.0f MB" % (events / 1e6, size / MB), ""]
    lines += table(rows, size, LIMIT) + [""] + verdicts(rows)
    lines += [""] + (wrong or ["traceloom and the hand-written program find exactly the events that the traced program fired."])
    return finish(args, "ctf", lines, wrong)


if __name__ == "__main__":
    sys.exit(main())
