#!/usr/bin/env python3
"""The page of a trace with times in a real browser: time_browser.py SCENARIO

The trace is written by timed_log.py; what the page has to show is counted from its calls (calls_model.py)."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(sys.path[0], "page"))
import harness
import calls_model
import elf_gen
import page_read
import recount
import timed_log
from page_browser import Made, quiet, same_rows, tools, watch

UNITS = {"ns": 1, "us": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9}
PAPERS = {"light": "255,255,255", "dark": "22,24,28"}


class Timed(Made):
    """A page of the trace, and its calls."""

    def __init__(self, folder, *words, span=timed_log.SPAN):
        log, elf = os.path.join(folder, "timed.xray"), os.path.join(folder, "timed.elf")
        timed_log.write(log, span=span)
        with open(elf, "wb") as file:
            file.write(elf_gen.build_elf(names=timed_log.NAMES))
        super().__init__([log, "-e", elf, *words], folder)
        self.calls, self.span = calls_model.calls(harness.run("convert", log, "-e", elf, "--to", "jsonl").text().splitlines())
        self.slice = -(-self.span // 128)

    def near(self, share):
        """The border of a slice that is nearest."""
        return min(self.span, int(share * self.span / self.slice + 0.5) * self.slice)


def ns(text):
    """A time as links and tooltips have it."""
    whole, part, unit = re.fullmatch(r"(\d+)(?:\.(\d+))? ?(ns|us|ms|s)", text).groups()
    digits = len(str(UNITS[unit])) - 1
    assert len(part or "") <= digits
    return int(whole) * UNITS[unit] + int((part or "").ljust(digits, "0") or 0)


def range_of(hash_, key):
    found = re.search(r"[#&]%s=([^&]*)" % key, hash_)
    return [ns(end) for end in found.group(1).split("..")] if found else None


def same_part(made, checks, one, from_, to):
    """Functions, tree, flame graph and first screen are sums over a range."""
    sums, functions = calls_model.sums(made.calls, from_, to), {}
    for path, (self, calls) in sums.items():
        row = functions.setdefault(path[-1], [0, 0, 0])
        row[0] += self
        row[1] += calls
        for name in set(path):
            functions.setdefault(name, [0, 0, 0])[2] += self
    whole = sum(row[0] for row in functions.values())
    expected = [{"name": name, "self": recount.time(self), "total": recount.time(total), "calls": "{:,}".format(calls),
                 "share": recount.percent(self, whole)} for name, (self, calls, total) in functions.items()]
    keys = ("name", "self", "total", "calls", "share")
    same_rows(checks, one["functions"], expected, keys, "functions")
    expected = []
    for path in {path[:n] for path in sums for n in range(1, len(path) + 1)}:
        self, calls = sums.get(path, (0, 0))
        total = sum(s for other, (s, _) in sums.items() if other[:len(path)] == path)
        expected.append({"name": path[-1], "level": len(path), "self": recount.time(self), "total": recount.time(total), "calls": "{:,}".format(calls)})
    same_rows(checks, one["tree"], expected, ("name", "level", "self", "total", "calls"), "tree")
    first = sorted(functions.values(), reverse=True)[:10]
    checks.equal([row[1] for row in one["hot"]], [recount.time(row[0]) for row in first], "hot functions")
    checks.equal(one["flame"][0], "main", "flame")
    checks.equal(one["flame"][1]["total"], "%s \u00b7 100.0 %% of all" % recount.time(whole), "width of the flame graph")
    for row in one["functions"]:
        for key in ("p50", "p99"):
            checks.that(row[key] == "-" or row[key].startswith("\u2248 "), "not marked as coarse:", row["name"], key, row[key])
        durations = sorted(c.end - c.begin for c in made.calls if c.name == row["name"] and from_ <= c.begin < to)
        everywhere = sorted((c.end - c.begin for c in made.calls if c.name == row["name"]), reverse=True)
        if durations and (len(everywhere) <= 16 or durations[-1] > everywhere[16]):
            checks.equal(row["max"], recount.time(durations[-1]), "the longest in the range, one of the 16 longest of all:", row["name"])
        if len(durations) > 20:
            checks.that(row["min"].startswith("\u2248 "), "the shortest:", row["min"])
            # The columns of the map need not end where slices do.
            checks.that(row["p50"] != "-", "no median of", row["name"])


def brush(made, checks):
    drags = [(0.3, 0.55), (0.55, 0.8)]
    drags[1] = (made.near(0.55) / made.span, 0.8)
    seen = watch("brush", made, {"drags": drags})
    quiet(checks, seen["seen"])
    same = lambda key: [row[key] for row in seen["whole"]["functions"]]
    checks.equal(sorted(same("self")), sorted(recount.time(f["self"]) for f in made.json()["functions"]), "self of the whole")
    checks.equal(range_of(seen["whole"]["hash"], "t"), None, "range of the whole")
    for one, (from_, to) in zip(seen["ranges"], ((0.3, 0.55), (0.3, 0.8))):
        expected = [made.near(from_), made.near(to)]
        if checks.equal(range_of(one["hash"], "t"), expected, "range"):
            same_part(made, checks, one, *expected)
        checks.that("snapped to " + recount.time(made.slice) in one["note"], "note", one["note"])
    checks.equal(range_of(seen["double"], "t"), None, "after a double click")
    checks.equal(range_of(seen["keys"], "t"), [2 * made.slice, 5 * made.slice], "by keys")
    checks.that("busy threads" in seen["described"] or "range" in seen["described"], "described", seen["described"])
    checks.equal(range_of(seen["cleared"], "t"), None, "after \\")


def colours(theme):
    """Of functions, as the svg writer chooses them: FNV-1a of the name, folded."""
    with open(os.path.join(harness.SOURCE, "src", "view", "web", "colours.js"), encoding="utf-8") as file:
        hues = re.findall(r"\b[0-9a-f]{6}\b", re.search(r"const %s = (.*?);" % theme.upper(), file.read(), re.S).group(1))
    out = {}
    for name in timed_log.NAMES:
        value = 2166136261
        for byte in name.encode():
            value = (value ^ byte) * 16777619 & 0xffffffff
        hue = hues[(value ^ value >> 16) % 24]
        out[name] = ",".join(str(int(hue[i:i + 2], 16)) for i in (0, 2, 4))
    return out


def same_row(checks, what, pixels, calls, place, colour, paper):
    """Pixels inside of a call have its colour; those a pixel away from every call have none. The number of those compared."""
    taken, found = bytearray(len(pixels) + 4), 0
    for call in calls:
        x0, x1 = place(call.begin), place(call.end)
        for x in range(max(0, int(x0) - 1), min(len(taken), int(x1) + 3)):
            taken[x] = 1
        inside = pixels[max(0, int(x0) + 2):max(0, int(x1) - 2)]
        found += len(inside)
        checks.that(set(inside) <= {colour[call.name]}, what, call.name, x0, x1, "has", set(inside), "for", colour[call.name])
    free = {pixels[x] for x in range(len(pixels)) if not taken[x]}
    checks.that(free <= {paper}, what, "between calls is", free)
    return found


def timeline(made, checks):
    windows, sizes = ["0ns..%dns" % made.span, "1.6ms..1.9ms", "2.01ms..2.05ms"], [[1600, 900, 1, "light"], [1600, 900, 2, "dark"], [390, 844, 2, "dark"]]
    seen = watch("timeline", made, {"windows": windows, "sizes": sizes})
    for one in seen["pictures"]:
        what, colour, found = "%(window)s, %(width)d wide, %(theme)s:" % one, colours(one["theme"]), 0
        quiet(checks, one["seen"], what)
        checks.that(one["wide"] <= one["width"], what, "the page is", one["wide"], "wide")
        from_, to = [ns(end) for end in one["window"].split("..")]
        place = lambda t: (t - from_) / (to - from_) * one["box"]["width"] * one["dpr"]
        checks.equal(sorted(one["lanes"])[:1], ["thread 4711"], what, "threads")
        checks.that(one["width"] < 500 or len(one["lanes"]) == 3, what, "threads", list(one["lanes"]))
        for thread, lanes in one["lanes"].items():
            for depth, runs in enumerate(lanes, 1):
                pixels = [c for n, c in runs for _ in range(n)]
                calls = [c for c in made.calls if c.track == thread and c.depth == depth and c.end > from_ and c.begin < to]
                found += same_row(checks, "%s %s, depth %d:" % (what, thread, depth), pixels, calls, place, colour, PAPERS[one["theme"]])
        checks.that(found > 1000, what, "only", found, "pixels")


def gestures(made, checks):
    from_, to = 1600000, 1900000
    call = max((c for c in made.calls if c.depth == 3 and c.begin > from_ and c.end < to), key=lambda c: c.end - c.begin)
    share = ((call.begin + call.end) / 2 - from_) / (to - from_)
    window = "1.6ms..1.9ms"
    seen = watch("gestures", made, {"window": window, "at": [share, call.track, call.depth]})
    quiet(checks, seen["seen"])
    durations = [c.end - c.begin for c in made.calls if c.name == call.name]
    expected = [ns(seen["tip"][1][key]) for key in ("begin", "duration")]
    checks.equal([seen["tip"][0], *expected], [call.name, call.begin, call.end - call.begin], "tooltip")
    checks.equal((seen["tip"][1]["thread"], seen["tip"][1]["depth"]), (call.track, "3"), "tooltip")
    shorter = float(re.match(r"longer than ([\d.]+) %", seen["tip"][1]["rank"]).group(1)) / 100 * len(durations)
    exact = sum(d < call.end - call.begin for d in durations)
    checks.that(seen["tip"][1]["rank"].endswith("of {:,}".format(len(durations))), "rank", seen["tip"][1]["rank"])
    checks.that(exact * 0.99 - 2 <= shorter <= exact + 1, "rank", shorter, exact)
    clicked = seen["clicked"]
    checks.that("p=" + call.name in clicked["hash"] and "f=" + ";".join(call.path) in clicked["hash"] and "at=" + call.track + "@" in clicked["hash"], "click", clicked["hash"])
    checks.equal(ns(clicked["call"][1]), call.begin, "begin in the panel")
    zoom = {key: [ns(end) for end in text.split("..")] if text else [0, made.span] for key, text in seen["zooms"].items()}
    size, size_of = to - from_, lambda key: zoom[key][1] - zoom[key][0]
    checks.that(size_of("wheel") < size and abs(((call.begin + call.end) / 2 - zoom["wheel"][0]) / size_of("wheel") - share) < 0.02, "wheel", zoom["wheel"])
    checks.that(abs(zoom["pan"][0] - (from_ + size / 4)) < size / 100 and abs(size_of("pan") - size) < 10, "pan", zoom["pan"])
    checks.that(size_of("w") < size and abs(size_of("s") - size) < 10, "w, s", zoom)
    checks.that(zoom["d"][0] > zoom["s"][0] and abs(zoom["a"][0] - zoom["s"][0]) < 10, "d, a", zoom)
    checks.equal(zoom["0"], [0, made.span], "0")
    a, b = from_ + size / 4, from_ + size * 3 / 4
    checks.equal(range_of(seen["shift_drag"], "t"), [made.near(a / made.span), made.near(b / made.span)], "Shift-drag")
    # The first call in the window, its first callee behind the window's begin, the next ones, and back.
    names = [text.split(",")[0] for text in seen["described"]]
    depths = [int(re.search(r"depth (\d+)", text).group(1)) for text in seen["described"]]
    checks.equal(depths, [1, 2, 2, 1, 2], "arrows", names)
    checks.equal(names[0], "main", "the first call")
    begins = [ns(re.search(r"begin ([^,]*)", text).group(1)) for text in seen["described"]]
    row = sorted(c.begin for c in made.calls if c.track == "thread 4711" and c.depth == 2)
    checks.that(begins[1] in row and begins[2] in row[row.index(begins[1]) + 1:][:1], "right", begins)
    checks.equal(begins[4], row[0], "down: the first callee")
    checks.that("at=thread 4711@" in seen["entered"] and "p=" + names[4] in seen["entered"], "Enter", seen["entered"])
    checks.equal(range_of(seen["bracket"], "t"), [made.near(begins[4] / made.span), made.span], "[")
    here = [c for c in made.calls if c.end > from_ and c.begin < to]
    checks.equal(sorted((ns(r["begin"]), ns(r["duration"]), r["thread"], int(r["depth"]), r["name"]) for r in seen["table"]),
                 sorted((c.begin, c.end - c.begin, c.track, c.depth, c.name) for c in here), "table")
    checks.equal(seen["one_thread"]["lanes"], ["thread 4711"], "one thread")
    checks.that("thr=thread 4711" in seen["one_thread"]["hash"], "one thread", seen["one_thread"]["hash"])
    before, after = seen["folded"]
    checks.that(after["thread 4714"] < before["thread 4714"], "folding", before, after)


def heat(made, checks):
    name, share = "render_node", 0.6
    seen = watch("heat", made, {"name": name, "share": share})
    quiet(checks, seen["seen"])
    column = -(-made.span // 256)
    at = int(share * made.span / column)
    inside = [c for c in made.calls if c.name == name and c.begin // column == at]
    rows = {tuple(sorted(tip[1].items())) for tip in seen["tips"]}
    checks.equal(sum(int(dict(row)["calls"]) for row in rows), len(inside), "calls of a column")
    longest = max(inside, key=lambda c: c.end - c.begin)
    checks.that("at=" + longest.track + "@" in seen["jump"]["hash"], "a click", seen["jump"]["hash"])
    checks.equal([ns(seen["jump"]["call"][i]) for i in (1, 3)], [longest.begin, longest.end - longest.begin], "the call")
    worst = {}
    for call in made.calls:
        if call.name not in worst or call.end - call.begin > worst[call.name].end - worst[call.name].begin:
            worst[call.name] = call
    slowest = sorted(worst.values(), key=lambda c: c.begin - c.end)[:5]
    checks.equal([row[:2] for row in seen["slow"]], [[c.name, recount.time(c.end - c.begin)] for c in slowest], "slowest calls")
    checks.equal(ns(seen["slow_jump"]["call"][1]), slowest[1].begin, "the second slowest")
    expected = sorted((c.end - c.begin for c in made.calls if c.name == name), reverse=True)
    rows = [row for row in seen["exemplars"] if row["kind"] == "longest"]
    checks.equal([row["duration"] for row in rows], [recount.time(d) for d in expected[:len(rows)]], "exemplars")
    checks.that(len(rows) >= 4, "only", len(rows), "exemplars")


def cut(made, checks):
    """Not all calls are in the page: the grid stands for the others, and says so."""
    seen = watch("cut", made)
    quiet(checks, seen["seen"])
    here = all_calls = 0
    for text in seen["lanes"]:
        some, of = re.match(r"([\d,]+) of ([\d,]+) calls in this page$", text).groups()
        here, all_calls = here + int(some.replace(",", "")), all_calls + int(of.replace(",", ""))
    checks.equal(all_calls, len(made.calls), "calls")
    checks.that(here < all_calls, "all calls are here", here)
    checks.that("short calls of the timeline" in seen["losses"], "losses", seen["losses"])
    with open(made.file, "rb") as file:
        elements = page_read.parse(file.read())
    grid = next(text for tag, a, text in elements if a.get("data-section") == "grid")
    columns, ticks = page_read.numbers(page_read.columns(grid)[0])
    checks.that(len(seen["tips"]) >= 5, "hatched places", len(seen["tips"]))
    for thread, depth, (title, lines) in seen["tips"]:
        from_ = ns(title) // ticks * ticks
        inside = [c for c in made.calls if c.track == thread and c.depth == depth and c.end > from_ and c.begin < from_ + ticks]
        share = calls_model.busy(inside, depth, from_, from_ + ticks)[thread] / ticks
        checks.that(abs(float(lines["busy"].split()[0]) / 100 - share) < 0.01, title, thread, depth, lines["busy"], share)
        covers = lambda name: calls_model.busy([c for c in inside if c.name == name], depth, from_, from_ + ticks).get(thread, 0)
        checks.equal(covers(lines["mostly"]), max(covers(c.name) for c in inside), title, "mostly", lines["mostly"])
        checks.that("--time %s" % lines["see them"].split("--time ")[1] and ns(lines["see them"].split("--time ")[1].split("..")[0]) == from_, "command", lines["see them"])


def time_hash(made, checks):
    hashes = ["v=timeline&t=1ms..2ms&z=1.2ms..1.3ms", "v=timeline&thr=thread 4714", "v=timeline&t=0ns..%dns&th=dark" % made.slice,
              "v=flame&t=2ms..2.5ms", "v=latency&p=hash_password&t=1ms..3ms"]
    garbage = ["t=", "t=1..", "t=..", "t=2ms..1ms", "t=1e9..2e9", "t=-1..5", "t=9999999999s..99999999999s", "t=1ms..2ms..3ms", "z=%00..1", "v=timeline&at=nobody@x",
               "v=timeline&at=@", "thr=nobody;thread 4711", "v=timeline&z=1ns..2ns", "t=" + "1" * 400 + "..2", "at=thread 4711@1ms&p=main&v=timeline"]
    seen = watch("time_hash", made, {"hashes": hashes, "garbage": garbage})
    for state in seen["states"]:
        first, again = state["first"], state["again"]
        for one in (first, again):
            quiet(checks, one["seen"], state["asked"])
        for key in ("hash", "note", "pictures"):
            checks.that(first[key] == again[key], state["asked"], key, "differs after opening its own hash")
        checks.equal(sorted(first["hash"][1:].split("&")), sorted(state["asked"].split("&")), "the hash of the state")
    checks.equal(len({tuple(s["first"]["pictures"]) for s in seen["states"]}), len(hashes), "different pictures")
    for one in seen["garbage"]:
        quiet(checks, one["seen"], one["asked"])
        if one["asked"].startswith("t="):
            checks.that("snapped" not in one["note"], one["asked"], one["note"])
        if "nobody;" in one["asked"]:
            checks.that("nobody" in one["status"], "status", one["status"])


def time_touch(made, checks):
    seen = watch("time_touch", made)
    quiet(checks, seen["seen"])
    got = range_of(seen["hash"], "t")
    checks.equal(got, [made.near(0.25), made.near(0.5)], "a finger on the strip")
    from_, to = range_of("#z=" + seen["zoom"], "z")
    checks.that(0.1 < (to - from_) / made.span < 0.5, "two fingers", seen["zoom"])
    for name, height in seen["targets"]:
        checks.that(height >= 24, name, "is only", height, "high")


CASES = {case.__name__: case for case in (brush, timeline, gestures, heat, cut, time_hash, time_touch)}


def main():
    tools()
    checks = harness.Checks()
    with harness.work_folder() as folder:
        made = Timed(folder, "--page-limit", "1M", span=30 * timed_log.SPAN) if sys.argv[1] == "cut" else Timed(folder)
        CASES[sys.argv[1]](made, checks)
    checks.end()


if __name__ == "__main__":
    main()
