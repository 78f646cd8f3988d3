#!/usr/bin/env python3
"""Compares traceloom's results for the recordings of xtrace.sh with the program, QEMU and objdump: xtrace_check.py BINARY FOLDER"""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HEADER, RECORD = 24, 1424               # bytes of the recorder's snapshots
SNAPSHOTS = 6                           # compared with replayed states
KNOWN_LEAST = 0.95                      # of the registers
NAMES = {293: "rseq"}                   # QEMU 7 does not know these
RENAMED = {"b.cc": "b.lo", "b.cs": "b.hs"}


class Recording:
    def __init__(self, checks, binary, folder, name):
        self.checks, self.binary, self.folder, self.name = checks, binary, os.path.join(folder, name), name
        self.app = os.path.join(folder, "app")
        names = sorted(os.listdir(self.folder))
        self.streams = [os.path.join(self.folder, n) for n in names if "xinsndata" in n]
        self.snapshots = [os.path.join(self.folder, n) for n in names if "xsnapshot" in n]
        with open(os.path.join(folder, name + ".txt"), encoding="ascii") as file:
            self.said = {key: int(number) for key, number in (line.split("\t") for line in file)}

    def run(self, *arguments):
        done = subprocess.run([self.binary] + [str(a) for a in arguments], capture_output=True, check=False, cwd=self.folder)
        self.checks.equal(done.returncode, 0, self.name, *arguments, "status:", done.stderr.decode()[-500:])
        return done.stdout.decode("utf-8")

    def json(self, *arguments):
        return json.loads(self.run(*arguments) or "{}")

    def check(self, *paths):
        for path in paths:
            self.checks.that(self.run("check", path).endswith(": ok\n"), self.name, "check of", path)


def check_calls(recording, path):
    """How often each function of the program was called, counted by the program itself."""
    rows = {row["name"]: row for row in recording.json("report", "-q", "--json", "--by", "func", "-e", recording.app, path)["functions"]}
    for name, calls in recording.said.items():
        if name != "result":
            recording.checks.equal(rows.get(name, {"calls": 0})["calls"], calls, recording.name, "calls of", name)
    return rows


def check_syscalls(recording, strace):
    """The names and numbers of system calls, from QEMU's log of another run."""
    with open(strace, encoding="utf-8", errors="replace") as file:
        found = re.findall(r"^\d+ (?:Unknown syscall (\d+)|(\w+)\()", file.read(), re.M)
    expected = collections.Counter(name or NAMES.get(int(number), number) for number, name in found)
    got = {row["name"]: row["count"] for row in recording.json("report", "-q", "--json", "--by", "syscall", recording.streams[0])["syscalls"]}
    recording.checks.equal(got, dict(expected), "system calls")
    # The counts are in the program's memory when it writes them.
    lines = recording.run("report", "-q", "--by", "syscall", "--calls", recording.streams[0])
    recording.checks.that("writev(1" in lines, "writev() is among the calls:", lines[-1500:])


def check_state(recording):
    """Replaying from the first snapshot gives the registers of later ones."""
    checks, stream, beside = recording.checks, recording.streams[0], recording.snapshots[0]
    lines = recording.run("convert", "-q", "--to", "jsonl", "-o", "-", beside).splitlines()
    records = [json.loads(line)["fields"] for line in lines]
    with open(beside, "rb") as file:
        data = file.read()
    checks.equal(len(data), HEADER + RECORD * len(records), "size of the snapshots")
    with open(beside, "wb") as file:
        file.write(data[:HEADER + RECORD])
    known = wanted = 0
    for number in range(1, len(records), max(1, len(records) // SNAPSHOTS)):
        fields = records[number]
        got = recording.json("info", "-q", "--json", "--at", fields["insns"], stream)
        pairs = [("sp" if n == 31 else "x%d" % n, int(value, 16)) for n, value in enumerate(fields["x"])]
        for name, value in pairs + [("nzcv", int(fields["nzcv"], 16))]:
            said = got["registers"][name]
            wanted += 1
            if said is not None:
                known += 1
                checks.equal(int(said, 16), value, "snapshot", number, name)
    with open(beside, "wb") as file:
        file.write(data)
    checks.that(known >= KNOWN_LEAST * wanted > 0, "only", known, "of", wanted, "registers are known")
    print("%d of %d registers of %d snapshots known by replaying" % (known, wanted, len(records)))


def plain(text):
    """An instruction in a common form: decimal numbers, no remarks, one name for each condition."""
    text = re.sub(r"//.*|<[^>]*>|[#,\[\]]", " ", text)
    words = [RENAMED.get(word, word) for word in text.split()]
    return " ".join(str(int(word, 16)) if re.fullmatch(r"-?0x[0-9a-f]+|0+", word) else word for word in words)


def check_listing(recording, objdump):
    """Every executed instruction of the program's own functions, against objdump at the same address."""
    theirs, own, inside = {}, set(recording.said) - {"result"}, False
    with open(objdump, encoding="utf-8") as file:
        for line in file:
            begin = re.match(r"[0-9a-f]+ <(\w+)>:", line)
            inside = begin.group(1) in own if begin else inside
            code = re.match(r" +([0-9a-f]+):\t([0-9a-f]{8}) \t(.*)", line)
            if inside and code:
                operation, _, operands = code.group(3).partition("\t")
                operands = re.sub(r"\b([0-9a-f]+) <", r"0x\1 <", operands)      # addresses have no 0x there
                theirs[int(code.group(1), 16)] = (code.group(2), plain(operation + " " + operands))
    ours, text = {}, recording.run("convert", "-q", "--to", "listing", "-o", "-", recording.streams[0])
    for line in text.splitlines():
        found = re.match(r" *\d+ +(0x[0-9a-f]+)  ([0-9a-f]{8})  (\S+) *(.*)", line)
        if found and int(found.group(1), 16) in theirs:
            operands = line[found.start(3) + 8:].split("  ")[0]         # details follow at least two spaces
            ours[int(found.group(1), 16)] = (found.group(2), plain(found.group(3) + " " + operands))
    recording.checks.that(len(ours) > 60, "only", len(ours), "instructions of the program's functions were executed")
    for pc, line in sorted(ours.items()):
        if line[1].startswith(".inst"):                                 # without LLVM some have no name
            line = (line[0], theirs[pc][1])
        recording.checks.equal(line, theirs[pc], "the instruction at %#x" % pc)


def check_again(recording):
    """The recorder writes pcs where we do, so a rewritten stream has the same bytes; and a slice is right."""
    again, slice_ = os.path.join(recording.folder, "again.bin"), os.path.join(recording.folder, "s.xtrace")
    recording.run("convert", "-q", "--to", "xtrace", "-o", again, recording.streams[0])
    with open(again, "rb") as first, open(recording.streams[0], "rb") as second:
        recording.checks.that(first.read() == second.read(), "a stream written again has other bytes")
    recording.run("convert", "-q", "--slice-at", 2, "-n", 100000, "-o", slice_, recording.streams[0])
    recording.check(slice_)
    names = [name for name in os.listdir(slice_) if "xinsndata" in name]
    found = recording.json("info", "-q", "--json", os.path.join(slice_, names[0]))
    count = next((c["events"] for c in found["classes"] if c["name"] == "insn"), 0)
    recording.checks.equal(count, 100000, "instructions of the slice")


def main():
    binary, folder = sys.argv[1:]
    checks = harness.Checks()
    whole, part, threads = (Recording(checks, binary, folder, name) for name in ("whole", "part", "threads"))
    whole.check(*whole.streams, *whole.snapshots)
    rows = check_calls(whole, whole.streams[0])
    checks.equal(rows.get("main", {"calls": 0})["calls"], 1, "calls of main")
    check_syscalls(whole, os.path.join(folder, "strace.txt"))
    check_listing(whole, os.path.join(folder, "objdump.txt"))
    check_state(whole)
    check_again(whole)
    part.check(*part.streams, *part.snapshots)
    check_calls(part, part.streams[0])
    checks.equal(len(threads.streams), 2, "streams of two threads")
    threads.check(threads.folder)
    check_calls(threads, threads.folder)
    checks.end()


main()
