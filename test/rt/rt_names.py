#!/usr/bin/env python3
"""A finished profile has the names of its functions: it needs no binary, and another one in its place does not matter.

    rt_names.py WHAT HOOK          gone, odd, full, flush"""
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_matrix

PATIENCE = 60
MOST = 4000  # bytes of a name in a recording
DEEP = ("main", "deep_thread", "down", "left", "right", "bottom")  # of count_deep.c


def moved(path, folder):
    return shutil.copy(path, os.path.join(folder, os.path.basename(path)))


def profile_of(checks, path, *options):
    """The report of a profile, with no message."""
    done = harness.run("report", "--json", "--by", "func", *options, path)
    if not checks.equal((done.status, [l for l in done.err.decode().splitlines() if "unmatched:" not in l]), (0, []), "report"):
        return None
    return done.json()


def gone(hook):
    """The program and its library, removed, and then replaced by others."""
    checks = harness.Checks()
    for name, plugin in (("count_exceptions.cpp", None), ("count_dlopen.c", "count_plugin.c")):
        with harness.work_folder() as folder:
            program = moved(rt_build.build(hook, name), folder)
            library = [moved(rt_build.build(hook, plugin, shared=True), folder)] if plugin else []
            base = os.path.join(folder, "run")
            done = rt_matrix.run_program(hook, "profile", base, program, library)
            checks.equal((done.returncode, done.stderr), (0, ""), name, "the program's end")
            printed = rt_matrix.Printed(done.stdout)
            there = profile_of(checks, base + ".tlp")
            for path in [program] + library:
                os.unlink(path)
            missing = profile_of(checks, base + ".tlp")
            for path in [program] + library:
                shutil.copy(harness.binary()[0], path)
            replaced = profile_of(checks, base + ".tlp")
            for what, table in (("there", there), ("missing", missing), ("replaced", replaced)):
                if table:
                    rt_matrix.check_calls(checks, name + ", binary " + what, table, printed)
            linked = profile_of(checks, base + ".tlp", "--no-demangle")
            if linked and name.endswith(".cpp"):
                checks.that(any(row["name"].startswith("_Z") for row in linked["functions"]), "no linkage names")
            if there and missing and harness.built_with("libdw"):
                checks.that(all(row["file"] and row["line"] for row in there["functions"]), "no lines of", name)
                checks.that(not any(row["file"] for row in missing["functions"]), "lines of no binary")
    checks.end()


def odd(hook):
    """Too long a name is found in the binary; without it only this function is called by its place. Others are kept byte for byte."""
    checks = harness.Checks()
    for name in ("fi\\n b\n", "fib".ljust(MOST, "x"), "fib".ljust(MOST + 1, "x")):
        size = len(name)
        with harness.work_folder() as folder:
            program = moved(rt_build.build(hook, "count_recursion.c"), folder)
            rt_build.call(["objcopy", "--redefine-sym", "fib=" + name, program])
            base = os.path.join(folder, "run")
            done = rt_matrix.run_program(hook, "profile", base, program, [])
            checks.equal((done.returncode, done.stderr), (0, ""), "the program's end")
            printed = rt_matrix.Printed(done.stdout)
            printed.calls[name] = printed.calls.pop("fib")
            there = profile_of(checks, base + ".tlp")
            os.unlink(program)
            rt_matrix.check_calls(checks, "binary there", there, printed)
            done = harness.run("report", "--json", "--by", "func", base + ".tlp")
            named = rt_matrix.by_name(done.json()["functions"])
            checks.equal(named.get(name), None if size > MOST else printed.calls[name], "calls of", name)
            place = os.path.basename(program) + "+0x"
            unnamed = [row["calls"] for row in done.json()["functions"] if row["name"].startswith(place)]
            checks.equal(unnamed, [printed.calls[name]] if size > MOST else [], "calls of functions without a name")
            checks.equal(b"functions stay unnamed" in done.err, size > MOST, "said", done.err)
    checks.end()


def full(hook):
    """No room for more calls, but still for names, here of more bytes than a chunk of notes."""
    checks = harness.Checks()
    with harness.work_folder() as folder:
        program = moved(rt_build.build(hook, "count_deep.c"), folder)
        for name in DEEP:
            rt_build.call(["objcopy", "--redefine-sym", "%s=%s" % (name, name.ljust(MOST, "x")), program])
        base = os.path.join(folder, "run")
        done = rt_matrix.run_program(hook, "profile:limit=2M", base, program, [])
        checks.equal((done.returncode, done.stderr), (0, ""), "the program's end")
        os.unlink(program)
        done = harness.run("report", "--json", "--by", "func", base + ".tlp")
        checks.that(b"lost" in done.err and b"unnamed" not in done.err, "said", done.err)
        checks.equal({row["name"] for row in done.json()["functions"]}, {"main".ljust(MOST, "x")}, "names of functions that have calls")
    checks.end()


def flush(hook):
    """A copy written while threads record; then the program is killed. Both have everything, including names."""
    checks = harness.Checks()
    with harness.work_folder() as folder:
        program = moved(rt_build.build(hook, "fault_kill.c"), folder)
        progress, base = os.path.join(folder, "progress"), os.path.join(folder, "run")
        child = subprocess.Popen([program, progress], env=rt_matrix.environment(hook, "profile", base))
        until = time.monotonic() + PATIENCE
        while not os.path.exists(base + ".tlp.live") and child.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        copies = []
        for i in range(5):
            done = harness.run("ctl", child.pid, "flush")
            if checks.equal(done.status, 0, "flush", done):
                copies.append("%s.%d.tlp" % (base, i))
                os.rename(base + ".tlp", copies[-1])
        child.kill()
        child.wait()
        os.unlink(program)
        with open(base + ".tlp.live", "rb") as file:
            checks.equal(file.read().count(b" name=leaf\n"), 1, "how often a name was written")
        before = 0
        for path in copies + [base + ".tlp.live"]:
            checks.equal(harness.run("check", "-q", path).status, 0, path, "status of check")
            finished = "not finished" not in harness.run("info", path).out.decode()
            checks.equal(finished, path in copies, "finished", path)
            table = profile_of(checks, path)
            if not table:
                continue
            rows = {row["name"]: row for row in table["functions"]}
            checks.that(set(rows) <= {"main", "worker", "outer", "leaf"}, "names", sorted(map(str, rows)))
            calls = rows["leaf"]["calls"] if "leaf" in rows else 0
            checks.that(calls >= before, "calls that are gone:", calls, before)
            before = calls
            for row in rows.values():
                # In each thread, the times may contain one call more than the count.
                checks.that(row["calls"] * row["min"] <= row["total"] <= (row["calls"] + 3) * row["max"], row)
        checks.that(before > 0, "no calls")
    checks.end()


def main():
    hook = rt_build.HOOKS[sys.argv[2]]
    missing = hook.needs(sys.argv[1] == "gone")
    if missing:
        harness.skip(missing)
    {"gone": gone, "odd": odd, "full": full, "flush": flush}[sys.argv[1]](hook)


if __name__ == "__main__":
    main()
