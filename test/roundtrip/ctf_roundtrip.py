#!/usr/bin/env python3
"""Traces written as CTF and read again are the same: ctf_roundtrip.py xray|own|copy|corpus|babeltrace

In version 2 every value comes back unchanged. 1.8 and the proposal of 2010 have no booleans, bytes or optional fields;
there values are compared in their converted form, see as_held(). Names change, too, and are not compared, except by
`babeltrace`, as babeltrace2 prints them."""
import glob
import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import ctf_gen
import xray_gen

VERSIONS = ("2", "1.8", "1.1")


def copy_of(checks, path, version, folder, *options):
    """Converts; the path of the copy, or None."""
    out = os.path.join(folder, "copy-%s.ctf" % version)
    shutil.rmtree(out, ignore_errors=True)
    result = harness.run("convert", *options, "--format-version", version, "-o", out, path)
    if not checks.that(result.status in (0, 3) and b"Sanitizer" not in result.err, path, "to", version, result):
        return None
    check = harness.run("check", out)
    checks.equal(check.status, 0, path, "as", version, "is not valid", check)
    return out


def events(path, *options):
    """Lines of jsonl without the track, which depends on the layout of the folder; sorted."""
    result = harness.run("convert", *options, "--to", "jsonl", "-o", "-", path)
    lines = [json.loads(line) for line in result.out.splitlines()]
    for line in lines:
        line.pop("track")
        if line["fields"].get("function", "") is None:                   # an unknown name
            del line["fields"]["function"]
        line.get("context", {}).pop("payload_size", None)               # counts the bytes of the file at hand
    return lines


def canonical(lines):
    return sorted(json.dumps(line, sort_keys=True) for line in lines)


def as_held(value):
    """A value as 1.8 and 2010 hold it, reduced to the parts that both sides have; names stay."""
    if isinstance(value, dict):
        if set(value) == {"value", "labels"}:                # labels of bits are lost
            return value["value"]
        held = {k: as_held(v) for k, v in value.items()}
        return {k: v for k, v in held.items() if v not in ({}, [])}     # an absent field: an empty struct or list
    if isinstance(value, list):
        return [as_held(v) for v in value]
    if isinstance(value, bool):
        return int(value)
    return value


def flat(line):
    """For 1.8 and 2010 only numbers and texts, without names and order: variants and optional fields may be lists there."""
    found = []

    def walk(value):
        if isinstance(value, dict):
            for key in value:
                walk(value[key])
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, str) and re.fullmatch("([0-9a-f]{2})*", value):
            found.extend(bytes.fromhex(value))                          # bytes are lists, too
        else:
            found.append(value)
    walk(as_held({"context": line.get("context", {}), "fields": line["fields"]}))
    return json.dumps([line["ts"], line["class"], sorted(found, key=str)])


def is_whole(path):
    """Whether a trace can be read completely; not if it has compressed packets and this build lacks the compression."""
    return harness.run("check", path).status == 0 and not harness.run("info", "--json", path).json().get("notes")


def same_events(checks, name, source, copy, version, cpu=True, whole=True):
    if not whole or re.search("pass-all-basic|auto-translated", name):
        # The packet with the begin of the trace has no readable events, or earlier ones.
        for lines in (source, copy):
            first = min((line["ts"] for line in lines), default=0)
            for line in lines:
                line["ts"] -= first
    if version == "2":
        checks.equal(canonical(copy), canonical(source), name, "events differ")
        return
    if not cpu:
        for line in source + copy:
            line.pop("cpu", None)
    checks.equal(sorted(map(flat, copy)), sorted(map(flat, source)),
                 name, "as", version, "events differ")


def facts(path):
    info = harness.run("info", "--json", path).json()
    return {key: info[key] for key in ("events", "begin", "end", "start_utc", "lost")}


def xray(checks, folder):
    """XRay -> CTF: the same events, profiles and threads; and from version 2 back to the same bytes."""
    cases = [name for name, case in xray_gen.cases().items() if case[0] in ("fdr", "basic") and case[5] is None]
    for name in cases:
        path, back = os.path.join(folder, name + ".xray"), os.path.join(folder, "back.xray")
        with open(path, "wb") as file:
            file.write(xray_gen.make(name)[0])
        source = events(path)
        if not source:
            continue
        for version in harness.some_of(name, VERSIONS, 2):
            copy = copy_of(checks, path, version, folder)
            if not copy:
                continue
            same_events(checks, name, source, events(copy), version, cpu=False)
            if version == "1.1" and '"hz":1000000000}' not in harness.run("info", "--json", path).text():
                continue                                                 # times are rounded to ns
            for by in ("func", "tree", "thread"):
                wanted, got = (harness.run("report", "--json", "--by", by, p).out for p in (path, copy))
                if "no-clock" not in name:
                    checks.equal(got, wanted, name, "as", version, "by", by)
        kind = "xray-" + xray_gen.cases()[name][0]
        for origin, out in ((path, back), (copy_of(checks, path, "2", folder), back + "2")):
            result = harness.run("convert", "-q", "-f", origin, "--to", kind, "--format-version", 5 if kind == "xray-fdr" else 3, "-o", out)
            checks.equal(result.status, 0, name, result)
        if not re.search("no-clock|shuffled", name):                    # threads come in the order of their files' names
            with open(back, "rb") as a, open(back + "2", "rb") as b:
                checks.that(a.read() == b.read(), name, "does not come back from version 2")


def times(path):
    """As babeltrace2 prints them: with the clock's offset, from any origin."""
    lines = harness.run("cat", "--text-style=babeltrace", path).text().splitlines()
    return sorted(re.match(r"\[[^\]]*\]", line)[0] for line in lines)


def own(checks, folder):
    """Generated CTF of every dialect."""
    for name, plan in ctf_gen.cases().items():
        path = os.path.join(folder, name)
        ctf_gen.save(folder, name, ctf_gen.make(name)[0], None)
        source, whole = events(path), is_whole(path)
        if not source:
            continue
        for version in harness.some_of(name, VERSIONS, 2):
            copy = copy_of(checks, path, version, folder)
            if copy:
                same_events(checks, name, source, events(copy), version, whole=whole)
                if version == "2" and whole and "folders" not in name:
                    checks.equal(facts(copy), facts(path), name)
                if version == "2" and "-no-epoch" in name:
                    checks.equal(times(copy), times(path), name, "as", version, "other times")


def files_of(folder):
    found = {}
    for inside, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(inside, name), "rb") as file:
                found[os.path.relpath(os.path.join(inside, name), folder)] = file.read()
    return found


def copy(checks, folder):
    """A copy of a copy is the copy: nothing is added or lost by reading and writing."""
    path = os.path.join(folder, "a.xray")
    with open(path, "wb") as file:
        file.write(xray_gen.make("fdr-v5-le")[0])
    sources = [path]
    for name in list(ctf_gen.cases())[:6]:
        ctf_gen.save(folder, name, ctf_gen.make(name)[0], None)
        sources.append(os.path.join(folder, name))
    for source in sources:
        for version in VERSIONS:
            generation = [source]
            for number in range(3):
                out = os.path.join(folder, "generation%d.ctf" % number)
                shutil.rmtree(out, ignore_errors=True)
                result = harness.run("convert", "-q", generation[-1], "--to", "ctf", "--format-version", version, "-o", out)
                checks.that(result.status in (0, 3), source, result)
                generation.append(out)
            # The identity of a trace depends on its source, so only the second copy shares it with the third.
            second, third = files_of(generation[2]), files_of(generation[3])
            checks.equal(sorted(third), sorted(second), source, version, "other files")
            differ = [name for name in second if third.get(name) != second[name]]
            checks.equal(differ, [], source, version, "other bytes")


def reference_reader():
    """The reference reader of the proposal of 2010, loaded once: it has two hundred traces to read."""
    spec = importlib.util.spec_from_file_location("ctf2010_reference", harness.shared("tools", "ctf2010_reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def corpus(checks, folder):
    """Traces of other projects; those of the proposal of 2010 also as its reference reader reads them."""
    root = harness.shared("corpus", "ctf")
    reference = reference_reader()
    patterns = ("lttng/*", "bt2/*/*", "actf/*", "yactfr-cases/*/*", "barectf-cases/*/*", "generated/*")
    for path in sorted(p for pattern in patterns for p in glob.glob(os.path.join(root, pattern)) if os.path.isdir(p)):
        name = os.path.relpath(path, root)
        source, whole = events(path), is_whole(path)
        if not source:
            continue
        # Most traces differ in one field only: one of the versions is enough.
        for version in harness.some_of(name, VERSIONS, 3 if name.startswith(("lttng", "bt2")) else 1):
            copy = copy_of(checks, path, version, folder)
            if not copy:
                continue
            same_events(checks, name, source, events(copy), version, whole=whole)
            if version == "1.1" and harness.some_of(name, [True, False], 1)[0]:         # it is slow
                checks.equal(reference.Trace(copy).check()["problems"], [], name, "is not valid for the reference reader")
            if version == "2" and whole and name.startswith(("lttng", "bt2/succeed")):
                checks.equal(facts(copy), facts(path), name)


def babeltrace(checks, folder):
    """babeltrace2 prints the same for our 1.8 as for the source."""
    if not shutil.which("babeltrace2"):
        harness.skip("no babeltrace2")
    root = harness.shared("corpus", "ctf")
    for golden in sorted(glob.glob(os.path.join(root, "goldens", "*.txt.gz"))):
        name = os.path.basename(golden)[:-len(".txt.gz")]
        path = os.path.join(root, name.replace("__", "/"))
        copy = copy_of(checks, path, "1.8", folder, "-q") if os.path.isdir(path) and events(path) else None
        if not copy:
            continue
        with gzip.open(golden) as file:
            wanted = file.read()
        done = subprocess.run(["babeltrace2", "--clock-gmt", copy], capture_output=True, timeout=300)
        checks.that(done.stdout == wanted, name, "is another text", done.stdout[:300], wanted[:300], done.stderr[-300:])


PARTS = {"xray": xray, "own": own, "copy": copy, "corpus": corpus, "babeltrace": babeltrace}


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        PARTS[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
