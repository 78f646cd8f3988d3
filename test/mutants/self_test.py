#!/usr/bin/env python3
"""`make mutants` itself: self_test.py operators (which changes are found), bench (a sample of a program is changed, and its
test notices or not), listed (mutants.txt names changes that there are, each with a reason)."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import mutants
import mutate
import workshop

SAMPLE = """/* if (a < b) n++; */
#include "sample.h"
#define BOTH(a, b) ((a) + (b))
static const int outside[] = {1 + 2};
int sum(struct pair *p, const int *v, int n) // 1 < 2
{
    struct pair zero = {0};
    assert(n > 0);
    if (n < 0 || !v)
        return tl_fail("%d < 0" + 1, n - 1);
    for (int i = 0; i < n; i++)
        p->a += v[i];
    char room[30], more_room[40];
    int *more = calloc(1, sizeof *more);
    if (!more)
        return 0x10;
    if (grow(p) == TL_ENOMEM) {
        return -1;
    }
    flush(p);
    free(more);
    return p->b;
}
"""
FOUND = """9:guard: `n < 0 || !v` -> `0 && (n < 0 || !v)`
9:comparison: `<` -> `<=`
9:off-by-one: `0` -> `1`
9:guard: `||` -> `|| 0 &&`
11:off-by-one: `0` -> `1`
11:comparison: `<` -> `<=`
12:count: `p->a += v[i];` -> `;`
12:field: `a` -> `b`
12:sign: `+=` -> `-=`
14:off-by-one: `1` -> `2`
16:off-by-one: `0x10` -> `0x11`
17:comparison: `==` -> `!=`
18:off-by-one: `1` -> `2`
20:call: `flush(p);` -> `;`
22:field: `b` -> `a`
"""


def operators(checks):
    found = mutate.mutants_of("sample.c", SAMPLE)
    checks.equal("".join("%s\n" % m for m in found).replace("sample.c:", "").replace(" in sum()", ""), FOUND, "the changes of a file")
    for mutant in found:
        changed = mutant.apply(SAMPLE)
        checks.that(changed != SAMPLE and changed.count("\n") == SAMPLE.count("\n"), mutant, "moves lines")
    keys = [mutant.key() for mutant in found]
    checks.that(len(set(keys)) == len(keys), "two changes have one name")
    checks.equal(keys[8], "sample.c | sign | sum | p->a += v[i];", "a name")
    twice = [list(mutate.sample(found, seed)) for seed in ("1", "1", "2")]
    checks.that(twice[0] == twice[1] and twice[0] != twice[2] and len(twice[2]) == len(found), "a sample is one of its seed")
    checks.equal([m.operator for m in twice[0][:7]], list(mutate.OPERATORS), "operators take turns")


# A library of functions, one of them untested; only sanitizers notice changes of `beyond`, and some of `same` make no
# difference to an optimising compiler.
PROGRAM = """#include <stdlib.h>
int positive(int n) { if (n <= 0) return 0; return 1; }
int unseen(int n) { return n + 1; }
int beyond(int n) { int *p = malloc(4 * n); int i; for (i = 0; i < n; i++) p[i] = i; n = p[n - 1]; free(p); return n; }
int same(unsigned n) { if (n < 1) return 0; return n >= 1; }
"""
PROGRAM_TEST = """int positive(int n);
int beyond(int n);
int main(void) { return !(positive(1) && !positive(0) && beyond(1000) == 999); }
"""


class Shop:
    """A build of that, in the form of workshop.Workshop's real one."""

    def __init__(self, folder):
        compiler = shutil.which("cc") or shutil.which("gcc") or harness.skip("no C compiler")
        for name, text in (("src/few.c", PROGRAM), ("test.c", PROGRAM_TEST)):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        workshop.SOURCE = self.build = folder
        compile_few = [compiler, "-O1", "-fPIC", "-MD", "-o", "few.o", "-c", folder + "/src/few.c"]
        self.compiles, self.including, self.recording = {"src/few.c": [compile_few]}, {"src/few.c": set()}, set()
        self.lowered = {}
        self.links = {"libfew.so": [compiler, "-shared", "-o", "libfew.so", "few.o"]}
        for words in (compile_few, self.links["libfew.so"],
                      [compiler, "test.c", "-o", "test", "-L.", "-lfew", "-Wl,--enable-new-dtags,-rpath," + folder]):
            harness_said = self.replaced(words, {})
            if harness_said:
                sys.exit(harness_said)
        self.tests = {"unit.few": workshop.Test("unit.few", [folder + "/test"], folder, {})}

    replaced = workshop.Workshop.replaced


class Known:
    tests = {"unit.few": ("good", 0.01)}

    def who_sees(self, mutant):
        return ["unit.few"] if mutant.function in ("positive", "beyond") else []


def bench(checks):
    with harness.work_folder() as folder:
        shop = Shop(folder)
        here = mutants.Bench(shop, Known(), 0)
        outcome = {}
        for mutant in mutate.mutants_of("src/few.c", PROGRAM):
            outcome["%s %s" % (mutant.function, mutant.operator), mutant.nth] = here.attempt(mutant, mutants.collections.Counter())
        checks.equal(outcome["positive comparison", 1], {"outcome": "killed", "test": "unit.few", "how": "failed", "tests": 1})
        checks.equal(outcome["positive guard", 1]["outcome"], "killed")
        checks.equal(outcome["unseen sign", 1], {"outcome": "survived", "tests": 0, "left": 0})
        checks.equal(outcome["same guard", 1]["outcome"], "same")
        if mutants.SANITIZERS:
            checks.equal(outcome["beyond comparison", 1], {"outcome": "killed", "test": "unit.few", "how": "failed with sanitizers", "tests": 1})
        how, _ = workshop.run(workshop.Test("loop", ["sh", "-c", "while :; do :; done"], folder, {}), {}, 1)
        checks.equal(how, "endless")


def listed(checks):
    reasons = mutants.explained()
    for path in sorted({key.split(" | ")[0] for key in reasons}):
        there = {mutant.key() for mutant in mutate.mutants_of(path, mutants.read(path))}
        for key in reasons:
            if key.startswith(path + " | "):
                checks.that(key in there, "mutants.txt names a change that there is no more:", key)
                checks.that(len(reasons[key].split()) >= 4, "mutants.txt gives no reason for", key)
    checks.that(set(mutants.AREAS) >= {"xray", "recorder"}, "areas are missing")


if __name__ == "__main__":
    all_checks = harness.Checks()
    {"operators": operators, "bench": bench, "listed": listed}[sys.argv[1]](all_checks)
    all_checks.end()
