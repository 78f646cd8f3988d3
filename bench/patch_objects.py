"""What patching costs when a program starts, and how much of it is patched: programs are stopped at their own first
instruction (until_entry.c), and the notes of the recording say what was patched by then."""
import os
import re
import struct
import subprocess

from bench_tools import BAR_HEAD, MB, bar_line

# (program, patterns of libraries)
STARTS = [("/usr/bin/gzip", ()), ("/usr/bin/lua5.4", ()), ("/usr/bin/bash", ()), ("/usr/bin/git", ()), ("/usr/bin/python3.11", ()), ("/usr/bin/gdb", ()),
          ("/usr/lib/gcc/x86_64-linux-gnu/12/cc1", ()), ("/usr/lib/llvm-14/bin/clang", ("libLLVM*",)), ("/usr/lib/llvm-14/bin/clang", ("*",))]
# More, for shares alone.
SHARES = [("/usr/bin/" + name, ()) for name in ("bzip2", "xz", "sqlite3", "dash", "perl", "gawk", "sed", "jq", "openssl", "redis-server")]
SHARES += [("/usr/bin/gdb", ("*", "libc.*", "libgcc_s.*"))]
BASE_MS, MS_A_MB = 10, 10                # the bar of a start
LIBRARY_MB = 200                         # the bar of libLLVM's memory
SHOWN_MB = 0.4                           # smaller libraries are in the bars only
CLASSES = (("PIE programs", 0.995), ("libraries", 0.99), ("programs that are not PIE", 0.97))


class Started:
    """One program, as it is and patched: (ns, ns of processor time, KiB resident, KiB of its own), the best of each."""

    def __init__(self, program, libraries):
        self.program, self.libraries = program, libraries
        self.best, self.objects, self.wrong = {}, [], None

    def name(self):
        return os.path.basename(self.program) + ("" if not self.libraries else ", libraries " + " ".join("`%s`" % lib for lib in self.libraries))

    def run(self, tool, library, place, patched):
        base = os.path.join(place, "start")
        words = [tool]
        if patched:
            settings = "patch=on:mode=profile:quiet=on:out=%s%s" % (base, "".join(":libs=" + lib for lib in self.libraries))
            words += ["LD_PRELOAD=" + library, "TRACELOOM=" + settings]
        done = subprocess.run(words + [self.program], cwd=place, capture_output=True, text=True)
        if done.returncode:
            self.wrong = done.stderr.strip()[-200:]
        else:
            figures = [float(word) for word in done.stdout.split()[-4:]]
            self.best[patched] = [min(pair) for pair in zip(figures, self.best.get(patched, figures))]
        for path in sorted(os.listdir(place)):
            path = os.path.join(place, path)
            if patched:
                self.objects = objects_of(path) or self.objects
            os.unlink(path)

    def more(self, i):
        return self.best[True][i] - self.best[False][i]

    def code(self):
        """MB of all objects that are patched."""
        return sum(o["code"] for o in self.objects)


def elf(path):
    """Its kind, one of the words of CLASSES, and MB of instructions: of its sections, or if there are none, of its segments."""
    with open(path, "rb") as file:
        head = file.read(64)
        kind, = struct.unpack_from("<H", head, 16)
        parts_at, sections_at = struct.unpack_from("<QQ", head, 32)
        part_size, parts, section_size, sections = struct.unpack_from("<HHHH", head, 54)
        file.seek(parts_at)
        part = [struct.unpack_from("<IIQQQQ", file.read(part_size)) for _ in range(parts)]
        file.seek(sections_at)
        section = [struct.unpack_from("<IIQQQQ", file.read(section_size)) for _ in range(sections)]
    code = sum(s[5] for s in section if s[2] & 4) or sum(p[5] for p in part if p[0] == 1 and p[1] & 1)
    program = any(p[0] == 3 for p in part) and not re.search(r"\.so(\.|$)", path)
    return CLASSES[2][0] if kind == 2 else CLASSES[0][0] if program else CLASSES[1][0], code / MB


def objects_of(path):
    """Of each object with a note of what was patched: its path, kind, code, and the numbers of the note."""
    with open(path, "rb") as file:
        data = file.read()
    paths = dict(re.findall(rb"object id=(\d+) [^\n\0]*?path=([^\n\0]+)\n", data))
    found = {}
    for number, rest in re.findall(rb"patched object=(\d+) ([^\n\0]*)\n", data):
        if number in paths:
            name = os.fsdecode(paths[number])
            o = dict({key.decode(): int(value) for key, value in re.findall(rb"([\w-]+)=(\d+)", rest.split(b" why=")[0])}, path=name)
            o["kind"], o["code"] = elf(name)
            found[name] = o
    return list(found.values())


def place_of(args):
    place = os.path.join(args.folder, "start-place")
    os.makedirs(place, exist_ok=True)
    return place


def known(programs):
    return [Started(*program) for program in programs if os.path.exists(program[0])]


def measure_starts(args, library, tool):
    """[Started], in turns."""
    programs, place = known(STARTS), place_of(args)
    for _ in range(args.repeat):
        for program in programs:
            for patched in (False, True):
                if not program.wrong:
                    program.run(tool, library, place, patched)
    return programs


def start_tables(programs):
    lines = ["### Patched programs: their start", "",
             "From the end of exec to the program's own first instruction, without and with patching. Memory is what has changed in the process alone; "
             "resident are also pages of files, which the kernel can take back.", "",
             "| program | code | functions | start | patched | more | by processor time | demanded | a MB of code | memory more | resident more |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    bars = list(BAR_HEAD)
    for p in programs:
        if p.wrong or not p.objects:
            lines.append("| %s | | | | | | | | | FAILS, %s | |" % (p.name(), p.wrong or "nothing was patched"))
            continue
        most, more, work = BASE_MS + MS_A_MB * p.code(), p.more(0) / 1e6, p.more(1) / 1e6
        own, resident = p.more(3) * 1024 / MB, p.more(2) * 1024 / MB
        lines.append("| %s | %.2f MB | %d | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.1f MB | %.1f MB |" % (
            p.name(), p.code(), sum(o["functions"] for o in p.objects), p.best[False][0] / 1e6, p.best[True][0] / 1e6, more, work, most,
            work / p.code(), own, resident))
        bars.append(bar_line("start of %s" % p.name(), "%.1f ms" % more, "%.1f ms" % work, "<= %.1f ms" % most, more <= most))
        if p.libraries == ("libLLVM*",):
            bars.append(bar_line("memory of %s" % p.name(), "%.0f MB" % own, "", "<= %d MB" % LIBRARY_MB, own <= LIBRARY_MB))
    return lines + [""] + bars


def look(args, library, tool):
    """Objects of all programs, each of them once."""
    place, found = place_of(args), {}
    for p in known(STARTS + SHARES):
        p.run(tool, library, place, True)
        for o in p.objects:
            found.setdefault(os.path.realpath(o["path"]), o)
    return list(found.values())


def percent(n, of):
    return "%.2f %%" % (100 * n / of) if of else ""


def share_tables(objects):
    lines = ["### Patched programs: how much of them", "", "As they are in Debian, stripped. An end is a return or a tail call. Libraries of less than %.1f MB of code are in the bars only." % SHOWN_MB, "",
             "| object | code | functions | patched | ends | patched | functions whose end is late |", "|---|---:|---:|---:|---:|---:|---:|"]
    bars = list(BAR_HEAD)
    for kind, least in CLASSES:
        mine = sorted((o for o in objects if o["kind"] == kind), key=lambda o: o["code"])
        if not mine:
            continue
        for o in mine:
            if kind == CLASSES[1][0] and o["code"] < SHOWN_MB:
                continue
            lines.append("| %s | %.2f MB | %d | %s | %d | %s | %d |" % (
                os.path.basename(o["path"]), o["code"], o["functions"], percent(o["patched"], o["functions"]), o["ends"],
                percent(o["ends-patched"], o["ends"]), o["late"]))
        for what, part, whole in (("functions", "patched", "functions"), ("ends", "ends-patched", "ends")):
            share = sum(o[part] for o in mine) / max(1, sum(o[whole] for o in mine))
            low = min((o for o in mine if o[whole]), key=lambda o: o[part] / o[whole])
            bars.append(bar_line("%s of %s; the lowest: %s, %s" % (what, kind, os.path.basename(low["path"]), percent(low[part], low[whole])),
                                 percent(share, 1), "", ">= %.1f %%" % (100 * least), share >= least))
    return lines + [""] + bars
