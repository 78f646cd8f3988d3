#!/usr/bin/env python3
"""Makes instruction streams and snapshots of aarch64 by running small programs on a simulated machine, always the same
for a seed; and damaged ones (xtrace_damage.py):

    xtrace_gen.py --list
    xtrace_gen.py --one NAME FOLDER     the files of a case
    xtrace_gen.py --pack FOLDER NAME... each case as one file, for tl_folder_open_memory()
    xtrace_gen.py --suite FOLDER        all of them, each in a folder of its name
    xtrace_gen.py --elf NAME FILE       symbols of the program of a case

A case is a list of files, each with its bytes and the expected answers: see File."""
import os
import random
import struct
import sys

import xtrace_record
from xtrace_machine import EQ, LO, NE, VECTOR, Code, Cpu, Memory

TEXT, DATA = 0x401000, 0x600000
TIME = 1750000000


class File:
    """`events`: lines of jsonl. `damage`: the offset where reading ends and its rule, or None. `problems`: (offset, rule)
    for check. `reports`, `cpu`: of intact streams."""

    def __init__(self, name, data, events, problems=(), damage=None, reports=None, cpu=None, record=None, shots=None):
        self.name, self.data, self.events, self.problems = name, bytes(data), events, list(problems)
        self.damage, self.reports, self.cpu, self.record, self.shots = damage, reports, cpu, record, shots


# ---------------------------------------------------------------- the program

def arithmetic(code, rng, count):
    for _ in range(count):
        rd, rn, rm = (rng.randrange(9, 16) for _ in range(3))
        rng.choice((code.add, code.sub, code.eor, code.mul))(rd, rn, rm)


def fill(code, rng):
    """x0: target, x1: count. Stores of all sizes."""
    code.label("fill")
    code.mov(2, 0)
    code.const(9, rng.getrandbits(64))
    code.label("fill.loop")
    for size in (1, 2, 4, 8):
        code.str(size, 9, 2, 8 * size)
    code.strq(rng.randrange(32), 2, 80)
    arithmetic(code, rng, rng.randrange(1, 4))
    code.addi(9, 9, rng.randrange(1, 4000))
    code.addi(2, 2, rng.choice((96, 104)))
    code.subs(1, 1, 1)
    code.bcond(NE, "fill.loop")
    code.ret()


def total(code, rng):
    """x0: source, x1: count; returns a sum in x0. Loads of all sizes, and branches that depend on them."""
    code.label("sum")
    code.const(3, 0)
    code.label("sum.loop")
    for size in (1, 2, 4, 8):
        code.ldr(size, 4, 0, 8 * size)
        code.add(3, 3, 4)
    code.tbz(4, rng.randrange(1, 6), "sum.even")
    code.ldr_post(5, 0, 8)
    code.prfm(0)
    code.label("sum.even")
    code.addi(0, 0, 88)
    code.subs(1, 1, 1)
    code.csel(3, 3, 4, rng.choice((EQ, NE, LO)))
    code.bcond(NE, "sum.loop")
    code.mov(0, 3)
    code.ret()


def copy(code, rng, vectors):
    """x0: target, x1: source, x2: count. Pairs and vectors."""
    code.label("copy")
    code.cbz(2, "copy.end")
    code.pair(True, 3, 4, 1, 0)
    code.pair(False, 3, 4, 0, 16)
    code.pairq(True, 0, 1, 1, 32)
    code.eorv(1, 0, 1)
    code.pairq(False, 0, 1, 0, 32)
    code.ldrq(2, 1)
    code.strq(2, 0)
    if vectors:
        code.ldrz(3, 1, 1)
        code.strz(3, 0, rng.randrange(1, 8))
    code.addi(0, 0, 64)
    code.addi(1, 1, 64)
    code.addi(2, 2, -1)
    code.b("copy")
    code.label("copy.end")
    code.ret()


def lock(code):
    """x0: address of a word that several threads change."""
    code.label("lock")
    code.ldxr(1, 0)
    code.addi(1, 1, 1)
    code.stxr(2, 1, 0)
    code.cbnz(2, "lock")
    code.const(3, 5)
    code.ldadd(3, 4, 0)
    code.ret()


def recurse(code):
    code.label("recurse")
    code.pair(False, 29, 30, 31, -32, "pre")
    code.str(8, 0, 31, 16)
    code.cbz(0, "recurse.end")
    code.addi(0, 0, -1)
    code.bl("recurse")
    code.label("recurse.end")
    code.ldr(8, 0, 31, 16)
    code.pair(True, 29, 30, 31, 32, "post")
    code.ret()


def calls(code, rng):
    """System calls with texts, buffers and results; some fail."""
    code.label("calls")
    code.const(5, DATA + 0x800)
    code.const(6, int.from_bytes(b"hello, w", "little"))
    code.str(8, 6, 5)
    code.const(6, int.from_bytes(b"/etc/x\0\n", "little"))
    code.str(8, 6, 5, 8)
    for number, arguments in ((64, (1, 0x800, 8)), (56, (2 ** 64 - 100, rng.choice((0x808, 0x809)), 0)),
                              (64, (rng.choice((1, 9)), 0x800, 5)), (63, (0, 0x880, 16)), (9999, (0, 0, 0))):
        for register, value in enumerate(arguments):
            code.const(register, value + (DATA if register == 1 and value else 0))
        code.const(8, number)
        code.svc()
    code.const(2, rng.randrange(1, 30))
    code.pair(False, 5, 2, 5, 64)
    code.pair(False, 5, 2, 5, 80)
    code.const(0, 1)
    code.addi(1, 5, 64)
    code.const(2, rng.choice((0, 1, 2, 2)))
    code.const(8, 66)
    code.svc()
    code.ret()


def system(code):
    """The handler of interrupts, at level 1."""
    code.label("system", VECTOR)
    code.pair(False, 0, 1, 31, -16, "pre")
    code.mrs(0, 0x4290, "esr_el1")
    code.mrs(1, 0x4201, "elr_el1")
    code.const(1, VECTOR + 0x3000)
    code.ldr(8, 0, 1)
    code.addi(0, 0, 1)
    code.str(8, 0, 1)
    code.pair(True, 0, 1, 31, 16, "post")
    code.eret()


def program(rng, rounds=2, vectors=False, vector_length=128):
    """Labels as _start for the first thread, worker for the others."""
    code = Code()
    code.label("_start", TEXT)
    code.const(19, rounds)
    code.label("again")
    for function, arguments in (("fill", (0, rng.randrange(2, 6))), ("sum", (0, rng.randrange(2, 5))),
                                ("copy", (0x400, 0, rng.randrange(1, 4))), ("recurse", (rng.randrange(2, 5),)),
                                ("lock", (0x700,)), ("calls", ())):
        for register, value in enumerate(arguments):
            code.const(register, value + (DATA if register < 1 + (function == "copy") and function != "recurse" else 0))
        code.bl(function)
    code.const(10, DATA + 0xf00)
    code.const(11, 0x700)
    code.add(10, 10, 11)
    code.msr(11, 0x5e82, "tpidr_el0")
    code.mrs(11, 0x5e82, "tpidr_el0")
    code.zva(10)
    code.const(12, TEXT + 0x1000)
    code.const(0, DATA + 0x700)
    code.blr(12)
    code.addi(19, 19, -1)
    code.cbnz(19, "again")
    code.const(0, 0)
    code.const(8, 94)
    code.svc()
    code.label("far", TEXT + 0x1000)  # on another page: continues after a branch to a register
    code.addi(12, 12, 16)
    code.nop()
    code.br(12)
    code.nop()
    code.label("far.on")
    code.ret()
    code.label("rest", TEXT + 0x400)
    fill(code, rng)
    total(code, rng)
    copy(code, rng, vectors)
    lock(code)
    recurse(code)
    calls(code, rng)
    system(code)
    return code.link()


# ---------------------------------------------------------------- cases

def run(cpus, rng, limit, every, kernel):
    """All threads, in an order from the seed; a snapshot of a thread at regular numbers of its instructions."""
    running = list(cpus)
    while running:
        cpu = rng.choice(running)
        for _ in range(rng.randrange(1, 20)):
            if every and cpu.record.insns % every == 0 and (not cpu.record.shots or cpu.record.shots[-1]["insns"] != cpu.record.insns):
                cpu.record.snapshot(cpu)
            if cpu.record.insns >= limit or not cpu.step():
                running.remove(cpu)
                break
            # Not right after ERET: there its TARGET_B would be a contradiction.
            if kernel and cpu.el == 0 and cpu.record.last[2] == 0 and rng.random() < 0.03:
                cpu.interrupt(cpu.code.labels["system"])


def make(name):
    """The files of a case."""
    import xtrace_damage
    if name.startswith("damaged-"):
        return xtrace_damage.make(name)
    options = CASES[name]
    return simulate(**options)


def simulate(seed=1, tracks=("4711",), rounds=1, limit=100000, every=100, header=24, vl=128, timed=False, kernel=False,
             pcs="blocks", hidden=False):
    """`kernel`: records processors, not threads."""
    rng = random.Random("xtrace %d" % seed)
    code = program(rng, rounds, vectors=vl >= 256)
    clock = [rng.randrange(1, 1000)] if timed else None
    shared, cpus = Memory(seed), []
    for number, who in enumerate(tracks):
        record = xtrace_record.Record(who, pcs, hidden, clock)
        memory = shared if timed else Memory(seed + number)
        cpus.append(Cpu(code, "_start", memory, record, rng, vl, number))
    run(cpus, rng, limit, every, kernel)
    files = []
    for number, cpu in enumerate(cpus):
        record = cpu.record
        stem = "xtrace.%d.%s.hint%d." % (TIME + seed, record.name, 13 if kernel and number else 9)
        files.append(File(stem + "xinsndata.bin", record.data, record.jsonl(), reports=record.reports(), cpu=cpu, record=record))
        if every:
            data = xtrace_record.header_bytes(header, timed) + b"".join(map(xtrace_record.shot_bytes, record.shots))
            files.append(File(stem + "xsnapshot.bin", data, xtrace_record.shots_jsonl(record.name, record.shots), record=record,
                              shots=record.shots))
    return files


def bulk(path, insns):
    """A stream of at least that many instructions, for benchmarks: one program again and again."""
    data = bytes(simulate(seed=30, rounds=40, every=0)[0].data)
    rounds = 1 + insns // 8000
    with open(path, "wb") as out:
        for _ in range(rounds):
            out.write(data)


CASES = {
    "user": {"seed": 1},
    "user-long": {"seed": 2, "rounds": 4, "every": 256},
    "small": {"seed": 3, "limit": 120, "every": 50},
    "no-snapshots": {"seed": 4, "every": 0},
    "pc-at-jumps": {"seed": 5, "pcs": "jumps"},
    "pc-everywhere": {"seed": 6, "pcs": "all"},
    "no-first-pc": {"seed": 7, "hidden": True},
    "no-first-pc-at-jumps": {"seed": 8, "hidden": True, "pcs": "jumps"},
    "kernel": {"seed": 9, "kernel": True, "rounds": 2, "header": 19},
    "header-19": {"seed": 10, "header": 19, "limit": 300},
    "header-0": {"seed": 11, "header": 0, "limit": 300},
    "header-32": {"seed": 12, "header": 32, "limit": 300},
    "vl-256": {"seed": 13, "vl": 256, "limit": 500},
    "vl-512": {"seed": 14, "vl": 512, "limit": 500, "header": 0},
    "vl-2048": {"seed": 15, "vl": 2048, "limit": 400, "every": 200, "header": 19},
    "threads": {"seed": 16, "tracks": ("100", "101", "102")},
    "timed": {"seed": 17, "tracks": ("200", "201"), "timed": True, "rounds": 2},
    "timed-kernel": {"seed": 18, "tracks": ("0", "1"), "timed": True, "kernel": True, "every": 64},
    "one-insn": {"seed": 19, "limit": 1},
    "empty": {"seed": 20, "limit": 0, "every": 0},
}


def cases():
    import xtrace_damage
    return list(CASES) + list(xtrace_damage.DAMAGES)


def save(folder, name):
    os.makedirs(folder, exist_ok=True)
    for file in make(name):
        with open(os.path.join(folder, file.name), "wb") as out:
            out.write(file.data)


def pack(files):
    return b"".join(file.name.encode() + b"\0" + struct.pack("<I", len(file.data)) + file.data for file in files)


def elf(name):
    return elf_of(make(name))


def elf_of(files):
    """The names of the program's functions, as a binary of AArch64."""
    import elf_gen
    code = next(file.cpu for file in files if file.cpu).code
    starts = sorted((pc, label) for label, pc in code.labels.items() if pc < VECTOR and "." not in label and label != "again")
    ends = [pc for pc, _ in starts[1:]] + [starts[-1][0] + 32]
    return elf_gen.build_symbols([(label, pc, end - pc) for (pc, label), end in zip(starts, ends)], 183)


def main():
    how, arguments = sys.argv[1], sys.argv[2:]
    if how == "--list":
        print("\n".join(cases()))
    elif how == "--one":
        save(arguments[1], arguments[0])
    elif how == "--suite":
        for name in cases():
            save(os.path.join(arguments[0], name), name)
    elif how == "--elf":
        with open(arguments[1], "wb") as out:
            out.write(elf(arguments[0]))
    elif how == "--pack":
        os.makedirs(arguments[0], exist_ok=True)
        for name in arguments[1:]:
            with open(os.path.join(arguments[0], name), "wb") as out:
                out.write(pack(make(name)))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
