#!/usr/bin/env python3
"""Compares every trace of the shared corpus with the expected results beside it: corpus.py info|check|report|tree|jsonl

    corpus.py VERB                  all traces below $TL_SHARED/corpus/xray
    corpus.py VERB --extra SEED     fresh ones, made with the shared generator
    corpus.py VERB --own            those of our own generator, which knows the answers"""
import concurrent.futures
import glob
import json
import os
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import compare
import harness

ARGUMENTS = {"info": ["info", "--json"], "check": ["check", "--json"], "report": ["report", "--json", "--by", "func"],
             "tree": ["report", "--json", "--by", "tree"], "jsonl": ["convert", "--to", "jsonl", "-o", "-"]}


def expected_status(verb, path):
    with open(path + ".check.json") as file:
        good = json.load(file)["ok"]
    return 0 if good else 1 if verb == "check" else 3


def more_arguments(verb, path):
    if verb == "check" or not os.path.exists(path + ".args"):
        return []
    with open(path + ".args") as file:
        return [word.replace("@DIR@", os.path.dirname(path)) for word in shlex.split(file.read())]


def one(verb, path):
    """Failures of one trace as texts."""
    wanted = path + (".jsonl" if verb == "jsonl" else ".%s.json" % verb)
    if not os.path.exists(wanted):
        return None
    result = harness.run(*ARGUMENTS[verb], *more_arguments(verb, path), os.path.basename(path), cwd=os.path.dirname(path))
    failures = []
    status = expected_status(verb, path)
    if result.status != status:
        failures.append("status %d, expected %d: %s" % (result.status, status, result.err.decode(errors="replace")[-500:]))
    if status == 3 and not result.err:
        failures.append("damage, but nothing on stderr")
    with open(wanted) as file:
        if verb == "jsonl":
            expected = [json.loads(line) for line in file]
            got = [json.loads(line) for line in result.text().splitlines()]
        else:
            expected = json.load(file)
            got = json.loads(result.out) if result.out else {}
    try:
        difference = getattr(compare, "report" if verb == "tree" else verb)(got, expected)
    except (KeyError, TypeError) as error:
        difference = "members are missing: %r in %.300s" % (error, got)
    return failures + ([difference] if difference else [])


def own(verb, folder, checks):
    import xray_gen
    for name in xray_gen.cases():
        data, expected = xray_gen.make(name)
        path = os.path.join(folder, name + ".xray")
        with open(path, "wb") as file:
            file.write(data)
        result = harness.run(*ARGUMENTS[verb], path)
        if "rule" in expected and verb == "check":
            first = result.json()["problems"][:1]
            checks.equal([(p["rule"], p["offset"]) for p in first], [(expected["rule"], expected["offset"])], name)
        elif "tracks" in expected and verb == "info":
            checks.equal(result.json()["lost"], {"events": expected["lost"], "packets": 0}, name, "lost")
        elif "tracks" in expected and verb == "jsonl":
            checks.equal(result.status, 3 if "rule" in expected else 0, name, "status")
            got = [json.loads(line) for line in result.text().splitlines()]
            difference = compare.jsonl(got, [line for lines in expected["tracks"].values() for line in lines])
            checks.that(difference is None, name, difference)
        elif "functions" in expected and verb == "report":
            checks.equal(result.status, 0, name, "status")
            got = {row["id"]: [row["calls"], row["total"], row["self"]] for row in result.json()["functions"]}
            checks.equal(got, expected["functions"], name)


def main():
    verb = sys.argv[1]
    checks = harness.Checks()
    with harness.work_folder() as folder:
        if sys.argv[2:3] == ["--own"]:
            own(verb, folder, checks)
            checks.end()
        if sys.argv[2:3] == ["--extra"]:
            tool = harness.shared("tools", "xray_generate.py")
            subprocess.run([sys.executable, "-B", tool, "--out", folder, "--set", "extra", "--seed", sys.argv[3]], check=True)
            root = folder
        else:
            root = harness.shared("corpus", "xray")
        paths = sorted(p[:-len(".check.json")] for p in glob.glob(os.path.join(root, "**", "*.check.json"), recursive=True))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for path, failures in zip(paths, pool.map(lambda p: one(verb, p), paths)):
                if failures is not None:
                    checks.that(not failures, os.path.relpath(path, root), *failures)
    checks.end()


if __name__ == "__main__":
    main()
