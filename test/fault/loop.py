#!/usr/bin/env python3
"""Lets the n-th allocation, read or write fail, for n = 1, 2, ... until a run succeeds without any fault:
loop.py SHIM malloc|malloc+|read|write|short|eintr [COMMAND...]

Whatever fails, the command ends by itself with a message, and leaves no partial file behind; if it reports success, its
output is that of a run without faults."""
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

# Every n up to here, then ever larger steps: later allocations repeat earlier ones.
ALL_UP_TO = 2000

COMMANDS = {
    "info": ["info", "--json", "a.xray", "-e", "a.elf"],
    "check": ["check", "a.xray"],
    "report": ["report", "a.xray", "-e", "a.elf", "--threads", "1"],
    "tree": ["report", "--by", "tree", "--json", "a.xray", "--threads", "2"],
    "gzip": ["report", "--json", "a.xray.gz", "--threads", "1"],
    "zstd": ["report", "--json", "a.xray.zst", "--threads", "1"],
    "damaged": ["report", "--json", "damaged.xray", "--threads", "1"],
    "profile": ["report", "--json", "profile.xray"],
    "svg": ["report", "a.xray", "-e", "a.elf", "-o", "@OUT@/a.svg"],
    "pprof": ["report", "a.xray", "-o", "@OUT@/a.pb.gz"],
    "jsonl": ["convert", "a.xray", "-o", "@OUT@/a.jsonl"],
    "fdr": ["convert", "a.xray", "-o", "@OUT@/b.xray", "--to", "xray-fdr"],
    "ahead": ["convert", "large.xray", "--threads", "3", "--time", "..2us", "-o", "@OUT@/c.jsonl"],
    "recording": ["report", "recording.xray", "--threads", "1"],
    "recording-copy": ["convert", "recording.xray", "--threads", "1", "-o", "@OUT@/b.xray"],
    "ctf": ["convert", "a.xray", "-o", "@OUT@/a.ctf"],
    "ctf-2010": ["convert", "a.xray", "--format-version", "1.1", "-o", "@OUT@/a.ctf"],
    "text": ["cat", "a.xray", "-F", "render*", "-e", "a.elf"],
    "log-info": ["info", "--json", "a.log"],
    "log-check": ["check", "damaged.log"],  # there is damage: status 1
    "log-tree": ["report", "--by", "tree", "a.log"],
    "log-jit": ["report", "--by", "jit", "--json", "a.log"],
    "log-alloc": ["report", "--by", "alloc", "a.log"],
    "log-jsonl": ["convert", "a.log", "-o", "@OUT@/a.jsonl"],  # its events are not in order of time
    "log-log": ["convert", "a.log", "--to", "tracelog", "-o", "@OUT@/b.log"],
    "log-chrome": ["convert", "a.log", "-o", "@OUT@/a.trace.json"],
    "log-of-calls": ["convert", "a.xray", "--to", "tracelog", "-o", "@OUT@/c.log"],
    "log-damaged": ["convert", "damaged.log", "--to", "tracelog", "-o", "@OUT@/d.log"],
    "insn-xtrace": ["convert", "a.xinsndata.bin", "-o", "@OUT@/b.xinsndata.bin.zst"],
    "insn-set": ["convert", "a.xtrace", "-o", "@OUT@/b.xtrace"],
    "insn-champsim": ["convert", "a.xinsndata.bin", "-o", "@OUT@/b.champsim"],
    "insn-drmemtrace": ["convert", "a.xinsndata.bin", "-o", "@OUT@/b.memtrace"],
    "insn-tree": ["report", "--by", "tree", "--json", "a.xinsndata.bin", "-e", "a.elf", "--el", "0"],
    "insn-mix": ["report", "--by", "mix", "a.xinsndata.bin", "-e", "a.elf"],
    "insn-slice": ["convert", "a.xtrace", "--slice-at", "0", "-n", "100", "-o", "@OUT@/slice"],
    "insn-check": ["check", "a.xtrace"],  # with a memory image
    "log-follow": ["convert", "-", "--follow", "--to", "jsonl", "-o", "-"],
}
COMMANDS.update({"machine-" + name: command for name, command in {  # of xtrace_gen.py
    "info": ["info", "--json", "@INSN@"],
    "at": ["info", "--json", "--at", "150", "@INSN@"],  # with the snapshots beside it
    "check": ["check", "@INSN@", "@SHOT@", "damaged.xinsndata.bin"],  # there is damage: status 1
    "folder": ["info", "insns"],
    "zstd": ["report", "--json", "--by", "mix", "@INSN@.zst", "--threads", "2"],
    "block": ["report", "--by", "block", "@INSN@"],
    "branch": ["report", "--by", "branch", "--predictor", "bimodal:4,gshare:4,ras,btb:4", "@INSN@"],
    "cache": ["report", "--by", "cache", "--cache", "l1i=1K:2,l1d=1K:2,l2=4K:4", "insns", "--threads", "2"],
    "reuse": ["report", "--by", "reuse", "--json", "@INSN@"],
    "page": ["report", "--by", "page", "--interval", "50", "@INSN@"],
    "calls": ["report", "--by", "syscall", "--calls", "@INSN@"],
    "func": ["report", "--by", "func", "-e", "insn.elf", "@INSN@"],
    "xtrace": ["convert", "@INSN@", "--insns", "120..200", "-o", "@OUT@/b.xinsndata.bin"],
    "listing": ["convert", "@INSN@", "-e", "insn.elf", "-o", "@OUT@/b.lst"],
    "resync": ["convert", "damaged.xinsndata.bin", "--resync", "-o", "@OUT@/d.jsonl"],
}.items()})
DAMAGED = ("log-check", "machine-check")  # status 1 without any fault
STANDARD_INPUT = {"log-follow": "a.log"}  # through a pipe, which ends


def zstd_stored(data):
    """A .zst file of known size, of stored blocks, so that no library is needed."""
    most = 1 << 17
    blocks = [data[at : at + most] for at in range(0, len(data), most)]
    headers = [(len(block) << 3 | (i + 1 == len(blocks))).to_bytes(3, "little") for i, block in enumerate(blocks)]
    size = len(data).to_bytes(4, "little")
    return b"\x28\xb5\x2f\xfd\xa0" + size + b"".join(h + b for h, b in zip(headers, blocks))


def prepare(folder):
    import gzip
    import elf_gen
    import recording_gen
    import xray_gen
    for name, case in (("a", "fdr-v5-le"), ("damaged", "damaged-fdr-v5-le-unknown-kind"), ("profile", "profile-le")):
        with open(os.path.join(folder, name + ".xray"), "wb") as file:
            file.write(xray_gen.make(case)[0])
    with open(os.path.join(folder, "a.xray"), "rb") as file, gzip.open(os.path.join(folder, "a.xray.gz"), "wb") as packed:
        packed.write(file.read())
    with open(os.path.join(folder, "a.xray"), "rb") as file, open(os.path.join(folder, "a.xray.zst"), "wb") as packed:
        packed.write(zstd_stored(file.read()))
    xray_gen.bulk(os.path.join(folder, "large.xray"), 160_000)  # large enough for threads that decode ahead
    with open(os.path.join(folder, "a.elf"), "wb") as file:
        file.write(elf_gen.build_elf())
    for name, data in dict(recording_gen.binaries(), **{"recording.xray": recording_gen.make("rec-live", folder)[0]}).items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    recording(folder)
    prepare_insns(folder)
    logs = os.path.join(harness.SOURCE, "test", "golden", "input")
    for name, log in (("a", "tracelog-doc"), ("damaged", "tracelog-cut")):
        shutil.copyfile(os.path.join(logs, log + ".log"), os.path.join(folder, name + ".log"))


def recording(folder):
    """Streams of instructions: one that is long enough for several frames, and a folder with snapshots and an image."""
    def code(rounds):
        return b"".join(struct.pack("<BQI", 9, 0x400000, 0xf9400041) + struct.pack("<BQQ", 0x32, 0x1000, 7) +
                        struct.pack("<BI", 1, 0x91000400) * 5000 + struct.pack("<BI", 1, 0x14000000) for i in range(rounds))
    snapshot = struct.pack("<7Q", 0, 0, 0, 0, 0, 0, 0x1000) + bytes(1360) + struct.pack("<Q", 128)
    name = os.path.join(folder, "a.xtrace", "xtrace.1.2.hint9.")
    os.mkdir(os.path.dirname(name))
    for path, data in ((os.path.join(folder, "a.xinsndata.bin"), code(45)), (name + "xinsndata.bin", code(1)),
                       (name + "xsnapshot.bin", snapshot)):
        with open(path, "wb") as file:
            file.write(data)
    image = os.path.join(folder, "image.xtrace")
    harness.run("convert", os.path.dirname(name), "-o", image, which="TL_PLAIN_BINARY")
    shutil.rmtree(os.path.dirname(name))
    os.rename(image, os.path.dirname(name))


def prepare_insns(folder):
    """A pair and its compressed stream, a folder of two, and a damaged stream. The names of the pair."""
    import xtrace_gen
    pair = xtrace_gen.make("user")
    xtrace_gen.save(folder, "user")
    xtrace_gen.save(os.path.join(folder, "insns"), "timed-kernel")
    with open(os.path.join(folder, pair[0].name + ".zst"), "wb") as file:
        file.write(zstd_stored(pair[0].data))
    with open(os.path.join(folder, "damaged.xinsndata.bin"), "wb") as file:
        file.write(xtrace_gen.make("damaged-unknown-1")[0].data)
    with open(os.path.join(folder, "insn.elf"), "wb") as file:
        file.write(xtrace_gen.elf("user"))
    for command in COMMANDS.values():
        for at, word in enumerate(command):
            command[at] = word.replace("@INSN@", pair[0].name).replace("@SHOT@", pair[1].name)


class Run:
    def __init__(self, folder, shim, command, fault):
        out, report = os.path.join(folder, "out"), os.path.join(folder, "faults")
        os.makedirs(out, exist_ok=True)
        arguments = [word.replace("@OUT@", out) for word in COMMANDS[command]]
        # In any other locale the C library itself allocates, and failing there rightly only costs the nicer bars.
        # LLVM ends the program itself when it gets no memory.
        env = {"LC_ALL": "C", "TRACELOOM_LLVM": "off", "LD_PRELOAD": shim, "TL_FAULT": fault, "TL_FAULT_REPORT": report}
        stdin = None
        if command in STANDARD_INPUT:
            with open(os.path.join(folder, STANDARD_INPUT[command]), "rb") as file:
                stdin = file.read()
        result = harness.run(*arguments, cwd=folder, stdin=stdin, which="TL_PLAIN_BINARY", env=env, timeout=60)
        self.status, self.out, self.err = result.status, result.out, result.err
        self.files = {}
        for inside, folders, names in os.walk(out):
            self.files.update({os.path.join(inside, name) + "/": None for name in folders})
            for name in names:
                with open(os.path.join(inside, name), "rb") as file:
                    self.files[os.path.join(inside, name)] = file.read()
        shutil.rmtree(out)
        self.faults = None
        self.counts = []
        if os.path.exists(report):
            with open(report) as file:
                self.counts = [int(word) for word in file.read().split()]
            self.faults = self.counts[3]
            os.unlink(report)

    def __str__(self):
        return "status %s, faults %s, files %s, stderr %s" % (self.status, self.faults, sorted(self.files), self.err[-300:])


def repeats(text):
    """Does a message name its file, or anything else, twice: "a.xray: fdr: a.xray: cannot be read"?"""
    return any(len(parts) > len(set(parts)) for parts in (line.split(b": ") for line in text.splitlines()))


def judge(checks, name, run, good):
    """Exit status and output of a run with faults, compared with the run without."""
    if not checks.that(run.status in (0, 1, 2, 3, 4), name, "ends badly:", run):
        return
    if run.status == good.status and (run.status == 0 or run.err == good.err):
        checks.that(run.out == good.out, name, "says success, but its output differs:", run, run.out[-200:])
        checks.that(run.files == good.files, name, "says success, but its files differ:", run)
    else:
        checks.that(run.err.strip(), name, "fails without a message:", run)
        checks.that(not repeats(run.err), name, "says the same twice:", run)
        checks.that(run.files == {} or run.files == good.files, name, "leaves a partial file:", run)


def main():
    shim, kind = sys.argv[1:3]
    harness.binary("TL_PLAIN_BINARY")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        prepare(folder)
        for command in sys.argv[3:] or COMMANDS:
            good = Run(folder, shim, command, "count")
            checks.that(good.status in ((1,) if command in DAMAGED else (0, 3)), command, "fails without any fault:", good)
            if kind in ("short", "eintr"):
                run = Run(folder, shim, command, kind)
                checks.that(run.faults, command, "had no fault")
                checks.that((run.status, run.out, run.files) == (good.status, good.out, good.files),
                            command, "differs with", kind, run, good)
                continue
            n, fired = 1, 0
            while True:
                run = Run(folder, shim, command, "%s:%d" % (kind, n))
                judge(checks, "%s %s:%d" % (command, kind, n), run, good)
                if run.faults == 0 or n > 200000:
                    break
                fired += 1
                n += 1 if n < ALL_UP_TO else n // 12
            checks.that(fired, command, "had no fault of kind", kind)
            print("%s: %d runs with a fault" % (command, fired))
    checks.end()


if __name__ == "__main__":
    main()
