#!/usr/bin/env python3
"""Compares traceloom's results for the traces of lttng.sh with the program's events: lttng_check.py BINARY FOLDER ROUNDS"""
import json
import os
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

WORDS = ["alpha", "beta\n\"two\"", "grüß", "delta four"]
LEVELS = {0: ["none"], 1: ["one"], 2: ["few"], 3: ["few", "three"], 4: ["few"], 5: [], 6: []}


def run(binary, *arguments):
    done = subprocess.run([binary] + list(arguments), capture_output=True, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def wrap(n, bits, signed):
    n %= 1 << bits
    return n - (1 << bits) if signed and n >> (bits - 1) else n


def text_of(data):
    """Text up to a NUL; a cut character is shown byte by byte."""
    data = data.split(b"\0")[0]
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def events_of(i):
    """The three events of a round, in order."""
    yield "shop:tick", {"number": i}
    n = i * 1000003 - 500000000
    yield "shop:numbers", {
        "i8": wrap(n, 8, True), "u8": wrap(n, 8, False), "i16": wrap(n, 16, True), "u16": wrap(n, 16, False),
        "i32": wrap(n, 32, True), "u32": wrap(n, 32, False), "i64": n, "u64": wrap(n, 64, False), "hex": wrap(n, 64, False),
        "port": struct.unpack(">H", struct.pack("=H", n % 65536))[0], "half": struct.unpack("<f", struct.pack("<f", n / 2))[0], "quarter": n / 4}
    word, length, level = WORDS[i % 4].encode("utf-8"), 1 + i % 4, i % 7
    numbers = [wrap(i, 16, True), -1, wrap(7 * i, 16, True), 300, 5]
    yield "shop:texts", {
        "string": WORDS[i % 4], "fixed": text_of(word[:4]), "_part_length": length, "part": text_of(word[:length]),
        "array": numbers[:3], "bytes": [i % 256, i // 256], "_sequence_length": length, "sequence": numbers[:length],
        "level": {"value": level, "labels": LEVELS[level]}}


def same(got, expected):
    if expected is None:                                                # text with a cut character: not here
        return isinstance(got, str)
    if isinstance(expected, float):
        return abs(got - expected) <= abs(expected) * 1e-7
    if isinstance(expected, dict):
        if "labels" in expected and isinstance(got, dict):
            got = dict(got, labels=sorted(got.get("labels", [])))
        return isinstance(got, dict) and set(got) == set(expected) and all(same(got[k], expected[k]) for k in expected)
    return got == expected


def check_plain(checks, binary, folder, rounds):
    path = os.path.join(folder, "plain")
    with open(os.path.join(folder, "plain.pid"), encoding="ascii") as file:
        pid = int(file.read())
    status, out, err = run(binary, "info", "--json", path)
    info = json.loads(out)
    checks.equal(status, 0, "info: status", err)
    checks.equal(info["events"], 3 * rounds, "events")
    checks.equal({c["name"]: c["events"] for c in info["classes"] if c["events"]},
                 dict.fromkeys(("shop:tick", "shop:numbers", "shop:texts"), rounds), "classes")
    checks.equal(info["lost"], {"events": 0, "packets": 0}, "lost")
    status, out, err = run(binary, "check", "--json", path)
    checks.that(status == 0 and json.loads(out)["ok"], "check:", status, out, err)
    status, out, err = run(binary, "convert", path, "--to", "jsonl", "-o", "-")
    lines = [json.loads(line) for line in out.splitlines()]
    expected = [one for i in range(rounds) for one in events_of(i)]
    checks.equal(len(lines), len(expected), "lines", err)
    for line, (name, fields) in zip(lines, expected):
        if not checks.that(line["class"] == name and same(line["fields"], fields), "got", line, "expected", name, fields):
            break
        context = line.get("context", {})
        checks.that(context.get("vpid") == pid == context.get("vtid") and context.get("procname") == "app", "context of", line)


def check_limited(checks, binary, folder, rounds):
    """Files of one stream are one track: the last rounds, in order, whatever the numbers of the files."""
    path = os.path.join(folder, "limited")
    files = [name for _, _, names in os.walk(path) for name in names if name.startswith("channel_") and not name.endswith(".idx")]
    stems = [name.rsplit("_", 1)[0] for name in files]
    wanted = {stem if stems.count(stem) > 1 else name for stem, name in zip(stems, files)}
    checks.that(len(files) > len(wanted), "the tracer did not begin new files:", files)
    _, out, err = run(binary, "info", "--json", path)
    info = json.loads(out)
    checks.equal(sorted(track["name"].rsplit("/", 1)[1] for track in info["tracks"]), sorted(wanted), "tracks of limited files", err)
    checks.equal(info["lost"], {"events": 0, "packets": 0}, "limited: lost")
    _, out, err = run(binary, "convert", path, "--to", "jsonl", "-o", "-")
    lines = [json.loads(line) for line in out.splitlines()]
    expected = [one for i in range(rounds) for one in events_of(i)][-len(lines):]
    if sum(track["events"] > 0 for track in info["tracks"]) == 1:      # otherwise each processor has overwritten its own
        checks.that(0 < len(lines) < 3 * rounds, "limited:", len(lines), "events")
        for line, (name, fields) in zip(lines, expected):
            if not checks.that(line["class"] == name and same(line["fields"], fields), "got", line, "expected", name, fields):
                break


def check_calls(checks, binary, folder, rounds):
    path = os.path.join(folder, "calls")
    if not os.path.isdir(path):
        print("not compared: liblttng-ust-cyg-profile is not installed")
        return
    _, out, _ = run(binary, "info", "--json", path)
    classes = json.loads(out)["classes"]
    for kind, suffix in (("enter", ":func_entry"), ("exit", ":func_exit")):
        found = [c for c in classes if c["name"].endswith(suffix)]
        checks.equal([(c["kind"], c["events"]) for c in found], [(kind, 3 * rounds)], "calls: classes", found)
    checks.that(any(c["name"].startswith("lttng_ust_statedump:") and c["kind"] == "instant" for c in classes), "no statedump:", classes)
    status, out, err = run(binary, "report", "--json", "--by", "func", path)
    if checks.equal(status, 0, "report: status", err):
        calls = sorted(f["calls"] for f in json.loads(out)["functions"] if f["calls"])
        checks.equal(calls, [rounds, 2 * rounds], "calls of outer and inner")


def check_shared(checks, binary, folder, rounds):
    """Calls of two processes that share buffers are matched by thread, and named from the binary named in the trace."""
    path = os.path.join(folder, "shared")
    if not os.path.isdir(path):
        return
    status, out, err = run(binary, "report", "--json", "--by", "func", path)
    if checks.equal(status, 0, "report: status", err):
        result = json.loads(out)
        calls = {f["name"]: f["calls"] for f in result["functions"] if f["calls"]}
        checks.equal(calls, {"outer": 2 * rounds, "inner": 4 * rounds}, "calls of both processes")
        checks.equal(result["unmatched"], {"exits": 0, "open": 0}, "all calls are matched")
    status, out, err = run(binary, "report", "--json", "--by", "thread", path)
    if checks.equal(status, 0, "report --by thread: status", err):
        threads = [t for t in json.loads(out)["threads"] if t["calls"]]
        checks.equal([t["calls"] for t in threads], [3 * rounds, 3 * rounds], "calls of each thread")


def check_text(checks, binary, path):
    theirs = subprocess.run(["babeltrace2", "--clock-gmt", path], capture_output=True, check=True,
                            env=dict(os.environ, TZ="UTC")).stdout.decode("utf-8", "replace").splitlines()
    _, ours, err = run(binary, "convert", path, "--to", "text", "--text-style=babeltrace", "-o", "-")
    ours = ours.splitlines()
    checks.equal(len(ours), len(theirs), "text: lines", err)
    for a, b in zip(ours, theirs):
        if not checks.equal(a, b, "text"):
            break


def main():
    binary, folder, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    checks = harness.Checks()
    check_plain(checks, binary, folder, rounds)
    check_limited(checks, binary, folder, rounds)
    check_calls(checks, binary, folder, rounds)
    check_shared(checks, binary, folder, rounds)
    if shutil.which("babeltrace2"):
        for name in ("plain", "limited", "calls"):
            if os.path.isdir(os.path.join(folder, name)):
                check_text(checks, binary, os.path.join(folder, name))
    else:
        print("text not compared: babeltrace2 is not installed")
    checks.end()


if __name__ == "__main__":
    main()
