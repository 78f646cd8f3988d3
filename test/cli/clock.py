#!/usr/bin/env python3
"""cat --clock: the same events with other times, which are those of the plain text, added up here; and of babeltrace2."""
import datetime
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
DAY = 86400 * 10 ** 9


def cat(name, *more):
    done = harness.run("cat", os.path.join(INPUT, name), *more)
    return done.out.decode("utf-8", "surrogateescape").splitlines()


def ns(text):
    """Of "-12.345678901"."""
    sign = -1 if text[0] == "-" else 1
    seconds, fraction = text.lstrip("+-").split(".")
    assert len(fraction) == 9
    return sign * (int(seconds) * 10 ** 9 + int(fraction))


def of_day(text):
    hours, minutes, seconds = text.split(":")
    return (int(hours) * 60 + int(minutes)) * 60 * 10 ** 9 + ns(seconds)


def of_date(text):
    day, time = text.split(" ")
    return (datetime.date.fromisoformat(day) - datetime.date(1970, 1, 1)).days * DAY + of_day(time)


def split(lines, form):
    """Times and what follows them."""
    found = [re.match(r" *(%s)(  .*)" % form, line) for line in lines]
    return [f.group(1) for f in found if f], [f.group(2) for f in found if f], all(found)


def plain(checks, name, has_utc):
    relative, text, whole = split(cat(name), r"-?\d+\.\d{9}")
    checks.that(whole and len(relative) > 20, name)
    checks.equal(cat(name, "--clock", "relative"), cat(name))
    delta, same, whole = split(cat(name, "--clock=delta"), r"\+\?|[-+]\d+\.\d{9}")
    times = [ns(t) for t in relative]
    checks.that(whole and same == text and delta[0] == "+?", name, delta[:3])
    # Ticks that are not whole ns: times are rounded, and so are deltas.
    off = max(abs(ns(d) - (b - a)) for d, a, b in zip(delta[1:], times, times[1:]))
    checks.that(len(delta) == len(times) and off <= (0 if has_utc else 1), name, off)
    if not has_utc:
        for word in ("wall", "date"):
            done = harness.run("cat", os.path.join(INPUT, name), "--clock", word)
            checks.that(done.status == 2 and not done.out and b"does not know the time of day" in done.err, done)
        return
    date, same, whole = split(cat(name, "--clock=date"), r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}")
    checks.that(whole and same == text, name)
    dates = [of_date(t) for t in date]
    checks.equal([d - dates[0] for d in dates], [t - times[0] for t in times], name)
    begin = harness.run("info", "--json", os.path.join(INPUT, name)).json()["start_utc"]
    at = of_date(begin.rstrip("Z").replace("T", " ")) + times[0]
    checks.equal(dates[0], at, name)
    wall, same, whole = split(cat(name, "--clock=wall"), r"\d\d:\d\d:\d\d\.\d{9}")
    checks.that(whole and same == text, name)
    checks.equal(wall, [d.split(" ")[1] for d in date], name)


def as_babeltrace(checks, name):
    path = os.path.join(INPUT, name)
    usual = harness.run("cat", path, "--text-style=babeltrace").out
    checks.equal(harness.run("cat", path, "--text-style=babeltrace", "--clock", "wall").out, usual)
    ours = harness.run("cat", path, "--text-style=babeltrace", "--clock", "date").out
    checks.equal(re.sub(rb"(?m)^\[\d{4}-\d\d-\d\d ", b"[", ours), usual)
    for word in ("delta", "relative"):
        done = harness.run("cat", path, "--text-style=babeltrace", "--clock", word)
        checks.that(done.status == 2 and b"one of: wall date" in done.err, done)
    if not shutil.which("babeltrace2"):
        print("babeltrace2 is not installed")
        return
    theirs = subprocess.run(["babeltrace2", "--clock-gmt", "--clock-date", path], capture_output=True, timeout=120).stdout
    times = re.compile(rb"(?m)^\[([^]]*)\]")
    checks.equal(times.findall(ours), times.findall(theirs), name)
    checks.that(len(times.findall(theirs)) > 20, theirs[:500])


def main():
    checks = harness.Checks()
    plain(checks, "ctf-18", True)
    plain(checks, "fdr-v5-le.xray", False)
    as_babeltrace(checks, "ctf-18")
    done = harness.run("convert", os.path.join(INPUT, "ctf-18"), "--to", "csv", "--clock", "date")
    checks.that(done.status == 2 and b"formats of text: text, babeltrace" in done.err, done)
    checks.end()


if __name__ == "__main__":
    main()
