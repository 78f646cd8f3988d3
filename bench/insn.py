#!/usr/bin/env python3
"""Recording of instructions: `record --insn`, compressed and plain, and a slice, beside QEMU alone and with empty callbacks.

    insn.py [--folder DIR] [--repeat N] [--write] [--quick]

The program is test/insn/insn_programs.c: loads, stores, arithmetic, divisions. Instructions are those that the recording has."""
import os
import re
import shutil
import subprocess
import sys

from bench_tools import BAR_HEAD, HERE, TOP, Command, arguments, bar_line, build, finish, in_turns, machine, table

CPU = ["-cpu", "neoverse-n1"]


def ratio(above, below):
    return above.best() / below.best(), min(above.cpu) / min(below.cpu)


def bar(what, above, below, demanded="", fits=None):
    by_time, by_work = ratio(above, below)
    return bar_line(what, "%.2f" % by_time, "%.2f" % by_work, demanded, fits(by_time) if fits else None)


def main():
    args = arguments(__doc__, "insn", 5, "twice, and a tenth of the instructions")
    program, plugin, out = (os.path.join(args.folder, name) for name in ("program", "insn_empty.so", "out.xtrace"))
    if not shutil.which("qemu-aarch64") or not shutil.which("aarch64-linux-gnu-gcc"):
        print("NOT MEASURED: there is no qemu-aarch64 or no aarch64-linux-gnu-gcc; tools/install-deps.sh bench installs them", file=sys.stderr)
        return 0
    subprocess.run(["aarch64-linux-gnu-gcc", "-O2", "-static", "-pthread", os.path.join(TOP, "test", "insn", "insn_programs.c"), "-o", program], check=True)
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-shared", "-fPIC", os.path.join(HERE, "insn_empty.c"), "-o", plugin], check=True)
    words = [program, "sums", "3000" if args.quick else "30000"]
    record = [args.traceloom, "record", "--insn", "-q", "-f", "-o", out]
    said = subprocess.run([word for word in record if word != "-q"] + words, capture_output=True, text=True, check=True).stderr
    count = int(re.search(r"([0-9,]+) instructions", said).group(1).replace(",", ""))
    alone, single, empty, plain, packed, called, counted = rows = [
        Command("qemu-aarch64", ["qemu-aarch64", *CPU, *words], count=count),
        Command("qemu-aarch64 -singlestep", ["qemu-aarch64", *CPU, "-singlestep", *words], count=count),
        Command("the same, with empty callbacks", ["qemu-aarch64", *CPU, "-singlestep", "-plugin", plugin, *words], count=count),
        Command("record --insn --plain", [*record, "--plain", *words], count=count),
        Command("record --insn", [*record, *words], count=count),
        Command("record --insn --slice-at work --slice-insns 1k", [*record, "--slice-at", "work", "--slice-insns", "1k", *words], count=count),
        Command("record --insn --slice-at N, near the end", [*record, "--slice-at", str(count - 5000), "--slice-insns", "1k", *words], count=count)]
    in_turns(rows, build(args.folder, "measure"), args.repeat, args.repeat)
    shutil.rmtree(out, ignore_errors=True)
    speed = count / packed.best() / 1e6
    lines = ["Machine: %s. Best of %d runs in turns; load average %.0f." % (machine(), args.repeat, os.getloadavg()[2]), "",
             "### {:,} instructions".format(count), ""] + table(rows, unit="instruction") + ["", *BAR_HEAD]
    lines += [bar_line("record --insn: million instructions a second", "%.0f" % speed, "", ">= 40", speed >= 40),
              bar("empty callbacks / record --insn", empty, packed, ">= 0.5", lambda value: value >= 0.5),
              bar("record --insn / --plain", packed, plain, "<= 1.1", lambda value: value <= 1.1),
              bar("record --insn / slice at a function", packed, called), bar("record --insn / slice at a number", packed, counted),
              bar("slice at a function / QEMU alone", called, alone), bar("empty callbacks / -singlestep", empty, single)]
    return finish(args, "insn", lines)


if __name__ == "__main__":
    sys.exit(main())
