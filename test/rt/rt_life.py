#!/usr/bin/env python3
"""However processes begin and end, their calls are in their recordings: life_*.c prints how often.

    rt_life.py PROGRAM CASE HOOK MODE [RUNS]"""
import glob
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_matrix

MAX_SECONDS = 60


class Process:
    def __init__(self, pid, end):
        self.pid, self.end, self.calls, self.open, self.more = pid, end, {}, {}, {}


def processes(text):
    """The output of each process, in order."""
    out = []
    for words in (line.split() for line in text.splitlines()):
        if words[0] == "process":
            out.append(Process(int(words[1]), words[2]))
        elif words[0] == "call":
            out[-1].calls[words[1]] = int(words[2])
        else:
            getattr(out[-1], words[0])[words[1]] = int(words[2])
    return out


def recording(folder, process, number, suffix):
    """The file of the number-th process that printed under its pid, which exec keeps."""
    name = "run.%d%s%s" % (process.pid, ".%d" % number if number else "", suffix)
    return os.path.join(folder, name + (".live" if process.end == "live" else ""))


def check_process(checks, path, process):
    what = os.path.basename(path)
    if not checks.that(os.path.exists(path), what, "is not there, but", os.listdir(os.path.dirname(path))):
        return
    done = harness.run("check", "-q", path)
    checks.equal(done.status, 0, what, "status of check", done)
    table = rt_matrix.report(checks, path, "--by", "func")
    if not table:
        return
    got = rt_matrix.by_name(table["functions"])
    for name, n in process.calls.items():
        least, most = n - process.open.get(name, 0), n + process.more.get(name, 0)
        checks.that(least <= got.get(name, 0) <= most, what, name, "has", got.get(name, 0), "calls, not", least, "to", most)
    strange = [name for name in got if name not in process.calls and got[name]]
    checks.that(not strange, what, "has calls of", strange)


def one_run(checks, program, case, hook, mode):
    arguments = [case, str(random.randrange(200, 5000))]
    with harness.work_folder() as folder:
        try:
            done = rt_matrix.run_program(hook, mode, os.path.join(folder, "run.%p"), program, arguments)
        except subprocess.TimeoutExpired:
            checks.that(False, program, *arguments, "does not end")
            return
        checks.equal(done.stderr, "", "messages")
        checks.that(done.returncode == {"abort": -6, "kill": -9}.get(case, 0), case, "ended with", done.returncode)
        said, before = processes(done.stdout), {}
        checks.that(said, "no process said what it called")
        for process in said:
            number = before.get(process.pid, 0)
            before[process.pid] = number + 1
            for one in mode.split(","):
                check_process(checks, recording(folder, process, number, rt_matrix.SUFFIX[one]), process)
        for path in glob.glob(os.path.join(folder, "*")):
            # No process is left to print their calls, but they must be whole.
            checks.equal(harness.run("check", "-q", path).status, 0, os.path.basename(path), "status of check")


def main():
    program, case, hook, mode = sys.argv[1], sys.argv[2], rt_build.HOOKS[sys.argv[3]], sys.argv[4]
    missing = hook.needs(False)
    if missing:
        harness.skip(missing)
    rt_matrix.MAX_SECONDS = MAX_SECONDS
    built = rt_build.build(hook, program + ".c")
    checks = harness.Checks()
    for _ in range(int(sys.argv[5]) if len(sys.argv) > 5 else 1):
        one_run(checks, built, case, hook, mode)
    checks.end()


if __name__ == "__main__":
    main()
