#!/usr/bin/env python3
"""The module's results of integer instructions against real ones: eval_program.py EVAL_LINES [COUNT [SEED]].

Assembles a program of random instructions for aarch64 and runs it in qemu. Each instruction gets random registers and
flags, and stores its results; a64_eval() must give the same, or "unknown"."""
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

REGISTERS = 16
TOOLS = ("aarch64-linux-gnu-as", "aarch64-linux-gnu-ld", "aarch64-linux-gnu-objdump")
GROUPS = (0b1000, 0b1001, 0b0101, 0b1101)         # bits 28 to 25: immediates, registers
KNOWN_LEAST = 0.97                                  # of the registers and flags that were written


def word(rng):
    """A word of the integer groups whose registers are x0 to x15, or 31."""
    op = rng.getrandbits(32) & ~(15 << 25) | rng.choice(GROUPS) << 25
    group = op >> 25 & 15
    if group == 0b1101 and rng.random() < 0.8:      # most of this group is unallocated: choose the rest
        second = rng.choice((0, 2, 4, 6, 8, 8))
        op = op & ~(15 << 21) | second << 21
        if second == 0:
            op &= ~(63 << 10)
        if second == 2:
            op = op & ~(1 << 10 | 1 << 4) | 1 << 29
        if second == 4:
            op &= ~(1 << 29 | 1 << 11)
        if second == 6:
            op &= ~(1 << 29)
            op = op & ~(63 << 10) | rng.choice((2, 3, 8, 9, 10, 11)) << 10
            if op >> 30 & 1:
                op = op & ~(31 << 16 | 63 << 10) | rng.randrange(6) << 10
    if group == 0b0101 and rng.random() < 0.7:
        op &= ~(1 << 15 | 1 << 23)
    for at in (0, 5, 16) + ((10,) if op >> 24 & 0x1f == 0b11011 else ()):
        if at == 16 and group in (8, 9) and op >> 23 & 7 != 7:
            continue
        if at and group in (8, 9) and op >> 23 & 7 in (0, 1, 5):
            continue
        number = rng.randrange(REGISTERS) if rng.random() < 0.95 else 31
        op = op & ~(31 << at) | number << at
    return op


def allocated(words, folder):
    """The words that are instructions, and depend on neither SP nor pc."""
    path = os.path.join(folder, "words.bin")
    with open(path, "wb") as file:
        file.write(struct.pack("<%dI" % len(words), *words))
    text = subprocess.run([TOOLS[2], "-D", "-b", "binary", "-m", "aarch64", path], capture_output=True, text=True,
                          check=True).stdout
    lines = [line.split("\t", 2)[2] for line in text.splitlines() if line.startswith(" ") and line.count("\t") >= 2]
    assert len(lines) == len(words)
    bad = ("undefined", "sp", ".inst", "adr", "pac", "aut", "xpac", "irg", "gmi", "subp", "crc32", "addg", "subg", "rmif",
           "setf", "cfinv", "abs", "cnt", "ctz", "smax", "smin", "umax", "umin")
    return [op for op, line in zip(words, lines) if not any(part in line for part in bad)]


def value(rng):
    return rng.choice((0, 1, 2 ** 64 - 1, 2 ** 63, 2 ** 31, 2 ** 32 - 1, rng.getrandbits(64), rng.getrandbits(64),
                       rng.getrandbits(32), rng.getrandbits(6)))


def assemble(cases, folder):
    lines = [".global _start", "_start:", "adrp x28, input", "add x28, x28, :lo12:input", "adrp x29, output",
             "add x29, x29, :lo12:output"]
    for op, _, _ in cases:
        lines += ["ldr x27, [x28], #8", "msr nzcv, x27"]
        lines += ["ldp x%d, x%d, [x28], #16" % (i, i + 1) for i in range(0, REGISTERS, 2)]
        lines += [".inst 0x%08x" % op, "mrs x27, nzcv", "str x27, [x29], #8"]
        lines += ["stp x%d, x%d, [x29], #16" % (i, i + 1) for i in range(0, REGISTERS, 2)]
    size = len(cases) * 8 * (REGISTERS + 1)
    lines += ["mov x0, #1", "adrp x1, output", "add x1, x1, :lo12:output", "ldr x2, =%d" % size, "mov x8, #64", "svc #0",
              "mov x0, #0", "mov x8, #93", "svc #0", ".ltorg", ".data", ".balign 16", "input:"]
    lines += [".quad " + ", ".join("0x%x" % item for item in [flags] + registers) for _, flags, registers in cases]
    lines += [".bss", ".balign 16", "output:", ".skip %d" % size]
    source, program = os.path.join(folder, "eval.s"), os.path.join(folder, "eval")
    with open(source, "w") as file:
        file.write("\n".join(lines) + "\n")
    subprocess.run([TOOLS[0], "-march=armv8.4-a", "-o", program + ".o", source], check=True)
    subprocess.run([TOOLS[1], "-o", program, program + ".o"], check=True)
    return program, size


def main():
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    missing = [tool for tool in TOOLS if not shutil.which(tool)] + ([] if qemu else ["qemu-aarch64"])
    if missing:
        harness.skip("needs " + ", ".join(missing))
    count, seed = int(sys.argv[2]) if len(sys.argv) > 2 else 4000, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng, checks = random.Random(seed), harness.Checks()
    with tempfile.TemporaryDirectory() as folder:
        words = []
        while len(words) < count:
            words += allocated([word(rng) for _ in range(count)], folder)
        cases = [(op, rng.getrandbits(4) << 28, [value(rng) for _ in range(REGISTERS)]) for op in words[:count]]
        program, size = assemble(cases, folder)
        out = subprocess.run([qemu, program], capture_output=True, timeout=60, check=True).stdout
        checks.that(len(out) == size, "the program wrote", len(out), "of", size, "bytes")
        text = "\n".join("%x %x %s" % (op, flags, " ".join("%x" % item for item in x)) for op, flags, x in cases)
        said = subprocess.run(harness.command_words(sys.argv[1]), input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    written = known = 0
    for number, (op, flags, before) in enumerate(cases):
        real = struct.unpack_from("<%dQ" % (REGISTERS + 1), out, number * 8 * (REGISTERS + 1))
        for index, (got, expected, old) in enumerate(zip(said[number].split(), real, [flags] + before)):
            written += expected != old
            if got != "?":
                known += expected != old
                checks.that(int(got, 16) == expected, "opcode %08x" % op, "x%d" % (index - 1) if index else "nzcv",
                            "is 0x%x" % expected, "said", got, "from", said[number] if len(said[number]) < 20 else "")
    print("%d instructions: %d of %d results known" % (len(cases), known, written))
    checks.that(known >= written * KNOWN_LEAST, "only", known, "of", written, "results are known")
    checks.end()


main()
