#!/usr/bin/env python3
"""traceloom record --runs and --turns: a recording for each run, in the right folder and order: record_runs.py"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
/* Long enough for a jump wherever it is loaded. */
__attribute__((noinline)) int leaf(int x) { __asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop"); return x + 1; }
int main(int argc, char **argv)
{
    FILE *order = fopen("order", "a");
    for (int i = 0; i < LEAVES; i++)
        leaf(i);
    fprintf(order, "%d %s\n", LEAVES, argc > 1 ? argv[1] : "");
    fclose(order);
    return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def record(folder, *words):
    environment = {k: v for k, v in os.environ.items() if k != "TRACELOOM"}
    return subprocess.run(harness.binary() + ["record"] + list(words), cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
                          check=False)


def calls(folder, path):
    done = subprocess.run(harness.binary() + ["report", "--json", path], cwd=folder, capture_output=True, text=True, check=True)
    return [f["calls"] for f in json.loads(done.stdout)["functions"] if f["name"] == "leaf"]


def order(folder):
    path = os.path.join(folder, "order")
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    os.remove(path)
    return lines


def main():
    if not shutil.which("gcc"):
        harness.skip("no gcc")
    checks = harness.Checks(show=10)
    with tempfile.TemporaryDirectory() as folder:
        for name, leaves in (("old", 10), ("new", 20)):
            subprocess.run(["gcc", "-O1", "-g", "-DLEAVES=%d" % leaves, "-x", "c", "-", "-o", os.path.join(folder, name)], input=SOURCE,
                           text=True, check=True)
        done = record(folder, "--runs", "3", "-o", "runs/", "./old", "word")
        checks.that(done.returncode == 0 and "report --diff OTHER runs" in done.stderr, done)
        checks.that(sorted(os.listdir(os.path.join(folder, "runs"))) == ["run-001.tlp", "run-002.tlp", "run-003.tlp"], os.listdir(folder))
        checks.that(calls(folder, "runs/run-003.tlp") == [10], "not 10 calls")
        checks.that(order(folder) == ["10 word"] * 3, "not three runs")

        done = record(folder, "--runs", "3", "-o", "turns", "--turns", "./old", "./new", "a")
        checks.that(done.returncode == 0 and "report --diff turns/old turns/new" in done.stderr, done)
        checks.that(order(folder) == ["10 a", "20 a", "20 a", "10 a", "10 a", "20 a"], "not in turns")
        for side, leaves in (("old", 10), ("new", 20)):
            for i in range(1, 4):
                checks.that(calls(folder, "turns/%s/run-%03d.tlp" % (side, i)) == [leaves], side, i)
        done = record(folder, "-o", "late", "--runs", "1", "./new", "--runs", "5")
        checks.that("--runs is given to ./new" in done.stderr, "options behind the program", done.stderr)
        checks.that(order(folder) == ["20 --runs"], "one run")
        done = subprocess.run(harness.binary() + ["diff", "turns/old", "turns/new", "--min-share", "0", "--fail-if", "calls(leaf) > +99%", "--one-run"],
                              cwd=folder, capture_output=True, text=True, check=False)
        checks.that(done.returncode == 1 and "before those of" not in done.stdout, done)

        done = record(folder, "--runs", "2", "-o", "runs", "./old")
        checks.that(done.returncode == 125 and "-f replaces it" in done.stderr, done)
        done = record(folder, "--runs", "2", "-f", "-o", "runs", "-m", "fdr", "./old")
        checks.that(done.returncode == 0 and os.path.exists(os.path.join(folder, "runs", "run-002.xray")), done)
        order(folder)
        done = record(folder, "--runs", "5", "-o", "failing", "./old", "word", "7")
        checks.that(done.returncode == 7 and "run 1 of 5" in done.stderr and len(order(folder)) == 1, done)
        for wrong in (["--runs", "2", "./old"], ["--runs", "2", "-o", "x", "-m", "fdr,profile", "./old"], ["--runs", "0", "-o", "x", "./old"],
                      ["--runs", "1000", "-o", "x", "./old"], ["--runs", "2", "-o", "x"], ["--runs", "2", "-o", "old/x", "./old"],
                      ["--runs", "2", "-o", "x", "--dry-run", "./old"], ["--turns", "./old", "-o", "x", "-p", "1", "./new"]):
            done = record(folder, *wrong)
            checks.that(done.returncode == 125 and not os.path.exists(os.path.join(folder, "order")), wrong, done)
    checks.end()


if __name__ == "__main__":
    main()
