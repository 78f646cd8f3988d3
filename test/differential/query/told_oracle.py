"""What `calls` must hold where stacks tell calls, from the fields of events: every frame that was ever entered at a known time.

Another function than the one that makes profiles: frames are kept from their begin to their end, and rows made at the end."""
from sample_oracle import events, label, members, number

COLUMNS = ["id", "parent_id", "ts", "dur", "end_ts", "self", "depth", "is_outermost", "thread", "function_id", "name", "caller"]


class Frame:
    def __init__(self, below, frame, event, ts, begun, thread):
        self.thread, self.cpu = thread, None
        self.below, self.depth, self.event, self.begun = below, below.depth + 1 if below else 1, event, begun
        self.function_id, self.name = number(frame["iid"]), label(frame)
        self.begin, self.end, self.children = ts, None, 0

    def is_inner(self):
        """Is it in another call of its function that ended?"""
        outer = self.below
        while outer and (outer.function_id != self.function_id or outer.name != self.name or not outer.begun or outer.end is None):
            outer = outer.below
        return outer is not None


def frames_of(trace):
    """All frames of a log that says so; none of one that is sampled."""
    method, enabled, stacks, every = None, True, {}, []
    for event, ts, _, thread, _, kind, fields in events(trace):
        if kind == "prf.cfg":
            method = fields["value"] if fields["name"] == "CollectionMethod" else method
            enabled = fields["value"] != "F" if fields["name"] == "ExecutionTraceEnabled" else enabled
        if kind not in ("sam.str", "str.sam"):
            continue
        told = method == "Instrumentation" and enabled
        stack, frames = stacks.setdefault(thread, []), [members(frame) for frame in fields["frames"]]
        lacking = range(len(stack), fields["kept"])
        for frame in stack[fields["kept"]:]:
            frame.end = max(ts, frame.begin) if told and frame.begun else None
        del stack[fields["kept"]:]
        for at in range(len(stack), len(frames)):
            begun = told and at not in lacking
            stack.append(Frame(stack[-1] if stack else None, frames[at], event, ts, begun, thread))
            event += (1 << 40) * begun
            every.append(stack[-1])
    return every


def row_of(frame):
    below, outermost = frame.below, True
    while below:
        outermost = outermost and not (below.function_id == frame.function_id and below.name == frame.name)
        below = below.below
    took = None if frame.end is None else frame.end - frame.begin
    parent = frame.below.event if frame.below and frame.below.begun else None
    return [frame.event, parent, frame.begin, took, frame.end, None if took is None else max(0, took - frame.children), frame.depth, outermost,
            frame.function_id, frame.name, frame.below.name if frame.below else None]


def calls_of(trace):
    """All calls, with the time in others."""
    every = frames_of(trace)
    for frame in every:
        if frame.end is not None and frame.below:
            frame.below.children += frame.end - frame.begin
    return [frame for frame in every if frame.begun]


def ended_calls(trace):
    """Those that ended, and whether others did not. The place of a function that later got another name is not known: paths
    are those of the table."""
    table, calls = trace.table("calls"), calls_of(trace)
    paths = {row[table.columns.index("id")]: row[table.columns.index("path")] for row in table.rows}
    for call in calls:
        call.path = paths[call.event]
    ended = [call for call in calls if call.end is not None]
    return ended, len(ended) < len(calls)


def expected(trace):
    return [row_of(frame) for frame in calls_of(trace)]


def is_told(trace):
    return "event_sam_str" in trace.schema or "event_str_sam" in trace.schema


def check_calls(trace):
    """The rows of the table, and those that are expected."""
    table = trace.table("calls")
    at = [table.columns.index(column) for column in COLUMNS if column != "thread"]
    return [[row[i] for i in at] for row in table.rows], expected(trace)
