#!/usr/bin/env python3
"""Files of Parquet that the library makes from blocks of any content, read by a strict reader that knows none of its code:
parquet_blocks.py PART PARQUET_BLOCKS, where PART is encodings, nulls, edges, groups, mixed or refused.

The blocks go to parquet_blocks, a program around the writer. mixed are random ones; TL_SEED chooses others, TL_CASES how
many."""
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import parquet_read
from parquet_read import DELTA, PLAIN, RLE_DICTIONARY

INT, REAL, BOOL, TEXT, BLOB = range(5)
PAGE = 65536
MASK = (1 << 64) - 1


class Column:
    def __init__(self, store, values, required=False, name=None):
        """values: a list for each batch."""
        self.store, self.values, self.required, self.name = store, values, required, name or "c%d" % store


def encoded(store, value):
    if value is None:
        return b"\1"
    if store >= TEXT:
        data = value.encode() if store == TEXT else value
        return struct.pack("<BI", 0, len(data)) + data
    return b"\0" + (struct.pack("<d", value) if store == REAL else struct.pack("<Q", int(value) & MASK))


def blocks(columns, at_once):
    """What parquet_blocks reads."""
    out = [struct.pack("<I", len(columns))]
    for column in columns:
        name = column.name.encode()
        out += [struct.pack("<BBH", column.store, int(column.required), len(name)), name]
    for batch in zip(*(column.values for column in columns)):
        out.append(struct.pack("<BII", 1, len(batch[0]), at_once))
        for column, values in zip(columns, batch):
            out += [encoded(column.store, value) for value in values]
    return b"".join(out + [b"\0"])


def same(value):
    """A value in a form in which equal ones are equal: NaN, and zeros by their sign."""
    return struct.pack("<d", value) if isinstance(value, float) else value


class Writer:
    def __init__(self, checks, words, folder):
        self.checks, self.words, self.path = checks, words.split(), os.path.join(folder, "out.parquet")

    def run(self, columns, at_once):
        return subprocess.run(self.words + [self.path], input=blocks(columns, at_once), capture_output=True, timeout=300)

    def check(self, what, columns, at_once=1000):
        """The file, if it holds the values."""
        done = self.run(columns, at_once)
        if not self.checks.that(done.returncode == 0 and not done.stderr, what, done.returncode, done.stderr.decode()[:300]):
            return None
        try:
            file = parquet_read.File(self.path)
        except (parquet_read.Malformed, IndexError, KeyError, struct.error, UnicodeDecodeError) as error:
            self.checks.that(False, what, "is not read: %r" % error)
            return None
        self.checks.equal((file.columns, file.required), ([c.name for c in columns], [c.required for c in columns]), what, "columns")
        for i, column in enumerate(columns):
            got = [same(row[i]) for row in file.rows]
            expected = [same(value) for batch in column.values for value in batch]
            at = next((k for k, pair in enumerate(zip(got, expected)) if pair[0] != pair[1]), None)
            self.checks.that(got == expected, what, column.name, "row", at, len(got), len(expected), at is not None and (got[at], expected[at]))
        return file


def cut(values, size=PAGE):
    return [values[at:at + size] for at in range(0, len(values), size)]


# ---------------------------------------------------------------------------------------------------------------- parts

def kinds(random):
    """Columns by what their values are: name -> (store, n -> values, encodings that are expected of two pages or None)"""
    most, least = (1 << 63) - 1, -(1 << 63)
    words = ["w%d" % i for i in range(50)] + ["", "äöü", "𝄞"]
    return {
        "ascending": (INT, lambda n: list(range(1000, 1000 + 7 * n, 7)), {DELTA}),
        "irregular": (INT, lambda n: sorted(random.randrange(1 << 40) for _ in range(n)), {DELTA}),
        "constant": (INT, lambda n: [-5] * n, {DELTA}),
        "few": (INT, lambda n: [random.choice((3, -9, most, least, 0)) for _ in range(n)], {RLE_DICTIONARY}),
        "any": (INT, lambda n: [random.randrange(least, most) for _ in range(n)], {DELTA}),
        "extremes": (INT, lambda n: [least if i % 2 else most for i in range(n)], None),
        "falling": (INT, lambda n: [most - i for i in range(n)], {DELTA}),
        "few, then many": (INT, lambda n: [random.randrange(9) if i < PAGE else random.randrange(least, most) for i in range(n)], {RLE_DICTIONARY, DELTA}),
        "ascending, then not": (INT, lambda n: [i if i < PAGE else random.randrange(9) for i in range(n)], {DELTA}),
        "long runs": (INT, lambda n: [i // 100 * 7919 % 11 for i in range(n)], {RLE_DICTIONARY}),
        "runs of about eight": (INT, lambda n: [x for i in range(n) for x in [random.randrange(4)] * random.randrange(6, 11)][:n], {RLE_DICTIONARY}),
        "real, few": (REAL, lambda n: [random.choice((0.0, -0.0, 1.5, float("inf"), -float("inf"), float("nan"))) for _ in range(n)], {RLE_DICTIONARY}),
        "real, many": (REAL, lambda n: [random.random() for _ in range(n)], {PLAIN}),
        "real, zeros": (REAL, lambda n: [-0.0 if i % 3 else 0.0 for i in range(n)], {RLE_DICTIONARY}),
        "truth": (BOOL, lambda n: [random.random() < 0.3 for _ in range(n)], {PLAIN}),
        "true": (BOOL, lambda n: [True] * n, {PLAIN}),
        "words": (TEXT, lambda n: [random.choice(words) for _ in range(n)], {RLE_DICTIONARY}),
        "one text": (TEXT, lambda n: ["main"] * n, {RLE_DICTIONARY}),
        "different texts": (TEXT, lambda n: ["t%d" % (i * 7919) for i in range(n)], {PLAIN}),
        "words, then others": (TEXT, lambda n: [random.choice(words) if i < PAGE else "t%d" % i for i in range(n)], {RLE_DICTIONARY, PLAIN}),
        "empty": (TEXT, lambda n: [""] * n, {RLE_DICTIONARY}),
        "around the bound": (TEXT, lambda n: [random.choice("abc") * random.choice((63, 64)) for _ in range(n)], {RLE_DICTIONARY}),
        "beyond the bound": (TEXT, lambda n: [random.choice("abc") * random.choice((64, 65)) for _ in range(n)], {RLE_DICTIONARY}),
        "bytes": (BLOB, lambda n: [bytes([i % 256, 0, 255, i // 256 % 3]) for i in range(n)], {RLE_DICTIONARY}),
    }


def encodings(writer, random):
    found = set()
    for name, (store, make, expected) in kinds(random).items():
        for required in (False, True):
            file = writer.check(name, [Column(store, cut(make(2 * PAGE if ", then" in name else PAGE + 5000)), required)], 2048)
            if file and expected:
                writer.checks.equal(file.encodings[0], expected, name, "encodings")
                found |= {(store, encoding) for encoding in file.encodings[0]}
    everything = {(INT, DELTA), (INT, RLE_DICTIONARY), (REAL, PLAIN), (REAL, RLE_DICTIONARY), (BOOL, PLAIN), (TEXT, PLAIN), (TEXT, RLE_DICTIONARY), (BLOB, RLE_DICTIONARY)}
    writer.checks.equal(found, everything, "encodings that occurred")
    # What rows are sorted by.
    columns = [Column(INT, [[7] * 500], name="same"), Column(INT, [list(range(499, -1, -1))], name="falls"), Column(INT, [list(range(500))], name="grows")]
    file = writer.check("an order", columns)
    writer.checks.equal(file.sorted, [["grows"]], "an order")
    columns[2].values[0][300] = None
    writer.checks.equal(writer.check("no order", columns).sorted, [[]], "no order")


def patterns(random, n):
    """name -> whether each row is null"""
    return {
        "none": [False] * n, "all": [True] * n, "every other": [i % 2 == 0 for i in range(n)], "first": [i == 0 for i in range(n)],
        "last": [i == n - 1 for i in range(n)], "all but the last": [i < n - 1 for i in range(n)], "by eight": [i // 8 % 2 == 0 for i in range(n)],
        "by nine": [i // 9 % 2 == 0 for i in range(n)], "rare": [random.random() < 0.001 for _ in range(n)], "often": [random.random() < 0.9 for _ in range(n)],
        "from the middle on": [i > n // 2 for i in range(n)], "until the middle": [i < n // 2 for i in range(n)],
    }


def nulls(writer, random):
    samples = ("ascending", "few", "any", "real, many", "truth", "words", "different texts", "bytes")
    for n in (1, 5, 8, 17, 3000):
        for pattern, is_null in patterns(random, n).items():
            columns = []
            for name in samples:
                store, make, _ = kinds(random)[name]
                columns.append(Column(store, [[None if null else value for null, value in zip(is_null, make(n))]], name=name))
            for at_once in (0, 3, 8, 1000):
                writer.check("%d rows, nulls: %s, %d at once" % (n, pattern, at_once), columns, at_once)
    # Pages without a value before, between and behind others.
    for order in ((None, 1, None), (1, None, 1), (None, None, 1)):
        for name in samples:
            store, make, _ = kinds(random)[name]
            writer.check("%s, pages of nulls" % name, [Column(store, [make(100) if page else [None] * 100 for page in order])])


def edges(writer, random):
    """Numbers of rows; no columns' worth of them; names."""
    for n in (1, 2, 7, 8, 9, 255, 256, 257, 258, 2047, 2048, 2049, 2050, 4096, 4097, PAGE):
        columns = [Column(store, [make(n)], name=name) for name, (store, make, _) in kinds(random).items() if n < 5000 or store == INT]
        writer.check("%d rows" % n, columns, random.choice((0, 1, 7, 2048)))
    empty = [Column(store, [], name=name) for name, (store, _, _) in kinds(random).items()]
    file = writer.check("no batches", empty)
    writer.checks.equal(file.groups, [], "no batches")
    file = writer.check("batches without rows", [Column(c.store, [[], []], name=c.name) for c in empty])
    writer.checks.equal(file.groups, [], "batches without rows")
    writer.check("batches without rows between others", [Column(INT, [[], [1], [], [2, None], []], name="x")])
    writer.check("names", [Column(INT, [[1]], name="ä 中 \" ' , .")] + [Column(INT, [[i]], i % 2 == 0, "n%d" % i) for i in range(300)])
    # Widths of differences, and of indices.
    for bits in range(65):
        values = [0, *(random.randrange(1 << bits) for _ in range(300)), (1 << bits) - 1]
        writer.check("%d bits" % bits, [Column(INT, [[(v + (1 << 63)) % (1 << 64) - (1 << 63) for v in values]])])
    for bits in range(17):
        n = 1 << bits
        writer.check("a dictionary of %d" % n, [Column(INT, [list(reversed(range(n))) * (1 if n > 20000 else 3)], name="i"),
                                                Column(TEXT, [["%d" % i for i in range(n)] * (1 if n > 20000 else 3)], name="t")], 2048)


def groups(writer, random):
    """Row groups: of 2^20 rows, and of 64 MiB."""
    for n, expected in ((1 << 20, [1 << 20]), ((1 << 20) + 1, [1 << 20, 1])):
        file = writer.check("%d rows" % n, [Column(BOOL, cut([True] * n)), Column(INT, cut([i >> 12 for i in range(n)]), True)], 2048)
        if file:
            writer.checks.equal([len(group[0]) for group in file.groups], expected, n, "rows of groups")
            writer.checks.equal(file.sorted, [["c0"]] + [[]] * (len(expected) - 1), n, "the order of each group")
    file = writer.check("long texts", [Column(TEXT, [[random.choice("abcdef") * (1 << 20) for _ in range(16)] for _ in range(9)])])
    writer.checks.equal([len(group[0]) for group in file.groups], [64, 64, 16], "groups of long texts")


def mixed(writer, _):
    seed = int(os.environ.get("TL_SEED", "1"))
    for case in range(int(os.environ.get("TL_CASES", "80"))):
        random_ = random.Random("%d %d" % (seed, case))
        all_kinds = kinds(random_)
        sizes = [random_.choice((0, 1, 3, 8, 64, 500, 2048, 5000)) for _ in range(random_.randrange(1, 5))]
        columns = []
        for number in range(random_.randrange(1, 9)):
            batches, required, column_store = [], random_.random() < 0.3, random_.choice((INT, INT, REAL, BOOL, TEXT, TEXT, BLOB))
            for n in sizes:
                _, make, _ = all_kinds[random_.choice([name for name in all_kinds if all_kinds[name][0] == column_store])]
                is_null = random_.choice(list(patterns(random_, n).values()))
                batches.append([None if null and not required else value for null, value in zip(is_null, make(n))])
            columns.append(Column(column_store, batches, required, "c%d" % number))
        writer.check("TL_SEED=%d, case %d" % (seed, case), columns, random_.choice((0, 1, 5, 16, 1000)))


def refused(writer, _):
    for at in (0, 99):
        values = list(range(100))
        values[at] = None
        done = writer.run([Column(INT, [values], True)], 10)
        writer.checks.that(done.returncode == 1 and b"has a null" in done.stderr, at, done)


def main():
    part, program = sys.argv[1:3]
    checks = harness.Checks()
    with harness.work_folder() as folder:
        {"encodings": encodings, "nulls": nulls, "edges": edges, "groups": groups, "mixed": mixed, "refused": refused}[part](
            Writer(checks, program, folder), random.Random(5))
    checks.end()


if __name__ == "__main__":
    main()
