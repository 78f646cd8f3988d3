#!/usr/bin/env python3
"""Signal handlers that interrupt the recorder and do what it cannot foresee.

    rt_handlers.py jump MODE HOOK [alternate | above | each]   they leave with siglongjmp: only what they interrupt is missing
    rt_handlers.py cancel MODE HOOK                            threads are cancelled there: the same
    rt_handlers.py storm MODE HOOK                             two kinds of signals, as fast as they can be sent
    rt_handlers.py fork MODE HOOK                              they fork: the child records, too, and ends as it should"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_matrix

FORKS, MILLISECONDS, CANCELLED, STORM = 16, 250, 90, "count_signals.c"


def compare(checks, path, printed, most, exits=1):
    """All calls are there, except counted events: at most one for each jump. If `most` is None there is no limit, since
    signals may come faster than they can be added. `exits`: how many of the lost ones may be entries whose exits are there."""
    what = os.path.basename(path)
    checks.equal(harness.run("check", "-q", path).status, 0, "check of", what)
    info, table = harness.run("info", "--json", path), rt_matrix.report(checks, path, "--by", "func")
    if not table or not checks.equal(info.status, 0, "info", info):
        return
    lost = json.loads(info.out)["lost"]["events"]
    checks.that(most is None or lost <= most, what, lost, "lost events, with", most, "jumps")
    calls = rt_matrix.by_name(table["functions"])
    checks.that(set(calls) <= set(printed.calls), what, "functions", calls)
    differences = 0
    for name, made in printed.calls.items():
        more = calls.get(name, 0) - made # those open at the end may be missing
        differences += max(more, -more - printed.open.get(name, 0), 0)
    checks.that(differences <= lost, what, lost, "lost;", calls, "were recorded;", printed.calls, "were made")
    unmatched = table["unmatched"]["exits"]
    checks.that(unmatched <= lost * exits, what, unmatched, "exits of calls that were thought to be over;", lost, "lost")


def leaves(source, mode, hook, arguments, storm=False, exits=1):
    program, checks = rt_build.build(hook, source), harness.Checks()
    with harness.work_folder() as folder:
        base = os.path.join(folder, "run")
        done = rt_matrix.run_program(hook, mode, base, program, arguments)
        checks.equal((done.returncode, done.stderr), (0, ""), "the program")
        printed, jumps = rt_matrix.Printed(done.stdout), int(done.stdout.partition("jumps ")[2] or 0)
        checks.that(jumps > 10 or source == STORM, "too few jumps:", jumps)
        for one in mode.split(","):
            compare(checks, base + rt_matrix.SUFFIX[one], printed, None if storm else jumps, exits)
    checks.end()


def jump(mode, hook, how="plain"):
    each = how == "each"    # the interrupted call is left, too: if its entry is lost, it gets no exit
    leaves("rt_handlers_jump.c", mode, hook, [how, str(MILLISECONDS)], not each, 0.2 if each else 1)


def storm(mode, hook):
    leaves(STORM, mode, hook, ["storm", str(MILLISECONDS)], True)


def cancel(mode, hook):
    leaves("rt_handlers_cancel.c", mode, hook, [str(CANCELLED)])


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
    {"jump": jump, "storm": storm, "cancel": cancel, "fork": fork}[sys.argv[1]](sys.argv[2], rt_build.HOOKS[sys.argv[3]], *sys.argv[4:])
