"""The answers expected for a generated TraceLog, from the meaning of its records. The texts of lines are not read.

settle() first gives every surviving record its time, thread and stack; each answer is then computed from the whole list,
not line by line."""
from tracelog_lines import hexa

MS = 1000000
FIRST = {"sam.str": "sample", "str.sam": "sample", "jit.cms": "begin", "jit.css": "begin", "gch.gcs": "begin",
         "jit.cmf": "end", "jit.csf": "end", "gch.gcf": "end"}
NO_TIMES = {"min": None, "p50": None, "p90": None, "p99": None, "max": None}


def generation_words(letters):
    """"gen 0-1, LOH" of "ttft": those from 0 on that were collected are one word."""
    young = len(letters[:3]) - len(letters[:3].lstrip("t"))
    words = ["gen 0-%d" % (young - 1)] if young > 1 else ["gen 0"] * young
    words += ["LOH" if at == 3 else "gen %d" % at for at, letter in enumerate(letters[:9]) if at >= young and letter == "t"]
    return ", ".join(words) or None


class Answers:
    def __init__(self, records, bom=False):
        self.size = 3 if bom else 0
        self.problems, self.damage, self.good = [], [], []
        self.hints = {record.hint for record in records}
        self.settle(records)
        self.events = sorted(self.good, key=lambda record: record.ts)        # Python's sort keeps equal ones in order

    # ------------------------------------------------------------------------------------------------------ the log

    def settle(self, records):
        last, stacks, numbers, names, now = {}, {}, {}, {}, 0
        for record in records:
            offset, length = self.size, len(record.text) + len(record.end)
            self.size += length
            if record.rule:
                self.problems.append((offset, record.rule))
                self.damage.append((offset, length))
            if record.rule or record.name is None:
                continue
            now = max(now, record.at or 0)
            record.ts = (now if record.at is None else record.at) * MS
            record.who = self.thread(record, numbers)
            record.json = dict(record.fields)
            if record.name in ("thr.aos",) and record.fields["threadIid"] is not None:
                numbers[record.fields["osThreadId"]] = record.fields["threadIid"]
            if record.name == "fun.nam" and record.fields["internalId"] is not None:
                names[record.fields["internalId"]] = record.fields["fullName"]
            if record.track != "process" and "osThreadId" in record.json and record.name != "thr.aos":
                record.json["threadIid"] = numbers.get(record.json["osThreadId"])
            if record.delta:
                self.stack(record, offset, stacks, names)
            if record.at is not None and record.who != "process":
                if record.at < last.get(record.who, 0):
                    self.problems.append((offset, "tracelog.time-order"))
                last[record.who] = record.at
            if record.bad_bytes:
                self.problems.append((offset, "tracelog.utf8"))
                self.damage.append((offset, record.bad_bytes))
            self.good.append(record)

    @staticmethod
    def thread(record, numbers):
        if record.track == "process":
            return "process"
        kind, value = record.track
        iid = numbers.get(value) if kind == "os" else value
        return "thread " + (iid or "?")

    def stack(self, record, offset, stacks, names):
        """Undamaged logs: the stack is the program's, and the differences must lead to the same."""
        kept, size, moved, ip, frames = record.delta
        before = stacks.get(record.who, ())
        if len(before) != size:
            self.problems.append((offset, "tracelog.stack-size"))
        below = (list(before) + [(None, None)] * kept)[:kept]
        if moved:
            below[-1] = (below[-1][0], ip)
        after = tuple(below + frames)
        if record.truth is not None and not self.problems:
            assert after == tuple(record.truth), (offset, after, record.truth)
        stacks[record.who] = after
        record.stack = [(hexa(iid), hexa(ip)) for iid, ip in after]
        record.names = [names.get(iid) for iid, _ in record.stack]
        record.json["frames"] = [{"function": name, "iid": iid, "ip": ip} for (iid, ip), name in zip(record.stack, record.names)]

    def last_by(self, name, key, value):
        """The latest value for each key in records of this name."""
        return {r.fields[key]: r.fields[value] for r in self.good if r.name == name and r.fields[key] is not None}

    # --------------------------------------------------------------------------------------------- info, check, jsonl

    def version(self):
        names = {record.name for record in self.good} | self.hints
        if names & {"fun.cmf", "fun.csf", "str.sam"} or any(record.oldest for record in self.good):
            return "old"
        if names & {"fil.src", "lin.src"}:
            return "saved"
        decimal = any(r.track[0] == "os" for r in self.good if r.track != "process")
        twice = any(r.name == "thr.dst" and r.text.count(b" ") == 3 for r in self.good)
        return "vs" if decimal or twice or names & {"gch.gen", "vs"} else "doc"

    def info(self, path, start_utc):
        pids = [r.fields["processId"] for r in self.good if r.name == "apd.crf"]
        tids = self.last_by("thr.aos", "threadIid", "osThreadId")
        classes, tracks = {}, {}
        for record in self.events:
            classes[record.name] = classes.get(record.name, 0) + 1
            tracks.setdefault(record.who, []).append(record.ts)
        rows = [{"name": who, "pid": pids[0] if pids else None, "tid": None if who == "process" else tids.get(who[7:]),
                 "events": len(times), "begin": times[0], "end": times[-1]} for who, times in sorted(tracks.items())]
        return {"schema": 1, "path": path, "format": "tracelog", "version": self.version(), "byte_order": None,
                "bytes": self.size, "events": len(self.events),
                "classes": [{"name": name, "kind": FIRST.get(name, "instant"), "events": n} for name,
                            n in sorted(classes.items())],
                "tracks": rows, "clock": {"name": "milliseconds", "hz": 1000},
                "begin": self.events[0].ts if self.events else 0, "end": self.events[-1].ts if self.events else 0,
                "start_utc": start_utc, "lost": {"events": 0, "packets": 0}, "damage": sorted(self.damage)}

    def check(self, path):
        return {"schema": 1, "path": path, "format": "tracelog", "ok": not self.problems,
                "problems": sorted(self.problems, key=lambda problem: problem[0])}

    def jsonl(self):
        return [{"ts": r.ts, "class": r.name, "track": r.who, "fields": r.json} for r in self.events]

    # ------------------------------------------------------------------------------------------------------- samples

    def samples(self):
        """([(count, period in ns, record)] of those that count; the numbers of counted, empty and paused ones)"""
        period, paused, out, sums, method = 10, False, [], {"counted": 0, "empty": 0, "paused": 0}, None
        resumed = False
        for record in self.good:
            if record.name == "prf.cfg" and record.fields["name"] == "SamplingTimeoutMs":
                text = record.fields["value"]
                good = text.isascii() and text.isdigit() and 1 <= int(text) <= 3600000
                period = int(text) if good else 10
            elif record.name == "prf.cfg" and record.fields["name"] == "CollectionMethod":
                method = record.fields["value"]
            elif record.name == "prf.cfg" and record.fields["name"] == "TracingSuspendedOnStart":
                paused = paused or (record.fields["value"] == "T" and not resumed)
            elif record.name in ("prf.tps", "prf.trs"):
                paused, resumed = record.name == "prf.tps", True
            elif record.delta and record.fields["count"] and method != "Instrumentation":
                count = record.fields["count"]
                sums["paused"] += count if paused else 0
                sums["counted"] += count
                sums["empty"] += 0 if record.stack else count
                out.append((count, period * MS, record))
        return out, sums

    def calls(self):
        """Every frame that was ever on a stack, as dicts; a call that began and ended has both times."""
        config, stacks, every = {}, {}, []
        if not any(r.name == "prf.cfg" and r.fields["value"] == "Instrumentation" for r in self.good):
            return every
        for record in self.good:
            if record.name == "prf.cfg":
                config[record.fields["name"]] = record.fields["value"]
            if not record.delta:
                continue
            told = config.get("CollectionMethod") == "Instrumentation" and config.get("ExecutionTraceEnabled") != "F"
            kept, _, _, _, frames = record.delta
            stack = stacks.setdefault(record.who, [])
            begins = [None] * (kept - len(stack)) + [record.ts if told else None] * len(frames)
            for frame in stack[kept:]:
                frame["end"] = record.ts if told else None
                frame["left"] = told
            del stack[kept:]
            for begin in begins:
                below = stack[-1] if stack else None
                iid, name = record.stack[len(stack)][0], record.names[len(stack)] if begin is not None or not told else None
                place = (below["place"] if below else ()) + (name if name is not None else iid or "?",)
                stack.append({"iid": iid, "below": below, "place": place, "begin": begin, "end": None, "left": False})
                every.append(stack[-1])
        for frame in every:
            ended = frame["begin"] is not None and frame["end"] is not None
            frame["time"] = max(0, frame["end"] - frame["begin"]) if ended else None
            frame["inside"] = 0
        for frame in every:
            if frame["time"] is not None and frame["below"]:
                frame["below"]["inside"] += frame["time"]
        return every

    def unmatched(self):
        every = self.calls()
        return {"exits": sum(frame["left"] and frame["begin"] is None for frame in every),
                "open": sum(frame["begin"] is not None and frame["end"] is None for frame in every)}

    def add_calls(self, rows, key, outermost):
        """Adds calls to rows of samples: those of a key; `outermost` adds a key to the total only once in a stack."""
        times = {}
        for frame in self.calls():
            if frame["time"] is None:
                continue
            row = rows.setdefault(frame[key], {"calls": 0, "total": 0, "self": 0})
            row["calls"] += 1
            row["self"] += max(0, frame["time"] - frame["inside"])
            below = frame["below"] if outermost else None
            while below and not (below[key] == frame[key] and below["time"] is not None):
                below = below["below"]
            row["total"] += 0 if below else frame["time"]
            times.setdefault(frame[key], []).append(frame["time"])
        return {at: {name: value for name, value in spread(found).items() if name in NO_TIMES} for at, found in times.items()}

    def func(self):
        names = self.last_by("fun.nam", "internalId", "fullName")
        counted, sums = self.samples()
        sums_of, rows = {}, []
        for iid in {iid for _, _, record in counted for iid, _ in record.stack}:
            on = [(n, period) for n, period, record in counted if iid in [frame[0] for frame in record.stack]]
            top = [(n, period) for n, period, record in counted if record.stack and record.stack[-1][0] == iid]
            sums_of[iid] = {"calls": sum(n for n, _ in on), "total": sum(n * p for n, p in on), "self": sum(n * p for n, p in top)}
        times = self.add_calls(sums_of, "iid", True)
        for iid, row in sums_of.items():
            rows.append(dict({"id": None if iid is None else int(iid, 16), "name": names.get(iid), "file": None, "line": None},
                             **row, **times.get(iid, NO_TIMES)))
        rows.sort(key=lambda row: (-row["self"], -row["total"], row["id"] or 0))
        return {"schema": 1, "unit": "ns", "functions": rows, "unmatched": self.unmatched(), "samples": sums}

    def tree(self):
        counted, sums = self.samples()
        paths = [(n, period, tuple(name if name is not None else iid or "?" for name, (iid, _) in zip(r.names, r.stack)))
                 for n, period, r in counted]
        nodes = {}
        for n, period, path in paths:
            for depth in range(1, len(path) + 1):
                node = nodes.setdefault(path[:depth], {"calls": 0, "total": 0, "self": 0})
                node["calls"] += n
                node["total"] += n * period
                node["self"] += n * period if depth == len(path) else 0
        times = self.add_calls(nodes, "place", False)
        return {"schema": 1, "unit": "ns", "nodes": [dict({"stack": list(path)}, **node, **times.get(path, NO_TIMES))
                                                     for path, node in sorted(nodes.items())], "samples": sums}

    # ------------------------------------------------------------------------------------------------- the runtime's

    def gc(self):
        rows, running, stray, heap = [], [], 0, []
        for record in self.good:
            if record.name == "gch.gcs":
                running.append({"begin": record.ts, "end": None, "pause": None, "track": record.who,
                                "reason": record.fields["reason"], "generations": record.fields["gen_collect"]})
                rows.append(running[-1])
            elif record.name == "gch.gcf" and running:
                row = running.pop()
                row.update(end=record.ts, pause=max(0, record.ts - row["begin"]))
            elif record.name == "gch.gcf":
                stray += 1
            elif record.name == "gch.gen":
                heap.append({"ts": record.ts, "generations": record.fields["generations"]})
        marks = {name: len([row for row in rows if row["generations"][at] == "t"])
                 for at, name in enumerate(("gen0", "gen1", "gen2", "loh"))}
        return {"schema": 1, "unit": "ns", "collections": rows, "induced": len([row for row in rows if row["reason"]]),
                "by_generation": marks, "pause": spread([row["pause"] for row in rows if row["end"] is not None]),
                "heap": heap, "unmatched": {"ends": stray, "open": len(running)}}

    def jit(self):
        names = self.last_by("fun.nam", "internalId", "fullName")
        codes = [(at, r.fields["functionId"], r.fields["internalId"], sum(int(c["size"], 16) for c in r.fields["code_info"]))
                 for at, r in enumerate(self.good) if r.name.startswith("fun.") and r.name != "fun.nam"]
        rows, times, stray, left = {}, [], 0, 0
        for at, end, begin in self.jobs():
            if begin is None:
                stray += 1
                continue
            handle = begin.fields["functionId"]
            below = [c[2:] for c in codes if c[1] == handle and c[0] > at]
            above = [c[2:] for c in codes if c[1] == handle and c[0] < at]
            iid, size = below[0] if below else above[-1] if above else (None, 0)
            row = rows.setdefault((handle, iid), {"compiled": 0, "searched": 0, "failed": 0, "total": 0, "max": 0,
                                                  "code_bytes": 0})
            row["code_bytes"] = size
            if end is None:
                left += 1
                continue
            took = max(0, end.ts - begin.ts)
            row["compiled" if begin.name == "jit.cms" else "searched"] += 1
            if begin.name == "jit.cms":
                times.append(took)
                row["failed"] += int(end.fields["status"], 16) >= 1 << 31
                row.update(total=row["total"] + took, max=max(row["max"], took))
        order = sorted(rows, key=lambda key: [int(part or "0", 16) for part in key])
        return {"schema": 1, "unit": "ns", "methods": [dict({"id": key[0], "iid": key[1], "name": names.get(key[1])}, **rows[key])
                                                       for key in order],
                "compile": spread(times), "unmatched": {"ends": stray, "open": left}}

    def jobs(self):
        """[(place of the begin, end or None, begin or None)] in the order of the begins; a stray end has no begin."""
        jobs, running = [], {}
        for at, record in enumerate(self.good):
            if not record.name.startswith("jit."):
                continue
            # A thread without a name is shown by its number.
            who = record.who if record.who != "thread ?" else record.fields.get("osThreadId")
            queue = running.setdefault((who, record.name[4:6], record.fields["functionId"]), [])
            if record.name.endswith("s"):
                queue.append([at, None, record])
                jobs.append(queue[-1])
            elif queue:
                queue.pop()[1] = record
            else:
                jobs.append([at, record, None])
        return jobs

    def alloc(self):
        names = self.last_by("cls.nam", "classIid", "className")
        items = [item for record in self.good if record.name == "sam.mem" for item in record.fields["alloc_item"]]
        tables = [record for record in self.good if record.name == "gch.alt"]
        live = {"ts": tables[-1].ts, "classes": types(tables[-1].fields["alt_item"], names)} if tables else None
        return {"schema": 1, "unit": "bytes", "classes": types(items, names), "count": sum(item["allocCount"] for item in items),
                "bytes": sum(item["memSize"] for item in items), "live": live}

    def cpu(self):
        step, tracks, negative, resumed, since = None, {}, {}, False, 0
        for record in self.good:
            if record.name == "prf.cfg" and record.fields["name"] == "CpuTraceTimeoutMs":
                step = int(record.fields["value"]) if record.fields["value"].isdigit() else None
            elif record.name == "prf.cfg" and record.fields["name"] == "TracingSuspendedOnStart":
                since = None if record.fields["value"] == "T" and not resumed else since
            elif record.name in ("prf.tps", "prf.trs"):
                resumed = True
                since = record.ts if since is None and record.name == "prf.trs" else since
            elif record.name in ("prc.cpu", "thr.cpu"):
                points = tracks.setdefault(record.who, [])
                begin = points[-1]["end"] if points else None if step is None else max(0, record.ts - step * MS)
                if not points and begin is not None and (since is None or begin < since):
                    begin = None
                negative[record.who] = negative.get(record.who, 0) + (record.fields["usage"] < 0)
                points.append({"begin": begin, "end": record.ts, "used": max(0, record.fields["usage"]) * 1000})
        rows = []
        for who, points in sorted(tracks.items()):
            known = [point for point in points if point["begin"] is not None]
            rows.append({"track": who, "used": sum(point["used"] for point in known),
                         "elapsed": sum(point["end"] - point["begin"] for point in known), "points": points})
            if negative[who]:
                rows[-1]["negative"] = negative[who]
        return {"schema": 1, "unit": "ns", "tracks": rows}


def types(items, names):
    sums = {}
    for item in items:
        n, size = sums.get(item["classIid"], (0, 0))
        sums[item["classIid"]] = (n + item["allocCount"], size + item["memSize"])
    rows = [{"iid": iid, "name": names.get(iid), "count": n, "bytes": size} for iid, (n, size) in sums.items()]
    return sorted(rows, key=lambda row: (-row["bytes"], int(row["iid"] or "0", 16)))


def spread(values):
    values = sorted(values)
    out = {"count": len(values), "total": sum(values)}
    for name, percent in (("min", 0), ("p50", 50), ("p90", 90), ("p99", 99), ("max", 100)):
        rank = -(-percent * len(values) // 100)         # nearest rank, from 1 on
        out[name] = values[max(rank, 1) - 1] if values else None
    return out
