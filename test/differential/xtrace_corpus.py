#!/usr/bin/env python3
"""Compares recordings of instructions with known answers: xtrace_corpus.py PART

    corpus WHAT     the shared corpus ($TL_SHARED/corpus/xtrace), with the answers beside each file. WHAT is info, check,
                    jsonl, one of the tables (mix, block, branch, page, syscall), bbv or champsim
    fresh SEED      new files of the shared generator, all answers; and the same files with bytes changed, cut out and
                    cut off, with answers of the shared reader"""
import glob
import hashlib
import importlib.util
import json
import lzma
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
from tracelog_corpus import first_difference, parallel

REPORTS = ("mix", "block", "branch", "page", "syscall")
SUFFIXES = dict({what: ".report.%s.json" % what for what in REPORTS}, info=".info.json", check=".check.json",
                jsonl=".jsonl", bbv=".bbv", champsim=".champsim")
CHANGES = 6  # of each fresh file


def arguments(what, interval):
    if what in REPORTS:
        return ["report", "--json", "--by", what]
    if what == "jsonl":
        return ["convert", "--to", "jsonl", "-o", "-"]
    if what == "bbv":
        return ["convert", "--to", "simpoint", "--interval", interval, "-o", "-"]
    if what == "champsim":
        return ["convert", "--to", "champsim", "-o", "-"]
    return [what, "--json"]


def ask(what, path, interval=100):
    """By its name, in its own folder: check looks for the stream beside the snapshots."""
    folder, name = os.path.split(path)
    return harness.run(*arguments(what, interval), name, cwd=folder)


def lines(data):
    return [json.loads(line) for line in data.splitlines()]


def one_way(events):
    return hashlib.sha256("".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n"
                                  for line in events).encode("ascii")).hexdigest()


def plain(what, value):
    """Without wording."""
    value = dict(value)
    if "damage" in value:
        value["damage"] = [(entry["offset"], entry["bytes"]) for entry in value["damage"]]
    if what == "info":
        value.pop("notes", None)
        value["classes"] = sorted(value["classes"], key=lambda row: row["name"])
    if what == "check":
        value["problems"] = [(problem["offset"], problem["rule"]) for problem in value["problems"]]
        value.pop("notes", None)
    return value


def differs(what, got, expected):
    """Both as bytes."""
    if what == "champsim":      # addresses: roundtrip.xtrace.champsim
        got, expected = ([data[at:at + 16] for at in range(0, len(data), 64)] for data in (got, expected))
        got, expected = b"".join(got), b"".join(expected)
    if what in ("bbv", "champsim"):
        size = 16 if what == "champsim" else 1
        at = next((at for at, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected))) // size * size
        return None if got == expected else "byte %d: got %r, expected %r" % (at, got[at:at + 64], expected[at:at + 64])
    try:
        if what == "jsonl":
            return first_difference(lines(got), lines(expected), "line")
        return first_difference(plain(what, json.loads(got)), plain(what, json.loads(expected)), what)
    except (ValueError, KeyError, TypeError) as error:
        return "%r in %.300s" % (error, got)


def judge(checks, name, what, result, expected, damaged, problems):
    status = (1 if problems else 0) if what == "check" else 3 if damaged else 0
    checks.that(result.status == status, name, what, "status %d, expected %d:" % (result.status, status), result.err[-500:])
    checks.that(status != 3 or result.err, name, what, "damage, but nothing on stderr")
    if what in REPORTS and damaged: # a report has it as info has
        expected = json.dumps(dict(json.loads(expected), damage=damaged)).encode()
    difference = differs(what, result.out, expected)
    checks.that(difference is None, name, what, difference)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def judge_digest(checks, name, result, wanted):
    try:
        events = lines(result.out)
    except ValueError as error:
        events = []
        checks.that(False, name, "no JSON:", error)
    checks.equal(len(events), wanted["lines"], name, "lines")
    checks.equal(one_way(events), wanted["sha256"], name, "digest of all lines")


def beside(checks, root, whats, interval):
    """The answers beside each file."""
    jobs = [(path, what) for path in sorted(glob.glob(os.path.join(root, "*.bin"))) for what in whats
            if os.path.exists(path + SUFFIXES[what]) or (what == "jsonl" and os.path.exists(path + ".jsonl.xz"))]
    for (path, what), result in zip(jobs, parallel(lambda job: ask(job[1], job[0], interval), jobs)):
        name, wanted = os.path.relpath(path, os.path.dirname(root)), path + SUFFIXES[what]
        expected = read(wanted) if os.path.exists(wanted) else lzma.decompress(read(wanted + ".xz"))
        judge(checks, name, what, result, expected, json.loads(read(path + ".info.json"))["damage"],
              json.loads(read(path + ".check.json"))["problems"])
        if what == "jsonl" and os.path.exists(path + ".digest.json"):
            judge_digest(checks, name, result, json.loads(read(path + ".digest.json")))
    return len(jobs)


def check_corpus(checks, what):
    root, files = harness.shared("corpus", "xtrace"), 0
    for folder in sorted(glob.glob(os.path.join(root, "generated", "*", ""))):
        files += beside(checks, folder.rstrip(os.sep), [what], 100)
    files += beside(checks, os.path.join(root, "recorded"), [what], 10000)
    checks.that(files > 0, "no file has an answer for", what)


def reference_reader():
    spec = importlib.util.spec_from_file_location("xtrace_reference", harness.shared("tools", "xtrace_reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def telling(rng, reference, path):
    """An offset whose value must agree with another: a random byte would usually be in an opcode, or in a register that
    no check reads."""
    source, _ = reference.load(path)
    if not (source.events if isinstance(source, reference.Stream) else source.records):
        return 0
    if not isinstance(source, reference.Stream):
        return rng.choice(source.records)[0] + rng.choice((0, 8, 8, 16, 24, 24) + tuple(range(32, 288, 8)))
    kind = rng.choice(("insn", "load", "load", "store", "target", "target", "stxr", "dc", "svc_ret", "time"))
    found = [event for event in source.events if event[0] == kind] or source.events
    event = rng.choice(found)
    return event[1] + (9 if event[0] in ("load", "store") and rng.random() < 0.7 else 1)


def changed(rng, reference, path):
    """A few bits flipped, some bytes cut out, or the end cut off."""
    data = bytearray(read(path))
    places = [telling(rng, reference, path) for _ in range(rng.choice((1, 1, 2, 5)))] if rng.random() < 0.6 else []
    for at in places:
        if at < len(data):
            data[at] ^= 1 << rng.randrange(8)
    for _ in range(0 if places else rng.choice((1, 1, 2, 5))):
        at, way = rng.randrange(len(data) + 1), rng.random()
        if way < 0.15:
            del data[at:]
        elif way < 0.3:
            del data[at:at + rng.randrange(1, 30)]
        elif at < len(data):
            data[at] ^= 1 << rng.randrange(8)
    return bytes(data)


def answers(reference, path):
    """The shared reader's answers about a file: what -> bytes."""
    source, partner = reference.load(path)
    info, check = reference.info(path, source), reference.check(path, source, partner)
    out = {"info": json.dumps(info), "check": json.dumps(check),
           "jsonl": "".join(json.dumps(event) + "\n" for event in reference.jsonl(path, source))}
    if isinstance(source, reference.Stream):
        out.update({by: json.dumps(reference.REPORTS[by](source)) for by in REPORTS})
        out["bbv"] = reference.bbv(source, 100)
    out = {what: text.encode() for what, text in out.items()}
    if isinstance(source, reference.Stream):
        out["champsim"] = reference.champsim(source)[0]
    return out, info["damage"], check["problems"]


def check_changed(checks, reference, rng, path):
    good = read(path)
    for number in range(CHANGES):
        bad = changed(rng, reference, path)
        with open(path, "wb") as file:
            file.write(bad)
        expected, damaged, problems = answers(reference, path)
        name = "%s, change %d" % (os.path.basename(path), number)
        whats = ["check", "info", "jsonl"] + rng.sample([what for what in expected if what not in ("check", "info", "jsonl")],
                                                       1 if "mix" in expected else 0)
        for what, result in zip(whats, parallel(lambda what: ask(what, path), whats)):
            judge(checks, name, what, result, expected[what], damaged, problems)
        with open(path, "wb") as file:
            file.write(good)


def check_fresh(checks, seed):
    tool, reference = harness.shared("tools", "xtrace_generate.py"), reference_reader()
    rng = random.Random(int(seed))
    with harness.work_folder() as folder:
        subprocess.run([sys.executable, "-B", tool, "--random", "6", "--seed", seed, "--out", folder], check=True)
        for case in sorted(glob.glob(os.path.join(folder, "*", ""))):
            beside(checks, case.rstrip(os.sep), [what for what in SUFFIXES if what != "champsim"], 100)
            files = sorted(glob.glob(os.path.join(case, "*.bin")))
            for path in files[:2]:
                expected, damaged, problems = answers(reference, path)
                for what in ["champsim"] if "champsim" in expected else []:
                    judge(checks, os.path.basename(path), what, ask(what, path), expected[what], damaged, problems)
                check_changed(checks, reference, rng, path)


def main():
    part, argument = sys.argv[1:]
    checks = harness.Checks()
    {"corpus": check_corpus, "fresh": check_fresh}[part](checks, argument)
    checks.end()


if __name__ == "__main__":
    main()
