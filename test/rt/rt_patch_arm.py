#!/usr/bin/env python3
"""Programs of AArch64 without hooks are patched while they run in qemu-aarch64, and each call is recorded once:

    rt_patch_arm.py PROGRAM HOOK [ARGUMENT...]      a counting program; a name of rt_build.HOOKS that is patched

Functions that the program does not count are recorded, too: those of the compiler's start files, and atomics."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_matrix

FEW = 30 # functions of start files, and those that the compiler adds


def lost_late(path):
    """Events of signal handlers that came while the recorder was busy, which qemu makes more of than processors do."""
    found = re.search(r'"late": *(\d+)', harness.run("info", "--json", path).text())
    return int(found.group(1)) if found else 0


def chosen(checks, hook, program, folder):
    """exe=, as `record` sets it, names the program, though qemu is what runs."""
    status = os.stat(program)
    for inode, files in (status.st_ino, ["run.tlp"]), (status.st_ino + 1, []):
        env = rt_matrix.environment(hook, "profile", os.path.join(folder, "run.tlp"))
        env["TRACELOOM"] += ":patch=on:exe=%d\\:%d" % (status.st_dev, inode)
        done = subprocess.run(rt_build.preloaded(hook, [program], env), env=env, capture_output=True, text=True, timeout=rt_matrix.MAX_SECONDS)
        checks.equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "with exe=")
        checks.equal(os.listdir(folder), files, "files with exe=")
        for name in files:
            os.unlink(os.path.join(folder, name))


def starts(hook):
    """start=off, then on, off, and on again: code is changed before main, and only then."""
    checks = harness.Checks()
    rest = rt_build.build(hook, "found_rest.c", shared=True)
    program = rt_build.build(hook, "patch_starts.c", ["-Wl,--no-as-needed", rest, "-Wl,-rpath," + os.path.dirname(rest)])
    with harness.work_folder() as folder:
        base = os.path.join(folder, "run")
        env = rt_matrix.environment(hook, "profile", base)
        env["TRACELOOM"] += ":patch=on:start=off"
        done = subprocess.run(rt_build.preloaded(hook, [program], env), env=env, capture_output=True, text=True, timeout=rt_matrix.MAX_SECONDS)
        checks.equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "the program")
        table = rt_matrix.report(checks, base + ".tlp", "--by", "func")
        checks.equal(table and rt_matrix.by_name(table["functions"]).get("leaf"), 27, "calls of leaf")
        os.unlink(base + ".tlp")
        chosen(checks, hook, program, folder)
    checks.end()


def main():
    name, hook, arguments = sys.argv[1], rt_build.HOOKS[sys.argv[2]], sys.argv[3:]
    source = name + (".cpp" if name == "count_exceptions" else ".c")
    missing = hook.needs(source.endswith(".cpp"))
    if missing:
        harness.skip(missing)
    if name == "patch_starts":
        starts(hook)
    program = rt_build.build(hook, source)
    checks = harness.Checks()
    with harness.work_folder() as folder:
        base = os.path.join(folder, "run")
        env = rt_matrix.environment(hook, "fdr,profile", base)
        env["TRACELOOM"] += ":patch=on"
        plain = subprocess.run(["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", program] + arguments, capture_output=True, text=True,
                               timeout=rt_matrix.MAX_SECONDS)
        done = subprocess.run(rt_build.preloaded(hook, [program] + arguments, env), env=env, capture_output=True, text=True,
                              timeout=rt_matrix.MAX_SECONDS)
        checks.equal((done.returncode, done.stderr), (plain.returncode, ""), "the program")
        checks.that(done.stdout == plain.stdout or name == "count_signals", "the program prints", done.stdout, "not", plain.stdout)
        printed = rt_matrix.Printed(done.stdout)
        for suffix in (".tlp", ".xray"):
            table = rt_matrix.report(checks, base + suffix, "--by", "func")
            calls = rt_matrix.by_name(table["functions"]) if table else {}
            lost = lost_late(base + suffix)
            for function, expected in printed.calls.items():
                least = expected - printed.open.get(function, 0) - lost
                checks.that(least <= calls.get(function, 0) <= expected, suffix, function, "has", calls.get(function), "calls, not", expected)
            checks.that(table and table["unmatched"]["exits"] <= lost, suffix, "exits without entry:", table and table["unmatched"])
            checks.that(len(calls) <= len(printed.calls) + FEW, suffix, "others are recorded:", sorted(calls))
        info = harness.run("info", base + ".tlp").text()
        patched = [line.split() for line in info.splitlines() if line.split()[:1] == ["patched"]]
        checks.that(patched and patched[0][2] == patched[0][4], "all functions are patched:", patched)
        checks.that(not re.search("ends? late", info), "all ends are patched:", patched)
    checks.end()


if __name__ == "__main__":
    main()
