#!/usr/bin/env python3
"""Limits that are too large for a test, reached with traceloom_low, in which the environment lowers them (low_limits.h):

    limits.py LOW_COMMAND NAME | --list

Each case runs the command with the limit as it is, where nothing may be said of it, and with the lowered one, where the
command has to end with the status and say the text (or, of what is only left out, print it or not print it)."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
STREAM, FDR, ELF, LIVE = "xtrace-user", "fdr-v5-le.xray", "program.elf", "live-done.tlp.live"
# NAME: (lowered to, words of the command line, exit status, what it says or prints)
CASES = {
    "TL_BLOCKS_MAX": (2, ["report", STREAM, "--by", "block"], 3, "more than 2 different blocks"),
    "TL_BRANCHES_MAX": (2, ["report", STREAM, "--by", "branch"], 3, "more than 2 different branches"),
    "TL_BRANCH_TARGETS_MAX": (1, ["report", STREAM, "--by", "branch"], 3, "more than 1 targets"),
    "TL_PAGES_MAX": (1, ["report", STREAM, "--by", "page"], 3, "more than 1 pages"),
    "TL_REUSE_LINES_MAX": (2, ["report", STREAM, "--by", "reuse"], 3, "more than 2 lines"),
    "TL_CACHE_PCS_MAX": (1, ["report", STREAM, "--by", "cache"], 3, "more than 1 instructions"),
    "TL_SYSCALL_ROWS_MAX": (0, ["report", STREAM, "--by", "syscall"], 3, "more than 0 different system calls"),
    "TL_SYSCALL_LIST_MAX": (0, ["report", STREAM, "--by", "syscall", "--calls"], 3, "more than 0 system calls"),
    "BLOCKS_MAX": (2, ["convert", STREAM, "--to", "simpoint", "-o", "-"], 3, "more than 2 different blocks"),
    "TL_PLACES_MAX": (3, ["report", FDR], 3, r"the call tree \(3 places\)"),
    "TL_TRACKS_MAX": (2, ["report", FDR], 3, "more than 2 threads"),
    "TL_STACK_FRAMES_MAX": (3, ["report", FDR, "--by", "tree", "--json"], 2, "at most 3 are printed"),
    "TL_RECORDING_FUNCTIONS_MAX": (1, ["check", "rec-done.xray"], 1, "note.too-many: more than 1 functions"),
    "LIVE_LANES_MAX": (1, ["info", LIVE], 3, "byte [0-9]+: .*more than 1 threads"),
    "LIVE_TEXT_MAX": (4, ["check", LIVE], 1, "a text that is longer than can be"),
    "TRACKS_MOST": (1, ["convert", "xtrace-cores", "-o", "out.xtrace"], 2, "more than 1 tracks"),
    "XTRACE_CORE_PAGES": (0, ["convert", "xtrace-cores", "-o", "out.xtrace"], 2, "too many pages"),
    "XTRACE_TOUCH_PAGES": (0, ["convert", "xtrace-cores", "-o", "out.xtrace"], 0, "not written: .* of too many pages"),
    "SECTIONS_MAX": (2, ["report", FDR, "-e", ELF], 3, "more than the limit of 2"),
    "SECTION_BYTES_MAX": (20, ["report", FDR, "-e", ELF], 3, "more than the limit of 20"),
    "CTF_EVENT_SLOTS_MAX": (1000, ["convert", "long-event", "--to", "jsonl", "-o", "out.jsonl"], 3, "more than 1000 values"),
    "EVENT_MOST": (300000, ["check", "long-event"], 1, "ctf"),
    "DECOMPRESSED_MAX": (16, ["check", "packed"], 1, "ctf"),
}


class Low:
    def __init__(self, command, work):
        self.command, self.work, self.checks = command, work, harness.Checks()

    def run(self, words, limit=""):
        for name in os.listdir(self.work):
            if name.startswith("out."):
                path = os.path.join(self.work, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        done = subprocess.run([self.command] + words, cwd=self.work, capture_output=True, text=True, errors="replace", timeout=120,
                              env=dict(os.environ, TL_LOW=limit, TRACELOOM_NO_CACHE="1"))
        return done.returncode, done.stdout, done.stderr

    def case(self, name, value, words, status, text):
        real, low = self.run(words), self.run(words, "%s=%d" % (name, value))
        self.checks.that(not re.search(text, real[1] + real[2]), name, "says so without being lowered:", real)
        self.checks.equal(low[0], status, name, "exit status of", words, low[2][-1500:])
        self.checks.that(re.search(text, low[1] + low[2]), name, "does not say", text, "but", (low[1] + low[2])[-1500:])

    def names(self, limit=""):
        """Functions that have a name, and those that have a file."""
        status, out, err = self.run(["report", "--json", FDR, "-e", ELF], limit)
        self.checks.equal(status, 0, "report", err)
        functions = json.loads(out)["functions"]
        return sum(not re.fullmatch(r"#?\d+|", f["name"] or "") for f in functions), sum(bool(f["file"]) for f in functions)


def depth(low):
    """Calls beyond the limit are not counted, and their exits are passed over. A stack has room for 64 from the begin."""
    n, most = 200, 64
    with open(os.path.join(low.work, "deep.xray"), "wb") as file:
        file.write(struct.pack("<HHIQ16x", 1, 0, 3, 1000000000))
        for i in range(2 * n):
            file.write(struct.pack("<HBBiQI12x", 0, 0, i >= n, i + 1 if i < n else 2 * n - i, 1000 + i, 1))
    for limit, wanted in (("", n), ("TL_STACK_DEPTH_MAX=%d" % most, most)):
        status, out, err = low.run(["report", "--json", "deep.xray"], limit)
        low.checks.equal(status, 0, "report", err)
        low.checks.equal(sum(f["calls"] for f in json.loads(out)["functions"]), wanted, "calls", limit)


def names(low):
    """Beyond the limit functions stay without a name."""
    with_all, with_few = low.names()[0], low.names("NAMES_BYTES_MAX=20")[0]
    low.checks.that(with_few < with_all, "functions with a name:", with_few, "of", with_all)


def batches(low):
    """Only parts become smaller: the answer is the same."""
    log = os.path.join(low.work, "out.xinsndata.bin.zst")
    words = ["report", "--json", "--by", "mix", "--threads", "4", log]
    source = next(name for name in sorted(os.listdir(os.path.join(INPUT, STREAM))) if name.endswith("xinsndata.bin"))
    with open(log, "wb") as out:
        subprocess.run(["zstd", "-q", "-c", os.path.join(INPUT, STREAM, source)], stdout=out, check=True)
    kept = os.path.join(low.work, "kept.xinsndata.bin.zst")
    os.rename(log, kept)
    words[-1] = kept
    low.checks.equal(low.run(words, "BATCHES_MOST=1")[:2], low.run(words)[:2], "the answer")


def forgotten(low):
    """A load that contradicts what was stored is found as long as what was stored is known."""
    found, lost = low.run(["check", "xtrace-damaged-load"]), low.run(["check", "xtrace-damaged-load"], "PAGES_MOST=0")
    low.checks.equal(found[0], 1, "status of the check")
    low.checks.that(lost[1].count("xtrace.") < found[1].count("xtrace."), "problems:", found[1], lost[1])


def lines(low):
    """Debug information of a binary of which one step is looked at."""
    clang = shutil.which("clang-19") or shutil.which("clang") or harness.skip("no clang, which makes binaries with sleds")
    source = os.path.join(low.work, "app.c")
    with open(source, "w", encoding="ascii") as file:
        file.write("int twice(int x) { return x + x; }\nint main(void) { return twice(0); }\n")
    done = subprocess.run([clang, "-g", "-fxray-instrument", "-fxray-instruction-threshold=1", "-o", os.path.join(low.work, ELF), source],
                          capture_output=True, text=True)
    if done.returncode != 0:
        harness.skip("clang makes no binary with sleds: " + done.stderr[-300:])
    low.checks.that(low.names()[1] > 0, "no function has a file")
    low.checks.equal(low.names("STEPS_MAX=1")[1], 0, "functions that have a file")


SPECIAL = {"TL_STACK_DEPTH_MAX": depth, "NAMES_BYTES_MAX": names, "BATCHES_MOST": batches, "PAGES_MOST": forgotten, "STEPS_MAX": lines}

METADATA = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 8; align = 8; signed = false; } := u8;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
event { name = "long"; fields := struct { u32 n; u8 bytes[n]; }; };
"""


def make_inputs(work):
    for name in os.listdir(INPUT):
        source, target = os.path.join(INPUT, name), os.path.join(work, name)
        shutil.copytree(source, target) if os.path.isdir(source) else shutil.copy(source, target)
    os.mkdir(os.path.join(work, "long-event"))
    with open(os.path.join(work, "long-event", "metadata"), "w", encoding="ascii") as file:
        file.write(METADATA)
    n = 400000                                                      # larger than the window that events are read through
    with open(os.path.join(work, "long-event", "stream"), "wb") as file:
        file.write((0xC1FC1FC1).to_bytes(4, "little") + n.to_bytes(4, "little") + bytes(n))
    generator = os.path.join(harness.SOURCE, "test", "generate", "ctf_gen.py")
    subprocess.run([sys.executable, "-B", generator, "--one", "ctf2010-gzip", os.path.join(work, "packed")], check=True)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(sorted({**CASES, **SPECIAL})))
        return
    name = sys.argv[2]
    with harness.work_folder() as work:
        make_inputs(work)
        low = Low(os.path.abspath(sys.argv[1]), work)
        if name in CASES:
            low.case(name, *CASES[name])
        else:
            SPECIAL[name](low)
    low.checks.end()


if __name__ == "__main__":
    main()
