"""Class, memory and system names of an instruction from the text that LLVM prints, and where ours differ."""
import re

WIDTHS = {"w": 4, "x": 8, "b": 1, "h": 2, "s": 4, "d": 8, "q": 16, "z": 0}
LETTERS = {"b": 1, "h": 2, "w": 4, "s": 4, "d": 8, "q": 16}
NO_REG, SP, PC = 0xff, 31, 32
OFFSET, UNSIGNED, PRE, POST, REGISTER, LITERAL, VECTOR = range(7)
EXTENDS = {"lsl": 0, "uxtw": 1, "sxtw": 2, "sxtx": 3}
READS, WRITES, READS_WRITES, PREFETCHES = 1, 2, 3, 4
ATOMICS = {"cas": 1, "swp": 2, "add": 3, "clr": 4, "eor": 5, "set": 6, "smax": 7, "smin": 8, "umax": 9, "umin": 10}
MRS, MSR, HINT, SVC = 1, 2, 9, 13

SCALABLE = re.compile(r"\b(z\d+|p\d+|pn\d+|za\d*[hv]?|zt0)\b")
SCALABLE_MNEMONIC = re.compile(r"^(cnt|([su]q)?(inc|dec))[bhwd]$|^(add|rd)s?[vp]l$|^addsp?l$|^cterm|^setffr$|^zero$")
SIMD = re.compile(r"\b[vbhsdq]\d+\b")
EXCEPTIONS = re.compile(r"^(svc|hvc|smc|brk|hlt|dcps[123]|eret(aa|ab)?|drps|tcancel)$")
SYSTEM = re.compile(r"^(msrr?|mrrs|mrs|sys[lp]?|dc|ic|at|tlbip?|cfp|dvp|cpp|cosp|brb|trcit|hint|nop|yield|wfe|wfi|sevl?|dgh|esb|psb|"
                    r"tsb|gcsb|csdb|bti|clrbhb|stshh|pac[im][ab]?(1716|z|sp)?|aut[i][ab](1716|z|sp)|xpaclri|chkfeat|dmb|dsb|isb|sb|ssbb|"
                    r"pssbb|clrex|cfinv|xaflag|axflag|wfet|wfit|tstart|ttest|tcommit|gcs(push|pop|ss).*|smstart|smstop)$")
ATOMIC = re.compile(r"^(?:(casp?)|(swpp?)|(?:ld|st)(add|clr|eor|set|smax|smin|umax|umin)(p?)|rcws?(cas|clr|set|swp)(p?))(a?l?)([bh]?)$")
COPY = re.compile(r"^(cpy|set)")
COPY_OR_SET = re.compile(r"^(cpyf?[pme]|setg?[pme])[a-z]*$")
PREFETCH = re.compile(r"^r?prf")
ADDRESS = re.compile(r"\[((?:x\d+|sp|z\d+\.)[^\]]*)\](!|, #-?\d+|, x\d+)?")


def memory_kind(mnemonic):
    if PREFETCH.match(mnemonic):
        return "prefetch"
    if ATOMIC.match(mnemonic) or COPY_OR_SET.match(mnemonic):
        return "atomic"
    if mnemonic.startswith("ld"):
        return "load"
    if mnemonic.startswith("st") or mnemonic in ("gcsstr", "gcssttr"):
        return "store"
    return None


def class_of(llvm, mnemonic, operands):
    if not SYSTEM.match(mnemonic) and SCALABLE.search(operands) or SCALABLE_MNEMONIC.match(mnemonic):
        return "sve" if llvm.word >> 25 & 15 == 2 else "sme"
    if EXCEPTIONS.match(mnemonic):
        return "exception"
    if mnemonic == "udf":
        return "other"
    if "R" in llvm.flags:
        return "branch.return"
    if "C" in llvm.flags:
        return "branch.call" if mnemonic == "bl" else "branch.indirect_call"
    if "I" in llvm.flags:
        return "branch.indirect"
    if "B" in llvm.flags:
        return "branch.cond" if "O" in llvm.flags else "branch.jump"
    kind = memory_kind(mnemonic)
    if kind and ("[" in operands or "#" in operands):
        return kind
    if (SYSTEM.match(mnemonic) and not re.match(r"pac|aut", mnemonic)) or (re.match(r"pac|aut|xpaclri", mnemonic) and not operands
                                                                         and SYSTEM.match(mnemonic)):
        return "system"
    return "simd" if SIMD.search(operands) else "int"


def number(register):
    name = register.split(".")[0]
    if name in ("sp", "wsp"):
        return SP
    return NO_REG if name in ("xzr", "wzr") else int(name[1:])


def address(operands):
    """mode, base, index, extend, shift, imm, base is vector, index is vector, imm counts vectors"""
    found = ADDRESS.search(operands)
    if not found:
        return LITERAL, PC, NO_REG, 0, 0, int(operands.rsplit("#", 1)[1]), False, False, False
    parts = found.group(1).split(", ")
    behind = found.group(2) or ""
    mode, index, extend, shift, imm = OFFSET, NO_REG, 0, 0, 0
    vectors = parts[0].startswith("z"), len(parts) > 1 and parts[1].startswith("z")
    if len(parts) > 1 and parts[1].startswith("#"):
        imm = int(parts[1][1:])
    elif len(parts) > 1:
        mode, index = REGISTER, number(parts[1])
        words = parts[2].split() if len(parts) > 2 else ["lsl"]
        extend, shift = EXTENDS[words[0]], int(words[1][1:]) if len(words) > 1 else 0
    if any(vectors):
        mode = VECTOR
    if behind == "!":
        mode = PRE
    elif behind.startswith(", #"):
        mode, imm = POST, int(behind[3:])
    elif behind:
        mode, index = POST, number(behind[2:])
    return mode, number(parts[0]), index, extend, shift, imm, vectors[0], vectors[1], parts[-1] == "mul vl"


def our_address(ours):
    return (OFFSET if ours.mode == UNSIGNED else ours.mode, ours.base, ours.index, ours.extend, ours.shift,
            ours.imm * (max(ours.registers, 1) if "v" in ours.flags else 1), "b" in ours.flags, "i" in ours.flags,
            "v" in ours.flags and ours.imm != 0)


def count_list(operands):
    """How many registers { a, b } or { a - d } has."""
    inside = re.sub(r"\[.*?\]", "", operands[operands.index("{") + 1:operands.index("}")])
    if " - " in inside:
        first, last = (int(re.search(r"\d+", part).group()) for part in inside.split(" - "))
        return (last - first) % 32 + 1
    return inside.count(",") + 1


def simd_list_size(mnemonic, operands):
    count = count_list(operands)
    lanes, letter = re.search(r"v\d+\.(\d*)([bhsd])", operands).groups()
    if lanes and not mnemonic.endswith("r"):
        return count * int(lanes) * LETTERS[letter]
    return count * LETTERS[letter]


def register_width(operands, which=0):
    name = operands.split(", ")[which]
    return 4 if name in ("wzr", "wsp") else 8 if name in ("xzr", "sp") else WIDTHS[name[0]]


def scalable_size(mnemonic, operands):
    """size, element, lane, registers"""
    if "zt0" in operands:
        return 64, None, None, 1
    if mnemonic in ("ldr", "str"):
        return 0, 1, 8 if re.match(r"p\d", operands) else 1, 1
    element = LETTERS[mnemonic[-1]]
    if mnemonic.startswith("prf"):
        lane = re.search(r"\[.*z\d+\.([sd])", operands)
        return 0, element, LETTERS[lane.group(1)] if lane else element, 1
    count = count_list(operands)
    lane = LETTERS[re.search(r"\{ ?(?:z|za)\d+[hv]?\.([bhsdq])", operands).group(1)]
    block = re.match(r"ld1r([qo]?)s?[bhwd]$", mnemonic)
    if block:
        return {"": element, "q": 16, "o": 32}[block.group(1)], element, lane, 1
    return 0, element, lane, count


def fixed_size(mnemonic, operands):
    atomic = ATOMIC.match(mnemonic)
    if PREFETCH.match(mnemonic) or COPY_OR_SET.match(mnemonic) or re.match(r"(ld|st|st2)gm?$|stzgm$", mnemonic):
        return 0
    if re.match(r"(ld|st)\d(r?)$", mnemonic) or mnemonic in ("ldap1", "stl1"):
        return simd_list_size(mnemonic, operands)
    if mnemonic.startswith("rcw"):
        return 16 if atomic.group(6) else 8
    if atomic and (mnemonic.startswith("swpp") or atomic.group(4)):
        return 16
    if atomic:
        return {"b": 1, "h": 2, "": register_width(operands)}[atomic.group(8)] * (2 if atomic.group(1) == "casp" else 1)
    special = {"stzg": 16, "stz2g": 32, "stgp": 16, "ldpsw": 8, "gcsstr": 8, "gcssttr": 8, "ldraa": 8, "ldrab": 8, "ld64b": 64,
               "st64b": 64, "st64bv": 64, "st64bv0": 64}.get(mnemonic)
    if special:
        return special
    if re.match(r"(ld|st)n?p$|(ld|st)[al]?i?l?xp$|ldiapp$|stilp$|ldaxp$|stlxp$", mnemonic):
        return 2 * register_width(operands, 1)
    if mnemonic.endswith("sw"):
        return 4
    if mnemonic[-1] in "bh":
        return LETTERS[mnemonic[-1]]
    return register_width(operands, 1 if re.match(r"stl?xr$", mnemonic) else 0)


def order(mnemonic):
    """Letters of our flags."""
    atomic = ATOMIC.match(mnemonic)
    if atomic:
        return ("a" if "a" in atomic.group(7) else "") + ("r" if "l" in atomic.group(7) else "")
    out = "x" if re.match(r"(lda?|stl?)x[rp]", mnemonic) else ""
    if re.match(r"ldl?a[rxp]|ldiapp", mnemonic):
        out += "a"
    if re.match(r"stll?[ru1x]|stilp", mnemonic):
        out += "r"
    return out


def memory_differences(llvm, ours, mnemonic, operands, cls):
    copies = COPY_OR_SET.match(mnemonic)
    kind = memory_kind(mnemonic) if cls in ("load", "store", "atomic", "prefetch", "sve", "sme") else None
    if cls in ("sve", "sme") and "[" not in operands.replace("[w", ""):
        kind = None
    if kind and cls in ("sve", "sme") and not ADDRESS.search(operands):
        kind = None
    access = {None: 0, "load": READS, "store": WRITES, "atomic": READS_WRITES, "prefetch": PREFETCHES}[kind]
    if kind == "atomic" and mnemonic.startswith("set"):
        access = WRITES
    if ours.access != access:
        yield "access", access, ours.access
    if not kind:
        return
    flags = {0: "", READS: "L", WRITES: "S", READS_WRITES: "LS", PREFETCHES: ""}[ours.access]
    if flags != re.sub("[^LS]", "", llvm.flags):
        yield "flags", llvm.flags, flags
    if copies:
        registers = [number(name) for name in re.findall(r"x\d+|xzr", operands)]
        mine = ours.base, ours.index
        if mine != ((registers[0], registers[1]) if mnemonic.startswith("cpy") else (registers[0], registers[1])):
            yield "address", registers, mine
    else:
        theirs, mine = address(operands), our_address(ours)
        # A zero register as index is not always printed.
        plain = mine[0] in (REGISTER, VECTOR) and mine[2] == NO_REG and not mine[5]
        if theirs != mine and not (plain and theirs[:3] == (theirs[0], mine[1], NO_REG) and theirs[5] == 0):
            yield "address", theirs, mine
    if cls in ("sve", "sme"):
        size = scalable_size(mnemonic, operands)
        mine = ours.size, ours.element if size[1] else None, ours.lane if size[2] else None, ours.registers
    else:
        size, mine = fixed_size(mnemonic, operands), ours.size
        if ours.registers * ours.element not in (0, ours.size):
            yield "size", ours.size, (ours.registers, ours.element)
    if size != mine:
        yield "size", size, mine
    if order(mnemonic) != re.sub("[^xar]", "", ours.flags):
        yield "order", order(mnemonic), ours.flags
    atomic = ATOMIC.match(mnemonic)
    if atomic:
        what = ATOMICS[(atomic.group(1) or atomic.group(2) or atomic.group(3) or atomic.group(5))[:3 if not atomic.group(3) else 9]]
        if what != ours.atomic:
            yield "atomic", what, ours.atomic


def generic(key):
    return "S%d_%d_C%d_C%d_%d" % (key >> 14 & 3, key >> 11 & 7, key >> 7 & 15, key >> 3 & 15, key & 7)


def system_differences(llvm, ours, mnemonic, operands):
    kind, name = ours.system_kind, ours.system_name
    if mnemonic in ("mrs", "mrrs", "msr", "msrr") and not llvm.name.startswith("MSRpstate"):
        words = operands.split(", ")
        theirs = words[-1] if mnemonic.startswith("mr") else words[0]
        if re.match(r"S[01]_", theirs):     # has other meanings for us
            return
        if kind != (MRS if mnemonic.startswith("mr") else MSR):
            yield "system", mnemonic, kind
        elif name.startswith("S") and re.match(r"S\d_", name):
            if re.match(r"S\d_", theirs) and theirs != name:
                yield "system", theirs, name
        elif theirs not in (name, generic(ours.system_number)):
            yield "system", theirs, name
    elif mnemonic == "hint" and (kind, ours.system_number) != (HINT, int(operands[1:])):
        yield "system", operands, ours.system_number
    elif mnemonic in ("svc", "hvc", "smc", "brk", "hlt"):
        expected = SVC + ("svc", "hvc", "smc", "brk", "hlt").index(mnemonic)
        if (kind, ours.system_number) != (expected, int(operands[1:], 0)):
            yield "system", operands, (kind, ours.system_number)


def differences(llvm, ours):
    """(aspect, LLVM's, ours) of all differences from the text."""
    mnemonic, _, operands = llvm.text.partition(" ")
    cls = class_of(llvm, mnemonic, operands)
    if cls != ours.cls:
        yield "class", cls, ours.cls
    yield from memory_differences(llvm, ours, mnemonic, operands, cls)
    yield from system_differences(llvm, ours, mnemonic, operands)
