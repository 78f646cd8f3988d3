#!/usr/bin/env python3
"""Written instruction streams: xtrace_roundtrip.py exact|set|slice|champsim|drmemtrace|zstd

exact: canonical streams come back byte by byte, all others event by event. set: folders, whose snapshots and memory
images agree with the stream. slice: parts that begin with a snapshot. champsim, drmemtrace: files for simulators, the
second read by a reader of its own. zstd: frames and their index."""
import glob
import json
import os
import struct
import subprocess
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import memtrace_reader

# Recorders that write pcs at other places than we do.
NOT_CANONICAL = ("pc-at-jumps-only", "pc-everywhere", "recorded")


def recordings(word="xinsndata"):
    """(name of the case, path) of every file with events and without damage."""
    found = []
    for path in sorted(glob.glob(harness.shared("corpus", "xtrace", "*", "**", "*.%s.bin" % word), recursive=True)):
        case = os.path.basename(os.path.dirname(path))
        if not case.startswith("damaged") and case != "empty":
            found.append((case, path))
    if not found:
        harness.skip("there are no recordings in TL_SHARED")
    return found


def read(path):
    with open(path, "rb") as file:
        return file.read()


def events(path, *options):
    """Lines of jsonl, without the track, whose name depends on the file's."""
    lines = [json.loads(line) for line in harness.run("convert", *options, "--to", "jsonl", "-o", "-", path).out.splitlines()]
    for line in lines:
        line.pop("track")
    return lines


def convert(checks, path, out, *options):
    if os.path.isdir(out):
        shutil.rmtree(out)
    result = harness.run("convert", *options, "-f", "-o", out, path)
    return checks.that(result.status in (0, 3) and b"Sanitizer" not in result.err, path, result)


def losses(result):
    return [line for line in result.err.decode().splitlines() if "not written" in line]


def exact(checks, folder):
    for case, path in recordings():
        out = os.path.join(folder, os.path.basename(path))
        if not convert(checks, path, out):
            continue
        if case in NOT_CANONICAL:
            checks.equal(events(out), events(path), case)
            again = os.path.join(folder, "again.xinsndata.bin")
            convert(checks, out, again)
            checks.equal(read(again), read(out), case, "written twice")
        else:
            checks.equal(read(out), read(path), case)
    for case, path in recordings("xsnapshot"):
        out = os.path.join(folder, os.path.basename(path))
        if not convert(checks, path, out):
            continue
        data, copy = read(path), read(out)
        size = harness.run("info", "--json", path).json()["header"]
        size = size["size"] if size else 0
        checks.equal(copy[24:], data[size:], case, "records")
        if size == 24:
            checks.equal(copy[:24], data[:24], case, "header")


# ---------------------------------------------------------------- folders

def stream_counts(data):
    """{offset of a token: (instructions, user instructions) before it}; an independent walk over the tokens."""
    at, total, user, counts = 0, 0, 0, {}
    while at < len(data):
        counts[at] = (total, user)
        token = data[at]
        kind = token & 7
        if kind == 1:
            total += 1
            user += token >> 6 == 0
            at += 13 if token & 8 else 5
        elif kind == 2:
            at += 9 + (1 << (token >> 4))
        elif token == 0x0c:
            at += 257
        elif token == 0x24:
            at += 9 + 16 * struct.unpack_from("<Q", data, at + 1)[0]
        else:
            at += 9
    counts[at] = (total, user)
    return counts


def core_memory(data):
    """{address: byte} of the known bytes of a core file, and {type: description} of its notes."""
    assert data[:6] == b"\x7fELF\2\1" and struct.unpack_from("<HH", data, 16) == (4, 183)
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    count = struct.unpack_from("<H", data, 56)[0]
    if count == 0xffff:
        count = struct.unpack_from("<I", data, shoff + 44)[0]
    headers = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i) for i in range(count)]
    notes, pages = {}, {}
    for kind, _, offset, address, _, size, _, _ in headers:
        if kind == 4:
            end = offset + size
            while offset < end:
                name, length, note = struct.unpack_from("<III", data, offset)
                offset += 12 + (name + 3) // 4 * 4
                notes[note] = data[offset:offset + length]
                offset += (length + 3) // 4 * 4
        else:
            assert kind == 1 and offset % 4096 == 0 and address % 4096 == 0 and size % 4096 == 0
            for at in range(0, size, 4096):
                pages[address + at] = data[offset + at:offset + at + 4096]
    known, memory = notes[0x544c0001], {}
    version, page_size, number = struct.unpack_from("<IIQ", known)
    assert (version, page_size, number) == (1, 4096, len(pages)) and len(known) == 16 + 520 * number
    for index in range(number):
        address = struct.unpack_from("<Q", known, 16 + 520 * index)[0]
        bits = known[24 + 520 * index:536 + 520 * index]
        for at, byte in enumerate(pages[address]):
            if bits[at >> 3] >> (at & 7) & 1:
                memory[address + at] = byte
            else:
                assert byte == 0
    return memory, notes


def needed_memory(data):
    """{address: byte} of memory that a stream loads or executes before it stores it."""
    at, pc, need, seen, stores = 0, None, {}, set(), []

    def touch(address, value):
        for index, byte in enumerate(value):
            place = (address + index) % 2 ** 64
            if place not in seen:
                need[place] = byte
                seen.add(place)
    while at < len(data):
        token = data[at]
        kind = token & 7
        if kind == 1:
            for address, size in stores:
                seen.update((address + index) % 2 ** 64 for index in range(size))
            stores = []
            if token & 8:
                pc = struct.unpack_from("<Q", data, at + 1)[0]
                at += 13
            else:
                pc = None if pc is None else (pc + 4) % 2 ** 64
                at += 5
            if pc is not None:
                touch(pc, data[at - 4:at])
        elif kind == 2:
            address, size = struct.unpack_from("<Q", data, at + 1)[0], 1 << (token >> 4)
            if token & 8:
                stores.append((address, size))
            else:
                touch(address, data[at + 9:at + 9 + size])
            at += 9 + size
        else:
            if token == 3 and struct.unpack_from("<Q", data, at + 1)[0] != 0:
                stores = []
            at += 257 if token == 0x0c else 9 if token != 0x24 else 9 + 16 * struct.unpack_from("<Q", data, at + 1)[0]
    return need


def check_folder(checks, path, *what):
    """The files of a folder agree with each other. Returns {name: content}."""
    result = harness.run("check", path)
    checks.equal(result.status, 0, *what, result)
    files = {name: read(os.path.join(path, name)) for name in sorted(os.listdir(path))}
    for name, data in files.items():
        if not name.endswith(".xinsndata.bin"):
            continue
        snapshots = files.get(name.replace("xinsndata", "xsnapshot"), b"")
        core = files.get(name.replace("xinsndata.bin", "xmemory.core"))
        counts = stream_counts(data)
        if snapshots:
            vl = struct.unpack_from("<Q", snapshots, len(snapshots) - 8)[0]
            vector = vl // 8
            size = 384 + 32 * vector + 17 * ((vector // 8 + 15) // 16 * 16) + vector * vector
            checks.equal((len(snapshots) - 24) % size, 0, name, "records")
            for at in range(24, len(snapshots), size):
                file, offset, user, total = struct.unpack_from("<4Q", snapshots, at)
                checks.equal((file, counts.get(offset)), (0, (total, user)), *what, name, "record at", at)
        if data and checks.that(core is not None, *what, name, "has no image"):
            memory, notes = core_memory(core)
            checks.equal(memory, needed_memory(data), *what, name, "image")
            if 1 in notes:
                pc = struct.unpack_from("<Q", notes[1], 112 + 8 * 32)[0]
                x = struct.unpack_from("<32Q", notes[1], 112)
                checks.equal(x, struct.unpack_from("<32Q", snapshots, 24 + 32), *what, name, "registers")
                checks.equal(pc, struct.unpack_from("<Q", data, data.index(b"\x09") + 1)[0] if data[0] == 9 else pc, name, "pc")
    return files


def check_tools(checks, path):
    """Checks an image with binutils and gdb, if they are installed."""
    for core in glob.glob(os.path.join(path, "*.core")):
        if shutil.which("readelf"):
            done = subprocess.run(["readelf", "-hlnW", core], capture_output=True, text=True)
            checks.that(done.returncode == 0 and "arning" not in done.stderr and "NT_FPREGSET" in done.stdout, core, done.stderr)
        if shutil.which("gdb-multiarch"):
            done = subprocess.run(["gdb-multiarch", "-nx", "-batch", "-ex", "core " + core, "-ex", "printf \"pc %lx %lx\\n\", $pc, *(int*)$pc & 0xffffffff"],
                                  capture_output=True, text=True)
            data = read(core.replace("xmemory.core", "xinsndata.bin"))
            pc, opcode = struct.unpack_from("<QI", data, data.index(b"\x09") + 1)
            checks.that("pc %x %x" % (pc, opcode) in done.stdout, core, done.stdout, done.stderr)


def sets(checks, folder):
    for case in sorted({case for case, _ in recordings()}):
        source = os.path.dirname(dict(recordings())[case])
        out = os.path.join(folder, case + ".xtrace")
        if not convert(checks, source, out):
            continue
        files = check_folder(checks, out, case)
        if case == "user":
            check_tools(checks, out)
        for path in glob.glob(os.path.join(source, "*.bin")):
            copy = files[os.path.basename(path)]
            if "xinsndata" in path and case not in NOT_CANONICAL:
                checks.equal(copy, read(path), case, path)


def slices(checks, folder):
    for case, path in recordings():
        snapshots = events(path.replace("xinsndata", "xsnapshot")) if os.path.exists(path.replace("xinsndata", "xsnapshot")) else []
        whole = events(path)
        for number in sorted({0, len(snapshots) // 2, len(snapshots) - 1}) if snapshots else ():
            begin = snapshots[number]["ts"]
            for length in (1, 100) if number == 0 else (100,):
                out = os.path.join(folder, "slice.xtrace")
                shutil.rmtree(out, ignore_errors=True)
                result = harness.run("convert", "--slice-at", number, "-n", length, "-o", out, path)
                if begin >= 1 + max((e["ts"] for e in whole), default=-1):
                    continue
                if not checks.equal(result.status, 0, case, number, length, result):
                    continue
                check_folder(checks, out, case, "slice", number, length)
                # Only the first record of the slice must be the requested snapshot.
                written = events(os.path.join(out, os.path.basename(path)))
                expected = [dict(e, ts=e["ts"] - begin) for e in whole if begin <= e["ts"] < begin + length]
                if begin == 0:
                    expected = [e for e in whole if e["ts"] < length]
                checks.equal(written, expected, case, "slice", number, length)


# ---------------------------------------------------------------- files for simulators

def groups_of(path):
    """For each instruction its fields, and (class, fields) of the events that belong to it."""
    groups = []
    for event in events(path):
        if event["class"] == "insn":
            groups.append([event["fields"], []])
        elif groups:
            groups[-1][1].append((event["class"], event["fields"]))
    return groups


def addresses_of(behind, kind):
    """Of what an instruction accesses; what is side by side has one."""
    out, after = [], None
    for name, fields in behind:
        if name == kind:
            address = int(fields["addr"], 16)
            if address != after:
                out.append(address)
            after = address + fields["size"]
    return out


def champsim(checks, folder):
    """Another program's records, in which the addresses are those of the events."""
    found = 0
    for case, path in recordings():
        if not os.path.exists(path + ".champsim"):
            continue
        found += 1
        out = os.path.join(folder, "out.champsim")
        result = harness.run("convert", "-f", "-o", out, path)
        counts, records = json.loads(read(path + ".champsim.json")), bytearray(read(path + ".champsim"))
        lost = {"loads beyond 4": 0, "stores beyond 2": 0, "instructions without pc": counts["without_pc"]}
        for at, (_, behind) in enumerate(group for group in groups_of(path) if group[0]["pc"] is not None):
            for kind, place, room in (("store", 16, 2), ("load", 32, 4)):
                addresses = addresses_of(behind, kind)
                lost["%ss beyond %d" % (kind, room)] += max(0, len(addresses) - room)
                struct.pack_into("<%dQ" % room, records, 64 * at + place, *(addresses + [0] * room)[:room])
        checks.equal(len(records), 64 * counts["records"], case)
        checks.that(read(out) == records, case, "records differ")
        said = " ".join(losses(result)).replace(",", "")
        for text, number in lost.items():
            checks.equal("%d %s" % (number, text) in said, number > 0, case, text, said)
    checks.that(found > 0, "there are no expected records")


FLUSHES = {0xd50b7420: 1, 0xd50b7520: 18, 0xd5087620: 20, **{0xd50b7020 | crm << 8: 20 for crm in range(10, 15)}}


def joined(accesses):
    """Accesses of an instruction to places side by side are one; large ones are written in parts."""
    out = []
    for kind, address, size in accesses:
        if out and out[-1][0] == kind and sum(out[-1][1:]) == address and out[-1][2] + size < 65536:
            out[-1] = (kind, out[-1][1], out[-1][2] + size)
        else:
            out.append((kind, address, size))
    return [(kind, address + at, min(size - at, 32768) if size > 65535 else size)
            for kind, address, size in out for at in range(0, size if size > 65535 else 1, 32768)]


def expected_drmemtrace(path):
    """What its reader should find, from the events."""
    insns, groups = [], groups_of(path)
    for (fields, behind), (after, _) in zip(groups, groups[1:] + [[{"pc": None, "el": None}, ()]]):
        if fields["pc"] is None:
            continue
        pc, opcode = int(fields["pc"], 16), int(fields["opcode"], 16)
        follower = None if after["pc"] is None or after["el"] != fields["el"] else int(after["pc"], 16)
        kind, target = memtrace_reader.type_of(opcode), None
        said = [int(f["value"], 16) for name, f in behind if name == "target"]
        if kind == 13:
            ways = [pc + 4, memtrace_reader.direct_target(pc, opcode)]
            if follower not in ways:
                continue                    # nobody knows where it went
            kind = 49 if follower == ways[0] else 48
        elif kind in memtrace_reader.INDIRECT:
            target = said[-1] if said else follower
            if target is None:
                continue
        accesses = [(int(name == "store"), int(f["addr"], 16), f["size"]) for name, f in behind if name in ("load", "store")]
        for name, f in behind:
            if name == "dc" and opcode & ~31 in FLUSHES:
                entry = FLUSHES[opcode & ~31]
                accesses = [(entry, int(f["value"], 16) & (~63 if entry == 1 else -1), 64)]
        words = [(6 if name == "svc_arg" else 7, int(f["value"], 16)) for name, f in behind if name in ("svc_arg", "svc_ret")]
        call = [words[0][1]] + words[1:] if memtrace_reader.is_svc(opcode) and words else []
        insns.append([pc, opcode, kind, target, joined(accesses), call])
    return insns


def drmemtrace(checks, folder):
    for case, path in recordings():
        out = os.path.join(folder, "out.memtrace")
        if not convert(checks, path, out):
            continue
        got = memtrace_reader.Memtrace(read(out), generated=True)
        name = os.path.basename(path).split(".")[2]
        checks.equal(got.thread, int(name) or 1 << 22, case)
        checks.equal([insn.facts() for insn in got.insns], expected_drmemtrace(path), case)


# ---------------------------------------------------------------- frames

def zstd(checks, folder):
    """A stream of some MiB: checks its end, and that each frame can be read alone."""
    if not shutil.which("zstd"):
        harness.skip("zstd is not there")
    body = b"".join(struct.pack("<BQI", 9, 0x400000, 0xd503201f) + struct.pack("<BI", 1, 0xd503201f) * 300 +
                    struct.pack("<BQQ", 0x32, 0x1000 + 8 * i, i * 0x9e3779b97f4a7c15 % 2 ** 64) +
                    struct.pack("<BI", 0x41, 0x14000000) for i in range(3000))
    path, out = os.path.join(folder, "a.xinsndata.bin"), os.path.join(folder, "b.xinsndata.bin.zst")
    with open(path, "wb") as file:
        file.write(body)
    if not convert(checks, path, out):
        return
    checks.equal(subprocess.run(["zstd", "-q", "-t", out]).returncode, 0, "zstd -t")
    checks.that(subprocess.run(["zstd", "-q", "-d", "-c", out], capture_output=True).stdout == body, "zstd -d")
    data = read(out)
    number, descriptor, magic = struct.unpack("<IBI", data[-9:])
    checks.equal((descriptor, magic), (0, 0x8f92eab1), "the end")
    table = struct.unpack_from("<%dI" % (2 * number), data, len(data) - 9 - 8 * number)
    begins = [sum(table[:2 * i:2]) for i in range(number)]
    note = begins[-1] + 8
    checks.equal(struct.unpack_from("<I", data, begins[-1])[0], 0x184d2a5b, "index")
    tag, version, frames = struct.unpack_from("<4sIQ", data, note)
    checks.equal((tag, version, frames), (b"TLXI", 1, number - 1), "index")
    counts = stream_counts(body)
    at = 0
    for i in range(frames):
        offset, insns, user, pc, known = struct.unpack_from("<5Q", data, note + 16 + 40 * i)
        checks.equal((offset, (insns, user), pc, known), (at, counts.get(at), 0x400000, 1), "frame", i)
        frame = data[begins[i]:begins[i] + table[2 * i]]
        content = subprocess.run(["zstd", "-q", "-d", "-c"], input=frame, capture_output=True).stdout
        checks.that(content == body[at:at + table[2 * i + 1]] and content[0] == 9, "content of frame", i)
        checks.that(i + 1 == frames or len(content) >= 1 << 20, "frame", i, "is small")
        at += len(content)
    checks.equal(at, len(body), "all frames")


def main():
    parts = {"exact": exact, "set": sets, "slice": slices, "champsim": champsim, "drmemtrace": drmemtrace, "zstd": zstd}
    checks = harness.Checks()
    with harness.work_folder() as folder:
        parts[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
