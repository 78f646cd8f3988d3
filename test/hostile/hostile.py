#!/usr/bin/env python3
"""Every single-byte change and every truncation of small traces, through info, check, report and convert:

    hostile.py DRIVER GROUP [--everything] [--changes N] [--memory] [--only NAME]

GROUP is a kind of trace: xray, recording, ctf, tracelog, xtrace, profile. Traces are those of test/golden/input; with
--everything also those of the generators and of TL_SHARED. --changes N takes about that many, evenly spread; without it,
all changes. --memory is for a driver without sanitizers: compares peak memory with the promise. hostile_driver.c makes
the changes, and lists what must hold; each file of a folder is changed."""
import argparse
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

SMALL, FRONT, BACK, KINDS = 4096, 2048, 512, 6                       # as in hostile_driver.c
INDEX_PLACES, LARGEST = 40, 4 << 20
GOLDEN = {"xray": ["basic-", "fdr-", "damaged-basic", "damaged-fdr"], "recording": ["rec-", "damaged-rec"], "ctf": ["ctf-"],
          "tracelog": ["tracelog-"], "xtrace": ["xtrace-"], "profile": ["profile-", "live-", "damaged-profile", "damaged-live"]}
GENERATORS = {"xray": [["xray_gen.py", "--out"]], "recording": [["recording_gen.py", "--out"]], "ctf": [["ctf_gen.py", "--out"]],
              "tracelog": [["tracelog_gen.py", "--out"]], "xtrace": [["xtrace_gen.py", "--suite"]], "profile": [["live_gen.py", "--out"]]}
SHARED = {"xray": "xray", "ctf": "ctf", "tracelog": "tracelog", "xtrace": "xtrace"}
NO_TRACE = re.compile(r"\.(json|jsonl|md|txt|py|elf|sh|c|expect)$|README|LICEN|\.ok$|\.fail$")


def is_folder_trace(path):
    names = os.listdir(path)
    return "metadata" in names or any(n.endswith((".xinsndata.bin", ".xsnapshot.bin")) for n in names)


def traces_below(root):
    """Files and folders that are traces, without their expected answers."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        if is_folder_trace(folder):
            folders.clear()
            yield folder
            continue
        yield from (os.path.join(folder, name) for name in sorted(files) if not NO_TRACE.search(name))


def traces(group, everything, work):
    root = os.path.join(harness.SOURCE, "test", "golden", "input")
    for name in sorted(os.listdir(root)):
        if name.startswith(tuple(GOLDEN[group])) and not name.endswith(".elf"):
            yield from traces_below(os.path.join(root, name)) if os.path.isdir(os.path.join(root, name)) else [os.path.join(root, name)]
    if not everything:
        return
    for generator in GENERATORS[group]:
        out = os.path.join(work, "generated")
        os.makedirs(out, exist_ok=True)
        script = os.path.join(harness.SOURCE, "test", "generate", generator[0])
        subprocess.run([sys.executable, "-B", script] + generator[1:] + [out], check=True, cwd=os.path.dirname(script))
        yield from traces_below(out)
    if os.environ.get("TL_SHARED") and group in SHARED:
        yield from traces_below(harness.shared("corpus", SHARED[group]))


def index_places(data):
    """The headers in a larger file: packets of CTF, buffers of FDR, otherwise the begins of pages."""
    begins = [m.start() for m in re.finditer(b"\xc1\x1f\xfc\xc1|\xc1\xfc\x1f\xc1", data)]
    if not begins and data[:2] in (b"\1\0", b"\2\0", b"\3\0", b"\4\0", b"\5\0") and data[2:4] == b"\1\0":
        size = struct.unpack_from("<Q", data, 16)[0]
        begins = range(32, len(data), max(size, 64)) if size else []
    return list(begins or range(4096, len(data), 4096))[:INDEX_PLACES]


class Victim:
    """A file of a trace, to be changed."""

    def __init__(self, trace, file):
        self.trace, self.file = trace, file                         # file: relative to the folder of the trace
        with open(file if os.path.isabs(file) else os.path.join(os.path.dirname(trace), file), "rb") as f:
            data = f.read()
        self.ranges = [] if len(data) <= SMALL else [(at, at + 64) for at in index_places(data)]
        places = len(data) if len(data) <= SMALL else FRONT + BACK + sum(b - a for a, b in self.ranges)
        self.changes = places * KINDS


def victims(trace):
    folder = os.path.dirname(trace)
    if not os.path.isdir(trace):
        return [Victim(trace, os.path.basename(trace))]
    files = [os.path.join(root, name) for root, _, names in os.walk(trace) for name in names]
    return [Victim(trace, os.path.relpath(name, folder)) for name in sorted(files)]


def is_fit(trace):
    files = [trace] if not os.path.isdir(trace) else [os.path.join(r, n) for r, _, names in os.walk(trace) for n in names]
    return files and all(os.path.getsize(name) <= LARGEST for name in files)


def run_driver(a, victim, every, start, work):
    """Runs the driver on a copy of the trace. Returns the numbers of its last line, and its output."""
    folder = os.path.join(work, "copy")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    name = os.path.basename(victim.trace)
    if os.path.isdir(victim.trace):
        shutil.copytree(victim.trace, os.path.join(folder, name))
    else:
        shutil.copy(victim.trace, folder)
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    command = [a.driver, "--every", str(every), "--from", str(start), "--keep", work]
    command += ["--memory"] if a.memory else []
    command += ["--places", ",".join("%d-%d" % r for r in victim.ranges)] if victim.ranges else []
    done = subprocess.run(command + [name, victim.file], cwd=folder, capture_output=True, text=True, errors="replace")
    numbers = [int(n) for n in re.findall(r"(\d+) (?:changes|runs|failed|us|KiB)", done.stdout.splitlines()[-1] if done.stdout else "")]
    return (numbers if len(numbers) == 5 and done.returncode in (0, 1) else None), done.stdout + done.stderr


def main():
    p = argparse.ArgumentParser()
    p.add_argument("driver")
    p.add_argument("group", choices=GOLDEN)
    p.add_argument("--changes", type=int, default=0)
    p.add_argument("--everything", action="store_true")
    p.add_argument("--memory", action="store_true")
    p.add_argument("--only", default="")
    a = p.parse_args()
    a.driver = os.path.abspath(a.driver)
    checks = harness.Checks()
    work = os.path.join(os.environ.get("TL_WORK", "/tmp"), "hostile-" + a.group)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    chosen = [t for t in traces(a.group, a.everything, work) if a.only in t and is_fit(t)]
    all_victims = [v for trace in chosen for v in victims(trace)]
    total = sum(v.changes for v in all_victims)
    # Odd, and not a multiple of 3: so each value, and cuts, take turns at the remaining places.
    every = max(1, total // a.changes) if a.changes else 1
    while every > 1 and (every % 2 == 0 or every % 3 == 0):
        every += 1
    runs, slowest, most = 0, 0, 0
    for i, victim in enumerate(all_victims):
        numbers, text = run_driver(a, victim, every, i % every, work)
        if checks.that(numbers is not None, victim.file, "the driver failed:", text[-1000:]):
            checks.that(numbers[2] == 0, victim.trace, victim.file, text)
            runs, slowest, most = runs + numbers[1], max(slowest, numbers[3]), max(most, numbers[4])
    print("%d traces, %d files, %d changes, one of %d; %d runs, the slowest %.3f s, at most %d MiB" %
          (len(chosen), len(all_victims), total, every, runs, slowest / 1e6, most // 1024))
    checks.that(runs > 0, "nothing was run")
    if not checks.failed:
        shutil.rmtree(work)
    checks.end()


if __name__ == "__main__":
    main()
