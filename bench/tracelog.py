#!/usr/bin/env python3
"""Speed and memory of traceloom with a TraceLog, beside hand-written code and beside readers made of regular expressions.

    tracelog.py [--folder DIR] [--repeat N] [--write] [--quick]

Makes the logs if they are not there (tracelog_gen.c), runs all commands in turns, N times, and keeps the best time of
each. --quick takes a log of a tenth. --write puts the tables into bench/results.md, beside those of the others."""
import argparse
import json
import os
import subprocess
import sys

import bench_results
from run import HERE, TOP, Command, build, machine

MB = 1000000
SLOW = 2                                # turns of what takes seconds
LARGE, TENTH, FOR_REGEX, SMALL = 1074, 108, 50, 4       # MB; the first is a GiB
# Runtime tables are made of the values of all events, in the order of the log; `none` wants them in the order of time.
LIMIT, FIELDS, NONE, TREE = "hand-written", "report --by gc", "convert --to none", "report --by tree"
REGEX = "regular expressions, POSIX"
PEAK = 200 * MB
AGREED = ("traceloom, the hand-written program and the regular expressions find exactly what the generator wrote, "
          "and the log written again has the same bytes")
# What is promised: (what, of whose rate, whose rate, least ratio)
BARS = [
    ("every field, of the hand-written rate", FIELDS + ", 1 thread", LIMIT, 0.5),
    ("the same with two threads", FIELDS + ", 2 threads", LIMIT, None),
    ("every field and put in order of time", NONE + ", 1 thread", LIMIT, None),
    ("the same with two threads", NONE + ", 2 threads", LIMIT, None),
    ("tree with weights, of the hand-written rate", TREE + ", 1 thread", LIMIT, 0.25),
    ("the same with two threads", TREE + ", 2 threads", LIMIT, None),
    ("every field, two threads", FIELDS + ", 2 threads", FIELDS + ", 1 thread", 1.6),
    ("every field and order, two threads", NONE + ", 2 threads", NONE + ", 1 thread", 1.6),
    ("tree with weights, two threads", TREE + ", 2 threads", TREE + ", 1 thread", 1.6),
    ("beside one POSIX expression a record", "convert --to none", REGEX, 60),
    ("beside one expression a record, interpreted", "convert --to none", "regular expressions, PCRE2", None),
    ("beside one expression a record, compiled", "convert --to none", "regular expressions, PCRE2 with JIT", None),
]


def build_regex(folder):
    """The reader made of regular expressions, and the engines it has."""
    path, source = os.path.join(folder, "regex_tracelog"), os.path.join(HERE, "regex_tracelog.c")
    compiler = ["cc", "-std=c17", "-D_GNU_SOURCE", "-O3", "-march=native", source, "-o", path]
    done = subprocess.run(compiler + ["-DHAVE_PCRE2", "-lpcre2-8"], capture_output=True, check=False)
    if done.returncode == 0:
        return path, {"posix": "", "pcre2": "2", "pcre2-jit": "2 with JIT"}
    subprocess.run(compiler, check=True)
    return path, {"posix": ""}


def numbers(text):
    return {name: int(number) for name, number in (line.split("\t") for line in text.splitlines())}


def make_log(folder, generator, size):
    """The log of that many MB, and what its generator says is in it."""
    path = os.path.join(folder, "%d.log" % size)
    if not os.path.exists(path + ".truth") or os.path.getmtime(path + ".truth") < os.path.getmtime(generator):
        with open(path, "wb") as log:
            made = subprocess.run([generator, str(size)], stdout=log, stderr=subprocess.PIPE, text=True, check=True)
        with open(path + ".truth", "w", encoding="ascii") as truth:
            truth.write(made.stderr)
    with open(path + ".truth", encoding="ascii") as truth:
        return path, numbers(truth.read())


def commands(args, limit, log):
    def traceloom(name, *arguments, once=False, output=None):
        return Command(name, [args.traceloom] + list(arguments) + [log], "big", output=output, once=once)

    again = os.path.join(args.folder, "again.log")
    convert = ["convert", "-q", "-o", "-"]
    out = [Command("look at every byte", [limit, "--sum", log], "big"),
           Command("hand-written, through a buffer", [limit, log], "big"),
           Command("hand-written, from the mapped file", [limit, "--map", log], "big")]
    for threads in ("1", "2"):
        name = ", %s thread%s" % (threads, "s" if threads == "2" else "")
        out += [traceloom(FIELDS + name, "report", "-q", "--by", "gc", "--threads", threads),
                traceloom(NONE + name, *convert, "--to", "none", "--threads", threads),
                traceloom(TREE + name, "report", "-q", "--by", "tree", "--threads", threads)]
    return out + [
        traceloom("info --json", "info", "-q", "--json"),
        traceloom("check", "check", "-q"),
        traceloom("report --by alloc", "report", "-q", "--by", "alloc"),
        traceloom("convert to jsonl", *convert, "--to", "jsonl", once=True),
        traceloom("convert to text", *convert, "--to", "text", once=True),
        traceloom("convert to tracelog", "convert", "-q", "-f", "--to", "tracelog", "-o", again, once=True, output=again)]


def regex_commands(args, regex, engines, log):
    out = [Command("convert --to none", [args.traceloom, "convert", "-q", "-o", "-", "--to", "none", "--threads", "1", log], "regex")]
    for engine, name in engines.items():
        name = "regular expressions, " + ("PCRE" + name if name else "POSIX")
        out.append(Command(name, [regex, engine, "in-turn", log], "regex", once=engine == "posix"))
    if "pcre2-jit" in engines:
        out.append(Command("regular expressions, PCRE2 with JIT, chosen by the first words", [regex, "pcre2-jit", "by-words", log], "regex"))
    return out


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def found_by_info(args, log):
    """How many lines of each record, under the generator's names."""
    classes = {c["name"]: c["events"] for c in json.loads(output_of(args.traceloom, "info", "--json", log))["classes"]}

    def count(*names):
        return sum(n for name, n in classes.items() if name.startswith(names))
    return {"prf": count("prf."), "prc cpu": count("prc.cpu"), "thr cpu": count("thr.cpu"),
            "thr": count("thr.crt", "thr.aos", "thr.dst"), "loaded": count("apd.", "asm.", "mod.", "cls."),
            "fun inf": count("fun.inf"), "fun nam": count("fun.nam"), "jit": count("jit."), "gch gc": count("gch.gc"),
            "gch alt": count("gch.alt"), "sam str": count("sam.str"), "sam mem": count("sam.mem")}


def found_by_reports(args, log):
    tree = json.loads(output_of(args.traceloom, "report", "--by", "tree", "--json", log))
    alloc = json.loads(output_of(args.traceloom, "report", "--by", "alloc", "--json", log))
    return {"samples": tree["samples"]["counted"], "allocated": alloc["count"], "bytes": alloc["bytes"]}


def number(text):
    return int(text, 16) if text else 0


def found_by_jsonl(args, log):
    """The sums of the hand-written program, from all fields of the events. Its call points and iids are those that stand
    in the log, so that differences have to be made of the stacks again; threads are in order there, if not the file."""
    sums = dict.fromkeys(("threads", "times", "samples", "kept", "depth", "frames", "iids", "ips", "classes", "allocated",
                          "bytes", "used", "os_threads", "ids"), 0)
    stacks = {}
    for line in output_of(args.traceloom, "convert", "-q", "--to", "jsonl", "-o", "-", log).splitlines():
        event = json.loads(line)
        kind, fields = event["class"], event["fields"]
        if not kind.startswith(("sam.", "thr.")):
            continue
        sums["threads"] += number(fields["threadIid"])
        sums["times"] += fields.get("timestamp", 0)
        sums["used"] += fields.get("usage", 0)
        sums["os_threads"] += fields.get("osThreadId", 0)
        sums["ids"] += number(fields.get("threadId"))
        if kind == "sam.str":
            before, now, kept = stacks.get(fields["threadIid"], []), fields["frames"], fields["kept"]
            stacks[fields["threadIid"]] = now
            sums["samples"] += fields["count"]
            sums["kept"] += kept
            sums["depth"] += len(before)
            sums["frames"] += len(now) - kept
            sums["iids"] += sum(number(frame["iid"]) for frame in now[kept:])
            sums["ips"] += sum(number(frame["ip"]) for frame in now[kept:])
            if kept and now[kept - 1]["ip"] != before[kept - 1]["ip"]:
                sums["ips"] += number(now[kept - 1]["ip"])
        for item in fields.get("alloc_item", ()):
            sums["classes"] += number(item["classIid"])
            sums["allocated"] += item["allocCount"]
            sums["bytes"] += item["memSize"]
            sums["ips"] += number(item["ip"])
    return {name: total % 2**64 for name, total in sums.items()}


def differences(who, found, expected, names=None):
    wrong = [name for name in (names or found) if name in expected and found.get(name) != expected[name]]
    return ["DIFFERENT NUMBERS of %s: %s" % (who, ", ".join("%s %s, not %s" % (n, found.get(n), expected[n]) for n in wrong))] if wrong else []


def attempt(who, compare):
    """The disagreements that compare() finds, or that it could not be asked."""
    try:
        return compare()
    except (subprocess.CalledProcessError, KeyError, TypeError, ValueError, IndexError) as error:
        more = (getattr(error, "stderr", None) or "").strip().splitlines()
        return ["NOT COMPARED: %s: %s %s" % (who, type(error).__name__ + " " + str(error)[:120], more[0] if more else "")]


def agree(args, limit, regex, engines, logs):
    """All must have read the same, or the ratios mean nothing."""
    (big, big_truth), (middle, middle_truth), (small, _) = logs
    by_hand = {path: numbers(output_of(limit, path)) for path in (big, small)}
    out = differences("the hand-written program", by_hand[big], big_truth)
    out += differences("the hand-written program from the mapped file", numbers(output_of(limit, "--map", big)), by_hand[big])
    out += attempt("check", lambda: [] if output_of(args.traceloom, "check", "-q", small) is not None else [])
    out += attempt("info", lambda: differences("info", found_by_info(args, big), big_truth))
    out += attempt("report", lambda: differences("report", found_by_reports(args, big), big_truth))
    out += attempt("jsonl", lambda: differences("convert to jsonl", found_by_jsonl(args, small), by_hand[small]))
    for engine in engines:
        if engine != "posix":
            out += differences(engine, numbers(output_of(regex, engine, "in-turn", middle)), middle_truth)
    out += differences("posix", numbers(output_of(regex, "posix", "in-turn", small)), by_hand[small],
                       ("sam str", "sam mem", "thr cpu", "samples", "frames", "allocated", "bytes"))
    out += attempt("round trip", lambda: round_trip(args, small))
    return out or [AGREED]


def round_trip(args, log):
    again = os.path.join(args.folder, "small-again.log")
    subprocess.run([args.traceloom, "convert", "-q", "-f", "--to", "tracelog", log, "-o", again], check=True, capture_output=True)
    with open(log, "rb") as first, open(again, "rb") as second:
        return [] if first.read() == second.read() else ["DIFFERENT BYTES: the log is not the same when written again"]


def table(rows, size, limit):
    lines = ["| command | time | of the log per second | of the hand-written rate | processor time | peak memory | result |",
             "|---|---:|---:|---:|---:|---:|---|"]
    for c in rows:
        if c.status != 0:
            lines.append("| %s | | | | | | FAILS, status %d |" % (c.name, c.status))
            continue
        lines.append("| %s | %.3f s | %.0f MB | %s | %.3f s | %.1f MB | ok |" % (
            c.name, c.best(), size / MB / c.best(), "%.2f" % (limit / c.best()) if limit else "", min(c.cpu), c.peak / MB))
    return lines


def ratios(rows, regex_rows):
    best = {c.name: c for c in rows + regex_rows if c.status == 0}
    best[LIMIT] = min((c for c in rows if c.name.startswith(LIMIT)), key=Command.best)
    lines = ["| bar | measured | by processor time | demanded | |", "|---|---:|---:|---:|---|"]
    for what, ours, theirs, least in BARS:
        bar = "| %s: %s / %s " % (what, ours, theirs)
        if ours in best and theirs in best:
            ratio = best[theirs].best() / best[ours].best()
            work = "" if "2 threads" in ours else "%.2f" % (min(best[theirs].cpu) / max(min(best[ours].cpu), 1e-6))
            verdict = ">= %g | %s" % (least, "yes" if ratio >= least else "NO") if least else "|"
            lines.append("%s| %.2f | %s | %s |" % (bar, ratio, work, verdict))
        elif least:
            lines.append("%s| not measured | | >= %g | NO |" % (bar, least))
    ours = [c for c in rows if c.status == 0 and not c.name.startswith((LIMIT, "look"))]
    if ours:
        most = max(ours, key=lambda c: c.peak)
        lines.append("| most memory of traceloom: %s | %.1f MB | | < %d MB | %s |" % (
            most.name, most.peak / MB, PEAK // MB, "yes" if most.peak < PEAK else "NO"))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(TOP, "build-bench", "tracelog"))
    parser.add_argument("--traceloom", default=os.path.join(TOP, "build", "traceloom"))
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a log of a tenth, 3 times")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    repeat = 3 if args.quick else args.repeat
    generator = os.path.join(args.folder, "tracelog_gen")
    if not os.path.exists(generator) or os.path.getmtime(generator) < max(
            os.path.getmtime(os.path.join(HERE, name)) for name in ("tracelog_gen.c", "gen_text.h")):
        build(args.folder, "tracelog_gen")
    limit, measure = build(args.folder, "limit_tracelog"), build(args.folder, "measure")
    regex, engines = build_regex(args.folder)
    logs = [make_log(args.folder, generator, size) for size in (TENTH if args.quick else LARGE, FOR_REGEX, SMALL)]
    big, middle = logs[0][0], logs[1][0]
    agreed = agree(args, limit, regex, engines, logs)
    rows, regex_rows = commands(args, limit, big), regex_commands(args, regex, engines, middle)
    for turn in range(repeat):
        for command in rows + regex_rows:
            if turn < SLOW or not command.once:
                command.run(measure)
    size, records = os.path.getsize(big), sum(n for name, n in logs[0][1].items() if name not in ("samples", "frames", "allocated", "bytes"))
    by_hand = min(c.best() for c in rows if c.name.startswith(LIMIT))
    lines = ["Machine: " + machine() + ".", "",
             "Best of %d runs in turns (of %d where seconds pass), files in the page cache; all text goes to /dev/null." % (repeat, SLOW),
             "", "## TraceLog of %.0f MB, %.1f million lines, 12 threads" % (size / MB, records / 1e6), ""]
    lines += table(rows, size, by_hand) + ["", "The same of a log of %d MB, with readers made of regular expressions:" % FOR_REGEX, ""]
    lines += table(regex_rows, os.path.getsize(middle), None) + [""] + ratios(rows, regex_rows) + [""] + agreed
    text = "\n".join(lines)
    print(text)
    if args.write:
        bench_results.write("tracelog", text)
    return 0 if agreed == [AGREED] and all(c.status == 0 for c in rows + regex_rows) else 1


if __name__ == "__main__":
    sys.exit(main())
