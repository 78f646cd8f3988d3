"""What --jit and --classes put into a log, and leave out."""
import os

from dotnet_tools import build, build_for_clr, is_fine, record


def lines_of(checks, binary, folder, program, *options):
    done = record(binary, folder, "-f", "--alloc=64K", *options, "-o", "j.log", program, "objects")
    checks.equal(done.returncode, 0, *options, done.stderr)
    path = os.path.join(folder, "j.log")
    is_fine(checks, binary, path, *options)
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def names(lines, words):
    return {line.split()[2]: line.split('"')[1] for line in lines if line.startswith(words)}


def count(lines, words):
    return sum(1 for line in lines if line.startswith(words))


def used_are_named(checks, lines):
    """Each frame is of a method whose name is above it."""
    named, used = set(), set()
    for line in lines:
        word = line.split()
        if line.startswith("fun nam "):
            named.add(int(word[2], 16))
        elif line.startswith("sam str "):
            frames = {int(frame.split(":")[0], 16) for frame in word[6:] if not frame.startswith("?")}
            used |= frames
            checks.that(frames <= named, "without a name:", frames - named, line)
    return used, named


def check_choice(checks, binary, folder, program):
    plain = lines_of(checks, binary, folder, program)
    more = lines_of(checks, binary, folder, program, "--jit", "all")
    less = lines_of(checks, binary, folder, program, "--jit", "off")
    classes = lines_of(checks, binary, folder, program, "--classes")
    for lines, has in ((plain, True), (more, True), (less, False)):
        checks.equal(count(lines, "jit cms "), count(lines, "jit cmf "), "compilations")
        checks.equal(count(lines, "jit cms ") > 0, has, "compilations")
    compiled = {line.split()[4] for line in plain if line.startswith("jit cms ")}
    checks.that(compiled <= {line.split()[3] for line in plain if line.startswith("fun inf ")}, "compiled methods without a name")
    checks.equal([count(lines, "jit cs") for lines in (plain, less)], [0, 0], "code that was compiled before")
    checks.that(count(more, "jit css ") == count(more, "jit csf ") > 10, "code that was compiled before:", count(more, "jit css "))
    used, named = used_are_named(checks, less)
    checks.equal(used, named, "methods with names, with --jit off")
    checks.that("Told.Objects:MakeSmall" in names(less, "fun nam ").values(), names(less, "fun nam "))
    some, all_of_them = names(plain, "cls nam "), names(classes, "cls nam ")
    checks.that("Told.Objects" not in some.values() and "Told.Objects" in all_of_them.values(), "a class without objects:", all_of_them)
    checks.that(len(all_of_them) > 2 * len(some) > 0, "classes:", len(all_of_them), len(some))


def choice(checks, binary, folder):
    """On Mono."""
    check_choice(checks, binary, folder, build(folder))


def clr_choice(checks, binary, folder):
    """On CoreCLR."""
    check_choice(checks, binary, folder, build_for_clr(folder))


CASES = {"choice": choice, "clr_choice": clr_choice}
