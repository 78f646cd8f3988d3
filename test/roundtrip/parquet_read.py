"""A reader of Parquet for what docs/format/parquet.md says is written: flat columns, pages of version 1, zstd.

Strict: every size, offset, count and bound in the description of the file is compared with the pages, and nothing may be
between or behind them. Independent of our code; zstd is the library's, by ctypes."""
import ctypes
import ctypes.util
import struct

BOOLEAN, INT64, DOUBLE, BYTE_ARRAY = 0, 2, 5, 6
PLAIN, RLE, DELTA, RLE_DICTIONARY = 0, 3, 5, 8
UNCOMPRESSED, ZSTD = 0, 6
WIDTH = {INT64: "<q", DOUBLE: "<d"}


class Malformed(Exception):
    """What is wrong, and where."""


def need(condition, *what):
    if not condition:
        raise Malformed(" ".join(map(str, what)))


# --------------------------------------------------------------------------------------------------------------- thrift

class Thrift:
    """Structs of the compact protocol as dictionaries by field number; lists as lists."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        need(self.at < len(self.data), "a struct is cut off")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                need(value < 1 << 64, "a number of more than 64 bits")
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def bytes(self):
        size = self.varint()
        need(size <= len(self.data) - self.at, "text is cut off")
        self.at += size
        return bytes(self.data[self.at - size:self.at])

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            return self.bytes()
        if kind == 9:
            head = self.byte()
            size, item = head >> 4, head & 15
            size = self.varint() if size == 15 else size
            return [self.byte() == 1 if item in (1, 2) else self.value(item) for _ in range(size)]
        need(kind == 12, "type", kind)
        return self.struct()

    def struct(self):
        found, number = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return found
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            need(number not in found, "field", number, "twice")
            found[number] = self.value(head & 15)


# ----------------------------------------------------------------------------------------------------------- encodings

def varint(data, at):
    reader = Thrift(data, at)
    return reader.varint(), reader.at


def packed(data, at, width, n):
    """n numbers of `width` bits, from the lowest bit of the first byte on, and what follows their whole bytes."""
    end = at + (n * width + 7) // 8
    need(end <= len(data), "packed numbers are cut off")
    mask, values = (1 << width) - 1, []
    for begin in range(at, end, width * 8 or 1):                            # 64 numbers at a time
        some = int.from_bytes(data[begin:min(begin + width * 8, end)], "little")
        values += [some >> i * width & mask for i in range(min(64, n - len(values)))]
    need(width or n == 0 or at == end, "bytes of numbers without bits")
    return values if width else [0] * n, end


def runs(data, at, end, width, n):
    """RLE and packed groups: n numbers that take data[at:end]."""
    out = []
    while at < end:
        need(len(out) < n, "runs go on after the last value")
        head, at = varint(data, at)
        if head & 1:
            values, at = packed(data, at, width, (head >> 1) * 8)
            need(n - len(out) > len(values) - 8, "a group of eight too many")
            need(not any(values[n - len(out):]), "numbers behind the last are not 0")
            out += values[:n - len(out)]
        else:
            size = (width + 7) // 8
            need(head >> 1, "a run of none")
            out += [int.from_bytes(data[at:at + size], "little")] * (head >> 1)
            need(out[-1] < 1 << width, "a number of a run is too large")
            at += size
    need(at == end and len(out) == n, "runs have", len(out), "numbers, not", n)
    return out


def signed(value):
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def deltas(data, at):
    """DELTA_BINARY_PACKED, to the end of the data."""
    block, at = varint(data, at)
    parts, at = varint(data, at)
    n, at = varint(data, at)
    reader = Thrift(data, at)
    value, at = reader.zigzag(), reader.at
    need(block % 128 == 0 and parts and block // parts % 32 == 0 and block % parts == 0, "blocks of", block, "in", parts)
    out = [value] if n else []
    while len(out) < n:
        reader = Thrift(data, at)
        least, at = reader.zigzag(), reader.at
        widths, at = data[at:at + parts], at + parts
        for width in widths:
            need(width <= 64, "numbers of", width, "bits")
            if len(out) == n:
                continue                                                    # there are no bytes, whatever the width
            differences, at = packed(data, at, width, block // parts)
            for difference in differences[:n - len(out)]:
                value = signed(value + least + difference)
                out.append(value)
    need(at == len(data), "bytes behind the differences")
    return out


def plain(data, at, kind, n):
    if kind == BOOLEAN:
        bits, at = packed(data, at, 1, n)
        values = [bool(bit) for bit in bits]
    elif kind == BYTE_ARRAY:
        values = []
        for _ in range(n):
            size = struct.unpack_from("<I", data, at)[0]
            need(size <= len(data) - at - 4, "a value is cut off")
            values.append(bytes(data[at + 4:at + 4 + size]))
            at += 4 + size
    else:
        values = [value for value, in struct.iter_unpack(WIDTH[kind], data[at:at + 8 * n])]
        at += 8 * n
    need(len(values) == n and at == len(data), "values do not fill their page")
    return values


# --------------------------------------------------------------------------------------------------------------- pages

def library():
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return zstd


class Page:
    """Its header, and its bytes without compression."""

    def __init__(self, data, at, codec):
        reader = Thrift(data, at)
        self.header = reader.struct()
        self.at, self.begin, self.kind = at, reader.at, self.header[1]
        size, stored = self.header[2], self.header[3]
        self.end = self.begin + stored
        need(self.end <= len(data), "a page is cut off")
        self.whole = self.begin - at + size
        if codec == ZSTD:
            room = ctypes.create_string_buffer(size + 1)
            found = Page.zstd.ZSTD_decompress(room, size + 1, bytes(data[self.begin:self.end]), stored)
            need(found == size, "a page of", size, "bytes is not what zstd has")
            self.data = room.raw[:size]
        else:
            self.data = bytes(data[self.begin:self.end])
            need(size == stored, "a page of", stored, "bytes should have", size)

    def values(self, kind, required, dictionary):
        """A list, None where it is null; and the encoding."""
        about = self.header[5]
        n, encoding, at = about[1], about[2], 0
        need(about[3] == RLE and about[4] == RLE, "levels are not RLE")
        levels = [1] * n
        if not required:
            size = struct.unpack_from("<I", self.data)[0]
            at = 4 + size
            levels = runs(self.data, 4, at, 1, n)
        there = sum(levels)
        if encoding == PLAIN:
            found = plain(self.data, at, kind, there)
        elif encoding == DELTA:
            need(kind == INT64, "differences of", kind)
            found = deltas(self.data, at)
        else:
            need(encoding == RLE_DICTIONARY and dictionary is not None, "encoding", encoding)
            width = self.data[at]
            need(1 <= width <= 32, "indices of", width, "bits")
            indices = runs(self.data, at + 1, len(self.data), width, there)
            need(all(index < len(dictionary) for index in indices), "an index without a value")
            found = [dictionary[index] for index in indices]
        need(len(found) == there, len(found), "values, not", there)
        values = iter(found)
        return [next(values) if level else None for level in levels], encoding


# ---------------------------------------------------------------------------------------------------------------- files

def bound_of(kind, data):
    return data if kind == BYTE_ARRAY else data == b"\1" if kind == BOOLEAN else struct.unpack(WIDTH[kind], data)[0]


def check_bounds(kind, statistics, values):
    there = [value for value in values if value is not None and value == value]
    need(statistics[3] == sum(value is None for value in values), "null_count")
    if not there or any(kind == BYTE_ARRAY and len(value) > 64 for value in there):
        need(5 not in statistics and 6 not in statistics, "bounds of no values, or of long ones")
        return
    least, most = bound_of(kind, statistics[6]), bound_of(kind, statistics[5])
    need(least == min(there) and most == max(there), "bounds", least, most, "of", min(there), max(there))
    if kind == DOUBLE:                                                      # both zeros are inside
        need(least != 0 or struct.pack("<d", least)[7] == 128, "a least of +0")
        need(most != 0 or struct.pack("<d", most)[7] == 0, "a most of -0")


class Column:
    """Of a row group."""

    def __init__(self, data, described, schema, at):
        about = described[3]
        need(about[1] == schema[1] and about[3] == [schema[4]], "a column is not that of the schema")
        kind, required, codec = about[1], schema[3] == 0, about[4]
        self.values, self.encodings, self.pages, plain_size = [], set(), 0, 0
        dictionary, end = None, at + about[7]
        need(about.get(11, about[9]) == at and described[2] in (0, at), "a column begins elsewhere")
        while at < end:
            page = Page(data, at, codec)
            plain_size, at = plain_size + page.whole, page.end
            if page.kind == 2:
                need(dictionary is None and page.at == about[11] and page.header[7][2] == PLAIN, "a dictionary in the wrong place")
                dictionary = plain(page.data, 0, kind, page.header[7][1])
                need(len(set(map(repr, dictionary))) == len(dictionary), "a value is twice in the dictionary")
                continue
            need(page.kind == 0, "page", page.kind)
            need(self.pages or page.at == about[9], "pages begin elsewhere")
            values, encoding = page.values(kind, required, dictionary)
            need(not required or None not in values, "a null")
            self.values += values
            self.encodings.add(encoding)
            self.pages += 1
        need(at == end and plain_size == about[6], "sizes of a column")
        need(len(self.values) == about[5], "values of a column")
        need((dictionary is not None) == (RLE_DICTIONARY in self.encodings), "a dictionary that no page uses")
        listed = self.encodings | {RLE} | ({PLAIN} if dictionary is not None else set())
        need(set(about[2]) == listed, "encodings", about[2], "not", listed)
        check_bounds(kind, about[12], self.values)
        self.end, self.plain_size = end, plain_size


class File:
    """columns: names. rows: lists of None, int, float, bool, str (of text) or bytes."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = memoryview(file.read())
        need(len(data) >= 12 and data[:4] == b"PAR1" and data[-4:] == b"PAR1", "no PAR1")
        size = struct.unpack("<I", data[-8:-4])[0]
        reader = Thrift(data[:-8], len(data) - 8 - size)
        described = reader.struct()
        need(reader.at == len(data) - 8, "bytes behind the description")
        root, *self.schema = described[2]
        need(root[5] == len(self.schema) and described[1] >= 1, "the root of the schema")
        need(described[7] == [{1: {}}] * len(self.schema), "column_orders")
        self.columns = [column[4].decode() for column in self.schema]
        self.required = [column[3] == 0 for column in self.schema]
        self.notes = {note[1].decode(): note[2].decode() for note in described.get(5, [])}
        self.maker, self.groups, self.sorted, self.encodings, at = described[6].decode(), [], [], [set() for _ in self.schema], 4
        if any(column[3][4] == ZSTD for group in described[4] for column in group[1]):
            Page.zstd = library()
        for group in described[4]:
            at = self.read_group(data, group, at)
        need(at == len(data) - 8 - size, "bytes behind the last row group")
        self.rows = [row for group in self.groups for row in zip(*group)]
        need(len(self.rows) == described[3], "num_rows")

    def read_group(self, data, group, at):
        begin, columns, plain_size = at, [], 0
        need(len(group[1]) == len(self.schema) and group.get(5, at) == at, "a row group begins elsewhere")
        for i, (described, schema) in enumerate(zip(group[1], self.schema)):
            column = Column(data, described, schema, at)
            at, plain_size = column.end, plain_size + column.plain_size
            need(len(column.values) == group[3] > 0, "rows of a group")
            self.encodings[i] |= column.encodings
            columns.append([self.shown(schema, value) for value in column.values])
        need(plain_size == group[2] and group.get(6, at - begin) == at - begin, "sizes of a row group")
        for order in group.get(4, []):                                      # sorting_columns: by one
            values = columns[order[1]]
            need(len(group[4]) == 1 and not order[2] and None not in values and sorted(values) == values, "rows are not sorted as it says")
        self.sorted.append([self.columns[order[1]] for order in group.get(4, [])])
        self.groups.append(columns)
        return at

    @staticmethod
    def shown(schema, value):
        return value.decode() if isinstance(value, bytes) and 10 in schema and (1 in schema[10] or 12 in schema[10]) else value
