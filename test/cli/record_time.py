#!/usr/bin/env python3
"""traceloom record --for: ends the recording of a command after that time, or says why it cannot: record_time.py

The program waits for the end of its input, so nothing here depends on how fast it is."""
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

PATIENCE = 60 # s
LIBRARY = "libtraceloom-rt.so.0"
SOURCE = r"""
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int x) { __asm__ volatile(""); return x + 1; }
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) /* closes all files, as daemons do */
        for (int i = 3; i < 1024; i++)
            close(i);
    puts("ready");
    fflush(stdout);
    for (int x = 0;; x = leaf(x))
        if (getchar() == EOF)
            return 0;
}
"""


class Recorded:
    """A program that is recorded until finish()."""

    def __init__(self, *arguments, env=None):
        environment = {k: v for k, v in os.environ.items() if k != "TRACELOOM"}
        self.process = subprocess.Popen(harness.binary() + ["record", "-f", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=dict(environment, **(env or {})))
        self.ready = self.process.stdout.readline()

    def message(self, *parts):
        """The next message with one of the parts; "": there is none, and the program has ended."""
        guard = threading.Timer(PATIENCE, self.process.stdin.close)
        guard.start()
        lines = (line.decode() for line in self.process.stderr)
        said = next((line for line in lines if any(part in line for part in parts)), "")
        guard.cancel()
        return said

    def finish(self):
        """Its status, and what else was said."""
        if self.process.stdin.closed:
            self.process.stdin = None
        _, said = self.process.communicate(timeout=120)
        return self.process.returncode, said.decode()


def check_stops(checks):
    """Also if the environment forbids commands to the recorder: the command line has the last word."""
    for env in ({}, {"TRACELOOM": "control=off"}):
        run = Recorded("--for", "50ms", "./waits", env=env)
        run.process.stdin.write(b"one\n")
        run.process.stdin.flush()
        said = run.message("stopped", "nothing")
        checks.that("stopped" in said, env, "the recording is stopped:", said)
        checks.equal(run.finish()[0], 0, env, "the program runs to its end")


def check_cannot(checks):
    run = Recorded("--for", "50ms", "./waits", "close")
    said = run.message("--for", "stopped")
    checks.that("record: --for ends nothing: process " in said and "(waits)" in said, "without a page:", said)
    checks.that("goes on to its end" in said, said)
    checks.equal(run.finish()[0], 0, "without a page")
    done = harness.run("record", "--for", "10", "./waits")
    checks.that(done.status == 125 and b"expected a time with its unit" in done.err and not done.out, done)
    done = harness.run("record", "--for", "1s", "--start", "off", "./waits")
    checks.that(done.status == 125 and b"--for is for a recording that begins at once" in done.err and not done.out, done)


def check_clock(checks):
    """Signals do not make the time pass faster."""
    run = Recorded("--for", "100s", "./waits")
    begin = time.monotonic()
    for _ in range(8000):
        os.kill(run.process.pid, signal.SIGCONT)
        time.sleep(0.0002)
    took = time.monotonic() - begin
    status, said = run.finish()
    checks.that(took >= 100 or "stopped" not in said, "signals are taken for time:", took, "s", said)
    checks.equal(status, 0, "after many signals")


def main():
    if not os.path.exists(os.path.join(os.path.dirname(harness.binary()[-1]), LIBRARY)):
        harness.skip("the recorder is not built here")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        os.chdir(folder)
        if subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", "waits"], input=SOURCE.encode(), capture_output=True).returncode:
            harness.skip("no gcc")
        for part in (check_stops, check_cannot, check_clock):
            part(checks)
        os.chdir("/")
    checks.end()


main()
