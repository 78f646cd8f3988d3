#!/usr/bin/env python3
"""Runs every fuzz target with libFuzzer and with AFL++, one process at a time, until coverage no longer grows:

    campaign.py --libfuzzer BUILD [--afl BUILD] --out FOLDER [--seconds N] [--still N] [--most N] [--targets a,b] [--results FILE]

Each target and engine gets at least --seconds (1800), then goes on until --still seconds (600) have brought no new edge,
at most --most (four times --seconds). What one engine found is where the other begins. After each of them the table in
FOLDER/table.md is brought up to date, and that in the file --results, such as results.md beside this script: engines
count edges in their own way, so compare them only with themselves. Findings lie in FOLDER. The exit status is 1 if
there are any, or if a target did not run."""
import argparse
import fcntl
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Targets whose inputs hold several languages, or that of another target.
DICTIONARIES = {"ctf": ["tsdl", "ctf_json"], "any": ["tracelog"], "xtrace_set": ["xtrace"], "fdr": ["recording"], "live": ["recording"]}
RSS_MB, INPUT_SECONDS, RESTARTS = 256, 10, 5


def input_bytes(target):
    """Most bytes of an input, as fuzz/run.sh takes them, too."""
    with open(os.path.join(HERE, "sizes.txt"), encoding="ascii") as file:
        known = dict(line.split() for line in file if not line.startswith("#"))
    return int(known.get(target, 16384))


def cpu_of_children():
    """Of those that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Run:
    """What is known of one target and engine: edges over time, executions, findings, memory."""

    def __init__(self, target, engine):
        self.target, self.engine = target, engine
        self.begin, self.end = time.monotonic(), None
        self.cpu_before, self.cpu = cpu_of_children(), 0            # seconds; the latter once it has ended
        self.edges = []                                             # (seconds, edges), growing
        self.executions, self.rss, self.findings = 0, 0, 0

    def seconds(self):
        return (self.end or time.monotonic()) - self.begin

    def ends(self):
        self.end = time.monotonic()
        self.cpu = max(self.cpu, cpu_of_children() - self.cpu_before)
        return self

    def saw(self, edges):
        if not self.edges or edges > self.edges[-1][1]:
            self.edges.append((self.seconds(), edges))

    def edges_at(self, seconds):
        return max((n for at, n in self.edges if at <= seconds), default=0)

    def is_over(self, a):
        still = self.seconds() - (self.edges[-1][0] if self.edges else 0)
        return self.seconds() >= a.most or (self.seconds() >= a.seconds and still >= a.still)

    def row(self):
        last = self.edges[-1] if self.edges else (0, 0)
        return "| %s | %s | %.1f | %.1f | %d | %d | %d | %.1f | %d | %d |" % (
            self.target, self.engine, self.seconds() / 60, self.cpu / 60, self.executions, last[1], self.edges_at(self.seconds() / 2), last[0] / 60,
            self.findings, self.rss)


HEAD = ["target", "engine", "minutes", "CPU minutes", "executions", "edges", "at half time", "last new one, minute", "findings", "peak RSS, MiB"]


def write_table(runs, path):
    """Puts the rows into the table at the end of a file, in the place of those of the same target and engine."""
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)                              # several campaigns may share the file
    head, rows = "", {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            head, _, table = file.read().partition("| " + HEAD[0])
        rows = {tuple(line.split(" | ")[:2]): line for line in table.splitlines()[2:]}
    rows.update({tuple(run.row().split(" | ")[:2]): run.row() for run in runs})
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("%s| %s |\n|%s\n" % (head, " | ".join(HEAD), "---|" * len(HEAD)))
        file.write("".join(rows[key] + "\n" for key in sorted(rows)))
    os.rename(path + ".new", path)
    os.close(folder)


def dictionary(target, out):
    """One file of all dictionaries of a target; None: it has none."""
    files = [os.path.join(HERE, name + ".dict") for name in DICTIONARIES.get(target, [target])]
    text = "".join(open(name, encoding="utf-8").read() for name in files if os.path.exists(name))
    if not text:
        return None
    path = os.path.join(out, target + ".dict")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


# ---------------------------------------------------------------------------------------------------------- libFuzzer

def watch(run, stream, log):
    """Reads numbers from libFuzzer's output."""
    for line in stream:
        log.write(line)
        found = re.match(r"#(\d+)\t.* cov: (\d+) .*rss: (\d+)Mb", line)
        if found:
            run.saw(int(found.group(2)))
            run.rss = max(run.rss, int(found.group(3)))
        found = re.match(r"stat::(\w+):\s+(\d+)", line)
        if found and found.group(1) == "number_of_executed_units":
            run.executions += int(found.group(2))
        if found and found.group(1) == "peak_rss_mb":
            run.rss = max(run.rss, int(found.group(2)))


def run_libfuzzer(target, a):
    run = Run(target, "libFuzzer")
    found, seeds = os.path.join(a.out, "found", target), os.path.join(HERE, "corpus", target)
    os.makedirs(found, exist_ok=True)
    words = dictionary(target, a.out)
    command = [os.path.join(a.libfuzzer, "fuzz", "fuzz_" + target), "-rss_limit_mb=%d" % RSS_MB, "-timeout=%d" % INPUT_SECONDS,
               "-max_len=%d" % input_bytes(target), "-print_final_stats=1", "-reload=0", "-artifact_prefix=%s/finding-%s-" % (a.out, target)]
    command += (["-dict=" + words] if words else []) + [found] + ([seeds] if os.path.isdir(seeds) else [])
    environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=16:" + os.environ.get("ASAN_OPTIONS", ""))
    with open(os.path.join(a.out, target + ".libfuzzer.log"), "w", encoding="utf-8", errors="replace") as log:
        while run.findings < RESTARTS and not run.is_over(a):
            # The target's own output is ignored; it may fill a pipe.
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", env=environment)
            reader = threading.Thread(target=watch, args=(run, process.stderr, log))
            reader.start()
            while process.poll() is None and not run.is_over(a):
                time.sleep(1)
            stopped = process.poll() is None
            if stopped:
                process.send_signal(signal.SIGINT)
            process.wait()
            reader.join()
            run.findings += 0 if stopped or process.returncode == 0 else 1
    return run.ends()


# -------------------------------------------------------------------------------------------------------------- AFL++

def begin_with(target, a):
    """The folder that AFL++ begins with: seeds, and what libFuzzer found; at least one file."""
    folder = os.path.join(a.out, "begin", target)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for source in (os.path.join(HERE, "corpus", target), os.path.join(a.out, "found", target)):
        for path in sorted(glob.glob(os.path.join(source, "*"))):
            if 0 < os.path.getsize(path) <= input_bytes(target):
                shutil.copy(path, folder)
    if not os.listdir(folder):
        with open(os.path.join(folder, "nothing"), "wb") as file:
            file.write(b"\0" * 16)
    return folder


def look_at_afl(run, state):
    """Takes numbers out of the files in which afl-fuzz keeps its state."""
    try:
        with open(os.path.join(state, "plot_data"), encoding="ascii") as file:
            lines = file.read().splitlines()
        names = [name.strip() for name in lines[0].lstrip("# ").split(",")]
        for line in lines[1:]:
            run.saw(int(line.split(",")[names.index("edges_found")]))
        with open(os.path.join(state, "fuzzer_stats"), encoding="ascii") as file:
            stats = dict(re.findall(r"^(\w+) *: (.*)$", file.read(), re.M))
        run.executions = int(stats["execs_done"])
        run.findings = int(stats["saved_crashes"]) + int(stats["saved_hangs"])
    except (OSError, IndexError, ValueError, KeyError):
        pass                                                        # not written yet, or just being written


def look_below(pid):
    """The largest peak memory, in MiB, of the processes that this one has started, and the processor time of it and them,
    in seconds: afl-fuzz reports neither, and does not wait for its children when it ends."""
    most, seconds = 0, 0
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            ticks = file.read().rpartition(") ")[2].split()[11:15]  # its own, and of those that it waited for
        seconds = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            for child in map(int, file.read().split()):
                with open("/proc/%d/status" % child, encoding="utf-8") as status:
                    peak = re.search(r"^VmHWM:\s+(\d+)", status.read(), re.M)
                below, used = look_below(child)
                most, seconds = max(most, int(peak.group(1)) >> 10 if peak else 0, below), seconds + used
    except OSError:
        pass                                                        # it has just ended
    return most, seconds


def run_afl(target, a):
    run = Run(target, "AFL++")
    out, words = os.path.join(a.out, "afl", target), dictionary(target, a.out)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(os.path.dirname(out), exist_ok=True)
    environment = dict(os.environ, AFL_NO_UI="1", AFL_SKIP_CPUFREQ="1", AFL_NO_AFFINITY="1", AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES="1",
                       AFL_FORKSRV_INIT_TMOUT="60000",
                       ASAN_OPTIONS="abort_on_error=1:symbolize=0:detect_leaks=0:quarantine_size_mb=16:hard_rss_limit_mb=%d" % (2 * RSS_MB),
                       UBSAN_OPTIONS="abort_on_error=1:symbolize=0:halt_on_error=1")
    command = ["afl-fuzz", "-i", begin_with(target, a), "-o", out, "-m", "none", "-t", "%d" % (INPUT_SECONDS * 1000), "-G", str(input_bytes(target))]
    command += (["-x", words] if words else []) + ["--", os.path.join(a.afl, "fuzz", "fuzz_" + target)]
    with open(os.path.join(a.out, target + ".afl.log"), "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        while process.poll() is None and not run.is_over(a):
            time.sleep(2)
            look_at_afl(run, os.path.join(out, "default"))
            peak, seconds = look_below(process.pid)
            run.rss, run.cpu = max(run.rss, peak), max(run.cpu, seconds)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()
    run.ends()
    look_at_afl(run, os.path.join(out, "default"))
    os.makedirs(os.path.join(a.out, "found", target), exist_ok=True)
    for path in glob.glob(os.path.join(out, "default", "queue", "id:*")):
        if "orig:" not in path:                                     # for libFuzzer to go on from
            shutil.copy(path, os.path.join(a.out, "found", target, "afl-" + re.sub(r"\W+", "-", os.path.basename(path))[:60]))
    return run


# --------------------------------------------------------------------------------------------------------------- main

def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--libfuzzer")
    p.add_argument("--afl")
    p.add_argument("--out", required=True)
    p.add_argument("--seconds", type=int, default=1800)
    p.add_argument("--still", type=int, default=600)
    p.add_argument("--most", type=int, default=0)
    p.add_argument("--targets", default="")
    p.add_argument("--results", help="another file with such a table, to bring up to date")
    a = p.parse_args()
    a.most = a.most or 4 * a.seconds
    os.makedirs(a.out, exist_ok=True)
    return a


def main():
    a = arguments()
    build = a.libfuzzer or a.afl or sys.exit("campaign.py: --libfuzzer or --afl is needed")
    known = sorted(name[5:] for name in os.listdir(os.path.join(build, "fuzz")) if re.fullmatch(r"fuzz_\w+", name))
    targets = a.targets.split(",") if a.targets else known
    if not targets or not set(targets) <= set(known):
        sys.exit("campaign.py: no such targets in %s" % build)
    engines = ([run_libfuzzer] if a.libfuzzer else []) + ([run_afl] if a.afl else [])
    runs = []
    for target in targets:
        for engine in engines:
            runs.append(engine(target, a))
            for path in [os.path.join(a.out, "table.md")] + ([a.results] if a.results else []):
                write_table(runs, path)
            print(runs[-1].row(), flush=True)
    findings = sum(run.findings for run in runs)
    idle = ["%s with %s" % (run.target, run.engine) for run in runs if run.executions == 0]
    if idle:
        sys.exit("campaign.py: did not run, see the logs in %s: %s" % (a.out, ", ".join(idle)))
    print("%d targets, %d findings; the table is %s" % (len(targets), findings, os.path.join(a.out, "table.md")))
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
