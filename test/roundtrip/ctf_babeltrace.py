#!/usr/bin/env python3
"""babeltrace2 reads everything written as CTF 1.8: ctf_babeltrace.py golden|own|corpus

For any source: status 0, and as many lines of text as the source has events. Whatever 2.0.4 refuses is written in
another way, or reported as not written."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import ctf_gen
import tracelog_gen
import xray_gen

CHANGE = re.compile(rb"(?:sam str|str sam) (?:0x([0-9A-Fa-f]+)|\?) \S+ \S+ (\d+):\d+(?::\S+)?((?: \S+)*)\r?$")
SETTING = re.compile(rb"prf cfg (CollectionMethod|ExecutionTraceEnabled) \"?(\w+)")
# The size of our own table of functions and tracks.
TABLE = re.compile(rb"^(?:\[[^\n]*?\) )?traceloom\.(?:function|track): ", re.M)


def calls_instead(log):
    """How many more events a TraceLog of an instrumented program has if entries and exits replace the lines that change
    stacks. Counted in its text, without our reader."""
    settings, depth, more = {}, {}, 0
    for line in log.split(b"\n"):
        setting, change = SETTING.match(line), CHANGE.match(line)
        if setting:
            settings[setting[1]] = setting[2]
        if not change:
            continue
        thread, kept, entered = change[1] and int(change[1], 16), int(change[2]), len(change[3].split())
        if settings.get(b"CollectionMethod") == b"Instrumentation" and settings.get(b"ExecutionTraceEnabled") != b"F":
            more += entered + max(0, depth.get(thread, 0) - kept) - 1
        depth[thread] = kept + entered
    return more


def examine(path, out):
    """None if this is not a trace of events, otherwise the errors of the copy: "" for none."""
    done = harness.run("convert", "--to", "ctf", "--format-version", "1.8", "-o", out, path)
    if not os.path.isdir(out):
        return None if done.status in (2, 3) and b"Sanitizer" not in done.err else "is not written: %s" % done
    events = harness.run("info", "--json", path).json()["events"]
    if path.endswith(".log"):
        with open(path, "rb") as file:
            events += calls_instead(file.read())
    read = subprocess.run(["babeltrace2", "--clock-gmt", out], capture_output=True, timeout=300)
    lines = read.stdout.count(b"\n") - len(TABLE.findall(read.stdout))
    shutil.rmtree(out)
    if read.returncode == 0 and lines == events:
        return ""
    return "status %d, %d lines of %d events: %s" % (read.returncode, lines, events, read.stderr[:500].decode(errors="replace"))


def examine_all(checks, paths, folder, least):
    """Two at a time: babeltrace2 has no sanitizers, but is slow to start."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda p: examine(p[1], os.path.join(folder, "copy%d.ctf" % p[0])), enumerate(paths)))
    for path, wrong in zip(paths, found):
        if wrong is not None:
            checks.equal(wrong, "", path)
    checks.that(len(found) - found.count(None) >= least, "only", len(found) - found.count(None), "traces were tried")


def traces_below(root):
    """Folders with metadata or of an instruction trace, and files; the command recognizes their contents."""
    for folder, inside, files in sorted(os.walk(root)):
        if "metadata" in files or any(name.endswith(".xtrace") or ".hint" in name for name in files):
            yield folder
        else:
            yield from (os.path.join(folder, name) for name in sorted(files)
                        if re.search(r"\.(xray|log|live)$", name))


def golden(checks, folder):
    examine_all(checks, list(traces_below(os.path.join(harness.SOURCE, "test", "golden", "input"))), folder, 30)


def own(checks, folder):
    paths = []
    for name in ctf_gen.cases():
        ctf_gen.save(folder, name, ctf_gen.make(name)[0], None)
        paths.append(os.path.join(folder, name))
    for suffix, make, names in ((".xray", xray_gen.make, xray_gen.cases()), (".log", tracelog_gen.make, tracelog_gen.cases())):
        for name in names:
            paths.append(os.path.join(folder, name + suffix))
            with open(paths[-1], "wb") as file:
                file.write(make(name)[0])
    examine_all(checks, paths, folder, 150)


def corpus(checks, folder):
    root = harness.shared("corpus")
    paths = [path for part in ("ctf", "tracelog", "xray") for path in traces_below(os.path.join(root, part))
             if not path.startswith(os.path.join(root, "ctf", "results"))]
    paths += sorted(p for p in glob.glob(os.path.join(root, "xtrace", "*", "*")) if os.path.isdir(p))
    examine_all(checks, paths, folder, 450)


PARTS = {"golden": golden, "own": own, "corpus": corpus}


def main():
    if not shutil.which("babeltrace2"):
        harness.skip("no babeltrace2")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        PARTS[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
