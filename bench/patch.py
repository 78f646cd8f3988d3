#!/usr/bin/env python3
"""What it costs to record programs by patching them while they run, beside sleds that the compiler put there, uftrace -P,
and nothing at all; what their start costs; how many of their functions are patched.

    patch.py [--folder DIR] [--repeat N] [--write] [--quick] [--only PART]

Parts: calls (rt_call.c), lua (Debian's sources, and Debian's own program), start, shares. Everything runs in turns, N times,
and the best counts. x86-64 only. --write puts the tables into bench/results.md."""
import os
import platform
import resource
import shutil
import subprocess
import sys
import time

import bench_results
import patch_objects
import rt
import rt_real
from bench_tools import BAR_HEAD, HERE, arguments, bar_line, build, machine, may_write

PARTS = ("calls", "lua", "start", "shares")
SLEDS, PATCHED = "sleds", "patched"
FDR, PROFILE = "mode=fdr:ring=16M", "mode=profile"
UFTRACE = "uftrace -P., the same program of gcc"
SCALE = 4                                # of rt_work.lua: 12 million calls
LUA_SEEDS = 1e-4                         # Lua seeds its hashes by addresses and the time: two runs differ by as much
OFF = "patched, start=off"
STOPPED = "patched, recorded, then `ctl stop`"
# (what, kinds of call, row, row it is compared with, sense, factor)
BARS = [
    ("profile: patched / sleds, clang", ("leaf", "tree"), "patched, clang, profile", "sleds, clang, profile", "<=", 1.10),
    ("fdr: patched / sleds, clang", ("leaf", "tree"), "patched, clang, fdr", "sleds, clang, fdr", "<=", 1.10),
    ("profile: patched, gcc / sleds, clang", ("leaf", "tree"), "patched, gcc, profile", "sleds, clang, profile", "<=", 1.10),
    ("fdr: patched, gcc / sleds, clang", ("leaf", "tree"), "patched, gcc, fdr", "sleds, clang, fdr", "<=", 1.10),
    ("uftrace -P / patched, gcc, profile", ("tree",), UFTRACE, "patched, gcc, profile", ">=", 4),
    ("start=off / untouched, clang", ("leaf", "tree"), OFF, "untouched, clang, waits", "<=", 1.01),
    ("taken back / untouched, clang", ("leaf", "tree"), STOPPED, "untouched, clang, waits", "<=", 1.01),
]


class Waiting(rt.Row):
    """Recording is stopped from outside before the calls begin; without settings there is nothing to stop."""

    def __init__(self, name, program, traceloom, settings=None, env=None, stop=True):
        super().__init__(name, program, settings, env=env)
        self.traceloom, self.stop = traceloom, stop

    def run(self, what, place, threads=1):
        env = dict(os.environ, **self.env)
        if self.settings is not None:
            env["TRACELOOM"] = "%s:out=%s" % (self.settings, os.path.join(place, "recording"))
        command = [self.program, what, str(rt.CALLS), str(rt.INSIDE), str(threads), "wait"]
        with subprocess.Popen(command, cwd=place, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as done:
            trouble = stop_recording(self.traceloom, done.pid) if self.settings is not None and self.stop else None
            text, errors = done.communicate()
        self.take(what, threads, place, done.returncode, text, trouble or errors)


def stop_recording(traceloom, pid):
    """None, or why it cannot be stopped. The process may not have begun."""
    for _ in range(200):
        asked = subprocess.run([traceloom, "ctl", str(pid), "stop"], capture_output=True, text=True)
        if asked.returncode == 0:
            return None
        time.sleep(0.02)
    return asked.stderr


# ---- a call ----

def call_rows(args, library):
    builder = rt.Builder(args)
    preload = {"LD_PRELOAD": library}
    sleds = builder("sleds19", "clang-19", *builder.sleds("19"))
    clang, gcc = builder("plain", "clang-19"), builder("plain-gcc", "gcc", link=("-lpthread",))
    rows = [rt.Row(rt.LIMIT, clang), rt.Row("untouched, clang", clang), rt.Row("untouched, gcc", gcc)]
    for mode, settings in (("profile", PROFILE), ("fdr", FDR)):
        rows += [rt.Row("sleds, clang, " + mode, sleds, settings),
                 rt.Row("patched, clang, " + mode, clang, "patch=on:" + settings, env=preload),
                 rt.Row("patched, gcc, " + mode, gcc, "patch=on:" + settings, env=preload)]
    rows += [Waiting("untouched, clang, waits", clang, args.traceloom),
             Waiting(OFF, clang, args.traceloom, "patch=on:start=off:" + PROFILE, preload, stop=False),
             Waiting(STOPPED, clang, args.traceloom, "patch=on:" + PROFILE, preload)]
    if shutil.which("uftrace"):
        rows.append(rt.Row(UFTRACE, gcc, command=["uftrace", "record", "--no-pager", "--no-libcall", "-P.", "-d", "data"]))
    return [row for row in rows if row.program]


def call_bars(rows):
    found = {row.name: row for row in rows if not row.failed}
    lines = ["| bar | leaf function | tree of calls | demanded | reached |", "|---|---:|---:|---:|---|"]
    for what, kinds, one, two, sense, factor in BARS:
        if one not in found or two not in found:
            lines.append(bar_line(what, "not measured", good=False))
            continue
        ratios = [found[one].get(kind) / found[two].get(kind) for kind in kinds]
        good = all(ratio <= factor if sense == "<=" else ratio >= factor for ratio in ratios)
        cells = dict(zip(kinds, ("%.3f" % ratio for ratio in ratios)))
        lines.append(bar_line(what, cells.get("leaf", ""), cells.get("tree", ""), "%s %.2f" % (sense, factor), good))
    return lines


def calls(args, library):
    place = os.path.join(args.folder, "place")
    os.makedirs(place, exist_ok=True)
    rows = call_rows(args, library)
    rt.measure(rows, args.repeat, place, two=False)
    lines = ["### Patched programs: what a call costs", "",
             "Enter and exit together, with the call itself. The tree is fib. Sleds are in the program of the same compiler and the same flags.", ""]
    return lines + rt.table(rows) + [""] + call_bars(rows), []


# ---- lua ----

def processor_time(pid):
    """Seconds of its first thread."""
    with open("/proc/%d/schedstat" % pid, encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def children_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Way:
    """A way to run lua. Seconds are those of the whole process, from the end of what it waits for."""

    def __init__(self, name, program, settings=None, env=None, command=(), stop=False):
        self.name, self.program, self.settings, self.env = name, program, settings, env or {}
        self.command, self.stop = list(command), stop
        self.seconds, self.work, self.calls, self.wrong, self.output = [], [], None, None, None

    def run(self, args, place):
        base = os.path.join(place, "lua")
        env = {key: value for key, value in os.environ.items() if not key.startswith("TRACELOOM")}
        env.update(self.env)
        if self.settings is not None:
            env["TRACELOOM"] = "%s:out=%s" % (self.settings, base)
        command = self.command + [self.program, "-e", "io.read('a')", os.path.join(HERE, "programs", "rt_work.lua"), str(SCALE)]
        with subprocess.Popen(command, cwd=place, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as done:
            trouble = stop_recording(args.traceloom, done.pid) if self.stop else None
            time.sleep(1 if self.command else 0.2)   # then it waits for its input
            before, begin, work = 0 if self.command else processor_time(done.pid), time.monotonic(), children_time()
            text, errors = done.communicate()
            self.seconds.append(time.monotonic() - begin)
            self.work.append(children_time() - work - before)
        if done.returncode or trouble:
            self.wrong = "status %d: %s" % (done.returncode, (trouble or errors)[-200:])
        self.output = text
        if os.path.exists(base + ".tlp"):
            table = rt_real.asked(args.traceloom, "func", base + ".tlp")
            self.calls = sum(f["calls"] for f in table["functions"])
        for path in os.listdir(place):
            path = os.path.join(place, path)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def lua_ways(args, library):
    sources = rt_real.fetch(args.folder)
    if sources is None:
        return []
    builder, preload = rt.Builder(args), {"LD_PRELOAD": library}
    source, sleds = sources["lua5.4"], builder.sleds("19")

    def made(name, compiler, flags=(), link=("-lpthread",)):
        return rt_real.build("lua5.4", source, os.path.join(args.folder, name), compiler, list(flags), list(link))

    clang, gcc, traced = made("lua-clang", "clang-19"), made("lua-gcc", "gcc"), made("lua-sleds", "clang-19", *sleds)
    ways = [Way("untouched, clang", clang), Way("sleds, clang, profile", traced, PROFILE), Way("patched, clang, profile", clang, "patch=on:" + PROFILE, preload),
            Way("sleds, clang, fdr", traced, FDR), Way("patched, clang, fdr", clang, "patch=on:" + FDR, preload),
            Way(OFF, clang, "patch=on:start=off:" + PROFILE, preload), Way(STOPPED, clang, "patch=on:" + PROFILE, preload, stop=True),
            Way("untouched, gcc", gcc), Way("patched, gcc, profile", gcc, "patch=on:" + PROFILE, preload)]
    if os.path.exists("/usr/bin/lua5.4"):
        ways += [Way("untouched, Debian's own", "/usr/bin/lua5.4"), Way("patched, Debian's own, profile", "/usr/bin/lua5.4", "patch=on:" + PROFILE, preload)]
    if shutil.which("uftrace"):
        ways.append(Way(UFTRACE, gcc, command=["uftrace", "record", "--no-pager", "--no-libcall", "-P.", "-d", "data"]))
    return ways


def lua_bars(ways):
    found = {way.name: way for way in ways if way.seconds and not way.wrong}
    lines = list(BAR_HEAD)
    bars = [("lua, profile: patched / sleds, clang", "patched, clang, profile", "sleds, clang, profile", "<=", 1.15),
            ("lua, fdr: patched / sleds, clang", "patched, clang, fdr", "sleds, clang, fdr", "<=", 1.15),
            ("lua: uftrace -P / patched, gcc, profile", UFTRACE, "patched, gcc, profile", ">=", 4),
            ("lua: start=off / untouched", OFF, "untouched, clang", "<=", 1.01), ("lua: taken back / untouched", STOPPED, "untouched, clang", "<=", 1.01)]
    for what, one, two, sense, factor in bars:
        if one not in found or two not in found:
            lines.append(bar_line(what, "not measured", good=False))
            continue
        ratio, work = (min(getattr(found[one], of)) / min(getattr(found[two], of)) for of in ("seconds", "work"))
        lines.append(bar_line(what, "%.3f" % ratio, "%.3f" % work, "%s %.2f" % (sense, factor), ratio <= factor if sense == "<=" else ratio >= factor))
    one, two = found.get("patched, clang, profile"), found.get("sleds, clang, profile")
    if one and two and one.calls and two.calls:
        far = abs(one.calls - two.calls) / two.calls
        lines.append(bar_line("lua: calls counted, patched beside sleds: difference of %d" % (one.calls - two.calls), "%.7f" % far, "", "<= %g" % LUA_SEEDS, far <= LUA_SEEDS))
    return lines


def lua(args, library):
    ways = lua_ways(args, library)
    if not ways:
        return [], []
    place = os.path.join(args.folder, "lua-place")
    os.makedirs(place, exist_ok=True)
    for turn in range(args.repeat):
        for way in ways:
            if not way.wrong and (turn < 2 or not way.command):
                way.run(args, place)
    plain = {kind: min(way.seconds) for way in ways for kind in ("clang", "gcc", "Debian") if way.name.startswith("untouched, " + kind)}
    calls_of = next((way.calls for way in ways if way.name == "patched, clang, profile"), None)
    lines = ["### Patched programs: lua", "", "rt_work.lua %d. Seconds of the whole run but for the start, which has a table of its own." % SCALE, "",
             "| way | seconds | of the untouched program | ns more for each call | calls counted |", "|---|---:|---:|---:|---:|"]
    for way in ways:
        kind = "gcc" if "gcc" in way.name else "Debian" if "Debian" in way.name else "clang"
        if way.wrong:
            lines.append("| %s | | | | FAILS, %s |" % (way.name, " ".join(way.wrong.split())))
            continue
        best = min(way.seconds)
        count = calls_of if way.stop else way.calls or calls_of
        lines.append("| %s | %.3f | %.3f | %s | %s |" % (way.name, best, best / plain[kind], "%.1f" % ((best - plain[kind]) * 1e9 / count) if count else "", way.calls or ""))
    outputs = {way.output for way in ways if not way.wrong}
    wrong = ["LUA PRINTS SOMETHING ELSE WHEN IT IS RECORDED"] if len(outputs) > 1 else []
    return lines + [""] + lua_bars(ways) + [""] + (wrong or ["lua prints the same, recorded or not."]), wrong


# ---- start, memory, shares ----

def start(args, library):
    done = patch_objects.measure_starts(args, library, build(args.folder, "until_entry"))
    return patch_objects.start_tables(done), []


def shares(args, library):
    return patch_objects.share_tables(patch_objects.look(args, library, build(args.folder, "until_entry"))), []


def main():
    args = arguments(__doc__, "rt", 5, "twice", ("--only", {"choices": PARTS, "help": "this part only"}))
    library = os.path.join(os.path.dirname(os.path.abspath(args.traceloom)), "libtraceloom-rt.so.0")
    if platform.machine() != "x86_64" or not os.path.exists(library):
        print("patch.py: left out: not x86-64, or no " + library)
        return 0
    lines, wrong = ["Machine: %s. Best of %d runs in turns; %d repetitions of %d calls each." % (machine(), args.repeat, rt.INSIDE, rt.CALLS), ""], []
    print(lines[0], flush=True)
    for name, part in zip(PARTS, (calls, lua, start, shares)):
        if args.only not in (None, name):
            continue
        more, bad = part(args, library)
        print("\n" + "\n".join(more), flush=True)
        lines += more + [""]
        wrong += bad
    if may_write(args) and not args.only:
        bench_results.write(args.results, "patch", "\n".join(lines))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
