#!/usr/bin/env python3
"""The server of the page (`traceloom serve`) with a log of XRay: the first screen beside `report`, and how long questions take.

    serve.py [--folder DIR] [--repeat N] [--write] [--quick]

Records the log if it is not there (record.sh). Ranges are drawn with a fixed seed; an answer is complete when its last byte came."""
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import xray
from bench_tools import MB, arguments, finish, introduction

RANGES = 100
SHARES = (0.5, 0.1, 0.01, 0.001)  # of the time, in turns
SQL = "SELECT count(*), max(dur) FROM calls"


def best(repeat, f):
    return min(f() for _ in range(repeat))


def seconds(*words):
    begin = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


class Server:
    def __init__(self, *words):
        self.begin = time.monotonic()
        self.process = subprocess.Popen([*words, "--timeout", "600s"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        self.get("")
        self.first = time.monotonic() - self.begin

    def get(self, question, **keys):
        """Seconds, and the answer."""
        pairs = "&".join("%s=%s" % (key, urllib.parse.quote(str(value), safe="")) for key, value in keys.items())
        begin = time.monotonic()
        with urllib.request.urlopen(self.url + question + ("?" + pairs if pairs else ""), timeout=600) as answer:
            body = answer.read()
        return time.monotonic() - begin, body

    def memory(self):
        """Bytes: now, and at most so far."""
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return [int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM")]

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


def ms(value):
    return "%.1f ms" % (1000 * value)


def at(times, share):
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def measure(args, path):
    busy, page = os.path.join(args.folder, "busy"), os.path.join(args.folder, "page.html")
    span = json.loads(subprocess.run([args.traceloom, "info", "-q", "--json", path], check=True, capture_output=True).stdout)["end"]
    report = best(args.repeat, lambda: seconds(args.traceloom, "report", "-q", "-f", "-e", busy, path, "-o", page))
    shown = best(args.repeat, lambda: seconds(args.traceloom, "report", "-q", "-e", busy, "--by", "tree", path))
    servers = []
    for _ in range(args.repeat):
        server = Server(args.traceloom, "serve", "-q", "-e", busy, path)
        servers.append(server.first)
        if len(servers) < args.repeat:
            server.end()
    draw, small, ranges, calls = random.Random(1), [], {share: [] for share in SHARES}, []
    for _ in range(RANGES):
        small.append(server.get("q/meta")[0])
    for i in range(RANGES):
        share = SHARES[i % len(SHARES)]
        begin = draw.randrange(int(span * (1 - share)))
        t = "%dns..%dns" % (begin, begin + int(span * share))
        ranges[share].append(server.get("q/profile", t=t)[0])
        calls.append(server.get("q/calls", t=t, n=100)[0]) if share == SHARES[-1] else None
    sql, whole, (now, most) = server.get("q/sql", sql=SQL)[0], server.get("q/profile")[0], server.memory()
    status = server.end()
    every = [v for times in ranges.values() for v in times]
    size = os.path.getsize(path)
    rows = [["log", "%.0f MB" % (size / MB)], ["`report --by tree`", ms(shown)], ["`report -o x.html`", ms(report)],
            ["`serve`, until the page is there", "%s (%.2f times `report --by tree`)" % (ms(min(servers)), min(servers) / shown)],
            ["... and until its times and tables are", ms(whole)],
            ["a small answer, p50, p99", "%s, %s" % (ms(at(small, 0.5)), ms(at(small, 0.99)))],
            ["the profile of %d ranges, p50, p99" % RANGES, "%s, %s" % (ms(at(every, 0.5)), ms(at(every, 0.99)))]]
    rows += [["ranges of %g %% of the time, p50" % (100 * share), ms(at(times, 0.5))] for share, times in ranges.items()]
    rows += [["the 100 longest calls of 0.1 %, p50", ms(at(calls, 0.5))], ["SQL: the number of calls, and the longest", ms(sql)],
             ["memory, now and at most", "%.0f, %.0f MB" % (now / MB, most / MB)]]
    return rows, status


def main():
    args = arguments(__doc__, "", 3, "the log of 100 MB, twice")
    name = "100m" if args.quick else "1g"
    path = xray.record(args.folder, name, *xray.LOGS[name][0])
    rows, status = measure(args, path)
    lines = introduction(args) + ["", "| | |", "|---|---:|"] + ["| %s | %s |" % tuple(row) for row in rows]
    return finish(args, "serve", lines, ["status %d" % status] if status else ())


if __name__ == "__main__":
    sys.exit(main())
