#!/usr/bin/env python3
"""Inputs made to cost time or memory: bombs, holes, depth, numbers of files. large.py CASE | --list

The build without sanitizers reads each in its own process, whose peak memory and processor time are measured: it must be
refused, or read, in at most 256 MiB, and the message names it. Limits on time only catch endless runs."""
import bz2
import gzip
import os
import re
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

MEMORY_MIB, SECONDS, PATIENCE = 256, 60, 300
MIB, GIB, TIB = 1 << 20, 1 << 30, 1 << 40
INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
ZERO = bytes(64 * MIB)


class Measured:
    def __init__(self, command, cwd, stdin=None):
        self.command = command
        error = os.path.join(cwd, "stderr")
        with open(error, "wb") as err:
            before = time.monotonic()
            process = subprocess.Popen(harness.binary("TL_PLAIN_BINARY") + command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=err,
                                       stdin=stdin or subprocess.DEVNULL)
            pid = 0
            while pid == 0 and time.monotonic() - before < PATIENCE:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                time.sleep(0.01)
            self.ended = pid != 0
            if not self.ended:
                process.kill()
                pid, status, usage = os.wait4(process.pid, 0)
            process.returncode = 0                                  # waited for already
        self.status = os.waitstatus_to_exitcode(status)
        self.seconds, self.mib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        with open(error, encoding="utf-8", errors="replace") as file:
            self.message = file.read()


class Case:
    """Makes inputs in a folder, runs verbs on them, compares."""

    def __init__(self, work):
        self.work, self.checks, self.most = work, harness.Checks(), (0, 0)

    def path(self, *names):
        return os.path.join(self.work, *names)

    def write(self, name, *parts):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            for part in parts:
                file.write(part)

    def sparse(self, name, size, begin=b""):
        self.write(name, begin)
        os.truncate(self.path(name), size)

    def run(self, command, status, message="", stdin=None, named=True):
        r = Measured(command.split(), self.work, stdin)
        self.most = (max(self.most[0], r.mib), max(self.most[1], r.seconds))
        what = "traceloom %s: status %d, %.1f MiB, %.1f s: %.300s" % (command, r.status, r.mib, r.seconds, r.message)
        self.checks.that(r.ended, "it does not end:", what)
        self.checks.that(r.status in (status if isinstance(status, tuple) else (status,)), "expected status", status, "of", what)
        self.checks.that(r.mib <= MEMORY_MIB, "too much memory:", what)
        self.checks.that(r.seconds <= SECONDS, "too long:", what)
        self.checks.that(re.search(message, r.message) is not None, "expected the message", message, "of", what)
        name = "standard input" if stdin else command.split()[1]
        self.checks.that(r.status in (0, 1) or not named or name in r.message, "the message does not name", name, "in", what)

    def all_verbs(self, name, status, message=""):
        for verb in ("info %s", "check %s", "report %s", "convert %s --to jsonl -o -"):
            self.run(verb % name, status, message)


def golden(*names):
    with open(os.path.join(INPUT, *names), "rb") as file:
        return file.read()


# --------------------------------------------------------------------------------------------------- compressed bombs

def zstd(data, sized):
    """One frame; the tool does not know the size of input from a pipe."""
    if not sized:
        return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return subprocess.run(["zstd", "-q", "-c", "--stream-size=%d" % len(data)], input=data, stdout=subprocess.PIPE, check=True).stdout


TOO_MUCH = "decompresses to more than 4096 times its size"


def zstd_sized(c):
    """Up to 1 GiB is read, at any cost."""
    frame = zstd(ZERO, True)
    c.write("zeros.zst", frame * 40)
    c.run("info zeros.zst", 3, TOO_MUCH)
    c.write("zeros.zst", frame * 16)
    c.run("info zeros.zst", 3, "unrecognised format")


def zstd_unsized(c):
    c.write("zeros.zst", zstd(ZERO, False) * 40)
    c.run("info zeros.zst", 3, TOO_MUCH)
    with open(c.path("zeros.zst"), "rb") as file:
        c.run("info -", 3, TOO_MUCH, stdin=file)


def zstd_window(c):
    """A frame that asks for a window of 2 GiB, for one byte."""
    c.write("wide.xray.zst", struct.pack("<IBB", 0xFD2FB528, 0, 0xA8) + struct.pack("<I", 1 << 3 | 1)[:3] + b"x")
    c.all_verbs("wide.xray.zst", 3, "window|memory")


def zstd_long(c):
    """Frames with windows of 64 MiB: only one decompressor then, however many threads there are."""
    log = golden("tracelog-doc.log")
    text = log + b"\n".join(line for line in log.split(b"\n") if line.startswith(b"sam str")) * 20000
    packed = subprocess.run(["zstd", "-q", "-c", "--long=26", "--stream-size=%d" % (64 * MIB)], input=text.ljust(64 * MIB, b"\n")[: 64 * MIB],
                            stdout=subprocess.PIPE, check=True).stdout
    c.write("long.log.zst", packed * 3)
    c.run("report long.log.zst --threads 8", (0, 3))


def zstd_frames(c):
    """More frames than are remembered: everything is kept, and read."""
    log = golden("fdr-v5-le-plain.xray")
    c.write("many.xray.zst", zstd(log, True), zstd(b"", True) * ((1 << 20) + 1))
    c.run("info many.xray.zst", 0)


def bzip2(c):
    c.write("zeros.bz2", bz2.compress(ZERO[: 45 * MIB]) * 26)
    c.run("info zeros.bz2", 3, TOO_MUCH)


def gzip_large(c):
    """gzip packs to a thousandth at best, which is allowed: it is read, and found to be no trace."""
    c.write("large.gz", gzip.compress(ZERO) * 4)
    c.run("info large.gz", 3, "unrecognised format")


def nested(c):
    """Only one layer is taken off."""
    c.write("nested.gz", gzip.compress(zstd(bz2.compress(ZERO) * 100, True)))
    c.all_verbs("nested.gz", 3, "unrecognised format")


# -------------------------------------------------------------------------------------------------------------- holes

def sparse(c):
    heads = {"fdr.xray": golden("fdr-v5-le.xray")[:32], "basic.xray": golden("basic-v3-le.xray")[:32], "profile.xray": golden("profile-le.xray"),
             "a.log": golden("tracelog-doc.log")[:3000], "live.tlp.live": golden("live-done.tlp.live"), "none.xray": b"",
             "packed.zst": struct.pack("<I", 0xFD2FB528), "packed.gz": gzip.compress(b"x")}
    for name, head in heads.items():
        c.sparse(name, 4 * TIB, head)
        c.all_verbs(name, 3, "taken for a bomb")
    for trace, file in (("ctf-18", "data_0"), ("ctf-2", "data_0"), ("xtrace-user", "xtrace.1750000001.4711.hint9.xinsndata.bin")):
        for name in os.listdir(os.path.join(INPUT, trace)):
            c.write(os.path.join(trace, name), golden(trace, name))
        os.truncate(c.path(trace, file), 4 * TIB)
        c.run("check " + trace, (1, 3), named=False)
        c.run("report " + trace, (0, 2, 3), named=False)


def sparse_profile(c):
    """A profile is read whole, so its size has a limit of its own; here real bytes reach it."""
    profile = c.path("a.tlp")
    c.run("convert %s --to tlp -o a.tlp" % os.path.join(INPUT, "fdr-v5-le.xray"), (0, 3), named=False)
    with open(profile, "r+b") as file:
        for at in range(MIB, 5 * GIB, 4 * MIB):                     # a stored byte in each 4 MiB: more than one of 4,096
            file.seek(at)
            file.write(b"x")
        file.truncate(5 * GIB)
        file.seek(12)
        file.write(struct.pack("<Q", 5 * GIB))                      # as its header says
    c.all_verbs("a.tlp", 3, "4294967296")


def long_line(c):
    """A line of a GiB: it is skipped, and never in memory."""
    c.sparse("a.log", GIB, golden("tracelog-doc.log")[:3000])
    c.run("check a.log", 1)
    c.run("report a.log", 3, "byte")


def device(c):
    c.run("info /dev/zero", 3, "device")
    with open("/dev/zero", "rb") as file:
        c.run("info -", 3, "device", stdin=file)


# ------------------------------------------------------------------------------------------------- numbers, and depth

def files(c):
    """The largest allowed number of files, and one more."""
    os.mkdir(c.path("trace"))
    c.write("trace/metadata", golden("ctf-18", "metadata"))
    for i in range(100000 - 1):
        os.close(os.open(c.path("trace", "s%d" % i), os.O_CREAT | os.O_WRONLY, 0o600))
    c.run("info trace", (0, 3))
    c.write("trace/one-more", b"")
    c.run("info trace", 3, "100,?000")


def metadata(c):
    """Depth in each language of metadata."""
    deep = 200000
    stream = golden("ctf-18", "data_0")
    texts = {"struct": b"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\nevent { name = a; fields := " + b"struct { " * deep,
             "parentheses": b"/* CTF 1.8 */ typealias integer { size = " + b"(" * deep + b"8" + b")" * deep + b"; } := t;",
             "array": b"/* CTF 1.8 */ event { name = a; fields := struct { string x" + b"[1]" * deep + b"; }; };",
             "json": b'\x1e{"type":"preamble","version":2}\n\x1e' + b"[" * deep,
             "json-class": b'\x1e{"type":"preamble","version":2}\n\x1e{"type":"field-class-alias","name":"n","field-class":'
                           + b'{"type":"static-length-array","length":1,"element-field-class":' * deep}
    for name, text in texts.items():
        c.write(name + "/metadata", text)
        c.write(name + "/stream", stream)
        c.run("info " + name, 3, "byte|line")
    head = golden("ctf-2010", "metadata")
    c.write("old/metadata", head[: len(head) // 2] + b"{" * deep)
    c.write("old/stream", b"x" * 100)
    c.run("info old", (2, 3))


def empty_elements(c):
    """Elements that take no bits: thousands or four million in each event of four bytes, or endlessly many in one."""
    head = b"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\n"
    integer = b"integer { size = 32; align = 8; signed = false; }"
    c.write("many/metadata", head, b"event { name = a; fields := struct { ", integer, b" n; struct {} x[n]; }; };")
    c.write("many/stream", (4000000).to_bytes(4, "little") * 4000)
    c.write("some/metadata", head, b"event { name = a; fields := struct { ", integer, b" n; struct {} x[n]; }; };")
    c.write("some/stream", (4000).to_bytes(4, "little") * 4000)
    nested = b'{"type":"structure"}'
    for _ in range(40):
        nested = b'{"type":"static-length-array","length":4,"element-field-class":' + nested + b"}"
    c.write("nested/metadata", *(b"\x1e" + text + b"\n" for text in (
        b'{"type":"preamble","version":2}', b'{"type":"data-stream-class"}',
        b'{"type":"event-record-class","payload-field-class":{"type":"structure","member-classes":[{"name":"a","field-class":'
        + nested + b'}]}}')))
    c.write("nested/stream", b"x" * 100)
    for name in ("some", "many", "nested"):
        c.run("check " + name, 1)
        for verb in ("info", "report", "convert --to jsonl -o -"):
            c.run("%s %s" % (verb, name), 3, "more than 4194304 values", named=False)


def ranges(c):
    """An optional and a variant with hundreds of thousands of ranges, used millions of times; as many labels and values."""
    number = b'{"type":"fixed-length-unsigned-integer","length":%d,"byte-order":"little-endian","alignment":8}'
    for name, low in (("optional", 2), ("variant", 0)):
        spread = b",".join(b"[%d,%d]" % (2 * i + low, 2 * i + low) for i in range(300000))
        options = b",".join(b'{"selector-field-ranges":[[%d,%d]],"field-class":{"type":"structure"}}' % (2 * i + 1, 2 * i + 1) for i in range(2000))
        chosen = {"optional": b'{"type":"optional","selector-field-ranges":[%s],"field-class":{"type":"structure"},' % spread,
                  "variant": b'{"type":"variant","options":[{"selector-field-ranges":[%s],"field-class":{"type":"structure"}},%s],' %
                             (spread, options)}[name] + b'"selector-field-location":{"path":["by"]}}'
        element = b'{"type":"structure","member-classes":[{"name":"by","field-class":%s},{"name":"it","field-class":%s}]}' % (number % 8, chosen)
        c.write(name + "/metadata", *(b"\x1e" + text + b"\n" for text in (
            b'{"type":"preamble","version":2}', b'{"type":"data-stream-class"}',
            b'{"type":"event-record-class","payload-field-class":{"type":"structure","member-classes":[{"name":"a","field-class":'
            b'{"type":"static-length-array","length":1000,"element-field-class":' + element + b"}}]}}")))
        c.write(name + "/stream", b"\1" * 4000000)
        c.run("check " + name, 0)
    c.write("labels/metadata", b"/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\nevent { name = a; fields := struct { ",
            b"enum : integer { size = 32; align = 8; signed = false; } { ", b", ".join(b"L%d" % i for i in range(600000)), b" } a; }; };")
    c.write("labels/stream", *(i.to_bytes(4, "little") for i in range(300000)))
    c.run("convert labels --to ctf -o copy", 0)
    c.run("convert labels --to jsonl -o -", 0)


def stacks(c):
    """Thousands of deep stacks, defined once, and each of them named in every batch."""
    threads, depth = 1000, 1000
    frames = [b" ".join(b"%#x" % (1 + (thread + i) % 9) for i in range(depth)) for thread in range(9)]
    c.write("stacks.log", *(b"sam str %#x 1 1 0:0 %s\n" % (1 + i, frames[i % 9]) for i in range(threads)),
            *(b"sam str %#x 1 1 %d:%d %#x\n" % (1 + i % threads, depth - 1, depth, 1 + i // threads % 9) for i in range(300000)))
    for run in ("report", "report --threads 1", "report --to speedscope -o profile", "convert --to none", "convert --to tracelog -o copy",
                "convert --to speedscope -o samples", "convert --to perfetto -o timeline", "check"):
        c.run(run + " stacks.log", 0)


def elf_sections(c):
    """Thousands of sections, each one the whole file."""
    n = 20000
    size = 64 + n * 64
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, n, 1)
    tables = b"".join(struct.pack("<IIQQQQIIQQ", 0, 3 if i % 2 else 2, 0, 0, 0, size, i - i % 2 + 1, 0, 8, 24) for i in range(n))
    c.write("app", header, tables)
    log = os.path.join(INPUT, "fdr-v5-le.xray")
    c.run("report %s -e app" % log, (2, 3), "app", named=False)


CASES = {name.replace("_", "-"): f for name, f in globals().items() if callable(f) and f in (
    zstd_sized, zstd_unsized, zstd_window, zstd_long, zstd_frames, bzip2, gzip_large, nested, sparse, sparse_profile, long_line, device, files,
    metadata, empty_elements, ranges, stacks, elf_sections)}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return
    harness.binary("TL_PLAIN_BINARY")
    with harness.work_folder() as work:
        case = Case(work)
        CASES[sys.argv[1]](case)
        print("at most %.1f MiB and %.1f s" % case.most)
    case.checks.end()


if __name__ == "__main__":
    main()
