"""The words of docs/conversions.md that no run can find: what somebody wants, and what an output is."""
import re

import matrix_losses

# Lines that mean that a part of the events is not there, and not only a detail of them.
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

What can be made of what, what an output keeps, and what it drops. This page is made of a test (`test/matrix/conversions.py --update`), which converts small traces of every kind into every format and reads what came out: every event of the input is in the output, or is counted in a message. A conversion that makes no sense is refused with a reason, and nothing is written.

    traceloom convert app.xray -o app.pftrace      events: a time line, text, another trace
    traceloom report app.xray -o app.svg           sums: a flame graph, a profile

The columns are kinds of input:

| column | what it is |
|---|---|
| XRay | logs of XRay's flight data recorder and basic mode, and our recorder's `.xray` |
| CTF with calls | traces of the Common Trace Format with entries and exits of functions: LTTng's cyg-profile, our recorder's `.ctf`, what we wrote |
| CTF without | all other traces of it, such as those of the kernel |
| TraceLog | logs of .NET programs: samples, collections, compilations, allocations |
| xtrace file, folder | instructions of a thread; of several threads, with snapshots of registers |
| xtrace snapshots | a file of snapshots without instructions |
| profiles of calls | XRay's profiling mode, `.tlp`, and `.tlp.live`, which is one as it is recorded |
| profiles of samples | `.tlp` made of a TraceLog |

And the cells:

| cell | what it means |
|---|---|
| yes | every event is written; what it says beyond what the format has may be left out, see below the table |
| part | events of some kinds, or of some functions, are left out and counted |
| none | of tables: nothing is found, and a message says so |
| - | refused |

The usual reasons of a refusal: a profile holds sums, of which no events can be made; a trace without calls, samples and instructions has no profile; formats of calls, and formats of instructions, need some. Other reasons are told below the tables.

"Not written" lists what messages said in these runs, in their words, without the numbers. What was closed or moved "there" is not a loss: it was put right so that viewers can read the file."""

# Losses that rest on how long calls took.
BY_TIME = {"small functions", "small calls between functions", "places too narrow or too deep", "places without time"}

USUAL = re.compile(r"holds a profile|there are no |no calls and no stack samples|the trace has no instructions|has no instructions")

WANTS = (
    ("A time line", "Who ran when, to zoom into.", (("perfetto", "convert"), ("chrome", "convert"), ("speedscope", "convert"))),
    ("A flame graph, or a call graph", "Where the time went. Of traces with calls, with samples, or with instructions; for the last, time is the number "
     "of instructions.", (("svg", "report"), ("speedscope", "report"), ("pprof", "report"), ("folded", "report"), ("callgrind", "report"), ("dot", "report"))),
    ("Text, and data for scripts", "Every event, with all that it says.", (("text", "convert"), ("babeltrace", "convert"), ("jsonl", "convert"), ("csv", "convert"))),
    ("Another trace", "For other tools that read these formats, or a part of a trace in its own format (`--time`, `--func`, ...).",
     (("ctf", "convert"), ("xray-fdr", "convert"), ("xray-basic", "convert"), ("tracelog", "convert"), ("xtrace", "convert"), ("xtrace-set", "convert"))),
    ("A profile to keep", "Small, and it can be added to others, or be read again.", (("tlp", "report"), ("xray-profile", "report"), ("tracelog", "report"))),
    ("Instructions", "For people, and for simulators. A file of a simulator holds one thread: choose it with `-t`, or write all with `--split track`.", (("listing", "convert"), ("listing-values", "convert"), ("simpoint", "convert"),
                                                         ("champsim", "convert"), ("drmemtrace", "convert"))),
    ("Nothing", "To measure reading.", (("none", "convert"),)),
)

HOLDS = {
    "perfetto": "Calls as slices, everything else as instants with all their fields, counters, samples, and what begins and ends in a runtime; threads, "
                "the time of day. No processor numbers.",
    "chrome": "The same as JSON. No processor numbers.",
    "speedscope": "The calls of each thread, or the samples of a trace without calls. No other events, no fields, no processor numbers.",
    ("speedscope", "report"): "Stacks with their self time, a profile for each thread; functions with file and line.",
    "svg": "The tree of calls with calls, times, p50 and p99 of each place. No files and lines.",
    "pprof": "Stacks with calls, self time and latencies as labels; threads; functions with file, line, module; when it began.",
    "folded": "Stacks with their self time. No files and lines.",
    "callgrind": "Functions with file and line, and pairs of caller and callee, with calls and time.",
    "dot": "A picture of the same: the largest 100 functions, and the calls between them.",
    "text": "Time, thread, processor, function or class, and all fields. Not the time of day.",
    "babeltrace": "The same in the words of babeltrace2, with the time of day.",
    "jsonl": "An object for each event, with all its fields and contexts. Not the time of day.",
    "csv": "A line for each event; fields as JSON in one cell. Not the time of day.",
    "ctf": "Everything: classes, fields, contexts, threads, processors, names of functions, the clock, losses. 2 by default; 1.8 and that of 2010 hold less.",
    "xray-fdr": "Entries and exits, arguments, XRay's custom and typed events, spans of our recorder; threads and processors. Functions by number; names "
                "only in recordings of ours.",
    "xray-basic": "Entries and exits with arguments; threads and processors. Functions by number.",
    "tracelog": "Its own records. Calls become samples that set the stack: a line for each entry and exit, in milliseconds.",
    ("tracelog", "report"): "A log of samples that has the stacks and the time of the profile, in milliseconds.",
    "xtrace": "The instructions of one thread, and all that belongs to them; or snapshots.",
    "xtrace-set": "The instructions and snapshots of all threads, with memory images.",
    "tlp": "Everything: the tree with exact sums and histograms, functions with file, line, address and module; of samples all weights; threads with "
           "`--per-thread`.",
    "xray-profile": "Stacks with calls and self time, by thread. Functions by number.",
    "listing": "A line for each instruction, disassembled, with what belongs to it.",
    "listing-values": "The same with the bytes of accesses, and registers.",
    "simpoint": "How often each basic block was executed, by interval.",
    "champsim": "Instructions with registers, branches, loads and stores.",
    "drmemtrace": "Instructions, branches, loads, stores, numbers of system calls.",
    "none": "No byte.",
}

TABLES = """
## Tables

What `report --by` prints. Tables of a managed runtime (gc, jit, alloc, heap, cpu) are made of TraceLogs; those of instructions (from mix on) of xtrace."""

TAIL = """
## By way of another format

A trace that is converted, read again, and converted once more gives the answers of one that is converted once, where the first format keeps what is asked (tested by `test/matrix/chains.py`):

* XRay, our recordings and CTF, by way of CTF or of XRay's logs: the same calls, times and histograms; by way of the flight data recorder's log also its custom and typed events.
* TraceLogs by way of TraceLogs, instructions by way of xtrace files and folders: the same events, and the same report.
* TraceLogs and instructions by way of CTF: the same events. But what was a sample or an instruction is an event like any other there, and no profile can be made of it.
* Calls by way of a TraceLog: samples that set the stack, in milliseconds."""


def row(to, verb):
    return "`%s`" % to


def of_classes(names):
    """Classes of events that are left out."""
    xray = {"xray.custom", "xray.typed"}
    if names <= {"snapshot", "flags", "mrs", "msr", "eret", "dc", "stxr", "syscall_vec"}:
        return "what instructions say besides (" + ", ".join("`%s`" % name for name in sorted(names)) + ")"
    if names & xray:
        return "custom and typed events, and spans by hand but for their calls" if names - xray else "custom and typed events"
    return "events that are neither calls nor samples"
