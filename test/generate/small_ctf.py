#!/usr/bin/env python3
"""Small CTF 2 traces with any names: small_ctf.write(folder, classes, streams).

classes: [(name, [(field, type), ...]), ...] with types u8, u32, i32, u64, i64 and string.
streams: [(cpu, [(ns, class, [value, ...]), ...]), ...]: a file each, of one packet."""
import json
import os
import struct

SIZES = {"u8": ("B", 8), "u32": ("I", 32), "i32": ("i", 32), "u64": ("Q", 64), "i64": ("q", 64)}


def integer(bits, signed=False, **more):
    return {"type": "fixed-length-%ssigned-integer" % ("" if signed else "un"), "length": bits, "byte-order": "little-endian", "alignment": 8, **more}


def structure(members):
    return {"type": "structure", "member-classes": [{"name": name, "field-class": of} for name, of in members]}


def field_class(kind):
    return {"type": "null-terminated-string"} if kind == "string" else integer(SIZES[kind][1], kind[0] == "i")


def metadata(classes):
    header = structure([("id", integer(16, roles=["event-record-class-id"])), ("ts", integer(64, roles=["default-clock-timestamp"]))])
    out = [{"type": "preamble", "version": 2}, {"type": "trace-class"}, {"type": "clock-class", "id": "c", "name": "c", "frequency": 10 ** 9},
           {"type": "data-stream-class", "default-clock-class-id": "c", "event-record-header-field-class": header,
            "packet-context-field-class": structure([("cpu_id", integer(32))])}]
    for number, (name, fields) in enumerate(classes):
        out.append({"type": "event-record-class", "id": number, "name": name,
                    "payload-field-class": structure([(field, field_class(kind)) for field, kind in fields])})
    return b"".join(b"\x1e" + json.dumps(one).encode() + b"\n" for one in out)


def event(classes, ns, number, values):
    out = [struct.pack("<HQ", number, ns)]
    for (_, kind), value in zip(classes[number][1], values):
        out.append(value.encode() + b"\0" if kind == "string" else struct.pack("<" + SIZES[kind][0], value))
    return b"".join(out)


def write(folder, classes, streams):
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata"), "wb") as file:
        file.write(metadata(classes))
    for number, (cpu, events) in enumerate(streams):
        with open(os.path.join(folder, "stream_%d" % number), "wb") as file:
            file.write(struct.pack("<I", cpu) + b"".join(event(classes, *one) for one in events))
    return folder
