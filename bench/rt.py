#!/usr/bin/env python3
"""What recording costs, beside LLVM's runtime, uftrace, LTTng and nothing at all; and real programs, wholly instrumented.

    rt.py [--folder DIR] [--repeat N] [--write] [--quick] [--only TEXT] [--no-real]

Builds rt_call.c in many ways, runs all of them in turns, N times, and keeps the best time of each, so that a slow moment
of the machine hits everybody. Then lua and zlib of Debian's sources (rt_real.py). --write puts the tables into
bench/results.md."""
import glob
import os
import shutil
import subprocess
import sys

import bench_results
import growth_tables
import rt_real
from bench_tools import HERE, TOP, arguments, bar_line, finish, machine, may_write

CALLS, INSIDE = 300000, 12          # calls of a repetition, repetitions of a process: a ring is full before the last
SLEDS = ["-fxray-instrument", "-fxray-instruction-threshold=1"]
LIMIT, PLAIN, UNPATCHED = "two reads of the counter", "not instrumented", "own sleds, not patched"
FDR, PROFILE = "own sleds, fdr, ring of 16 MiB", "own sleds, profile"
LLVM_FDR, LLVM_PROFILE = "LLVM 19, FDR, no threshold", "LLVM 19, profiling"
UFTRACE = "uftrace, -finstrument-functions"
PEERS = ("LLVM 14, FDR, no threshold", LLVM_FDR, "uftrace", "LTTng")       # these record every call
# The targets: (what, ours, theirs, factor): ours <= factor * theirs, in a leaf function and in a tree of calls.
BARS = [
    ("fdr: at most 1.4 times two reads of the counter", FDR, LIMIT, 1.4),
    ("profile: at most 1.4 times two reads of the counter", PROFILE, LIMIT, 1.4),
    ("fdr: a third of LLVM 19's", FDR, LLVM_FDR, 1 / 3),
    ("profile: a third of LLVM 19's", PROFILE, LLVM_PROFILE, 1 / 3),
    ("fdr: a third of uftrace's", FDR, UFTRACE, 1 / 3),
    ("sleds that are not patched: within 2 %", UNPATCHED, PLAIN, 1.02),
]
RATIO, SMALL = 1000, 16384          # a profile has at most 1/RATIO of the log's bytes, or is small anyway
SCALING = 1.1                       # factor by which each of two threads may be slower than one alone


class Row:
    """A way to record. `command` precedes the program; `settings` is the value of TRACELOOM."""

    def __init__(self, name, program, settings=None, command=(), env=None, clean=()):
        self.name, self.program, self.settings, self.command = name, program, settings, list(command)
        self.env, self.clean = env or {}, list(clean)
        self.best, self.failed = {}, None

    def run(self, what, place, threads=1):
        """ns for each call; removes what was written."""
        env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_"))}
        env.update(self.env)
        if self.settings is not None:
            env["TRACELOOM"] = "%s:out=%s" % (self.settings, os.path.join(place, "recording"))
        done = subprocess.run(self.command + [self.program, what, str(CALLS), str(INSIDE), str(threads)], cwd=place, env=env,
                              capture_output=True, text=True)
        self.take(what, threads, place, done.returncode, done.stdout, done.stderr)

    def take(self, what, threads, place, status, text, errors):
        """What one run printed."""
        for path in os.listdir(place):
            path = os.path.join(place, path)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        if status or not text.strip():
            self.failed = "status %d: %s" % (status, (errors.strip().splitlines() or ["no output"])[-1])
            return
        key = (what, threads)
        ns = float(text.split()[-1])
        self.best[key] = min(ns, self.best.get(key, ns))

    def get(self, what, threads=1):
        return self.best.get((what, threads))


class Builder:
    def __init__(self, args):
        built = os.path.dirname(os.path.abspath(args.traceloom))
        self.folder = args.folder
        self.library = os.path.join(built, "libtraceloom-rt.a")
        self.start = os.path.join(built, "libtraceloom-rt-start.a")

    def sleds(self, version):
        """Compiler flags, and libraries."""
        no_runtime = "-fnoxray-link-deps" if version == "14" else "-fno-xray-link-deps"
        return SLEDS + [no_runtime], ["-Wl,-u,tl_rt_object_register", "-Wl,-u,tl_rt_life", "-Wl,--whole-archive", self.start,
                                      "-Wl,--no-whole-archive", self.library, "-lpthread"]

    def functions(self):
        return ["-finstrument-functions"], ["-Wl,-u,__cyg_profile_func_enter", self.library, "-lpthread"]

    def __call__(self, name, compiler, flags=(), link=("-lpthread",)):
        """The path of rt_call.c as a program; None without the compiler."""
        if not shutil.which(compiler):
            return None
        path = os.path.join(self.folder, "call-" + name)
        done = subprocess.run([compiler, "-O2", "-D_GNU_SOURCE"] + list(flags) + [os.path.join(HERE, "rt_call.c"), "-o", path] + list(link),
                              capture_output=True, text=True)
        if done.returncode:
            print("rt.py: %s was not built: %s" % (name, done.stderr.strip().splitlines()[-1]))
            return None
        return path


def own_rows(build):
    sleds, link = build.sleds("19")
    traced = build("sleds19", "clang-19", sleds, link)
    plain = build("plain", "clang-19")
    modes = [("fdr, ring of 16 MiB", "mode=fdr:ring=16M"), ("fdr, all", "mode=fdr:ring=all"), ("fdr, threshold of 5 us", "mode=fdr:threshold=5us"),
             ("profile", "mode=profile"), ("fdr and profile", "mode=fdr,profile:ring=16M"), ("ctf", "mode=ctf")]
    rows = [Row(LIMIT, plain), Row(PLAIN, plain), Row(UNPATCHED, traced), Row("own sleds, waiting for a command", traced, "mode=fdr:start=off")]
    rows += [Row("own sleds, " + name, traced, settings) for name, settings in modes]
    older = build("sleds14", "clang-14", *build.sleds("14"))
    rows += [Row("own sleds of clang 14, " + name, older, settings) for name, settings in (modes[0], modes[3])]
    flags, link = build.functions()
    hooks = build("functions", "gcc", flags, link)
    rows += [Row("-finstrument-functions, empty hooks", build("empty", "gcc", flags + ["-DEMPTY_HOOKS"])),
             Row("-finstrument-functions, nothing recorded", hooks)]
    rows += [Row("-finstrument-functions, " + name, hooks, settings) for name, settings in (modes[0], modes[3])]
    for version in ("14", "19"):
        own_mode = build("llvm-own" + version, "clang-" + version, SLEDS, ["-Wl,--whole-archive", build.library, "-Wl,--no-whole-archive", "-lpthread"])
        for mode, settings in (("traceloom-fdr", modes[0][1]), ("traceloom-profile", modes[3][1])):
            rows.append(Row("LLVM %s's runtime, %s" % (version, mode), own_mode, settings,
                            env={"XRAY_OPTIONS": "patch_premain=true xray_mode=" + mode}))
    return rows


def llvm_rows(build):
    rows = []
    for version in ("14", "19"):
        for name, mode, options in (("FDR, no threshold", "xray-fdr", "func_duration_threshold_us=0"),
                                    ("FDR, threshold of 5 us", "xray-fdr", "func_duration_threshold_us=5"),
                                    ("profiling", "xray-profiling", "no_flush=true")):
            flags = SLEDS + ["-DLLVM_MODE=\"%s\"" % mode, "-DLLVM_OPTIONS=\"%s\"" % options]
            program = build("%s-%s-%d" % (mode, version, len(rows)), "clang-" + version, flags,
                            ["-fxray-instrument", "-fxray-modes=xray-fdr,xray-profiling", "-lpthread", "-lstdc++", "-lm"])
            rows.append(Row("LLVM %s, %s" % (version, name), program))
    return rows


def other_rows(build, folder):
    rows = []
    if shutil.which("uftrace"):
        uftrace = ["uftrace", "record", "--no-pager", "--no-libcall", "-d", "data"]
        rows += [Row(UFTRACE, build("uftrace", "gcc", ["-finstrument-functions"]), command=uftrace),
                 Row("uftrace, -pg", build("pg", "gcc", ["-pg"]), command=uftrace)]
    for kind in ("-fast", ""):
        preload = glob.glob("/usr/lib/*/liblttng-ust-cyg-profile%s.so" % kind)
        if preload and shutil.which("lttng-sessiond"):
            program = build("lttng", "gcc", ["-finstrument-functions", "-rdynamic"])
            rows.append(Row("LTTng-UST, cyg-profile" + kind, program, command=[
                os.path.join(TOP, "tools", "with-lttng.sh"), os.path.join(folder, "lttng"), os.path.join(HERE, "rt_lttng.sh"), preload[0]]))
    return [row for row in rows if row.program]


def prepare(args):
    build = Builder(args)
    for path in (build.library, build.start):
        if not os.path.exists(path):
            sys.exit("rt.py: no %s: the recorder is not built" % path)
    rows = own_rows(build) + llvm_rows(build) + other_rows(build, args.folder)
    rows = [row for row in rows if row.program]
    if args.only:
        rows = [row for row in rows if args.only in row.name or row.name in (LIMIT, PLAIN)]
    return build, rows


def measure(rows, repeat, place, two=True):
    """`two`: with two threads, too."""
    for turn in range(repeat):
        for row in rows:
            slow = row.command and turn >= 3
            if row.failed or slow:
                continue
            if row.name == LIMIT:
                row.run("clock", place)
                if two:
                    row.run("clock", place, 2)
                row.best.update({("leaf", n): row.get("clock", n) for n in (1, 2)})
                row.best["tree", 1] = row.get("clock")
                continue
            row.run("leaf", place)
            row.run("tree", place)
            if two and not row.command:
                row.run("leaf", place, 2)


def table(rows):
    limit = next(row for row in rows if row.name == LIMIT).get("leaf")
    lines = ["| ns a call | leaf function | tree of calls | of two reads of the counter | two threads, leaf function |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        if row.failed:
            lines.append("| %s | | | | FAILS, %s |" % (row.name, row.failed))
            continue
        cells = ["%.2f" % ns if ns is not None else "" for ns in (row.get("leaf"), row.get("tree"))]
        two = row.get("leaf", 2)
        lines.append("| %s | %s | %s | %.2f | %s |" % (row.name, cells[0], cells[1], row.get("leaf") / limit, "%.2f" % two if two else ""))
    return lines


def bars(rows):
    found = {row.name: row for row in rows if not row.failed}
    lines = ["| bar | leaf function | tree of calls | demanded | reached |", "|---|---:|---:|---:|---|"]
    for what, ours, theirs, factor in BARS:
        if ours not in found or theirs not in found:
            lines.append(bar_line(what, "not measured", good=False))
            continue
        ratios = [found[ours].get(kind) / found[theirs].get(kind) for kind in ("leaf", "tree")]
        lines.append(bar_line(what, "%.3f" % ratios[0], "%.3f" % ratios[1], "<= %.3f" % factor, all(ratio <= factor for ratio in ratios)))
    for name in (FDR, PROFILE):
        if name in found and found[name].get("leaf", 2):
            ratio, base = (row.get("leaf", 2) / row.get("leaf") for row in (found[name], found[LIMIT]))
            most = SCALING * max(1, base)
            lines.append(bar_line("two threads beside one: %s; the reads alone %.2f" % (name, base), "%.2f" % ratio, "", "<= %.2f" % most, ratio <= most))
    return lines


def summary_row(rows):
    """The row of the summary, with the cells of growth_tables.summary_row()."""
    found = {row.name: row for row in rows if not row.failed}
    one, limit = found[FDR], found[LIMIT].get("leaf")
    peers = [row for name, row in found.items() if name.startswith(PEERS)]
    peer = min(peers, key=lambda row: row.get("leaf")) if peers else None
    return ["recording", "a call and its return, every one with its times", "", "%.1f ns" % one.get("leaf"), "%.1f ns" % one.get("leaf", 2),
            "%s: %.1f ns" % (peer.name, peer.get("leaf")) if peer else "none", "%s: %.1f ns" % (LIMIT, limit), "", "%.2f" % (one.get("leaf") / limit),
            "%.2f" % (peer.get("leaf") / one.get("leaf")) if peer else "", "", "", "", ""]


def real(args, build):
    """The tables of real programs, and their problems; nothing if their sources are unavailable."""
    done = rt_real.measure(args.traceloom, args.folder, HERE, "clang-19", build.sleds("19"), max(3, args.repeat // 3))
    if not done:
        return [], []
    wrong = [text for job in done for text in job.wrong]
    wrong += ["A PROFILE IS LARGER THAN 1/%d OF THE LOG: %s" % (RATIO, job.what)
              for job in done if job.profile * RATIO > job.log and job.profile > SMALL]
    plain, sleds = (rt_real.WAYS[i][0] for i in (0, 1))
    longest = max(done, key=lambda job: job.calls)
    ratio = longest.seconds[sleds] / longest.seconds[plain]
    lines = ["", "### Recording: real programs, every function, nothing left out", ""] + rt_real.tables(done)
    lines += ["", "Sleds that are not patched, in the program of most calls: %.3f of the time without; demanded <= 1.02" % ratio, ""]
    return lines + (wrong or ["The programs print the same, recorded or not; log and profile of one run say the same of every function: "
                              "calls, times and histograms."]), wrong


def main():
    args = arguments(__doc__, "rt", 15, "twice, without the real programs", ("--only", {"help": "rows with this in their name"}),
                     ("--no-real", {"action": "store_true"}))
    place = os.path.join(args.folder, "place")
    os.makedirs(place, exist_ok=True)
    build, rows = prepare(args)
    measure(rows, args.repeat, place)
    lines = ["Machine: %s. Best of %d runs in turns of %d repetitions of %d calls each." % (machine(), args.repeat, INSIDE, CALLS), "",
             "### Recording: what a call costs", "", "Enter and exit together, with the call itself. The tree is fib.", ""]
    lines += table(rows) + [""] + bars(rows)
    wrong = []
    if not args.no_real and not args.quick:
        more, wrong = real(args, build)
        lines += more
    if may_write(args) and not args.only:
        everything = dict(bench_results.read_growth(args.results), rt={"row": summary_row(rows)})
        bench_results.write_growth(args.results, everything)
        bench_results.write(args.results, "summary", "\n".join(growth_tables.summary_lines(everything)))
    return finish(args, "rt", lines, wrong)


if __name__ == "__main__":
    sys.exit(main())
