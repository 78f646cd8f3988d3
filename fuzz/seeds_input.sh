#!/usr/bin/env bash
# Makes the seeds of fuzz_input: small .zst files of every shape, good and damaged ones, after two bytes that say in
# which order they are read. Wants zstd, gzip, bzip2 and python3.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$here/corpus/input"
mkdir -p "$here/corpus/input"
cd "$here/corpus/input"
python3 - <<'PYTHON'
import struct
import subprocess

TEXT = b"".join(b"%d: what is read twice is the same twice\n" % (i * i % 97) for i in range(60))
LONG = TEXT * 150  # more than two blocks


def pack(data, *options):
    # From a file: only then does the tool know the size, and writes it.
    with open("content", "wb") as f:
        f.write(data)
    return subprocess.run(["zstd", "-q", "-c", *options, "content"], stdout=subprocess.PIPE, check=True).stdout


def skip(data, digit=0):
    return struct.pack("<II", 0x184D2A50 + digit, len(data)) + data


def table(frames):
    entries = b"".join(struct.pack("<II", packed, content) for packed, content in frames)
    return skip(entries + struct.pack("<IBI", len(frames), 0, 0x8F92EAB1), 14)


def seed(name, data, order=b"\x35\x21"):
    with open(name, "wb") as f:
        f.write(order + data)


one, two, sum_less = pack(TEXT), pack(TEXT[::-1]), pack(TEXT, "--no-check")
long, empty = pack(LONG), pack(b"")
unsized = subprocess.run(["zstd", "-q", "-c"], input=TEXT, stdout=subprocess.PIPE, check=True).stdout
sizes = [(len(one), len(TEXT)), (len(two), len(TEXT)), (12, 0), (len(unsized), len(TEXT))]
seed("one", one)
seed("without-sum", sum_less)
seed("without-size", unsized)
seed("long", long, b"\x4f\x7a")
seed("many", one + two + sum_less + long + one, b"\x9f\x33")
seed("empty-frames", empty + one + empty + empty + two + empty)
seed("skippable", skip(b"front") + one + skip(b"", 3) + two + skip(b"behind", 7))
seed("table", one + two + skip(b"note", 9) + unsized + table(sizes))
seed("table-lies", one + two + skip(b"note", 9) + unsized + table([(a, b + (a == len(two))) for a, b in sizes]))
seed("table-hides", one + two + unsized + table([(len(one) + len(two), len(TEXT)), sizes[3]]))
seed("cut", (one + long)[:-70])
seed("cut-in-sum", one[:-2])
seed("something-else", one + b"something else")
seed("damaged", one + long[: len(long) // 2] + b"\xff\xff\xff" + long[len(long) // 2 + 3 :] + two)
seed("damaged-sum", one + two[:-1] + b"\0" + one)
# Sizes that are not: the second byte of a size of two.
seed("shorter", one[:7] + b"\x20" + one[8:] + two)
seed("same-byte", pack(b"x" * 300000) + one)
seed("gzip", subprocess.run(["gzip", "-nc"], input=TEXT, stdout=subprocess.PIPE, check=True).stdout)
seed("bzip2", subprocess.run(["bzip2", "-c"], input=TEXT, stdout=subprocess.PIPE, check=True).stdout)
PYTHON
rm -f content
