#!/usr/bin/env python3
"""Does the test that SECURITY.md names for a limit reach it? limit_mutants.py BUILD [NAME ...]

Makes the limit twice as large, half as large, or practically infinite, in a copy of the file that defines it, compiles
all files that use it, and runs that test: it must fail with one of them. Tests named hostile.limit change the limit
themselves, and are not run here."""
import glob
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
import mutants
import workshop

sys.path.insert(0, os.path.join(workshop.HERE, os.pardir, "hostile"))
import check_limits

SECONDS = 120      # of processor time for a test
MEMORY = 20 << 30  # bytes of a test's process: a thousand threads have room for their stacks
FACTORS = 2, 0.5, 4096
WORD = re.compile(r"\w+")
# A macro with its continued lines, a member of an enumeration, or an inline function.
DEFINED = re.compile(r"^#define (\w+)((?:.*\\\n)*.*)$|^\s*(?:enum \{ )?([A-Z][A-Z0-9_]+) = ([^,}\n]+)|"
                     r"^(?:static inline|TL_ALWAYS_INLINE) [^;{]*?(\w+)\([^;{]*\)\n\{((?:.*\n)*?)\}$", re.M)


def changed(text, name, value, factor):
    """A file in which a limit has another value of the same type, otherwise unchanged."""
    expression = r"((?:\([^\n]*?\)|[^\n,}/(]|/(?!\*))+?)"
    for pattern in (r"#define %s +(?:\\\n\s*)?%s(?=\s*(?:/\*|//|$))" % (name, expression), r"\b%s = %s(?=\s*(?:[,}\n]|/\*))" % (name, expression)):
        found = re.search(pattern, text, re.M)
        if found:
            if value >> 32 or re.search("int64|INT64|size_t", found.group(1)):
                number = "UINT64_C(%d)" % min(int(value * factor), (1 << 64) - 1)
            elif re.search(r"[\da-f]u\b", found.group(1)):
                number = "%du" % min(int(value * factor), (1 << 32) - 1)
            else:
                number = "%d" % min(int(value * factor), (1 << 31) - 1)
            cast = re.match(r"\((\(\w+\))", found.group(1))
            return text[:found.start(1)] + (cast.group(1) if cast else "") + number + text[found.end(1):]
    raise ValueError("no value of %s is found" % name)


class Headers:
    """Other names that headers define."""

    def __init__(self):
        self.uses = []  # name, the words of its definition
        for path in glob.glob(workshop.SOURCE + "/src/**/*.h", recursive=True) + glob.glob(workshop.SOURCE + "/include/**/*.h", recursive=True):
            with open(path, encoding="utf-8") as file:
                for found in DEFINED.finditer(file.read()):
                    groups = [g for g in found.groups() if g is not None]
                    self.uses.append((groups[0], set(WORD.findall(groups[1]))))

    def names(self, name):
        """The name, and those defined by it."""
        known = {name}
        while True:
            more = {other for other, words in self.uses if words & known} - known
            if not more:
                return known
            known |= more


class Trial:
    def __init__(self, shop, bench, headers):
        self.shop, self.bench, self.headers = shop, bench, headers
        self.overlay = os.path.join(bench.folder, "overlay")

    def test(self, name):
        """The test, with the one case named."""
        if name not in self.shop.cases:
            return self.shop.tests[name]
        test = self.shop.tests[name.rpartition(".")[0]]
        return test._replace(environment=dict(test.environment, TL_CASE=self.shop.cases[name]))

    def compile(self, path, text, words, out):
        more = ["-iquote", self.overlay, "-I", self.overlay]
        if self.bench.compile(path, text, words, out, more) is None:
            raise RuntimeError("%s cannot be compiled" % path)
        return os.path.join(self.bench.folder, out)

    def objects(self, name, defined, text):
        """The users of the limit, compiled with another one: object of the build -> ours."""
        names = self.headers.names(name) if defined.endswith(".h") else {name}
        objects = {}
        for path in self.shop.compiles:
            if not path.startswith("src/") or (path != defined if defined.endswith(".c") else False):
                continue
            mine = mutants.read(path)
            if defined.endswith(".h") and not names & set(WORD.findall(mine)):
                continue
            for number, words in enumerate(self.shop.compiles[path]):
                target = words[words.index("-o") + 1]
                objects[target] = self.compile(path, text if path == defined else mine, words, "%s.%d.o" % (os.path.basename(path), number))
        return objects

    def program(self, test, name, defined, made):
        """A unit test, rebuilt if it includes the file with the limit, or the recorder."""
        program = os.path.basename(test.command[0])
        if program not in self.shop.links or not test.name.startswith("unit."):
            return test
        source, names = "test/unit/%s.c" % program, self.headers.names(name)
        files = [path for path in self.shop.including if program in self.shop.including[path]]
        concerned = defined in files
        if defined.endswith(".h"):  # one that uses the limit by name keeps the old value
            words = set(WORD.findall(mutants.read(source)))
            concerned = any(names & set(WORD.findall(mutants.read(path))) for path in files) or names & words and name not in words
        if not concerned and program not in self.shop.recording:
            return test
        made = dict(made, **{program: os.path.join(self.bench.folder, program)})
        if concerned:
            for words in self.shop.compiles[source]:
                made[words[words.index("-o") + 1]] = self.compile(source, mutants.read(source), words, program + ".o")
        self.bench.must(self.shop.links[program], made)
        return test._replace(command=[made[program]])

    def how(self, name, value, factor, defined, test):
        """How the test ends with another limit."""
        text = changed(mutants.read(defined), name, value, factor)
        copy = os.path.join(self.overlay, re.sub(r"^(src|include)/", "", defined))
        shutil.rmtree(self.overlay, ignore_errors=True)
        os.makedirs(os.path.dirname(copy))
        with open(copy, "w", encoding="utf-8") as file:
            file.write('# 1 "%s"\n%s' % (os.path.join(workshop.SOURCE, defined), text))
        objects = self.objects(name, defined, text)
        environment, made = self.bench.link(objects)
        environment.update(LD_LIBRARY_PATH=self.bench.folder + ":" + self.shop.build, TL_WORK=self.bench.folder + "/work")
        return workshop.run(self.program(test, name, defined, made), environment, SECONDS, MEMORY)[0]

    def result(self, name, value, defined, test):
        """How the test noticed, or None if it did not."""
        for factor in FACTORS:
            how = self.how(name, value, factor, defined, self.test(test))
            if how not in ("good", "skipped"):
                return "%s with %g times as many" % (how, factor)
        return None


def main():
    rows = [(name, int(value.replace(",", "")), defined, test.strip("`")) for name, value, defined, _, test in check_limits.rows()]
    rows = [row for row in rows if not row[3].startswith(("none", "hostile.limit.")) and (len(sys.argv) < 3 or row[0] in sys.argv[2:])]
    workshop.KINDS = re.compile(workshop.KINDS.pattern[:-3] + r"|hostile\.large)\b")
    shop = workshop.Workshop(sys.argv[1], os.cpu_count())
    shop.make()
    trials = [Trial(shop, mutants.Bench(shop, None, n), Headers()) for n in range(shop.jobs)]
    missed = []

    def one(trial, row):
        found = trial.result(*row)
        print("%-30s %s: %s" % (row[0], row[3], found or "NOT NOTICED"), flush=True)
        if not found:
            missed.append(row[0])
    try:
        workshop.parallel(trials, rows, one)
    finally:
        for trial in trials:
            shutil.rmtree(trial.bench.folder, ignore_errors=True)
    print("%d limits, %d that their tests do not reach" % (len(rows), len(missed)))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
