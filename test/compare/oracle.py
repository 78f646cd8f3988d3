#!/usr/bin/env python3
"""Changes of samples against slow mathematics of its own: oracle.py CHANGE_LINES

p by counting every way of dealing the values to the sides, or by the normal law with a correction for ties; the interval
from the law of U, counted the same way; all differences sorted."""
import itertools
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

CASES = 10000
EXACT_MOST = 50
VERDICTS = "exact new gone same more less a-little-more a-little-less unclear differs".split()
laws = {}


def law(n, m):
    """The number of ways for each U of n and m values without ties: sums of which ranks the second sample has."""
    if (n, m) not in laws:
        # of[k][s]: ways to choose k of the ranks so far with sum s
        of = [{0: 1}] + [{} for _ in range(m)]
        for rank in range(1, n + m + 1):
            for k in range(min(rank, m), 0, -1):
                for s, ways in of[k - 1].items():
                    of[k][s + rank] = of[k].get(s + rank, 0) + ways
        least = m * (m + 1) // 2
        ways = [of[m].get(u + least, 0) for u in range(n * m + 1)]
        assert sum(ways) == math.comb(n + m, m)
        laws[n, m] = ways
    return laws[n, m]


def tie_sum(values):
    groups = [len(list(group)) for _, group in itertools.groupby(sorted(values))]
    return sum(t ** 3 - t for t in groups)


def p_of(base, newer):
    n, m = len(base), len(newer)
    u = sum((b < x) + (b == x) / 2 for b in base for x in newer)
    low, ties = min(u, n * m - u), tie_sum(base + newer)
    if ties == 0 and max(n, m) <= EXACT_MOST:
        ways = law(n, m)
        return min(1.0, 2 * sum(ways[:int(low) + 1]) / sum(ways))
    every = n + m
    variance = n * m / 12 * (every + 1 - ties / (every * (every - 1))) if every > 1 else 0
    distance = n * m / 2 - low - 0.5
    return 1.0 if variance <= 0 or distance <= 0 else math.erfc(distance / math.sqrt(2 * variance))


def k_of(n, m):
    if max(n, m) > EXACT_MOST:
        k = math.floor(n * m / 2 + 0.5 - 1.959963984540054 * math.sqrt(n * m / 12 * (n + m + 1)))
        return max(k, 0)
    ways = law(n, m)
    every, k, sum_ = sum(ways), 0, 0
    for one in ways:
        sum_ += one
        if sum_ * 40 > every:  # 2.5 %
            return k
        k += 1
    return k


def expected(noise, counts, base, newer):
    logs = min(base + newer) > 0
    median = lambda v: (sorted(v)[(len(v) - 1) // 2] + sorted(v)[len(v) // 2]) / 2
    unit = 1
    if not logs:
        unit = max(median(base), median(newer)) or max(base + newer) or 1
    scale = (lambda v: math.log(v)) if logs else (lambda v: v / unit)
    a, b = [scale(v) for v in base], [scale(v) for v in newer]
    differences = sorted(y - x for x in a for y in b)
    k, band = k_of(len(a), len(b)), math.log(1 + noise) if logs else noise
    estimate = median(differences)
    low, high = (differences[k - 1], differences[-k]) if k else (0, 0)
    p = p_of(a, b)
    equal, still = sorted(base) == sorted(newer), len(set(base)) == len(set(newer)) == 1
    sign = "more" if estimate > 0 else "less"
    if counts and still and (equal or min(len(base), len(newer)) > 1):
        verdict = "exact" if estimate == 0 else "a-little-" + sign if abs(estimate) <= band else sign
    elif k and low >= -band and high <= band:
        verdict = "same"
    elif equal:
        verdict = "exact"
    elif not k:
        verdict = "differs" if max(len(base), len(newer)) < 4 else "unclear"
    elif p < 0.05 and estimate != 0:
        verdict = sign if low > band or high < -band else "a-little-" + sign
    else:
        verdict = "unclear"
    n, d = max(len(base), len(newer)), max(abs(estimate), band)
    runs = math.ceil(n * (1.43 * (high - low) / 2 / d) ** 2) if k and d > 0 else 0
    runs = 0 if not k or d <= 0 or runs > 1e6 else max(runs, n + 1)
    return estimate, low, high, k > 0, p, verdict, runs


def sample(rng, n, centre, kind):
    if kind == "smooth":
        return [centre * math.exp(rng.gauss(0, 0.05)) for _ in range(n)]
    if kind == "ties":
        return [float(round(centre * math.exp(rng.gauss(0, 0.2)))) for _ in range(n)]
    if kind == "zeros":
        return [float(rng.choice((0, 0, 1, centre))) for _ in range(n)]
    if kind == "wild":
        return [math.exp(rng.uniform(-30, 30)) for _ in range(n)]
    return [float(round(centre))] * n


def cases():
    rng = random.Random(20261126)
    for i in range(CASES):
        big = i % 500 == 0
        size = lambda: rng.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 10)) if not big else rng.choice((20, 49, 50, 51, 60))
        n, m, centre = size(), size(), rng.choice((3, 10, 1000))
        kind = rng.choice(("smooth", "smooth", "ties", "zeros", "wild", "still"))
        base = sample(rng, n, centre, kind)
        newer = base[:] if i % 41 == 0 else sample(rng, m, centre * rng.choice((1, 1, 1.03, 1.2, 0.8)), kind)
        yield rng.choice((0.05, 0.01, 0.2)), i % 3 == 0, base, newer


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def main():
    tool = harness.command_words(sys.argv[1])
    checks = harness.Checks(show=10)
    tried = list(cases())
    text = "".join("%r %d %d %s %d %s\n" % (noise, counts, len(base), " ".join(map(repr, base)), len(newer), " ".join(map(repr, newer)))
                   for noise, counts, base, newer in tried)
    lines = subprocess.run(tool, input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    checks.that(len(lines) == len(tried), len(lines), "answers to", len(tried), "questions")
    seen = set()
    for case, line in zip(tried, lines):
        estimate, low, high, has, p, verdict, runs = line.split()
        want = expected(*case)
        got = (float(estimate), float(low), float(high), has == "1", float(p), VERDICTS[int(verdict)], int(runs))
        seen.add(got[5])
        checks.that(got[3] == want[3] and all(close(got[i], want[i]) for i in ((0, 1, 2, 4) if want[3] else (0, 4))) and
                    got[5] == want[5] and abs(got[6] - want[6]) <= 1, case, "is", got, "not", want)
    checks.that(seen == set(VERDICTS) - {"new", "gone"}, "only these verdicts were seen:", seen)
    checks.end()


if __name__ == "__main__":
    main()
