#!/usr/bin/env python3
"""What `record --insn` recorded, as files for simulators: insn_simulators.py BINARY CASE"""
import os
import subprocess

import insn_tools
from insn_tools import Recording, harness, pcs
import memtrace_reader
from memtrace_reader import EVENT, UNCOMPLETED, WINDOW, XFER

SYSTEM_CALLS = {"sums": 64, "threads": 220, "code": 222, "signals": 139}   # write, clone, mmap, rt_sigreturn


def functions(program):
    lines = subprocess.run(["aarch64-linux-gnu-nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}


def memtrace(checks, binary, folder):
    """Files for DynamoRIO keep its rules, and have every instruction; signals are where the program's handlers ran."""
    for part, words, flags in (("sums", ["3"], []), ("threads", ["3"], ["-march=armv8.1-a"]), ("code", [], []), ("signals", ["8"], [])):
        program = insn_tools.build(folder, "-static", *flags)
        got = Recording(binary, folder, part, [program, part, *words], "-q")
        out, calls, times = os.path.join(folder, part), set(), set()
        os.makedirs(out)
        done = subprocess.run([binary, "convert", "-q", "--split", "track", "-o", os.path.join(out, "x.memtrace"), got.path], capture_output=True, text=True, check=False)
        checks.equal(done.returncode, 0, part, done.stderr)
        for name, stream in zip(sorted(os.listdir(out)), got.streams):
            with open(os.path.join(out, name), "rb") as file:
                trace = memtrace_reader.Memtrace(file.read())
            kinds = [what for _, what, _ in trace.marks]
            failed = kinds.count(UNCOMPLETED)
            checks.equal(len(trace.insns) + failed, sum(1 for _ in pcs(stream)), part, "instructions")
            checks.equal(kinds.count(WINDOW), 0, part, "gaps")
            calls |= {insn.call[0] for insn in trace.insns if insn.call}
            times |= set(trace.times)
        checks.equal(len(os.listdir(out)), len(got.streams), part, "files")
        checks.that(SYSTEM_CALLS[part] in calls, part, "has the system calls", calls)
        checks.equal(len(times) > 1, part == "threads", part, "times", times)
        if part != "signals":
            checks.equal(kinds, [], part, "marks")
            continue
        where = functions(program)
        handlers = [trace.insns[at].pc for at, what, _ in trace.marks if what == EVENT]
        checks.equal((failed, handlers.count(where["on_fault"])), (5, 5), "faults")
        checks.equal(handlers.count(where["on_tick"]), kinds.count(XFER), "ticks, all of which return")
        checks.that(handlers.count(where["on_tick"]) > 8 and len(handlers) == kinds.count(XFER) + 5, "handlers", handlers)


CASES = {"memtrace": memtrace}


insn_tools.main(CASES)
