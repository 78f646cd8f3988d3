"""What `calls` and `places` must hold: calls of XRay logs are matched here, by the rule of docs/format/xray-fdr.md, and
places are sums of the rows of `calls`. Calls of instructions, which are found in another way, must nest and add up."""
from fractions import Fraction

import harness

ENTRIES, EXITS = ("xray.enter", "xray.enter_args"), ("xray.exit", "xray.tail_exit")
SAME = ("id", "parent_id", "ts", "dur", "end_ts", "depth", "is_outermost", "thread", "cpu", "function_id", "name", "caller_id", "caller", "path")
# Percentiles come from a histogram: exact up to 511 ticks, else within this.
PRECISION = Fraction(1, 256)


class Call:
    def __init__(self, line, event, function, name, stack):
        self.event, self.function, self.name, self.begin, self.end = event, function, name, line["ts"], None
        self.thread, self.cpu = line["track"], line.get("cpu")
        self.caller, self.depth = stack[-1] if stack else None, len(stack) + 1
        self.is_outermost = all(call.function != function for call in stack)
        self.path = self.caller.path + ";" + name if stack else name

    def row(self):
        ended, outer = self.end is not None, self.caller
        return [self.event, outer and outer.event, self.begin, self.end - self.begin if ended else None, self.end, self.depth,
                self.is_outermost, self.thread, self.cpu, self.function, self.name, outer and outer.function, outer and outer.name,
                self.path if ended else None]


def columns(table):
    return {name: [row[i] for row in table.rows] for i, name in enumerate(table.columns)}


def ids(trace):
    """The id of the event of each JSON line, or a text: events of a thread have one order in both."""
    events, by_thread, at = columns(trace.table("events")), {}, {}
    for number, thread, ts, name in zip(events["id"], events["thread"], events["ts"], events["name"]):
        by_thread.setdefault(thread, []).append((number, ts, name))
    out = []
    for line in trace.lines:
        thread = line["track"]
        number, ts, name = by_thread[thread][at.get(thread, 0)]
        at[thread] = at.get(thread, 0) + 1
        if (ts, name) != (line.get("ts"), line["class"]):
            return "event %d of %s: %r and %r" % (at[thread], thread, (ts, name), line)
        out.append(number)
    return out


def matched(trace, events):
    """Every call of an XRay log; those that did not end have no end."""
    stacks, calls = {}, []
    for line, event in zip(trace.lines, events):
        if line["class"] not in ENTRIES + EXITS:
            continue
        fields = dict(line["fields"])
        stack, function = stacks.setdefault(line["track"], []), fields["id"]
        if line["class"] in ENTRIES:
            stack.append(Call(line, event, function, fields.get("function") or "#%d" % function, stack))
            calls.append(stack[-1])
        elif any(call.function == function for call in stack):
            call = None
            while call is None or call.function != function:
                call = stack.pop()
                call.end = max(call.begin, line["ts"])
    return calls


class Scale:
    """Ticks as ns, rounded half to even; without a frequency they stay what they are."""

    def __init__(self, trace):
        self.hz = harness.run("info", "--json", trace.path).json()["clock"]["hz"]

    def ns(self, ticks):
        return round(Fraction(ticks * 10 ** 9, self.hz)) if self.hz else ticks


def check_calls(trace, name):
    table = trace.table(name)
    got = columns(table)
    if any(line["class"] in ENTRIES for line in trace.lines):
        events = ids(trace)
        if isinstance(events, str):
            return events
        expected = [call.row() for call in matched(trace, events)]
        found = [list(row) for row in zip(*(got[column] for column in SAME))]
        for row in found:  # the place of a call that did not end may be nobody's
            row[-1] = row[-1] if row[4] is not None else None
        if sorted(map(repr, found)) != sorted(map(repr, expected)):
            more, less = [row for row in found if row not in expected], [row for row in expected if row not in found]
            return "%d calls, expected %d\n  got %.500r\n  expected %.500r" % (len(found), len(expected), more[:2], less[:2])
    return check_sums(got, Scale(trace)) or check_entries(trace, got)


def check_sums(got, scale):
    """Times of each call in both units, and that those within it fit."""
    inner, outer = {}, {number: i for i, number in enumerate(got["id"])}
    for parent, ticks in zip(got["parent_id"], got["dur_ticks"]):
        inner[parent] = inner.get(parent, 0) + (ticks or 0)
    for i, number in enumerate(got["id"]):
        row = {column: values[i] for column, values in got.items()}
        if row["dur"] is None:
            if any(row[column] is not None for column in ("end_ts", "self", "dur_ticks", "self_ticks")):
                return "an open call with times: %s" % row
        elif row["dur"] != row["end_ts"] - row["ts"] or abs(scale.ns(row["dur_ticks"]) - row["dur"]) > 1:
            return "times differ: %s" % row
        elif row["self_ticks"] != max(row["dur_ticks"] - inner.get(number, 0), 0) or row["self"] != scale.ns(row["self_ticks"]):
            return "self is not dur without callees (%d): %s" % (inner.get(number, 0), row)
        parent = outer.get(row["parent_id"])
        if (parent is None) != (row["depth"] == 1):
            return "the caller of %s is no row" % row
        if parent is None:
            continue
        if (got["depth"][parent] + 1, got["function_id"][parent], got["name"][parent], got["thread"][parent]) != (
                row["depth"], row["caller_id"], row["caller"], row["thread"]) or got["ts"][parent] > row["ts"]:
            return "%s is not within call %d" % (row, parent)
    return "ids repeat" if len(outer) != len(got["id"]) else None


def check_entries(trace, got):
    """Each call begins with an event."""
    events = columns(trace.table("events"))
    at = {number: i for i, number in enumerate(events["id"])}
    for number, ts, thread, cpu in zip(got["id"], got["ts"], got["thread"], got["cpu"]):
        i = at.get(number)
        if i is None or (events["ts"][i], events["thread"][i], events["cpu"][i]) != (ts, thread, cpu):
            return "no event %r of %r at %r" % (number, thread, ts)
    return None


def rank(values, percent):
    """Nearest rank: number ceil(p n / 100), from 1."""
    return values[max(-(-percent * len(values) // 100), 1) - 1]


def check_places(trace, name):
    """Of traces with calls: places are sums of these."""
    places, calls, scale = columns(trace.table(name)), columns(trace.table("calls")), Scale(trace)
    if not calls["id"]:
        return None
    at, place_of = {place: i for i, place in enumerate(places["place_id"])}, dict(zip(calls["id"], calls["place_id"]))
    sums = {place: [[], 0] for place in at}
    for i, place in enumerate(calls["place_id"]):
        if place is None:
            continue
        k = at[place]
        said = [calls[column][i] for column in ("function_id", "name", "depth", "path")] + [place_of.get(calls["parent_id"][i])]
        expected = [places[column][k] for column in ("function_id", "name", "depth", "path", "parent_id")]
        if said != expected:
            return "place %d: %s and a call there: %s" % (place, expected, said)
        if calls["dur"][i] is not None:
            sums[place][0].append(calls["dur_ticks"][i])
            sums[place][1] += calls["self_ticks"][i]
    if sorted(at) != list(range(1, len(at) + 1)) or any(parent is not None and parent >= place for place, parent in
                                                       zip(places["place_id"], places["parent_id"])):
        return "numbers of places"
    used = {parent for parent in places["parent_id"]} | {place for place, (ticks, own) in sums.items() if ticks}
    for place, (ticks, own) in sums.items():
        row, ticks = {column: values[at[place]] for column, values in places.items()}, sorted(ticks)
        if place not in used:
            return "nothing was at %s" % row
        if (row["calls"], row["total"], row["self"]) != (len(ticks), scale.ns(sum(ticks)), scale.ns(own)):
            return "sums of %s: %d calls, %d ticks, of these itself %d" % (row, len(ticks), sum(ticks), own)
        wanted = {"min_dur": ticks[:1], "max_dur": ticks[-1:]}
        wanted.update(("p%d" % percent, [rank(ticks, percent)] if ticks else []) for percent in (50, 90, 99))
        for column, value in wanted.items():
            near = PRECISION * scale.ns(value[0]) + 1 if value and column[0] == "p" else 0
            if (row[column] is None) != (not value) or (value and abs(row[column] - scale.ns(value[0])) > near):
                return "%s of %s is not %s" % (column, row, value)
    return None
