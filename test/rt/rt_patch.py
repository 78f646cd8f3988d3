#!/usr/bin/env python3
"""Patching of programs that were not built for it, in the process.

    rt_patch.py inert      what is not asked for is not patched: patch=off, another exe, auto in a program with hooks
    rt_patch.py choose     patterns, sizes, libraries
    rt_patch.py switch     code is switched on and off while four threads run in it; in the end it is that of the file,
                           but for dead bytes
    rt_patch.py settings   one process is recorded again and again, with other settings each time
    rt_patch.py later      libraries that are opened and closed, also while code is switched on and off
    rt_patch.py others     of a library that is opened later nothing is recorded but what the patterns select
    rt_patch.py left_out   a library that cannot be patched is looked at once, whatever is opened afterwards
    rt_patch.py faults     system calls of the recorder fail, one at a time: the program does not notice
    rt_patch.py refused    a system that does not let code be changed: one message, nothing is patched"""
import fnmatch
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build

PATIENCE = 120
THREADS = 4
TIMES = "100ms", "2s"
SWITCHES, BURST = 20, 500                   # by ctl; by the program itself, as fast as it can
COMPILERS = ("gcc", "clang-19", "clang-14")
# Numbers of x86-64; all that patching uses.
CALLS = {"mmap": 9, "mprotect": 10, "munmap": 11, "pwrite64": 18, "mremap": 25, "madvise": 28, "openat": 257, "read": 0,
         "getdents64": 217, "membarrier": 324}
ERRNO = {"mmap": 12, "mremap": 12, "pwrite64": 5}
EACCES = 13
FEWER, TOO_MANY = 99, 20                  # later ones are not those of patching
PT_LOAD, PF_X = 1, 1


def build(source, *flags, name=None):
    compiler = next((c for c in COMPILERS if shutil.which(c)), None) or harness.skip("no compiler")
    name = name or "-".join([os.path.splitext(source)[0]] + [re.sub(r"\W", "", flag) for flag in flags])
    path = os.path.join(rt_build.folder("patch"), name)
    with rt_build.Locked(path):
        inputs = [os.path.join(rt_build.HERE, source), os.path.abspath(__file__)]
        if not rt_build.newer(path, inputs):
            rt_build.call([compiler, "-std=gnu17", "-O2", "-I", os.path.join(harness.SOURCE, "include")] + list(flags) + [inputs[0], "-o", path + ".new", "-lpthread"])
            os.rename(path + ".new", path)
    return path


def with_library(source):
    """A program that is linked with a library that is called lib*."""
    library = os.path.join(rt_build.folder("patch"), "libcount_plugin.so")
    plugin = build("count_plugin.c", "-shared", "-fPIC")
    with rt_build.Locked(library):
        shutil.copy(plugin, library + ".new")
        os.rename(library + ".new", library)
    return build(source, "-Wl,--no-as-needed", library, "-Wl,-rpath," + os.path.dirname(library), name=os.path.splitext(source)[0] + "-library")


def exported(path):
    """Names of the functions that a library exports."""
    words = (line.split() for line in run(["nm", "-D", "--defined-only", path], dict(os.environ)).stdout.splitlines())
    return {word[2].split("@")[0] for word in words if len(word) == 3 and word[1] in "TWi"}


def loaded(program, name):
    """The path of a library that the loader gives to a program."""
    lines = run(["ldd", program], dict(os.environ)).stdout.splitlines()
    return next(line.split()[2] for line in lines if line.split()[0].startswith(name))


def recorder():
    path = os.environ.get("TL_RT_SHARED", "")
    if not os.path.exists(path) or os.uname().machine != "x86_64":
        harness.skip("no recorder that patches is built here")
    return path


def environment(out, more):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_", "LD_PRELOAD"))}
    env["TRACELOOM"] = "mode=profile:out=%s:%s" % (out, more)
    return env


def preloaded(out, more="patch=on"):
    """For a program that will record to `out`, which must not be there yet."""
    if os.path.exists(out):
        os.unlink(out)
    return dict(environment(out, more), LD_PRELOAD=recorder())


def run(command, env):
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE)


def calls_of(checks, path):
    """{name: calls}"""
    if not os.path.exists(path):
        return {}
    done = harness.run("report", "-q", "--json", "--by", "func", path)
    checks.equal(done.status, 0, "status of report", done)
    rows = json.loads(done.out)["functions"] if done.status == 0 else []
    return {row["name"] or "#%d" % row["id"]: row["calls"] for row in rows}


def plain(command):
    done = run(command, {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"})
    return done.returncode, done.stdout, done.stderr


def printed(text):
    return {words[1]: int(words[2]) for words in map(str.split, text.splitlines()) if words[:1] == ["call"]}


# ---- what is patched ----

def same(checks, done, command, what):
    checks.equal((done.returncode, done.stdout, done.stderr), plain(command), what, "what the program does")


def inert(checks, folder):
    program, out = build("count_recursion.c"), os.path.join(folder, "out.tlp")
    file = os.stat(program)
    right, wrong = "exe=%d\\:%d" % (file.st_dev, file.st_ino), "exe=%d\\:%d" % (file.st_dev, file.st_ino + 1)
    for more, recorded in (("patch=off", {}), ("patch=on:" + wrong, {}), ("patch=on:" + right, None), ("patch=auto", None)):
        done = run([program], preloaded(out, more))
        same(checks, done, [program], more)
        expected = printed(done.stdout) if recorded is None else recorded
        calls = calls_of(checks, out)
        checks.equal({name: calls.get(name, 0) for name in expected}, expected, more, "calls")
        checks.that(expected or not calls, more, "recorded", calls)
    checks.that(os.path.exists(out), "nothing was recorded at all")
    # A program with hooks is recorded through them: what has none is not seen.
    hooked = build("count_recursion.c", "-finstrument-functions")
    done = run([hooked], preloaded(out, "patch=auto"))
    same(checks, done, [hooked], "hooks and patch=auto")
    calls = calls_of(checks, out)
    checks.equal(calls, {name: n for name, n in printed(done.stdout).items() if n}, "hooks and patch=auto, calls")


def choose(checks, folder):
    program, out = build("count_tail.c"), os.path.join(folder, "out.tlp")
    done = run([program], preloaded(out))
    names = {name: n for name, n in printed(done.stdout).items() if n}
    one = sorted(names)[0]
    base = os.path.basename(program)
    for more, expected in (("func=" + one, {one}), ("func=*:not=" + one, set(names) - {one}), ("func=%s\\:%s" % (base, one), {one}),
                           ("func=nobody*\\:%s:func=%s" % (one, one), {one})):
        done = run([program], preloaded(out, "patch=on:" + more))
        same(checks, done, [program], more)
        calls = calls_of(checks, out)
        checks.equal({name: n for name, n in calls.items() if name in names}, {name: names[name] for name in expected}, more)
    for more, word in (("func=nobody*", "matches"), ("min-size=1M", "none of the functions can be patched")):
        done = run([program], preloaded(out, "patch=on:strict=on:" + more))
        checks.equal((done.returncode, done.stdout), (125, ""), more, "with strict")
        checks.that(done.stderr.count("\n") == 1 and word in done.stderr, more, "message:", done.stderr)
    # Functions of libraries, if they are named: libc by more than lib*.
    user = with_library("found_user.c")
    of_libc = exported(loaded(user, "libc.so"))
    for libs, plugin, libc in (("lib*", True, False), ("libcount*", True, False), ("libc.so*", False, True), ("libc*", True, True)):
        done = run([user], preloaded(out, "patch=on:libs=" + libs))
        same(checks, done, [user], libs)
        calls = calls_of(checks, out)
        found = {name.split("@")[0] for name in calls} & of_libc
        checks.equal((calls.get("plugin_work", 0) > 0, len(found) > 0), (plugin, libc), libs, "of the library and of libc", sorted(found)[:9])
        checks.that(calls.get("main", 0) == 1, libs, "main", calls.get("main"))


# ---- switching ----

def code_parts(path):
    """[(address, bytes)] of the executable segments of a file."""
    with open(path, "rb") as file:
        data = file.read()
    at, size, n = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(n):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
        if kind == PT_LOAD and flags & PF_X:
            yield address, data[offset:offset + length]


def base_of(pid, path):
    with open("/proc/%d/maps" % pid) as maps:
        return next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(path))


def differences(pid, path):
    """Addresses in the file of bytes of code in memory that are not those of the file."""
    found = set()
    with open("/proc/%d/mem" % pid, "rb", 0) as memory:
        for address, data in code_parts(path):
            memory.seek(base_of(pid, path) + address)
            found |= {address + i for i, (a, b) in enumerate(zip(memory.read(len(data)), data)) if a != b}
    return found


def dead_bytes(path):
    """Addresses in nops, as objdump sees them."""
    found = set()
    for line in run(["objdump", "-dw", path], dict(os.environ)).stdout.splitlines():
        words = line.split("\t")
        if len(words) > 2 and re.match(r"(cs |data16 )*(nop|xchg +%ax,%ax|int3)", words[2]):
            begin = int(words[0].strip(" :"), 16)
            found |= set(range(begin, begin + len(words[1].split())))
    return found


def executable_and_writable(pid):
    with open("/proc/%d/maps" % pid) as maps:
        return [line for line in maps if "wx" in line.split()[1]]


def ctl(checks, pid, *words):
    done = harness.run("ctl", str(pid), *words)
    checks.equal(done.status, 0, "ctl", words, done)
    return done


def flushed(checks, pid, out):
    if os.path.exists(out):
        os.unlink(out)
    ctl(checks, pid, "flush")
    return calls_of(checks, out)


def narrowed(checks, pid, out):
    """Other patterns: of what stays patched nothing else is recorded."""
    for pattern, only in (("leaf_1*", lambda name: name.startswith("leaf_1")), ("turn", lambda name: name == "turn")):
        ctl(checks, pid, "set", "func=" + pattern)
        before = flushed(checks, pid, out)
        ctl(checks, pid, "start")
        time.sleep(0.01)
        ctl(checks, pid, "stop")
        after = flushed(checks, pid, out)
        more = {name for name, n in after.items() if n > before.get(name, 0)}
        checks.that(more and all(only(name) for name in more), "func=" + pattern, "recorded", sorted(more))
        checks.that(all(after.get(name, 0) >= n for name, n in before.items()), "calls were forgotten")


def switched(checks, folder, first):
    """`first`: is it patched from the begin on?"""
    program, out = build("patch_switch.c"), os.path.join(folder, "switch-%s.tlp" % first)
    child = subprocess.Popen([program, str(THREADS), str(BURST)], env=preloaded(out, "patch=on:start=" + first), stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        checks.equal(child.stdout.readline(), "ready\n", "begin")
        on = 0
        for i in range(SWITCHES):
            ctl(checks, child.pid, "start")
            on += len(differences(child.pid, program)) > 0
            time.sleep(0.002 * (i % 5))
            ctl(checks, child.pid, "stop")
            if child.poll() is not None:
                break
        checks.equal((child.poll(), on), (None, SWITCHES), "first", first, "after switching: the end, times patched",
                     child.returncode is not None and child.communicate())
        if child.poll() is not None:
            return
        narrowed(checks, child.pid, out)
        child.stdin.close()
        line = child.stdout.readline().split()
        left = len(differences(child.pid, program) - dead_bytes(program))
        checks.equal(executable_and_writable(child.pid), [], "pages that are writable and executable")
        child.terminate()
        checks.equal((child.wait(PATIENCE), child.stderr.read()), (-signal.SIGTERM, ""), "the end")
        # What was put in before main may be more than can be taken back while threads run.
        checks.that(left == 0 if first == "off" else left < 2000, "first", first, left, "bytes of code are not those of the file")
        calls = calls_of(checks, out + ".live")
        checks.that(0 < calls.get("turn", 0) <= int(line[1]), "turns", line, "recorded", calls.get("turn"))
        print("first", first, left, "bytes stay;", calls.get("turn"), "of", line[1], "turns recorded")
    finally:
        child.kill()
        child.wait()


def switch(checks, folder):
    for first in ("off", "on"):
        switched(checks, folder, first)


# ---- one process, other settings ----

def recorded_later(checks, pid, out, expected, *words):
    """Functions that record -p sees; once more, for longer, if some did not get their turn because the machine is busy."""
    for time in TIMES:
        done = harness.run("record", "-p", str(pid), "--for", time, "-q", "-o", out, *words)
        if not checks.equal(done.status, 0, words, done):
            return set()
        found = {name for name, n in calls_of(checks, out).items() if n}
        os.unlink(out)
        if found - expected or found == expected:
            return found
        print(words, "recorded", sorted(found))
    return found


def settings(checks, folder):
    """What an earlier recording had patched is not in a later one that does not ask for it, and the other way round."""
    program = with_library("patch_user.c")
    own, library = {"turn", "callback", "large"}, {"plugin_work", "plugin_leaf"}
    wishes = [((), own), (("--libs", "libcount*"), own | library), (("--exact", "--libs", "libcount*"), own | library), ((), own),
              (("--libs", "libcount*", "--min-size", "64"), {"large"}), (("--libs", "libcount*", "-F", "plugin_leaf"), {"plugin_leaf"}),
              (("--exact",), own), (("--libs", "libcount*"), own | library)]
    for more in ("patch=off:start=off", "patch=on:start=off"):
        child = subprocess.Popen([program], env=preloaded(os.path.join(folder, "first.tlp"), more), stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            checks.equal(child.stdout.readline(), "ready\n", "begin")
            for i, (words, expected) in enumerate(wishes):
                found = recorded_later(checks, child.pid, os.path.join(folder, "%d.tlp" % i), expected, *words)
                checks.equal(found, expected, more, i, words)
                checks.equal((differences(child.pid, program), child.poll()), (set(), None), more, words, "code afterwards")
            checks.equal(child.communicate(timeout=PATIENCE), ("", ""), more, "output")
            checks.equal(child.returncode, 0, more, "the end")
        finally:
            child.kill()
            child.wait()


# ---- libraries ----

def later(checks, folder):
    out, shared = os.path.join(folder, "out.tlp"), ["-shared", "-fPIC"]
    plugin = build("count_plugin.c", *shared)
    # Spans by hand need a recorder: here those of the preloaded one.
    parts = [build("count_reload_part.c", *shared, "-DNAME=" + name) for name in ("first", "second")]
    for command in ([build("count_dlopen.c"), plugin], [build("count_reload.c")] + parts):
        done = run(command, preloaded(out, "patch=on:libs=count_*"))
        if done.returncode == 4:                # another mapping took the place
            print("not reloaded at the same place")
            continue
        checks.equal((done.returncode, done.stderr), (0, ""), command[0], "status")
        calls, made = calls_of(checks, out), printed(done.stdout)
        checks.equal({name: calls.get(name, 0) for name in made}, made, command[0], "calls")
    command = [build("patch_churn.c"), plugin]
    child = subprocess.Popen(command, env=preloaded(out, "patch=on:libs=count_*"), stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        checks.equal(child.stdout.readline(), "ready\n", "begin")
        for _ in range(SWITCHES // 2):
            ctl(checks, child.pid, "stop")
            ctl(checks, child.pid, "start")
        text, messages = child.communicate(timeout=PATIENCE)
        checks.equal((child.returncode, messages), (0, ""), "a library that comes and goes")
        turns, calls = int(text.split()[1]), calls_of(checks, out)
        checks.that(0 < calls.get("plugin_work", 0) <= 10 * turns, turns, "turns, recorded", calls)
        print(turns, "times opened")
    finally:
        child.kill()
        child.wait()


def others(checks, folder):
    """Functions without padding, so that jumps count on the bytes of the next one."""
    library = build("patch_crowd.c", "-shared", "-fPIC", "-falign-functions=1")
    program, out = build("patch_opens.c"), os.path.join(folder, "out.tlp")
    for pattern in ("crowd_1*", "crowd_*[02468]", "crowd_all"):
        done = run([program, library], preloaded(out, "patch=on:libs=patch_crowd*:func=main:func=" + pattern))
        same(checks, done, [program, library], pattern)
        made, calls = printed(done.stdout), calls_of(checks, out)
        expected = {name: n for name, n in made.items() if fnmatch.fnmatchcase(name, pattern)}
        checks.equal({name: n for name, n in calls.items() if n}, dict(expected, main=1), pattern, "calls")


def left_out(checks, folder):
    """The message that says why comes once."""
    bare = build("found_plain.c", "-shared", "-fPIC", "-nostartfiles", "-fno-asynchronous-unwind-tables", "-Wl,--no-eh-frame-hdr",
                 "-fvisibility=hidden", "-Wl,-s", name="found_bare")
    plugin, out = build("count_plugin.c", "-shared", "-fPIC"), os.path.join(folder, "out.tlp")
    command = [build("patch_opens.c"), bare, plugin, plugin, bare]
    done = run(command, preloaded(out, "patch=on:libs=found_bare*:libs=count_*"))
    checks.equal((done.returncode, done.stdout), plain(command)[:2], "the program")
    checks.equal(re.findall("no functions are patched in '(.*)'", done.stderr), [bare], "messages", done.stderr)
    checks.equal(done.stderr.count("\n"), 1, "messages", done.stderr)


# ---- faults ----

def faults(checks, folder):
    program, injector = build("count_recursion.c"), build("patch_inject.c")
    usual, out, tried = plain([program]), os.path.join(folder, "out.tlp"), 0
    env = preloaded(out)
    env["INJECT_PRELOAD"] = env.pop("LD_PRELOAD")
    for call, number in CALLS.items():
        for n in range(1, TOO_MANY):
            done = run([injector, str(number), str(ERRNO.get(call, EACCES)), str(n), program], env)
            if done.returncode == FEWER:
                break
            checks.equal((done.returncode, done.stdout), usual[:2], call, n, "fails: the program", done.stderr)
            calls, expected = calls_of(checks, out), printed(usual[1])
            checks.that(all(calls.get(name, 0) <= made for name, made in expected.items()), call, n, calls)
            tried += 1
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
    print(tried, "system calls failed")
    checks.that(tried > 30, "only", tried, "system calls failed")


def refused(checks, folder):
    """Each of the first mprotect() and each write to memory fails: the self-test finds it."""
    program, injector = build("count_recursion.c"), build("patch_inject.c")
    usual, out = plain([program]), os.path.join(folder, "out.tlp")
    env = preloaded(out, "patch=on:control=off")
    env["INJECT_PRELOAD"] = env.pop("LD_PRELOAD")
    found = 0
    for n in range(1, 4):
        done = run([injector, str(CALLS["mprotect"]), str(EACCES), str(n), program], env)
        checks.equal((done.returncode, done.stdout), usual[:2], n, "the program", done.stderr)
        found += "code cannot be changed here, so nothing is patched" in done.stderr
    checks.that(found > 0, "mprotect fails, and no message says so")
    env["TRACELOOM"] += ":strict=on"
    done = run([injector, str(CALLS["mprotect"]), str(EACCES), "1", program], env)
    checks.equal((done.returncode, done.stdout), (125, ""), "strict", done.stderr)
    checks.equal(done.stderr.count("\n"), 1, "messages", done.stderr)


CASES = {"inert": inert, "choose": choose, "switch": switch, "settings": settings, "later": later, "others": others, "left_out": left_out, "faults": faults, "refused": refused}


def main():
    recorder()
    checks = harness.Checks()
    with harness.work_folder() as folder:
        CASES[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
