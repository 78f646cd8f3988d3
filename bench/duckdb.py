#!/usr/bin/env python3
"""SQL by DuckDB: `query --engine duckdb` with one and two threads, beside loops over the same cursors and beside SQLite.

    duckdb.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the logs if they are not there (record.sh). The library is that of $TRACELOOM_DUCKDB, or of the package in build-node
(tools/install-deps.sh test)."""
import csv
import os
import sys

from bench_tools import BAR_HEAD, TOP, Command, arguments, bar_line, build, build_with_library, finish, in_turns, introduction, output_of, table
from xray import record

LOGS = {"10m": (4, 1600, 1200, 16384), "100m": (4, 16000, 12000, 16384)}
LIBRARY = os.path.join(TOP, "build-node", "node_modules", "@duckdb", "node-bindings-linux-x64", "libduckdb.so")
NONE, MOST = "convert --to none, 1 thread", 2
# (name, SQL, the loop beside it)
QUERIES = (
    ("count(*) FROM calls", "SELECT count(*) AS n FROM calls", "loop: count"),
    ("sum(dur)", "SELECT sum(dur) AS s FROM calls", "loop: sum"),
    ("calls GROUP BY function_id", "SELECT function_id, count(*) AS n, sum(dur) AS s FROM calls GROUP BY function_id", "loop: group"),
    ("calls GROUP BY name", "SELECT name, count(*) AS n, sum(dur) AS s FROM calls GROUP BY name", "loop: group"),
    ("count(*), max(ts) FROM events", "SELECT count(*) AS n, max(ts) AS t FROM events", NONE),
    ("events GROUP BY function_id", "SELECT function_id, count(*) AS n, max(ts) AS t FROM events GROUP BY function_id", NONE),
    ("events GROUP BY name", "SELECT name, count(*) AS n, max(ts) AS t FROM events GROUP BY name", NONE),
)
START = "SELECT 1"


def words(args, engine, threads, path, sql):
    return [args.traceloom, "query", "-q", "--engine", engine, "--threads", str(threads), "--memory", "4G", "--to", "csv", path, sql]


def rows_of(args, loops, path):
    rows = [Command("loop: " + mode, [loops, mode, path]) for mode in ("count", "sum", "group")]
    rows.append(Command(NONE, [args.traceloom, "convert", "-q", "--threads", "1", "--to", "none", "-o", "-", path]))
    for threads in (1, 2):
        rows.append(Command("%s, DuckDB, %d" % (START, threads), words(args, "duckdb", threads, path, "SELECT 1 AS one")))
    for name, sql, _ in QUERIES:
        rows += [Command("%s, DuckDB, %d" % (name, threads), words(args, "duckdb", threads, path, sql)) for threads in (1, 2)]
        rows.append(Command("%s, SQLite" % name, words(args, "sqlite", 2, path, sql), once=True))
    return rows


def agree(args, path):
    """Both engines, with any number of threads, must find the same rows."""
    wrong = []
    for name, sql, _ in QUERIES:
        found = [sorted(csv.reader(output_of(*words(args, engine, threads, path, sql)).splitlines())) for engine, threads in (("sqlite", 1), ("duckdb", 1), ("duckdb", 2))]
        if found[1:] != found[:1] * 2:
            wrong.append("DIFFERENT ROWS of %s: %.200s by SQLite, %.200s" % (name, found[0], found[1:]))
    return wrong


def verdicts(rows):
    best, lines = {row.name: row for row in rows if row.ok()}, list(BAR_HEAD)
    start = best["%s, DuckDB, 2" % START]
    for name, _, loop in QUERIES:
        one, two, sqlite, peer = (best.get(key) for key in (name + ", DuckDB, 1", name + ", DuckDB, 2", name + ", SQLite", loop))
        if not (one and two and peer):
            lines.append(bar_line("%s / %s" % (name, loop), "not measured", "", "<= %d" % MOST, False))
            continue
        ratio = two.best() / peer.best()
        lines.append(bar_line("%s, 2 threads / %s" % (name, loop), "%.2f" % ratio, "%.2f" % (min(two.cpu) / min(peer.cpu)), "<= %d" % MOST, ratio <= MOST))
        lines.append(bar_line("the same without the start (%s)" % START, "%.2f" % ((two.best() - start.best()) / peer.best())))
        lines.append(bar_line("2 threads / 1 thread", "%.2f" % (two.best() / one.best()), "%.2f" % (min(two.cpu) / min(one.cpu))))
        if sqlite:
            lines.append(bar_line("SQLite / DuckDB, 2 threads", "%.1f" % (sqlite.best() / two.best()), "%.1f" % (min(sqlite.cpu) / min(two.cpu))))
    return lines


def main():
    args = arguments(__doc__, "", 7, "twice, and the log of 10 MB only")
    args.traceloom = os.path.abspath(args.traceloom)
    os.environ.setdefault("TRACELOOM_DUCKDB", LIBRARY)
    if not os.path.exists(os.environ["TRACELOOM_DUCKDB"]):
        print("NOT MEASURED: DuckDB is not in build-node", file=sys.stderr)
        return 0
    measure, loops = build(args.folder, "measure"), build_with_library(args, "iterate_calls")
    lines, wrong = introduction(args), []
    for log in list(LOGS)[:1] if args.quick else list(LOGS)[1:]:
        path = record(args.folder, log, *LOGS[log])
        wrong += agree(args, path)
        rows = rows_of(args, loops, path)
        in_turns(rows, measure, args.repeat, args.slow)
        events = int(output_of(args.traceloom, "query", "-q", "--to", "csv", path, "SELECT count(*) AS n FROM events").split()[1])
        calls = int(output_of(args.traceloom, "query", "-q", "--to", "csv", path, "SELECT count(*) AS n FROM calls").split()[1])
        for row in rows:
            row.count = None if row.name.startswith(START) else events if "events" in row.name or row.name == NONE else calls
        lines += ["", "### SQL by DuckDB over an FDR log of %.0f MB: %.1f million events, %.1f million calls" % (os.path.getsize(path) / 1e6, events / 1e6, calls / 1e6), ""]
        lines += table(rows, None, None, "row") + [""] + verdicts(rows)
    lines += [""] + (wrong or ["Loops have one thread. Both engines find the same rows."])
    return finish(args, "duckdb", lines, wrong)


if __name__ == "__main__":
    sys.exit(main())
