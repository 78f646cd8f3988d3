#!/usr/bin/env python3
"""The page of `report --diff` in a real browser: the table of verdicts is that of the command, boxes are as wide as the larger
side, functions that are gone are found, and nothing else is asked for."""
import json
import os
import random
import re
import subprocess
import sys

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "page")]
import harness
import elf_gen
import page_browser
import page_compare
import recount

HERE = os.path.dirname(os.path.abspath(__file__))
DIFF = ["diff", "old", "new", "-e", "names.elf", "--min-share", "0", "--fail-if", "p50(parse) > +5%"]


def table_rows(folder):
    """Those of the command's own table: [metric, base, new, change, interval, q, verdict, function]."""
    lines = harness.run(*DIFF, "--wide", "--top", "0", cwd=folder).text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:3] == ["metric", "base", "new"]) + 1
    return [re.split(r"\s{2,}", line.strip()) for line in lines[first:] if line.strip()]


def shown_rows(rows):
    return [[row["metric"], row["base"], row["new"], row["change"], row["interval"], row["q"], row["verdict"], row["name"]] for row in rows]


def check_table(checks, seen, folder):
    wanted = table_rows(folder)
    got = shown_rows(seen["rows"])
    checks.that(len(got) >= 10, "rows", len(got))
    for one, right in zip(got, wanted):
        name, note = right[7], right[8] if len(right) > 8 else ""
        verdict = right[6].split(" within ")[0]
        checks.equal(one, right[:6] + [verdict, name + note], "row")
    checks.equal(len(got), len(wanted), "rows")
    for row, base, new in seen["dots"]:
        checks.equal((base, new), (0, 0) if got[row][6] == "new" else (6, 6), "dots of", got[row])
    changes = [float(row["change"].split()[0]) for row in seen["sorted"] if row["change"].endswith(" %")]
    size = [max(1 + c / 100, 1 / (1 + c / 100)) for c in changes]
    checks.equal(size, sorted(size, reverse=True), "sorted by change")
    checks.equal(sorted(shown_rows(seen["sorted"])), sorted(got), "rows when sorted")


def check_boxes(checks, one, tree, paper):
    wide = page_compare.widths(tree)
    whole = sum(w for path, w in wide.items() if len(path) == 1)
    for depth in range(1, 4):
        boxes = [size for size, colour in one["boxes"][depth] if colour != paper]
        right = sorted(w / whole * one["canvas"] for path, w in wide.items() if len(path) == depth)
        right = [w for w in right if w > 8]
        got = sorted(boxes)[-len(right):]
        # Boxes of one colour touch: then only their sum is seen.
        checks.that(abs(sum(got) - sum(right)) <= 2 * len(right) + 2, one["theme"], "row", depth, got, right)


def main():
    environment, checks, rng = page_browser.tools(), harness.Checks(), random.Random(3)
    with harness.work_folder() as folder:
        with open(os.path.join(folder, "names.elf"), "wb") as file:
            file.write(elf_gen.build_elf(names=page_compare.NAMES))
        sides = [page_compare.write_side(folder, name, [page_compare.server(rng, newer) for _ in range(6)])
                 for name, newer in (("old", False), ("new", True))]
        page = os.path.join(folder, "page.html")
        checks.equal(harness.run(*DIFF, "-o", page, cwd=folder).status, 0, "status")
        done = subprocess.run(["node", os.path.join(HERE, "compare_scenes.mjs"), page], capture_output=True, env=environment, timeout=540)
        if done.returncode != 0:
            sys.exit(done.stderr[-3000:].decode(errors="replace"))
        seen = json.loads(done.stdout)
        checks.equal(seen["tabs"][0], "Compare", "first tab")
        checks.equal(seen["chosen"], "Compare", "chosen tab")
        checks.that("6 + 6 runs" in seen["head"] and "p50(parse) > +5%" in seen["head"] and "1 gone" in seen["head"], seen["head"])
        check_table(checks, seen, folder)
        checks.that(seen["found"]["esc"] and all("escape" in name for name in seen["found"]["esc"]), seen["found"])
        checks.that(seen["found"]["chec"] and all("check" in name for name in seen["found"]["chec"]), "a function that is gone", seen["found"])
        checks.equal(seen["found"]["nobody"], [], "nobody")
        checks.that("p=" in seen["hash"], "a click picks", seen["hash"])
        checks.that("escape" in " ".join(seen["functions"]) and "check" not in " ".join(seen["functions"]), "functions of NEW", seen["functions"])
        (name, lines), tree = seen["tips"][0], page_compare.mean_tree(sides)
        checks.equal(name, "serve", "name in the tooltip")
        checks.that(any(text.endswith(": slower") for text in lines.values()) and "\u2192" in lines["total a run"], lines)
        for one in seen["sizes"]:
            page_browser.quiet(checks, one["seen"], one["width"])
            checks.that(one["scroll"] <= one["width"], one["width"], "is", one["scroll"], "wide")
            check_boxes(checks, one, tree, "255,255,255" if one["theme"] == "light" else "22,24,28")
    with open(os.path.join(harness.SOURCE, "src", "view", "web", "colours.js"), encoding="utf-8") as file:
        papers = re.findall(r"ink: '(\w+)'.*\n?.*?worse: '(\w+)', better: '(\w+)', same: '(\w+)'", file.read())
    checks.equal(len(papers), 2, "themes")
    for ink, *colours in papers:
        for colour in colours:
            pair = [[int(c[i:i + 2], 16) for i in (0, 2, 4)] for c in (ink, colour)]
            checks.that(recount.contrast(*pair) >= 4.5, colour, "contrast")
    checks.end()


if __name__ == "__main__":
    main()
