#!/usr/bin/env python3
"""States of threads, `report --by state`, against a simulated scheduler that knows them, and against a recount of the events:
thread_states.py simulated|lost|hostile|corpus"""
import collections
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import json
import small_ctf

SWITCH, WAKE, OTHER = 0, 1, 2
CLASSES = [("sched_switch", [("prev_comm", "string"), ("prev_tid", "i32"), ("prev_state", "i64"), ("next_comm", "string"), ("next_tid", "i32")]),
           ("sched_waking", [("comm", "string"), ("tid", "i32"), ("target_cpu", "i32")]), ("other", [("tid", "i32")])]
CORPUS = "ctf/bt2/succeed/lttng-tracefile-rotation/kernel"


def name(tid):
    return "swapper" if tid == 0 else "thread <%d>" % tid


class Scheduler:
    """Processors that run threads. Every thread's state, and since when, is a fact here, not a conclusion from events."""

    def __init__(self, rng, cpus, threads):
        self.rng, self.now = rng, 1000
        self.running = [0] * cpus
        self.state = {tid: "ready" if rng.random() < 0.5 else "blocked" for tid in range(1, threads + 1)}
        self.since = {tid: None for tid in self.state}             # when an event told the state
        self.events = [[] for _ in range(cpus)]
        self.intervals = collections.defaultdict(list)

    def change(self, tid, state):
        if self.since[tid] is not None:
            self.intervals[tid, self.state[tid]].append(self.now - self.since[tid])
        self.state[tid], self.since[tid] = state, self.now

    def switch(self, cpu, to, state):
        """state: of the thread that runs there."""
        from_, bits = self.running[cpu], {"ready": self.rng.choice([0, 0x100, 0x400]), "blocked": self.rng.choice([1, 4, 8, 0x101]),
                                          "uninterruptible": self.rng.choice([2, 0x102, 3])}[state]
        self.events[cpu].append((self.now, SWITCH, [name(from_), from_, bits, name(to), to]))
        if from_:
            if self.since[from_] is None:
                self.since[from_] = self.now    # what it did before is not in the trace
                self.state[from_] = state
            else:
                self.change(from_, state)
        if to:
            self.change(to, "running")
        self.running[cpu] = to

    def step(self):
        self.now += self.rng.choice([1, 2, 5, 100, 3000, 10 ** 6])
        cpu = self.rng.randrange(len(self.running))
        ready = [tid for tid, state in self.state.items() if state == "ready"]
        asleep = [tid for tid, state in self.state.items() if state in ("blocked", "uninterruptible")]
        if asleep and self.rng.random() < 0.4:
            tid = self.rng.choice(asleep)
            for again in range(self.rng.choice([1, 1, 2])):        # waking, and then woken up
                self.events[cpu].append((self.now, WAKE, [name(tid), tid, cpu]))
                if again == 0:
                    self.change(tid, "ready")
                self.now += 1
        elif self.rng.random() < 0.1:
            self.events[cpu].append((self.now, OTHER, [7]))
        else:
            to = self.rng.choice(ready) if ready and self.rng.random() < 0.8 else 0
            if to or self.running[cpu]:
                self.switch(cpu, to, self.rng.choice(["ready", "blocked", "uninterruptible"]) if self.running[cpu] else "ready")


def recount(events):
    """Intervals by thread and state from (ts, cpu, class, fields), and switches from threads that did not run."""
    known, on, found, lost = {}, {}, collections.defaultdict(list), 0

    def enter(tid, state, ts):
        if tid in known and known[tid] is not None:
            before, since = known[tid]
            found[tid, before].append(ts - since)
        known[tid] = (state, ts)
    for ts, cpu, number, f in events:
        if number == WAKE and f["tid"] != 0 and (known.get(f["tid"]) or ("none",))[0] not in ("running", "ready"):
            enter(f["tid"], "ready", ts)
        if number != SWITCH:
            continue
        from_, to = f["prev_tid"], f["next_tid"]
        if cpu in on and on[cpu] >= 0 and on[cpu] != from_:
            lost += 1
            if (known.get(on[cpu]) or ("none",))[0] == "running":
                known[on[cpu]] = None
            known[from_] = None
        elif on.get(cpu, -1) < 0 or (known.get(from_) or ("none",))[0] != "running":
            known[from_] = None
        low = f["prev_state"] & 0xff
        if from_:
            enter(from_, "ready" if low == 0 else "uninterruptible" if low & 2 else "blocked", ts)
        if to:
            if (known.get(to) or ("none",))[0] == "running":
                known[to] = None
            enter(to, "running", ts)
        on[cpu] = to
    return found, lost


def percentile(values, permille):
    return sorted(values)[max(0, -(-len(values) * permille // 1000) - 1)]


def compare(checks, path, intervals, lost, *more):
    report = harness.run("report", path, "--by", "state", "--json", *more).json()
    got = {(row["tid"], row["state"]): row for row in report["states"]}
    checks.equal(len(got), len(report["states"]), "rows")
    checks.equal(set(got), {key for key, values in intervals.items() if values}, "threads and states")
    checks.equal(report["lost"], lost, "lost")
    known = collections.Counter()
    for (tid, _), values in intervals.items():
        known[tid] += sum(values)
    for key, row in got.items():
        values = intervals[key]
        checks.equal([row["count"], row["total"], row["min_dur"], row["max_dur"]], [len(values), sum(values), min(values), max(values)], key)
        for column, permille in (("p50", 500), ("p99", 990)):
            right = percentile(values, permille)
            checks.that(abs(row[column] - right) <= right / 250 + 1, key, column, row[column], right)
        checks.that(abs(row["share"] * (known[key[0]] or 1) - sum(values)) < 1e-6 * (known[key[0]] or 1), key, "share")
    running = [sum(intervals.get((tid, "running"), [])) for tid in dict.fromkeys(row["tid"] for row in report["states"])]
    checks.equal(running, sorted(running, reverse=True), "order of threads")
    rows = harness.run("query", path, "SELECT tid, state, total, count FROM states", "--to", "jsonl").out.decode().splitlines()
    checks.equal([list(json.loads(row).values()) for row in rows], [[r["tid"], r["state"], r["total"], r["count"]] for r in report["states"]], "SQL")
    return report


def events_of(path):
    """Of a trace of any tracer, from the table of events."""
    out = harness.run("query", path, "SELECT ts, cpu, fields FROM events WHERE fields LIKE '%tid%' ORDER BY ts", "--to", "jsonl").out.decode()
    events = []
    for line in out.splitlines():
        row = json.loads(line)
        f = row["fields"]
        if {"prev_tid", "next_tid", "prev_state"} <= set(f):
            events.append((row["ts"], row["cpu"], SWITCH, f))
        elif {"tid", "target_cpu"} <= set(f):
            events.append((row["ts"], row["cpu"], WAKE, f))
    return events


def simulated(checks, folder):
    for seed in range(12):
        rng = random.Random(seed)
        s = Scheduler(rng, rng.choice([1, 2, 5]), rng.choice([1, 3, 20]))
        for _ in range(1500):
            s.step()
        path = small_ctf.write(os.path.join(folder, "t%d" % seed), CLASSES, list(enumerate(s.events)))
        report = compare(checks, path, s.intervals, 0)
        checks.equal(report["switches"], sum(e[1] == SWITCH for list_ in s.events for e in list_), "switches")
        checks.equal({row["name"] for row in report["states"]}, {name(row["tid"]) for row in report["states"]}, "names")
        found, lost = recount(events_of(path))
        checks.equal((dict(found), lost), ({k: v for k, v in s.intervals.items() if v}, 0), "the recount itself")


def lost(checks, folder):
    for seed in range(12):
        rng = random.Random(1000 + seed)
        s = Scheduler(rng, 3, 9)
        for _ in range(1500):
            s.step()
        streams = [(cpu, [e for e in list_ if rng.random() < 0.9]) for cpu, list_ in enumerate(s.events)]
        path = small_ctf.write(os.path.join(folder, "t%d" % seed), CLASSES, streams)
        found, count = recount(events_of(path))
        checks.that(count > 0, "nothing was lost")
        compare(checks, path, found, count)
        text = harness.run("report", path, "--by", "state").text()
        checks.that("events are lost" in text.splitlines()[0], text.splitlines()[0])


def hostile(checks, folder):
    """Numbers of threads and states without sense, names with control characters, and more threads than are followed."""
    rng = random.Random(5)
    tids = [0, -1, 1, 2 ** 31 - 1, -2 ** 31, 7]
    events, now = [], 0
    for _ in range(3000):
        now += rng.randrange(1, 9)
        if rng.random() < 0.6:
            events.append((now, SWITCH, ["\x1b[2J", rng.choice(tids), rng.choice([0, -1, 2 ** 62, 2, 255]), "x" * 300, rng.choice(tids)]))
        else:
            events.append((now, WAKE, ["</script>", rng.choice(tids), 0]))
    path = small_ctf.write(os.path.join(folder, "odd"), CLASSES, [(0, events[::2]), (1, events[1::2])])
    found, count = recount(events_of(path))
    compare(checks, path, found, count)
    checks.that("\x1b" not in harness.run("report", path, "--by", "state").text(), "control characters")
    most = 65536
    path = small_ctf.write(os.path.join(folder, "many"), CLASSES, [(0, [(i, WAKE, ["t", i + 1, 0]) for i in range(most + 10)] +
                                                                   [(most + 20, SWITCH, ["t", 5, 0, "t", most + 3]), (most + 30, SWITCH, ["t", most + 3, 1, "t", 5])])])
    report = harness.run("report", path, "--by", "state", "--json").json()
    checks.equal((report["ignored"], report["wakes"]), (12, most + 10), "threads beyond the limit")
    checks.that("too many threads: 12 events ignored" in harness.run("report", path, "--by", "state").text(), "said")
    empty = small_ctf.write(os.path.join(folder, "none"), CLASSES, [(0, [(1, OTHER, [3])])])
    checks.that("no switches of threads" in harness.run("report", empty, "--by", "state").text(), "without switches")
    result = harness.run("report", os.path.join(folder, "odd"), "--by", "state", "--thread", "x")
    checks.that(result.status == 2 and b"depends on the events of all" in result.err, "--thread", result)
    part = harness.run("report", path, "--by", "state", "--time", "..100ns", "--json").json()
    checks.equal(part["switches"], 0, "--time")
    for missing in ("prev_tid", "prev_state", "next_tid"):
        classes = [("s", [f for f in CLASSES[0][1] if f[0] != missing])]
        path = small_ctf.write(os.path.join(folder, "no_" + missing), classes, [(0, [(1, 0, [{"string": "a"}.get(kind, 1) for _, kind in classes[0][1]])])])
        checks.equal(harness.run("report", path, "--by", "state").status, 1, "without", missing)


def corpus(checks, folder):
    path = harness.shared("corpus", CORPUS)
    if not os.path.isdir(path):
        harness.skip("no kernel trace in the corpus: " + folder)
    found, count = recount(events_of(path))
    report = compare(checks, path, found, count)
    checks.that(report["switches"] > 4000 and report["wakes"] > 4000 and len(found) > 300, "switches and wake-ups", report["switches"], report["wakes"])


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        {"simulated": simulated, "lost": lost, "hostile": hostile, "corpus": corpus}[sys.argv[1]](checks, folder)
    checks.end()


main()
