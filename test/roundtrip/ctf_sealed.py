#!/usr/bin/env python3
"""Compressed packets of CTF 1.1 with checksums, read by Python's own libraries.

Each packet of a copy written with --compress and --checksum holds the same bytes as that of a plain copy, its checksum
is right, and `check` finds a changed byte in it."""
import bz2
import glob
import hashlib
import os
import shutil
import struct
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import ctf_gen
import xray_gen

HEADER = 48
COMPRESS = {"bzip2": 1, "gzip": 2}
CHECKSUM = {"md5": 1, "sha1": 2, "crc32": 3}
NEEDS = {"gzip": "zlib", "bzip2": "bzip2"}


class Packet:
    def __init__(self, data, at):
        (magic, _, self.content, self.size, self.sum) = struct.unpack_from("<5I", data, at)
        assert magic == 0xC1FC1FC1, hex(magic)
        assert HEADER <= self.content <= self.size and self.size % 4096 == 0, (self.content, self.size)
        self.compression, self.encryption, self.scheme = data[at + 45:at + 48]
        self.at, self.stored = at, data[at + HEADER:at + self.content]
        assert not any(data[at + self.content:at + self.size]), "padding"
        # The parts that compression and checksums do not change.
        self.rest = data[at + 4:at + 8] + data[at + 20:at + 45] + data[at + 46:at + 47]

    def plain(self):
        return (bytes, bz2.decompress, lambda b: zlib.decompress(b, 31))[self.compression](self.stored)

    def checksum(self):
        if self.scheme == 3:
            return zlib.crc32(self.stored)
        return struct.unpack("<I", (None, hashlib.md5, hashlib.sha1)[self.scheme](self.stored).digest()[:4])[0]


def packets_of(path):
    with open(path, "rb") as file:
        data = file.read()
    found, at = [], 0
    while at < len(data):
        found.append(Packet(data, at))
        at += found[-1].size
    return found


def convert(checks, path, out, *options):
    shutil.rmtree(out, ignore_errors=True)
    done = harness.run("convert", "-q", "--to", "ctf", "--format-version", "1.1", *options, "-o", out, path)
    return checks.that(done.status == 0 and b"Sanitizer" not in done.err, path, options, done)


def compare(checks, plain, sealed, compress, checksum, seen):
    """Every packet of one copy, beside that of the other."""
    names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(plain, "*")))
    checks.equal(sorted(os.listdir(sealed)), names, sealed, "has other files")
    for name in names:
        pairs = list(zip(packets_of(os.path.join(plain, name)), packets_of(os.path.join(sealed, name))))
        checks.equal(len(packets_of(os.path.join(plain, name))), len(packets_of(os.path.join(sealed, name))), sealed, name)
        for a, b in pairs:
            checks.equal(b.rest, a.rest, sealed, name, b.at, "the header differs")
            checks.equal(b.plain(), a.stored, sealed, name, b.at, "the content differs")
            checks.that(len(b.stored) <= len(a.stored), sealed, name, "became larger")
            allowed = (0,) if name == "metadata" or not compress else (0, COMPRESS[compress])
            checks.that(b.compression in allowed, sealed, name, b.compression)
            checks.equal(b.scheme, CHECKSUM[checksum] if checksum else 0, sealed, name)
            checks.equal(b.sum, b.checksum() if checksum else 0, sealed, name, b.at, "wrong checksum")
            seen.add((name == "metadata", b.compression, b.scheme))


def damage(checks, sealed):
    """Changes a byte: `check` finds it in this packet."""
    for path in sorted(glob.glob(os.path.join(sealed, "*"))):
        with open(path, "rb") as file:
            data = file.read()
        for number, packet in enumerate(packets_of(path)[:3]):
            if not packet.stored:
                continue
            at, byte = packet.at + HEADER + (number * 37 + 5) % len(packet.stored), None
            if os.path.basename(path) == "metadata":        # changes the name of an event, which nothing else notices
                event = packet.stored.find(b"event {\n  name = ")
                if event < 0:
                    continue
                at, byte = packet.at + HEADER + event + 18, ord("Q")
            byte = data[at] ^ 0x10 if byte is None else byte
            with open(path, "wb") as file:
                file.write(data[:at] + bytes([byte]) + data[at + 1:])
            done = harness.run("check", "--json", sealed)
            found = [(d["rule"], d["offset"], d["file"]) for d in done.json()["problems"]]
            wanted = ("ctf2010.checksum", packet.at + 16, os.path.basename(path))
            checks.that(wanted in found, sealed, path, at, "is not found:", found)
            checks.equal(done.status, 1, sealed, path, at)
        with open(path, "wb") as file:
            file.write(data)


def refused(checks, source, folder):
    out = os.path.join(folder, "no")
    for options, status, text in (
            (("--to", "ctf", "--compress", "gzip"), 2, b"only those of version 1.1"),
            (("--to", "ctf", "--format-version", "1.8", "--checksum", "md5"), 2, b"only those of version 1.1"),
            (("--to", "jsonl", "--compress", "gzip"), 2, b"--compress: format jsonl has no packets; formats of packets: ctf"),
            (("--to", "pprof", "--checksum", "sha1"), 2, b"--checksum: format pprof has no packets"),
            (("--to", "ctf", "--compress", "zstd"), 2, b"expected one of: gzip bzip2"),
            (("--to", "ctf", "--checksum", "crc"), 2, b"expected one of: crc32 md5 sha1")):
        done = harness.run("convert", *options, "-o", out, source)
        checks.equal(done.status, status, options, done)
        checks.that(text in done.err, options, done)
        checks.that(not os.path.exists(out), options, "left something")
    for verb in ("report", "info"):
        checks.equal(harness.run(verb, "--compress", "gzip", source).status, 2, verb)


def main():
    checks, seen = harness.Checks(), set()
    with harness.work_folder() as folder:
        source = os.path.join(folder, "source.xray")
        with open(source, "wb") as file:
            file.write(xray_gen.make("fdr-v5-le")[0])
        refused(checks, source, folder)
        ctf_gen.save(folder, "ctf18-mixed-le", ctf_gen.make("ctf18-mixed-le")[0], None)
        plain, sealed = os.path.join(folder, "plain"), os.path.join(folder, "sealed")
        choices = [(a, b) for a in (None, "gzip", "bzip2") for b in (None, "crc32", "md5", "sha1") if a or b]
        for path in (source, os.path.join(folder, "ctf18-mixed-le"), os.path.join(harness.SOURCE, "test/golden/input/ctf-2")):
            if not convert(checks, path, plain):
                continue
            lines = harness.run("cat", "--to", "jsonl", plain).out
            for compress, checksum in choices:
                options = (["--compress", compress] if compress else []) + (["--checksum", checksum] if checksum else [])
                lacking = [o for o in (compress, checksum) if o in NEEDS and not harness.built_with(NEEDS[o])]
                if lacking:
                    done = harness.run("convert", "--to", "ctf", "--format-version", "1.1", *options, "-o", sealed + "-", path)
                    checks.that(done.status == 2 and b"this build has no" in done.err, options, done)
                elif convert(checks, path, sealed, *options):
                    compare(checks, plain, sealed, compress, checksum, seen)
                    checks.equal(harness.run("check", sealed).status, 0, path, options)
                    checks.equal(harness.run("cat", "--to", "jsonl", sealed).out, lines, path, options, "other events")
                    if checksum and harness.some_of("%s%s%s" % (os.path.basename(path), compress, checksum), (True, False, False), 1)[0]:
                        damage(checks, sealed)
        if harness.built_with("zlib", "bzip2"):
            wanted = {(False, c, s) for c in range(3) for s in range(4)} | {(True, 0, s) for s in range(4)}
            checks.equal(sorted(seen), sorted(wanted), "kinds of packets that were seen")
    checks.end()


if __name__ == "__main__":
    main()
