"""Traces for the trace generator: packets of events with values, written as files, and the answers expected of a reader."""
import ctf_metadata
from ctf_types import Array, Bits, Blob, Int, Location, Scope, Struct, Variant, ceil

MAGIC = 0xC1FC1FC1


class Packet:
    def __init__(self, stream, begin, cpu, instance):
        self.stream, self.begin, self.end, self.cpu, self.instance = stream, begin, begin, cpu, instance
        self.events, self.discarded, self.sequence = [], 0, 0       # events: (time, event class, values of the scopes)
        self.offset, self.size, self.content, self.marks = 0, 0, 0, []


class File:
    def __init__(self, name, streams, instance):
        self.name, self.streams, self.instance, self.packets, self.data = name, streams, instance, [], bytearray()
        self.track = None                                           # what its tracks are named after, if not its name


class Trace:
    def __init__(self, dialect, order):
        self.dialect, self.order, self.uuid, self.packet_header = dialect, order, None, None
        self.streams, self.clocks, self.environment, self.files = [], [], {"tool": "generator", "number": -5}, []
        self.container = "text"

    def number(self, bits, role=None, **more):
        return Int(bits, order=self.order, align=8, role=role, **more)


# ------------------------------------------------------------------------------------------------------- what packets say

ROLES = {"timestamp_begin": "default-clock-timestamp", "timestamp_end": "packet-end-default-clock-timestamp",
         "content_size": "packet-content-length", "packet_size": "packet-total-length",
         "packet_seq_num": "packet-sequence-number", "events_discarded": "discarded-event-record-counter-snapshot"}


def add_packet_header(trace, magic=True, identity=True, stream_id=True):
    members = []
    if magic:
        members.append(("magic", trace.number(32, "packet-magic-number")))
    if identity and trace.dialect == "1.8":
        members.append(("uuid", Array(16, trace.number(8))))
    elif identity:
        members.append(("uuid", Blob(16, "metadata-stream-uuid")))
    if stream_id:
        members += [("stream_id", trace.number(16, "data-stream-class-id")), ("stream_instance_id", trace.number(32, "data-stream-id"))]
    trace.packet_header = Struct(members) if members else None


def add_packet_context(trace, stream, names, widths=None, extra=None):
    members = []
    for name in names:
        clock = stream.clock.name if stream.clock and name.startswith("timestamp") else None
        members.append((name, trace.number((widths or {}).get(name, 64), ROLES.get(name), clock=clock)))
    stream.packet_context = Struct(members + (extra or []))


def add_header(trace, stream, kind, stamp=32):
    """The event header: none, simple, compact (5 + 27 bits), or large (16 + 32 bits)."""
    stream.header_kind, stream.stamp = kind, stamp
    clock = stream.clock.name if stream.clock else None
    roles = {"role": "default-clock-timestamp", "clock": clock} if clock else {}

    def time(bits, align=8):
        return Int(bits, order=trace.order, align=align, **roles)

    if kind == "simple":
        members = [("id", trace.number(8, "event-record-class-id"))]
        stream.header = Struct(members + ([("timestamp", time(stamp, 1 if stamp % 8 else 8))] if clock else []))
    elif kind in ("compact", "large"):
        last, bits, short = (31, 5, 27) if kind == "compact" else (65535, 16, 32)
        align = 1 if kind == "compact" else 8
        tag = Int(bits, order=trace.order, align=align, role="event-record-class-id",
                  mappings={"compact": [(0, last - 1)], "extended": [(last, last)]})
        small = Struct([("timestamp", time(short, align))])
        wide = Struct([("id", trace.number(32, "event-record-class-id")), ("timestamp", time(64))])
        options = [("compact", small, [(0, last - 1)]), ("extended", wide, [(last, last)])]
        stream.header = Struct([("id", tag), ("v", Variant(Location("id"), options))], 8)


# ----------------------------------------------------------------------------------------------------------------- writing

class Writer:
    """Writes the packets of a file, one after the other."""

    def __init__(self, trace, file):
        self.trace, self.file, self.clock = trace, file, 0

    def header_value(self, stream, event, time):
        kind = stream.header_kind
        if kind == "none":
            return None
        if kind == "simple":
            return {"id": event.id, "timestamp": time % (1 << stream.stamp)}
        last, short = (31, 27) if kind == "compact" else (65535, 32)
        if event.id < last and 0 <= time - self.clock < 1 << short:
            return {"id": event.id, "v": (0, {"timestamp": time % (1 << short)})}
        return {"id": last, "v": (1, {"id": event.id, "timestamp": time})}

    def packet_values(self, packet, size, content):
        trace, stream = self.trace, packet.stream
        head = {"magic": MAGIC, "uuid": trace.uuid if trace.dialect == "2" else list(trace.uuid or b""),
                "stream_id": stream.id, "stream_instance_id": packet.instance}
        context = {"timestamp_begin": packet.begin, "timestamp_end": packet.end, "content_size": content, "packet_size": 8 * size,
                   "packet_seq_num": packet.sequence, "events_discarded": packet.discarded, "cpu_id": packet.cpu}
        for name, kind in stream.packet_context.members if stream.packet_context else []:
            if name in context:
                context[name] %= 1 << kind.bits
            else:
                context[name] = packet.extra[name]
        return head, context

    def encode(self, packet, size, content):
        bits, trace, stream = Bits(), self.trace, packet.stream
        head, context = self.packet_values(packet, size, content)
        scope = Scope({"packet-header": head, "packet-context": context})
        for kind, value in ((trace.packet_header, head), (stream.packet_context, context)):
            if kind:
                kind.write(bits, value, scope)
        for time, event, values in packet.events:
            if stream.header:
                bits.align(stream.header.align)
            bits.mark("event")
            header = self.header_value(stream, event, time)
            if stream.header_kind != "none" and stream.clock:
                self.clock = time
            scope.roots.update(values)
            scope.roots["event-record-header"] = header
            for kind, name in ((stream.header, "event-record-header"), (stream.context, "event-record-common-context"),
                               (event.context, "event-record-specific-context"), (event.payload, "event-record-payload")):
                if kind:
                    kind.write(bits, scope.roots[name], scope)
        bits.mark("end")
        return bits

    def add(self, packet, padding):
        names = [n for n, _ in packet.stream.packet_context.members] if packet.stream.packet_context else []
        before = packet.begin if "timestamp_begin" in names else self.clock if self.trace.dialect == "1.8" else 0
        self.clock = before
        content = self.encode(packet, 0, 0).at
        if "content_size" not in names:
            content, padding = ceil(content, 8), 0                      # no room for undocumented padding
        size = ceil(content, 8) // 8 + (padding if "packet_size" in names else 0)
        self.clock = before
        bits = self.encode(packet, size, content)
        packet.offset, packet.size, packet.content, packet.marks = len(self.file.data), size, content, bits.marks
        self.file.data += bytes(bits.data).ljust(size, b"\0")


def write(trace, random):
    for file in trace.files:
        writer = Writer(trace, file)
        for number, packet in enumerate(file.packets):
            writer.add(packet, (0, 8, 24, 100)[random.below(4)] if number % 3 else 16)


# ---------------------------------------------------------------------------------------------------------------- expected

def shown_context(stream, event, values):
    common = stream.context.shown(values["event-record-common-context"]) if stream.context else {}
    own = event.context.shown(values["event-record-specific-context"]) if event.context else {}
    out = {("stream." + k if k in own else k): v for k, v in common.items()}
    out.update({("event." + k if k in common else k): v for k, v in own.items()})
    return out


def kind_of(name):
    return "enter" if name.endswith(":func_entry") else "exit" if name.endswith(":func_exit") else "instant"


def nanoseconds(ticks, hz):
    """Rounded half to even."""
    whole, rest = divmod(ticks * 10**9, hz)
    return whole + (1 if 2 * rest > hz or 2 * rest == hz and whole % 2 else 0)


def track_name(stream, file):
    return "%s/%s" % (stream.name if stream.name is not None else stream.id, file.track or file.name)


def has(packet, name):
    return packet.stream.packet_context is not None and name in [n for n, _ in packet.stream.packet_context.members]


class Expected:
    """The expected answers. `kept`(packet, number of an event) tells which events survive damage."""

    def __init__(self, trace, kept=None):
        self.trace, self.kept = trace, kept or (lambda packet, number: True)
        self.hz = trace.clocks[0].hz if trace.clocks else 0
        self.begin = self.first()

    def times(self, packet):
        out = [packet.begin] if has(packet, "timestamp_begin") else []
        out += [packet.end] if has(packet, "timestamp_end") else []
        return out + [time for number, (time, _, _) in enumerate(packet.events) if self.kept(packet, number)]

    def packets(self):
        return [(f, p) for f in self.trace.files for p in f.packets if self.kept(p, -1)]

    def first(self):
        begins = [p.begin for _, p in self.packets() if has(p, "timestamp_begin")]
        events = [t for _, p in self.packets() for n, (t, _, _) in enumerate(p.events) if self.kept(p, n)]
        return min(begins or events or [0])

    def ns(self, ticks):
        return nanoseconds(ticks - self.begin, self.hz) if self.hz else 0

    def lines(self):
        out = []
        for file, packet in self.packets():
            for number, (time, event, values) in enumerate(packet.events):
                if not self.kept(packet, number):
                    continue
                line = {"ts": self.ns(time), "class": event.name, "track": track_name(packet.stream, file)}
                if has(packet, "cpu_id"):
                    line["cpu"] = packet.cpu
                line["fields"] = event.payload.shown(values["event-record-payload"]) if event.payload else {}
                context = shown_context(packet.stream, event, values)
                if context:
                    line["context"] = context
                out.append(line)
        out.sort(key=lambda line: line["ts"])
        return out

    def lost(self):
        """(events, packets) from the counters of consecutive packets of a stream."""
        events = packets = 0
        last = {}
        for file, packet in self.packets():
            key = (file.track or file.name, packet.stream.id, packet.instance)
            before = last.get(key)
            last[key] = packet
            kinds = dict(packet.stream.packet_context.members) if packet.stream.packet_context else {}
            if "packet_seq_num" in kinds and before:
                packets += (packet.sequence - before.sequence - 1) % (1 << kinds["packet_seq_num"].bits)
            if "events_discarded" in kinds:
                base = before.discarded if before else 0 if "packet_seq_num" in kinds and packet.sequence == 0 else packet.discarded
                events += (packet.discarded - base) % (1 << kinds["events_discarded"].bits)
        return {"events": events, "packets": packets}

    def info(self, metadata_bytes):
        lines, tracks, classes, ends = self.lines(), {}, {}, []
        for line in lines:
            classes[line["class"]] = classes.get(line["class"], 0) + 1
        for file, packet in self.packets():
            name, times = track_name(packet.stream, file), self.times(packet)
            ends += times
            track = tracks.setdefault(name, {"name": name, "pid": None, "tid": None, "events": 0, "times": []})
            track["times"] += times
        for line in lines:
            tracks[line["track"]]["events"] += 1
        for track in tracks.values():
            times = track.pop("times") or [self.begin]
            track["begin"], track["end"] = self.ns(min(times)), self.ns(max(times))
        clock = self.trace.clocks[0] if self.trace.clocks else None
        return {"schema": 1, "format": "ctf", "version": self.trace.dialect,
                "byte_order": "little" if self.trace.order == "le" else "big",
                "bytes": metadata_bytes + sum(len(f.data) for f in self.trace.files), "events": len(lines),
                "classes": [{"name": n, "kind": kind_of(n), "events": c} for n, c in sorted(classes.items())],
                "tracks": list(tracks.values()), "begin": 0, "end": self.ns(max(ends)) if ends else 0, "lost": self.lost(),
                **({"clock": {"name": clock.name, "hz": self.hz}} if clock and self.trace.files else {})}


def files_of(trace):
    """name -> bytes"""
    out = {"metadata": ctf_metadata.metadata(trace, trace.container)}
    out.update({f.name: bytes(f.data) for f in trace.files})
    return out
