"""The measurements of growth.py for each format: making files of any size, the commands, and the programs.

prepare() makes the files of a size and returns its Case, or None where they cannot be recorded. A Case has the bytes that are
read, questions as [(question, [(program, role, command)])], verbs as [(verb, command)], and check(), which compares answers."""
import glob
import os
import shutil
import subprocess
from collections import namedtuple

import ctf
import rt
import tracelog
import xray
import xtrace
from bench_tools import MB, build, made, numbers, output_of, recorded, threads_of

Case = namedtuple("Case", "bytes questions verbs check")


class Format:
    name = about = None
    FOR_ALL_SIZES = True                # or for the smallest and the largest one only

    def __init__(self, args):
        self.args, self.folder = args, os.path.join(args.folder, self.name)
        os.makedirs(self.folder, exist_ok=True)

    def tool(self, name, *more):
        return build(self.args.folder, name, *more)

    def both(self, *words):
        """The same command of ours with one thread and with two."""
        return [("%s, %s" % (self.label(words), threads_of(n)), role, [self.args.traceloom, words[0], "-q", "--threads", str(n)] + list(words[1:]))
                for n, role in ((1, "one"), (2, "two"))]

    def label(self, words):
        """The command without its files and its output."""
        return " ".join(word for word in words if "/" not in word and word not in ("-o", "-", "-e"))

    def every_byte(self, *files):
        return [("look at every byte", "bytes", [self.tool("every_byte")] + list(files))]

    def verbs(self, table, *files):
        """What every format can do; the memory of these commands is reported."""
        ours = [self.args.traceloom]
        return [("info", ours + ["info", "-q", "--json", *files]), ("check", ours + ["check", "-q", *files]),
                ("report --by " + table, ours + ["report", "-q", "--by", table, *files])] + [
            ("convert --to " + to, ours + ["convert", "-q", "-o", "-", "--to", to, *files]) for to in ("none", "text", "jsonl")]


class Xray(Format):
    """Logs of programs/busy.c."""

    def functions(self, path, account=True):
        binary, peer = os.path.join(self.folder, "busy"), xray.llvm_xray()
        rows = self.both("report", "--by", "func", "-e", binary, path)
        if peer and account:
            rows.append(("llvm-xray account", "peer", [peer, "account", path, "-m", binary]))
        return rows + [("hand-written", "hand", [self.tool("limit_xray"), path])] + self.every_byte(path)

    def chrome(self, path):
        peer = xray.llvm_xray()
        theirs = [("llvm-xray convert -f trace_event", "peer", [peer, "convert", "-f", "trace_event", path, "-o", os.devnull])] if peer else []
        return self.both("convert", "--to", "chrome", "-o", "-", path) + theirs

    def check(self, *paths):
        return [wrong for path in paths for wrong in xray.agree(self.args.traceloom, self.tool("limit_xray"), path)]


class XrayFdr(Xray):
    name = "xray-fdr"
    about = ("Flight data of busy.c, as LLVM's runtime records it. One thread in at most 12 buffers is what `llvm-xray account` can read: "
             "of several threads it cannot make the table. A stream is read by one thread.")
    ROUND = 1716                        # bytes

    def prepare(self, size):
        rounds = int(size * MB / self.ROUND)
        one = xray.record(self.folder, "one-%d" % size, 1, rounds, 16, max(1, size // 10) << 20)
        four = xray.record(self.folder, "four-%d" % size, 4, rounds // 4, size * 70 + 400, 16384)
        return Case(os.path.getsize(one),
                    [("calls and times of each function, one thread", self.functions(one)),
                     ("the same, four threads in buffers of 16 KiB", self.functions(four, account=False)),
                     ("Chrome JSON, one thread", self.chrome(one))],
                    self.verbs("func", four), lambda: self.check(one, four))


class XrayBasic(Xray):
    name = "xray-basic"
    about = "The basic mode of LLVM's runtime: four threads of busy.c."
    ROUND = 6816

    def prepare(self, size):
        log = xray.record(self.folder, "four-%d" % size, 4, int(size * MB / self.ROUND / 4), mode="xray-basic")
        return Case(os.path.getsize(log), [("calls and times of each function", self.functions(log)), ("Chrome JSON", self.chrome(log))],
                    self.verbs("func", log), lambda: self.check(log))


class Profiles(Format):
    """Many runs of one program (calls_gen.c), as many as fill that size: 16 different ones, again and again."""
    RUNS, CALLS, suffix = 16, 15000, None

    def of_run(self, seed):
        path = os.path.join(self.folder, "run-%d" % seed)
        if not os.path.exists(path + self.suffix):
            with open(path + ".xray", "wb") as log:
                subprocess.run([self.tool("calls_gen"), str(self.CALLS), str(seed)], stdout=log, check=True)
            subprocess.run([self.args.traceloom, "report", "-q", "-f", "--to", self.name, path + ".xray", "-o", path + self.suffix], check=True)
            os.unlink(path + ".xray")
        return path + self.suffix

    def prepare(self, size):
        runs, folder = [self.of_run(seed) for seed in range(self.RUNS)], os.path.join(self.folder, "all")
        os.makedirs(folder, exist_ok=True)
        files, total = [], 0
        while total < size * MB:
            source, path = runs[len(files) % self.RUNS], os.path.join(folder, "%05d%s" % (len(files), self.suffix))
            if not os.path.exists(path):
                shutil.copy(source, path)
            files.append(path)
            total += os.path.getsize(path)
        ours = [self.args.traceloom, "report", "-q"]
        rows = self.both("report", "--by", "func", *files) + [("hand-written, without a tree", "hand", [self.tool("limit_profile")] + files)]
        return Case(total, [("merge profiles: each function", rows + self.every_byte(*files))],
                    [("report --by tree, merging", ours + ["--by", "tree"] + files),
                     ("report, merging into one file", ours + ["-f", "--to", self.name, "-o", os.path.join(self.folder, "merged" + self.suffix)] + files)],
                    lambda: xray.agree(self.args.traceloom, self.tool("limit_profile"), *files))


class XrayProfile(Profiles):
    name, suffix = "xray-profile", ".xrayprofile"
    about = "Profiles of LLVM's profiling mode, which no other program reads. Sizes are of all files together."


class Tlp(Profiles):
    name, suffix = "tlp", ".tlp"
    about = ("Our own profiles, with histograms, which nothing else reads. Sizes are of all files together. "
             "The hand-written program keeps no tree; what is compared is the table of functions.")


class Ctf(Format):
    name = "ctf-1.8"
    about = "Recordings of LTTng-UST: two streams, 46 classes of events in random order (programs/mix.c)."
    EVENTS = 39200                      # of each thread, for a MB
    second = False

    def prepare(self, size):
        folder = os.path.join(self.args.folder, "ctf", str(size))
        if not recorded("record_lttng.sh", folder, self.EVENTS * size):
            return None
        os.environ["XDG_CACHE_HOME"] = os.path.join(self.args.folder, "cache")      # of indexes
        first, trace = os.path.join(folder, "ctf18"), os.path.join(folder, "ctf2" if self.second else "ctf18")
        limit, files = self.tool("limit_ctf"), ctf.streams(first)
        every = self.both("convert", "--to", "none", "-o", "-", trace)
        count = self.both("info", "--json", trace)
        text = self.both("convert", "--to", "text", "--text-style=babeltrace", "-o", "-", trace)
        if not self.second and shutil.which("babeltrace2"):
            dummy = ("babeltrace2 -o dummy", "peer", ["babeltrace2", trace, "-o", "dummy"])
            every, count = every + [dummy], count + [dummy]
            text += [("babeltrace2", "peer", ["babeltrace2", trace])]
        every += [("hand-written", "hand", [limit, first])] + self.every_byte(*files)
        count += [("hand-written, only skips", "hand", [limit, "--count", first])]
        return Case(sum(map(os.path.getsize, files)),
                    [("every field, merged by time", every), ("events of each class", count), ("text as babeltrace2 writes it", text)],
                    self.verbs_of(trace), lambda: self.check(limit, first, trace))

    def verbs_of(self, trace):
        return [verb for verb in self.verbs("func", trace) if not verb[0].startswith("report")]

    def check(self, limit, first, trace):
        args = namedtuple("Args", "traceloom folder")(self.args.traceloom, os.path.dirname(first))
        return ctf.agree(args, limit, first, trace)


class Ctf2(Ctf):
    name, second = "ctf-2", True
    about = "The same streams with metadata of CTF 2, which babeltrace2 reads from 2.1 on and Debian 12 does not have."


class TraceLog(Format):
    name = "tracelog"
    about = "Logs of tracelog_gen.c: twelve threads, most lines are samples of stacks."

    def prepare(self, size):
        log, truth = tracelog.make_log(self.folder, self.tool("tracelog_gen"), size)
        regex, engines = tracelog.build_regex(self.folder)
        hand = [("hand-written, through a buffer", "hand", [self.tool("limit_tracelog"), log])]
        peers = [(row.name, "peer", row.arguments) for row in tracelog.regex_rows(regex, engines, log)]
        return Case(os.path.getsize(log),
                    [("every field of every line", self.both("report", "--by", "gc", log) + peers + hand + self.every_byte(log)),
                     ("tree of samples with weights", self.both("report", "--by", "tree", log) + hand)],
                    self.verbs("tree", log), lambda: self.check(hand[0][2], log, truth))

    def check(self, limit, log, truth):
        out = tracelog.differences("the hand-written program", numbers(output_of(*limit)), truth)
        return out + tracelog.differences("report", tracelog.found_by_reports(self.args, log), truth)


class Xtrace(Format):
    name = "xtrace"
    about = ("Instruction streams of AArch64 that QEMU records: test/consumers/xtrace_app.c, from its first instruction on. The peer is QEMU's own log of "
             "the same run (`-d exec,nochain,in_asm`), 95 bytes an instruction, in which grep counts the instructions of one function. Of the largest stream it would have more than 8 GB, and is not made. The smallest stream is as small as the program gets.")
    LOG_MOST, LOG_QUICK = 300, 30       # MB of a stream whose log is made, too: 2.5 GB and a minute
    STRINGS, NUMBERS = 15, 116          # MB of one round, and more of it with 20000 numbers and matrices of order 96

    def record(self, size):
        rounds = -(-size // (self.STRINGS + self.NUMBERS))
        share = max(0.0001, (size / rounds - self.STRINGS) / self.NUMBERS)
        words = [2 + int(20000 * share), 2 + int(96 * share ** (1 / 3)), rounds]
        streams = xtrace.record(self.folder, "run-%d" % size, ",always=on", *words)
        return streams and (streams[0], [str(word) for word in words])

    def log(self, size, words):
        """QEMU's log of the same run."""
        path = os.path.join(self.folder, "qemu-%d.log" % size)
        if not os.path.exists(path):
            subprocess.run(["qemu-aarch64", "-cpu", "neoverse-n1", "-singlestep", "-d", "exec,nochain,in_asm", "-D", path + ".new",
                            os.path.join(self.folder, "app")] + words, stdout=subprocess.DEVNULL, check=True)
            os.rename(path + ".new", path)
        return path

    def prepare(self, size):
        found = self.record(size)
        if not found:
            return None
        (stream, words), app, limit = found, os.path.join(self.folder, "app"), self.tool("limit_xtrace")
        one = self.both("report", "--by", "func", "-e", app, stream)
        wrong = []
        if size <= (self.LOG_QUICK if self.args.quick else self.LOG_MOST):
            log = self.log(size, words)
            # grep stops at the first line it finds if it writes to /dev/null.
            one.append(("grep in QEMU's log", "peer", ["sh", "-c", "grep -c '^Trace .* sort_numbers$' \"$0\" | cat", log]))
            wrong = lambda: self.check(app, stream, log)
        one += [("hand-written walk", "hand", [limit, "walk", stream])] + self.every_byte(stream)
        mix = self.both("report", "--by", "mix", stream) + [("hand-written mix", "hand", [limit, "mix", stream])]
        return Case(os.path.getsize(stream), [("instructions of each function", one), ("instructions of each kind", mix)],
                    self.verbs("mix", stream), wrong or list)

    def check(self, app, stream, log):
        found = xtrace.executed(self.args, app, stream, "sort_numbers")
        by_log = int(output_of("grep", "-c", "^Trace .* sort_numbers$", log))
        return [] if found == by_log else ["DIFFERENT NUMBERS: sort_numbers has %d instructions, in QEMU's log %d" % (found, by_log)]


class XtraceZstd(Xtrace):
    name = "xtrace-zstd"
    about = ("The same streams compressed; sizes are of what is in them. By hand means zstd's library in a loop, which only decompresses one frame. "
             "In the frames that we write, several are decompressed at the same time.")

    def prepare(self, size):
        found = self.record(size)
        if not found:
            return None
        base = os.path.join(self.folder, "run-%d" % size)
        single, ours = base + "-single.xinsndata.bin.zst", base + "-ours.xinsndata.bin.zst"
        made(single, found[0], ["zstd", "-3", "-q", "-f", "-T1", found[0], "-o", single])
        made(ours, found[0], [self.args.traceloom, "convert", "-q", "-f", "--to", "xtrace", found[0], "-o", ours])
        hand = [("zstd's library in a loop", "hand", [self.tool("limit_zstd", "-lzstd"), single])]
        mix = self.both("report", "--by", "mix", single)
        return Case(os.path.getsize(found[0]),
                    [("instructions of each kind, one frame of zstd -3", mix + [("zstd -dc, only decompresses", "peer", ["zstd", "-dcq", single])] + hand),
                     ("the same, our frames", self.both("report", "--by", "mix", ours) + hand)],
                    self.verbs("mix", ours), list)


class Recording(Format):
    """Only its memory: rt.py measures the cost of a call."""
    name, about, FOR_ALL_SIZES = "recording", None, False

    def prepare(self, size):
        builder = rt.Builder(self.args)
        program = builder("memory", "clang-19", *builder.sleds("19"))
        if not program:
            return None
        calls = str(int(size * MB / 16 / rt.INSIDE))    # 16 bytes of the log each
        record = [self.args.traceloom, "record", "-q", "-f"]
        return Case(size * MB, [], [("record, %s" % what, record + ["-o", os.path.join(self.folder, file), "--", program, "leaf", calls, str(rt.INSIDE), "1"])
                                    for what, file in (("every call", "calls.xray"), ("a profile of as many calls", "calls.tlp"))], self.clean)

    def clean(self):
        for path in glob.glob(os.path.join(self.folder, "calls.*")):
            os.unlink(path)
        return []


FORMATS = (XrayFdr, XrayBasic, XrayProfile, Tlp, Ctf, Ctf2, TraceLog, Xtrace, XtraceZstd, Recording)
