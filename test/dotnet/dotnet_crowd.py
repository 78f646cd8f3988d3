"""500 threads at once: nothing is lost, and memory is bounded by what each thread may have."""
import os

from dotnet_tools import build, build_for_clr, by_class, is_fine, record, report, settings

THREAD_KIB = 2048  # of a thread: its rings, its stack as lines have it, what it allocated
REST_KIB = 200 << 10


def check_crowd(checks, binary, folder, program):
    path = os.path.join(folder, "w.log")
    done = record(binary, folder, "--alloc", "--period", "1ms", "-o", "w.log", program, "crowd")
    checks.equal(done.returncode, 0, done.stderr)
    did = {name: int(number) for name, number in (line.split() for line in done.stdout.splitlines())}
    is_fine(checks, binary, path)
    said = settings(path)
    checks.equal([said.get(name) for name in ("LostSamples", "LostEvents", "CutStacks")], ["0", "0", "0"], said)
    with open(path, encoding="utf-8") as file:
        begun = sum(line.startswith("thr crt ") for line in file)
    checks.that(begun >= did["threads"], "threads:", begun) # the program waits until all are there
    made = {name: row["count"] for name, row in by_class(report(checks, binary, path, "--by", "alloc")).items()}
    checks.equal(made.get("Told.Crowd.Member"), did["members"], "objects")
    checks.that(did["peak"] <= did["threads"] * THREAD_KIB + REST_KIB, "memory:", did["peak"], "KiB")
    print("peak memory:", did["peak"], "KiB")


def crowd(checks, binary, folder):
    """On Mono."""
    check_crowd(checks, binary, folder, build(folder))


def clr_crowd(checks, binary, folder):
    """On CoreCLR."""
    check_crowd(checks, binary, folder, build_for_clr(folder))


CASES = {"crowd": crowd, "clr_crowd": clr_crowd}
