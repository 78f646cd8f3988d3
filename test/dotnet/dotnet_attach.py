"""Processes of CoreCLR that run already: `record -p`; and threads that wait, or block signals."""
import contextlib
import os
import signal
import subprocess
import time

from dotnet_tools import SECONDS, build, build_for_clr, is_fine, record, report, settings


@contextlib.contextmanager
def running(program, *words, env=None):
    """The program, after it has written its first line. It must be there to the end, and say nothing else."""
    with subprocess.Popen(["dotnet", "exec", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ, **(env or {}))) as run:
        try:
            assert run.stdout.readline() == "running\n"
            yield run
        finally:
            run.kill()


def say_nothing(checks, run):
    checks.equal(run.poll(), None, "the program has ended")
    run.kill()
    checks.equal(run.communicate(timeout=SECONDS), ("", ""), "the program's output")


def totals(checks, binary, path):
    return {row["name"]: row["total"] for row in report(checks, binary, path, "--by", "func").get("functions", [])}


def wait_until(what):
    """For some seconds at most; whether it came true."""
    for _ in range(400):
        if what():
            return True
        time.sleep(0.05)
    return False


def reads(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def attached(checks, binary, folder):
    """Samples of two threads, of one of which the begin was not seen; then the runtime has a profiler, and says so."""
    program, path = build_for_clr(folder), os.path.join(folder, "p.log")
    with running(program, "endless") as run:
        pid = str(run.pid)
        for about, words in (("can count calls only from its start", ("-m", "profile")), ("can count calls only from its start", ("-o", "x.xray")),
                             ("--alloc needs a program that is started", ("--alloc",)), ("--heap needs a program that is started", ("--heap",)),
                             ("--depth does not go with samples", ("-D", "3"))):
            done = record(binary, folder, "-p", pid, "--for", "1s", *words)
            checks.that(done.returncode == 125 and about in done.stderr, words, done.stderr)
        done = record(binary, folder, "-p", pid, "--for", "1500ms", "--period", "1ms", "-o", "p.log")
        checks.equal((done.returncode, done.stdout), (0, ""), done.stderr)
        is_fine(checks, binary, path)
        found = totals(checks, binary, path)
        for name in ("Told.Endless:Turn", "Told.Endless:Run", "Told.Program:Main", "System.Threading.ThreadHelper:ThreadStart"):
            checks.that(found.get(name, 0) > 0, "no samples of", name, found)
        said = settings(path)
        checks.equal((said.get("Attached"), said.get("LostSamples"), said.get("LostEvents")), ("T", "0", "0"), said)
        text = reads(path)
        checks.that('/told.exe"' in text and '"System.Private.CoreLib"' in text and "\ngch gcs " in text, "what was loaded before, collections:", text[:3000])
        done = record(binary, folder, "-p", pid, "--for", "1s", "-o", "again.log")
        checks.that(done.returncode == 125 and "0x8013136A" in done.stderr, "a second time:", done.stderr)
        say_nothing(checks, run)
    checks.equal(sorted(name for name in os.listdir(folder) if ".log" in name), ["p.log"], "files")
    with running(program, "endless", env={"COMPlus_EnableDiagnostics": "0"}) as run:
        done = record(binary, folder, "-p", str(run.pid), "--for", "1s", "-o", "n.log")
        checks.that(done.returncode == 125 and "COMPlus_EnableDiagnostics=0" in done.stderr, "without a port:", done.stderr)
        say_nothing(checks, run)
    checks.that(not os.path.exists(os.path.join(folder, "n.log.live")), "n.log.live is left")


def left(checks, binary, folder):
    """Ctrl-C, a kill of the command, the end of the program: the log is whole, and the program goes on."""
    program = build_for_clr(folder)

    def begin(run, name):
        command = subprocess.Popen([binary, "record", "-p", str(run.pid), "-o", name], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        live = os.path.join(folder, name + ".live")
        checks.that(wait_until(lambda: os.path.exists(live) and "\nsam str" in reads(live)), name, "has no samples")
        return command, live

    with running(program, "endless") as run:
        command, live = begin(run, "c.log")
        command.send_signal(signal.SIGINT)
        said = command.communicate(timeout=SECONDS)[1]
        checks.equal((command.returncode, os.path.exists(live)), (0, False), said)
        is_fine(checks, binary, os.path.join(folder, "c.log"))
        checks.that("CutStacks" in settings(os.path.join(folder, "c.log")), "c.log is not whole")
        say_nothing(checks, run)
    with running(program, "endless") as run:
        command, live = begin(run, "k.log")
        command.kill()
        command.communicate(timeout=SECONDS)
        checks.that(wait_until(lambda: "\nprf cfg CutStacks" in reads(live)), "the recording goes on after its command was killed")
        is_fine(checks, binary, live)
        say_nothing(checks, run)
    with running(program, "endless") as run:
        command, live = begin(run, "e.log")
        run.kill()
        said = command.communicate(timeout=SECONDS)[1]
        checks.equal((command.returncode, os.path.exists(live)), (0, False), said)
        is_fine(checks, binary, os.path.join(folder, "e.log"))


def check_waiting(checks, binary, folder, program, methods):
    done = record(binary, folder, "--sampling", "wall", "-o", "w.log", program, "waiting")
    checks.equal((done.returncode, done.stdout), (0, "waited True\n"), done.stderr)
    is_fine(checks, binary, os.path.join(folder, "w.log"))
    found = totals(checks, binary, os.path.join(folder, "w.log"))
    for name in methods:
        checks.that(found.get(name, 0) >= 20 * 4e6, name, "waits for half a second, and has", found.get(name), "ns of samples:", found)


def waiting(checks, binary, folder):
    """--sampling wall: threads that wait have samples, with their stacks."""
    check_waiting(checks, binary, folder, build(folder), ("Told.Waiting:Sleep", "Told.Waiting:Run"))


def clr_waiting(checks, binary, folder):
    """The same on CoreCLR, whose code may leave out the frame of the last call."""
    check_waiting(checks, binary, folder, build_for_clr(folder), ("System.Threading.Thread:Sleep", "System.Threading.Thread:Join", "Told.Waiting:Run"))


def clr_deaf(checks, binary, folder):
    """A program that blocks the signals of samples: that is said, and nothing else happens. Others are not accused."""
    program = build_for_clr(folder)
    for word, expected in (("deaf", "missing"), ("shares", None)):
        done = record(binary, folder, "-o", word + ".log", program, word)
        checks.equal(done.returncode, 0, done.stderr)
        path = os.path.join(folder, word + ".log")
        is_fine(checks, binary, path)
        checks.equal(settings(path).get("SampleCheck"), expected, word)
        checks.equal("most samples" in done.stderr, expected is not None, word, done.stderr)


CASES = {"clr_deaf": clr_deaf, "clr_attach": attached, "clr_left": left, "waiting": waiting, "clr_waiting": clr_waiting}
