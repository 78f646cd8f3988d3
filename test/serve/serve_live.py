#!/usr/bin/env python3
"""A program that is being recorded, through `serve`: its numbers grow while it runs, and are those of the report at the end. Killed
at any point, by SIGKILL, neither the program nor the server leaves anything but the recording."""
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serve_lib import INPUT, LIMIT, Server, harness, need, until

SOURCE = r"""
#include <stdio.h>
__attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
__attribute__((noinline)) int branch(int n) { int s = 0; for (int i = 0; i < n; i++) s += leaf(i); return s; }
int main(void) {
    char line[16];
    int s = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    while (puts("ready"), fgets(line, sizeof line, stdin)) s += branch(100);
    return s == 7;
}
"""


class Program:
    def __init__(self, folder):
        with open(os.path.join(folder, "p.c"), "w", encoding="ascii") as file:
            file.write(SOURCE)
        subprocess.run(["gcc", "-O1", "-g", "-finstrument-functions", "p.c", "-o", "p"], cwd=folder, check=True)
        self.process = subprocess.Popen(harness.binary() + ["record", "-q", "-o", "p.tlp", "./p"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.lines = 0
        self.wait()

    def wait(self):
        line = self.process.stdout.readline()
        if line.strip() != "ready":
            self.process.kill()
            said = self.process.communicate()[1]
            harness.skip("the program is not recorded: " + said.strip()[-300:])

    def finish(self):
        self.process.stdin.close()
        self.process.stdin = None
        self.process.communicate(timeout=LIMIT)

    def step(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.lines += 1
        self.wait()


def leaves(answer):
    """Calls that ended."""
    return answer.json()["sections"]["meta"]["calls"]


def grows(checks, folder):
    program = Program(folder)
    path = os.path.join(folder, "p.tlp.live")
    program.step()
    checks.that(until(lambda: os.path.exists(path)), "a live recording")
    with Server("p.tlp.live", "-q", cwd=folder) as server:
        checks.that(b'"live":true' in first_event(server), "news of a live recording")
        before = leaves(server.ask("profile"))
        checks.that(before >= 101, "calls so far", before)
        for _ in range(5):
            program.step()
            checks.equal(leaves(server.ask("profile")), before, "until it is read again")
            checks.that(until(lambda: leaves(server.ask("profile", fresh=1)) == before + 101), "it grows", before)
            before += 101
        program.finish()
        checks.that(until(lambda: os.path.exists(path[:-5]) and not os.path.exists(path)), "it gets its name")
        checks.that(b'"live":false' in first_event(server), "news of its end")
        final = server.ask("profile", fresh=1)
        told = harness.run("report", "p.tlp", "--json", cwd=folder).json()["functions"]
        checks.equal(leaves(final), sum(f["calls"] for f in told), "at the end")
        checks.equal(server.ask("table", by="func").json()["functions"], told, "the report")
        checks.equal(server.end(), 0, "^C")


def first_event(server):
    with server.connect() as s:
        s.sendall(server.request(server.base + "live"))
        data = b""
        while b"\n\n" not in data.partition(b"\r\n\r\n")[2]:
            data += s.recv(4096)
        return data


def grows_inside(checks, folder):
    """A trace that is a folder: what happens in its files is news."""
    trace = os.path.join(folder, "trace.ctf")
    shutil.copytree(os.path.join(INPUT, "ctf-2"), trace)
    stream = max((os.path.join(trace, name) for name in os.listdir(trace) if name != "metadata"), key=os.path.getsize)
    size = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(trace) for name in names)
    with Server("trace.ctf", "-q", cwd=folder) as server:
        checks.that(b'{"schema":1,"bytes":%d,"changed":false,"live":false}' % size in first_event(server), "news of a folder")
        with open(stream, "ab") as file:
            file.write(b"\0")
        checks.that(b'{"schema":1,"bytes":%d,"changed":true,"live":true}' % (size + 1) in first_event(server), "news of a file in it")


def killed(checks, folder):
    program = Program(folder)
    program.step()
    path = os.path.join(folder, "p.tlp.live")
    checks.that(until(lambda: os.path.exists(path)), "a live recording")
    with Server("p.tlp.live", "-q", cwd=folder) as server:
        children = subprocess.run(["pgrep", "-P", str(program.process.pid)], capture_output=True, text=True).stdout.split()
        for pid in children:
            os.kill(int(pid), signal.SIGKILL)
        program.finish()
        last = server.ask("profile", fresh=1)
        checks.equal(last.status, 200, "what a killed program left", last.body[:300])
        checks.that(leaves(last) >= 101, "its calls")
        before = sorted(os.listdir(folder))
        checks.equal(server.end(signal.SIGKILL), -signal.SIGKILL, "SIGKILL")
        checks.equal(sorted(os.listdir(folder)), before, "a killed server leaves nothing")
    left = [p for p in os.listdir("/proc") if p.isdigit() and is_of(p, server.process.pid)]
    checks.equal(left, [], "processes of a killed server")


def is_of(pid, parent):
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1]) == parent
    except OSError:
        return False


def main():
    need()
    if not shutil.which("gcc"):
        harness.skip("no gcc")
    checks = harness.Checks()
    for part in (grows_inside, grows, killed):
        with harness.work_folder() as folder:
            part(checks, folder)
    checks.end()


main()
