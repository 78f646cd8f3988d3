#!/usr/bin/env python3
"""Compares TraceLogs with known answers: tracelog_corpus.py PART

Of the shared corpus ($TL_SHARED/corpus/tracelog), with the answers beside each file:
    corpus WHAT         WHAT is info, check, jsonl, or one of the tables: func, tree, gc, jit, alloc, cpu
    fresh SEED          new files of the shared generator, all answers
    reference           our generator's answers are those of the shared reader
Of our own generator, which knows the answers:
    own WHAT [SHIFT]    all cases; SHIFT is added to their seeds
    ways                the same answers with one and two threads, through a pipe, compressed
    bulk                a large log: number of events and samples, and the same with any number of threads"""
import concurrent.futures
import glob
import gzip
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import tracelog_gen

REPORTS = tracelog_gen.REPORTS
EVERYTHING = ("info", "check", "jsonl") + REPORTS


def arguments(what):
    if what == "jsonl":
        return ["convert", "--to", "jsonl", "-o", "-"]
    return [what, "--json"] if what in ("info", "check") else ["report", "--json", "--by", what]


def number(text):
    return int(text or "0", 16)


# The order of rows; undefined ids count as 0, so they may come before or after it.
ORDERS = {"func": ("functions", lambda row: (-row["self"], -row["total"], row["id"] or 0)),
          "jit": ("methods", lambda row: (number(row["id"]), number(row["iid"]))),
          "alloc": ("classes", lambda row: (-row["bytes"], number(row["iid"])))}


def ask(what, path, *more, cwd=None, stdin=None):
    """Logs are recognized by their lines: one with hardly any needs its suffix."""
    return harness.run(*arguments(what), "--from", "tracelog", *more, path, cwd=cwd, stdin=stdin)


def answer(what, result):
    if what == "jsonl":
        return [json.loads(line) for line in result.out.split(b"\n")[:-1]]
    return json.loads(result.out) if result.out else {}


def pairs_of(damage):
    return [tuple(d) if not isinstance(d, dict) else (d["offset"], d["bytes"]) for d in damage]


def plain(what, value):
    """Without wording: damage and problems, as pairs of numbers and rules."""
    value = dict(value)
    if what == "info":
        value["damage"] = pairs_of(value["damage"])
        value.pop("notes", None)
        for name in ("classes", "tracks"):
            value[name] = sorted((row for row in value[name] if row["events"]), key=lambda row: row["name"])
    if what == "alloc" and value.get("sampling", 0) is None: # the reference reads logs of all objects
        del value["sampling"]
    if what == "check":
        value["problems"] = [tuple(p) if not isinstance(p, dict) else (p["offset"], p["rule"]) for p in value["problems"]]
    if what in ORDERS:
        name, key = ORDERS[what]
        assert [key(row) for row in value[name]] == sorted(map(key,
                                                               value[name])), "the rows are in another order than they should"
        value[name] = sorted(value[name], key=lambda row: (key(row), sorted(map(str, row.items()))))
    return value


def first_difference(got, expected, where=""):
    """The first difference of two JSON values, as text; None: equal."""
    if got == expected: # a walk over every value takes twenty times as long
        return None
    if isinstance(expected, dict) and isinstance(got, dict):
        if got.keys() != expected.keys():
            return "%s: members %s" % (where, sorted(set(got) ^ set(expected)))
        pairs = [("%s.%s" % (where, key), got[key], expected[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(got, list):
        pairs = [("%s[%d]" % (where, at), a, b) for at, (a, b) in enumerate(zip(got, expected))]
        if len(got) != len(expected):
            pairs.append((where + " length", len(got), len(expected)))
    else:
        return "%s: got %.300s, expected %.300s" % (where, got, expected)
    return next(filter(None, (first_difference(a, b, place) for place, a, b in pairs)), None)


def differs(what, got, expected):
    try:
        if what == "jsonl":
            return first_difference(got, expected, "line")
        return first_difference(plain(what, got), plain(what, expected), what)
    except (KeyError, TypeError, AssertionError) as error:
        return "%r in %.300s" % (error, got)


def status_of(what, damaged, problems):
    if what == "check":
        return 1 if problems else 0
    return 3 if damaged else 0


def judge(checks, name, what, result, expected, damaged, problems):
    status = status_of(what, damaged, problems)
    checks.that(result.status == status, name, what, "status %d, expected %d:" % (result.status, status), result.err[-500:])
    checks.that(status != 3 or result.err, name, what, "damage, but nothing on stderr")
    try:
        got = answer(what, result)
    except ValueError as error:
        checks.that(False, name, what, "no JSON:", error, result)
        return
    if what in REPORTS: # says what was given up, as info does
        checks.equal(pairs_of(got.pop("damage", [])), pairs_of(damaged), name, what, "damage")
    difference = differs(what, got, expected)
    checks.that(difference is None, name, what, difference)


def parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, items))


# ------------------------------------------------------------------------------------------------------- shared corpus

def digest(checks, name, result, wanted):
    """The digest of all lines, each rewritten in one spelling."""
    lines = [json.dumps(line, sort_keys=True, separators=(",", ":")) for line in answer("jsonl", result)]
    checks.equal(len(lines), wanted["lines"], name, "lines")
    digests = {hashlib.sha256(text.encode("ascii")).hexdigest() for text in ("\n".join(lines),
                                                                             "".join(line + "\n" for line in lines))}
    checks.that(wanted["sha256"] in digests, name, "other lines than expected")


def load(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file] if path.endswith(".jsonl") else json.load(file)


def beside(checks, path, whats):
    """The answers beside a file."""
    problems, damaged = load(path + ".check.json")["problems"], load(path + ".info.json")["damage"]
    folder, name = os.path.split(path)
    jobs = []
    for what in whats:
        wanted = path + (".jsonl" if what == "jsonl" else ".%s%s.json" % ("report." if what in REPORTS else "", what))
        if what == "jsonl" and not os.path.exists(wanted):
            wanted = path + ".digest.json"
        if os.path.exists(wanted):
            jobs.append((what, wanted))
    for (what, wanted), result in zip(jobs, parallel(lambda job: ask(job[0], name, cwd=folder), jobs)):
        if wanted.endswith(".digest.json"):
            checks.equal(result.status, status_of(what, damaged, problems), name, what, "status")
            digest(checks, name, result, load(wanted))
        else:
            judge(checks, name, what, result, load(wanted), damaged, problems)


def check_corpus(checks, what):
    root = harness.shared("corpus", "tracelog")
    for path in sorted(glob.glob(os.path.join(root, "*", "*.log"))):
        beside(checks, path, [what])


def check_fresh(checks, seed):
    tool = harness.shared("tools", "tracelog_generate.py")
    with harness.work_folder() as folder:
        subprocess.run([sys.executable, "-B", tool, "--random", "12", "--seed", seed, "--out", folder], check=True)
        for path in sorted(glob.glob(os.path.join(folder, "*.log"))):
            beside(checks, path, EVERYTHING)


def check_reference(checks):
    spec = importlib.util.spec_from_file_location("tracelog_reference", harness.shared("tools", "tracelog_reference.py"))
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    for name in tracelog_gen.cases():
        data, expected = tracelog_gen.make(name)
        log = reference.Log(data)
        found = {by: reference.REPORTS[by](log) for by in REPORTS}
        found.update(info=reference.info(log, name + ".log"), check=reference.check(log, name + ".log"),
                     jsonl=list(reference.jsonl(log)))
        for what in EVERYTHING:
            difference = differs(what, found[what], expected[what])
            checks.that(difference is None, name, what, difference)


# -------------------------------------------------------------------------------------------------------- own generator

# Damage without effect on a table is not tried with each of them, to save runs of the command.
CARES = {"func": ("lost-samples", "stack-size", "wrong-prefix", "fields", "flipped-bytes", "long-lines"),
         "tree": ("lost-samples", "not-utf8", "fields"), "gc": ("runtime-ends", "fields"), "jit": ("runtime-ends", "strings"),
         "alloc": ("flipped-bytes", "long-lines", "not-utf8"), "cpu": ("flipped-bytes", "fields")}


def chosen(what):
    for name, (_, _, _, damage) in tracelog_gen.cases().items():
        small = name.endswith("-small") or name in ("bom", "crlf")
        if what not in CARES or damage in CARES[what] or not (damage or small):
            yield name


def check_own(checks, what, shift=0):
    with harness.work_folder() as folder:
        expected = {}
        for name in chosen(what):
            data, expected[name] = tracelog_gen.make(name, shift)
            with open(os.path.join(folder, name + ".log"), "wb") as file:
                file.write(data)
        for name, result in zip(expected, parallel(lambda name: ask(what, name + ".log", cwd=folder), expected)):
            answers = expected[name]
            judge(checks, name, what, result, answers[what], answers["info"]["damage"], answers["check"]["problems"])


def compressed(folder, name, data):
    """The log in each compression that this build reads."""
    out = []
    if harness.built_with("zlib"):
        with gzip.open(os.path.join(folder, name + ".log.gz"), "wb") as file:
            file.write(data)
        out.append(name + ".log.gz")
    if harness.built_with("zstd") and shutil.which("zstd"):
        subprocess.run(["zstd", "-q", "-f", name + ".log"], cwd=folder, check=True)
        out.append(name + ".log.zst")
    return out


def without_path(what, result):
    value = answer(what, result)
    if what in ("info", "check"):
        value = {key: member for key, member in value.items() if key not in ("path", "bytes")}
    return value


def check_ways(checks):
    with harness.work_folder() as folder:
        for name in ("doc", "vs-long", "old-free", "saved", "crlf", "damaged-lost-samples", "damaged-not-utf8",
                     "damaged-cut-line"):
            data, _ = tracelog_gen.make(name)
            with open(os.path.join(folder, name + ".log"), "wb") as file:
                file.write(data)
            paths = compressed(folder, name, data) if name in ("doc", "damaged-lost-samples") else []
            ways = [("--threads", "1", name + ".log"), ("--threads", "2", name + ".log"), ("-",)] + [(path,) for path in paths]
            for what in ("info", "check", "jsonl", "tree", "jit"):
                base = ask(what, name + ".log", cwd=folder)
                for way in ways:
                    result = ask(what, *way[::-1][:1], *way[:-1], cwd=folder, stdin=data if way == ("-",) else None)
                    checks.equal(result.status, base.status, name, what, way, "status", result.err[-300:])
                    difference = first_difference(without_path(what, result), without_path(what, base), what)
                    checks.that(difference is None, name, what, way, difference)


def check_bulk(checks):
    """Large enough to be read in several parts at once; once intact, and once with unreadable lines."""
    with harness.work_folder() as folder:
        path = os.path.join(folder, "bulk.log")
        events, samples = tracelog_gen.bulk(path, 20)
        for spoiled in (False, True):
            if spoiled:
                with open(path, "r+b") as file:
                    size = file.seek(0, os.SEEK_END)
                    for number in range(1, 300):
                        file.seek(number * size // 300 + number * 37)
                        file.write((b"\n", b":", b"\xff ", b"?", b"\n\n")[number % 5])
            whats = ("info", "check", "func", "alloc", "cpu")
            every = {threads: parallel(lambda what: ask(what, path, "--threads", threads), whats) for threads in (1, 2)}
            for what, one, two in zip(whats, every[1], every[2]):
                checks.equal(one.status, status_of(what, spoiled, spoiled), what, "status", one.err[-300:])
                checks.that((one.status, one.out) == (two.status, two.out), what, "of one thread and of two",
                            one.out[:500], two.out[:500])
            if not spoiled:
                checks.equal(every[1][0].json()["events"], events, "events")
                checks.equal(every[1][2].json()["samples"]["counted"], samples, "samples")


def main():
    part, *more = sys.argv[1:]
    checks = harness.Checks()
    if part == "own":
        check_own(checks, more[0], int(more[1]) if more[1:] else 0)
    else:
        {"corpus": check_corpus, "fresh": check_fresh, "reference": check_reference, "ways": check_ways,
         "bulk": check_bulk}[part](checks, *more)
    checks.end()


if __name__ == "__main__":
    main()
