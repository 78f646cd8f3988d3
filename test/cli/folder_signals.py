#!/usr/bin/env python3
"""A signal while a folder is written leaves nothing, or the whole folder: folder_signals.py

SIGINT, SIGTERM and SIGHUP at random times, in every format that is a folder; the program ends by the signal. A replaced
folder is unchanged until the new one is there. A program that ignores SIGHUP (nohup) continues."""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import xray_gen

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ROUNDS = 40 if harness.THOROUGH else 8


def defaults():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def start(arguments, prepare=defaults):
    return subprocess.Popen(harness.binary() + arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=prepare)


def contents(folder):
    """{path: bytes} of all files in a folder, and its empty folders."""
    found = {}
    for inside, folders, names in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(inside, name), folder) + "/"] = None
        for name in names:
            with open(os.path.join(inside, name), "rb") as file:
                found[os.path.relpath(os.path.join(inside, name), folder)] = file.read()
    return found


def run(checks, place, arguments, before, rng, statistics):
    """before: the files already at the place."""
    def reset():
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(before, place) if before else os.makedirs(place)
    reset()
    old = contents(place)
    begin = time.monotonic()
    process = start(arguments)
    checks.equal(process.wait(), 0, arguments, process.stderr.read())
    length, new = time.monotonic() - begin, contents(place)
    checks.that(new != old, arguments, "writes nothing")
    for number in SIGNALS * ROUNDS:
        reset()
        process = start(arguments)
        time.sleep(rng.random() * length)
        process.send_signal(number)
        said = process.stderr.read()
        status = process.wait()
        now = contents(place)
        killed = status == -number
        statistics[killed] += 1
        checks.that(killed or status == 0, arguments, "status", status, said)
        checks.that(now == new or (killed and now == old), arguments, number, "left", sorted(now)[:10])


def nohup(checks, place, arguments):
    def prepare():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    process = start(arguments, prepare)
    for _ in range(10):
        time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
    checks.equal(process.wait(), 0, "nohup", process.stderr.read())


def main():
    checks, rng, statistics = harness.Checks(), random.Random(16), {True: 0, False: 0}
    with harness.work_folder() as folder:
        source, place, before = (os.path.join(folder, name) for name in ("a.xray", "place", "before"))
        out = os.path.join(place, "d.ctf")
        xray_gen.bulk(source, 60000)
        insns = os.path.join(harness.SOURCE, "test", "golden", "input", "xtrace-user")
        run(checks, place, ["convert", "--to", "ctf", "-o", out, source], None, rng, statistics)
        run(checks, place, ["convert", "--to", "ctf", "--format-version", "1.1", "-o", out, source], None, rng, statistics)
        os.makedirs(os.path.join(before, "d.ctf"))
        with open(os.path.join(before, "d.ctf", "metadata"), "w", encoding="utf-8") as file:
            file.write("/* CTF 1.8 */ of before")
        run(checks, place, ["convert", "-f", "--to", "ctf", "-o", out, source], before, rng, statistics)
        run(checks, place, ["convert", "--to", "xtrace-set", "-o", out, insns], None, rng, statistics)
        nohup(checks, place, ["convert", "--to", "ctf", "-o", out, source])
    print("%d runs were ended by their signal, %d were not" % (statistics[True], statistics[False]))
    checks.that(statistics[True] > ROUNDS, "hardly any signal met a program that was running")
    checks.end()


if __name__ == "__main__":
    main()
