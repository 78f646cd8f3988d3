#!/usr/bin/env python3
"""Checks what the recorder's machine code uses: rt_symbols.py PREFIX_OF_BINUTILS LIBRARY.a...

The recorder runs inside other programs, in the middle of any of their functions. So in the code linked into them

  * an object uses only those symbols of other libraries that rt-symbols.txt allows it, with a reason;
  * nothing at all allocates, prints or takes a lock of libc's;
  * code reachable from hooks by calls uses nothing of another library, whatever its object may use;
  * no instruction touches a vector register, and no object demands an executable stack.

Lines of rt-symbols.txt: `use OBJECT SYMBOL why`, `data OBJECT SYMBOL why` (no function), `hook FUNCTION why` (where hooks come in; `*` stands for anything),
`cold FUNCTION why` (only called once the recording is begun or ended: the walk stops there), `vector FUNCTION why`.
A word such as `hook@aarch64` or `hook@x86-64` is for one machine."""
import fnmatch
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

NEVER = re.compile(r"(m|c|re|memalign|posix_mem|aligned_)?alloc|free|strn?dup|v?(f|s|sn|d|as)?printf|puts|f(open|close|write|read|put[cs]|flush)"
                   r"|pthread_(mutex|rwlock|cond|once|spin).*|dl(open|sym)|__tls_get_addr|_Z.*|.*_chk")
# Compilers add calls of these anywhere. All code but hooks may contain them.
MADE_UP = {"memcpy", "memmove", "memset", "memcmp"}
# Defined by the linker itself.
LINKER = re.compile(r"_GLOBAL_OFFSET_TABLE_|__(start|stop)_\w+|__ehdr_start|_DYNAMIC")
X86_VECTOR = re.compile(r"%(?:[xyz]?mm\d+|st\b|k[0-7]\b)")
ARM_VECTOR = re.compile(r"(?<![\w#.])[vzqdshb](?:[12]?\d|3[01])(?:\.\w+|\[\d+\])*(?!\w)")
SECTION = re.compile(r"^Disassembly of section (\S+):$")
FUNCTION = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
INSTRUCTION = re.compile(r"^ +[0-9a-f]+:\t(.*)$")
RELOCATION = re.compile(r"^\s+[0-9a-f]+: (R_\w+)\s+(\S+)$")
TARGET = re.compile(r"\b[0-9a-f]+ <([^>+]+)(?:\+0x[0-9a-f]+)?>")
MEMBER = re.compile(r"^(\S+\.o(?:bj)?):\s+file format")


def tool(name, *arguments):
    done = subprocess.run([sys.argv[1] + name] + list(arguments), capture_output=True, text=True)
    if done.returncode:
        harness.skip("%s%s fails: %s" % (sys.argv[1], name, done.stderr.strip()[:200]))
    return done.stdout


def source_name(member):
    """The object's source: rt_lane.c of rt_lane.c.o."""
    return re.sub(r"\.o(bj)?$", "", os.path.basename(member))


def rules():
    """{kind: {key: why}}"""
    found = {"use": {}, "data": {}, "hook": {}, "cold": {}, "vector": {}}
    machine = "aarch64" if "elf64-littleaarch64" in tool("objdump", "-f", sys.argv[2]) else "x86-64"
    with open(os.path.join(harness.SOURCE, "test", "lint", "rt-symbols.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            words[0], _, only = words[0].partition("@")
            if only not in ("", machine):
                continue
            n = 3 if words[0] in ("use", "data") else 2
            if words[0] not in found or len(words) <= n:
                sys.exit("rt-symbols.txt: not a rule with a reason: " + line)
            found[words[0]][" ".join(words[1:n])] = " ".join(words[n:])
    return found


def symbols(library):
    """[(object, kind, name)] of all its objects, from nm: U and w undefined, T t W V a function, ..."""
    found, member = [], None
    for line in tool("nm", library).splitlines():
        if line.endswith(":"):
            member = source_name(line[:-1])
        elif line.strip():
            kind, name = line.split()[-2:]
            found.append((member, kind, name))
    return found


class Code:
    """Functions of libraries: the symbols that each mentions, and its instructions on vector registers. A static function
    is named OBJECT:NAME, because several objects may have one of that name."""

    def __init__(self):
        self.mentions, self.vector = {}, {}
        self.places = {}    # (object, section): [(address, function)], ascending
        self.open = []      # (function, object, section, place in it): resolved at the end

    def add(self, library, listed):
        own = {}
        for member, kind, name in listed:
            if kind in "tdbr":
                own.setdefault(member, set()).add(name)
        member = section = function = None
        for line in tool("objdump", "-dr", "--no-show-raw-insn", library).splitlines():
            found = MEMBER.match(line)
            if found:
                member = source_name(found.group(1))
                continue
            found = SECTION.match(line)
            if found:
                section = found.group(1)
                continue
            found = FUNCTION.match(line)
            if found:
                function = self.full(member, found.group(2), own)
                self.mentions.setdefault(function, set())
                self.places.setdefault((member, section), []).append((int(found.group(1), 16), function))
                continue
            found = RELOCATION.match(line)
            if found:
                self.relocation(function, member, own, *found.groups())
                continue
            found = INSTRUCTION.match(line)
            if found:
                self.instruction(function, member, own, found.group(1))

    def instruction(self, function, member, own, text):
        target = TARGET.search(text)
        if target:
            self.mentions[function].add(self.full(member, target.group(1), own))
        operands = "".join(re.sub(r"//.*", "", TARGET.sub("", text)).split(None, 1)[1:])
        if X86_VECTOR.search(operands) or ("%" not in operands and ARM_VECTOR.search(operands)):
            self.vector.setdefault(function, text.strip())

    def relocation(self, function, member, own, kind, name):
        name, _, place = re.sub("([-+])0x([0-9a-f]+)$", r" \1\2", name).partition(" ")
        if name.startswith("."):    # a static function by its place; x86 counts from the end of the instruction
            self.open.append((function, member, name, int(place or "0", 16) + (4 if kind.startswith("R_X86_64_P") else 0)))
        else:
            self.mentions[function].add(self.full(member, name, own))

    def close(self):
        for function, member, section, place in self.open:
            before = [name for address, name in self.places.get((member, section), ()) if address <= place]
            self.mentions[function].update(before[-1:])
        self.open = []

    @staticmethod
    def full(member, name, own):
        return "%s:%s" % (member, name) if name in own.get(member, ()) else name


def check_uses(checks, allowed, all_symbols):
    """Each undefined symbol is another recorder object's, or allowed, and no permission is unused."""
    defined = {name for _, kind, name in all_symbols if kind not in "Uwv"}
    used = set()
    for member, kind, name in all_symbols:
        if kind not in "Uwv" or name in defined or LINKER.fullmatch(name):
            continue
        keys = [key for key in allowed if fnmatch.fnmatchcase("%s %s" % (member, name), key)]
        used.update(keys)
        checks.that(keys or name in MADE_UP, member, "uses", name, "which rt-symbols.txt does not allow it")
        checks.that(not NEVER.fullmatch(name), member, "uses", name, "which allocates, prints or locks")
    for key in allowed:
        checks.that(key in used, "rt-symbols.txt allows what nobody does:", key)
    return {name for _, kind, name in all_symbols if kind in "Uwv" and name not in defined and not LINKER.fullmatch(name)}


def matches(function, pattern):
    """A pattern with a colon matches static functions of one object: rt_record.c:fdr_*."""
    return fnmatch.fnmatchcase(function if ":" in pattern else function.rpartition(":")[2], pattern)


def check_hooks(checks, found, code, outside):
    """Walks from the entries of hooks along all symbols that code mentions; mentioned data contains no code."""
    for pattern in list(found["hook"]) + list(found["cold"]):
        checks.that(any(matches(name, pattern) for name in code.mentions), "rt-symbols.txt: no function is called", pattern)
    way = {name: None for name in code.mentions if any(matches(name, pattern) for pattern in found["hook"])}
    todo = list(way)
    while todo:
        name = todo.pop()
        for target in sorted(code.mentions.get(name, ())):
            if target in outside:
                path = [target]
                while name:
                    path.append(name)
                    name = way[name]
                checks.that(False, "hooks can reach", " <- ".join(path))
                break
            if target in code.mentions and target not in way and not any(matches(target, p) for p in found["cold"]):
                way[target] = name
                todo.append(target)
    checks.that(len(way) > 20, "hooks reach hardly any function: is rt-symbols.txt right?", sorted(way))
    return way


def check_stacks(checks, library):
    """Each object declares that it needs no executable stack; one without the declaration gives the program one."""
    for part in tool("readelf", "-SW", library).split("\nFile: ")[1:] or [""]:
        name = part.split("\n", 1)[0]
        flags = re.search(r"\.note\.GNU-stack\s+PROGBITS((?:\s+[0-9a-f]+){4})(.*)", part)
        checks.that(flags and "X" not in flags.group(2), name, "does not say that it needs no executable stack")


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: rt_symbols.py PREFIX_OF_BINUTILS LIBRARY.a...")
    checks, found = harness.Checks(show=60), rules()
    all_symbols, code = [], Code()
    for library in sys.argv[2:]:
        listed = symbols(library)
        all_symbols += listed
        code.add(library, listed)
        check_stacks(checks, library)
    code.close()
    checks.that(len(code.mentions) > 50, "hardly any function was found in", sys.argv[2:])
    outside = check_uses(checks, {**found["use"], **found["data"]}, all_symbols)
    reached = check_hooks(checks, found, code, outside - {key.split()[1] for key in found["data"]})
    for name, text in sorted(code.vector.items()):
        checks.that(name.rpartition(":")[2] in found["vector"], name, "touches a vector register:", text)
    for name in found["vector"]:
        checks.that(name in {function.rpartition(":")[2] for function in code.vector}, "rt-symbols.txt: no vector register in", name)
    print("%d functions, of which hooks reach %d; %d symbols of other libraries" % (len(code.mentions), len(reached), len(outside)))
    checks.end()


if __name__ == "__main__":
    main()
