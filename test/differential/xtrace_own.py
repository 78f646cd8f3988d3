#!/usr/bin/env python3
"""Instruction streams of our own machine (test/generate/xtrace_gen.py), compared with its own records: xtrace_own.py PART

info, check, jsonl, mix, block, branch, page, syscall, func: that answer of every case. damaged: rules and offsets, and
the events before damage; resync: also those after it, and of check. fresh: all of these for fresh seeds, with every
table. ways: compressed or not, by one thread or several, from a file or a pipe. processors: recordings of processors
have no threads, and are selected by --cpu. ranges: --insns A..B is a part of the whole, with and without snapshots."""
import bz2
import gzip
import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import xtrace_damage
import xtrace_gen
import xtrace_record
from tracelog_corpus import first_difference, parallel

TABLES = ("mix", "block", "branch", "page", "syscall")


def jsonl(path, *options):
    return [json.loads(line) for line in harness.run("convert", "-q", *options, "--to", "jsonl", "-o", "-", path).out.splitlines()]


def is_stream(file):
    return "xinsndata" in file.name


def save(folder, files):
    os.makedirs(folder, exist_ok=True)
    for file in files:
        with open(os.path.join(folder, file.name), "wb") as out:
            out.write(file.data)


def expected_info(file):
    times = [event["ts"] for event in file.events]
    begin, end = (times[0], max(times)) if times else (0, 0)
    who = file.name.split(".")[2]
    tracks = [{"name": who, "pid": None, "tid": int(who), "events": len(times), "begin": begin, "end": end}] if times else []
    return {"format": "xtrace", "byte_order": "little", "bytes": len(file.data), "events": len(times),
            "classes": xtrace_record.classes(file.events), "tracks": tracks, "clock": {"name": "instructions", "hz": 0},
            "begin": begin, "end": end, "start_utc": None}


def check_info(checks, path, file, name):
    got = harness.run("info", "--json", path).json()
    wanted = expected_info(file)
    wanted["classes"] = sorted(wanted["classes"], key=lambda row: row["name"])
    got["classes"].sort(key=lambda row: row["name"])
    if not file.events:
        wanted["tracks"] = got["tracks"]
    checks.equal({key: got[key] for key in wanted}, wanted, name, "info")
    checks.equal([entry["offset"] for entry in got["damage"]], [file.damage[0]] if file.damage else [], name, "damage")
    if file.shots and not file.problems:
        size = len(file.data) - len(file.shots) * len(xtrace_record.shot_bytes(file.shots[0]))
        checks.equal((got["vl"], got["header"] and got["header"]["size"]), (file.shots[0]["vl"], size or None), name, "layout")
        checks.equal(got["version"], "2" if size else None, name, "version")


def check_check(checks, path, file, name):
    result = harness.run("check", "--json", path)
    got = [(problem["offset"], problem["rule"]) for problem in result.json()["problems"]]
    checks.equal(got, file.problems, name, "problems")
    checks.equal(result.status, 1 if file.problems else 0, name, "status of check")


def check_jsonl(checks, path, file, name):
    difference = first_difference(jsonl(path), file.events, "line")
    checks.that(difference is None, name, difference)


def check_table(checks, path, file, name, by):
    if not is_stream(file) or not file.events or not file.reports:
        return
    result = harness.run("report", "--json", "--by", by, path)
    wanted = file.reports[by]
    if by == "syscall" and not wanted["syscalls"]:
        checks.equal(result.json()["syscalls"], [], name, by)
        return
    got = result.json()
    for rows in [value for value in got.values() if isinstance(value, list)]:
        for row in rows:  # columns for people and other tests only
            for key in set(row) - set(next(iter(v for v in wanted.values() if isinstance(v, list) and v), [row])[0]):
                row.pop(key)
    difference = first_difference({key: got[key] for key in wanted}, wanted, by)
    checks.that(difference is None, name, difference)


def check_func(checks, path, file, name):
    """How often each function was called, and its own instructions. Only where the machine's stack determines both: at
    one level, with every pc."""
    if not is_stream(file) or not file.events or file.record.hidden_once or any(file.record.levels[1:]):
        return
    got = harness.run("report", "--json", "--by", "func", path).json()
    cpu = file.cpu
    wanted = {(kind, at): (n, cpu.selves[kind, at]) for (kind, at), n in cpu.calls.items() if (kind, at) in cpu.selves}
    rows = {("entry" if row["id"] & 1 else "function", row["id"] & ~1): (row["calls"], row["self"]) for row in got["functions"]}
    checks.equal(rows, wanted, name, "calls and instructions of functions")


PARTS = {"info": check_info, "check": check_check, "jsonl": check_jsonl, "func": check_func}
PARTS.update({by: lambda checks, path, file, name, by=by: check_table(checks, path, file, name, by) for by in TABLES})


def every_file(checks, folder, cases, parts):
    """`cases`: name -> files."""
    jobs = []
    for name, files in cases.items():
        save(os.path.join(folder, name), files)
        jobs += [(os.path.join(folder, name, file.name), file, name, part) for file in files for part in parts]
    list(parallel(lambda job: PARTS[job[3]](checks, *job[:3]), jobs))
    checks.that(jobs, "there are no files")


def good(part):
    def test(checks, folder):
        every_file(checks, folder, {name: xtrace_gen.make(name) for name in xtrace_gen.CASES}, [part])
    return test


def damaged(checks, folder):
    names = [name for name in xtrace_gen.cases() if name not in xtrace_gen.CASES]
    every_file(checks, folder, {name: xtrace_gen.make(name) for name in names}, ["info", "check", "jsonl"])


def resync(checks, folder):
    """Reading continues at the next instruction that has its pc."""
    for name in [name for name in xtrace_gen.cases() if name.startswith("damaged-unknown-")]:
        bad = xtrace_gen.make(name)[0]
        save(os.path.join(folder, name), [bad])
        at, record = bad.damage[0], xtrace_damage.base(name)[0].record
        starts = [n for n, e in enumerate(record.events) if e.offset > at and record.data[e.offset] & 0x3f == 0x09]
        lost = sum(e.name == "insn" and e.offset >= at for e in record.events[:starts[0]])
        rest = [dict(line, ts=line["ts"] - lost) for line in record.jsonl()[starts[0]:]]
        got = jsonl(os.path.join(folder, name, bad.name), "--resync")
        difference = first_difference(got, bad.events + rest, "line")
        checks.that(difference is None, name, difference)
        checks.that(rest, name, "there is nothing to find again")
    resync_check(checks, folder)


def resync_check(checks, folder):
    """`check --resync` also finds problems after damage; of snapshots only those decided before."""
    found = 0
    for name in ["damaged-%s-%d" % (kind, n) for kind in ("target", "jump") for n in range(xtrace_damage.SEEDS)]:
        bad, place = xtrace_gen.make(name)[0], os.path.join(folder, name)
        events = [e for e in xtrace_damage.base(name)[0].record.events if e.name == "insn"]
        before = [e.offset for e in events if e.offset < min(at for at, _ in bad.problems)]
        for part in (0, 5, 9):
            at = before[len(before) * part // 10]
            data = bytearray(bad.data)
            data[at] = 0xff
            save(place, [xtrace_gen.File(bad.name, data, [])])
            goes_on = min(e.offset for e in events if e.offset > at and data[e.offset] & 0x3f == 0x09)
            rest = [(offset, rule) for offset, rule in bad.problems if offset > goes_on]
            for options, wanted in (((), []), (("--resync",), rest)):
                got = harness.run("check", "--json", *options, os.path.join(place, bad.name)).json()["problems"]
                checks.equal([(p["offset"], p["rule"]) for p in got], [(at, "xtrace.unknown-token")] + wanted, name, part, options)
            found += len(rest)
    checks.that(found > 10, "only", found, "problems behind damage")
    stream, shots = xtrace_gen.make("user-long")
    wrong = [bytearray(shots.data) for _ in range(2)]
    size = len(xtrace_record.shot_bytes(shots.shots[0]))
    header = len(shots.data) - size * len(shots.shots)
    for number, data in zip((1, 3), wrong):  # one instruction too many before that place
        struct.pack_into("<Q", data, header + number * size + 24, shots.shots[number]["insns"] + 1)
    middle = shots.shots[2]["offset"]
    data = bytearray(stream.data)
    data[middle] = 0xff
    for shot, records in ((1, wrong[0]), (3, wrong[1])):
        save(os.path.join(folder, "shots"), [xtrace_gen.File(stream.name, data, []), xtrace_gen.File(shots.name, records, [])])
        got = harness.run("check", "--json", "--resync", os.path.join(folder, "shots")).json()["problems"]
        wanted = [(middle, "xtrace.unknown-token")]
        wanted += [(header + size, "xtrace.snapshot-offset")] if shot == 1 else []
        checks.equal(sorted((p["offset"], p["rule"]) for p in got), sorted(wanted), "snapshot", shot)


def fresh(checks, folder):
    for seed in range(1000, 1006):
        rng = random.Random(seed)
        options = {"seed": seed, "rounds": rng.randrange(1, 4), "every": rng.randrange(5, 80), "kernel": rng.random() < 0.5,
                   "timed": rng.random() < 0.5, "pcs": rng.choice(("blocks", "jumps", "all")), "hidden": rng.random() < 0.5,
                   "header": rng.choice((0, 19, 24, 32)), "vl": rng.choice((128, 256, 512)), "tracks": ("5", "6"),
                   "limit": rng.randrange(200, 900)}
        every_file(checks, folder, {"seed%d" % seed: xtrace_gen.simulate(**options)}, list(PARTS))


# ---------------------------------------------------------------- the same in other ways

def answers(path, threads):
    out = {"jsonl": [dict(line, track=None) for line in jsonl(path, "--threads", threads)]}
    for by in TABLES + ("reuse", "cache", "thread", "func"):
        got = harness.run("report", "--json", "--by", by, "--threads", threads, path)
        out[by] = got.json() if got.status == 0 else got.status
    return out


def unnamed(value):
    """Without the name of the track, which differs for a pipe or another file name."""
    if isinstance(value, dict):
        return {key: unnamed(item) for key, item in value.items() if key not in ("track", "name", "tid", "path")}
    return [unnamed(item) for item in value] if isinstance(value, list) else value


def packed(folder, file):
    """Paths of the file in other forms."""
    path = os.path.join(folder, file.name)
    for suffix, compress in ((".gz", gzip.compress), (".bz2", bz2.compress)):
        with open(path + suffix, "wb") as out:
            out.write(compress(file.data))
        yield path + suffix
    if harness.run("convert", "-q", "-f", "-o", path + ".zst", path).status == 0:
        yield path + ".zst"


def ways(checks, folder):
    for name in ("user-long", "kernel", "timed", "pc-at-jumps"):
        files = xtrace_gen.make(name)
        save(os.path.join(folder, name), files)
        whole = os.path.join(folder, name)
        checks.equal(answers(whole, 4), answers(whole, 1), name, "folder, threads")
        for file in [file for file in files if is_stream(file)][:1]:
            wanted = answers(os.path.join(whole, file.name), 1)
            for path in packed(whole, file):
                if harness.run("info", path).status != 0:
                    continue  # built without that library
                for threads in (1, 4):
                    got = answers(path, threads)
                    for what, value in wanted.items():
                        checks.equal(unnamed(got[what]), unnamed(value), path, threads, what)
            piped = harness.run("report", "--json", "--by", "block", "--from", "xtrace", "-", stdin=file.data).json()
            checks.equal(unnamed(piped), unnamed(wanted["block"]), name, "through a pipe")


def ranges(checks, folder):
    for name in ("user-long", "kernel", "no-first-pc", "vl-256", "pc-at-jumps"):
        files, rng = xtrace_gen.make(name), random.Random(name)
        save(os.path.join(folder, name), files)
        alone = os.path.join(folder, name, "alone")
        save(alone, files[:1])
        events, insns = files[0].events, files[0].record.insns

        def one(bounds):
            wanted = [e for e in events if bounds[0] <= e["ts"] < bounds[1]]
            for root in (os.path.join(folder, name), alone):
                got = jsonl(os.path.join(root, files[0].name), "--insns", "%d..%d" % bounds)
                difference = first_difference(got, wanted, "line")
                checks.that(difference is None, name, bounds, os.path.basename(root), difference)
        some = [tuple(sorted(rng.sample(range(insns + 1), 2))) for _ in range(18)]
        list(parallel(one, some + [(0, 1), (insns - 1, insns)]))


def processors(checks, folder):
    """Hint 13 marks a recorded processor, and then files of hint 9 beside it are processors, too."""
    files = xtrace_gen.make("timed-kernel")
    whole = os.path.join(folder, "whole")
    save(whole, files)
    streams = {int(file.name.split(".")[2]): file for file in files if is_stream(file)}
    insns = {who: file.record.insns for who, file in streams.items()}
    tracks = harness.run("info", "--json", whole).json()["tracks"]
    checks.equal([(t["name"], t["tid"], t["cpu"]) for t in tracks], [("cpu %d" % who, None, who) for who in sorted(insns)], "tracks")
    threads = harness.run("report", "--json", "--by", "thread", whole).json()["threads"]
    checks.equal({row["cpu"]: (row["name"], row["tid"], row["instructions"]) for row in threads},
                 {who: ("cpu %d" % who, None, n) for who, n in insns.items()}, "--by thread")
    for who, file in streams.items():
        option = ("--cpu", str(who))
        wanted = [dict(line, track="cpu %d" % who, cpu=who) for line in file.events]
        got = [line for line in jsonl(whole, *option) if line["class"] != "snapshot"]
        checks.that(first_difference(got, wanted, "line") is None, "events", option, first_difference(got, wanted, "line"))
        for options in (option, ("-t", "cpu %d" % who)):
            for by in ("mix", "block"):
                alone = harness.run("report", "--json", "--by", by, os.path.join(whole, file.name)).json()
                got = harness.run("report", "--json", "--by", by, *options, whole).json()
                checks.equal(unnamed(got), unnamed(alone), by, options)
            calls = harness.run("report", "--json", *options, whole).json()["functions"]
            checks.equal(sum(row["self"] for row in calls), insns[who], "calls", options)
            state = harness.run("info", "--json", "--at", "50", *options, whole).json()
            checks.equal((state["track"], state["at"]), ("cpu %d" % who, 50), "info --at", options)
        records = harness.run("convert", "-q", "--to", "drmemtrace", "-o", "-", *option, whole).out
        cpu = [value for kind, size, value in struct.iter_unpack("<HHQ", records) if (kind, size) == (28, 3)]
        checks.equal(set(cpu), {who}, "drmemtrace's marker of the processor")
        for verb in (("report", "--by", "mix"), ("report",), ("convert", "--to", "jsonl", "-o", "-"), ("info", "--at", "5")):
            result = harness.run(*verb, "-t", str(who), whole)
            checks.equal((result.status, b"no thread matches" in result.err), (2, True), verb, "a processor is not a thread")
    first = os.path.join(folder, "first.xtrace")
    checks.equal(harness.run("convert", "-q", "--cpu", "0", "-o", first, whole).status, 0, "--cpu 0 as a folder")
    again = harness.run("info", "--json", first).json()["tracks"]
    checks.equal([(t["name"], t["cpu"], t["tid"]) for t in again], [("cpu 0", 0, None)], "hint 9 alone, by its snapshots")
    alone = os.path.join(whole, streams[1].name)
    checks.equal([len(jsonl(alone, "--cpu", number)) for number in "01"], [0, len(streams[1].events)], "one file, by --cpu")
    checks.equal(harness.run("convert", "--to", "jsonl", "-o", "-", "-t", "1", alone).status, 2, "one file, -t")
    checks.that(b"processor\n" in harness.run("info", alone).out, "info of one file")
    other = os.path.join(folder, "threads")
    save(other, xtrace_gen.make("timed"))
    result = harness.run("report", "--by", "mix", "--cpu", "200", other)
    checks.equal((result.status, b"no processors" in result.err), (2, True), "threads, --cpu")
    checks.equal(jsonl(other, "--cpu", "200"), [], "threads have no processor")
    checks.that(all("cpu" not in t for t in harness.run("info", "--json", other).json()["tracks"]), "threads")


def main():
    parts = {part: good(part) for part in PARTS}
    parts.update(damaged=damaged, resync=resync, fresh=fresh, ways=ways, processors=processors, ranges=ranges)
    checks = harness.Checks()
    with harness.work_folder() as folder:
        parts[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
