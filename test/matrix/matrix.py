#!/usr/bin/env python3
"""Any input to any output: matrix.py KIND    every conversion and every report of one kind of input (matrix_inputs.py)
                            matrix.py corpus  the same of small files of other projects, those of TL_SHARED

The program itself lists its formats and tables, so that none can be forgotten. A conversion either succeeds: then the
output is valid and holds every event, except those reported as not written. Or it is refused: in one line with the
reason, with status 2, and without an output.

The results of all cells go to TL_WORK/matrix/KIND.json, from which conversions.py makes the page of the documents."""
import glob
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import matrix_count
import matrix_inputs
import matrix_losses
import matrix_outputs


NOTHING = re.compile(rb"^traceloom: no .* in this trace;|, no [a-z ]+$", re.M) # an empty table is an answer, too


def formats():
    """name -> (whether events can be written, whether profiles can)"""
    out = {}
    for line in harness.run("help", "formats").text().splitlines()[1:]:
        name, events, profiles = re.match(r"(\S+) +((?:read, )?write|read|-) +((?:read, )?write|read|-) ", line).groups()
        out[name] = ("write" in events, "write" in profiles)
    return out


def tables():
    """The values of --by, from shell completion."""
    script = harness.run("help", "--completion", "bash").text()
    return re.search(r'--by\)\s+COMPREPLY=\(\$\(compgen -W "([^"]+)"', script).group(1).split()


class Cells:
    """Everything made from one input."""

    def __init__(self, checks, path, options, folder):
        self.checks, self.path, self.options, self.folder = checks, path, options, folder
        self.results = []
        self.info = harness.run("info", "--json", path).json()
        none = {"nodes": [], "unit": "ns", "threads": []} # of a trace without calls and samples, or a profile without threads
        tree, trees, threads = (harness.run("report", "-q", "--json", "--by", *by, path, *options)
                                for by in (("tree",), ("tree", "--per-thread"), ("thread",)))
        tree, trees, threads = (none if result.status == 1 else result.json() for result in (tree, trees, threads))
        self.reference = matrix_count.Reference(tree, len(trees["nodes"]), len(threads["threads"]))

    def say(self, verb, to, result, found=None, losses=None):
        reason = result.err.decode().splitlines()[-1].partition(": ")[2] if result.status else None
        self.results.append({"verb": verb, "to": to, "status": result.status, "reason": reason, "nothing": bool(NOTHING.search(result.err + result.out)),
                             "lost": sorted(losses.classes) if losses else [], "lines": losses.lines if losses else {},
                             "found": {key: value for key, value in (found or {}).items() if value}})

    def refused(self, what, result, out, status=2):
        self.checks.that(result.status == status, self.path, what, "is refused with another status", result)
        lines = [line for line in result.err.decode().splitlines() if not re.search(r": lost [0-9,]+ (event|packet)", line)]
        self.checks.that(len(lines) == 1 and len(lines[0]) > 30, self.path, what, "is refused without one line of reason", result)
        self.checks.that(not result.out and not os.path.lexists(out), self.path, what, "is refused, but there is output", result)

    def cell(self, verb, to, compare):
        out, what = os.path.join(self.folder, "out." + to), verb + " to " + to
        result = harness.run(verb, self.path, *self.options, "--to", to, "-o", out)
        if result.status == 2:
            self.refused(what, result, out)
            self.say(verb, to, result)
            return
        losses = matrix_losses.Losses(result.err.decode(), {c["name"] for c in self.info["classes"]})
        self.checks.equal(result.status, 0, self.path, what, result)
        self.checks.equal(losses.unknown, [], self.path, what, "says lines that matrix_losses.py does not know")
        try:
            found = matrix_outputs.READERS[to](out)
            empty = not any(found.values()) and to not in ("none", "tlp", "tracelog")      # these may contain only names
            self.checks.that(not empty, self.path, what, "holds nothing, and is not an answer", result)
            for name, got, expected in compare(to, found, losses):
                self.checks.equal(got, expected, self.path, what, name, result)
        except Exception as error:              # any reason why a file is unreadable
            self.checks.that(False, self.path, what, "is not valid output: %r" % error, result)
            found = {}
        self.say(verb, to, result, found, losses)
        left = [name for name in os.listdir(self.folder) if name != os.path.basename(out)]
        self.checks.equal(left, [], self.path, what, "leaves other files")
        shutil.rmtree(out) if os.path.isdir(out) else os.unlink(out)

    def events(self, to):
        def compare(name, found, losses):
            if not self.info.get("profile"):
                return matrix_count.EVENTS.get(name, matrix_count.items)(found, self.info, losses)
            return matrix_count.profile(name, found, self.reference, losses)
        self.cell("convert", to, compare)

    def profiles(self, to):
        def compare(name, found, losses):
            yield from matrix_count.profile(name, found, self.reference, losses)
            if name == "tlp":
                copy = harness.run("report", "-q", "--json", "--by", "tree", os.path.join(self.folder, "out.tlp")).json()
                yield "the report", copy["nodes"], self.reference.nodes
        self.cell("report", to, compare)

    def table(self, by, as_text):
        result = harness.run("report", "--json", "--by", by, self.path, *self.options)
        text = harness.run("report", "--by", by, self.path, *self.options) if as_text else result
        self.checks.equal(text.status, result.status, self.path, by, "text and JSON do not agree", text)
        if result.status:
            self.refused("report by " + by, result, os.devnull + "/x", 1)
        elif self.checks.equal(result.status, 0, self.path, by, result):
            self.checks.that(text.out, self.path, by, "no text", text)
            self.sums(by, result.json())
        self.say("by", by, text)

    def sums(self, by, table):
        """All tables of a profile agree on the totals."""
        self.checks.equal(table["schema"], 1, self.path, by)
        members = {"func": "functions", "tree": "nodes", "thread": "threads", "module": "modules", "callers": "edges"}
        rows = table.get(members.get(by), [])
        if not rows or "calls" not in rows[0]:
            return
        key = "pairs" if by == "callers" else "self"
        whole = getattr(self.reference, key)
        self.checks.equal(matrix_count.near(sum(row["calls" if key == "pairs" else key] for row in rows), whole, len(self.reference.nodes)), whole, self.path, by)


def fill(checks, path, options, folder, as_text=True):
    """All cells of an input. `as_text`: tables also as text for people, not only as JSON."""
    cells = Cells(checks, path, options, folder)
    for name, (events, profiles) in formats().items():
        checks.that(name in matrix_outputs.READERS or not (events or profiles), name, "is a format without a reader in matrix_outputs.py")
        if events:
            cells.events(name)
        if profiles:
            cells.profiles(name)
    for by in tables():
        cells.table(by, as_text or harness.THOROUGH)
    return cells.results


def results_folder():
    path = os.path.join(os.environ.get("TL_WORK") or "/tmp", "matrix")
    os.makedirs(path, exist_ok=True)
    return path


def kind(checks, name):
    with harness.work_folder() as folder:
        inputs, outputs = os.path.join(folder, "in"), os.path.join(folder, "out")
        os.makedirs(inputs)
        os.makedirs(outputs)
        try:
            made = list(matrix_inputs.KINDS[name].make(inputs))
            results = [fill(checks, path, options, outputs, number == 0) for number, (path, options) in enumerate(made)]
        except LookupError as missing:
            harness.skip(str(missing))
    with open(os.path.join(results_folder(), name + ".json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)


# From each line the smallest one that is neither empty nor damaged.
CORPUS = ("xray/recorded/fdr-17blocks*.xray", "xray/recorded/fib-basic-small-14.xray", "xray/generated/fdr-v5*.xray", "xray/*/*profil*.xray",
          "ctf/lttng/*", "ctf/bt2/ctf-1/succeed/*", "ctf/bt2/ctf-2/succeed/*", "ctf/actf/ev_rec_hdr", "ctf/barectf-cases/*/*",
          "ctf/generated/*", "tracelog/recorded/*.log", "tracelog/generated/crlf.log", "xtrace/generated/every-token",
          "xtrace/generated/kernel", "xtrace/generated/threads")
SMALL = 256 << 10


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(inside, name)) for inside, _, names in os.walk(path) for name in names)


def corpus(checks):
    root, done = harness.shared("corpus"), 0
    with harness.work_folder() as folder:
        lines = harness.some_of("corpus", CORPUS, 4)
        for line in lines:
            for path in sorted(glob.glob(os.path.join(root, line)), key=size_of):
                if size_of(path) > SMALL:
                    break
                info = harness.run("info", "-q", "--json", path)
                if info.status == 0 and (info.json()["events"] or info.json().get("profile", {}).get("calls")) and \
                        harness.run("check", "-q", path).status == 0:
                    fill(checks, path, [], folder, False)
                    done += 1
                    break
    checks.that(done >= len(lines) * 2 // 3, "only", done, "files of the corpus were converted")


def main():
    checks = harness.Checks()
    if sys.argv[1] == "corpus":
        corpus(checks)
    else:
        kind(checks, sys.argv[1])
    checks.end()


if __name__ == "__main__":
    main()
