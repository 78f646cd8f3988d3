#!/usr/bin/env python3
"""The page of a report in a real browser: page_browser.py SCENARIO INPUT

Makes a page, lets scenarios.mjs click through it in headless Chromium, and compares what was seen with what the command says
about the same trace: its tables as text, its JSON, and recounts of that JSON (recount.py)."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import elf_gen
import recount

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(harness.SOURCE, "test", "golden", "input")
INPUTS = {"calls": ["fdr-v5-le.xray", "-e", "program.elf"], "damaged": ["fdr-v5-le-messy.xray", "-e", "program.elf"],
          "basic": ["basic-v3-le.xray", "-e", "program.elf"], "samples": ["tracelog-doc.log"], "bytes": ["tracelog-doc.log", "--weight", "bytes"],
          "profile": ["profile-le.xray", "-e", "program.elf"], "live": ["live-done.tlp.live"], "insns": ["xtrace-user", "-e", "xtrace-user.elf"],
          "ticks": ["fdr-v5-le-no-clock.xray", "-e", "program.elf"], "threads": ["fdr-v5-le.xray", "-e", "program.elf", "--per-thread"]}
BOMB = "(a+)+$"
HOSTILE = ["</script><script>window.injected=1</script>", "<img src=x onerror=alert(1)>", "]]>", "<!--<script>", '"onmouseover="alert(1)',
           "javascript:alert(1)", "\u202eevil\u2066", "\x01\x1b[2J\x7f", "__proto__", "constructor", "%s%n", "a" * 60 + "!"]


class Made:
    """A page and the reports of its trace."""

    def __init__(self, words, folder, cwd=GOLDEN):
        self.words, self.cwd, self.file, self.folder = words, cwd, os.path.join(folder, "page.html"), folder
        result = harness.run("report", *words, "-o", self.file, cwd=cwd)
        assert os.path.exists(self.file), result
        self.said = result.err.decode()

    def tabs(self, durations=True, more=()):
        with open(self.file, "rb") as file:
            data = file.read()
        lacks = {tab for tab, section in (("Timeline", b"slices"), ("Events", b"class")) if b'data-section="%s"' % section not in data}
        return [tab for tab in ("Overview", "Flame", "Tree", "Timeline", "Latency", "Functions", *more, "Events", "Losses")
                if tab not in lacks and (durations or tab != "Latency")]

    def json(self, *more):
        return harness.run("report", *self.words, "--json", *more, cwd=self.cwd).json()

    def table(self, *more):
        return harness.run("report", *self.words, "--wide", "--top", 0, *more, cwd=self.cwd).text().splitlines()


def exact(folder):
    """The log with a clock of 1 GHz: its ticks are the nanoseconds of the JSON, so that sums of these are exact."""
    with open(os.path.join(GOLDEN, INPUTS["calls"][0]), "rb") as file:
        data = file.read()
    path = os.path.join(folder, "exact.xray")
    with open(path, "wb") as file:
        file.write(data[:8] + struct.pack("<Q", 10 ** 9) + data[16:])
    return path


def tools():
    browser = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    puppeteer = os.environ.get("TL_PUPPETEER", "")
    if not shutil.which("node"):
        harness.skip("no node")
    if not browser:
        harness.skip("no chromium")
    if not os.path.isdir(puppeteer):
        harness.skip("no puppeteer-core (npm install puppeteer-core@24; TL_PUPPETEER names its folder)")
    return dict(os.environ, TL_CHROMIUM=browser)


def watch(scenario, made, argument=None):
    """What the scenario saw."""
    words = ["node", os.path.join(HERE, "scenarios.mjs"), scenario, made.file]
    if argument is not None:
        words.append(os.path.join(made.folder, "argument.json"))
        with open(words[-1], "w", encoding="utf-8") as file:
            json.dump(argument, file)
    done = subprocess.run(words, capture_output=True, env=tools(), timeout=540)
    if done.returncode != 0:
        sys.exit("%s: %s%s" % (scenario, done.stdout[-1000:].decode(errors="replace"), done.stderr[-3000:].decode(errors="replace")))
    return json.loads(done.stdout)


def quiet(checks, seen, what=""):
    """One request, for the page itself, and no word in the console."""
    for kind in ("console", "errors", "dialogs"):
        checks.equal(seen[kind], [], what, kind)
    checks.equal(len(set(seen["requests"])), 1, what, seen["requests"])


def text_rows(lines, name_title):
    """Rows of a table of `report` as text: {column: text}, the name with the lines of a tree before it."""
    at = next(i for i, line in enumerate(lines) if line.endswith(name_title))
    titles, begin, out = re.split(r"\s{2,}", lines[at].strip()), lines[at].index(name_title), []
    for line in lines[at + 1:]:
        if not line.strip():
            break
        cells = [c for c in re.split(r"\s{2,}", line[:begin].strip()) if c.strip("\u2588\u2589\u258a\u258b\u258c\u258d\u258e\u258f#-")]
        row = dict(zip(titles[:-1], cells))
        assert len(cells) == len(titles) - 1, (titles, line)
        tree = re.match(r"(?:[\u2502\u251c\u2514 ] )*", line[begin:]).group(0)
        row.update(name=line[begin + len(tree):], level=1 + len(tree) // 2)
        for word in {"samples", "allocations"} & set(row):
            row["calls"] = row[word]
        out.append(row)
    return out


def same_rows(checks, got, expected, keys, what):
    pick = lambda rows: collections.Counter(tuple(row[k] for k in keys) for row in rows)
    got, expected = pick(got), pick(expected)
    checks.that(got == expected, what, "\n  only in the page   %s\n  only in the report %s" % (sorted((got - expected).elements())[:5],
                                                                                             sorted((expected - got).elements())[:5]))


def shows(made, checks):
    seen = watch("shows", made)
    quiet(checks, seen["seen"])
    by_thread = "--per-thread" in made.words
    made.words = [word for word in made.words if word != "--per-thread"]      # for trees only
    lines, functions = made.table("--by", "func"), made.json("--by", "func")["functions"]
    checks.that(lines[0].endswith(seen["facts"]), "facts", seen["facts"], lines[0])
    checks.that(seen["static_hidden"], "the static part is still there")
    rows = text_rows(lines, "function")
    keys = [k for k in ("self", "share", "total", "calls", "min", "p50", "p90", "p99", "max", "unwound", "name") if k in rows[0]]
    # Of samples the page has one function for a name, and functions with the same self may come in another order.
    same_rows(checks, seen["functions"], rows, keys, "functions")
    checks.equal([row["self"] for row in seen["functions"]], [row["self"] for row in rows], "order of functions")
    checks.equal([row[0] for row in seen["hot"]], [row["name"] for row in seen["functions"][:10]], "hot functions")
    checks.equal([row[1] for row in seen["hot"]], [row["self"] for row in rows[:10]], "their self")
    if not by_thread:
        rows = text_rows(made.table("--by", "tree", "--no-fold"), "call tree")
        keys = [k for k in ("level", "total", "share", "calls", "self", "p50", "p99", "max", "name") if k in rows[0]]
        # The text leaves out places that have nothing.
        same_rows(checks, [r for r in seen["tree"] if r["total"] not in ("0 ns", "0", "0 B") or r["calls"] != "0"], rows, keys, "tree")
    has_latencies = any(f["p50"] is not None for f in functions)
    more = {"samples": ["Runtime"], "bytes": ["Runtime"], "insns": ["Code"]}.get(sys.argv[2], [])
    checks.equal(seen["tabs"], made.tabs(has_latencies, more), "tabs")
    if has_latencies:
        latency(made, checks, seen)
    losses = re.findall(r"^(?:[^ :]+: )?(unmatched|unwound|lost \d+|byte \d+)", made.said, re.M)
    checks.equal(seen["alarm"] is None, not losses, "alarm", seen["alarm"], made.said)
    for word in losses:
        checks.that(word in seen["losses"], word, "is not among the losses")


def latency(made, checks, seen):
    histograms = {f["name"]: f for f in made.json("--by", "hist")["functions"]}
    checks.equal({r["name"] for r in seen["latency"]["list"]}, set(histograms), "functions with latencies")
    f = histograms[seen["latency"]["function"]]
    counts, sums = [b["calls"] for b in f["histogram"]], set()
    for i in range(len(counts) + 1):
        sums.add(sum(counts[:i]))
    total = 0
    for bar in seen["bars"]:
        total += int(bar["calls"].replace(",", ""))
        checks.that(total in sums, "a bar ends within a bucket:", bar)
        checks.equal(bar["sum"], recount.percent(total, f["calls"]), "so far")
    checks.equal(total, f["calls"], "calls in bars")


def click(made, checks):
    tree = recount.Tree(made.json("--by", "tree", "--no-fold")["nodes"])
    paths = [("main",), ("main", "serve_client", "check_user"), ("main", "serve_client", "send_reply", "compress_block"),
             ("main", "serve_client", "render_page", "render_node")]
    probes = [[tree.begin[p] + tree.share(p) / 2, len(p)] for p in paths]
    seen = watch("click", made, {"probes": probes, "pick": {"rows": 5}})
    quiet(checks, seen["seen"])
    for path, tip in zip(paths, seen["tips"]):
        checks.equal(tip, [path[-1], tree.lines(path)], path)
    last, focused = paths[-1], seen["focused"]
    checks.equal(focused["tip"][0], last[-1], "after the click")
    checks.equal(focused["crumbs"], ["the whole", *last], "breadcrumb")
    checks.that("f=" + ";".join(last) in focused["hash"], focused["hash"])
    checks.that(focused["detail"].startswith("render_node"), "detail", focused["detail"][:50])
    checks.equal(seen["whole"], ["the whole"], "after a click on the first crumb")
    function = next(f for f in made.json()["functions"] if f["name"] == "render_node")
    tips = seen["sandwich"]["tips"]
    checks.equal([t[0] for t in tips], ["main", "serve_client", "render_page", "render_node", "render_node"], "sandwich")
    for tip in tips[:4]:
        checks.equal(tip[1]["total"].split(" \u00b7 ")[0], recount.time(function["total"]), "total of the sandwich")
    checks.equal(tips[4][1]["total"].split(" \u00b7 ")[0], recount.time(tree.total[last + ("render_node",)]), "recursion")
    checks.that("sw=1" in seen["sandwich"]["hash"] and "render_node" in seen["sandwich"]["chips"], seen["sandwich"]["hash"])
    checks.that({"Copy name", "Latency", "Focus on this place"} <= set(seen["menu"]), seen["menu"])
    checks.that("drop=%5Erender_node%24" in seen["folded"], seen["folded"])


def trees(made, checks):
    nodes, q = made.json("--by", "tree", "--no-fold")["nodes"], 95
    find, drop, keep = "^render_|header$", "^render_node$|^serve", "main|render_node|compress"
    seen = watch("trees", made, {"find": find, "drop": drop, "keep": keep, "q": q})
    quiet(checks, seen["seen"])
    checks.equal(seen["found"], recount.found(nodes, find), "search")
    for name, hidden in (("dropped", lambda f: re.search(drop, f)), ("kept", lambda f: not re.search(keep, f))):
        expected = recount.folded(nodes, hidden)
        same_rows(checks, seen[name], expected, ("level", "name", "total", "self", "calls"), name)
    functions = made.json()["functions"]
    checks.equal({r["name"]: r["total"] for r in seen["inverted"] if r["level"] == 1}, {f["name"]: recount.time(f["self"]) for f in functions}, "inverted")
    histograms = {f["name"]: f for f in made.json("--by", "hist")["functions"]}
    for row in seen["functions"]:
        checks.equal(row["p%d" % q], recount.time(recount.percentile(histograms[row["name"]], q * 10)), "p%d of" % q, row["name"])
    checks.equal([int(r["calls"].replace(",", "")) for r in seen["functions"]], sorted((f["calls"] for f in functions), reverse=True), "sorted")


def details(made, checks):
    functions, edges = made.json()["functions"], made.json("--by", "callees")["edges"]
    seen = watch("details", made, {"names": [f["name"] for f in functions]})
    quiet(checks, seen["seen"])
    for f in functions:
        panel, name = seen["panels"][f["name"]], f["name"]
        numbers = dict(zip(panel["numbers"][::2], panel["numbers"][1::2]))
        for key, json_key in (("shortest", "min"), ("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("longest", "max")):
            checks.equal(numbers[key], recount.time(f[json_key]), key, "of", name)
        line = lambda other, e: [other, recount.time(e["total"]), recount.percent(e["total"], f["total"])]
        calls = [line(e["callee"], e) for e in edges if e["caller"] == name and e["callee"] != name]
        checks.equal(sorted(panel.get("Calls", [])), sorted(calls), "what", name, "calls")
        callers = [line(e["caller"] or "outermost", e) for e in edges if e["callee"] == name and e["caller"] != name]
        checks.equal(sorted(panel.get("Called from", [])), sorted(callers), "who calls", name)


def keys(made, checks):
    seen = watch("keys", made)
    quiet(checks, seen["seen"])
    checks.equal(seen["tabs"], made.tabs(), "tabs")
    checks.that(seen["described"].startswith("serve_client, level 2, calls 12"), "description", seen["described"])
    hashes = seen["hash"]
    for name, has in (("focus", "f=main;serve_client"), ("forward", "f=main;serve_client"), ("sandwich", "sw=1"), ("invert", "i=1"), ("find", "find=render")):
        checks.that(has in hashes[name], name, hashes[name])
    for name, lacks in (("back", "f="), ("escape", "sw="), ("cleared", "find=")):
        checks.that(not re.search("[#&]" + lacks, hashes[name]), name, hashes[name])
    checks.equal(seen["table"], "treegrid", "v")
    checks.equal(seen["theme"], "dark", "t")
    checks.equal((seen["slash"], seen["control_f"]), ("find", "find"), "/ and Ctrl-F")
    checks.that(seen["match"].startswith("render_"), "n", seen["match"])
    checks.equal(seen["help"], True, "?")
    checks.that(seen["collapsed"] == 1 < seen["expanded"], "arrows in the tree", seen["collapsed"], seen["expanded"])


def touch(made, checks):
    tree = recount.Tree(made.json("--by", "tree", "--no-fold")["nodes"])
    path = ("main", "serve_client", "check_user")
    seen = watch("touch", made, {"share": tree.begin[path] + tree.share(path) / 2, "row": len(path)})
    quiet(checks, seen["seen"])
    checks.that("Focus on this place" in seen["menu"], "long press", seen["menu"])
    checks.that("f=" not in seen["after_press"], "after a long press", seen["after_press"])
    checks.that("f=" + ";".join(path) in seen["after_tap"], "after a tap", seen["after_tap"])
    for name, height in seen["targets"]:
        checks.that(height >= 32, name, "is only", height, "high")


def hash_(made, checks):
    hashes = ["v=flame", "v=flame&f=main;serve_client&p=render_page", "v=flame&i=1&th=dark", "v=flame&p=render_node&sw=1", "v=flame&drop=serve&find=render"]
    garbage = ["", "v=nothing", "v=flame&f=no;such&p=nobody", "%", "%ff%fe", "v=%3Cscript%3E", "q=1e99&th=pink&i=2&s=%22", "find=" + "x" * 3000, "v=flame&find=[",
               "__proto__=1&constructor=2", "=&=&&=", "w=none&keep=(&drop=*"]
    seen = watch("hash", made, {"hashes": hashes, "garbage": garbage})
    for state in seen["states"]:
        checks.equal(state["again"], state["first"], state["asked"])
        checks.equal(sorted(state["first"]["hash"][1:].split("&")), sorted(state["asked"].split("&")), "the hash of the state")
        for one in state["seen"]:
            quiet(checks, one, state["asked"])
    pictures = {state["first"]["picture"] for state in seen["states"]}
    checks.equal(len(pictures), len(hashes), "different pictures")
    for one in seen["garbage"]:
        quiet(checks, one["seen"], one["hash"])
        checks.equal(one["tab"], "Flame" if one["hash"].startswith("v=flame") else "Overview", one["hash"])
        if "nobody" in one["hash"]:
            checks.that("which is not in this page" in one["status"] and "nobody" in one["status"], "status", one["status"])


def picture(made, checks):
    tree = recount.Tree(made.json("--by", "tree", "--no-fold")["nodes"])
    depth = max(len(p) for p in tree.total)
    sizes = [[1600, 900, 1, "light"], [1600, 900, 2, "dark"], [390, 844, 2, "light"], [390, 844, 3, "dark"]]
    seen = watch("picture", made, {"sizes": sizes, "row_count": depth + 1})
    for one in seen["sizes"]:
        what = "%(width)d x %(height)d, %(theme)s" % one
        quiet(checks, one["seen"], what)
        for view, wide in one["wide"].items():
            checks.that(wide <= one["width"], what, view, "is", wide, "wide")
        for ink, paper, text in one["contrast"]:
            checks.that(recount.contrast(ink, paper) >= 4.5, what, "contrast of", text, ink, paper, "%.2f" % recount.contrast(ink, paper))
        width, paper = one["canvas"][0], "255,255,255" if one["theme"] == "light" else "22,24,28"
        for row in range(1, depth + 1):
            boxes, at = [], 0
            for size, colour in one["rows"][row]:
                if colour != paper:
                    boxes.append((at, at + size))
                at += size
            for path in tree.total:
                x, w = tree.begin[path] * width, tree.share(path) * width
                if len(path) == row and w >= 4:
                    checks.that(any(abs(a - x) <= 1 and abs(b - (x + w - 1)) <= 1.5 for a, b in boxes), what, "no box of", path, x, w, boxes)
            checks.that(sum(b - a for a, b in boxes) <= 1 + width * sum(tree.share(p) for p in tree.total if len(p) == row), what, "row", row, "is too wide")
    checks.that(1 <= seen["pages"] <= 3, "printed on", seen["pages"], "pages")
    with open(os.path.join(harness.SOURCE, "src", "view", "web", "colours.js"), encoding="utf-8") as file:
        text = file.read()
    for theme, ink in (("LIGHT", "1d2126"), ("DARK", "e8eaed")):
        hues = re.findall(r"\b[0-9a-f]{6}\b", re.search(r"const %s = (.*?);" % theme, text, re.S).group(1))
        checks.equal(len(hues), 24, theme)
        for hue in hues:
            pair = [[int(c[i:i + 2], 16) for i in (0, 2, 4)] for c in (ink, hue)]
            checks.that(recount.contrast(*pair) >= 4.5, theme, hue)


def a11y(made, checks):
    seen = watch("a11y", made)
    quiet(checks, seen["seen"])
    for view, nodes in seen["trees"].items():
        roles = collections.Counter(role for role, _ in nodes)
        checks.equal(roles["tab"], len(made.tabs()), view, "tabs")
        for role, name in nodes:
            if role in ("button", "tab", "textbox", "searchbox", "combobox", "application", "grid", "treegrid", "slider", "checkbox", "columnheader", "dialog"):
                checks.that(name.strip(), view, "has a nameless", role)
    for view, role in (("tree", "treegrid"), ("functions", "grid"), ("flame", "Canvas"), ("latency", "grid")):
        roles = {r.lower() for r, _ in seen["trees"][view]}
        checks.that(role.lower() in roles or "application" in roles, view, "has no", role, sorted(roles))
    for level, size, position, _ in seen["levels"]:
        checks.that(level and int(level) >= 1 and 1 <= int(position) <= int(size), "a row of the tree", level, size, position)
    checks.that(any(expanded == "true" for *_, expanded in seen["levels"]), "nothing is expanded")
    order = seen["order"]
    checks.that(order.index("find") < order.index("tab-overview"), "Tab order", order)
    checks.that("found" in seen["status"], "status", seen["status"])


def axe(made, checks):
    """axe-core knows more rules; what it calls a violation is one."""
    source = os.path.join(os.path.dirname(os.environ.get("TL_PUPPETEER", "")), "axe-core", "axe.min.js")
    if not os.path.exists(source):
        harness.skip("no axe-core (npm install axe-core@4 beside puppeteer-core, whose folder TL_PUPPETEER names)")
    seen = watch("axe", made, {"source": source})
    checks.that(len(seen["views"]) >= 4 and seen["rules"] > 20, "few views or rules", seen["views"], seen["rules"])
    for view, theme, rule, impact, nodes, html in seen["found"]:
        checks.that(False, view, theme, rule, impact, nodes, html)


def hostile(made, checks):
    seen = watch("hostile", made, {"bomb": BOMB})
    allowed = [line for line in seen["seen"]["console"] if "Content Security Policy" in line or "violates" in line]
    checks.equal(seen["seen"]["console"], allowed, "console")
    checks.that(allowed, "the policy stopped nothing")
    for kind in ("errors", "dialogs"):
        checks.equal(seen["seen"][kind], [], kind)
    checks.equal(len(set(seen["seen"]["requests"])), 1, "requests")
    checks.equal((seen["injected"], seen["elements"]), (0, 0), "injected")
    checks.equal(seen["globals"], [], "new globals")
    names = {f["name"] for f in made.json()["functions"]}
    checks.equal(sorted(row["name"] for row in seen["functions"]), sorted(map(recount.visible, names)), "names")
    checks.that(names & set(HOSTILE), "no hostile name in the trace")
    checks.that("given up after 1 s" in seen["bomb"], "a slow pattern", seen["bomb"])
    checks.equal(seen["alive"], 2, "the page")


def save(made, checks):
    seen = watch("save", made)
    checks.that(len(seen["before"]) > 3, "rows")
    checks.equal(seen["after"], seen["before"], "the saved page")
    checks.equal(seen["errors"], [], "errors")


CASES = {case.__name__.strip("_"): case for case in (shows, click, trees, details, keys, touch, hash_, picture, a11y, axe, hostile, save)}


def main():
    tools()
    checks = harness.Checks()
    with harness.work_folder() as folder:
        words, cwd = INPUTS["calls" if sys.argv[2] in ("names", "exact") else sys.argv[2]], GOLDEN
        if sys.argv[2] == "names":
            with open(os.path.join(folder, "hostile.elf"), "wb") as file:
                file.write(elf_gen.build_elf(names=HOSTILE))
            words = [words[0], "-e", os.path.join(folder, "hostile.elf")]
        elif sys.argv[2] == "exact":
            words = [exact(folder), *words[1:]]
        CASES[sys.argv[1]](Made(words, folder, cwd), checks)
    checks.end()


if __name__ == "__main__":
    main()
