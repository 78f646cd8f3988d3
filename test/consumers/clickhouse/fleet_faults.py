#!/usr/bin/env python3
"""`load` while the n-th call of one kind fails, for many n, with a real server: fleet_faults.py SHIM [KIND...]

Whatever fails, it ends by itself, with a message and status 3, or goes on; nothing leaks, and a trace can be seen as a
whole or not at all. The same command again, without faults, leaves everything there, once. With TL_FAULT_ALL=1 in the
environment every n is tried."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fleet  # noqa: E402
from cluster import Cluster, find  # noqa: E402
from fleet import Fleet, big_trace, harness  # noqa: E402

sys.path.insert(0, os.path.join(harness.SOURCE, "test", "fault"))
sys.path.insert(0, os.path.join(harness.SOURCE, "test", "serve"))
import fault_serve  # noqa: E402

fault_serve.TRIES = 12
KINDS = ("malloc:%d", "malloc+:%d", "read:%d", "write:%d", "thread:%d", "thread+:%d")
TABLES = ("events", "calls", "functions")
CALLS = 20  # of a trace


class Run:
    def __init__(self, f, path, shim, fault, report):
        env = dict(os.environ, LC_ALL="C", TRACELOOM_LLVM="off", LD_PRELOAD=shim, TL_FAULT=fault, TL_FAULT_REPORT=report)
        words = [*harness.binary("TL_PLAIN_BINARY"), "load", "--threads", "2", "--server", f.server]
        done = subprocess.run([*words, *[w for t in TABLES for w in ("--table", t)], path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=120, check=False)
        self.status, self.said = done.returncode, done.stdout.decode("utf-8", "replace")
        self.faults, self.live, self.descriptors, *counts = fault_serve.numbers_in(report)
        self.counts = dict(zip(fault_serve.CALLS, counts))

    def __str__(self):
        return "status %s, faults %s, live %s, says %s" % (self.status, self.faults, self.live, self.said[-400:])


def kept(kind, n):
    """Blocks that libraries may keep after one of their first allocations failed, which they go on without."""
    return 2 if kind.startswith("malloc:") and n < 10 else 0


def judge(f, fault, run, good, slack, events, whole):
    """events: that can be seen now; whole: those of the traces before."""
    each = 4 * CALLS
    f.checks.that(run.status in (0, 3, 5), fault, "status", run)
    f.checks.that(run.status == 0 or run.said.count("\n") in (1, 2), fault, "is not one message:", run)
    f.checks.that(events in (whole, whole + each) and (run.status or events > whole), fault, "can be seen:", events, "events of", whole + each, run)
    f.checks.that(run.live <= good.live + slack, fault, "leaks", run.live, "blocks, not", good.live, run)
    f.checks.that(run.descriptors <= good.descriptors, fault, "leaves descriptors open:", run)


def main():
    shim, kinds = sys.argv[1], sys.argv[2:] or KINDS
    if not find("clickhouse-server"):
        harness.skip("no clickhouse-server; tools/install-deps.sh fleet installs it")
    work = os.path.join(os.environ["TL_WORK"], "fleet", "faults")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    report, traces, fired = os.path.join(work, "report"), 0, 0
    with Cluster(os.path.join(work, "servers")) as cluster:
        f = Fleet(harness.binary("TL_PLAIN_BINARY")[0], cluster, harness.Checks(show=60))
        f.create()
        good = Run(f, big_trace(work, 1, CALLS), shim, "count", report)
        f.checks.equal(good.status, 0, "without any fault", good)
        for kind in kinds:
            for n in fault_serve.some(good.counts[kind.split(":")[0].rstrip("+")]):
                traces += 1
                whole = f.count("events")
                path = big_trace(work, 1 + traces, CALLS)
                run = Run(f, path, shim, kind % n, report)
                for _ in range(2):  # blocks of the C library for threads vary with timing; leaks do not
                    if run.live <= good.live + kept(kind, n) or run.faults == 0:
                        break
                    f.load(*[w for t in TABLES for w in ("--table", t)], path)
                    traces, whole = traces + 1, f.count("events")
                    path = big_trace(work, 1 + traces, CALLS)
                    run = Run(f, path, shim, kind % n, report)
                judge(f, kind % n, run, good, kept(kind, n), f.count("events"), whole)
                fired += run.faults != 0
                f.load(*[w for t in TABLES for w in ("--table", t)], path)
                os.remove(path)
        expected = [str(4 * CALLS * (traces + 1))] * 2
        f.checks.equal(f.rows("SELECT count(), uniqExact(trace, seq) FROM events_all"), [expected], "all traces, once")
        f.checks.equal(f.count("events"), int(expected[0]), "all can be seen")
        f.checks.that(fired > traces / 2, "few runs had a fault:", fired, "of", traces)
        print("%d runs, %d with a fault" % (traces, fired))
    shutil.rmtree(work, ignore_errors=True)
    f.checks.end()


if __name__ == "__main__":
    main()
