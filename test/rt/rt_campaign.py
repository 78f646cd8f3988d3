#!/usr/bin/env python3
"""Every counting program with every source of hooks in every mode, and many more kills: rt_campaign.py BUILD [JOBS]

Takes about an hour. ctest runs a part of it."""
import concurrent.futures
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("fdr", "profile", "fdr,profile", "ctf")
CASES = [["recursion"], ["tail"], ["threads"], ["million"], ["deep"], ["longjmp"], ["exceptions"], ["dlopen"], ["atexit"], ["signals"],
         ["signals", "alternate", "1000"], ["signals", "above", "1000"], ["signals", "nested", "1000"]]
KILLS, SKIP = 300, 77


def environment(build):
    env = dict(os.environ, TL_SOURCE=os.path.dirname(os.path.dirname(HERE)), TL_BINARY=os.path.join(build, "traceloom"),
               TL_WORK=os.path.join(build, "test", "work"), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8")
    for name, file in (("LIBRARY", "libtraceloom-rt.a"), ("START", "libtraceloom-rt-start.a"), ("SHARED", "libtraceloom-rt.so")):
        env["TL_RT_" + name] = os.path.join(build, file)
    return env


def commands():
    sys.path.insert(0, HERE)
    import rt_build
    matrix, faults = os.path.join(HERE, "rt_matrix.py"), os.path.join(HERE, "rt_faults.py")
    for hook in rt_build.HOOKS.values():
        if hook.kind == "patch":
            continue                        # `make slow` tries them all: test/patched/patch_count.py
        for mode in MODES:
            for name, *arguments in CASES:
                # LLVM's runtime before 20 knows only the program itself; a static program opens no library.
                if name == "dlopen" and (hook.kind == "llvm" or hook.static):
                    continue
                yield [matrix, "count_" + name, hook.name, mode] + arguments
    for hook in ("sleds-clang14", "sleds-clang19", "functions-gcc-O2", "functions-clang19", "patch-gcc-O2"):
        for mode in MODES:
            yield [faults, "kill", mode, hook, str(KILLS)]
        for mode in ("fdr", "profile", "ctf"):
            for what in ("disk", "rlimit", "folder"):
                yield [faults, what, mode, hook]


def main():
    build, jobs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    env = environment(build)
    os.environ.update(env)
    counts = {"passed": 0, "skipped": 0, "failed": 0}

    def run(command):
        return command, subprocess.run([sys.executable] + command, env=env, capture_output=True, text=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for command, done in pool.map(run, list(commands())):
            verdict = {0: "passed", SKIP: "skipped"}.get(done.returncode, "failed")
            counts[verdict] += 1
            print("%-8s %s" % (verdict, " ".join([os.path.basename(command[0])] + command[1:])), flush=True)
            if verdict == "failed":
                print(done.stdout + done.stderr)
    print(", ".join("%d %s" % (n, verdict) for verdict, n in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
