#!/usr/bin/env python3
"""Traces written as TraceLog and read again are the same: tracelog_roundtrip.py exact|dialects|parts|calls|threads|profile"""
import glob
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

REPORTS = ("func", "tree", "gc", "jit", "alloc", "cpu")


def logs(folder, count=10, seed=7):
    """Logs without damage: those of the corpus, and as many of its generator."""
    tool = harness.shared("tools", "tracelog_generate.py")
    made = os.path.join(folder, "made")
    subprocess.run([sys.executable, "-B", tool, "--random", str(count), "--seed", str(seed), "--out", made], check=True)
    corpus = sorted(glob.glob(harness.shared("corpus", "tracelog", "generated", "*.log")))
    found = [path for path in corpus if not os.path.basename(path).startswith("damaged-") and "lost-lines" not in path] + sorted(glob.glob(made + "/*.log"))
    for path in found:
        copy = os.path.join(folder, os.path.basename(path))
        with open(path, "rb") as file, open(copy, "wb") as out:
            out.write(file.read())
        yield copy


def convert(checks, path, out, *options):
    result = harness.run("convert", "-q", "--force", "--to", "tracelog", *options, path, "-o", out)
    return checks.equal(result.status, 0, path, options, result)


def report(path, by, *options):
    result = harness.run("report", "--json", "--by", by, *options, path)
    return result.json() if result.status == 0 else (result.status, result.err.decode())


def read(path):
    with open(path, "rb") as file:
        return file.read()


def canonical(data):
    """Without the optional parts of lines."""
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    return b"".join(line + b"\n" for line in lines if line)


def exact(checks, folder):
    """A canonical log is copied byte for byte, in its own dialect and through the other one."""
    done = {"doc": 0, "vs": 0}
    for path in logs(folder, 30):
        version = harness.run("info", "--json", path).json()["version"]
        if version not in done:
            continue
        done[version] += 1
        copy, data = path + ".copy", canonical(read(path))
        if convert(checks, path, copy):
            checks.that(read(copy) == data, path, "is not copied byte for byte")
        other, back = path + ".other.log", path + ".back.log"
        if convert(checks, path, other, "--dialect", "doc" if version == "vs" else "vs") and \
                convert(checks, other, back, "--dialect", version):
            checks.that(read(back) == data, path, "does not come back from the other dialect")
    checks.that(done["doc"] > 15 and done["vs"] > 3, "too few logs", done)


def dialects(checks, folder):
    """All dialects become equivalent logs of either dialect."""
    for path in logs(folder, 4, 8):
        wanted = {by: report(path, by) for by in REPORTS}
        for dialect in ("doc", "vs"):
            copy = "%s.%s.log" % (path, dialect)
            if not convert(checks, path, copy, "--dialect", dialect):
                continue
            checks.equal(harness.run("check", copy).status, 0, copy, "is not valid")
            for by in REPORTS:
                checks.equal(report(copy, by), wanted[by], copy, by)


def parts(checks, folder):
    """A part of a log is a valid log with the same contents as that part."""
    choices = (["--thread", "thread 0x1"], ["--time", "50ms..300ms"], ["--class", "sam.*"], ["--class", "sam.str"],
               ["--thread", "thread 0x?", "--time", "100ms.."])
    for path in logs(folder, 4, 9):
        if b"CollectionMethod Instrumentation" in read(path):
            continue        # calls open before begin with the part
        for choice in choices:
            copy = path + ".part.log"
            result = harness.run("convert", "-q", "--force", "--to", "tracelog", *choice, path, "-o", copy)
            if result.status != 0:
                checks.that(b"matches" in result.err, path, choice, result)     # no such thread or record
                continue
            checks.equal(harness.run("check", copy).status, 0, path, choice, "is not valid")
            for by in ("func", "tree"):
                found, wanted = report(copy, by), report(path, by, *choice)
                for value in (found, wanted):           # a part has no pauses
                    if isinstance(value, dict):
                        value["samples"].pop("paused")
                checks.equal(found, wanted, path, choice, by)


# ---- calls

class Calls:
    """Calls of a made-up program on a clock of 1 MHz, and the samples that a sampler of 1 kHz would have taken."""

    def __init__(self, seed, threads=3, events=600, functions=9):
        chance = random.Random(seed)
        self.events = []                # (us, thread, enter, function)
        self.rows = {}                  # function -> [samples with it, samples on top]
        self.outermost = 0
        now, stacks, counted = 5000, [[] for _ in range(threads)], [0] * threads
        for _ in range(events):
            now += chance.choice((0, 1, 17, 350, 999, 1000, 2600, 7001))
            thread = chance.randrange(threads)
            stack = stacks[thread]
            ms = (now - 5000) // 1000 if self.events else 0
            if not self.events:
                now = 5000
            enter = not stack or (len(stack) < 6 and chance.random() < 0.5)
            function = chance.randrange(1, functions) if enter else stack[-1]
            self.outermost += enter and not stack
            for each in set(stack):
                self.row(each)[0] += ms - counted[thread]
            if stack:
                self.row(stack[-1])[1] += ms - counted[thread]
            counted[thread] = ms
            stack.append(function) if enter else stack.pop()
            self.events.append((now, 100 + thread, enter, function))
        for thread, stack in enumerate(stacks):     # all return at once
            ms = (now - 5000) // 1000
            while stack:
                for each in set(stack):
                    self.row(each)[0] += ms - counted[thread]
                self.row(stack[-1])[1] += ms - counted[thread]
                counted[thread] = ms
                self.events.append((now, 100 + thread, False, stack.pop()))

    def row(self, function):
        return self.rows.setdefault(function, [0, 0])

    def seen(self, scale=1):
        return {function * scale: (calls, calls * 1000000, own * 1000000) for function, (calls, own) in self.rows.items() if calls}

    def as_xray(self):
        """A basic log: a header, and a record of 32 bytes for each entry and exit."""
        out = struct.pack("<HHIQ16x", 3, 0, 3, 1000000)
        for us, thread, enter, function in self.events:
            out += struct.pack("<HBBiQII8x", 0, 0, 0 if enter else 1, function, us, thread, 42)
        return out


def rows_of(report_json):
    return {row["id"]: (row["calls"], row["total"], row["self"]) for row in report_json["functions"]}


def calls(checks, folder):
    """The times of calls to the millisecond, and every call."""
    for seed in range(4):
        made = Calls(seed)
        path, copy = os.path.join(folder, "calls%d.xray" % seed), os.path.join(folder, "calls%d.log" % seed)
        with open(path, "wb") as out:
            out.write(made.as_xray())
        if not convert(checks, path, copy):
            continue
        checks.equal(harness.run("check", copy).status, 0, copy, "is not valid")
        checks.equal(rows_of(report(copy, "func")), made.seen(), path)
        changes = [line for line in read(copy).split(b"\n") if line.startswith(b"sam str") and line.split()[4] == b"0"]
        checks.equal(len(changes), len(made.events), path, "a line for each entry and exit")
        exactly = rows_of(report(path, "func"))
        difference = sum(row[2] for row in exactly.values()) - sum(row[2] for row in made.seen().values())
        checks.that(abs(difference) <= (made.outermost + 1) * 1000000, path, "all times together", difference)
        tids = sorted(track["tid"] for track in harness.run("info", "--json", copy).json()["tracks"] if track["tid"] is not None)
        checks.equal(tids, [100, 101, 102], path)


METADATA = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = clk; freq = 1000000; offset_s = 1500000000; };
typealias integer { size = 64; align = 8; signed = false; map = clock.clk.value; } := ticks;
stream { id = 0;
    packet.context := struct { ticks timestamp_begin; ticks timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; };
    event.header := struct { u32 id; ticks timestamp; };
    event.context := struct { s32 vpid; s32 vtid; }; };
event { name = "lttng_ust_cyg_profile:func_entry"; id = 0; stream_id = 0; fields := struct { u64 addr; u64 call_site; }; };
event { name = "lttng_ust_cyg_profile:func_exit"; id = 1; stream_id = 0; fields := struct { u64 addr; u64 call_site; }; };
"""


def as_ctf(folder, made, scale):
    """The same calls as recorded by LTTng: a stream for each processor; threads move between them."""
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata"), "w", encoding="utf-8") as out:
        out.write(METADATA)
    for cpu in (0, 1):
        mine = [event for event in made.events if (event[0] // 4000 + event[1]) % 2 == cpu]
        body = b"".join(struct.pack("<IQiiQQ", 0 if enter else 1, us, 42, thread, function * scale, 0)
                        for us, thread, enter, function in mine)
        size = 8 * (8 + 36 + len(body))
        with open(os.path.join(folder, "ch_%d" % cpu), "wb") as out:
            out.write(struct.pack("<II", 0xC1FC1FC1, 0) + struct.pack("<QQQQI", mine[0][0], mine[-1][0], size, size, cpu) + body)


def threads(checks, folder):
    """Threads named by contexts are threads of the log, wherever they ran; functions are their addresses."""
    made = Calls(5)
    path, copy = os.path.join(folder, "cyg"), os.path.join(folder, "cyg.log")
    as_ctf(path, made, 0x1000)
    if not convert(checks, path, copy):
        return
    checks.equal(harness.run("check", copy).status, 0, "is not valid")
    checks.equal(rows_of(report(copy, "func")), made.seen(0x1000))
    info = harness.run("info", "--json", copy).json()
    checks.equal(sorted(track["tid"] for track in info["tracks"] if track["tid"] is not None), [100, 101, 102])
    checks.equal(info["start_utc"], "2017-07-14T02:40:00.005Z")


def profile(checks, folder):
    """Profiles as logs: samples of logs come back; for calls, the time of all stacks, to the millisecond."""
    for path in logs(folder, 4, 10):
        copy = path + ".profile.log"
        result = harness.run("report", "-q", "--force", path, "--to", "tracelog", "-o", copy)
        if not checks.equal(result.status, 0, path, result):
            continue
        if b"CollectionMethod Instrumentation" in read(path):  # calls become samples, with the same self time
            got, expected = (sorted((row["name"] or str(row["id"]), row["self"]) for row in report(name, "func")["functions"] if row["self"])
                             for name in (copy, path))
            checks.equal(got, expected, path, "self")
            continue
        for by, weight in (("func", "time"), ("tree", "time"), ("tree", "bytes"), ("tree", "allocations")):
            got, expected = report(copy, by, "--weight", weight), report(path, by, "--weight", weight)
            expected["samples"]["paused"] = 0
            if by == "func":        # renamed functions are distinguished by a new number
                for value in (got, expected):
                    value["functions"] = sorted([row["name"] or str(row["id"]), row["calls"], row["total"], row["self"]]
                                                for row in value["functions"])
            checks.equal(got, expected, path, by, weight)
    made = Calls(6)
    path, copy = os.path.join(folder, "calls.xray"), os.path.join(folder, "calls.profile.log")
    with open(path, "wb") as out:
        out.write(made.as_xray())
    if checks.equal(harness.run("report", "-q", path, "--to", "tracelog", "-o", copy).status, 0):
        exactly, got = [sum(row[2] for row in rows_of(report(name, "func")).values()) for name in (path, copy)]
        checks.that(abs(exactly - got) <= 3 * 500000, "all times together", exactly, got)


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        {"exact": exact, "dialects": dialects, "parts": parts, "calls": calls, "threads": threads, "profile": profile}[sys.argv[1]](
            checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
