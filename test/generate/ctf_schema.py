"""Made-up schemas for the CTF trace generator: event classes with fields of every kind."""
from ctf_types import Array, Blob, Float, Int, Location, Optional, Raw, Struct, Text, VarInt, Variant

ENCODINGS = ["utf-8", "utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"]


class Clock:
    def __init__(self, name="default", hz=10**9, offset_s=0, offset=0, unix=True, uuid=None, silent=False):
        self.name, self.hz, self.offset_s, self.offset, self.unix, self.uuid = name, hz, offset_s, offset, unix, uuid
        self.silent = silent                                            # does not say 1 GHz, which is the default


class EventClass:
    def __init__(self, identity, name, payload, context=None, level=None, has_id=True):
        self.id, self.name, self.payload, self.context, self.level, self.has_id = identity, name, payload, context, level, has_id


class StreamClass:
    """`header`: none, simple, compact or large; `stamp`: bits of a simple header's timestamp."""

    def __init__(self, identity, name=None, clock=None, has_id=True):
        self.id, self.name, self.clock, self.has_id = identity, name, clock, has_id
        self.packet_context = self.header = self.context = None
        self.header_kind, self.stamp, self.events = "none", 0, []


class Maker:
    """Draws types. Style: `bytes` (all on byte boundaries), `bits` (none), `mixed` (with both byte orders)."""

    def __init__(self, random, dialect, order, style):
        self.random, self.dialect, self.order, self.style, self.count = random, dialect, order, style, 0

    def name(self):
        self.count += 1
        if self.dialect == "1.8":
            return Raw("%sf%d" % ("_" if self.random.chance(500) else "", self.count))
        return ("f%d", "f%d", "la struct %d", "größe%d")[self.random.below(4)] % self.count

    def pick(self, *choices):
        return choices[self.random.below(len(choices))]

    def integer(self, **more):
        if self.style == "bits":
            bits, align = 1 + self.random.below(64), self.pick(1, 1, 1, 1, 2, 4, 8)
            order = self.order
        else:
            bits, order = self.pick(8, 16, 32, 64), self.order
            align = self.pick(8, 8, 8, bits) if self.style == "bytes" else self.pick(8, 16, 32, 64)
            if self.style == "mixed" and self.random.chance(400):
                order = "be" if order == "le" else "le"
            elif self.style == "mixed" and self.random.chance(300):
                bits = 8 * (1 + self.random.below(8))
        more.setdefault("signed", self.random.chance(400))
        more.setdefault("base", self.pick(10, 10, 10, 16, 8, 2))
        if self.dialect == "2" and self.style == "bits" and self.random.chance(250):
            more["reverse"] = True
        return Int(bits, order=order, align=align, **more)

    def unsigned(self, least, **more):
        """An unsigned integer of at least that many bits."""
        out = self.integer(signed=False, base=10, **more)
        out.bits = max(out.bits, least) if self.style == "bits" else out.bits
        return out

    def mappings(self, kind):
        low, high = kind.limits()
        out = {"NONE": [(0, 0)]}
        if high >= 20:
            out.update({"FEW": [(1, 5)], "SOME": [(4, 9), (15, 15)], "16": [(16, 16)], "two words": [(17, 20)]})
        if low < -10:
            out["BELOW"] = [(low, -2)]
        if high > 1000:
            out["MANY"] = [(100, high)]
        return out

    def enumeration(self):
        kind = self.integer()
        kind.base = 10
        kind.mappings = self.mappings(kind)
        return kind

    def real(self):
        if self.style == "bits":
            return Float(self.pick(32, 64), self.order, self.pick(1, 1, 8))
        return Float(self.pick(32, 64), self.order, self.pick(8, 8, 32))

    def character(self):
        order = self.order
        return Int(8, signed=self.random.chance(500), order=order, align=8, text=True)

    def characters(self):
        """Text of a fixed size: TSDL has arrays of characters for it."""
        size = self.pick(4, 9)
        return Array(size, self.character()) if self.dialect == "1.8" else Text(size)

    def element(self, depth):
        """What arrays and variants hold."""
        if depth > 0 and self.random.chance(300):
            return self.struct(depth - 1, 3)
        return self.pick(self.integer, self.integer, self.enumeration, self.real, lambda: Text())()

    def new_only(self):
        """Kinds only in CTF 2 that need no other field."""
        choice = self.random.below(7)
        if choice == 0:
            return VarInt(self.random.chance(500), base=self.pick(10, 16))
        if choice == 1:
            kind = VarInt(True)
            kind.mappings = self.mappings(kind)
            return kind
        if choice == 2:
            kind = self.integer(signed=False, base=10)
            kind.kind = "bool"
            return kind
        if choice == 3:
            kind = self.integer(signed=False, base=10)
            kind.flags = {"first": [(0, 0)], "low": [(0, min(2, kind.bits - 1))], "top": [(kind.bits - 1, kind.bits - 1)]}
            return kind
        if choice == 4:
            kind = self.integer(signed=False, base=10)
            kind.kind = "bits"
            return kind
        if choice == 5:
            return Blob(self.random.below(9))
        encoding = ENCODINGS[self.random.below(len(ENCODINGS))]
        return Text(self.pick(None, 0, 4, 8, 24), encoding)

    def lengths(self):
        return self.unsigned(3, values=[0, 1, 2, 3, 5])

    def dynamic(self, members, depth):
        """A length, perhaps another field, and a field with this length."""
        name = self.name()
        members.append((name, self.lengths() if self.dialect == "1.8" or self.random.chance(700) else VarInt(values=[0, 3, 4])))
        if self.random.chance(300):
            members.append((self.name(), self.integer()))
        length = Location(name)
        if self.dialect == "1.8":
            kind = Array(length, self.character() if self.random.chance(200) else self.element(depth))
        else:
            kind = self.pick(lambda: Array(length, self.element(depth), self.pick(1, 1, 16)), lambda: Blob(length),
                             lambda: Text(length))()
        members.append((self.name(), kind))

    def variant(self, members, depth):
        tag = self.unsigned(6, values=[0, 1, 1, 2, 2, 7, 8, 9])
        if self.dialect == "1.8" or self.random.chance(500):
            tag.mappings = {"none": [(0, 0)], "one": [(1, 1)], "_two": [(2, 2)], "more": [(7, 9)]}
        names = ["none", "one", "_two", "more"]
        ranges = [[(0, 0)], [(1, 1)], [(2, 2)], [(7, 9)]]
        kinds = [Struct([]), self.integer(), Text(), self.element(depth)]
        if self.dialect == "2" and self.random.chance(300):
            names = [None] * 4
        name = self.name()
        members += [(name, tag), (self.name(), Variant(Location(name), list(zip(names, kinds, ranges))))]

    def optional(self, members, depth):
        name, tag = self.name(), self.unsigned(6, values=[0, 0, 1, 5, 6])
        kind = self.element(depth)
        if self.random.chance(500):
            tag.kind, ranges = "bool", None
        else:
            ranges = [(1, 1), (5, 5)]
        members += [(name, tag), (self.name(), Optional(Location(name), kind, ranges))]

    def member(self, members, depth):
        choice = self.random.below(100)
        if choice < 25:
            members.append((self.name(), self.integer()))
        elif choice < 35:
            members.append((self.name(), self.enumeration()))
        elif choice < 45:
            members.append((self.name(), self.real()))
        elif choice < 53:
            members.append((self.name(), Text()))
        elif choice < 60:
            members.append((self.name(), Array(self.pick(0, 1, 2, 4, 7), self.element(depth))))
        elif choice < 64:
            members.append((self.name(), self.characters()))
        elif choice < 72 and depth > 0:
            members.append((self.name(), self.struct(depth - 1, 4)))
        elif choice < 84:
            self.dynamic(members, depth)
        elif choice < 90:
            self.variant(members, depth)
        elif self.dialect == "2":
            if self.random.chance(250):
                self.optional(members, depth)
            else:
                members.append((self.name(), self.new_only()))
        else:
            members.append((self.name(), self.integer()))

    def struct(self, depth, most):
        members = []
        for _ in range(1 + self.random.below(most)):
            self.member(members, depth)
        return Struct(members, self.pick(1, 1, 1, 1, 32) if self.style != "bytes" else self.pick(1, 1, 8, 16))

    def everything(self):
        """A payload with each kind of field at least once, whatever is drawn."""
        members = []
        for bits in (1, 7, 8, 13, 16, 31, 32, 33, 63, 64) if self.style == "bits" else (8, 16, 32, 64):
            members.append((self.name(), Int(bits, signed=bits % 2 == 1, order=self.order, align=1 if self.style == "bits" else 8)))
        members += [(self.name(), self.enumeration()), (self.name(), self.real()), (self.name(), Text()),
                    (self.name(), Array(3, self.struct(0, 2))), (self.name(), self.characters()),
                    (self.name(), self.struct(2, 3)), (self.name(), Struct([])), (self.name(), Array(0, self.integer()))]
        self.dynamic(members, 1)
        self.variant(members, 1)
        if self.dialect == "2":
            self.optional(members, 1)
            for encoding in dict.fromkeys(ENCODINGS):
                members.append((self.name(), Text(None, encoding)))
            members += [(self.name(), self.new_only()) for _ in range(12)]
        return Struct(members)

    def small(self):
        return Struct([(self.name(), kind) for kind in (self.integer(), Text(), self.real())][:1 + self.random.below(3)])

    def outer_length(self, context):
        """A payload with an array whose length is in the context of the stream."""
        where = Location(context.members[0][0], origin="event-record-common-context")
        return Struct([(self.name(), self.integer()), (self.name(), Array(where, self.element(1)))])
