"""The texts of docs/conversions.md that no run can find: purposes, and descriptions of outputs."""
import re

import matrix_losses

# Lines that mean missing events, and not only missing details.
PARTS = {line for line, effect in matrix_losses.LINES.items() if effect == matrix_losses.LOST} - {
    "exits of functions that were not open"}                                    # these are faults of the trace

COLUMNS = (
    ("XRay", ("xray-fdr", "xray-basic", "recording")),
    ("CTF with calls", ("ctf-calls", "recording-ctf")),
    ("CTF without", ("ctf",)),
    ("TraceLog", ("tracelog",)),
    ("xtrace file", ("xtrace",)),
    ("xtrace folder", ("xtrace-folder",)),
    ("xtrace snapshots", ("xtrace-shots",)),
    ("profiles of calls", ("xray-profile", "tlp", "tlp-live")),
    ("profiles of samples", ("tlp-samples",)),
)

HEAD = """# Conversions

What can be converted into what, what an output keeps, and what it drops. A test makes this page (`test/matrix/conversions.py --update`): it converts small traces of every kind into every format and reads the results. Every event of the input is in the output, or is counted in a message. A conversion that makes no sense is refused with a reason, and nothing is written.

    traceloom convert app.xray -o app.pftrace      events: a time line, text, another trace
    traceloom report app.xray -o app.svg           sums: a flame graph, a profile

The columns are kinds of input:

| column | input |
|---|---|
| XRay | logs of XRay's flight data recorder and basic mode, and our recorder's `.xray` |
| CTF with calls | traces of the Common Trace Format with entries and exits of functions: LTTng's cyg-profile, our recorder's `.ctf`, our own output |
| CTF without | all other CTF traces, such as those of the kernel |
| TraceLog | logs of .NET programs: samples, collections, compilations, allocations |
| xtrace file, folder | instructions of one thread; of several threads, with snapshots of registers |
| xtrace snapshots | a file of snapshots without instructions |
| profiles of calls | XRay's profiling mode, `.tlp`, and `.tlp.live`, a profile while it is recorded |
| profiles of samples | `.tlp` made from a TraceLog |

And the cells:

| cell | meaning |
|---|---|
| yes | every event is written; details that the format cannot hold may be left out, see below the table |
| part | events of some kinds, or of some functions, are left out and counted |
| none | for tables: nothing is found, and the table says so |
| - | refused |

The usual reasons for a refusal: a profile holds sums, from which no events can be made; a trace without calls, samples and instructions has no profile; formats of calls, or of instructions, need some; a table needs what it is made from, and says what the trace has instead. Other reasons are below the tables.

"Not written" lists the messages of these runs, without the numbers. What was closed or moved "there" is not a loss: it was corrected so that viewers can read the file."""

# Losses that depend on the durations of calls.
BY_TIME = {"small functions", "small calls between functions", "places too narrow or too deep", "places without time"}

USUAL = re.compile(r"holds a profile|there are no |no calls and no stack samples|the trace has no instructions|has no instructions|--by [a-z]+ needs ")

WANTS = (
    ("A time line", "Who ran when, for zooming.", (("perfetto", "convert"), ("chrome", "convert"), ("speedscope", "convert"))),
    ("A flame graph, or a call graph", "Where the time went, for traces with calls, samples or instructions; for the last, time is the number "
     "of instructions.", (("svg", "report"), ("speedscope", "report"), ("pprof", "report"), ("folded", "report"), ("callgrind", "report"), ("dot", "report"))),
    ("Text, and data for scripts", "Every event, with everything in it.", (("text", "convert"), ("babeltrace", "convert"), ("jsonl", "convert"), ("csv", "convert"), ("parquet", "convert"))),
    ("Another trace", "For other tools that read these formats, or a part of a trace in its own format (`--time`, `--func`, ...).",
     (("ctf", "convert"), ("xray-fdr", "convert"), ("xray-basic", "convert"), ("tracelog", "convert"), ("xtrace", "convert"), ("xtrace-set", "convert"))),
    ("A profile to keep", "Small, and it can be added to others, or read again.", (("tlp", "report"), ("xray-profile", "report"), ("tracelog", "report"))),
    ("Instructions", "For people, and for simulators. A file of a simulator holds one thread: choose it with `-t`, or write all with `--split track`.", (("listing", "convert"), ("listing-values", "convert"), ("simpoint", "convert"),
                                                         ("champsim", "convert"), ("drmemtrace", "convert"))),
    ("Nothing", "To measure reading.", (("none", "convert"),)),
)

HOLDS = {
    "perfetto": "Calls as slices, everything else as instants with all their fields, counters, samples, spans of a runtime; threads, "
                "the time of day. No processor numbers.",
    "chrome": "The same as JSON. No processor numbers.",
    "speedscope": "The calls of each thread, or the samples of a trace without calls. No other events, no fields, no processor numbers.",
    ("speedscope", "report"): "Stacks with their self time, a profile for each thread; functions with file and line.",
    "svg": "The tree of calls with calls, times, p50 and p99 of each place. No files and lines.",
    "pprof": "Stacks with calls, self time and latencies as labels; threads; functions with file, line, module; the start time.",
    "folded": "Stacks with their self time. No files and lines.",
    "callgrind": "Functions with file and line, and pairs of caller and callee, with calls and time.",
    "dot": "A picture of the same: the largest 100 functions, and the calls between them.",
    "text": "Time, thread, processor, function or class, and all fields. Not the time of day.",
    "babeltrace": "The same in the style of babeltrace2, with the time of day.",
    "jsonl": "An object for each event, with all its fields and contexts. Not the time of day.",
    "csv": "A line for each event; fields as JSON in one cell, or, of one class (`--class`), a column for each. Not the time of day.",
    "parquet": "A row for each event: the table `events` of SQL, with the time of day; fields as JSON in one column.",
    "ctf": "Everything: classes, fields, contexts, threads, processors, names of functions, the clock, losses. Version 2 by default; 1.8 and the proposal of 2010 hold less.",
    "xray-fdr": "Entries and exits, arguments, XRay's custom and typed events, spans of our recorder; threads and processors. Functions by number; names "
                "only in our own recordings.",
    "xray-basic": "Entries and exits with arguments; threads and processors. Functions by number.",
    "tracelog": "Its own records. Calls become samples that set the stack: a line for each entry and exit, in milliseconds.",
    ("tracelog", "report"): "A log of samples with the stacks and the time of the profile, in milliseconds.",
    "xtrace": "The instructions of one thread, with everything that belongs to them; or snapshots.",
    "xtrace-set": "The instructions and snapshots of all threads, with memory images.",
    "tlp": "Everything: the tree with exact sums and histograms, functions with file, line, address and module; for samples all weights; threads with "
           "`--per-thread`.",
    "xray-profile": "Stacks with calls and self time, by thread. Functions by number.",
    "listing": "A line for each instruction, disassembled, with the events that belong to it.",
    "listing-values": "The same with the bytes of accesses, and registers.",
    "simpoint": "How often each basic block was executed, by interval.",
    "champsim": "Instructions with registers, branches, loads and stores.",
    "drmemtrace": "Instructions, branches, loads, stores, system calls, signals.",
    "none": "Nothing.",
}

TABLES = """
## Tables

What `report --by` prints. Tables of a managed runtime (gc, jit, alloc, heap, cpu) come from TraceLogs; those of instructions (from mix on) from xtrace."""

TAIL = """
## Through another format

A trace that is converted, read, and converted again gives the same answers as one converted once, if the first format keeps what the question needs (tested by `test/matrix/chains.py`):

* XRay, our recordings and CTF, through CTF or XRay's logs: the same calls, times and histograms; through the flight data recorder's log also its custom and typed events.
* TraceLogs through TraceLogs, instructions through xtrace files and folders: the same events, and the same report.
* TraceLogs and instructions through CTF: the same events. But samples and instructions become ordinary events, from which no profile can be made.
* Calls through a TraceLog: samples that set the stack, in milliseconds."""


def row(to, verb):
    return "`%s`" % to


def of_classes(names):
    """Classes of events left out."""
    xray = {"xray.custom", "xray.typed"}
    if names <= {"snapshot", "flags", "mrs", "msr", "eret", "dc", "stxr", "syscall_vec"}:
        return "other events of instructions (" + ", ".join("`%s`" % name for name in sorted(names)) + ")"
    if names & xray:
        return "custom and typed events, and spans by hand except their calls" if names - xray else "custom and typed events"
    return "events that are neither calls nor samples"
