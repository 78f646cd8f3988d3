#!/usr/bin/env python3
"""query --each: one result of many traces is what the SQL says of each trace alone, whatever the number of jobs is; and what
happens to traces that cannot be read, to processes that are killed, and on ^C. The oracle runs the command once for each
trace, and puts number and path in front of its rows."""
import csv
import io
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
from query_limits import METADATA, write_trace

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
TRACES = ["basic-v3-le.xray", "ctf-18", "ctf-2", "fdr-v1-be.xray", "fdr-v3-le.xray", "fdr-v5-le.xray", "profile-le.xray", "tracelog-calls.log",
          "tracelog-doc.log", "xtrace-user", "ctf-2010"]
STATEMENTS = ["SELECT count(*) AS n, max(ts) AS last, 0.1 + count(*) AS r FROM events",
              "SELECT name, calls, self, NULL AS missing FROM function_stats ORDER BY self DESC, name",
              "SELECT ts, name, thread, fields, x'00ff' AS b FROM events ORDER BY ts, id LIMIT 50",
              "SELECT name FROM events WHERE 0",
              "SELECT 'a,\"b\"\nc' AS text, char(27) || ';' AS \"a,b\", 1 > 0 AS yes"]
FORMATS = ["jsonl", "csv", "json", "table", "markdown"]
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n"
# Endless for traces of this format only.
SOME_ENDLESS = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT (SELECT CASE format WHEN 'tracelog' THEN 1 << 60 ELSE 3 END "
                "FROM traces)) SELECT count(*) AS n FROM n")
LARGE = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT :n) SELECT i, printf('%.*c', i % 90, 'x') AS x FROM n"


def messages(err):
    """Without what the search for leaks says of a process that is killed while it searches."""
    return re.sub(rb"==\d+==Unable to get registers[^\n]*\n+", b"", err)


def each(folder, files, sql, *options, **more):
    done = harness.run("query", "--each", *files, sql, *options, cwd=folder, timeout=600, **more)
    done.err = messages(done.err)
    return done


def alone(folder, file, sql, *options):
    return harness.run("query", "-q", file, sql, "--to", "jsonl", *options, cwd=folder)


def shown(path):
    """A path as text: other bytes are the characters of their numbers."""
    return os.fsencode(path).decode("utf-8", "replace") if b"\xff" not in os.fsencode(path) else os.fsencode(path).decode("latin-1")


def oracle(folder, files, sql, *options):
    rows = []
    for number, file in enumerate(files, 1):
        for line in alone(folder, file, sql, *options).out.splitlines():
            rows.append([("trace", number), ("path", shown(file))] + json.loads(line, object_pairs_hook=list))
    return rows


def of_jsonl(out):
    return [json.loads(line, object_pairs_hook=list) for line in out.splitlines()]


def text_of(value):
    if value is None:
        return ""
    return str(value) if isinstance(value, (str, int)) else json.dumps(value, separators=(",", ":"))


def check_answers(checks, folder, files):
    """Each statement, in each format, with 1, 2 and 5 jobs."""
    for sql in STATEMENTS:
        expected = oracle(folder, files, sql)
        for form in FORMATS:
            one = each(folder, files, sql, "--to", form)
            checks.equal(one.status, 0, sql, form, "exit status", one.err[-300:])
            for jobs in (1, 2, 5):
                some = each(folder, files, sql, "--to", form, "--jobs", jobs)
                checks.equal(some.out, one.out, sql, form, jobs, "jobs")
                checks.equal((some.status, some.err), (one.status, one.err), sql, form, jobs, "jobs: messages")
            if form == "jsonl":
                checks.equal(of_jsonl(one.out), expected, sql)
            elif form == "csv":
                table = list(csv.reader(io.StringIO(one.out.decode(), newline="")))
                checks.equal(table[0][:2], ["trace", "path"], sql)
                checks.equal([row[:2] for row in table[1:]], [[str(row[0][1]), row[1][1]] for row in expected], sql, "csv")
                if expected and "fields" not in sql and "0.1" not in sql:
                    checks.equal(table[1:], [[text_of(value) for key, value in row] for row in expected], sql, "csv")
            elif form == "json":
                answer = json.loads(one.out)
                checks.equal([c["name"] for c in answer["columns"]][:2], ["trace", "path"], sql)
                checks.equal([[value for value in row] for row in answer["rows"]],
                             [[value if not isinstance(value, list) else dict(value) for key, value in row] for row in expected] if "fields" not in sql
                             else answer["rows"], sql, "json")
                checks.equal(len(answer["rows"]), len(expected), sql, "rows of json")
            else:
                checks.that(b"\x1b" not in one.out and b"path" in one.out.splitlines()[0], sql, form, one.out[:200])


def check_words(checks, folder, files):
    """Where the SQL comes from; parameters; limits of a table; files."""
    recipe = each(folder, files, "top=2", "--recipe", "function-stats", "--to", "jsonl", "--jobs", 2)
    rows = [[("trace", i + 1), ("path", shown(f))] + json.loads(line, object_pairs_hook=list) for i, f in enumerate(files)
            for line in harness.run("query", "-q", f, "--recipe", "function-stats", "top=2", "--to", "jsonl", cwd=folder).out.splitlines()]
    checks.equal(of_jsonl(recipe.out), rows, "a recipe")
    with open(os.path.join(folder, "q.sql"), "w", encoding="utf-8") as file:
        file.write("-- a; b\nSELECT :n AS n, ';' AS x; /* ; */ -- ;\n")
    asked = harness.run("query", "--each", *files, "-p", "n=2us", "--query-file", "q.sql", "--to", "jsonl", cwd=folder)
    checks.equal(of_jsonl(asked.out), [[("trace", i + 1), ("path", shown(f)), ("n", 2000), ("x", ";")] for i, f in enumerate(files)], "a file")
    few = each(folder, files, "SELECT 1 AS x", "--rows", 3)
    checks.that(len(few.out.splitlines()) == 5 and b"... %d more" % (len(files) - 3) in few.out, few)
    plan = each(folder, files[:2], "SELECT ts FROM events", "--explain", "--jobs", 2)
    checks.that(plan.text().count("events: read once") == 2 and plan.text().count(":\n") >= 2 and plan.status == 0, plan)
    named = each(folder, files[:2], "SELECT trace, path, name FROM places LIMIT 1", "--to", "csv")
    checks.that(named.out.startswith(b"trace,path,path_2,name\r\n"), named)
    named = each(folder, files[:1], "SELECT 7 AS trace", "--to", "csv")
    checks.equal(named.out.split(b"\r\n")[0], b"trace,path,trace_2", "a trace of the SQL")
    for words, said in ((("--each", files[0], "SELECT 1; SELECT 2"), b"one statement"), (("--each", "--schema", files[0]), b"--schema"),
                        (("--jobs", "2", files[0], "SELECT 1"), b"--jobs needs --each"), (("--each", "--jobs", "0", files[0], "SELECT 1"), b"--jobs"),
                        (("--each", "--jobs", "65", files[0], "SELECT 1"), b"up to 64")):
        done = harness.run("query", *words, cwd=folder)
        checks.that(done.status == 2 and said in done.err and not done.out, done)
    wide = each(folder, files, "SELECT 1 AS x", "--jobs", 64, "--to", "csv")
    checks.that(wide.status == 0 and wide.out.count(b"\n") == len(files) + 1, "64 jobs", wide)


def check_output(checks, folder, files):
    good = each(folder, files, "SELECT 1 AS x", "-o", "a.csv", "--jobs", 2)
    checks.that(good.status == 0 and os.path.getsize(os.path.join(folder, "a.csv")) > 0, good)
    checks.equal(each(folder, files, "SELECT 1 AS x", "-o", "a.csv").status, 2, "it is there")
    some = each(folder, files[:1] + ["absent"], "SELECT 1 AS x", "-o", "some.csv")
    checks.that(some.status == 3 and os.path.exists(os.path.join(folder, "some.csv")), "what could be read is written", some)
    none = each(folder, files, "SELECT FROM", "-o", "none.csv")
    checks.that(none.status == 2 and not os.path.exists(os.path.join(folder, "none.csv")), none)
    none = each(folder, ["absent", "absent2"], "SELECT 1", "-o", "none.csv")
    checks.that(none.status == 3 and not os.path.exists(os.path.join(folder, "none.csv")), none)
    checks.that(not [name for name in os.listdir(folder) if "csv." in name], os.listdir(folder))


def check_failures(checks, folder, files):
    """A trace that is missing, or damaged, or lacks a table; SQL that is wrong with all."""
    damaged = os.path.join(INPUT, "damaged-fdr-v5-le-unknown-kind.xray")
    mixed = [files[0], "absent", damaged, files[1]]
    for jobs in (1, 3):
        done = each(folder, mixed, "SELECT count(*) AS n FROM events", "--to", "jsonl", "--jobs", jobs)
        rows = [row for row in oracle(folder, mixed, "SELECT count(*) AS n FROM events")]
        checks.equal(of_jsonl(done.out), rows, "the others")
        checks.equal([row[0][1] for row in rows], [1, 3, 4], "numbers")
        checks.that(done.status == 3 and b"absent: No such file" in done.err and b"unknown-kind" in done.err and b"1 of 4 traces" in done.err, done)
        first = each(folder, ["absent"] + files[:2], "SELECT 1 AS x", "--to", "csv", "--jobs", jobs)
        checks.equal(first.text().replace("\r", "").splitlines()[0], "trace,path,x", "the first cannot be read")
        done = each(folder, files, "SELECT naem FROM events", "--jobs", jobs)
        checks.equal((done.status, done.out, done.err.count(b"no column naem in events; did you mean name?")), (2, b"", len(files)), done)
        checks.that(all((harness_clean(f) + ": line 1, column 8: no column").encode() in done.err for f in files), done)
        for sql, status in (("SELECT FROM events", 2), ("SELECT :n", 2), ("DELETE FROM events", 2), ("SELECT nosuch(1)", 2)):
            done = each(folder, files, sql, "--jobs", jobs)
            checks.that(done.status == status and done.err.count(b"\n") == 1 and not done.out, "said once", done)
        done = each(folder, files, ENDLESS, "--timeout", "300ms", "--jobs", jobs)
        checks.equal((done.status, done.err.count(b"longer than its time limit")), (5, len(files)), "timeout", done)
        heavy = "SELECT length(replace(printf('%9000000d', 1), ' ', 'xx')) AS n"
        done = each(folder, files[:2], heavy, "--memory", "4M", "--jobs", jobs)
        checks.equal((done.status, done.err.count(b"needs more memory")), (5, 2), "memory", done)
    only = each(folder, files + ["absent"], "SELECT table_name FROM classes WHERE name = 'nothing'", "--to", "json")
    checks.equal((json.loads(only.out)["rows"], only.status), ([], 3), "empty results")


def harness_clean(path):
    return "".join("?" if ord(c) < 32 else c for c in os.fsencode(path).decode("utf-8", "replace").replace("\ufffd", "?"))


def check_columns(checks, folder):
    """Columns by name; those that others have not are an error of that trace."""
    for fields in (3, 2, 4):
        write_trace(os.path.join(folder, "fields%d" % fields), "wide", fields)
    files = ["fields3", "fields2", "fields4", "fields3"]
    for jobs in (1, 4):
        done = each(folder, files, "SELECT * FROM event_wide", "--to", "csv", "--jobs", jobs)
        table = list(csv.reader(io.StringIO(done.out.decode(), newline="")))
        at = table[0].index("f0")
        checks.equal(table[0][at:], ["f0", "f1", "f2"], "columns of the first")
        checks.equal([row[:2] + row[at:] for row in table[1:]], [["1", "fields3", "0", "1", "2"], ["2", "fields2", "0", "1", ""], ["4", "fields3", "0", "1", "2"]])
        checks.that("trace_2" not in table[0] and "id" in table[0], table[0])
        checks.that(done.status == 2 and b"fields4: column f3 is not in the result, whose columns are those of fields3" in done.err, done)
    os.makedirs(os.path.join(folder, "swapped"))
    with open(os.path.join(folder, "swapped", "metadata"), "w", encoding="ascii") as file:
        file.write(METADATA % ("wide", "u8 f1; u8 f2; u8 f0;"))
    with open(os.path.join(folder, "swapped", "stream"), "wb") as file:
        file.write(bytes([0, 11, 12, 10]))
    done = each(folder, ["fields3", "swapped"], "SELECT * FROM event_wide", "--to", "jsonl")
    checks.equal([json.loads(line)[name] for line in done.out.splitlines() for name in ("f0", "f1", "f2")], [0, 1, 2, 10, 11, 12], "another order", done)
    order = "SELECT CASE 1 WHEN 1 THEN 1 END AS a, 2 AS a, f0 AS b FROM event_wide"
    done = each(folder, ["fields3", "fields2"], order, "--to", "csv")
    checks.equal(done.out, b"trace,path,a,a,b\r\n1,fields3,1,2,0\r\n2,fields2,1,2,0\r\n", "columns of the same name")


def children(pid):
    """Processes whose parent is this one, and that are no zombies."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name, encoding="latin-1") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(name))
    return found


def wait_until(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    return what()


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def begun(folder, files, sql, *options):
    return subprocess.Popen(harness.binary() + ["query", "--each", *files, sql, *options], cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def check_killed_worker(checks, folder, files):
    """One of three processes is killed; the others' answers are whole, and in order."""
    names = ["basic-v3-le.xray", "tracelog-doc.log", "fdr-v3-le.xray"]
    for jobs in (1, 3):
        process = begun(folder, names, SOME_ENDLESS, "--to", "csv", "--jobs", str(jobs))
        # The one that is left is the endless one.
        endless = wait_until(lambda: (lambda all_: all_ if len(all_) == 1 and busy(all_[0]) else None)(children(process.pid)))
        if checks.that(endless, jobs, "no process"):
            os.kill(endless[0], signal.SIGKILL)
        out, err = process.communicate(timeout=600)
        checks.equal(out.replace(b"\r", b""), b"trace,path,n\n1,basic-v3-le.xray,3\n3,fdr-v3-le.xray,3\n", jobs, "jobs: the others")
        checks.that(process.returncode == 3 and b"tracelog-doc.log: the process that read it was ended by signal 9" in err and
                    b"1 of 3 traces" in err, process.returncode, err)


def busy(pid):
    """It has used a second: trivial answers take less, also with sanitizers."""
    try:
        with open("/proc/%d/stat" % pid, encoding="latin-1") as file:
            return int(file.read().rpartition(")")[2].split()[11]) > os.sysconf("SC_CLK_TCK")
    except OSError:
        return False


def check_signals(checks, folder, files):
    """^C, and an end of the parent in any way: no process stays."""
    for number, status in ((signal.SIGINT, 5), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)):
        for jobs in (1, 4):
            process = begun(folder, files, ENDLESS, "-o", "never.csv", "--jobs", str(jobs))
            workers = wait_until(lambda: (lambda all_: all_ if len(all_) == jobs else None)(children(process.pid)))
            checks.that(workers, number, jobs, "no workers")
            process.send_signal(number)
            err = messages(process.communicate(timeout=60)[1])
            checks.equal(process.returncode, status, number, jobs, err)
            checks.equal(err, b"traceloom: interrupted\n" if number == signal.SIGINT else b"", number, jobs, "messages")
            checks.that(wait_until(lambda: not any(map(is_alive, workers or []))), number, jobs, "processes stay")
            checks.that(not os.path.exists(os.path.join(folder, "never.csv")), "the output is there")
    for name in os.listdir(folder):
        if name.startswith("never"):
            os.remove(os.path.join(folder, name))  # of the killed ones


def check_first_rows(checks, folder):
    """Rows are shown while the statement goes on, and those of a trace that is done while the next one is read."""
    goes_on = "SELECT 7 AS n UNION ALL SELECT * FROM (%s)" % ENDLESS
    for sql, names, row in ((goes_on, ["basic-v3-le.xray"], b",7"), (SOME_ENDLESS, ["basic-v3-le.xray", "tracelog-doc.log"], b",3")):
        process, seen = begun(folder, names, sql, "--to", "csv"), b""
        while row not in seen and select.select([process.stdout], [], [], 120)[0]:
            piece = os.read(process.stdout.fileno(), 1000)
            if not piece:
                break
            seen += piece
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        checks.that(seen.endswith(row + b"\r\n") and process.returncode == 5, "the first row:", seen, process.returncode)


def check_large(checks, folder, files):
    """Answers larger than pipes, while others wait for their turn; a reader that ends early."""
    n = 20000
    expected = b"".join(b"%d,%s\n" % (i, b"x" * (i % 90 or 1)) for i in range(1, n + 1))
    for jobs in (1, 2, 5):
        done = each(folder, ["basic-v3-le.xray"] * 7, LARGE, "-p", "n=%d" % n, "--to", "csv", "--jobs", jobs)
        lines = done.out.replace(b"\r", b"").splitlines(True)
        parts = [b"".join(line.split(b",", 2)[2] for line in lines[1 + i * n:1 + (i + 1) * n]) for i in range(7)]
        checks.that(done.status == 0 and len(lines) == 1 + 7 * n and all(part == expected for part in parts), jobs, "jobs:", done.err, len(lines))
        checks.equal([line.split(b",")[0] for line in lines[1::n]], [b"%d" % i for i in range(1, 8)], "order")
    long = "SELECT printf('%.*c', 3000000, 'x') AS x, printf('%.*c', 50000, 'y') AS y"
    done = each(folder, ["basic-v3-le.xray"] * 3, long, "--to", "csv", "--jobs", 2)
    checks.equal([len(line) for line in done.out.split(b"\r\n")], [14, 3050001 + len("1,basic-v3-le.xray,")] + [3050001 + len("1,basic-v3-le.xray,")] * 2 + [0])
    process = begun(folder, ["basic-v3-le.xray"] * 7, LARGE, "-p", "n=%d" % n, "--to", "csv", "--jobs", "3")
    process.stdout.read(100)
    process.stdout.close()
    err = messages(process.stderr.read())
    process.wait(timeout=600)
    process.stderr.close()
    checks.that(process.returncode in (3, -signal.SIGPIPE) and err == b"", "a reader that ends", process.returncode, err)
    checks.equal(children(process.pid), [], "processes stay")


def check_order(checks, folder, files):
    """Under load, and with files of very different length, the bytes are the same each time."""
    rng, mixed = random.Random(3), [name for name in files * 3]
    rng.shuffle(mixed)
    sql = "SELECT name, count(*) AS n FROM events GROUP BY name ORDER BY 2 DESC, 1"
    first = each(folder, mixed, sql, "--to", "csv")
    for i in range(20):
        again = each(folder, mixed, sql, "--to", "csv", "--jobs", 5)
        if not checks.equal((again.out, again.err, again.status), (first.out, first.err, first.status), "run", i):
            break


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))


def check_descriptors(checks, folder):
    """More files, and jobs, than a process may open: as many run as can."""
    files = ["profile-le.xray"] * 100
    words = harness.binary() + ["query", "--each", *files, "SELECT count(*) AS n FROM function_stats", "--to", "csv", "--jobs", "64"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=600, preexec_fn=few_files)
    checks.that(done.returncode == 0 and done.stdout.count(b"\n") == 101, "few descriptors", done.returncode, done.stderr[:300])


def main():
    if not harness.built_with("SQLite"):
        harness.skip("this build has no SQL")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        files = []
        for name in TRACES:
            source, to = os.path.join(INPUT, name), os.path.join(folder, name)
            if os.path.exists(source):
                (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, to)
                files.append(name)
        odd = ["we,ird \"'\n\x1b[1m;.xray", "\u00fcber|.xray", "-p.xray", os.fsdecode(b"by\xffte.xray")]
        for name in odd:
            shutil.copy(os.path.join(folder, "fdr-v3-le.xray"), os.path.join(folder, name))
        odd[2] = "./-p.xray"
        check_answers(checks, folder, files + odd)
        check_words(checks, folder, files)
        check_output(checks, folder, files[:3])
        check_failures(checks, folder, files[:3] + odd[:1])
        check_columns(checks, folder)
        check_killed_worker(checks, folder, files)
        check_signals(checks, folder, files[:6])
        check_first_rows(checks, folder)
        check_large(checks, folder, files)
        check_order(checks, folder, files)
        check_descriptors(checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
