#!/usr/bin/env python3
"""Makes TraceLogs of every dialect, good and damaged ones, from a made-up .NET program that records its own actions.

    tracelog_gen.py --list              the names of the cases
    tracelog_gen.py --one NAME FILE     writes one of them
    tracelog_gen.py --out DIR           writes all, each NAME.log with its answers beside it: NAME.log.info.json, ...
    tracelog_gen.py --bulk MIB FILE     writes a large log, and prints how many events and samples it has

The answers come from the simulated program (tracelog_expect.py), not from a reader."""
import argparse
import json
import os
import sys

import tracelog_expect
from program import Random
from tracelog_damage import DAMAGES
from tracelog_lines import DIALECTS, Log, to_bytes
from tracelog_runtime import Runtime

REPORTS = ("func", "tree", "gc", "jit", "alloc", "cpu")
ZONES = (("2018-06-25 07:24:28.049", None), ("2018-06-25 07:24:28.049 +09:00", "2018-06-24T22:24:28.049Z"),
         ("2020-02-29 23:59:59.999 -00:30", "2020-03-01T00:29:59.999Z"),
         ("1969-12-31 23:00:00.007 +00:00", "1969-12-31T23:00:00.007Z"))

SMALL = dict(steps=34, pauses=True, period="5", collecting=200, steady=True)


def cases():
    """name -> (dialect, seed, style, damage or None)"""
    out = {}
    for number, dialect in enumerate(DIALECTS):
        out[dialect] = (dialect, 1 + number, dict(steps=160, pauses=True, period="5", zone=number), None)
        out[dialect + "-free"] = (dialect, 11 + number, dict(steps=90, free=True, narrow=number % 2, zone=3 - number), None)
        out[dialect + "-small"] = (dialect, 51 + number, dict(SMALL, zone=number), None)
    out["calls"] = ("doc", 61, dict(steps=120, instrumented=True, pauses=True, zone=1), None)
    out["calls-old"] = ("old", 62, dict(steps=90, instrumented=True, oldest=True, threads=2), None)
    out["calls-free"] = ("vs", 63, dict(steps=90, instrumented=True, free=True), None)
    out["calls-small"] = ("doc", 64, dict(steps=20, instrumented=True, threads=2), None)
    out["calls-memory"] = ("doc", 65, dict(steps=60, instrumented="memory"), None)
    out["oldest-small"] = ("old", 66, dict(SMALL, oldest=True), None)
    out["suspended-small"] = ("doc", 67, dict(SMALL, suspended=True, clock_back=True, steps=60), None)
    out["damaged-calls-lost"] = ("doc", 68, dict(steps=120, instrumented=True), "lost-samples")
    out["damaged-calls-backwards"] = ("doc", 69, dict(steps=120, instrumented=True), "backwards")
    out["doc-narrow"] = ("doc", 21, dict(steps=60, narrow=True, no_cpu_step=True, threads=1), None)
    out["vs-long"] = ("vs", 22, dict(steps=900, threads=5, pauses=True), None)
    out["bom"] = ("doc", 23, dict(steps=30, bom=True), None)
    out["crlf"] = ("vs", 24, dict(steps=30, crlf=True, bom=True), None)
    out["empty"] = ("doc", 0, dict(only=()), None)
    out["limits"] = ("doc", 0, dict(only=limits), None)
    out["records"] = ("vs", 0, dict(only=one_of_each), None)
    for number, damage in enumerate(DAMAGES):
        dialect = "doc" if number % 2 == 0 or damage in ("flipped-bytes", "backwards") else "vs"
        out["damaged-" + damage] = (dialect, 31 + number, dict(steps=120, pauses=number % 3 == 0, period="25"), damage)
    return out


def limits(log):
    """The largest allowed numbers."""
    most = 9223372036854
    log.config("SamplingTimeoutMs", "3600000")
    log.function_named(0xFFFFFFFFFFFFFFFF, "Most", "", "")
    log.type_named(0xFFFFFFFFFFFFFFFF, "Most")
    log.function_named(0x7FFFFFFFFFFFFFFF, "Signed", "", "")
    log.thread_created(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
    log.thread_assigned(0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF)
    log.process_cpu(5, most * 1000)
    log.sample(0xFFFFFFFFFFFFFFFF, 7, 1, 0, 0, False, None,
               [(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF), (0x8000000000000000, None), (0x7FFFFFFFFFFFFFFF, 0)], None)
    log.sample(1, 8, 2000000, 0, 0, False, None, [(0, 0)], None)
    log.sample(1, 9, 0, 1, 1, True, 0xFFFFFFFFFFFFFFFF, [], None)
    log.sample(2, 9, 0, 65536, 65536, False, None, [], None)
    log.sample(2, 9, 0, 0, 65536, False, None, [(1, None)] * 65536, None)
    log.sample(2, 10, 1, 1, 65536, False, None, [], None)
    log.allocations(1, 9, [(0xFFFFFFFFFFFFFFFF, 1, 0x7FFFFFFFFFFFFFFF, 1), (1, 0x7FFFFFFFFFFFFFFF, 0, None)])
    log.line(0, 0, 0, [0xFFFFFFFFFFFFFFFF] * 4)
    log.sizes(10, [(name, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF) for name in ("LOH", "GEN2", "GEN1", "_0")])
    log.function(1, 0xFFFFFFFFFFFFFFFF, None, None, 0xFFFFFFFFFFFFFFFF, [(0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF)],
                 [(0xFFFFFFFFFFFFFFFF,) * 3])
    log.pause(most, True)


def one_of_each(log):
    """Every record of all dialects once, in one file, with rare contents: undefined ids, empty lists, odd names."""
    log.jit("jit cms", None, None, 3, None)
    log.jit("jit css", None, 17, 3, 0x10)
    log.thread_assigned(3, 17)
    log.jit("jit csf", None, 17, 4, 0x10)
    log.jit("jit cmf", None, None, 9, None, 0xFFFFFFFF)
    log.thread_assigned(None, 18)
    log.thread_created(None, None)
    log.thread_destroyed(4)
    log.collection(None, None, 10, True, "ffff")
    log.collection(4, 99, 12, False, "tttt")
    log.collected(None, None, 11)
    log.collected(3, 17, 20)
    log.collected(3, 17, 21)
    log.heap(20, [])
    log.heap(15, [(None, 2, 3), (7, 0, 0), (None, 1, 1)])
    log.sizes(16, [("a", 1, 2), ("a", 3, 4), ("_", 0, 0), ("Z9", 5, 6)])
    log.type_named(7, 'a "quoted" name')
    log.type_named(8, "")
    log.type_named(None, "nobody")
    log.function_named(None, "nobody", "", "")
    log.function_named(5, "tab\there \x01\x7f\u2028 \\ end\\", "", "")
    log.function_named(6, "", "", "")
    log.type_named(9, "nul\0inside")
    log.function(6, 0x20, None, None, 0, [], [])
    log.function(6, 0x20, None, None, 0, [], [(0, 1, 2)], cached=True)
    log.sample(6, 30, 4, 0, 0, False, None, [(6, 0), (6, None), (None, 5), (5, 1)], None)
    log.sample(6, 30, 1, 0, 4, False, None, [], None)
    log.allocations(6, 30, [])
    log.allocations(6, 30, [(None, 0, 0, None), (8, 1, 2, 3)])
    log.module(None, None, None, 0xFFFFFFFF, '" "')
    log.file(None, "")
    log.line(None, None, None, [0, 0, 0, 0])
    for dialect in ("old", "doc"):
        log.dialect = dialect
        log.function(9, 0x30, 1, 2, 3, [(1, 2)], [(3, 4, 5)], status=0x80000000)
        log.function(9, 0x30, 1, 2, 3, [(1, 2)], [(3, 4, 5)], cached=True)
        log.sample(9, 31, None if dialect == "old" else 0, 0, 0 if dialect == "old" else 1, False, None, [(9, 0xAB)], None)
        log.jit("jit cms", 9, None, 40, 0x30)
    log.domain(None, 0, 0, "no number")
    log.start("2018-06-25 07:24:28.049 +09:00")


def make(name, shift=0):
    """`shift` is added to the seed. (bytes, {"info": .., "check": .., "jsonl": .., "func": .., ...})"""
    dialect, seed, style, damage = cases()[name]
    style, start_utc, books = dict(style), None, None
    bom, crlf, only = style.pop("bom", False), style.pop("crlf", False), style.pop("only", None)
    if only is not None:
        log = Log(dialect, Random(1))
        if only:
            only(log)
    else:
        start, start_utc = ZONES[style.pop("zone", 0)]
        runtime = Runtime(seed + 100 * shift, dialect, start=start, **style)
        log, books = runtime.log, runtime.books
    if only is one_of_each:
        start_utc = ZONES[1][1]
    if damage:
        DAMAGES[damage](log)
    for record in log.records:
        if crlf:
            record.end = b"\r\n"
    data = to_bytes(log.records, bom)
    answers = tracelog_expect.Answers(log.records, bom)
    assert answers.size == len(data)
    out = {"info": answers.info(name + ".log", start_utc), "check": answers.check(name + ".log"), "jsonl": answers.jsonl()}
    out.update({by: getattr(answers, by)() for by in REPORTS})
    if books and not damage:
        compare_with_books(name, out, books)
    return data, out


def compare_with_books(name, out, books):
    """The program's own records must agree with its log."""
    rows = {row["id"]: row for row in out["func"]["functions"]}
    if books["calls"]:
        assert {iid: (row["calls"], row["min"], row["max"]) for iid, row in rows.items()} == {
            iid: (len(found), min(found) * 10**6, max(found) * 10**6) for iid, found in books["calls"].items()}, name
        return
    assert {iid: row["total"] for iid, row in rows.items()} == {iid: ms * 10**6 for iid, ms in books["on"].items()}, name
    assert {iid: row["self"] for iid, row in rows.items() if row["self"]} == {iid: ms * 10**6 for iid,
                                                                              ms in books["top"].items()}, name
    assert out["func"]["samples"]["counted"] == books["counted"], name
    assert {row["iid"]: row["bytes"] for row in out["alloc"]["classes"]} == {iid if iid is None else hex(iid): size
                                                                               for iid, size in books["bytes"].items()}, name
    assert out["gc"]["pause"]["total"] == sum(books["pauses"]) * 10**6 and out["gc"]["pause"]["count"] == len(books["pauses"]), name
    assert sum(row["compiled"] for row in out["jit"]["methods"]) == books["compiled"], name


def bulk(path, megabytes, dialect="doc"):
    """A large log, quickly: repeats the program's actions after all code is compiled, at other times."""
    runtime = Runtime(5, dialect, steps=3000, threads=4)
    for thread in runtime.threads:
        if thread.alive:
            runtime.end_thread(thread)
    records = runtime.log.records
    first = [record for record in records if record.at is None]
    again = [record for record in records if record.at is not None and record.name in ("sam.str", "sam.mem", "thr.cpu",
                                                                                       "prc.cpu")]
    last = max(record.at for record in again)
    pieces, times = [], []
    for record in again:
        before, after = record.text.split(b" %d" % record.at, 1)
        pieces.append(((pieces.pop() if pieces else b"") + before + b" "))
        times.append(record.at)
        pieces.append(after + b"\n")
    rounds = max(1, int(megabytes) * (1 << 20) // sum(len(record.text) + 1 for record in again))
    with open(path, "wb") as file:
        file.write(to_bytes(first))
        for number in range(rounds):
            base = number * (last + 10)
            body = [b"%d%s" % (base + at, piece) for at, piece in zip(times, pieces[1:])]
            file.write(pieces[0] + b"".join(body))
    counted = sum(record.fields["count"] for record in again if record.delta)
    return len(first) + rounds * len(again), rounds * counted


def save(folder, name, data, answers):
    with open(os.path.join(folder, name + ".log"), "wb") as file:
        file.write(data)
    for what, answer in answers.items():
        with open(os.path.join(folder, "%s.log.%s.json" % (name, what)), "w", encoding="utf-8") as file:
            json.dump(answer, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "FILE"))
    parser.add_argument("--out")
    parser.add_argument("--bulk", nargs=2, metavar=("MIB", "FILE"))
    args = parser.parse_args()
    if args.list:
        print("\n".join(cases()))
    if args.one:
        with open(args.one[1], "wb") as file:
            file.write(make(args.one[0])[0])
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        for name in cases():
            save(args.out, name, *make(name))
    if args.bulk:
        print("%d events, %d samples" % bulk(args.bulk[1], args.bulk[0]))


if __name__ == "__main__":
    sys.exit(main())
