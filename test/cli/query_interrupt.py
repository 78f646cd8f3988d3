#!/usr/bin/env python3
"""^C ends a statement of `query` soon, wherever it is: exit status 5, and what was meant is said. Over a generated log; the
time that it took is printed, and only a hang fails."""
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import xray_gen

SOON = 10  # seconds; 0.1 are the aim, and what the command is given here is less than a processor
STATEMENTS = {"sort": "SELECT thread, function_id, ts / 7, count(*) FROM events, (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) GROUP BY 1, 2, 3",
              "order": "SELECT count(*) FROM (SELECT ts FROM events, events_of ORDER BY ts * 7919 % 10007, ts LIMIT 100000000)",
              "nothing": "SELECT count(*) FROM events AS a, (SELECT 1 UNION ALL SELECT 2) WHERE a.name GLOB '*nothing*' OR a.ts = -1 AND a.fields = 'x'",
              "join": "SELECT count(*) FROM events AS a, events AS b WHERE a.ts + b.ts = -1",
              "percentile": " UNION ALL ".join(4 * ["SELECT percentile(ts, 50), percentile(id, 9) FROM events"]),
              "kept": "SELECT count(*) FROM events AS a, (SELECT 1 UNION ALL SELECT 2) AS c, events AS b WHERE a.id = b.id + 1",
              "distinct": "SELECT count(DISTINCT ts * 3 + cpu) FROM events, (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)",
              "report": "SELECT max(self) FROM function_stats", "places": "SELECT max(self) FROM places",
              "classes": "SELECT max(gap_max) FROM class_stats"}
STATEMENTS["order"] = STATEMENTS["order"].replace("events_of", "(SELECT 1 UNION ALL SELECT 2)")
QUICK = ("report", "places", "classes")
ROUNDS = 12 if harness.THOROUGH else 3


def interrupted(log, sql, delay):
    """(exit status, seconds from the signal to the end, what it said); None: it had ended before."""
    process = subprocess.Popen(harness.binary() + ["query", "-q", "--to", "csv", log, sql], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        process.wait(timeout=delay)
        return None
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    began = time.monotonic()
    said = process.communicate(timeout=600)[1].decode(errors="replace")
    return process.returncode, time.monotonic() - began, said


def main():
    checks, rng = harness.Checks(), random.Random(5)
    with harness.work_folder() as folder:
        log = os.path.join(folder, "large.xray")
        xray_gen.bulk(log, 4_000_000)
        if b"without SQLite" in harness.run("query", "-q", log, "SELECT 1").err:
            harness.skip("this build has no SQL")
        times = 0
        for name, sql in STATEMENTS.items():
            took = []
            for delay in [rng.uniform(0.2, 0.6) if name in QUICK else rng.uniform(0.4, 1.5) for i in range(ROUNDS)]:
                end = interrupted(log, sql, delay)
                if end is None or end[0] == -signal.SIGINT or (name in QUICK and end[0] == 0):
                    continue  # it had ended, or had not begun
                took.append(end[1])
                checks.equal(end[0], 5, name, "%.2f s" % delay, "exit status", end[2][-300:])
                checks.that("interrupted" in end[2], name, "says", end[2][-300:])
                checks.that(end[1] < SOON, name, "ended %.2f s after the signal" % end[1])
            times += len(took)
            print("%s: %d times, at most %.0f ms" % (name, len(took), 1000 * max(took, default=0)))
        checks.that(times > 0, "no statement was interrupted")
    checks.end()


if __name__ == "__main__":
    main()
