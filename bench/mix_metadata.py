#!/usr/bin/env python3
"""Metadata of CTF 2 for a trace of programs/mix.c that LTTng recorded as CTF 1.8: mix_metadata.py METADATA > METADATA2

Knows the events of mix_events.h; uuid, clock and ids are taken from the recorded metadata. The result has the shape of
what LTTng 2.15 writes, so that the same stream files can be read with both."""
import json
import re
import struct
import sys

PACKET_HEADER = 37


def text_of(path):
    """The text in the metadata packets."""
    with open(path, "rb") as file:
        data = file.read()
    out, at = b"", 0
    while at < len(data):
        magic, content, size = struct.unpack_from("<I20xII", data, at)
        if magic != 0x75D11D57:
            sys.exit("not a metadata packet at byte %d" % at)
        out += data[at + PACKET_HEADER:at + content // 8]
        at += size // 8
    return out.decode("ascii")


def number(bits, signed=False, roles=None, **more):
    out = {"type": "fixed-length-%s-integer" % ("signed" if signed else "unsigned"), "length": bits, "alignment": 8,
           "byte-order": "little-endian"}
    out.update({key.replace("_", "-"): value for key, value in more.items()})
    if roles:
        out["roles"] = roles
    return out


def real(bits):
    return {"type": "fixed-length-floating-point-number", "length": bits, "alignment": 8, "byte-order": "little-endian"}


def struct_of(members, **more):
    return dict({"type": "structure", "member-classes": [{"name": n, "field-class": c} for n, c in members]}, **more)


def array(length, element):
    return {"type": "static-length-array", "length": length, "element-field-class": element}


def dynamic(kind, length, **more):
    return dict({"type": "dynamic-length-" + kind, "length-field-location": {"path": [length]}}, **more)


STRING = {"type": "null-terminated-string"}
EVENTS = {
    "empty": [],
    "tick": [("number", number(32))],
    "pair": [("address", number(64, preferred_display_base=16)), ("delta", number(64, True))],
    "text": [("message", STRING), ("number", number(32, True))],
    "rich": [("small", number(8, True)), ("middle", number(16)), ("port", dict(number(32), **{"byte-order": "big-endian"})),
             ("four", array(4, number(32))), ("bytes", array(3, number(8, preferred_display_base=16))),
             ("_list_length", number(8)), ("list", dynamic("array", "_list_length", **{"element-field-class": number(16)})),
             ("word", {"type": "static-length-string", "length": 5}),
             ("_part_length", number(64)), ("part", dynamic("string", "_part_length")),
             ("name", STRING), ("real", real(64)), ("half", real(32)),
             ("state", number(32, True, mappings={"IDLE": [[0, 0]], "BUSY": [[1, 1]], "WAITING": [[2, 9]]}))],
}
STEP = [("value", number(32)), ("kind", number(8))]


def option(name, low, high, members):
    return {"name": name, "selector-field-ranges": [[low, high]], "field-class": struct_of(members)}


def fragments(text):
    uuid = re.search(r'trace \{.*?uuid = "([^"]*)"', text, re.S).group(1)
    offset = int(re.search(r"\boffset = (-?\d+);", text).group(1))
    hz = int(re.search(r"freq = (\d+);", text).group(1))
    stamp, event = ["default-clock-timestamp"], ["event-record-class-id"]
    yield {"type": "preamble", "version": 2, "uuid": list(bytes.fromhex(uuid.replace("-", "")))}
    yield {"type": "field-class-alias", "name": "u64-ts", "field-class": number(64, roles=stamp)}
    yield {"type": "trace-class", "namespace": "lttng.org,2009", "name": "", "uid": uuid,
           "environment": {"domain": "ust", "tracer_name": "lttng-ust", "tracer_major": 2, "tracer_minor": 13},
           "packet-header-field-class": struct_of([
               ("magic", number(32, roles=["packet-magic-number"])),
               ("uuid", {"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}),
               ("stream_id", number(32, roles=["data-stream-class-id"])),
               ("stream_instance_id", number(64, roles=["data-stream-id"]))])}
    yield {"type": "clock-class", "id": "monotonic", "name": "monotonic", "frequency": hz, "origin": "unix-epoch",
           "offset-from-origin": {"seconds": offset // hz, "cycles": offset % hz}}
    yield {"type": "data-stream-class", "id": 0, "default-clock-class-id": "monotonic",
           "packet-context-field-class": struct_of([
               ("timestamp_begin", "u64-ts"),
               ("timestamp_end", number(64, roles=["packet-end-default-clock-timestamp"])),
               ("content_size", number(64, roles=["packet-content-length"])),
               ("packet_size", number(64, roles=["packet-total-length"])),
               ("packet_seq_num", number(64, roles=["packet-sequence-number"])),
               ("events_discarded", number(64, roles=["discarded-event-record-counter-snapshot"])),
               ("cpu_id", number(32))]),
           "event-record-header-field-class": struct_of([
               ("id", number(16, roles=event, mappings={"compact": [[0, 65534]], "extended": [[65535, 65535]]})),
               ("v", {"type": "variant", "selector-field-location": {"path": ["id"]}, "options": [
                   option("compact", 0, 65534, [("timestamp", number(32, roles=stamp))]),
                   option("extended", 65535, 65535, [("id", number(32, roles=event)), ("timestamp", "u64-ts")])]})],
               **{"minimum-alignment": 8})}
    for name, identity in re.findall(r'event \{\s*name = "mix:(\w+)";\s*id = (\d+);', text):
        yield {"type": "event-record-class", "id": int(identity), "data-stream-class-id": 0, "name": "mix:" + name,
               "payload-field-class": struct_of(EVENTS.get(name, STEP))}


def main():
    for fragment in fragments(text_of(sys.argv[1])):
        sys.stdout.write("\x1e" + json.dumps(fragment, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
