#!/usr/bin/env python3
"""Speed and memory of traceloom with a TraceLog, beside hand-written code and beside readers made of regular expressions.

    tracelog.py [--folder DIR] [--repeat N] [--write] [--quick]

Makes the logs if they are not there (tracelog_gen.c), runs all commands in turns, N times, and keeps the best time of
each. --quick takes a log of a tenth. --write puts the tables into bench/results.md, beside those of the others."""
import json
import os
import subprocess
import sys

from bench_tools import HERE, MB, M, Command, arguments, bar_line, bars, build, finish, in_turns, introduction, numbers, output_of, table, threads_of

LARGE, TENTH, FOR_REGEX, SMALL = 1074, 108, 50, 4       # MB; the first is a GiB
# Runtime tables are made of the values of all events, in the order of the log; `none` wants them in the order of time.
BUFFER, MAPPED = "hand-written, through a buffer", "hand-written, from the mapped file"
FIELDS, NONE, TREE = "report --by gc", "convert --to none", "report --by tree"
REGEX, SAME_OF_REGEX = "regular expressions, POSIX", "convert --to none, log of regular expressions"
PEAK = 200 * MB
AGREED = ("traceloom, the hand-written program and the regular expressions find exactly what the generator wrote, "
          "and the log written again has the same bytes.")


def promises(limit):
    """Bars of rates: `limit` is the faster of the hand-written programs."""
    return [
        ("every field, of the hand-written rate", limit, FIELDS + ", 1 thread", ">=", 0.5),
        ("the same with two threads", limit, FIELDS + ", 2 threads", ">=", None),
        ("every field and put in order of time", limit, NONE + ", 1 thread", ">=", None),
        ("the same with two threads", limit, NONE + ", 2 threads", ">=", None),
        ("tree with weights, of the hand-written rate", limit, TREE + ", 1 thread", ">=", 0.25),
        ("the same with two threads", limit, TREE + ", 2 threads", ">=", None),
        ("every field, two threads", FIELDS + ", 1 thread", FIELDS + ", 2 threads", ">=", 1.6),
        ("every field and order, two threads", NONE + ", 1 thread", NONE + ", 2 threads", ">=", 1.6),
        ("tree with weights, two threads", TREE + ", 1 thread", TREE + ", 2 threads", ">=", 1.6),
        ("beside one POSIX expression a record", REGEX, SAME_OF_REGEX, ">=", 60),
        ("beside one expression a record, interpreted", "regular expressions, PCRE2", SAME_OF_REGEX, ">=", None),
        ("beside one expression a record, compiled", "regular expressions, PCRE2 with JIT", SAME_OF_REGEX, ">=", None)]


def build_regex(folder):
    """The reader made of regular expressions, and the engines it has."""
    path, source = os.path.join(folder, "regex_tracelog"), os.path.join(HERE, "regex_tracelog.c")
    compiler = ["cc", "-std=c17", "-D_GNU_SOURCE", "-O3", "-march=native", source, "-o", path]
    done = subprocess.run(compiler + ["-DHAVE_PCRE2", "-lpcre2-8"], capture_output=True, check=False)
    if done.returncode == 0:
        return path, {"posix": "", "pcre2": "2", "pcre2-jit": "2 with JIT"}
    subprocess.run(compiler, check=True)
    return path, {"posix": ""}


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


def commands(args, tools, log, lines):
    def row(name, *words, **more):
        return Command(name, list(words), count=lines, **more)

    def traceloom(name, *words, **more):
        return row(name, args.traceloom, *words, log, **more)

    again = os.path.join(args.folder, "again.log")
    convert = ["convert", "-q", "-o", "-", "--to"]
    out = [row("look at every byte", tools["every_byte"], log), row(BUFFER, tools["limit_tracelog"], log),
           row(MAPPED, tools["limit_tracelog"], "--map", log)]
    for n in (1, 2):
        more = ["--threads", str(n)]
        out += [traceloom("%s, %s" % (FIELDS, threads_of(n)), "report", "-q", "--by", "gc", *more),
                traceloom("%s, %s" % (NONE, threads_of(n)), *convert, "none", *more),
                traceloom("%s, %s" % (TREE, threads_of(n)), "report", "-q", "--by", "tree", *more)]
    return out + [
        traceloom("info --json", "info", "-q", "--json"),
        traceloom("check", "check", "-q"),
        traceloom("report --by alloc", "report", "-q", "--by", "alloc"),
        traceloom("convert to jsonl", *convert, "jsonl", once=True),
        traceloom("convert to text", *convert, "text", once=True),
        traceloom("convert to tracelog", "convert", "-q", "-f", "--to", "tracelog", "-o", again, once=True, output=again)]


def regex_rows(regex, engines, log):
    """The readers made of regular expressions."""
    out = []
    for engine, name in engines.items():
        name = "regular expressions, " + ("PCRE" + name if name else "POSIX")
        out.append(Command(name, [regex, engine, "in-turn", log], once=engine == "posix"))
    if "pcre2-jit" in engines:
        out.append(Command("regular expressions, PCRE2 with JIT by first words", [regex, "pcre2-jit", "by-words", log]))
    return out


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
    """The disagreements that compare() finds, or why it could not run."""
    try:
        return compare()
    except (subprocess.CalledProcessError, KeyError, TypeError, ValueError, IndexError) as error:
        more = (getattr(error, "stderr", None) or "").strip().splitlines()
        return ["NOT COMPARED: %s: %s %s" % (who, type(error).__name__ + " " + str(error)[:120], more[0] if more else "")]


def agree(args, limit, regex, engines, logs):
    """Checks that all read the same; otherwise the ratios mean nothing."""
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
    return out


def round_trip(args, log):
    again = os.path.join(args.folder, "small-again.log")
    subprocess.run([args.traceloom, "convert", "-q", "-f", "--to", "tracelog", log, "-o", again], check=True, capture_output=True)
    with open(log, "rb") as first, open(again, "rb") as second:
        return [] if first.read() == second.read() else ["DIFFERENT BYTES: the log is not the same when written again"]


def verdicts(rows, readers, limit):
    ours = [c for c in rows if c.ok() and not c.name.startswith(("hand-written", "look"))]
    most = max(ours, key=lambda c: c.peak)
    return bars(rows + readers, promises(limit)) + [
        bar_line("most memory of traceloom: " + most.name, "%.1f MB" % (most.peak / MB), "", "< %d MB" % (PEAK // MB), most.peak < PEAK)]


def main():
    args = arguments(__doc__, "tracelog", 7, "a log of a tenth, twice")
    tools = {name: build(args.folder, name) for name in ("tracelog_gen", "limit_tracelog", "every_byte", "measure")}
    regex, engines = build_regex(args.folder)
    logs = [make_log(args.folder, tools["tracelog_gen"], size) for size in (TENTH if args.quick else LARGE, FOR_REGEX, SMALL)]
    (big, truth), middle = logs[0], logs[1][0]
    wrong = agree(args, tools["limit_tracelog"], regex, engines, logs)
    records = sum(n for name, n in truth.items() if name not in ("samples", "frames", "allocated", "bytes"))
    rows = commands(args, tools, big, records)
    readers = [Command(SAME_OF_REGEX, [args.traceloom, "convert", "-q", "-o", "-", "--to", "none", "--threads", "1", middle])]
    readers += regex_rows(regex, engines, middle)
    in_turns(rows + readers, tools["measure"], args.repeat, args.slow)
    limit = min((c for c in rows if c.name in (BUFFER, MAPPED)), key=Command.best).name
    lines = introduction(args) + ["", "### TraceLog of %.0f MB, %.1f million lines, 12 threads" % (os.path.getsize(big) / MB, records / M), ""]
    lines += table(rows, os.path.getsize(big), limit, "line")
    lines += ["", "### TraceLog of %d MB, beside readers made of regular expressions" % FOR_REGEX, ""] + table(readers, os.path.getsize(middle), None, "line")
    lines += ["", "### TraceLog: what is promised", ""] + verdicts(rows, readers, limit) + [""] + (wrong or [AGREED])
    failed = [c.name for c in rows + readers if not c.ok()]
    return finish(args, "tracelog", lines, wrong + failed)


if __name__ == "__main__":
    sys.exit(main())
