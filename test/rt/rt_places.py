#!/usr/bin/env python3
"""Names of a stripped program that is patched while it runs: places first; symbols where they are given, found later, or
used to choose functions.

    rt_places.py MODE          profile, fdr, ctf"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import rt_patch

SUFFIX = {"profile": ".tlp", "fdr": ".xray", "ctf": ".ctf"}
LACKING = re.compile(r"^traceloom: (\d+) functions? (have|has) no name; install debug symbols of job,", re.M)


def symbols(path):
    """{address: names} of functions, by nm."""
    found = {}
    done = subprocess.run(["nm", path], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "Tt":
            found.setdefault(int(words[0], 16), set()).add(words[2])
    return found


class Job:
    def __init__(self, checks, folder, mode):
        self.checks, self.folder, self.mode = checks, folder, mode
        rt_patch.recorder()                                       # or the test is skipped
        self.whole = os.path.join(folder, "whole")
        self.path = os.path.join(folder, "job")
        self.debug = os.path.join(folder, "job.debug")
        shutil.copy(rt_patch.build("count_recursion.c", "-g", "-Wl,--build-id"), self.whole)
        rt_build.call(["objcopy", "--only-keep-debug", self.whole, self.debug])
        rt_build.call(["strip", "-o", self.path, self.whole])
        self.symbols = symbols(self.whole)

    def record(self, *options, status=0):
        out = os.path.join(self.folder, "out" + SUFFIX[self.mode])
        env = {key: "" for key in os.environ if key.startswith(("TRACELOOM", "LD_PRELOAD"))}
        done = harness.run("record", "-f", "-m", self.mode, "-o", out, *options, self.path, env=env)
        self.checks.equal(done.status, status, "record", options, done)
        return out, done.err.decode()

    def report(self, path, *options):
        """({name: calls}, messages)"""
        done = harness.run("report", "--json", "--by", "func", path, *options)
        if not self.checks.equal(done.status, 0, "report", options, done):
            return {}, ""
        return {row["name"]: row["calls"] for row in done.json()["functions"]}, done.err.decode()

    def named(self, places):
        """The same calls by symbol."""
        return {min(self.symbols[int(name.split("+0x")[1], 16)]): calls for name, calls in places.items()}


def check_names(job):
    checks = job.checks
    out, said = job.record()
    checks.that(LACKING.search(said), "record does not say what is missing:", said)
    places, said = job.report(out)
    checks.that(len(places) > 2 and all(re.fullmatch(r"job\+0x[0-9a-f]+", name or "") for name in places), "places", places)
    checks.that(all(int(name.split("+0x")[1], 16) in job.symbols for name in places), "functions begin elsewhere", places)
    found = LACKING.search(said)
    checks.equal(found and int(found.group(1)), len(places), "functions without a name", said)
    named = job.named(places)
    checks.that("fib" in named, "no fib in", named)
    for exe in (job.whole, job.debug):
        got, said = job.report(out, "-e", exe)
        checks.equal(got, named, "names from", exe)
        checks.that("no name" not in said and "not used" not in said, "said", said)
    rt_build.call(["objcopy", "--add-gnu-debuglink=" + job.debug, job.path])     # as if it had been installed now
    checks.equal(job.report(out)[0], named, "names from a debug file that came later")
    os.rename(job.debug, job.debug + ".gone")
    checks.equal(job.report(out)[0], places, "places again")
    if job.mode != "ctf":
        patched = harness.run("info", "--json", out).json()["patched"]
        o = patched[0]
        checks.that(len(patched) == 1 and o["object"] == "job" and len(places) <= o["patched"] <= o["functions"] and
                    o["left_out"] == o["functions"] - o["patched"] and o["late"] <= o["patched"], "patched", patched)
    return places, named


def check_choice(job, places, named):
    fib = next(place for place in places if job.named({place: 0}) == {"fib": 0})
    others = {place: calls for place, calls in places.items() if place != fib}
    for options in (["-F", fib], ["-F", "j*:job+0x" + fib.split("x")[1]]):
        job.checks.equal(job.report(job.record(*options)[0])[0], {fib: places[fib]}, options)
    job.checks.equal(job.report(job.record("-N", "j?b:" + fib)[0])[0], others, "all but fib")
    for nothing in ("lib*:*", "fib", fib + "0"):
        _, said = job.record("-F", nothing, status=125)
        job.checks.that("no function matches" in said, nothing, said)
    shutil.copy(job.whole, job.path)                              # the same program with its symbols
    job.checks.equal(job.report(job.record("-F", "job:fi*")[0])[0], {"fib": named["fib"]}, "fib by name")
    job.checks.equal(job.report(job.record("-N", fib)[0])[0], named, "a function with a name has no place")


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        job = Job(checks, folder, sys.argv[1])
        places, named = check_names(job)
        if places:
            check_choice(job, places, named)
    checks.end()


if __name__ == "__main__":
    main()
