#!/usr/bin/env python3
"""Profiles of a fleet: `report DIR -o all.tlp` of 1,000 to 100,000 files, which should take the memory of a few.

    fleet.py [--folder DIR] [--repeat N] [--write] [--quick]

Makes the profiles if they are not there (calls_gen.c): 2.5 GB. `find | xargs cat` only opens and reads them."""
import os
import shutil
import subprocess
import sys

from bench_tools import BAR_HEAD, Command, arguments, bar_line, build, finish, in_turns, introduction, output_of, table, threads_of

RUNS, CALLS = 64, 3500  # different ones, of about 24 KiB
KIB = 1 << 10


def profiles(args, n):
    """A folder of that many, and their bytes."""
    runs, folder, total = [], os.path.join(args.folder, "fleet-%d" % n), 0
    for seed in range(RUNS):
        path = os.path.join(args.folder, "run-%d" % seed)
        runs.append(path + ".tlp")
        if not os.path.exists(runs[-1]):
            with open(path + ".xray", "wb") as log:
                subprocess.run([build(args.folder, "calls_gen"), str(CALLS), str(seed)], stdout=log, check=True)
            subprocess.run([args.traceloom, "report", "-q", path + ".xray", "-o", runs[-1]], check=True)
            os.unlink(path + ".xray")
    for i in range(n):
        below = os.path.join(folder, "host-%03d" % (i // 1000))
        path = os.path.join(below, "%06d.tlp" % i)
        if not os.path.exists(path):
            os.makedirs(below, exist_ok=True)
            shutil.copyfile(runs[i % RUNS], path)
        total += os.path.getsize(path)
    return folder, total


def main():
    args = arguments(__doc__, "fleet", 3, "twice, and a tenth of the files")
    args.traceloom = os.path.abspath(args.traceloom)
    measure, lines, wrong, peak = build(args.folder, "measure"), introduction(args), [], {}
    counts = [100, 1000, 10000] if args.quick else [1000, 10000, 100000]
    for n in counts:
        folder, total = profiles(args, n)
        merged = os.path.join(args.folder, "all.tlp")
        rows = [Command("report, %s" % threads_of(threads), [args.traceloom, "report", "-q", "-f", folder, "--threads", str(threads), "-o", merged], once=n > 10000,
                        count=n) for threads in (1, 2)]
        rows.append(Command("only opening and reading", ["sh", "-c", "find %s -type f -print0 | xargs -0 cat >/dev/null" % folder], count=n))
        in_turns(rows, measure, args.repeat, args.slow)
        subprocess.run(rows[0].arguments, check=True)
        calls = int(output_of(args.traceloom, "query", "-q", "--to", "csv", merged, "SELECT sum(calls) AS n FROM function_stats").split()[1])
        if calls != n * CALLS:
            wrong.append("WRONG SUM: %d calls of %d files" % (calls, n))
        peak[n] = [row.peak for row in rows]
        lines += ["", "### {:,} profiles of {:.0f} KiB".format(n, total / n / KIB), ""] + table(rows, total, None, "file")
    few, many = counts[0], counts[-1]
    lines += [""] + list(BAR_HEAD)
    for at, threads in ((0, 1), (1, 2)):
        ratio = peak[many][at] / peak[few][at]
        lines.append(bar_line("memory of {:,} / of {:,}, {}".format(many, few, threads_of(threads)), "%.2f" % ratio, "", "<= 1.5", ratio <= 1.5))
    return finish(args, "fleet", lines + [""] + (wrong or ["All sums have the calls that were made."]), wrong)


if __name__ == "__main__":
    sys.exit(main())
