#!/usr/bin/env python3
"""Files of columns: all events by `convert --to parquet`, beside reading them and zstd of the bare columns; results of SQL by
`query --to parquet` and `arrow`, beside CSV; both beside the files that DuckDB makes of the same rows.

    columns.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the logs if they are not there (record.sh). DuckDB is the package in build-node (tools/install-deps.sh test)."""
import os
import shutil
import subprocess
import sys

from bench_tools import BAR_HEAD, TOP, Command, arguments, bar_line, build, finish, in_turns, introduction, output_of, recorded, table
from xray import record

LOGS = {"10m": (4, 1600, 1200, 16384), "100m": (4, 16000, 12000, 16384)}
SQL = "SELECT ts, dur, self, depth, track_id, thread, function_id, name FROM calls"
NUMBERS = ("WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
           "SELECT i * 137 AS ts, i * 2654435761 %% 65536 AS dur, i %% 32 AS tid, (i * 40503 %% 70921) * (i * 40503 %% 70921) / 1006000 AS fn FROM n")
DUCKDB = os.path.join(TOP, "build-node", "node_modules")
COPY = """import { createRequire } from 'node:module';
const require = createRequire(process.argv[1] + '/x.js');
const { DuckDBInstance } = require('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
for (const version of ['V1', 'V2'])
  await connection.run(`COPY (SELECT ${process.argv[3]} FROM '${process.argv[2]}') TO '${process.argv[2]}.${version}' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION ${version})`);
console.log((await rows(`SELECT count(*) FROM '${process.argv[2]}'`))[0][0]);
"""
MIB = 1 << 20


def query(args, name, path, sql, to, output="/dev/null"):
    return Command(name, [args.traceloom, "query", "-q", "--force", "--threads", "1", "--memory", "1G", "--to", to, path, sql, "-o", output])


def sizes(args, words, selected="*"):
    """Bytes of our file, and of DuckDB's of the same rows, of which it selects what is said; and how many rows it finds."""
    file = os.path.join(args.folder, "bench.parquet")
    subprocess.run([args.traceloom, *words, "-q", "--force", "-o", file], check=True)
    found = {"ours": os.path.getsize(file)}
    if not shutil.which("node") or not os.path.isdir(os.path.join(DUCKDB, "@duckdb", "node-api")):
        print("NOT MEASURED: DuckDB is not in build-node", file=sys.stderr)
        return found, None
    rows = int(output_of("node", "--input-type=module", "-e", COPY, DUCKDB, file, selected).split()[-1])
    for version in ("V1", "V2"):
        found[version] = os.path.getsize(file + "." + version)
        os.unlink(file + "." + version)
    os.unlink(file)
    return found, rows


def size_lines(found, what=""):
    lines = []
    for version in ("V1", "V2"):
        if version in found:
            ratio = found["ours"] / found[version]
            lines.append(bar_line("size%s: ours, %.1f MB / DuckDB's, zstd, %s" % (what, found["ours"] / 1e6, version), "%.2f" % ratio, "", "<= 1.1", ratio <= 1.1))
    return lines


def times_of_day(args):
    """Sizes of the events of a trace whose clock knows the time of day. DuckDB keeps microseconds of a time that is adjusted to UTC,
    and nanoseconds only of one that is not: of its second files `utc` has the values that ours has."""
    folder = os.path.join(args.folder, "lttng-small")
    if not recorded("record_lttng.sh", folder, 300000):
        return []
    trace = os.path.join(folder, "ctf18")
    names = output_of(args.traceloom, "query", "-q", "--to", "csv", "--rows", "0", trace, "SELECT * FROM events WHERE 0").strip().split(",")
    words = ["query", "--memory", "1G", trace, "SELECT %s FROM events ORDER BY ts, id"]
    whole, rows = sizes(args, words[:-1] + [words[-1] % "*"])
    same, _ = sizes(args, words[:-1] + [words[-1] % ", ".join("utc + 0 AS utc" if name == "utc" else name for name in names)], "* REPLACE (make_timestamp_ns(utc) AS utc)")
    alone, _ = sizes(args, words[:-1] + [words[-1] % "utc"])
    same_alone, _ = sizes(args, words[:-1] + [words[-1] % "utc + 0 AS utc"], "make_timestamp_ns(utc) AS utc")
    lines = ["", "### Size of the events of a trace of LTTng, with the time of day: %.1f million rows" % ((rows or 0) / 1e6), ""] + list(BAR_HEAD)
    for version in [version for version in ("V1", "V2") if version in whole]:
        for what, ours, theirs, other in (("all columns", whole, same, whole), ("utc alone", alone, same_alone, alone)):
            ratio = ours["ours"] / theirs[version]
            lines.append(bar_line("%s: ours, %.2f MB / DuckDB's with the same values (TIMESTAMP_NS), zstd, %s" % (what, ours["ours"] / 1e6, version), "%.2f" % ratio, "",
                                  "<= 1.1", ratio <= 1.1))
            lines.append(bar_line("%s: ours / DuckDB's, whose utc has microseconds, zstd, %s" % (what, version), "%.2f" % (ours["ours"] / other[version])))
    return lines


def events(args, measure, small, path):
    """convert: lines, and whether DuckDB finds other rows."""
    def convert(name, to, trace, output="/dev/null"):
        return Command(name, [args.traceloom, "convert", "-q", "--force", "--threads", "1", "--to", to, trace, "-o", output])
    bare = os.path.join(args.folder, "bench.arrows")
    subprocess.run([args.traceloom, "query", "-q", "--force", "--memory", "1G", path, "SELECT * FROM events", "-o", bare], check=True)
    rows = [convert("convert --to parquet", "parquet", path), convert("convert --to none", "none", path), convert("convert --to csv", "csv", path),
            Command("zstd -3 of the bare columns", ["zstd", "-q", "-3", "-T1", "-f", bare, "-o", "/dev/null"]), convert("convert --to parquet, a small log", "parquet", small)]
    in_turns(rows, measure, args.repeat, args.slow)
    count = int(output_of(args.traceloom, "query", "-q", "--to", "csv", path, "SELECT count(*) AS n FROM events").split()[1])
    for row in rows[:4]:
        row.count = count
    parquet, none, _, zstd, few = rows
    limit, work = none.best() + zstd.best(), min(none.cpu) + min(zstd.cpu)
    lines = ["", "### All events of an FDR log of %.0f MB: %.1f million rows of 20 columns, %.0f MB as they are in memory"
             % (os.path.getsize(path) / 1e6, count / 1e6, os.path.getsize(bare) / 1e6), ""] + table(rows, None, None, "row") + [""] + list(BAR_HEAD)
    lines.append(bar_line("--to parquet / (--to none + zstd of the columns)", "%.2f" % (parquet.best() / limit), "%.2f" % (min(parquet.cpu) / work),
                          "<= 1.5", min(parquet.cpu) <= 1.5 * work))
    lines.append(bar_line("memory of a log ten times as large" if not args.quick else "memory twice", "%.1f MiB, x%.2f" % (parquet.peak / MIB, parquet.peak / few.peak), "",
                          "<= x1.5", parquet.peak <= 1.5 * few.peak))
    # DuckDB keeps microseconds of `utc`: its file has other values there.
    names = output_of(args.traceloom, "query", "-q", "--to", "csv", "--rows", "0", path, "SELECT * FROM events WHERE 0").strip().split(",")
    found, rows_found = sizes(args, ["query", "--memory", "1G", path, "SELECT %s FROM events ORDER BY ts" % ", ".join(name for name in names if name != "utc")])
    lines += size_lines(found, " without utc, of which DuckDB keeps microseconds")
    os.unlink(bare)
    return lines, ["DIFFERENT COUNTS: DuckDB finds %d events, %d were written" % (rows_found, count)] if rows_found not in (None, count) else []


def main():
    args = arguments(__doc__, "", 3, "twice, and the log of 10 MB only")
    args.traceloom = os.path.abspath(args.traceloom)
    measure = build(args.folder, "measure")
    lines, small = introduction(args), record(args.folder, "10m", *LOGS["10m"])
    path = small if args.quick else record(args.folder, "100m", *LOGS["100m"])
    of_events, wrong = events(args, measure, small, path)
    lines += of_events + times_of_day(args)
    cases = (("the calls of an FDR log of %.0f MB" % (os.path.getsize(path) / 1e6), path, SQL, None),
             ("10 million rows of whole numbers, made by SQL", small, NUMBERS % 9999999, NUMBERS % 999999))
    for title, trace, sql, fewer in cases:
        rows = [query(args, "--to " + to, trace, sql, to) for to in ("parquet", "arrow", "csv", "jsonl")]
        rows.append(Command("count(*): reading and SQL alone", [args.traceloom, "query", "-q", "--threads", "1", "--memory", "1G", trace,
                                                               "SELECT count(*), " + ("max(ts), max(dur)" if fewer else "max(name), sum(self)") + " FROM (%s)" % sql]))
        if fewer:
            rows.append(query(args, "--to parquet, a tenth of the rows", trace, fewer, "parquet"))
        in_turns(rows, measure, args.repeat, args.slow)
        found, count = sizes(args, ["query", trace, sql])
        expected = int(output_of(args.traceloom, "query", "-q", "--to", "csv", "--memory", "1G", trace, "SELECT count(*) AS n FROM (%s)" % sql).split()[1])
        for row in rows:
            row.count = expected if "tenth" not in row.name else expected // 10
        lines += ["", "### Columns of %s: %.1f million rows" % (title, expected / 1e6), ""] + table(rows, None, None, "row") + [""] + list(BAR_HEAD)
        lines += size_lines(found)
        best = {row.name: row for row in rows}
        ratio = best["--to parquet"].best() / best["--to csv"].best()
        lines.append(bar_line("--to parquet / --to csv", "%.2f" % ratio, "%.2f" % (min(best["--to parquet"].cpu) / min(best["--to csv"].cpu))))
        if fewer:
            many, few = best["--to parquet"].peak, best["--to parquet, a tenth of the rows"].peak
            lines.append(bar_line("memory of ten times the rows", "%.1f MiB, x%.2f" % (many / MIB, many / few), "", "<= x1.5", many <= 1.5 * few))
        if count is not None and count != expected:
            wrong.append("DIFFERENT COUNTS: DuckDB finds %d rows, %d were written" % (count, expected))
    lines += [""] + (wrong or ["DuckDB finds as many rows as were written; `consumers.columns` compares all values of smaller files."])
    return finish(args, "columns", lines, wrong)


if __name__ == "__main__":
    sys.exit(main())
