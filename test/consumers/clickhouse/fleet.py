#!/usr/bin/env python3
"""traceloom load and two real servers, each a shard: fleet.py TRACELOOM [current.]CASE [SEED]

current: one host, with the engine of a current release.

Every case ends with the same comparison: what the servers answer is what `query` answers from the file."""
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from cluster import Cluster, EmbeddedShard, ServerError, find  # noqa: E402

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
TRACES = ("fdr-v5-le.xray", "basic-v3-le.xray", "tracelog-doc.log", "tracelog-damaged.log", "ctf-2", "xtrace-user", "profile-le.xray")
# Columns of the session's tables that servers do not have, or that differ from where a file lies.
LEFT_OUT = {"trace", "path", "exe"}
DATABASE = "fleet"


def run(command, *arguments, check=True, **more):
    done = subprocess.run([*harness.command_words(command), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **{"timeout": 300, **more})
    if check and done.returncode:
        sys.exit("%s: exit status %d\n%s" % (arguments, done.returncode, done.stdout))
    return done


class Fleet:
    def __init__(self, command, cluster, checks):
        self.command, self.cluster, self.checks = command, cluster, checks
        self.server = cluster.server(DATABASE)

    def load(self, *files, server=None, **more):
        return run(self.command, "load", "--server", server or self.server, *files, **more)

    def create(self):
        """The tables, with a statement file as a DBA would run it: quicker than with a trace."""
        made = run(self.command, "load", "--server", self.server, "--print-ddl").stdout
        for shard in self.cluster.shards:
            for statement in made.split(";\n"):
                if statement.strip():
                    shard.ask(statement)

    def rows(self, sql, shard=0):
        return self.cluster.shards[shard].rows(sql, DATABASE)

    def count(self, table, shard=0):
        return int(self.rows("SELECT count() FROM `%s`" % table, shard)[0][0])

    def trace_of(self, path):
        found = self.rows("SELECT DISTINCT trace FROM loaded WHERE path = '%s'" % path)
        return found[0][0] if found else None

    def compare(self, path, tables):
        """Rows of tables: the server's through its views, and those of `query` from the file."""
        trace = self.trace_of(path)
        if not self.checks.that(trace, path, "is not loaded"):
            return
        columns = {table: [r[0] for r in self.rows("DESCRIBE TABLE `%s`" % table) if r[0] not in LEFT_OUT] for table in tables}
        ours = run(self.command, "query", path, "--to", "json", "-q", "; ".join("SELECT %s FROM %s" % (
            ", ".join("CASE WHEN typeof({0}) = 'blob' THEN hex({0}) WHEN typeof({0}) = 'real' THEN printf('%.9g', {0}) "
                      "ELSE coalesce({0}, '(null)') END AS {0}".format('"%s"' % c) for c in columns[table]), table) for table in tables), check=False).stdout
        answers = [json.loads(line) for line in ours.splitlines() if line.startswith("{")]
        if not self.checks.that(len(answers) == len(tables), path, "has not all of", tables, ours[-500:]):
            return
        for table, answer in zip(tables, answers):
            names = dict(self.rows("SELECT name, type FROM system.columns WHERE database = '%s' AND table = '%s'" % (DATABASE, table)))
            theirs = self.rows("SELECT %s FROM `%s` WHERE trace = %s" % (", ".join(
                ("upper(hex(%s))" if c == "hist" else "ifNull(toString(%s), '(null)')") % ("`%s`" % c) for c in columns[table]), table, trace))
            self.checks.that(names, table, "has no columns")
            mine = sorted(self.normal(map(self.escaped, row), columns[table], names) for row in answer["rows"])
            other = sorted(self.normal(row, columns[table], names) for row in theirs)
            self.checks.that(mine == other, path, table, columns[table], "differs:", first_difference(mine, other))

    @staticmethod
    def normal(row, columns, names):
        return tuple("%.9g" % float(v) if "Float" in names[c] and v != "(null)" else v for v, c in zip(row, columns))

    @staticmethod
    def escaped(value):
        """As in the servers' answers."""
        return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("'", "\\'")

    def whole(self, path):
        """Nothing is missing and nothing is double: also by counting rows that are there more than once."""
        done = self.load("--verify", path, check=False)
        self.checks.that(done.returncode in (0, 3) and "are there, once" in done.stdout, "--verify says", done.stdout)
        trace = self.trace_of(path)
        for table in ("calls", "events", "places"):
            double = self.rows("SELECT count() - uniqExact(seq) FROM %s_all WHERE trace = %s" % (table, trace))[0][0]
            self.checks.that(double == "0", table, "has rows twice:", double)


def first_difference(a, b):
    for x, y in zip(a, b):
        if x != y:
            return "%r, and the server has %r" % (x, y)
    return "%d rows, and the server has %d" % (len(a), len(b))


def big_trace(folder, seed, calls=130000):
    """A log of XRay, usually with more events than a chunk has rows: calls of 40 functions in two threads."""
    path = os.path.join(folder, "big-%d.xray" % seed)
    chance = random.Random(seed)
    record = struct.Struct("<HBBiQII8x")
    out = [struct.pack("<HHIQ16x", 3, 0, 3, 1000000000)]
    now = 1000
    for call in range(calls):
        thread = 4000 + call % 2
        for kind, function in ((0, 1 + call % 7), (0, 10 + chance.randrange(30)), (1, 0), (1, 0)):
            now += chance.randrange(1, 2000)
            if kind == 0:
                stack = (function,) if function < 10 else (*stack, function)
            else:
                function, stack = stack[-1], stack[:-1]
            out.append(record.pack(0, call % 4, kind, function, now, thread, 4000))
    with open(path, "wb") as file:
        file.write(b"".join(out))
    return path


def case_tables(f, work, seed):
    f.create()
    f.create()  # again: nothing happens
    f.load("--create", *[os.path.join(INPUT, t) for t in TRACES], check=False)
    names = [line[0] for line in f.rows("SELECT DISTINCT tbl FROM loaded")]
    for trace in TRACES:
        f.compare(os.path.join(INPUT, trace), [n for n in names if n != "places"])
        f.whole(os.path.join(INPUT, trace))
    f.checks.that(f.count("traces") == len(TRACES), "traces:", f.count("traces"))
    f.checks.that(f.count("slices") == f.count("calls") + f.count("spans"), "slices are not calls and spans")


def case_again(f, work, seed):
    """Loaded twice, under another name, after a chunk was removed by hand, and after one was doubled."""
    f.create()
    path, other = os.path.join(INPUT, "tracelog-doc.log"), os.path.join(work, "other.log")
    f.load(path)
    shutil.copyfile(path, other)
    said = f.load(other).stdout
    f.checks.that("is there already" in said and f.count("traces") == 1, "the same content under another name:", said)
    events = f.count("events")
    with open(other, "a", encoding="utf-8") as file:
        file.write("\n")
    f.load(other, check=False)
    f.checks.that(f.count("traces") == 2, "changed content is not another trace")
    trace = f.trace_of(path)
    holder = next(s for s in f.cluster.shards if s.rows("SELECT count() FROM events_local WHERE trace = %s" % trace, DATABASE)[0][0] != "0")
    holder.ask("INSERT INTO events_local SELECT * FROM events_local WHERE trace = %s" % trace, DATABASE)
    done = f.load("--verify", path, check=False)
    f.checks.that(done.returncode == 1 and "double" in done.stdout, "a double chunk is not found:", done.stdout)
    f.load(path)
    f.whole(path)
    holder.ask("ALTER TABLE events_local DELETE WHERE trace = %s" % trace, DATABASE)
    wait_until(lambda: holder.rows("SELECT count() FROM events_local WHERE trace = %s" % trace, DATABASE)[0][0] == "0")
    done = f.load("--verify", path, check=False)
    f.checks.that(done.returncode == 1 and "missing" in done.stdout, "a missing chunk is not found:", done.stdout)
    f.load(path)
    f.whole(path)
    f.checks.that(int(f.rows("SELECT count() FROM events WHERE trace = %s" % trace)[0][0]) == events, "other events than before")
    change_a_value(holder, trace, events)
    done = f.load("--verify", path, check=False)
    f.checks.that(done.returncode == 1 and "0 are missing, and 1 are double or differ" in done.stdout, "another value is not found:", done.stdout)
    f.load(path)
    f.whole(path)
    f.compare(path, ["events"])


def change_a_value(shard, trace, rows):
    """As many rows of `events` with the same numbers, of which one has another time. By way of another chunk."""
    columns = ["`%s`" % r[0] for r in shard.rows("DESCRIBE TABLE events_local", DATABASE)]
    for new, old in (({"`ts`": "ts + (seq = 3)", "`chunk`": "toUInt32(chunk + 100)"}, "chunk < 100"), ({"`chunk`": "toUInt32(chunk - 100)"}, "chunk >= 100")):
        shard.ask("INSERT INTO events_local SELECT %s FROM events_local WHERE trace = %s" % (", ".join(new.get(c, c) for c in columns), trace), DATABASE)
        shard.ask("ALTER TABLE events_local DELETE WHERE trace = %s AND %s" % (trace, old), DATABASE)
        wait_until(lambda: int(shard.rows("SELECT count() FROM events_local WHERE trace = %s" % trace, DATABASE)[0][0]) == rows)


def wait_until(is_so, seconds=60):
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)


def nothing_is_visible(f, shard):
    for table in ("traces", "calls", "events", "places"):
        try:
            n = f.count(table, shard)
        except ServerError:
            continue  # a shard is down: no half answers
        f.checks.that(n == 0, table, "shows", n, "rows of a trace that is not whole")


def case_down(f, work, seed):
    """A shard that does not answer is named, and nothing of the trace can be seen."""
    f.create()
    path = os.path.join(INPUT, "fdr-v5-le.xray")
    down = f.cluster.shards[1]
    down.kill()
    done = f.load(path, check=False)
    f.checks.that(done.returncode == 3 and down.address in done.stdout, "a shard that is down:", done.returncode, done.stdout)
    down.start()
    nothing_is_visible(f, 0)
    f.load(path)
    f.whole(path)
    done = run(f.command, "load", "--server", f.server.replace("/" + DATABASE, "/absent"), path, check=False)
    f.checks.that(done.returncode == 3 and "absent" in done.stdout, "a database that is not there:", done.returncode, done.stdout)


def case_kill_shard(f, work, seed):
    """SIGKILL of a shard while a trace is loaded: what is acknowledged stays, nothing is visible before it is whole."""
    chance = random.Random(seed)
    f.create()
    path = big_trace(work, seed)
    for turn in range(3 if harness.THOROUGH else 1):
        victim = f.cluster.shards[chance.randrange(2)]
        loader = subprocess.Popen([*harness.command_words(f.command), "load", "--server", f.server, path], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.05, 2.0))
        victim.kill()
        status = loader.wait(120)
        victim.start()
        if status:
            f.checks.that(status == 3, "exit status", status)
            nothing_is_visible(f, turn % 2)
    f.load(path)
    f.whole(path)
    compare_sums(f, path)


def case_kill_loader(f, work, seed):
    """SIGKILL of the loader at random times."""
    chance = random.Random(seed)
    f.create()
    path = big_trace(work, seed)
    for turn in range(4 if harness.THOROUGH else 2):
        loader = subprocess.Popen([*harness.command_words(f.command), "load", "--server", f.server, path], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            loader.wait(chance.uniform(0.02, 1.5))
        except subprocess.TimeoutExpired:
            loader.kill()
            loader.wait()
            if f.count("traces", turn % 2):
                compare_sums(f, path, turn % 2)  # killed behind its last statement there: all of it can be seen
            else:
                nothing_is_visible(f, turn % 2)
    f.load(path)
    f.whole(path)
    compare_sums(f, path)


def compare_sums(f, path, shard=0):
    """Sums over all rows, which SQLite makes from the file."""
    trace = f.rows("SELECT DISTINCT trace FROM loaded WHERE path = '%s'" % path, shard)[0][0]
    for table, sql in (("calls", "count(*), sum(dur), sum(self_ticks), sum(depth), min(ts), max(end_ts)"),
                       ("events", "count(*), sum(ts), sum(track_id)")):
        ours = run(f.command, "query", path, "-q", "--to", "csv", "SELECT %s FROM %s" % (sql, table)).stdout.splitlines()[-1].split(",")
        theirs = f.rows("SELECT %s FROM %s WHERE trace = %s" % (sql, table, trace), shard)[0]
        f.checks.that(ours == theirs, table, "has", ours, "and the servers have", theirs)


class Listener(threading.Thread):
    """Accepts connections, and gives each to serve(), in a thread of its own."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()


class Proxy(Listener):
    """Between loader and shard: hands requests on, and loses the reply to some statements that insert rows."""

    def __init__(self, port, lose):
        super().__init__()
        self.port, self.lose, self.lost = port, lose, 0

    def serve(self, client):
        server = socket.create_connection(("127.0.0.1", self.port))
        state = {"lose": False}

        def up():
            try:
                while data := client.recv(1 << 16):
                    if data.startswith(b"POST /?query=INSERT") and b"query_id=traceloom-chunk" in data[:2000]:
                        state["lose"] = self.lost < self.lose
                        self.lost += state["lose"]
                    server.sendall(data)
                server.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        threading.Thread(target=up, daemon=True).start()
        try:
            while data := server.recv(1 << 16):
                if state["lose"]:
                    break
                client.sendall(data)
        except OSError:
            pass
        for end in (client, server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()


def case_lost_reply(f, work, seed):
    """The shard stores a chunk, and its reply never comes: it is not sent again."""
    f.create()
    path = os.path.join(INPUT, "tracelog-doc.log")
    proxies = [Proxy(s.http, 3) for s in f.cluster.shards]
    for proxy in proxies:
        proxy.start()
    server = "http://%s/%s" % (",".join(p.address for p in proxies), DATABASE)
    f.load(path, server=server)
    f.checks.that(sum(p.lost for p in proxies) >= 3, "no reply was lost")
    inserted = f.rows("SELECT count() FROM events_all")[0][0]
    f.checks.that(inserted == str(f.count("events")), "events:", inserted)
    f.whole(path)
    for proxy in proxies:
        proxy.listener.close()


def case_two_loaders(f, work, seed):
    """Three at once: the others wait, and all end well."""
    f.create()
    path = big_trace(work, seed, 130000 if harness.THOROUGH else 30000)
    loaders = [subprocess.Popen([*harness.command_words(f.command), "load", "--server", f.server, path], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True) for _ in range(3)]
    for loader in loaders:
        said = loader.communicate(timeout=300)[0]
        f.checks.that(loader.returncode == 0, "one of several loaders:", loader.returncode, said)
    f.whole(path)
    compare_sums(f, path)


def case_changed(f, work, seed):
    """A file that is changed while it is loaded cannot be seen, whatever was sent of it."""
    f.create()
    path = os.path.join(work, "app.log")
    shutil.copyfile(os.path.join(INPUT, "tracelog-doc.log"), path)
    loader = subprocess.Popen([*harness.command_words(f.command), "load", "--server", f.server, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while loader.poll() is None and not any(int(shard.ask("SELECT count() FROM system.processes WHERE query LIKE '%INTO%.loading%' AND query NOT LIKE '%processes%'")) for shard in f.cluster.shards):
        pass  # it has looked at the file before it takes the lock
    with open(path, "ab") as file:
        file.write(b"\n")
    said = loader.communicate(timeout=300)[0]
    f.checks.that(loader.returncode == 3 and "was changed while it was loaded" in said, "status", loader.returncode, said)
    f.checks.that(f.count("events") == 0, "events can be seen")
    f.load(path)
    f.whole(path)


def case_names(f, work, seed):
    """Names in traces are data: what looks like SQL arrives as it is."""
    f.create()
    path = os.path.join(work, "names.log")
    with open(os.path.join(INPUT, "tracelog-doc.log"), encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    evil = "System.Str'); DROP TABLE events_local; -- \\'"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text.replace("System.String", evil.replace("\\", "").replace('"', "")))
    f.load(path, check=False)
    f.checks.that(f.count("events") > 0, "no events")
    f.compare(path, ["allocations", "functions", "properties"])
    secret = "a secret 'word'"
    done = f.load(path, check=False, env=dict(os.environ, CLICKHOUSE_PASSWORD=secret))
    f.checks.that(secret not in done.stdout, "the password is in a message:", done.stdout)
    for wrong in ("ftp://h/d", "http://h", "http://h/d;", "http://u:p@h/d", "http://h,h/d", "http:///d", "http://h/d/e"):
        done = f.load(path, server=wrong, check=False)
        f.checks.that(done.returncode == 2, wrong, done.returncode, done.stdout)


class Stub(Listener):
    """A server that answers every request with the same bytes, which may not end."""

    def __init__(self, answer, forever=b""):
        super().__init__()
        self.answer, self.forever = answer, forever

    def serve(self, client):
        try:
            client.recv(1 << 16)
            client.sendall(self.answer)
            while self.forever:
                client.sendall(self.forever)
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass
        except OSError:
            pass
        client.close()


def case_stub(f, work, seed):
    """What is not a server, and limits: an error each, in bounded memory."""
    ok = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    path = os.path.join(INPUT, "basic-v3-le.xray")
    for answer, forever, expected in ((ok, b"1\t1\t1\n" * 8192, "longer than 64 MiB"), (b"\0\xff" * 100, b"", ""),
                                      (b"HTTP/1.1 404 No\r\nConnection: close\r\n\r\n" + b"Code: 1, \x1b[31m" * 1000, b"", "Code: 1, ?[31m"),
                                      (b"HTTP/1.1 404 No\r\nConnection: close\r\n\r\n", b"x" * 4096, "xxxx"),
                                      (b"", b"", ""), (ok + b"x\ty\n-1\n", b"", "")):
        stub = Stub(answer, forever)
        stub.start()
        try:
            done = f.load("--verify", path, server="http://%s/d" % stub.address, check=False, timeout=20)
            f.checks.that(done.returncode in (1, 3, 5) and expected in done.stdout and len(done.stdout) < 1000, answer[:50], done.returncode,
                          done.stdout[:1000])
        except subprocess.TimeoutExpired:
            f.checks.that(False, "no end:", answer[:50])
        stub.listener.close()
    done = f.load(path, server="http://%s/d" % ",".join("h%d" % i for i in range(257)), check=False)
    f.checks.that("more than 256 shards" in done.stdout, "257 shards:", done.stdout)


class NoCluster:
    """For cases that need no servers."""

    shards = ()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        pass

    def server(self, database):
        return "http://127.0.0.1:1/" + database


KINDS = {}  # of the shards of a case, where they are not the usual ones
WITHOUT = ("stub", "answers")  # cases that need no servers
CASES = {name[5:]: call for name, call in globals().items() if name.startswith("case_")}


def main(cases):
    command, name = sys.argv[1], sys.argv[2]
    case = name.removeprefix("current.")
    is_current = case != name
    if case.startswith(("kill", "two")):
        command = harness.binary("TL_PLAIN_BINARY")[0]  # half a million rows
    seeds = [int(sys.argv[3])] if len(sys.argv) > 3 else range(1, 21) if harness.THOROUGH and case.startswith("kill") else [1]
    if is_current and not EmbeddedShard.library():
        harness.skip("no current engine; tools/install-deps.sh fleet installs it")
    if case not in WITHOUT and not is_current and not find("clickhouse-server"):
        harness.skip("no clickhouse-server; tools/install-deps.sh fleet installs it")
    kind = {"shards": 1, "kinds": [EmbeddedShard]} if is_current else KINDS.get(case, {})
    work = os.path.join(os.environ["TL_WORK"], "fleet", name)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    checks = harness.Checks()  # of all seeds
    for seed in seeds:
        with NoCluster() if case in WITHOUT else Cluster(os.path.join(work, "servers"), **kind) as cluster:
            cases[case](Fleet(command, cluster, checks), work, seed)
    shutil.rmtree(work, ignore_errors=True)
    checks.end()


if __name__ == "__main__":
    main(CASES)
