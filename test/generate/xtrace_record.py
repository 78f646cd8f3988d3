"""Recordings of the machine of xtrace_machine.py: the tokens of a stream with their places, snapshots, and tables that are
counted during the run and not read from the stream."""
import struct

from xtrace_machine import BLOCK_ENDS, MASK, SYSTEM_REGISTERS

VALUES = {"stxr": 0x03, "mrs": 0x0b, "svc_arg": 0x13, "svc_ret": 0x1b, "dc": 0x23, "target": 0x2b, "flags": 0x1c, "time": 0x07}
KINDS = {"insn": "insn", "load": "mem", "store": "mem", "all_gpr": "regs", "snapshot": "regs"}  # all others: state
CALL_NAMES = {56: "openat", 63: "read", 64: "write", 66: "writev", 94: "exit_group", 9999: None}
HEADER = struct.Struct("<IIQBBB5x")


class Event:
    """The token at an offset of the stream."""
    __slots__ = ("name", "ts", "offset", "fields", "cls")

    def __init__(self, name, ts, offset, fields, cls=None):
        self.name, self.ts, self.offset, self.fields, self.cls = name, ts, offset, fields, cls


class Record:
    """The recorder of one track. `pcs`: which instructions carry their pc: at "blocks" (as we write it), only after
    "jumps", "all". `hidden`: the first instructions do not. `clock`: a list with the number of the next access, shared by
    all tracks."""

    def __init__(self, name="4711", pcs="blocks", hidden=False, clock=None):
        self.name, self.pcs, self.hidden, self.clock = name, pcs, hidden, clock
        self.data, self.events, self.shots = bytearray(), [], []
        self.insns = self.user = 0
        self.last = None                      # (pc, class, level) of the last instruction
        self.hidden_once = hidden
        self.known = False                    # does a reader know the pc of the last instruction?
        self.levels, self.classes = [0] * 4, {}
        self.tokens = {"load": [0, 0], "store": [0, 0]}
        self.blocks, self.block, self.without_pc = {}, None, 0
        self.branches, self.pages, self.calls = {}, {}, {}

    def put(self, name, token, payload, fields, cls=None):
        self.events.append(Event(name, max(0, self.insns - 1), len(self.data), fields, cls))
        self.data += bytes([token]) + payload

    def insn(self, pc, op, cls, el):
        old, self.last = self.last, (pc, cls, el)
        jump = old is None or pc != old[0] + 4
        begins = jump or old[1] in BLOCK_ENDS or el != old[2]
        says = {"blocks": begins, "jumps": jump, "all": True}[self.pcs]
        if self.hidden:
            says = says and old is not None
            self.hidden = not says
        known, self.known = self.known, not self.hidden
        self.count_insn(pc, cls, el, begins or self.known != known)
        if old and known and self.known and old[1].startswith("branch.") and old[2] == el:
            row = self.branches.setdefault((old[0], old[1]), [0, 0])
            row[old[1] == "branch.cond" and pc == old[0] + 4] += 1
        self.insns += 1
        self.user += el == 0
        payload = (struct.pack("<Q", pc) if says else b"") + struct.pack("<I", op)
        self.put("insn", el << 6 | (0x09 if says else 0x01), payload,
                 {"pc": hex(pc) if self.known else None, "opcode": "0x%08x" % op, "el": el}, cls)

    def count_insn(self, pc, cls, el, begins):
        self.levels[el] += 1
        self.classes[cls] = self.classes.get(cls, 0) + 1
        if begins:
            self.end_block()
            self.block = [pc if self.known else None, 0]
        self.block[1] += 1
        if self.known:
            self.pages.setdefault(pc >> 12, [0, 0, 0])[0] += 1

    def end_block(self):
        if self.block and self.block[0] is None:
            self.without_pc += self.block[1]
        elif self.block:
            self.blocks[tuple(self.block)] = self.blocks.get(tuple(self.block), 0) + 1
        self.block = None

    def access(self, name, address, data):
        if self.clock:
            self.value("time", self.clock[0])
            self.clock[0] += 1
        counts = self.tokens[name]
        counts[0] += 1
        counts[1] += len(data)
        for page in {address >> 12, (address + len(data) - 1 & MASK) >> 12}:
            self.pages.setdefault(page, [0, 0, 0])[1 if name == "load" else 2] += 1
        token = (len(data).bit_length() - 1) << 4 | (0x0a if name == "store" else 0x02)
        self.put(name, token, struct.pack("<Q", address) + data, {"addr": hex(address), "size": len(data), "value": data.hex()})

    def value(self, name, value):
        field = "nzcv" if name == "flags" else "value"
        self.put(name, VALUES[name], struct.pack("<Q", value), {field: value if name == "time" else hex(value)})

    def registers(self, x):
        self.put("all_gpr", 0x0c, struct.pack("<32Q", *x), {"x": [hex(value) for value in x]})

    def buffers(self, buffers):
        self.put("syscall_vec", 0x24, struct.pack("<Q", len(buffers)) + b"".join(struct.pack("<QQ", *b) for b in buffers),
                 {"iov": [{"base": hex(base), "len": length} for base, length in buffers]})

    def system_call(self, number, result):
        row = self.calls.setdefault(number, [0, 0])
        row[0] += 1
        row[1] += result is not None and -4095 <= result < 0

    def snapshot(self, cpu):
        cpu.system["nzcv"] = cpu.nzcv
        self.shots.append({"file": 0, "offset": len(self.data), "user_insns": self.user, "insns": self.insns, "x": list(cpu.x),
                           "z": list(cpu.z), "p": cpu.p[:16], "ffr": cpu.p[16], "za": cpu.za, **cpu.system, "vl": cpu.vl})

    # ---- expected answers

    def jsonl(self):
        return [{"ts": e.ts, "class": e.name, "track": self.name, "fields": e.fields} for e in self.events]

    def reports(self):
        """`by` -> the relevant members of its answer; call after recording."""
        self.end_block()
        return {
            "mix": {"instructions": self.insns, "levels": {"el%d" % i: n for i, n in enumerate(self.levels)},
                    "classes": [{"name": name, "instructions": n}
                                for name, n in sorted(self.classes.items(), key=lambda item: (-item[1], item[0]))],
                    "loads": dict(zip(("tokens", "bytes"), self.tokens["load"])),
                    "stores": dict(zip(("tokens", "bytes"), self.tokens["store"]))},
            "block": {"blocks": [{"start": hex(start), "instructions": n, "executions": times} for (start, n), times in
                                 sorted(self.blocks.items(), key=lambda item: (-item[0][1] * item[1], item[0]))],
                      "without_pc": self.without_pc},
            "branch": {"branches": [{"pc": hex(pc), "kind": kind, "taken": row[0], "not_taken": row[1]} for (pc, kind), row in
                                    sorted(self.branches.items(), key=lambda item: (-sum(item[1]), item[0]))]},
            "page": {"page_size": 4096, "pages": [dict(zip(("page", "code", "loads", "stores"), [hex(number << 12)] + row))
                                                  for number, row in sorted(self.pages.items())]},
            "syscall": {"syscalls": [{"number": number, "name": CALL_NAMES[number], "count": row[0], "errors": row[1]}
                                     for number, row in sorted(self.calls.items(), key=lambda item: (-item[1][0], item[0]))]},
        }


def classes(events):
    """In the form of `info --json`."""
    counts = {}
    for event in events:
        counts[event["class"]] = counts.get(event["class"], 0) + 1
    return [{"name": name, "kind": KINDS.get(name, "state"), "events": n} for name, n in sorted(counts.items())]


def shot_bytes(shot):
    """A record of a snapshot file."""
    vector = shot["vl"] // 8
    predicate = vector // 8
    padding = bytes(-predicate % 16)
    out = struct.pack("<4Q", shot["file"], shot["offset"], shot["user_insns"], shot["insns"]) + struct.pack("<32Q", *shot["x"])
    out += b"".join(shot["z"]) + b"".join(p + padding for p in shot["p"] + [shot["ffr"]]) + shot["za"]
    return out + b"".join(struct.pack("<Q", shot[name]) for name in SYSTEM_REGISTERS) + struct.pack("<Q", shot["vl"])


def header_bytes(size, timed):
    """24, 19, 32 or 0 bytes; the longest has undocumented padding."""
    return (HEADER.pack(0x584f574e, 3, 2, 1, 0, timed) + bytes(8))[:size]


def shot_fields(shot):
    out = {name: shot[name] for name in ("file", "offset", "user_insns", "insns")}
    out["x"] = [hex(value) for value in shot["x"]]
    out["z"] = [z.hex() for z in shot["z"]]
    out["p"] = [p.hex() for p in shot["p"]]
    out.update(ffr=shot["ffr"].hex(), za=shot["za"].hex(), **{name: hex(shot[name]) for name in SYSTEM_REGISTERS}, vl=shot["vl"])
    return out


def shots_jsonl(name, shots):
    return [{"ts": shot["insns"], "class": "snapshot", "track": name, "fields": shot_fields(shot)} for shot in shots]
