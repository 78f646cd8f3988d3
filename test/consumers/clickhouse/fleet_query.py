#!/usr/bin/env python3
"""traceloom query --server and two real servers: fleet_query.py TRACELOOM CASE

What a server answers is what `query` answers from the files."""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet  # noqa: E402
from fleet import INPUT, TRACES, big_trace, harness, run  # noqa: E402

# Values of parameters that have no default, or whose default finds nothing in these traces.
WORDS = {"callees-of": ["name=#2"], "callers-of": ["name=#11"], "concurrency": ["name=#11"], "hist-diff": ["name=#11"],
         "gaps": ["min=1"], "outliers": ["times=2"], "working-set": ["step=10"], "event-rate": ["step=1ms"], "cpu-by-thread": ["step=1ms"],
         "p99-by-path": ["step=10us"]}
# Other values for the same recipe, each a run of its own. Fields: texts, numbers, objects and lists, with escapes, dots
# and other letters in names and values; absent ones, and those that are in the context only.
MORE = {"field-top": [["class=" + c, "field=" + f, "top=100"] for c, f in (
            ("cls.nam", "className"), ("gch.alt", "alt_item"), ("sam.str", "frames"), ("prov0:event0", "größe9"), ("prov3:event3", "event.same"),
            ("prov3:event3", "f13"), ("prov3:event1", "f9"), ("prov3:event1", "f8"), ("prov3:event3", "f19"), ("prov0:event3", "größe18"),
            ("prov3:func_entry", "same"))],
        "latency-between": [["from=jit.cms", "to=jit.cmf", "from_field=functionId", "to_field=functionId"],
                            ["from=sam.str", "to=thr.cpu", "from_field=threadIid", "to_field=threadIid"],
                            ["from=prov3:event3", "to=prov3:event1", "from_field=event.same", "to_field=same"]],
        "p99-by-path": [["step=1ms", "depth=2", "top=1000"], ["top=1000"]]}
PAIRS = {"diff", "diff-paths", "hist-diff"}  # of two traces


def ask(f, *words, server=None, **more):
    return subprocess.run([*harness.command_words(f.command), "query", "--server", server or f.server, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=120, **more)


def rows_of(text):
    def normal(value):
        try:
            return "%.9g" % float(value) if "." in value else value
        except ValueError:
            return value
    return [tuple(map(normal, row)) for row in csv.reader(io.StringIO(text))]


def loaded(f, work):
    f.create()
    files = [os.path.join(INPUT, t) for t in TRACES] + [big_trace(work, 1, 500)]
    f.load("--table", "accesses", "--table", "cache_misses", *files, check=False)
    f.load(*files, check=False)
    return files


def compare_recipe(f, files, name, words):
    pair = name in PAIRS
    words = ["--recipe", name, *words]
    ours = subprocess.run([*harness.command_words(f.command), "query", "-q", "--to", "csv", *(files[:2] if pair else files), *words],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    theirs = ask(f, "--to", "csv", *words, *(["before=" + files[0], "after=" + files[1]] if pair else []))
    mine, other = rows_of(ours), rows_of(theirs.stdout)
    f.checks.that(theirs.returncode == 0 and len(mine) > 1, words, "has no rows:", theirs.stderr)
    f.checks.that(mine[:1] == other[:1] and sorted(mine[1:]) == sorted(other[1:]), words, "differs:", fleet.first_difference(sorted(mine), sorted(other)))


def case_recipes(f, work, seed):
    """Each recipe: the rows of the servers beside those of the files."""
    files = loaded(f, work)
    names = [line.split()[0] for line in run(f.command, "query", "--recipes").stdout.splitlines() if not line.startswith(" ")]
    f.checks.that(len(names) > 20, "recipes:", names)
    for name in names:
        for words in [WORDS[name]] if name in WORDS else [] if name in MORE else [[]]:
            compare_recipe(f, files, name, words)
        for words in MORE.get(name, []):
            compare_recipe(f, files, name, words)
    done = ask(f, "--recipe", "cache-hot", "cache=l1d=4K:1:64")
    f.checks.that(done.returncode == 2 and "cache-hot has no parameter cache on a server" in done.stderr, done.returncode, done.stderr)
    done = ask(f, "--to", "csv", "SELECT count() AS n FROM profile JOIN places USING (trace, place_id) WHERE path_hash != reinterpretAsInt64(reinterpretAsString(sipHash64(path)))")
    f.checks.that(done.stdout.splitlines()[1:] == ["0"], "hashes of paths:", done.stdout, done.stderr)
    own = os.path.join(work, "own.sql")
    with open(own, "w", encoding="utf-8") as file:
        file.write("-- of files only\nSELECT 1 AS a;\n-- ClickHouse: a reason\n")
    done = ask(f, "--recipe", own)
    f.checks.that(done.returncode == 2 and "does not run on a server: a reason" in done.stderr, done.returncode, done.stderr)


def case_query(f, work, seed):
    files = loaded(f, work)
    first = f.cluster.shards[0]
    # Values: of all kinds, and hostile ones. The server gives back what it was given.
    for value in ("plain", "'; DROP TABLE events_local; --", "it''s", "\\' OR 1=1 --", "\\", "a\\nb", "tab\there", "line\nbreak", "/* x", "`\"", ":top", "é", "x' FORMAT CSV"):
        done = ask(f, "--to", "json", "-p", "v=" + value, "SELECT :v AS v, ':v' AS text, 1 /* :v */ AS one -- :v\n, 2 AS two")
        found = json.loads(done.stdout)["rows"] if done.returncode == 0 else done.stderr
        f.checks.that(found == [[value, ":v", 1, 2]], repr(value), found)
    for value, back in (("-5", -5), ("9223372036854775807", 2**63 - 1), ("1.5", 1.5), ("-0.25", -0.25), ("2ms", 2000000)):
        done = ask(f, "--to", "json", "-p", "v=" + value, "SELECT 0 - :v AS v, :v AS w")
        found = json.loads(done.stdout)["rows"] if done.returncode == 0 else done.stderr
        f.checks.that(found and found[0][1] == back, value, found)
    for pattern, name, expected in (("a*", "abc", 1), ("a?c", "abc", 1), ("a.c", "abc", 0), ("[a-c]b", "bb", 1), ("[^a]b", "ab", 0), ("a", "ab", 0), ("x|a", "a", 0), ("(*", "(b", 1), ("*", "a\nb", 1)):
        done = ask(f, "--to", "json", "-p", "p=" + pattern, "-p", "n=" + name, "SELECT toInt64(match(:n, glob(:p))) AS v")
        f.checks.that(done.returncode == 0 and json.loads(done.stdout)["rows"] == [[expected]], "glob", pattern, name, done.stdout, done.stderr)
    # Nothing is changed, and mistakes are the command's.
    for sql in ("DROP TABLE events_local", "INSERT INTO loaded (trace) VALUES (1)", "CREATE TABLE x (a UInt8) ENGINE = Memory", "SELEC 1", "SELECT x FROM calls", "SELECT 1 FORMAT CSV", "SELECT :absent", "SET readonly = 0"):
        done = ask(f, sql)
        f.checks.that(done.returncode == 2 and not done.stdout and "e.what()" not in done.stderr and 0 < len(done.stderr) < 700, sql, done.returncode, done.stdout, done.stderr)
    for words in ([files[0], "SELECT 1"], [], ["--schema"], ["--each", "SELECT 1"]):
        done = ask(f, *words, stdin=subprocess.DEVNULL)
        f.checks.that(done.returncode == 2, words, done.returncode, done.stderr)
    # An error behind a million rows: no half answer.
    done = ask(f, "--to", "csv", "SELECT number, throwIf(number = 3000000) AS x FROM (SELECT number FROM system.numbers LIMIT 4000000)")
    f.checks.that(done.returncode == 2 and not done.stdout, "half an answer:", done.returncode, done.stdout[:100], done.stderr)
    for words, status in ((["--timeout", "1s", "SELECT count() FROM system.numbers"], 5), (["--memory", "10M", "SELECT groupArray(number) AS a FROM (SELECT number FROM system.numbers LIMIT 30000000)"], 5)):
        done = ask(f, *words)
        f.checks.that(done.returncode == status, words, done.returncode, done.stderr)
    # Kinds of values, two statements, all formats.
    done = ask(f, "--to", "csv", "SELECT CAST(NULL AS Nullable(Int64)) AS a, 1.5 AS b, -3 AS c, 18446744073709551615 AS d, toDate('2020-01-02') AS e, [1, 2] AS f; SELECT 'x;y' AS g;")
    f.checks.that(done.stdout.splitlines()[1:] == [',1.5,-3,18446744073709551615,2020-01-02,"[1,2]"', "", "g", "x;y"] or done.stdout.splitlines()[-2:] == ["g", "x;y"], "values:", done.stdout, done.stderr)
    done = ask(f, "--to", "jsonl", "SELECT arrayStringConcat(arrayMap(x -> 'xxxxxxxxxx', range(300001))) AS a, number FROM (SELECT number FROM system.numbers LIMIT 3)")
    f.checks.that([len(line) > 3000000 for line in done.stdout.splitlines()] == [True] * 3, "rows of 3 MB:", done.returncode, done.stderr)
    count = f.rows("SELECT count() FROM events")[0][0]
    f.checks.that(len(ask(f, "--to", "jsonl", "SELECT trace, ts, name FROM events").stdout.splitlines()) == int(count), "rows of jsonl")
    for suffix in ("parquet", "arrows", "csv", "jsonl", "json", "md", "txt"):
        path = os.path.join(work, "x." + suffix)
        done = ask(f, "-o", path, "SELECT ts, name, dur FROM calls")
        f.checks.that(done.returncode == 0 and os.path.getsize(path) > 100, suffix, done.stderr)
    done = ask(f, "SELECT 1 AS a", env=dict(os.environ, CLICKHOUSE_PASSWORD="a secret"))
    f.checks.that("a secret" not in done.stderr and done.returncode == 2, "a wrong password:", done.returncode, done.stderr)
    # A shard that is down.
    down = f.cluster.shards[1]
    down.kill()
    done = ask(f, "--to", "csv", "SELECT count() AS n FROM calls")
    f.checks.that(done.returncode == 3 and down.address in done.stderr and not done.stdout, "a shard is down:", done.returncode, done.stdout, done.stderr)
    f.checks.that(first.ask("SELECT 1") == "1\n", "the other one does not answer")


def case_stop(f, work, seed):
    """^C ends the statement on the server, too."""
    f.create()
    running = "SELECT count() FROM system.processes WHERE query_id LIKE 'traceloom-query-%'"
    count = lambda: sum(int(shard.ask(running)) for shard in f.cluster.shards)  # noqa: E731
    asking = subprocess.Popen([*harness.command_words(f.command), "query", "--server", f.server, "SELECT count() FROM system.numbers WHERE number % 7 = 9"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    fleet.wait_until(lambda: count() == 1)
    f.checks.that(count() == 1, "the statement does not run")
    asking.send_signal(signal.SIGINT)
    said = asking.communicate(timeout=60)
    f.checks.that(asking.returncode == 5 and "interrupted" in said[1], "status", asking.returncode, *said)
    fleet.wait_until(lambda: count() == 0)
    f.checks.that(count() == 0, "the statement runs on")
    time.sleep(0.1)


def case_answers(f, work, seed):
    """What is no answer to a statement, and limits: an error each, and no rows."""
    ok = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    head = b"a\tb\nInt64\tString\n"
    for answer, forever, expected in (
            (ok + head, b"x" * (1 << 16), "longer than 64 MiB"), (ok, b"x" * (1 << 16), "longer than 64 MiB"),
            (ok + b"\t".join([b"c"] * 2001) + b"\n" + b"\t".join([b"Int8"] * 2001) + b"\n", b"", "not an answer"), (ok, b"", "not an answer"),
            (ok + b"a\n", b"", "not an answer"), (ok + b"a\tb\nInt64\n", b"", "not an answer"), (ok + head + b"1\n", b"", "not an answer"),
            (ok + head + b"1\t2\t3\n", b"", "not an answer"), (ok + head + b"1\tno end", b"", "not an answer"), (b"", b"", "http"),
            (b"HTTP/1.1 500 No\r\nConnection: close\r\n\r\nCode: 62, e.displayText() = DB::Exception: \x1b[31m" + b"y" * 9000, b"", "?[31m")):
        stub = fleet.Stub(answer, forever)
        stub.start()
        done = ask(f, "--to", "jsonl", "-o", os.path.join(work, "x.jsonl"), "SELECT 1", server="http://%s/d" % stub.address)
        f.checks.that(done.returncode in (2, 3, 5) and expected in done.stderr and len(done.stderr) < 1000, answer[:60], done.returncode, done.stderr[:500])
        f.checks.that(not os.path.exists(os.path.join(work, "x.jsonl")), "a file of half an answer")
        stub.listener.close()
    good = ok + head + b"-9223372036854775808\t\\N\n7\ta\\tb\\\\\\n\\0c\n"
    stub = fleet.Stub(good)
    stub.start()
    done = ask(f, "--to", "jsonl", "SELECT 1", server="http://%s/d" % stub.address)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    f.checks.that(found == [{"a": -2**63, "b": None}, {"a": 7, "b": "a\tb\\\n\0c"}], "escapes:", done.stdout, done.stderr)
    stub.listener.close()


CASES = {name[5:]: call for name, call in globals().items() if name.startswith("case_")}

if __name__ == "__main__":
    fleet.main(CASES)
