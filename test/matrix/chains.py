#!/usr/bin/env python3
"""Through another format: a trace converted twice gives the same answers as one converted once.

Every kind of input, every format that is both read and written as the first, and each of these again as the second. If the
first keeps all calls, the result of the second must have the events and the report of the direct conversion, and must be
refused if that is refused. The first one's form of calls, samples and instructions decides which second ones there are."""
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import harness
import matrix_inputs
import matrix_losses

# These turn a trace of such a kind into plain events, without stacks and instructions to report.
PLAIN = {("tracelog", "ctf"), ("xtrace", "ctf")}


def readable():
    """Formats of events that are both read and written, and those of profiles."""
    lines = [re.match(r"(\S+) +(read, write|read|write|-) +(read, write|read|write|-) ", line)
             for line in harness.run("help", "formats").text().splitlines()[1:]]
    return tuple([m.group(1) for m in lines if m.group(column) == "read, write"] for column in (2, 3))


def step(checks, verb, path, to, out, *options):
    """(the path, or None if it is refused; the losses)"""
    names = {c["name"] for c in harness.run("info", "-q", "--json", path).json()["classes"]}
    result = harness.run(verb, path, *options, "--to", to, "-o", out)
    checks.that(result.status in (0, 2) and b"Sanitizer" not in result.err, path, "to", to, result)
    return (out if result.status == 0 else None), matrix_losses.Losses(result.err.decode(), names)


def remove(*paths):
    for path in paths:
        if path:
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def answers(path, lost):
    """Events by class, including those reported as lost on the way, and the rows of functions without names and places,
    which not every format holds. For .NET logs only the samples: their lines about functions and modules are names."""
    info = harness.run("info", "-q", "--json", path).json()
    table = harness.run("report", "-q", "--json", "--by", "func", path)
    rows = [] if table.status == 1 and b"needs calls or samples" in table.err else table.json()["functions"]
    keep = ("id", "calls", "total", "self", "min", "p50", "p99", "max")
    events = {c["name"]: c["events"] for c in info["classes"] if c["events"]}
    events.update({name: n + events.get(name, 0) for name, n in lost.classes.items()})
    if info["format"] == "tracelog":
        events = {"sam.str": events["sam.str"]}
    return {"events": events,
            "functions": sorted(json.dumps([row[key] for key in keep]) for row in rows)}


def chain(checks, name, path, first, seconds, folder):
    middle, lost = step(checks, "convert", path, first, os.path.join(folder, "middle." + first))
    if not middle:
        return 0
    compared, source = 0, harness.run("info", "-q", "--json", path).json()["format"]
    for second in seconds:
        what = "%s to %s to %s" % (name, first, second)
        direct, once = step(checks, "convert", path, second, os.path.join(folder, "direct." + second))
        twice, again = step(checks, "convert", middle, second, os.path.join(folder, "twice." + second))
        if (source, first) in PLAIN and second != first:
            checks.that(twice is None, what, "has more than events")
        elif first != "tracelog" or source == first:                 # which makes samples of calls
            whole = not lost.sum[matrix_losses.LOST] and not re.search("basic", first)
            if whole and checks.equal(bool(twice), bool(direct), what, "is refused, or is not") and twice:
                checks.equal(answers(twice, again), answers(direct, once), what)
                compared += 1
            elif twice and direct and not lost.lines.keys() & {"function events with ids over 28 bits", "function events with ids over 32 bits"}:
                checks.equal(answers(twice, again)["functions"], answers(direct, once)["functions"], what)
                compared += 1
        remove(direct, twice)
    remove(middle)
    return compared


def profile_chain(checks, name, path, formats, folder):
    """Calls and self times of each stack of functions by number."""
    def rows(of):
        nodes = harness.run("report", "-q", "--json", "--by", "func", of).json()["functions"]
        return sorted((str(row["id"]), row["calls"]) for row in nodes)
    compared = 0
    for first in formats:
        middle, _ = step(checks, "report", path, first, os.path.join(folder, "middle." + first))
        for second in formats if middle else ():
            twice, _ = step(checks, "report", middle, second, os.path.join(folder, "twice." + second))
            if twice:
                checks.equal(rows(twice), rows(path), name, "to", first, "to", second)
                compared += 1
            remove(twice)
        remove(middle)
    return compared


def main():
    checks, compared, skipped = harness.Checks(), 0, []
    events, profiles = readable()
    for name, kind in matrix_inputs.KINDS.items():
        with harness.work_folder() as folder:
            inputs = os.path.join(folder, "in")
            os.makedirs(inputs)
            try:
                path = next(iter(kind.make(inputs)))[0]
            except LookupError:
                skipped.append(name)
                continue
            if harness.run("info", "-q", "--json", path).json().get("profile"):
                compared += profile_chain(checks, name, path, profiles, folder)
            else:
                compared += sum(chain(checks, name, path, first, events, folder) for first in harness.some_of(name, events, 3))
    print("%d chains%s" % (compared, "; not made here: " + " ".join(skipped) if skipped else ""))
    checks.that(compared > (40 if harness.THOROUGH else 20), "only", compared, "chains were compared")
    checks.end()


if __name__ == "__main__":
    main()
