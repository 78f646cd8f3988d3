"""Objects: all that are made, a part that stands for all, and those that live, on Mono and on CoreCLR."""
import math
import os
import subprocess

from dotnet_tools import build, build_for_clr, by_class, is_fine, record, report, settings


def check_made(checks, binary, folder, program):
    """Objects and bytes of each class are those that the program counts, with more stacks than rings have room for."""
    done = record(binary, folder, "--alloc", "-o", "a.log", program, "made")
    checks.equal(done.returncode, 0, done.stderr)
    path = os.path.join(folder, "a.log")
    is_fine(checks, binary, path)
    made = {name: (int(count), int(size)) for name, count, size in (line.rsplit(None, 2) for line in done.stdout.splitlines())}
    checks.equal(len(made), 6, done.stdout)
    of = {row["name"]: (row["count"], row["bytes"]) for row in report(checks, binary, path, "--by", "alloc")["classes"]}
    checks.equal({name: of.get(name) for name in made}, made, sorted(of))
    below = {row["name"]: row["total"] for row in report(checks, binary, path, "--by", "func", "--weight", "bytes")["functions"]}
    turns, leaves = sum(size for _, size in made.values()) - made["Told.Made.Leaf"][1], made["Told.Made.Leaf"][1]
    # The runtime may make an object of its own in between.
    checks.that(turns <= below.get("Told.Made:Turn", 0) <= turns + 4096, "Turn made", below.get("Told.Made:Turn"), "bytes, expected", turns)
    checks.that(0 < below.get("Told.Made:Left", 0) <= leaves + 4096, "Left made", below.get("Told.Made:Left"), "bytes, expected", leaves)
    checks.equal(settings(path).get("LostSamples"), "0", "LostSamples")


def made(checks, binary, folder):
    """Every object."""
    check_made(checks, binary, folder, build(folder))


def clr_made(checks, binary, folder):
    """Every object, on CoreCLR."""
    check_made(checks, binary, folder, build_for_clr(folder))


def snapshots(path):
    """Objects and bytes of each class, in each line of the log about what lives; None: classes without a name."""
    names, found = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            word = line.split()
            if word[:2] == ["cls", "nam"]:
                names[int(word[2], 16)] = line.split('"')[1]
            if word[:2] == ["gch", "alt"]:
                found.append({})
                for iid, count, size in (item.split(":") for item in word[3:]):
                    name = None if iid == "?" else names[int(iid, 16)]
                    before = found[-1].get(name, (0, 0))
                    found[-1][name] = (before[0] + int(count), before[1] + int(size))
    return found


def check_living(checks, binary, folder, program, emitted):
    """What lives after the two full collections that are a second apart."""
    done = record(binary, folder, "--heap", "-o", "h.log", program, "living")
    checks.equal((done.returncode, done.stdout), (0, "kept 1500\nemitted 70\n"), done.stderr)
    path = os.path.join(folder, "h.log")
    is_fine(checks, binary, path)
    found = snapshots(path)
    if checks.equal(len(found), 2, "snapshots"):
        for number, snapshot in enumerate(found):
            checks.equal(snapshot.get("Told.Living.Kept"), (1500, 1500 * 24), number, "Kept")
            checks.equal(snapshot.get(emitted, (0, 0))[0], 70, number, "emitted")
        checks.equal(found[0].get("Told.Living.Gone"), (500, 500 * 24), "Gone")
        # What looks like an address may keep an object.
        checks.that(found[1].get("Told.Living.Gone", (0, 0))[0] <= 5, "Gone is not gone:", found[1].get("Told.Living.Gone"))
    for name in ("LostSamples", "LostEvents"):
        checks.equal(settings(path).get(name), "0", name)


def living(checks, binary, folder):
    """What lives after collections."""
    check_living(checks, binary, folder, build(folder), "Emitted")


def clr_living(checks, binary, folder):
    """The same on CoreCLR, which may unload the class that was emitted."""
    check_living(checks, binary, folder, build_for_clr(folder), None)
    said = settings(os.path.join(folder, "h.log"))
    checks.equal(said.get("ConcurrentGcDisabled"), "T", said)


# Bytes of an object beside those of an array's head, and the method that makes it.
OBJECTS = {"Told.Objects.Small": (32, "MakeSmall"), "Told.Objects.Large": (128, "MakeLarge"), "Told.Objects.Item[]": (4000, "MakeArrays")}


def check_objects(checks, binary, path, made, every, head):
    """Objects and bytes by class and by method: exact, or within five standard deviations."""
    rows = report(checks, binary, path, "--by", "alloc")
    checks.equal(rows.get("sampling"), every, "sampling")
    of = by_class(rows)
    by_method = {row["name"]: row["self"] for row in report(checks, binary, path, "--by", "func", "--weight", "bytes")["functions"]}
    for name, (size, method) in OBJECTS.items():
        size += head if name.endswith("[]") else 0
        chance = 1 - math.exp(-size / every) if every else 1
        most = 5 * math.sqrt(made[name] * (1 - chance) / chance)
        got = of.get(name, {"count": 0, "bytes": 0})
        checks.that(abs(got["count"] - made[name]) <= most, name, "has", got, "expected", made[name], "+-", most)
        checks.equal(got["bytes"], got["count"] * size, "bytes of", name)
        checks.equal(by_method.get("Told.Objects:" + method), got["bytes"], "bytes of", method)


def check_alloc(checks, binary, folder, program, head):
    for every, option in ((None, "--alloc"), (65536, "--alloc=64K"), (4096, "--alloc=4096")):
        name = "%s.log" % every
        done = record(binary, folder, option, "-o", name, program, "objects")
        checks.equal(done.returncode, 0, done.stderr)
        made = {of: int(number) for of, number in (line.split() for line in done.stdout.splitlines())}
        path = os.path.join(folder, name)
        is_fine(checks, binary, path, option)
        check_objects(checks, binary, path, made, every, head)
        checks.equal(settings(path).get("AllocationSampling"), str(every) if every else None, option)
        text = subprocess.run([binary, "report", "--by", "alloc", path], capture_output=True, text=True, check=True).stdout
        checks.equal("estimates: one object was recorded per " in text, every is not None, text)
    # A part of a log still says what its allocations are.
    done = subprocess.run([binary, "convert", "--time", "1ms..", "--to", "tracelog", os.path.join(folder, "65536.log"), "-o", "-"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    known = [i for i, line in enumerate(lines) if line == "prf cfg AllocationSampling 65536"]
    checks.that(len(known) == 1 and all(i > known[0] for i, line in enumerate(lines) if line.startswith("sam mem")), "where it says so:", known, done.stderr)


def allocated(checks, binary, folder):
    """All objects, or a part that stands for all."""
    check_alloc(checks, binary, folder, build(folder), 32)


def clr_allocated(checks, binary, folder):
    """The same on CoreCLR."""
    check_alloc(checks, binary, folder, build_for_clr(folder), 24)


CASES = {"made": made, "clr_made": clr_made, "alloc": allocated, "clr_alloc": clr_allocated, "living": living, "clr_living": clr_living}
