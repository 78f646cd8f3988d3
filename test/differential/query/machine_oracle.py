"""Caches, branch predictors, reuse distances and pages in use, simulated from `convert --to jsonl` by the rules of
docs/instructions.md: plain models, without any thought of speed."""
PAGE, WRAP = 4096, 1 << 64


def number(value):
    return int(value, 16) if isinstance(value, str) else value


class Insn:
    """An instruction with its accesses: (is it a store, address, size)."""

    def __init__(self, at, fields):
        self.at, self.pc, self.opcode, self.level, self.accesses = at, number(fields.get("pc")), number(fields["opcode"]), fields.get("el", 0), []


def tracks(lines):
    """{track: its instructions}; accesses before the first one are of one without a pc."""
    out = {}
    for line in lines:
        fields = dict(line["fields"])
        insns = out.setdefault(line["track"], [])
        if line["class"] == "insn":
            insns.append(Insn(line["ts"], fields))
        elif line["class"] in ("load", "store") and insns:
            insns[-1].accesses.append((line["class"] == "store", number(fields["addr"]), fields["size"]))
    return out


def parts(address, size, width):
    """Numbers of the lines or pages of an access."""
    return [first % (WRAP // width) for first in range(address // width, (address + max(size, 1) - 1) // width + 1)]


# ---------------------------------------------------------------- caches


class Cache:
    """Sets are lists, the line used last at the end."""

    def __init__(self, size, ways, line):
        self.ways, self.line, self.sets = ways, line, [[] for i in range(size // ways // line)]
        self.written, self.lookups, self.misses, self.writebacks = set(), 0, 0, 0

    def touch(self, line, write):
        """Whether it was there, and the written line that went."""
        lines, gone = self.sets[line % len(self.sets)], None
        hit = line in lines
        if hit:
            lines.remove(line)
        elif len(lines) == self.ways:
            out = lines.pop(0)
            if out in self.written:
                self.written.remove(out)
                self.writebacks += 1
                gone = out
        lines.append(line)
        if write:
            self.written.add(line)
        return hit, gone

    def look(self, line, write):
        hit, gone = self.touch(line, write)
        self.lookups += 1
        self.misses += not hit
        return hit, gone


class Machine:
    """The caches of one track. Shapes: (size, ways, line); of TLBs (entries, ways, 1)."""

    def __init__(self, shapes):
        self.cache = {name: Cache(*shape) for name, shape in shapes.items()}

    def fetch(self, l1, address, size, write):
        """Lookups that missed the first cache, and the second."""
        first, second, missed = self.cache[l1], self.cache.get("l2"), [0, 0]
        for line in parts(address, size, first.line):
            hit, gone = first.look(line, write)
            if hit:
                continue
            missed[0] += 1
            for part in parts(line * first.line, first.line, second.line) if second else ():
                missed[1] += not second.look(part, False)[0]
            for part in parts(gone * first.line, first.line, second.line) if second and gone is not None else ():
                second.touch(part, True)
        return missed

    def translate(self, tlb, address, size):
        for page in parts(address, size, PAGE):
            if not self.cache[tlb].look(page, False)[0] and "l2tlb" in self.cache:
                self.cache["l2tlb"].look(page, False)


def caches(lines, shapes):
    """Rows of cache_misses: pc, loads, stores, l2; and of cache_levels: (lookups, misses, writebacks) by name."""
    by_pc, levels = {}, {name: [0, 0, 0] for name in shapes}
    for insns in tracks(lines).values():
        m = Machine(shapes)
        for insn in insns:
            if insn.pc is not None:
                m.translate("itlb", insn.pc, 4)
                m.fetch("l1i", insn.pc, 4, False)
            for store, address, size in insn.accesses:
                m.translate("dtlb", address, size)
                first, second = m.fetch("l1d", address, size, store)
                if first and insn.pc is not None:
                    row = by_pc.setdefault(insn.pc, [0, 0, 0])
                    row[store] += first
                    row[2] += second
        for name, cache in m.cache.items():
            levels[name] = [a + b for a, b in zip(levels[name], (cache.lookups, cache.misses, cache.writebacks))]
    return [[pc] + row for pc, row in by_pc.items()], levels


# ---------------------------------------------------------------- branches

JUMP, CALL, COND, INDIRECT, INDIRECT_CALL, RETURN = ("branch.jump", "branch.call", "branch.cond", "branch.indirect",
                                                     "branch.indirect_call", "branch.return")


def kind_of(opcode):
    """The class of a branch, or None."""
    if opcode >> 26 in (0b000101, 0b100101):
        return CALL if opcode >> 31 else JUMP
    if opcode >> 24 == 0x54 or opcode >> 25 & 0x3f in (0b011010, 0b011011):
        return COND
    if opcode >> 25 == 0b1101011:
        return {0: INDIRECT, 8: INDIRECT, 1: INDIRECT_CALL, 9: INDIRECT_CALL, 2: RETURN}.get(opcode >> 21 & 15)
    return None


class Counters:
    """bimodal, and gshare: with a history."""

    kinds = (COND,)

    def __init__(self, bits, history=0):
        self.counter, self.length, self.history = [1] * (1 << bits), history, 0

    def step(self, pc, kind, taken, target):
        at = (pc // 4 ^ self.history) % len(self.counter)
        missed = (self.counter[at] >= 2) != taken
        self.counter[at] = min(3, self.counter[at] + 1) if taken else max(0, self.counter[at] - 1)
        self.history = (self.history << 1 | taken) % (1 << self.length)
        return missed


class Returns:
    kinds = (RETURN,)

    def __init__(self, entries):
        self.entries, self.stack = entries, []

    def step(self, pc, kind, taken, target):
        if kind in (CALL, INDIRECT_CALL):
            self.stack = (self.stack + [(pc + 4) % WRAP])[-self.entries:]
        return kind == RETURN and (not self.stack or self.stack.pop() != target)


class Targets:
    kinds = (INDIRECT, INDIRECT_CALL)

    def __init__(self, bits):
        self.entries, self.last = 1 << bits, {}

    def step(self, pc, kind, taken, target):
        if kind not in self.kinds:
            return False
        missed = self.last.get(pc // 4 % self.entries) != (pc, target)
        self.last[pc // 4 % self.entries] = (pc, target)
        return missed


def predictions(lines, make):
    """Rows of predictions: pc, kind, taken, not_taken, misses."""
    rows = {}
    for insns in tracks(lines).values():
        predictor = make()
        for insn, after in zip(insns, insns[1:]):
            kind = kind_of(insn.opcode)
            if kind is None or insn.pc is None or after.pc is None or after.level != insn.level:
                continue
            taken = kind != COND or after.pc != insn.pc + 4
            row = rows.setdefault(insn.pc, [kind, 0, 0, 0])
            row[1 if taken else 2] += 1
            if isinstance(predictor, (Returns, Targets)) or kind in predictor.kinds:
                row[3] += predictor.step(insn.pc, kind, taken, after.pc)
    return [[pc] + row[:3] + [row[3] if row[0] in make().kinds else None] for pc, row in rows.items()]


# ---------------------------------------------------------------- reuse and pages


def reuse(lines, width):
    """Rows of reuse: low, high, accesses."""
    counts = {}
    for insns in tracks(lines).values():
        used = []  # the line used last at the end
        for insn in insns:
            for store, address, size in insn.accesses:
                for line in parts(address, size, width):
                    if line in used:
                        distance = len(used) - 1 - used.index(line)
                        used.remove(line)
                        counts[distance.bit_length()] = counts.get(distance.bit_length(), 0) + 1
                    used.append(line)
    return [[1 << i - 1 if i else 0, (1 << i) - 1, counts.get(i, 0)] for i in range(max(counts, default=-1) + 1)]


def page_intervals(lines, step):
    """Rows of page_intervals: thread, ts, end_ts, code_pages, data_pages, new_pages."""
    rows = []
    for track, insns in tracks(lines).items():
        known = set()
        for first in range(0, len(insns), step):
            some = insns[first:first + step]
            code = {page for insn in some if insn.pc is not None for page in parts(insn.pc, 4, PAGE)}
            data = {page for insn in some for store, address, size in insn.accesses for page in parts(address, size, PAGE)}
            rows.append([track, first, first + len(some), len(code), len(data), len((code | data) - known)])
            known |= code | data
    return rows
