#!/usr/bin/env python3
"""Recordings of a simulated program, which knows what was recorded: recording_own.py PART

    check   damage has its rule and offset; nothing of a live file is damage
    jsonl   every event, with names that only the notes have
    info    the facts in the recording
    names   functions of two binaries and of notes, with and without the binaries
    copy    a copy is complete, an ordinary file, and is copied byte for byte; other formats get the same events
    ways    threads, selections, versions and compression change nothing else
    peer    llvm-xray reads the files and finds as many events"""
import gzip
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import compare
import harness
import recording_gen

NOWHERE = "/nonexistent/folder"


def put(folder, name, where=NOWHERE):
    data, expected = recording_gen.make(name, where)
    path = os.path.join(folder, name + ".xray")
    with open(path, "wb") as file:
        file.write(data)
    return path, expected


def good():
    return [name for name in recording_gen.cases() if name.startswith("rec-")]


def put_binaries(folder):
    for name, data in recording_gen.binaries().items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def events(path, *arguments):
    result = harness.run("convert", "--to", "jsonl", "-o", "-", path, *arguments)
    return result, [json.loads(line) for line in result.text().splitlines()]


def flat(tracks):
    return [line for lines in tracks.values() for line in lines]


def check(checks, folder):
    for name in recording_gen.cases():
        path, expected = put(folder, name)
        result = harness.run("check", "--json", path)
        first = [(p["rule"], p["offset"]) for p in result.json()["problems"][:1]]
        checks.equal(first, [(expected["rule"], expected["offset"])] if "rule" in expected else [], name)
        checks.equal(result.status, 1 if "rule" in expected else 0, name, "status")


def jsonl(checks, folder):
    for name in good():
        path, expected = put(folder, name)
        result, got = events(path)
        checks.equal(result.status, 0, name, result)
        difference = compare.jsonl(got, flat(expected["tracks"]))
        checks.that(difference is None, name, difference)


def info(checks, folder):
    for name in good():
        path, expected = put(folder, name)
        result = harness.run("info", "--json", path)
        got = result.json()
        checks.equal(result.status, 0, name, result)
        checks.equal(got["recording"], expected["recording"], name)
        checks.equal(got["lost"]["events"], expected["lost"], name)
        tracks = {track["name"]: track["events"] for track in got["tracks"]}
        checks.equal(tracks, {track: len(lines) for track, lines in expected["tracks"].items()}, name)
        wanted = {}
        for line in flat(expected["tracks"]):
            wanted[line["class"]] = wanted.get(line["class"], 0) + 1
        checks.equal({c["name"]: c["events"] for c in got["classes"]}, wanted, name)
        if name == "rec-live-begun":
            continue
        checks.equal(got.get("ring"), expected.get("ring"), name)
        checks.equal(got["process"], {"id": 4711, "parent": 4700, "exe": NOWHERE + "/program.elf"}, name)
        checks.equal(got["options"], {"mode": "fdr", "ring": 65536, "func": 2}, name)
        checks.equal(got["clock"], {"name": "tsc", "hz": recording_gen.HZ}, name)
        if name == "rec-live":                  # the first line about the clock counts
            begin = min(event.tsc for _, thread in recording_gen.program.run(sum(name.encode()), **recording_gen.cases()[name][1])
                        for event in thread)
            ns = recording_gen.UNIX + (begin - recording_gen.TICKS) // 2
            checks.that(got["start_utc"].endswith(".%09dZ" % (ns % 10**9)), name, got["start_utc"], ns)
    losses = harness.run("info", "--json", put(folder, "rec-done")[0]).json()["losses"]
    checks.equal(losses, {"late": 1, "depth": 2, "memory": 3, "disk": 4, "exits": 5, "threads": 6}, "losses")
    checks.equal(harness.run("info", "--strict", put(folder, "rec-done")[0]).status, 4, "losses are strict")
    checks.equal(harness.run("info", "--strict", put(folder, "rec-live")[0]).status, 0, "a live file is not")


def function_names(path, *arguments):
    result = harness.run("report", "--json", path, *arguments)
    return result, {f["id"]: f["name"] for f in result.json()["functions"]}


def names(checks, folder):
    put_binaries(folder)
    every = dict(enumerate(recording_gen.NAMES, 1))
    every[recording_gen.BY_NAME] = recording_gen.SPAN
    places = {recording_gen.BY_ADDRESS: recording_gen.BY_PLACE}
    in_program = {1, 2, 3, 4, 5, 6, 7}
    for name in ("rec-done", "rec-live", "rec-live-ring"):
        path, expected = put(folder, name, folder)
        result, got = events(path)
        difference = compare.jsonl(got, flat(recording_gen.name_all(expected["tracks"])))
        checks.that(difference is None, name, difference)
        checks.equal(result.err, b"" if name != "rec-done" else result.err, name, "messages")
        _, got = function_names(path)
        checks.equal(got, {i: every[i] for i in got}, name)
        checks.that(len(got) >= 9, name, got)
    path, _ = put(folder, "rec-live", folder)
    library, program = os.path.join(folder, "libpage.so"), os.path.join(folder, "program.elf")

    def expect(what, known, *arguments, note=None):
        result, got = function_names(path, *arguments)
        checks.equal(got, {i: every[i] if i in known else places.get(i) for i in got}, what)
        checks.that((note in result.err.decode()) if note else not result.err, what, result.err)
        return result

    os.rename(library, library + ".moved")
    expect("library gone", in_program | {12}, note="there is no file " + library)
    for verb in ("info", "check"):              # these need no binaries
        checks.equal(harness.run(verb, path).err, b"", verb)
    expect("library given", set(every), "-e", library + ".moved")
    os.mkfifo(library)
    expect("a pipe in its place", in_program | {12}, note="not a regular file")
    os.unlink(library)
    shutil.copy(program, library)
    expect("another file in its place", in_program | {12}, note="libpage.so has build-id " + recording_gen.PROGRAM_ID.hex())
    os.rename(program, program + ".moved")
    os.rename(library + ".moved", library)
    expect("program gone", set(every) - in_program, note="there is no file " + program)
    expect("program given", set(every), "-e", program + ".moved")
    with open(program, "wb") as file:
        file.write(recording_gen.build_elf(recording_gen.NAMES[:5], recording_gen.PROGRAM_ID))
    expect("another map", set(every) - in_program, note="program.elf has 5 with sleds, 7 were recorded")
    with open(program, "wb") as file:
        file.write(b"\x7fELF and nothing more")
    expect("a broken program", set(every) - in_program, note="program.elf")
    path, _ = put(folder, "rec-patched", folder)
    places.update({i: recording_gen.place_of(i) for i in range(1, recording_gen.BY_ADDRESS)})
    expect("a broken program that was patched", set(every) - in_program, note="program.elf")
    os.rename(program + ".moved", program)
    expect("patched", set(every))
    os.rename(library, library + ".moved")
    expect("patched library gone", in_program | {12}, note="there is no file " + library)
    patched = harness.run("info", "--json", path).json()["patched"]
    checks.equal([(o["object"], o["patched"], o["functions"], o["left_out"], o["late"], o["why"]) for o in patched],
                 [("program.elf", 7, 9, 2, 1, "it shares a fragment with another function (2)"), ("libpage.so", 3, 3, 0, 0, None)], "counts")
    result = harness.run("report", path, "-e", folder + "/missing")
    checks.equal(result.status, 3, "what was given has to be there", result)


def copy(checks, folder):
    put_binaries(folder)
    for name in good():
        path, expected = put(folder, name, folder)
        copies = [os.path.join(folder, "%s.%d.xray" % (name, number)) for number in (1, 2)]
        checks.equal(harness.run("convert", "-q", path, "-o", copies[0]).status, 0, name)
        checks.equal(harness.run("convert", "-q", copies[0], "-o", copies[1]).status, 0, name)
        data = [open(c, "rb").read() for c in copies]
        checks.that(data[0] == data[1], name, "is not copied byte for byte")
        checks.equal(data[0][24:32], b"tlrtD\0\0\0", name, "is not a usual file")
        checks.equal(harness.run("check", copies[0]).status, 0, name, "the copy is damaged")
        difference = compare.jsonl(events(copies[0])[1], flat(recording_gen.name_all(expected["tracks"])))
        checks.that(difference is None, name, difference)
        ours, theirs = (harness.run("info", "--json", p).json() for p in (path, copies[0]))
        for key in set(ours) - {"path", "bytes"}:
            checks.equal(theirs.get(key), ours[key], name, key)
        for to in ("xray-basic", "ctf", "perfetto", "chrome"):
            out = os.path.join(folder, name + "." + to)
            checks.equal(harness.run("convert", path, "--to", to, "-o", out).status, 0, name, to)
    for version in (1, 2, 3, 4):
        path, out = put(folder, "rec-live", folder)[0], os.path.join(folder, "old.xray")
        result = harness.run("convert", path, "--to", "xray-fdr", "--format-version", version, "-f", "-o", out)
        checks.that(b"the notes of the recording" in result.err, "version", version, result)
        got = harness.run("info", "--json", out).json()
        checks.that("process" not in got and not {c["name"] for c in got["classes"]} & {"cache miss", "tick"}, version, got)
        checks.equal(got["events"], harness.run("info", "--json", path).json()["events"], "version", version)


def ways(checks, folder):
    has_zlib = harness.built_with("zlib")
    for name in good():
        path, expected = put(folder, name)
        every = flat(expected["tracks"])
        plain = sorted(map(json.dumps, events(path)[1]))
        checks.equal(sorted(map(json.dumps, events(path, "--threads", "3")[1])), plain, name, "with threads")
        if has_zlib:
            with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as packed:
                packed.write(file.read())
            checks.equal(sorted(map(json.dumps, events(path + ".gz")[1])), plain, name, "compressed")
        _, got = events(path, "-F", recording_gen.SPAN.replace("\\", "\\\\"))
        wanted = [line for line in every if line["fields"].get("function") == recording_gen.SPAN]
        spans = [line for line in got if line["fields"].get("function") == recording_gen.SPAN]
        checks.equal(len(spans), len(wanted), name, "-F")
        times = sorted(line["ts"] for line in every)
        if not times:
            continue
        low, high = times[len(times) // 3], times[len(times) * 2 // 3]
        _, got = events(path, "--time", "%dns..%dns" % (low, high))
        checks.equal(sorted(line["ts"] for line in got), [t for t in times if low <= t < high], name, "--time")
        cut = os.path.join(folder, "cut.xray")
        checks.equal(harness.run("convert", path, "--time", "%dns..%dns" % (low, high), "-f", "-o", cut).status, 0, name)
        checks.equal(len(events(cut)[1]), len(got), name, "a part")
        checks.equal(harness.run("info", "--json", cut).json().get("process"),
                     harness.run("info", "--json", path).json().get("process"), name, "a part knows what it is of")


def peer(checks, folder):
    """llvm-xray takes notes and padding for events of the program."""
    tool = shutil.which("llvm-xray-19") or shutil.which("llvm-xray")
    if not tool:
        harness.skip("no llvm-xray")
    for name in good():
        path, expected = put(folder, name)
        every = flat(expected["tracks"])
        # Only we read live files. To llvm-xray an event without a payload is an error.
        if any(line["class"] == "tick" or line["fields"].get("data") == "" for line in every) or not every:
            continue
        files = [os.path.join(folder, name + ".copy.xray")] + [path] * name.startswith("rec-done")
        harness.run("convert", "-q", path, "-o", files[0])
        for file in files:
            out = os.path.join(folder, "yaml")
            result = subprocess.run([tool, "convert", "-f", "yaml", "-o", out, file], capture_output=True)
            checks.equal(result.returncode, 0, name, file, result.stderr)
            with open(out) as yaml:
                kinds = [line.split("kind: ")[1].split(",")[0] for line in yaml if line.startswith("  - {")]
            calls = [kind for kind in kinds if kind.startswith("function-")]
            checks.equal(len(calls), sum("id" in line["fields"] for line in every), name, file)
            for verb in (["fdr-dump"], ["account", "-k"],
                         ["stack", "-k", "--all-stacks", "--stack-format=flame", "--aggregation-type=count"]):
                result = subprocess.run([tool, *verb, file], capture_output=True)
                checks.equal(result.returncode, 0, name, verb, result.stderr[:300])


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        {"check": check, "jsonl": jsonl, "info": info, "names": names, "copy": copy, "ways": ways,
         "peer": peer}[sys.argv[1]](checks, os.path.realpath(folder))
    checks.end()


if __name__ == "__main__":
    main()
