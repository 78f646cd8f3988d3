"""What `samples` and `allocations` must hold, from the fields of events: settings, pauses, stacks and names in their order.

The events are those of the table `events`, which is compared with JSON lines: these are in the order of time, which is
not that of a log."""
MS = 1000000
LONG = 2048  # frames of a path


def number(text):
    """Of text in hexadecimal, as a signed number of 64 bits."""
    value = int(text, 16) if isinstance(text, str) else text
    return value - (1 << 64) if value is not None and value >= 1 << 63 else value


def label(frame):
    """The name, else the number."""
    return frame["function"] if frame["function"] is not None else frame["iid"] if frame["iid"] is not None else "?"


def stack_of(frames):
    """function_id, name, depth, path."""
    if not frames:
        return [None, None, 0, None]
    return [number(frames[-1]["iid"]), label(frames[-1]), len(frames), "...;" * (len(frames) > LONG) + ";".join(map(label, frames[-LONG:]))]


class Settings:
    """Of the log, up to a line."""

    def __init__(self):
        self.period, self.paused, self.resumed, self.counts = 10, False, False, True

    def see(self, kind, fields):
        if kind in ("prf.tps", "prf.trs"):
            self.paused, self.resumed = kind == "prf.tps", True
        if kind != "prf.cfg":
            return
        name, value = fields["name"], fields["value"]
        if name == "SamplingTimeoutMs":
            self.period = int(value) if value.isascii() and value.isdigit() and 1 <= int(value) <= 3600000 else 10
        elif name == "CollectionMethod":
            self.counts = value != "Instrumentation"
        elif name == "TracingSuspendedOnStart":
            self.paused = self.paused or (value == "T" and not self.resumed)


def members(value):
    return dict(value["members"])


def events(trace):
    table = trace.table("events")
    at = [table.columns.index(name) for name in ("id", "ts", "utc", "thread", "track_id", "name", "fields")]
    for row in table.rows:
        yield [row[i] for i in at[:-1]] + [members(row[at[-1]])]


def expected(trace):
    """The rows of both tables."""
    settings, samples, allocations, top, types = Settings(), [], [], {}, {}
    for event, ts, utc, thread, track, kind, fields in events(trace):
        head = [event, ts, utc, thread, track]
        settings.see(kind, fields)
        if kind in ("sam.str", "str.sam"):
            frames = [members(frame) for frame in fields["frames"]]
            top[thread] = stack_of(frames)
            if fields["count"] and settings.counts:
                ip = number(frames[-1]["ip"]) if frames else None
                samples.append(head + [fields["count"], fields["count"] * settings.period * MS, settings.paused] + stack_of(frames) + [ip])
        elif kind == "cls.nam":
            types[fields["classIid"]] = fields["className"]
        elif kind == "sam.mem":
            for item in map(members, fields["alloc_item"]):
                allocations.append(head + [number(item["classIid"]), types.get(item["classIid"]), item["allocCount"], item["memSize"],
                                           number(item["ip"])] + top.get(thread, [None] * 4))
    return {"samples": samples, "allocations": allocations}


COLUMNS = {"samples": ["id", "ts", "utc", "thread", "track_id", "samples", "time", "is_paused", "function_id", "name", "depth", "path", "ip"],
           "allocations": ["id", "ts", "utc", "thread", "track_id", "type_id", "type_name", "objects", "bytes", "ip", "function_id", "name", "depth", "path"]}


def check_samples(trace, name):
    """The rows of the table, and those that are expected."""
    table = trace.table(name)
    at = [table.columns.index(column) for column in COLUMNS[name]]
    return [[row[i] for i in at] for row in table.rows], expected(trace)[name]


def expected_places(trace):
    """Places of sampled stacks: the ids of their functions from the outermost on, samples, time, and time on top."""
    settings, places = Settings(), {}
    for event, ts, utc, thread, track, kind, fields in events(trace):
        settings.see(kind, fields)
        if kind not in ("sam.str", "str.sam") or not fields["count"]:
            continue
        ids, time = [number(members(frame)["iid"]) for frame in fields["frames"]], fields["count"] * settings.period * MS
        for i in range(len(ids)):
            sums = places.setdefault(tuple(ids[:i + 1]), [0, 0, 0])
            sums[0] += fields["count"]
            sums[1] += time
            sums[2] += time * (i + 1 == len(ids))
    return [[list(path)] + sums for path, sums in places.items()]


def check_places(trace, name):
    """Rows of places as expected_places(), and those."""
    table = trace.table(name)
    at = [table.columns.index(column) for column in ("place_id", "parent_id", "function_id", "depth", "calls", "total", "self")]
    path, rows = {None: []}, []
    for row in table.rows:
        place, parent, function, depth, samples, total, own = (row[i] for i in at)
        path[place] = path[parent] + [function]
        rows.append([path[place], samples, total, own] if depth == len(path[place]) else [depth, path[place]])
    return rows, expected_places(trace)
