"""What the benchmarks share: commands that run in turns, how they are built and named, and the one style of their tables."""
import argparse
import os
import platform
import re
import subprocess

import bench_results

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
SKIP = 77                               # status of a script that cannot record here
SLOW = 2                                # turns of what takes seconds
MB, M = 1000000, 1000000
STOPPED = {"time": "stopped: took too long", "memory": "stopped: took too much memory"}


class Command:
    """One thing to measure. `output`: a file that it writes, removed after each run. `count`: how many things it reads;
    `part`: not all of the trace."""

    def __init__(self, name, arguments, output=None, once=False, count=None, part=False):
        self.name, self.arguments, self.output, self.once, self.count, self.part = name, arguments, output, once, count, part
        self.seconds, self.cpu, self.peak, self.status, self.written = [], [], 0, "0", 0

    def run(self, measure, *limits):
        if self.output and os.path.exists(self.output):
            os.unlink(self.output)
        done = subprocess.run([measure] + list(limits) + self.arguments, capture_output=True, text=True, check=True)
        self.status, seconds, peak, cpu = done.stderr.split()
        self.seconds.append(float(seconds))
        self.cpu.append(float(cpu))
        self.peak = max(self.peak, int(peak) * 1024)
        if self.output and os.path.exists(self.output):
            self.written = os.path.getsize(self.output)
            os.unlink(self.output)

    def best(self):
        return min(self.seconds)

    def ok(self):
        return self.status == "0"

    def result(self):
        text = "ok" if self.ok() else STOPPED.get(self.status, "FAILS, status " + self.status)
        return text + (", %.0f MB written" % (self.written / MB) if self.written else "")


def in_turns(rows, measure, repeat, slow=SLOW):
    """Runs each job that often, in turns, so that a slow moment of the machine hits all of them."""
    for turn in range(repeat):
        for row in rows:
            if turn < slow or not row.once:
                row.run(measure)


def build(folder, name, *more):
    """The path of a C program of this folder, compiled for this machine."""
    path, source = os.path.join(folder, name), os.path.join(HERE, name + ".c")
    headers = [os.path.join(HERE, file) for file in os.listdir(HERE) if file.endswith(".h")]
    if more or not os.path.exists(path) or os.path.getmtime(path) < max(map(os.path.getmtime, [source] + headers)):
        subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-O3", "-march=native", source] + list(more) + ["-o", path], check=True)
    return path


def build_with_library(args, name):
    """A program with the library of the same build as the command; what it needs is in the build's .pc file."""
    built = os.path.dirname(os.path.abspath(args.traceloom))
    with open(os.path.join(built, "traceloom.pc"), encoding="utf-8") as file:
        needs = re.search(r"^Libs.private: *(.*)$", file.read(), re.M).group(1).split()
    return build(args.folder, name, "-I", os.path.join(TOP, "include"), os.path.join(built, "libtraceloom.a"), *needs)


def made(path, source, command):
    """Makes a file from another one, unless it exists and is newer."""
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(source):
        subprocess.run(command, check=True)
    return path


def recorded(script, *arguments):
    """Runs a script of this folder that records a missing trace; False if it cannot be recorded here."""
    done = subprocess.run([os.path.join(HERE, script)] + [str(argument) for argument in arguments], check=False)
    if done.returncode not in (0, SKIP):
        raise SystemExit(done.returncode)
    return done.returncode == 0


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def numbers(text):
    """Lines of "name<TAB>number", as the programs of this folder print them."""
    return {name: int(number) for name, number in (line.split("\t") for line in text.splitlines())}


def threads_of(n):
    return "%d thread%s" % (n, "" if n == 1 else "s")


def arguments(doc, folder, repeat, quick, *more):
    """The options that all benchmarks have; of a quick run `repeat` is 2. `more`: (name, settings) of others."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(TOP, "build-bench", folder), help="where logs are kept")
    parser.add_argument("--traceloom", default=os.path.join(TOP, "build", "traceloom"))
    parser.add_argument("--repeat", type=int, default=repeat, help="runs of each command; the best counts")
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--write", action="store_true", help="put the tables into bench/results.md")
    parser.add_argument("--results", default=HERE, help="write into this folder instead of bench/")
    for name, settings in more:
        parser.add_argument(name, **settings)
    args = parser.parse_args()
    args.folder = os.path.abspath(args.folder)
    os.makedirs(args.folder, exist_ok=True)
    args.repeat = min(2, args.repeat) if args.quick else args.repeat
    args.slow = 1 if args.quick else SLOW
    return args


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return "%s, %d processors, %.0f GiB; %s" % (model, os.cpu_count(), memory, platform.system() + " " + platform.release())


def introduction(args):
    return ["Machine: %s. Best of %d runs in turns (of %d where seconds pass), files in the page cache; output goes to /dev/null." % (
        machine(), args.repeat, min(args.slow, args.repeat))]


def seconds_text(seconds):
    """Three or four digits, whatever the magnitude."""
    if seconds < 0.1:
        return "%.1f ms" % (seconds * 1e3)
    return "%.3f s" % seconds if seconds < 10 else "%.1f s" % seconds


def megabytes_text(n):
    return "%.1f MB" % (n / MB) if n < 100 * MB else "%.0f MB" % (n / MB)


def table(rows, size=None, limit=None, unit="event"):
    """The one table of commands. Times are compared with the command of the name `limit`; `count` of a row is in `unit`s."""
    by_hand = next((row.best() for row in rows if row.name == limit), None)
    lines = ["| command | time | processor time | MB a second | ns / %s | times by hand | peak memory | result |" % unit,
             "|---|---:|---:|---:|---:|---:|---:|---|"]
    for row in rows:
        if not row.ok() and row.peak == 0:
            lines.append("| %s | | | | | | | %s |" % (row.name, row.result()))
            continue
        best = row.best()
        lines.append("| %s | %s | %s | %s | %s | %s | %s | %s |" % (
            row.name, seconds_text(best), seconds_text(min(row.cpu)), "%.0f" % (size / MB / best) if size and not row.part else "",
            "%.1f" % (best * 1e9 / row.count) if row.count else "", "%.2f" % (best / by_hand) if by_hand and not row.part else "",
            megabytes_text(row.peak), row.result()))
    return lines


BAR_HEAD = ["| bar | measured | by processor time | demanded | reached |", "|---|---:|---:|---:|---|"]


def bar_line(what, measured, by_work="", demanded="", good=None):
    return "| %s | %s | %s | %s | %s |" % (what, measured, by_work, demanded, "" if good is None else "yes" if good else "NO")


def bars(rows, promises, failing=()):
    """The targets: (what, a command, another one, ">=" or "<=", bound of first / second; no bound: only reported).
    Of `failing` commands the time until they fail counts."""
    best = {row.name: row for row in rows if row.ok() or row.name in failing}
    lines = list(BAR_HEAD)
    for what, first, second, sense, bound in promises:
        text, demanded = "%s: %s / %s" % (what, first, second), "%s %g" % (sense, bound) if bound else ""
        if first not in best or second not in best:
            lines.append(bar_line(text, "not measured", "", demanded, False if bound else None))
            continue
        ratio = best[first].best() / best[second].best()
        work = "" if "2 threads" in first + second else "%.2f" % (min(best[first].cpu) / max(min(best[second].cpu), 1e-6))
        good = None if not bound else ratio >= bound if sense == ">=" else ratio <= bound
        lines.append(bar_line(text, "%.2f" % ratio, work, demanded, good))
    return lines


def may_write(args):
    if args.write and args.quick and args.results == HERE:
        print("not written: a quick run is for a look, not for the record")
        return False
    return args.write


def finish(args, part, lines, wrong=()):
    """Prints, writes on request, and returns the exit status."""
    text = "\n".join(lines)
    print(text, flush=True)
    if may_write(args):
        bench_results.write(args.results, part, text)
    return 1 if wrong else 0
