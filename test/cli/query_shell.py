#!/usr/bin/env python3
"""The shell of `query`, at a pseudo terminal: statements of several lines, commands, completion, history, ^C and ^D; and the
file of the history, which nobody else may read."""
import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import xray_gen

LIMIT = 60  # seconds until a shell hangs
LEAKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libedit.supp")


class Shell:
    def __init__(self, folder, log, *options, term="xterm", prompt=None):
        self.prompt = prompt or "%s> " % os.path.basename(log)
        env = dict(os.environ, HOME=folder, XDG_STATE_HOME=os.path.join(folder, "state"), TERM=term, COLUMNS="100", LC_ALL="C.UTF-8",
                   LSAN_OPTIONS="suppressions=" + LEAKS)
        self.master, slave = pty.openpty()

        def lead():
            os.setsid()
            os.close(os.open(os.ttyname(slave), os.O_RDWR))  # becomes the controlling terminal: ^C is a signal
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        self.process = subprocess.Popen(harness.binary() + ["query", log, *options], stdin=slave, stdout=slave, stderr=slave, env=env, preexec_fn=lead)
        os.close(slave)
        self.seen, self.closed = "", False

    def read(self, wanted, limit=None):
        """What was printed up to a piece of text, without the terminal's commands; the rest stays for later."""
        end = time.monotonic() + (limit or LIMIT)
        while wanted not in self.seen:
            ready = select.select([self.master], [], [], max(0, end - time.monotonic()))[0]
            try:
                data = os.read(self.master, 65536) if ready else b""
            except OSError:  # the other side is closed
                data, self.closed = b"", True
            if not data:
                raise AssertionError("%r did not come; there is %r" % (wanted, self.seen[-2000:]))
            self.seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]", "", self.seen + data.decode(errors="replace")).replace("\r", "")
        before, self.seen = self.seen.split(wanted, 1)
        return before

    def type(self, text):
        os.write(self.master, text.encode())

    def press(self, key, wanted):
        """A control character after a prompt. libedit prints that before it takes all keys for its own, so that one may be lost."""
        for i in range(LIMIT):
            self.type(key)
            try:
                return self.read(wanted, 1)
            except AssertionError:
                pass
        raise AssertionError("no %r after %r; there is %r" % (wanted, key, self.seen[-2000:]))

    def ask(self, line):
        """The answer to a line; the echo is left out."""
        self.type(line + "\n")
        answer = self.read(self.prompt)
        return answer.split("\n", 1)[-1]

    def end(self, text="\x04"):
        for i in range(LIMIT):
            self.type(text)
            try:
                self.read("\0", 1)
            except AssertionError:
                pass
            if self.closed:
                break
        status = self.process.wait(timeout=LIMIT)
        os.close(self.master)
        return status


def statements(checks, shell):
    shell.read(shell.prompt)
    checks.that("42" in shell.ask("SELECT 6 * 7 AS n;"), "a statement")
    shell.type("SELECT 'a;b' AS x -- no; end\n")
    shell.read("...> ")
    shell.type(", 5 AS y\n")
    shell.read("...> ")
    answer = shell.ask(";")
    checks.that("a;b" in answer and "5" in answer, "three lines", answer)
    answer = shell.ask("SELECT 1 AS one; SELECT 2 AS two;")
    checks.that("one" in answer and "two" in answer, "two statements", answer)
    answer = shell.ask("SELECT naem FROM events;")
    checks.that("did you mean name?" in answer, "a mistake", answer)
    checks.that("SELECT 1" not in shell.ask(""), "an empty line")
    checks.that("statements can only read" in shell.ask("DELETE FROM events;"), "it reads only")


def commands(checks, shell):
    checks.that("calls of functions" in shell.ask(".tables cal*"), ".tables")
    checks.that("events " not in shell.ask(".tables cal*"), ".tables chooses")
    checks.that("function_id" in shell.ask(".schema calls"), ".schema")
    checks.that("slowest-calls" in shell.ask(".recipes"), ".recipes")
    answer = shell.ask(".run slowest-calls top=1")
    checks.that(len(answer.strip().split("\n")) == 2, ".run", answer)
    checks.that("no such recipe" in shell.ask(".run nothing"), ".run of nothing")
    checks.that("name=value" in shell.ask(".run slowest-calls 1"), ".run without =")
    checks.that("events: read once" in shell.ask(".explain SELECT count(*) FROM events"), ".explain")
    shell.ask(".format jsonl")
    checks.that('{"n":1}' in shell.ask("SELECT 1 AS n;"), ".format")
    checks.that("written as one of table, " in shell.ask(".format xml"), ".format of nothing")
    shell.ask(".format table")
    shell.ask(".timer on")
    answer = shell.ask("SELECT 1 AS n;")
    checks.that("1 rows in " in answer, ".timer", answer)
    shell.ask(".timer off")
    checks.that("did you mean .tables?" in shell.ask(".table"), "a command that is not there")
    checks.that(".explain SQL" in shell.ask(".help"), ".help")


def cancelled(checks, shell):
    """^C at the prompt drops what was typed; while a statement runs it ends that, again and again."""
    shell.type("SELECT 1 AS\n")
    shell.read("...> ")
    shell.press("\x03", shell.prompt)
    checks.that("77" in shell.ask("SELECT 77 AS n;"), "after ^C in a second line")
    shell.type("SELECT nothing")
    shell.read("nothing")
    shell.press("\x03", shell.prompt)
    checks.that("78" in shell.ask("SELECT 78 AS n;"), "after ^C in a line")
    for i in range(3):
        shell.type("SELECT count(*) FROM events AS a, events AS b WHERE a.ts + b.ts = -1;\n")
        shell.read("-1;")
        time.sleep(0.5 + 0.2 * i)
        began = time.monotonic()
        shell.type("\x03")
        answer = shell.read(shell.prompt)
        print("^C: %.0f ms" % (1000 * (time.monotonic() - began)))
        checks.that("interrupted" in answer, "^C of a statement", answer)
        checks.that("79" in shell.ask("SELECT 79 AS n;"), "after ^C of a statement")
    checks.that(shell.process.poll() is None, "the shell goes on")


def completed(checks, shell):
    """Words after a tab: one is completed, several are listed."""
    def drop():
        """Drops the line, and waits until that is done: a list of words also ends with a prompt."""
        shell.type("\x15.format\n")
        shell.read("\ntable\n")
        shell.read(shell.prompt)

    def tab(text, wanted):
        shell.type(text + "\t")
        shell.read(wanted)
        drop()
    tab("sel", "select ")
    tab("SELECT count(*) FROM function_", "function_stats ")
    tab("SELECT count(*) from eve\t", "events")
    tab(".rec", ".recipes ")
    tab(".run slow", ".run slowest-calls ")
    tab(".format mark", ".format markdown ")
    shell.type("SELECT * FROM function_stats\n")
    shell.read("...> ")
    shell.type("WHERE max_d\t")
    shell.read("max_dur ")
    shell.press("\x03", shell.prompt)
    shell.type(".t\t")
    shell.read(".tables")
    shell.read(".timer")
    drop()
    checks.that(True, "words are completed")


def history(checks, folder, log):
    path = os.path.join(folder, "state", "traceloom", "history")
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    checks.that("SELECT 6 * 7 AS n;" in lines, "the history has a statement", lines[:5])
    for name, mode in ((path, 0o600), (os.path.dirname(path), 0o700)):
        checks.equal(stat.S_IMODE(os.stat(name).st_mode), mode, name)
    with open(path, "ab") as file:
        file.write(b"SELECT '\x1b[31m' AS bad;\n\nSELECT 4711 AS old;\n")
    os.chmod(path, 0o644)
    shell = Shell(folder, log)
    shell.read(shell.prompt)
    if harness.built_with("libedit"):
        shell.type("\x10")  # ^P
        shell.read("4711 AS old;")
        shell.type("\n")
        checks.that("4711" in shell.read(shell.prompt), "a line of an earlier shell")
    checks.equal(shell.end(), 0, "the end of it")
    checks.equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "it is private again")
    # What is no file of ours stays as it is.
    os.rename(path, path + ".there")
    os.symlink(path + ".there", path)
    before = os.path.getsize(path + ".there")
    shell = Shell(folder, log)
    shell.read(shell.prompt)
    checks.that("12" in shell.ask("SELECT 3 * 4 AS n;"), "without a history")
    checks.equal(shell.end(".quit\n"), 0, ".quit")
    checks.equal(os.path.getsize(path + ".there"), before, "a link is not followed")
    os.unlink(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join("SELECT %06d;\n" % i for i in range(60000)))
    shell = Shell(folder, log)
    shell.read(shell.prompt)
    shell.end()
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    checks.that(10000 < len(lines) < 30000 and lines[0].startswith("SELECT ") and lines[-2] == "SELECT 059999;", "a long history", len(lines))


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        log = os.path.join(folder, "large.xray")
        xray_gen.bulk(log, 200_000)
        if not harness.built_with("SQLite"):
            harness.skip("this build has no SQL")
        shell = Shell(folder, log)
        statements(checks, shell)
        commands(checks, shell)
        cancelled(checks, shell)
        if harness.built_with("libedit"):
            completed(checks, shell)
        checks.equal(shell.end(), 0, "^D")
        history(checks, folder, log)
        plain = Shell(folder, log, "-p", "n=5", term="dumb")
        statements(checks, plain)
        cancelled(checks, plain)
        checks.that("6" in plain.ask("SELECT :n + 1 AS n;"), "a parameter")
        checks.equal(plain.end(), 0, "^D of a plain terminal")
        os.close(os.open(os.path.join(folder, "none"), os.O_CREAT | os.O_WRONLY))
        lost = Shell(os.path.join(folder, "none"), log)  # a folder for which there is no room
        lost.read(lost.prompt)
        checks.that("8" in lost.ask("SELECT 8 AS n;"), "without a home")
        checks.equal(lost.end(), 0, "^D without a home")
    checks.end()


if __name__ == "__main__":
    main()
