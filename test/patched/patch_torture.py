#!/usr/bin/env python3
"""C++ exceptions, jumps, signals, cancelled threads, coroutines, backtraces: the same with patched code as without.

    patch_torture.py own         the program and the library that it opens are patched
    patch_torture.py libraries   and libstdc++, libgcc_s, libm and libc

One program, patch_torture.cpp, which knows its calls, built in many ways: a sample of them, in `make slow` all."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
sys.path.insert(0, os.path.join(harness.SOURCE, "test", "rt"))
import patch_oracle
import rt_build
import rt_matrix

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 200
SAMPLE = {"own": 4, "libraries": 3}
PART = "patch_torture_part*"
SETS = {"own": [PART], "libraries": [PART, "libstdc++*", "libgcc_s*", "libm.so*", "libc.so*"]}
FLAGS = ["-std=gnu++20", "-Wno-infinite-recursion"]


def hooks():
    """All but the ways in which only the begin of functions differs."""
    return [hook for hook in rt_build.patched() if not re.search("-(room|fentry|sleds)$", hook.name)]


def settings(program, what, out):
    """The program alone, not those that it starts."""
    status = os.stat(program)
    return ":".join(["patch=on:mode=profile", "out=" + out, "exe=%d\\:%d" % (status.st_dev, status.st_ino)] + ["libs=" + glob for glob in SETS[what]])


def run(program, part, env):
    return subprocess.run([program, part], env=env, capture_output=True, text=True, timeout=PATIENCE,
                          preexec_fn=patch_oracle.fixed_addresses)


def said(text):
    return [line for line in text.splitlines() if line.startswith("said ")]


class Printed(rt_matrix.Printed):
    def __init__(self, text):
        super().__init__(text)
        self.others, self.about = True, {}
        for words in (line.split() for line in text.splitlines()):
            if words[:1] == ["about"]:
                self.about[words[1]] = int(words[2]) - int(words[3]), int(words[2]) + int(words[3])
                self.calls.pop(words[1], None)


def check(checks, hook, what):
    part = rt_build.build(hook, os.path.join(HERE, "patch_torture_part.cpp"), FLAGS, shared=True, name="patch_torture_part")
    program = rt_build.build(hook, os.path.join(HERE, "patch_torture.cpp"), FLAGS, name="patch_torture")
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_", "LD_"))}
    plain = run(program, part, env)
    if not checks.equal((plain.returncode, plain.stderr), (0, ""), hook.name, "without the recorder"):
        return
    with harness.work_folder() as folder:
        out = os.path.join(folder, "run.tlp")
        done = run(program, part, dict(env, LD_PRELOAD=rt_build.libraries(hook)[0], TRACELOOM=settings(program, what, out)))
        checks.equal((done.returncode, done.stderr), (0, ""), hook.name, "the program's end")
        checks.equal(said(done.stdout), said(plain.stdout), hook.name, "output")
        checks.that(said(plain.stdout), hook.name, "the program said nothing")
        if not checks.equal(os.listdir(folder), ["run.tlp"], hook.name, "files"):
            return
        table = rt_matrix.report(checks, out, "--by", "func")
        if table:
            printed = Printed(done.stdout)
            printed.forget(checks, rt_matrix.without_room(checks, hook, program))
            rt_matrix.check_calls(checks, hook.name, table, printed)
            calls = rt_matrix.by_name(table["functions"])
            for name, (least, most) in printed.about.items():
                checks.that(least <= calls.get(name, 0) <= most, hook.name, name, calls.get(name), "not", least, "to", most)


def main():
    what = sys.argv[1]
    tried = [hook for hook in harness.some_of("torture." + what, rt_build.mixed(hooks()), SAMPLE[what]) if not hook.needs(True)]
    if not tried:
        harness.skip("no compiler")
    checks = harness.Checks()
    for hook in tried:
        check(checks, hook, what)
    checks.end()


if __name__ == "__main__":
    main()
