"""Writes a small x86-64 ELF file with the functions of program.py: symbols and a map of instrumented places; or one of
another machine with symbols alone.

No programs, only the parts that a reader of names uses. Sleds of version 2: addresses relative to their own field."""
import struct

from program import NAMES

TEXT, MAP = 0x401000, 0x403011                                    # the map may lie at an odd address
FUNCTION_SIZE = 64
BUILD_ID = bytes(range(0xA0, 0xB4))


def build_elf(names=NAMES, build_id=BUILD_ID, more=()):
    """more: names of further functions, without sleds."""
    text = bytes(FUNCTION_SIZE * (len(names) + len(more)))
    sleds = b""
    for number in range(len(names)):
        function = TEXT + FUNCTION_SIZE * number
        for kind, offset in ((0, 0), (1, 40)):                    # entry and exit
            place = MAP + len(sleds)
            sleds += struct.pack("<qqBBB13x", function + offset - place, function - (place + 8), kind, 1, 2)
    symbols, strings = symbol_table([(name, TEXT + FUNCTION_SIZE * number, FUNCTION_SIZE) for number, name in enumerate([*names, *more])])
    note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU\0") + build_id

    # name, type, flags, address, content, link, info, entry size
    sections = [("", 0, 0, 0, b"", 0, 0, 0),
                (".text", 1, 6, TEXT, text, 0, 0, 0),
                ("xray_instr_map", 1, 2, MAP, sleds, 0, 0, 0),
                (".note.gnu.build-id", 7, 2, 0x400200, note, 0, 0, 0),
                (".symtab", 2, 0, 0, symbols, 5, 1, 24),
                (".strtab", 3, 0, 0, strings, 0, 0, 0)]
    return elf(sections, 62)


def build_symbols(functions, machine):
    """For functions [(name, address, size)] in one text."""
    symbols, strings = symbol_table(functions)
    begin, end = min(f[1] for f in functions), max(f[1] + f[2] for f in functions)
    return elf([("", 0, 0, 0, b"", 0, 0, 0),
                (".text", 1, 6, begin, bytes(end - begin), 0, 0, 0),
                (".symtab", 2, 0, 0, symbols, 3, 1, 24),
                (".strtab", 3, 0, 0, strings, 0, 0, 0)], machine)


def symbol_table(functions):
    strings, symbols = b"\0", struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name, address, size in functions:
        symbols += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, address, size)
        strings += name.encode() + b"\0"
    return symbols, strings


def elf(sections, machine):
    """Of all sections but that of their names."""
    names_of_sections = b"\0" + b"".join(s[0].encode() + b"\0" for s in sections[1:]) + b".shstrtab\0"
    sections.append((".shstrtab", 3, 0, 0, names_of_sections, 0, 0, 0))

    body, headers = b"", b""
    for name, kind, flags, address, content, link, info, entry in sections:
        at = names_of_sections.index(b"\0" + name.encode() + b"\0") + 1 if name else 0
        body += bytes(-(64 + len(body)) % 4)
        headers += struct.pack("<IIQQQQIIQQ", at, kind, flags, address, 64 + len(body), len(content), link, info, 4,
                               entry)
        body += content
    body += bytes(-(64 + len(body)) % 8)
    header = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, machine, 1, TEXT, 0, 64 + len(body), 0, 64, 0, 0,
                         64, len(sections), len(sections) - 1)
    return header + body + headers
