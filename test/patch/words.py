#!/usr/bin/env python3
"""Patches instructions of AArch64 of each kind, and runs them in qemu-aarch64: words_run.c."""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

COMPILER = "aarch64-linux-gnu-gcc"


def main():
    for tool in (COMPILER, "qemu-aarch64"):
        if not shutil.which(tool):
            harness.skip("no " + tool)
    source = os.path.join(harness.SOURCE, "src")
    parts = [os.path.join(harness.SOURCE, "test", "patch", name) for name in ("words_run.c", "words_code.S")]
    parts += sorted(glob.glob(os.path.join(source, "patch", "*.c")))
    parts += [os.path.join(source, *name) for name in (("isa", "a64_class.c"), ("isa", "x86", "x86_decode.c"), ("isa", "x86", "x86_glance.c"),
                                                       ("rt", "hook", "rt_trampoline_aarch64.S"))]
    checks = harness.Checks()
    with harness.work_folder() as folder:
        program = os.path.join(folder, "words")
        done = subprocess.run([COMPILER, "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-static-pie", "-I", source, "-I",
                               os.path.join(harness.SOURCE, "include"), *parts, "-o", program], capture_output=True, text=True)
        if checks.equal((done.returncode, done.stderr), (0, ""), "the compiler"):
            done = subprocess.run(["qemu-aarch64", program], capture_output=True, text=True, timeout=120)
            checks.that(done.returncode == 0 and ", 0 faults" in done.stdout, done.returncode, done.stdout, done.stderr)
    checks.end()


if __name__ == "__main__":
    main()
