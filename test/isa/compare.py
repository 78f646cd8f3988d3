#!/usr/bin/env python3
"""Our decoder of A64 against LLVM's: compare.py A64_LINES text|random|kinds

    text     all words of the code of a static program for aarch64
    random   random words that are instructions: TL_ISA_WORDS of them (100000)
    kinds    a few words of each of LLVM's 6,783 names for instructions, out of TL_ISA_TRIES words (5000000)

Registers come from LLVM's tables of operands; class, addresses and sizes from the text that it prints, and its flags.
decisions.py and docs/isa-a64.md list where LLVM differs on purpose or is wrong; every other difference is a failure."""
import collections
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import decisions
import harness
import llvm_text
import oracle

PROGRAM = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
    int list[1000];
    for (int i = 0; i < 1000; i++)
        list[i] = rand();
    qsort(list, 1000, sizeof list[0], order);
    return printf("%d %f\\n", list[0], pow(sin(list[1]), cos(list[2]))) < 0;
}
"""


def code_of_a_program(folder):
    compiler, copy = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("aarch64-linux-gnu-objcopy")
    if not compiler or not copy:
        harness.skip("no compiler for aarch64 (apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross)")
    source, program, code = (os.path.join(folder, name) for name in ("program.c", "program", "program.text"))
    with open(source, "w") as file:
        file.write(PROGRAM)
    done = subprocess.run([compiler, "-O2", "-static", source, "-o", program, "-lm"], capture_output=True, text=True)
    if done.returncode:
        harness.skip("no C library for aarch64 (apt-get install libc6-dev-arm64-cross): " + done.stderr[-300:])
    subprocess.run([copy, "-O", "binary", "-j", ".text", program, code], check=True)
    return code


class Llvm:
    """A line of a64_oracle."""

    def __init__(self, line):
        word, self.name, reads, writes, reads_too, writes_too, flags, text = line.split("\t")
        self.word = int(word, 16)
        self.reads, self.writes = self.registers(reads, reads_too), self.registers(writes, writes_too)
        self.flags, _, target = flags.partition("T")
        self.target = target
        self.text = " ".join(text.split())

    @staticmethod
    def registers(*texts):
        both = [0, 0, 0]
        for text in texts:
            for index, number in enumerate(text.split(",")[:3]):
                both[index] |= int(number, 16)
        return tuple(both)


class Ours:
    """A line of a64_lines."""

    def __init__(self, line):
        word, self.cls, reads, writes, memory, self.target, system = line.split("\t")
        self.word = int(word, 16)
        self.reads = tuple(int(number, 16) for number in reads.split(","))
        self.writes = tuple(int(number, 16) for number in writes.split(","))
        *numbers, self.flags = memory.split(",")
        (self.access, self.mode, self.base, self.index, self.extend, self.shift, self.registers, self.element, self.lane,
         self.atomic, self.size, self.imm) = map(int, numbers)
        kind, gpr, value, number, self.system_name = system.split(",")
        self.system_kind, self.system_gpr, self.system_value, self.system_number = map(int, (kind, gpr, value, number))


def differences(llvm, ours):
    """(aspect, LLVM's answer, ours) of all disagreements."""
    target = llvm.target if "B" in llvm.flags or "C" in llvm.flags else ""     # LLVM also has those of ADR and literals
    for aspect, theirs, own in (("reads", llvm.reads, ours.reads), ("writes", llvm.writes, ours.writes),
                                ("target", target, ours.target)):
        if theirs != own:
            yield aspect, theirs, own
    yield from llvm_text.differences(llvm, ours)


def main():
    lines, what = sys.argv[1:3]
    root = os.environ.get("TL_WORK") or tempfile.gettempdir()
    os.makedirs(root, exist_ok=True)
    program = oracle.program("a64_oracle", root, "aarch64")
    with harness.work_folder() as folder:
        if what == "text":
            arguments = ["file", code_of_a_program(folder)]
        elif what == "random":
            arguments = ["random", os.environ.get("TL_ISA_WORDS", "100000"), "1"]
        else:
            arguments = ["kinds", os.environ.get("TL_ISA_TRIES", "5000000"), "1", "12"]
        theirs = os.path.join(folder, "theirs")
        with open(theirs, "w") as file:
            subprocess.run([program, *arguments], stdout=file, check=True)
        words = subprocess.run(["cut", "-f1", theirs], stdout=subprocess.PIPE, check=True).stdout
        own = subprocess.run(harness.command_words(lines), input=words, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        with open(theirs) as file:
            report([Llvm(line.rstrip("\n")) for line in file], [Ours(line) for line in own])


def report(theirs, own):
    if len(theirs) != len(own) or not own:
        sys.exit("%d words from LLVM, %d from us" % (len(theirs), len(own)))
    raw, failed, decided, left = collections.Counter(), collections.Counter(), collections.Counter(), {}
    for llvm, ours in zip(theirs, own):
        if llvm.word != ours.word:
            sys.exit("the words went apart at %08x" % llvm.word)
        for aspect, they, we in differences(llvm, ours):
            raw[aspect] += 1
            why = decisions.why(llvm, ours, aspect)
            if why:
                decided[why] += 1
            else:
                failed[aspect] += 1
                left.setdefault((llvm.name, aspect), []).append((llvm, they, we))
    print("%d words of %d names; agreement, and with what was decided" % (len(own), len({llvm.name for llvm in theirs})))
    for aspect in ("class", "target", "access", "size", "address", "order", "atomic", "reads", "writes", "system", "flags"):
        print("  %-8s %8.4f %% %8.4f %%" % (aspect, *(100 - 100.0 * count[aspect] / len(own) for count in (raw, failed))))
    for why, count in sorted(decided.items()):
        print("  %d decided: %s" % (count, why))
    for (name, aspect), cases in sorted(left.items())[:60]:
        llvm, they, we = cases[0]
        print("FAILED: %s of %s, %d times: %08x %s: LLVM %s, we %s" % (aspect, name, len(cases), llvm.word, llvm.text,
                                                                      show(they), show(we)))
    sys.exit(1 if left else 0)


def show(value):
    return "/".join("%x" % number for number in value) if isinstance(value, tuple) else value


if __name__ == "__main__":
    main()
