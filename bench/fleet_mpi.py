#!/usr/bin/env python3
"""Profiles of a fleet with ranks of MPI: `traceloom-mpi report DIR -o all.tlp` with 1, 2 and 4, beside `traceloom report`.

    fleet_mpi.py [--folder DIR] [--repeat N] [--write] [--quick] [--files N]

Ranks that wait for others spin, so processor time is that of reading and adding up; the slowest rank's decides how long a
job takes where each rank has a processor."""
import os
import re
import shutil
import subprocess
import sys
import time

from bench_tools import BAR_HEAD, arguments, bar_line, finish, machine, megabytes_text, seconds_text
from fleet import profiles

RANKS = (1, 2, 4)
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class Job:
    """The best of several runs: wall time, processor time of each rank, peak memory of one process."""
    def __init__(self, name, words, ranks=0):
        self.name, self.words, self.ranks = name, words, ranks
        self.wall = self.peak = self.work = None

    def run(self):
        begin = time.monotonic()
        process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ, **SETTINGS))
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit("%s: status %d\n%s" % (self.words, process.returncode, said[-2000:]))
        wall = time.monotonic() - begin
        work = [float(seconds) for seconds in re.findall(r"; ([0-9.]+) s of processor time$", said, re.M)] or [used.ru_utime + used.ru_stime]
        self.wall = min(self.wall or wall, wall)
        self.work = min(self.work or work, work, key=max)
        self.peak = max(self.peak or 0, used.ru_maxrss * 1024)

    def line(self, count):
        return "| %s | %s | %s | %s | %.0f | %s |" % (self.name, seconds_text(self.wall), seconds_text(max(self.work)), seconds_text(sum(self.work)),
                                                    max(self.work) / count * 1e9, megabytes_text(self.peak))


def main():
    args = arguments(__doc__, "fleet", 3, "twice, and a tenth of the files", ("--files", {"type": int, "default": 100000}))
    program = os.path.join(os.path.dirname(os.path.abspath(args.traceloom)), "traceloom-mpi")
    if not os.path.exists(program) or not shutil.which("mpirun"):
        print("NOT MEASURED: there is no traceloom-mpi or no mpirun; tools/install-deps.sh bench installs Open MPI", file=sys.stderr)
        return 0
    count = args.files // 10 if args.quick else args.files
    folder, total = profiles(args, count)
    outputs, jobs = [os.path.join(args.folder, "all-%d.tlp" % ranks) for ranks in (0,) + RANKS], []
    jobs.append(Job("traceloom report, 1 thread", [args.traceloom, "report", "-q", "-f", folder, "--threads", "1", "-o", outputs[0]]))
    for ranks, output in zip(RANKS, outputs[1:]):
        jobs.append(Job("traceloom-mpi, %d rank%s" % (ranks, "" if ranks == 1 else "s"),
                        ["mpirun", "-q", "-np", str(ranks), program, "report", "-v", "-f", folder, "-o", output], ranks))
    for _ in range(args.repeat):
        for job in jobs:
            job.run()
    contents = set()
    for path in outputs:
        with open(path, "rb") as file:
            contents.add(file.read())
    wrong = [] if len(contents) == 1 else ["WRONG BYTES: the outputs differ"]
    lines = ["Machine: %s. Best of %d runs in turns, files in the page cache; load average %.0f." % (machine(), args.repeat, os.getloadavg()[2]), "",
             "### {:,} profiles of {:.0f} KiB, with ranks of MPI".format(count, total / count / 1024), "",
             "| command | time | processor time of the slowest rank | of all | ns / file | peak memory of a process |", "|---|---:|---:|---:|---:|---:|"]
    lines += [job.line(count) for job in jobs] + [""] + list(BAR_HEAD)
    one, two, four = jobs[1:]
    lines.append(bar_line("2 ranks / 1 rank", "%.2f" % (one.wall / two.wall), "%.2f" % (max(one.work) / max(two.work)), ">= 1.8", max(one.work) / max(two.work) >= 1.8))
    lines.append(bar_line("4 ranks / 1 rank", "%.2f" % (one.wall / four.wall), "%.2f" % (max(one.work) / max(four.work)), "", None))
    lines.append(bar_line("1 rank / traceloom report: memory", "%.2f" % (one.peak / jobs[0].peak), "", "", None))
    return finish(args, "fleet_mpi", lines + [""] + (wrong or ["All outputs have the same bytes."]), wrong)


if __name__ == "__main__":
    sys.exit(main())
