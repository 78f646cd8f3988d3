"""Traces of the proposal of 2010 for the CTF trace generator: sections, fixed packet headers, length-prefixed sequences,
bit-fields of compilers, compressed and checked packets."""
import bz2
import gzip
import hashlib
import struct
import zlib

from ctf_types import Array, Bits, Int, Scope, Struct, Text, Type

MAGIC, HEADER = 0xC1FC1FC1, 48


class Plan:
    def __init__(self, order="le", kind=1, natural=False, sized=False, pid=False, compression=0, checksum=0, events=14, classes=5,
                 packets=4, files=("work",), sections=("work",), gap=900, drop=0, skip=0, bits=0, wide_ids=False, damage=None,
                 padding=64, pieces=1 << 20):
        self.__dict__.update(locals())


# ------------------------------------------------------------------------------------------------------------------- types

class Sequence(Type):
    """The length precedes the elements."""

    def __init__(self, length, element):
        self.length, self.element = length, element

    @property
    def align(self):
        return max(self.length.align, self.element.align)

    def write(self, bits, value, scope):
        self.length.write(bits, len(value), scope)
        bits.align(self.element.align)
        for element in value:
            self.element.write(bits, element, scope)

    def shown(self, value):
        return [self.element.shown(v) for v in value]

    def random(self, random, scope):
        return [self.element.random(random, scope) for _ in range(random.below(4))]


class BitField(Int):
    """Starts in the next unit if it would cross the end of this one; a struct around it is aligned like the unit."""

    def __init__(self, bits, unit, signed, order):
        super().__init__(bits, signed, order, align=unit)
        self.unit = unit

    def write(self, bits, value, scope):
        if bits.at // self.unit != (bits.at + self.bits - 1) // self.unit:
            bits.align(self.unit)
        bits.mark(self)
        bits.put(value % (1 << self.bits), self.bits, self.order)


class Maker:
    def __init__(self, random, plan):
        self.random, self.plan, self.order, self.count = random, plan, plan.order, 0

    def pick(self, *choices):
        return choices[self.random.below(len(choices))]

    def integer(self, **more):
        if self.plan.natural:
            bits = self.pick(8, 16, 32, 64)
            return Int(bits, order=self.order, align=bits, signed=self.random.chance(400), **more)
        bits = self.pick(8, 16, 32, 64, 1, 3, 11, 27, 48)
        return Int(bits, order=self.order, align=8 if bits % 8 == 0 else 1, signed=self.random.chance(400), **more)

    def enumeration(self):
        kind = Int(self.pick(8, 16, 32), order=self.order)
        kind.mappings = {"idle": [(0, 0)], "busy": [(1, 1)], "some": [(1, 9)], "many": [(10, 200)]}
        return kind

    def element(self, depth):
        if depth and self.random.chance(300):
            return self.struct(depth - 1)
        return self.pick(self.integer, self.integer, Text, self.enumeration)()

    def fields(self):
        unit = self.pick(8, 16, 32, 64)
        return Struct([("b%d" % i, BitField(1 + self.random.below(unit), unit, self.random.chance(500), self.order)) for i in range(3)])

    def member(self, depth):
        choice = self.random.below(10)
        if choice < 5:
            return self.element(depth)
        if choice < 6:
            return Array(self.pick(0, 1, 3), self.element(depth))
        if choice < 8:
            length = Int(self.pick(8, 16), order=self.order)
            return Sequence(length, self.element(depth))
        return self.fields() if choice < 9 else self.struct(0)

    def struct(self, depth):
        return Struct([("m%d" % i, self.member(depth)) for i in range(self.random.below(4))])

    def payload(self, number):
        if number == 0:
            members = [self.integer(), Text(), self.enumeration(), Array(2, self.struct(0)), Sequence(Int(8, order=self.order), Text()),
                       self.fields(), self.struct(1)]
        else:
            members = [self.member(1) for _ in range(self.random.below(6))]
        return Struct([("f%d" % i, kind) for i, kind in enumerate(members)])


# ---------------------------------------------------------------------------------------------------------------- metadata

def describe(kind):
    if isinstance(kind, BitField):
        return "type { parent = gcc_bitfield; unit_size = %d; size = %d; signed = %s; }" % (kind.unit, kind.bits, str(kind.signed).lower())
    if isinstance(kind, Int):
        text = "size = %d; signed = %s; align = %d;" % (kind.bits, str(kind.signed).lower(), kind.align)
        if kind.mappings:
            rows = ["{ %s, %s }" % (low if low == high else "{ %d, %d }" % (low, high), label)
                    for label, ranges in kind.mappings.items() for low, high in ranges]
            return "type { .parent = enum; %s .map = { %s }; }" % (text, ", ".join(rows))
        return "type { parent = integer; %s }" % text
    if isinstance(kind, Text):
        return "string"
    if isinstance(kind, Sequence):
        return "type { parent = sequence; length_type = %s; elem_type = %s; }" % (describe(kind.length), describe(kind.element))
    if isinstance(kind, Array):
        return "type { parent = array; length = %d; elem_type = %s; }" % (kind.length, describe(kind.element))
    return "type { parent = struct; fields = { %s }; }" % "".join("{ %s, %s },\n" % (describe(t), n) for n, t in kind.members)


def metadata_text(plan, sections):
    out = "/* made by a generator */\ntrace {\n  major = 1;\n  minor = 1;\n}\n"
    for bits in (8, 16, 32, 64):
        align = bits if plan.natural else 8
        out += "type uint%d_t { parent = integer; size = %d; signed = false; align = %d; }\n" % (bits, bits, align)
    for section in sections:
        out += "section {\n  name = %s;\n  event {\n    header_type = type%d;\n" % (section["name"], plan.kind)
        if section["context"] and len(section["context"].members) == 1 and plan.sized:
            out += "    context { event_size = true; }\n"
        elif section["context"]:
            out += "    context = %s;\n" % describe(section["context"])
        out += "  }\n}\n"
        for event in section["events"]:
            fields = describe(event["payload"]) if event["id"] % 2 else "{ %s }" % "".join(
                "{ %s, %s },\n" % (describe(t), n) for n, t in event["payload"].members)
            out += "event {\n  name = %s;\n  id = %d;\n  section = %s;\n  fields = %s;\n}\n" % (
                event["name"], event["id"], section["name"], fields)
    return out


# ----------------------------------------------------------------------------------------------------------------- packets

def packet_bytes(plan, head, content):
    """content: bits after the header. The packet is padded."""
    mark = "<" if plan.order == "le" else ">"
    stored = bytes(content)
    if head["compression"] == 1:
        stored = bz2.compress(stored)
    elif head["compression"] == 2:
        stored = gzip.compress(stored, mtime=0)
    scheme = head["checksum_scheme"]
    checksum = 0
    if scheme == 3:
        checksum = zlib.crc32(stored)
    elif scheme:
        digest = (hashlib.md5, hashlib.sha1)[scheme - 1](stored).digest()[:4]
        checksum = int.from_bytes(digest, "little" if plan.order == "le" else "big")
    size = -(-(HEADER + len(stored)) // plan.padding) * plan.padding
    out = struct.pack(mark + "6I2QI4B", MAGIC, head["session"], HEADER + len(stored), size, checksum, head["count"], head["begin"],
                      head["end"], head["discarded"], plan.bits, head["compression"], 0, scheme)
    return (out + stored).ljust(size, b"\0")


class Writer:
    def __init__(self, plan):
        self.plan, self.clock = plan, 0

    def header(self, bits, identity, time):
        plan = self.plan
        word, wide = (32, 64) if plan.natural else (8, 8)
        order = plan.order
        bits.align(word)
        bits.mark("event")
        if plan.kind == 1:
            extended = identity > 30 or time - self.clock >= 1 << 27
            first = 31 if extended else identity
            low = time % (1 << 27)
            bits.put(low << 5 | first if order == "le" else first << 27 | low, 32, order)
            if extended:
                bits.put(identity, 32, order)
                bits.put(time, 64, order)
                bits.align(wide)
        else:
            extended = identity > 65534 or time - self.clock >= 1 << 32
            bits.put(time % (1 << 32), 32, order)
            bits.put(65535 if extended else identity, 16, order)
            if extended:
                bits.align(wide)
                bits.put(time, 64, order)
                bits.put(identity, 32, order)
                bits.align(word)
        self.clock = time

    def payload(self, bits, event, values):
        event["payload"].write(bits, values["payload"], Scope())

    def event(self, bits, section, event, time, values):
        self.header(bits, event["id"], time)
        if section["context"]:
            if self.plan.sized:
                values["context"]["payload_size"] = self.size_after(bits, section, event, values)
            section["context"].write(bits, values["context"], Scope())
        bits.mark("payload")
        self.payload(bits, event, values)

    def size_after(self, bits, section, event, values):
        """Bytes from the end of the context, with the padding before the payload."""
        trial = Bits()
        trial.at = bits.at
        section["context"].write(trial, dict(values["context"], payload_size=0), Scope())
        begin = -(-trial.at // 8)
        self.payload(trial, event, values)
        return -(-trial.at // 8) - begin


# ---------------------------------------------------------------------------------------------------------------- a trace

def make_section(plan, random, name):
    maker = Maker(random, plan)
    context = None
    if plan.pid or plan.sized:
        members = [("pid", Int(32, order=plan.order, align=32 if plan.natural else 8))] if plan.pid else []
        if plan.sized:
            members.append(("payload_size", Int(16, order=plan.order, align=16 if plan.natural else 8)))
        context = Struct(members)
    events = []
    for i in range(plan.classes):
        identity = i if not plan.wide_ids else i * 37 + (60000 if i > 3 else 0)
        events.append({"id": identity, "name": "%s_%d" % (name, i), "payload": maker.payload(i)})
    return {"name": name, "context": context, "events": events}


def make_file(plan, random, section, name, session, index):
    """(bytes, packets): each packet has offset, size, marks, events, begin, end, count, discarded"""
    writer, data, packets, time, count, discarded = Writer(plan), bytearray(), [], 5000 + 300 * index, 7 * index, 0
    for number in range(plan.packets):
        time += random.below(1 << 30)
        begin = time
        bits, events = Bits(), []
        bits.at = 8 * HEADER
        bits.fill()
        writer.clock = begin
        for _ in range(plan.events):
            time += random.below(plan.gap)
            event = section["events"][random.below(len(section["events"]))]
            values = {"context": section["context"].random(random, Scope()) if section["context"] else {},
                      "payload": event["payload"].random(random, Scope())}
            writer.event(bits, section, event, time, values)
            events.append((time, event, values))
        bits.fill()
        discarded += random.below(plan.drop + 1) if plan.drop else 0
        modulus = 1 << (plan.bits or 32)
        head = {"session": session, "count": count % modulus, "begin": begin, "end": time + 3, "discarded": discarded,
                "compression": plan.compression if number % 3 != 1 else 0, "checksum_scheme": plan.checksum if number != 2 else 3 * bool(plan.checksum)}
        made = packet_bytes(plan, head, bits.data[HEADER:])
        packets.append(dict(head, offset=len(data), size=len(made), marks=bits.marks, events=events, section=section, file=name))
        data += made
        count += 1 + (random.below(plan.skip + 1) if plan.skip else 0)
        time += 10
    return data, packets


def cpu_of(section, name):
    rest = name[len(section["name"]):].lstrip("_-.")
    return int(rest) if rest.isdigit() else None


def expected(plan, packets, files, kept):
    """kept(packet, number of an event); number -1: the packet itself."""
    used = [p for p in packets if kept(p, -1)]
    begin = min(p["begin"] for p in used)
    lines, classes, tracks, last = [], {}, {}, {}
    lost = {"events": 0, "packets": 0}
    modulus = 1 << (plan.bits or 32)
    for p in used:
        section, before = p["section"], last.get(p["file"])
        lost["events"] += p["discarded"] - (before["discarded"] if before else 0)
        lost["packets"] += (p["count"] - before["count"] - 1) % modulus if before else 0
        last[p["file"]] = p
        name = "%s/%s" % (section["name"], p["file"])
        track = tracks.setdefault(name, {"name": name, "pid": None, "tid": None, "events": 0, "begin": p["begin"] - begin, "end": 0})
        track["end"] = max(track["end"], p["end"] - begin)
        for number, (time, event, values) in enumerate(p["events"]):
            if kept(p, number):
                line = {"ts": time - begin, "class": event["name"], "track": name}
                if cpu_of(section, p["file"]) is not None:
                    line["cpu"] = cpu_of(section, p["file"])
                line["fields"] = event["payload"].shown(values["payload"])
                context = section["context"].shown(values["context"]) if section["context"] else {}
                if context:
                    line["context"] = context
                lines.append(line)
                classes[event["name"]] = classes.get(event["name"], 0) + 1
                track["events"] += 1
    lines.sort(key=lambda line: line["ts"])
    info = {"schema": 1, "format": "ctf", "version": "1.1", "byte_order": "little" if plan.order == "le" else "big",
            "bytes": sum(map(len, files.values())), "events": len(lines),
            "classes": [{"name": n, "kind": "instant", "events": c} for n, c in sorted(classes.items())], "tracks": list(tracks.values()),
            "clock": {"name": None, "hz": 10**9}, "begin": 0, "end": max(p["end"] for p in used) - begin, "start_utc": None, "lost": lost}
    return {"jsonl": lines, "info": info, "ok": True}


def make(plan, random):
    session = 0x11223344
    sections = [make_section(plan, random, name) for name in plan.sections]
    files, packets = {}, []
    for index, name in enumerate(plan.files):
        section = next(s for s in sections if name.startswith(s["name"]))
        files[name], made = make_file(plan, random, section, name, session, index)
        packets += made
    text = metadata_text(plan, sections).encode()
    head = {"session": session, "count": 0, "begin": 0, "end": 0, "discarded": 0, "compression": 0, "checksum_scheme": 0}
    files["metadata"] = b"".join(packet_bytes(plan, head, text[at:at + plan.pieces]) for at in range(0, len(text), plan.pieces))
    problem, kept = None, lambda packet, number: True
    if plan.damage:
        problem, kept = plan.damage(files, packets)
    files = {name: bytes(data) for name, data in files.items()}
    out = expected(plan, packets, files, kept)
    if problem is not None:
        out["ok"], out["problem"], out["harmless"] = False, [packets[0]["file"], problem], False
        for key in ("begin", "end", "tracks"):
            del out["info"][key]
    return files, out


# ------------------------------------------------------------------------------------------------------------------ damage

def without(packet):
    return lambda p, number: p is not packet


def bad_magic(files, packets):
    files["work"][packets[1]["offset"] + 1] ^= 0x40
    return packets[1]["offset"], without(packets[1])


def wrong_session(files, packets):
    files["work"][packets[1]["offset"] + 4] ^= 1
    return packets[1]["offset"] + 4, without(packets[1])


def content_small(files, packets):
    at = packets[1]["offset"]
    files["work"][at + 8:at + 12] = struct.pack("<I", 47)
    return at + 8, without(packets[1])


def bad_checksum(files, packets):
    files["work"][packets[1]["offset"] + 16] ^= 1
    return packets[1]["offset"] + 16, lambda p, number: True


def unknown_event(files, packets):
    p, number = packets[1], 6
    bit = [b for b, mark in p["marks"] if mark == "event"][number]
    files["work"][p["offset"] + bit // 8 + 4:p["offset"] + bit // 8 + 6] = struct.pack("<H", 4000)
    return p["offset"] + bit // 8, lambda q, n: q is not p or n < number


def unknown_event_sized(files, packets):
    p, number = packets[1], 6
    bit = [b for b, mark in p["marks"] if mark == "event"][number]
    files["work"][p["offset"] + bit // 8 + 4:p["offset"] + bit // 8 + 6] = struct.pack("<H", 4000)
    return p["offset"] + bit // 8, lambda q, n: q is not p or n != number


def truncated(files, packets):
    p, number = packets[-1], 9
    bits = [b for b, mark in p["marks"] if mark == "event"]
    cut = p["offset"] + (bits[number] + bits[number + 1]) // 16
    del files["work"][cut:]
    return cut, lambda q, n: q is not p or n < number


def bad_compression(files, packets):
    at = packets[0]["offset"] + HEADER
    files["work"][at:at + 2] = b"??"
    return at, lambda p, n: p is not packets[0] or n < 0


def cases():
    out = {}
    for order in ("le", "be"):
        out["ctf2010-type1-" + order] = Plan(order)
        out["ctf2010-type2-" + order] = Plan(order, 2, classes=7, wide_ids=True)
        out["ctf2010-natural1-" + order] = Plan(order, 1, True, wide_ids=True)
        out["ctf2010-natural2-" + order] = Plan(order, 2, True, pid=True, wide_ids=True)
        out["ctf2010-sized-" + order] = Plan(order, 2, sized=True, pid=True)
    out["ctf2010-only-size"] = Plan(sized=True)
    out["ctf2010-bzip2"] = Plan(compression=1, checksum=1)
    out["ctf2010-gzip"] = Plan("be", compression=2, checksum=2)
    out["ctf2010-crc"] = Plan(checksum=3, drop=9, skip=2)
    out["ctf2010-counter"] = Plan(bits=4, skip=3, packets=20, events=3)
    out["ctf2010-wraps"] = Plan(gap=1 << 26)
    out["ctf2010-streams"] = Plan(files=("work_0", "work_1", "rest-12"), sections=("work", "rest"))
    out["ctf2010-small-metadata"] = Plan(pieces=99)
    for name, damage, more in (("bad-magic", bad_magic, {}), ("wrong-session", wrong_session, {}), ("content-small", content_small, {}),
                               ("checksum", bad_checksum, {"checksum": 3}), ("unknown-event", unknown_event, {"kind": 2}),
                               ("unknown-event-sized", unknown_event_sized, {"kind": 2, "sized": True, "pid": True}),
                               ("truncated", truncated, {}), ("bad-compression", bad_compression, {"compression": 2})):
        out["damaged-ctf2010-" + name] = Plan(damage=damage, **more)
    return out
