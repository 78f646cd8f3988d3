#!/usr/bin/env python3
"""Makes the files named in the examples of README.md and docs/tour.md: demo_files.py FOLDER

    app.xray, app         the trace of a made-up server, and its binary, with the names of the functions
    damaged.xray          the same trace, damaged in one place
    shop.log              the TraceLog of a made-up .NET program
    job.xtrace, job       the instructions of a made-up program, and its binary
    app.c, shop.cs        programs to record

Always the same bytes. Replaces existing files."""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "generate"))
import elf_gen
import program
import tracelog_lines
import tracelog_runtime
import xray_gen
import xtrace_gen


def put(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def make(folder):
    os.makedirs(os.path.join(folder, "job.xtrace"), exist_ok=True)
    file = xray_gen.fdr(5, "little", program.run(27, threads=3, events=40000, migrate=20, typed=1), buffer=1 << 14)
    put(folder, "app.xray", bytes(file.data))
    xray_gen.unknown_kind(file)
    put(folder, "damaged.xray", bytes(file.data))
    put(folder, "app", elf_gen.build_elf())
    put(folder, "shop.log", tracelog_lines.to_bytes(tracelog_runtime.Runtime(7, "doc", steps=1500, collecting=3).log.records))
    recording = xtrace_gen.simulate(seed=30, rounds=30, every=1000)
    for file in recording:
        put(folder, "job.xtrace/" + file.name, file.data)
    put(folder, "job", xtrace_gen.elf_of(recording))
    for name in ("app.c", "shop.cs"):
        shutil.copy(os.path.join(HERE, name), folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: demo_files.py FOLDER")
    make(sys.argv[1])
