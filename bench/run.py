#!/usr/bin/env python3
"""Speed and memory of traceloom beside llvm-xray and beside hand-written code, on the same bytes.

    run.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the logs if they are not there (record.sh), runs all commands in turns, N times, and keeps the best time of
each, so that a slow moment of the machine hits everybody. --write puts the tables into bench/results.md. Traces of CTF have a benchmark of their own, ctf.py."""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys

import bench_results

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)


class Command:
    """One thing to measure. `output`: a file that it writes, removed before each run."""

    def __init__(self, name, arguments, log, output=None, once=False):
        self.name, self.arguments, self.log, self.output, self.once = name, arguments, log, output, once
        self.seconds, self.cpu, self.peak, self.status, self.written = [], [], 0, 0, 0

    def run(self, measure):
        if self.output and os.path.exists(self.output):
            os.unlink(self.output)
        done = subprocess.run([measure] + self.arguments, capture_output=True, text=True, check=True)
        status, seconds, peak, cpu = done.stderr.split()
        self.status = int(status)
        self.seconds.append(float(seconds))
        self.cpu.append(float(cpu))
        self.peak = max(self.peak, int(peak) * 1024)
        if self.output and os.path.exists(self.output):
            self.written = os.path.getsize(self.output)
            os.unlink(self.output)

    def best(self):
        return min(self.seconds)


def llvm_xray():
    for name in ("llvm-xray-19", "llvm-xray"):
        if shutil.which(name):
            return name
    return None


def build(folder, name):
    path = os.path.join(folder, name)
    subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-O3", "-march=native", os.path.join(HERE, name + ".c"), "-o", path],
                   check=True)
    return path


def commands(traceloom, limit, folder, log):
    path = os.path.join(folder, log + ".xray")
    result = os.path.join(folder, "output")
    report = [traceloom, "report", "-q", "--by", "func", "-e", os.path.join(folder, "busy")]
    out = [Command("look at every byte", [limit, "--sum", path], log),
           Command("hand-written, 1 thread", [limit, path], log),
           Command("traceloom report, 1 thread", report + ["--threads", "1", path], log),
           Command("traceloom report, 2 threads", report + ["--threads", "2", path], log)]
    account = [Command("llvm-xray account", [llvm_xray(), "account", path, "-m", os.path.join(folder, "busy")], log)]
    if log == "single":
        return out + (account if llvm_xray() else [])
    if log == "1g":
        return out                                          # llvm-xray would need more than 20 GB for it
    to = [traceloom, "convert", "-q", path, "-o", result]
    out += [Command("traceloom report --by tree, 2 threads", [traceloom, "report", "-q", "--by", "tree", "--threads", "2", path], log),
            Command("traceloom convert to jsonl", to + ["--to", "jsonl"], log, result, once=True),
            Command("traceloom convert to Chrome JSON", to + ["--to", "chrome"], log, result, once=True)]
    if llvm_xray():
        out += account + [
                Command("llvm-xray convert to Chrome JSON", [llvm_xray(), "convert", "-f", "trace_event", path, "-o", result], log,
                        result, once=True)]
    return out


def agree(traceloom, limit, path):
    """The hand-written program and traceloom must give the same numbers, or the ratio means nothing."""
    text = subprocess.run([limit, path], check=True, capture_output=True, text=True).stdout
    rows = {int(line.split("\t")[0]): [int(x) for x in line.split("\t")[1:]] for line in text.splitlines()}
    reply = subprocess.run([traceloom, "report", "--json", "--by", "func", path], check=True, capture_output=True, text=True)
    functions = json.loads(reply.stdout)["functions"]
    columns = ("calls", "total", "self", "min", "p50", "p90", "p99", "max")
    ours = {f["id"]: [f[c] for c in columns] for f in functions if f["calls"]}
    if ours == rows:
        return "the hand-written program and traceloom print the same numbers"
    names = [i for i in set(rows) | set(ours) if rows.get(i) != ours.get(i)]
    return "DIFFERENT NUMBERS for functions %s: %s / %s" % (names, [rows.get(i) for i in names], [ours.get(i) for i in names])


def table(rows, size):
    limit = next(c for c in rows if c.name.startswith("hand-written")).best()
    lines = ["| command | time | of the log per second | times the hand-written one | peak memory | result |",
             "|---|---:|---:|---:|---:|---|"]
    for c in rows:
        result = "ok" if c.status == 0 else "fails, status %d" % c.status
        if c.written:
            result += ", %.0f MB written" % (c.written / 1e6)
        lines.append("| %s | %.3f s | %.0f MB | %.2f | %.1f MB | %s |"
                     % (c.name, c.best(), size / 1e6 / c.best(), c.best() / limit, c.peak / 1e6, result))
    return lines


def ratios(rows):
    best = {c.name: c for c in rows}
    lines = []
    one, two = best.get("traceloom report, 1 thread"), best.get("traceloom report, 2 threads")
    if one and two:
        lines.append("traceloom report: 2 threads are %.2f times as fast as one" % (one.best() / two.best()))
    for ours, theirs in (("traceloom report, 2 threads", "llvm-xray account"),
                         ("traceloom report, 1 thread", "llvm-xray account"),
                         ("traceloom report, 1 thread", "llvm-xray convert to Chrome JSON"),
                         ("traceloom convert to Chrome JSON", "llvm-xray convert to Chrome JSON")):
        a, b = best.get(ours), best.get(theirs)
        if a and b:
            note = "" if b.status == 0 else " (which fails on this log)"
            lines.append("%s: %.1f times as fast as %s%s, with 1/%.0f of its memory"
                         % (ours, b.best() / a.best(), theirs, note, b.peak / a.peak))
    return lines


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return "%s, %d processors, %.0f GiB; %s" % (model, os.cpu_count(), memory, platform.system() + " " + platform.release())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(TOP, "build-bench"))
    parser.add_argument("--traceloom", default=os.path.join(TOP, "build", "traceloom"))
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="only the logs of 100 MB, 3 times")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    repeat = 3 if args.quick else args.repeat
    subprocess.run([os.path.join(HERE, "record.sh"), args.folder], check=True)
    limit, measure = build(args.folder, "limit_fdr"), build(args.folder, "measure")

    lines = ["Machine: " + machine() + ".", "",
             "Best of %d runs in turns (of 2 for the conversions), file in the page cache." % repeat]
    titles = {"100m": "four threads", "single": "one thread in large buffers", "1g": "four threads"}
    for log in ("100m", "single") if args.quick else titles:
        path = os.path.join(args.folder, log + ".xray")
        size = os.path.getsize(path)
        rows = commands(args.traceloom, limit, args.folder, log)
        for turn in range(repeat):
            for command in rows:
                if not (turn >= 2 and command.once):
                    command.run(measure)
        lines += ["", "## FDR log of %.0f MB, %s" % (size / 1e6, titles[log]), ""] + table(rows, size) + [""] + ratios(rows)
        lines.append(agree(args.traceloom, limit, path))
    text = "\n".join(lines)
    print(text)
    if args.write:
        bench_results.write("xray", text)


if __name__ == "__main__":
    sys.exit(main())
