#!/usr/bin/env python3
"""The recorder when things go wrong: kills, full disks, no folder, very many threads, checkers, other readers.

    rt_faults.py kill MODE HOOK RUNS     SIGKILL at random moments: only calls in flight may be missing
    rt_faults.py disk MODE HOOK          no room: one message, without effect on the program
    rt_faults.py rlimit MODE HOOK        the same by the limit on file sizes
    rt_faults.py folder MODE HOOK        nowhere to write to
    rt_faults.py closed MODE HOOK        standard files that are not open, and few descriptors
    rt_faults.py touched MODE HOOK       a recording is removed, renamed, extended or cut while it is made
    rt_faults.py daemon MODE HOOK        a program that becomes a daemon, run by traceloom record
    rt_faults.py leaves MODE HOOK        a program that ends while traceloom ctl waits for its answer
    rt_faults.py churn MODE HOOK N       N threads, a few at a time
    rt_faults.py valgrind MODE HOOK      memcheck finds no error
    rt_faults.py tsan MODE HOOK          nor ThreadSanitizer
    rt_faults.py llvm HOOK               llvm-xray reads our logs and agrees"""
import contextlib
import csv
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_matrix

THREADS, NOBODY, PATIENCE = 3, 65534, 120
MIB = 1 << 20
SMALL = 0, 1, 100, 4096, 8192, 65536
DAEMON_CALLS = 1000                         # of fault_daemon.c


def progress_of(path):
    with open(path, "rb") as file:
        numbers = struct.unpack("<32Q", file.read(256))
    return sum(numbers[0::2]), sum(numbers[1::2])


def until_calls(progress, child):
    """Waits for the first call."""
    end = time.monotonic() + PATIENCE
    while not progress_of(progress)[0] and child.poll() is None and time.monotonic() < end:
        time.sleep(0.0005)


def one_kill(checks, program, mode, hook, early, wait):
    """Starts, waits, kills; the remains must be whole. Returns how many calls were made at least."""
    with harness.work_folder() as folder:
        progress, base = os.path.join(folder, "progress"), os.path.join(folder, "run")
        with open(progress, "wb") as file:
            file.write(bytes(256))
        child = subprocess.Popen([program, progress, str(THREADS)], env=rt_matrix.environment(hook, mode, base),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if not early:
            until_calls(progress, child)
        time.sleep(wait)
        child.send_signal(signal.SIGKILL)
        message = child.communicate()[1]
        checks.equal((child.returncode, message), (-signal.SIGKILL, b""), "after", wait, "s: the end")
        leaf, outer = progress_of(progress)
        for one in mode.split(","):
            path = base + rt_matrix.SUFFIX[one] + ".live"
            if not os.path.exists(path):
                checks.equal(leaf, 0, "after", wait, "s: calls were made, but there is no", os.path.basename(path), os.listdir(folder))
                continue
            checked = harness.run("check", "-q", path)
            if checked.status and not leaf:
                continue                    # killed while the recording was set up: nothing to read
            checks.equal(checked.status, 0, "after", wait, "s:", checked)
            table = rt_matrix.report(checks, path, "--by", "func")
            if table is None:
                continue
            calls, where = rt_matrix.by_name(table["functions"]), "after %f s, %s:" % (wait, one)
            for name, committed in (("leaf", leaf), ("outer", outer)):
                got = calls.get(name, 0)
                checks.that(committed <= got <= committed + THREADS, where, name, "has", got, "calls;", committed, "were made")
            checks.that(set(calls) <= {"leaf", "outer", "worker", "main"}, where, "functions", calls)
            checks.equal(table["unmatched"]["exits"], 0, where, "exits without entry")
            checks.that(table["unmatched"]["open"] <= 3 * THREADS + 1, where, table["unmatched"])
        return leaf


def kill(mode, hook, runs):
    program = rt_build.build(hook, "fault_kill.c")
    checks, seed, some = harness.Checks(), random.randrange(1 << 30), 0
    chance = random.Random(seed)
    for _ in range(runs):
        early = chance.random() < 0.2       # while it is still starting, perhaps
        some += one_kill(checks, program, mode, hook, early, chance.choice((0.005, 0.02, 0.1)) * chance.random()) > 0
    print("%d runs killed, seed %d, %d of them in the middle of calls" % (runs, seed, some))
    checks.that(some > runs // 2, "too few runs got as far as calls")
    checks.end()


def messages(text):
    return [line for line in text.splitlines() if line]


def undisturbed(checks, done, plain, what, word):
    """The program's own output and status, and one line about the problem."""
    checks.equal((done.returncode, done.stdout), (plain.returncode, plain.stdout), what, "the program's output and status")
    lines = messages(done.stderr)
    checks.that(len(lines) == 1 and lines[0].startswith("traceloom-rt: ") and word in lines[0], what, "not one clear message:", lines)


@contextlib.contextmanager
def small_disk(folder, size):
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size, "tmpfs", folder], capture_output=True).returncode:
        harness.skip("only root may mount a small file system here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def run_with(command, hook, mode, out, **more):
    return subprocess.run(command, env=rt_matrix.environment(hook, mode, out), capture_output=True, text=True, timeout=500, **more)


def without(command):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_"))}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=500)


def readable(checks, folder, limits):
    """The part written before is still good: no function has more calls than were made."""
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        checked = harness.run("check", "-q", path)
        checks.equal(checked.status, 0, entry, checked)
        table = rt_matrix.report(checks, path, "--by", "func")
        if table:
            calls = rt_matrix.by_name(table["functions"])
            checks.that(all(n <= limits.get(name, 0) for name, n in calls.items()), entry, calls, "of", limits)
            checks.that(sum(calls.values()) > 1000, entry, "kept nothing:", calls)


def disk(mode, hook):
    command = [rt_build.build(hook, "count_deep.c" if mode == "profile" else "count_million.c")]
    plain, checks = without(command), harness.Checks()
    limits = rt_matrix.Printed(plain.stdout).calls
    with harness.work_folder() as folder, small_disk(folder, 2 * MIB):
        done = run_with(command, hook, mode, os.path.join(folder, "run"))
        undisturbed(checks, done, plain, "full disk:", "No space left")
        if mode != "profile":
            readable(checks, folder, limits)
    with harness.work_folder() as folder, small_disk(folder, 4096):
        done = run_with(command, hook, mode, os.path.join(folder, "run"))
        undisturbed(checks, done, plain, "disk that is full from the begin on:", "No space left")
    checks.end()


def rlimit(mode, hook):
    command = [rt_build.build(hook, "count_deep.c" if mode == "profile" else "count_million.c")]
    plain, checks = without(command), harness.Checks()
    with harness.work_folder() as folder:
        done = run_with(command, hook, mode, os.path.join(folder, "run"),
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2 * MIB, 2 * MIB)))
        undisturbed(checks, done, plain, "RLIMIT_FSIZE:", "File too large")
        if mode != "profile":
            readable(checks, folder, rt_matrix.Printed(plain.stdout).calls)
    for most in SMALL: # too small for a header, a page of control, a first packet
        with harness.work_folder() as folder:
            done = run_with(command, hook, mode, os.path.join(folder, "run"),
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
            checks.equal((done.returncode, done.stdout), (plain.returncode, plain.stdout), "RLIMIT_FSIZE of", most, done.stderr)
    checks.end()


def limit(mode, hook):
    """The log is full, the profile is not: each reports its own losses."""
    command = [rt_build.build(hook, "count_million.c")]
    plain, checks = without(command), harness.Checks()
    with harness.work_folder() as folder:
        base = os.path.join(folder, "run")
        checks.equal(run_with(command, hook, mode + ":limit=1M", base).returncode, plain.returncode, "the program's end")
        log, profile = (json.loads(harness.run("info", "--json", base + suffix).out) for suffix in (".xray", ".tlp"))
        checks.that(log["lost"]["events"] > 0, "the log is not full", log["lost"])
        checks.equal(profile["lost"]["events"], 0, "losses of the profile", profile["lost"])
        table = rt_matrix.report(checks, base + ".tlp", "--by", "func")
        rt_matrix.check_calls(checks, "profile", table, rt_matrix.Printed(plain.stdout))
    checks.end()


@contextlib.contextmanager
def somebody_else(command):
    """The command for an unprivileged user: for root, a copy that others may execute, run as another user."""
    if os.getuid() != 0:
        yield command, {}
        return
    with tempfile.TemporaryDirectory() as open_to_all:
        os.chmod(open_to_all, 0o755)
        yield [shutil.copy(command[0], open_to_all), *command[1:]], {"user": NOBODY}


def nowhere(mode, hook):
    command = [rt_build.build(hook, "count_recursion.c")]
    plain, checks = without(command), harness.Checks()
    with harness.work_folder() as folder:
        missing = run_with(command, hook, mode, os.path.join(folder, "not-there", "run"))
        undisturbed(checks, missing, plain, "no such folder:", "No such file or directory")
        file = os.path.join(folder, "file")
        open(file, "w").close()
        undisturbed(checks, run_with(command, hook, mode, os.path.join(file, "run")), plain, "a file as folder:", "Not a directory")
        os.chmod(folder, 0o555)
        with somebody_else(command) as (by_them, more):
            denied = run_with(by_them, hook, mode, os.path.join(folder, "run"), **more)
        undisturbed(checks, denied, plain, "no permission:", "Permission denied")
        checks.equal(os.listdir(folder), ["file"], "what is left in the folder")
    checks.end()


def closed(mode, hook):
    """The program's output goes nowhere, and never into a recording that got the number of a standard file."""
    command = [rt_build.build(hook, "count_recursion.c")]
    plain, checks = without(command), harness.Checks()
    for fds in ((1,), (0, 1), (0, 1, 2)):
        for most in (8, 50, 1024):
            with harness.work_folder() as folder:
                def prepare():
                    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
                    for fd in fds:
                        os.close(fd)
                base = os.path.join(folder, "run")
                done = subprocess.run(command, env=rt_matrix.environment(hook, mode, base), preexec_fn=prepare, timeout=500)
                checks.that(done.returncode >= 0, "without", fds, "of", most, "the program ended with", done.returncode)
                path = base + rt_matrix.SUFFIX[mode]
                if checks.that(os.path.exists(path), "without", fds, "of", most, "nothing was recorded:", os.listdir(folder)):
                    rt_matrix.check_file(checks, path, rt_matrix.Printed(plain.stdout))
    checks.end()


def pieces(path):
    """The mapped files of a recording."""
    return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.startswith("stream")] if os.path.isdir(path) else [path]


def cut(path):
    for piece in pieces(path):
        os.truncate(piece, 0)


def extend(path):
    for piece in pieces(path):
        os.truncate(piece, os.path.getsize(piece) + MIB)


def touched(mode, hook):
    """Only cutting hurts: the program then dies of SIGBUS, unless the recorder extends the file before its next store.
    docs/recording.md says so: keep it up to date."""
    program, checks = rt_build.build(hook, "fault_kill.c"), harness.Checks()
    killed = (-signal.SIGKILL,)
    for how, ends in ((cut, (-signal.SIGBUS, -signal.SIGKILL)), (extend, killed), (lambda path: os.rename(path, path + ".away"), killed),
                      (lambda path: [os.unlink(piece) for piece in pieces(path)], killed)):
        with harness.work_folder() as folder:
            progress, base = os.path.join(folder, "progress"), os.path.join(folder, "run")
            with open(progress, "wb") as file:
                file.write(bytes(256))
            child = subprocess.Popen([program, progress, str(THREADS)], env=rt_matrix.environment(hook, mode, base),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until_calls(progress, child)
            how(base + rt_matrix.SUFFIX[mode] + ".live")
            before, until = progress_of(progress)[0], time.monotonic() + PATIENCE
            while child.poll() is None and progress_of(progress)[0] < before + 2000 and time.monotonic() < until:
                time.sleep(0.01)
            goes_on = progress_of(progress)[0] >= before + 2000
            if how is not cut:
                checks.that(goes_on, how.__name__, "the program does not go on")
            if goes_on:
                child.kill()
            checks.that(child.wait(PATIENCE) in ends, how.__name__, "the end of the program", child.returncode)
    checks.end()


def moved(mode, hook):
    """A recording that cannot get its final name is whole under its live one, and the message agrees."""
    program, checks = rt_build.build(hook, "fault_moves.c"), harness.Checks()
    with harness.work_folder() as folder:
        place, suffix = os.path.join(folder, "place"), rt_matrix.SUFFIX[mode]
        os.mkdir(place)
        done = run_with([program, place], hook, mode, os.path.join(place, "run"))
        live = os.path.join(place, "run") + suffix + ".live"
        checks.equal((done.returncode, done.stdout), (0, ""), "the program's end")
        checks.equal(done.stderr, "traceloom-rt: the recording cannot be finished, and stays '%s': No such file or directory\n" % live,
                     "what the recorder says")
        table = rt_matrix.report(checks, os.path.join(place + ".away", "run") + suffix + ".live", "--by", "func")
        checks.equal(rt_matrix.by_name(table["functions"]).get("leaf"), 2000, "calls")
    checks.end()


def whole_of_children(folder, suffix):
    """The finished recordings run.1, run.2, ..., without live files."""
    names = os.listdir(folder)
    return [name for name in names if re.fullmatch(r"run\.\d+" + re.escape(suffix), name) and name + ".live" not in names]


def daemon(mode, hook):
    """`record` ends with the first process; the daemon has its own recording, whole when it is done."""
    program, checks = rt_build.build(hook, "fault_daemon.c"), harness.Checks()
    with harness.work_folder() as folder:
        ready, base, until = os.path.join(folder, "ready"), os.path.join(folder, "run"), time.monotonic() + PATIENCE
        done = harness.run("record", "-m", mode, "-o", base + rt_matrix.SUFFIX[mode], program, ready)
        checks.equal(done.status, 0, "record", done)
        while time.monotonic() < until and not (os.path.exists(ready) and whole_of_children(folder, rt_matrix.SUFFIX[mode])):
            time.sleep(0.05)
        calls = []
        # The process in between ends with _exit(), so its recording stays live.
        for name in sorted(os.listdir(folder)):
            if name.startswith("run"):
                checks.equal(harness.run("check", "-q", os.path.join(folder, name)).status, 0, "check", name)
                table = rt_matrix.report(checks, os.path.join(folder, name), "--by", "func")
                calls.append(rt_matrix.by_name(table["functions"]).get("leaf", 0))
        checks.equal(sorted(calls)[-1:], [DAEMON_CALLS], "calls of the daemon, of all", calls, os.listdir(folder))
        checks.equal(sum(calls), DAEMON_CALLS, "calls of all processes")
    checks.end()


def stopped(pid):
    """Waits until all its threads sleep."""
    def states():
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/stat" % (pid, task)) as file:
                yield file.read().rpartition(")")[2].split()[0]
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and any(state not in "Tt" for state in states()):
        time.sleep(0.01)


def leaves(mode, hook):
    program, checks = rt_build.build(hook, "fault_kill.c"), harness.Checks()
    with harness.work_folder() as folder:
        progress, place = os.path.join(folder, "progress"), os.path.join(folder, "place")
        os.mkdir(place)
        with open(progress, "wb") as file:
            file.write(bytes(256))
        child = subprocess.Popen([program, progress], env=rt_matrix.environment(hook, mode, os.path.join(place, "run")),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until_calls(progress, child)
        checks.equal(harness.run("ctl", child.pid, "status").status, 0, "ctl while it runs")
        os.rename(place, place + ".away")
        done = harness.run("ctl", child.pid, "flush")
        if mode != "ctf": # it has nothing to write
            checks.that(done.status != 0 and b"run" in done.err and b": No such file or directory" in done.err, "flush to no folder", done)
        child.send_signal(signal.SIGSTOP)
        stopped(child.pid)
        commander = subprocess.Popen(harness.binary() + ["ctl", str(child.pid), "flush"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        child.kill()
        out, err = commander.communicate(timeout=PATIENCE)
        checks.equal((commander.returncode, out), (3, b""), "ctl of a program that ended", err)
        checks.that(b"has ended" in err and err.count(b"\n") == 1, "not one clear message:", err)
        child.wait()
        gone = harness.run("ctl", child.pid, "status")
        checks.that(gone.status == 3 and b"there is no process" in gone.err, "ctl afterwards", gone)
    checks.end()


def memory_of(text):
    return {line.split()[1]: int(line.split()[2]) * 1024 for line in text.splitlines() if line.startswith("memory ")}


def size_of(path):
    if os.path.isdir(path):
        return sum(os.stat(os.path.join(path, name)).st_blocks * 512 for name in os.listdir(path))
    return os.stat(path).st_blocks * 512


def churn(mode, hook, count):
    program, checks = rt_build.build(hook, "fault_churn.c"), harness.Checks()
    peaks, sizes = {}, {}
    for threads in (count // 100, count):
        with harness.work_folder() as folder:
            base = os.path.join(folder, "run")
            done = subprocess.run([program, str(threads)], env=rt_matrix.environment(hook, mode, base), capture_output=True, text=True, timeout=500)
            checks.equal((done.returncode, done.stderr), (0, ""), "the program's end")
            path, peaks[threads] = base + rt_matrix.SUFFIX[mode], memory_of(done.stdout)
            printed = rt_matrix.Printed(done.stdout)
            sizes[threads] = size_of(path)
            if mode != "ctf" or threads <= 1000:
                rt_matrix.check_file(checks, path, printed)
            if mode == "profile":
                told = harness.run("info", "--json", path).json()["profile"]
                checks.equal(told["threads"], threads + 1, "threads")
                checks.that(told["trees"] < 300, told["trees"], "trees of", threads, "threads")
    print("threads, memory:", peaks, "file:", sizes)
    few, many = count // 100, count
    # A mapped file counts as memory: other memory may not grow.
    grown = peaks[many]["VmHWM:"] - peaks[few]["VmHWM:"]
    checks.that(grown <= 16 * MIB, "memory grew by", grown)
    checks.that(sizes[many] <= 64 * MIB + many * 4096, "the file has", sizes[many], "bytes")
    checks.end()


def valgrind(mode, hook):
    """Searches for leaks with fdr only: it would read every word of a profile's mapping, which reserves a GiB. Only
    possibly lost: libc's memory for the thread of control, which still runs at the end."""
    if not shutil.which("valgrind"):
        harness.skip("no valgrind")
    checks, own_end = harness.Checks(), []
    for name in ("count_recursion.c", "count_threads.c", "count_longjmp.c", "count_atexit.c"):
        program = rt_build.build(hook, name)
        with harness.work_folder() as folder:
            base = os.path.join(folder, "run")
            done = run_with(["valgrind", "-q", "--smc-check=all", "--leak-check=" + ("no" if "profile" in mode else "full"),
                             "--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect",
                             "--error-exitcode=99", program], hook, mode, base)
            if "aspacem assertion failed" in done.stderr:  # 3.19, of files that grow while they are mapped
                own_end.append(name)
                continue
            checks.equal((done.returncode, done.stderr), (0, ""), name, "under valgrind")
            for one in mode.split(","):
                rt_matrix.check_file(checks, base + rt_matrix.SUFFIX[one], rt_matrix.Printed(done.stdout))
    if own_end and not checks.failed:
        harness.skip("this valgrind ends itself in " + ", ".join(own_end))
    checks.end()


def tsan(mode, hook):
    checks = harness.Checks()
    for name in ("count_threads.c", "count_recursion.c", "count_signals.c"):
        program = rt_build.build(hook, name, extra=["-fsanitize=thread"], name=os.path.splitext(name)[0] + "-tsan")
        command = [program] + (["plain", "200"] if "signals" in name else [])
        with harness.work_folder() as folder:
            base = os.path.join(folder, "run")
            done = run_with(command, hook, mode, base)
            if "unexpected memory mapping" in done.stderr:
                done = run_with(["setarch", "-R"] + command, hook, mode, base)
            if "unexpected memory mapping" in done.stderr:
                harness.skip("ThreadSanitizer does not run on this kernel")
            checks.equal((done.returncode, done.stderr), (0, ""), name, "under ThreadSanitizer")
            for one in mode.split(","):
                rt_matrix.check_file(checks, base + rt_matrix.SUFFIX[one], rt_matrix.Printed(done.stdout))
    checks.end()


def llvm(hook):
    """One thread, and few buffers: llvm-xray misorders more than sixteen of a thread."""
    tool = shutil.which("llvm-xray-19")
    if not tool:
        harness.skip("no llvm-xray-19")
    checks = harness.Checks()
    for name in ("count_recursion.c", "count_million.c", "count_longjmp.c"):
        program = rt_build.build(hook, name)
        with harness.work_folder() as folder:
            base = os.path.join(folder, "run")
            done = run_with([program], hook, "fdr", base)
            checks.equal((done.returncode, done.stderr), (0, ""), name, "the end")
            log = base + ".xray"
            ours = rt_matrix.by_name(rt_matrix.report(checks, log, "--by", "func")["functions"])
            account = subprocess.run([tool, "account", "-f", "csv", "-m", program, log], capture_output=True, text=True)
            if not checks.equal(account.returncode, 0, name, "llvm-xray account:", account.stderr[-1500:]):
                continue
            theirs = {row["function"].strip('"'): int(row["count"]) for row in csv.DictReader(io.StringIO(account.stdout), skipinitialspace=True)}
            checks.equal(theirs, {n: c for n, c in ours.items() if c}, name, "llvm-xray account and report")
            if name == "count_million.c":
                continue                    # half a gigabyte of text
            convert = subprocess.run([tool, "convert", "-f", "trace_event", "-y", "-m", program, log], capture_output=True, text=True)
            checks.equal(convert.returncode, 0, name, "llvm-xray convert:", convert.stderr[-1500:])
            begins = {n: convert.stdout.count('"name":"%s","ph":"B"' % n) for n in ours} if convert.returncode == 0 else {}
            checks.that(not begins or sum(begins.values()) in (0, sum(ours.values())), name, "llvm-xray convert", begins, ours)
    checks.end()


def main():
    what, words = sys.argv[1], sys.argv[2:]
    hook = rt_build.HOOKS[words[0] if what == "llvm" else words[1]]
    missing = hook.needs(False)
    if missing:
        harness.skip(missing)
    if what == "llvm":
        llvm(hook)
    elif what in ("kill", "churn"):
        {"kill": kill, "churn": churn}[what](words[0], hook, int(words[2]))
    else:
        {"disk": disk, "rlimit": rlimit, "limit": limit, "folder": nowhere, "closed": closed, "touched": touched, "moved": moved, "daemon": daemon, "leaves": leaves,
         "valgrind": valgrind, "tsan": tsan}[what](words[0], hook)


if __name__ == "__main__":
    main()
