#!/usr/bin/env python3
"""Do the tests notice small changes of the code? mutants.py BUILD [--areas xray,ctf] [--count 30] [--seed 1]

Changes a file in a small way (see mutate.py), compiles it, links it, and runs the tests that run the changed line, the
quick ones first, until one fails. A change that none of them notices survives: either a test is missing, or it changes
nothing; test/mutants.txt lists those, with the reason. Changes that do not compile, or make the same machine code, do not
count. BUILD/results.json keeps the results while the changed function's file is unchanged.

  --replay WHICH   only these: a file with lines as in test/mutants.txt, PATH:LINE or PATH:LINE:OPERATOR; repeated
  --budget SECONDS of tests for one change, by their times in the survey of lines
  --list           prints the changes to try
  --again          repeats the survey of which tests run which lines, for changed tests
"""
import argparse
import collections
import fcntl
import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import mutate
import survey
import workshop

# An area is the first one with a pattern that fits.
AREAS = {
    "xray": ["src/format/xray/*"],
    "ctf": ["src/format/ctf/*"],
    "tracelog": ["src/format/tracelog/*"],
    "xtrace": ["src/format/xtrace/*"],
    "profiles": ["src/format/%s/*" % name for name in ("tlp", "pprof", "callgrind", "folded", "dot", "svg")] +
                ["src/model/%s*" % name for name in ("profile", "hist", "place", "stack", "callgraph")],
    "writers": ["src/format/*"],
    "op": ["src/op/*", "src/analysis/*"],
    "cli": ["src/cli/*"],
    "recorder": ["src/rt/*"],
    "base": ["src/base/*", "src/model/*", "src/*.c"],
    "isa": ["src/isa/*"],
}
SLACK = 8     # a test that takes this many times as long is endless
FLAGS = ["-w", "-Werror=int-conversion", "-Werror=incompatible-pointer-types"]
LOW = "traceloom_low"
CHECKED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def runtimes():
    """The libraries of the sanitizers, or none."""
    paths = [subprocess.run(["cc", "-print-file-name=" + name], capture_output=True, text=True, check=False).stdout.strip()
             for name in ("libasan.so", "libubsan.so")]
    return paths if all(map(os.path.isabs, paths)) else []


SANITIZERS = runtimes()


def area_of(path):
    if path == "src/cli/main.c":
        return None  # of no library
    return next((area for area, patterns in AREAS.items() if any(fnmatch.fnmatch(path, pattern) for pattern in patterns)), None)


def read(path):
    with open(os.path.join(workshop.SOURCE, path), encoding="utf-8") as file:
        return file.read()


def all_mutants():
    """area -> its mutants"""
    out = {area: [] for area in AREAS}
    for folder, _, names in os.walk(os.path.join(workshop.SOURCE, "src")):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), workshop.SOURCE)
            if path.endswith(".c") and area_of(path):
                out[area_of(path)] += mutate.mutants_of(path, read(path))
    return out


def explained(path=os.path.join(workshop.HERE, os.pardir, "mutants.txt")):
    """key -> the reason why this change changes nothing"""
    out, key = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("    ") and key:
                out[key] = (out[key] + " " + line.strip()).strip()
            elif line.strip() and not line.startswith("#"):
                key = line.strip()
                out[key] = ""
    return out


class Bench:
    """Where one mutant at a time is compiled, linked and tried."""

    def __init__(self, shop, known, number, budget=90):
        self.shop, self.known, self.budget = shop, known, budget
        self.folder = os.path.join(shop.build, "bench-%d-%d" % (os.getpid(), number))
        os.makedirs(self.folder + "/include")
        self.originals, self.low = {}, None

    def compile(self, path, text, words, name, more=()):
        """The machine code of a file with this text, as BENCH/name; None if the compiler refuses it."""
        out = os.path.join(self.folder, name)
        full = os.path.join(workshop.SOURCE, path)
        command = words[:words.index("-MD")] + FLAGS + list(more) + ["-iquote", os.path.dirname(full), "-x", "c", "-", "-c", "-o", out]
        done = subprocess.run(" ".join(command), shell=True, input='# 1 "%s"\n%s' % (full, text), text=True, capture_output=True,
                              cwd=self.shop.build, env=workshop.UNCACHED, check=False)
        if done.returncode:
            return None
        with open(out, "rb") as file:
            return file.read()

    def objects(self, mutant, text):
        """Compiles a mutant for each library that has the file: object of the build -> ours, or the reason why it does not
        count, as text."""
        objects, differs = {}, False
        for number, words in enumerate(self.shop.compiles[mutant.path]):
            key = (mutant.path, number)
            if key not in self.originals:
                self.originals[key] = hashlib.sha256(self.compile(mutant.path, text, words, "original.o")).digest()
            name = os.path.basename(mutant.path) + ".%d.o" % number
            code = self.compile(mutant.path, mutant.apply(text), words, name)
            if code is None:
                return "refused"
            differs = differs or hashlib.sha256(code).digest() != self.originals[key]
            objects[words[words.index("-o") + 1]] = os.path.join(self.folder, name)
        return objects if differs else "same"

    def link(self, objects):
        """Links the libraries with a mutant. Returns the environment for tests, and output of the build -> ours."""
        made, environment = {}, {}
        for output, words in self.shop.links.items():
            if not output.endswith((".a", ".so")) and ".so." not in output or not set(words) & set(objects):
                continue
            made[output] = os.path.join(self.folder, output)
            self.must(words, dict(objects, **{output: made[output]}))
            for variable, suffix in (("TL_RT_LIBRARY", "-rt.a"), ("TL_RT_START", "-rt-start.a"), ("TL_RT_SHARED", "-rt.so.")):
                if suffix in output:
                    environment[variable] = made[output]
        soname = os.path.join(self.folder, "libtraceloom-rt.so.0")
        if "TL_RT_SHARED" in environment and not os.path.exists(soname):
            os.symlink(environment["TL_RT_SHARED"], soname)
        return environment, made

    def program(self, test, mutant, text, made):
        """A test's command; a test that contains the mutant itself, not only in a library that it loads, is rebuilt."""
        name, shop = test.name.split(".")[1], self.shop
        including = name in shop.including[mutant.path]
        if test.name.startswith("hostile.limit.") and mutant.path in shop.lowered:
            return test._replace(command=[self.low_command(mutant) if os.path.basename(word) == LOW else word for word in test.command])
        if not test.name.startswith("unit.") or not including and not (mutant.path.startswith("src/rt/") and name in shop.recording):
            return test
        made = dict(made, **{name: os.path.join(self.folder, name)})
        if including:
            copy = os.path.join(self.folder, "include", mutant.path[len("src/"):])
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(copy, "w", encoding="utf-8") as file:
                file.write('# 1 "%s"\n%s' % (os.path.join(workshop.SOURCE, mutant.path), mutant.apply(text)))
            where = ["-iquote", self.folder + "/include", "-iquote", os.path.dirname(os.path.join(workshop.SOURCE, mutant.path))]
            for words in shop.compiles["test/unit/%s.c" % name]:
                target = words[words.index("-o") + 1]
                made[target] = os.path.join(self.folder, name + ".o")
                self.must(words[:words.index("-MD")] + where + words[words.index("-MD"):], made)
            os.unlink(copy)
        self.must(shop.links[name], made)
        return test._replace(command=[made[name]])

    def low_command(self, mutant):
        """The command with low limits, with the mutant in its copy of the file, if the line is the same."""
        copy, out = self.shop.lowered[mutant.path], os.path.join(self.folder, LOW)
        if self.low != mutant.key():
            text = read(copy)
            same = [m for m in mutate.mutants_of(mutant.path, text) if m.key() == mutant.key()]
            words = self.shop.compiles[copy][0]
            self.compile(copy, same[0].apply(text) if same else text, words, "low.o")
            self.must(self.shop.links["test/" + LOW], {words[words.index("-o") + 1]: self.folder + "/low.o", "test/" + LOW: out})
            self.low = mutant.key()
        return out

    def must(self, words, changes):
        said = self.shop.replaced(words, changes)
        if said:
            raise RuntimeError("%s\n%s" % (" ".join(words), said[-2000:]))

    def attempt(self, mutant, first):
        """Tries a mutant: a result, see Results. The tests in `first` run before the others."""
        text = read(mutant.path)
        objects = self.objects(mutant, text)
        if isinstance(objects, str):
            return {"outcome": objects}
        environment, made = self.link(objects)
        environment["LD_LIBRARY_PATH"] = self.folder + ":" + self.shop.build
        environment["TL_WORK"] = self.folder + "/work"
        names = self.known.who_sees(mutant)
        names.sort(key=lambda name: -first[name])  # stable: then the quick ones
        spent, done = 0, 0
        try:
            for name in names:
                seconds = self.known.tests[name][1]
                spent += seconds
                if spent > self.budget:
                    break
                test = self.program(self.shop.tests[name], mutant, text, made)
                done += 1
                how, _ = workshop.run(test, environment, int(4 + SLACK * seconds))
                # Programs that are stopped in the middle, or race, may fail for another reason: repeat.
                if how not in ("good", "skipped") and (mutant.path.startswith("src/rt/") or not name.startswith(("unit", "golden"))):
                    how, _ = workshop.run(test, environment, int(4 + SLACK * seconds))
                if how not in ("good", "skipped"):
                    return {"outcome": "killed", "test": name, "how": how, "tests": done}
            for name in names[:done] if SANITIZERS else ():
                # As in `make check`, which notices reads beyond a piece of memory, and leaks.
                if name.startswith(("unit", "fuzz")) and not mutant.path.startswith("src/rt/") and self.sanitized(mutant, text, name):
                    return {"outcome": "killed", "test": name, "how": "failed with sanitizers", "tests": done}
        finally:
            for name in os.listdir(self.folder):
                if name.endswith((".so", ".a", ".o")) or ".so.0." in name:
                    os.unlink(os.path.join(self.folder, name))
        return {"outcome": "survived", "tests": done, "left": len(names) - done}

    def sanitized(self, mutant, text, name):
        """Does a test notice a mutant if only its file is compiled with sanitizers? It must pass with the original file."""
        for changed in (mutant.apply(text), text):
            objects = {}
            for words in self.shop.compiles[mutant.path]:
                target = words[words.index("-o") + 1]
                objects[target] = os.path.join(self.folder, os.path.basename(target))
                if self.compile(mutant.path, changed, words, os.path.basename(target), CHECKED) is None:
                    return False
            try:
                environment, made = self.link(dict(objects, **{"-shared": "-shared -Wl,-Bsymbolic"}))
            except RuntimeError:
                return False  # not every object can be linked that way
            environment.update(LD_LIBRARY_PATH=self.folder + ":" + self.shop.build, TL_WORK=self.folder + "/work",
                               LD_PRELOAD=":".join(SANITIZERS))
            test = self.program(self.shop.tests[name], mutant, changed, made)
            how, _ = workshop.run(test, environment, int(10 + 4 * SLACK * self.known.tests[name][1]), workshop.resource.RLIM_INFINITY)
            if (how == "good") == (changed != text):
                return False
        return True


class Results:
    """The result of each mutant, in a file: "killed" (by which test, how), "survived" (how many tests ran it, how many
    were skipped as too long), "refused" by the compiler, or "same" machine code."""

    def __init__(self, path):
        self.path, self.lock, self.all = path, threading.Lock(), {}
        self.load()

    def load(self):
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.all.update(json.load(file))

    def name(self, mutant):
        return hashlib.sha256((mutant.key() + mutant.apply(read(mutant.path))).encode()).hexdigest()[:20]

    def get(self, mutant, survey_id):
        """The known result; for a survivor only if the same tests would run again."""
        known = self.all.get(self.name(mutant))
        return None if known and known["outcome"] == "survived" and known["survey"] != survey_id else known

    def put(self, mutant, result):
        with self.lock, open(self.path + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # several runs may share a build
            self.load()
            self.all[self.name(mutant)] = dict(result, key=mutant.key(), says=str(mutant))
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.all, file, indent=0)
            os.replace(self.path + ".new", self.path)


class Area:
    """A sample of an area while it is tried: mutants in their order, until enough of them count."""

    def __init__(self, name, mutants, count):
        self.name, self.waiting, self.count = name, iter(mutants), count
        self.tried = []  # [mutant, result or None], in order
        self.lock = threading.Lock()

    def next(self):
        """The next one to try, or None if there are enough, or will be."""
        with self.lock:
            if sum(1 for _, result in self.tried if result is None or result["outcome"] in COUNTED) >= self.count:
                return None
            mutant = next(self.waiting, None)
            if mutant:
                self.tried.append([mutant, None])
                return self.tried[-1]
            return None

    def counted(self):
        """The first ones that count."""
        return [(m, r) for m, r in self.tried if r and r["outcome"] in COUNTED][:self.count]


COUNTED = ("killed", "survived")


def try_area(area, shop, known, results, survey_id, options):
    benches = [Bench(shop, known, n, options.budget) for n in range(shop.jobs)]
    killers = collections.defaultdict(collections.Counter)  # path -> tests that killed there
    for result in results.all.values():
        if result["outcome"] == "killed":
            killers[result["says"].split(":")[0]][result["test"]] += 1

    def loop(bench):
        while True:
            entry = area.next()
            if not entry:
                # One under way may turn out not to count.
                if all(result for _, result in area.tried) or not area.tried:
                    return
                time.sleep(0.2)
                continue
            mutant = entry[0]
            result = None if options.replay else results.get(mutant, survey_id)
            if not result:
                result = dict(bench.attempt(mutant, killers[mutant.path]), survey=survey_id)
                results.put(mutant, result)
                if result["outcome"] in COUNTED:
                    print("%-9s %s%s" % (result["outcome"], mutant, ", by %(test)s, which %(how)s" % result if "test" in result else
                                         ", seen by %(tests)d tests" % result), flush=True)
            if result["outcome"] == "killed":
                killers[mutant.path][result["test"]] += 1
            entry[1] = result
    try:
        workshop.parallel(benches, range(len(benches)), lambda bench, _: loop(bench))
    finally:
        for bench in benches:
            shutil.rmtree(bench.folder, ignore_errors=True)


def table(areas, reasons):
    """The rates as a table, and the survivors."""
    lines, left = ["| area | changes | noticed | change nothing | survived | rate |", "|---|---|---|---|---|---|"], []
    for area in areas:
        counted = area.counted()
        killed = sum(result["outcome"] == "killed" for _, result in counted)
        alive = [(m, r) for m, r in counted if r["outcome"] == "survived"]
        unexplained = [(m, r) for m, r in alive if m.key() not in reasons]
        left += unexplained
        lines.append("| %s | %d | %d | %d | %d | %.0f %% |" % (area.name, len(counted), killed, len(alive) - len(unexplained),
                                                              len(unexplained), 100 * killed / max(len(counted), 1)))
    return lines, left


def chosen(which, mutants):
    """The mutants named by one --replay."""
    if os.path.exists(which):
        keys = explained(which)
        return [m for m in mutants if m.key() in keys]
    path, line, operator = (which.split(":") + [""])[:3]
    return [m for m in mutants if (m.path == path or os.path.basename(m.path) == path) and m.line == int(line) and
            operator in ("", m.operator)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--areas", default="xray,ctf,tracelog,xtrace,profiles,writers,op,cli,recorder")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--budget", type=float, default=90)
    parser.add_argument("--replay", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    mutants = all_mutants()
    if options.replay:
        all_of_them = [m for found in mutants.values() for m in found]
        replayed = [m for which in options.replay for m in chosen(which, all_of_them)]
        areas = [Area("replayed", replayed, len(replayed))]
    else:
        names = options.areas.replace(",", " ").split()
        unknown = [name for name in names if name not in AREAS]
        if unknown:
            sys.exit("no area is called %s; there are %s" % (", ".join(unknown), ", ".join(AREAS)))
        areas = [Area(name, mutate.sample(mutants[name], options.seed), options.count) for name in names]
    if options.list:
        for area in areas:
            while area.next():
                print(area.tried[-1][0])
        return
    shop = workshop.Workshop(options.build, options.jobs)
    shop.make()
    known = survey.Survey(shop, os.path.join(options.build, "survey.json"), options.again)
    survey_id = hashlib.sha256(json.dumps([known.taken, sorted(known.tests)]).encode()).hexdigest()[:12]
    results = Results(os.path.join(options.build, "results.json"))
    for area in areas:
        try_area(area, shop, known, results, survey_id, options)
    lines, left = table(areas, explained())
    print("\n" + "\n".join(lines))
    if left:
        print("\nNo test notices these. In test/mutants.txt they would be called:")
        for mutant, result in left:
            print("%s\n    %s, %s\n" % (mutant.key(), str(mutant).split(": ", 1)[1],
                                        "run by %(tests)d tests" % result if result["tests"] else "which no test runs"))
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
