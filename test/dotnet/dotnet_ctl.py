#!/usr/bin/env python3
"""`ctl` of programs of .NET whose samples are recorded: what happens in a pause is not in the log: dotnet_ctl.py BINARY RUNTIME"""
import json
import os
import shutil
import subprocess
import sys

from dotnet_tools import build, build_for_clr, by_class, is_fine, need_clr, report

import harness

SECONDS = 120


class Recorded:
    """A recorded program that waits for lines."""

    def __init__(self, binary, folder, program, *options):
        self.binary = binary
        self.run = subprocess.Popen([binary, "record", "-q", *options, program, "phases"], cwd=folder, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = None

    def ready(self, checks):
        checks.equal(self.run.stdout.readline(), "ready\n", "it runs")
        self.pid = self.pid or subprocess.run(["pgrep", "-P", str(self.run.pid)], capture_output=True, text=True, check=True).stdout.strip()

    def go(self):
        self.run.stdin.write("go\n")
        self.run.stdin.flush()

    def ctl(self, *words):
        done = subprocess.run([self.binary, "ctl", self.pid, *words], capture_output=True, text=True, check=False, timeout=SECONDS)
        return done.returncode, done.stdout, done.stderr

    def end(self, checks):
        out, said = self.run.communicate(timeout=SECONDS)
        checks.equal((self.run.returncode, out), (0, ""), said)


def status(checks, recorded):
    code, out, said = recorded.ctl("status")
    checks.equal((code, said), (0, ""), "status")
    return dict(line.split(None, 1) for line in out.splitlines())


def phases(checks, binary, folder, program):
    recorded = Recorded(binary, folder, program, "--alloc", "--heap", "-o", "p.log")
    recorded.ready(checks)
    recorded.go()
    recorded.ready(checks)
    said = status(checks, recorded)
    checks.equal((said["mode"], said["file"], said["state"][:9]), ("samples", os.path.join(folder, "p.log.live"), "recording"), said)
    checks.equal(recorded.ctl("stop")[0], 0, "stop")
    checks.that("was not recording" in recorded.ctl("stop")[2], "the second stop")
    checks.equal(status(checks, recorded)["state"], "waiting for traceloom ctl %s start" % recorded.pid, "in a pause")
    recorded.go()
    recorded.ready(checks)
    code, _, said = recorded.ctl("flush")
    checks.that(code == 0 and "is in the log" in said, "flush", said)
    code, _, said = recorded.ctl("set", "threshold=5us")
    checks.that(code == 1 and "know start, stop, flush and status" in said, "set", code, said)
    checks.equal(recorded.ctl("start")[0], 0, "start")
    recorded.go()
    recorded.end(checks)
    path = os.path.join(folder, "p.log")
    is_fine(checks, binary, path)
    made = {name: row["count"] for name, row in by_class(report(checks, binary, path, "--by", "alloc")).items()}
    checks.equal([made.get("Told.Phases." + name, 0) for name in ("First", "Second", "Third")], [1000, 0, 1000], "objects")
    rows = report(checks, binary, path, "--by", "func")
    total = {row["name"]: row["calls"] for row in rows["functions"]}
    below = [total.get("Told.Phases:Do" + name, 0) for name in ("First", "Second", "Third")]
    checks.that(below[1] == 0 and min(below[0], below[2]) > 0 and below[2] < 2.5 * below[0] + 20, "samples:", below)
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file.read().splitlines()]
    marks = [line[1] for line in lines if line[:2] in (["prf", "tps"], ["prf", "trs"])]
    checks.equal(marks, ["tps", "trs"], "pauses")
    where = [i for i, line in enumerate(lines) if line[0] == "prf" and line[1] in ("tps", "trs")]
    inside = [line[:2] for line in lines[where[0] + 1:where[1]]]
    checks.that(not any(words in inside for words in (["prc", "cpu"], ["thr", "cpu"], ["gch", "alt"])), "in the pause:", inside)
    checks.equal(sum(1 for line in lines if line[:2] == ["gch", "gcs"]), sum(1 for line in lines if line[:2] == ["gch", "gcf"]), "collections")
    checks.that(["gch", "gcs"] in inside and ["jit", "cms"] in inside, "collections and compilations are told in a pause, too:", inside)


def later(checks, binary, folder, program):
    """Recording begins with a command."""
    recorded = Recorded(binary, folder, program, "--alloc", "--start", "off", "-o", "l.log")
    recorded.ready(checks)
    recorded.go()
    recorded.ready(checks)
    checks.equal(recorded.ctl("start")[0], 0, "start")
    recorded.go()
    recorded.ready(checks)
    recorded.go()
    recorded.end(checks)
    path = os.path.join(folder, "l.log")
    is_fine(checks, binary, path)
    made = {name: row["count"] for name, row in by_class(report(checks, binary, path, "--by", "alloc")).items()}
    checks.equal([made.get("Told.Phases." + name, 0) for name in ("First", "Second", "Third")], [0, 1000, 1000], "objects")
    info = json.loads(subprocess.run([binary, "info", "--json", path], capture_output=True, text=True, check=True).stdout)
    checks.that(info["events"] > 0, info)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    checks.equal((text.count("\nprf cfg TracingSuspendedOnStart T\n"), text.count("\nprf tps "), text.count("\nprf trs ")), (1, 0, 1), "lines")


def main():
    binary, runtime = os.path.abspath(sys.argv[1]), sys.argv[2]
    if runtime == "clr":
        need_clr()
    if not shutil.which("mcs") or not shutil.which("mono"):
        harness.skip("mono-mcs or mono-runtime is not installed")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        program = build_for_clr(folder) if runtime == "clr" else build(folder)
        phases(checks, binary, folder, program)
        later(checks, binary, folder, program)
    checks.end()


main()
