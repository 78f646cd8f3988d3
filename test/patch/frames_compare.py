#!/usr/bin/env python3
"""Our walk over .eh_frame and its rows beside readelf's: frames_compare.py TOOL, frame_rows."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

MOST = 8 << 20      # bytes of a file: readelf takes a minute for 100 MB
FILES = 24
REGISTERS = {name: number for number, name in enumerate(
    "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split())}
ENTRY = re.compile(r"([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ (?:CIE \"([^\"]*)\"|FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+))")
ROW = re.compile(r"([0-9a-f]{16}) (\S+) ")


def some_files():
    """Those that many programs use, and the largest others: [path]."""
    names = ("ld-linux-x86-64.so.2", "libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libcrypto.so.3", "libz.so.1")
    found = [path for name in names for path in glob.glob("/lib*/*/" + name) + glob.glob("/lib*/" + name)]
    found += [path for name in ("bash", "python3", "git", "perl", "gdb", "openssl") for path in [shutil.which(name)] if path]
    found += sorted(glob.glob("/usr/aarch64-linux-gnu/lib/lib*.so*"))[:6]
    others = sorted(glob.glob("/usr/lib/*/*.so*") + glob.glob("/usr/bin/*"), key=os.path.getsize, reverse=True)
    unique = {}
    for path in map(os.path.realpath, found + others):
        if os.path.isfile(path) and os.path.getsize(path) < MOST:
            with open(path, "rb") as file:
                if file.read(5) == b"\x7fELF\x02":
                    unique.setdefault(path)
    return list(unique)[:None if harness.THOROUGH else FILES]


def cfa(text):
    if text in ("exp", "vexp"):
        return "exp"
    name, offset = re.fullmatch(r"([a-z0-9]+)([+-]\d+)", text).groups()
    number = REGISTERS[name] if name in REGISTERS else 31 if name == "sp" else int(name.lstrip("rx"))
    return "r%d%+d" % (number, int(offset))


def of_readelf(path):
    """[(range, rows)], rows that change the address or whether there is a return address, and whether it has an end."""
    out = subprocess.run(["readelf", "--debug-dump=frames-interp", "-W", path], capture_output=True, text=True).stdout
    if "Contents of the .eh_frame section" not in out:
        return None
    signal, entries, rows, columns, common = {}, [], None, [], {}
    for line in out.split("Contents of the .debug_frame")[0].splitlines():
        entry, row = ENTRY.match(line), ROW.match(line)
        if entry and entry[2] is not None:
            offset = int(entry[1], 16)
            signal[offset], common[offset] = "S" in entry[2], []
            rows, end = common[offset], None
        elif entry:
            cie, begin, end = (int(entry[i], 16) for i in (3, 4, 5))
            # an entry without rules of its own may have no row: then that of the common entry holds
            rows = [(begin, what) for _, what in common[cie][-1:]]
            entries.append(("%x..%x%s" % (begin, end, " S" if signal[cie] else ""), rows))
        elif line.lstrip().startswith("LOC"):
            columns = line.split()
        elif row and rows is not None:
            words, at = re.sub(r" \(\w+\)", "", line).split(), int(row[1], 16)
            lost = " u" if "ra" in columns and words[columns.index("ra")] == "u" else ""
            if row[2].startswith("sp") or row[2].startswith("x"):
                lost = ""   # AArch64: readelf also calls those undefined that have no rule
            if end is None or at < end:
                while rows and rows[-1][0] == at:
                    rows.pop()
                rows.append((at, cfa(row[2]) + lost))
    found = []
    for name, rows in entries:
        changes = [row for i, row in enumerate(rows) if i == 0 or rows[i - 1][1] != row[1]]
        found.append((name, ["  %x %s" % row for row in changes]))
    return found, "ZERO terminator" in out


def of_ours(tool, path):
    done = subprocess.run([*tool, path], capture_output=True, text=True)
    found, damaged = [], False
    for line in done.stdout.splitlines():
        if line.startswith(" "):
            found[-1][1].append(line.replace(" u", "") if " r31" in line or " r29" in line else line)
        elif line == "damaged":
            damaged = True
        else:
            found.append((line, []))
    return (found, damaged) if done.returncode == 0 else None


def main():
    tool = harness.command_words(sys.argv[1])
    if not shutil.which("readelf"):
        harness.skip("no readelf to compare with (apt-get install binutils)")
    checks, files, ranges, rows = harness.Checks(), 0, 0, 0
    for path in some_files():
        want = of_readelf(path)
        if want is None:
            continue
        got = of_ours(tool, path)
        if not checks.that(got is not None, "%s: has entries" % path):
            continue
        (got, damaged), (want, ended) = got, want
        checks.equal(len(got), len(want), "%s: entries" % path)
        checks.equal(damaged, not ended, "%s: damaged" % path)
        for ours, theirs in zip(got, want):
            if ours != theirs:
                checks.equal(ours, theirs, path)
                break
        files, ranges, rows = files + 1, ranges + len(got), rows + sum(len(r) for _, r in got)
    print("%d files, %d entries, %d rows" % (files, ranges, rows))
    checks.that(files >= 3 and ranges > 1000, "enough to compare")
    checks.end()


if __name__ == "__main__":
    main()
