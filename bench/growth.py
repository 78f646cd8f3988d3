#!/usr/bin/env python3
"""How time and memory grow from 10 MB to 1 GB: traceloom, other tools, and hand-written code, of every format.

    growth.py [--folder DIR] [--repeat N] [--write] [--quick] [--format NAME]... [--sizes MB,MB,...] [--again]

Of each format and size all programs run in turns, N times, the best time counts (growth_formats.py says which programs).
Another program that takes more than a minute or 8 GB is stopped, and not run on larger files. --write keeps the figures in
bench/growth.json, and makes the tables in bench/results.md and the pictures in bench/plots of them; --again makes these
without measuring anything."""
import os
import sys

import bench_plot
import bench_results
import growth_tables
from bench_tools import Command, arguments, build, machine, may_write
from growth_formats import FORMATS
from growth_tables import LARGE, MOST_MB, MOST_SECONDS, TURNS_OF_LARGE

SIZES, QUICK_SIZES = (10, 30, 100, 300, 1000), (10, 30, 100)
PATIENCE = 5                            # seconds; what takes longer runs twice at most
# Ours get more time, so that the tables show where they are slow.
LIMITS, OUR_LIMITS = (["-s", str(seconds), "-m", str(MOST_MB)] for seconds in (MOST_SECONDS, 10 * MOST_SECONDS))


def ours(command):
    return os.path.basename(command.arguments[0]) == "traceloom"


def turns(commands, measure, repeat, patience):
    """In turns, as bench_tools.in_turns(), but slow or stopped programs run less often."""
    for turn in range(repeat):
        for command in commands:
            slow = command.seconds and command.best() > PATIENCE
            if command.status == "0" and not (slow and turn >= patience):
                command.run(measure, *(OUR_LIMITS if ours(command) else LIMITS))


class Measured:
    """What is known of a format so far."""

    def __init__(self, form, args):
        self.programs, self.stopped, self.verbs = {}, set(), {}
        self.data = {"about": form.about, "machine": machine(), "repeat": args.repeat, "sizes": [], "bytes": {}, "programs": [], "verbs": []}

    def measure(self, case, size, args, tool):
        """The programs of all questions together; a command that several questions share runs once."""
        commands = {}
        for question, rows in case.questions:
            for name, role, words in rows:
                key = tuple(words)
                if (question, name) not in self.stopped and key not in commands:
                    commands[key] = Command(name, words)
        repeat = min(args.repeat, TURNS_OF_LARGE) if size >= LARGE else args.repeat
        turns(list(commands.values()), tool, repeat, 1 if args.quick else 2)
        self.data["sizes"].append(size)
        self.data["bytes"][str(size)] = case.bytes
        for question, rows in case.questions:
            for name, role, words in rows:
                program = self.programs.setdefault((question, name), {"question": question, "name": name, "role": role, "runs": {}})
                command = commands.get(tuple(words))
                if command and (question, name) not in self.stopped:
                    program["runs"][str(size)] = {"seconds": command.best(), "cpu": min(command.cpu), "peak": command.peak, "status": command.status}
                    if command.status != "0":
                        self.stopped.add((question, name))
        self.data["programs"] = list(self.programs.values())

    def memory(self, case, size, tool):
        for name, words in case.verbs:
            command = Command(name, words)
            command.run(tool, *OUR_LIMITS)
            if command.ok():
                self.verbs.setdefault(name, {})[str(size)] = command.peak
            else:
                print("growth.py: %s, %d MB: %s" % (name, size, command.result()))
        self.data["verbs"] = [{"verb": name, "peaks": peaks} for name, peaks in self.verbs.items()]


def measure_format(form, sizes, args, tool):
    """The measurements, or None; and their problems."""
    measured, wrong = Measured(form, args), []
    for size in sizes:
        if not form.FOR_ALL_SIZES and size not in (sizes[0], sizes[-1]):
            continue
        case = form.prepare(size)
        if case is None:
            print("growth.py: %s: not measured: it cannot be recorded here" % form.name)
            return None, []
        if case.questions:
            measured.measure(case, size, args, tool)
        if size in (sizes[0], sizes[-1]):
            measured.memory(case, size, tool)
        if size == sizes[0] or not case.questions:
            wrong += case.check()
    return measured.data, wrong


def show(folder, everything):
    """The tables and pictures of all results."""
    for name, data in everything.items():
        if data.get("programs"):
            bench_results.write(folder, "growth-" + name, "\n".join(growth_tables.format_lines(name, data)))
            bench_plot.write(folder, name, data)
    bench_results.write(folder, "summary", "\n".join(growth_tables.summary_lines(everything)))
    bench_results.write(folder, "memory", "\n".join(growth_tables.memory_lines(everything)))


def main():
    args = arguments(__doc__, "growth", 5, "10, 30 and 100 MB, twice",
                     ("--format", {"action": "append", "choices": [form.name for form in FORMATS], "help": "only this one"}),
                     ("--sizes", {"help": "in MB, ascending, with commas"}), ("--again", {"action": "store_true", "help": "measure nothing"}))
    everything = bench_results.read_growth(args.results)
    if args.again:
        if not everything:
            sys.exit("growth.py: there is no growth.json in %s" % args.results)
        show(args.results, everything)
        return 0
    sizes = [int(size) for size in args.sizes.split(",")] if args.sizes else QUICK_SIZES if args.quick else SIZES
    tool, wrong, now = build(args.folder, "measure"), [], {}
    for kind in FORMATS:
        if args.format and kind.name not in args.format:
            continue
        data, differences = measure_format(kind(args), sizes, args, tool)
        wrong += differences
        if data is None:
            continue
        now[kind.name] = data
        print("\n".join(growth_tables.format_lines(kind.name, data) if data["programs"] else []), flush=True)
        if may_write(args):
            everything = dict(bench_results.read_growth(args.results), **{kind.name: data})
            bench_results.write_growth(args.results, everything)
            show(args.results, everything)
    print("\n".join([""] + growth_tables.summary_lines(now) + [""] + growth_tables.memory_lines(now) + [""] + wrong), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
