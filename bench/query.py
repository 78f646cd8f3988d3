#!/usr/bin/env python3
"""SQL over traces: `query` beside loops over the same cursors, beside `report`, and beside loading a database first.

    query.py [--folder DIR] [--repeat N] [--write] [--quick] [--largest 100m]

Makes the traces if they are not there (record.sh, record_lttng.sh, tracelog_gen.c, record_xtrace.sh), runs all commands
in turns, N times, and keeps the best time of each. Commands have one thread, but for the decoding that `query` does
beside SQL."""
import json
import os
import shutil
import subprocess
import sys

import tracelog
import xtrace
from bench_tools import (HERE, MB, Command, arguments, bar_line, bars, build, build_with_library, finish, in_turns, introduction, made, numbers,
                         output_of, recorded, table)
from xray import llvm_xray, record

LOGS = {"10m": (4, 1600, 1200, 16384), "100m": (4, 16000, 12000, 16384), "1g": (4, 165000, 100000, 16384)}
PAUSES = ("WITH RECURSIVE pause(t, e) AS (SELECT 0, {width} UNION ALL SELECT t + {step}, t + {step} + {width} FROM pause LIMIT 1000), "
          "p AS MATERIALIZED (SELECT * FROM pause) ")
# (name, the SQL, the row that it is compared with, the most times its processor time)
QUERIES = [
    ("function_stats", "SELECT * FROM function_stats", "report --by func", 1.1),
    ("call_stats by function, steps of 1 s", "SELECT * FROM call_stats('function', ns('1s'))", "report --by func", 2),
    ("call_stats by function, 1,000 steps", "SELECT * FROM call_stats('function', {step})", "report --by func", 2),
    ("count(*) FROM calls", "SELECT count(*) FROM calls", "loop: count", 2),
    ("sum(dur)", "SELECT sum(dur) FROM calls", "loop: sum", 3),
    ("the 10 longest", "SELECT ts, dur, thread, function_id FROM calls ORDER BY dur DESC LIMIT 10", "loop: sum", None),
    ("GROUP BY function_id", "SELECT function_id, sum(dur) FROM calls GROUP BY function_id", "loop: group", 6),
    ("GROUP BY name", "SELECT name, sum(dur) FROM calls GROUP BY name", "loop: group", 10),
    ("GROUP BY +function_id, sorted by SQLite", "SELECT function_id, sum(dur) FROM calls GROUP BY +function_id", "loop: group", None),
    ("calls that overlap 1,000 pauses", PAUSES + "SELECT sum(overlap(p.t, p.e, calls.ts, calls.end_ts)) FROM p JOIN calls ON calls.ts < p.e AND calls.end_ts > p.t",
     "sum(dur)", 5),
    ("one event", "SELECT * FROM events LIMIT 1", None, None),
]
SORTED, UNSORTED = "GROUP BY function_id", "GROUP BY +function_id, sorted by SQLite"
PYTHON = "/usr/bin/python3"     # the one that has the bindings of babeltrace2
LOADED = "sqlite3: load the calls, then GROUP BY"
MIB = 1 << 20
EACH = 8  # logs
ALONE, ONE_JOB, TWO_JOBS = "one process after another", "--each", "--each --jobs 2"


def query(args, name, path, sql, *options):
    return Command(name, [args.traceloom, "query", "-q", *options, "--memory", "4G", "--threads", "1", "--to", "csv", path, sql])


def call_rows(args, loops, path, end):
    busy, words = os.path.join(args.folder, "busy"), {"step": max(end // 1000, 1), "width": max(end // 10000, 1)}
    rows = [Command("loop: " + mode, [loops, mode, path]) for mode in ("count", "sum", "group")]
    rows += [Command("report --by func", [args.traceloom, "report", "-q", "--threads", "1", "--by", "func", "--to", "csv", "-e", busy, path]),
             Command("info", [args.traceloom, "info", "-q", path])]
    rows += [query(args, name, path, sql.format(**words) if "{" in sql else sql, "-e", busy) for name, sql, peer, most in QUERIES]
    return rows


def load_rows(args, path):
    """What one does without `query`. The text is made by us, and its making does not count."""
    rows, calls = [], os.path.join(args.folder, os.path.basename(path) + ".csv")
    if shutil.which("sqlite3"):
        made(calls, path, [args.traceloom, "query", "-q", "--force", path, "SELECT ts, dur, self, thread, function_id, name FROM calls", "-o", calls])
        rows.append(Command(LOADED, ["sqlite3", ":memory:", "-cmd", ".import --csv %s calls" % calls,
                                     "SELECT function_id, sum(CAST(dur AS INTEGER)) FROM calls GROUP BY function_id"], once=True))
    if llvm_xray():
        rows.append(Command("llvm-xray convert to YAML, from which others load", [llvm_xray(), "convert", "-f", "yaml", path, "-o", "/dev/null"], once=True))
    return rows


def field_of(args, trace, name):
    """A field of a class that is a number."""
    rows = output_of(args.traceloom, "query", "-q", "--to", "jsonl", trace,
                     "SELECT table_name, fields.name AS field FROM fields JOIN classes USING (class_id) WHERE classes.name = '%s' AND type IN ('u64', 'i64')" % name)
    row = json.loads(rows.splitlines()[0])
    return row["table_name"], row["field"]


def ctf_rows(args, trace, fired):
    """And the rows' number of the one class, which is about 1 % of all."""
    name = min(fired, key=lambda c: abs(fired[c] / sum(fired.values()) - 0.01))
    tabled, field = field_of(args, trace, name)
    end = json.loads(output_of(args.traceloom, "info", "-q", "--json", trace))["end"]
    rows = [query(args, "all events of a CTF trace", trace, "SELECT count(*), max(ts) FROM events"),
            query(args, "1 % of its time", trace, "SELECT count(*), max(ts) FROM events WHERE ts BETWEEN %d AND %d" % (end // 2, end // 2 + end // 100)),
            query(args, "a field of one class", trace, 'SELECT count("%s"), sum("%s") FROM "%s"' % (field, field, tabled)),
            Command("convert --class, to none", [args.traceloom, "convert", "-q", "--threads", "1", "--class", name, "--to", "none", "-o", "-", trace])]
    if shutil.which("babeltrace2"):
        rows.append(Command("babeltrace2 -o dummy", ["babeltrace2", trace, "-o", "dummy"], once=True))
    return rows, fired[name], tabled


def agree(args, loops, path):
    """The loops and SQL must find the same calls, or the ratios mean nothing."""
    by_hand = numbers(output_of(loops, "group", path))
    out = output_of(args.traceloom, "query", "-q", "--memory", "4G", "--to", "jsonl", path,
                    "SELECT count(*) AS calls, sum(dur_ticks) AS ticks FROM calls WHERE dur IS NOT NULL;"
                    "SELECT function_id, sum(dur_ticks) AS ticks FROM calls WHERE dur IS NOT NULL GROUP BY 1")
    lines = [json.loads(line) for line in out.splitlines()]
    found = dict(lines[0], **{str(line["function_id"]): line["ticks"] for line in lines[1:]})
    return [] if found == by_hand else ["DIFFERENT CALLS in %s: %.300s by hand, %.300s" % (path, by_hand, found)]


def work(row):
    return max(min(row.cpu), 1e-6)


def verdicts(rows):
    """By processor time: `query` decodes in a second thread."""
    best, lines = {row.name: row for row in rows if row.ok()}, bars(rows, [])
    promises = [(name, peer, most) for name, sql, peer, most in QUERIES if peer and most] + [(SORTED, UNSORTED, 0.5), ("one event", "info", 1.2)]
    for name, peer, most in promises:
        if name in best and peer in best:
            lines.append(ratio_line(best[name], best[peer], most))
        else:
            lines.append(bar_line("%s / %s" % (name, peer), "not measured", "", "<= %g" % most, False))
    if LOADED in best and SORTED in best:
        ratio = best[LOADED].best() / best[SORTED].best()
        lines.append(bar_line("%s / %s" % (LOADED, SORTED), "%.1f" % ratio, "%.1f" % (work(best[LOADED]) / work(best[SORTED])), ">= 10", ratio >= 10))
    return lines


def ctf_verdicts(rows):
    best, lines = {row.name: row for row in rows if row.ok()}, bars(rows, [])
    for name, peer, most in (("1 % of its time", "all events of a CTF trace", 0.05), ("a field of one class", "convert --class, to none", 2)):
        lines.append(ratio_line(best[name], best[peer], most))
    return lines


def of_kind(args, path, by, sql, count, insns=None):
    """Of a trace that has no calls: the rows, and what is promised of them."""
    one = ["--threads", "1"]
    rows = [Command("report --by " + by, [args.traceloom, "report", "-q", *one, "--by", by, "--to", "csv", path]),
            query(args, sql.split()[-1], path, sql),
            Command("info", [args.traceloom, "info", "-q", path]),
            query(args, "one event", path, "SELECT * FROM events LIMIT 1"),
            query(args, "count(*) of " + count, path, "SELECT count(*) FROM " + count)]
    promised = [(rows[1], rows[0], 1.1), (rows[3], rows[2], 1.2)]
    if insns:
        rows.append(Command("loop: the sums of walk", [insns, "walk", path]))
        promised.append((rows[4], rows[5], 2))
    else:
        rows.append(Command("convert to none", [args.traceloom, "convert", "-q", *one, "--to", "none", "-o", "-", path]))
        promised.append((rows[4], rows[5], 2))
    return rows, promised


def others(args, measure, lines):
    """A TraceLog and an instruction stream of the size of the largest log."""
    small = args.quick or args.largest == "100m"
    log = tracelog.make_log(args.folder, build(args.folder, "tracelog_gen"), tracelog.TENTH if small else tracelog.LARGE)[0]
    groups = [("a TraceLog", log, of_kind(args, log, "func", "SELECT * FROM function_stats", "samples"))]
    stream = xtrace.record(args.folder, "one-quick" if small else "one", "", 20000, 96, 1 if small else 9)
    if stream:
        groups.append(("an instruction stream", stream[0],
                       of_kind(args, stream[0], "mix", "SELECT * FROM insn_mix", "instructions", build_with_library(args, "iterate_xtrace"))))
    for title, path, (rows, promised) in groups:
        in_turns(rows, measure, args.repeat, args.slow)
        size = os.path.getsize(path)
        lines += ["", "### SQL over %s of %.0f MB" % (title, size / MB), ""] + table(rows, size) + [""] + bars(rows, [])
        lines += [ratio_line(row, peer, most) for row, peer, most in promised]


def loaded(args, measure, lines):
    """The same answers by what people use today: another reader, and SQLite by Python."""
    script, pairs = os.path.join(HERE, "load_sqlite.py"), []
    if llvm_xray():
        log = os.path.join(args.folder, "10m.xray")
        pairs.append((query(args, "calls of 10 MB by function", log, "SELECT function_id, sum(dur_ticks) FROM calls GROUP BY function_id"),
                      Command("llvm-xray convert, loaded into sqlite3", [PYTHON, script, "xray", llvm_xray(), log], once=True)))
    small = os.path.join(args.folder, "lttng-small")
    if subprocess.run([PYTHON, "-c", "import bt2"], capture_output=True, check=False).returncode == 0 and recorded("record_lttng.sh", small, 300000):
        trace = os.path.join(small, "ctf18")
        pairs.append((query(args, "events of CTF by class", trace, "SELECT name, count(*) FROM events GROUP BY name"),
                      Command("babeltrace2's bindings, loaded into sqlite3", [PYTHON, script, "ctf", trace], once=True)))
    rows = [row for pair in pairs for row in pair]
    in_turns(rows, measure, args.repeat, args.slow)
    lines += ["", "### The same answers by other readers and sqlite3", ""] + table(rows) + [""] + bars(rows, [])
    lines += [bar_line("%s / %s" % (peer.name, row.name), "%.0f" % (peer.best() / row.best()), "%.0f" % (work(peer) / work(row)), ">= 50",
                       peer.best() >= 50 * row.best()) for row, peer in pairs]


def ratio_line(row, peer, most):
    ratio = work(row) / work(peer)
    return bar_line("%s / %s" % (row.name, peer.name), "%.2f" % (row.best() / peer.best()), "%.2f" % ratio, "<= %g" % most, ratio <= most)


def each_rows(args, path):
    """The same SQL over several logs: one process after another, and --each."""
    logs, sql = [path] * EACH, "SELECT name, sum(dur) AS total FROM calls GROUP BY name"
    words = [args.traceloom, "query", "-q", "--memory", "1G", "--threads", "1", "--to", "csv"]
    return [Command(ALONE, ["sh", "-c", 'sql=$1; shift; n=$1; shift; path=$1; shift; for i in $(seq "$n"); do "$@" "$path" "$sql"; done', "sh", sql, str(EACH), path, *words]),
            Command(ONE_JOB, words + ["--each", *logs, sql]), Command(TWO_JOBS, words + ["--each", "--jobs", "2", *logs, sql])]


def each_verdicts(rows):
    """By time: the work is the same. Decoding runs beside SQL already, so two jobs on two processors win less than a half."""
    best, lines = {row.name: row for row in rows if row.ok()}, bars(rows, [])
    for name, most in ((ONE_JOB, 1.1), (TWO_JOBS, 0.8)):
        ratio = best[name].best() / best[ALONE].best()
        lines.append(bar_line("%s / %s" % (name, ALONE), "%.2f" % ratio, "%.2f" % (work(best[name]) / work(best[ALONE])), "<= %g" % most, ratio <= most))
    return lines


def memory(small, large):
    """Of queries that only stream."""
    lines = []
    for name in ("count(*) FROM calls", "sum(dur)", "one event"):
        few, many = (next(row.peak for row in rows if row.name == name) for rows in (small, large))
        lines.append(bar_line("memory of %s" % name, "%.1f MiB, x%.2f of the smallest log" % (many / MIB, many / few), "", "<= x2, <= 64 MiB",
                              many <= 2 * few and many <= 64 * MIB))
    return lines


def main():
    args = arguments(__doc__, "", 5, "only the logs of 10 and 100 MB, twice", ("--largest", {"choices": list(LOGS)[1:], "default": "1g", "help": "the largest log"}))
    args.traceloom = os.path.abspath(args.traceloom)
    measure, loops = build(args.folder, "measure"), build_with_library(args, "iterate_calls")
    lines, wrong, groups = introduction(args), [], []
    for log in [name for name in LOGS if name != "1g" or not (args.quick or args.largest == "100m")]:
        path = record(args.folder, log, *LOGS[log])
        wrong += agree(args, loops, path)
        end = json.loads(output_of(args.traceloom, "info", "-q", "--json", path))["end"]
        rows = call_rows(args, loops, path, end) + (load_rows(args, path) if log == "100m" else [])
        in_turns(rows, measure, args.repeat, args.slow)
        groups.append(rows)
        calls, size = numbers(output_of(loops, "count", path))["calls"], os.path.getsize(path)
        for row in rows:
            row.count = None if row.name in ("one event", "info") else calls
        lines += ["", "### SQL over an FDR log of %.0f MB: %.2f million calls" % (size / MB, calls / 1e6), ""] + table(rows, size, None, "call")
        lines += [""] + (verdicts(rows) if log != "10m" else [])
    lines += memory(groups[0], groups[-1])
    rows = each_rows(args, os.path.join(args.folder, "10m.xray"))
    in_turns(rows, measure, args.repeat, args.slow)
    lines += ["", "### The same SQL over %d FDR logs of 10 MB" % EACH, ""] + table(rows) + [""] + each_verdicts(rows)
    ctf = os.path.join(args.folder, "lttng")
    if recorded("record_lttng.sh", ctf):
        with open(os.path.join(ctf, "fired"), encoding="ascii") as file:
            fired = numbers(file.read())
        trace = os.path.join(ctf, "ctf18")
        rows, count, tabled = ctf_rows(args, trace, fired)
        found = int(output_of(args.traceloom, "query", "-q", "--to", "csv", trace, 'SELECT count(*) AS n FROM "%s"' % tabled).split()[1])
        wrong += [] if found == count else ["DIFFERENT COUNTS of %s: %d, the program fired %d" % (tabled, found, count)]
        in_turns(rows, measure, args.repeat, args.slow)
        lines += ["", "### SQL over a CTF trace of %.1f million events" % (sum(fired.values()) / 1e6), ""] + table(rows) + [""] + ctf_verdicts(rows)
    others(args, measure, lines)
    loaded(args, measure, lines)
    lines += ["", "Bars are reached by processor time: `query` decodes in a second thread, beside SQL."]
    lines += [""] + (wrong or ["The loops and SQL find the same calls, and the events that the traced program fired."])
    return finish(args, "query", lines, wrong)


if __name__ == "__main__":
    sys.exit(main())
