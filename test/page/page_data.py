#!/usr/bin/env python3
"""The numbers in a page are those of `report --json`: page_data.py CASE

Functions, the tree, percentiles and histograms of the same input; the sums of the whole; the same bytes for any number of
threads. What the page's reader cannot know (exact percentiles) it computes from the histogram, as docs/page.md says."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
from page_read import read

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
CASES = {
    "calls": ["fdr-v5-le.xray", "-e", "program.elf"],
    "no-names": ["basic-v3-le.xray"],
    "no-clock": ["fdr-v5-le-no-clock.xray", "-e", "program.elf"],
    "messy": ["fdr-v5-le-messy.xray", "-e", "program.elf"],
    "damaged": ["damaged-fdr-v5-le-unknown-kind.xray", "-e", "program.elf"],
    "threads": ["fdr-v5-le.xray", "-e", "program.elf", "--per-thread"],
    "several": ["fdr-v5-le.xray", "fdr-v5-le.xray", "fdr-v5-le.xray", "-e", "program.elf"],
    "selected": ["fdr-v5-le.xray", "-e", "program.elf", "-F", "render*", "--min-dur", "100ns"],
    "profile": ["profile-le.xray", "-e", "program.elf"],
    "live": ["live-killed.tlp.live"],
    "recording": ["rec-done.xray"],
    "samples": ["tracelog-vs.log"],
    "bytes": ["tracelog-vs.log", "--weight", "bytes"],
    "told": ["tracelog-calls.log"],
    "insns": ["xtrace-user", "-e", "xtrace-user.elf"],
}


def scale(page):
    """Ticks as the report shows them: ns, rounded half to even."""
    hz = page["meta"]["clock"]["hz"]
    if page["meta"]["unit"] != "ns" or hz == 0:
        return lambda ticks: ticks

    def ns(ticks):
        whole, rest = divmod(ticks * 10 ** 9, hz)
        return whole + (2 * rest > hz or (2 * rest == hz and whole & 1))
    return ns


def known(page, row):
    """The numbers of a row as --json has them."""
    ns = scale(page)
    out = {"calls": row["calls"], "total": ns(row["total"]), "self": ns(row["self"])}
    for key in ("min", "p50", "p90", "p99", "max"):
        out[key] = ns(row[key]) if page["meta"]["histogram"] and row["calls"] and not page["meta"]["weights"] else None
    if row["unwound"]:
        out["unwound"] = row["unwound"]
    return out


def part(wanted):
    out = {key: wanted.get(key) for key in ("calls", "total", "self", "min", "p50", "p90", "p99", "max")}
    if wanted.get("unwound"):
        out["unwound"] = wanted["unwound"]
    return out


def check_functions(checks, page, wanted):
    checks.equal(len(page["rows"]), len(wanted), "functions")
    for row, right in zip(page["rows"], wanted):
        function = page["functions"][row["function"]]
        for key in ("id", "name", "file", "line"):
            checks.equal(function[key], right[key], key, "of", right["name"])
        checks.equal(known(page, row), part(right), "numbers of", right["name"], right["id"])


def check_names(checks, page, nodes):
    """Of stacks the page has one function for each name in the tree: its numbers are sums over the nodes, of which only
    outermost ones count for total, and for samples, where a stack counts once, for calls."""
    right = {}
    for node in nodes:
        label, outermost = node["stack"][-1], node["stack"][-1] not in node["stack"][:-1]
        sums = right.setdefault(label, [0, 0, 0])
        sums[0] += node["calls"] if outermost or not page["meta"]["weights"] else 0
        sums[1] += node["total"] if outermost else 0
        sums[2] += node["self"]
    ns = scale(page)
    got = {page["functions"][row["function"]]["label"]: [row["calls"], ns(row["total"]), ns(row["self"])] for row in page["rows"]}
    checks.equal(got, right, "functions by name")
    checks.equal(len(got), len(page["rows"]), "names that occur twice")


def stack(page, number):
    out = []
    while number:
        row = page["tree"][number]
        if row["function"]:
            out.append(page["functions"][row["function"] - 1]["label"])
        number = row["parent"]
    return out[::-1]


def thread_of(page, number):
    while page["tree"][number]["parent"]:
        number = page["tree"][number]["parent"]
    thread = page["tree"][number]["thread"]
    return page["threads"][thread - 1]["name"] if thread else None


def check_tree(checks, page, wanted):
    got = []
    for number, row in enumerate(page["tree"]):
        checks.that(number == 0 or row["parent"] < number, "parents come first")
        checks.that(not row["others"], "nothing was left out")
        if row["function"] and (row["calls"] or row["total"]):
            got.append((thread_of(page, number) or "", stack(page, number), known(page, row)))
    right = [(node.get("thread") or "", node["stack"], part(node)) for node in wanted]
    checks.equal(sorted(got, key=repr), sorted(right, key=repr), "the tree")
    checks.that(got or not wanted, "no tree")


def quantile(found, part_of, whole, least, most):
    total, below = sum(calls for _, _, calls in found), 0
    rank = -(-total * part_of // whole)
    if rank <= 1:
        return least
    if rank >= total:
        return most
    for low, high, calls in found:
        below += calls
        if below >= rank:
            return min(max((low + high) // 2, least), most)
    raise AssertionError("no such rank")


def check_hist(checks, page, whole):
    ns = scale(page)
    checks.equal(bool(page["hist"]), page["meta"]["histogram"] and any(row["calls"] for row in page["rows"]), "histograms")
    for row in page["rows"]:
        if row["function"] not in page["hist"]:
            continue
        bits, found = page["hist"][row["function"]]
        checks.equal(bits, 8, "sub-bits")
        checks.equal(sum(calls for _, _, calls in found), row["calls"], "calls of a histogram")
        for key, parts in (("p50", 5000), ("p90", 9000), ("p99", 9900), ("p999", 9990), ("p9999", 9999)):
            checks.equal(row[key], quantile(found, parts, 10000, row["min"], row["max"]), key)
    if not page["hist"] or whole[0] == "tracelog-calls.log":
        return
    for wanted in harness.run("report", *whole, "--json", "--by", "hist", cwd=INPUT).json()["functions"]:
        number = next(n for n, f in enumerate(page["functions"]) if (f["id"], f["name"]) == (wanted["id"], wanted["name"]))
        got = [{"low": ns(low), "high": ns(high), "calls": calls} for low, high, calls in page["hist"][number][1]]
        checks.equal(got, wanted["histogram"], "histogram of", wanted["name"])


def check_sums(checks, page):
    """The whole is the sum of its parts."""
    meta, tree = page["meta"], page["tree"]
    checks.equal(sum(row["self"] for row in tree), meta["self"], "sum of self")
    checks.equal(sum(row["others"] or 1 for row in tree[1:]), meta["places"], "places")
    checks.equal(tree[0]["total"], meta["total"], "width of the whole")
    checks.equal(len(page["rows"]), meta["functions"], "functions")
    if not meta["weights"]:
        checks.equal(sum(row["calls"] for row in tree), meta["calls"], "calls")
        checks.equal(sum(row["calls"] for row in page["rows"]), meta["calls"], "calls of functions")
    checks.equal(sum(row["self"] for row in page["rows"]), meta["self"], "self of functions")
    checks.equal(meta["left_out"], [], "left out")
    checks.equal(meta["schema"], 1, "schema")


def check_time(checks, page):
    """Whatever the trace is of: slices add up to self and calls of each row, spans and the grid lie within the time."""
    meta = page["meta"]
    if not meta["has_time"]:
        checks.that(not any(section in page for section in ("slices", "grid", "spans", "heat", "slow")), "sections without time")
        checks.that(len(meta["inputs"]) == 1 or meta["no_time"], "a reason", meta["no_time"])
        return
    own, calls = [0] * len(page["tree"]), [0] * len(page["tree"])
    for row, rest, piece, ticks, begun in page["slices"]["cells"]:
        checks.that(not rest and piece < page["slices"]["n"], "a cell", row, rest, piece)
        own[row] += ticks
        calls[row] += begun
    checks.equal(own, [row["self"] for row in page["tree"]], "self of slices")
    if not meta["weights"]:
        checks.equal(calls, [row["calls"] for row in page["tree"]], "calls of slices")
    closed = sum(not span[3] for row in page.get("spans", []) for span in row["spans"])
    checks.equal(closed, 0 if meta["weights"] else meta["calls"], "calls of the timeline")
    for row in page.get("spans", []):
        checks.that(all(span[0] <= meta["span"] for span in row["spans"]), "a call begins after the end")
        checks.that(row["thread"] < len(page["threads"]), "thread")


def check_weights(checks, page, run):
    """Every weight's column adds up to what the report says with that weight."""
    words = {"samples": "samples", "time": "time", "alloc_space": "bytes", "alloc_objects": "allocations"}
    for index, weight in enumerate(page["meta"]["weights"]):
        result = run("--json", "--by", "func", "--weight", words[weight["name"]])
        if result.status != 0:
            continue
        wanted = sum(f["self"] for f in result.json()["functions"])
        got = sum(row["weights"][index] for row in page["tree"])
        if weight["unit"] == "nanoseconds":
            got = scale({"meta": {"unit": "ns", "clock": page["meta"]["clock"]}})(got)
        checks.equal(got, wanted, "sum of", weight["name"])


def main():
    checks, case = harness.Checks(), CASES[sys.argv[1]]

    def run(*more):
        return harness.run("report", *case, *more, cwd=INPUT)
    result = run("--to", "html")
    page = read(result.out)
    whole = [word for word in case if word != "--per-thread"]
    functions = harness.run("report", *whole, "--json", "--by", "func", cwd=INPUT).json()
    tree = run("--json", "--by", "tree").json()
    if page["meta"]["weights"] or sys.argv[1] == "told":
        check_names(checks, page, tree["nodes"])
    else:
        check_functions(checks, page, functions["functions"])
        checks.equal({key: page["meta"]["unmatched"][key] for key in ("exits", "open")}, functions["unmatched"], "unmatched")
    checks.equal(result.status, run("--json", "--by", "tree").status, "status")
    checks.equal(page["meta"]["unit"], functions["unit"], "unit")
    check_tree(checks, page, tree["nodes"])
    check_hist(checks, page, whole)
    check_sums(checks, page)
    check_weights(checks, page, run)
    check_time(checks, page)
    damage = [{key: value for key, value in one.items() if key in ("offset", "bytes", "what")}
              for one in page["damage"]["damage"] if one["kind"] == "loss"]
    checks.equal(damage, [{key: one[key] for key in ("offset", "bytes", "what") if key in one} for one in functions.get("damage", [])], "damage")
    checks.that(bool(page["meta"]["losses"]) == bool(damage or any(page["meta"]["unmatched"].values()) or any(page["meta"]["lost"].values())),
                "losses are said", page["meta"]["losses"])
    for threads in range(1, 9):
        checks.that(run("--to", "html", "--threads", threads).out == result.out, "other bytes with", threads, "threads")
    checks.that(INPUT.encode() not in result.out and os.sep.join(INPUT.split(os.sep)[:2]).encode() + b"/" not in result.out,
                "folders are named")
    with harness.work_folder() as folder: # the same in a file, from elsewhere
        path = os.path.join(folder, "x.html")
        inputs = [os.path.join(INPUT, word) if os.path.exists(os.path.join(INPUT, word)) else word for word in case]
        harness.run("report", *inputs, "-o", path)
        with open(path, "rb") as file:
            checks.that(file.read() == result.out, "other bytes in a file")
    checks.end()


if __name__ == "__main__":
    main()
