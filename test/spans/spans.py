#!/usr/bin/env python3
"""Explicit spans, instants and counters are recorded exactly, with each compiler and beside each other source of hooks.

    spans.py COMPILER HOOKS       gcc, clang-14, clang-19; none, functions or sleds

Both programs print their counts. In C++ with everything that a header may hold: inline functions, templates, lambdas.
Warnings are errors. Without recording, or with TRACELOOM_RT_DISABLE, nothing is evaluated and no symbol is needed."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "rt"))
import harness
import rt_build
import rt_matrix

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
INCLUDE = ["-I", os.path.join(harness.SOURCE, "include"), "-I", rt_build.HERE]
PROGRAMS = {"hand_spans.c": ("c11", "c17"), "hand_spans_cxx.cpp": ("c++11", "c++17")}
MODES = ("fdr", "profile", "ctf", "fdr,profile")


def hook_of(compiler, hooks):
    # clang's other flag needs inlined members of std::string, which libstdc++ lacks.
    functions = "-finstrument-functions" + ("-after-inlining" if compiler.startswith("clang") else "")
    flags = {"none": [], "functions": [functions]}.get(hooks)
    if hooks == "sleds":
        flags = rt_build.SLEDS + [rt_build.NO_RUNTIME[compiler.replace("clang-", "")]]
    return rt_build.Hook("spans-%s-%s" % (compiler, hooks), {"none": "spans"}.get(hooks, hooks), compiler, ["-O2"] + flags)


def compiled(hook, folder, source, standard, *flags):
    path = os.path.join(folder, "%s-%s%s.o" % (source, standard, "".join(flags)))
    command = [hook.command(source.endswith(".cpp")), "-std=" + standard, "-g1", "-O2"] + WARNINGS + INCLUDE + hook.flags + list(flags)
    rt_build.call(command + ["-c", os.path.join(HERE, source), "-o", path])
    return path


def linked(hook, path):
    program = path[:-2]
    rt_build.call([hook.command(".cpp" in path), path, "-o", program] + rt_build.linked(hook, False) + ["-lpthread", "-ldl"])
    return program


def count_events(checks, path, kind, name):
    done = harness.run("info", "-q", "--json", path)
    checks.equal(done.status, 0, "status of info", done)
    return sum(c["events"] for c in done.json()["classes"] if c["name"] == name and c["kind"] == kind)


def check_mode(checks, program, mode, folder, hooks):
    base = os.path.join(folder, "run-" + mode.replace(",", "-"))
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_"))}
    env["TRACELOOM"] = "mode=%s:out=%s" % (mode, base)
    done = subprocess.run([program], env=env, capture_output=True, text=True, timeout=120)
    checks.equal((done.returncode, done.stderr), (0, ""), mode, "the program's end")
    printed = rt_matrix.Printed(done.stdout)
    if hooks == "none": # then only spans are there
        printed.calls = {name: n for name, n in printed.calls.items() if name not in ("main", "leaf")}
    for one in mode.split(","):
        path = base + rt_matrix.SUFFIX[one]
        status = harness.run("check", "-q", path)
        checks.equal(status.status, 0, status)
        table = rt_matrix.report(checks, path, "--by", "func")
        calls = {name.split("(")[0]: n for name, n in rt_matrix.by_name(table["functions"]).items()}
        calls = {name: n for name, n in calls.items() if name in printed.calls}
        checks.equal(calls, printed.calls, program, one, "calls")
        checks.equal(table["unmatched"], {"exits": 0, "open": 0}, program, one, "unmatched")
        for line in done.stdout.splitlines():
            words = line.split()
            if one != "profile" and words[0] in ("instant", "counter"):
                checks.equal(count_events(checks, path, *words[:2]), int(words[2]), program, one, line)


def check_nothing(checks, hook, path, program):
    """Without the recorder; and disabled."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("TRACELOOM")}
    done = subprocess.run([program, "quiet"], env=env, capture_output=True, text=True, timeout=60)
    checks.that("evaluated 0\n" in done.stdout, "recording is off, but", done.stdout)
    source = os.path.basename(path).split("-")[0]
    disabled = compiled(hook, os.path.dirname(path), source, "c11", "-DTRACELOOM_RT_DISABLE")
    for wanted, of in ((True, path), (False, disabled)):
        symbols = subprocess.run(["nm", of], capture_output=True, text=True, check=True).stdout
        found = any(word.startswith("tl_rt_") for line in symbols.splitlines() for word in line.split()[-1:])
        checks.equal(found, wanted, of, "needs symbols of the recorder\n", symbols)
    alone = disabled[:-2]
    rt_build.call([hook.compiler, disabled, "-o", alone] + ([] if not hook.flags[1:] else rt_build.linked(hook, False)) + ["-lpthread", "-ldl"])
    done = subprocess.run([alone, "quiet"], env=env, capture_output=True, text=True, timeout=60)
    checks.that("evaluated 0\n" in done.stdout, "disabled, but", done.stdout)


def main():
    compiler, hooks = sys.argv[1:]
    hook = hook_of(compiler, hooks)
    for tool in (hook.command(False), hook.command(True), "nm"):
        if not shutil.which(tool):
            harness.skip("no " + tool)
    checks = harness.Checks()
    with harness.work_folder() as folder:
        for source, standards in PROGRAMS.items():
            for standard in standards:
                path = compiled(hook, folder, source, standard)
                program = linked(hook, path)
                # The older standard only has to compile; the recording would hardly differ.
                for mode in MODES if standard == standards[-1] else harness.some_of(hook.name + standard, MODES, 1):
                    check_mode(checks, program, mode, folder, hooks)
                    for entry in os.listdir(folder):
                        if entry.startswith("run-"):
                            there = os.path.join(folder, entry)
                            shutil.rmtree(there) if os.path.isdir(there) else os.unlink(there)
                if source.endswith(".c"):
                    check_nothing(checks, hook, path, program)
    checks.end()


if __name__ == "__main__":
    main()
