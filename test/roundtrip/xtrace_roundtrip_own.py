#!/usr/bin/env python3
"""Streams of our own machine (test/generate/xtrace_gen.py), written and read again: xtrace_roundtrip_own.py PART

own: plain, compressed and as folders, by one thread and by four. parts: results of options. replay: slices know the
same registers as the whole, with the machine's values."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import xtrace_gen
import xtrace_record
from xtrace_roundtrip import check_folder, convert, events, read

def generated(folder, *names):
    """(name, folder, files) of cases of our generator; all good ones if none is named."""
    for name in names or xtrace_gen.CASES:
        place, files = os.path.join(folder, name), xtrace_gen.make(name)
        xtrace_gen.save(place, name)
        yield name, place, files


def own(checks, folder):
    for name, place, files in generated(folder):
        canonical = xtrace_gen.CASES[name].get("pcs", "blocks") == "blocks"
        for file in files:
            path, outs = os.path.join(place, file.name), []
            for threads in (1, 4):
                outs.append(os.path.join(folder, "%d." % threads + file.name))
                convert(checks, path, outs[-1], "--threads", threads)
            checks.equal(read(outs[0]), read(outs[1]), name, file.name, "threads")
            if file.shots is not None:
                size = len(file.data) - len(xtrace_record.shot_bytes(file.shots[0])) * len(file.shots)
                checks.equal(read(outs[0])[24:], file.data[size:], name, "records")
            elif canonical:
                checks.that(read(outs[0]) == file.data, name, "is not the same again")
            checks.equal(events(outs[0]), [{k: v for k, v in e.items() if k != "track"} for e in file.events], name, "events")
            if harness.run("convert", "-f", "-o", outs[0] + ".zst", path).status == 0:
                checks.equal(events(outs[0] + ".zst"), events(outs[0]), name, "zst")
        if not files[0].events:
            continue
        sets_of = []
        for threads in (1, 4):
            out = os.path.join(folder, "set%d.xtrace" % threads)
            if convert(checks, place, out, "--threads", threads):
                sets_of.append(check_folder(checks, out, name, threads))
        checks.that(len(sets_of) == 2 and sets_of[0] == sets_of[1], name, "folders of 1 and 4 threads differ")
        for file in files:
            if canonical and file.shots is None:
                checks.that(sets_of[0][file.name] == file.data, name, "stream of the folder")


def chosen(file, keep):
    """The events of the kept instructions, renumbered."""
    out, wanted, count = [], False, 0
    for event in file.record.events:
        if event.name == "insn":
            wanted = keep(event)
            count += wanted
        if wanted:
            out.append({"ts": count - 1, "class": event.name, "fields": event.fields})
    return out


def parts_of(checks, folder):
    low, high = 0x401400, 0x401500
    ways = (("kernel", ("--el", "1"), lambda e: e.fields["el"] == 1), ("kernel", ("--el", "0"), lambda e: e.fields["el"] == 0),
            ("user-long", ("--pc", "%#x..%#x" % (low, high)), lambda e: low <= int(e.fields["pc"], 16) < high),
            ("user-long", ("--insns", "100..300"), lambda e: 100 <= e.ts < 300))
    for name, options, keep in ways:
        for _, place, files in generated(folder, name):
            out = os.path.join(folder, "part.xinsndata.bin")
            if convert(checks, os.path.join(place, files[0].name), out, *options):
                got = events(out)
                checks.equal(got, chosen(files[0], keep), name, options)
                again = os.path.join(folder, "again.xinsndata.bin")
                convert(checks, out, again)
                checks.that(read(again) == read(out), name, options, "written again")
    for name, place, files in generated(folder, "threads"):
        for file in [file for file in files if file.shots is None]:
            out = os.path.join(folder, "thread.xinsndata.bin")
            if convert(checks, place, out, "-t", file.name.split(".")[2]):
                checks.that(read(out) == file.data, name, file.name)


def replay(checks, folder):
    """Known registers in a slice are those of the whole, whose machine knows them all at its snapshots."""
    known = 0
    for name, place, files in generated(folder, "user-long", "kernel", "vl-256"):
        stream, shots = files[0], files[1].shots
        path = os.path.join(place, stream.name)
        for number in sorted({0, 1, len(shots) - 1}):
            begin, out = shots[number]["insns"], os.path.join(folder, "slice.xtrace")
            shutil.rmtree(out, ignore_errors=True)
            result = harness.run("convert", "--slice-at", number, "-n", 90, "-o", out, path)
            if not checks.equal(result.status, 0, name, number, result):
                continue
            check_folder(checks, out, name, "slice", number)
            for at in {0, 1, 40, min(89, stream.record.insns - begin)}:
                if begin + at > stream.record.insns:
                    continue
                whole = harness.run("info", "--json", "--at", begin + at, path).json()
                part = harness.run("info", "--json", "--at", at, os.path.join(out, stream.name)).json()
                for register, value in part["registers"].items():
                    known += value is not None
                    checks.that(value is None or value == whole["registers"][register], name, number, at, register, value)
                if at == 0:
                    wanted = ["0x%x" % value for value in shots[number]["x"]]
                    got = [part["registers"]["sp" if n == 31 else "x%d" % n] for n in range(32)]
                    checks.equal(got, wanted, name, number, "registers of the snapshot")
    checks.that(known > 500, "only", known, "registers were known")


def main():
    parts = {"own": own, "parts": parts_of, "replay": replay}
    checks = harness.Checks()
    with harness.work_folder() as folder:
        parts[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
