#!/usr/bin/env python3
"""Makes XRay files of every version and byte order, good and damaged ones, from a made-up program.

    xray_gen.py --out DIR            writes all files of CASES, each NAME.xray with NAME.expect.json beside it
    xray_gen.py --one NAME FILE      writes one of them
    xray_gen.py --bulk EVENTS FILE   writes a large FDR log of version 5 (4 threads)
    xray_gen.py --elf FILE           writes the binary with the names of the functions

NAME.expect.json: {"tracks": {name: [events as jsonl objects]}, "lost"} of a good file, {"functions": {id: [calls, total, self]}} of
a good profile, {"rule", "offset"} of the first problem of a damaged one. The numbers come from the program that was simulated, not from a reader."""
import argparse
import json
import os
import struct
import sys

import program
from program import CUSTOM, ENTER, ENTER_ARGS, TYPED, Random

HZ = 2_000_000_000
PID = 4711
NEW_BUFFER, END_OF_BUFFER, NEW_CPU, TSC_WRAP, WALLTIME, CUSTOM_EVENT, ARGUMENT, EXTENTS, TYPED_EVENT, PID_RECORD = range(10)


def unused(count):
    """Unused bytes of a format: not zero, as in files of the real runtime."""
    return (b"\xaa\x55\x13\xfe" * 4)[:count]


class File:
    """Bytes, and the place of each record."""

    def __init__(self, order):
        self.order, self.data, self.places = order, bytearray(), []

    def pack(self, form, *values):
        return struct.pack((">" if self.order == "big" else "<") + form, *values)

    def add(self, name, data):
        self.places.append((name, len(self.data), len(data)))
        self.data += data

    def find(self, name):
        return [(at, size) for what, at, size in self.places if what == name]

    def put(self, at, data):
        self.data[at:at + len(data)] = data


# ---------------------------------------------------------------------------------------------------------------- basic

def basic(version, order, threads, hz=HZ, piece=9, split=False, lost=0):
    """Threads flush their buffers in turn, `piece` events at a time; `split`: records, so that others lie between an entry
    and its argument. Every `lost`-th event is followed by the argument of a call too deep to be recorded."""
    file = File(order)
    file.add("header", file.pack("HHIQ", version, 0, 3, hz) + unused(16))

    def argument(tid, function, value):
        pid = PID if version >= 3 else 0x12345678                                # before version 3 these bytes are unused
        return "argument", file.pack("H", 1) + unused(2) + file.pack("iIIQ", function, tid, pid, value) + unused(8)

    def records(tid, number, event):
        pid = PID if version >= 3 else number * 0x01010101 % (1 << 32)
        out = [("record", file.pack("HBBiQII", 0, event.cpu & 255, event.kind, event.function, event.tsc, tid, pid) + unused(8))]
        out += [argument(tid, event.function, value) for value in event.args]
        return out + ([argument(tid, event.function, number)] if lost and number % lost == 0 else [])

    waiting = []
    for tid, events in threads:
        pieces = [records(tid, number, event) for number, event in enumerate(events)]
        waiting.append([[record] for piece in pieces for record in piece] if split else pieces)
    while any(waiting):
        for pieces in waiting:
            for name, data in sum(pieces[:piece], []):
                file.add(name, data)
            del pieces[:piece]
    return file


# ------------------------------------------------------------------------------------------------------------------ FDR

class Fdr:
    def __init__(self, version, order, hz, buffer, overwrites=False):
        self.version, self.hz, self.buffer = version, hz, buffer
        self.overwrites = overwrites                                    # each record overwrites the payload of the one before
        self.file = File(order)

    def metadata(self, kind, form="", *values):
        first = kind << 1 | 1 if self.file.order == "little" else kind | 0x80
        body = self.file.pack(form, *values)
        return bytes([first]) + body + unused(15 - len(body))

    def function(self, event, delta):
        word = event.kind << 28 | event.function if self.file.order == "big" else event.function << 4 | event.kind << 1
        return self.file.pack("II", word, delta)

    def event(self, event, tsc):
        """(records of one event, TSC after it)"""
        out, delta = [], event.tsc - tsc
        absolute = event.kind > ENTER_ARGS and self.version < 5
        limit = 1 << 32 if event.kind <= ENTER_ARGS else 1 << 31
        if not absolute and not 0 <= delta < limit:
            out.append(("wrap", self.metadata(TSC_WRAP, "Q", event.tsc)))
            tsc, delta = event.tsc, 0
        size, data = len(event.data), b"" if self.overwrites else event.data
        if event.kind <= ENTER_ARGS:
            out.append(("function", self.function(event, delta)))
            out += [("call argument", self.metadata(ARGUMENT, "Q", value)) for value in event.args]
        elif event.kind == TYPED:
            form, fields = ("iiH", (size, delta)) if self.version >= 5 else ("iQH", (size, event.tsc))
            out.append(("typed", self.metadata(TYPED_EVENT, form, *fields, event.type) + data))
        elif self.version >= 5:
            out.append(("custom", self.metadata(CUSTOM_EVENT, "ii", size, delta) + data))
        elif self.version == 4:
            out.append(("custom", self.metadata(CUSTOM_EVENT, "iQH", size, event.tsc, event.cpu) + data))
        else:
            out.append(("custom", self.metadata(CUSTOM_EVENT, "iQ", size, event.tsc) + data))
        if self.overwrites and size:
            out[-1] = ("overwritten", out[-1][1])
        return out, tsc if absolute else event.tsc

    def buffers(self, tid, events):
        """[[(name, bytes), ...], ...]: the events of one thread, cut into buffers"""
        out, space, tsc, cpu = [], 0, 0, None
        for event in events:
            need = 16 + len(event.data) + 16 * len(event.args) + 32     # the largest possible, with wrap and cpu
            if need > space:
                micros = event.tsc * 10**6 // (self.hz or 10**9)
                out.append([("new buffer", self.metadata(NEW_BUFFER, "i", tid)),
                            ("walltime", self.metadata(WALLTIME, "qi", micros // 10**6, micros % 10**6))])
                if self.version >= 3:
                    out[-1].append(("pid", self.metadata(PID_RECORD, "i", PID)))
                out[-1].append(("new cpu", self.metadata(NEW_CPU, "HQ", event.cpu, event.tsc)))
                tsc, cpu = event.tsc, event.cpu
                space = self.buffer - 16 * len(out[-1]) - 16            # EndOfBuffer has to fit
            if event.cpu != cpu and not (self.version == 4 and event.kind == CUSTOM):
                tsc, cpu = event.tsc, event.cpu
                out[-1].append(("cpu change", self.metadata(NEW_CPU, "HQ", cpu, tsc)))
                space -= 16
            records, tsc = self.event(event, tsc)
            out[-1] += records
            space -= sum(len(data) for _, data in records)
        return out

    def extents(self, records):
        lost = sum(struct.unpack_from((">" if self.file.order == "big" else "<") + "i", data, 1)[0]
                   for name, data in records if name == "overwritten")
        return sum(len(data) for _, data in records) + lost

    def write(self, threads, shuffle=None):
        file = self.file
        file.add("header", file.pack("HHIQQ", self.version, 1, 0xFFFFFF03, self.hz, self.buffer) + unused(8))
        every = [(number, tid, records) for tid, events in threads for number, records in enumerate(self.buffers(tid, events))]
        every.sort(key=lambda b: b[:2])                                 # threads take turns
        if shuffle:
            random = Random(shuffle)
            every.sort(key=lambda b: random.below(1 << 30))
        for _, _, records in every:
            start = len(file.data)
            if self.version >= 2:
                file.add("extents", self.metadata(EXTENTS, "Q", self.extents(records)))
            for name, data in records:
                file.add(name, data)
            if self.overwrites and self.version == 2:                   # the extents count missing bytes
                file.add("remains", b"\x77" * (start + 16 + self.extents(records) - len(file.data)))
            if self.version == 1:
                file.add("end of buffer", self.metadata(END_OF_BUFFER))
                file.add("unused", b"\x5a" * (self.buffer - (len(file.data) - start)))
        return file


def fdr(version, order, threads, hz=HZ, buffer=1024, shuffle=None, overwrites=False):
    return Fdr(version, order, hz, buffer, overwrites).write(threads, shuffle)


def concatenated(make, version, order, threads, hz=HZ, buffers=(None, None), **options):
    """Two logs in one file: the first thread alone, then all others."""
    file = File(order)
    for part, buffer in ((threads[:1], buffers[0]), (threads[1:], buffers[1])):
        other = make(version, order, part, hz=hz, **options, **({"buffer": buffer} if buffer else {}))
        for name, at, size in other.places:
            file.add(name, other.data[at:at + size])
    return file


# -------------------------------------------------------------------------------------------------------------- profile

def profile(order, threads):
    """Counts the calls of each path and their time, including callees, like the runtime: each call of an outermost function
    has its own paths. A thread with several of these has two blocks."""
    file = File(order)
    file.add("header", file.pack("QQQQ", 0x7872617970726F66, 0x20180424, 1_700_000_000 * 10**9, PID))
    number = 0
    for tid, events in threads:
        trees, stack = [], []                                           # trees: path -> [calls, time]; stack: (path, entered)
        for event in events:
            if event.kind == ENTER:
                if not stack:
                    trees.append({})
                stack.append(((stack[-1][0] if stack else ()) + (event.function,), event.tsc))
                trees[-1].setdefault(stack[-1][0], [0, 0])
            elif stack:
                path, entered = stack.pop()
                trees[-1][path][0] += 1
                trees[-1][path][1] += event.tsc - entered
        for part in trees[:1], trees[1:]:
            records = [b"".join(file.pack("i", f) for f in reversed(path)) + file.pack("iQQ", 0, *sums)
                       for paths in part for path, sums in sorted(paths.items())]
            if records:
                file.add("block", file.pack("IIQ", 16 + sum(map(len, records)), number, tid))
                number += 1
            for record in records:
                file.add("path", record)
    return file


# --------------------------------------------------------------------------------------------------------------- damage
# Each changes the file and returns (rule, offset of the first problem).

def cut_record(file):
    at, size = file.find("function")[-3]
    del file.data[at + size // 2:]
    return "fdr.truncated-record", at


def cut_buffer(file):
    at, _ = file.find("function")[-3]
    del file.data[at:]
    return "fdr.truncated-buffer", at


def unknown_kind(file):
    at, _ = file.find("cpu change")[2]
    file.data[at] = 42 << 1 | 1 if file.order == "little" else 42 | 0x80
    return "fdr.unknown-kind", at


def unknown_action(file):
    at, _ = file.find("function")[20]
    file.data[at] |= 8 if file.order == "little" else 0x40
    return "fdr.unknown-action", at


def unexpected_record(file):
    at, _ = file.find("cpu change")[1]
    file.data[at] = NEW_BUFFER << 1 | 1 if file.order == "little" else NEW_BUFFER | 0x80
    return "fdr.unexpected-record", at


def negative_size(file):
    at, _ = file.find("custom")[1]
    file.put(at + 1, file.pack("i", -5))
    return "fdr.bad-size", at


def huge_size(file):
    at, _ = file.find("custom")[1]
    file.put(at + 1, file.pack("i", 0x7FFFFFFF))
    return "fdr.truncated-record", at


def bad_extents(file):
    (at, _), (following, _) = file.find("extents")[1:3]
    file.put(at + 1, file.pack("Q", (1 << 64) - 20))
    return "fdr.bad-extents", following


def no_walltime(file):
    at, _ = file.find("walltime")[1]
    extents = max(place for place, _ in file.find("extents") if place < at)
    size, = struct.unpack_from((">" if file.order == "big" else "<") + "Q", file.data, extents + 1)
    file.put(extents + 1, file.pack("Q", size - 16))
    del file.data[at:at + 16]
    return "fdr.missing-walltime", at


def garbage_between(file):
    at, _ = file.find("extents")[1]
    file.data[at:at] = b"\x55" * 21
    return "fdr.garbage-between-buffers", at


def basic_cut(file):
    at, _ = file.find("record")[-1]
    del file.data[at + 20:]
    return "basic.truncated-record", at


def basic_type(file):
    at, _ = file.find("record")[0]
    file.put(at, file.pack("H", 77))
    return "basic.unknown-record-type", at


def basic_kind(file):
    at, _ = file.find("record")[0]
    file.data[at + 3] = 9
    return "basic.unknown-kind", at


def other_header(file):
    """The second header has another frequency."""
    at, _ = file.find("header")[1]
    file.put(at + 8, file.pack("Q", 1_999_999_999))
    return "fdr.other-header", at


def basic_other_header(file):
    return "basic.other-header", other_header(file)[1]


def overwritten(file):
    return "fdr.overwritten-payload", file.find("overwritten")[0][0]


def profile_cut(file):
    at, size = file.find("path")[-1]
    del file.data[at + size - 7:]
    return "profile.truncated-record", at


def profile_block(file):
    at, _ = file.find("block")[-1]
    file.put(at, file.pack("I", 7))
    return "profile.bad-block-size", at


def profile_negative(file):
    at, size = file.find("path")[2]
    file.put(at + size - 8, file.pack("q", -1000))
    return "profile.negative-time", at + size - 8


# ---------------------------------------------------------------------------------------------------------------- cases

RICH = dict(args=60, custom=50, tail=80, migrate=60, cpus=300)
MESSY = dict(RICH, missing=40, stray=30, cut=True)
PLAIN = dict(threads=2, events=90)


def cases():
    """name -> (kind, version, order, options of the writer, style of the program, damage or None)"""
    out = {}
    for order, short in (("little", "le"), ("big", "be")):
        for version in (1, 2, 3):
            style = dict(PLAIN, args=80, max_args=2, tail=80 if version > 1 else 0, migrate=50)
            out["basic-v%d-%s" % (version, short)] = ("basic", version, order, {}, style, None)
        for version in (1, 2, 3, 4, 5):
            style = dict(RICH, threads=3, events=110, typed=40 if version == 5 else 0)
            out["fdr-v%d-%s" % (version, short)] = ("fdr", version, order, {"buffer": 640}, style, None)
        out["profile-" + short] = ("profile", 0, order, {}, dict(threads=3, events=150), None)
    more = {
        "basic-v3-le-messy": ("basic", 3, "little", {}, dict(MESSY, threads=3, custom=0), None),
        "basic-v3-le-empty": ("basic", 3, "little", {}, dict(threads=0), None),
        "fdr-v5-le-plain": ("fdr", 5, "little", {"buffer": 4096}, dict(threads=1, events=60), None),
        "fdr-v5-le-messy": ("fdr", 5, "little", {"buffer": 500}, dict(MESSY, threads=4, typed=30), None),
        "fdr-v5-le-shuffled": ("fdr", 5, "little", {"buffer": 300, "shuffle": 5}, dict(RICH, threads=3, events=300), None),
        "fdr-v5-le-wraps": ("fdr", 5, "little", {}, dict(PLAIN, gap=60), None),
        "fdr-v5-le-no-clock": ("fdr", 5, "little", {"hz": 0}, dict(PLAIN), None),
        "fdr-v5-le-odd-clock": ("fdr", 5, "little", {"hz": 2_599_999_979}, dict(PLAIN), None),
        "fdr-v5-le-many-args": ("fdr", 5, "little", {}, dict(PLAIN, args=500, max_args=5), None),
        "fdr-v5-le-empty": ("fdr", 5, "little", {}, dict(threads=0), None),
    }
    for number, version in enumerate((2, 3, 4)):
        more["fdr-v%d-typed" % version] = ("fdr", version, "big" if number == 1 else "little", {}, dict(RICH, threads=2, typed=90), None)
    for version, order in ((1, "little"), (1, "big"), (2, "little"), (2, "big")):
        style = dict(RICH, threads=2, typed=0 if version == 1 else 60)
        more["damaged-fdr-v%d-%se-overwritten-payload" % (version, order[0])] = ("fdr", version, order, {"overwrites": True}, style, overwritten)
    for version in (1, 3):
        more["basic-v%d-split" % version] = ("basic", version, "little" if version == 3 else "big", {"piece": 3, "split": True},
                                             dict(PLAIN, args=500), None)
        more["basic-v%d-lost" % version] = ("basic", version, "little", {"split": True, "lost": 7}, dict(PLAIN, args=300), None)
        more["basic-v%d-two" % version] = ("basic two", version, "big" if version == 3 else "little", {}, dict(PLAIN, args=300), None)
    for version, order in ((1, "little"), (1, "big"), (2, "big"), (5, "little")):
        sizes = {"buffers": (480, 640)} if version == 1 else {}
        more["fdr-v%d-%se-two" % (version, order[0])] = ("fdr two", version, order, sizes, dict(RICH, threads=3), None)
    more["damaged-fdr-v1-two"] = ("fdr two", 1, "little", {}, dict(PLAIN), other_header)
    more["damaged-fdr-v5-two"] = ("fdr two", 5, "big", {}, dict(PLAIN), other_header)
    more["damaged-basic-two"] = ("basic two", 3, "little", {}, dict(PLAIN), basic_other_header)
    out.update(more)
    damages = {"cut-record": cut_record, "cut-buffer": cut_buffer, "unknown-kind": unknown_kind, "huge-size": huge_size,
               "unknown-action": unknown_action, "unexpected-record": unexpected_record, "negative-size": negative_size,
               "bad-extents": bad_extents, "no-walltime": no_walltime, "garbage-between": garbage_between}
    for number, (name, damage) in enumerate(damages.items()):
        for version, order in ((5, "little"), (2 + number % 4, "big")):
            style = dict(RICH, threads=2, events=120, custom=120)
            out["damaged-fdr-v%d-%s-%s" % (version, order[0] + "e", name)] = ("fdr", version, order, {}, style, damage)
    for name, damage in {"cut": basic_cut, "type": basic_type, "kind": basic_kind}.items():
        out["damaged-basic-" + name] = ("basic", 3, "little", {}, dict(PLAIN, args=150), damage)
    for name, damage in {"cut": profile_cut, "block": profile_block, "negative": profile_negative}.items():
        out["damaged-profile-" + name] = ("profile", 0, "little", {}, dict(threads=2, events=90), damage)
    return out


def make(name):
    """(bytes, expected answers)"""
    kind, version, order, options, style, damage = cases()[name]
    threads = program.run(sum(name.encode()), **style)
    if kind.startswith("basic"):                                        # an entry has one argument at most
        for _, events in threads:
            for event in events:
                del event.args[1:]
    if kind == "profile":
        file = profile(order, threads)
    elif kind.endswith(" two"):
        file = concatenated(basic if kind == "basic two" else fdr, version, order, threads, **options)
    else:
        file = (basic if kind == "basic" else fdr)(version, order, threads, **options)
    expected = {}
    if damage:
        rule, offset = damage(file)
        expected = {"rule": rule, "offset": offset}
        if damage == other_header or damage == basic_other_header:
            threads = threads[:1]
        elif damage == overwritten:
            for _, events in threads:
                for event in events:
                    event.data = b""
        else:
            return bytes(file.data), expected
    if kind == "profile":
        return bytes(file.data), {"functions": program.functions(threads)}
    cpu_bits = 8 if kind.startswith("basic") else 16
    lost = options.get("lost")
    expected["lost"] = sum((len(events) + lost - 1) // lost for _, events in threads) if lost else 0
    return bytes(file.data), dict(expected, tracks=program.jsonl(threads, options.get("hz", HZ), cpu_bits))


def bulk(path, wanted, threads=4):
    """A large log, quickly: the deltas of a buffer are relative, so that all buffers share one body."""
    writer = Fdr(5, "little", HZ, 1 << 14)
    (_, events), = program.run(7, threads=1, events=1900)
    body, tsc = b"", events[0].tsc
    for event in events:
        records, tsc = writer.event(event, tsc)
        body += b"".join(data for _, data in records)
    length = tsc - events[0].tsc
    with open(path, "wb") as out:
        out.write(writer.file.pack("HHIQQ8x", 5, 1, 3, HZ, 1 << 14))
        count = max(1, round(wanted / len(events) / threads))
        for number in range(count):
            start = (1 << 40) + number * (length + 1000)
            micros = start * 10**6 // HZ
            for thread in range(threads):
                out.write(writer.metadata(EXTENTS, "Q", 64 + len(body)) + writer.metadata(NEW_BUFFER, "i", PID + thread)
                          + writer.metadata(WALLTIME, "qi", micros // 10**6, micros % 10**6)
                          + writer.metadata(PID_RECORD, "i", PID)
                          + writer.metadata(NEW_CPU, "HQ", thread, start + thread) + body)
    return count * threads * len(events)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "FILE"))
    parser.add_argument("--bulk", nargs=2, metavar=("EVENTS", "FILE"))
    parser.add_argument("--elf", metavar="FILE")
    args = parser.parse_args()
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        for name in cases():
            data, expected = make(name)
            with open(os.path.join(args.out, name + ".xray"), "wb") as file:
                file.write(data)
            with open(os.path.join(args.out, name + ".expect.json"), "w") as file:
                json.dump(expected, file)
    if args.one:
        data, _ = make(args.one[0])
        with open(args.one[1], "wb") as file:
            file.write(data)
    if args.bulk:
        print(bulk(args.bulk[1], int(args.bulk[0])))
    if args.elf:
        from elf_gen import build_elf
        with open(args.elf, "wb") as file:
            file.write(build_elf())


if __name__ == "__main__":
    sys.exit(main())
