#!/usr/bin/env python3
"""Everything that the documents name exists: check_names.py [BUILD_FOLDER]

Links and their anchors; tests, if there is a build; paths, functions, types and constants in `code`; the values in tables
of limits, whose rows are | `NAME` | value | `file` | reason |; and the records and rules of TraceLogs, exactly those of the sources."""
import fnmatch
import functools
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

FOLDERS = ("src", "include", "test", "docs", "fuzz", "bench", "examples", "tools", "cmake")
# Prefixes of our C names; other `code` may be shell, JSON, or another project's.
IDENTIFIER = re.compile(r"\b(?:(?:tl|fdr|basic|xprof|xray)_[a-z0-9_]+(?=\()|tl_[a-z0-9_]+\b(?![.*])|(?:TL|FDR|BASIC|XPROF)_[A-Z0-9_]*[A-Z0-9]\b(?![_*<]))")
TEST = re.compile(r"(?:unit|golden|differential|roundtrip|cli|fault|alloc|lint|install|docs|fuzz\.replay)\.[a-z0-9_.*+]+")
LIMIT = re.compile(r"^\| `([A-Z][A-Z0-9_]+)` \| ([^|]+) \| `([^`]+)` \|", re.M)


def read(path):
    with open(os.path.join(harness.SOURCE, path), encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(None)
def sources():
    """The sources of the library and the command, as one text."""
    return "\n".join(read(p) for p in find("src/**/*.[chd]*") + find("include/**/*.h"))


def find(pattern):
    return sorted(os.path.relpath(p, harness.SOURCE) for p in glob.glob(os.path.join(harness.SOURCE, pattern), recursive=True))


def anchors(text):
    """The anchors of headings, as on the web."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def check_links(checks, path, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        exists = os.path.exists(os.path.join(harness.SOURCE, file))
        if checks.that(exists, path, "links to", target, "which is not there") and anchor:
            checks.that(anchor in anchors(read(file)), path, "links to", target, "which has no such heading")


def check_paths(checks, path, code):
    """A path from the top of the tree; `name.c` alone is a file of any folder; * and <...> match anything."""
    for word in code.split():
        word = word.rstrip(",;:)").split(":")[0].split("(")[0]
        pattern = re.sub(r"<[^>]*>|NAME|FOLDER|\.\.\.", "*", word)
        if pattern.split("/")[0] in FOLDERS and "/" in pattern:
            checks.that(find(pattern.rstrip("/")), path, "names", word, "which is not there")
        elif re.fullmatch(r"[a-z0-9_]+\.[ch]", word):
            checks.that(find("**/" + word), path, "names", word, "which is not there")


def constant(text, name):
    """The value of an integer constant in C source: a #define, perhaps of several lines, or an enumerator. It may use
    others, whose names are unique."""
    text = text.replace("\\\n", " ")
    found = re.search(r"^#define +%s +(.+?) *(?:/\*.*)?$" % name, text, re.M) or re.search(r"\b%s = ([^,}/\n]+)" % name, text)
    if not found:
        return None
    expression = re.sub(r"UINT64_C\((.*?)\)", r"\1", found.group(1))
    expression = re.sub(r"\((?:size_t|uint\d+_t)\)", "", expression)
    expression = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", expression)
    expression = re.sub(r"\bUINT64_MAX\b", str(2**64 - 1), expression)
    expression = re.sub(r"\b[A-Z][A-Z0-9_]+\b", lambda other: str(constant(sources(), other.group(0))), expression)
    return eval(expression, {}) if re.fullmatch(r"[0-9a-fA-Fx()<>*+\- ]+", expression) else None


def known_tests():
    return harness.tests_of(sys.argv[1]) if len(sys.argv) > 1 else None


def check_limits(checks, path, text):
    for name, value, file in LIMIT.findall(text):
        wanted = int(re.match(r"[\d,]+", value.strip()).group(0).replace(",", ""))
        checks.equal(constant(read(file), name), wanted, path, name, "in", file)


RECORDS, TRACELOG = "src/format/tracelog/records.def", "docs/format/tracelog.md"
RECORD = re.compile(r'^RECORD\(\w+, "(\w+ \w+)", (\w+), \w+, \w+, [^,]+, \w+, (\w+),\s*((?:FIELD\(\w+, \w+, \w+\)\s*)+)\)$', re.M)
ROW = re.compile(r"^\| `(\w{3} \w{3})((?: \[?\w+:\w+\]?)*)` \| (\w+) \| (\w+) \|", re.M)
# The document's names of the items of records.def: the first word for one, unless another is given.
ITEMS = {"THREAD": "iid", "ANY_THREAD": "thread", "ID": "id iid", "HEX": "hex", "PID": "pid", "DEC": "dec", "USAGE": "us", "MS": "ms",
         "COUNT": "count", "OLD_COUNT": "count", "TEXT": "text", "TEXT3": "text", "TEXT_NEXT": "text", "WORD": "word", "REST": "rest",
         "TIME": "systime", "REASON": "reason", "GENERATIONS": "collected", "STACK": "stack", "CODE": "code", "ALT": "alts",
         "ALLOC": "allocs", "SIZES": "sizes", "AGAIN": "iid", "NEWER_ID": "iid"}


def check_records(checks):
    """The document has each record and field of records.def, and no other; likewise the rules of damage."""
    source, text = read(RECORDS), read(TRACELOG)
    real = {words: (kind, track, re.findall(r"FIELD\((\w+), (\w+)", fields)) for words, kind, track, fields in RECORD.findall(source)}
    rows = {words: (kind, track, fields.split()) for words, fields, kind, track in ROW.findall(text)}
    checks.equal(len(real), len(re.findall(r"^RECORD\(", source, re.M)), "records of", RECORDS, "that are understood")
    checks.equal(sorted(rows), sorted(real), TRACELOG, "records")
    for words, (kind, track, fields) in real.items():
        if words not in rows:
            continue
        checks.equal(rows[words][:2], (kind.lower(), track.lower()), TRACELOG, words, "kind and track")
        told = [field.strip("[]").split(":") for field in rows[words][2]]
        checks.equal([name for name, _ in told], [name for name, _ in fields], TRACELOG, words, "fields")
        for (name, item), (_, code) in zip(told, fields):
            checks.that(item in ITEMS[code].split(), TRACELOG, words, name, "is", item, "but in", RECORDS, code)
        checks.equal([field[:1] == "[" for field in rows[words][2]], [code == "AGAIN" for _, code in fields], TRACELOG, words, "what may be left out")
    rules = set(re.findall(r'"(tracelog\.[a-z0-9-]+)"', "\n".join(read(p) for p in find("src/format/tracelog/*.c"))))
    checks.equal(sorted(re.findall(r"^\| `(tracelog\.[a-z0-9-]+)` \|", text, re.M)), sorted(rules), TRACELOG, "rules of damage")


def main():
    checks = harness.Checks(show=60)
    check_records(checks)
    known = set(re.findall(r"\w+", sources() + "\n".join(map(read, find("test/**/*.[ch]") + ["CMakeLists.txt", "test/CMakeLists.txt"]))))
    tests = known_tests()
    documents = find("*.md") + find("docs/**/*.md") + find("bench/*.md")
    checks.that(len(documents) > 5, "hardly any documents were found")
    for path in documents:
        text = read(path)
        check_links(checks, path, re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
        check_limits(checks, path, text)
        for code in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
            check_paths(checks, path, code)
            if tests and TEST.fullmatch(code):
                checks.that(fnmatch.filter(tests, code), path, "names the test", code, "which there is not")
            for name in IDENTIFIER.findall(code):
                checks.that(name in known, path, "names", name, "which is nowhere in the sources")
    checks.end()


if __name__ == "__main__":
    main()
