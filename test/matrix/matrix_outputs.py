"""The contents of an output file: small readers, one for each output format, independent of our code.

Each takes a path and returns counts by name: `events` if an event is an item of the file, otherwise what the format has
instead. An invalid file fails an assertion, or does not parse at all."""
import collections
import csv
import gzip
import json
import os
import re
import struct
import sys
import xml.etree.ElementTree

import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "roundtrip"))
import parquet_read

Counter = collections.Counter


def lines_of(path):
    with open(path, encoding="utf-8", errors="strict") as file:
        return file.read().split("\n")[:-1]


# ---------------------------------------------------------------------------------------------------- lines and columns

def text(path):
    lines = lines_of(path)
    assert all(re.match(r" *-?[0-9.]+  \S", line) for line in lines), "a line without time"
    return Counter(events=len(lines))


def babeltrace(path):
    lines = lines_of(path)
    assert all(": {" in line or line.endswith(": ") or ":" in line for line in lines), "a line without an event"
    return Counter(events=len(lines))


def jsonl(path):
    found = Counter()
    for line in lines_of(path):
        event = json.loads(line)
        assert {"ts", "class", "track", "fields"} <= set(event), line
        found.update({"events": 1, "class " + event["class"]: 1, "processors": "cpu" in event})
    return found


def csv_(path):
    found = Counter()
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert None not in row and None not in row.values(), row
            json.loads(row["fields"] or "{}")
            found.update({"events": 1, "class " + row["class"]: 1, "processors": row["cpu"] != ""})
    return found


def parquet(path):
    file, found = parquet_read.File(path), Counter()
    for row in file.rows:
        event = dict(zip(file.columns, row))
        json.loads(event["fields"]), json.loads(event["context"] or "{}")
        found.update({"events": 1, "class " + event["name"]: 1, "processors": event["cpu"] is not None, "time of day": event["utc"] is not None})
    return found


INSN = re.compile(r"(?:\S+ +)? *\d+ (?:el\d|   ) +(?:0x[0-9a-f]+|-)(?:  .{32})?  [0-9a-f]{8}  \S")


def listing(path):
    found = Counter()
    for line in lines_of(path):
        kind = "dumps" if "  -- " in line else "insn" if INSN.match(line) else "more"
        found.update({kind: 1, "mem": len(re.findall(r"\[0x[0-9a-f]+ (?:->|<-) ", line))})
    assert found["insn"] + found["dumps"], "no instructions"
    return found


def simpoint(path):
    found = Counter()
    for line in lines_of(path):
        assert re.fullmatch(r"T(:\d+:\d+ )+", line), line
        found["insn"] += sum(map(int, re.findall(r":\d+:(\d+) ", line)))
    return found


# ---------------------------------------------------------------------------------------------------------- binary files

def records(path, size):
    with open(path, "rb") as file:
        data = file.read()
    assert len(data) % size == 0, "the last record is cut"
    return [data[at:at + size] for at in range(0, len(data), size)]


def champsim(path):
    found = Counter()
    for record in records(path, 64):
        places = struct.unpack("<QBB2s4s2Q4Q", record)
        found.update({"insn": 1, "store": sum(map(bool, places[5:7])), "load": sum(map(bool, places[7:]))})
        assert places[1] < 2 and places[2] < 2, "no record of an instruction"
    return found


def drmemtrace(path):
    found, types = Counter(), []
    for record in records(path, 12):
        kind, size, _ = struct.unpack("<HHQ", record)
        types.append(kind)
        found.update({"insn": kind in (10, 11, 12, 13, 14, 15, 16, 48, 49) and size == 4, "load": kind == 0, "store": kind == 1})
    assert types[0] == 25 and types[-1] == 26, "no header, or no footer"
    return found


def proto(data):
    """The fields of a message: number -> values, as numbers or bytes."""
    out, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            value = varint()
        else:
            assert tag & 7 in (1, 2, 5), "a wire type that is not known"
            size = varint() if tag & 7 == 2 else 8 if tag & 7 == 1 else 4
            assert at + size <= len(data), "a field that is cut"
            value, at = data[at:at + size], at + size
        out[tag >> 3].append(value)
    return out


def packed(values):
    """Numbers of a repeated field, packed or not."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        number = shift = 0
        for byte in value:
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                out.append(number)
                number = shift = 0
    return out


def perfetto(path):
    found, names, types = Counter(), {}, {1: "begin", 2: "finish", 3: "instant", 4: "counter"}
    with open(path, "rb") as file:
        packets = proto(file.read())[1]
    assert packets
    for packet in map(proto, packets):
        sequence = packet[10][0] if packet[10] else 0
        for interned in map(proto, packet[12]):
            for name in map(proto, interned[2]):
                names[sequence, name[1][0]] = name[2][0].decode()
        found["sample"] += len(packet[66])
        for event in map(proto, packet[11]):
            kind = types[event[9][0]]
            found[kind] += 1
            if kind == "instant":
                name = event[23][0].decode() if event[23] else names[sequence, event[10][0]]
                found["class " + name] += 1
    return found


# ------------------------------------------------------------------------------------------------------------------ JSON

def chrome(path):
    found, stacks = Counter(), collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        kind, thread = event["ph"], (event["pid"], event["tid"])
        if kind == "B":
            stacks[thread].append(event["name"])
        elif kind == "E":
            assert stacks[thread].pop() == event["name"], "calls do not nest"
        name = {"B": "begin", "E": "finish", "X": "span", "b": "span", "i": "instant", "C": "counter"}.get(kind, "ph " + kind)
        found[name] += 1
        if kind == "i":
            found["class " + event["name"]] += 1
        if event["name"] == "ProfileChunk":
            found["sample"] += 1
    assert not any(stacks.values()), "calls that are not closed"
    return found


def speedscope(path):
    found = Counter()
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    frames = len(data["shared"]["frames"])
    for profile in data["profiles"]:
        found["threads"] += 1
        if profile["type"] == "evented":
            stack, last = [], profile["startValue"]
            for event in profile["events"]:
                assert last <= event["at"] <= profile["endValue"] and event["frame"] < frames
                last = event["at"]
                if event["type"] == "O":
                    stack.append(event["frame"])
                else:
                    assert stack.pop() == event["frame"], "calls do not nest"
                found["begin" if event["type"] == "O" else "finish"] += 1
            assert not stack, "calls that are not closed"
        else:
            assert len(profile["samples"]) == len(profile["weights"])
            found["weight"] = max(found["weight"], sum(profile["weights"])) if "of all" in profile["name"] else found["weight"]
            found["weights"] += sum(profile["weights"])
            found["sample"] += len(profile["weights"])
            found["weight " + profile["unit"] + " " + profile["name"]] += sum(profile["weights"])
    return found


# -------------------------------------------------------------------------------------------------------------- profiles

def pprof(path):
    with gzip.open(path) as file:
        profile = proto(file.read())
    strings = [s.decode() for s in profile[6]]
    types = [strings[proto(t)[1][0]] for t in profile[1]]
    found = Counter(functions=len(profile[5]))
    for sample in map(proto, profile[2]):
        values = [v - (1 << 64) if v >> 63 else v for v in packed(sample[2])]
        assert len(values) == len(types) and packed(sample[1]), "a sample without a stack"
        labels = [strings[proto(label)[1][0]] for label in sample[3]]
        found["stacks"] += 1
        for name, value in zip(types, values):
            found["sum " + name] += value
            found["labels"] += len(labels)
    return found


def folded(path):
    found = Counter()
    for line in lines_of(path):
        stack, _, number = line.rpartition(" ")
        assert stack and int(number) > 0, line
        found.update({"stacks": 1, "self": int(number)})
    return found


def callgrind(path):
    lines = lines_of(path)
    assert lines[0] == "# callgrind format"
    found, is_call, columns = Counter(), False, []
    for line in lines:
        if line.startswith("events: "):
            columns = line.split()[1:]
        elif line.startswith("summary: "):
            found.update(dict(zip(["summary " + c for c in columns], map(int, line.split()[1:]))))
        elif re.match(r"[0-9+*-]", line) and not is_call:
            found.update(dict(zip(columns, map(int, line.split()[1:]))))
        is_call = line.startswith("calls=")
    for column in columns:
        assert found[column] == found["summary " + column], (column, found)
    found["self"], found["calls"] = found[columns[0]], found["Calls"]
    return found


def dot(path):
    lines = lines_of(path)
    assert lines[0].startswith("digraph ") and lines[-1] == "}", "no graph"
    return Counter(functions=sum(bool(re.match(r"  n\d+ \[", line)) for line in lines),
                   edges=sum(bool(re.match(r"  n\d+ -> n\d+ \[", line)) for line in lines))


def svg(path):
    """Its data has the boxes; the widest of them are drawn, too."""
    space = "{http://www.w3.org/2000/svg}"
    tree = xml.etree.ElementTree.parse(path).getroot()
    assert tree.tag == space + "svg"
    data = [json.loads(script.text) for script in tree.iter(space + "script") if script.get("type") == "application/json"]
    drawn = sum(group.get("class") == "f" for group in tree.iter(space + "g"))
    assert len(data) == 1 and 0 < drawn <= len(data[0]["f"]) == len(data[0]["w"])
    return Counter(boxes=len(data[0]["f"]) - 1)                             # one is the whole


# ------------------------------------------------------------------------------------------------------ our own readers

def again(path):
    """The `info` of it."""
    done = harness.run("info", "--json", path)
    assert done.status == 0, done
    check = harness.run("check", "-q", path)
    assert check.status == 0, check
    info = done.json()
    found = Counter(events=info["events"], calls=info.get("profile", {}).get("calls", 0))
    found.update({"class " + c["name"]: c["events"] for c in info["classes"]})
    return found


def nothing(path):
    assert os.path.getsize(path) == 0
    return Counter()


READERS = {"xray-fdr": again, "xray-basic": again, "xray-profile": again, "ctf": again, "tracelog": again, "xtrace": again,
           "xtrace-set": again, "tlp": again, "text": text, "babeltrace": babeltrace, "jsonl": jsonl, "csv": csv_, "parquet": parquet, "listing": listing,
           "listing-values": listing, "simpoint": simpoint, "champsim": champsim, "drmemtrace": drmemtrace, "perfetto": perfetto,
           "chrome": chrome, "speedscope": speedscope, "pprof": pprof, "folded": folded, "callgrind": callgrind, "dot": dot, "svg": svg,
           "none": nothing}
