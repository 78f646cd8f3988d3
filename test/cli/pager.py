#!/usr/bin/env python3
"""On a terminal `info`, `report` and `cat` go through a pager, with the same bytes and exit status; nothing else does.

Each run has a terminal of its own (a session, so that less finds it as /dev/tty)."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
TRACE = os.path.join(INPUT, "fdr-v5-le.xray")
DAMAGED = os.path.join(INPUT, "damaged-fdr-v5-le-unknown-kind.xray")
EXE = ["-e", os.path.join(INPUT, "program.elf")]
LIMIT = 120  # seconds, enough for a busy machine: only ends hanging runs


class Terminal:
    """The command on a terminal, or with some of its files elsewhere."""

    def __init__(self, *arguments, env=None, columns=80, out=None, err=None, ignored=None):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        variables = {k: v for k, v in os.environ.items()
                     if k not in ("PAGER", "TRACELOOM_PAGER", "NO_PAGER", "NO_COLOR", "LESS", "COLUMNS", "LINES")}
        variables.update({"TERM": "xterm", "LC_ALL": "C"}, **(env or {}))
        variables = {k: v for k, v in variables.items() if v is not None}

        def prepare():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for number in (signal.SIGINT, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            if ignored:
                signal.signal(ignored, signal.SIG_IGN)
        self.process = subprocess.Popen(harness.binary() + list(arguments), stdin=slave, stdout=slave if out is None else out,
                                        stderr=slave if err is None else err, env=variables, preexec_fn=prepare, pass_fds=[slave])
        os.close(slave)
        self.master, self.seen = master, b""

    def read(self, until=None):
        """The output until the terminal is closed, or until these bytes appear."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and not (until and until in self.seen):
            if not select.select([self.master], [], [], 1)[0]:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        return self.seen

    def finish(self):
        self.read()
        status = self.process.wait(timeout=LIMIT)
        os.close(self.master)
        return status, self.seen.replace(b"\r\n", b"\n")


def on_terminal(*arguments, **how):
    return Terminal(*arguments, **how).finish()


def the_same_bytes(checks):
    for arguments in (["report", TRACE] + EXE, ["info", TRACE], ["info", TRACE, DAMAGED, TRACE], ["cat", TRACE], ["report", "--json", TRACE], ["info", DAMAGED]):
        status, plain = on_terminal(*arguments, "--no-pager")
        for env in ({"TRACELOOM_PAGER": "cat >seen"}, {"PAGER": "cat >seen"}, {"PAGER": "false", "TRACELOOM_PAGER": "cat >seen"}):
            paged, left = on_terminal(*arguments, env=env)
            checks.equal(paged, status, arguments, env)
            with open("seen", "rb") as file:
                seen = file.read()
            # Messages before the pager's start are on the terminal.
            checks.equal(left + seen, plain, arguments, env)
            checks.that(len(seen) > 200, arguments, "went past the pager", seen)
            os.remove("seen")
    checks.equal(on_terminal("info", DAMAGED, "--strict", env={"PAGER": "cat >seen"})[0],
                 on_terminal("info", DAMAGED, "--strict", "--no-pager")[0])


def nowhere_else(checks):
    started = {"TRACELOOM_PAGER": "touch started; cat"}
    for more in ({"NO_PAGER": "1"}, {"TERM": "dumb"}, {"TERM": ""}, {"TERM": None}):
        status, shown = on_terminal("report", TRACE, *EXE, env=dict(started, **more))
        checks.that(status == 0 and b"calls of" in shown and not os.path.exists("started"), more, status, shown)
    for arguments in (["report", "--no-pager", TRACE], ["report", TRACE, "-o", "x.svg"], ["check", TRACE], ["report", "--help"]):
        on_terminal(*arguments, env=started)
        checks.that(not os.path.exists("started"), arguments)
    status, shown = on_terminal("report", TRACE, env={"TRACELOOM_PAGER": "", "PAGER": "touch started"})
    checks.that(status == 0 and b"calls of" in shown and not os.path.exists("started"), shown)
    status, shown = on_terminal("report", TRACE, env={"PAGER": "cat"})
    checks.that(status == 0 and b"\033[" in shown, "colour goes when the pager is none", shown)
    on_terminal("report", TRACE, env=started, out=subprocess.DEVNULL)
    checks.that(not os.path.exists("started"), "a pager for what goes elsewhere")
    on_terminal("report", TRACE, env=dict(started, NO_PAGER=""))
    checks.that(os.path.exists("started"), "NO_PAGER is empty, which is not set")
    status, shown = on_terminal("report", TRACE, env={"PATH": "/nonexistent"})  # without less
    checks.that(status == 0 and b"calls of" in shown, status, shown)


def long_file():
    """One whose text does not fit into a pipe."""
    with open("long.xray", "wb") as file:
        file.write(struct.pack("<HHIQ16x", 3, 0, 3, 1000000000))
        for i in range(6000):
            file.write(struct.pack("<HBBiQII8x", 0, 0, i % 2, 1 + i // 2 % 50, 1000 + i, 7, 7))


def early_end(checks):
    """The pager ends before everything was written: as with any pipe."""
    status, shown = on_terminal("cat", "long.xray", env={"PAGER": "head -n 1"})
    checks.equal(status, -signal.SIGPIPE)
    checks.equal(shown.count(b"\n"), 1, shown[:500])


def interrupted(checks):
    """The command waits for its pager, which does not end on ^C, and then ends by the signal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        for name in ("ready", "go", "ended"):
            if os.path.exists(name):
                os.remove(name)
        pager = "trap '' INT; head -c 9 >/dev/null; touch ready; until [ -e go ]; do sleep 0.01; done; cat >/dev/null; touch ended"
        terminal = Terminal("cat", "long.xray", env={"PAGER": pager})
        end = time.monotonic() + LIMIT
        while not os.path.exists("ready") and time.monotonic() < end:
            time.sleep(0.01)
        if number == signal.SIGINT:
            os.write(terminal.master, b"\x03")  # to both, as a terminal does
        else:
            terminal.process.send_signal(number)
        time.sleep(0.1)
        open("go", "wb").close()
        status = terminal.process.wait(timeout=LIMIT)
        checks.that(os.path.exists("ended"), "it did not wait for the pager")
        checks.equal(status, -number)
        os.close(terminal.master)


def options_of_less(checks):
    """A pager that is less without options gets ours by its variable, unless the user has it set."""
    for env, expected in (({}, b"FRX\n"), ({"LESS": "-S"}, b"-S\n")):
        on_terminal("report", TRACE, env=dict(env, PAGER="printenv LESS >seen; cat >/dev/null"))
        with open("seen", "rb") as file:
            checks.equal(file.read(), expected)


def ignored_signals(checks):
    """What nohup ignores stays ignored."""
    terminal = Terminal("cat", "long.xray", env={"PAGER": "trap '' HUP; head -c 9 >/dev/null; kill -HUP $PPID; cat >/dev/null"},
                        ignored=signal.SIGHUP)
    checks.equal(terminal.finish()[0], 0)


def real_less(checks):
    if not shutil.which("less"):
        print("less was not tried: it is not installed")
        return
    status, shown = on_terminal("report", TRACE, "--top", "3", *EXE)
    checks.that(status == 0 and b"\033[" in shown and b"calls of" in shown, status, shown)  # it fits: less ends itself
    terminal = Terminal("cat", "long.xray")
    terminal.read(until=b"thread 7")
    os.write(terminal.master, b"q")
    status, shown = terminal.finish()
    checks.that(status in (0, -signal.SIGPIPE), status)
    checks.that(0 < shown.count(b"thread 7") < 100, shown.count(b"thread 7"), "lines on a screen of 24")


def width_through_a_pipe(checks):
    """Tables fit the terminal only if a person reads them: with --color always."""
    def through_pipe(columns, *more):
        read, write = os.pipe()
        terminal = Terminal("report", TRACE, *EXE, "-q", *more, columns=columns, out=write)
        os.close(write)
        with os.fdopen(read, "rb") as file:
            out = file.read()
        terminal.finish()
        return out
    plain = harness.run("report", TRACE, *EXE, "-q", env={"LC_ALL": "C"}).out
    checks.equal(through_pipe(60), plain)
    for columns in (60, 80, 120):
        lines = re.sub(rb"\033\[[0-9;]*m", b"", through_pipe(columns, "--color", "always")).splitlines()[2:]
        checks.equal(len(lines), len(plain.splitlines()) - 2)  # a pipe gets all rows
        checks.that(max(map(len, lines)) <= columns, columns, lines)
    checks.that(through_pipe(120, "--color", "always") != through_pipe(60, "--color", "always"), "one width for all")


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        os.chdir(folder)
        long_file()
        for case in (the_same_bytes, nowhere_else, early_end, interrupted, options_of_less, ignored_signals, real_less, width_through_a_pipe):
            case(checks)
        os.chdir(harness.SOURCE)
    checks.end()


if __name__ == "__main__":
    main()
