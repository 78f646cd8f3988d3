#!/usr/bin/env python3
"""`record` of programs of .NET on Mono and on CoreCLR, against what these programs know of themselves: dotnet_record.py BINARY CASE"""
import collections
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from dotnet_tools import HERE, SECONDS, build, build_for_clr, is_fine, need_clr, record, report, settings

import dotnet_attach
import dotnet_choice
import dotnet_crowd
import dotnet_lines
import dotnet_objects
import harness

KILLS = 50 if harness.THOROUGH else 6
COMPILER = "/usr/lib/mono/4.5/mcs.exe"
FIB20, FIB10 = 21891, 177


def calls(checks, binary, folder):
    """Every call, in every mode: recursion, exceptions, iterators, generic methods, threads, tasks."""
    program = build(folder)
    plain = subprocess.run(["mono", program, "calls"], capture_output=True, text=True, check=False)
    for mode, name in (("profile", "c.tlp"), ("fdr", "c.xray"), ("ctf", "c.ctf")):
        done = record(binary, folder, "-m", mode, "-o", name, program, "calls")
        checks.equal((done.returncode, done.stdout), (0, plain.stdout), mode, done.stderr)
        path = os.path.join(folder, name)
        is_fine(checks, binary, path, mode)
        rows = report(checks, binary, path, "--by", "func")
        count = {row["name"]: row["calls"] for row in rows.get("functions", [])}
        wanted = {"Fib": FIB20 + 400 * FIB10, "Down": 50 * 101, "Catch": 50, "After": 50, "Finally": 50, "Items": 1, "Same<int>": 300,
                  "Same<double>": 300, "Work": 4, "Later": 20, "Run": 1, "MakePair": 300, "MakeOdd": 300, "MakeTwo": 300, "<Items>c__Iterator0:MoveNext": 1001}
        for method, number in wanted.items():
            found = [count[key] for key in count if key in ("Told.Calls:" + method, "Told.Calls/" + method)]
            checks.equal(found, [number], mode, method, sorted(count))
        checks.that(not any(name and name.startswith("System.") for name in count), mode, "has calls of the class library")
        info = subprocess.run([binary, "info", "--json", path], capture_output=True, text=True, check=True).stdout
        checks.that('"unmatched":{' not in info or '"exits":0' in info, mode, info)
    done = record(binary, folder, "-m", "profile", "-o", "f.tlp", "-F", "*:Fib", "-F", "Told.Calls:Down", "-N", "*Down", program, "calls")
    rows = report(checks, binary, os.path.join(folder, "f.tlp"), "--by", "func")
    checks.equal({row["name"]: row["calls"] for row in rows.get("functions", [])}, {"Told.Calls:Fib": FIB20 + 400 * FIB10}, "patterns", done.stderr)
    done = record(binary, folder, "-m", "profile", "-o", "l.tlp", "--libs", "mscorlib*", program, "calls")
    rows = report(checks, binary, os.path.join(folder, "l.tlp"), "--by", "func")
    names = {row["name"]: row["calls"] for row in rows.get("functions", [])}
    checks.that(any(name.startswith("System.Threading.") for name in names), "--libs: no method of the class library", done.stderr)
    checks.equal(names.get("Told.Calls:Fib"), FIB20 + 400 * FIB10, "Fib with the class library")


def count_shares(checks, binary, folder, program, name):
    """Lines with samples of one recording, by method."""
    path = os.path.join(folder, name)
    done = record(binary, folder, "--period", "1ms", "-o", name, program, "shares")
    checks.equal((done.returncode, done.stdout), (0, "done True\n"), done.stderr)
    is_fine(checks, binary, path)
    # One line may stand for several samples that were due at once: chance decides over lines.
    own, rooted, lines, names, stack = collections.Counter(), 0, 0, {}, {}
    for line in open(path, encoding="utf-8"):
        word = line.split()
        if word[:2] == ["fun", "nam"]:
            names[int(word[2], 16)] = line.split('"')[1]
        if word[:2] != ["sam", "str"]:
            continue
        kept, frames = int(word[5].split(":")[0]), [frame.split(":")[0] for frame in word[6:]]
        stack[word[2]] = stack.get(word[2], [])[:kept] + [names.get(int(f, 16)) if f != "?" else None for f in frames]
        here = stack[word[2]]
        mine = [name for name in here if name and name.startswith("Told.Shares:")]
        if int(word[4]) and mine:
            own[mine[-1]] += 1
            lines += 1
            rooted += any(name in ("Told.Program:Main", "System.Threading.ThreadHelper:ThreadStart") for name in here)
    checks.that(rooted >= 0.98 * lines, "only", rooted, "of", lines, "stacks have a root")
    return own


def far_off(own):
    """Methods whose share differs from that of their work by more than three standard deviations."""
    n = sum(own["Told.Shares:" + name] for name in "ABC")
    expected = ((name, share, n * share, 3 * math.sqrt(n * share * (1 - share))) for name, share in (("A", 0.6), ("B", 0.3), ("C", 0.1)))
    return ["%s has %d of %d, expected %.0f +- %.0f" % (name, own["Told.Shares:" + name], n, mean, most)
            for name, share, mean, most in expected if abs(own["Told.Shares:" + name] - mean) > most]


def check_shares(checks, binary, folder, program):
    """By chance, a recording in a hundred has a share that is too far off. Then twice as many samples, of others, decide."""
    own = count_shares(checks, binary, folder, program, "s.log")
    checks.that(sum(own.values()) >= 100, "too few lines with samples:", own)
    if far_off(own):
        print("once more:", far_off(own))
        own = sum((count_shares(checks, binary, folder, program, name) for name in ("s2.log", "s3.log")), collections.Counter())
    checks.equal(far_off(own), [], own)
    return os.path.join(folder, "s.log")


def shares(checks, binary, folder):
    """Each method has its share of the samples, within three standard deviations; stacks have their roots."""
    program = build(folder)
    path = check_shares(checks, binary, folder, program)
    rows = report(checks, binary, path, "--by", "cpu")
    used = sum(row["used"] for row in rows["tracks"] if row["track"] != "process")
    counted = report(checks, binary, path, "--by", "func")["samples"]["counted"] * 1e6
    checks.that(abs(counted - used) <= 0.1 * used + 20e6, "samples stand for", counted, "ns, and the clocks say", used)
    done = record(binary, folder, "--sampling", "off", "-o", "o.log", program, "shares")
    with open(os.path.join(folder, "o.log"), encoding="utf-8") as file:
        checks.that("\nsam str" not in file.read(), "--sampling off has samples", done.stderr)


def killed(checks, binary, folder, program=None, options=("--alloc",)):
    """What is left of a program that was killed is whole, up to the last line."""
    program, randomly = program or build(folder), random.Random(11)
    for number in range(KILLS):
        path = os.path.join(folder, "k%d.log" % number)
        run = subprocess.Popen([binary, "record", "-q", *options, "-o", path, program, "endless"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        checks.equal(run.stdout.readline(), "running\n", "it runs")
        time.sleep(0.05 + randomly.random() / 2)
        child = int(subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True, check=True).stdout)
        os.kill(child, signal.SIGKILL)
        said = run.communicate(timeout=SECONDS)[1]
        checks.equal(run.returncode, 128 + signal.SIGKILL, "status", said)
        checks.that(not os.path.exists(path + ".live"), "still live")
        with open(path, "rb") as file:
            data = file.read()
        checks.that(data.endswith(b"\n") and b"\nsam " in data, "ends in", data[-80:])
        is_fine(checks, binary, path, "kill", number)


def compiled(checks, binary, folder):
    """Mono's own compiler makes the same program while it is recorded."""
    if not os.path.exists(COMPILER):
        harness.skip("mono-mcs has no %s" % COMPILER)
    outputs, source = [], os.path.join(HERE, "dotnet_programs.cs")
    for name, words in (("one", ["mono"]), ("two", ["mono"]), ("samples", [binary, "record", "-q", "--alloc", "-o", "m.log", "mono"]),
                        ("calls", [binary, "record", "-q", "-o", "m.tlp", "mono"])):
        os.mkdir(os.path.join(folder, name))
        output = os.path.join(folder, name, "told.exe")
        done = subprocess.run([*words, COMPILER, "-out:" + output, source], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        checks.equal(done.returncode, 0, name, done.stdout, done.stderr)
        with open(output, "rb") as file:
            outputs.append(file.read())
    # Each has a time, of 4 bytes, and an id, of 16.
    for name, other in zip(("two", "samples", "calls"), outputs[1:]):
        differ = [i for i, (a, b) in enumerate(zip(outputs[0], other)) if a != b]
        checks.that(len(other) == len(outputs[0]) and len(differ) <= 20, name, "is another program:", len(outputs[0]), len(other), differ[:30])
    is_fine(checks, binary, os.path.join(folder, "m.log"))
    rows = report(checks, binary, os.path.join(folder, "m.tlp"), "--by", "func")
    count = {row["name"]: row["calls"] for row in rows.get("functions", [])}
    checks.that(count.get("Mono.CSharp.Driver:Compile") == 1 and len(count) > 1000, "calls of the compiler:", len(count))


def check_children(checks, binary, folder):
    """The child of fork, which ends by _exit, has a recording of its own; what it called by then is in it."""
    checks.equal(sorted(name for name in os.listdir(folder) if name.endswith(".live")), [], "nothing is left")
    rows = report(checks, binary, os.path.join(folder, "d.1.xray"), "--by", "func")
    count = {row["name"]: row["calls"] for row in rows.get("functions", [])}
    checks.equal(count.get("Told.System_:Deep"), 101, "calls of the child", count)


def disturbed(checks, binary, folder):
    """Signals of the program, children by fork and by exec, deep stacks, many threads, a status of its own."""
    program = build(folder)
    plain = subprocess.run(["mono", program, "system"], capture_output=True, text=True, check=False)
    checks.equal(plain.returncode, 3, "without a recorder:", plain.stderr[-500:])
    for options in (["--period", "1ms", "--alloc", "--heap", "-o", "d.log"], ["--sampling", "wall", "--period", "1ms", "-o", "w.log"], ["-o", "d.xray"]):
        done = record(binary, folder, *options, program, "system")
        checks.equal((done.returncode, done.stdout), (3, plain.stdout), *options, done.stderr[-500:])
        path = os.path.join(folder, options[-1])
        is_fine(checks, binary, path, *options)
        if path.endswith(".log"):
            said = settings(path)
            checks.equal((said.get("LostSamples"), said.get("LostEvents")), ("0", "0"), said)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            checks.that(text.count("\nthr crt ") >= 300 and text.count("\nthr dst ") >= 300, "threads:", text.count("\nthr crt "), text.count("\nthr dst "))
    check_children(checks, binary, folder)


def refused(checks, binary, folder):
    """What cannot be recorded, and says so before anything runs."""
    program = build(folder)

    def fails(about, *words, status=125, **more):
        done = record(binary, folder, *words, **more)
        checks.equal((done.returncode, done.stdout), (status, ""), *words, done.stderr)
        checks.that(about in done.stderr, *words, "does not say", about, "but", done.stderr)

    fails("--alloc is for programs of .NET", "--alloc", "/bin/true")
    fails("--depth does not go with samples", "-D", "3", program, "calls")
    fails("--alloc goes with samples", "--alloc", "-m", "fdr", program, "calls")
    fails("--min-size is for other programs", "--min-size", "3", program, "calls")
    fails("--alloc few: expected a size such as 64K", "--alloc=few", program, "calls")
    fails("alloc=2G: expected on, off, or a size of up to 1G", "--alloc=2G", program, "calls")
    fails("in whole milliseconds", "--period", "1500us", program, "calls")
    fails("it is in the package mono-runtime", program, "calls", status=127, env={"PATH": "/nowhere"})
    fails("cannot be run", "--mono", "nowhere.exe", status=127)
    for name in ("told.log", "mine.log"):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write("dear\n")
    fails("the file exists; -f replaces it", "-o", "mine.log", program, "calls")
    fails("names no format", "-o", "mine.unknown", program, "calls")
    done = record(binary, folder, program, "calls")
    checks.equal(done.returncode, 0, done.stderr)
    checks.that(os.path.exists(os.path.join(folder, "told-2.log")), "no told-2.log:", sorted(os.listdir(folder)))
    done = record(binary, folder, "-o", "told.svg", program, "calls")
    checks.equal((done.returncode, sorted(name for name in os.listdir(folder) if ".log" in name)), (0, ["mine.log", "told-2.log", "told.log"]), done.stderr)
    with open(os.path.join(folder, "told.svg"), encoding="utf-8") as file:
        checks.that("Told." in file.read(), "the picture has no method")
    # Without `record`: a mistake in the settings is told, and the program runs.
    library = {"LD_LIBRARY_PATH": os.path.dirname(binary)}
    for value, about in (("period=1us", "expected whole milliseconds"), ("what=ever", "unknown; there are"), ("alloc=perhaps", "expected on, off, or a size"),
                         ("out=/nowhere/x.log", "cannot record to"), ("out=/dev/full", "No space left on device")):
        done = subprocess.run(["mono", "--profile=traceloom", program, "calls"], cwd=folder, capture_output=True, text=True, check=False,
                              env=dict(os.environ, TRACELOOM_DOTNET=value, **library))
        checks.that(done.returncode == 0 and "sum " in done.stdout and about in done.stderr, value, done.returncode, done.stderr)


def clr_calls(checks, binary, folder):
    """Every call, on CoreCLR."""
    program = build_for_clr(folder)
    plain = subprocess.run(["mono", program, "calls"], capture_output=True, text=True, check=True)
    for mode, name in (("profile", "c.tlp"), ("fdr", "c.xray")):
        done = record(binary, folder, "-m", mode, "-o", name, program, "calls")
        checks.equal((done.returncode, done.stdout), (0, plain.stdout), mode, done.stderr)
        is_fine(checks, binary, os.path.join(folder, name), mode)
        rows = report(checks, binary, os.path.join(folder, name), "--by", "func")
        count = {}
        for row in rows.get("functions", []):
            count[row["name"]] = count.get(row["name"], 0) + row["calls"]
        wanted = {"Fib": FIB20 + 400 * FIB10, "Down": 50 * 101, "Catch": 50, "After": 50, "Finally": 50, "Items": 1, "Same": 600, "Work": 4,
                  "Later": 20, "Run": 1, "MakePair": 300, "MakeOdd": 300, "MakeTwo": 300, "<Items>c__Iterator0:MoveNext": 1001}
        for method, number in wanted.items():
            found = [count[key] for key in count if key in ("Told.Calls:" + method, "Told.Calls/" + method)]
            checks.equal(found, [number], mode, method, sorted(map(str, count)))
        checks.that(not any((name or "").startswith("System.") for name in count), mode, "has calls of the class library")


def clr_shares(checks, binary, folder):
    """Samples on CoreCLR: shares and roots, collections, threads, compilations."""
    program = build_for_clr(folder)
    check_shares(checks, binary, folder, program)
    shutil.copy(os.path.join(folder, "told.runtimeconfig.json"), os.path.join(folder, "app.runtimeconfig.json"))
    app = os.path.join(folder, "app.exe")
    subprocess.run(["mcs", "-out:" + app, os.path.join(os.path.dirname(HERE), "consumers", "mono_app.cs")], capture_output=True, check=True)
    done = record(binary, folder, "-o", "app.log", "dotnet", "exec", app)
    checks.equal(done.returncode, 0, done.stderr)
    did = {name: int(number) for name, number in (line.split() for line in done.stdout.splitlines())}
    path = os.path.join(folder, "app.log")
    is_fine(checks, binary, path)
    rows = report(checks, binary, path, "--by", "gc")
    checks.equal((rows["by_generation"]["gen0"], rows["by_generation"]["gen1"]), (did["minor"], did["major"]), "collections")
    checks.equal(rows["unmatched"], {"ends": 0, "open": 0}, "all collections end")
    methods = {row["name"]: row for row in report(checks, binary, path, "--by", "jit")["methods"]}
    for name in ("App.Program:Main", "App.Program:Run", "App.Work:Hot", "App.Work:Warm", "App.Work:Plant", "App.Work:Graft"):
        checks.that(methods.get(name, {}).get("compiled", 0) >= 1, "compilation of", name)
    for name in ("LostSamples", "LostEvents", "CutStacks"):
        checks.equal(settings(path).get(name), "0", name)


def clr_disturbed(checks, binary, folder):
    """The same on CoreCLR. A child that is a program of .NET, too, leaves the recording alone."""
    program = build_for_clr(folder)
    plain = subprocess.run(["dotnet", "exec", program, "system"], capture_output=True, text=True, check=False)
    checks.equal(plain.returncode, 3, "without a recorder:", plain.stderr[-500:])
    for options in (["--period", "1ms", "--alloc", "--heap", "-o", "d.log"], ["--sampling", "wall", "--period", "1ms", "-o", "w.log"], ["-o", "d.xray"]):
        done = record(binary, folder, *options, program, "system")
        checks.equal((done.returncode, done.stdout), (3, plain.stdout), *options, done.stderr[-500:])
        is_fine(checks, binary, os.path.join(folder, options[-1]), *options)
    check_children(checks, binary, folder)
    done = record(binary, folder, "-o", "p.log", program, "parent", program)
    checks.equal((done.returncode, done.stdout), (0, "child done True\n"), done.stderr[-500:])
    is_fine(checks, binary, os.path.join(folder, "p.log"))
    with open(os.path.join(folder, "p.log"), encoding="utf-8") as file:
        text = file.read()
    checks.that("Told.Parent:Run" in text and "Told.Shares:Run" not in text, "the log is not the parent's")


def clr_killed(checks, binary, folder):
    killed(checks, binary, folder, build_for_clr(folder))


CASES = {"calls": calls, "shares": shares, "kill": killed, "compile": compiled, "system": disturbed, "refuse": refused,
         "clr_calls": clr_calls, "clr_shares": clr_shares, "clr_kill": clr_killed, "clr_system": clr_disturbed, **dotnet_objects.CASES, **dotnet_lines.CASES,
         **dotnet_attach.CASES, **dotnet_choice.CASES, **dotnet_crowd.CASES}


def main():
    binary, case = os.path.abspath(sys.argv[1]), sys.argv[2]
    if case.startswith("clr"):
        need_clr()
    for tool, package in (("mono", "mono-runtime"), ("mcs", "mono-mcs")):
        if not shutil.which(tool):
            harness.skip("%s is not installed" % package)
    checks = harness.Checks()
    with harness.work_folder() as folder:
        CASES[case](checks, binary, folder)
    checks.end()


main()
