#!/usr/bin/env python3
"""Attaching to processes that run, when something goes wrong: the command is killed or interrupted, memory cannot be written, the
other side is gone. Programs go on as if nothing had been.

    rt_attach_faults.py killed|killed-entering|killed-stopping [RUNS]
    rt_attach_faults.py interrupted|write-fails|deserted|in-the-way|silent"""
import ctypes
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
from attach_programs import Victim, build, changed_code, record, settled


def goes_on(checks, folder, victim, *what):
    """After a command was killed the program goes on, and the next command finds it as it is."""
    victim.feed()
    done = record(folder, victim.pid, "-o", "again.tlp", "--for", "5ms", "-q")
    checks.that(done.status == 0 or b"recorded already" in done.err, *what, "afterwards", done)
    if b"recorded already" in done.err:
        harness.run("ctl", victim.pid, "stop", "-q")
        done = record(folder, victim.pid, "-o", "again.tlp", "--for", "5ms", "-q")
        checks.equal(done.status, 0, *what, "after a stop", done)
    if victim.process.poll() is None:
        checks.equal(changed_code(victim.pid), [], *what, "code")
    victim.end(checks, *what)
    for name in settled(folder):
        os.remove(os.path.join(folder, name))


def killed(checks, folder, runs, rng):
    """The command is killed at any moment. Not with naps: a sleep that was interrupted for the command then ends early."""
    program = build(folder)
    for run in range(runs):
        case = rng.choice(["busy", "registers", "sleeper", "waits"])
        victim = Victim([program, case], feed=case == "waits")
        command = subprocess.Popen(harness.binary() + ["record", "-p", str(victim.pid), "-o", "k.tlp", "-q"], cwd=folder,
                                   stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * 0.3)
        command.kill()
        command.wait()
        goes_on(checks, folder, victim, case, "run", run)


def under_strace(folder, pid, inject, *arguments):
    """Records 5 ms while strace does something to the command's calls of ptrace(), ...; its exit status, and the calls."""
    if not shutil.which("strace"):
        harness.skip("no strace")
    log = os.path.join(folder, "strace.log")
    done = subprocess.run(["strace", "-qq", "-o", log, *inject, *harness.binary(), "record", "-p", str(pid), "--for", "5ms", "-q", *arguments],
                          cwd=folder, capture_output=True, timeout=120, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    with open(log) as file:
        calls = [line.strip() for line in file if line.startswith(tuple(name + "(" for name in CALLS))]
    os.remove(log)
    return done, calls


CALLS = ("ptrace", "pwrite64")


def killed_at(checks, folder, case, runs, rng):
    """The command is killed at each of its calls of ptrace(), and whenever it writes to the program's memory: while it enters a
    process with one thread, or, when it has done that, while it stops and lets go those of one with eight."""
    program, entering = build(folder), case == "killed-entering"
    kind = "registers" if entering else "busy"
    victim = Victim([program, kind])
    done, calls = under_strace(folder, victim.pid, ["-e", "trace=" + ",".join(CALLS)], "-o", "whole.tlp")
    checks.equal(done.returncode, 0, case, done.stderr)
    goes_on(checks, folder, victim, case, "whole")
    points = [(name, n + 1) for name in CALLS for n in range(sum(line.startswith(name) for line in calls))]
    if not entering:
        last = max(i for i, line in enumerate(calls) if "PTRACE_SETREGS" in line)
        points = [("ptrace", 1 + sum(before.startswith("ptrace") for before in calls[:i])) for i in range(last + 1, len(calls))]
    checks.that(len(points) > 40, case, "only", len(points), "points")
    ended = 0
    for name, n in points if runs is None else rng.sample(points, runs):
        victim = Victim([program, kind])
        done, calls = under_strace(folder, victim.pid, ["-e", "trace=" + ",".join(CALLS), "-e", "inject=%s:signal=KILL:when=%d" % (name, n)],
                                   "-o", "k.tlp")
        ended += done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
        goes_on(checks, folder, victim, case, "killed at", name, n, calls[-1:])
    checks.that(ended > 0, case, "was never killed")
    print("killed %d times, at %d points" % (ended, len(points)))


def code_without_file(pid):
    """Lines of executable memory of no file: of the borrowed thread's own calls, or blocks of patched functions."""
    with open("/proc/%d/maps" % pid) as maps:
        return [line for line in maps if "x" in line.split()[1] and len(line.split(None, 5)) < 6]


def interrupted(checks, folder):
    """Ctrl-C while a thread is borrowed, or waited for, leaves nothing behind."""
    program = build(folder)
    for at in 10, 40, 80:
        victim = Victim([program, "registers"])
        done, _ = under_strace(folder, victim.pid, ["-e", "trace=ptrace", "-e", "inject=ptrace:signal=INT:when=%d" % at], "-o", "i.tlp")
        checks.equal(done.returncode, 0, at, done.stderr)
        checks.equal((changed_code(victim.pid), harness.run("check", os.path.join(folder, "i.tlp")).status), ([], 0), at, "code and recording")
        goes_on(checks, folder, victim, "interrupted", at)
    victim = Victim([program, "jail"])
    command = subprocess.Popen(harness.binary() + ["record", "-p", str(victim.pid), "-o", "j.tlp"], cwd=folder, stderr=subprocess.PIPE)
    time.sleep(1)
    command.send_signal(signal.SIGINT)
    text = command.communicate(timeout=60)[1]
    checks.equal((command.returncode, b"was not attached to: interrupted" in text), (125, True), text)
    victim.end(checks, "jail")
    checks.equal(settled(folder), [], "files")


def write_fails(checks, folder):
    """Writing to the process's memory fails: it is told, and nothing stays there."""
    program = build(folder)
    for at in range(1, 9):
        victim = Victim([program, "registers"])
        with open("/proc/%d/maps" % victim.pid) as maps:
            before = maps.read()
        done, _ = under_strace(folder, victim.pid, ["-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EIO:when=%d" % at], "-o", "w.tlp")
        checks.that(done.returncode == 125 and b"could not be made: Input/output error" in done.stderr, at, done.returncode, done.stderr)
        checks.equal(code_without_file(victim.pid), [], at, "memory")
        with open("/proc/%d/maps" % victim.pid) as maps:
            after = maps.read()
        checks.that(after == before or "libtraceloom-rt" in after, at, "memory was", before, "and is", after)
        goes_on(checks, folder, victim, "write", at)


class FakePage:
    """The page of a process's recorder, or one of our own that looks like it."""
    PID, OWNER, REQUEST, ANSWER, THREAD, WORLD, STOPPER, COMMAND = 8, 16, 20, 24, 72, 76, 80, 128
    RUNS, SERVED, WANTED, STOPPED, OVER = range(5)

    def __init__(self, pid=None):
        if pid is None:
            self.file = os.memfd_create("traceloom-control")
            os.truncate(self.file, 8192)
        else:
            names = ["/proc/%d/fd/%s" % (pid, name) for name in os.listdir("/proc/%d/fd" % pid)]
            self.file = os.open(next(name for name in names if os.readlink(name).startswith("/memfd:traceloom-control")), os.O_RDWR)
        self.bytes = mmap.mmap(self.file, 8192)
        self.words = memoryview(self.bytes).cast("I")

    def get(self, at):
        return self.words[at // 4]

    def put(self, at, value):
        """Stores a number, and wakes who waits for it."""
        self.words[at // 4] = value
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall(202, ctypes.byref(ctypes.c_uint.from_buffer(self.bytes, at)), 1, 0x7fffffff, 0, 0, 0)

    def ask(self, command, serve):
        """Commands the recorder, and calls serve() until it has answered."""
        self.put(self.OWNER, os.getpid())
        self.bytes[self.COMMAND:self.COMMAND + len(command) + 1] = command.encode() + b"\0"
        request = self.get(self.REQUEST) + 1
        self.put(self.REQUEST, request)
        until = time.monotonic() + 60
        while self.get(self.ANSWER) != request and time.monotonic() < until:
            serve()
            time.sleep(0.001)
        self.put(self.OWNER, 0)
        return self.get(self.ANSWER) == request


def deserted(checks, folder):
    """A commander that has stopped all threads ends, and they run on: the recorder sees that before it changes code, and does only what it
    may do while they run. Whether it does is seen by what it may not: take back bytes behind a function that others jumped to. The program
    waits in a system call, as if it were stopped."""
    program, died = build(folder), 0x40000000
    victim = Victim([program, "waits"], feed=True, cwd=folder)
    checks.equal(record(folder, victim.pid, "-o", "first.tlp", "--for", "5ms", "-q").status, 0, "first")
    checks.equal(changed_code(victim.pid), [], "all is taken back")
    page = FakePage(victim.pid)
    stops = []

    def stop():
        if page.get(page.WORLD) == page.WANTED:
            stops.append(1)
            page.put(page.STOPPER, died)
            page.put(page.WORLD, page.STOPPED)

    for command in "open out=d.tlp:mode=profile:patch=on", "start", "stop", "close":
        page.put(page.STOPPER, os.getpid())
        page.put(page.WORLD, page.SERVED)
        checks.that(page.ask(command, stop), command, "is answered")
        checks.that(command != "start" or changed_code(victim.pid), "nothing was patched")
    checks.equal(len(stops), 2, "how often threads were to stop")
    checks.that(changed_code(victim.pid), "code was changed as if threads were stopped")
    page.put(page.STOPPER, 0)
    page.put(page.WORLD, page.RUNS)
    goes_on(checks, folder, victim, "deserted")


class Stepped:
    """The only thread of a program, which we stop, step by step if need be, and let go."""
    CONT, SINGLESTEP, GETREGS, DETACH, SEIZE, INTERRUPT = 7, 9, 12, 17, 0x4206, 0x4207
    RIP = 16

    def __init__(self, pid):
        self.pid, self.stopped = pid, False
        self.ptrace(self.SEIZE)

    def ptrace(self, request, data=None):
        if ctypes.CDLL(None, use_errno=True).ptrace(ctypes.c_long(request), self.pid, None, data) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def stop(self):
        self.ptrace(self.INTERRUPT)
        os.waitpid(self.pid, 0)
        self.stopped = True

    def go(self, request=CONT):
        self.ptrace(request)
        self.stopped = False

    def step(self):
        """Executes an instruction; returns where the next one is."""
        self.ptrace(self.SINGLESTEP)
        os.waitpid(self.pid, 0)
        registers = (ctypes.c_ulonglong * 27)()
        self.ptrace(self.GETREGS, registers)
        return registers[self.RIP]


def code_of(pid, program):
    """Where the code of a program is in memory, and its bytes."""
    with open("/proc/%d/maps" % pid) as maps:
        line = next(line for line in maps if line.rstrip().endswith(program) and "x" in line.split()[1])
    begin, end = (int(word, 16) for word in line.split()[0].split("-"))
    with open("/proc/%d/mem" % pid, "rb") as memory:
        memory.seek(begin)
        return begin, memory.read(end - begin)


def step_to_padding(thread, before, begin, now):
    """Until a short jump of ours has led to a long one of ours: the thread stands on the padding behind a function."""
    last = 0
    for _ in range(1000000):
        at = thread.step() - begin
        if 0 <= at < len(now) and now[at] == 0xe9 != before[at] and now[last] == 0xeb != before[last]:
            return True
        last = at if 0 <= at < len(now) else 0
    return False


def step_to_own_code(thread, before, begin, now):
    """Until the thread stands on an instruction of the program that is as it was."""
    for _ in range(1000000):
        at = thread.step() - begin
        if 0 <= at < len(now) and now[at] == before[at]:
            break


def in_the_way(checks, folder):
    """A thread stands on padding that a function's jump leads over while its code is taken back: the recorder asks for it to run a
    little, and takes back all. If the thread never goes on, the recorder gives up after some times, and the next stop takes back all."""
    program, moves, turns = build(folder), 3, 10
    victim = Victim([program, "alone"], cwd=folder)
    checks.equal(record(folder, victim.pid, "-o", "first.tlp", "--for", "5ms", "-q").status, 0, "first")
    before = code_of(victim.pid, program)[1]
    page, thread, stops, stays = FakePage(victim.pid), Stepped(victim.pid), [], 0

    def serve():
        if page.get(page.WORLD) == page.WANTED:
            if not thread.stopped:
                thread.stop()
                step_to_own_code(thread, before, *code_of(victim.pid, program))
            stops.append(1)
            page.put(page.WORLD, page.STOPPED)
        elif page.get(page.WORLD) == page.OVER:
            if len(stops) >= stays:
                thread.go()
            page.put(page.WORLD, page.SERVED)

    def command(text):
        stops.clear()
        page.put(page.STOPPER, os.getpid())
        page.put(page.WORLD, page.SERVED)
        checks.that(page.ask(text, serve), text, "is answered")
        serve()

    command("open out=w.tlp:mode=profile:patch=on")
    for times, left in (moves, 0), (turns, 5), (0, 0):
        stays = 0
        command("start")
        stays = times
        if stays:
            thread.stop()
            checks.that(step_to_padding(thread, before, *code_of(victim.pid, program)), "no jump leads to padding")
        command("stop")
        checks.equal(len(stops), min(stays + 1, turns), "times that threads were to stop")
        checks.equal(len(changed_code(victim.pid)), left, "bytes that stay after", stays, "times in the way")
        if thread.stopped:
            thread.go()
    command("close")
    thread.stop()
    thread.go(thread.DETACH)
    page.put(page.STOPPER, 0)
    page.put(page.WORLD, page.RUNS)
    goes_on(checks, folder, victim, "in the way")


def silent(checks, folder):
    """A recorder that never answers: Ctrl-C ends the command."""
    page = FakePage()
    page.words[page.PID // 4] = page.words[page.THREAD // 4] = os.getpid()
    page.bytes[:8] = b"tlctrl1\n"
    command = subprocess.Popen(harness.binary() + ["record", "-p", str(os.getpid()), "-o", "s.tlp"], cwd=folder, stderr=subprocess.PIPE)
    while page.get(page.REQUEST) == 0 and command.poll() is None:
        time.sleep(0.01)
    checks.equal(page.get(page.OWNER), command.pid, "owner")
    while page.get(page.WORLD) != page.SERVED and command.poll() is None:
        time.sleep(0.01)
    command.send_signal(signal.SIGINT)
    text = command.communicate(timeout=100)[1]
    checks.that(command.returncode == 125 and b"does not answer" in text, command.returncode, text)
    checks.equal((page.get(page.OWNER), page.get(page.WORLD), page.get(page.STOPPER)), (0, page.RUNS, 0), "page")


# Runs of a case in `make slow`, and in a short test; None: all.
RUNS = {"killed": (100, 6), "killed-entering": (None, 8), "killed-stopping": (None, 8)}
CASES = {"interrupted": interrupted, "write-fails": write_fails, "deserted": deserted, "in-the-way": in_the_way, "silent": silent}


def main():
    case = sys.argv[1]
    if os.uname().machine != "x86_64" or not harness.built_with("libdw"):
        harness.skip("processes are attached to on x86-64, with libdw")
    seed = int(os.environ.get("TL_SEED", "0")) or struct.unpack("I", os.urandom(4))[0]
    print("TL_SEED=%d repeats it" % seed)
    rng, checks = random.Random(seed), harness.Checks()
    with harness.work_folder() as folder:
        if case in CASES:
            CASES[case](checks, folder)
        else:
            runs = int(sys.argv[2]) if len(sys.argv) > 2 else RUNS[case][0 if harness.THOROUGH else 1]
            killed(checks, folder, runs, rng) if case == "killed" else killed_at(checks, folder, case, runs, rng)
    checks.end()


if __name__ == "__main__":
    main()
