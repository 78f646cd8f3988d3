#!/usr/bin/env python3
"""How `serve` ends, and what it leaves behind: nothing. Questions end when nobody waits for them, and when a newer one is asked."""
import os
import signal
import stat
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_lib import INPUT, LIMIT, Answer, Server, harness, need, read_answer, until

TRACE = os.path.join(INPUT, "fdr-v5-le.xray")
# Takes minutes, in memory that does not grow.
LONG = "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t WHERE length(s) < 500000), u AS (SELECT s FROM t ORDER BY length(s) DESC LIMIT 1) "
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def signals(checks):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Server(TRACE, "-q") as server:
            checks.equal(server.get("q/meta").status, 200)
            checks.equal((server.end(number), server.err), (0, b""), number)


def busy(checks):
    """A signal ends it while a question runs, and pages wait for news."""
    if not harness.built_with("SQLite"):
        return
    with Server(TRACE, "-q", "--timeout", "100s") as server:
        running, follower = ask_endless(server), server.connect()
        follower.sendall(server.request(server.base + "live"))
        follower.recv(100)
        checks.that(is_busy(server), "a question runs")
        checks.equal((server.end(), server.err), (0, b""), "^C")
        running.close()
        follower.close()


def ask_endless(server, keys=""):
    s = server.connect()
    s.sendall(server.request(server.base + "q/sql?sql=" + ENDLESS.replace(" ", "%20").replace(",", "%2C").replace("+", "%2B") + keys))
    return s


def cpu_time(server):
    with open("/proc/%d/stat" % server.process.pid, encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def is_busy(server):
    """Whether it computes: for a while its processor time grows."""
    before = cpu_time(server)
    return until(lambda: cpu_time(server) > before + 20, 20)


def cancel(checks):
    """A question ends when its connection is closed: others are answered then."""
    if not harness.built_with("SQLite"):
        return
    with Server(TRACE, "-q", "--timeout", "1000s") as server:
        s = ask_endless(server)
        checks.that(is_busy(server), "a question runs")
        s.close()
        checks.equal(server.get("q/meta").status, 200, "the next one, after a closed connection")
        s = ask_endless(server, "&slot=a&seq=1")
        checks.that(is_busy(server), "a question of a slot")
        checks.equal(server.get("q/meta?slot=a&seq=2").status, 200, "a newer one of the slot")
        old = Answer(read_answer(s))
        checks.equal((old.status, old.code()), (503, "cancelled"), "the older one")
        s.close()
        s = ask_endless(server, "&slot=a&seq=5")
        checks.that(is_busy(server), "a question of a slot")
        late = server.get("q/meta?slot=a&seq=4")
        checks.equal((late.status, late.code()), (503, "cancelled"), "one that was asked before")
        waiting = server.connect()  # of another slot: it waits for its turn, and leaves
        waiting.sendall(server.request(server.base + "q/meta?slot=b&seq=1"))
        waiting.close()
        s.close()
        checks.equal(server.get("q/meta").status, 200, "after all")
        checks.equal(server.end(), 0, "^C")


def limits(checks):
    if not harness.built_with("SQLite"):
        return
    with Server(TRACE, "-q", "--timeout", "1s") as server:
        answer = server.ask("sql", sql=ENDLESS)
        checks.equal((answer.status, answer.code()), (408, "time"), "a question that takes long")
    with Server(TRACE, "-q", "--timeout", "1000s", "--memory", "20M") as server:
        answer = server.ask("sql", sql=LONG + "SELECT length(group_concat(s)) FROM events, u")
        checks.equal((answer.status, answer.code()), (413, "limit"), "a question that takes much", answer.body)
        checks.equal(server.ask("sql", sql="SELECT 1").status, 200, "the next one")
    with Server(TRACE, "-q", "--timeout", "100s") as server:
        answer = server.ask("sql", sql=LONG + "SELECT s FROM events, u", n=10000)
        checks.equal((answer.status, answer.code()), (413, "limit"), "an answer that is too large")
        checks.that(b"64 MiB" in answer.body, answer.body[:200])
        server.end()


def queue(checks):
    """One question runs, twelve wait, which are answered when it ends; others are refused."""
    if not harness.built_with("SQLite"):
        return
    with Server(TRACE, "-q", "--timeout", "1000s") as server:
        s = ask_endless(server)
        checks.that(is_busy(server), "a question runs")
        got = []
        threads = [threading.Thread(target=lambda: got.append(server.get("q/meta").status)) for _ in range(15)]
        for t in threads:
            t.start()
        checks.that(until(lambda: len(got) == 3), "three are refused at once")
        checks.equal(got, [429] * 3, "refused")
        s.close()
        for t in threads:
            t.join(LIMIT)
        checks.equal(got[3:], [200] * 12, "the others are answered")
        server.end()


def socket_file(checks, folder):
    path = os.path.join(folder, "s")
    with Server(TRACE, "-q", "--socket", path) as server:
        checks.equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode of the socket")
        checks.equal(server.get("q/meta", host="localhost").status, 200, "through a socket file")
        second = harness.run("serve", TRACE, "-q", "--socket", path)
        checks.that(second.status == 2 and b"exists" in second.err, second)
        checks.equal((server.end(), os.path.exists(path)), (0, False), "the file is removed")
    with Server(TRACE, "-q", "--socket", path) as server:
        server.end(signal.SIGKILL)
    checks.that(os.path.exists(path), "a kill leaves the socket")
    with Server(TRACE, "-q", "--socket", path) as server:
        checks.equal(server.get("", host="localhost").status, 200, "which the next one replaces")
        server.end()
    with open(path, "w", encoding="ascii") as file:
        file.write("mine")
    refused = harness.run("serve", TRACE, "-q", "--socket", path)
    checks.that(refused.status == 2 and b"exists" in refused.err and open(path, encoding="ascii").read() == "mine", "a file is not replaced", refused)
    os.unlink(path)
    long = harness.run("serve", TRACE, "-q", "--socket", os.path.join(folder, "x" * 200))
    checks.that(long.status == 2 and b"at most" in long.err, long)


def opened(checks, folder):
    """--open: a file that others cannot read leads to the page, and is removed when the page was shown."""
    tool, runtime = os.path.join(folder, "xdg-open"), os.path.join(folder, "run")
    os.mkdir(runtime, 0o700)
    with open(tool, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\ncp "$1" "%s/seen"; stat -c %%a "$1" > "%s/mode"; echo "$@" > "%s/words"\n' % ((folder,) * 3))
    os.chmod(tool, 0o755)
    env = {"PATH": folder + ":" + os.environ["PATH"], "XDG_RUNTIME_DIR": runtime}
    with Server(TRACE, "-q", "--open", env=env) as server:
        checks.that(until(lambda: os.path.exists(os.path.join(folder, "words"))), "the program is run")
        token = server.base.strip("/")
        words = open(os.path.join(folder, "words"), encoding="ascii").read()
        checks.that(token not in words and words.startswith(runtime), "the command line has no token:", words)
        checks.that(server.url in open(os.path.join(folder, "seen"), encoding="utf-8").read(), "the file leads to the page")
        checks.equal(open(os.path.join(folder, "mode"), encoding="ascii").read().strip(), "600", "its mode")
        checks.equal(len(os.listdir(runtime)), 1, "until the page is shown")
        server.get("")
        checks.that(until(lambda: not os.listdir(runtime)), "then it is removed")
        checks.equal(server.end(), 0)
    with Server(TRACE, "-q", "--open", env=env) as server:
        checks.equal((server.end(), os.listdir(runtime)), (0, []), "removed at the end")
    env["PATH"] = "/nowhere"
    with Server(TRACE, "--open", env=env) as server:
        checks.equal(server.get("").status, 200, "without a browser")
        checks.that(until(lambda: not os.listdir(runtime)), "the file is removed without one, too")
        server.end()
        checks.that(b"xdg-open" in server.err, server.err)


def usage(checks):
    for words, text in ((["-"], "standard input"), ([], "no input file"), (["x", "--port", "0"], "port"), (["x", "--port", "65536"], "port"),
                        (["x", "--socket", "s", "--port", "1"], "--port"), (["x", "--socket", "s", "--open"], "--open"), (["x", "--socket", "s", "--ipv6"], "--ipv6"),
                        (["x", "--timeout", "0s"], "timeout")):
        done = harness.run("serve", *words)
        checks.that(done.status == 2 and text in done.err.decode(), words, done)
    done = harness.run("serve", "/nowhere/x")
    checks.equal(done.status, 3, done)
    with Server(TRACE, "-q") as server:
        taken = harness.run("serve", TRACE, "-q", "--port", server.port)
        checks.that(taken.status == 3 and b"cannot listen" in taken.err, taken)
        port = server.port
        server.end()
    with Server(TRACE, "-q", "--port", port) as server:
        checks.equal((server.port, server.get("").status), (port, 200), "the port can be used again")
        server.end()
    try:
        with Server(TRACE, "-q", "--ipv6") as server:
            checks.equal((server.host, server.get("", host="[::1]:%d" % server.port).status), ("::1", 200), "::1")
            server.end()
    except RuntimeError as e:
        checks.that("cannot listen" in str(e), e)


def main():
    need()
    checks = harness.Checks()
    with harness.work_folder() as folder:
        signals(checks)
        busy(checks)
        cancel(checks)
        limits(checks)
        queue(checks)
        socket_file(checks, folder)
        opened(checks, folder)
        usage(checks)
    checks.end()


main()
