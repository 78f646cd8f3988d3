#!/usr/bin/env python3
"""Latencies of pairs in report --by class: class_pairs.py

A trace is made of events whose classes pair by name, in several threads that move between two processors, nested, and
with begins and ends that miss the other. What the command says is what a plain loop over the same events finds."""
import csv
import io
import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

# (begin, end, their common words); and classes that look like half of a pair, or have a word inside another.
PAIRS = [("syscall_entry_read", "syscall_exit_read", "syscall_read"), ("syscall_entry_futex", "syscall_exit_futex", "syscall_futex"),
         ("app:start", "app:stop", "app"), ("x_begin", "x_end", "x"), ("begin.of.it", "end.of.it", "of.it"), ("load_start", "load_end", "load"),
         ("irq_enter", "irq_exit", "irq"), ("begin_of_begin", "begin_of_end", "begin_of"), ("enter", "exit", "enter"), ("y_entry", "y_exit", "y")]
OTHERS = ["y_enter", "restart_it", "restop_it", "lonely_begin", "trend", "x_exit"]
NAMES = [name for begin, end, _ in PAIRS for name in (begin, end)] + OTHERS
MOST = 65536 # TL_PAIRS_OPEN_MAX

METADATA = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; map = clock.c.value; } := time;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
clock { name = c; freq = 1000000000; };
stream { id = 0; packet.context := struct { u32 content_size; u32 packet_size; u32 cpu_id; };
 event.header := struct { u32 id; time timestamp; };%s };
"""


def write(folder, events, threads):
    """events: (time, processor, thread and 1000 times its process, number of the name), by time."""
    os.makedirs(folder)
    context = "\n event.context := struct { u32 vtid; u32 vpid; };" if threads else ""
    with open(os.path.join(folder, "metadata"), "w", encoding="ascii") as file:
        file.write(METADATA % context + "".join('event { id = %d; name = "%s"; stream_id = 0; };\n' % named for named in enumerate(NAMES)))
    for cpu in (0, 1):
        data = b"".join(struct.pack("<IQ", name, time) + (struct.pack("<II", thread % 1000, thread // 1000) if threads else b"")
                        for time, at, thread, name in events if at == cpu)
        bits = 8 * (20 + len(data))
        with open(os.path.join(folder, "stream_%d" % cpu), "wb") as file:
            file.write(struct.pack("<IIIII", 0xc1fc1fc1, 0, bits, bits, cpu) + data)


def made(seed, n):
    """Events at the same time do not depend on the order of processors: times differ."""
    choose, time, out = random.Random(seed), 0, []
    for _ in range(n):
        time += choose.randint(1, 400) if choose.random() < 0.99 else choose.randint(10000, 3000000)
        out.append((time, choose.randint(0, 1), choose.randint(100, 104) + 1000 * choose.randint(1, 2), choose.randrange(len(NAMES))))
    return out


def rank(values, percent):
    return values[max(0, -(-len(values) * percent // 100) - 1)]


def expected(events, threads):
    rows = {}
    for number, (begin, end, name) in enumerate(PAIRS):
        waiting, took, no_begin, no_end = {}, [], 0, 0
        for time, cpu, thread, event in events:
            key = thread if threads else cpu
            if event == 2 * number:
                waiting.setdefault(key, []).append(time)
            elif event == 2 * number + 1 and waiting.get(key):
                took.append(time - waiting[key].pop())
            elif event == 2 * number + 1:
                no_begin += 1
        no_end = sum(len(stack) for stack in waiting.values())
        rows[name] = (begin, end, sorted(took), no_end, no_begin)
    return {name: row for name, row in rows.items() if row[2] or row[3] or row[4]}


def check(checks, folder, events, threads):
    write(folder, events, threads)
    rows = harness.run("report", "--json", "--by", "class", folder).json()["pairs"]
    wanted = expected(events, threads)
    checks.equal({row["pair"] for row in rows}, set(wanted), "pairs")
    checks.equal([(-row["total"], row["pair"]) for row in rows], sorted((-row["total"], row["pair"]) for row in rows), "the order")
    for row in rows:
        begin, end, took, no_end, no_begin = wanted[row["pair"]]
        checks.equal((row["begin_class"], row["end_class"], row["pairs"], row["total"], row["no_end"], row["no_begin"]),
                     (begin, end, len(took), sum(took), no_end, no_begin), row["pair"], threads)
        if not took:
            checks.equal((row["min_dur"], row["p50"], row["max_dur"]), (None, None, None), row["pair"])
            continue
        checks.equal((row["min_dur"], row["max_dur"]), (took[0], took[-1]), row["pair"])
        for percent in (50, 90, 99):
            got, exact = row["p%d" % percent], rank(took, percent)
            checks.that(abs(got - exact) <= exact * 0.002, row["pair"], percent, got, exact)


def check_limit(checks, folder):
    """More begins than are remembered: the oldest are given up, and their ends are ends without begin."""
    more = 100
    begins = [(1 + at, 0, 1000 * at, 0) for at in range(MOST + more)]
    ends = [(10 ** 6 + at, 0, 1000 * at, 1) for at in range(MOST + more)]
    write(folder, begins + ends, True)
    row, = harness.run("report", "--json", "--by", "class", folder).json()["pairs"]
    checks.equal((row["pairs"], row["no_end"], row["no_begin"]), (MOST, more, more), "the limit")
    checks.equal((row["min_dur"], row["max_dur"]), (10 ** 6 - 1, 10 ** 6 - 1), "the limit")


def check_recorded(checks, path, begin, end, name):
    """A trace that another tracer recorded, whose events name no threads."""
    waiting, took = {}, []
    for line in harness.run("convert", path, "--to", "jsonl", "-o", "-").text().splitlines():
        event = json.loads(line)
        if event["class"] == begin:
            waiting.setdefault(event["track"], []).append(event["ts"])
        elif event["class"] == end:
            took.append(event["ts"] - waiting[event["track"]].pop())
    row, = harness.run("report", "--json", "--by", "class", path).json()["pairs"]
    checks.that(took, path, "has no", begin)
    checks.equal((row["pair"], row["pairs"], row["total"], row["min_dur"], row["max_dur"], row["no_end"], row["no_begin"]),
                 (name, len(took), sum(took), min(took), max(took), sum(len(stack) for stack in waiting.values()), 0), path)


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        for seed in range(4):
            for threads in (True, False):
                check(checks, os.path.join(folder, "%d-%d" % (seed, threads)), made(seed, 3000), threads)
        few = [(10, 0, 100, 0), (20, 0, 100, 0), (35, 0, 100, 1)] # one begin is left, and the inner one has the end
        check(checks, os.path.join(folder, "few"), few, True)
        check(checks, os.path.join(folder, "ends"), [(10, 0, 100, 1)], True)
        text = harness.run("report", "--by", "class", os.path.join(folder, "few"), env={"LC_ALL": "C"}).text()
        line, = [line.split() for line in text.splitlines() if line.endswith(" syscall_read")]
        checks.equal(line, "1 15 ns 15 ns 15 ns 15 ns 15 ns 1 syscall_read".split(), text)
        rows = list(csv.DictReader(io.StringIO(harness.run("report", "--by", "class", "--to", "csv", os.path.join(folder, "few")).text())))
        checks.equal([row["class"] for row in rows], ["syscall_entry_read", "syscall_exit_read"], "csv has the classes")
        part = harness.run("report", "--json", "--by", "class", "--time", "5ns..", os.path.join(folder, "few")).json()["pairs"]
        checks.equal([(row["pairs"], row["no_end"]) for row in part], [(1, 0)], "a part of the time")
        check_limit(checks, os.path.join(folder, "many"))
        corpus = os.path.join(os.environ.get("TL_SHARED", ""), "corpus/ctf")
        if os.path.isdir(corpus):
            check_recorded(checks, corpus + "/bt2/succeed/session-rotation/a/1", "lttng_ust_statedump:start", "lttng_ust_statedump:end",
                           "lttng_ust_statedump")
            check_recorded(checks, corpus + "/actf/philo", "begin", "end", "begin")
        # A trace of another recorder, without pairs.
        log = harness.run("report", "--json", "--by", "class", os.path.join(harness.SOURCE, "test/golden/input/ctf-2")).json()
        checks.that(log["classes"] and log["pairs"] == [], "no pairs", log["pairs"])
    checks.end()


if __name__ == "__main__":
    main()
