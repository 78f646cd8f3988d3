#!/usr/bin/env python3
"""Recorded calls are exactly those that were made: one counting program, one source of hooks, one mode.

    rt_matrix.py PROGRAM HOOK MODE [ARGUMENT...]       a name of rt_build.HOOKS; fdr, profile, fdr,profile or ctf

The program prints the number of calls of each function (count.h). The recording must have exactly these functions,
under their names, with exactly these numbers. With fdr,profile the program's profile must equal the one made of its log:
calls, ticks, and histograms bucket by bucket."""
import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import rt_build
import tlp_reader

SUFFIX = {"fdr": ".xray", "profile": ".tlp", "ctf": ".ctf"}
LLVM_MODE = {"fdr": "traceloom-fdr", "profile": "traceloom-profile"}
MAX_SECONDS = 300
SIGNAL_RUNS = 5
NO_ROOM, FEW = "there is no room for a jump", 2
PARTS = "count_plugin*", "reload_*"       # libraries that the programs open
LINKED = {"net::reader::read(int)": "_ZN3net6reader4readEi"}  # shown by builds without libiberty


def as_shown(name):
    return LINKED[name] if name in LINKED and not harness.built_with("libiberty") else name


class Printed:
    """The program's own numbers."""

    def __init__(self, text):
        self.calls, self.open, self.edges, self.flat = {}, {}, {}, False
        self.others = False               # functions that it does not print are recorded, too
        for words in (line.split() for line in text.splitlines()):
            if words[:1] == ["call"] and int(words[2]):
                self.calls[as_shown(words[1])] = int(words[2])
            elif words[:1] == ["open"]:
                self.open[words[1]] = int(words[2])
            elif words[:1] == ["edge"] and int(words[3]):
                self.edges[as_shown(words[1]), as_shown(words[2])] = int(words[3])
            elif words[:1] == ["flat"]:
                self.flat = True

    def forget(self, checks, names):
        """Functions that are not recorded, a few of those that the program counts."""
        checks.that(len(names & set(self.calls)) <= FEW, "left out:", sorted(names & set(self.calls)))
        self.calls = {name: made for name, made in self.calls.items() if name not in names}
        self.edges = {edge: made for edge, made in self.edges.items() if not names & set(edge)}


def without_room(checks, hook, program):
    """Functions that the dry run has no room for: in programs that are not PIE jumps cannot lead down below address 0."""
    if hook.kind != "patch" or "nopie" not in hook.name:
        return set()
    done = harness.run("record", "--dry-run", "--json", program)
    if not checks.equal(done.status, 0, "status of the dry run", done):
        return set()
    return {row["name"] for row in json.loads(done.out)["left_out"] if (row["what"], row["reason"]) == ("left out", NO_ROOM)}


def environment(hook, mode, out):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("TRACELOOM", "XRAY_"))}
    env["TRACELOOM"] = "mode=%s:out=%s" % (mode, out)
    if hook.kind == "patch":
        env["LD_PRELOAD"] = rt_build.libraries(hook)[0]
        env["TRACELOOM"] += ":patch=on" + "".join(":libs=" + glob for glob in PARTS)
    if hook.kind == "llvm":
        env["XRAY_OPTIONS"] = "patch_premain=true xray_mode=%s" % LLVM_MODE[mode.split(",")[0]]
    return env


def run_program(hook, mode, out, program, arguments):
    env = environment(hook, mode, out)
    command = rt_build.preloaded(hook, [program] + arguments, env)
    where = os.path.dirname(out) if hook.kind == "patch" else None # -pg writes a file there
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=MAX_SECONDS, cwd=where)


def by_name(rows):
    out = {}
    for row in rows:
        name = row["name"] or "#%d" % row["id"]
        out[name] = out.get(name, 0) + row["calls"]
    return out


def check_calls(checks, what, report, printed):
    calls, expected = by_name(report["functions"]), dict(printed.calls)
    missing = 0
    for name, most in printed.open.items():
        # A call open at the end is no call yet; the report counts it.
        least = expected.get(name, 0) - most
        got = calls.get(name, 0)
        if checks.that(least <= got <= expected[name], what, name, "has", got, "calls, not", least, "to", expected[name]):
            missing += expected[name] - got
        expected[name] = got
    if printed.others:
        calls = {name: count for name, count in calls.items() if name in expected}
    checks.equal({n: c for n, c in calls.items() if c}, {n: c for n, c in expected.items() if c}, what, "calls")
    if printed.others:
        checks.that(report["unmatched"]["open"] >= missing, what, "unmatched", report["unmatched"], "of", missing)
        missing = report["unmatched"]["open"]
    checks.equal(report["unmatched"], {"exits": 0, "open": missing}, what, "unmatched")


def check_edges(checks, what, tree, printed):
    edges = {}
    for node in tree["nodes"]:
        if len(node["stack"]) > 1:
            edge = tuple(node["stack"][-2:])
            edges[edge] = edges.get(edge, 0) + node["calls"]
    checks.equal({edge: edges.get(edge, 0) for edge in printed.edges}, printed.edges, what, "who called whom")


def report(checks, path, *options):
    result = harness.run("report", "-q", "--json", *options, path)
    checks.equal(result.status, 0, "status of report", result)
    return json.loads(result.out) if result.status == 0 else None


def check_file(checks, path, printed):
    if not checks.that(os.path.exists(path), path, "was not written; there is", os.listdir(os.path.dirname(path))):
        return
    done = harness.run("check", "-q", path)
    checks.equal(done.status, 0, "status of check", done)
    table = report(checks, path, "--by", "func")
    if table:
        check_calls(checks, os.path.basename(path), table, printed)
    if not printed.flat:
        tree = report(checks, path, "--by", "tree")
        if tree:
            check_edges(checks, os.path.basename(path), tree, printed)


def stack_limit(name):
    """A constant of src/op/callstack.h, which matches the calls of a log."""
    with open(os.path.join(harness.SOURCE, "src", "op", "callstack.h"), encoding="utf-8") as file:
        number, shift = re.search(r"^#define %s +\(?(\d+)u(?: << (\d+)\))?$" % name, file.read(), re.M).groups()
    return int(number) << int(shift or 0)


def every_call_has_a_place(nodes):
    """Also in the tree of a log, which limits repetitions of a function on a stack beyond the first frames."""
    most = stack_limit("TL_STACK_REPEATS")
    deep = (node["stack"][most:] for node in nodes if len(node["stack"]) > 2 * most)
    return all(max(collections.Counter(stack).values()) <= most for stack in deep)


def check_same(checks, base, flat):
    """The profile left by the process, and the one made of the log of the same run."""
    made, left = base + ".made.tlp", base + ".left.tlp"
    for out, path in ((made, base + ".xray"), (left, base + ".tlp")):
        done = harness.run("report", "-q", "-f", "-o", out, path)
        if not checks.equal(done.status, 0, "status of report -o", done):
            return
    if flat or not every_call_has_a_place(report(checks, base + ".tlp", "--by", "tree")["nodes"]):
        own, ours = (report(checks, path, "--by", "func") for path in (base + ".tlp", made))
        keys = ("name", "calls", "total", "self", "min", "max", "p50", "p99")
        own, ours = (sorted([function[key] for key in keys] for function in table["functions"]) for table in (own, ours))
        checks.equal(ours, own, "functions of", made)
        return
    names = {}
    own, ours = (tlp_reader.Profile(path).merged(names) for path in (left, made))
    checks.equal(sorted(own), sorted(ours), "places")
    different = [path for path in own if path in ours and own[path] != ours[path]]
    text = {number: name for (_, name), number in names.items()}
    checks.that(not different, len(different), "of", len(own), "places differ, the first:", [
        (text[path], own[path], ours[path]) for path in different[:1]])


def source_of(name):
    return next(name + suffix for suffix in (".c", ".cpp") if os.path.exists(os.path.join(rt_build.HERE, name + suffix)))


def has_losses(path):
    done = harness.run("info", "--json", path)
    return done.status == 0 and json.loads(done.out)["lost"]["events"] > 0


def run_whole(name, hook, mode, folder, program, arguments):
    """Runs it; again if so many signals came while the disk was busy that events were lost. Returns the run and its files."""
    for turn in range(SIGNAL_RUNS if name == "count_signals" else 1):
        base = os.path.join(folder, "run%d" % turn if turn else "run")
        done = run_program(hook, mode, base, program, arguments)
        if name != "count_signals" or not any(has_losses(base + SUFFIX[one]) for one in mode.split(",")):
            break
    return done, base


def check_program(checks, name, hook, mode, arguments):
    """Builds and records it. Returns why it could not be tried, or None."""
    program = rt_build.build(hook, source_of(name))
    if name == "count_dlopen":
        arguments = [rt_build.build(hook, "count_plugin.c", shared=True)]
    if name == "count_reload":
        arguments = [rt_build.build(hook, "count_reload_part.c", ["-DNAME=" + part], shared=True, name="reload_" + part)
                     for part in ("first", "second")]
    with harness.work_folder() as folder:
        done, base = run_whole(name, hook, mode, folder, program, arguments)
        if name == "count_reload" and done.returncode == 4:
            return done.stderr.strip()
        checks.equal((done.returncode, done.stderr), (0, ""), "the program's end")
        printed = Printed(done.stdout)
        printed.others = hook.kind == "patch"
        printed.forget(checks, without_room(checks, hook, program))
        for one in mode.split(","):
            check_file(checks, base + SUFFIX[one], printed)
        checks.that(not [entry for entry in os.listdir(folder) if entry.endswith(".live")], "left over:", os.listdir(folder))
        if mode == "fdr,profile" and not checks.failed:
            check_same(checks, base, printed.flat)
    return None


def main():
    name, hook, mode, arguments = sys.argv[1], rt_build.HOOKS[sys.argv[2]], sys.argv[3], sys.argv[4:]
    missing = hook.needs(source_of(name).endswith(".cpp"))
    if missing:
        harness.skip(missing)
    if hook.kind == "llvm" and mode not in LLVM_MODE:
        harness.skip("not a mode of LLVM's runtime")
    checks = harness.Checks()
    missing = check_program(checks, name, hook, mode, arguments)
    if missing:
        harness.skip(missing)
    checks.end()


if __name__ == "__main__":
    main()
