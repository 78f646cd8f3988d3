#!/usr/bin/env python3
"""All benchmarks, one after the other: run.py [--quick] [--write] [--folder DIR] [--traceloom PATH] [PART...]

Parts are xray, ctf, tracelog, xtrace, query (SQL), duckdb (SQL by DuckDB), columns (files of Parquet and Arrow), load (into ClickHouse), page (in a browser), serve, python (its module), fleet (a folder of profiles), fleet_mpi (with ranks of MPI), rt (recording), patch (recording by patching), insn (recording of instructions), dotnet (recording of programs of .NET) and growth; without one, all of them run. The options go to each.
Ends with status 1 if one of them failed, or found answers that differ."""
import argparse
import os
import subprocess
import sys
import time

from bench_tools import HERE, TOP

# (part, its folder below that of all)
PARTS = (("xray", ""), ("ctf", "lttng"), ("tracelog", "tracelog"), ("xtrace", "xtrace"), ("query", ""), ("duckdb", ""), ("columns", ""), ("load", "load"), ("page", "page"), ("serve", ""), ("python", "python"), ("fleet", "fleet"), ("fleet_mpi", "fleet"), ("rt", "rt"), ("patch", "rt"), ("insn", "insn"), ("dotnet", "dotnet"), ("growth", "growth"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(part for part, _ in PARTS))
    parser.add_argument("--folder", default=os.path.join(TOP, "build-bench"))
    for option in ("--traceloom", "--results", "--repeat"):
        parser.add_argument(option)
    parser.add_argument("--quick", action="store_true", help="small, twice: ten minutes for all")
    parser.add_argument("--write", action="store_true", help="put the tables into bench/results.md")
    args = parser.parse_args()
    if set(args.parts) - {part for part, _ in PARTS}:
        parser.error("no such part: %s" % " ".join(set(args.parts) - {part for part, _ in PARTS}))
    options = [word for name in ("traceloom", "results", "repeat") if getattr(args, name) for word in ("--" + name, getattr(args, name))]
    options += ["--" + name for name in ("quick", "write") if getattr(args, name)]
    done = []
    for part, folder in PARTS:
        if args.parts and part not in args.parts:
            continue
        print("\n==== %s\n" % part, flush=True)
        begin = time.monotonic()
        command = [sys.executable, "-B", os.path.join(HERE, part + ".py"), "--folder", os.path.join(args.folder, folder)] + options
        status = subprocess.run(command, check=False).returncode
        done.append((part, time.monotonic() - begin, status))
    print("\n==== all\n")
    for part, seconds, status in done:
        print("%-10s %5.0f s  %s" % (part, seconds, "ok" if status == 0 else "FAILED, status %d" % status))
    return 1 if any(status for _, _, status in done) else 0


if __name__ == "__main__":
    sys.exit(main())
