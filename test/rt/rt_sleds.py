#!/usr/bin/env python3
"""Patched sleds change nothing for the program, and events arrive unchanged.

    rt_sleds.py HOOK       one of rt_build.HOOKS with sleds"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build

TURNS = {None: "100", "aarch64": "10"}
ONCE = [b"custom-1", b"custom-2", b"typed-3", b"typed-4", b"typed-5", b"typed-6"]
IN_LOOP = 6


def check(checks, hook, program, out):
    command = [program, TURNS[hook.target]]
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_"))}
    env["TRACELOOM"] = "mode=fdr:start=off:out=" + out
    command = rt_build.preloaded(hook, command, env)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    checks.equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "the program")
    result = harness.run("check", "-q", out)
    checks.equal(result.status, 0, "status of check", result)
    if hook.target is None or "19" in hook.name: # clang writes events for AArch64 since 18
        with open(out, "rb") as file:
            data = file.read()
        checks.equal({text: data.count(text) for text in ONCE}, {text: 1 for text in ONCE}, "events")
        checks.equal(data.count(b"in a loop"), IN_LOOP, "events in a loop")


def main():
    hook = rt_build.HOOKS[sys.argv[1]]
    missing = hook.needs(False)
    if missing:
        harness.skip(missing)
    flags = ["-I", os.path.join(harness.SOURCE, "include")]
    if hook.target is None: # clang 14 with -O0 pushes an event's registers onto the variables of a leaf function
        flags.append("-mno-red-zone")
    if hook.kind == "found":
        rest = rt_build.build(hook, "found_rest.c", shared=True)
        flags += ["-Wl,--no-as-needed", rest, "-Wl,-rpath," + os.path.dirname(rest)]
    program = rt_build.build(hook, "sled_registers.c", flags)
    checks = harness.Checks()
    with harness.work_folder() as folder:
        check(checks, hook, program, os.path.join(folder, "sleds.xray"))
    checks.end()


if __name__ == "__main__":
    main()
