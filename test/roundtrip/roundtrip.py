#!/usr/bin/env python3
"""Files written and read again are the same: roundtrip.py events|bytes|profile|merge|compressed|pipe"""
import bz2
import gzip
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import xray_gen


def put(folder, name):
    path = os.path.join(folder, name + ".xray")
    with open(path, "wb") as file:
        file.write(xray_gen.make(name)[0])
    return path


def good(kind):
    return [name for name, case in xray_gen.cases().items() if case[0] == kind and case[5] is None]


def jsonl(path):
    result = harness.run("convert", "--to", "jsonl", "-o", "-", path)
    return result.status, sorted(result.out.splitlines())


def threads_only(value):
    """The parts of `info --json` that a copy must share."""
    keep = ("format", "version", "events", "classes", "tracks", "clock", "begin", "end")
    return {key: value[key] for key in keep}


def events(checks, folder):
    """A copy in the same format and version holds the same events, threads and clock."""
    for kind, to in (("fdr", "xray-fdr"), ("basic", "xray-basic")):
        for name in good(kind):
            path, copy = put(folder, name), os.path.join(folder, name + ".copy.xray")
            result = harness.run("convert", path, "--to", to, "-o", copy)
            if checks.equal(result.status, 0, name, result):
                checks.equal(jsonl(copy), jsonl(path), name, "the events of the copy differ")
                info = [harness.run("info", "--json", p).json() for p in (copy, path)]
                checks.equal(threads_only(info[0]), threads_only(info[1]), name)
                checks.equal(harness.run("check", copy).status, 0, name, "the copy is not valid")


def bytes_(checks, folder):
    """A file written by us is copied byte for byte; FDR in every version."""
    for kind, to, versions in (("fdr", "xray-fdr", (1, 2, 3, 4, 5)), ("basic", "xray-basic", (1, 2, 3))):
        for name in good(kind):
            path = put(folder, name)
            for version in versions:
                copies = [os.path.join(folder, "%s.%d.%d.xray" % (name, version, n)) for n in (1, 2)]
                first = harness.run("convert", "-q", path, "--to", to, "--format-version", version, "-o", copies[0])
                if first.status != 0:
                    checks.that(first.err, name, "to version", version, "fails without a message", first)
                    checks.that(version < xray_gen.cases()[name][1], name, "to version", version, first)
                    continue
                checks.equal(harness.run("check", copies[0]).status, 0, name, "version", version, "is not valid")
                second = harness.run("convert", "-q", copies[0], "--to", to, "-o", copies[1])
                checks.equal(second.status, 0, name, second)
                with open(copies[0], "rb") as a, open(copies[1], "rb") as b:
                    checks.that(a.read() == b.read(), name, "version", version, "is not copied byte for byte")


def report(*paths, by="tree"):
    result = harness.run("report", "--json", "--by", by, *paths)
    return result.json() if result.status == 0 else result.status


def profile(checks, folder):
    """XRay profile -> our profile -> the same report; and our profile of a trace has all numbers of the trace."""
    for name in good("profile") + ["fdr-v5-le", "fdr-v5-be", "basic-v3-le-messy", "fdr-v5-le-no-clock"]:
        path, copy, again = put(folder, name), os.path.join(folder, name + ".tlp"), os.path.join(folder, name + ".2.tlp")
        result = harness.run("report", path, "-o", copy)
        if not checks.equal(result.status, 0, name, result):
            continue
        for by in ("func", "tree"):
            checks.equal(report(copy, by=by), report(path, by=by), name, by)
        checks.equal(harness.run("report", copy, "-o", again).status, 0, name)
        with open(copy, "rb") as a, open(again, "rb") as b:
            checks.that(a.read() == b.read(), name, "a profile is not copied byte for byte")


def merge(checks, folder):
    """Adding up profiles: any order and any grouping give the same bytes; one of them alone stays itself."""
    names = ["fdr-v5-le", "fdr-v5-le-plain", "fdr-v5-le-messy"]
    paths = [put(folder, name) for name in names]
    count = 0

    def written(*inputs):
        nonlocal count
        count += 1
        out = os.path.join(folder, "merged%d.tlp" % count)
        result = harness.run("report", *inputs, "-o", out)
        checks.equal(result.status, 0, result)
        return out

    def same(what, a, b):
        with open(a, "rb") as one, open(b, "rb") as other:
            checks.that(one.read() == other.read(), what)

    a, b, c = paths
    same("order matters", written(a, b, c), written(c, a, b))
    same("grouping matters", written(written(a, b), c), written(a, written(b, c)))
    same("profiles and traces add up differently", written(a, b), written(written(a), written(b)))
    whole, parts = report(written(a, a), by="func"), report(a, by="func")
    calls = {f["id"]: f["calls"] for f in parts["functions"]}
    checks.equal({f["id"]: f["calls"] for f in whole["functions"]}, {i: 2 * n for i, n in calls.items()}, "twice the same")


def compressed(checks, folder):
    """A compressed file gives the same report as the file itself."""
    path = put(folder, "fdr-v5-le")
    with open(path, "rb") as file:
        data = file.read()
    packed = {".gz": gzip.compress(data), ".bz2": bz2.compress(data)}
    packed["-twice.gz"] = gzip.compress(data[:1000]) + gzip.compress(data[1000:])       # like `cat a.gz b.gz`
    if shutil.which("zstd"):
        packed[".zst"] = subprocess.run(["zstd", "-c", path], check=True, capture_output=True).stdout
    plain = report(path)
    for suffix, content in packed.items():
        other = path + suffix
        with open(other, "wb") as file:
            file.write(content)
        checks.equal(report(other), plain, suffix)
        checks.equal(harness.run("info", "--json", other).json()["bytes"], len(data), suffix)
        cut = path + ".cut" + suffix
        with open(cut, "wb") as file:
            file.write(content[:len(content) * 2 // 3])
        result = harness.run("report", cut)
        checks.that(result.status == 3 and result.err, suffix, "cut in the middle:", result)
    for suffix in (".gz", ".zst"):
        out = os.path.join(folder, "out.jsonl" + suffix)
        checks.equal(harness.run("convert", path, "-o", out).status, 0, suffix)
        if suffix == ".gz":
            with gzip.open(out, "rb") as file:
                checks.equal(sorted(file.read().splitlines()), jsonl(path)[1], suffix)


def pipe(checks, folder):
    """Standard input gives the same as the file."""
    for name in ("fdr-v5-le", "basic-v3-be", "profile-le", "fdr-v1-le"):
        path = put(folder, name)
        with open(path, "rb") as file:
            data = file.read()
        for content in (data, gzip.compress(data)):
            result = harness.run("report", "--json", "--by", "tree", "-", stdin=content)
            checks.equal(result.json() if result.status == 0 else result, report(path), name)
    result = harness.run("info", "--json", "-", stdin=data)
    checks.equal(json.loads(result.out)["path"], "-", "the path of standard input")


PARTS = {"events": events, "bytes": bytes_, "profile": profile, "merge": merge, "compressed": compressed, "pipe": pipe}


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        PARTS[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
