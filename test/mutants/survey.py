"""Which test runs which lines: runs each once with libraries that count (gcc's --coverage)."""
import collections
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import threading
import time

import workshop

# The recorder's lines are not counted, as a hook may not count itself. These tests record.
RECORDS = re.compile(r"rt\.|unit\.test_rt_|spans\.|docs\.record|cli\.(record|ctl|follow)")
SECONDS = 60  # of processor time for a test


def digest(path):
    with open(os.path.join(workshop.SOURCE, path), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def source_of(test):
    """The digest of a test's source, if it is one file."""
    name = test.name.split(".")
    path = "test/unit/%s.c" % name[1] if name[0] == "unit" else next((w for w in test.command if w.endswith((".py", ".sh"))), None)
    return digest(path) if path and os.path.exists(os.path.join(workshop.SOURCE, path)) else None


def counts_anything(path):
    """Is any counter in a .gcda file not zero? gcc stores blocks of zeros as a negative length without values."""
    with open(path, "rb") as file:
        data = file.read()
    at = 16
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("=Ii", data, at)
        if tag == 0x01a10000 and length > 0:
            return True
        at += 8 + max(length, 0)
    return False


class Counter:
    """A folder in which one test at a time leaves its counts."""

    def __init__(self, shop, number):
        self.counted = shop.counted
        self.folder = os.path.join(shop.build, "count-%d-%d" % (os.getpid(), number))
        for folder, _, names in os.walk(shop.counted):
            notes = [name for name in names if name.endswith(".gcno")]
            if notes:
                here = os.path.join(self.folder, os.path.relpath(folder, shop.counted))
                os.makedirs(here)
                for name in notes:
                    os.symlink(os.path.join(folder, name), os.path.join(here, name))
        self.environment = {"LD_LIBRARY_PATH": shop.counted, "GCOV_PREFIX": self.folder, "TL_WORK": self.folder + "/work",
                            "GCOV_PREFIX_STRIP": str(shop.counted.count("/"))}

    def run(self, test):
        """How the test ended, its seconds, and for lines and functions (path, line or name) whether it ran them."""
        how, seconds = workshop.run(test, self.environment, SECONDS)
        counts = [os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names if name.endswith(".gcda")]
        lines, functions = {}, {}
        useful = [path for path in counts if counts_anything(path)] if how == "good" else []
        if useful:
            text = subprocess.run(["gcov", "-j", "-t"] + useful, cwd=self.counted, capture_output=True, check=True).stdout
            for document in text.splitlines():
                for file in json.loads(document)["files"]:
                    path = os.path.relpath(os.path.join(self.counted, file["file"]), workshop.SOURCE)
                    if path.startswith("src/") and path.endswith(".c"):
                        lines.update(((path, str(line["line_number"])), line["count"] > 0) for line in file["lines"])
                        functions.update(((path, f["name"]), f["execution_count"] > 0) for f in file["functions"])
        for path in counts:
            os.unlink(path)
        shutil.rmtree(self.folder + "/work", ignore_errors=True)
        return how, seconds, lines, functions


class Survey:
    """The survey, kept in a file: `tests` is name -> (how it ended, seconds), in the order of the bits in `lines` and
    `functions`, path -> line or name -> the tests that ran it; `digests` are those of the surveyed files, `taken` the
    begin, and `sources` the digests of the tests. A changed test runs again."""

    def __init__(self, shop, path, again=False):
        self.shop = shop
        self.tests, self.lines, self.functions, self.digests, self.taken = {}, {}, {}, {}, time.time()
        self.sources = {}
        if os.path.exists(path) and not again:
            with open(path, encoding="utf-8") as file:
                self.__dict__.update(json.load(file))
        new = [name for name in shop.tests if name not in self.tests or self.sources.get(name) != source_of(shop.tests[name])]
        if new:
            self.take(new)
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump({name: getattr(self, name) for name in ("tests", "lines", "functions", "digests", "taken", "sources")}, file)
            os.replace(path + ".new", path)

    def take(self, names):
        lock = threading.Lock()

        def one(counter, name):
            how, seconds, lines, functions = counter.run(self.shop.tests[name])
            with lock:
                self.tests[name], self.sources[name] = (how, seconds), source_of(self.shop.tests[name])
                bit = 1 << list(self.tests).index(name)
                for path in {path for path, _ in functions}:
                    self.digests.setdefault(path, digest(path))
                for table, found in ((self.lines, lines), (self.functions, functions)):
                    for (path, key), ran in found.items():
                        if table is self.lines and self.digests[path] != digest(path):
                            continue  # the others' lines belong to an earlier text
                        known = table.setdefault(path, {})
                        known[key] = known.get(key, 0) | (bit if ran else 0)
                if how not in ("good", "skipped"):
                    print("not used, because it %s: %s" % ({"failed": "fails", "crashed": "crashes"}.get(how, "does not end"), name),
                          flush=True)
        counters = [Counter(self.shop, n) for n in range(self.shop.jobs)]
        try:
            workshop.parallel(counters, names, one)
        finally:
            for counter in counters:
                shutil.rmtree(counter.folder, ignore_errors=True)

    def who_sees(self, mutant):
        """The tests that run the line of a mutant, or its function if the file has changed since; the quick ones first.
        Those that record are many of few kinds: first one of each kind, then another of each, and so on."""
        usable = [name for name, (how, _) in self.tests.items() if how == "good" and name in self.shop.tests]
        if mutant.path.startswith("src/rt/"):
            kinds = collections.defaultdict(list)
            for name in sorted(filter(RECORDS.match, usable), key=lambda name: self.tests[name][1]):
                kinds[re.match(r"unit\..*|cli\..*|\w+\.[\w-]+", name).group()].append(name)
            return sorted(sum(kinds.values(), []), key=lambda name: min(kind.index(name) for kind in kinds.values() if name in kind))
        else:
            if self.digests.get(mutant.path) == digest(mutant.path):
                lines = self.lines[mutant.path]
                bits = lines[str(max(int(line) for line in lines if int(line) <= mutant.line))]
            else:
                bits = self.functions.get(mutant.path, {}).get(mutant.function, 0)
            number = {name: n for n, name in enumerate(self.tests)}
            lowered = mutant.path in self.shop.lowered
            seen = [name for name in usable if bits >> number[name] & 1 or lowered and name.startswith("hostile.limit.")]
        return sorted(seen, key=lambda name: self.tests[name][1])
