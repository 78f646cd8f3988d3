"""What `compilations`, `cpu_usage` and `pauses` must hold, from the fields of events in the order of the log."""
from sample_oracle import MS, events, number

JOBS = {"jit.cms": "compile", "jit.cmf": "compile", "fun.cmf": "compile", "jit.css": "search", "jit.csf": "search", "fun.csf": "search"}
COLUMNS = {"compilations": ["ts", "end_ts", "dur", "track_id", "thread", "code_id", "function_id", "function_name", "kind", "is_failed"],
           "cpu_usage": ["ts", "end_ts", "dur", "thread", "used"], "pauses": ["ts", "end_ts", "dur"]}


def interval(begin, end):
    return [begin, end, end - begin if begin is not None and end is not None else None]


def compilations(log):
    """A job belongs to the first code of its id after its begin, or else to the latest before."""
    jobs, running, codes, names = [], {}, [], {}
    for at, (_, ts, _, thread, track, kind, fields) in enumerate(log):
        if kind == "fun.nam" and fields["internalId"] is not None:
            names[fields["internalId"]] = fields["fullName"]
        if "code_info" in fields and fields["functionId"] is not None and fields["internalId"] is not None:
            codes.append((at, fields["functionId"], fields["internalId"]))
        if not kind.startswith("jit."):
            continue
        who = thread if thread != "thread ?" else fields.get("osThreadId")
        queue = running.setdefault((who, JOBS[kind], fields["functionId"]), [])
        if kind.endswith("s"):
            jobs.append({"at": at, "ts": ts, "thread": thread, "track": track, "kind": JOBS[kind], "code": fields["functionId"], "end": None})
            queue.append(jobs[-1])
        elif queue:
            queue.pop().update(end=ts, status=fields.get("status"))
    rows = []
    for job in jobs:
        own = [code for code in codes if job["code"] is not None and code[1] == job["code"]]
        later = [code[2] for code in own if code[0] > job["at"]]
        function = (later or [code[2] for code in own[-1:]] or [None])[0]
        end = None if job["end"] is None else max(job["end"], job["ts"])
        failed = None if end is None else job["kind"] == "compile" and int(job["status"], 16) >= 1 << 31
        rows.append(interval(job["ts"], end) + [job["track"], job["thread"], number(job["code"]), number(function), names.get(function),
                                                job["kind"], failed])
    return rows


def cpu_usage(log):
    step, tracks, resumed, since = None, {}, False, 0
    for _, ts, _, thread, _, kind, fields in log:
        if kind == "prf.cfg" and fields["name"] == "CpuTraceTimeoutMs":
            step = int(fields["value"]) if fields["value"].isdigit() else None
        elif kind == "prf.cfg" and fields["name"] == "TracingSuspendedOnStart":
            since = None if fields["value"] == "T" and not resumed else since
        elif kind in ("prf.tps", "prf.trs"):
            resumed, since = True, ts if since is None and kind == "prf.trs" else since
        elif kind in ("prc.cpu", "thr.cpu"):
            points = tracks.setdefault(thread, [])
            begin = points[-1][1] if points else None if step is None else max(0, ts - step * MS)
            if not points and begin is not None and (since is None or begin < since):
                begin = None
            points.append(interval(begin, ts) + [thread, max(0, fields["usage"]) * 1000])
    return [point for thread in sorted(tracks) for point in tracks[thread]]


def pauses(log):
    rows, since = [], None
    for _, ts, _, _, _, kind, _ in log:
        if kind == "prf.tps" and since is None:
            since = ts
        elif kind == "prf.trs" and since is not None:
            rows.append(interval(since, ts))
            since = None
    return rows + ([interval(since, None)] if since is not None else [])


def check_runtime(trace, name):
    """The rows of the table, and those that are expected."""
    table = trace.table(name)
    at = [table.columns.index(column) for column in COLUMNS[name]]
    log = list(events(trace)) if "event_prf_cfg" in trace.schema else []
    return [[row[i] for i in at] for row in table.rows], {"compilations": compilations, "cpu_usage": cpu_usage, "pauses": pauses}[name](log)
