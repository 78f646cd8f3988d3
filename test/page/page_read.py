#!/usr/bin/env python3
"""Reads the page of a report as docs/page.md describes it, without the code that writes it: page_read.py FILE prints JSON."""
import base64
import html.parser
import json
import struct
import sys
import zlib

COLUMNS = {"functions": "function calls total self min max p50 p90 p99 p999 p9999 unwound".split(),
           "tree": "parent function thread others calls total self min max p50 p90 p99 unwound".split(),
           "slow": "function kind row thread begin ticks".split()}


class Parser(html.parser.HTMLParser):
    """Collects elements with their attributes, and the text of those that have any."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.open = [], []

    def handle_starttag(self, tag, attributes):
        self.elements.append([tag, dict(attributes), ""])
        if tag not in ("meta", "br", "input", "link"):
            self.open.append(len(self.elements) - 1)

    def handle_endtag(self, tag):
        while self.open and self.elements[self.open.pop()][0] != tag:
            pass

    def handle_data(self, data):
        if self.open:
            self.elements[self.open[-1]][2] += data


def parse(data):
    parser = Parser()
    parser.feed(data.decode("utf-8"))
    parser.close()
    return parser.elements


def numbers(data):
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            assert byte or shift == 7, "a varint is longer than it has to be"
            out.append(value)
            value, shift = 0, 0
    assert shift == 0, "the last varint has no end"
    return out


def signed(values):
    return [value >> 1 ^ -(value & 1) for value in values]


def gunzip(data):
    """One member with nothing behind it, its checksum tested here, too."""
    engine = zlib.decompressobj(31)
    content = engine.decompress(data) + engine.flush()
    assert engine.eof and not engine.unused_data
    assert struct.unpack("<II", data[-8:]) == (zlib.crc32(content), len(content) & 0xffffffff)
    assert data[4:8] == bytes(4), "it has a date"
    return content


def columns(text):
    """The columns of a section, as bytes."""
    content = gunzip(base64.b64decode(text, validate=True))
    assert content[0] == 1, "version"

    def varint(at):
        end = at
        while content[end] >= 0x80:
            end += 1
        return numbers(content[at:end + 1])[0], end + 1
    count, at = varint(1)
    out = []
    for _ in range(count):
        size, at = varint(at)
        out.append(content[at:at + size])
        assert len(out[-1]) == size
        at += size
    assert at == len(content), "bytes behind the last column"
    return out


def rows(names, given, n):
    lists = [numbers(column) for column in given]
    assert all(len(values) == n for values in lists), (n, [len(values) for values in lists])
    out = [dict(zip(names, row)) for row in zip(*lists)]
    for row, rest in zip(out, zip(*lists[len(names):])):
        row["weights"] = list(rest)
    return out


def read_names(given):
    lengths, texts, at = numbers(given[6]), [None], 0
    for length in lengths:
        texts.append(given[7][at:at + length].decode("utf-8"))
        at += length
    assert at == len(given[7])
    fields = [numbers(given[i]) for i in range(5)] + [signed(numbers(given[5]))]
    functions = [{"label": texts[name], "name": None if flags & 1 else texts[name], "file": texts[file], "line": line or None,
                  "library": texts[library], "flags": flags, "id": None if flags & 2 else number}
                 for name, file, line, library, flags, number in zip(*fields)]
    threads = [{"name": texts[name], "pid": pid - 1 if pid else None, "tid": tid - 1 if tid else None, "begin": begin, "end": end}
               for name, pid, tid, begin, end in zip(*(numbers(given[i]) for i in (8, 9, 10, 11, 12)))]
    return functions, threads


def read_hist(given, n):
    function, count, bits, bucket, calls = map(numbers, given)
    assert len(function) == len(count) == len(bits) == n and len(bucket) == len(calls) == sum(count)
    out, at = {}, 0
    for f, many, s in zip(function, count, bits):
        now, found = 0, []
        for i in range(at, at + many):
            now += bucket[i]
            low, width = (now, 1) if now < 2 << s else ((now - (((now >> s) - 1) << s)) << ((now >> s) - 1), 1 << ((now >> s) - 1))
            found.append((low, low + width - 1, calls[i]))
        out[f] = (s, found)
        at += many
    return out


def parts(counts, values):
    """One list for each count."""
    at, out = 0, []
    for count in counts:
        out.append(values[at:at + count])
        at += count
    assert at == len(values), "values behind the last row"
    return out


def sums(values):
    out, now = [], 0
    for value in values:
        now += value
        out.append(now)
    return out


def read_slices(given, n):
    axis, gap, own, calls = map(numbers, given)
    assert len(gap) == len(own) == len(calls) == n
    cells = [(cell // axis[0] // 2, cell // axis[0] % 2, cell % axis[0], s, c) for cell, s, c in zip(sums(gap), own, calls)]
    return {"n": axis[0], "width": axis[1], "cells": cells}


def read_grid(given, n):
    axis, thread, depth, runs, length, function = map(numbers, given[:6])
    calls = numbers(given[7])
    assert len(thread) == len(depth) == len(runs) == n and len(length) == len(function) == len(given[6]) == len(calls) == sum(runs)
    found = parts(runs, list(zip(length, [f - 1 if f else None for f in function], given[6], calls)))
    for row in found:
        assert sum(run[0] for run in row) == axis[0], "runs are not all columns"
    return {"n": axis[0], "width": axis[1], "rows": [{"thread": t, "depth": d, "runs": r} for t, d, r in zip(thread, depth, found)]}


def read_spans(given, n):
    thread, depth, count, out, out_ticks, all_from, begin, ticks, function, flags = map(numbers, given)
    assert len(thread) == n
    result = []
    lists = zip(parts(count, begin), parts(count, ticks), parts(count, function), parts(count, flags))
    for row, (b, t, f, g) in zip(zip(thread, depth, out, out_ticks, all_from), lists):
        result.append(dict(zip(("thread", "depth", "out", "out_ticks", "all_from"), row), spans=list(zip(sums(b), t, f, g))))
    return result


def read_heat(given, n):
    axis, function, cells, gap, calls = map(numbers, given)
    assert len(function) == len(cells) == n and axis[2] == 3
    rows = {}
    for f, g, c in zip(function, parts(cells, gap), parts(cells, calls)):
        rows[f] = {(cell // 512, cell % 512): many for cell, many in zip(sums(g), c)}
    return {"n": axis[0], "width": axis[1], "rows": rows}


TIMES = {"slices": read_slices, "grid": read_grid, "spans": read_spans, "heat": read_heat}


def read(data):
    """The page as a dict: meta, damage, functions, threads, rows (of functions), tree, hist, elements; slices, grid, spans,
    heat, slow."""
    page = {"elements": parse(data), "hist": {}, "functions": [], "threads": [], "rows": [], "tree": []}
    for tag, attributes, text in page["elements"]:
        section = attributes.get("data-section")
        if tag != "script" or section is None:
            continue
        if attributes["type"] == "application/json":
            page[section] = json.loads(text)
            continue
        given, n = columns(text), int(attributes["data-n"])
        if section == "names":
            page["functions"], page["threads"] = read_names(given)
            assert len(page["functions"]) == n
        elif section == "hist":
            page["hist"] = read_hist(given, n)
        elif section in TIMES:
            page[section] = TIMES[section](given, n)
        else:
            page["rows" if section == "functions" else section] = rows(COLUMNS[section], given, n)
    for number, row in enumerate(page["tree"]):
        row["parent"] = number - row["parent"] if number else None
    return page


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        found = read(file.read())
    del found["elements"]
    json.dump(found, sys.stdout)
