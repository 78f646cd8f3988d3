#!/usr/bin/env python3
"""Limits too large for a test, reached with traceloom_low, in which the environment lowers them (low_limits.h):

    limits.py LOW_COMMAND NAME | --list

Each case runs the command with the real limit, where no message may mention it, and with the lowered one, where the
command must end with the status and the message (or, if parts are only left out, print the text or not)."""
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
STREAM, FDR, ELF, LIVE, LOG = "xtrace-user", "fdr-v5-le.xray", "program.elf", "live-done.tlp.live", "tracelog-doc.log"
MANY_STACKS = "not written: [0-9]+ samples with one of too many different stacks"
# NAME: (lowered to, words of the command line, exit status, message or output)
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
    "LIVE_TEXT_MAX": (4, ["check", LIVE], 1, "a text that is too long"),
    "TRACKS_MOST": (1, ["convert", "xtrace-cores", "-o", "out.xtrace"], 2, "more than 1 tracks"),
    "XTRACE_CORE_PAGES": (0, ["convert", "xtrace-cores", "-o", "out.xtrace"], 2, "too many pages"),
    "XTRACE_TOUCH_PAGES": (0, ["convert", "xtrace-cores", "-o", "out.xtrace"], 0, "not written: .* of too many pages"),
    "SECTIONS_MAX": (2, ["report", FDR, "-e", ELF], 3, "more than the limit of 2"),
    "SECTION_BYTES_MAX": (20, ["report", FDR, "-e", ELF], 3, "more than the limit of 20"),
    "CTF_EVENT_SLOTS_MAX": (1000, ["convert", "long-event", "--to", "jsonl", "-o", "out.jsonl"], 3, "more than 1000 values"),
    "EVENT_MOST": (300000, ["check", "long-event"], 1, "ctf"),
    "TSDL_ITEMS_MAX": (10, ["check", "ctf-18"], 1, "the metadata declares more than 10 things"),
    "TSDL_STEPS_MAX": (1, ["check", "ctf-18"], 1, "too intricate: more than 1 steps"),
    "SEARCH_MAX": (1, ["check", "ctf-18"], 1, "too intricate: more than 1 steps to lengths"),
    "CHOICES_MAX": (1, ["check", "ctf-2"], 1, "too intricate: more than 1 choices of options"),
    "TL_STACK_NODES_MAX": (2, ["convert", LOG, "--to", "speedscope", "-o", "-"], 0, MANY_STACKS),
    "TL_STACK_NAME_BYTES_MAX": (1, ["convert", LOG, "--to", "perfetto", "-o", "-"], 0, MANY_STACKS),
    "CHROME_TOLD_MAX": (1, ["convert", LOG, "--to", "chrome", "-o", "-"], 0, MANY_STACKS),
    "ZEROS_MAX": (0, ["convert", "empty-packet", "--to", "ctf", "-o", "out"], 2, "a context that cannot be made up"),
    "IMAGE_PAGES_MOST": (0, ["convert", "xtrace-cores", "-o", "out.xtrace"], 0, "not written: .* of too many pages"),
    "CALLS_MAX": (1, ["report", STREAM], 0, "unmatched: .* [1-9][0-9]* entr"),
    "TL_SPLIT_OPEN_MAX": (1, ["convert", FDR, "--split", "track", "--to", "jsonl", "-o", "out.jsonl"], 2, "more than 1 tracks"),
    "TL_SPLIT_PARTS_MAX": (1, ["convert", FDR, "--split", "track", "--to", "jsonl", "-o", "out.jsonl"], 2, "more than 1 parts"),
    "FUNCTIONS_MAX": (1, ["report", "calls"], 0, "only the first 1 functions are named"),
    "MODULES_MAX": (1, ["report", "calls"], 0, "only functions of the first 1 binaries are named"),
    "TL_NAMED_BYTES_MAX": (20, ["report", "calls"], 0, "functions of 2 binaries stay unnamed"),
    "DECOMPRESSED_MAX": (16, ["check", "packed"], 1, "ctf"),
}


class Low:
    def __init__(self, command, work):
        self.command, self.work, self.checks = command, work, harness.Checks()

    def run(self, words, limit=""):
        for name in os.listdir(self.work):
            if name.startswith("out"):
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
        """Functions with a name, and those with a file."""
        status, out, err = self.run(["report", "--json", FDR, "-e", ELF], limit)
        self.checks.equal(status, 0, "report", err)
        functions = json.loads(out)["functions"]
        return sum(not re.fullmatch(r"#?\d+|", f["name"] or "") for f in functions), sum(bool(f["file"]) for f in functions)


def depth(low):
    """Calls beyond the limit are not counted, and their exits are ignored. A stack starts with room for 64."""
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
    """Functions beyond the limit stay without a name."""
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
    """A load that contradicts a store is found as long as the store is remembered."""
    found, lost = low.run(["check", "xtrace-damaged-load"]), low.run(["check", "xtrace-damaged-load"], "PAGES_MOST=0")
    low.checks.equal(found[0], 1, "status of the check")
    low.checks.that(lost[1].count("xtrace.") < found[1].count("xtrace."), "problems:", found[1], lost[1])


def build(low, name, text):
    """Makes a binary with sleds and debug information for the functions of the log."""
    clang = shutil.which("clang-19") or shutil.which("clang") or harness.skip("no clang, which makes binaries with sleds")
    source = os.path.join(low.work, name)
    with open(source, "w", encoding="ascii") as file:
        file.write(text)
    done = subprocess.run([clang, "-g", "-fxray-instrument", "-fxray-instruction-threshold=1", "-o", os.path.join(low.work, ELF), source],
                          capture_output=True, text=True)
    if done.returncode != 0:
        harness.skip("clang makes no binary with sleds: " + done.stderr[-300:])


def lines(low):
    """Debug information of a binary, limited to one step."""
    build(low, "app.c", "int twice(int x) { return x + x; }\nint main(void) { return twice(0); }\n")
    low.checks.that(low.names()[1] > 0, "no function has a file")
    low.checks.equal(low.names("STEPS_MAX=1")[1], 0, "functions that have a file")


def namespaces(low):
    """A function in more namespaces than are searched: it still has its file."""
    found = []
    for n in (1, 100):
        build(low, "app.cpp", "namespace a { " * n + "int twice(int x) { return x + x; } " + "}" * n + "\nint main() { return "
              + "a::" * n + "twice(0); }\n")
        found.append(low.names()[1])
    low.checks.that(found[0] > 1, "functions that have a file:", found[0])
    low.checks.equal(found[1], found[0], "functions that have a file")


def interned(low):
    """Names are forgotten and sent again: the events stay the same."""
    sys.path.insert(0, os.path.join(harness.SOURCE, "test", "matrix"))
    from matrix_outputs import proto

    def events(limit):
        out = os.path.join(low.work, "out.pftrace")
        status, _, err = low.run(["convert", FDR, "--to", "perfetto", "-o", out], limit)
        low.checks.equal(status, 0, "convert", err)
        with open(out, "rb") as file:
            packets = proto(file.read())[1]
        found, names, told = [], {}, 0
        for packet in map(proto, packets):
            sequence = packet[10][0] if packet[10] else 0
            if packet[13] and packet[13][0] & 1:                    # the state of the sequence is cleared
                names = {key: name for key, name in names.items() if key[0] != sequence}
            for data in map(proto, packet[12]):
                for name in map(proto, data[2]):
                    names[sequence, name[1][0]] = name[2][0]
                    told += 1
            for event in map(proto, packet[11]):
                found.append((packet[8], event[9], names[sequence, event[10][0]] if event[10] else event[23]))
        return found, told
    (all_events, told), (same, again) = events(""), events("INTERNED_MAX=1")
    low.checks.that(len(all_events) > 10, "events:", len(all_events))
    low.checks.equal(same, all_events, "events")
    low.checks.that(again > told, "names that are told:", again, "instead of", told)


SPECIAL = {"INTERNED_MAX": interned, "TL_STACK_DEPTH_MAX": depth, "NAMES_BYTES_MAX": names, "BATCHES_MOST": batches, "PAGES_MOST": forgotten, "STEPS_MAX": lines,
           "DEPTH_MAX": namespaces}

METADATA = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 8; align = 8; signed = false; } := u8;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
event { name = "long"; fields := struct { u32 n; u8 bytes[n]; }; };
"""
CALLS = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; };
stream { event.header := struct { u8 id; }; };
event { name = "lttng_ust_statedump:bin_info"; id = 0; fields := struct { u64 baddr; u64 memsz; string path; u8 is_pic; }; };
event { name = "lttng_ust_cyg_profile:func_entry"; id = 1; fields := struct { u64 addr; }; };
event { name = "lttng_ust_cyg_profile:func_exit"; id = 2; fields := struct { u64 addr; }; };
"""
CONTEXT = METADATA + "stream { packet.context := struct { u32 content_size; u32 packet_size; u32 more; }; };\n"


def make_folder(work, name, metadata, stream):
    os.mkdir(os.path.join(work, name))
    for file, content in ("metadata", metadata.encode()), ("stream", stream):
        with open(os.path.join(work, name, file), "wb") as out:
            out.write(content)


def make_inputs(work):
    for name in os.listdir(INPUT):
        source, target = os.path.join(INPUT, name), os.path.join(work, name)
        shutil.copytree(source, target) if os.path.isdir(source) else shutil.copy(source, target)
    n = 400000                                                      # larger than the window that events are read through
    make_folder(work, "long-event", METADATA, struct.pack("<II", 0xC1FC1FC1, n) + bytes(n))
    make_folder(work, "empty-packet", CONTEXT, struct.pack("<4I", 0xC1FC1FC1, 128, 128, 7))
    events = b""
    for i in (1, 2):                                                # two binaries, with a function each
        binary = os.path.join(work, "binary-%d" % i)
        shutil.copy(os.path.join(INPUT, ELF), binary)
        events += struct.pack("<BQQ", 0, i << 32, 1 << 30) + binary.encode() + b"\0\1"
        events += struct.pack("<BQBQ", 1, (i << 32) + 0x1000, 2, (i << 32) + 0x1000)
    make_folder(work, "calls", CALLS, events)
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
