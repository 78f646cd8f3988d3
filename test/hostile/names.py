#!/usr/bin/env python3
"""Names that collided in hash tables without a key take no more steps than others: names.py STEPS_COMMAND COLLISIONS KIND | --list

STEPS_COMMAND counts its steps (steps.c), and COLLISIONS prints names of one former hash (old_collisions.h). For each kind
of names there is a trace with those, and another with names of the same length and letters; each verb may take half as
many steps again. Thousands of colliding names would take ten times as many and more. Steps do not depend on the machine."""
import os
import random
import shutil
import string
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import recording_gen
from elf_gen import build_elf

NAMES, MOST = 2048, 1.5
LETTERS = string.ascii_letters + string.digits + "_"
CTF18 = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := u32;
trace { major = 1; minor = 8; byte_order = le; };
"""
U32 = '{"type":"fixed-length-unsigned-integer","length":32,"byte-order":"little-endian","alignment":8%s}'
TO_CTF = [["convert", "--to", "ctf", "--format-version", version, "-o", "out"] for version in ("1.8", "2", "1.1")]
TO_TEXT = [["convert", "--to", to, "-o", "-"] for to in ("jsonl", "csv", "text")]
TO_TIMELINES = [["convert", "--to", to, "-o", "-"] for to in ("chrome", "perfetto", "speedscope")]
TO_PROFILES = [["convert", "--to", to, "-o", "-"] for to in ("tlp", "pprof", "callgrind", "folded", "svg", "dot")]
READ = [["info"], ["check"]]
REPORTS = [["report", "--by", by] for by in ("func", "callers", "tree")]


def write(path, *parts):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for part in parts:
            file.write(part if isinstance(part, bytes) else part.encode())
    return path


# Each makes a trace of names below a path and returns its words for the command, and the verbs.

def ctf18(path, metadata, data=b""):
    write(os.path.join(path, "metadata"), CTF18, metadata)
    write(os.path.join(path, "stream"), data)
    return [path]


def ctf2(path, *fragments):
    preamble = '{"type":"preamble","version":2}', '{"type":"trace-class"}'
    write(os.path.join(path, "metadata"), *("\x1e" + f + "\n" for f in (*preamble, *fragments)))
    write(os.path.join(path, "stream"), b"")
    return [path]


def header(names):
    return "stream { event.header := struct { u32 id; }; };\n" + "".join("event { name = \"%s\"; id = %d; };\n" % (name, i) for i, name in enumerate(names))


def numbers(n):
    return b"".join(struct.pack("<I", i) for i in range(n))


def ctf_events(path, names):
    return ctf18(path, header(names), numbers(len(names))), READ + TO_CTF + TO_TEXT


def ctf_fields(path, names):
    fields = "".join("u32 %s;" % name for name in names)
    return ctf18(path, "stream { };\nevent { name = a; fields := struct { %s }; };\n" % fields, bytes(4 * len(names))), READ + TO_CTF + TO_TEXT


def ctf_labels(path, names):
    return ctf18(path, "stream { };\nevent { name = a; fields := struct { enum : u32 { %s } x; }; };\n" % ", ".join(names),
                 numbers(len(names))), READ + TO_CTF + TO_TEXT


def ctf_types(path, names):
    types = "".join("typealias u32 := %s;\nstruct s%s { %s x; };\n" % (name, name, name) for name in names)
    return ctf18(path, types + "stream { };\nevent { name = a; fields := struct { struct s%s x; }; };\n" % names[-1]), READ


def ctf_options(path, names):
    labels, options = ", ".join(names), "".join("u32 %s;" % name for name in names)
    return ctf18(path, "stream { };\nevent { name = a; fields := struct { enum : u32 { %s } by; variant <by> { %s } x; }; };\n"
                 % (labels, options), b"".join(struct.pack("<II", i, i) for i in range(len(names)))), READ + TO_CTF


def ctf_environment(path, names):
    return ctf18(path, "env { %s };\nstream { };\nevent { name = a; };\n" % "".join("%s = 1;" % name for name in names)), [["info"]] + TO_CTF


def ctf_streams(path, names):
    words = ctf18(path, "stream { };\nevent { name = a; fields := struct { u32 x; }; };\n", bytes(8))
    for name in names[:512]:
        write(os.path.join(path, name), bytes(8))
    return words, READ + TO_CTF


def joined(path, names):
    """Two traces with the same event classes."""
    return ctf_events(os.path.join(path, "a"), names)[0] + ctf_events(os.path.join(path, "b"), names)[0], [["cat"]] + TO_TEXT[:1]


def ctf2_events(path, names):
    return ctf2(path, '{"type":"data-stream-class"}', *('{"type":"event-record-class","id":%d,"name":"%s"}' % (i, name) for i, name in
                                                         enumerate(names))), READ


def structure(members):
    return '{"type":"structure","member-classes":[%s]}' % ",".join(members)


def ctf2_of(path, payload, *before):
    return ctf2(path, *before, '{"type":"data-stream-class"}', '{"type":"event-record-class","name":"a","payload-field-class":%s}' % payload)


def ctf2_fields(path, names):
    return ctf2_of(path, structure('{"name":"%s","field-class":%s}' % (name, U32 % "") for name in names)), READ + TO_CTF


def ctf2_labels(path, names):
    labels = ",".join('"%s":[[%d,%d]]' % (name, i, i) for i, name in enumerate(names))
    return ctf2_of(path, structure(['{"name":"x","field-class":%s}' % (U32 % (',"mappings":{%s}' % labels))])), READ + TO_CTF


def ctf2_aliases(path, names):
    aliases = ['{"type":"field-class-alias","name":"%s","field-class":%s}' % (name, U32 % "") for name in names]
    return ctf2_of(path, structure(['{"name":"x","field-class":"%s"}' % names[-1]]), *aliases), READ


def converted(make, version):
    """The same names as CTF of 2010, or as another format."""
    def derive(path, names):
        words, _ = make(path + ".first", names)
        harness.run("convert", *words, *version, "-o", path)
        return [path], READ + TO_CTF
    return derive


def log_of(path, lines):
    return [write(path + ".log", "prf stm 2018-06-25 07:24:28.049\nprf cfg CollectionMethod Sampling\nthr crt 0x00007F0028000CA0 0x0\nthr aos 0x0 5483\n", *lines)]


def log_functions(path, names):
    """Each one is on the stack, and allocates."""
    lines = ["fun nam %#x \"%s\" \"void\" \"()\"\n" % (i, name) for i, name in enumerate(names)]
    lines += ["sam str 0x0 %d 1 0:0 %#x:0x7F001E9A826A\nsam mem 0x0 %d 0x1:1:56\n" % (i + 1, i, i + 1) for i in range(len(names))]
    return log_of(path, lines), READ + REPORTS + TO_TIMELINES + TO_PROFILES + TO_CTF + [["convert", "--to", "tracelog", "-o", "-"],
                                                                                          ["report", "--by", "alloc"]]


def log_types(path, names):
    lines = ["cls nam %#x \"%s\"\n" % (i, name) for i, name in enumerate(names)]
    lines += ["sam mem 0x0 %d %#x:1:56\n" % (i + 1, i) for i in range(len(names))]
    return log_of(path, lines), READ + [["report", "--by", "alloc"], ["report", "--by", "heap"]] + TO_TEXT[:1]


def log_modules(path, names):
    lines = ["mod ldf %#x %#x ? 0x0 \"/%s.dll\"\n" % (0x7F0026E24020 + 8 * i, 0x7F0036ED0000 + 4096 * i, name) for i, name in enumerate(names)]
    lines += ["asm ldf %#x 0x1 %#x 0x0 \"%s\"\n" % (0x7F0010478560 + 8 * i, 0x7F0026E24020 + 8 * i, name) for i, name in enumerate(names)]
    return log_of(path, lines), READ + TO_CTF[:1]


def xray_symbols(path, names):
    """A call of each function of a binary."""
    records = [struct.pack("<HHIQ16x", 3, 0, 3, 10**9)]
    for i in range(1, len(names) + 1):
        records += [struct.pack("<HBBiQII8x", 0, 0, kind, i, 1000 + 2 * i + kind, 1, 1) for kind in (0, 1)]
    return [write(path + ".xray", *records), "-e", write(path + ".elf", build_elf(list(names)))], REPORTS + TO_TIMELINES + TO_PROFILES + TO_CTF


def recorded(path, notes):
    made = recording_gen.Recorder([], {}, "/opt/app")
    made.notes_of_begin()
    for note in notes:
        made.note(note)
    made.finish()
    return [write(path + ".xray", bytes(made.data))], READ + TO_TEXT[:1]


def recording_functions(path, names):
    return recorded(path, ("function id=%d name=%s" % (1000 + i, name) for i, name in enumerate(names)))


def recording_threads(path, names):
    return recorded(path, ("thread tid=%d name=%s" % (1 + i, name) for i, name in enumerate(names)))


def profile_functions(path, names):
    words, _ = log_functions(path, names)
    harness.run("convert", *words, "--to", "tlp", "-o", path + ".tlp")
    return [path + ".tlp", path + ".tlp"], REPORTS + TO_PROFILES


KINDS = {"ctf-events": ctf_events, "ctf-fields": ctf_fields, "ctf-labels": ctf_labels, "ctf-types": ctf_types, "ctf-options": ctf_options,
         "ctf-environment": ctf_environment, "ctf-streams": ctf_streams, "joined": joined, "ctf2-events": ctf2_events,
         "ctf2-fields": ctf2_fields, "ctf2-labels": ctf2_labels, "ctf2-aliases": ctf2_aliases,
         "ctf2010-events": converted(ctf_events, ["--to", "ctf", "--format-version", "1.1"]),
         "ctf2010-fields": converted(ctf_fields, ["--to", "ctf", "--format-version", "1.1"]),
         "log-functions": log_functions, "log-types": log_types, "log-modules": log_modules, "xray-symbols": xray_symbols,
         "recording-functions": recording_functions, "recording-threads": recording_threads, "profile-functions": profile_functions}


class Counted:
    def __init__(self, command, work):
        self.command, self.work = command, work

    def steps(self, words):
        """(exit status, steps)"""
        told, out = (os.path.join(self.work, name) for name in ("steps", "out"))
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run([self.command, words[0], "--threads", "1", *words[1:]], cwd=self.work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=300, env=dict(os.environ, TL_STEPS=told, TRACELOOM_NO_CACHE="1"))
        with open(told, encoding="utf-8") as file:
            return done.returncode, int(file.read()), done.stderr.decode(errors="replace")


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(KINDS))
        return
    command, collisions, kind = sys.argv[1:]
    n = int(os.environ.get("TL_NAMES", NAMES))
    met = subprocess.run([collisions, str(n)], capture_output=True, text=True, check=True).stdout.split()
    chance = random.Random(1)
    other = [chance.choice(string.ascii_letters) + "".join(chance.choices(LETTERS, k=len(met[0]) - 1)) for _ in met]
    checks = harness.Checks()
    with harness.work_folder() as work:
        counted = Counted(os.path.abspath(command), work)
        words, verbs = KINDS[kind](os.path.join(work, "met"), met)
        ordinary, _ = KINDS[kind](os.path.join(work, "other"), other)
        for verb in verbs:
            a, b = counted.steps([verb[0], *words, *verb[1:]]), counted.steps([verb[0], *ordinary, *verb[1:]])
            told = "%s: status %d, %d steps of names that met, %d of others" % (" ".join(verb), a[0], a[1], b[1])
            print("%s, %.2f" % (told, a[1] / max(b[1], 1)))
            checks.that(a[0] == b[0] and a[0] < 2, told, a[2][:200], b[2][:200])
            checks.that(a[1] <= MOST * b[1], told)
            checks.that(b[1] > n, told, "but each name takes some")
    checks.end()


if __name__ == "__main__":
    main()
