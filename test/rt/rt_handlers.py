#!/usr/bin/env python3
"""Signal handlers that do what the recorder cannot foresee, when they interrupt it.

    rt_handlers.py jump MODE HOOK [alternate | above]     they leave with siglongjmp: only what they cut short may be missing
    rt_handlers.py fork MODE HOOK                         they fork: the child records, too, and ends as it should"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_matrix

FORKS = 16


def jump(mode, hook, *arguments):
    program, checks = rt_build.build(hook, "rt_handlers_jump.c"), harness.Checks()
    with harness.work_folder() as folder:
        base = os.path.join(folder, "run")
        done = rt_matrix.run_program(hook, mode, base, program, [*(arguments or ["plain"]), "500"])
        checks.equal((done.returncode, done.stderr), (0, ""), "the program")
        printed, jumps = rt_matrix.Printed(done.stdout), int(done.stdout.split()[-1])
        checks.that(jumps > 10, "too few jumps:", jumps)
        for one in mode.split(","):
            path = base + rt_matrix.SUFFIX[one]
            checks.equal(harness.run("check", "-q", path).status, 0, "check of", one)
            table = rt_matrix.report(checks, path, "--by", "func")
            if not table:
                continue
            calls = rt_matrix.by_name(table["functions"])
            for name, made in printed.calls.items():
                got = calls.get(name, 0)
                checks.that(abs(got - made) <= jumps, one, name, "has", got, "calls;", made, "were made, with", jumps, "jumps")
            checks.that(set(calls) <= set(printed.calls), one, "functions", calls)
            exits = table["unmatched"]["exits"]
            checks.that(exits <= 4 * jumps, one, exits, "exits of calls that were thought to be over, with", jumps, "jumps")
    checks.end()


def fork(mode, hook):
    program, checks = rt_build.build(hook, "rt_handlers_fork.c"), harness.Checks()
    with harness.work_folder() as folder:
        done = rt_matrix.run_program(hook, mode, os.path.join(folder, "%p"), program, [str(FORKS)])
        checks.equal((done.returncode, done.stdout, done.stderr), (0, "forks %d bad 0\n" % FORKS, ""), "the program")
        files = sorted(os.listdir(folder))
        checks.equal(len(files), (FORKS + 1) * len(mode.split(",")), "files")
        for name in files:
            checked = harness.run("check", "-q", os.path.join(folder, name))
            checks.equal(checked.status, 0, name, checked)
    checks.end()


if __name__ == "__main__":
    {"jump": jump, "fork": fork}[sys.argv[1]](sys.argv[2], rt_build.HOOKS[sys.argv[3]], *sys.argv[4:])
