#!/usr/bin/env python3
"""`convert --slice-at TIME` of several threads: xtrace_slice_time.py machine|shared|wrong

machine: streams of our own machine. This script finds the cut of each thread in the bytes of its tokens; the registers
there must be the machine's, which writes a snapshot before every instruction. shared: the traces of the shared corpus,
judged by its reader. wrong: TIMEs outside the trace, streams without TIMEs, with damage, and TIMEs that go back."""
import glob
import json
import os
import random
import re
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import xtrace_gen
import xtrace_record
from xtrace_machine import SYSTEM_REGISTERS
from xtrace_roundtrip import check_folder, events, read

NEVER = 1 << 64  # later than any TIME
CASES = {"timed": {"seed": 17, "tracks": ("200", "201"), "rounds": 2},
         "kernel": {"seed": 18, "tracks": ("0", "1"), "kernel": True},
         "three": {"seed": 70, "tracks": ("5", "6", "7"), "pcs": "jumps", "header": 19},
         "hidden": {"seed": 71, "tracks": ("5", "6"), "hidden": True, "header": 0},
         "vl-512": {"seed": 72, "tracks": ("5", "6"), "vl": 512, "limit": 900}}

# The stack pointer at changes of level, and the link register of a BL at an unknown pc.
UNKNOWN = {"kernel": ("x31",), "hidden": ("x30",)}


def tokens(data):
    """(token, offset, size) of each; the last one may be cut."""
    at = 0
    while at < len(data):
        token, size = data[at], 9
        if token & 7 == 1:
            size = 13 if token & 8 else 5
        elif token & 7 == 2:
            size = 9 + (1 << (token >> 4))
        elif token == 0x0c:
            size = 257
        elif token == 0x24:
            size = 9 + 16 * struct.unpack_from("<Q", data, at + 1)[0]
        yield token, at, size
        at += size


def instructions(data):
    """(offset, TIMEs) of each instruction."""
    out = []
    for token, at, size in tokens(data):
        if token & 7 == 1 and at + size <= len(data):
            out.append((at, []))
        elif token == 0x07 and out and at + size <= len(data):
            out[-1][1].append(struct.unpack_from("<Q", data, at + 1)[0])
    return out


def cut_of(data, time):
    """The number of instructions before the cut, None if the thread ended earlier; and whether it begins later."""
    insns = instructions(data)
    behind = next((n for n, (_, times) in enumerate(insns) if any(t > time for t in times)), None)
    earlier = any(t <= time for _, times in insns[:len(insns) if behind is None else behind + 1] for t in times)
    return (0, True) if behind is not None and not earlier else (behind, False)


def who_of(name):
    return os.path.basename(name).split(".")[2]


def streams_in(folder):
    return {who_of(path): path for path in glob.glob(os.path.join(folder, "*xinsndata.bin"))}


def first_record(path, vl):
    """The first snapshot of a file written by us: its counts, and its registers by name."""
    data, vector, predicate = read(path)[24:], vl // 8, (vl // 64 + 15) // 16 * 16
    counts, at = struct.unpack_from("<4Q", data), 288
    out = {"x%d" % n: value for n, value in enumerate(struct.unpack_from("<32Q", data, 32))}
    for n in range(32):
        out["z%d" % n] = data[at + n * vector:at + (n + 1) * vector]
    at += 32 * vector
    for n in range(17):
        out["p%d" % n] = data[at + n * predicate:at + n * predicate + vl // 64]
    at += 17 * predicate
    out["za"] = data[at:at + vector * vector]
    at += vector * vector
    out.update(zip(SYSTEM_REGISTERS, struct.unpack_from("<11Q", data, at)))
    return counts, out, struct.unpack_from("<Q", data, at + 88)[0]


def truth(shot):
    out = {"x%d" % n: value for n, value in enumerate(shot["x"])}
    out.update(("z%d" % n, z) for n, z in enumerate(shot["z"]))
    out.update(("p%d" % n, p) for n, p in enumerate(shot["p"] + [shot["ffr"]]))
    out.update(za=shot["za"], **{name: shot[name] for name in SYSTEM_REGISTERS})
    return out


def judge_registers(checks, path, shot, said, but, where):
    """Right, or 0 and counted. General registers and flags are known after a snapshot, `but` some."""
    counts, got, vl = first_record(path, shot["vl"])
    checks.equal((counts, vl), ((0, 0, 0, 0), shot["vl"]), where, "counts, vector length")
    wrong = []
    for name, value in truth(shot).items():
        if got[name] == value:
            continue
        checks.that(not any(got[name]) if isinstance(value, bytes) else got[name] == 0, where, name, got[name], value)
        wrong.append(name)
    strict = [name for name in wrong if re.fullmatch(r"x\d+|nzcv|tpidr_el0|fpcr", name) and name not in but]
    checks.equal(strict, [], where, "registers that are known")
    checks.that(len(wrong) <= said, where, wrong, "but said are", said)
    return len(truth(shot)) - len(wrong)


def kept(data, cut, insns):
    """The bytes of the events of the slice, except that it has its first pc."""
    places = [at for at, _ in instructions(data)] + [len(data)]
    return data[places[cut]:places[min(cut + insns, len(places) - 1)]]


def same_events(checks, folder, source, cut, insns, where):
    got = [{k: v for k, v in e.items() if k != "track"} for e in events(folder)]
    wanted = [dict({k: v for k, v in e.items() if k not in ("track", "cpu")}, ts=max(0, e["ts"] - cut)) for e in events(source)
              if cut <= e["ts"] < cut + insns]
    checks.equal(got, wanted, where, "events")


def slice_at(folder, source, time, *options):
    out = os.path.join(folder, "slice.xtrace")
    shutil.rmtree(out, ignore_errors=True)
    return out, harness.run("convert", "--slice-at", time, "-o", out, *options, source)


def said_of(name, text):
    """How many registers of a track are reported as unknown."""
    found = re.search(r"\b%s is cut before instruction [\d,]+: (\d+) of its registers" % name, text)
    return int(found.group(1)) if found else 0


def judge(checks, folder, source, time, insns, shots, where):
    """One slice of a folder. Returns how many threads were cut, ended earlier, and begin later."""
    options = ("-n", str(insns)) if insns < NEVER else ()
    out, result = slice_at(folder, source, str(time), *options)
    cuts = {who: cut_of(read(path), time) for who, path in streams_in(source).items()}
    alive = {who: at for who, (at, _) in cuts.items() if at is not None}
    later = [who for who, (_, late) in cuts.items() if late]
    if not alive or len(later) == len(cuts):
        checks.equal(result.status, 2, where, "out of range", result)
        checks.that(not os.path.exists(out), where, "something is there")
        return 0, 0, 0
    if not checks.equal(result.status, 0, where, result):
        return 0, 0, 0
    text = result.err.decode()
    check_folder(checks, out, where)
    checks.equal(sorted(streams_in(out)), sorted(alive), where, "streams")
    known = 0
    for who, (at, late) in cuts.items():
        checks.equal(bool(re.search(r"\b%s ended before" % who, text)), at is None, where, who, "ended", text)
        checks.equal(bool(re.search(r"\b%s begins later" % who, text)), late, where, who, "begins later", text)
        if at is None:
            continue
        path = streams_in(out)[who]
        same_events(checks, path, streams_in(source)[who], at, insns, (where, who))
        if shots:
            shot = next(s for s in shots[who] if s["insns"] == at)
            known += judge_registers(checks, path.replace("xinsndata", "xsnapshot"), shot, said_of(who, text),
                                     UNKNOWN.get(where.split()[0], ()), (where, who, at))
            state = harness.run("info", "--json", "--at", "0", path).json()
            checks.equal([state["from"], state["snapshot"]], [0, True], where, "begins with a snapshot")
    return len(alive) - len(later), len(cuts) - len(alive), len(later)


def interesting(rng, source, count):
    """TIMEs: at the ends of the threads, and between."""
    of = [[t for _, times in instructions(read(path)) for t in times] for path in streams_in(source).values()]
    ends = {t + d for times in of for t in (min(times), max(times)) for d in (-1, 0)}
    low, high = min(map(min, of)), max(map(max, of))
    return sorted(ends | {rng.randrange(low, high) for _ in range(count)} | {0, high + 1000})


def machine(checks, folder):
    many = os.environ.get("TL_MANY_RUNS")
    totals = [0, 0, 0]
    for name, options in CASES.items():
        rng, source = random.Random(name), os.path.join(folder, name)
        exact = xtrace_gen.simulate(every=1, timed=True, **options)
        shots = {who_of(f.name): f.shots for f in exact if f.shots is not None}
        files = xtrace_gen.simulate(every=64, timed=True, **options)
        checks.equal([f.data for f in files if f.shots is None], [f.data for f in exact if f.shots is None], name, "one run")
        os.makedirs(source)
        for file in files:
            with open(os.path.join(source, file.name), "wb") as to:
                to.write(file.data)
        for time in interesting(rng, source, 12 if many else 3):
            insns = rng.choice((NEVER, NEVER, 1, 50))
            for n, one in enumerate(judge(checks, folder, source, time, insns, shots, "%s at %d, %d" % (name, time, insns))):
                totals[n] += one
    checks.that(totals[0] > 20 and totals[1] > 3 and totals[2] > 3, "cut, ended, later:", totals)
    # At a snapshot of the trace the slice has that one; and one thread, where a plain number means a snapshot.
    source, out = os.path.join(folder, "timed"), os.path.join(folder, "slice.xtrace")
    stream = streams_in(source)["200"]
    times = instructions(read(stream))[64][1] or instructions(read(stream))[65][1]
    for options in (("-t", "200"),):
        slice_at(folder, source, "+%d" % times[0], *options)
        checks.equal(sorted(streams_in(out)), ["200"], "one thread")
        shutil.rmtree(out)
        result = harness.run("convert", "--slice-at", "1", "-n", "30", "-o", out, *options, source)
        checks.equal((result.status, len(instructions(read(streams_in(out)["200"])))), (0, 30), "from a snapshot on")
    _, result = slice_at(folder, stream, "+%d" % times[0])
    checks.equal((result.status, sorted(streams_in(out))), (0, ["200"]), "one file, by TIME", result)


def shared_ones(checks, folder):
    sys.path.insert(0, harness.shared("tools"))
    import xtrace_reference
    cut = 0
    for source in sorted(glob.glob(os.path.join(harness.shared("corpus", "xtrace", "generated"), "*", ""))):
        ours = streams_in(source)
        if len(ours) < 2 or not all(any(times for _, times in instructions(read(path))) for path in ours.values()):
            continue
        for time in interesting(random.Random(source), source, 4):
            cut += judge(checks, folder, source, time, NEVER, None, "%s at %d" % (source, time))[0]
            for path in glob.glob(os.path.join(folder, "slice.xtrace", "*.bin")):
                loaded, partner = xtrace_reference.load(path)
                found = xtrace_reference.check(path, loaded, partner)
                checks.equal(found["problems"], [], path, time, "the shared reader")
    checks.that(cut > 3, "only", cut, "threads of the corpus were cut")


def refused(checks, folder, source, time, text, status=2):
    out, result = slice_at(folder, source, time)
    checks.that(result.status == status and text in result.err.decode(), source, time, result)
    checks.that(not os.path.exists(out), source, time, "something is there")


def wrong(checks, folder):
    files = xtrace_gen.simulate(every=64, timed=True, **CASES["timed"])
    source = os.path.join(folder, "good")
    os.makedirs(source)
    for file in files:
        with open(os.path.join(source, file.name), "wb") as to:
            to.write(file.data)
    low, high = (f([t for path in streams_in(source).values() for _, times in instructions(read(path)) for t in times])
                 for f in (min, max))
    refused(checks, folder, source, str(low - 1), "is before the first one, %d" % low)
    refused(checks, folder, source, str(high), "the last one is %d" % high)
    refused(checks, folder, source, "1.5ms", "the frequency of its clock is not known")
    refused(checks, folder, source, "2026-01-01", "the frequency of its clock is not known")
    for text in ("1x", "1..2", "..", "+", "-1"):
        refused(checks, folder, source, text, "expected a time")
    for form in ("jsonl", "xtrace", "champsim"):
        result = harness.run("convert", "--slice-at", str(low + 5), "-o", os.path.join(folder, "o"), "--to", form, source)
        checks.equal((result.status, b"write xtrace-set" in result.err), (2, True), form, result)
    # Without TIMEs, and without snapshots.
    plain = os.path.join(folder, "plain")
    xtrace_gen.save(plain, "threads")
    refused(checks, folder, plain, "+5", "thread 100 has no TIMEs to cut it by")
    refused(checks, folder, plain, "5", "say with -n")
    for path in glob.glob(os.path.join(source, "*xsnapshot*")):
        os.remove(path)
    out, result = slice_at(folder, source, str((low + high) // 2))
    checks.that(result.status == 0 and result.err.decode().count("has no snapshot before") == 2, result)
    checks.equal(glob.glob(os.path.join(out, "*xsnapshot*")), [], "no snapshot is made up")
    # A damaged stream ends there. One whose TIMEs go back is cut at the first later one.
    path = streams_in(source)["200"]
    data = read(path)
    places = instructions(data)
    with open(path, "wb") as to:
        to.write(data[:places[len(places) // 3][0] + 2])
    time = max(t for _, times in places[:len(places) // 3 + 60] for t in times)
    out, result = slice_at(folder, source, str(time))
    checks.that(result.status == 3 and b"200 ended before" in result.err, "damage", result)
    checks.equal(sorted(streams_in(out)), ["201"], "what is left")
    data, early = bytearray(data), next(n for n, (_, times) in enumerate(places) if n > 40 and times)
    at = next(at for token, at, _ in tokens(data) if token == 0x07 and at > places[early][0])
    data[at + 1:at + 9] = struct.pack("<Q", high + 7)
    with open(path, "wb") as to:
        to.write(data)
    for time in (high - 20, high + 6):
        out, result = slice_at(folder, source, str(time))
        checks.equal(result.status, 0, "TIMEs that go back", result)
        checks.equal(cut_of(bytes(data), time), (early, False), "where that is")
        checks.equal(len(instructions(read(streams_in(out)["200"]))), len(places) - early, "is cut at", time)


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        {"machine": machine, "shared": shared_ones, "wrong": wrong}[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
