"""Types of CTF fields for the trace generator: each writes a value as bits, and as JSON.

A value is a plain Python value: int, float, str, bytes, list, dict (of a struct; the raw member names), or a pair
(option, value) of a variant. Lengths and selectors are looked up in the values written before."""
import struct


def ceil(value, multiple):
    return -(-value // multiple) * multiple


class Bits:
    """The bits of a packet. `marks`: (bit, what) for tests."""

    def __init__(self):
        self.data, self.at, self.marks = bytearray(), 0, []

    def mark(self, what):
        self.marks.append((self.at, what))

    def align(self, bits):
        self.at = ceil(self.at, bits)
        self.fill()

    def fill(self):
        self.data += bytes(max(0, ceil(self.at, 8) // 8 - len(self.data)))

    def put(self, value, bits, order):
        start = self.at
        self.at += bits
        self.fill()
        if start % 8 == 0 and bits % 8 == 0:
            self.data[start // 8:self.at // 8] = value.to_bytes(bits // 8, "little" if order == "le" else "big")
            return
        for i in range(bits):
            place = start + i
            if order == "le":
                self.data[place // 8] |= (value >> i & 1) << place % 8
            else:
                self.data[place // 8] |= (value >> (bits - 1 - i) & 1) << (7 - place % 8)

    def put_bytes(self, data):
        assert self.at % 8 == 0
        self.at += 8 * len(data)
        self.fill()
        self.data[self.at // 8 - len(data):self.at // 8] = data


class Scope:
    """The place of a value: the structs around it, the innermost last, and the roots before it."""

    def __init__(self, roots=None):
        self.roots, self.stack = {} if roots is None else roots, []

    def find(self, location):
        value = None
        if location.origin:
            value = self.roots[location.origin]
            path = list(location.path)
        else:
            up = sum(1 for name in location.path if name is None)
            value = self.stack[-1 - up]
            path = list(location.path[up:])
        for name in path:
            value = value[1] if isinstance(value, tuple) else value
            value = value[name]
        return value


class Location:
    """Names of members; None is one struct up. `origin` is None (the struct around), or the name of a root."""

    def __init__(self, *path, origin=None):
        self.path, self.origin = path, origin


class Type:
    align = 1

    def labels(self, value):
        return sorted(label for label, ranges in self.mappings.items() if any(low <= value <= high for low, high in ranges))


class Int(Type):
    """`text`: an 8-bit character (TSDL); `values`: the generator's choices; `flags`: a bit map."""

    def __init__(self, bits, signed=False, order="le", align=None, base=10, mappings=None, reverse=False, text=False,
                 role=None, values=None, kind="int", flags=None, clock=None):
        self.bits, self.signed, self.order, self.base, self.mappings = bits, signed, order, base, mappings
        self.align = align or (8 if bits % 8 == 0 else 1)
        self.reverse, self.text, self.role, self.values, self.kind, self.flags = reverse, text, role, values, kind, flags
        self.clock = clock

    def write(self, bits, value, scope):
        bits.align(self.align)
        bits.mark(self)
        raw = value % (1 << self.bits)
        if self.reverse:
            raw = int(format(raw, "0%db" % self.bits)[::-1], 2)
        bits.put(raw, self.bits, self.order)

    def shown(self, value):
        if self.kind == "bool":
            return bool(value)
        if self.flags is not None:
            on = [label for label, ranges in self.flags.items()
                  if any(value >> bit & 1 for low, high in ranges for bit in range(low, min(high, 63) + 1))]
            return {"value": value, "labels": sorted(on)}
        if self.mappings is not None:
            return {"value": value, "labels": self.labels(value)}
        return value

    def limits(self):
        return (-(1 << self.bits - 1), (1 << self.bits - 1) - 1) if self.signed else (0, (1 << self.bits) - 1)

    def random(self, random, scope):
        if self.values:
            return self.values[random.below(len(self.values))]
        low, high = self.limits()
        if self.kind == "bool":
            return random.below(high + 1) if random.chance(300) else random.below(2)
        if self.mappings and random.chance(800):
            ranges = [r for every in self.mappings.values() for r in every]
            first, last = ranges[random.below(len(ranges))]
            return min(max(first, last - random.below(3)), last)
        choice = random.below(10)
        if choice < 3:
            return (low, high, 0)[choice]
        wide = random.below(1 << 32) << 32 | random.below(1 << 32)
        return low + (wide >> random.below(64)) % (high - low + 1)


class VarInt(Int):
    """LEB128."""

    def __init__(self, signed=False, **more):
        super().__init__(64, signed, align=8, **more)

    def write(self, bits, value, scope):
        bits.align(8)
        bits.mark(self)
        out = bytearray()
        while True:
            low, value = value & 127, value >> 7
            done = value == 0 and not (self.signed and low & 64) or self.signed and value == -1 and low & 64
            out.append(low | (0 if done else 128))
            if done:
                break
        bits.put_bytes(out)


class Float(Type):
    def __init__(self, bits, order="le", align=8):
        self.bits, self.order, self.align = bits, order, align

    def write(self, bits, value, scope):
        bits.align(self.align)
        bits.mark(self)
        raw = struct.pack(">f" if self.bits == 32 else ">d", value)
        bits.put(int.from_bytes(raw, "big"), self.bits, self.order)

    def shown(self, value):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return value

    def random(self, random, scope):
        special = (0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan"))
        if random.chance(250):
            return special[random.below(len(special))]
        return (random.below(1 << 20) - (1 << 19)) / 1024.0 * 2.0 ** (random.below(40) - 20)


WORDS = ["", "a", "open", "two words", "grün", "日本語", "tab\there", 'quote"', "back\\slash", "𝄞 clef", "x" * 70, "end\n"]
CODECS = {"utf-8": "utf-8", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be", "utf-32le": "utf-32-le", "utf-32be": "utf-32-be"}
UNITS = {"utf-8": 1, "utf-16le": 2, "utf-16be": 2, "utf-32le": 4, "utf-32be": 4}


class Text(Type):
    """Ends with a NUL; or of `length` bytes, a number or a Location, which a NUL may end early."""

    align = 8

    def __init__(self, length=None, encoding="utf-8"):
        self.length, self.encoding = length, encoding

    def encode(self, value):
        return value.encode(CODECS[self.encoding])

    def bytes(self, scope):
        return scope.find(self.length) if isinstance(self.length, Location) else self.length

    def write(self, bits, value, scope):
        bits.align(8)
        bits.mark(self)
        data = self.encode(value)
        if self.length is None:
            bits.put_bytes(data + bytes(UNITS[self.encoding]))
        else:
            room = self.bytes(scope)
            if len(data) < room:                                       # bytes after the NUL do not matter
                data += (bytes(UNITS[self.encoding]) + b"\x55\xaa\x77\x11" * room)[:room - len(data)]
            bits.put_bytes(data)

    def shown(self, value):
        return value

    def random(self, random, scope):
        word = WORDS[random.below(len(WORDS))]
        if self.length is not None:
            while len(self.encode(word)) > self.bytes(scope):
                word = word[:-1]
        return word


class Blob(Type):
    align = 8

    def __init__(self, length, role=None):
        self.length, self.role = length, role

    def size(self, scope):
        return scope.find(self.length) if isinstance(self.length, Location) else self.length

    def write(self, bits, value, scope):
        bits.align(8)
        bits.mark(self)
        bits.put_bytes(value)

    def shown(self, value):
        return value.hex()

    def random(self, random, scope):
        return random.bytes(self.size(scope))


class Struct(Type):
    """Members are (raw name, type)."""

    def __init__(self, members, align=1):
        self.members, self.least = members, align

    @property
    def align(self):
        return max([self.least] + [t.align for _, t in self.members])

    def write(self, bits, value, scope):
        bits.align(self.align)
        scope.stack.append(value)
        for name, kind in self.members:
            if isinstance(kind, Int) and kind.role:
                bits.mark(kind.role)
            kind.write(bits, value[name], scope)
        scope.stack.pop()

    def shown(self, value):
        return {shown_name(name): kind.shown(value[name]) for name, kind in self.members
                if not (isinstance(kind, Optional) and value[name] is None)}

    def random(self, random, scope):
        value = {}
        scope.stack.append(value)
        for name, kind in self.members:
            value[name] = kind.random(random, scope)
        scope.stack.pop()
        return value


def shown_name(name):
    return name.name if isinstance(name, Raw) else name


class Raw(str):
    """A name of TSDL with a leading '_', which readers drop."""

    @property
    def name(self):
        return self[1:] if self.startswith("_") else str(self)


class Array(Type):
    """`length`: a number or a Location."""

    def __init__(self, length, element, least=1):
        self.length, self.element, self.least = length, element, least

    @property
    def align(self):
        return max(self.least, self.element.align)

    def count(self, scope):
        return scope.find(self.length) if isinstance(self.length, Location) else self.length

    def is_text(self):
        return isinstance(self.element, Int) and self.element.text

    def write(self, bits, value, scope):
        bits.align(self.align)
        bits.mark(self)
        for element in value:
            self.element.write(bits, element, scope)

    def shown(self, value):
        if self.is_text():
            return bytes(v % 256 for v in value).split(b"\0")[0].decode("utf-8")
        return [self.element.shown(v) for v in value]

    def random(self, random, scope):
        if self.is_text():
            room = self.count(scope)
            word = Text(room).random(random, scope).encode("utf-8")
            values = list((word + bytes(room))[:room])
            return [v - 256 if self.element.signed and v > 127 else v for v in values]
        return [self.element.random(random, scope) for _ in range(self.count(scope))]


class Variant(Type):
    """Options are (name, type, [(low, high)]). TSDL: selected by the label of an enumeration, which is the option's name."""

    def __init__(self, selector, options):
        self.selector, self.options = selector, options

    def choose(self, scope):
        tag = scope.find(self.selector)
        return next(i for i, (_, _, ranges) in enumerate(self.options) if any(low <= tag <= high for low, high in ranges))

    def write(self, bits, value, scope):
        self.options[value[0]][1].write(bits, value[1], scope)

    def shown(self, value):
        return self.options[value[0]][1].shown(value[1])

    def random(self, random, scope):
        option = self.choose(scope)
        return option, self.options[option][1].random(random, scope)


class Optional(Type):
    """Ranges None: the selector is a boolean."""

    def __init__(self, selector, element, ranges=None):
        self.selector, self.element, self.ranges = selector, element, ranges

    def present(self, scope):
        tag = scope.find(self.selector)
        return bool(tag) if self.ranges is None else any(low <= tag <= high for low, high in self.ranges)

    def write(self, bits, value, scope):
        if value is not None:
            self.element.write(bits, value, scope)

    def shown(self, value):
        return self.element.shown(value)

    def random(self, random, scope):
        return self.element.random(random, scope) if self.present(scope) else None
