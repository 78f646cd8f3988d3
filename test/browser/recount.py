"""Recounts of `report --json` as the page has to show them, and numbers as text: without the code of page or command."""
import re


def three_digits(value, units):
    if value < 1000:
        return "%d%s" % (value, units[0])
    for i, unit in enumerate(units[1:], 1):
        for decimals in (2, 1, 0):
            one = 10 ** (3 * i - decimals)
            digits = (2 * value + one) // (2 * one)              # halves go up
            if digits < 1000 or (i == len(units) - 1 and decimals == 0):
                whole, rest = divmod(digits, 10 ** decimals)
                return "%d%s%s" % (whole, ".%0*d" % (decimals, rest) if decimals else "", unit)
    return None


def time(ns):
    assert ns < 59950000000, "longer than the tests of these numbers"
    return three_digits(ns, (" ns", " us", " ms", " s"))


def percent(part, whole):
    return "%.1f %%" % (100 * (part / whole) if whole else 0)


def visible(text):
    """Characters without a picture of their own, as the page shows them."""
    hidden = "[\\x00-\\x1f\\x7f-\\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
    return re.sub(hidden, lambda found: "\u27e8U+%04X\u27e9" % ord(found.group(0)), text)


class Tree:
    """Places by path: their share of the whole, and where their boxes begin, heaviest first."""

    def __init__(self, nodes):
        self.node = {tuple(n["stack"]): n for n in nodes}
        self.total = {path: n["total"] for path, n in self.node.items()}
        self.whole = sum(total for path, total in self.total.items() if len(path) == 1)
        self.begin, inside = {}, {}
        for at, path in enumerate(self.total):
            inside.setdefault(path[:-1], []).append((-self.total[path], at, path))
        for parent in sorted(inside, key=len):
            x = self.begin.get(parent, 0)
            for _, _, path in sorted(inside[parent]):
                self.begin[path] = x
                x += self.share(path)

    def share(self, path):
        return self.total[path] / self.whole

    def lines(self, path):
        """Of a tooltip."""
        n = self.node[path]
        amount = lambda v: "%s \u00b7 %s of all" % (time(v), percent(v, self.whole))
        return {"calls": "{:,}".format(n["calls"]), "total": amount(n["total"]), "self": amount(n["self"]),
                **{key: time(n[key]) for key in ("p50", "p90", "p99", "max")}}


def found(nodes, pattern):
    """Functions and places that match, and their share, each stack once."""
    matches = lambda name: re.search(pattern, name, re.I)
    names = {n["stack"][-1] for n in nodes}
    places = [n for n in nodes if matches(n["stack"][-1])]
    outermost = sum(n["total"] for n in places if not any(map(matches, n["stack"][:-1])))
    whole = sum(n["total"] for n in nodes if len(n["stack"]) == 1)
    functions = len([name for name in names if matches(name)])
    return "%d functions, %d places, %s" % (functions, len(places), percent(outermost, whole))


def folded(nodes, hidden):
    """Rows of the tree without hidden functions, whose self goes to their nearest caller that is left."""
    sums = {}
    for n in nodes:
        path = tuple(f for f in n["stack"] if not hidden(f))
        row = sums.setdefault(path, [0, 0])
        row[0] += n["self"]
        row[1] += n["calls"] if not hidden(n["stack"][-1]) else 0
    out = []
    for path, (self, calls) in sums.items():
        total = sum(s for other, (s, _) in sums.items() if other[:len(path)] == path)
        if path:
            out.append({"level": len(path), "name": path[-1], "total": time(total), "self": time(self), "calls": "{:,}".format(calls)})
    return out


def percentile(function, permille):
    """Of a histogram in `report --by hist --json`: the middle of the bucket of the call of that rank."""
    rank = -(-function["calls"] * permille // 1000)
    if rank <= 1:
        return function["min"]
    if rank >= function["calls"]:
        return function["max"]
    for bucket in function["histogram"]:
        rank -= bucket["calls"]
        if rank <= 0:
            middle = bucket["low"] + (bucket["high"] - bucket["low"]) // 2
            return min(max(middle, function["min"]), function["max"])
    return None


def contrast(one, other):
    """As WCAG 2 defines it."""
    def luminance(rgb):
        parts = [c / 255 for c in rgb]
        r, g, b = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
