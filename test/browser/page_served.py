#!/usr/bin/env python3
"""A served page in a real browser: page_served.py SCENARIO. Its tabs work as those of a file, SQL gives rows, and it asks nobody
but its server."""
import json
import os
import shutil
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "serve"))
from serve_lib import Server, harness, need
import page_browser
import recount

TRACE = ["fdr-v5-le.xray", "-e", "program.elf"]


class Browser:
    """A scenario, which waits for a word of the test now and then."""

    def __init__(self, scenario, place, more=None):
        self.process = subprocess.Popen(["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "serve_scenarios.mjs"), scenario, place, json.dumps(more)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=page_browser.tools(), text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the browser: " + self.process.stderr.read()[-3000:])
        return json.loads(line)

    def turn(self, checks, word):
        checks.equal(self.line(), {"turn": word})

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def shows(checks):
    with Server(*TRACE, "-q") as server, Browser("shows", server.url) as browser:
        seen = browser.line()
        for kind in ("errors", "dialogs"):
            checks.equal(seen["seen"][kind], [], kind)
        asked = set(seen["seen"]["requests"])
        tries = {"http://localhost:1/", "https://evil.example/", "data:text/plain,x"}
        checks.that(all(url.startswith(server.url) for url in asked - tries), "requests", asked)
        checks.equal(seen["policy"], {place: "refused" for place in tries}, "what the policy allows")
        checks.equal(seen["tabs"], ["Overview", "Flame", "Tree", "Timeline", "Latency", "Functions", "Events"] + (["SQL"] if harness.built_with("SQLite") else []) + ["Losses"], "tabs")
        checks.that(all(size for view, size in seen["views"].items() if view != "Flame"), "a view is empty:", seen["views"])
        told = harness.run("report", *TRACE, "--json", cwd=page_browser.GOLDEN).json()["functions"]
        checks.equal([f["name"] for f in seen["functions"]], [f["name"] for f in told], "functions")
        rows = harness.run("query", *TRACE, "SELECT name, count(*) AS n FROM calls GROUP BY name ORDER BY n DESC, name", "--json", cwd=page_browser.GOLDEN).json()["rows"]
        checks.equal([[r["c0"], int(r["c1"].replace(",", ""))] for r in seen["rows"]], rows, "rows of SQL")
        checks.equal((seen["titles"], seen["note"]), (["name", "n"], "%d rows" % len(rows)), "of SQL")
        checks.that("did you mean name" in seen["wrong"], seen["wrong"])
        checks.equal((seen["cell"], seen["images"]), ("<img src=x onerror=alert(1)>", 0), "markup in a value")
        inside = harness.run("query", *TRACE, "SELECT count(*) FROM calls", "--time", "0..10us", "--json", cwd=page_browser.GOLDEN).json()["rows"]
        checks.equal(([[int(r["c0"])] for r in seen["inside"]], seen["within"]), (inside, "1 row, within 0..10us"), "SQL of a range")
        checks.equal(seen["more"], "the first 1,000 rows; there are more")


def zoom(checks):
    """Durations in a range are those of `report --time`."""
    drags = [[0.2, 0.6], [0.5, 1], [0, 0.25]]
    with Server(*TRACE, "-q") as server, Browser("zoom", server.url, drags) as browser:
        seen = browser.line()
        checks.equal(seen["seen"]["errors"], [], "errors")
        for one in seen["ranges"]:
            time = dict(pair.split("=") for pair in one["hash"].lstrip("#").split("&"))["t"]
            checks.that(one["coarse"], "before the answer", time)
            checks.equal(len(one["asked"]), 1, "questions", one["asked"])
            asked = urllib.parse.parse_qs(one["asked"][0].lstrip("?"))["t"][0]
            checks.equal(asked, time if not asked.endswith("..") else time.split("..")[0] + "..", "the range")
            told = {f["name"]: f for f in harness.run("report", *TRACE, "--json", "--time", asked, cwd=page_browser.GOLDEN).json()["functions"]}
            checks.that(len(one["functions"]) > 5, "functions of", time)
            for row in one["functions"]:
                f = told.get(row["name"], {"calls": 0})
                for column in ("p50", "p99", "max"):
                    if column in row:
                        checks.equal(row[column], recount.time(f[column]) if f["calls"] else "-", time, row["name"], column)
            checks.that(set(one["functions"][0]) >= {"p50", "p99"}, "columns", one["functions"][0])
            name, calls = next((name, f["calls"]) for name, f in told.items() if one["latency"]["head"].startswith(name))
            checks.that("durations of the %s that lie within" % format(calls, ",") in one["latency"]["head"], name, one["latency"])
            cells = one["latency"]["table"].split("\n")[-1].split("\t")
            checks.that(one["latency"]["charts"] == 2 and "-" not in cells and len(cells) > 7, "charts and percentiles of", name, one["latency"])
            checks.that("\u2248" not in one["latency"]["table"] and recount.time(told[name]["p90"]) in one["latency"]["table"], name, one["latency"])


def told(file):
    return [[f["name"] or "#%s" % f["id"], f["calls"]] for f in harness.run("report", file, "--json").json()["functions"]]


def named(file):
    """Those that the page calls as the report does: it shortens the arguments of types."""
    return [row for row in told(file) if not row[0].startswith("#") and "<" not in row[0]]


def rows(seen):
    return [[r["name"], int(r["calls"].replace(",", ""))] for r in seen]


def log(checks):
    with open(os.path.join(page_browser.GOLDEN, "tracelog-calls.log"), "rb") as file:
        lines = file.read().splitlines(True)
    with harness.work_folder() as folder:
        path = os.path.join(folder, "app.log")

        def write(begin, end):
            with open(path, "ab") as file:
                file.write(b"".join(lines[len(lines) * begin // 4:len(lines) * end // 4]))

        write(0, 2)
        first = named(path)
        with Server("app.log", "-q", cwd=folder) as server, Browser("log", server.url) as browser:
            browser.turn(checks, "grow")
            write(2, 3)
            browser.go_on()
            browser.turn(checks, "more")
            write(3, 4)
            browser.go_on()
            seen = browser.line()
            checks.equal((seen["seen"]["errors"], seen["quiet"]), ([], True), "errors, and news of what does not grow")
            last = named(path)
            checks.equal([n for n in rows(seen["before"]) if n[0] in dict(first)], first, "at first")
            checks.equal([n for n in rows(seen["after"]) if n[0] in dict(last)], last, "at the end")
            checks.that(first != last, "the log grew")
            checks.that("no longer being written" in seen["words"], seen["words"])


def large(checks):
    """A log that takes longer than its sums, by repeating a small one."""
    with open(os.path.join(page_browser.GOLDEN, TRACE[0]), "rb") as file:
        data = file.read()
    with harness.work_folder() as folder:
        path = os.path.join(folder, "large.xray")
        with open(path, "wb") as file:
            file.write(data * (9000000 // len(data)))
        with Server("large.xray", "-q", cwd=folder) as server:
            first = server.get("").body
            checks.that(b'"whole":false' in first and b'data-section="spans"' not in first, "sums first")
            checks.equal(server.ask("table", by="func").json(), harness.run("report", path, "--json", "--by", "func").json(), "a question before the whole")
            with Browser("large", server.url) as browser:
                seen = browser.line()
            second = server.get("").body
            checks.that(b'"whole":true' in second and b'data-section="spans"' in second, "the whole")
        checks.equal((seen["seen"]["errors"], seen["same"], seen["selected"]), ([], True, "true"), "errors, the same page, its timeline")
        checks.that("tab-timeline" not in seen["tabs"][0] and "tab-timeline" in seen["tabs"][1], "tabs", seen["tabs"])
        checks.that(seen["before"] == seen["after"] and rows(seen["after"]) == told(path), "functions", seen["after"])


def live(checks):
    golden = page_browser.GOLDEN
    with harness.work_folder() as folder:
        path = os.path.join(folder, "app.tlp.live")
        shutil.copy(os.path.join(golden, "live-adding.tlp.live"), path)

        def become(name):
            shutil.copy(os.path.join(golden, name), path + ".new")
            os.rename(path + ".new", path)

        with Server("app.tlp.live", "-q", cwd=folder) as server, Browser("live", server.url) as browser:
            first = told(path)
            browser.turn(checks, "grow")
            become("live-done.tlp.live")
            second = told(path)
            browser.go_on()
            browser.turn(checks, "end")
            become("live-killed.tlp.live")
            os.rename(path, path[:-5])
            third = told(path[:-5])
            browser.go_on()
            browser.turn(checks, "stop")
            server.end()
            browser.go_on()
            seen = browser.line()
            checks.equal(seen["seen"]["errors"], [], "errors")
            checks.equal(rows(seen["before"]), first, "at first")
            checks.that(first != second or first != third, "the recordings are the same")
            checks.that(seen["facts"][0] != seen["facts"][1], "followed", seen["facts"])
            checks.equal((seen["frozen"], seen["still"]), (seen["facts"][1],) * 2, "frozen")
            checks.equal(rows(seen["after"]), third, "read again")
            checks.equal(rows(seen["last"]), third, "when the server has ended")
            checks.that("v=functions" in seen["hash"], seen["hash"])


def link(checks):
    with harness.work_folder() as folder:
        tool, copy = os.path.join(folder, "xdg-open"), os.path.join(folder, "copy.html")
        with open(tool, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\ncp "$1" "%s.part" && mv "%s.part" "%s"\n' % (copy, copy, copy))
        os.chmod(tool, 0o755)
        with Server(*TRACE, "-q", "--open", env={"PATH": folder + ":" + os.environ["PATH"], "XDG_RUNTIME_DIR": folder}) as server:
            from serve_lib import until
            checks.that(until(lambda: os.path.exists(copy)), "the file")
            with Browser("link", copy) as browser:
                checks.equal(browser.line(), {"title": "fdr-v5-le.xray"}, "the page behind the file")
            checks.equal(server.end(), 0)


def main():
    need()
    page_browser.tools()
    checks = harness.Checks()
    {"shows": shows, "live": live, "large": large, "log": log, "zoom": zoom, "link": link}[sys.argv[1]](checks)
    checks.end()


main()
