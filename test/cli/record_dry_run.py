#!/usr/bin/env python3
"""traceloom record --dry-run: what would be patched, what not, and why: record_dry_run.py

Functions are counted beside the source and the symbols of programs that are built here. Then damaged files: whatever
their bytes are, it ends, with a table or a message."""
import csv
import io
import os
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

ROUNDS = 600 if harness.THOROUGH else 60
SOURCE = r"""
#include <stdio.h>
__attribute__((noinline)) int leaf(int x) { __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) int inner(int x) { int s = 0; for (int i = 0; i < x; i++) s += leaf(i); return s; }
__attribute__((noinline)) int branches(int x)
{
    switch (x) { case 1: return leaf(3); case 2: return inner(4); case 3: puts("three"); return 3; case 4: return leaf(9) * x; }
    return 0;
}
#ifdef SHARED_PART
int shared_part(int x) { return branches(x) + inner(x); }
#else
#ifdef WITH_LIBRARY
int shared_part(int x);
#else
#define shared_part leaf
#endif
int main(int argc, char **argv) { (void)argv; printf("%d\n", inner(10) + branches(argc) + shared_part(2)); return 0; }
#endif
"""
OWN = ["branches", "inner", "leaf", "main"]
# Functions that cannot be understood: 06 is no instruction.
ODD = r"""
__asm__(".text\n.globl strange\n.type strange,@function\nstrange:\n.cfi_startproc\nnop\nnop\n.byte 6\nret\n.cfi_endproc\n.size strange,.-strange\n"
        ".globl weird\n.type weird,@function\nweird:\n.cfi_startproc\nxor %eax,%eax\n.byte 7\nret\n.cfi_endproc\n.size weird,.-weird\n");
"""


def build(name, *flags, source=SOURCE):
    done = subprocess.run(["gcc", "-O1", "-x", "c", "-", "-x", "none", "-o", name, *flags], input=source.encode(), capture_output=True)
    return done.returncode == 0 or print(done.stderr.decode()[:2000]) is not None


def addresses(name):
    """{symbol: address} of functions."""
    lines = subprocess.run(["nm", name], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3 and line.split()[1] in "tT"}


def plan(checks, *arguments, status=0):
    done = harness.run("record", "--dry-run", "--json", *arguments)
    if not checks.equal(done.status, status, arguments, done) or status:
        return None
    answer = done.json()
    for row in answer["objects"]:
        reasons = sum(r["functions"] for r in answer["reasons"] if r["object"] == row["object"])
        listed = [f for f in answer["left_out"] if f["object"] == row["object"]]
        checks.equal(row["patched"] + row["left_out"], row["functions"], arguments, "patched and left out are all")
        checks.equal(reasons, row["left_out"], arguments, "each has a reason")
        checks.equal(len([f for f in listed if f["what"] == "may end late"]), row["late"], arguments, "late ones are listed")
        hidden = sum(r["functions"] for r in answer["reasons"] if r["object"] == row["object"] and r["reason"] == "not selected")
        checks.equal(len([f for f in listed if f["what"] == "left out"]), row["left_out"] - hidden, arguments, "those left out are listed")
        checks.that(row["ends_patched"] <= row["ends"], arguments, "ends")
    return answer


def check_plain(checks):
    for flags in ((), ("-no-pie",), ("-fcf-protection=full",), ("-fcf-protection=none", "-fpatchable-function-entry=5")):
        if not build("plain", *flags):
            continue
        row = plan(checks, "./plain")["objects"][0]
        own = [n for n in addresses("plain") if n in OWN or n == "_dl_relocate_static_pie"]     # that is in crt1.o, with a frame
        checks.equal((row["object"], row["functions"], row["patched"]), ("plain", len(own), len(own)), flags, "all functions")
        checks.that(row["ends"] >= len(own) and row["direct"] + row["punned"] + row["evicted"] + row["several"] >= row["patched"], flags, row)
    build("plain")
    text = harness.run("record", "--dry-run", "./plain").text()
    checks.that("plain: 4 of 4 functions would be patched while it runs" in text, "as text:", text)
    for stage in ("strip", "sections"):
        if stage == "strip":
            subprocess.run(["strip", "plain"], check=True)
        else:
            with open("plain", "r+b") as file:
                file.seek(40)
                file.write(bytes(8))
                file.seek(60)
                file.write(bytes(4))
        checks.equal(plan(checks, "./plain")["objects"][0]["patched"], len(OWN), "without", stage)


def check_reasons(checks):
    if not build("odd", source=SOURCE + ODD):
        return
    where = addresses("odd")
    answer = plan(checks, "./odd")
    checks.equal(answer["objects"][0]["functions"], len(OWN) + 2, "functions of odd")
    found = {f["name"]: f for f in answer["left_out"] if f["what"] == "left out"}
    checks.equal(sorted(found), ["strange", "weird"], "those left out")
    checks.equal(found["strange"]["reason"], "its code is not understood", "why")
    checks.equal(found["strange"]["address"], hex(where["strange"]), "where")
    checks.equal(found["strange"]["detail"], hex(where["strange"] + 2), "at which byte")
    subprocess.run(["strip", "-o", "bare", "odd"], check=True)
    names = sorted(f["name"] for f in plan(checks, "./bare")["left_out"] if f["what"] == "left out")
    checks.equal(names, sorted("bare+0x%x" % where[n] for n in ("strange", "weird")), "names by place")
    listed = harness.run("record", "--dry-run", "-v", "./odd").text()
    checks.that("strange" in listed and re.search(r"left out: its code is not understood at 0x%x" % (where["strange"] + 2), listed), "-v:", listed)
    short = harness.run("record", "--dry-run", "./odd").text()
    checks.that("strange" not in short and "its code is not understood" in short, "without -v:", short)
    one = harness.run("record", "--dry-run", "--top", "1", "./odd").text()
    checks.that(("strange" in one) != ("weird" in one), "--top 1:", one)
    table = harness.run("record", "--dry-run", "--to", "csv", "./odd").text()
    checks.equal(sorted(r["name"] for r in csv.DictReader(io.StringIO(table)) if r["what"] == "left out"), ["strange", "weird"], "as CSV")
    harness.run("record", "--dry-run", "-o", "out.csv", "./odd")
    with open("out.csv", encoding="utf-8", newline="") as file:
        checks.equal(file.read(), table, "-o")


def check_selection(checks):
    build("plain")
    size = {line.split()[3]: int(line.split()[1], 16) for line in
            subprocess.run(["nm", "-S", "plain"], capture_output=True, text=True, check=True).stdout.splitlines() if len(line.split()) == 4}
    for arguments, expected in ((["-F", "leaf", "-F", "in*"], {"leaf", "inner"}), (["-N", "main"], set(OWN) - {"main"}),
                                (["-F", "*", "-N", "leaf"], set(OWN) - {"leaf"}), (["-F", "plain+0x%x" % addresses("plain")["inner"]], {"inner"}),
                                (["-F", "pl*:leaf", "-F", "other:*"], {"leaf"}),
                                (["--min-size", str(size["inner"])], {n for n in OWN if size[n] >= size["inner"]})):
        answer = plan(checks, *arguments, "./plain")
        checks.equal(answer["objects"][0]["patched"], len(expected), arguments)
        checks.equal([(r["reason"], r["functions"]) for r in answer["reasons"]],
                     [("not selected", len(OWN) - len(expected))] if len(expected) < len(OWN) else [], arguments, "the others")
    late = plan(checks, "./plain")["objects"][0]
    exact = plan(checks, "--exact", "./plain")["objects"][0]
    checks.equal((exact["late"], exact["patched"]), (0, late["patched"] - late["late"]), "--exact")


def check_libraries(checks):
    os.makedirs("folder/sub", exist_ok=True)
    build("folder/sub/libpart.so.1", "-shared", "-fPIC", "-DSHARED_PART", "-Wl,-soname,libpart.so.1")
    build("folder/user", "-DWITH_LIBRARY", "folder/sub/libpart.so.1", "-Wl,-rpath,$ORIGIN/sub")
    answer = plan(checks, "--libs", "libpart*", "folder/user")
    checks.equal([(o["object"], o["functions"]) for o in answer["objects"]], [("user", 4), ("libpart.so.1", 4)], "a library by $ORIGIN")
    done = harness.run("record", "--dry-run", "--libs", "nolib*", "folder/user")
    checks.that(done.status == 0 and b"no library that it needs matches nolib*" in done.err, done)
    checks.equal([o["object"] for o in plan(checks, "--libs", "lib*", "folder/user")["objects"]], ["user", "libpart.so.1"], "lib* is not libc")
    answer = plan(checks, "--libs", "libc.so*", "folder/user")
    if checks.that(len(answer["objects"]) == 2, "libc by name"):
        checks.that(answer["objects"][1]["patched"] > 2000, "functions of libc:", answer["objects"][1])
    os.chmod("folder/sub/libpart.so.1", 0o644)
    checks.equal(plan(checks, "folder/sub/libpart.so.1")["objects"][0]["functions"], 4, "a library itself")
    with open("script", "w", encoding="utf-8") as file:
        file.write("#!%s x\n" % os.path.abspath("plain"))
    os.chmod("script", 0o755)
    checks.equal(plan(checks, "./script")["objects"][0]["object"], "plain", "what runs a script")


def check_ways(checks):
    """What record would not patch, is not shown as patched."""
    def asked(*arguments):
        done = harness.run("record", "--dry-run", "--json", *arguments)
        return [o["object"] for o in done.json()["objects"]] if done.status == 0 else None, done.err.decode()

    build("hooks", "-finstrument-functions")
    objects, said = asked("./hooks")
    checks.that(objects == [] and "has the calls of -finstrument-functions, through which it is recorded" in said, "hooks", objects, said)
    checks.equal(asked("--how", "patch", "./hooks")[0], ["hooks"], "hooks, --how patch")
    objects, said = asked("--libs", "libc.so*", "./hooks")
    checks.that(objects is None and "--libs goes with --how patch" in said, "hooks, --libs", objects, said)
    objects, said = asked("--how", "linked", "./plain")
    checks.that(objects is None and "has no recorder in it; build it" in said, "--how linked", objects, said)
    objects, said = asked("--any", "./plain")
    checks.that(objects == [] and "./plain: is recorded by recorders that are linked into what it starts" in said, "--any", objects, said)
    library = os.environ.get("TL_RT_LIBRARY", "")
    if os.path.exists(library) and build("linked", "-finstrument-functions", "-Wl,-u,tl_rt_life,-u,__cyg_profile_func_enter", library, "-lpthread"):
        objects, said = asked("./linked")
        checks.that(objects == [] and "./linked: has the recorder in it, which records it" in said, "linked", objects, said)
    sleds = ["-x", "c", "-", "-O1", "-fxray-instrument", "-fxray-instruction-threshold=1"]
    if shutil.which("clang") and subprocess.run(["clang", *sleds, "-o", "sleds"], input=SOURCE.encode(), capture_output=True).returncode == 0:
        objects, said = asked("--libs", "libc.so*", "./sleds")
        checks.that(len(objects) == 1 and objects[0].startswith("libc") and "./sleds: has sleds" in said, "sleds", objects, said)


def check_memory(checks):
    """Libraries that no pattern selects are not read."""
    most = {}
    for name, size in (("little", 1), ("large", 128 << 20)):
        build("lib%s.so" % name, "-shared", "-fPIC", source="char data[%d] = {1}; int part(void) { return 1; }" % size)
        build(name, "-Wl,--no-as-needed,-rpath,$ORIGIN", "lib%s.so" % name)
        command = subprocess.Popen(harness.binary() + ["record", "--dry-run", "-q", "./" + name], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(command.pid, 0)
        checks.equal(status, 0, name)
        most[name] = usage.ru_maxrss
    checks.that(most["large"] < most["little"] + (64 << 10), "KiB of memory:", most)


def check_refusals(checks):
    if build("static", "-static"):
        done = harness.run("record", "--dry-run", "./static")
        checks.that(done.status == 125 and b"is linked statically" in done.err, done)
    with open("text", "w", encoding="utf-8") as file:
        file.write("no program\n")
    for arguments, part in ((["./text"], "not an ELF file"), (["./nothing"], "cannot be run"), (["--to", "xray", "./plain"], "--dry-run writes table, json"),
                            (["-o", "a.svg", "./plain"], "--dry-run writes table, json")):
        done = harness.run("record", "--dry-run", *arguments)
        checks.that(done.status == 125 and part.encode() in done.err, arguments, done)
    for option in ("--json", "--top=3", "--to=csv"):
        done = harness.run("record", option, "./plain")
        checks.that(done.status == 125 and b"goes with --dry-run" in done.err, option, done)
    with open("plain", "rb") as file:
        content = bytearray(file.read())
    headers = struct.unpack_from("<Q", content, 32)[0]
    count = struct.unpack_from("<H", content, 56)[0]
    first = next(i for i in range(count) if struct.unpack_from("<I", content, headers + 56 * i)[0] == 1)
    for name, part in (("far", "takes "), ("overlapping", "larger than the file")):
        changed = bytearray(content)
        if name == "far":
            struct.pack_into("<Q", changed, headers + 56 * first + 40, 1 << 33)    # in memory
        else:
            for i in range(count):
                if struct.unpack_from("<I", changed, headers + 56 * i)[0] == 1:
                    struct.pack_into("<Q", changed, headers + 56 * i + 8, 0)
                    struct.pack_into("<QQ", changed, headers + 56 * i + 32, len(changed), len(changed))
        with open(name, "wb") as file:
            file.write(changed)
        os.chmod(name, 0o755)
        done = harness.run("record", "--dry-run", "./" + name)
        checks.that(done.status == 125 and part.encode() in done.err, name, done)
        os.remove(name)


def check_limits(checks):
    build("tiny.so", "-shared", "-fPIC", "-nostdlib", source="int tiny(void) { return 1; }")
    os.makedirs("many")
    names = ["many/libtiny%d.so" % i for i in range(1100)]
    for name in names:
        shutil.copy("tiny.so", name)
    if build("needs", "-Wl,--no-as-needed,-rpath,$ORIGIN/many", *names):
        checks.equal(len(plan(checks, "--libs", "libtiny*", "./needs")["objects"]), 1 + 1024, "at most 1,024 libraries")
    # 300 functions, all with the same name of 60,000 bytes.
    code = "".join(".globl w%d\\n.type w%d,@function\\nw%d:\\n.cfi_startproc\\n.byte 6\\nret\\n.cfi_endproc\\n" % (i, i, i) for i in range(300))
    if build("long", source=SOURCE + '__asm__(".text\\n%s.globl %s\\n%s = w0\\n");' % (code, "n" * 60000, "n" * 60000)):
        with open("long", "rb") as file:
            content = bytearray(file.read())
        sections, count = struct.unpack_from("<Q", content, 40)[0], struct.unpack_from("<H", content, 60)[0]
        table = next(h for h in (struct.unpack_from("<IIQQQQIIQQ", content, sections + 64 * i) for i in range(count)) if h[1] == 2)
        strings = struct.unpack_from("<IIQQQQIIQQ", content, sections + 64 * table[6])[4]
        name = content.index(b"n" * 60000 + b"\0", strings) - strings
        for at in range(table[4], table[4] + table[5], 24):
            if content[strings + struct.unpack_from("<I", content, at)[0]] == ord("w"):
                struct.pack_into("<I", content, at, name)
        with open("long", "wb") as file:
            file.write(content)
        shown = [f["name"] for f in plan(checks, "./long")["left_out"] if f["what"] == "left out"]
        long = sum(1 for n in shown if n == "n" * 60000)
        checks.that(len(shown) == 300 and 250 <= long < 290 and all(n.startswith("long+0x") for n in shown if n != "n" * 60000),
                    "names of 16 MiB are shown:", long, "of", len(shown))


def damage(rng, content, headers, count):
    """Some fields of the headers, bytes of call frames, or any bytes."""
    changed = bytearray(content)
    kind = rng.randrange(4)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        if kind == 0:
            at = rng.randrange(64)
        elif kind == 1:
            at = headers + rng.randrange(56 * count)
        elif kind == 2 and b".eh_frame" in content:
            at = rng.randrange(0x2000, min(len(changed), 0x2400))
        else:
            at = rng.randrange(len(changed))
        changed[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
    if rng.randrange(8) == 0:
        del changed[rng.randrange(len(changed)):]
    return changed


def check_damage(checks):
    rng = random.Random(5)
    for name in ("plain", "folder/sub/libpart.so.1"):
        with open(name, "rb") as file:
            content = file.read()
        headers, count = struct.unpack_from("<Q", content, 32)[0], struct.unpack_from("<H", content, 56)[0]
        seen = set()
        for i in range(ROUNDS):
            with open("damaged", "wb") as file:
                file.write(damage(rng, content, headers, count))
            done = harness.run("record", "--dry-run", "--json", "--libs", "libpart*", "./damaged")
            seen.add(done.status)
            if not checks.that(done.status in (0, 125) and b"please report" not in done.err, name, "damaged, round", i, done):
                shutil.copy("damaged", os.path.join(os.environ.get("TL_WORK", "/tmp"), "damaged.elf"))
        checks.equal(seen, {0, 125}, "both a table and a message were seen")


def main():
    if harness.run("record", "--dry-run", sys.executable).err.find(b"is for ") >= 0:
        harness.skip("the command is for another machine")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        os.chdir(folder)
        if not build("plain"):
            harness.skip("no gcc")
        for part in (check_plain, check_reasons, check_selection, check_libraries, check_ways, check_memory, check_refusals, check_limits, check_damage):
            part(checks)
        os.chdir("/")
    checks.end()


main()
