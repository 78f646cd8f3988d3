#!/usr/bin/env python3
"""Statements that want more than to read: query_attacks.py PART

refused: what changes, writes, opens or loads; each ends with exit status 2 and a message. limits: what is too large, too
deep or too long; 2 or 5. Nothing may lie in the folder afterwards, and each must end soon. allowed: what looks alike, and
must work."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

TRACE = os.path.join(harness.SOURCE, "test", "golden", "input", "fdr-v5-le.xray")
SOON = 60  # seconds, on a machine that does other things; they are given 2
FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "

# (the statement, a part of the message): exit status 2.
REFUSED = [(sql, "statements can only read") for sql in (
    "CREATE TABLE t(a)", "CREATE TEMP TABLE t(a)", "CREATE TEMP TABLE t AS SELECT * FROM events", "CREATE VIEW v AS SELECT 1",
    "CREATE TEMP VIEW v AS SELECT 1",
    "CREATE VIRTUAL TABLE f USING fts5(a)", "CREATE VIRTUAL TABLE f USING rtree(a, b, c)", "CREATE VIRTUAL TABLE e USING events",
    "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 1, 'CREATE TABLE x(a)')", "INSERT INTO sqlite_temp_schema VALUES (1, 2, 3, 4, 5)",
    "ANALYZE", "SAVEPOINT s", "BEGIN", "BEGIN EXCLUSIVE", "COMMIT", "ROLLBACK", "RELEASE s",
    "ATTACH 'attached.db' AS a", "ATTACH ':memory:' AS a", "ATTACH 'file:x?mode=rwc' AS a", "DETACH main",
    "PRAGMA writable_schema = ON", "PRAGMA journal_mode = WAL", "PRAGMA temp_store_directory = '.'", "PRAGMA trusted_schema = ON",
    "PRAGMA mmap_size = 1000000000", "PRAGMA temp_store = 1", "PRAGMA query_only = 0", "PRAGMA user_version = 5",
    "PRAGMA hard_heap_limit = 0", "PRAGMA database_list", "PRAGMA integrity_check")]
REFUSED += [(sql, "may not be modified") for sql in (
    "UPDATE sqlite_schema SET sql = ''", "DELETE FROM sqlite_schema", "DELETE FROM sqlite_temp_schema",
    "UPDATE sqlite_master SET type = 'view'")]
REFUSED += [(sql, "not authorized|statements can only read") for sql in (
    "SELECT load_extension('./evil.so')", "SELECT load_extension('./evil.so', 'init')", "SELECT fts3_tokenizer('simple')",
    "SELECT zeroblob(1000000000)", "SELECT hex(randomblob(1000000000))", "SELECT sqlite_log(1, 'x')",
    "SELECT sqlite_compileoption_get(0)", "SELECT sqlite_compileoption_used('X')",
    "SELECT * FROM pragma_database_list", "SELECT * FROM pragma_function_list", "SELECT name FROM events ORDER BY load_extension('x')", "SELECT (SELECT max(zeroblob(5)) FROM events)",
    "WITH a AS (SELECT load_extension('x')) SELECT * FROM a", "VALUES (randomblob(10))", "SELECT LOAD_EXTENSION('x')")]
REFUSED += [(sql, "") for sql in (
    "VACUUM", "VACUUM INTO 'copy.db'", "VACUUM main INTO 'copy.db'", "REINDEX events", "CREATE TRIGGER x AFTER INSERT ON events BEGIN SELECT 1; END", "DROP TABLE events",
    "DROP TABLE IF EXISTS sqlite_schema", "ALTER TABLE events RENAME TO e", "ALTER TABLE events ADD COLUMN x",
    "INSERT INTO events(ts) VALUES (1)", "REPLACE INTO events(ts) VALUES (1)", "UPDATE events SET ts = 0", "DELETE FROM events",
    "INSERT INTO tables SELECT * FROM tables", "CREATE INDEX i ON events(ts)", "CREATE TABLE sqlite_x(a)",
    "SELECT readfile('/etc/passwd')", "SELECT writefile('written', 'x')", "SELECT edit('x', 'vi')", "SELECT * FROM fsdir('/')",
    "SELECT * FROM dbstat", "SELECT * FROM sqlite_dbpage", "SELECT * FROM generate_series(1, 1000000000)", "SELECT eval('DROP TABLE x')",
    "SELECT * FROM 'file.csv'", "SELECT * FROM '/etc/passwd'", ".shell rm -rf .", ".open new.db", ".load evil", ".output written",
    "COPY events TO 'written'", "EXPORT DATABASE 'x'", "SELECT 1 INTO OUTFILE 'written'", "SELECT \x01", "\xff\xfe", "'", '"', "(((((",
    "SELECT * FROM events WHERE ts = ?99999", "SELECT CASE", "SELECT 1; DROP TABLE events", "SELECT * FROM main.events; VACUUM INTO 'x.db'")]


def long_in(count):
    return "SELECT count(*) FROM events WHERE function_id IN (%s)" % ",".join(map(str, range(count)))


# (the statement, a part of the message, options): exit status 2 or 5.
TIME, MEMORY = ["--timeout", "2s"], ["--memory", "16M", "--timeout", "4s"]
TOO_LONG = "time limit"
TOO_MUCH = "memory|too big|" + TOO_LONG  # whichever comes first on a slow machine
LIMITS = [
    (FOREVER + "SELECT count(*) FROM n", TOO_LONG, TIME),
    (FOREVER + "SELECT i FROM n WHERE i < 0", TOO_LONG, TIME),
    (FOREVER + "SELECT count(*) FROM events WHERE ts IN (SELECT i FROM n)", TOO_MUCH, MEMORY),
    ("SELECT count(*) FROM events AS a, events AS b, events AS c, events AS d, events AS e WHERE a.ts + b.ts + c.ts + d.ts + e.ts = -1", TOO_LONG, TIME),
    ("SELECT max(a.ts) FROM events a CROSS JOIN events b CROSS JOIN events c CROSS JOIN events d", TOO_LONG, TIME),
    ("SELECT printf('%.*c', 1000000000, 'x')", TOO_MUCH, MEMORY),
    ("SELECT length(replace(replace(replace(replace(printf('%1000d', 0), ' ', printf('%1000d', 0)), ' ', printf('%1000d', 0)), ' ', "
     "printf('%1000d', 0)), ' ', 'xxxxxxxxxxxxxxxxxxxxx'))", TOO_MUCH, MEMORY),
    ("SELECT length(hex(hex(hex(hex(hex(hex(hex(hex(printf('%1000000d', 1))))))))))", TOO_MUCH, MEMORY),
    ("SELECT length(quote(printf('%60000000d', 1)) || quote(printf('%60000000d', 1)))", TOO_MUCH, []),
    (FOREVER + "SELECT length(group_concat(i)) FROM n", TOO_MUCH, MEMORY),
    (FOREVER + "SELECT length(group_concat(printf('%100000d', i))) FROM n", TOO_MUCH, MEMORY),
    (FOREVER + "SELECT json_group_array(printf('%100000d', i)) FROM n", TOO_MUCH, MEMORY),
    (FOREVER + "SELECT json_group_object(i, printf('%100000d', i)) FROM n", TOO_MUCH, MEMORY),
    (FOREVER + "SELECT count(DISTINCT printf('%100000d', i)) FROM n", TOO_MUCH, MEMORY),
    ("WITH RECURSIVE d(s) AS (SELECT 'xxxxxxxxxxxxxxxx' UNION ALL SELECT s || s FROM d) SELECT max(length(s)) FROM d", TOO_MUCH, MEMORY),
    (FOREVER + "SELECT percentile(i, 50) FROM n", "64 MiB|time limit", ["--timeout", "60s"]),
    ("SELECT 1 WHERE 'x' LIKE '%s'" % ("%a" * 600), "pattern too complex", []),
    ("SELECT 1 WHERE 'x' GLOB '%s'" % ("*a" * 600), "pattern too complex", []),
    ("SELECT 'a' REGEXP '%s'" % ("a" * 300), "256 bytes", []),
    ("SELECT 'a' REGEXP '(a{1,255}){1,255}'", "not a pattern", []),
    ("SELECT 'a' REGEXP '('", "not a pattern", []),
    ("SELECT " + "(" * 300 + "1" + ")" * 300, "", []),
    ("SELECT " + "-" * 0 + "NOT " * 500 + "1", "depth|overflow", []),
    ("SELECT " + "1+" * 500 + "1", "depth", []),
    ("SELECT " + "abs(" * 400 + "1" + ")" * 400, "depth|overflow", []),
    ("SELECT " + "(SELECT " * 300 + "1" + ")" * 300, "", []),
    (" UNION ALL ".join(["SELECT 1"] * 101), "too many terms in compound SELECT", []),
    (" UNION ".join(["SELECT 1 FROM events"] * 101), "too many terms", []),
    ("SELECT " + ",".join(["1"] * 2001), "too many columns", []),
    ("SELECT count(*) FROM " + ",".join("tracks t%d" % i for i in range(65)), "64 tables", []),
    ("SELECT max(%s)" % ",".join(["1"] * 17), "too many arguments", []),
    ("SELECT ?1000", "variable number", []),
    ("SELECT " + " + ".join(":p%d" % i for i in range(1000)), "too many SQL variables|depth", []),
    ("SELECT '%s'" % ("x" * (1 << 20)), "1 MiB", []),
    (" " * ((1 << 20) + 1), "1 MiB", []),
    ("SELECT json_extract('%s', '$')" % ("[" * 3000), "", []),
    ("SELECT json_extract('[1]', '$%s')" % ("[0" * 100), "", []),
    ("SELECT json_valid(printf('%.*c', 60000000, '['))", TOO_MUCH, MEMORY),
    ("WITH " + ",".join("a%d AS (SELECT * FROM %s, %s)" % (i, "a%d" % (i - 1) if i else "tracks", "a%d" % (i - 1) if i else "tracks") for i in range(12)) +
     " SELECT count(*) FROM a11", "", TIME),
    ("SELECT sum(v) FROM (SELECT 9223372036854775807 AS v UNION ALL SELECT 1)", "integer overflow", []),
    ("SELECT abs(-9223372036854775808)", "integer overflow", []),
    ("SELECT ns('x')", "not a duration", []),
    ("SELECT floor_to(5, 0)", "step", []),
    ("SELECT percentile(ts, 101) FROM events", "between 0 and 100", []),
    (FOREVER + "SELECT count(*) FROM n, call_stats('function', i) AS s", "", TIME),
    (FOREVER + "SELECT sum((SELECT count(*) FROM event_counts('class', i))) FROM n", "", TIME),
    (FOREVER + "SELECT count(*) FROM n, hist_buckets((SELECT hist(j) FROM (SELECT i AS j UNION ALL SELECT 7))) AS b", "", TIME),
    (FOREVER + "SELECT hist(i * 1000003 % 4611686018427387904) FROM n", "", TIME),
    ("SELECT calls FROM call_stats(printf('%.*c', 60000000, 'x'))", "too long", []),
    ("SELECT calls FROM hist_buckets(CAST(printf('%.*c', 60000000, 'x') AS BLOB))", "too long", []),
    ("SELECT hist_count(CAST(printf('%.*c', 60000000, char(1)) AS BLOB))", "histogram", []),
    ("SELECT stack_text(1, 1, printf('%.*c', 60000000, 'x'))", "separator", []),
    (FOREVER + "SELECT count(*) FROM n, stack(1, i) AS s", "", TIME),
    (FOREVER + "SELECT sum((SELECT count(*) FROM reuse(1 << (i % 16), i))) FROM n", "power of two|time limit", TIME),
    (FOREVER + "SELECT count(*) FROM n, cache_levels('l1d=' || i || ':1:64')", "", TIME),
    ("SELECT count(*) FROM cache_levels(printf('%.*c', 60000000, 'x'))", "too long", []),
    ("SELECT utc_ns(printf('%.*c', 60000000, '1'))", "not a date", []),
    (FOREVER + "SELECT max(utc_ns(utc(i * 1000000007))) FROM n", TOO_LONG, TIME),
    ("SELECT case " + " ".join("when ts = %d then %d" % (i, i) for i in range(60000)) + " end FROM events", "", []),
]

# Exit status 0.
ALLOWED = ["SELECT count(*) FROM events", ";;; -- nothing\n;", "/* nothing", "\n-- nothing", "REINDEX", long_in(20000), "SELECT 'ATTACH', \"name\" FROM events",
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT max(i) FROM n",
           " UNION ALL ".join(["SELECT 1"] * 100), "SELECT " + ",".join(["1"] * 2000), "SELECT max(%s)" % ",".join(["1"] * 16),
           "SELECT 1 WHERE 'x' LIKE '%s'" % ("a" * 1000), "SELECT 1 WHERE 'x' GLOB '%s'" % ("a" * 1000), "SELECT " + "1+" * 150 + "1",
           "SELECT 'a' REGEXP '%s'" % ("a" * 256), "SELECT length('%s')" % ("x" * ((1 << 20) - 100)),
           "SELECT length(printf('%60000000d', 1))", "SELECT length(printf('%900000000d', 1))", "SELECT * FROM sqlite_schema", "SELECT date('now') > '2000'", "SELECT count(*) FROM json_each('[1,2]')"]


class Attack:
    def __init__(self, folder):
        self.folder, self.checks = folder, harness.Checks()

    def run(self, sql, options=()):
        """Its result, and whether it ended soon."""
        began = time.monotonic()
        if "\x00" not in sql and len(sql) < 100000:
            words = [TRACE, sql + " "]
            stdin = None
        else:
            words, stdin = [TRACE], sql.encode()
        result = harness.run("query", "--to", "jsonl", *options, *words, cwd=self.folder, stdin=stdin, timeout=600)
        self.checks.that(time.monotonic() - began < SOON, sql[:100], "took %.1f s" % (time.monotonic() - began))
        self.checks.equal(os.listdir(self.folder), [], sql[:100], "made a file")
        return result

    def refused(self, sql, message, options=(), statuses=(2,)):
        result = self.run(sql, options)
        text = result.err.decode(errors="replace").replace("traceloom: functions have no names; -e names the binary that was traced\n", "")
        self.checks.that(result.status in statuses, sql[:200], "status", result.status, text[-300:], result.out[-200:])
        self.checks.that(re.search(r"[a-z]{3}", text) and re.search(message, text), sql[:200], "says", text[-300:], "not", message)


def main():
    part = sys.argv[1]
    if b"without SQLite" in harness.run("query", TRACE, "SELECT 1").err:
        harness.skip("this build has no SQL")
    with harness.work_folder() as folder:
        attack = Attack(folder)
        if part == "refused":
            for sql, message in REFUSED:
                attack.refused(sql, message)
        elif part == "limits":
            for sql, message, options in LIMITS:
                attack.refused(sql, message, options, (2, 5))
        else:
            for sql in ALLOWED:
                result = attack.run(sql)
                attack.checks.equal(result.status, 0, sql[:100], result.err[-300:])
        attack.checks.end()


if __name__ == "__main__":
    main()
