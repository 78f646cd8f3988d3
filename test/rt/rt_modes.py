#!/usr/bin/env python3
"""The recorder as modes of LLVM's runtime, chosen by the program itself, or by XRAY_OPTIONS alone.

    rt_modes.py HOOK          llvm-clang14 or llvm-clang19"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_life
import rt_matrix

WRONG = "traceloom-rt: options of the XRay mode: "


def run(folder, program, arguments, xray_options=None, traceloom=None):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_"))}
    if xray_options:
        env["XRAY_OPTIONS"] = xray_options
    if traceloom is not None:
        env["TRACELOOM"] = traceloom
    return subprocess.run([program] + arguments, cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def by_program(checks, program, mode):
    with harness.work_folder() as folder:
        done = run(folder, program, [LLVM[mode], "out=run.%p:control=off:not=unwanted"])
        checks.equal(done.returncode, 0, mode, "status")
        checks.that(done.stderr.startswith(WRONG) and done.stderr.count("\n") == 1, mode, "messages", done.stderr)
        for process in rt_life.processes(done.stdout):
            rt_life.check_process(checks, rt_life.recording(folder, process, 0, rt_matrix.SUFFIX[mode]), process)
        checks.equal(len(os.listdir(folder)), 1, mode, "files", os.listdir(folder))
        if mode == "fdr":
            classes = harness.run("info", "--json", os.path.join(folder, os.listdir(folder)[0])).json()
            kinds = {c["name"]: c["events"] for c in classes["classes"]}
            checks.equal({k: kinds.get(k) for k in WANTED_EVENTS}, WANTED_EVENTS, "events")


def by_environment(checks, program, mode):
    options = "verbosity=0:xray_mode='%s' patch_premain=true" % LLVM[mode]
    with harness.work_folder() as folder:
        done = run(folder, program, ["return"], options)
        checks.equal((done.returncode, done.stderr), (0, ""), mode, "end")
        files = os.listdir(folder)
        if checks.that(len(files) == 1 and files[0].endswith(rt_matrix.SUFFIX[mode]), mode, "files", files):
            for process in rt_life.processes(done.stdout):
                rt_life.check_process(checks, os.path.join(folder, files[0]), process)
    with harness.work_folder() as folder:
        run(folder, program, ["return"], options.replace("traceloom", "otherloom"))
        run(folder, program, ["return"])
        checks.equal(os.listdir(folder), [], "files of a program that is not recorded")


def by_both(checks, program):
    """TRACELOOM has priority: traceloom record looks for the files of the mode that it chose."""
    options = "patch_premain=true xray_mode=" + LLVM["fdr"]
    for mode in ("ctf", "profile", "fdr,profile"):
        with harness.work_folder() as folder:
            done = run(folder, program, ["return"], options, "mode=%s:out=app" % mode)
            checks.equal((done.returncode, done.stderr), (0, ""), mode, "end")
            wanted = sorted("app" + suffix for name, suffix in rt_matrix.SUFFIX.items() if name in mode.split(","))
            checks.equal(sorted(os.listdir(folder)), wanted, mode, "files")
    with harness.work_folder() as folder:  # empty means not set
        run(folder, program, ["return"], None, "")
        checks.equal(os.listdir(folder), [], "files of a program with an empty TRACELOOM")


LLVM = rt_matrix.LLVM_MODE
WANTED_EVENTS = {"xray.custom": 2, "xray.typed": 2, "xray.enter_args": 110}


def main():
    hook = rt_build.HOOKS[sys.argv[1]]
    missing = hook.needs(False)
    if missing:
        harness.skip(missing)
    checks = harness.Checks()
    modes, ends = (rt_build.build(hook, name) for name in ("life_modes.c", "life_ends.c"))
    for mode in LLVM:
        by_program(checks, modes, mode)
        by_environment(checks, ends, mode)
    by_both(checks, ends)
    checks.end()


if __name__ == "__main__":
    main()
