#!/usr/bin/env python3
"""Makes the seeds of the targets that read parts of files, or other inputs than traces: words of the command line, notes, names,
indexes, pages. Those of any format come from other targets. Run it after the other scripts."""
import bz2
import gzip
import os
import shutil
import struct
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "corpus")
GOLDEN = os.path.join(HERE, "..", "test", "golden", "input")


def write(target, name, data):
    with open(os.path.join(CORPUS, target, name), "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def words():
    write("words", "selection", "\n".join(
        ["--time", "+500ms..2s", "-t", "worker*", "--cpu", "0..3,7", "-F", "a*[!b]?c", "-N", "x\\*", "-D", "4", "--min-dur", "1.5us"]))
    write("words", "absolute", "--time\n2026-01-31T12:00:00.5Z..2026-01-31T12:00:01Z\n--class\nsched_*\n")
    write("words", "instructions", "\n".join(["--insns", "100..2000", "--el", "0,1", "--pc", "0x400000..0x500000", "--by", "cache", "--cache",
                                              "l1i=64K:4:64,l1d=1M:2:128,l2=0,itlb=48,l2tlb=1280:5", "--predictor", "bimodal:12,gshare:12:8,ras:16,btb"]))
    write("words", "record", "--mode\nfdr\n--ring\n64M\n--threshold\n5us\n--limit\n1G\n-o\napp.xray\n--\n./app\n-x")
    write("rt_settings", "all", "mode=fdr:out=%e.%p.xray:ring=64M:limit=1G:threshold=5us:func=net::Reader::*:not=a\\:b:depth=9:start=off:"
          "control=off:clock=monotonic:strict=on:quiet=on:")
    write("rt_settings", "set", "threshold=1ms:depth=0:func=:not=[a-z]*")


def parquet():
    def column(store, required=0, utc=0, json=0):
        return bytes([store | required << 3 | utc << 4 | json << 5])

    def made(how, nulls=0, word=0x0123456789abcdef):
        return struct.pack("<BBQ", how, nulls, word)

    kinds = [column(0, 1, 1), column(0), column(1), column(2), column(3), column(4), column(3, 1, 0, 1), column(0)]
    head = bytes([len(kinds) - 1]) + b"".join(kinds)
    write("parquet", "all", head + bytes([15]) + b"".join(made(i, 0 if i in (0, 6) else 5 + i) for i in range(8)) + bytes(range(256)))
    write("parquet", "pages", head + b"".join(bytes([size]) + b"".join(made(1 + (i + size) % 5, 0 if i in (0, 6) else size, 77 + i) for i in range(8)) for size in (13, 11, 12, 9, 0, 3)))
    write("parquet", "nulls", bytes([1]) + column(0) + column(3) + bytes([12]) + made(1, 3 | 40 << 2) + made(3, 2) + bytes([9]) + made(4, 255) + made(5, 3))
    write("parquet", "refused", bytes([0]) + column(0, 1) + bytes([8]) + made(1, 1))
    write("parquet", "empty_texts", b"\0+\1")
    write("parquet", "no_rows", bytes([0]) + column(1))
    write("parquet", "wide", bytes([1]) + column(0) + column(1) + bytes([13]) + made(4, 0, 1 << 63) + made(7) + bytes((i * 89 + 7) % 256 for i in range(3000)))


def json_text():
    write("json", "all", '{"a":[1,-2,3.5e-7,18446744073709551615,true,false,null,"\\u00e4\\ud83d\\ude00\\n"],"b":{"c":{}},"":[[[]]]}')
    write("json", "deep", "[" * 40 + "0" + "]" * 40)


def notes():
    for name in ("rec-done.xray", "rec-live-ring.xray", "rec-patched.xray"):
        data = read(GOLDEN, name)
        lines = [line.removeprefix(b"tlrt.txt") for line in data.replace(b"\0", b"\n").split(b"\n") if 3 < len(line) < 300 and all(32 <= c < 127 for c in line)]
        write("recording", name, b"\n".join(lines) + b"\n")
    write("recording", "no-fields", "traceloom version=1\nevent id=2 kind=counter name=y\nevent id=3 kind=instant fields= name=z\n")


def patch_input(choices, ranges, entry="0c0708 9001"):
    """Ranges are (place in the code, code in hexadecimal, rules, personality); `choices` as in fuzz_patch.c."""
    frames, code, common = b"", bytearray(), {}
    for at, text, rules, letters in ranges:
        body = bytes.fromhex(text)
        code.extend(b"\x90" * (at + len(body) - len(code)))
        code[at:at + len(body)] = body
        if letters not in common:
            common[letters] = len(frames)
            data = b"\x1b" * letters.count("R")
            cie = struct.pack("<IB", 0, 1) + letters.encode() + b"\0\x01\x78\x10" + bytes([len(data)]) * ("z" in letters) + data
            cie += bytes.fromhex(entry)
            frames += struct.pack("<I", len(cie)) + cie
        here = len(frames) + 8
        fde = struct.pack("<IiI", len(frames) + 4 - common[letters], 0x401000 + at - (0x500000 + 8 + here), len(body)) + b"\0" + bytes.fromhex(rules)
        frames += struct.pack("<I", len(fde)) + fde
    frames += bytes(4)
    return bytes([choices]) + struct.pack("<H", len(frames)) + frames + code


def patch():
    """Code as in test/unit/test_patch_plan.c."""
    def to(begin, end, target):
        return struct.pack("<i", target - end).hex()
    jump = lambda at, target: "e9" + to(at, at + 5, target)
    equal = lambda at, target: "0f84" + to(at, at + 6, target)
    write("patch", "plain", patch_input(0, [
        (0, "f30f1efa 53" + "e8" + to(5, 10, 0x20) + "5b c3", "45 0e10 46 0e08", "zR"), (0x20, "0f1f440000 85ff" + equal(0x27, 0x20) + jump(0x2d, 0x40), "", "zR"),
        (0x40, "90909090 c3", "", "zR"), (0x50, "ff2500000000", "", "zR"), (0x60, "53 ffe0 5b ffe0", "41 0e10 43 0e08", "zR")]))
    write("patch", "parts", patch_input(2, [
        (0, "53 85ff" + equal(3, 0x20) + "5b c3", "41 0e10", "zR"), (0x20, "5b" + jump(0x21, 9), "0e10", "zR"), (0x30, "ffc0" + jump(0x32, 0x48), "", "zR"),
        (0x40, "85ff" + equal(0x42, 0x30) + "c3", "", "zR"), (0x50, "90" + jump(0x51, 0x41), "0e10 0a 41 0b 0f 03 77 08 06", "zRS")]))
    write("patch", "aarch64", patch_input(1, [(0, "5f2403d5 3f2303d5 fd7bbfa9 08000014 fd7bc1a8 c0035fd6", "4c 0e10 48 2d 0e00", "zRB"),
                                              (0x20, "00008052 00001fd6", "", "zR")], "0c1f00"))
    # Nothing is read before the first byte of code, or behind the last one.
    write("patch", "edges", patch_input(0, [(0, "90 f7d8 c3", "", "zR"), (32, "90 2e488184241122334455667788 5b c3", "", "zR")]))
    # A branch to where the object has no code.
    write("patch", "aarch64-outside", patch_input(1, [(0, "1f2003d5 00000114", "", "zR"), (0x20, "c0035fd6", "", "zR")], "0c1f00"))
    # Memory ends at a request, whose number is the last byte of code.
    for number in (1, 9, 17):
        write("patch", "memory-%d" % number, patch_input(128, [(0, "53 5b c3", "", "zR"), (16, "90 c3 %02x" % number, "", "zR")]))
    write("patch", "symbols", b"\x06\0\0" + patch_input(0, [(0, "53 5b c3", "", "zR"), (16, "85ff" + equal(18, 0) + "c3 90909090 53 c3", "", "zR"),
                                                             (32, "90" * 99 + "c3", "", "zR")])[3:][-132:])


def parts():
    text = b"what is packed is unpacked, " * 40
    write("unpack", "gzip", gzip.compress(text, mtime=0))
    write("unpack", "stored", gzip.compress(bytes(range(64)), 0, mtime=0))
    write("unpack", "bzip2", bz2.compress(text))
    for name in ("_ZN3net6Reader4readEPKcm", "_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZZN1aILi3EEvT_ENKUlvE_clEv", "_RNvCs1234_7mycrate3foo",
                 "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "_RINvMs0_NtCs5_4core3stru1xNtB2_1TpE"):
        write("demangle", name[:12].strip("_"), name)


def pages():
    numbers = struct.pack("<IIIIIiIIIIQQQ", 1, 2, 0, 1, 2, 0, 1, 10, 12, 3, 4096, 7, 1_790_000_000 * 10**9)
    front = b"tlctrl1\n" + numbers
    write("control", "recording", front.ljust(2048, b"\0") + b"/tmp/app.4711.xray\0")
    write("control", "refused", front[:28] + struct.pack("<i", -22) + front[32:].ljust(992, b"\0") + b"no such key\0")
    points = b"".join(struct.pack("<QQQ", at * 64, at, at * 10 + 9) for at in range(0, 6, 2))
    file = struct.pack("<IQBII", 1, 6, 2, 1, 3) + struct.pack("<IBQQ", 0, 1, 0, 59) + points
    write("ctf_index", "sound", struct.pack("<QQQI", 6, 0, 0, 1) + file)


def binaries():
    write("exe", "symbols", read(GOLDEN, "program.elf"))
    with tempfile.TemporaryDirectory() as work:
        source, out = os.path.join(work, "a.c"), os.path.join(work, "a.so")
        with open(source, "w", encoding="ascii") as file:
            file.write("int twice(int x) { return x + x; }\nstatic inline int more(int x) { return twice(x) + 1; }\n"
                       "int last(int x) { return more(x) * 3; }\n")
        for version in (4, 5):
            subprocess.run(["gcc", "-gdwarf-%d" % version, "-O1", "-shared", "-nostdlib", "-Wl,-z,noseparate-code,-z,max-page-size=4096",
                            "-fdebug-prefix-map=%s=/src" % work, "-o", out, source], check=True, cwd=work)
            write("exe", "dwarf-%d" % version, read(out))


def any_format():
    for target, name in (("fdr", "fdr-v5-le-plain"), ("fdr", "fdr-v5-le-wraps"), ("fdr", "fdr-v5-le-empty")):
        write("any", name, read(CORPUS, target, name))
    for target in ("basic", "xrayprof", "tlp", "tracelog", "live"):
        folder = os.path.join(CORPUS, target)
        name = min(sorted(os.listdir(folder)), key=lambda n: (os.path.getsize(os.path.join(folder, n)) < 200, os.path.getsize(os.path.join(folder, n))))
        write("any", "%s-%s" % (target, name), read(folder, name)[:6000])
    plain = read(CORPUS, "fdr", "fdr-v5-le-plain")
    write("any", "gzip", gzip.compress(plain, mtime=0))
    write("any", "bzip2", bz2.compress(plain))
    write("any", "zstd", subprocess.run(["zstd", "-q", "-c"], input=plain, stdout=subprocess.PIPE, check=True).stdout)


def main():
    for target in ("any", "json", "recording", "unpack", "demangle", "words", "control", "exe", "ctf_index", "rt_settings", "patch", "parquet"):
        shutil.rmtree(os.path.join(CORPUS, target), ignore_errors=True)
        os.makedirs(os.path.join(CORPUS, target))
    for step in (words, json_text, parquet, notes, patch, parts, pages, binaries, any_format):
        step()


if __name__ == "__main__":
    main()
