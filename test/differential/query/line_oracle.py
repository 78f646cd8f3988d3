"""What spans, counters and slices must hold: pairs, sums and shares computed from rows of `events`, which are compared with
JSON lines elsewhere, and rows of `calls`."""

# Classes of begins: of their ends, title and role.
PAIRS = {"gch.gcs": ("gch.gcf", "GC", "collection"), "jit.cms": ("jit.cmf", "JIT", "compilation"),
         "jit.css": ("jit.csf", "cached code", "code search")}
CODE = ("fun.cmf", "fun.csf", "fun.inf")
TICK = 1000000  # ns of a TraceLog, whose times are ms
COUNTED = (1 << 62) - 1  # bits of a weight that are a time


def events_of(trace):
    """Rows of `events` in the order of the log, as dictionaries; of their fields, too."""
    table = trace.table("events")
    rows = [dict(zip(table.columns, row)) for row in table.rows]
    for row in rows:
        row["json"], row["fields"] = row["fields"], members(row["fields"])
    return sorted(rows, key=lambda row: (row["trace"], row["id"]))


def members(value):
    return dict(value["members"]) if isinstance(value, dict) else {}


def number(text):
    """0x12 -> 18, as signed 64 bits; None of what is no number."""
    if text is None:
        return None
    value = int(text, 16)
    return value - (1 << 64) if value >= 1 << 63 else value


def expected_spans(trace):
    begins, opened, unnamed, names = [], {}, {}, {}
    ends = {end: begin for begin, (end, title, role) in PAIRS.items()}
    functions = trace.table("functions")
    for row in functions.rows:
        row = dict(zip(functions.columns, row))
        names[row["function_id"]] = row["name"]
    for event in events_of(trace):
        name, fields = event["name"], event["fields"]
        if name in PAIRS:
            begins.append(event)
            event.update(end=None, function=None)
            opened.setdefault((name, event["key"]), []).append(event)
            if fields.get("functionId"):
                unnamed.setdefault(fields["functionId"], []).append(event)
        elif name in ends and opened.get((ends[name], event["key"])):
            opened[(ends[name], event["key"])].pop()["end"] = event
        elif name in CODE:
            for span in unnamed.pop(fields.get("functionId"), []):
                span["function"] = number(fields.get("internalId"))
    rows = []
    for begin in begins:
        end, function = begin["end"], begin["function"]
        name = None if function is None else names[function] or "0x%x" % function if function in names else "#%d" % function
        until = max(end["ts"], begin["ts"]) if end else None
        rows.append([begin["trace"], begin["id"], begin["ts"], begin["utc"], until - begin["ts"] if end else None, until, begin["track_id"],
                     begin["thread"], begin["class_id"], *PAIRS[begin["name"]][1:], function, name, begin["json"],
                     end["json"] if end else None])
    return rows


class Counters:
    """Rows of `counters`: trace, ts, track_id, thread, name, unit, value."""

    def __init__(self, trace):
        self.rows, self.until, self.allocated, self.payload = [], {}, {}, {}
        fields = trace.table("fields")
        for row in fields.rows:
            row = dict(zip(fields.columns, row))
            if row["scope"] == "payload":
                self.payload[row["class_name"]] = self.payload.get(row["class_name"], 0) + 1
        for event in events_of(trace):
            if event["kind"] == "counter":
                self.numbers(event)
            elif event["name"] in ("thr.cpu", "prc.cpu"):
                self.cpu(event)
            elif event["name"] == "sam.mem":
                self.allocation(event)
            elif event["name"] == "gch.alt":
                items = [members(item) for item in event["fields"]["alt_item"]]
                self.add(event, "live", "bytes", sum(item["memSize"] or 0 for item in items))
                self.add(event, "live objects", "count", sum(item["allocCount"] or 0 for item in items))
            elif event["name"] == "gch.gen":
                self.heap(event)
        for event, until in self.until.values():
            self.add(event, "CPU", "%", 0.0, until)

    def add(self, event, name, unit, value, ticks=None):
        ts = event["ts"] if ticks is None else event["ts"] + (ticks - event["ts_ticks"]) * TICK
        self.rows.append([event["trace"], ts, event["track_id"], event["thread"], name, unit, float(value)])

    def numbers(self, event):
        for name, value in event["fields"].items():
            if isinstance(value, dict):
                value = members(value).get("value")
            if isinstance(value, (int, float)):
                self.add(event, event["name"] + (" " + name if self.payload[event["name"]] > 1 else ""), None, value)

    def cpu(self, event):
        since, ticks, known = event["key"], event["ts_ticks"], self.until.get(event["track_id"])
        if since == -1 or since >= ticks or event["fields"]["usage"] is None or (known and ticks <= known[1]):
            return
        percent = max(event["fields"]["usage"], 0) * 100e3 / ((ticks - since) * TICK)
        if known and since > known[1]:
            self.add(event, "CPU", "%", 0.0, known[1])
        self.add(event, "CPU", "%", int(percent * 100 + 0.5) / 100, max(since, known[1]) if known else since)
        self.until[event["track_id"]] = (event, ticks)

    def allocation(self, event):
        if event["key"] & COUNTED == 0:
            return  # while recording was suspended
        total, last = self.allocated.get(event["pid"], (0, 0))
        total += sum(members(item)["memSize"] or 0 for item in event["fields"]["alloc_item"])
        last = max(last, event["ts_ticks"])
        self.allocated[event["pid"]] = (total, last)
        self.add(event, "allocated", "bytes", total, last)

    def heap(self, event):
        for item in event["fields"]["generations"]:
            item = members(item)
            if item["name"] is not None:
                self.add(event, "heap " + item["name"], "bytes", item["alloc"] or 0)
                if "reserved" in item:
                    self.add(event, "heap %s reserved" % item["name"], "bytes", item["reserved"] or 0)


def expected_slices(trace):
    rows = []
    for name, category in (("calls", "call"), ("spans", "span")):
        table = trace.table(name)
        for row in table.rows:
            row = dict(zip(table.columns, row))
            rows.append([row.get(column) for column in ("trace", "id", "parent_id", "ts", "dur", "end_ts", "track_id", "thread", "name",
                                                        "depth")] + [category])
    return rows


def check(difference, name, expected):
    return {name: lambda trace: difference(trace.table(name).rows, expected(trace))}


def truths(difference):
    """As query_oracle.TRUTHS."""
    return {**check(difference, "spans", expected_spans), **check(difference, "counters", lambda trace: Counters(trace).rows),
            **check(difference, "slices", expected_slices)}
