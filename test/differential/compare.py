"""Compares the command's output with expected JSON: exact, except percentiles (1 %) and wording."""

PERCENTILES = ("p50", "p90", "p99")


def near(got, expected):
    if got is None or expected is None:
        return got is expected
    return abs(got - expected) <= max(1, expected // 100)


def info(got, expected):
    """Differences as text, or None."""
    got, expected = dict(got), dict(expected)
    for value in (got, expected):
        value["damage"] = [(d["offset"], d["bytes"]) for d in value["damage"]]
        value["classes"] = sorted((c["name"], c["kind"], c["events"]) for c in value["classes"] if c["events"])
        value["tracks"] = sorted([t for t in value["tracks"] if t["events"]], key=lambda t: (t["name"], str(t["pid"])))
    for key in expected:
        if got.get(key) != expected[key]:
            return "%s: got %s, expected %s" % (key, got.get(key), expected[key])
    extra = set(got) - set(expected) - {"notes"}
    return "unknown members %s" % extra if extra else None


def check(got, expected):
    for key in ("schema", "path", "format", "ok"):
        if got.get(key) != expected[key]:
            return "%s: got %s, expected %s" % (key, got.get(key), expected[key])
    problems = [[(p["offset"], p["rule"]) for p in value["problems"]] for value in (got, expected)]
    return None if problems[0][:1] == problems[1][:1] else "first problem: got %s, expected %s" % (problems[0][:2], problems[1][:2])


def rows_differ(key, got, expected):
    for column in expected:
        if column in PERCENTILES:
            same = near(got.get(column), expected[column])
        elif column in ("file", "line"):
            same = expected[column] is None or got.get(column) == expected[column]
        else:
            same = got.get(column) == expected[column]
        if not same:
            return "%s of %s: got %s, expected %s" % (column, key, got.get(column), expected[column])
    return None


def report(got, expected):
    for key in ("schema", "unit", "unmatched"):
        if key in expected and got.get(key) != expected[key]:
            return "%s: got %s, expected %s" % (key, got.get(key), expected[key])
    name, identity = ("functions", lambda f: f["id"]) if "functions" in expected else ("nodes", lambda n: tuple(n["stack"]))

    def listed(value):
        rows = [row for row in value[name] if row["calls"] or row["total"]]
        return sorted(rows, key=lambda row: (identity(row), row["calls"], row["total"], row["self"]))

    ours, theirs = listed(got), listed(expected)
    if [identity(row) for row in ours] != [identity(row) for row in theirs]:
        wrong = set(map(identity, ours)) ^ set(map(identity, theirs))
        return "other rows: %d, expected %d; different: %s" % (len(ours), len(theirs), list(wrong)[:5])
    for a, b in zip(ours, theirs):
        difference = rows_differ(identity(b), a, b)
        if difference:
            return difference
    return None


def by_track(lines):
    tracks = {}
    for line in lines:
        tracks.setdefault(line["track"], []).append(line)
    return tracks


def jsonl(got, expected):
    """The same lines for each track in the same order; the whole is a merge by time."""
    ours, theirs = by_track(got), by_track(expected)
    if ours.keys() != theirs.keys():
        return "tracks: got %s, expected %s" % (sorted(ours)[:5], sorted(theirs)[:5])
    for track, lines in theirs.items():
        for number, (a, b) in enumerate(zip(ours[track], lines)):
            if a != b:
                return "line %d of %s: got %s, expected %s" % (number, track, a, b)
        if len(ours[track]) != len(lines):
            return "%s: got %d lines, expected %d" % (track, len(ours[track]), len(lines))
    return not_merged(got, ours)


def not_merged(lines, tracks):
    """No line may be later than the next one of any other track."""
    place = dict.fromkeys(tracks, 0)
    for line in lines:
        place[line["track"]] += 1
        for track, at in place.items():
            if track != line["track"] and at < len(tracks[track]) and tracks[track][at]["ts"] < line["ts"]:
                return "not in the order of time: %s comes before %s" % (line, tracks[track][at])
    return None
