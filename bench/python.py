#!/usr/bin/env python3
"""The module for Python beside the bindings of babeltrace2: all fields of all events of an LTTng trace, as columns of NumPy
and event by event; and tables read with and without SQL.

    python.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the trace if it is not there (record_lttng.sh). Times are from opening to the last value: those of Python's own start
are left out, of both."""
import json
import os
import subprocess
import sys

from bench_tools import BAR_HEAD, HERE, M, SKIP, TOP, Command, arguments, bar_line, finish, in_turns, introduction, recorded, table

PYTHON = "/usr/bin/python3"     # the one that has the bindings of babeltrace2
NAMES = {"bt2": "babeltrace2's bindings", "traceloom": "traceloom"}
MODES = {"columns": ("all fields as columns of NumPy", 40), "events": ("event by event, all fields", 3)}


class Reading(Command):
    """A script that says itself how long it took."""

    def __init__(self, reader, mode, trace):
        super().__init__("%s: %s" % (NAMES[reader], MODES[mode][0]), [PYTHON, "-B", os.path.join(HERE, "python_reads.py"), reader, mode, trace], once=reader == "bt2")
        self.answer = None

    def run(self, measure, *limits):
        done = subprocess.run(self.arguments, capture_output=True, text=True, check=False, env=measure)
        self.status = str(done.returncode)
        if done.returncode:
            sys.stderr.write(done.stderr)
            return
        said = json.loads(done.stdout)
        self.seconds.append(said["seconds"])
        self.cpu.append(said["cpu"])
        self.peak = max(self.peak, said["peak"] * 1024)
        self.count, self.answer = said["events"], said["answer"]


def same(ours, theirs):
    """The names of what is not the same; we have more columns."""
    return ["DIFFERENT: %s is %s, %s in %s" % (key, ours.answer.get(key), value, theirs.name) for key, value in (theirs.answer or {}).items()
            if ours.answer is None or ours.answer.get(key) != value]


def main():
    args = arguments(__doc__, "python", 5, "twice, and 100,000 events")
    library = os.path.join(os.path.dirname(os.path.abspath(args.traceloom)), "libtraceloom.so.0")
    if not os.path.exists(library) or subprocess.run([PYTHON, "-c", "import bt2, numpy"], capture_output=True, check=False).returncode:
        print("NOT MEASURED: %s, python3-bt2 or python3-numpy is missing" % library, file=sys.stderr)
        return SKIP
    folder = os.path.join(args.folder, "lttng-quick" if args.quick else "lttng")
    if not recorded("record_lttng.sh", folder, 50000 if args.quick else 500000):
        return SKIP
    trace = os.path.join(folder, "ctf18")
    env = dict(os.environ, PYTHONPATH=os.path.join(TOP, "python"), TRACELOOM_LIBRARY=library)
    rows = [Reading(reader, mode, trace) for mode in MODES for reader in NAMES]
    in_turns(rows, env, args.repeat, args.slow)
    size = sum(entry.stat().st_size for entry in os.scandir(trace) if entry.is_file())
    lines = introduction(args) + ["", "### Python: %.1f million events of an LTTng trace" % (rows[1].count / M), ""] + table(rows, size) + [""] + list(BAR_HEAD)
    wrong = []
    for mode, (_, least) in MODES.items():
        theirs, ours = (row for row in rows if row.arguments[-2] == mode)
        if not (theirs.seconds and ours.seconds):
            wrong.append("FAILED: " + mode)
            continue
        wrong += same(ours, theirs)
        ratio, slowest = theirs.best() / ours.best(), theirs.best() / max(ours.seconds)
        lines.append(bar_line("%s / %s" % (theirs.name, ours.name), "%.1f" % ratio, "%.1f" % (min(theirs.cpu) / min(ours.cpu)), ">= %d" % least, ratio >= least))
        lines.append(bar_line("the same, our slowest of %d" % len(ours.seconds), "%.1f" % slowest, "%.1f" % (min(theirs.cpu) / max(ours.cpu))))
    lines += [""] + (wrong[:20] or ["Both find the same events: their number by class, times, processors, and the sums of all fields that are whole numbers or text."])
    return finish(args, "python", lines, wrong)


if __name__ == "__main__":
    sys.exit(main())
