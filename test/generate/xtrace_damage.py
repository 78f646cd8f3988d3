"""Damaged instruction streams and snapshots, and the problems that a reader must report.

Each function gets a random number generator and the two files of a good case, and returns the changed files."""
import random
import struct

import xtrace_gen
from xtrace_record import shot_bytes

UNKNOWN = [token for token in range(256)
           if token & 7 in (0, 5, 6) or (token & 7 == 1 and token & 0x30) or (token & 7 == 3 and token >> 3 > 5)
           or (token & 7 == 4 and token not in (0x0c, 0x1c, 0x24)) or (token & 7 == 7 and token != 7)]


def cut_here(stream, event, data, rule):
    """Reading ends at an event."""
    number = stream.record.events.index(event)
    return xtrace_gen.File(stream.name, data, stream.events[:number], [(event.offset, rule)], (event.offset, rule))


def unknown(rng, stream, shots):
    event = rng.choice(stream.record.events[8:])
    data = stream.data[:event.offset] + bytes([rng.choice(UNKNOWN)]) + stream.data[event.offset + 1:]
    return [cut_here(stream, event, data, "xtrace.unknown-token")]


def unknown_first(rng, stream, shots):
    data = bytes([rng.choice(UNKNOWN)]) + stream.data[1:]
    return [cut_here(stream, stream.record.events[0], data, "xtrace.unknown-token")]


def cut_in(rng, stream, shots):
    """Anywhere in a payload, also right after the token."""
    number = rng.randrange(len(stream.record.events) - 1)
    event, end = stream.record.events[number], stream.record.events[number + 1].offset
    return [cut_here(stream, event, stream.data[:rng.randrange(event.offset + 1, end)], "xtrace.truncated")]


def cut_between(rng, stream, shots):
    """Undetectable: a stream has no end mark."""
    number = rng.randrange(1, len(stream.record.events))
    return [xtrace_gen.File(stream.name, stream.data[:stream.record.events[number].offset], stream.events[:number])]


def vector(stream, rule, count, entries):
    event = next(e for e in stream.record.events if e.name == "syscall_vec")
    data = stream.data[:event.offset] + b"\x24" + struct.pack("<Q", count) + bytes(16 * entries)
    return [cut_here(stream, event, data, rule)]


def vec_huge(rng, stream, shots):
    return vector(stream, "xtrace.vec-count", rng.choice((2 ** 64 - 1, 2 ** 63, 2 ** 60, 2 ** 60 + 1, 2 ** 32)), 40)


def vec_more(rng, stream, shots):
    return vector(stream, "xtrace.vec-count", 1025, 1024)


def vec_cut(rng, stream, shots):
    return vector(stream, "xtrace.truncated", 1024, 1023)


def wrong_target(rng, stream, shots):
    """From any branch to a register but the last, which nothing follows."""
    events = stream.record.events
    event = rng.choice([e for number, e in enumerate(events) if e.name == "target"
                        and any(later.name == "insn" for later in events[number:])])
    wrong = int(event.fields["value"], 16) ^ 1 << rng.randrange(2, 60)
    data = bytearray(stream.data)
    struct.pack_into("<Q", data, event.offset + 1, wrong)
    lines = [dict(line) for line in stream.events]
    lines[events.index(event)]["fields"] = {"value": hex(wrong)}
    return [xtrace_gen.File(stream.name, data, lines, [(event.offset, "xtrace.target")])]


def bytes_of(event):
    address = int(event.fields["addr"], 16)
    return range(address, address + event.fields["size"])


def known_before(events):
    """(number of a load, one of its addresses) for loads of bytes that were loaded or stored before, if nothing between
    makes readers forget them. Places near a cache instruction are left out."""
    known, found = set(), []
    for number, event in enumerate(events):
        if event.name in ("svc_arg", "svc_ret", "dc", "all_gpr", "stxr") or (event.name == "insn" and event.cls == "exception"):
            known.clear()  # more than readers do, so the rest is certain
        elif event.name in ("load", "store"):
            if event.name == "load":
                found += [(number, address) for address in bytes_of(event) if address in known]
            known.update(bytes_of(event))
    return found


def wrong_load(rng, stream, shots):
    """A byte of a load; the next load of it is wrong, too, because readers believe the last one."""
    events = stream.record.events
    number, address = rng.choice(known_before(events))
    event = events[number]
    at = address - int(event.fields["addr"], 16)
    data = bytearray(stream.data)
    data[event.offset + 9 + at] ^= 1 << rng.randrange(8)
    problems = [(event.offset, "xtrace.shadow")]
    for later in events[number + 1:]:
        if later.name in ("svc_arg", "svc_ret", "dc", "all_gpr", "stxr") or (later.name == "insn" and later.cls == "exception"):
            break
        if later.name in ("load", "store") and address in bytes_of(later):
            problems += [(later.offset, "xtrace.shadow")] if later.name == "load" else []
            break
    lines = [dict(line) for line in stream.events]
    value = data[event.offset + 9:event.offset + 9 + event.fields["size"]].hex()
    lines[number]["fields"] = dict(event.fields, value=value)
    return [xtrace_gen.File(stream.name, data, lines, problems)]


def jump(rng, stream, shots):
    """After the end of the program: two instructions that do not follow each other, and a B to another place."""
    pc, data, lines = 0x500000, bytearray(stream.data), list(stream.events)
    for op, step in ((0xd503201f, 4), (0xd503201f, 8 + 4 * rng.randrange(100)), (0x14000004, 16), (0x14000004, 20),
                     (0xb4000080, 4), (0xb4000080, 16), (0xb4000080, 8), (0xd503201f, 0)):
        data += struct.pack("<BQI", 9, pc, op)
        lines.append({"ts": stream.record.insns + len(lines) - len(stream.events), "class": "insn", "track": stream.record.name,
                      "fields": {"pc": hex(pc), "opcode": "0x%08x" % op, "el": 0}})
        pc += step
    return [xtrace_gen.File(stream.name, data, lines, jump_problems(data, len(stream.data)))]


def jump_problems(data, at):
    """For the instructions added by jump(), from the possible successors of each."""
    problems, allowed = [], None
    while at < len(data):
        _, pc, op = struct.unpack_from("<BQI", data, at)
        if allowed and pc not in allowed:
            problems.append((at, "xtrace.pc-chain"))
        allowed = {0xd503201f: {pc + 4}, 0x14000004: {pc + 16}, 0xb4000080: {pc + 4, pc + 16}}[op]
        at += 13
    return problems


# ---------------------------------------------------------------- snapshots

def snapshots(shots, data, kept, problems, damage=None, stream=None):
    """`kept`: numbers of the readable records."""
    lines = [shots.events[number] for number in kept]
    return [xtrace_gen.File(shots.name, data, lines, problems, damage)] + ([stream] if stream else [])


def place(shots, number):
    """The offset of a record, after a header of 24 bytes."""
    return 24 + number * len(shot_bytes(shots.shots[0]))


def shot_cut(rng, stream, shots):
    last = len(shots.shots) - 1
    at = place(shots, last)
    data = shots.data[:rng.randrange(at + 1, len(shots.data))]
    return snapshots(shots, data, range(last), [(at, "xtrace.snapshot-truncated")], (at, "xtrace.snapshot-truncated"))


def shot_vl(rng, stream, shots):
    number = rng.randrange(1, len(shots.shots))
    data, at = bytearray(shots.data), place(shots, number)
    struct.pack_into("<Q", data, place(shots, number + 1) - 8, rng.choice((0, 127, 256, 2 ** 63)))
    kept = [n for n in range(len(shots.shots)) if n != number]
    return snapshots(shots, data, kept, [(at, "xtrace.snapshot-vl")], (at, "xtrace.snapshot-vl"))


def shot_none(rng, stream, shots):
    data = rng.randbytes(5000)
    return snapshots(shots, data, [], [(0, "xtrace.snapshot-size")], (0, "xtrace.snapshot-size"))


def shot_changed(rng, stream, shots, number, rule, fields):
    """A record has other values: {offset in it: (value, field)}. This loses nothing."""
    data, at = bytearray(shots.data), place(shots, number)
    lines = [dict(line) for line in shots.events]
    for offset, (value, field) in fields.items():
        struct.pack_into("<Q", data, at + offset, value)
        lines[number]["fields"] = dict(lines[number]["fields"], **{field: value})
    return [xtrace_gen.File(shots.name, data, lines, [(at, rule)]), stream]


def shot_offset(rng, stream, shots):
    """That of another instruction."""
    number = rng.randrange(1, len(shots.shots))
    offset = shots.shots[number]["offset"]
    other = rng.choice([e.offset for e in stream.record.events if e.name == "insn" and abs(e.offset - offset) > 100])
    return shot_changed(rng, stream, shots, number, "xtrace.snapshot-offset", {8: (other, "offset")})


def shot_order(rng, stream, shots):
    """More user instructions than instructions; alone, so that no stream disagrees, too."""
    number = len(shots.shots) - 1
    insns = shots.shots[number]["insns"]
    return shot_changed(rng, stream, shots, number, "xtrace.snapshot-order", {16: (insns + 1, "user_insns")})[:1]


def shot_registers(rng, stream, shots):
    """A snapshot right before a load or store with an offset, whose base is wrong."""
    found = []
    for number, shot in enumerate(shots.shots):
        insn = next((n for n, e in enumerate(stream.record.events) if e.offset == shot["offset"]), None)
        if insn is None:
            continue
        op = int(stream.record.events[insn].fields["opcode"], 16)
        if op & 0x3b000000 == 0x39000000:
            found.append((number, op >> 5 & 31))
    number, base = rng.choice(found)
    wrong = shots.shots[number]["x"][base] ^ 0x10
    out = shot_changed(rng, stream, shots, number, "xtrace.snapshot-regs", {32 + 8 * base: (wrong, "file")})
    fields = dict(shots.events[number]["fields"])
    fields["x"] = fields["x"][:base] + [hex(wrong)] + fields["x"][base + 1:]
    out[0].events[number]["fields"] = fields
    return out


STREAMS = {"unknown": unknown, "unknown-first": unknown_first, "cut-in": cut_in, "cut-between": cut_between, "vec-huge": vec_huge,
           "vec-more": vec_more, "vec-cut": vec_cut, "target": wrong_target, "load": wrong_load, "jump": jump}
SNAPSHOTS = {"shot-cut": shot_cut, "shot-vl": shot_vl, "shot-none": shot_none, "shot-offset": shot_offset,
             "shot-order": shot_order, "shot-registers": shot_registers}
SEEDS = 3  # of each kind
DAMAGES = ["damaged-%s-%d" % (kind, number) for kind in list(STREAMS) + list(SNAPSHOTS) for number in range(SEEDS)]


def base(name):
    """The files damaged in this case."""
    kind, number = name[len("damaged-"):].rsplit("-", 1)
    return xtrace_gen.simulate(seed=40 + int(number), every=11 if kind == "shot-registers" else 37)


def make(name):
    kind = name[len("damaged-"):].rsplit("-", 1)[0]
    return {**STREAMS, **SNAPSHOTS}[kind](random.Random(name), *base(name))
