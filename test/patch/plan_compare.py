#!/usr/bin/env python3
"""What the planner finds in programs of this machine, beside objdump's instructions and readelf's ranges: each function that is to
be patched has all its ends, at the instructions that end it, and nothing else is one: plan_compare.py TOOL, patch_shares."""
import bisect
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
from frames_compare import some_files

MOST = 4 << 20      # bytes of a file: objdump writes thirty times as much
FILES = 8
OK, PART = 0, 1
LINE = re.compile(r" *([0-9a-f]+):\t((?:(?:bnd|notrack|repz|repnz|rep|lock|[cdefgs]s|data16|rex\S*|cs|addr32) )*)(\S+) *(.*)")
FRAME = re.compile(r"[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE cie=[0-9a-f]+ pc=([0-9a-f]+)\.\.([0-9a-f]+)")
TARGET = re.compile(r"(?:.*, *)?(?:0x)?([0-9a-f]+)(?: <.*)?$")
DEAD = {"nop", "nopw", "nopl", "int3", "xchg", "data16", "hlt", "int1", "icebp"}


class Plan:
    def __init__(self, text):
        self.function, self.site = {}, {}
        for line in text.splitlines():
            word = line.split()
            if word[0] == "F":
                begin, size, parent, entry = (int(word[i], 16) for i in (1, 2, 4, 5))
                self.function[begin] = (size, int(word[3]), parent, begin + entry)
            else:
                self.site[int(word[1], 16)] = (int(word[2]), int(word[3]), word[4], word[5] == "1", int(word[6], 16), int(word[7], 16))
        self.begins = sorted(self.function)

    def range_of(self, address):
        """The begin of the range that has the address, or None."""
        at = bisect.bisect_right(self.begins, address) - 1
        return self.begins[at] if at >= 0 and address < self.begins[at] + self.function[self.begins[at]][0] else None

    def owner_of(self, address):
        begin = self.range_of(address)
        return None if begin is None else self.function[begin][2]


def instructions(path, tool):
    """[(address, mnemonic, operands)]."""
    found = []
    process = subprocess.Popen([tool, "-d", "-w", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        match = LINE.match(line)
        if match:
            found.append((int(match[1], 16), match[3], match[4].split("#")[0].split("//")[0].rstrip()))
    process.wait()
    return found


def expected(plan, begin, mnemonic, operands):
    """(kind, target) of the site that an instruction of a range must be; None: of none; "indirect": perhaps of that."""
    owner = plan.function[begin][2]
    if mnemonic.startswith("ret"):
        return ("return", 0)
    jumps = mnemonic.startswith("j") or re.fullmatch(r"b|b\..*|cbn?z|tbn?z|loop\w*", mnemonic)
    if mnemonic in ("br", "braa", "brab", "braaz", "brabz") or jumps and operands.startswith("*"):
        return "indirect"
    if not jumps:
        return None
    target = int(TARGET.match(operands)[1], 16)
    there = plan.owner_of(target)
    if there != owner:  # fragments of nobody never come back
        return None if there is not None and plan.function[there][1] == PART else ("tail", target)
    return ("self", target) if target in (owner, plan.function[owner][3]) else None


def compare(checks, path, plan, code):
    places = {at: i for i, (at, _, _) in enumerate(code)}
    ends = 0
    for at, mnemonic, operands in code:
        begin = plan.range_of(at)
        if begin is None or plan.function[plan.function[begin][2]][1] != OK:
            continue
        want, site = expected(plan, begin, mnemonic, operands), plan.site.get(at)
        if want == "indirect":
            want = ("indirect", 0) if site and site[2] == "indirect" else None
        if want is None and site:
            want = ("entry", site[4])
        ends += want is not None
        if not checks.equal((site[2], site[4]) if site else None, want, "%s: %x %s %s" % (path, at, mnemonic, operands)):
            return
    for begin, (size, why, parent, entry) in plan.function.items():
        if why == OK:
            checks.that(entry in plan.site and plan.site[entry][3] and plan.site[entry][5] == begin, "%s: entry of %x" % (path, begin))
            checks.that(entry == begin or code[places[begin]][1] in ("endbr64", "bti", "paciasp"), "%s: begin of %x" % (path, begin))
    for at, (length, room, kind, entry, _, _) in plan.site.items():
        good = at in places and (at + length in places or at + length == code[-1][0] or plan.range_of(at + length) is None)
        inside = [code[places[i]][1] for i in range(at + length, at + room) if i in places]
        checks.that(good and all(word in DEAD for word in inside), "%s: site %x of %d in %d: %s" % (path, at, length, room, inside))
    print("%s: %d functions, %d sites" % (path, len(plan.function), ends))


def main():
    tool = harness.command_words(sys.argv[1])
    if not shutil.which("objdump"):
        harness.skip("no objdump to compare with (apt-get install binutils)")
    checks, sites = harness.Checks(), 0
    for path in [p for p in some_files() if os.path.getsize(p) < MOST][:None if harness.THOROUGH else FILES]:
        with open(path, "rb") as file:
            objdump = "aarch64-linux-gnu-objdump" if file.read(20)[18] == 183 else "objdump"
        done = subprocess.run([*tool, "-s", path], capture_output=True, text=True)
        if done.returncode or not shutil.which(objdump):
            continue
        plan = Plan(done.stdout)
        frames = subprocess.run(["readelf", "--debug-dump=frames", "-W", path], capture_output=True, text=True).stdout
        ranges = {(int(m[1], 16), int(m[2], 16)) for m in map(FRAME.match, frames.splitlines()) if m}
        got = {(begin, begin + f[0]) for begin, f in plan.function.items()}
        checks.equal(sorted(got ^ {r for r in ranges if r[0] < r[1]})[:5], [], "%s: ranges" % path)
        compare(checks, path, plan, instructions(path, objdump))
        sites += len(plan.site)
    checks.that(sites > 10000, "enough sites")
    checks.end()


if __name__ == "__main__":
    main()
