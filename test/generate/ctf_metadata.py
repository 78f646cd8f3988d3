"""Metadata of CTF 1.8 (TSDL) and of CTF 2 (JSON) for the trace generator, and the containers of both."""
import json
import struct
import uuid

from ctf_types import Array, Blob, Float, Int, Location, Optional, Struct, Text, VarInt, Variant

TSDL_ROOTS = {"packet-header": "trace.packet.header", "packet-context": "stream.packet.context",
              "event-record-header": "stream.event.header", "event-record-common-context": "stream.event.context",
              "event-record-specific-context": "event.context", "event-record-payload": "event.fields"}


# ----------------------------------------------------------------------------------------------------------------- TSDL

class Tsdl:
    """Frequent integers get a typealias, as in hand-written metadata."""

    def __init__(self, order):
        self.order, self.uses, self.alias = order, {}, {}

    def location(self, location):
        path = ".".join(name for name in location.path if name is not None)
        return TSDL_ROOTS[location.origin] + "." + path if location.origin else path

    def integer(self, kind):
        text = "integer { size = %d; align = %d; signed = %s; base = %s;" % (
            kind.bits, kind.align, "true" if kind.signed else "false", {2: "binary", 8: 8, 10: "decimal", 16: "x"}[kind.base])
        if kind.order != self.order:
            text += " byte_order = %s;" % kind.order
        if kind.text:
            text += " encoding = UTF8;"
        if kind.clock:
            text += " map = clock.%s.value;" % kind.clock
        text += " }"
        self.uses[text] = self.uses.get(text, 0) + 1
        return self.alias.get(text, text)

    def labels(self, mappings):
        every = [(low, high, label) for label, ranges in mappings.items() for low, high in ranges]
        out, following = [], 0
        for low, high, label in every:
            name = label if label.isidentifier() else json.dumps(label)
            if low == high == following:                                # a value that follows the last one needs no number
                out.append(name)
            elif low == high:
                out.append("%s = %d" % (name, low))
            else:
                out.append("%s = %d ... %d" % (name, low, high))
            following = high + 1
        return ", ".join(out)

    def declare(self, kind, name, depth):
        """`kind name;` without the semicolon."""
        if isinstance(kind, Array):
            size = self.location(kind.length) if isinstance(kind.length, Location) else kind.length
            return self.declare(kind.element, "%s[%s]" % (name, size), depth)
        if isinstance(kind, Int):
            text = self.integer(kind)
            if kind.mappings is not None:
                text = "enum : %s { %s }" % (text, self.labels(kind.mappings))
        elif isinstance(kind, Float):
            text = "floating_point { exp_dig = %d; mant_dig = %d; byte_order = %s; align = %d; }" % (
                (8, 24) + (kind.order, kind.align) if kind.bits == 32 else (11, 53) + (kind.order, kind.align))
        elif isinstance(kind, Text):
            text = "string"
        elif isinstance(kind, Struct):
            text = self.struct(kind, depth)
        elif isinstance(kind, Variant):
            inside = "".join("\t" * (depth + 1) + self.declare(t, n, depth + 1) + ";\n" for n, t, _ in kind.options)
            text = "variant <%s> {\n%s%s}" % (self.location(kind.selector), inside, "\t" * depth)
        else:
            raise TypeError(kind)
        return "%s %s" % (text, name)

    def struct(self, kind, depth):
        inside = "".join("\t" * (depth + 1) + self.declare(t, n, depth + 1) + ";\n" for n, t in kind.members)
        return "struct {\n%s%s}%s" % (inside, "\t" * depth, " align(%d)" % kind.least if kind.least > 1 else "")

    def scope(self, name, kind):
        return "\t%s := %s;\n" % (name, self.struct(kind, 1)) if kind else ""

    def clock(self, clock):
        out = "clock {\n\tname = %s;\n" % clock.name
        if clock.uuid:
            out += '\tuuid = "%s";\n' % uuid.UUID(bytes=clock.uuid)
        if not clock.silent:
            out += "\tfreq = %d;\n" % clock.hz
        return out + "\tdescription = \"made up\";\n\toffset_s = %d;\n\toffset = %d;\n\tabsolute = FALSE;\n};\n" % (
            clock.offset_s, clock.offset)

    def stream(self, trace, stream):
        head = "\tid = %d;\n" % stream.id if stream.has_id else ""
        out = "stream {\n" + head + self.scope("packet.context", stream.packet_context)
        out += self.scope("event.header", stream.header) + self.scope("event.context", stream.context) + "};\n"
        for event in stream.events:
            out += "event {\n\tname = \"%s\";\n" % event.name
            out += "\tid = %d;\n" % event.id if event.has_id else ""
            out += "\tstream_id = %d;\n" % stream.id if stream.has_id else ""
            out += "\tloglevel = %d;\n" % event.level if event.level is not None else ""
            out += "\tmodel.emf.uri = \"http://example.org/%d\";\n" % event.id if event.level else ""
            out += self.scope("context", event.context) + self.scope("fields", event.payload) + "};\n"
        return out

    def body(self, trace):
        out = "trace {\n\tmajor = 1;\n\tminor = 8;\n"
        if trace.uuid:
            out += '\tuuid = "%s";\n' % uuid.UUID(bytes=trace.uuid)
        out += "\tbyte_order = %s;\n" % self.order + self.scope("packet.header", trace.packet_header) + "};\n"
        out += "env {\n" + "".join("\t%s = %s;\n" % (k, json.dumps(v)) for k, v in trace.environment.items()) + "};\n"
        for clock in trace.clocks:
            out += self.clock(clock)
        return out + "".join(self.stream(trace, s) for s in trace.streams)


def tsdl(trace):
    maker = Tsdl(trace.order)
    maker.body(trace)                                                   # counts
    often = [text for text, n in maker.uses.items() if n > 3 and "map" not in text]
    maker.alias = {text: "often_%d" % i for i, text in enumerate(often)}
    aliases = "".join("typealias %s := %s;\n" % (text, name) for text, name in maker.alias.items())
    body = maker.body(trace)
    at = body.index("env {")                # after trace{}, which has the default byte order of integers
    used_before = [name for name in maker.alias.values() if name in body[:at]]
    if used_before:
        at = 0
    return "/* CTF 1.8 */\n// made by a generator\n" + body[:at] + aliases + body[at:]


# ----------------------------------------------------------------------------------------------------------------- JSON

class Json:
    def __init__(self):
        self.aliases = {}

    def location(self, location):
        out = {"path": list(location.path)}
        return dict(out, origin=location.origin) if location.origin else out

    def integer(self, kind):
        if kind.kind == "bool":
            out = {"type": "fixed-length-boolean"}
        elif kind.kind == "bits":
            out = {"type": "fixed-length-bit-array"}
        elif kind.flags is not None:
            out = {"type": "fixed-length-bit-map", "flags": {k: [list(r) for r in v] for k, v in kind.flags.items()}}
        else:
            length = "variable" if isinstance(kind, VarInt) else "fixed"
            out = {"type": "%s-length-%s-integer" % (length, "signed" if kind.signed else "unsigned")}
            if kind.base != 10:
                out["preferred-display-base"] = kind.base
            if kind.mappings is not None:
                out["mappings"] = {k: [list(r) for r in v] for k, v in kind.mappings.items()}
        if not isinstance(kind, VarInt):
            out["length"] = kind.bits
            out["byte-order"] = "little-endian" if kind.order == "le" else "big-endian"
            if kind.align != 1:
                out["alignment"] = kind.align
            if kind.reverse:
                out["bit-order"] = "last-to-first" if kind.order == "le" else "first-to-last"
        if kind.role:
            out["roles"] = kind.role.split("+")
        return out

    def sized(self, kind, length, dynamic):
        out = {"type": "%s-length-%s" % ("dynamic" if dynamic else "static", kind)}
        if dynamic:
            out["length-field-location"] = self.location(length)
        else:
            out["length"] = length
        return out

    def field(self, kind):
        if isinstance(kind, Int):
            return self.integer(kind)
        if isinstance(kind, Float):
            out = {"type": "fixed-length-floating-point-number", "length": kind.bits,
                   "byte-order": "little-endian" if kind.order == "le" else "big-endian"}
            return dict(out, alignment=kind.align) if kind.align != 1 else out
        if isinstance(kind, Text):
            out = {"type": "null-terminated-string"}
            if kind.length is not None:
                out = self.sized("string", kind.length, isinstance(kind.length, Location))
            return dict(out, encoding=kind.encoding) if kind.encoding != "utf-8" else out
        if isinstance(kind, Blob):
            out = self.sized("blob", kind.length, isinstance(kind.length, Location))
            return dict(out, roles=[kind.role]) if kind.role else dict(out, **{"media-type": "image/png"})
        if isinstance(kind, Struct):
            return self.struct(kind)
        if isinstance(kind, Array):
            out = self.sized("array", kind.length, isinstance(kind.length, Location))
            out["element-field-class"] = self.field(kind.element)
            return dict(out, **{"minimum-alignment": kind.least}) if kind.least > 1 else out
        out = {"type": "optional" if isinstance(kind, Optional) else "variant",
               "selector-field-location": self.location(kind.selector)}
        if isinstance(kind, Optional):
            out["field-class"] = self.field(kind.element)
            if kind.ranges is not None:
                out["selector-field-ranges"] = [list(r) for r in kind.ranges]
        else:
            out["options"] = [dict({"name": n} if n else {}, **{"field-class": self.field(t), "selector-field-ranges":
                                                                [list(r) for r in ranges]}) for n, t, ranges in kind.options]
        return out

    def struct(self, kind):
        members = []
        for name, member in kind.members:
            made = self.field(member)
            if isinstance(member, Int) and type(member) is Int and not member.role and member.bits in (8, 32):
                alias = self.aliases.setdefault(json.dumps(made), "alias %d" % len(self.aliases))
                made = alias
            members.append({"name": name, "field-class": made})
        out = {"type": "structure"}
        if members:
            out["member-classes"] = members
        return dict(out, **{"minimum-alignment": kind.least}) if kind.least > 1 else out

    def clock(self, clock):
        out = {"type": "clock-class", "id": clock.name, "name": clock.name, "frequency": clock.hz,
               "offset-from-origin": {"seconds": clock.offset_s, "cycles": clock.offset}}
        if clock.unix:
            out["origin"] = "unix-epoch"
        if clock.uuid:
            out["uid"] = str(uuid.UUID(bytes=clock.uuid))
        return out

    def fragments(self, trace):
        first = {"type": "preamble", "version": 2}
        if trace.uuid:
            first["uuid"] = list(trace.uuid)
        out = []
        head = {"type": "trace-class", "environment": trace.environment, "attributes": {"example.org": {"a": [1, None]}}}
        if trace.packet_header:
            head["packet-header-field-class"] = self.struct(trace.packet_header)
        out.append(head)
        out += [self.clock(clock) for clock in trace.clocks]
        for stream in trace.streams:
            one = {"type": "data-stream-class"}
            if stream.has_id:
                one["id"] = stream.id
            if stream.name:
                one["name"] = stream.name
            if stream.clock:
                one["default-clock-class-id"] = stream.clock.name
            for key, kind in (("packet-context", stream.packet_context), ("event-record-header", stream.header),
                              ("event-record-common-context", stream.context)):
                if kind:
                    one[key + "-field-class"] = self.struct(kind)
            out.append(one)
            out += [self.event(stream, event) for event in stream.events]
        aliases = [{"type": "field-class-alias", "name": name, "field-class": json.loads(text)}
                   for text, name in self.aliases.items()]
        return [first] + aliases + out

    def event(self, stream, event):
        out = {"type": "event-record-class", "name": event.name}
        if event.has_id:
            out["id"] = event.id
        if stream.has_id:
            out["data-stream-class-id"] = stream.id
        if event.context:
            out["specific-context-field-class"] = self.struct(event.context)
        if event.payload:
            out["payload-field-class"] = self.struct(event.payload)
        return out


def json_sequence(trace):
    return "".join("\x1e%s\n" % json.dumps(f, ensure_ascii=False, indent=1 if f["type"] == "trace-class" else None)
                   for f in Json().fragments(trace))


# ----------------------------------------------------------------------------------------------------------- containers

def packets(text, order, identity, major, minor, long=False, piece=700):
    """Metadata text in packets of 37 bytes of header, or the 44 of CTF2-PMETA."""
    out, mark = b"", "<" if order == "le" else ">"
    size = 44 if long else 37
    for at in range(0, len(text), piece):
        part = text[at:at + piece]
        room = -(-(size + len(part)) // 256) * 256
        head = struct.pack(mark + "I16sIIIBBBBB", 0x75D11D57, identity or bytes(16), 0, 8 * (size + len(part)), 8 * room, 0, 0, 0,
                           major, minor)
        if long:
            head += bytes(3) + struct.pack(mark + "I", 8 * size)
        out += (head + part).ljust(room, b"\0")
    return out


def metadata(trace, container):
    text = (tsdl(trace) if trace.dialect == "1.8" else json_sequence(trace)).encode("utf-8")
    major, minor = (1, 8) if trace.dialect == "1.8" else (2, 0)
    if container == "text":
        return text
    return packets(text, trace.order, trace.uuid, major, minor, long=container == "long")
