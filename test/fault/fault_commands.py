"""The commands of the fault tests: every verb, table, input format and output format, on small inputs of our own
generators; also makes these inputs."""
import bz2
import gzip
import os
import shutil
import struct

import harness

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
# Small inputs, each under a short name.
COPIES = {"b.xray": "basic-v3-le.xray", "lost.xray": "fdr-v5-le-messy.xray", "old.xray": "fdr-v1-be.xray", "t18": "ctf-18", "t2": "ctf-2",
          "t2010": "ctf-2010", "tdamaged": "ctf-2-damaged", "live.tlp": "live-killed.tlp.live", "a.log": "tracelog-doc.log",
          "damaged.log": "tracelog-cut.log", "vs.log": "tracelog-vs.log", "calls.log": "tracelog-calls.log", "cores": "xtrace-cores", "saved.log": "tracelog-saved.log"}

COMMANDS = {
    "info": ["info", "--json", "a.xray", "-e", "a.elf"],
    "info-text": ["info", "a.xray", "t2", "live.tlp", "profile.xray"],
    "info-basic": ["info", "b.xray"],
    "info-csv": ["info", "--to", "csv", "a.xray", "t2", "profile.xray"],
    "report-track": ["report", "--by", "track", "t2"],
    "report-property": ["report", "--json", "--by", "property", "t2", "profile.xray"],
    "check": ["check", "a.xray"],
    "check-many": ["check", "--json", "lost.xray", "b.xray", "t18", "t2", "t2010", "live.tlp", "profile.xray", "vs.log"],
    "report": ["report", "a.xray", "-e", "a.elf", "--threads", "1"],
    "tree": ["report", "--by", "tree", "--json", "a.xray", "--threads", "2"],
    "callers": ["report", "--by", "callers", "-F", "#1", "a.xray"],
    "line": ["report", "--by", "line", "saved.log"],
    "hist": ["report", "--by", "hist", "a.xray"],
    "thread": ["report", "--by", "thread", "a.xray", "lost.xray"],
    "module": ["report", "--by", "module", "a.xray"],
    "diff": ["report", "--diff", "a.xray", "lost.xray", "--min-share", "0", "--threads", "1"],
    "diff-gates": ["diff", "[a]*.xray", "b.xray", "--one-run", "--fail-if", "calls(*) > 1000000 or p50(path:*) > 1h", "-o", "@OUT@/a.xml"],
    "diff-markdown": ["diff", "a.xray", "a.xray", "--by", "tree", "--to", "markdown", "--threads", "1"],
    "gzip": ["report", "--json", "a.xray.gz", "--threads", "1"],
    "zstd": ["report", "--json", "a.xray.zst", "--threads", "1"],
    "bzip2": ["report", "--json", "a.xray.bz2", "--threads", "1"],
    "damaged": ["report", "--json", "damaged.xray", "--threads", "1"],
    "profile": ["report", "--json", "profile.xray"],
    "fleet": ["report", "fleet", "--clock", "ns", "--by", "name", "--strict", "--threads", "1", "-o", "@OUT@/a.tlp"],
    "live-profile": ["report", "live.tlp", "-o", "@OUT@/a.tlp"],
    "svg": ["report", "a.xray", "-e", "a.elf", "-o", "@OUT@/a.svg"],
    "page": ["report", "a.xray", "-e", "a.elf", "-o", "@OUT@/a.html"],
    "page-samples": ["report", "vs.log", "damaged.log", "--per-thread", "-o", "@OUT@/a.html.gz"],
    "page-events": ["report", "t2", "--to", "html"],
    "page-code": ["report", "@INSN@", "--to", "html", "--by", "cache", "--threads", "2"],
    "page-damaged": ["report", "damaged.xray", "--to", "html", "--threads", "1"],
    "json-file": ["report", "a.xray", "--by", "func", "--json", "-o", "@OUT@/a.json"],
    "pprof": ["report", "a.xray", "-o", "@OUT@/a.pb.gz"],
    "tlp": ["report", "a.xray", "-o", "@OUT@/a.tlp"],
    "folded": ["report", "a.xray", "-o", "@OUT@/a.folded.gz"],
    "callgrind": ["report", "a.xray", "-o", "@OUT@/a.callgrind"],
    "dot": ["convert", "profile.xray", "-o", "@OUT@/a.dot"],
    "xrayprof": ["report", "a.xray", "-o", "@OUT@/a.xrayprof"],
    "speedscope-profile": ["report", "a.xray", "-o", "@OUT@/a.speedscope.json"],
    "jsonl": ["convert", "a.xray", "-o", "@OUT@/a.jsonl"],
    "jsonl-stdout": ["convert", "a.xray", "--to", "jsonl"],
    "csv": ["convert", "a.xray", "b.xray", "-o", "@OUT@/a.csv.zst"],
    "parquet": ["convert", "a.xray", "b.xray", "-o", "@OUT@/a.parquet"],
    "parquet-stdout": ["convert", "a.xray", "-e", "a.elf", "--to", "parquet", "--time", "1us.."],
    "perfetto": ["convert", "t2", "-o", "@OUT@/a.pftrace"],
    "speedscope": ["convert", "a.xray", "-o", "@OUT@/a.speedscope.json"],
    "babeltrace": ["convert", "t18", "--to", "babeltrace"],
    "basic": ["convert", "a.xray", "-o", "@OUT@/b.basic"],
    "none": ["convert", "t2", "--to", "none", "-o", "@OUT@/none"],
    "split": ["convert", "a.xray", "-o", "@OUT@/a.jsonl", "--split", "track"],
    "replaced": ["convert", "-f", "a.xray", "--to", "jsonl", "-o", "@OUT@/there"],
    "fdr": ["convert", "a.xray", "-o", "@OUT@/b.xray", "--to", "xray-fdr"],
    "ahead": ["convert", "large.xray", "--threads", "3", "--time", "..2us", "-o", "@OUT@/c.jsonl"],
    "recording": ["report", "recording.xray", "--threads", "1"],
    "patched": ["report", "patched.xray", "-e", "program.elf", "--threads", "1"],
    "places": ["report", "places.tlp", "-e", "program.elf"],
    "recording-copy": ["convert", "recording.xray", "--threads", "1", "-o", "@OUT@/b.xray"],
    "ctf": ["convert", "a.xray", "-o", "@OUT@/a.ctf"],
    "ctf-2010": ["convert", "a.xray", "--format-version", "1.1", "-o", "@OUT@/a.ctf"],
    "ctf-sealed": ["convert", "a.xray", "--format-version", "1.1", "--compress", "gzip", "--checksum", "md5", "-o", "@OUT@/a.ctf"],
    "ctf-18": ["convert", "t18", "-o", "@OUT@/a.ctf"],
    "ctf-replaced": ["convert", "-f", "t2", "-o", "@OUT@/there.ctf"],
    "ctf-report": ["report", "t2010"],
    "ctf-damaged": ["cat", "tdamaged"],
    "text": ["cat", "a.xray", "-F", "render*", "-e", "a.elf"],
    "log-info": ["info", "--json", "a.log"],
    "log-check": ["check", "damaged.log"],
    "log-tree": ["report", "--by", "tree", "a.log"],
    "log-gc": ["report", "--by", "gc", "vs.log"],
    "log-jit": ["report", "--by", "jit", "--json", "a.log"],
    "log-alloc": ["report", "--by", "alloc", "a.log"],
    "log-heap": ["report", "--by", "heap", "a.log"],
    "log-cpu": ["report", "--by", "cpu", "a.log"],
    "log-jsonl": ["convert", "a.log", "-o", "@OUT@/a.jsonl"],  # its events are unsorted
    "log-log": ["convert", "a.log", "--to", "tracelog", "-o", "@OUT@/b.log"],
    "log-chrome": ["convert", "a.log", "-o", "@OUT@/a.trace.json"],
    "log-of-calls": ["convert", "a.xray", "--to", "tracelog", "-o", "@OUT@/c.log"],
    "log-damaged": ["convert", "damaged.log", "--to", "tracelog", "-o", "@OUT@/d.log"],
    "log-follow": ["convert", "-", "--follow", "--to", "jsonl", "-o", "-"],
    "insn-xtrace": ["convert", "a.xinsndata.bin", "-o", "@OUT@/b.xinsndata.bin.zst"],
    "insn-set": ["convert", "a.xtrace", "-o", "@OUT@/b.xtrace"],
    "insn-champsim": ["convert", "a.xinsndata.bin", "-o", "@OUT@/b.champsim"],
    "insn-drmemtrace": ["convert", "a.xinsndata.bin", "-o", "@OUT@/b.memtrace"],
    "insn-simpoint": ["convert", "@INSN@", "--interval", "50", "-o", "@OUT@/b.bb"],
    "insn-tree": ["report", "--by", "tree", "--json", "a.xinsndata.bin", "-e", "a.elf", "--el", "0"],
    "insn-mix": ["report", "--by", "mix", "a.xinsndata.bin", "-e", "a.elf"],
    "insn-slice": ["convert", "a.xtrace", "--slice-at", "0", "-n", "100", "-o", "@OUT@/slice"],
    "insn-slice-time": ["convert", "cores", "--slice-at", "+300", "-o", "@OUT@/slice"],
    "insn-check": ["check", "a.xtrace"],  # with a memory image
    "machine-info": ["info", "--json", "@INSN@"],
    "machine-at": ["info", "--json", "--at", "150", "@INSN@"],  # with the snapshots beside it
    "machine-check": ["check", "@INSN@", "@SHOT@", "damaged.xinsndata.bin"],
    "machine-folder": ["info", "insns"],
    "machine-zstd": ["report", "--json", "--by", "mix", "@INSN@.zst", "--threads", "2"],
    "machine-block": ["report", "--by", "block", "@INSN@"],
    "machine-branch": ["report", "--by", "branch", "--predictor", "bimodal:4,gshare:4,ras,btb:4", "@INSN@"],
    "machine-cache": ["report", "--by", "cache", "--cache", "l1i=1K:2,l1d=1K:2,l2=4K:4", "insns", "--threads", "2"],
    "machine-reuse": ["report", "--by", "reuse", "--json", "@INSN@"],
    "machine-page": ["report", "--by", "page", "--interval", "50", "@INSN@"],
    "machine-calls": ["report", "--by", "syscall", "--calls", "@INSN@"],
    "machine-func": ["report", "--by", "func", "-e", "insn.elf", "@INSN@"],
    "machine-xtrace": ["convert", "@INSN@", "--insns", "120..200", "-o", "@OUT@/b.xinsndata.bin"],
    "machine-listing": ["convert", "@INSN@", "-e", "insn.elf", "-o", "@OUT@/b.lst"],
    "machine-values": ["convert", "@INSN@", "--to", "listing-values"],
    "machine-resync": ["convert", "damaged.xinsndata.bin", "--resync", "-o", "@OUT@/d.jsonl"],
    "query": ["query", "a.xray", "-e", "a.elf", "SELECT name, count(*), percentile(ts, 90) FROM events WHERE ts > 5 GROUP BY name"],
    "query-json": ["query", "--to", "json", "a.xray", "SELECT ts, fields FROM events WHERE function_id IN (1, 2) ORDER BY ts; SELECT * FROM function_stats"],
    "query-class": ["query", "--to", "jsonl", "t2", "SELECT * FROM event_prov0_event3 WHERE thread GLOB '0*' AND f8 REGEXP '^[0-9]'"],
    "query-join": ["query", "--to", "csv", "a.log", "t18", "SELECT a.name, b.ts FROM events AS a JOIN events AS b ON a.class_id = b.class_id WHERE a.trace = 2", "-o", "@OUT@/j.csv"],
    "query-sums": ["query", "a.xray", "-e", "a.elf", "SELECT s.path, e.events, b.calls FROM call_stats('place thread', 1000000) AS s JOIN event_counts('thread', 1000000) AS e USING (track_id, ts), hist_buckets(s.hist, 1) AS b WHERE stack_contains(s.trace, s.place_id, 'm*')"],
    "query-hist": ["query", "a.xray", "SELECT hist_percentile(hist_merge(hist), 99.99), hist_count(hist_diff(hist_merge(hist), max(hist))), demangle(stack_text(1, 1, '.')), disassemble(5, 5) FROM places"],
    "query-spans": ["query", "vs.log", "SELECT s.name, s.fields, s.end_fields, c.name, c.value FROM slices AS x JOIN spans AS s USING (id) JOIN counters AS c ON c.track_id = s.track_id"],
    "query-samples": ["query", "vs.log", "SELECT s.path, a.type_name, s.line FROM samples AS s JOIN allocations AS a USING (trace, track_id); SELECT * FROM compilations, cpu_usage LIMIT 9"],
    "query-told": ["query", "calls.log", "SELECT id, parent_id, path, place_id FROM calls; SELECT name, path, calls FROM call_stats('function place', 1000000); SELECT name, path FROM allocations"],
    "query-syscalls": ["query", "@INSN@", "SELECT * FROM syscalls; SELECT pc, address FROM accesses WHERE ts > 9"],
    "query-machine": ["query", "@INSN@", "SELECT * FROM snapshots; SELECT name FROM cache_levels('l1d=1K:1:64'); SELECT * FROM reuse(16, 2), page_intervals(10) LIMIT 9; SELECT class, value FROM instructions, accesses LIMIT 9; SELECT s.name FROM places AS p, stack(p.trace, p.place_id) AS s"],
    "query-fields": ["query", "t18", "a.xray", "SELECT name, column_name FROM fields; SELECT field, label FROM enum_labels; SELECT * FROM losses JOIN tracks USING (trace); SELECT utc_ns('2026-01-31')"],
    "query-parts": ["query", "a.xray", "-e", "a.elf", "--export", "@OUT@/parts", "--rows-per-file", "30", "events", "classes"],
    "query-parquet": ["query", "a.xray", "-e", "a.elf", "SELECT ts, ts % 3 AS few, name, utc, kind = 'enter' AS x, fields, 1.5 * ts AS real FROM events", "-o", "@OUT@/e.parquet"],
    "query-arrow": ["query", "a.xray", "-e", "a.elf", "SELECT ts, name, is_outermost, x'61' AS blob FROM calls", "-o", "@OUT@/c.arrows"],
    "query-export": ["query", "a.xray", "calls", "tracks", "--export", "@OUT@/tables"],
    "query-database": ["query", "a.xray", "calls", "tracks", "--export", "@OUT@/t.db"],
    "query-schema": ["query", "t18", "vs.log", "--schema"],
    "help": ["help", "formats"],
    "help-verb": ["report", "--help"],
    "man": ["help", "--man", "convert"],
    "completion": ["help", "--completion", "bash"],
    "version": ["--version"],
    "ctl": ["ctl", "4194305", "stop"],  # too large for a process
    "record": ["record", "--any", "-o", "@OUT@/r.tlp", "/bin/true"],  # nothing is recorded
    "record-nothing": ["record", "-o", "@OUT@/r.tlp", "./not-there"],
}
# Exit statuses without any fault, other than 0 and 3 (damaged input).
STATUS = {"log-check": 1, "machine-check": 1, "record": 125, "record-nothing": 127}
# Through a pipe, which ends.
STANDARD_INPUT = {"log-follow": "a.log"}
# In the folder of outputs before a run: a file, or a folder that may be replaced.
BEFORE = {"replaced": "there", "ctf-replaced": "there.ctf"}


def zstd_stored(data):
    """A .zst file of known size, made of stored blocks, which needs no library."""
    most = 1 << 17
    blocks = [data[at : at + most] for at in range(0, len(data), most)]
    headers = [(len(block) << 3 | (i + 1 == len(blocks))).to_bytes(3, "little") for i, block in enumerate(blocks)]
    size = len(data).to_bytes(4, "little")
    return b"\x28\xb5\x2f\xfd\xa0" + size + b"".join(h + b for h, b in zip(headers, blocks))


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def prepare(folder):
    """All inputs, in that folder."""
    import elf_gen
    import recording_gen
    import xray_gen
    for name, origin in COPIES.items():
        origin = os.path.join(INPUT, origin)
        (shutil.copytree if os.path.isdir(origin) else shutil.copyfile)(origin, os.path.join(folder, name))
    for name, case in (("a", "fdr-v5-le"), ("damaged", "damaged-fdr-v5-le-unknown-kind"), ("profile", "profile-le")):
        write(folder, name + ".xray", xray_gen.make(case)[0])
    with open(os.path.join(folder, "a.xray"), "rb") as file:
        log = file.read()
    for suffix, pack in ((".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstd_stored)):
        write(folder, "a.xray" + suffix, pack(log))
    xray_gen.bulk(os.path.join(folder, "large.xray"), 160_000)  # large enough for threads that decode ahead
    write(folder, "a.elf", elf_gen.build_elf())
    for name, data in dict(recording_gen.binaries(), **{"recording.xray": recording_gen.make("rec-live", folder)[0],
                                                        "patched.xray": recording_gen.make("rec-patched", folder)[0]}).items():
        write(folder, name, data)
    harness.run("report", "-q", os.path.join(folder, "live.tlp"), "-o", os.path.join(folder, "places.tlp"), which="TL_PLAIN_BINARY")
    prepare_fleet(folder)
    prepare_stream(folder)
    prepare_machine(folder)


def prepare_fleet(folder):
    """A folder of profiles: one in a folder of its own, one without a suffix, and a file that holds none."""
    os.makedirs(os.path.join(folder, "fleet", "b"))
    for name in ("b/a.tlp", "c.tlp"):
        harness.run("report", "-q", os.path.join(folder, "a.xray"), "-o", os.path.join(folder, "fleet", name), which="TL_PLAIN_BINARY")
    shutil.copyfile(os.path.join(folder, "fleet", "c.tlp"), os.path.join(folder, "fleet", "d"))
    shutil.copyfile(os.path.join(folder, "a.xray"), os.path.join(folder, "fleet", "e"))


def prepare_stream(folder):
    """Streams of instructions: one with several frames, and a folder with snapshots and an image."""
    def code(rounds):
        return b"".join(struct.pack("<BQI", 9, 0x400000, 0xf9400041) + struct.pack("<BQQ", 0x32, 0x1000, 7) +
                        struct.pack("<BI", 1, 0x91000400) * 5000 + struct.pack("<BI", 1, 0x14000000) for i in range(rounds))
    snapshot = struct.pack("<7Q", 0, 0, 0, 0, 0, 0, 0x1000) + bytes(1360) + struct.pack("<Q", 128)
    name = os.path.join("a.xtrace", "xtrace.1.2.hint9.")
    os.mkdir(os.path.join(folder, "a.xtrace"))
    for path, data in (("a.xinsndata.bin", code(45)), (name + "xinsndata.bin", code(1)), (name + "xsnapshot.bin", snapshot)):
        write(folder, path, data)
    image = os.path.join(folder, "image.xtrace")
    harness.run("convert", os.path.join(folder, "a.xtrace"), "-o", image, which="TL_PLAIN_BINARY")
    shutil.rmtree(os.path.join(folder, "a.xtrace"))
    os.rename(image, os.path.join(folder, "a.xtrace"))


def prepare_machine(folder):
    """A pair of xtrace_gen.py and its compressed stream, a folder of two, and a damaged stream. Names the pair in COMMANDS."""
    import xtrace_gen
    pair = xtrace_gen.make("user")
    xtrace_gen.save(folder, "user")
    xtrace_gen.save(os.path.join(folder, "insns"), "timed-kernel")
    write(folder, pair[0].name + ".zst", zstd_stored(pair[0].data))
    write(folder, "damaged.xinsndata.bin", xtrace_gen.make("damaged-unknown-1")[0].data)
    write(folder, "insn.elf", xtrace_gen.elf("user"))
    for command in COMMANDS.values():
        for at, word in enumerate(command):
            command[at] = word.replace("@INSN@", pair[0].name).replace("@SHOT@", pair[1].name)


def put_before(folder, out, command):
    """The file or folder that the output replaces."""
    name = BEFORE.get(command)
    if name and name.endswith(".ctf"):
        shutil.copytree(os.path.join(folder, "t18"), os.path.join(out, name))
    elif name:
        write(out, name, b"before\n")
