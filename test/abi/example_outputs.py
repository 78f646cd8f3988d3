#!/usr/bin/env python3
"""Runs the examples on generated traces and compares their output: example_outputs.py [--record] FOLDER EXAMPLE
Fails for public functions that none of them uses: example_outputs.py FOLDER --coverage NM LIBRARY"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import exports

harness = exports.harness
INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
EXPECTED = os.path.join(harness.SOURCE, "test", "abi", "expected")
EXAMPLES = os.path.join(harness.SOURCE, "examples")
FDR, LOG, BINARY = "fdr-v5-le.xray", "tracelog-doc.log", "program.elf"
# Each run of an example, in the folder of inputs: its arguments (OUT is a folder for output), and a file as its input.
RUNS = {
    "call_tree": [([FDR, BINARY], None), (["fdr-v5-le-messy.xray", BINARY], None), (["absent.xray"], None)],
    "check_trace": [([FDR], None), (["ctf-18-damaged"], None), (["xtrace-damaged-load"], None), ([BINARY], None)],
    "compare_runs": [(["calls(*) > +5%", BINARY] + [FDR] * 4 + ["--"] + ["fdr-v5-le-plain.xray"] * 4, None),
                     (["p50(main > 1ms", BINARY, FDR, "--", FDR], None), ([], None)],
    "convert_trace": [([FDR, "OUT/a.json"], None), ([FDR, "OUT/a.xray"], None), ([LOG, "OUT/a.speedscope.json"], None)],
    "count_functions": [([FDR, BINARY], None)],
    "count_in_threads": [([FDR], None), (["ctf-18"], None)],
    "cut_time": [(["1000", "1500", FDR], None), (["1000", "1500", FDR, "fdr-v3-le.xray"], None)],
    "describe_trace": [([FDR, BINARY], None), (["ctf-18"], None), (["xtrace-cores"], None), (["tracelog-vs.log"], None)],
    "follow_trace": [(["-"], LOG)],
    "latencies": [([FDR, BINARY], None), (["fdr-v5-le-messy.xray", BINARY], None), (["profile-le.xray"], None)],
    "list_formats": [([], None)],
    "merge_profiles": [(["OUT/a.tlp", "#1*", FDR, "fdr-v3-le.xray"], None), (["OUT/b.svg", "#5", FDR, "OUT/a.tlp"], None),
                       (["OUT/c.tlp", "nobody", FDR, "fdr-v3-le.xray"], None)],
    "print_events": [([FDR, BINARY], None), ([LOG], None)],
    "query": [([FDR, "SELECT ts, thread, name, function_name, cpu FROM events ORDER BY ts LIMIT 3", BINARY], None),
              ([LOG, "SELECT ts, dur, generations FROM collections ORDER BY dur DESC LIMIT 2"], None),
              (["ctf-18", "SELECT 1.5 AS x, NULL AS n, x'00ff' AS b"], None), ([FDR, "SELECT durr FROM events"], None),
              ([FDR, "DELETE FROM events"], None), ([FDR, "SELECT '1"], None), (["absent.xray", "SELECT 1"], None)],
    "list_tables": [([], None), (["tracelog-vs.log"], None), ([FDR, "SELECT * FROM collections"], None), ([FDR, "SELECT * FROM events"], None)],
    "arrow_columns": [([FDR, BINARY], None)],
    "query_top": [(["2", FDR, LOG], None)],
    "sample_weights": [([LOG], None)],
    "split_trace": [([FDR, "OUT/part.jsonl"], None)],
    "table": [([], None), (["func", FDR, BINARY], None), (["tree", "fdr-v5-le-messy.xray"], None), (["gc", LOG], None),
              (["heap", "tracelog-vs.log"], None), (["block", "xtrace-cores"], None), (["line", FDR], None), (["func", "absent.xray"], None)],
    "trace_in_memory": [(["3"], None), (["0"], None)],
}
# Lines that are the same in every build, for examples with other lines.
KEPT = {"list_formats": re.compile(r"(xray-fdr|ctf|tlp) ")}


def run(folder, example, out):
    """The output of all runs of an example, as recorded."""
    text = ""
    for arguments, stdin in RUNS[example]:
        text += "$ %s%s\n" % (" ".join([example] + arguments), " <- " + stdin if stdin else "")
        # Through a pipe, as from a program that continues to write.
        data = None
        if stdin:
            with open(os.path.join(INPUT, stdin), "rb") as file:
                data = file.read()
        done = subprocess.run([os.path.join(folder, example)] + [a.replace("OUT", out) for a in arguments], cwd=INPUT, input=data,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        lines = done.stdout.decode("utf-8").replace(out, "OUT").splitlines()
        text += "".join(line.rstrip() + "\n" for line in lines if example not in KEPT or KEPT[example].match(line))
        text += "exit status %d\n" % done.returncode
    return text


def coverage(checks, folder, nm, library):
    """A tested example uses every exported function."""
    used = set()
    for example in RUNS:
        done = subprocess.run([nm, "-D", "--undefined-only", os.path.join(folder, example)], capture_output=True, text=True, check=True)
        used |= {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines()}
    for name in sorted(exports.exported(nm, library)):
        checks.that(name in used, name, "is used in no example")
    shown = {name[:-2] for name in os.listdir(EXAMPLES) if name.endswith(".c")} - {"spans"}  # the recorder's
    checks.equal(sorted(RUNS), sorted(shown), "examples with runs")
    with open(os.path.join(EXAMPLES, "README.md"), encoding="utf-8") as file:
        text = file.read()
    for name in os.listdir(EXAMPLES):
        checks.that(not name.endswith((".c", ".cpp")) or "(%s)" % name in text, "examples/README.md does not show", name)


def main():
    checks = harness.Checks()
    words = sys.argv[1:]
    if "--coverage" in words:
        coverage(checks, words[0], *words[2:])
        checks.end()
    record = words[0] == "--record"
    folder, example = words[1 if record else 0:]
    with harness.work_folder() as out:
        text = run(folder, example, out)
    path = os.path.join(EXPECTED, example + ".txt")
    if record:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with open(path, encoding="utf-8") as file:
        checks.equal(text, file.read(), example, "prints")
    checks.end()


if __name__ == "__main__":
    main()
