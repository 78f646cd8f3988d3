#!/usr/bin/env python3
"""What a page says of time is counted again here, from calls that are known because this script makes the log:
page_time.py CASE

Slices add up to self time, and each is what a slow count of every tick finds; the calls of the timeline are the longest;
columns of the grid, durations over time and exemplars are recounted; the bytes are the same for any number of threads."""
import collections
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
from page_read import read

HZ = 10 ** 9            # a tick is a nanosecond
Call = collections.namedtuple("Call", "thread depth begin end function path open inner")      # inner: [(begin, end)] of its calls
TOP, LANES, GRID_LANES, PIECES = 400000, 4096, 512, 256     # docs/page.md


class Log:
    """Threads that call functions at random; knows all calls."""

    def __init__(self, seed, threads, events, start, functions=20, deep=8, back=0, leave_open=False, equal=False):
        self.calls, self.events, self.random, self.back = [], [], random.Random(seed), back
        stacks, now = {tid: [] for tid in range(1, threads + 1)}, start
        for _ in range(events):
            tid = self.random.randint(1, threads)
            stack = stacks[tid]
            now += 3 if equal else int(self.random.paretovariate(0.9)) % 100000
            when = now - self.random.randint(1, back) if back and self.random.random() < 0.02 else now
            if stack and (len(stack) == deep or self.random.random() < 0.5):
                self.leave(stack, tid, when)
            else:
                self.enter(stack, tid, when, self.random.randint(1, functions))
        for tid, stack in stacks.items():
            while stack and not leave_open:
                now += 5
                self.leave(stack, tid, now)
        last = {}
        for call in self.calls:
            last[call.thread] = max(last.get(call.thread, 0), call.end, call.begin)
        for tid, stack in stacks.items():
            for depth, (function, begin, _) in enumerate(stack):
                last[tid] = max(last.get(tid, 0), begin)
        for tid, stack in stacks.items():
            for depth, (function, begin, _) in enumerate(stack):
                path = tuple(f for f, _, _ in stack[:depth + 1])
                self.calls.append(Call(tid, depth + 1, begin, last[tid], function, path, True, []))
        self.begin = min(event[0] for event in self.events) if self.events else 0
        self.end = max(event[0] for event in self.events) if self.events else 0
        self.track = {}     # the trace has threads in the order of their first events
        for event in self.events:
            self.track.setdefault(event[3], len(self.track))

    def enter(self, stack, tid, now, function):
        stack.append((function, now, []))
        self.events.append((now, 0, function, tid))

    def leave(self, stack, tid, now):
        path = tuple(f for f, _, _ in stack)
        function, begin, children = stack.pop()
        ticks = max(now - begin, 0)
        if stack:
            stack[-1][2].append((begin, begin + ticks))
        self.calls.append(Call(tid, len(stack) + 1, begin, begin + ticks, function, path, False, children))
        self.events.append((now, 1, function, tid))

    def write(self, path):
        with open(path, "wb") as file:
            file.write(struct.pack("<HHIQ16x", 3, 0, 3, HZ))
            for now, kind, function, tid in self.events:
                file.write(struct.pack("<HBBiQII8x", 0, 0, kind, function, now, tid, 7))


class Axis:
    def __init__(self, log, most):
        self.begin, span = log.begin, log.end - log.begin + 1
        self.width = -(-span // most)
        self.n = -(-span // self.width)
        self.last = span - (self.n - 1) * self.width

    def piece(self, ts):
        return min((ts - self.begin) // self.width, self.n - 1)

    def split(self, begin, end):
        """Ticks of [begin, end) in each piece; a call without any is in one."""
        first, last = self.piece(begin), self.piece(max(end - 1, begin))
        for piece in range(first, last + 1):
            low = self.begin + piece * self.width
            yield piece, max(min(end, low + self.width) - max(begin, low), 0)


def function_id(page, number):
    return page["functions"][number]["id"]


def path_of(page, row):
    out = []
    while row:
        out.append(function_id(page, page["tree"][row]["function"] - 1))
        row = page["tree"][row]["parent"]
    return tuple(out[::-1])


def tid_of(page, number):
    return page["threads"][number]["tid"]


def check_slices(checks, page, log, exact):
    got, axis = page["slices"], Axis(log, 128)
    checks.equal((got["n"], got["width"]), (axis.n, axis.width), "slices")
    checks.equal([cell[:3] for cell in got["cells"]], sorted({cell[:3] for cell in got["cells"]}), "cells ascend")
    checks.that(not any(rest for _, rest, _, _, _ in got["cells"]), "all places have cells of their own")
    own, begun = collections.Counter(), collections.Counter()
    for row, _, _, ticks, calls in got["cells"]:
        own[row] += ticks
        begun[row] += calls
    for number, row in enumerate(page["tree"]):
        checks.equal((own[number], begun[number]), (row["self"], row["calls"]), "sums of row", number)
    wanted = collections.Counter()
    if not exact:
        return
    for call in log.calls:
        if call.open:
            continue
        wanted[call.path, axis.piece(call.begin), "calls"] += 1
        for piece, ticks in axis.split(call.begin, call.end):
            wanted[call.path, piece, "self"] += ticks
        for begin, end in call.inner:
            for piece, ticks in axis.split(begin, end):
                wanted[call.path, piece, "self"] -= ticks
    wanted = {key: value for key, value in wanted.items() if value}
    found = {}
    for row, _, piece, ticks, calls in got["cells"]:
        for what, value in (("self", ticks), ("calls", calls)):
            if value:
                found[path_of(page, row), piece, what] = value
    checks.equal(found, wanted, "cells")


def longest(log, most, threads):
    """Those that docs/page.md chooses, by sorting all."""
    rest_most = most // 4
    order = sorted(log.calls, key=lambda c: (c.begin - c.end, log.track[c.thread], c.depth, c.begin, c.function))
    top, rest = order[:most - rest_most], order[most - rest_most:]
    if len(rest) <= rest_most:
        return order, 0
    pieces = PIECES
    while pieces > 1 and pieces * threads > rest_most:
        pieces //= 2
    axis, joined, share, kept = Axis(log, PIECES), PIECES // pieces, rest_most // (pieces * threads), collections.Counter()
    for call in rest:
        stratum = (axis.piece(call.begin) // joined, call.thread)
        kept[stratum] += 1
        if kept[stratum] <= share:
            top.append(call)
    return top, order[most - rest_most - 1].end - order[most - rest_most - 1].begin + 1


def spans_of(page):
    return collections.Counter((tid_of(page, row["thread"]), row["depth"], begin, ticks, function_id(page, function), bool(flags))
                               for row in page["spans"] for begin, ticks, function, flags in row["spans"])


def counted(log, calls):
    return collections.Counter((c.thread, c.depth, c.begin - log.begin, c.end - c.begin, c.function, c.open) for c in calls)


def check_spans(checks, page, log, threads):
    got = spans_of(page)
    keys = [(row["thread"], row["depth"]) for row in page["spans"]]
    checks.equal(keys, sorted(set(keys)), "rows by thread and depth")
    for most in (TOP >> shift for shift in range(10)):
        chosen, all_from = longest(log, most, threads)
        if len(chosen) == sum(got.values()) or most == TOP >> 9:
            break
    checks.equal(got - counted(log, chosen), collections.Counter(), "calls that are not the longest")
    checks.equal(counted(log, chosen) - got, collections.Counter(), "calls that are missing")
    lanes = collections.defaultdict(lambda: [0, 0])
    for call in log.calls:
        lanes[call.thread, call.depth][0] += 1
        lanes[call.thread, call.depth][1] += call.end - call.begin
    for row in page["spans"]:
        calls, ticks = lanes.pop((tid_of(page, row["thread"]), row["depth"]))
        checks.equal((row["out"], row["out_ticks"]), (calls - len(row["spans"]), ticks - sum(s[1] for s in row["spans"])), "left out of", row["depth"])
        checks.equal(row["all_from"], all_from if row["out"] else 0, "all from")
    checks.equal(len(lanes), 0, "rows that are missing")
    said = [one for one in page["meta"]["left_out"] if one["section"] == "spans"]
    checks.equal([one["n"] for one in said], [len(log.calls) - len(chosen)] if len(chosen) < len(log.calls) else [], "said")
    return most


def wanted_cell(axis, cells, thread, depth, piece):
    of = cells.get((thread, depth, piece), {})
    of = {f: ticks for f, ticks in of.items() if ticks}
    best = min(of, key=lambda f: (-of[f], f)) if of else None
    width = axis.width if piece < axis.n - 1 else axis.last
    covered = sum(of.values())
    return best, 255 if covered >= width else min(max(covered * 255 // width, 1), 254) if covered else 0


def check_grid(checks, page, log, lanes=None):
    got, axis = page["grid"], Axis(log, 2048)
    checks.equal((got["n"], got["width"]), (axis.n, axis.width), "columns")
    cells = collections.defaultdict(collections.Counter)
    begun = collections.Counter()
    for call in log.calls:
        begun[call.thread, call.depth, axis.piece(call.begin)] += 1
        for piece, ticks in axis.split(call.begin, call.end):
            cells[call.thread, call.depth, piece][call.function] += ticks
    every = {key[:2] for key in cells}
    seen = [(tid_of(page, row["thread"]), row["depth"]) for row in got["rows"]]
    if lanes is None or len(every) <= lanes:
        checks.equal(set(seen), every, "rows of the grid")
    else:
        checks.equal(len(seen), lanes, "rows of the grid")
        checks.equal(sorted(depth for _, depth in seen), sorted(depth for _, depth in every)[:lanes], "lowest depths")
    for (thread, depth), row in zip(seen, got["rows"]):
        found, wanted, at = [], [], 0
        for length, function, share, calls in row["runs"]:
            found.append((calls, [(function_id(page, function) if function is not None else None, share)] * length))
            wanted.append((sum(begun[thread, depth, piece] for piece in range(at, at + length)), [wanted_cell(axis, cells, thread, depth, piece) for piece in range(at, at + length)]))
            at += length
        checks.equal(found, wanted, "runs of", thread, depth)


def bucket(ticks):
    exponent = max(ticks.bit_length() - 4, 0)
    return (exponent << 3) + (ticks >> exponent)


def check_heat(checks, page, log):
    got, axis = page["heat"], Axis(log, 256)
    checks.equal((got["n"], got["width"]), (axis.n, axis.width), "columns of durations")
    wanted = collections.defaultdict(collections.Counter)
    for call in log.calls:
        if not call.open:
            wanted[call.function][axis.piece(call.begin), bucket(call.end - call.begin)] += 1
    checks.equal({function_id(page, f): cells for f, cells in got["rows"].items()}, dict(wanted), "durations over time")
    order = sorted(page["rows"], key=lambda row: -row["total"])[:64]
    checks.equal({row["function"] for row in order if row["calls"]}, set(got["rows"]), "functions with durations over time")


def check_slow(checks, page, log):
    got = collections.defaultdict(list)
    for row in page["slow"]:
        got[function_id(page, row["function"]), row["kind"]].append(
            (row["ticks"], tid_of(page, row["thread"]), row["begin"], path_of(page, row["row"])))
    keys = [(row["function"], row["kind"], -row["ticks"]) for row in page["slow"]]
    checks.equal(keys, sorted(keys), "order of exemplars")
    for row in page["rows"]:
        number = function_id(page, row["function"])
        calls = [c for c in log.calls if c.function == number and not c.open]
        for kind, wanted, most in ((0, None, 16), (1, row["p50"], 4), (2, row["p90"], 4), (3, row["p99"], 4)):
            def key(c):
                ticks = c.end - c.begin
                return (-ticks if wanted is None else abs(ticks - wanted), -ticks, log.track[c.thread], c.begin, c.depth)
            best = sorted(calls, key=key)[:most]
            checks.equal(collections.Counter(got[number, kind]), collections.Counter((c.end - c.begin, c.thread, c.begin - log.begin, c.path) for c in best),
                         "exemplars", number, kind)


def check_threads(checks, page, log):
    wanted = {}
    for call in log.calls:
        begin, end = wanted.get(call.thread, (call.begin, call.end))
        wanted[call.thread] = (min(begin, call.begin), max(end, call.end))
    got = {thread["tid"]: (thread["begin"], thread["end"]) for thread in page["threads"]}
    checks.equal(got, {tid: (begin - log.begin, end - log.begin) for tid, (begin, end) in wanted.items()}, "threads")


CASES = {
    "plain": dict(seed=1, threads=3, events=20000, start=12345678),
    "zero": dict(seed=2, threads=1, events=500, start=0),
    "short": dict(seed=3, threads=2, events=60, start=1 << 40, equal=True),
    "open": dict(seed=4, threads=4, events=4001, start=1000, leave_open=True),
    "back": dict(seed=5, threads=3, events=10000, start=10 ** 6, back=3000),
    "threads": dict(seed=6, threads=500, events=12000, start=77, deep=3),
    "limit": dict(seed=7, threads=5, events=140000, start=5, functions=40),
}


def select(log, begin, end):
    """What --time leaves: calls that lie within."""
    log.calls = [c for c in log.calls if not c.open and c.begin >= begin and c.end < end]
    log.begin, log.end = begin, end - 1


def main():
    checks, case, how = harness.Checks(), sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    log = Log(**CASES[case])
    options = ["--page-limit", "1M"] if case == "limit" else []
    with harness.work_folder() as folder:
        path = os.path.join(folder, "x.xray")
        log.write(path)
        zero = log.begin
        if how == "ctf":        # with a stream for each thread, which several threads read at once
            other = os.path.join(folder, "x.ctf")
            harness.run("convert", path, "-o", other)
            path = other
            log.track = {tid: tid for tid in log.track}
        elif how == "part":
            span = log.end - log.begin
            select(log, log.begin + span // 5, log.begin + span // 2)
            options += ["--time", "%dns..%dns" % (log.begin - zero, log.end + 1 - zero)]
        result = harness.run("report", path, "--to", "html", *options)
        checks.equal(result.status, 0, "status")
        page = read(result.out)
        meta = page["meta"]
        checks.equal((meta["has_time"], meta["axis"], meta["begin"], meta["span"], meta["no_time"]),
                     (True, "time", log.begin - zero, log.end - log.begin, None), "meta")
        for threads in (1, 3) if case == "limit" else range(1, 9):
            checks.that(harness.run("report", path, "--to", "html", "--threads", threads, *options).out == result.out, "other bytes with", threads)
        check_spans(checks, page, log, CASES[case]["threads"])
        if case == "limit":
            order = [one["section"] for one in meta["left_out"]]
            checks.that("spans" in order and len(result.out) <= 10 ** 6, "left out", order, len(result.out))
            checks.equal(sum(cell[3] for cell in page["slices"]["cells"]), meta["self"], "self in slices")
            checks.equal(sum(cell[4] for cell in page["slices"]["cells"]), meta["calls"], "calls in slices")
        else:
            check_slices(checks, page, log, case != "back")
            check_grid(checks, page, log, GRID_LANES) if case != "back" else None
            check_heat(checks, page, log)
            check_slow(checks, page, log)
            if how != "part":
                check_threads(checks, page, log)
    checks.end()


if __name__ == "__main__":
    main()
