"""A small aarch64 machine that really executes its program, and reports to a recorder: registers, memory and exception
levels of one processor, and an assembler for its instructions.

An instruction is (opcode, class, function): the function executes it, and the class is its name in `report --by mix`;
nothing here decodes an opcode."""
import random
import struct

MASK = 2 ** 64 - 1
SP = ZERO = 31
STOPPED = None
EQ, NE, HS, LO, MI, PL, GE, LT = 0, 1, 2, 3, 4, 5, 10, 11
SYSTEM_REGISTERS = ("fpcr", "fpsr", "nzcv", "tpidr_el0", "tpidrro_el0", "ttbr0_el1", "elr_el1", "spsr_el1", "esr_el1",
                    "tpidr_el1", "daif")
VECTOR = 0xffff000000080000  # target of interrupts: the code of the system
ZVA = 64
BLOCK_ENDS = ("branch.jump", "branch.call", "branch.cond", "branch.indirect", "branch.indirect_call", "branch.return", "exception")


class Memory:
    """Bytes by address; bytes never written are random, and always the same for a seed."""

    def __init__(self, seed):
        self.seed, self.pages = seed, {}

    def page(self, number):
        if number not in self.pages:
            self.pages[number] = bytearray(random.Random("%d %d" % (self.seed, number)).randbytes(4096))
        return self.pages[number]

    def read(self, address, size):
        return bytes(self.page((address + i & MASK) >> 12)[address + i & 4095] for i in range(size))

    def write(self, address, data):
        for i, byte in enumerate(data):
            self.page((address + i & MASK) >> 12)[address + i & 4095] = byte


class Code:
    """The assembler: put() in order, labels anywhere, and link() at the end."""

    def __init__(self):
        self.words, self.labels, self.open, self.pc = {}, {}, [], 0

    def label(self, name, pc=None):
        self.pc = self.pc if pc is None else pc
        self.labels[name] = self.pc

    def put(self, op, cls, run):
        self.words[self.pc] = (op, cls, run)
        self.pc += 4

    def branch(self, op, cls, to, taken, shift=5, bits=19, link=False):
        """`taken` asks the processor whether the branch is taken."""
        self.open.append((self.pc, to, shift, bits))

        def run(cpu):
            if taken(cpu):
                if link:
                    cpu.call(self.labels[to])
                cpu.next = self.labels[to]
        self.put(op, cls, run)

    def link(self):
        for pc, to, shift, bits in self.open:
            op, cls, run = self.words[pc]
            distance = (self.labels[to] - pc >> 2) & (1 << bits) - 1
            self.words[pc] = (op | distance << shift, cls, run)
        self.open = []
        return self

    # ---- integers; register 31 is SP for addi and subi, else zero

    def addi(self, rd, rn, imm):
        self.put((0x91000000 if imm >= 0 else 0xd1000000) | abs(imm) << 10 | rn << 5 | rd, "int",
                 lambda cpu: cpu.set(rd, cpu.x[rn] + imm))

    def subs(self, rd, rn, imm):
        def run(cpu):
            a = cpu.get(rn)
            r = a - imm & MASK
            cpu.nzcv = (r >> 63) << 31 | (r == 0) << 30 | (a >= imm) << 29 | ((a & ~r & MASK) >> 63) << 28
            cpu.setz(rd, r)
        self.put(0xf1000000 | imm << 10 | rn << 5 | rd, "int", run)

    def binary(self, op, rd, rn, rm, what):
        self.put(op | rm << 16 | rn << 5 | rd, "int", lambda cpu: cpu.setz(rd, what(cpu.get(rn), cpu.get(rm))))

    def add(self, rd, rn, rm):
        self.binary(0x8b000000, rd, rn, rm, lambda a, b: a + b)

    def sub(self, rd, rn, rm):
        self.binary(0xcb000000, rd, rn, rm, lambda a, b: a - b)

    def eor(self, rd, rn, rm):
        self.binary(0xca000000, rd, rn, rm, lambda a, b: a ^ b)

    def mul(self, rd, rn, rm):
        self.binary(0x9b007c00, rd, rn, rm, lambda a, b: a * b)

    def mov(self, rd, rm):
        self.binary(0xaa000000, rd, ZERO, rm, lambda a, b: b)

    def const(self, rd, value):
        """MOVZ, and MOVK for each further half word that is not 0."""
        parts = [s for s in range(4) if value >> 16 * s & 0xffff] or [0]
        for number, s in enumerate(parts):
            half, keep = value >> 16 * s & 0xffff, MASK & ~(0xffff << 16 * s) if number else 0
            self.put((0xf2800000 if number else 0xd2800000) | s << 21 | half << 5 | rd, "int",
                     lambda cpu, keep=keep, bits=half << 16 * s: cpu.setz(rd, cpu.get(rd) & keep | bits))

    def csel(self, rd, rn, rm, condition):
        def run(cpu):
            cpu.setz(rd, cpu.get(rn) if cpu.holds(condition) else cpu.get(rm))
            cpu.record.value("flags", cpu.nzcv)
        self.put(0x9a800000 | rm << 16 | condition << 12 | rn << 5 | rd, "int", run)

    # ---- memory

    def ldr(self, size, rt, rn, imm=0):
        self.put((size.bit_length() - 1) << 30 | 0x39400000 | imm // size << 10 | rn << 5 | rt, "load",
                 lambda cpu: cpu.setz(rt, int.from_bytes(cpu.load(cpu.x[rn] + imm, size), "little")))

    def str(self, size, rt, rn, imm=0):
        self.put((size.bit_length() - 1) << 30 | 0x39000000 | imm // size << 10 | rn << 5 | rt, "store",
                 lambda cpu: cpu.store(cpu.x[rn] + imm, (cpu.get(rt) & (1 << 8 * size) - 1).to_bytes(size, "little")))

    def ldr_post(self, rt, rn, imm):
        def run(cpu):
            value = int.from_bytes(cpu.load(cpu.x[rn], 8), "little")
            cpu.set(rn, cpu.x[rn] + imm)
            cpu.setz(rt, value)
        self.put(0xf8400400 | (imm & 0x1ff) << 12 | rn << 5 | rt, "load", run)

    def pair(self, load, rt, rt2, rn, imm, mode="offset"):
        def run(cpu):
            at = cpu.x[rn] + (0 if mode == "post" else imm)
            for i, r in enumerate((rt, rt2)):
                if load:
                    cpu.setz(r, int.from_bytes(cpu.load(at + 8 * i, 8), "little"))
                else:
                    cpu.store(at + 8 * i, cpu.get(r).to_bytes(8, "little"))
            if mode != "offset":
                cpu.set(rn, cpu.x[rn] + imm)
        op = {"offset": 0xa9000000, "pre": 0xa9800000, "post": 0xa8800000}[mode]
        self.put(op | load << 22 | (imm // 8 & 0x7f) << 15 | rt2 << 10 | rn << 5 | rt, "load" if load else "store", run)

    def vector_run(self, load, vt, rn, imm, size):
        """Another element of the vectors: None means all."""
        def run(cpu):
            n = size or len(cpu.z[vt])
            at = cpu.x[rn] + (imm if size else imm * n)
            if load:
                cpu.z[vt] = cpu.load(at, n) + bytes(len(cpu.z[vt]) - n)
            else:
                cpu.store(at, cpu.z[vt][:n])
        return run

    def ldrq(self, vt, rn, imm=0):
        self.put(0x3dc00000 | imm // 16 << 10 | rn << 5 | vt, "load", self.vector_run(True, vt, rn, imm, 16))

    def strq(self, vt, rn, imm=0):
        self.put(0x3d800000 | imm // 16 << 10 | rn << 5 | vt, "store", self.vector_run(False, vt, rn, imm, 16))

    def pairq(self, load, vt, vt2, rn, imm=0):
        first, second = (self.vector_run(load, v, rn, imm + 16 * i, 16) for i, v in enumerate((vt, vt2)))
        self.put(0xad000000 | load << 22 | imm // 16 << 15 | vt2 << 10 | rn << 5 | vt, "load" if load else "store",
                 lambda cpu: (first(cpu), second(cpu)))

    def ldrz(self, zt, rn, imm=0):
        self.put(0x85804000 | imm >> 3 << 16 | (imm & 7) << 10 | rn << 5 | zt, "sve", self.vector_run(True, zt, rn, imm, None))

    def strz(self, zt, rn, imm=0):
        self.put(0xe5804000 | imm >> 3 << 16 | (imm & 7) << 10 | rn << 5 | zt, "sve", self.vector_run(False, zt, rn, imm, None))

    def eorv(self, vd, vn, vm):
        def run(cpu):
            low = bytes(a ^ b for a, b in zip(cpu.z[vn][:16], cpu.z[vm][:16]))
            cpu.z[vd] = low + bytes(len(cpu.z[vd]) - 16)
        self.put(0x6e201c00 | vm << 16 | vn << 5 | vd, "simd", run)

    def ldxr(self, rt, rn):
        def run(cpu):
            cpu.monitor = cpu.load(cpu.x[rn], 8)
            cpu.setz(rt, int.from_bytes(cpu.monitor, "little"))
        self.put(0xc85f7c00 | rn << 5 | rt, "load", run)

    def stxr(self, rs, rt, rn):
        self.put(0xc8007c00 | rs << 16 | rn << 5 | rt, "store",
                 lambda cpu: cpu.setz(rs, cpu.exclusive(cpu.x[rn], cpu.get(rt).to_bytes(8, "little"))))

    def ldadd(self, rs, rt, rn):
        def run(cpu):
            old = int.from_bytes(cpu.load(cpu.x[rn], 8), "little")
            cpu.store(cpu.x[rn], (old + cpu.get(rs) & MASK).to_bytes(8, "little"))
            cpu.setz(rt, old)
        self.put(0xf8200000 | rs << 16 | rn << 5 | rt, "atomic", run)

    def prfm(self, rn):
        self.put(0xf9800000 | rn << 5, "prefetch", lambda cpu: None)

    # ---- system

    def nop(self):
        self.put(0xd503201f, "system", lambda cpu: None)

    def mrs(self, rt, op, name):
        def run(cpu):
            cpu.record.value("mrs", cpu.system[name])
            cpu.setz(rt, cpu.system[name])
        self.put(0xd5300000 | op << 5 | rt, "system", run)

    def msr(self, rt, op, name):
        def run(cpu):
            cpu.system[name] = cpu.get(rt)
            cpu.record.value("mrs", cpu.get(rt))
        self.put(0xd5100000 | op << 5 | rt, "system", run)

    def zva(self, rt):
        def run(cpu):
            cpu.record.value("dc", cpu.x[rt])
            cpu.memory.write(cpu.x[rt] & -ZVA, bytes(ZVA))
        self.put(0xd50b7420 | rt, "system", run)

    def svc(self):
        self.put(0xd4000001, "exception", lambda cpu: cpu.system_call())

    def eret(self):
        self.put(0xd69f03e0, "exception", lambda cpu: cpu.leave())

    # ---- branches

    def b(self, to):
        self.branch(0x14000000, "branch.jump", to, lambda cpu: True, 0, 26)

    def bl(self, to):
        self.branch(0x94000000, "branch.call", to, lambda cpu: True, 0, 26, True)

    def bcond(self, condition, to):
        self.branch(0x54000000 | condition, "branch.cond", to, lambda cpu: cpu.holds(condition))

    def cbz(self, rt, to):
        self.branch(0xb4000000 | rt, "branch.cond", to, lambda cpu: cpu.get(rt) == 0)

    def cbnz(self, rt, to):
        self.branch(0xb5000000 | rt, "branch.cond", to, lambda cpu: cpu.get(rt) != 0)

    def tbz(self, rt, bit, to):
        self.branch(0x36000000 | bit << 19 | rt, "branch.cond", to, lambda cpu: not cpu.get(rt) >> bit & 1, 5, 14)

    def register(self, op, cls, rn, how):
        def run(cpu):
            to = cpu.get(rn)
            cpu.record.value("target", to)
            how(cpu, to)
            cpu.next = to
        self.put(op | rn << 5, cls, run)

    def br(self, rn):
        self.register(0xd61f0000, "branch.indirect", rn, lambda cpu, to: None)

    def blr(self, rn):
        self.register(0xd63f0000, "branch.indirect_call", rn, lambda cpu, to: cpu.call(to))

    def ret(self):
        self.register(0xd65f0000, "branch.return", 30, lambda cpu, to: cpu.leave_function())


class Cpu:
    """One thread, or one processor. `kernel`: interrupts come now and then, and are handled at level 1."""

    def __init__(self, code, entry, memory, record, rng, vl=128, number=0):
        self.code, self.memory, self.record, self.rng = code, memory, record, rng
        self.x = [rng.getrandbits(64) for _ in range(31)] + [0x7ff000 - 0x10000 * number]
        self.z = [rng.randbytes(vl // 8) for _ in range(32)]
        self.p = [rng.randbytes(vl // 64) for _ in range(17)]  # and FFR
        self.za, self.vl = rng.randbytes((vl // 8) ** 2), vl
        self.system = {name: rng.getrandbits(32) for name in SYSTEM_REGISTERS}
        self.pc, self.next, self.el, self.nzcv, self.monitor = code.labels[entry], 0, 0, 0, None
        self.other_sp = 0xffff000000100000 + 0x1000 * number
        self.stack, self.calls, self.selves = [("entry", self.pc)], {("entry", self.pc): 1}, {}

    def get(self, n):
        return 0 if n == ZERO else self.x[n]

    def set(self, n, value):
        self.x[n] = value & MASK

    def setz(self, n, value):
        if n != ZERO:
            self.x[n] = value & MASK

    def holds(self, condition):
        n, z, c, v = (self.nzcv >> bit & 1 for bit in (31, 30, 29, 28))
        return bool((z, c, n, v, c and not z, n == v, n == v and not z, 1)[condition >> 1]) != bool(condition & 1)

    def load(self, address, size):
        data = self.memory.read(address & MASK, size)
        self.record.access("load", address & MASK, data)
        return data

    def store(self, address, data):
        self.record.access("store", address & MASK, data)
        self.memory.write(address & MASK, data)

    def exclusive(self, address, data):
        """Fails after another thread's store, and by chance; a failed store is reported or not."""
        fails = self.monitor != self.memory.read(address, 8) or self.rng.random() < 0.4
        if not fails or self.rng.random() < 0.5:
            self.record.access("store", address, data)
        if not fails:
            self.memory.write(address, data)
        self.monitor = None
        self.record.value("stxr", int(fails))
        return int(fails)

    def call(self, to):
        self.x[30] = self.pc + 4
        self.stack.append(("function", to))
        self.calls[self.stack[-1]] = self.calls.get(self.stack[-1], 0) + 1

    def leave_function(self):
        self.stack.pop()

    def interrupt(self, vector):
        self.system["elr_el1"], self.system["spsr_el1"], self.system["esr_el1"] = self.pc, self.nzcv, 0x56000000
        self.record.registers(self.x)
        self.x[SP], self.other_sp = self.other_sp, self.x[SP]
        self.el, self.pc = 1, vector

    def leave(self):
        self.record.value("target", self.system["elr_el1"])
        self.record.registers(self.x)
        self.x[SP], self.other_sp = self.other_sp, self.x[SP]
        self.nzcv, self.el, self.next = self.system["spsr_el1"] & 0xf0000000, 0, self.system["elr_el1"]

    def system_call(self):
        """The effects of Linux, as far as the programs need them."""
        number, arguments = self.x[8], self.x[:6]
        for value in [number] + arguments:
            self.record.value("svc_arg", value)
        result = 0
        if number == 66:  # writev
            buffers = [struct.unpack("<QQ", self.memory.read(arguments[1] + 16 * i, 16)) for i in range(arguments[2])]
            self.record.buffers(buffers)
            result = sum(length for _, length in buffers)
        elif number == 64:  # write
            result = arguments[2]
        elif number == 63:  # read: it changes memory without visible stores
            self.memory.write(arguments[1], self.rng.randbytes(arguments[2]))
            result = arguments[2]
        elif number == 56:  # openat: only names with a leading slash exist
            result = 3 if self.memory.read(arguments[1], 1) == b"/" else -2
        elif number == 94:  # exit_group
            self.record.system_call(number, None)
            self.next = STOPPED
            return
        else:
            result = -38
        if number in (63, 64, 66) and arguments[0] > 2:
            result = -9
        self.record.system_call(number, result)
        self.record.value("svc_ret", result & MASK)
        self.x[0] = result & MASK

    def step(self):
        """One instruction; False once the program has ended."""
        op, cls, run = self.code.words[self.pc]
        self.record.insn(self.pc, op, cls, self.el)
        self.selves[self.stack[-1]] = self.selves.get(self.stack[-1], 0) + 1
        self.next = self.pc + 4
        run(self)
        self.pc = self.next
        return self.pc is not STOPPED
