"""The meaning of `not written: N ...` for the number of events, line by line: an unknown line fails the tests.

    LOST     N events, or parts of one that count as events, are missing in the output
    CLOSED   N ends of calls were added that the input lacks
    OPEN     N calls have no end: outputs that close them add an end ("closed there")
    DETAIL   every event is there, but lacks a detail, or has one corrected
    PROFILE  sums are there, but not all"""
import re

LOST, CLOSED, OPEN, DETAIL, PROFILE = "lost", "closed", "open", "detail", "profile"

LINES = {
    "exits of functions that were not open": LOST,
    "counters without a number": LOST,
    "function events with ids over 28 bits": LOST,
    "function events with ids over 32 bits": LOST,
    "typed events with types over 16 bits": LOST,
    "snapshots, which a file of instructions does not hold (--to xtrace-set writes both)": LOST,
    "instructions without pc": LOST,
    "instructions without a known pc": LOST,
    "events that are not instructions": LOST,
    "branches of which the trace does not say where they go": LOST,
    "instructions that failed": LOST,
    "loads beyond 4": LOST,
    "stores beyond 2": LOST,
    "ends whose begin is not there": LOST,
    "processor times of no interval": LOST,
    "calls without an exit of their own (closed with their caller)": CLOSED,
    "calls still open at the end (closed there)": OPEN,
    "calls still open at the end (left unfinished)": DETAIL,
    "begins still open at the end (closed there)": DETAIL,
    "begins still open at the end (left unfinished)": DETAIL,
    "lists of objects by type (written as their sums)": DETAIL,
    "fields of calls": DETAIL,
    "arguments and other fields of calls": DETAIL,
    "arguments of system calls": DETAIL,
    "arguments that are not whole numbers": DETAIL,
    "vector registers": DETAIL,
    "bytes that are not UTF-8 (escaped one by one)": DETAIL,
    "bytes that are not UTF-8 (written as U+0080 to U+00FF)": DETAIL,
    "line breaks in names and texts (written as spaces)": DETAIL,
    "processor numbers over 8 bits (truncated)": DETAIL,
    "processor numbers over 16 bits (truncated)": DETAIL,
    "process ids other than the first": DETAIL,
    "process ids, which versions 1 and 2 do not hold": DETAIL,
    "process or thread ids over 32 bits (truncated)": DETAIL,
    "tail exits, which version 1 does not hold (written as exits)": DETAIL,
    "threads with the number of another one (written as one)": DETAIL,
    "names of threads": DETAIL,
    "files and lines of functions": DETAIL,
    "times that are not whole milliseconds (rounded)": DETAIL,
    "times that went back (moved forward)": DETAIL,
    "times before the begin (moved there)": DETAIL,
    "values that do not fit their place (written as unknown or 0)": DETAIL,
    "the notes of the recording, which only version 5 holds": DETAIL,
    "the clock's frequency, which is not known (a tick counts as 1 ns)": DETAIL,
    "counts of tracks of snapshots only (now 0)": DETAIL,
    "sets of labels of bits, which this version does not hold": DETAIL,
    "contexts of packets without events (written as before, or as 0)": DETAIL,
    "frames whose function has a name but no number (written as unknown)": DETAIL,
    "the clock's frequency": PROFILE,
    "the build-id": PROFILE,
    "call counts": PROFILE,
    "function names": DETAIL,
    "latency histograms": PROFILE,
    "latency histograms, except p50 and p99": PROFILE,
    "latency histograms, with shortest and longest calls": PROFILE,
    "shortest and longest calls": PROFILE,
    "other weights": PROFILE,
    "places too narrow or too deep": PROFILE,
    "places without time": PROFILE,
    "samples with an empty stack": PROFILE,
    "samples while recording was paused": PROFILE,
    "small calls between functions": PROFILE,
    "small functions": PROFILE,
    "stacks with a function id that does not fit": PROFILE,
    "stacks without self time": PROFILE,
    "stacks, folded into pairs of caller and callee": PROFILE,
}


class Losses:
    """The messages of one conversion. `classes`: of the input, since events are counted by class name."""

    def __init__(self, messages, classes):
        self.sum = {effect: 0 for effect in (LOST, CLOSED, OPEN, DETAIL, PROFILE)}
        self.lines, self.classes, self.unknown = {}, {}, []
        for message in messages.splitlines():
            found = re.match(r"traceloom: not written: (?:([0-9,]+) )?(.*)", message)
            if not found:
                continue
            number, what = int((found.group(1) or "1").replace(",", "")), found.group(2)
            if what in classes:
                self.classes[what] = number
                self.sum[LOST] += number
            elif what in LINES:
                self.lines[what] = number
                self.sum[LINES[what]] += number
            else:
                self.unknown.append(what)
