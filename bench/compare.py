#!/usr/bin/env python3
"""False alarms and power of `report --diff` with real programs: compare.py BUILD_FOLDER [--update]

Records programs many times, and compares random draws of the runs of one program with each other: whatever is called
slower or faster is a false alarm. Then the same with a program of which one function takes 5 % longer. Prints the tables
of docs/compare.md; --update puts them there, between the lines "<!-- bench/compare.py -->"."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNS, SIDE, DRAWS = 40, 20, 100
PLANTED_RUNS, PLANTED_SIDE, PLANTED_NOISE = 30, 10, "2%"
GATES = ["p50(*) > +5%", "percall(*) > +5%"]
PROGRAMS = {"gzip": ["gzip", "-9", "-c", "data"], "bzip2": ["bzip2", "-k", "-c", "data"], "sort": ["sort", "lines"], "awk": ["mawk", "{n+=length($0)} END{print n}", "lines"]}
SOURCE = r"""
#include <stdlib.h>
__attribute__((noinline)) void planted(int n) { for (volatile int i = 0; i < n; i++); }
__attribute__((noinline)) void other(int n) { for (volatile int i = 0; i < n; i++); }
int main(void)
{
    for (int i = 0; i < 1000; i++) {
        planted(WORK);
        other(10000);
    }
    return 0;
}
"""


class Bench:
    def __init__(self, build, folder):
        self.command = os.path.join(os.path.abspath(build), "traceloom")
        self.folder = folder
        self.random = random.Random(1)

    def record(self, out, program, runs, *more):
        words = [self.command, "record", "-q", "--runs", str(runs), "-o", out] + list(more) + program
        done = subprocess.run(words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            print("# %s: %s" % (program[0], done.stderr.strip().splitlines()[-1:]), file=sys.stderr)
        return done.returncode == 0

    def runs(self, out):
        folder = os.path.join(self.folder, out)
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def diff(self, base, newer, *more):
        sides = []
        for side, files in (("a", base), ("b", newer)):
            folder = os.path.join(self.folder, "side-" + side)
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
            for i, path in enumerate(files):
                os.symlink(path, os.path.join(folder, "%03d.tlp" % i))
            sides.append(folder)
        done = subprocess.run([self.command, "diff", *sides, "--json", *more], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(done.stderr)
        return json.loads(done.stdout)

    def same_program(self, name):
        """Rows, those called different, gates, those that fail, of random draws."""
        files, rows, wrong, slight, same, gates, failed = self.runs(name), 0, 0, 0, 0, 0, 0
        for _ in range(DRAWS):
            drawn = self.random.sample(files, 2 * SIDE)
            answer = self.diff(drawn[:SIDE], drawn[SIDE:], *[word for gate in GATES for word in ("--fail-if", gate)])
            verdicts = [row["verdict"] for row in answer["rows"] if row["verdict"] != "exact"]
            rows += len(verdicts)
            wrong += sum(v in ("slower", "faster", "more", "fewer", "new", "gone") for v in verdicts)
            slight += sum(v.startswith("slightly") for v in verdicts)
            same += verdicts.count("same")
            gates += len(GATES)
            failed += len({gate["gate"] for gate in answer["gates"] if gate["status"] == "failed"})
        return rows, wrong, slight, same, gates, failed

    def planted(self):
        found, alarms, spread = {}, 0, []
        base, newer = self.runs("planted/old"), self.runs("planted/new")
        for _ in range(DRAWS):
            answer = self.diff(self.random.sample(base, PLANTED_SIDE), self.random.sample(newer, PLANTED_SIDE), "--noise", PLANTED_NOISE)
            for row in answer["rows"]:
                if row["function"] == "planted" and row["metric"] in ("percall", "p1", "p50"):
                    found.setdefault(row["metric"], []).append(row["verdict"])
                    if row["metric"] == "p1":
                        spread.append(row["change"])
                elif row["function"] == "other":
                    alarms += row["verdict"] in ("slower", "faster")
        return found, alarms, sorted(spread)[len(spread) // 2]


def percent(part, whole):
    return "%.2f %%" % (100 * part / whole) if whole else "-"


def make_data(folder):
    rng = random.Random(2)
    words = ["".join(rng.choice("etaoinshrdlu") for _ in range(rng.randint(2, 9))) for _ in range(3000)]
    with open(os.path.join(folder, "lines"), "w", encoding="ascii") as file:
        file.writelines(" ".join(rng.choice(words) for _ in range(8)) + "\n" for _ in range(20000))
    shutil.copy(os.path.join(folder, "lines"), os.path.join(folder, "data"))


def tables(bench):
    yield "Runs of the same program, %d + %d of %d, drawn %d times; rows are numbers with spread, of functions above 0.5 %%; gates are `%s`." % (
        SIDE, SIDE, RUNS, DRAWS, "` and `".join(GATES))
    yield ""
    yield "| program | rows | slower or faster | slightly | same | gates failed |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, program in PROGRAMS.items():
        if not shutil.which(program[0]) or not bench.record(name, [shutil.which(program[0])] + program[1:], RUNS):
            continue
        rows, wrong, slight, same, gates, failed = bench.same_program(name)
        yield "| `%s` | %d | %s | %s | %s | %s |" % (" ".join(program[:1]), rows, percent(wrong, rows), percent(slight, rows), percent(same, rows),
                                                  percent(failed, gates))
    for name, work in (("old", 10000), ("new", 10500)):
        subprocess.run(["gcc", "-O1", "-DWORK=%d" % work, "-x", "c", "-", "-o", os.path.join(bench.folder, "planted-" + name)], input=SOURCE,
                       text=True, check=True)
    bench.record("planted", ["./planted-new"], PLANTED_RUNS, "--turns", "./planted-old")
    found, alarms, change = bench.planted()
    yield ""
    yield "A function of 1,000 calls with 5 %% more work, %d + %d runs of %d, recorded in turns, drawn %d times, `--noise %s` (median estimate of p1: %+.1f %%):" % (
        PLANTED_SIDE, PLANTED_SIDE, PLANTED_RUNS, DRAWS, PLANTED_NOISE, 100 * change)
    yield ""
    yield "| metric | found | slower | slightly slower | same within 2 % | unclear |"
    yield "|---|--:|--:|--:|--:|--:|"
    for metric, verdicts in found.items():
        counts = [verdicts.count(word) for word in ("slower", "slightly slower", "same", "unclear")]
        yield "| %s | %s |" % (metric, " | ".join(percent(n, len(verdicts)) for n in [counts[0] + counts[1]] + counts))
    yield ""
    yield "The function beside it, which did not change, was called slower or faster in %d of these %d comparisons." % (alarms, DRAWS)


def main():
    with tempfile.TemporaryDirectory() as folder:
        make_data(folder)
        text = "\n".join(tables(Bench(sys.argv[1], folder))) + "\n"
    print(text)
    if "--update" in sys.argv:
        path = os.path.join(ROOT, "docs", "compare.md")
        with open(path, encoding="utf-8") as file:
            page = file.read()
        mark = "<!-- bench/compare.py -->\n"
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(mark + ".*?" + mark, lambda _: mark + text + mark, page, flags=re.S))


if __name__ == "__main__":
    main()
