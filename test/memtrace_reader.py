"""A reader of drmemtrace, written from docs/format/drmemtrace.md, that checks what DynamoRIO's invariant_checker does of
a file of one thread of AArch64: the order of entries, the path of the program, branches, signals, accesses, calls."""
import struct

VERSION = 7
HEAD = [(25, 0), (28, 12), (28, 9), (22, 0), (24, 0), (28, 10), (28, 20), (28, 18), (28, 2), (28, 3)]
EVENT, XFER, TIME, CPU, FUNCTION, ARGUMENT, RESULT, WINDOW, CALL, TARGET, FAILED, UNCOMPLETED = 0, 1, 2, 3, 4, 6, 7, 14, 25, 29, 30, 41
INSNS = (10, 11, 12, 14, 15, 16, 48, 49)
INDIRECT = (12, 15, 16)
READ, WRITE, INSN_FLUSH, DATA_FLUSH = 0, 1, 18, 20


def signed(value, bits):
    return value - (value >> (bits - 1) << bits)


def direct_target(pc, opcode):
    """Of B, BL, B.cond, CBZ, CBNZ, TBZ, TBNZ; else None."""
    if opcode & 0x7c000000 == 0x14000000:
        return (pc + 4 * signed(opcode & 0x3ffffff, 26)) % 2 ** 64
    if opcode & 0xff000000 == 0x54000000 or opcode & 0x7e000000 == 0x34000000:
        return (pc + 4 * signed(opcode >> 5 & 0x7ffff, 19)) % 2 ** 64
    if opcode & 0x7e000000 == 0x36000000:
        return (pc + 4 * signed(opcode >> 5 & 0x3fff, 14)) % 2 ** 64
    return None


def type_of(opcode):
    """Of the entry of an instruction; 13 for conditional branches."""
    if opcode & 0xfc000000 == 0x14000000:
        return 11
    if opcode & 0xfc000000 == 0x94000000:
        return 14
    if opcode & 0xff000000 == 0x54000000 or opcode & 0x7e000000 in (0x34000000, 0x36000000):
        return 13
    if opcode & 0xfe000000 == 0xd6000000 and opcode >> 21 & 7 in (0, 1, 2):
        return (12, 15, 16)[opcode >> 21 & 7]
    return 10


def is_svc(opcode):
    return opcode & 0xffe0001f == 0xd4000001


class Insn:
    def __init__(self, pc, opcode, kind, target):
        self.pc, self.opcode, self.kind, self.target = pc, opcode, kind, target
        self.accesses, self.call = [], []      # call: number, arguments; result and errno as they follow

    def follows(self):
        """Where it leads to."""
        if self.kind in INDIRECT:
            return self.target
        return direct_target(self.pc, self.opcode) if self.kind in (11, 14, 48) else self.pc + 4

    def facts(self):
        return [self.pc, self.opcode, self.kind, self.target, self.accesses, self.call]


class Memtrace:
    """thread, times, insns; marks: (instructions before, marker, value) of signals, gaps and instructions that failed.

    generated: chance made the stream: accesses do not fit the instructions, and calls may have no number."""
    def __init__(self, data, generated=False):
        self.generated = generated
        assert len(data) % 12 == 0
        entries = [struct.unpack_from("<HHQ", data, at) for at in range(0, len(data), 12)]
        assert [entry[:2] for entry in entries[:len(HEAD)]] == HEAD, entries[:len(HEAD)]
        values = [entry[2] for entry in entries[:len(HEAD)]]
        assert values[:3] == [VERSION, VERSION, 0x608] and values[4] != 0 and values[5:8] == [64, 0, 4096]
        self.thread, self.times, self.insns, self.marks = values[3], [values[8]], [], []
        assert entries[-2] == (23, 0, self.thread) and entries[-1] == (26, 0, 0)
        self.encodings, self.encoding, self.target = {}, None, None
        self.interrupted, self.crossed, self.state, self.window = [], None, [], 0
        for kind, size, value in entries[len(HEAD):-2]:
            if kind == 28:
                self.marker(size, value)
            elif kind == 47:
                assert size == 4 and value < 2 ** 32
                self.encoding = value
            elif kind in INSNS:
                assert size == 4
                self.insn(kind, value)
            else:
                self.access(kind, size, value)
            if kind != 28:
                self.state = []
        assert self.encoding is None and self.target is None and self.crossed is None

    def insn(self, kind, pc):
        last = self.insns[-1] if self.insns else None
        if self.encoding is not None:
            self.encodings[pc] = self.encoding
        opcode = self.encodings[pc]
        expected = type_of(opcode)
        assert kind == expected or (expected == 13 and kind in (48, 49)), "type %d of %08x" % (kind, opcode)
        assert (kind in INDIRECT) == bool(self.target), "target of %x" % pc
        if last and is_svc(last.opcode) and not self.generated:
            assert last.call, "no number of a call at %x" % last.pc
        if self.crossed == XFER and self.interrupted:
            assert self.interrupted.pop() == pc, "returns to %x" % pc
        elif last and self.crossed is None:
            assert last.follows() == pc, "%x is behind %x" % (pc, last.pc)
        self.insns.append(Insn(pc, opcode, kind, self.target))
        self.encoding = self.target = self.crossed = None

    def access(self, kind, size, address):
        last = self.insns[-1]
        assert kind in (READ, WRITE, INSN_FLUSH, DATA_FLUSH) and not self.state, "an entry of type %d" % kind
        large = last.accesses and last.accesses[-1][2] == 32768        # the next part of it
        assert self.generated or large or kind not in [one[0] for one in last.accesses], "two accesses of a kind at %x" % last.pc
        last.accesses.append((kind, address, size))

    def marker(self, what, value):
        last = self.insns[-1] if self.insns else None
        self.state.append(what)
        if what == TARGET:
            assert value and self.target is None
            self.target = value
        elif what in (TIME, CPU):
            if what == TIME:
                assert value >= self.times[-1], "time goes back"
                self.times.append(value)
                assert last is None or type_of(last.opcode) == 10, "a time behind a branch"
            else:
                assert self.state[-2] == TIME
        elif what in (EVENT, XFER, WINDOW, UNCOMPLETED):
            self.marks.append((len(self.insns), what, value))
            if what == EVENT:
                restarts = self.state[-2:-1] == [UNCOMPLETED]
                if self.crossed == XFER and self.interrupted:
                    assert self.interrupted.pop() == value, "signal at %x" % value
                assert value and (restarts or last is None or self.crossed is not None or value in (last.pc, last.follows())), "signal at %x" % value
                self.interrupted.append(value)
            if what == WINDOW:
                assert value == self.window + 1
                self.window = value
            if what != UNCOMPLETED:
                self.crossed = what
        elif what == CALL:
            assert is_svc(last.opcode) and self.state[-3:-1] == [TIME, CPU] and not last.call
            last.call = [value]
        elif what == FUNCTION:
            assert last.call and value == 2 ** 32 + last.call[0] and self.state[-2] in (CALL, CPU)
        elif what == FAILED:
            assert self.state[-2] == RESULT and -last.call[-1][1] % 2 ** 64 == value
        else:
            assert what in (ARGUMENT, RESULT) and self.state[-2] == (FUNCTION if what == RESULT or len(last.call) == 1 else ARGUMENT), what
            last.call.append((what, value))
