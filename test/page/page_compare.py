#!/usr/bin/env python3
"""The page of `report --diff`: its answers are those of --json, and its union of both trees is recounted from the calls that
the logs were made of."""
import os
import random
import shlex
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import elf_gen
from page_read import read

NAMES = ["main", "serve", "parse", "render", "leaf", "check", "escape", "</script><script>alert(1)</script>"]
UNION_MOST = 10000
GATES = ["--fail-if", "p50(parse) > +5%", "--fail-if", "calls(render) > 1"]


class Log:
    """A log of the basic format at 1 GHz, and what its calls add up to: path -> [calls, total, self]."""

    def __init__(self):
        self.data = bytearray(struct.pack("<HHIQ16x", 3, 0, 3, 10 ** 9))
        self.now, self.stack, self.sums = 1000, [], {}

    def event(self, kind, function):
        self.data += struct.pack("<HBBiQII8x", 0, 0, kind, function, self.now, 7, 7)

    def enter(self, name):
        self.event(0, NAMES.index(name) + 1)
        self.stack.append([name, self.now, 0])

    def leave(self):
        path = tuple(frame[0] for frame in self.stack)
        name, begin, inner = self.stack.pop()
        self.event(1, NAMES.index(name) + 1)
        sums = self.sums.setdefault(path, [0, 0, 0])
        sums[0] += 1
        sums[1] += self.now - begin
        sums[2] += self.now - begin - inner
        if self.stack:
            self.stack[-1][2] += self.now - begin

    def work(self, ticks):
        self.now += ticks

    def call(self, name, ticks):
        self.enter(name)
        self.work(ticks)
        self.leave()


def server(rng, newer):
    """NEW: render is slower, and calls escape; parse no longer calls check. Neither caller takes about as long without it, so
    that nothing looks inlined."""
    log = Log()
    log.enter("main")
    for _ in range(60):
        log.enter("serve")
        log.enter("parse")
        log.work(rng.randint(900, 1100))
        log.call("leaf", 500)
        if not newer:
            log.call("check", rng.randint(3000, 3300))
        log.leave()
        log.enter("render")
        log.work(rng.randint(2000, 2200) * (3 if newer else 2))
        log.call("leaf", 700)
        log.call(NAMES[-1], 40)
        for _ in range(2 * newer):
            log.call("escape", rng.randint(2000, 2300))
        log.leave()
        log.leave()
    log.leave()
    return log


def bushy(rng):
    """More paths than the page takes: chains of random functions, eight deep."""
    log = Log()
    log.enter("main")
    for _ in range(3000):
        depth = rng.randint(4, 8)
        for _ in range(depth):
            log.enter(rng.choice(NAMES))
            log.work(rng.randint(1, 2000))
        for _ in range(depth):
            log.leave()
    log.leave()
    return log


def write_side(folder, name, logs):
    os.mkdir(os.path.join(folder, name))
    for number, log in enumerate(logs):
        with open(os.path.join(folder, name, "run-%03d.xray" % number), "wb") as file:
            file.write(log.data)
    return logs


def mean_tree(sides):
    """Of both sides: path -> ((calls, total, self) of BASE, of NEW), means of runs."""
    out = {}
    for side, logs in enumerate(sides):
        for log in logs:
            for path, sums in log.sums.items():
                at = out.setdefault(path, ([0, 0, 0], [0, 0, 0]))[side]
                for i, value in enumerate(sums):
                    at[i] += value / len(logs)
    return out


def widths(tree):
    """Path -> the wider side, but at least what is below; () is the whole."""
    one = [dict.fromkeys(tree, 0.0), dict.fromkeys(tree, 0.0)]
    both, below = {}, {(): 0.0}
    for path in sorted(tree, key=len, reverse=True):
        for side in (0, 1):
            one[side][path] = max(tree[path][side][1], one[side][path] + tree[path][side][2])
            if path[:-1]:
                one[side][path[:-1]] += one[side][path]
        both[path] = max(one[0][path], one[1][path], below.get(path, 0.0))
        below[path[:-1]] = below.get(path[:-1], 0.0) + both[path]
    return both


def near(a, b):
    return abs(a - b) <= 2e-5 * max(abs(a), abs(b))


def check_union(checks, union, tree):
    paths, wide = [()], widths(tree)
    for i in range(1, union["places"]):
        checks.that(union["parent"][i] < i, "parents come first")
        paths.append(paths[union["parent"][i]] + (union["name"][i],))
    checks.equal(len(set(paths)), len(paths), "paths that occur twice")
    checks.that(set(paths[1:]) <= set(tree), "unknown paths", list(set(paths[1:]) - set(tree))[:3])
    checks.equal(union["places"] - 1 + union["left_out"], len(tree), "paths, with those left out")
    for i, path in enumerate(paths[1:], 1):
        for side, key in enumerate(("base", "new")):
            got = [union[key][member][i] for member in ("calls", "total", "self")]
            checks.that(all(map(near, got, tree[path][side])), path, key, got, tree[path][side])
        checks.that(near(union["width"][i], wide[path]), path, "width", union["width"][i], wide[path])
    if union["left_out"]:
        kept, out = min(wide[p] for p in paths[1:]), max(wide[p] for p in set(tree) - set(paths))
        checks.that(out <= kept, "a wider place was left out:", out, "for", kept)


def diff(folder, *words):
    return harness.run("diff", "old", "new", "-e", "names.elf", *words, cwd=folder)


def nameless(answer):
    """Runs without their folders, as a page has them."""
    for side in ("base", "new"):
        for run in answer[side]["runs"]:
            run["name"] = os.path.basename(run["name"])
    return answer


def check_answers(checks, folder):
    result = diff(folder, "--to", "html", "--min-share", "0", *GATES)
    checks.equal(result.status, 1, "status with a gate that fails", result.err)
    page = read(result.out)
    plain = diff(folder, "--json", "--min-share", "0", *GATES).json()
    checks.that(plain["rows"] and plain["gates"] and {r["verdict"] for r in plain["rows"]} >= {"new", "gone", "slower"}, "verdicts")
    checks.equal(page["compare"], dict(nameless(plain), left_out=0), "the answer")
    tree = diff(folder, "--json", "--min-share", "0", "--by", "tree").json()
    checks.equal(page["paths"]["rows"], tree["rows"], "the answer by path")
    by_tree = read(diff(folder, "--to", "html", "--min-share", "0", "--by", "tree").out)
    checks.equal(by_tree["compare"]["rows"], tree["rows"], "with --by tree")
    checks.that("paths" not in by_tree, "paths twice")
    checks.equal(page["union"]["sides"], ["old", "new"], "sides")
    checks.equal(page["union"]["noise"], 0.05, "noise")
    checks.that(folder.encode() not in result.out and b"old/" not in result.out, "folders are private")
    checks.equal(diff(folder, "--to", "html", "--min-share", "0", "--threads", "1", *GATES).out, result.out, "bytes with one thread")
    small = diff(folder, "--to", "html", "--min-share", "0", "--top", "1")
    checks.equal(read(small.out)["compare"]["rows"], plain["rows"], "with --top")
    return page


def check_again(checks, folder):
    """The command in the page gives the same answer, in the folder of its inputs."""
    words = ["--by", "tree", "--per", "run", "--noise", "12.5%", "--min-share", "2%", "--map", "check=escape", "-F", "*",
             "--fail-if", "calls(render) > 1 or total(main) > 1h", "--fail-when", "unclear"]
    result = diff(folder, "--to", "html", *words)
    checks.that(result.out, "no page", result.err)
    page = read(result.out)
    again = shlex.split(page["meta"]["again"])
    checks.equal(again[:2], ["traceloom", "report"], "again")
    checks.equal(harness.run(*again[1:], "--json", cwd=folder).json(), diff(folder, "--json", *words).json(), again)


def check_profile(checks, page, logs):
    """The other views show NEW, added up."""
    calls = {}
    for log in logs:
        for path, sums in log.sums.items():
            calls[path[-1]] = calls.get(path[-1], 0) + sums[0]
    got = {page["functions"][row["function"]]["label"]: row["calls"] for row in page["rows"]}
    checks.equal(got, calls, "calls of NEW")


def check_refused(checks, folder):
    for words, text in ((("--to", "html", "--json"), "--json does not go with a page"), (("--to", "html", "--page-limit", "10k"), "at least 1M"),
                        (("--title", "x"), "--title and --page-limit go with")):
        result = diff(folder, *words)
        checks.equal(result.status, 2, words, result.err)
        checks.that(text in result.err.decode(), words, result.err)


def main():
    checks, rng = harness.Checks(), random.Random(3)
    with harness.work_folder() as folder:
        with open(os.path.join(folder, "names.elf"), "wb") as file:
            file.write(elf_gen.build_elf(names=NAMES))
        sides = [write_side(folder, name, [server(rng, newer) for _ in range(6)]) for name, newer in (("old", False), ("new", True))]
        page = check_answers(checks, folder)
        check_union(checks, page["union"], mean_tree(sides))
        check_profile(checks, page, sides[1])
        check_refused(checks, folder)
        check_again(checks, folder)
    with harness.work_folder() as folder:
        with open(os.path.join(folder, "names.elf"), "wb") as file:
            file.write(elf_gen.build_elf(names=NAMES))
        sides = [write_side(folder, name, [bushy(rng)]) for name in ("old", "new")]
        union = read(diff(folder, "--to", "html").out)["union"]
        checks.equal(union["places"], UNION_MOST, "places of a large tree")
        tree = mean_tree(sides)
        if len(tree) <= UNION_MOST:
            sys.exit("the large tree is too small: %d" % len(tree))
        # A function that is missing on one side may be a part of its caller on the other: not here, where all are on both.
        check_union(checks, union, tree)
        small = diff(folder, "--to", "html", "--page-limit", "1M", "--min-share", "0")
        checks.that(len(small.out) <= 1000000, "a page of", len(small.out), "bytes")
        check_union(checks, read(small.out)["union"], tree)
    checks.end()


if __name__ == "__main__":
    main()
