#!/usr/bin/env python3
"""Which tables can be made from which trace: table_fits.py [FOLDER OF EXAMPLES]

Every table is asked of every kind of trace, as the command shows it and as a library user gets it. A trace that cannot
have what a table is made of ends with status 1, nothing on standard output, and the tables that it has; one that only
happens to have none of it is a table without rows, and status 0."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

# The tables of each trace, by hand: + rows, 0 no rows, - not for such a trace.
KINDS = ("calls", "sums", "merged", "events", "samples", "sampled", "entries", "header", "insns", "empty", "threads")
EXPECTED = """
func      + + + - + + + 0 + 0 -
name      + + + - + + + 0 + 0 -
tree      + + + - + + + 0 + 0 -
callers   + + + - + + + 0 + 0 -
callees   + + + - + + + 0 + 0 -
hist      + - + - - - + - + 0 -
thread    + + - - + - + 0 + 0 -
line      - - - - + + - 0 - - -
module    + + + - + + + 0 + 0 -
class     + - - + + - + + + 0 +
state     - - - - - - - - - - +
trace     + + + + + + + + + + +
track     + 0 0 + + 0 + + + 0 +
damage    0 0 0 0 0 0 0 0 0 0 0
loss      0 0 0 + 0 0 + 0 0 0 0
property  0 0 0 + 0 0 0 0 0 0 0
gc        - - - - + - 0 0 - - -
jit       - - - - + - + 0 - - -
alloc     - - - - + - + 0 - - -
heap      - - - - + - 0 0 - - -
cpu       - - - - + - + 0 - - -
domain    - - - - + - + 0 - - -
assembly  - - - - + - + 0 - - -
netmodule - - - - + - + 0 - - -
type      - - - - + - + 0 - - -
mix       - - - - - - - - + - -
block     - - - - - - - - + - -
branch    - - - - - - - - + - -
page      - - - - - - - - + - -
reuse     - - - - - - - - + - -
cache     - - - - - - - - + - -
syscall   - - - - - - - - + - -
"""
CELLS = {line.split()[0]: dict(zip(KINDS, line.split()[1:])) for line in EXPECTED.strip().split("\n")}
ANY = ("trace", "track", "damage", "loss", "property") # of any trace: not worth a word
INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
HAS = {"calls": "trace has calls", "sums": "profile has sums of calls", "merged": "profile has calls of all threads together",
       "events": "trace has events of other kinds", "samples": "trace has samples and a managed runtime",
       "sampled": "profile has samples of all threads together", "entries": " and a managed runtime",
       "header": "trace has samples and a managed runtime", "insns": "trace has instructions", "empty": "trace has calls",
       "threads": "trace has switches of threads"}


def inputs(folder):
    made = {name: os.path.join(folder, name) for name in ("merged.tlp", "sampled.tlp", "header.log", "empty.xray")}
    out = {"calls": "fdr-v5-le-plain.xray", "sums": "profile-le.xray", "merged": made["merged.tlp"], "events": "ctf-18",
           "samples": "tracelog-doc.log", "sampled": made["sampled.tlp"], "entries": "tracelog-calls.log",
           "header": made["header.log"], "insns": "xtrace-user", "empty": made["empty.xray"], "threads": "ctf-sched"}
    out = {kind: os.path.join(INPUT, path) for kind, path in out.items()}
    for source, target in (("calls", "merged"), ("samples", "sampled")):
        assert harness.run("report", out[source], "-o", out[target]).status == 0
    with open(out["samples"], "rb") as log, open(out["header"], "wb") as header:
        header.writelines(line for line in log if line.startswith(b"prf "))
    with open(os.path.join(INPUT, "basic-v3-le.xray"), "rb") as log, open(out["empty"], "wb") as header:
        header.write(log.read(32))
    return out


def tables_of(kind):
    return [by for by, cell in CELLS.items() if cell[kind] != "-" and by not in ANY]


def check_unfit(checks, result, by, kind):
    says = result.err.decode()
    unread = kind == "entries" and " has samples and " in says # only reading all of a log tells that its samples are calls
    tables = tables_of("samples" if unread else kind)
    what = (by, kind, result)
    checks.that(result.status == 1 and result.out == b"", "status 1, and nothing", *what)
    checks.that(says.count("\n") == 1 and "--by %s needs " % by in says and HAS[kind] in says, "what there is", *what)
    listed = says.rstrip("\n").rsplit("its tables: ", 1)[-1].split(", ")
    checks.equal(sorted(listed), sorted(tables), "tables", *what)


def check_library(checks, example, path, by, cell, message):
    done = subprocess.run([example, by, path], capture_output=True, env=dict(os.environ, LC_ALL="C"), check=False)
    if cell == "-":
        checks.that(done.returncode == 1 and done.stderr.decode() == "table: " + message, "library", by, path, done)
    else:
        rows = re.search(r"^(?!facts)\S+: (\d+) rows, times in ", done.stdout.decode(), re.M).group(1) # of the first relation
        checks.that(done.returncode == 0 and (rows == "0") == (cell == "0"), "library", by, path, done)


def main():
    checks = harness.Checks()
    words = re.findall(r"^## (\w+)$", harness.run("help", "--tables", "markdown").text(), re.M)
    checks.equal(list(dict.fromkeys(words)), list(CELLS), "all tables")
    example = os.path.join(sys.argv[1], "table") if len(sys.argv) > 1 else None
    with harness.work_folder() as folder:
        paths = inputs(folder)
        for kind in KINDS:
            for by in words:
                cell, message = CELLS[by][kind], ""
                result = harness.run("report", paths[kind], "--by", by, env={"LC_ALL": "C", "TRACELOOM_LLVM": "off"})
                if cell == "-":
                    check_unfit(checks, result, by, kind)
                    message = result.err.decode().split(": --by ", 1)[-1]
                    programs = harness.run("report", paths[kind], "--by", by, "--json")
                    checks.that(programs.status == 1 and programs.out == b"", "json", by, kind, programs)
                else:
                    says_none = b", no " in result.out or b"\nno " in result.out
                    checks.that(result.status == 0 and result.out and says_none == (cell == "0"), by, kind, cell, result)
                if example:
                    check_library(checks, example, paths[kind], by, cell, message)
        # Of several inputs, those that have it.
        some = harness.run("report", paths["calls"], paths["samples"], paths["header"], "--by", "gc")
        checks.that(some.status == 0 and b"2 files" in some.out and some.err.count(b"--by gc needs") == 1, "several", some)
        none = harness.run("report", paths["calls"], paths["events"], "--by", "gc")
        checks.that(none.status == 1 and none.out == b"" and none.err.count(b"--by gc needs") == 2, "none of several", none)
        # Classes of events, and none of them.
        bare = os.path.join(folder, "bare")
        shutil.copytree(paths["events"], bare)
        for name in ("data_0", "data_1"):
            os.truncate(os.path.join(bare, name), 0)
        said = harness.run("report", bare, "--by", "func")
        checks.that(said.status == 1 and b"this trace has no events; its tables: class" in said.err, "no events", said)
    checks.end()


if __name__ == "__main__":
    main()
