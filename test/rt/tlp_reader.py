"""Reads .tlp files by docs/format/profile.md, without the library, to check what the recorder wrote."""
import zlib

MAGIC = b"\x8ftlprof\n"
HISTOGRAMS, PER_THREAD, UTC, SAMPLES, UNWOUND, PATCHED = 1, 2, 4, 8, 32, 64


class Body:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def signed(self):
        value = self.number()
        return -(value + 1) // 2 if value & 1 else value // 2

    def column(self, count):
        return [self.number() for _ in range(count)]

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at].decode("utf-8", "replace")


class Function:
    """Its linkage name, which a profile holds as the name or beside a readable one."""

    def __init__(self, ident, name, module):
        self.id, self.name, self.module = ident, name, module

    def __str__(self):
        return self.name if self.name is not None else "#%d" % self.id


class Place:
    """The calls of a function from one parent; `threads` are places without a function."""

    def __init__(self, parent, what):
        self.parent, self.what = parent, what
        self.calls = self.total = self.self_time = self.outer = self.min = self.max = 0
        self.histogram = []  # [(bucket, calls)]


class Profile:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        assert data[:8] == MAGIC, "no profile"
        flags = int.from_bytes(data[10:12], "little")
        assert int.from_bytes(data[12:20], "little") == len(data), "size"
        assert int.from_bytes(data[-4:], "little") == zlib.crc32(data[:-4]), "CRC"
        assert not flags & SAMPLES, "a profile of samples"
        body = Body(data[20:-4])
        version = int.from_bytes(data[8:10], "little")
        nstring, nfunction, nthread, nplace = body.column(4)
        strings = [None] + [body.text() for _ in range(nstring)]
        self.clock, self.hz = strings[body.number()], body.number()
        self.utc = body.signed() if flags & UTC else None
        self.build_id, self.path = strings[body.number()], strings[body.number()]
        self.unmatched_exits, self.unmatched_open, self.lost, self.damaged = body.column(4)
        self.patched = [(strings[body.number()], *body.column(3), strings[body.number()]) for _ in range(body.number() if flags & PATCHED else 0)]
        self.functions, ident = [], 0
        for _ in range(nfunction):
            module = strings[body.number()]
            ident = (ident + body.signed()) & 0xffffffffffffffff
            name = strings[body.number()]
            linked_as = strings[body.column(4)[3]]
            if version >= 2:
                body.column(2)
                if body.number() & 4:
                    body.number()
            self.functions.append(Function(ident, linked_as or name, module))
        threads = [self.thread(body, strings) for _ in range(nthread)] if flags & PER_THREAD else []
        self.places = self.tree(body, threads, nplace)
        self.sums(body)
        if flags & UNWOUND:
            body.column(nplace)
        if flags & HISTOGRAMS:
            self.durations(body)
        assert body.at == len(body.data), "bytes left over"

    @staticmethod
    def thread(body, strings):
        known = body.number()
        pid = body.signed() if known & 1 else None
        tid = body.signed() if known & 2 else None
        return "thread %s/%s %s" % (pid, tid, strings[body.number()])

    def tree(self, body, threads, nplace):
        up = body.column(nplace)
        places, last, codes = [], None, {}
        for levels in up:
            parent = last
            for _ in range(levels):
                parent = parent.parent
            least = codes[parent] + 1 if parent in codes else 0 if parent is None else len(threads)
            code = codes[parent] = least + body.number()
            last = Place(parent, threads[code] if code < len(threads) else self.functions[code - len(threads)])
            places.append(last)
        return places

    def sums(self, body):
        count = len(self.places)
        columns = [body.column(count) for _ in range(4)]
        for place, calls, total, inner, recursive in zip(self.places, *columns):
            place.calls, place.total, place.self_time, place.outer = calls, total, total - inner, total - recursive

    def durations(self, body):
        called = [place for place in self.places if place.calls]
        for place, above in zip(called, body.column(len(called))):
            place.min = place.total // place.calls - above
        for place, above in zip(called, body.column(len(called))):
            place.max = place.min + above
        for place in called:
            at, last = bucket(place.min), bucket(place.max)
            if at == last:
                place.histogram = [(at, place.calls)]
                continue
            place.histogram = [(at, body.number())]
            while at != last:
                at += body.number()
                place.histogram.append((at, body.number()))

    def merged(self, names):
        """{number of the path: Sums}, over all threads and all objects of the same names. `names` gives a path its
        number, {(number of the parent's path, name): number}; profiles to be compared share it."""
        out, number_of = {}, {None: 0}
        for place in self.places:
            above = number_of[place.parent]
            if not isinstance(place.what, Function):
                number_of[place] = above
                continue
            number = number_of[place] = names.setdefault((above, str(place.what)), len(names) + 1)
            if place.calls:
                out.setdefault(number, Sums()).add(place)
        return out


class Sums:
    """The sums of a path of functions."""

    def __init__(self):
        self.calls = self.total = self.self_time = self.max = 0
        self.min, self.histogram = None, {}

    def add(self, place):
        self.calls += place.calls
        self.total += place.total
        self.self_time += place.self_time
        self.min = place.min if self.min is None else min(self.min, place.min)
        self.max = max(self.max, place.max)
        for at, calls in place.histogram:
            self.histogram[at] = self.histogram.get(at, 0) + calls

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __repr__(self):
        return "%d calls, total %d, self %d, %s..%d, %s" % (self.calls, self.total, self.self_time, self.min, self.max,
                                                           sorted(self.histogram.items())[:20])


def bucket(value):
    if value < 512:
        return value
    e = value.bit_length() - 9
    return e * 256 + (value >> e)
