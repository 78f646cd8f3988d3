#!/usr/bin/env python3
"""Makes traces of the Common Trace Format, good and damaged ones, of every metadata language and with every kind of field.

    ctf_gen.py --out DIR [--seed N] [NAME...]    writes the folders DIR/NAME, each with NAME.expect.json beside it
    ctf_gen.py --pack DIR [NAME...]              the same packed into one file each, for the fuzzer
    ctf_gen.py --one NAME PATH                   writes the folder PATH, without the answers
    ctf_gen.py --list                            names of all cases

NAME.expect.json: {"jsonl": [lines], "info": {...}, "ok": bool, "problem": [file, offset] of the first problem}. The numbers
come from the generator, not from a reader."""
import argparse
import json
import os
import struct

import ctf2010_gen
import ctf_damage
from ctf_schema import Clock, EventClass, Maker, StreamClass
from ctf_trace import Expected, File, Packet, Trace, add_header, add_packet_context, add_packet_header, files_of, write
from ctf_types import Int, Scope, Struct
from program import Random

ALL = ("timestamp_begin", "timestamp_end", "content_size", "packet_size", "packet_seq_num", "events_discarded", "cpu_id")


class Plan:
    """The properties of a case; the rest is drawn."""

    def __init__(self, dialect="1.8", order="le", style="bytes", container="text", headers=("large", "compact", "simple"), stamp=32,
                 context=ALL, widths=None, hz=10**9, offset_s=1_700_000_000, offset=123, clock=True, unix=True, files=2, packets=3,
                 events=12, classes=4, mixed=False, magic=True, identity=True, stream_id=True, ids=True, drop=0, skip=0, damage=None,
                 gap=900, jump=True, folders=None, names=False, rich=False, silent=False,
                 mapped=False, rotate=0):
        self.__dict__.update(locals())


# ------------------------------------------------------------------------------------------------------------------ making

def make_streams(trace, plan, random):
    for number in range(len(plan.headers)):
        maker = Maker(random, trace.dialect, trace.order, plan.style)
        name = "stream %d" % number if plan.names and trace.dialect == "2" else None
        stream = StreamClass(number * 3 if plan.ids else 0, name, trace.clocks[0] if trace.clocks else None, plan.ids)
        trace.streams.append(stream)
        extra = [("detail", maker.struct(1, 3))] if plan.ids else None
        if plan.context is not None:
            add_packet_context(trace, stream, plan.context, plan.widths, extra)
        add_header(trace, stream, plan.headers[number], plan.stamp)
        if plan.ids:
            lengths = maker.lengths()
            stream.context = Struct([(maker.name(), lengths), ("same", maker.integer())] + mapped(trace, stream, plan, "soon", 16))
        for i in range(plan.classes if plan.headers[number] != "none" else 1):
            make_event(trace, stream, maker, i, plan)


def mapped(trace, stream, plan, name, bits):
    """A field after the headers that moves the clock."""
    return [(name, Int(bits, order=trace.order, align=8, clock=stream.clock.name))] if plan.mapped else []


def move_clock(values, time):
    """Sets those fields of an event; returns the clock after them."""
    for scope, name, step, bits in (("event-record-common-context", "soon", 20000, 16), ("event-record-payload", "later", 70000, 20)):
        time += step
        values[scope][name] = time % (1 << bits)
    return time


def make_event(trace, stream, maker, number, plan):
    payload = [maker.everything, lambda: maker.outer_length(stream.context), lambda: Struct([]), lambda: maker.struct(2, 6)][min(number, 3)]
    if not plan.rich or (not stream.context and number == 1):
        payload = lambda: Struct(maker.small().members + mapped(trace, stream, plan, "later", 20))
    context = Struct([("same", maker.integer()), (maker.name(), maker.struct(1, 2))]) if number == 3 and stream.context else None
    big = {"compact": 29, "large": 65533, "simple": 60, "none": 0}[stream.header_kind]
    identity = number if number < 3 else big + 2 * number                # some do not fit the short header
    name = "prov%d:%s" % (stream.id, "func_entry" if number == 2 else "event%d" % number)
    stream.events.append(EventClass(identity, name, payload(), context, 13 if number else None,
                                    plan.ids or stream.header_kind != "none"))


def event_values(random, stream, event):
    scope = Scope()
    for kind, name in ((stream.context, "event-record-common-context"), (event.context, "event-record-specific-context"),
                       (event.payload, "event-record-payload")):
        if kind:
            scope.roots[name] = kind.random(random, scope)
    return dict(scope.roots)


def make_packet(trace, plan, random, file, time, state):
    """A packet that begins at `time`; returns its end."""
    stream = file.streams[len(file.packets) % len(file.streams)]
    packet = Packet(stream, time, int(file.name[-1]) if file.name[-1].isdigit() else 0, file.instance)
    key = (stream.id, file.instance)
    lost, packet.sequence, discarded = state.get(key, (0, 0, 0))
    packet.extra = {}
    for name, kind in stream.packet_context.members if stream.packet_context else []:
        if name == "detail":
            packet.extra[name] = kind.random(random, Scope())
    for _ in range(plan.events if plan.damage or random.chance(900) else 0):
        time += random.below(plan.gap) if stream.clock else 0
        event = stream.events[random.below(len(stream.events))]
        values = event_values(random, stream, event)
        packet.events.append((time, event, values))
        if plan.mapped:                                                 # the next stamp counts from there
            time = move_clock(values, time)
    packet.end = time + random.below(5) if plan.jump else time
    packet.discarded = discarded + (random.below(plan.drop + 1) if plan.drop else 0)
    state[key] = (lost, packet.sequence + 1 + (random.below(plan.skip + 1) if plan.skip else 0), packet.discarded)
    file.packets.append(packet)
    return packet.end


def make_trace(plan, random, first=10**6):
    trace = Trace(plan.dialect, plan.order)
    trace.container = plan.container
    if plan.identity:
        trace.uuid = random.bytes(16)
    if plan.clock:
        trace.clocks.append(Clock("the_clock", plan.hz, plan.offset_s, plan.offset, plan.unix, random.bytes(16), plan.silent))
    add_packet_header(trace, plan.magic, plan.identity, plan.stream_id)
    make_streams(trace, plan, random)
    for number in range(plan.files):
        streams = trace.streams if plan.mixed else [trace.streams[number % len(trace.streams)]]
        file, time, state = File("data_%d" % number, streams, 7 + number), first + 100 * number, {}
        trace.files.append(file)
        for _ in range(plan.packets):
            time = make_packet(trace, plan, random, file, time, state)
            time += random.below(1 << 20) if plan.jump and plan.context and "timestamp_begin" in plan.context else 0
    return trace


def rotate(trace, n):
    """Splits each file into n, like tracers that limit the size of files. The first number is reused."""
    for file in list(trace.files):
        share, at = -(-len(file.packets) // n), trace.files.index(file)
        parts = []
        for i in range(0, len(file.packets), share):
            part = File("%s_%d" % (file.name, (len(parts) + 1) % n), file.streams, file.instance)
            part.packets, part.track = file.packets[i:i + share], file.name
            begin, end = part.packets[0].offset, file.packets[i + share].offset if i + share < len(file.packets) else len(file.data)
            part.data = file.data[begin:end]
            parts.append(part)
        trace.files[at:at + 1] = parts


# ------------------------------------------------------------------------------------------------------------------- cases

def cases():
    out = {}
    for dialect, short, containers in (("1.8", "ctf18", ("text", "short")), ("2", "ctf2", ("text", "short", "long"))):
        for o, order in enumerate(("le", "be")):
            for s, style in enumerate(("bytes", "bits", "mixed")):
                out["%s-%s-%s" % (short, style, order)] = Plan(dialect, order, style, containers[(o + s) % len(containers)], files=3,
                                                               names=True, packets=4, drop=3, skip=1, rich=True)
        out[short + "-wrap"] = Plan(dialect, headers=("simple",), stamp=13, gap=8000, container="short")
        out[short + "-wrap-be-bits"] = Plan(dialect, "be", "bits", headers=("simple", "compact"), stamp=27)
        # Packets without a begin: in 1.8 they continue the one before, in 2 each starts at 0, so its first event has all bits.
        out[short + "-carry"] = Plan(dialect, headers=("simple",) if dialect == "1.8" else ("compact",), stamp=16, context=("content_size", "packet_size"), jump=False,
                                     files=1, gap=60000, silent=dialect == "1.8")
        if dialect == "1.8":
            out[short + "-mapped"] = Plan(dialect, headers=("simple", "simple"), stamp=16, gap=60000, mapped=True)
        out[short + "-no-clock"] = Plan(dialect, clock=False, headers=("simple",), files=1, context=("content_size", "packet_size", "cpu_id"))
        out[short + "-mixed-classes"] = Plan(dialect, "be", mixed=True, packets=9, drop=2, skip=2)
        out[short + "-minimal"] = Plan(dialect, headers=("none",), context=None, magic=False, identity=False, stream_id=False, ids=False,
                                       clock=False, files=1, packets=1)
        out[short + "-header-only"] = Plan(dialect, headers=("simple",), context=None, files=2, packets=1, ids=False, stream_id=False,
                                           stamp=64, jump=False)
        out[short + "-slow-clock"] = Plan(dialect, hz=1_000_000, offset_s=-5, offset=999_999)
        out[short + "-no-epoch"] = Plan(dialect, hz=2_599_999_979, offset_s=-77, offset=2_599_999_977, unix=False)
        out[short + "-odd-clock"] = Plan(dialect, hz=2_599_999_979, gap=1 << 30)
        out[short + "-small-counters"] = Plan(dialect, widths={"events_discarded": 8, "packet_seq_num": 16}, packets=12, drop=100, skip=3,
                                              events=2)
        out[short + "-tracefiles"] = Plan(dialect, rotate=3, packets=8, drop=2, skip=1, classes=3)
        out[short + "-empty"] = Plan(dialect, packets=2, events=0)
        out[short + "-folders"] = Plan(dialect, folders=("first/ust", "second"), files=2, packets=2)
        out[short + "-no-files"] = Plan(dialect, files=0)
        for name, damage in ctf_damage.DAMAGES.items():
            out["damaged-%s-%s" % (short, name)] = Plan(dialect, "be" if len(name) % 2 else "le", packets=5, damage=damage,
                                                        headers=("large", "large"))
    for name, plan in ctf2010_gen.cases().items():
        out[name] = plan
    return out


def joined(plan, random):
    """Two traces in one folder with one clock."""
    parts = [(folder, make_trace(plan, random, 10**6 + 5000 * i)) for i, folder in enumerate(plan.folders)]
    files, lines, info = {}, [], None
    for folder, trace in parts:
        trace.clocks[0].uuid = parts[0][1].clocks[0].uuid
        for file in trace.files:
            file.name = folder + "/" + file.name
        write(trace, random)
    begin = min(Expected(trace).begin for _, trace in parts)
    for folder, trace in parts:
        expected = Expected(trace)
        expected.begin = begin
        made = files_of(trace)
        files[folder + "/metadata"] = made.pop("metadata")
        files.update(made)
        lines += expected.lines()
        one = expected.info(len(files[folder + "/metadata"]))
        if info:
            one["tracks"] += info["tracks"]
            one["classes"] += info["classes"]
            for key in ("bytes", "events"):
                one[key] += info[key]
            one["end"] = max(one["end"], info["end"])
        info = one
    lines.sort(key=lambda line: line["ts"])
    sums = {}
    for c in info["classes"]:
        sums.setdefault(c["name"], dict(c, events=0))["events"] += c["events"]
    info["classes"] = list(sums.values())
    return files, {"jsonl": lines, "info": info, "ok": True}


def make(name, seed=1):
    """({path: bytes}, expected answers)"""
    plan = cases()[name]
    random = Random(sum(name.encode()) * 65537 + seed)
    if isinstance(plan, ctf2010_gen.Plan):
        return ctf2010_gen.make(plan, random)
    if plan.folders:
        return joined(plan, random)
    trace = make_trace(plan, random)
    write(trace, random)
    if plan.damage:
        return plan.damage(trace)
    if plan.rotate:
        rotate(trace, plan.rotate)
    files = files_of(trace)
    expected = Expected(trace)
    return files, {"jsonl": expected.lines(), "info": expected.info(len(files["metadata"])), "ok": True}


def pack(files):
    """One block of bytes: name, NUL, size, content of each file."""
    return b"".join(name.encode() + b"\0" + struct.pack("<I", len(data)) + data for name, data in sorted(files.items()))


def save(folder, name, files, expected):
    for path, data in files.items():
        path = os.path.join(folder, name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    if expected is not None:
        with open(os.path.join(folder, name + ".expect.json"), "w", encoding="utf-8") as file:
            json.dump(expected, file, ensure_ascii=False, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--pack")
    parser.add_argument("--one", nargs=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("name", nargs="*")
    args = parser.parse_args()
    if args.one:
        save(os.path.dirname(args.one[1]), os.path.basename(args.one[1]), make(args.one[0], args.seed)[0], None)
        return
    for name in args.name or cases():
        if args.list:
            print(name)
            continue
        files, expected = make(name, args.seed)
        if args.out:
            save(args.out, name, files, expected)
        if args.pack:
            os.makedirs(args.pack, exist_ok=True)
            with open(os.path.join(args.pack, name), "wb") as file:
                file.write(pack(files))


if __name__ == "__main__":
    main()
