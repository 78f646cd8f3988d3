#!/usr/bin/env python3
"""Programs and libraries with sleds that are not linked with the recorder, which is preloaded: what rt_matrix.py, which
counts their calls, and rt_sleds.py, with their events, do not try.

    rt_found.py CASE HOOK          a function case_*; a name of rt_build.HOOKS of kind "found" """
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_matrix

SECTION = "xray_instr_map"
RECORD, FUNCTION, KIND, VERSION = 32, 8, 16, 18     # of a sled, and places in it
SECTION_HEADER, SH_ADDRESS, SH_OFFSET, SH_SIZE, SH_LINK = 64, 16, 24, 32, 40
E_SHOFF, E_SHNUM, E_SHSTRNDX = 40, 60, 62


class Elf:
    """A copy of a program whose bytes are changed."""

    def __init__(self, path, folder):
        self.path = shutil.copy(path, os.path.join(folder, "changed"))
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        self.headers, = struct.unpack_from("<Q", self.data, E_SHOFF)
        self.count, self.names = struct.unpack_from("<HH", self.data, E_SHNUM)
        text, = struct.unpack_from("<Q", self.data, self.headers + self.names * SECTION_HEADER + SH_OFFSET)
        for i in range(self.count):
            self.header = self.headers + i * SECTION_HEADER
            name, = struct.unpack_from("<I", self.data, self.header)
            if self.data[text + name:].startswith(SECTION.encode() + b"\0"):
                break
        self.address, self.map, self.size = struct.unpack_from("<QQQ", self.data, self.header + SH_ADDRESS)

    def put(self, place, layout, value):
        struct.pack_into("<" + layout, self.data, place, value)
        return self

    def write(self):
        with open(self.path, "wb") as file:
            file.write(self.data)
        return self.path


def counts(report):
    """Numbers of calls, whatever the functions are called."""
    return sorted(row["calls"] for row in report["functions"] if row["calls"])


def recorded(checks, hook, program, arguments=(), mode="profile", message="", env=()):
    """Runs and records it; returns what it printed, and the table of functions, or None."""
    with harness.work_folder() as folder:
        base = os.path.join(folder, "run")
        run_in = rt_matrix.environment(hook, mode, base)
        run_in.update(env)
        command = rt_build.preloaded(hook, [program] + list(arguments), run_in)
        done = subprocess.run(command, env=run_in, capture_output=True, text=True, timeout=rt_matrix.MAX_SECONDS)
        said = done.stderr.strip()
        checks.that(done.returncode == 0 and (message in said if message else not said), "the program's end:", done.returncode, said)
        path = base + rt_matrix.SUFFIX[mode.split(":")[0]]
        table = rt_matrix.report(checks, path, "--by", "func") if os.path.exists(path) else None
        return rt_matrix.Printed(done.stdout), table


def check_exact(checks, what, hook, program, arguments=()):
    printed, table = recorded(checks, hook, program, arguments)
    if checks.that(table, what, "left no recording"):
        rt_matrix.check_calls(checks, what, table, printed)


def case_later(checks, hook):
    """A library that is opened, closed, and opened again while the program runs."""
    check_exact(checks, "count_later", hook, rt_build.build(hook, "count_later.c"), [rt_build.build(hook, "count_plugin.c", shared=True)])


def case_at_once(checks, hook):
    """The same, in a program that is patched with libraries that are named: the first call is recorded already."""
    for name in ("count_dlopen", "count_later"):
        program = rt_build.build(hook, name + ".c", ["-fno-xray-instrument"], name=name + "_plain")
        plugin = rt_build.build(hook, "count_plugin.c", shared=True)
        printed, table = recorded(checks, hook, program, [plugin], mode="profile:patch=on:libs=nothing*")
        if checks.that(table, name, "left no recording"):
            calls = rt_matrix.by_name(table["functions"])
            checks.equal({function: calls.get(function, 0) for function in printed.calls}, printed.calls, name, "calls")


def case_churn(checks, hook):
    """It comes and goes in one thread, while recording is switched off and on."""
    program = rt_build.build(hook, "patch_churn.c", ["-fno-xray-instrument"])
    plugin = rt_build.build(hook, "count_plugin.c", shared=True)
    with harness.work_folder() as folder:
        env = rt_matrix.environment(hook, "profile:patch=on:libs=nothing*", os.path.join(folder, "run"))
        child = subprocess.Popen(rt_build.preloaded(hook, [program, plugin], env), env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        try:
            checks.equal(child.stdout.readline(), "ready\n", "begin")
            for _ in range(10):
                for word in ("stop", "start"):
                    checks.equal(harness.run("ctl", str(child.pid), word).status, 0, word)
            text, messages = child.communicate(timeout=rt_matrix.MAX_SECONDS)
        finally:
            child.kill()
            child.wait()
        checks.equal((child.returncode, messages), (0, ""), "the program's end")
        turns, table = int(text.split()[1]), rt_matrix.report(checks, os.path.join(folder, "run.tlp"), "--by", "func")
        calls = rt_matrix.by_name(table["functions"]) if table else {}
        checks.that(0 < calls.get("plugin_work", 0) <= 10 * turns, turns, "turns, recorded", calls)
        print(turns, "times opened")


def user_of(hook, library, name):
    linked = ["-Wl,--no-as-needed", library, "-Wl,-rpath," + os.path.dirname(library)]
    return rt_build.build(hook, "found_user.c", ["-fno-xray-instrument"] + linked, name=name)


def case_library(checks, hook):
    """A library with sleds, linked with a program that has none."""
    library = rt_build.build(hook, "count_plugin.c", shared=True)
    check_exact(checks, "a library", hook, user_of(hook, library, "found_user"))


def case_registers_itself(checks, hook):
    """A library that has the start file, in a program that has no recorder: recorded once, not twice."""
    library = rt_build.build(rt_build.HOOKS["sleds-clang19"], "count_plugin.c", shared=True)
    check_exact(checks, "a library with the start file", hook, user_of(hook, library, "found_user_start"))


def case_stripped(checks, hook):
    """Names are gone, headers of sections are not."""
    with harness.work_folder() as folder:
        program = shutil.copy(rt_build.build(hook, "count_tail.c"), os.path.join(folder, "stripped"))
        rt_build.call(["strip", "-s", program])
        printed, table = recorded(checks, hook, program)
        if checks.that(table, "no recording"):
            checks.equal(counts(table), sorted(printed.calls.values()), "calls of functions without names")


def case_patterns(checks, hook):
    printed, table = recorded(checks, hook, rt_build.build(hook, "count_recursion.c"), mode="profile:func=fib")
    if checks.that(table, "no recording"):
        checks.equal(rt_matrix.by_name(table["functions"]), {"fib": printed.calls["fib"]}, "calls of fib alone")


def check_nothing(checks, what, hook, program, message, arguments=()):
    """The program runs as without the recorder, and no function of it is recorded."""
    _, table = recorded(checks, hook, program, arguments, message=message)
    checks.that(table is None or not table["functions"], what, "is recorded:", table and table["functions"])


def case_patched(checks, hook):
    """LLVM's runtime has switched the sleds on: they are its own."""
    program = rt_build.build(hook, "count_recursion.c")
    with harness.work_folder() as folder:
        env = {"XRAY_OPTIONS": "patch_premain=true xray_mode=xray-basic xray_logfile_base=%s/" % folder}
        _, table = recorded(checks, hook, program, message="another runtime has patched its sleds", env=env)
        checks.that(table is None or not table["functions"], "is recorded:", table)
        checks.that(os.listdir(folder), "LLVM's runtime wrote nothing")


def case_malformed(checks, hook):
    """Maps that lie about where sleds are: the whole object is left alone. Sections that cannot be the map are none."""
    program = rt_build.build(hook, "count_recursion.c")
    huge = 1 << 62
    bad = {"far sled": lambda e: e.put(e.map, "q", huge), "a sled in data": lambda e: e.put(e.map, "q", 0),
           "far function": lambda e: e.put(e.map + FUNCTION, "q", huge), "unknown kind": lambda e: e.put(e.map + KIND, "B", 6),
           "unknown version": lambda e: e.put(e.map + VERSION, "B", 3), "a part of a record": lambda e: e.put(e.header + 32, "Q", RECORD + 1),
           "last record": lambda e: e.put(e.map + e.size - RECORD, "q", -huge), "another section": lambda e: e.put(e.header + SH_ADDRESS, "Q", 0)}
    unseen = {"far map": lambda e: e.put(e.header + SH_ADDRESS, "Q", huge), "too long a map": lambda e: e.put(e.header + 32, "Q", huge),
              "no map": lambda e: e.put(e.header + 32, "Q", 0), "no name": lambda e: e.put(e.header, "I", 0xffffffff),
              "not loaded": lambda e: e.put(e.header + 8, "Q", 0), "no headers": lambda e: e.put(E_SHOFF, "Q", 0).put(E_SHNUM, "H", 0),
              "headers elsewhere": lambda e: e.put(E_SHOFF, "Q", huge), "odd names": lambda e: e.put(E_SHSTRNDX, "H", 0xffff),
              "many headers": lambda e: e.put(E_SHNUM, "H", 0xffff)}
    for changes, message in ((bad, "xray_instr_map is malformed"), (unseen, "")):
        for what, change in changes.items():
            with harness.work_folder() as folder:
                elf = Elf(program, folder)
                change(elf)
                check_nothing(checks, what, hook, elf.write(), message)
    with harness.work_folder() as folder:
        check_exact(checks, "unchanged", hook, Elf(program, folder).write())
    # As in a file with more sections than the header's fields can tell.
    with harness.work_folder() as folder:
        elf = Elf(program, folder)
        elf.put(elf.headers + SH_SIZE, "Q", elf.count).put(elf.headers + SH_LINK, "I", elf.names)
        check_exact(checks, "numbers in the first section", hook, elf.put(E_SHNUM, "H", 0).put(E_SHSTRNDX, "H", 0xffff).write())


def case_no_end(checks, hook):
    """A library that is opened later, and whose end is never announced."""
    library = rt_build.build(hook, "count_plugin.c", ["-nostartfiles"], shared=True, name="count_plugin_no_end")
    program = rt_build.build(hook, "found_opens.c", ["-fno-xray-instrument"])
    check_nothing(checks, "count_plugin", hook, program, "cannot be told when it is unloaded", [library])


def case_no_room(checks, hook):
    """No memory is free below the program."""
    program = rt_build.build(hook, "count_recursion.c", ["-Wl,-Ttext-segment=0x20000"], name="count_low")
    check_nothing(checks, "count_low", hook, program, "no free memory is near the sleds")


def case_inert(checks, hook):
    """Without TRACELOOM the preloaded recorder does nothing; and it may be asked for libraries that are not there."""
    program = rt_build.build(hook, "count_recursion.c")
    with harness.work_folder() as folder:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_"))}
        command = rt_build.preloaded(hook, [program], env)
        done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=folder, timeout=rt_matrix.MAX_SECONDS)
        checks.equal((done.returncode, done.stderr, os.listdir(folder)), (0, "", []), "without TRACELOOM")
        env["TRACELOOM"] = "mode=profile:patch=on:start=off:libs=nobody*:out=" + os.path.join(folder, "run.tlp")
        done = subprocess.run(rt_build.preloaded(hook, [program], env), env=env, capture_output=True, text=True, cwd=folder,
                              timeout=rt_matrix.MAX_SECONDS)
        checks.equal((done.returncode, done.stderr, os.listdir(folder)), (0, "", []), "with libraries that are not there")


def case_record(checks, hook):
    """traceloom record alone: it loads the recorder, and says so."""
    for name in ("count_recursion.c", "count_tail.c", "count_threads.c"):
        program = rt_build.build(hook, name)
        with harness.work_folder() as folder:
            env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_", "LD_PRELOAD"))}
            done = harness.run("record", "-o", "run.tlp", program, cwd=folder, env=env)
            said = done.err.decode()
            checks.equal(done.status, 0, "status of record", done)
            checks.that("and no recorder in it: it is loaded" in said.splitlines()[0], "the first line:", said)
            rt_matrix.check_file(checks, os.path.join(folder, "run.tlp"), rt_matrix.Printed(done.out.decode()))
            checks.equal(os.listdir(folder), ["run.tlp"], "files")


def case_children(checks, hook):
    """traceloom record without --children: what the program starts leaves nothing."""
    program = rt_build.build(hook, "found_starts.c")
    with harness.work_folder() as folder:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_", "LD_PRELOAD"))}
        done = harness.run("record", "-o", "run.tlp", program, rt_build.build(hook, "count_recursion.c"), cwd=folder, env=env)
        checks.equal(done.status, 0, "status of record", done)
        checks.that(b"call fib" in done.out, "the child", done)
        table = rt_matrix.report(checks, os.path.join(folder, "run.tlp"), "--by", "func")
        checks.equal(rt_matrix.by_name(table["functions"]), {"main": 1}, "calls of the program alone")
        checks.equal(os.listdir(folder), ["run.tlp"], "files")


def case_beside(checks, hook):
    """A library without hooks that is named is patched, and one with sleds is recorded through these, once."""
    plain = rt_build.build(hook, "found_plain.c", ["-fno-xray-instrument"], shared=True)
    sleds = rt_build.build(hook, "count_plugin.c", shared=True)
    program = rt_build.build(hook, "found_beside.c", ["-Wl,--no-as-needed", sleds, plain, "-Wl,-rpath," + os.path.dirname(plain)])
    with harness.work_folder() as folder:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_", "LD_PRELOAD"))}
        done = harness.run("record", "--libs", "found_plain*", "--libs", "count_plugin*", "-o", "run.tlp", program, cwd=folder, env=env)
        checks.equal(done.status, 0, "status of record", done)
        table = rt_matrix.report(checks, os.path.join(folder, "run.tlp"), "--by", "func")
        calls = rt_matrix.by_name(table["functions"]) if table else {}
        checks.equal({name: calls.get(name) for name in ("main", "callback", "plugin_work", "plugin_leaf", "first_work")},
                     {"main": 1, "callback": 5, "plugin_work": 5, "plugin_leaf": 15, "first_work": 5}, "calls")


def main():
    hook = rt_build.HOOKS[sys.argv[2]]
    missing = hook.needs(False)
    if missing:
        harness.skip(missing)
    checks = harness.Checks()
    globals()["case_" + sys.argv[1]](checks, hook)
    checks.end()


if __name__ == "__main__":
    main()
