#!/usr/bin/env python3
"""Compares the text of a listing with that of LLVM's own tools for the same words: listing_llvm.py VERSION

Words are random, or from the groups that programs consist of. llvm-mc prints distances, which are compared where the
pc is unknown; llvm-objdump prints addresses. The tools and the library must be of one version."""
import os
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

WORDS = 4000
BASE = 0x400000
# The same as in src/isa/a64_disasm.c; tools since 16 know "all".
OLD = "+v9.3a,+sve,+sve2,+sve2-aes,+sve2-bitperm,+sve2-sha3,+sve2-sm4,+sme,+f32mm,+f64mm,+bf16,+i8mm,+crypto,+aes,+sha2," \
      "+sha3,+sm4,+fullfp16,+fp16fml,+mte,+lse,+ls64,+mops,+hbc,+tme,+brbe,+pauth,+ras,+rcpc,+rcpc-immo,+rdm,+dotprod,+rand," \
      "+sb,+ssbs,+predres,+ccpp,+spe,+spe-eef,+trbe,+ete,+el3,+rme,+xs,+wfxt,+hcx,+flagm,+altnzcv,+fptoint,+complxnum," \
      "+jsconv,+nv,+lor,+pan-rwv,+vh,+ccidx,+tlb-rmi,+am,+amvs,+ecv,+mpam,+perfmon,+sel2,+dit,+tracev8.4,+specrestrict," \
      "+pan,+uaops,+crc,+bti"


def tool(name, version):
    for path in ("llvm-%s-%s" % (name, version), "/usr/lib/llvm-%s/bin/llvm-%s" % (version, name)):
        found = shutil.which(path)
        if found:
            return found
    return harness.skip("llvm-%s %s is not installed" % (name, version))


def library(version):
    """Its name for the dynamic linker, if the command accepts it."""
    for name in ("libLLVM.so.%s.1" % version, "libLLVM-%s.so.1" % version):
        listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout if shutil.which("ldconfig") else ""
        if name in listed:
            return name
    return harness.skip("no shared library of LLVM %s is installed" % version)


def words():
    chosen = random.Random(9)
    for i in range(WORDS):
        word = chosen.getrandbits(32)
        if i % 2:
            word = word & ~(15 << 25) | chosen.choice((4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)) << 25
        yield word


def listing(folder, all_words, with_pc, environment):
    """The texts of the listing, in the order of the words. Two streams: only the first instruction has its pc."""
    path = os.path.join(folder, "xtrace.1.1.hint9.xinsndata.bin")
    with open(path, "wb") as file:
        for i, word in enumerate(all_words):
            first = with_pc and i == 0
            file.write(struct.pack("<BQI", 0x09, BASE, word) if first else struct.pack("<BI", 0x01, word))
    result = harness.run("convert", path, "--from", "xtrace", "--to", "listing", env=environment)
    if result.status != 0:
        sys.exit(str(result))
    return [clean(line[44:]) for line in result.text().splitlines()]


def clean(text):
    """One space between words, no remarks."""
    return re.sub(r"\s+", " ", re.sub(r"\s*(//|;).*", "", text)).strip()


def unknown(text):
    return text.startswith(".inst") or "<unknown>" in text


def compare(checks, what, all_words, got, expected, unsure):
    """The library does not show unpredictable words (unsure) as instructions."""
    checks.equal((len(got), len(expected)), (len(all_words), len(all_words)), what, "lines")
    known = 0
    for i, (word, ours, theirs) in enumerate(zip(all_words, got, expected)):
        if i in unsure or unknown(theirs):  # the built-in text may still know it
            continue
        known += 1
        checks.equal(ours, theirs, what, "%08x" % word)
    checks.that(known > WORDS // 3, what, "only", known, "words are known")


def by_mc(version, features, all_words):
    """llvm-mc prints nothing for an unknown word and continues: one line a word needs a marker for each word."""
    text = "".join(" ".join("0x%02x" % byte for byte in struct.pack("<I", word)) + "\n" for word in all_words)
    done = subprocess.run([tool("mc", version), "--disassemble", "--triple=aarch64", "--mattr=" + features, "--show-encoding"],
                          input=text, capture_output=True, text=True)
    unsure = {int(line) - 1 for line in re.findall(r"<stdin>:(\d+):\d+: warning: potentially undefined", done.stderr)}
    found = {}
    for line in done.stdout.splitlines():
        encoding = re.search(r"encoding: \[([0-9a-fx,]+)\]", line)
        if encoding:
            word = int.from_bytes(bytes(int(byte, 16) for byte in encoding.group(1).split(",")), "little")
            found[word] = clean(line[:line.index("encoding:")].rstrip("/; \t"))
    return [found.get(word, ".inst") for word in all_words], unsure


def by_objdump(version, features, folder, all_words):
    source, binary = os.path.join(folder, "words.s"), os.path.join(folder, "words.o")
    with open(source, "w", encoding="ascii") as file:
        file.write("".join("\t.inst 0x%08x\n" % word for word in all_words))
    subprocess.run([tool("mc", version), "--triple=aarch64", "--filetype=obj", "-o", binary, source], check=True)
    done = subprocess.run([tool("objdump", version), "-d", "--mattr=" + features, "--no-show-raw-insn", "--no-print-imm-hex",
                           "--adjust-vma=0x%x" % BASE, binary], capture_output=True, text=True, check=True)
    rows = re.findall(r"^\s*([0-9a-f]+):[ \t]+(.*)$", done.stdout, re.M)
    return [absolute(clean(re.sub(r" <[^>]*>", "", row)) if "<unknown>" not in row else row, int(pc, 16)) for pc, row in rows]


def absolute(text, pc):
    """Old versions print distances of ADR and of literals."""
    found = re.fullmatch(r"((?:adr|ldr|ldrsw|prfm) [^,]+, )#(-?\d+)", text)
    return "%s0x%x" % (found.group(1), (pc + int(found.group(2))) % 2 ** 64) if found else text


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    version = sys.argv[1]
    if "LLVM" not in harness.run("--version").text():
        harness.skip("this build was made without LLVM")
    environment = {"TRACELOOM_LLVM": library(version)}
    features = "+v9.3a,+all" if int(version) >= 16 else OLD
    checks = harness.Checks()
    all_words = list(words())
    with harness.work_folder() as folder:
        printed, unsure = by_mc(version, features, all_words)
        compare(checks, "llvm-mc", all_words, listing(folder, all_words, False, environment), printed, unsure)
        compare(checks, "llvm-objdump", all_words, listing(folder, all_words, True, environment),
                by_objdump(version, features, folder, all_words), unsure)
    checks.end()


if __name__ == "__main__":
    main()
