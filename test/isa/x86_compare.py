#!/usr/bin/env python3
"""Our decoder of x86-64 beside Zydis' and LLVM's: x86_compare.py random, or files (code of this machine's programs)."""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import oracle

RANDOM = 3000000
BYTES = 300 << 20   # of files, of which most is code; `make slow` takes all there are


def some_files():
    found, size = [], 0
    for path in sorted(set(map(os.path.realpath, glob.glob("/usr/lib/*/*.so*") + glob.glob("/usr/bin/*"))), key=os.path.getsize,
                       reverse=True):
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        found.append(path)
        size += os.path.getsize(path)
        if size >= BYTES and not harness.THOROUGH:
            break
    return found


def main():
    header = next((path for path in glob.glob("/usr/include/Zydis/Zydis.h")), None)
    if not header or not shutil.which("cc"):
        harness.skip("no Zydis to compare with (apt-get install libzydis-dev)")
    source = os.path.join(harness.SOURCE, "src")
    ours = [os.path.join(os.environ["TL_WORK"], name + ".o") for name in ("x86_decode", "x86_glance")]
    for made in ours:
        part = os.path.join(source, "isa", "x86", os.path.basename(made)[:-1] + "c")
        subprocess.run(["cc", "-std=c17", "-O2", "-I" + source, "-c", part, "-o", made], check=True)
    program = oracle.program("x86_oracle", os.environ["TL_WORK"], "x86", "-I" + source, *ours, "-lZydis")
    words = ["random", str(RANDOM), "1"] if sys.argv[1] == "random" else some_files()
    done = subprocess.run([program, *words], capture_output=True, text=True)
    print(done.stdout[-20000:] + done.stderr[-2000:])
    compared = sum(int(line.split(" instructions")[0].split()[-1]) for line in done.stdout.splitlines() if " instructions, " in line)
    print("%d instructions compared" % compared)
    checks = harness.Checks()
    checks.equal(done.returncode, 0, "status: 1 if there are differences")
    checks.that(compared > 1000000, "more than a million instructions")
    checks.end()


if __name__ == "__main__":
    main()
