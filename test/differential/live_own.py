#!/usr/bin/env python3
"""Recorded profiles of a simulated program, which knows its calls: live_own.py PART

    check   damage has its rule and offset; nothing of a live file is damage
    numbers every number of every place, and every bucket, as our own Python reader of .tlp files finds them in the
            output of `report -o`; and twice the same file
    names   functions of two binaries and of notes, with and without the binaries
    ways    other outputs, selections, compression and a pipe work as they do with the .tlp"""
import gzip
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import live_gen
import recording_gen


class Tlp:
    """A reader of .tlp files: docs/format/profile.md, versions 1 and 2 without samples."""

    def __init__(self, data):
        assert data[:8] == b"\x8ftlprof\n"
        version, flags = data[8], data[10]
        self.data, self.at = data, 20
        strings, functions, threads, places = [self.number() for _ in range(4)]
        self.strings = [None]
        for _ in range(strings):
            n = self.number()
            self.strings.append(data[self.at:self.at + n].decode())
            self.at += n
        self.clock, self.hz = self.string(), self.number()
        self.utc = self.signed() if flags & 4 else None
        self.build_id, self.exe = self.string(), self.string()
        self.exits, self.open, self.lost, self.damaged = [self.number() for _ in range(4)]
        self.functions, identity = [], 0
        for _ in range(functions):
            module, identity = self.string(), identity + self.signed()
            name, file, line, address, linkage = self.string(), self.string(), self.number(), self.number(), self.string()
            library = None
            if version == 2:
                library = self.string()
                assert self.number() == 0 and self.number() == 0
            self.functions.append((identity, name, module, address, library))
        self.thread_names = []
        for _ in range(threads):
            for _ in range(bin(self.number()).count("1")):
                self.signed()
            self.thread_names.append(self.string())
        self.tree(places)
        self.columns(places, flags)
        assert self.at == len(data) - 4

    def number(self):
        v = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return v

    def signed(self):
        v = self.number()
        return v >> 1 ^ -(v & 1)

    def string(self):
        return self.strings[self.number()]

    def tree(self, places):
        parents = [0]
        for place in range(1, places + 1):
            parent = place - 1
            for _ in range(self.number()):
                parent = parents[parent]
            parents.append(parent)
        threads, least, self.paths = len(self.thread_names), {0: 0}, {0: ()}
        for place in range(1, places + 1):
            parent = parents[place]
            code = least.get(parent, threads) + self.number()
            least[parent] = code + 1
            self.paths[place] = self.paths[parent] + (code,)

    def columns(self, places, flags):
        every = range(1, places + 1)
        calls, total, inner, nested = [{p: self.number() for p in every} for _ in range(4)]
        used = [p for p in every if calls[p]]
        least = {p: total[p] // calls[p] - self.number() for p in used}
        most = {p: least[p] + self.number() for p in used}
        self.places = {}
        for p in every:
            buckets = {}
            if p in least:
                at, last = live_gen.bucket(least[p]), live_gen.bucket(most[p])
                buckets[str(at)] = calls[p] if at == last else self.number()
                while at != last:
                    at += self.number()
                    buckets[str(at)] = self.number()
            self.places[self.paths[p]] = {"calls": calls[p], "total": total[p], "self": total[p] - inner[p],
                                          "min": least.get(p), "max": most.get(p), "buckets": buckets}

    def threads(self, name):
        """The expected numbers in the same form; name: of a function."""
        n, out = len(self.thread_names), {}
        for path, numbers in self.places.items():
            stacks = out.setdefault(self.thread_names[path[0]], {})
            if len(path) > 1:
                stacks[" > ".join(name(self.functions[code - n]) for code in path[1:])] = numbers
        return out


def put(folder, name, where="/nonexistent/folder"):
    data, expected = live_gen.make(name, where)
    path = os.path.join(folder, name + ".tlp.live")
    with open(path, "wb") as file:
        file.write(data)
    return path, expected


def good():
    return [name for name in live_gen.CASES if name.startswith("live")]


def converted(path, *arguments):
    out = path + ".tlp"
    result = harness.run("report", path, "-f", "-o", out, *arguments)
    with open(out, "rb") as file:
        return result, file.read()


def check(checks, folder):
    for name in live_gen.CASES:
        path, expected = put(folder, name)
        result = harness.run("check", "--json", path)
        first = [(p["rule"], p["offset"]) for p in result.json()["problems"][:1]]
        checks.equal(first, [(expected["rule"], expected["offset"])] if "rule" in expected else [], name)
        checks.equal(result.status, 1 if "rule" in expected else 0, name, "status")
        if expected["note"]:
            told = harness.run("check", path)
            checks.that(expected["note"] in told.text() + told.err.decode(), name, "tells", expected["note"], told)


def numbers(checks, folder):
    for name in good():
        path, expected = put(folder, name)
        result, data = converted(path)
        tlp = Tlp(data)
        checks.equal(result.status, 0, name, result)
        got = tlp.threads(lambda f: live_gen.name_of(f[0]))
        checks.equal(sorted(got), sorted(expected["threads"]), name, "threads")
        for thread, stacks in expected["threads"].items():
            checks.equal(sorted(got.get(thread, {})), sorted(stacks), name, thread)
            for stack, place in stacks.items():
                checks.equal(got.get(thread, {}).get(stack), place, name, thread, stack)
        since, rest = divmod(live_gen.TICKS * 10**9, live_gen.HZ)
        since += rest * 2 > live_gen.HZ or (rest * 2 == live_gen.HZ and since % 2)
        head = (tlp.clock, tlp.hz, tlp.utc, tlp.exe, tlp.build_id, tlp.open, tlp.lost, tlp.exits, tlp.damaged)
        checks.equal(head, ("tsc", live_gen.HZ, live_gen.UNIX - since, "/nonexistent/folder/program.elf",
                            live_gen.PROGRAM_ID.hex(), expected["open"], expected["lost"], 0, 0), name, "head")
        again = os.path.join(folder, "again.tlp")
        harness.run("report", path + ".tlp", "-f", "-o", again)
        with open(again, "rb") as file:
            checks.that(file.read() == data, name, "is the same file when it is written again")


def names(checks, folder):
    name = "live-done"
    binaries = os.path.join(folder, "binaries")
    os.makedirs(binaries)
    for binary, data in recording_gen.binaries().items():
        with open(os.path.join(binaries, binary), "wb") as file:
            file.write(data)
    path, expected = put(folder, name, binaries)
    _, data = converted(path)
    tlp = Tlp(data)
    checks.equal(tlp.threads(lambda f: f[1] or "?"), expected["threads"], "names of binaries that are where they were")
    modules = {f[0]: (f[2], f[4]) for f in tlp.functions}
    library = (live_gen.LIBRARY_ID.hex(), os.path.join(binaries, "libpage.so"))
    for function, got in modules.items():
        program = (live_gen.PROGRAM_ID.hex(), None)
        checks.equal(got, program if function <= 7 else library if function <= 11 else (None, None), "object of", function)
    path, expected = put(folder, name)
    _, data = converted(path)
    places = {i: recording_gen.place_of(i) for i in range(1, live_gen.BY_ADDRESS + 1)}
    checks.equal({f[1] for f in Tlp(data).functions}, {live_gen.SPAN, *places.values()}, "names without binaries")
    places_of_tlp(checks, folder, data, binaries, places)
    _, data = converted(path, "-e", os.path.join(binaries, "program.elf"))
    in_library = {places[i] for i in range(8, 12)}
    checks.equal({f[1] for f in Tlp(data).functions}, {live_gen.SPAN, *live_gen.IN_PROGRAM, *in_library}, "names with -e")
    with open(os.path.join(binaries, "program.elf"), "r+b") as file:
        data = file.read().replace(live_gen.PROGRAM_ID, live_gen.PROGRAM_ID[::-1])
        file.seek(0)
        file.write(data)
    path, expected = put(folder, name, binaries)
    _, data = converted(path)
    checks.equal({f[1] for f in Tlp(data).functions if f[0] <= 7}, {places[i] for i in range(1, 8)}, "names of a binary that has changed")


def places_of_tlp(checks, folder, data, binaries, places):
    """Functions that were only places when a profile was written get names later: from -e, or from binaries that are there."""
    path = os.path.join(folder, "places.tlp")
    with open(path, "wb") as file:
        file.write(data)
    every = {**places, **dict(enumerate(live_gen.NAMES, 1)), live_gen.BY_NAME: live_gen.SPAN}

    def expect(what, known, *arguments, says=()):
        done = harness.run("report", "--json", path, *arguments)
        got = {f["id"]: f["name"] for f in done.json()["functions"]}
        checks.equal(got, {i: every[i] if i in known else places[i] for i in got}, what)
        said = [line for line in done.err.decode().splitlines() if "unmatched" not in line and "lost" not in line]
        checks.equal([word for word in says if any(word in line for line in said)], list(says), what, "says")
        checks.equal(len(said), len(says), what, said)

    program, library, span = {1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}, {12}
    some = "functions have no name; install debug symbols of "
    expect("no binaries", span, says=["11 " + some])
    expect("the program of -e", span | program, "-e", os.path.join(binaries, "program.elf"), says=["4 " + some + "libpage.so,"])
    expect("the library of -e", span | library, "-e", os.path.join(binaries, "libpage.so"), says=["7 " + some + "program.elf,"])
    expect("another build", span, "-e", harness.binary()[0], says=["11 " + some, "-e is not used for it"])
    result = harness.run("report", path, "-e", folder + "/missing")
    checks.equal(result.status, 3, "what was given has to be there", result)
    there = os.path.join(folder, "there")                         # they are put in place after the profile was made
    with open(path, "wb") as file:
        file.write(converted(put(folder, "live-done", there)[0])[1])
    expect("binaries that are not there yet", span, says=["11 " + some])
    shutil.copytree(binaries, there)
    library_there = os.path.join(there, "libpage.so")
    expect("binaries that are there", set(every))
    os.rename(library_there, library_there + ".gone")
    expect("the library is gone", span | program, says=["4 " + some])
    os.mkfifo(library_there)
    expect("a pipe in its place", span | program, says=["4 " + some])
    os.unlink(library_there)
    shutil.copy(os.path.join(there, "program.elf"), library_there)
    expect("another file in its place", span | program, says=["4 " + some])


def ways(checks, folder):
    has_zlib = harness.built_with("zlib")
    for name in good():
        path, _ = put(folder, name)
        _, wanted = converted(path)
        tlp = os.path.join(folder, "other", os.path.basename(path))   # with the same name, which is printed
        os.makedirs(os.path.dirname(tlp), exist_ok=True)
        with open(tlp, "wb") as file:
            file.write(wanted)
        for arguments in (["--json"], ["--by", "tree"], ["--by", "thread"], ["--by", "hist", "-F", "program.elf+0x401000"],
                          ["--by", "callers"], ["-t", "worker*", "--by", "tree"] if name != "live-adding" else [],
                          ["--to", "folded", "-o", "-"], ["--to", "speedscope", "-o", "-"], ["--to", "callgrind", "-o", "-"]):
            of_live, of_tlp = harness.run("report", path, *arguments), harness.run("report", tlp, *arguments)
            text, same = (re.sub(r"tlp(-live)? \d\b", "tlp", r.text()) for r in (of_live, of_tlp))
            if arguments == ["--json"]:
                text, same = (json.loads(t)["functions"] for t in (text, same))
            checks.equal((of_live.status, text), (of_tlp.status, same), name, arguments)
        with open(path, "rb") as file:
            data = file.read()
        packed = os.path.join(folder, name + ".gz")
        with gzip.open(packed, "wb") as file:
            file.write(data)
        for source, stdin in ([(packed, None)] if has_zlib else []) + [("-", data)]:
            out = os.path.join(folder, "out.tlp")
            checks.equal(harness.run("report", source, "-f", "-o", out, stdin=stdin).status, 0, name, source)
            with open(out, "rb") as file:
                checks.that(file.read() == wanted, name, "the same from", source)
        checks.equal(harness.run("info", path).status, 0, name, "info")
        sum_of = harness.run("report", path, path, "-f", "-o", os.path.join(folder, "sum.tlp"))
        checks.equal(sum_of.status, 0, name, "with itself", sum_of)


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        {"check": check, "numbers": numbers, "names": names, "ways": ways}[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
