"""bench/results.md: parts between markers, each written by its own benchmark, in one order under one set of headings."""
import json
import os
import re

INTRODUCTION = """# Measured by `make bench`

Scripts write every number; a table that is missing was not measured. [README.md](README.md) says what the rows mean. "By hand" is a program written for exactly one question on one format that trusts its input.
"""
SECTIONS = (
    ("Summary", ("summary",)),
    ("Memory", ("memory",)),
    ("XRay logs", ("growth-xray-fdr", "growth-xray-basic", "xray")),
    ("Profiles", ("growth-xray-profile", "growth-tlp", "fleet", "fleet_mpi")),
    ("CTF", ("growth-ctf-1.8", "growth-ctf-2", "ctf")),
    ("TraceLog", ("growth-tracelog", "tracelog")),
    ("Instruction streams", ("growth-xtrace", "growth-xtrace-zstd", "xtrace")),
    ("SQL", ("query", "duckdb", "columns", "load")),
    ("Python", ("python",)),
    ("Page", ("page", "serve")),
    ("Recording", ("rt", "patch", "insn", "dotnet")),
)


def text_of(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def read(folder):
    """{part: its text}"""
    return dict(re.findall(r"<!-- ([\w.-]+) -->\n(.*?)<!-- end -->", text_of(folder, "results.md"), re.S))


def write(folder, part, text):
    """Replaces one part and keeps the others."""
    os.makedirs(folder, exist_ok=True)
    parts = dict(read(folder), **{part: text.strip() + "\n"})
    known = {name for _, names in SECTIONS for name in names}
    if set(parts) - known:
        raise SystemExit("results.md: no place for the parts %s" % sorted(set(parts) - known))
    with open(os.path.join(folder, "results.md"), "w", encoding="utf-8") as file:
        file.write(INTRODUCTION)
        for title, names in SECTIONS:
            if any(name in parts for name in names):
                file.write("\n## %s\n" % title)
            for name in names:
                if name in parts:
                    file.write("\n<!-- %s -->\n%s<!-- end -->\n" % (name, parts[name]))


def read_growth(folder):
    """What growth.py measured: {format: ...}, see growth_tables.py."""
    return json.loads(text_of(folder, "growth.json") or "{}")


def write_growth(folder, data):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "growth.json"), "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)
        file.write("\n")
