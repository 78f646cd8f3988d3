#!/usr/bin/env python3
"""Makes FDR files like those of our own recorder: done, live, and killed at any moment.

    recording_gen.py --out DIR            writes all files of CASES, each NAME.xray with NAME.expect.json beside it, and the
                                          binaries that their notes name
    recording_gen.py --one NAME FILE      writes one of them; its binaries' paths are below /opt/app

The answers come from the simulated program and the recorder's input, not from a reader:
{"tracks": {name: [events as jsonl objects]}, "recording", "lost", "classes": {name: kind}} of a good file, {"rule",
"offset"} of the first problem of a damaged one."""
import argparse
import json
import os
import struct
import sys
from fractions import Fraction

import program
from elf_gen import BUILD_ID, TEXT, build_elf
from program import CUSTOM, ENTER, ENTER_ARGS, NAMES, TYPED, Random
from xray_gen import (CUSTOM_EVENT, EXTENTS, HZ, NEW_BUFFER, NEW_CPU, PID, PID_RECORD, WALLTIME, Fdr)

PAGE, HEAD = 4096, 8192
UNIX = 1_790_000_000 * 10**9
TICKS = 1 << 40                                                   # when the recording begins: the program's first tick
PROGRAM_ID, LIBRARY_ID = BUILD_ID, bytes(range(0x10, 0x24))

# The first seven functions have sleds in the program, three in a library, which holds the next one without a sled;
# the last one is a span placed by hand.
IN_PROGRAM, IN_LIBRARY, BY_ADDRESS, BY_NAME = NAMES[:7], NAMES[7:10], 11, 12
SPAN = "log line: a=b \\ c"
ADDRESS = TEXT + 64 * len(IN_LIBRARY)                             # in the layout of elf_gen.py
BY_PLACE = "libpage.so+0x%x" % ADDRESS                            # its name where there is no library

# Typed events whose fields are known: number -> (kind, name, fields).
KNOWN = {1: ("instant", "cache miss", [("bytes", "u64"), ("what", "string"), ("change", "i64"), ("ratio", "f64")]),
         2: ("counter", "queue: length", [("value", "i64")]),
         3: ("instant", "tick", [])}


def payload(fields, values):
    out = b""
    for (_, kind), value in zip(fields, values):
        if kind == "string":
            out += struct.pack("<I", len(value.encode())) + value.encode()
        else:
            out += struct.pack({"u64": "<Q", "i64": "<q", "f64": "<d"}[kind], value)
    return out


def some_value(random, kind):
    if kind == "string":
        return "".join("abcü€ \\\"="[random.below(9)] for _ in range(random.below(9)))
    if kind == "f64":
        return (random.below(1 << 20) - (1 << 19)) / 8
    return random.below(1 << 31) - (1 << 30 if kind == "i64" else 0)


def place_by_hand(threads, seed):
    """Gives typed events with known numbers payloads of their fields. Those that do not fit stay unchanged."""
    random = Random(seed)
    known = {}
    for _, events in threads:
        for event in events:
            if event.kind == TYPED and event.type in KNOWN:
                fields = KNOWN[event.type][2]
                values = [some_value(random, kind) for _, kind in fields]
                event.data = payload(fields, values)
                if random.chance(120):
                    event.data += b"?"
                else:
                    known[id(event)] = dict(zip((name for name, _ in fields), values))
    return known


class Recorder:
    """The file while it is written in place: a byte is zero until it is written."""

    def __init__(self, threads, known, where, hz=HZ):
        self.fdr = Fdr(5, "little", hz, 0)
        self.threads, self.known, self.where, self.hz = threads, known, where, hz
        self.data = bytearray(HEAD)
        self.data[:32] = struct.pack("<HHIQQ8s", 5, 1, 3, hz, HEAD, b"tlrtL\0\0\0")
        self.kept = {tid: [] for tid, _ in threads}               # events in the file: [event, ...] a slot
        self.ends = []                                            # (slot's end, where its records end)
        self.lines = {}                                           # line of notes -> its offset
        self.begin_notes(32, HEAD)
        self.finished = False
        self.reused = self.overwritten = self.complete = 0        # of a ring
        self.told_of_ring = False
        self.places = {BY_ADDRESS: BY_PLACE, BY_NAME: SPAN}       # names that need no binary

    # -- raw pieces

    def zeroed(self, kind, form="", *values):
        """A metadata record like the recorder's: unused bytes are zero."""
        return (bytes([kind << 1 | 1]) + struct.pack("<" + form, *values)).ljust(16, b"\0")

    def preamble(self, at, end, tid, cpu, tsc):
        micros = (tsc - TICKS) * 10**6 // (self.hz or 10**9) + 77
        return (self.zeroed(EXTENTS, "Q", end - at - 16) + self.zeroed(NEW_BUFFER, "i", tid)
                + self.zeroed(WALLTIME, "qi", micros // 10**6, micros % 10**6) + self.zeroed(PID_RECORD, "i", PID)
                + self.zeroed(NEW_CPU, "HQ", cpu, tsc))

    def take(self, size):
        at = len(self.data)
        self.data += bytes(size)
        return at

    def put(self, at, data):
        self.data[at:at + len(data)] = data
        return at + len(data)

    def pad(self, at, end):
        self.put(at, self.zeroed(CUSTOM_EVENT, "ii", end - at - 16, 0) + b"tlrt.pad")

    # -- notes

    def begin_notes(self, at, end):
        self.notes_at = self.put(at, self.preamble(at, end, PID, 0, TICKS))
        self.notes_end = end

    def note(self, line):
        text = line.encode() + b"\n"
        if self.notes_end - self.notes_at < 48 + len(text):
            self.pad(self.notes_at, self.notes_end)
            at = self.take(2 * PAGE)
            self.begin_notes(at, at + 2 * PAGE)
        self.lines[line] = self.notes_at + 24
        self.notes_at = self.put(self.notes_at, self.zeroed(CUSTOM_EVENT, "ii", 8 + len(text), 0) + b"tlrt.txt" + text)

    def objects(self, patched):
        """Both binaries, with sleds or patched: then lines have the addresses of functions, as many as `patched`."""
        for number, base, count, bias, hooks, build_id, name in (
                (1, 0, len(IN_PROGRAM), 0, "sleds", PROGRAM_ID, "program.elf"),
                (2, len(IN_PROGRAM), len(IN_LIBRARY), 0x7f0000000000, "sleds,functions", LIBRARY_ID, "libpage.so")):
            self.note("object id=%d base=%d count=%d bias=0x%x hooks=%s build-id=%s path=%s"
                      % (number, base, count, bias, "patch" if patched else hooks, build_id.hex(), self.where + "/" + name))
            for first in range(0, count, patched) if patched else []:
                differences = [TEXT + 64 * first] + [64] * (min(patched, count - first) - 1)
                self.note("frames object=%d first=%d at=%s" % (number, base + 1 + first, ",".join("%x" % d for d in differences)))
        if patched:
            self.places.update({function: place_of(function) for function in range(1, BY_ADDRESS)})
            self.note("patched object=1 functions=9 patched=7 late=1 ends=12 ends-patched=11 why=it shares a fragment with another function (2)")
            self.note("patched object=2 functions=3 patched=3 late=0 ends=3 ends-patched=3")

    def notes_of_begin(self, patched=0):
        self.note("traceloom version=1")
        self.note("process pid=%d parent=%d start=%d exe=%s" % (PID, PID - 11, UNIX, self.where + "/program.elf"))
        self.note("clock name=tsc hz=%d ticks=%d raw=5 unix=%d" % (self.hz, TICKS, UNIX))
        self.note("option mode=fdr threshold=0 ring=65536 limit=0 depth=0 func=2 not=0")
        self.objects(patched)
        self.note("function id=%d object=2 address=0x%x" % (BY_ADDRESS, ADDRESS))
        self.note("function id=%d name=%s" % (BY_NAME, SPAN.replace("\\", "\\\\")))
        for number, (kind, name, fields) in KNOWN.items():
            self.note("event id=%d kind=%s fields=%s name=%s"
                      % (number, kind, ",".join("%s:%s" % f for f in fields), name))
        self.note("weather sunny, as a later recorder may say")

    def notes_of_end(self, lost=(0, 0, 0, 0, 0, 0)):
        last = max((e.tsc for _, events in self.threads for e in events), default=TICKS)
        now = UNIX + (last - TICKS) * 10**9 // (self.hz or 10**9)
        self.note("clock name=tsc hz=%d ticks=%d raw=9 unix=%d" % (self.hz, last, now))
        for tid, _ in self.threads[1:]:
            self.note("thread tid=%d name=worker" % tid)
        self.note("lost late=%d depth=%d memory=%d disk=%d exits=%d threads=%d" % lost)
        self.note("end unix=%d ticks=%d" % (now, last))
        self.lost = sum(lost) - lost[4]
        self.finished = True

    def note_of_ring(self):
        self.note("ring reused=0x%016x overwritten=0x%016x complete=0x%016x" % (self.reused, self.overwritten, self.complete))
        self.told_of_ring = True

    # -- slots

    def fill(self, at, end, tid, events, reserve=48):
        """Records from `at` on, as many as fit: (their end, the remaining events)"""
        if not events:
            return at, events
        first = events[0]
        here = self.put(at, self.preamble(at, end, tid, first.cpu, first.tsc))
        tsc, cpu, done = first.tsc, first.cpu, 0
        for event in events:
            records, after = self.fdr.event(event, event.tsc if event.cpu != cpu else tsc)
            if event.cpu != cpu:
                records = [("cpu", self.zeroed(NEW_CPU, "HQ", event.cpu, event.tsc))] + records
            data = b"".join(piece for _, piece in records)
            if here + len(data) > end - reserve:
                break
            here, tsc, cpu, done = self.put(here, data), after, event.cpu, done + 1
        assert done
        self.kept[tid].append(events[:done])
        return here, events[done:]

    def record(self, slot=PAGE, ring=0, shared=False):
        """All threads in turn. ring: slots of a thread; it reuses the oldest. shared: a thread that begins after another's
        end continues in its slot."""
        left = {tid: events for tid, events in self.threads}
        mine = {tid: [] for tid in left}
        tids = [tid for tid, _ in self.threads]
        while any(left.values()):
            for tid in tids:
                if not left[tid]:
                    continue
                if ring and len(mine[tid]) == ring:
                    at = mine[tid].pop(0)
                    gone = self.kept[tid].pop(0)
                    self.reused, self.overwritten = self.reused + 1, self.overwritten + len(gone)
                    self.complete = max(self.complete, gone[-1].tsc + 1)
                    self.ends = [e for e in self.ends if e[0] != at + slot]
                    self.data[at:at + slot] = self.zeroed(EXTENTS, "Q", slot - 16).ljust(slot, b"\0")
                else:
                    at = self.take(slot)
                mine[tid].append(at)
                here, left[tid] = self.fill(at, at + slot, tid, left[tid])
                if shared and not left[tid]:
                    for other in tids:
                        if left[other] and at + slot - here > 1024:
                            self.put(at, self.zeroed(EXTENTS, "Q", here - at - 16))
                            at = here
                            here, left[other] = self.fill(at, mine[tid][-1] + slot, other, left[other])
                self.ends.append((mine[tid][-1] + slot, here))
                if left[tid]:
                    self.pad(here, self.ends.pop()[0])

    def finish(self):
        """The recorder's actions when the program ends."""
        for end, here in self.ends:
            self.pad(here, end)
        self.ends = []
        self.pad(self.notes_at, self.notes_end)
        self.put(24, b"tlrtD\0\0\0")

    # -- expected results

    def expected(self):
        threads = [(tid, [event for slot in slots for event in slot]) for tid, slots in self.kept.items()]
        tracks = program.jsonl(threads, self.hz)
        out = {}
        for tid, events in threads:
            name = "thread %d" % tid
            lines = tracks.get(name, [])
            renamed = "worker %d" % tid if self.finished and tid != self.threads[0][0] else name
            for line, event in zip(lines, events):
                line["track"] = renamed
                if id(event) in self.known:
                    line["class"] = KNOWN[event.type][1]
                    line["fields"] = self.known[id(event)]
                elif event.function in self.places:
                    line["fields"]["function"] = self.places[event.function]
            if lines:
                out[renamed] = lines
        unfinished = "not finished: the program was still running, or was killed"
        facts = {"tracks": out, "recording": "finished" if self.finished else unfinished,
                 "lost": self.lost if self.finished else 0}
        if self.told_of_ring:
            begin = min(event.tsc for _, events in threads for event in events)
            facts["ring"] = {"slots_reused": self.reused, "events_overwritten": self.overwritten,
                             "complete_from": round(Fraction((self.complete - begin) * 10**9, self.hz))}
        return facts


def place_of(function):
    """What a function is called whose address is known, and whose binary is not there."""
    n = len(IN_PROGRAM)
    return "program.elf+0x%x" % (TEXT + 64 * (function - 1)) if function <= n else "libpage.so+0x%x" % (TEXT + 64 * (function - 1 - n))


def name_all(tracks):
    """The same tracks with names from the binaries."""
    for lines in tracks.values():
        for line in lines:
            if line["fields"].get("function", SPAN) != SPAN:
                line["fields"]["function"] = NAMES[line["fields"]["id"] - 1]
    return tracks


# ------------------------------------------------------------------------------------------------------- how it was left

def done(r, patched=0, lost=(1, 2, 3, 4, 5, 6)):
    r.notes_of_begin(patched)
    r.record()
    r.notes_of_end(lost)
    r.finish()


def done_long_notes(r):
    """Notes in several buffers, between those of the threads."""
    r.notes_of_begin()
    for number in range(100):
        r.note("function id=%d name=%s" % (100 + number, "a long name " * 9))
    r.record()
    for number in range(100):
        r.note("function id=%d name=%s" % (200 + number, "another one " * 9))
    r.notes_of_end()
    r.finish()


def done_without_end(r):
    """A copy made while the program ran on (`traceloom ctl flush`)."""
    r.notes_of_begin()
    r.record(ring=3)
    r.finish()


def live(r):
    r.notes_of_begin()
    r.record(slot=2 * PAGE)


def live_ring(r):
    r.notes_of_begin()
    r.record(ring=2)
    r.note_of_ring()


def live_shared(r):
    """Several buffers in a slot, beginning anywhere."""
    r.notes_of_begin()
    r.record(slot=4 * PAGE, shared=True)


def live_preamble(r):
    """Killed while slots were begun: with nothing, extents alone, and everything but NewBuffer, which comes last."""
    r.notes_of_begin()
    r.record()
    r.take(2 * PAGE)
    for kept in (16, 80):
        at = r.take(2 * PAGE)
        head = bytearray(r.preamble(at, at + 2 * PAGE, PID + 99, 3, TICKS + 5)[:kept])
        head[16:32] = bytes(len(head[16:32]))
        r.put(at, head)
    tid, events = r.threads[-1]
    at = r.take(PAGE)
    more = program.run(3, threads=1, events=20, start=events[-1].tsc + 100)[0][1]
    r.ends.append((at + PAGE, r.fill(at, at + PAGE, tid, more)[0]))


def live_wipe(r):
    """Killed while the oldest slot of a ring was emptied: its extents are right, half of its old records are there."""
    r.notes_of_begin()
    r.record()
    tid = r.threads[0][0]
    at = min(end for end in range(HEAD + PAGE, len(r.data) + 1, PAGE)
             if struct.unpack_from("<i", r.data, end - PAGE + 17)[0] == tid) - PAGE
    r.kept[tid].pop(0)
    r.put(at, r.zeroed(EXTENTS, "Q", PAGE - 16).ljust(PAGE // 2, b"\0"))


def live_last_bytes(r):
    """Fewer than eight zeros at the very end of a buffer."""
    r.notes_of_begin()
    tid, events = r.threads[0]
    first, at, size = events[:3], r.take(PAGE), 80
    custom = program.Event(CUSTOM, events[2].tsc, events[2].cpu, data=b"")
    size += sum(len(piece) for e in first for _, piece in r.fdr.event(e, e.tsc)[0])
    custom.data = bytes(1 + k % 255 for k in range(PAGE - size - 16 - 5))
    assert len({e.cpu for e in first}) == 1
    r.fill(at, at + PAGE, tid, first + [custom], reserve=0)
    assert r.data[-5:] == bytes(5) and r.data[-6] != 0
    r.threads = [(tid, first + [custom])]


def live_half(r):
    """Killed between two stores of a custom event: its payload is there, its first eight bytes are not."""
    r.notes_of_begin()
    r.record(slot=2 * PAGE)
    end, here = r.ends[-1]
    r.put(here + 8, b"\0" * 8 + b"payload that does not count")
    r.put(r.notes_at + 16, b"tlrt.txtend unix=1 ticks=1\n")


def live_begun(r):
    """Killed before any event."""
    r.threads, r.kept = [], {}


def live_cut(r):
    """A copy of a live file without its end, which is only zeros."""
    r.notes_of_begin()
    r.record(slot=4 * PAGE)
    del r.data[max(here for _, here in r.ends) + 100:]


# Damage: (rule, offset of the first problem).

def bad_note(r, rule, line):
    r.notes_of_begin()
    r.note(line)
    r.record()
    r.notes_of_end()
    r.finish()
    return rule, r.lines[line]


def bad_kind(r):
    """A record of unknown kind in a live slot: the records before it are good."""
    r.notes_of_begin()
    r.record(slot=2 * PAGE)
    end, here = r.ends[0]
    r.put(here, bytes([42 << 1 | 1]) + b"\1" * 15)
    return "fdr.unknown-kind", here


def bad_between(r):
    """Bytes where a slot should begin."""
    r.notes_of_begin()
    r.record()
    at = r.take(PAGE)
    r.put(at, b"\x55" * 40)
    return "fdr.garbage-between-buffers", at


def cases():
    """name -> (the state in which it was left, style of the program)"""
    rich = dict(threads=3, events=220, args=60, custom=60, typed=130, tail=80, migrate=60, cpus=300)
    out = {
        "rec-done": (done, rich),
        "rec-done-one": (done, dict(threads=1, events=60, typed=200)),
        "rec-done-notes": (done_long_notes, dict(rich, threads=2)),
        "rec-done-copy": (done_without_end, dict(rich, events=700)),
        "rec-done-calls": (done_long_notes, dict(threads=3, events=400, args=60, migrate=60)),
        "rec-done-wraps": (done, dict(rich, gap=40)),
        "rec-patched": (lambda r: done(r, 4, (0,) * 6), rich),
        "rec-live": (live, rich),
        "rec-live-ring": (live_ring, dict(rich, events=900)),
        "rec-live-shared": (live_shared, dict(rich, threads=5, events=90)),
        "rec-live-preamble": (live_preamble, rich),
        "rec-live-wipe": (live_wipe, dict(rich, events=500)),
        "rec-live-last-bytes": (live_last_bytes, dict(threads=1, events=60)),
        "rec-live-half": (live_half, rich),
        "rec-live-begun": (live_begun, dict(threads=1, events=1)),
        "rec-live-cut": (live_cut, rich),
        "damaged-rec-kind": (bad_kind, rich),
        "damaged-rec-between": (bad_between, rich),
    }
    lines = {
        "word": ("note.bad-line", "thread 4711"),
        "missing": ("note.bad-line", "process parent=1 exe=/bin/true"),
        "number": ("note.bad-line", "clock name=tsc hz=fast"),
        "huge": ("note.bad-line", "function id=99999999999999999999 name=f"),
        "id": ("note.bad-line", "function id=268435456 name=f"),
        "range": ("note.bad-line", "object id=9 base=268435455 count=1 path=/x"),
        "overlap": ("note.overlap", "object id=9 base=5 count=1 path=/x"),
        "object": ("note.no-object", "function id=50 object=9 address=0x10"),
        "fields": ("note.bad-line", "event id=9 kind=instant fields=a:u32 name=e"),
        "kind": ("note.bad-line", "event id=9 kind=rumour fields=a:u64 name=e"),
        "zero": ("note.bad-line", "thread tid=7 name=a\0b"),
        "frames": ("note.bad-line", "frames object=2 first=8 at=10,0"),
        "frames-range": ("note.bad-line", "frames object=2 first=10 at=10,10"),
        "frames-object": ("note.no-object", "frames object=9 first=8 at=10"),
        "patched-object": ("note.no-object", "patched object=9 functions=1"),
        "version": ("note.version", "traceloom version=2"),
    }
    for name, (rule, line) in lines.items():
        out["damaged-rec-note-" + name] = (lambda r, rule=rule, line=line: bad_note(r, rule, line),
                                           dict(threads=1, events=40))
    return out


def make(name, where="/opt/app"):
    """(bytes, expected answers); where: the folder of the binaries"""
    how, style = cases()[name]
    threads = program.run(sum(name.encode()), **style)
    r = Recorder(threads, place_by_hand(threads, len(name)), where)
    problem = how(r)
    return bytes(r.data), dict(zip(("rule", "offset"), problem)) if problem else r.expected()


def binaries():
    """name -> bytes"""
    return {"program.elf": build_elf(IN_PROGRAM, PROGRAM_ID),
            "libpage.so": build_elf(IN_LIBRARY, LIBRARY_ID, [NAMES[BY_ADDRESS - 1]])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "FILE"))
    args = parser.parse_args()
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        for name, data in binaries().items():
            with open(os.path.join(args.out, name), "wb") as file:
                file.write(data)
        for name in cases():
            data, expected = make(name, os.path.abspath(args.out))
            with open(os.path.join(args.out, name + ".xray"), "wb") as file:
                file.write(data)
            with open(os.path.join(args.out, name + ".expect.json"), "w") as file:
                json.dump(expected, file)
    if args.one:
        with open(args.one[1], "wb") as file:
            file.write(make(args.one[0])[0])


if __name__ == "__main__":
    sys.exit(main())
