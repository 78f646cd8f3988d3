#!/usr/bin/env python3
"""`query --engine duckdb`: the same rows as SQLite, and nothing but reading.

query_duckdb.py PART: recipes, tables, functions, outputs, dialect, attacks, limits or library."""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
LIBRARY = os.path.join(os.environ.get("TL_NODE_MODULES", ""), "@duckdb", "node-bindings-linux-x64", "libduckdb.so")
FDR = "fdr-v5-le.xray"
TRACES = (FDR, "fdr-v5-le-messy.xray", "profile-le.xray", "tracelog-doc.log", "tracelog-vs.log", "tracelog-calls.log", "ctf-2", "ctf-sched", "ctf-18", "xtrace-user",
          "xtrace-cores", "rec-done.xray", "basic-v3-le.xray")
# Recipes that need them.
PARAMETERS = {"callers-of": ["name=#2"], "callees-of": ["name=#2"], "concurrency": ["name=#2"], "hist-diff": ["name=#2"], "field-top": ["class=xray.typed", "field=type"],
              "latency-between": ["from=xray.enter", "to=xray.exit", "from_field=id", "to_field=id"]}


def preload():
    """A sanitizer has to be there before the first library of C++, and that before it is asked for exceptions."""
    needed = subprocess.run(["ldd", *harness.binary()[-1:]], capture_output=True, text=True).stdout
    found = [w for line in needed.splitlines() for w in line.split() if w.startswith("/") and "san.so" in w]
    name = subprocess.run(["gcc", "-print-file-name=libstdc++.so.6"], capture_output=True, text=True).stdout.strip() if found else ""
    return {"LD_PRELOAD": ":".join(found + [name])} if os.path.isabs(name) else {}


ENVIRONMENT = {"TRACELOOM_DUCKDB": LIBRARY, **preload()}


def path(name):
    return os.path.join(INPUT, name)


def ask(engine, *words, env=None, **more):
    return harness.run("query", "--engine", engine, *words, env={**ENVIRONMENT, **(env or {})} if engine == "duckdb" else env, **more)


def same(checks, *words):
    """Rows, in whatever order ties have, messages and exit status."""
    a, b = ask("sqlite", *words), ask("duckdb", *words)
    rows = [sorted(c.out.split(b"\r\n")) if c.status == 0 else None for c in (a, b)]
    checks.equal((b.status, rows[1], b.err), (a.status, rows[0], a.err), *words)
    return len(rows[0] or [])


def recipes(checks):
    names = [line.split()[0] for line in harness.run("query", "--recipes").text().splitlines() if not line.startswith(" ")]
    rows = set()
    for trace in TRACES:
        for name in harness.some_of(trace, names, len(names) // 3):
            files = [path(trace)] * (2 if "diff" in name else 1)
            if same(checks, *files, "--recipe", name, *PARAMETERS.get(name, []), "--to", "csv") > 2:
                rows.add(name)
    checks.that(len(rows) > 20, "recipes with rows:", sorted(rows))
    for to in ("table", "jsonl", "json", "markdown"):
        a, b = (ask(engine, path(FDR), "--recipe", "function-stats", "--to", to) for engine in ("sqlite", "duckdb"))
        checks.equal(b.out, a.out, to)


def tables(checks):
    for trace in TRACES if harness.THOROUGH else (FDR, "tracelog-doc.log", "ctf-2", "xtrace-user", "profile-le.xray"):
        listed = harness.run("query", "-q", path(trace), "SELECT name FROM tables WHERE name NOT LIKE '%(%'", "--to", "csv").text().split()[1:]
        checks.that("events" in listed or trace.startswith("profile"), trace, listed)
        for table in listed if harness.THOROUGH else listed[::6] + ["calls", "places", "columns"]:
            same(checks, "-q", path(trace), "SELECT * FROM %s" % table, "--to", "csv")
    same(checks, path(FDR), path("tracelog-doc.log"), "SELECT trace, count(*) AS n FROM events GROUP BY trace", "--to", "csv")
    for threads in ("1", "2", "7"):
        same(checks, path(FDR), "SELECT name, thread, count(*) AS n, sum(dur) AS s, percentile(dur, 50) AS m, hist_percentile(hist(dur), 90) AS h FROM calls GROUP BY name, thread",
             "--threads", threads, "--to", "csv")
    # Selections: those of single events leave tables in parts, those of tracks do not.
    some = harness.run("query", "-q", path(FDR), "SELECT thread FROM events ORDER BY thread DESC LIMIT 1", "--to", "csv").text().split("\r\n")[1]
    for options in (("--time", "1us..2ms"), ("--class", "xray.e*"), ("--class", "xray.none"), ("--cpu", "1"), ("-F", "#2"), ("-F", "#2", "--time", "..1ms"), ("-t", some),
                    ("-t", "none"), ("--depth", "2"), ("--min-dur", "1us")):
        for table in ("events", "event_xray_typed", "calls"):
            same(checks, "-q", path(FDR), *options, "--threads", "3", "SELECT * FROM %s" % table, "--to", "csv")
    for sql in ("SELECT a.name, count(*) AS n FROM calls AS a JOIN events AS b ON a.id = b.id GROUP BY a.name", "SELECT path, stack_text(trace, place_id, '/') AS t FROM places",
                "SELECT name, place_id, path FROM calls", "SELECT c.name FROM calls AS c WHERE stack_contains(trace, place_id, '#2')",
                "SELECT p.name, b.low, b.calls FROM places AS p CROSS JOIN hist_buckets(p.hist, 1) AS b", "SELECT * FROM event_counts('class', 1000)",
                "SELECT path, p99 FROM call_stats('place')", "SELECT s.name FROM places AS p CROSS JOIN stack(p.trace, p.place_id) AS s"):
        same(checks, path(FDR), sql, "--to", "csv")


def functions(checks):
    values = ("NULL", "0", "1500000", "-1500000", "9223372036854775807", "'x'", "'1.5ms'", "'2026-01-31T12:00:00Z'", "2.5e0", "CAST('abc' AS BLOB)")
    for name in ("human", "bytes", "hex64", "u64", "utc", "hms", "ns", "utc_ns", "hist_count", "hist_sum", "demangle", "errno_name", "syscall_name"):
        for value in harness.some_of(name, values, 4):
            same(checks, path(FDR), "SELECT %s(%s) AS v" % (name, value), "--to", "csv")
    for text in ("human(1500, 'x')", "human(15, NULL)", "floor_to(17, 5)", "floor_to(-17, 5)", "floor_to(1, 0)", "overlap(1, 5, 3, 9)", "overlap(1, NULL, 3, 9)", "regexp('b+', 'abc')",
                 "regexp('{', 'abc')", "disassemble(3573751839, 4096)", "hist_percentile(x'00', 50)", "hist_diff(x'00', x'00')"):
        same(checks, path(FDR), "SELECT %s AS v" % re.sub(r"x'00'", "(SELECT hist(dur) FROM calls)", text), "--to", "csv")
    for sql in ("SELECT regexp(name, 'abc') AS r, name FROM calls", "SELECT percentile(dur, 101) AS p FROM calls", "SELECT percentile(name, 50) AS p FROM calls",
                "SELECT hist_count(hist_merge(hist)) AS n FROM places", "SELECT hist_merge(path) AS n FROM places", "SELECT hist(-1) AS n"):
        same(checks, path(FDR), sql, "--to", "csv")


def outputs(checks):
    sql = "SELECT name, ts, dur, self * 0.5e0 AS half, path, hist_count(NULL) AS n FROM calls ORDER BY id"
    with harness.work_folder() as folder:
        for suffix in ("parquet", "arrows", "csv", "jsonl", "json"):
            both = []
            for engine in ("sqlite", "duckdb"):
                out = os.path.join(folder, engine + "." + suffix)
                done = ask(engine, path(FDR), sql, "-f", "-o", out)
                if checks.equal(done.status, 0, suffix, done):
                    with open(out, "rb") as f:
                        both.append(f.read())
            checks.that(len(both) == 2 and both[0] == both[1], suffix, "differs")
        for engine in ("sqlite", "duckdb"):
            done = ask(engine, path(FDR), "--export", os.path.join(folder, engine), "--to", "csv")
            checks.equal(done.status, 0, done)
        names = [sorted(os.listdir(os.path.join(folder, engine))) for engine in ("sqlite", "duckdb")]
        checks.equal(names[1], names[0], "export")
        for name in names[0]:
            texts = []
            for engine in ("sqlite", "duckdb"):
                with open(os.path.join(folder, engine, name), "rb") as f:
                    texts.append(sorted(f.read().split(b"\r\n")))
            checks.that(texts[0] == texts[1], name, "differs")
        done = ask("duckdb", "--each", path(FDR), path("tracelog-doc.log"), "SELECT count(*) AS n FROM events", "--to", "csv")
        checks.equal(done.out, ask("sqlite", "--each", path(FDR), path("tracelog-doc.log"), "SELECT count(*) AS n FROM events", "--to", "csv").out, done)
        done = ask("duckdb", path(FDR), "SELECT :a AS a, :b AS b, :a AS c, '$x :y' AS d -- :z", "-p", "a=5us", "-p", "b=o'c", "--to", "jsonl")
        checks.equal(done.out, b'{"a":5000,"b":"o\'c","c":5000,"d":"$x :y"}\n', done)
        checks.that(b"parameter a has no value" in ask("duckdb", path(FDR), "SELECT :a AS a").err, "no value")
        done = ask("duckdb", path(FDR), "--explain", "SELECT name, count(*) FROM calls GROUP BY name")
        checks.that(done.status == 0 and b"TL_TABLE" in done.out, done)


def dialect(checks):
    """The table of docs/query.md."""
    with open(os.path.join(harness.SOURCE, "docs", "query.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| `(SELECT .*?)` \| (.*?) \| (.*?) \|", f.read(), re.M)
    checks.that(len(rows) >= 8, "rows of the table:", len(rows))
    for sql, *expected in rows:
        for engine, value in zip(("sqlite", "duckdb"), expected):
            done = ask(engine, path(FDR), sql.replace("\\|", "|"), "--to", "csv")
            text = done.out.decode().split("\r\n")[1] if done.status == 0 else "an error"
            checks.equal(text or "null", value, engine, sql, done)


READING = "statements can only read"
OFF = "disabled by configuration"
ATTACKS = (("SELECT * FROM read_text('/etc/passwd')", OFF), ("SELECT * FROM read_blob('/etc/passwd')", OFF), ("SELECT * FROM read_csv('/etc/passwd')", OFF),
           ("SELECT * FROM read_json('/etc/passwd')", OFF), ("SELECT * FROM '/etc/passwd'", "no table"), ("SELECT * FROM glob('/etc/*')", OFF),
           ("SELECT * FROM sniff_csv('/etc/passwd')", OFF), ("SELECT * FROM read_parquet('/etc/passwd')", OFF), ("SELECT * FROM duckdb_secrets()", OFF),
           ("COPY (SELECT 1) TO '{}/x.csv'", READING), ("/* */ COPY (SELECT 1) TO '{}/x.csv'", READING), ("INSTALL httpfs", READING), ("LOAD httpfs", READING),
           ("ATTACH '{}/x.db'", READING), ("DETACH memory", READING), ("USE memory", READING), ("PRAGMA database_list", READING), ("PRAGMA enable_profiling", READING),
           ("SET enable_external_access = true", READING), ("RESET memory_limit", READING), ("SET threads = 64", READING), ("CREATE TABLE t(a INTEGER)", READING),
           ("CREATE TEMP TABLE t AS SELECT 1", READING), ("INSERT INTO t VALUES (1)", READING), ("UPDATE t SET a = 1", READING), ("DELETE FROM t", READING),
           ("EXPORT DATABASE '{}/x'", READING), ("IMPORT DATABASE '{}/x'", READING), ("CALL enable_logging()", READING), ("DROP MACRO call_stats", READING),
           ("VACUUM t", READING), ("CREATE SECRET s (TYPE s3)", READING), ("PREPARE x AS SELECT 1", READING), ("EXPLAIN ANALYZE SELECT 1", READING),
           ("SELECT * FROM enable_logging(storage := 'stdout')", "enable_logging"), ("FROM \"Enable_Profiling\" /* */ ()", "Enable_Profiling"),
           ("SELECT * FROM query('SELECT 1')", "function: query"), ("FROM query_table('calls')", "query_table"), ("FROM arrow_scan(1, 2, 3)", "arrow_scan"),
           ("FROM json_execute_serialized_sql('x')", "json_execute"), ("SELECT * FROM checkpoint()", "checkpoint"), ("SELECT write_log('x')", "write_log"),
           ("SELECT 1); SELECT (2", "syntax error"), ("SELECT getenv('HOME')", "no function getenv"), ("SELECT * FROM tl_table('/etc/passwd', NULL, NULL)", "no such table"),
           ("WITH x AS (INSERT INTO calls VALUES (1)) SELECT 1", ""), ("SELECT 1 INTO t", ""))


def attacks(checks):
    with harness.work_folder() as folder:
        home = {"HOME": folder}
        for sql, said in ATTACKS:
            done = ask("duckdb", path(FDR), sql.replace("{}", folder), "--to", "csv", env=home, cwd=folder)
            checks.that(done.status == 2 and said in done.err.decode(), sql, done)
            checks.equal((done.out, os.listdir(folder)), (b"", []), sql)
        done = ask("duckdb", path(FDR), "SELECT 1 AS a; COPY (SELECT 1) TO '%s/x.csv'" % folder, "--to", "csv", env=home, cwd=folder)
        checks.that(done.status == 2 and READING in done.err.decode(), done)
        # Literals of values end where they end.
        for value in ("' OR 1=1 --", "\\", "''; COPY (SELECT 1) TO 'x'; --", "$$", "\"", "x\ny"):
            done = ask("duckdb", path(FDR), "SELECT :v AS v, 2 AS w", "-p", "v=" + value, "--to", "jsonl")
            checks.equal(done.status == 0 and done.json(), {"v": value, "w": 2}, value, done)
        checks.equal(os.listdir(folder), [], "files")


def limits(checks):
    for sql, said in (("SELECT list(i) FROM range(100000000) t(i)", b"more memory than its limit; --memory SIZE allows more"),
                      ("SELECT count(*) FROM (SELECT DISTINCT i, i::VARCHAR || 'x' FROM range(50000000) t(i))", b"more memory than its limit"),
                      ("SELECT repeat('x', 100000000) AS x", b"string or blob too big"), ("SELECT '" + "x" * (1 << 20) + "'", b"too big")):
        if len(sql) < 100000:
            done = ask("duckdb", path(FDR), sql, "--memory", "64M", "--to", "csv")
        else:
            done = ask("duckdb", path(FDR), "--query-file", "-", stdin=sql.encode())
        checks.that(done.status in (5, 2) and (said in done.err or b"1 MiB" in done.err), sql[:80], done)
    endless = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r"
    for sql in (endless, "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range * b.range % 7 = 8",
                "SELECT count(*) FROM calls a, calls b, calls c, calls d, calls e, calls f, calls g WHERE a.ts + b.ts + c.ts + d.ts * e.ts + f.ts - g.ts = -1"):
        done = ask("duckdb", path(FDR), sql, "--timeout", "300ms", "--memory", "1G", "--to", "csv")
        checks.that(done.status == 5 and b"it took longer than its time limit" in done.err, sql, done)
    process = subprocess.Popen(harness.binary() + ["query", "--engine", "duckdb", path(FDR), endless, "--to", "csv"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, **ENVIRONMENT})
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=300)[1]
    checks.that(process.returncode == 5 and b"interrupted" in said, "^C", process.returncode, said)


def library(checks):
    """What is said where there is none, or another one."""
    done = harness.run("query", "--engine", "duckdb", path(FDR), "SELECT 1", env={"TRACELOOM_DUCKDB": "/nowhere/libduckdb.so"})
    checks.that(done.status == 2 and b"/nowhere/libduckdb.so cannot be loaded" in done.err, done)
    with harness.work_folder() as folder:
        other = os.path.join(folder, "libduckdb.so")
        with open(os.path.join(folder, "other.c"), "w", encoding="utf-8") as f:
            f.write("int duckdb_library_version(void) { return 0; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", other, os.path.join(folder, "other.c")], check=True)
        done = harness.run("query", "--engine", "duckdb", path(FDR), "SELECT 1", env={"TRACELOOM_DUCKDB": other})
        checks.that(done.status == 2 and b"libduckdb 1.1 or later is needed" in done.err, done)
    done = harness.run("query", "--engine", "postgres", path(FDR), "SELECT 1")
    checks.that(done.status == 2 and b"sqlite" in done.err and b"duckdb" in done.err, done)


def main():
    if b"SQLite" not in harness.run("--version").out:
        harness.skip("this build has no SQL")
    if not os.path.exists(LIBRARY):
        harness.skip("DuckDB is not in build-node (tools/install-deps.sh test)")
    if b"ELF" in (tried := ask("duckdb", path(FDR), "SELECT 1 AS a", "--to", "csv")).err or b"cannot be loaded" in tried.err:
        harness.skip("DuckDB is for another processor")
    checks = harness.Checks()
    globals()[sys.argv[1]](checks)
    checks.end()


main()
