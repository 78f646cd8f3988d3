#!/usr/bin/env python3
"""`record --insn` against QEMU without it, and against itself: insn_record.py BINARY CASE"""
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

import insn_tools
from insn_tools import Recording, emulated, harness, logged, pcs, states

PARTS = {"signals": ["60"], "forks": [], "threads": ["5"], "code": [], "sums": ["40"], "exec": []}
STREAMS = {"forks": 6, "threads": 11}     # threads: at least one of each turn; numbers may be used again
KILLS = int(os.environ.get("TL_INSN_KILLS", "12"))
STEPS = int(os.environ.get("TL_INSN_STEPS", "1500"))
KNOWN_LEAST = 0.9


def same_output(checks, binary, folder):
    """Programs do what they do without us, `check` finds nothing, and each process and thread has a stream."""
    for flags in ([], ["-mno-outline-atomics"], ["-march=armv8.1-a"]):
        program = insn_tools.build(folder, "-static", *flags)
        for part, words in PARTS.items():
            if flags and part != "threads":
                continue
            expected = emulated([program, part, *words])
            got = Recording(binary, folder, part + "".join(flags), [program, part, *words], "-q", "--snapshots", "10k")
            checks.equal((got.done.returncode, got.done.stdout), (expected.returncode, expected.stdout), part, *flags, got.done.stderr)
            got.check(checks, part, *flags)
            if part != "exec":
                checks.equal(len(got.streams), STREAMS.get(part, 1), "streams of", part, *flags)
            checks.equal(len(got.snapshots), len(got.streams), "files of snapshots of", part)


def same_log(checks, binary, folder):
    """Every pc, in order, as in QEMU's own log; also of a program that is linked dynamically."""
    for flags in (["-static"], ["-O0", "-static"], []):
        program, log = insn_tools.build(folder, *flags), os.path.join(folder, "log")
        sysroot = [] if "-static" in flags else ["-L", "/usr/aarch64-linux-gnu"]
        if emulated([program, "code"], *sysroot).returncode:
            continue                        # no libraries for it
        got = Recording(binary, folder, "log" + "".join(flags), [program, "code"], "-q", prefix=["setarch", "-R"])
        emulated([program, "code"], "-0", program, "-singlestep", "-d", "exec,nochain", "-D", log, *sysroot)
        ours, theirs = list(pcs(got.streams[0])), logged(log)
        checks.that(len(theirs) > 10000, "only", len(theirs), "lines of the log")
        differs = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), None)
        checks.equal((len(ours), differs), (len(theirs), None), "instructions", *flags)


def state_at(binary, stream, number):
    done = subprocess.run([binary, "info", "-q", "--json", "--at", str(number), stream], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["registers"] if done.returncode == 0 else {}


def replayed(checks, binary, folder):
    """The registers replayed from each snapshot are those of the next one; with signals in between, too."""
    program = insn_tools.build(folder, "-static")
    for part, words, interval in (("sums", ["20"], "20k"), ("signals", ["25"], "30k"), ("code", [], "5k")):
        got = Recording(binary, folder, part, [program, part, *words], "-q", "--snapshots", interval)
        beside, stream, known, wanted = got.snapshots[0], got.streams[0], 0, 0
        with open(beside, "rb") as file:
            data = file.read()
        records = list(states(beside))
        checks.that(len(records) > 4, part, "has only", len(records), "snapshots")
        for k in range(1, min(len(records), 40)):
            with open(beside, "wb") as file:
                file.write(data[:insn_tools.HEADER + k * insn_tools.RECORD])
            insns, x, nzcv = records[k]
            registers = state_at(binary, stream, insns)
            for name, value in [("sp" if n == 31 else "x%d" % n, v) for n, v in enumerate(x)] + [("nzcv", nzcv)]:
                said = registers.get(name)
                wanted += 1
                known += said is not None
                checks.that(said is None or int(said, 16) == value, part, "snapshot", k, name, "is", hex(value), "and replayed", said)
        checks.that(known >= KNOWN_LEAST * wanted, part, "only", known, "of", wanted, "registers are known")
        print("%s: %d of %d registers of %d snapshots known by replaying" % (part, known, wanted, len(records) - 1))


class Debugger:
    """gdb's protocol with qemu-aarch64 -g."""
    def __init__(self, folder, words):
        path = os.path.join(folder, "gdb.socket")
        self.qemu = subprocess.Popen(["setarch", "-R", insn_tools.QEMU, *insn_tools.CPU, "-0", words[0], "-g", path, *words], stdout=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(200):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.05)
        self.data = b""

    def ask(self, text):
        self.socket.sendall(b"$%s#%02x" % (text, sum(text) % 256))
        while True:
            begin = self.data.find(b"$")
            end = self.data.find(b"#", begin)
            if begin >= 0 and 0 <= end <= len(self.data) - 3:
                answer, self.data = self.data[begin + 1:end], self.data[end + 3:]
                self.socket.sendall(b"+")
                return answer
            more = self.socket.recv(65536)
            if not more:
                return b""
            self.data += more

    def registers(self):
        """X0 to SP, pc, NZCV."""
        data = bytes.fromhex(self.ask(b"g")[:2 * (33 * 8 + 4)].decode())
        words = [int.from_bytes(data[i * 8:i * 8 + 8], "little") for i in range(33)]
        return tuple(words[:32]), words[32], int.from_bytes(data[264:268], "little") & 0xf0000000

    def close(self):
        self.qemu.kill()
        self.qemu.wait()
        self.socket.close()


def stepped(checks, binary, folder):
    """A snapshot before every instruction, and gdb's registers at each step, of the same program."""
    program = insn_tools.build(folder, "-static")
    os.environ["QEMU_RAND_SEED"] = "1"
    got = Recording(binary, folder, "steps", [program, "sums", "1"], "-q", "--snapshots", "1", prefix=["setarch", "-R"])
    ours = list(zip(states(got.snapshots[0]), pcs(got.streams[0])))
    debugger, differ = Debugger(folder, [program, "sums", "1"]), []
    for number in range(min(STEPS, len(ours))):
        (insns, x, nzcv), pc = ours[number]
        theirs = debugger.registers()
        if (x, pc, nzcv) != theirs or insns != number:
            differ.append((number, hex(pc), [n for n in range(32) if x[n] != theirs[0][n]]))
        debugger.ask(b"s")
    debugger.close()
    checks.equal(differ[:5], [], "steps that differ from gdb's, of", min(STEPS, len(ours)))


def killed(checks, binary, folder):
    """What was executed before a SIGKILL is all there, without a fault, and the program's status is told."""
    program, randomly = insn_tools.build(folder, "-static"), random.Random(7)
    for number in range(KILLS):
        path = os.path.join(folder, "kill%d.xtrace" % number)
        packed = number % 2 == 0
        run = subprocess.Popen([binary, "record", "--insn", *([] if packed else ["--plain"]), "--snapshots", "10k", "-o", path, program, "lines", "1000000"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(randomly.randrange(1, 60)):
            run.stdout.readline()
        time.sleep(randomly.random() / 100)
        child = int(subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True, check=True).stdout)
        os.kill(child, signal.SIGKILL)
        said = run.communicate(timeout=insn_tools.SECONDS)[1]
        checks.equal(run.returncode, 128 + signal.SIGKILL, "status", said[-300:])
        checks.that("was killed (Killed)" in said, "nothing about the kill:", said[-500:])
        got = Recording.__new__(Recording)
        got.binary, got.path = binary, path
        got.find()
        checks.equal(len(got.streams), 1, "streams")
        got.check(checks, "kill", number)
        if packed:
            got.unpack()
        insns = sum(1 for _ in pcs(got.streams[0]))
        checks.that("{:,} instructions".format(insns) in said, insns, "instructions are there, and it says", said[:300])


REPEATABLE = ["setarch", "-R"]


def repeatable(folder, *flags):
    """A program that does the same each time, with REPEATABLE before it."""
    os.environ["QEMU_RAND_SEED"] = "1"
    return insn_tools.build(folder, *flags)


def packed(checks, binary, folder):
    """Compressed streams have the same content, and an index by which a range is found; so has what a kill left of `record`."""
    program = repeatable(folder, "-static")
    words = [program, "sums", "300"]
    plain = Recording(binary, folder, "plain", words, "-q", prefix=REPEATABLE)
    got = Recording(binary, folder, "packed", words, "-q", prefix=REPEATABLE, packed=True)
    checks.equal([name.endswith(".zst") for name in got.names], [True] * 2, got.names)
    sizes = [sum(os.path.getsize(file) for file in one.streams) for one in (plain, got)]
    checks.that(sizes[0] > 4 << 20 and sizes[1] < sizes[0] / 5, "sizes", sizes)
    got.check(checks, "packed")
    with open(got.streams[0], "rb") as file:
        checks.equal(file.read().count(b"TLXI"), 1, "indexes")
    for one in (["0..20"], ["300k..300020"], ["1M..1000020"]):
        texts = [subprocess.run([binary, "convert", "--to", "csv", "--insns", *one, *x.streams], capture_output=True, text=True, check=True).stdout for x in (plain, got)]
        rows = [[re.sub(r"^(\d+,\w+),\d+,", r"\1,", line) for line in text.splitlines()] for text in texts]
        checks.that(len(rows[0]) > 20 and rows[0] == rows[1], "range", *one, next((pair for pair in zip(*rows) if pair[0] != pair[1]), None))
    got.unpack()
    checks.that(list(pcs(plain.streams[0])) == list(pcs(got.streams[0])), "instructions differ")
    with open(plain.snapshots[0], "rb") as one, open(got.snapshots[0], "rb") as two:
        checks.equal(len(one.read()), len(two.read()), "bytes of snapshots")


def address_of(program, name, executed):
    """Of a function: in the file, and in memory, where most functions of the file are among what was executed."""
    names = subprocess.run(["aarch64-linux-gnu-nm", program], capture_output=True, text=True, check=True).stdout
    functions = {word: int(at, 16) for at, word in re.findall(r"^([0-9a-f]+) [Tt] (\w+)$", names, re.M)}
    moved = {pc - functions["_start"] for pc in executed if (pc - functions["_start"]) % 4096 == 0}
    best = max(moved, key=lambda by: sum(at + by in executed for at in functions.values()))
    return functions[name], functions[name] + best


def sliced(checks, binary, folder):
    """A slice is that part of the whole; registers at its begin are those of the whole; the program does what it does."""
    for flags in (["-static"], ["-fPIE", "-pie"]):
        program = repeatable(folder, *flags)
        words, sysroot = [program, "lines", "3"], [] if "-static" in flags else ["-L", "/usr/aarch64-linux-gnu"]
        expected = emulated(words, *sysroot)
        if expected.returncode:
            continue                        # no libraries for it
        whole = Recording(binary, folder, "whole" + flags[0], words, "-q", "--snapshots", "1", prefix=REPEATABLE)
        registers, all_pcs = list(states(whole.snapshots[0])), list(pcs(whole.streams[0]))
        pointers = insn_tools.thread_pointers(whole.snapshots[0])
        checks.that(pointers[0] == 0 and pointers[-1] != 0, "TPIDR_EL0 is never set")
        inside, address = address_of(program, "work", set(all_pcs))
        calls = [i for i, pc in enumerate(all_pcs) if pc == address]
        begin = calls[1]
        returns = all_pcs.index(all_pcs[begin - 1] + 4, begin)
        last = len(all_pcs)
        for place, most, at, end in (("0", "700", 0, 700), ("1234", "1000", 1234, 2234), (str(last - 50), "100", last - 50, last),
                                     ("2k", None, 2000, last), ("work#2", "300", begin, begin + 300), ("work#2", None, begin, returns),
                                     (hex(inside), "5", calls[0], calls[0] + 5)):
            options = ["--slice-insns", most] if most else []
            got = Recording(binary, folder, "slice", words, "-q", "-f", "--slice-at", place, *options, prefix=REPEATABLE)
            checks.equal((got.done.returncode, got.done.stdout), (0, expected.stdout), place, got.done.stderr)
            got.check(checks, place)
            checks.that(list(pcs(got.streams[0])) == all_pcs[at:end], "slice", place, most, *flags, "is another part")
            checks.equal(next(states(got.snapshots[0]))[1:], registers[at][1:], "registers of", place, *flags)
            checks.equal(insn_tools.thread_pointers(got.snapshots[0])[0], pointers[at], "TPIDR_EL0 at", place, *flags)
        packed_one = Recording(binary, folder, "packed", words, "-q", "-f", "--slice-at", "work#2", prefix=REPEATABLE, packed=True)
        packed_one.unpack()
        checks.that(list(pcs(packed_one.streams[0])) == all_pcs[begin:returns], "compressed")
        if "-static" not in flags:
            in_library(checks, binary, folder, words, all_pcs, registers)
    others(checks, binary, folder)


def in_library(checks, binary, folder, words, all_pcs, registers):
    """The second call of a function of libc, to its return; and of one that nobody has."""
    got = Recording(binary, folder, "library", words, "-q", "--slice-at", "fflush#2", prefix=REPEATABLE)
    names = subprocess.run(["aarch64-linux-gnu-nm", "-D", "/usr/aarch64-linux-gnu/lib/libc.so.6"], capture_output=True, text=True, check=True).stdout
    inside = int(re.search(r"^([0-9a-f]+) . fflush@", names, re.M).group(1), 16)
    if checks.equal((got.done.returncode, len(got.streams)), (0, 1), "a slice in libc", got.done.stderr):
        part = list(pcs(got.streams[0]))
        begin = [i for i, pc in enumerate(all_pcs) if pc == part[0]][1]
        checks.equal((part[0] - inside) % 4096, 0, "begins with fflush")
        checks.that(part == all_pcs[begin:begin + len(part)], "a slice in libc is another part")
        checks.equal(all_pcs[begin + len(part)], registers[begin][1][30], "where it returns to")
        got.check(checks, "a slice in libc")
    got = Recording(binary, folder, "nobody", words, "-q", "--slice-at", "no_such_function", prefix=REPEATABLE)
    checks.that(got.done.returncode == 125 and "neither it nor a library that it loaded has a function no_such_function" in got.done.stderr, got.done.stderr)
    checks.equal(got.names, [], "files of no_such_function")


def others(checks, binary, folder):
    """Slices of threads, children and handlers: one thread, once, and the others run on."""
    program = insn_tools.build(folder, "-static")
    for part, words, place in (("threads", ["20"], "run#7"), ("signals", ["25"], "on_tick#9"), ("forks", [], "main"), ("threads", ["5"], "3k")):
        expected = emulated([program, part, *words])
        got = Recording(binary, folder, "other", [program, part, *words], "-q", "-f", "--slice-at", place)
        checks.equal((got.done.returncode, got.done.stdout), (0, expected.stdout), part, place, got.done.stderr)
        checks.equal(len(got.streams), 1, "streams of", part)
        got.check(checks, part, place)
    for part, place, about in (("sums", "main#2", "of main#2 there were 1 calls"), ("sums", "900M", "no thread came to instruction 900000000"),
                               ("sums", "nowhere", "has no function nowhere"), ("sums", "main#", "expected a number such as 5M")):
        got = Recording(binary, folder, "none", [program, part], "-q", "--slice-at", place)
        checks.that(got.done.returncode == 125 and about in got.done.stderr, place, got.done.stderr)
        checks.equal(got.names, [], "files of", place)


def written(checks, binary, folder):
    """Other outputs; a disk that is full; `record` itself is killed: the program ends as without it, and what is there is whole."""
    program = insn_tools.build(folder, "-static")
    words = [program, "sums", "100"]
    expected = emulated(words).stdout
    for suffix in ("champsim.zst", "jsonl", "xtrace.jsonl"):
        path = os.path.join(folder, "out." + suffix)
        done = subprocess.run([binary, "record", "--insn", "-q", "--slice-at", "main", "-o", path, *words], capture_output=True, text=True, check=False)
        checks.equal((done.returncode, done.stdout, done.stderr), (0, expected, ""), suffix)
        checks.that(os.path.getsize(path) > 1000, suffix, "is empty")
    checks.equal([name for name in os.listdir(folder) if "live" in name or name.endswith(".xtrace")], [], "left behind")
    small = os.path.join(folder, "small")
    os.makedirs(small)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small], capture_output=True, check=False).returncode == 0:
        try:
            got = Recording(binary, small, "full", words)
            checks.equal((got.done.returncode, got.done.stdout), (125, expected), "a full disk", got.done.stderr[-300:])
            checks.that("instructions are lost" in got.done.stderr, got.done.stderr)
        finally:
            subprocess.run(["umount", small], check=True)
    else:
        print("no file system may be mounted here: a full disk was not tried")
    for number in range(KILLS // 4):
        path = os.path.join(folder, "killed%d.xtrace" % number)
        run = subprocess.Popen([binary, "record", "--insn", "--plain", "-o", path, program, "lines", "2000"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        lines = [run.stdout.readline() for _ in range(20 + 10 * number)]
        run.kill()
        lines += run.stdout.readlines()     # to its end: the program runs on
        run.wait()
        checks.equal(len(lines), 2000, "lines after the kill of record")
        left = subprocess.run([binary, "check", path + ".live"], capture_output=True, text=True, check=False)
        # A SIGKILL may cut what is being written: at most the last token.
        faults = [line for line in left.stdout.splitlines() if ": xtrace." in line]
        checks.that(all(": xtrace.truncated: " in line for line in faults) and len(faults) <= 1, "what was left", left.stdout, left.stderr)
        stream = next(os.path.join(path + ".live", name) for name in os.listdir(path + ".live") if "xinsndata" in name)
        read = subprocess.run([binary, "convert", "--to", "none", "-o", "-", stream], capture_output=True, text=True, check=False)
        checks.that(read.returncode in (0, 3), "is not read", read.returncode, read.stderr)


def refused(checks, binary, folder):
    """What cannot be recorded, and says so before anything runs."""
    program = insn_tools.build(folder, "-static")
    def fails(about, *words, status=125, **more):
        done = subprocess.run([binary, "record", *words], capture_output=True, text=True, check=False, cwd=folder, **more)
        checks.equal((done.returncode, done.stdout), (status, ""), *words, done.stderr)
        checks.that(about in done.stderr, *words, "does not say", about, "but", done.stderr)
    fails("is not a program for AArch64", "--insn", "/bin/true")
    fails("--insn is for programs of AArch64", "--insn", insn_tools.__file__) if os.access(insn_tools.__file__, os.X_OK) else None
    fails("--mode does not go with --insn", "--insn", "-m", "fdr", program)
    fails("--hint goes with --insn", "--hint", "/bin/true")
    fails("has SVE", "--insn", "--qemu-cpu", "max", program)
    fails("did not come to a HINT #9", "--insn", "--hint", program, "lines", "0")
    fails("it is in the package qemu-user", "--insn", program, env={"PATH": "/nowhere"})
    fails("such", "--insn", "nowhere-to-be-found", status=127)
    os.makedirs(os.path.join(folder, "mine.xtrace"))
    with open(os.path.join(folder, "mine.xtrace", "letter"), "w", encoding="ascii") as file:
        file.write("dear")
    fails("the folder exists; -f replaces it", "--insn", "-o", "mine.xtrace", program)
    fails("is not a recording of instructions", "--insn", "-f", "-o", "mine.xtrace", program)
    checks.equal(os.listdir(os.path.join(folder, "mine.xtrace")), ["letter"], "what is there stays")
    checks.equal([name for name in os.listdir(folder) if "live" in name], [], "nothing is left")


def crowded(checks, binary, folder):
    """More threads than are recorded at one time: the others run, and are counted."""
    program = insn_tools.build(folder, "-static")
    got = Recording(binary, folder, "crowd", [program, "threads", "300"])
    checks.equal((got.done.returncode, got.done.stdout), (0, "2970000\n"), got.done.stderr[-300:])
    missing = [line for line in got.done.stderr.splitlines() if "threads are missing" in line]
    recorded = len(got.streams)
    if missing:                             # they may end faster than they begin
        checks.equal(recorded + int(missing[0].split()[2]), 601, missing)
    else:
        checks.equal(recorded, 601, "streams")
    got.check(checks, "crowd")


CASES = {"output": same_output, "log": same_log, "replay": replayed, "steps": stepped, "kill": killed, "refuse": refused, "packed": packed, "slice": sliced, "written": written, "crowd": crowded}


insn_tools.main(CASES)
