#!/usr/bin/env python3
"""Compares traces of the Common Trace Format with known answers: ctf_corpus.py PART

Of the shared corpus ($TL_SHARED/corpus/ctf):
    bars GROUP      exit status of check and number of events (results/bars.tsv): bt2, yactfr, barectf, actf
    text            the text of babeltrace2 for its own test traces (goldens/)
    values          the values of yactfr's listings, and the places of its errors
    actf            the text that actf prints
    lttng           recordings: info, check, and a digest of all lines
    ctf2010 VERB    traces of the proposal of 2010: info, check, jsonl
Of our own generator:
    own [SEED]      info, check and jsonl of all cases
    own-text        the text of babeltrace2, if it is installed and can read them"""
import concurrent.futures
import glob
import gzip
import hashlib
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import actf_text
import compare
import harness
import yactfr_expect

GROUPS = {"bt2": "bt2/", "yactfr": "yactfr-cases/", "barectf": "barectf-cases/", "actf": "actf/"}
SECONDS, MEMORY_KIB = 10, 512 << 10             # no trace of the corpus may take more, not even with sanitizers
BATCH = 24


def corpus(*parts):
    return os.path.join(harness.shared("corpus", "ctf"), *parts)


def parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, items))


def lines_of(result):
    return [json.loads(line) for line in result.text().splitlines()]


# -------------------------------------------------------------------------------------------------------------------- bars

def bars(group):
    with open(corpus("results", "bars.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    return [row for row in rows if row[0].startswith(GROUPS[group])]


def batched(arguments, paths):
    """One JSON result for each path; None if there is none."""
    begin = time.monotonic()
    result = harness.run(*arguments, *paths, cwd=corpus())
    seconds = time.monotonic() - begin
    try:
        found = lines_of(result)
    except ValueError:
        found = []
    if len(found) == len(paths) and seconds < SECONDS:
        return [(one, result.status, None) for one in found]
    if len(paths) == 1:
        slow = "%.1f s" % seconds if seconds >= SECONDS else None
        return [(found[0] if len(found) == 1 else None, result.status, slow or str(result))]
    return [one for path in paths for one in batched(arguments, [path])]


def crashed(status):
    return status < 0 or status not in (0, 1, 3)


def check_bars(checks, group):
    for verdict in ("pass", "fail", "-"):
        rows = [row for row in bars(group) if row[1] == verdict]
        chunks = [rows[at:at + BATCH] for at in range(0, len(rows), BATCH)]
        for arguments in (["check", "--json"], ["info", "--json"]):
            answers = parallel(lambda chunk: batched(arguments, [row[0] for row in chunk]), chunks)
            for row, (found, status, trouble) in zip(rows, [one for chunk in answers for one in chunk]):
                name = "%s of %s:" % (arguments[0], row[0])
                if not checks.that(not crashed(status), name, "status", status, trouble):
                    continue
                if verdict == "-":
                    if row[0].endswith("ctf-1/pass-diff-uuid") and arguments[0] == "info":
                        checks.that(found and found.get("notes"), name, "nothing is said of the other uuid:", found)
                    continue
                if arguments[0] == "check":
                    if checks.that(found is not None, name, "no answer:", trouble):
                        checks.equal(found["ok"], verdict == "pass", name, "ok, problems", found["problems"][:2])
                        checks.equal(status, 0 if verdict == "pass" else 1, name, "status")
                        checks.that(verdict == "pass" or found["problems"], name, "no problem is named")
                elif verdict == "pass" and row[2] != "-":
                    checks.that(found is not None and found["events"] == int(row[2]), name, "events: expected", row[2], "got",
                                found and found["events"], trouble)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    checks.that(peak < MEMORY_KIB, "peak memory of a child is", peak, "KiB")


# -------------------------------------------------------------------------------------------------------------------- text

def babeltrace_text(path, cwd=None):
    return harness.run("convert", path, "--to", "text", "--text-style=babeltrace", "-o", "-", cwd=cwd)


def check_text(checks):
    verdicts = {row[0]: row[1] for group in GROUPS for row in bars(group)}
    names = sorted(glob.glob(corpus("goldens", "*.txt.gz")))
    paths = [os.path.basename(name)[:-len(".txt.gz")].replace("__", "/") for name in names]
    for name, path, result in zip(names, paths, parallel(lambda p: babeltrace_text(p, corpus()), paths)):
        with gzip.open(name, "rt", encoding="utf-8") as file:
            expected = file.read().splitlines()
        got = result.out.decode("utf-8", "replace").splitlines()
        if verdicts.get(path) != "fail":
            checks.equal(len(got), len(expected), path, "lines", result.err.decode(errors="replace")[-300:])
        for number, (a, b) in enumerate(zip(got + [None] * len(expected), expected), 1):
            if not checks.equal(a, b, path, "line", number):
                break
        checks.that(len(got) >= len(expected), path, "ends too early")


# ------------------------------------------------------------------------------------------------------------------ values

def jsonl_of(path, cwd=None):
    return harness.run("convert", path, "--to", "jsonl", "-o", "-", cwd=cwd)


def with_contexts(one):
    """The context of a line: names in both scopes carry their scope."""
    out = {("stream." + k if k in one["event"] else k): v for k, v in one["stream"].items()}
    out.update({("event." + k if k in one["stream"] else k): v for k, v in one["event"].items()})
    return out


def one_listing(listing):
    """Failures of one trace."""
    path = listing[:-len(".expect")]
    with open(listing, encoding="utf-8") as file:
        root, error = yactfr_expect.tree(file.read())
    expected, result = yactfr_expect.events(root), jsonl_of(path)
    # The listing is in the order of the file; lines of the same time keep it.
    got, failures = lines_of(result), []
    short = os.path.relpath(path, corpus("yactfr-cases"))
    if error is None and len(got) != len(expected):
        failures.append("%s: %d events, expected %d" % (short, len(got), len(expected)))
    rest = list(got)
    for number, one in enumerate(expected):
        found = next((line for line in rest if yactfr_expect.same(line["fields"], one["fields"]) and
                      (one["class"] is None or line["class"] == one["class"]) and
                      yactfr_expect.same(line.get("context", {}), with_contexts(one))), None)
        if found is None:
            failures.append("%s: event %d of the listing is not there: %s; left are %s" % (short, number, one, rest[:2]))
            break
        rest.remove(found)
    if error is not None:
        check = harness.run("check", "--json", path).json()
        places = [p["offset"] for p in check["problems"] if p.get("file") == "stream"]
        place = error[0] // 8
        exact = re.search(r"-fl-(int|float)-|-(sl|dl)-array-|byte-order|-le-to-be-|-be-to-le-", short)
        # yactfr names the place that it has reached: after a wrong id or header, at the cut of a string. We name the
        # id, the size, the string; and the begin of a field that alignment moves out of its packet.
        if not places or (places[0] != place if exact else places[0] > place and "align" not in short):
            failures.append("%s: first problem at %s, expected %d (%s)" % (short, check["problems"][:1], place, error[1]))
    return failures


def check_values(checks):
    listings = sorted(glob.glob(corpus("yactfr-cases", "**", "*.expect"), recursive=True))
    for listing, failures in zip(listings, parallel(one_listing, listings)):
        checks.that(not failures, *(failures or [listing]))


def check_actf(checks):
    """Lines are in the order of the file, if there is only one, or of time."""
    verdicts = {row[0]: row[1] for row in bars("actf")}
    names = [name for name, verdict in verdicts.items() if verdict == "pass"]
    for name, result in zip(names, parallel(lambda n: jsonl_of(n, corpus()), names)):
        with open(corpus(name, "refs", "out.ref"), encoding="utf-8") as file:
            expected = [line for line in file.read().splitlines() if line]
        got = [json.loads(line, object_pairs_hook=actf_text.Pairs) for line in result.text().splitlines()]
        checks.equal(len(got), len(expected), name, "lines")
        for ours, theirs in zip(got, expected):
            difference = actf_text.compare(theirs, dict(ours)["fields"])
            if not checks.that(difference is None, name, difference):
                break


# ------------------------------------------------------------------------------------------------------------------- lttng

def canonical(value):
    if isinstance(value, float):
        return str(value) if math.isnan(value) or math.isinf(value) else "%.6g" % value
    if isinstance(value, list):
        return [canonical(v) for v in value]
    if isinstance(value, dict):
        out = {k: canonical(v) for k, v in value.items()}
        if set(out) == {"value", "labels"} and isinstance(out["labels"], list):
            out["labels"] = sorted(map(str, out["labels"]))
        return out
    return value


def canonical_lines(texts):
    """The text of each line for the digest; lines of the same time in the order of their text."""
    keyed = []
    for text in texts:
        line = canonical(json.loads(text))
        parts = line["track"].split("/")
        line["track"] = parts[0] + "/" + parts[-1] if len(parts) > 1 else parts[0]
        kept = {k: line[k] for k in ("ts", "class", "track", "cpu", "fields", "context") if line.get(k) not in (None, {})}
        kept["fields"] = line.get("fields", {})
        keyed.append((line["ts"], json.dumps(kept, sort_keys=True, ensure_ascii=False)))
    out, group = [], []
    for at, (ts, text) in enumerate(keyed):
        group.append(text)
        if at + 1 == len(keyed) or keyed[at + 1][0] != ts:
            out += sorted(group)
            group = []
    return out


def sorted_damage(value):
    for key in ("damage", "problems"):
        if key in value:
            value[key] = sorted(value[key], key=lambda d: (d.get("file", ""), d["offset"], d.get("rule", "")))
    return value


def info_differs(got, expected):
    """Like compare.info(), but the expectation may have fewer members."""
    got, expected = sorted_damage(dict(got)), sorted_damage(dict(expected))
    bare = {key: got[key] for key in got if key in expected}
    for value in (bare, expected):
        value.setdefault("damage", [])
        sums = {}
        for c in value.get("classes", []):                              # classes with one name, but different fields
            sums.setdefault((c["name"], c["kind"]), dict(c, events=0))["events"] += c["events"]
        value["classes"] = list(sums.values())
        value.setdefault("tracks", [])
    files = [[d.get("file") for d in value["damage"]] for value in (bare, expected)]
    return compare.info(bare, expected) or (None if files[0] == files[1] else "files of damage: got %s, expected %s" % tuple(files))


def check_lttng(checks):
    names = [os.path.basename(p)[:-len(".info.json")] for p in sorted(glob.glob(corpus("lttng", "*.info.json")))]
    for name in names:
        with open(corpus("lttng", name + ".info.json"), encoding="utf-8") as file:
            difference = info_differs(harness.run("info", "--json", name, cwd=corpus("lttng")).json(), json.load(file))
        checks.that(difference is None, name, "info:", difference)
        with open(corpus("lttng", name + ".check.json"), encoding="utf-8") as file:
            difference = compare.check(harness.run("check", "--json", name, cwd=corpus("lttng")).json(), json.load(file))
        checks.that(difference is None, name, "check:", difference)
        with open(corpus("lttng", name + ".jsonl.sum.json"), encoding="utf-8") as file:
            expected = json.load(file)
        texts = jsonl_of(name, corpus("lttng")).text().splitlines()
        checks.equal(len(texts), expected["lines"], name, "lines")
        lines = canonical_lines(texts)
        for part, ours in (("first", texts[:len(expected["first"])]), ("last", texts[-len(expected["last"]):])):
            theirs = canonical_lines(json.dumps(line) for line in expected[part])
            for a, b in zip(canonical_lines(ours), theirs):
                if not checks.equal(a, b, name, "of the", part):
                    break
        digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
        checks.equal(digest, expected["sha256"], name, "digest")


# ---------------------------------------------------------------------------------------------------- the proposal of 2010

def one_2010(verb, name):
    folder = corpus("generated")
    suffix = ".jsonl" if verb == "jsonl" else ".%s.json" % verb
    with open(os.path.join(folder, name + suffix), encoding="utf-8") as file:
        if verb == "jsonl":
            return compare.jsonl(lines_of(jsonl_of(name, folder)), [json.loads(line) for line in file])
        expected = json.load(file)
    result = harness.run(verb, "--json", name, cwd=folder)
    got = result.json() if result.out else {}
    if verb == "info":
        notes = [[(n["file"], n["offset"]) for n in sorted_damage({"damage": v.get("notes", [])})["damage"]] for v in (got, expected)]
        return info_differs(got, expected) or (None if notes[0] == notes[1] else "notes: got %s, expected %s" % tuple(notes))
    # Metadata without its magic number is not recognized as 2010's: then the rule has another name.
    places = [[(p.get("file"), p["offset"], p["rule"] if (p.get("file"), p["offset"]) != ("metadata", 0) else "") for p in
               sorted_damage(dict(v))["problems"]] for v in (got, expected)]
    if result.status != (0 if expected["ok"] else 1):
        return "status %d" % result.status
    return None if places[0] == places[1] else "problems: got %s, expected %s" % tuple(places)


def readable(names):
    """Without traces that this build cannot read in full: with compressed packets or checksums."""
    if harness.built_with("zlib", "bzip2"):
        return names
    left = [name for name in names if not re.search("gzip|bzip2|compression|checksums|encrypted", name)]
    print("without libraries, %d of %d traces are left out" % (len(names) - len(left), len(names)))
    return left


def check_2010(checks, verb):
    suffix = ".jsonl" if verb == "jsonl" else ".%s.json" % verb
    names = readable([os.path.basename(p)[:-len(suffix)] for p in sorted(glob.glob(corpus("generated", "*" + suffix)))])

    def guarded(name):
        try:
            return one_2010(verb, name)
        except (KeyError, TypeError, ValueError) as error:
            return "%r" % error

    for name, difference in zip(names, parallel(guarded, names)):
        checks.that(difference is None, name, difference)


# -------------------------------------------------------------------------------------------------------- our own generator

def near(a, b):
    """Equal, except for the digits of 32-bit numbers."""
    if isinstance(a, float) and isinstance(b, (int, float)) or isinstance(b, float) and isinstance(a, (int, float)):
        return a == b or abs(a - b) <= 1e-7 * abs(b)
    if isinstance(a, dict) and isinstance(b, dict):
        if set(a) == {"value", "labels"} == set(b):
            return a["value"] == b["value"] and sorted(a["labels"]) == sorted(b["labels"])
        return list(a) == list(b) and all(near(a[k], b[k]) for k in b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    return type(a) is type(b) and a == b


def lines_differ(got, expected):
    ours, theirs = compare.by_track(got), compare.by_track(expected)
    if ours.keys() != theirs.keys():
        return "tracks: got %s, expected %s" % (sorted(ours)[:5], sorted(theirs)[:5])
    for track, lines in theirs.items():
        if len(ours[track]) != len(lines):
            return "%s: got %d lines, expected %d" % (track, len(ours[track]), len(lines))
        for number, (a, b) in enumerate(zip(ours[track], lines)):
            if not near({k: v for k, v in a.items() if v != {} or k == "fields"}, b):
                return "line %d of %s:\n    got      %s\n    expected %s" % (number, track, json.dumps(a), json.dumps(b))
    return compare.not_merged(got, ours)


def one_own(folder, name, expected):
    failures = []
    path = os.path.join(folder, name)
    info = harness.run("info", "--json", path)
    difference = info_differs(info.json(), expected["info"]) if info.out else str(info)
    if difference:
        failures.append("info: " + difference)
    check = harness.run("check", "--json", path)
    found = check.json() if check.out else {"ok": None, "problems": []}
    if (found["ok"], check.status) != (expected["ok"], 0 if expected["ok"] else 1):
        failures.append("check: %s, status %d" % (found, check.status))
    if not expected["ok"]:
        first = [[p.get("file"), p["offset"]] for p in sorted_damage(found)["problems"]][:1]
        if first != [expected["problem"]]:
            failures.append("check: first problem %s, expected %s" % (found["problems"][:2], expected["problem"]))
    result = jsonl_of(path)
    difference = lines_differ(lines_of(result), expected["jsonl"])
    if result.status != (0 if expected["ok"] or expected.get("harmless") else 3):
        failures.append("convert: status %d %s" % (result.status, result.err.decode(errors="replace")[-300:]))
    if difference:
        failures.append("jsonl: " + difference)
    elif expected["ok"] and expected["info"]["end"] > 3:
        difference = part_differs(path, expected["info"], lines_of(result))
        failures += [difference] if difference else []
    return failures


def part_differs(path, info, lines):
    """The middle third of the time must have the same events, read alone or not."""
    begin, end = info["end"] // 3, 2 * info["end"] // 3
    result = harness.run("convert", path, "--to", "jsonl", "-o", "-", "--time", "%dns..%dns" % (begin, end))
    got, expected = lines_of(result), [line for line in lines if begin <= line["ts"] < end]
    return None if sorted(map(str, got)) == sorted(map(str, expected)) else "--time: got %d lines, expected %d: %s" % (
        len(got), len(expected), result.err.decode(errors="replace")[-200:])


def check_own(checks, seed):
    import ctf_gen
    with harness.work_folder() as folder:
        made = {}
        for name in readable(list(ctf_gen.cases())):
            files, made[name] = ctf_gen.make(name, seed)
            ctf_gen.save(folder, name, files, None)
        names = list(made)

        def guarded(name):
            expected = json.loads(json.dumps(made[name]))               # tuples become lists, as in the answers
            try:
                return one_own(folder, name, expected)
            except (KeyError, TypeError, ValueError) as error:
                return ["%r" % error]

        for name, failures in zip(names, parallel(guarded, names)):
            checks.that(not failures, name, *failures)


# babeltrace2 shows an empty string as the field's text before.
ANY_TEXT = r'"(?:[^"\\]|\\.)*"'


def check_own_text(checks):
    """Both texts of each trace of CTF 1.8 that babeltrace2 can read to its end."""
    if not shutil.which("babeltrace2"):
        harness.skip("babeltrace2 is not installed")
    import ctf_gen
    compared = 0
    with harness.work_folder() as folder:
        for name in ctf_gen.cases():
            if not name.startswith("ctf18"):
                continue
            files, _ = ctf_gen.make(name)
            ctf_gen.save(folder, name, files, None)
            path = os.path.join(folder, name)
            theirs = subprocess.run(["babeltrace2", "--clock-gmt", path], capture_output=True, timeout=60, check=False)
            if theirs.returncode == 0 and theirs.stdout and b"negative time" not in theirs.stderr:      # which it prints wrong
                compared += 1
                ours = babeltrace_text(path).out.decode("utf-8", "replace").splitlines()
                for a, b in zip(ours + [""], theirs.stdout.decode("utf-8", "replace").splitlines()):
                    if not checks.that(a == b or re.fullmatch(re.escape(a).replace('""', ANY_TEXT), b), name, "\n  got      ", a,
                                       "\n  expected ", b):
                        break
    checks.that(compared > 3, "babeltrace2 could read only", compared, "traces")


def main():
    part, rest = sys.argv[1], sys.argv[2:]
    checks = harness.Checks()
    parts = {"bars": check_bars, "text": check_text, "values": check_values, "actf": check_actf, "lttng": check_lttng, "ctf2010": check_2010,
             "own-text": check_own_text}
    if part == "own":
        check_own(checks, int(rest[0]) if rest else 1)
    else:
        parts[part](checks, *rest)
    checks.end()


if __name__ == "__main__":
    main()
