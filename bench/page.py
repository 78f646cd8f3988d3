#!/usr/bin/env python3
"""The page of `report -o x.html` in a browser: page.py [--quick] [--write] [--repeat N]

How long it takes to open, beside speedscope with the same calls, and how long the frames of a zoom take. Needs node,
puppeteer-core, Chromium and, for its row, speedscope; rows of what is not there are left out, and say so."""
import json
import os
import shutil
import statistics
import subprocess
import sys

import bench_tools
from bench_tools import BAR_HEAD, HERE, M, MB, TOP, bar_line

MODULES = os.path.join(TOP, "build-node", "node_modules")
SEED, WIDTH, HEIGHT = 1, 1600, 900
OPEN_MOST, FRAME_P50, FRAME_P95 = 400, 8, 16     # ms


def tools():
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    puppeteer = os.path.join(MODULES, "puppeteer-core")
    for what, there in (("node", shutil.which("node")), ("chromium", browser), ("puppeteer-core in build-node", os.path.isdir(puppeteer))):
        if not there:
            print("NOT MEASURED: no %s" % what, file=sys.stderr)
            sys.exit(0)
    return dict(os.environ, PUPPETEER=puppeteer, CHROMIUM=browser)


class Page:
    """A page of so many calls; times in ms."""

    def __init__(self, args, calls):
        self.calls, self.args = calls, args
        generator, log = bench_tools.build(args.folder, "calls_gen"), os.path.join(args.folder, "calls-%d.xray" % calls)
        if not os.path.exists(log):
            with open(log, "wb") as file:
                subprocess.run([generator, str(calls), str(SEED)], stdout=file, check=True)
        self.log, self.file = log, os.path.join(args.folder, "calls-%d.html" % calls)
        subprocess.run([args.traceloom, "report", log, "-f", "-o", self.file], check=True, stderr=subprocess.DEVNULL)
        self.first, self.frames, self.heap = [], [], 0

    def watch(self, what, *more):
        done = subprocess.run(["node", os.path.join(HERE, "page_watch.mjs"), what, self.file, *more], env=self.args.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit("%s %s: %s" % (what, self.file, done.stderr[-2000:]))
        return json.loads(done.stdout)

    def open(self):
        seen = self.watch("open")
        self.first.append(seen["first"])
        self.heap = seen["heap"]

    def zoom(self):
        self.frames.append(self.watch("frames")["frames"])


class Speedscope(Page):
    """The same calls in speedscope, as its own command opens a file: a script beside it that hands it over."""

    def __init__(self, args, page):
        self.calls, self.args, self.file = page.calls, args, os.path.join(MODULES, "speedscope", "dist", "release", "index.html")
        self.first, self.frames, self.heap, self.name = [], [], 0, "calls.speedscope.json"
        profile, self.script = os.path.join(args.folder, self.name), os.path.join(args.folder, "calls.speedscope.js")
        subprocess.run([args.traceloom, "convert", page.log, "-f", "-o", profile, "--to", "speedscope"], check=True, stderr=subprocess.DEVNULL)
        encoded = subprocess.run(["base64", "-w0", profile], capture_output=True, text=True, check=True).stdout
        with open(self.script, "w", encoding="ascii") as file:
            file.write("speedscope.loadFileFromBase64(%s, %s)" % (json.dumps(self.name), json.dumps(encoded)))
        self.size = os.path.getsize(profile)

    def open(self):
        seen = self.watch("speedscope", self.script)
        self.first.append(seen["first"])
        self.heap = seen["heap"]


def count_text(n):
    return "%g million calls" % (n / M) if n >= M else "%s calls" % format(n, ",")


def rank(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def opening(rows):
    lines = ["| opened | file | to the first picture, best | median | JavaScript heap |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        name = "speedscope" if isinstance(row, Speedscope) else "page"
        size = row.size if isinstance(row, Speedscope) else os.path.getsize(row.file)
        lines.append("| %s of %s | %.1f MB | %.0f ms | %.0f ms | %.0f MB |" % (name, count_text(row.calls), size / MB, min(row.first), statistics.median(row.first), row.heap / MB))
    return lines


def main():
    args = bench_tools.arguments(__doc__, "page", 5, "200,000 calls only, twice")
    args.env = tools()
    pages = [Page(args, calls) for calls in ((200000,) if args.quick else (200000, 3000000))]
    has_times = [page for page in pages if b'data-section="spans"' in open(page.file, "rb").read()]
    rows, other = list(pages), None
    if os.path.isdir(os.path.join(MODULES, "speedscope")):
        other = Speedscope(args, pages[0])
        rows.append(other)
    else:
        print("NOT MEASURED: speedscope is not in build-node", file=sys.stderr)
    for _ in range(args.repeat):
        for row in rows:
            row.open()
        for page in has_times:
            page.zoom()
    lines = ["### The page in a browser", "",
             "Machine: %s. Chromium without GPU, %d x %d; best and median of %d runs in turns, each in a new browser." % (bench_tools.machine(), WIDTH, HEIGHT, args.repeat), ""]
    lines += opening(rows) + ["", "| zooming the timeline of | p50 of a frame, best run | median run | p95, best run | median run |", "|---|---:|---:|---:|---:|"]
    bars = list(BAR_HEAD)
    for page in has_times:
        halves, tails = ([rank(run, share) for run in page.frames] for share in (0.5, 0.95))
        lines.append("| %s | %.1f ms | %.1f ms | %.1f ms | %.1f ms |" % (count_text(page.calls), min(halves), statistics.median(halves), min(tails), statistics.median(tails)))
        bars.append(bar_line("p50 of frames, %s" % count_text(page.calls), "%.1f ms" % min(halves), "", "<= %d ms" % FRAME_P50, min(halves) <= FRAME_P50))
        bars.append(bar_line("p95 of frames, %s" % count_text(page.calls), "%.1f ms" % min(tails), "", "<= %d ms" % FRAME_P95, min(tails) <= FRAME_P95))
    if other:
        ratio = min(pages[0].first) / min(other.first)
        bars.append(bar_line("opening %s: page / speedscope" % count_text(pages[0].calls), "%.2f" % ratio, "", "<= 0.2", ratio <= 0.2))
    if not args.quick:
        bars.append(bar_line("opening %s" % count_text(pages[1].calls), "%.0f ms" % min(pages[1].first), "", "<= %d ms" % OPEN_MOST, min(pages[1].first) <= OPEN_MOST))
    return bench_tools.finish(args, "page", lines + [""] + bars)


if __name__ == "__main__":
    sys.exit(main())
