#!/usr/bin/env python3
"""Makes profiles in the format of our own recorder: done, live, and killed.

    live_gen.py --out DIR            writes all files of CASES, each NAME.tlp.live with NAME.expect.json beside it
    live_gen.py --one NAME FILE      writes one of them; its binaries' paths are below /opt/app
    live_gen.py --seeds DIR          writes small ones, to begin fuzzing with

The answers come from the calls of the simulated program, not from a reader: {"threads": {name: {stack: {"calls",
"total", "self", "min", "max", "buckets"}}}, "open", "lost", "note"} of a good file, {"rule", "offset"} of a damaged one.
Stacks are names of functions with " > " between them."""
import argparse
import json
import os
import struct
import sys

import program
from elf_gen import TEXT
from program import ENTER, ENTER_ARGS, EXIT, NAMES, TAIL_EXIT
from recording_gen import BY_ADDRESS, BY_NAME, IN_LIBRARY, IN_PROGRAM, LIBRARY_ID, PROGRAM_ID, SPAN, TICKS, UNIX, ADDRESS

PID, HZ, HEADER = 4711, 2_500_000_000, 4096
LANE, NODE, BLOCK, UNIT = 80, 128, 80, 16
FUNCTION_SIZE = 64


def bucket(v):
    if v < 512:
        return v
    e = v.bit_length() - 9
    return e * 256 + (v >> e)


class Call:
    def __init__(self, path, ticks, inner):
        self.path, self.ticks, self.inner = path, ticks, inner


def calls_of(events):
    """Calls in the order of their ends, and the paths of those still open."""
    stack, calls, seen = [], [], []
    for event in events:
        if event.kind in (ENTER, ENTER_ARGS):
            path = (stack[-1][0] if stack else ()) + (event.function,)
            stack.append([path, event.tsc, 0])
            seen.append(path)
        elif event.kind in (EXIT, TAIL_EXIT):
            path, begin, inner = stack.pop()
            assert path[-1] == event.function
            calls.append(Call(path, event.tsc - begin, inner))
            if stack:
                stack[-1][2] += event.tsc - begin
    return calls, [path for path, _, _ in stack], seen


class Image:
    """The file, put together piece by piece."""

    def __init__(self, where="/opt/app", done=True):
        self.data = bytearray(HEADER)
        self.data[:8] = b"\x8ftllive\n"
        self.set32(8, 1)
        self.set32(12, 1 if done else 0)
        self.where, self.last_text, self.blocks, self.nodes = where, 0, {}, {}

    def set32(self, at, v):
        struct.pack_into("<I", self.data, at, v)

    def get32(self, at):
        return struct.unpack_from("<I", self.data, at)[0]

    def add64(self, at, v):
        struct.pack_into("<Q", self.data, at, struct.unpack_from("<Q", self.data, at)[0] + v)

    def take(self, size):
        at = len(self.data)
        self.data += bytes((size + UNIT - 1) // UNIT * UNIT)
        return at

    def text(self, *lines):
        data = "".join(line + "\n" for line in lines).encode()
        at = self.take(16 + len(data))
        self.set32(self.last_text or 20, at // UNIT)              # a text's first word is the reference of the next
        self.set32(at + 4, len(data))
        self.data[at + 16:at + 16 + len(data)] = data
        self.last_text = at

    def table(self, number, base, addresses):
        at = self.take(16 + 8 * len(addresses))
        struct.pack_into("<IIII", self.data, at, self.get32(24), number, base, len(addresses))
        struct.pack_into("<%dQ" % len(addresses), self.data, at + 16, *addresses)
        self.set32(24, at // UNIT)

    def notes(self):
        self.text("traceloom version=1",
                  "process pid=%d parent=%d start=%d exe=%s" % (PID, PID - 1, UNIX, self.where + "/program.elf"),
                  "clock name=tsc hz=%d ticks=%d raw=5 unix=%d" % (HZ - 7, TICKS, UNIX + 1))
        self.text("object id=1 base=0 count=%d bias=0x0 hooks=sleds build-id=%s path=%s"
                  % (len(IN_PROGRAM), PROGRAM_ID.hex(), self.where + "/program.elf"),
                  "object id=2 base=%d count=%d bias=0x7f0000000000 hooks=sleds build-id=%s path=%s"
                  % (len(IN_PROGRAM), len(IN_LIBRARY), LIBRARY_ID.hex(), self.where + "/libpage.so"))
        self.table(1, 0, [TEXT + FUNCTION_SIZE * k for k in range(len(IN_PROGRAM))])
        self.table(2, len(IN_PROGRAM), [TEXT + FUNCTION_SIZE * k for k in range(len(IN_LIBRARY))])
        self.text("function id=%d object=2 address=0x%x" % (BY_ADDRESS, ADDRESS),
                  "function id=%d name=%s" % (BY_NAME, SPAN.replace("\\", "\\\\")),
                  "clock name=tsc hz=%d ticks=%d raw=5 unix=%d" % (HZ, TICKS, UNIX))

    def lane(self, tid, threads=1, name=b""):
        at, root = self.take(LANE), self.take(NODE)
        struct.pack_into("<IIIIII", self.data, at, self.get32(16), root // UNIT, PID, tid, threads, 0)
        self.data[at + 40:at + 40 + len(name)] = name
        self.set32(16, at // UNIT)
        self.nodes[at, ()] = root
        return at

    def node(self, lane, path):
        if (lane, path) not in self.nodes:
            parent = self.node(lane, path[:-1])
            at = self.take(NODE)
            struct.pack_into("<IIII", self.data, at, path[-1], parent // UNIT, 0, self.get32(parent + 8))
            struct.pack_into("<Q", self.data, at + 40, (1 << 64) - 1)
            self.set32(parent + 8, at // UNIT)
            self.nodes[lane, path] = at
        return self.nodes[lane, path]

    def sums(self, node, call):
        self.add64(node + 16, 1)
        self.add64(node + 24, call.ticks)
        self.add64(node + 32, call.inner)
        least, most = struct.unpack_from("<QQ", self.data, node + 40)
        struct.pack_into("<QQ", self.data, node + 40, min(least, call.ticks), max(most, call.ticks))

    def count(self, node, ticks):
        tag, place = divmod(bucket(ticks), 16)
        if (node, tag) not in self.blocks:
            at = self.take(BLOCK)
            struct.pack_into("<IHH", self.data, at, self.get32(node + 56), tag, 0)
            self.set32(node + 56, at // UNIT)
            self.blocks[node, tag] = at
        at = self.blocks[node, tag] + 16 + 4 * place
        self.set32(at, self.get32(at) + 1)

    def call(self, lane, call):
        node = self.node(lane, call.path)
        self.sums(node, call)
        self.count(node, call.ticks)

    def last(self, lane, call):
        struct.pack_into("<I4xQQ", self.data, lane + 56, self.node(lane, call.path) // UNIT, call.ticks, call.inner)


class Expected:
    def __init__(self):
        self.threads, self.open, self.lost, self.note = {}, 0, 0, None

    def see(self, thread, path):
        stack = " > ".join(name_of(function) for function in path)
        return self.threads.setdefault(thread, {}).setdefault(
            stack, {"calls": 0, "total": 0, "self": 0, "min": None, "max": None, "buckets": {}})

    def call(self, thread, call):
        place = self.see(thread, call.path)
        place["calls"] += 1
        place["total"] += call.ticks
        place["self"] += call.ticks - call.inner
        place["min"] = call.ticks if place["min"] is None else min(place["min"], call.ticks)
        place["max"] = call.ticks if place["max"] is None else max(place["max"], call.ticks)
        at = str(bucket(call.ticks))
        place["buckets"][at] = place["buckets"].get(at, 0) + 1


def name_of(function):
    return SPAN if function == BY_NAME else NAMES[function - 1]


def record(image, expected, threads, killed=False):
    """Threads in turn, so that their nodes are mixed. Killed: the last call of each waits in its lane."""
    work = []
    for number, (tid, events) in enumerate(threads):
        lane = image.lane(tid, name=b"" if number == 0 else b"worker")
        label = "thread %d" % tid if number == 0 else "worker %d" % tid
        calls, still_open, seen = calls_of(events)
        expected.threads.setdefault(label, {})
        for path in seen:
            expected.see(label, path)
        work.append((lane, label, calls, seen))
        if not killed:
            expected.open += len(still_open)
            image.set32(lane + 20, len(still_open))
    for k in range(max(len(calls) for _, _, calls, _ in work)):
        for lane, label, calls, _ in work:
            if k < len(calls):
                expected.call(label, calls[k])
                (image.last if killed and k == len(calls) - 1 else image.call)(lane, calls[k])
    for lane, _, _, seen in work:
        for path in seen:
            image.node(lane, path)


def done(image, expected):
    image.notes()
    record(image, expected, program.run(1, threads=3, events=400))
    image.text("lost late=1 depth=2 memory=3 disk=4 exits=50 threads=5", "end unix=5 ticks=5")
    expected.lost = 15


def done_cut(image, expected):
    """Calls are open when the program ends."""
    image.notes()
    record(image, expected, program.run(2, threads=4, events=333, cut=1, gap=3))


def live(image, expected):
    image.notes()
    record(image, expected, program.run(3, threads=3, events=300, cut=1), killed=True)


def live_adding(image, expected):
    """Killed when a call was in the sums, but not yet in the histogram."""
    image.notes()
    threads = program.run(4, threads=1, events=200)
    record(image, expected, threads)
    lane = next(at for at, path in image.nodes if path == ())
    path = max((path for at, path in image.nodes), key=len)
    node = image.node(lane, path)
    image.add64(node + 16, 1)
    expected.note = "1 call was being added"


def live_small(image, expected):
    image.notes()
    record(image, expected, program.run(5, threads=2, events=24, cut=1), killed=True)


def damaged_child(image, expected):
    """A child that is its own parent."""
    live_small(image, expected)
    node = next(at for (lane, path), at in image.nodes.items() if len(path) == 1)
    image.set32(node + 8, node // UNIT)
    expected.rule, expected.offset = "live.bad-reference", node


def damaged_version(image, expected):
    live_small(image, expected)
    del image.data[HEADER - 100:]
    expected.rule, expected.offset = "live.truncated", 0


def damaged_cut(image, expected):
    """Too short a copy: the last pieces are missing."""
    done(image, expected)
    last = max(image.blocks.values())
    del image.data[last:]
    expected.rule, expected.offset = "live.bad-reference", last


CASES = {"live-done": (done, True), "live-done-cut": (done_cut, True), "live-killed": (live, False),
         "live-adding": (live_adding, False), "live-small": (live_small, False),
         "damaged-live-child": (damaged_child, False), "damaged-live-header": (damaged_version, False),
         "damaged-live-cut": (damaged_cut, False)}


def make(name, where="/opt/app"):
    """(bytes, expected answers); where: the folder of the binaries of recording_gen.py"""
    build, is_done = CASES[name]
    image, expected = Image(where, is_done), Expected()
    build(image, expected)
    return bytes(image.data), expected.__dict__


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--seeds")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "FILE"))
    args = parser.parse_args()
    for folder in filter(None, (args.out, args.seeds)):
        os.makedirs(folder, exist_ok=True)
    for name in CASES if args.out else []:
        data, expected = make(name, os.path.abspath(args.out))
        with open(os.path.join(args.out, name + ".tlp.live"), "wb") as file:
            file.write(data)
        with open(os.path.join(args.out, name + ".expect.json"), "w") as file:
            json.dump(expected, file)
    for name in ("live-small", "live-adding", "damaged-live-child") if args.seeds else []:
        data = make(name, "/")[0]
        with open(os.path.join(args.seeds, name), "wb") as file:
            file.write(data[:28] + data[HEADER:])                 # the fuzz target puts the header's zeros back
    if args.one:
        with open(args.one[1], "wb") as file:
            file.write(make(args.one[0])[0])


if __name__ == "__main__":
    sys.exit(main())
