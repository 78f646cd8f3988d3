#!/usr/bin/env python3
"""Attaching to processes that run: at random moments, to programs that notice what happens to them.

    rt_attach.py CASE [RUNS]      a case of attach_victim.c; throw, twice, linked, for; or an error: stopped, static, go,
                                  other-user, ended, traced, replaced, none"""
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
from attach_programs import Victim, build, calls_of, changed_code, record, settled

# Runs of a case in `make slow`, and in a short test.
RUNS = {"busy": (200, 8), "registers": (100, 8), "sleeper": (100, 8), "vfork": (3, 1)}
USUAL = (50, 5)
# Not always at a safe place: then the error is right, and the program goes on.
MAY_REFUSE = {"malloc", "short", "throw"}

# Functions that they call all the time.
CALLED = {"busy": "fib", "tiny": "fib", "malloc": "fib", "throw": "deep"}


def at_random_moments(checks, folder, case, runs, rng):
    program = build(folder, "attach_throw" if case == "throw" else "attach_victim")
    refused = recorded = 0
    for run in range(runs):
        output = os.path.join(folder, "run%d.%s" % (run, rng.choice(["tlp", "xray"])))
        victim = Victim([program, case], feed=case == "waits")
        time.sleep(rng.random() * 0.1)
        done = record(folder, victim.pid, "-o", output, "--for", "%dms" % rng.randrange(1, 100), "-q")
        what = (case, "run", run)
        if done.status != 0 and case in MAY_REFUSE:
            refused += 1
            checks.that(b"no thread was at a safe place" in done.err or b"ended" in done.err or b"no process" in done.err, *what, done)
        else:
            checks.equal(done.status, 0, *what, done)
            checks.that(case == "short" or os.path.exists(output), *what, "no recording")
        if case != "short" and victim.process.poll() is None:
            checks.equal(changed_code(victim.pid), [], *what, "code")
        victim.feed()
        victim.end(checks, *what)
        recorded += calls_of(output, CALLED[case]) if case in CALLED and os.path.exists(output) else 0
    checks.that(case not in CALLED or recorded > 0, "no call was recorded")
    print("%d of %d refused" % (refused, runs))
    checks.that(refused < runs or case == "short", "every attempt was refused")
    checks.equal([name for name in settled(folder) if not name.startswith("run")], [], "other files")


def twice(checks, folder):
    """One process, again and again, in all modes; and what is in the way."""
    victim = Victim([build(folder), "busy"])
    for run, mode in enumerate(["profile", "fdr", "ctf", "fdr,profile"] * 3):
        done = record(folder, victim.pid, "-m", mode, "-o", "r%d" % run, "--for", "20ms", "-q")
        checks.equal(done.status, 0, mode, run, done)
        for suffix in {"profile": ["tlp"], "fdr": ["xray"], "ctf": ["ctf"], "fdr,profile": ["xray", "tlp"]}[mode]:
            name = os.path.join(folder, "r%d.%s" % (run, suffix))
            checks.equal(harness.run("check", name).status, 0, mode, name)
    checks.equal([name for name in settled(folder) if name.endswith((".live", ".part"))], [], "unfinished files")
    with open("/proc/%d/maps" % victim.pid) as maps:
        left = [line for line in maps if re.search(r"/r\d+\.", line)]
    checks.equal(left, [], "mapped recordings")
    done = record(folder, victim.pid, "-o", "r0.tlp", "--for", "20ms")
    checks.that(done.status == 125 and b"the file exists" in done.err, done)
    victim.end(checks, "twice")


def for_a_time(checks, folder):
    """--for ends the recording of a command, too, which goes on; and a process that runs another program has ended."""
    program = build(folder)
    begin = time.monotonic()
    command = subprocess.Popen(harness.binary() + ["record", "-o", "r.tlp", "--for", "200ms", program, "busy"], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    line = b""
    while b"stopped" not in line and time.monotonic() - begin < 60:
        line = command.stderr.readline()
    checks.that(b"stopped" in line, "--for of a command", line)
    with open("/proc/%d/task/%d/children" % (command.pid, command.pid)) as file:
        children = file.read().split()
    checks.that(children, "the command runs on")
    for child in children:
        os.kill(int(child), signal.SIGUSR1)
    out = command.communicate(timeout=60)[0]
    checks.equal((command.returncode, out), (0, b"ready\ngood\n"), "end of the command")
    checks.that(calls_of(os.path.join(folder, "r.tlp"), "fib") > 0, "calls of the command")
    victim = Victim(["sh", "-c", "echo ready; sleep 1; exec %s busy" % program])
    done = record(folder, victim.pid, "-o", "x.tlp", "--for", "100s", "-q")
    checks.equal(done.status, 0, "another program", done)
    victim.process.stdout.readline()
    victim.end(checks, "another program")


def linked(checks, folder):
    """Programs with the recorder in them: nothing is loaded, and their calls are there."""
    library = os.environ.get("TL_RT_LIBRARY") or harness.skip("no recorder")
    program = build(folder, "linked", ["-finstrument-functions"], [library])
    victim = Victim([program, "busy"], settings="start=off:mode=profile:out=first", cwd=folder)
    for run in range(3):
        done = record(folder, victim.pid, "-m", "fdr,profile", "-o", "r%d" % run, "--for", "100ms")
        checks.equal(done.status, 0, run, done)
        counts = {row["name"]: row["calls"] for row in harness.run("report", "--json", os.path.join(folder, "r%d.xray" % run)).json()["functions"]}
        checks.that(counts.get("fib", 0) > 1000 and counts.get("compute", 0) > 1, run, "calls", counts)
        sums = {row["name"]: row["calls"] for row in harness.run("report", "--json", os.path.join(folder, "r%d.tlp" % run)).json()["functions"]}
        checks.equal(sums, counts, run, "profile and log")
    with open("/proc/%d/maps" % victim.pid) as maps:
        checks.that("libtraceloom-rt" not in maps.read(), "nothing was loaded")
    for option in ("--libs=libm*", "--min-size=9", "--exact"):
        done = record(folder, victim.pid, option, "-o", "x.tlp", "--for", "1s")
        checks.that(done.status == 125 and b"record: %s is for programs that are patched: process %d (linked) has the recorder in it" %
                    (option.partition("=")[0].encode(), victim.pid) in done.err, option, done)
    victim.process.send_signal(signal.SIGSTOP)
    done = record(folder, victim.pid, "-o", "x.tlp", "--for", "1s")
    checks.that(done.status == 125 and b"record: process %d (linked) does not answer" % victim.pid in done.err, "stopped", done)
    victim.process.send_signal(signal.SIGCONT)
    victim.end(checks, "linked")
    checks.equal([name for name in settled(folder) if not name.startswith("r")], [], "other files")
    victim = Victim([program, "busy"], settings="mode=fdr:out=second", cwd=folder)
    done = record(folder, victim.pid, "-o", "x.tlp", "--for", "1s")
    checks.that(done.status == 125 and b"is being recorded already" in done.err, "recorded twice", done)
    victim.end(checks, "recorded already")
    victim = Victim([program, "busy"], cwd=folder)
    done = record(folder, victim.pid, "-o", "x.tlp", "--for", "1s")
    checks.that(done.status == 125 and b"has the recorder in it, which is off" in done.err, "off", done)
    victim.end(checks, "off")
    checks.equal([name for name in settled(folder) if name.startswith("x")], [], "files of failures")


def refusals(checks, folder, case):
    """What cannot be attached to is an error with its reason, and goes on."""
    program, words = build(folder), None
    if case == "static":
        program = build(folder, "static", ["-static"])
    if case == "go":
        note = os.path.join(folder, "go.S")
        with open(note, "w") as file:
            file.write('.section .note.go.buildid,"a",@note\n.long 4,4,4\n.ascii "Go\\0\\0abcd"\n.section .note.GNU-stack,"",@progbits\n')
        program = build(folder, "go", [note])
    if case == "other-user":
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            harness.skip("needs root, and setpriv")
    victim = Victim([program, case if case in ("seccomp", "jail") else "busy"])
    pid, reason = victim.pid, REASON[case]
    prefix = []
    tracer = None
    if case == "replaced":
        shutil.copy(program, program + ".new")
        os.rename(program + ".new", program)
    if case == "stopped":
        victim.process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
    if case == "none":
        words = subprocess.Popen(["true"])
        words.wait()
        pid = words.pid
    if case == "traced":
        if not shutil.which("strace"):
            harness.skip("no strace")
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-p", str(pid)])
        time.sleep(0.5)
    if case == "other-user":
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        os.chmod(folder, 0o777)
    done = subprocess.run(prefix + harness.binary() + ["record", "-p", str(pid), "--for", "1s", "-o", "x.tlp"], cwd=folder, capture_output=True,
                          timeout=60)
    checks.equal(done.returncode, 125, case, done.stderr)
    checks.that(re.search(reason, done.stderr.decode()), case, done.stderr)
    checks.equal(settled(folder), [], case, "files")
    if tracer:
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
    if case == "stopped":
        victim.process.send_signal(signal.SIGCONT)
    victim.end(checks, case)


REASON = {"static": "is linked statically", "go": "is a Go program", "seccomp": "limits its system calls", "stopped": "while it is stopped",
          "other-user": "cannot be attached to: Operation not permitted|Permission denied", "traced": r"process \d+ traces it",
          "none": "there is no process", "replaced": "its program, .*, was replaced since it began", "jail": "no thread was at a safe place"}


def main():
    case = sys.argv[1]
    if os.uname().machine != "x86_64" or not harness.built_with("libdw"):
        harness.skip("processes are attached to on x86-64, with libdw")
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else RUNS.get(case, USUAL)[0 if harness.THOROUGH else 1]
    seed = int(os.environ.get("TL_SEED", "0")) or struct.unpack("I", os.urandom(4))[0]
    print("TL_SEED=%d repeats it" % seed)
    rng, checks = random.Random(seed), harness.Checks()
    with harness.work_folder() as folder:
        if case in REASON:
            refusals(checks, folder, case)
        elif case == "twice":
            twice(checks, folder)
        elif case == "for":
            for_a_time(checks, folder)
        elif case == "linked":
            linked(checks, folder)
        else:
            at_random_moments(checks, folder, case, runs, rng)
    checks.end()


if __name__ == "__main__":
    main()
