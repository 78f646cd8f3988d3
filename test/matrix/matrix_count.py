"""Nothing is lost silently: the counts that an output must have, from `info` and `report` of the input and from the
reported losses. Each function returns the comparisons: (what, found, expected)."""
from matrix_losses import CLOSED, LOST, OPEN

# Parts of .NET logs that outputs show in other ways than as events: spans, curves, samples.
DRAWN = {"gch.gcs", "gch.gcf", "jit.cms", "jit.cmf", "jit.css", "jit.csf", "sam.str", "sam.mem", "thr.cpu", "prc.cpu", "gch.alt",
         "gch.gen"}


def by_kind(info):
    out = {}
    for c in info["classes"]:
        out[c["kind"]] = out.get(c["kind"], 0) + c["events"]
    return out


def by_name(info):
    return {c["name"]: c["events"] for c in info["classes"] if c["events"]}


def items(found, info, losses):
    """An item for each event."""
    yield "events", found["events"] + losses.sum[LOST], info["events"]
    for name in by_name(info):
        if "class " + name in found:
            yield name, found["class " + name] + losses.classes.get(name, 0), by_name(info)[name]


def records(found, info, losses):
    """Logs of .NET, which express calls as stacks."""
    if info["format"] == "tracelog":
        yield from items(found, info, losses)
        return
    kinds = by_kind(info)
    calls = sum(n for kind, n in kinds.items() if kind in ("enter", "exit"))
    yield "calls", found["class sam.str"] >= calls - losses.sum[LOST], True
    yield "others", sum(losses.classes.values()), info["events"] - calls


def drawn(found, info, losses):
    """Time lines: calls, instants, curves."""
    if "sam.str" not in by_name(info):
        more = losses.sum[CLOSED] + losses.sum[OPEN]
        shown = sum(found[what] for what in ("begin", "finish", "instant", "counter"))
        yield "events", shown + losses.sum[LOST], info["events"] + more
        return
    for name, events in by_name(info).items():
        if name not in DRAWN:
            yield name, found["class " + name], events
    if found["span"]:
        yield "spans", found["span"] + losses.lines.get("begins beyond 256 of a thread", 0), by_kind(info).get("begin", 0)
    yield "samples", found["sample"] > 0, True
    yield "curves", found["counter"] > 0, True


def calls(found, info, losses):
    """Calls alone, or samples."""
    if found["weights"] or not found["begin"]:
        yield "samples", found["weights"] > 0, True
        yield "others", losses.sum[LOST], info["events"] - by_kind(info).get("sample", 0)
        return
    shown = found["begin"] + found["finish"] - losses.sum[CLOSED] - losses.sum[OPEN]
    yield "events", shown + losses.sum[LOST], info["events"]


def instructions(found, info, losses):
    kinds = by_kind(info)
    without = losses.lines.get("instructions without pc", 0) + losses.lines.get("instructions without a known pc", 0)
    yield "instructions", found["insn"] + without, kinds.get("insn", 0)
    if "events that are not instructions" in losses.lines:
        yield "others", losses.lines["events that are not instructions"], info["events"] - kinds.get("insn", 0)
    elif "mem" in found:
        yield "accesses", found["mem"], kinds.get("mem", 0)
        yield "dumps", found["dumps"], kinds.get("regs", 0)


def simulated(found, info, losses):
    """An instruction's accesses to places side by side are one."""
    names, lines = by_name(info), losses.lines
    gone = ("instructions without pc", "branches of which the trace does not say where they go", "instructions that failed")
    yield "instructions", found["insn"] + sum(lines.get(line, 0) for line in gone), by_kind(info).get("insn", 0)
    yield "loads", 0 < found["load"] <= names.get("load", 0), True
    yield "stores", 0 < found["store"] <= names.get("store", 0), True
    kept = {"insn", "load", "store", "target", "svc_arg", "svc_ret", "dc", "time"}
    yield "silent", set(names) - set(losses.classes) - kept, set()


EVENTS = {"tracelog": records, "chrome": drawn, "perfetto": drawn, "speedscope": calls, "listing": instructions,
          "listing-values": instructions, "simpoint": instructions, "champsim": simulated, "drmemtrace": simulated,
          "none": lambda *_: ()}


class Reference:
    """The `report` of the input."""

    def __init__(self, tree, places, threads):
        self.nodes, self.unit, self.threads = tree["nodes"], tree["unit"], threads
        self.places = places  # in the trees of all threads
        self.calls, self.self = sum(n["calls"] for n in self.nodes), sum(n["self"] for n in self.nodes)
        self.samples = tree.get("samples")
        self.labels = {n["stack"][-1] for n in self.nodes}
        # Caller and callee: a sample counts once for a pair, however often it is in the stack.
        self.pairs = sum(n["calls"] for n in self.nodes if not (self.samples and repeats(n["stack"])))


def repeats(stack):
    """Whether the innermost pair of caller and callee also occurs further out."""
    pairs = list(zip([None] + stack, stack))
    return pairs[-1] in pairs[:-1]


def near(found, expected, tolerance):
    return expected if abs(found - expected) <= tolerance else found


def profile(name, found, reference, losses):
    """Sums of a profile. Times were rounded stack by stack, or to ms."""
    r, rounding = reference, len(reference.nodes)
    if name in ("folded", "callgrind"):
        yield "self", near(found["self"], r.self, rounding), r.self
    if name == "callgrind" and not r.samples:
        yield "calls", found["calls"], r.calls
    if name == "pprof":
        sums = {key[4:]: value for key, value in found.items() if key.startswith("sum ")}
        yield "self", any(near(value, r.self, rounding) == r.self for value in sums.values()), True
        if not r.samples:
            yield "calls", r.calls in sums.values(), True
    if name == "speedscope":
        sums = [value for key, value in found.items() if key.startswith("weight")]
        yield "self", any(near(value, r.self, rounding) == r.self for value in sums), True
    if name == "dot":
        yield "functions", found["functions"] + losses.lines.get("small functions", 0), len(r.labels)
    if name == "svg":
        # Threads are boxes, too, if the file has them. Nodes of less than half a ns have a width, and the time 0.
        shown = found["boxes"] + losses.lines.get("places too narrow or too deep", 0) + losses.lines.get("places without time", 0)
        yield "boxes", sum(n["total"] > 0 for n in r.nodes) <= shown <= r.places + r.threads, True
    if name == "xray-profile":
        some = "stacks with a function id that does not fit" in losses.lines
        yield "calls", 0 < found["calls"] < r.calls if some else found["calls"] == r.calls, True
