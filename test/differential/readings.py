#!/usr/bin/env python3
"""Traces read in several ways: readings.py PROGRAM PART [argument...]

PROGRAM is run on all cases of all generators, damaged ones too, plain and compressed, and on the shared corpus if there
is one. PART is what the program does:
    range       random ranges of time against everything (range_check.c); of logs with many blocks they save work
    together    several readings of one open trace at once against one (together_check.c)"""
import bz2
import glob
import gzip
import os
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import generate_all

RANGES = 200 if harness.THOROUGH else 12
FORMATS = {"xray-basic", "xray-fdr", "ctf", "tracelog", "xtrace"}


def large_basic(draw):
    """Three threads, whose times go back now and then, one of them in the middle only."""
    head = (3).to_bytes(2, "little") + bytes(6) + (10**9).to_bytes(8, "little") + bytes(16)
    out, now = [head], [10**6] * 3
    for number in range(24000):
        thread = draw.choice((0, 1, 1)) if number % 3 else 2
        if thread == 2 and not 8000 < number < 16000:
            continue
        now[thread] += draw.randrange(200) if draw.random() > 0.001 else -draw.randrange(200000)
        now[thread] = max(now[thread], 1)
        kind = draw.choice((0, 1, 3))
        ids = (4711 + thread).to_bytes(4, "little") + (4000).to_bytes(4, "little")
        out.append(bytes((0, 0, thread, kind)) + (7).to_bytes(4, "little") + now[thread].to_bytes(8, "little") + ids + bytes(8))
        if kind == 3 and draw.random() < 0.9:
            out.append(bytes((1, 0, 0, 0)) + (7).to_bytes(4, "little") + ids + number.to_bytes(8, "little") + bytes(8))
    return b"".join(out)


def large_tracelog(draw):
    """Four threads, nearly in order, with lines that have no time."""
    lines, now = ["prf stm 2018-06-25 07:24:28.049 +09:00"], 0
    for number in range(30000):
        now += draw.randrange(3)
        at, thread = max(now - draw.choice((0, 0, 0, 1, 5, 40)), 0), number % 4
        lines.append("sam str 0x%08x %d 1 0:0 0x1:0x140 0x%x:0x718" % (thread, at, 2 + number % 40))
        if number % 7 == 0:
            lines.append("sam mem 0x%08x %d 0x1:3:72" % (thread, at))
        if number % 50 == 0:
            lines.append('fun nam 0x%08x "Work:F%d" "System.Int32" "(int)"' % (number % 40, number))
        if number % 1000 == 0:
            lines.append("sam str 0x00000002 %d 1 0:0 garbage" % (now * 3))
    return "\n".join(lines + [""]).encode()


def instructions(draw, stream):
    """Parts that each begin with a pc, and their numbers of instructions; TIMEs are rare, and those of two streams differ."""
    count = 0
    for _ in range(40):
        part, n = [], draw.randrange(200, 900)
        for at in range(n):
            part.append(struct.pack("<BI", 1, 0xd503201f) if at else struct.pack("<BQI", 9, 0x400000, 0xd503201f))
            if count + at == 0 or draw.random() < 0.0015:
                part.append(struct.pack("<BQ", 7, 2 * (count + at) + stream))
        yield b"".join(part), n
        count += n


def large_xtrace(folder):
    """Two streams merged by their TIMEs, in frames with an index, which several threads read ahead."""
    draw, path = random.Random(3), os.path.join(folder, "large-xtrace")
    os.mkdir(path)
    for stream in range(2):
        data, index, offset, count = b"", b"", 0, 0
        for part, n in instructions(draw, stream):
            index += struct.pack("<QQQQQ", offset, count, count, 0x400000, 1)
            data, offset, count = data + frame(part), offset + len(part), count + n
        index = b"TLXI" + struct.pack("<IQ", 1, len(index) // 40) + index
        generate_all.write(path, "xtrace.1700000000.%d.hint9.xinsndata.bin.zst" % (4711 + stream),
                           data + struct.pack("<II", 0x184d2a5b, len(index)) + index)
    return path


def large(folder):
    """Traces with many blocks, of which a range needs few."""
    draw = random.Random(1)
    yield "xray-basic", generate_all.write(folder, "large.basic", large_basic(draw))
    yield "tracelog", generate_all.write(folder, "large.log", large_tracelog(draw))
    for to in ("xray-fdr", "ctf"):
        path = os.path.join(folder, "large-" + to)
        done = harness.run("convert", "-q", "--to", to, "-o", path, os.path.join(folder, "large.basic"))
        assert done.status == 0, done
        yield to, path
    if harness.built_with("zstd"):
        yield "xtrace", large_xtrace(folder)


def packed(folder, path):
    """The same compressed, as far as the build can read it."""
    with open(path, "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    if harness.built_with("zlib"):
        yield generate_all.write(folder, name + ".gz", gzip.compress(data, 1))
    if harness.built_with("bzip2"):
        yield generate_all.write(folder, name + ".bz2", bz2.compress(data, 1))
    if harness.built_with("zstd"):
        yield generate_all.write(folder, name + ".zst", frames(data))


def frame(part):
    return subprocess.run(["zstd", "-q", "-1", "-c", "--stream-size=%d" % len(part)], input=part, capture_output=True,
                          check=True).stdout


def frames(data):
    """Many frames, as parallel compressors write them; each tells its size."""
    return b"".join(frame(data[at:at + 20000]) for at in range(0, max(len(data), 1), 20000))


# A range relies on what these say wrongly of themselves: times of packets, and the order of snapshots.
UNTRUE = re.compile(r"event-(before|after)-packet|snapshot-order")


def of_corpus():
    root = os.environ.get("TL_SHARED")
    for folder in ("xray", "tracelog", "xtrace", "ctf") if root else ():
        top = os.path.join(root, "corpus", folder)
        for path in sorted(glob.glob(os.path.join(top, "**", "*"), recursive=True)):
            if UNTRUE.search(path):
                continue
            if os.path.isdir(path):
                if os.path.exists(os.path.join(path, "metadata")) or glob.glob(os.path.join(path, "*xinsndata*")):
                    yield path
            elif re.search(r"\.(xray|fdr|basic|log|tracelog)(\.zst|\.gz)?$", path):
                yield path


def run(checks, program, arguments, paths):
    """{path: (format, events read, of how many)}"""
    done = subprocess.run(program + arguments + paths, capture_output=True, text=True, timeout=580)
    lines = [(line, re.fullmatch(r"(.*): ([a-z0-9-]+): (\d+) of (\d+) events", line)) for line in done.stdout.splitlines()]
    wrong = [line for line, fits in lines if not fits]
    checks.that(done.returncode == 0 and not wrong, *arguments, "\n".join(wrong)[:3000], done.stderr[-3000:])
    found = [fits.groups() for _, fits in lines if fits]
    return {path: (kind, int(some), int(all_of)) for path, kind, some, all_of in found}


def range_(checks, program, folder, small, big, compressed):
    for threads in ("1", "2"):
        paths = harness.some_of("range" + threads, small, len(small) // 2 + 1) if threads == "2" else small
        read = run(checks, program, [str(RANGES), threads], paths + [path for _, path in big])
        checks.that({kind for kind, _, _ in read.values()} >= FORMATS, "formats", read)
        for kind, path in big: # all can leave something out
            checks.that(read[path][1] < read[path][2] * 9 // 10, path, read[path])
    run(checks, program, [str(RANGES // 4), "2"], compressed)


def together(checks, program, folder, small, big, compressed):
    for threads in ("1", "3"):
        paths = harness.some_of("together" + threads, small, len(small) // 4 + 1) + [path for _, path in big]
        read = run(checks, program, ["1", threads], paths + compressed)
        checks.that({kind for kind, _, _ in read.values()} >= FORMATS, "formats", read)
        for kind, path in big:
            checks.that(read[path][1] > 10000, path, read[path])


def main():
    program, part = harness.command_words(sys.argv[1]), sys.argv[2]
    checks = harness.Checks()
    with harness.work_folder() as folder:
        small = [path for _, _, path in generate_all.traces(folder)] + list(of_corpus())
        big = list(large(folder))
        files = [path for _, path in big if os.path.isfile(path)]
        compressed = [p for path in files for p in packed(folder, path)]
        {"range": range_, "together": together}[part](checks, program, folder, small, big, compressed)
    checks.end()


if __name__ == "__main__":
    main()
