#!/usr/bin/env python3
"""query: statements at each limit of SECURITY.md run, and those beyond it end with a documented exit status."""
import json
import os
import resource
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

TRACE = os.path.join(harness.SOURCE, "test", "golden", "input", "fdr-v5-le-plain.xray")
METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
stream { event.header := struct { u8 id; }; };
event { name = "%s"; id = 0; fields := struct { %s }; };
"""


def commas(n):
    return ",".join(["1"] * n)


def compound(n):
    return " UNION ALL ".join(["SELECT 1"] * n)


def wide(n):
    """n SELECTs of 1,900 columns that are read, about 4 instructions each."""
    return " UNION ALL ".join(["SELECT " + ",".join(["ts"] * 1900) + " FROM events WHERE 0"] * n)


# The limit, its text at n, the largest n that runs, the next one that does not, and the exit status of that.
LIMITS = [
    ("bytes of SQL", lambda n: "SELECT 1" + " " * (n - 8), 1 << 20, (1 << 20) + 1, 5),
    ("bytes of a value", lambda n: "SELECT length(x || substr(x, 1, %d)) FROM (SELECT printf('%%.*c', 34000000, 'x') AS x)" % (n - 34000000), 64 << 20, (64 << 20) + 1, 5),
    ("columns", lambda n: "SELECT " + commas(n), 2000, 2001, 2),
    ("depth of an expression", lambda n: "SELECT 1" + "+1" * (n - 1), 200, 201, 2),
    ("SELECTs in one", compound, 100, 101, 2),
    ("arguments", lambda n: "SELECT max(%s)" % commas(n), 16, 17, 2),
    ("bytes of a pattern", lambda n: "SELECT 'x' GLOB printf('%%.*c', %d, 'x')" % n, 1000, 1001, 2),
    ("bytes of a regular expression", lambda n: "SELECT 'x' REGEXP '%s'" % ("x" * n), 256, 257, 2),
    ("instructions", wide, 20, 100, 5),
]


def query(*words, sql=None):
    return harness.run("query", *words, stdin=sql.encode() if sql is not None else None)


def check_statements(checks):
    for name, text, most, beyond, status in LIMITS:
        done = query(TRACE, "--memory", "1G", sql=text(most))
        checks.that(done.status == 0, name, "at the limit:", done.status, done.err[:200])
        done = query(TRACE, "--memory", "1G", sql=text(beyond))
        checks.that(done.status == status and done.err and not done.out, name, "beyond it:", done.status, done.err[:200])


def check_parameters(checks):
    for n, status in ((999, 0), (1000, 2)):
        words = [word for i in range(n) for word in ("-p", "p%d=%d" % (i, i))]
        done = query(TRACE, *words, "--to", "jsonl", sql="SELECT " + "+".join(":p%d" % i for i in range(100)) + " AS s, " +
                     ", ".join(":p%d" % i for i in range(100, n)))
        checks.that(done.status == status, n, "parameters:", done.status, done.err[:200])
        checks.that(status or json.loads(done.out)["s"] == 4950, done.out[:100])


def check_time_and_memory(checks):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    done = query(TRACE, "--timeout", "50ms", sql=endless)
    checks.that(done.status == 5 and b"time" in done.err, done.status, done.err)
    heavy = "SELECT sum(length(a || b)) FROM (SELECT printf('%.*c', 8000000, 'x') AS a, printf('%.*c', 8000000, 'y') AS b)"
    checks.equal(query(TRACE, sql=heavy).status, 0, "within 256 MiB")
    done = query(TRACE, "--memory", "10M", sql=heavy)
    checks.that(done.status == 5 and b"memory" in done.err, done.status, done.err)


def check_no_files(checks):
    """What is sorted stays in memory: a process that may write no file sorts 30 MB."""
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i, printf('%300d', i) AS x FROM n"
    sort = "SELECT count(*) AS n, sum(length(x)) AS s FROM (%s ORDER BY i * 7919 %% 100003 LIMIT -1 OFFSET 1)" % rows
    group = "SELECT count(*) AS n, sum(length(x)) AS s FROM (SELECT x, count(*) FROM (%s) GROUP BY x)" % rows
    for sql, n in ((sort, 99999), (group, 100000)):
        words = harness.binary() + ["query", TRACE, "--to", "jsonl", sql]
        done = subprocess.run(words, capture_output=True, check=False, timeout=120, preexec_fn=forbid_files)
        checks.that(done.returncode == 0 and json.loads(done.stdout) == {"n": n, "s": 300 * n}, sql[:60], done)
        done = query(TRACE, "--memory", "10M", sql=sql)
        checks.that(done.status == 5 and b"memory" in done.err, "more than its memory:", done.status, done.err)


def check_long_paths(checks, folder):
    """Paths of a deep stack are a megabyte each: a block of rows ends before they take much."""
    depth, log = 1400, os.path.join(folder, "deep.log")
    with open(log, "w", encoding="ascii") as file:
        file.write('prf cfg CollectionMethod Instrumentation\nfun nam 0x1 "%s:a" "void" "()"\n' % ("A" * 450))
        for i in range(depth):
            file.write("sam str 0x1 %d 0 %d:%d 0x1:?\n" % (i, i, i))
        for i in range(depth, 0, -1):
            file.write("sam str 0x1 %d 0 %d:%d\n" % (2 * depth - i, i - 1, i))
    for what, table in (("path", "calls"), ("path", "places WHERE depth > 0"), ("path", "call_stats('place')"), ("stack", "stack_stats"), ("fields", "events")):
        words = harness.binary() + ["query", "-q", "--to", "jsonl", log, "SELECT count(*) AS n, max(length(%s)) AS most FROM %s" % (what, table)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, env=dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=16")) as process:
            out = process.stdout.read()
            usage = os.wait4(process.pid, 0)[2]
            process.returncode = 0
        row = json.loads(out)
        checks.that(row["n"] >= depth and row["most"] > 400 * depth, table, row)
        checks.that(usage.ru_maxrss < 250 << 10, table, "took", usage.ru_maxrss >> 10, "MiB")


def forbid_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def write_trace(folder, name, fields):
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata"), "w") as file:
        file.write(METADATA % (name, " ".join("u8 f%d;" % i for i in range(fields))))
    with open(os.path.join(folder, "stream"), "wb") as file:
        file.write(bytes([0] + [i % 251 for i in range(fields)]))


def check_columns(checks, folder):
    """Fields beyond the columns of a class's table are in events.fields."""
    for fields in (1893, 1894, 2500):
        path = os.path.join(folder, "fields%d" % fields)
        write_trace(path, "wide", fields)
        done = query(path, "--to", "jsonl", sql="SELECT * FROM event_wide; SELECT fields FROM events")
        if not checks.that(done.status == 0, fields, "fields:", done.status, done.err[:200]):
            continue
        row, whole = map(json.loads, done.text().splitlines())
        shown = min(fields, 1893)
        checks.equal(len(row), 7 + shown, "columns of", fields, "fields")
        checks.equal([row["f%d" % i] for i in range(shown)], [i % 251 for i in range(shown)], "values of", fields)
        checks.equal(whole["fields"]["f%d" % (fields - 1)], (fields - 1) % 251, "the last field")


def check_names(checks, folder):
    """A long name of a class is cut, and ends with the checksum of the whole."""
    for n in (100, 101):
        path = os.path.join(folder, "name%d" % n)
        write_trace(path, "a" * n, 1)
        done = query(path, "--to", "jsonl", sql="SELECT table_name FROM classes")
        name = json.loads(done.out)["table_name"]
        checks.that(name == "event_" + "a" * n if n == 100 else name[:107] == "event_" + "a" * 100 + "_" and len(name) == 115, n, name)
        done = query(path, "--to", "jsonl", sql="SELECT f0 FROM " + name)
        checks.equal(done.text(), '{"f0":0}\n', "rows of", name)


def check_equal_names(checks, folder):
    """20,000 classes that want the same name of a table, which took minutes."""
    path, signs = os.path.join(folder, "equal"), "!?.,;:-+*/"
    write_trace(path, "a", 1)
    with open(os.path.join(path, "metadata"), "a") as file:
        for i in range(1, 20000):
            file.write('event { name = "a%s"; id = %d; fields := struct { u8 x; }; };\n' % ("".join(signs[int(c)] for c in str(i)), i))
    done = query(path, "--to", "jsonl", sql="SELECT count(DISTINCT table_name) AS n, max(table_name = 'event_a_20000') AS last FROM classes")
    checks.equal(done.text(), '{"n":20000,"last":1}\n', "tables of equal names", done.err[:300])


def main():
    if not harness.built_with("SQLite"):
        harness.skip("this build has no SQL")
    checks = harness.Checks()
    check_statements(checks)
    check_parameters(checks)
    check_time_and_memory(checks)
    check_no_files(checks)
    with harness.work_folder() as folder:
        check_columns(checks, folder)
        check_names(checks, folder)
        check_equal_names(checks, folder)
        check_long_paths(checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
