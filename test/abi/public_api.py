"""The declarations of the public headers, for the tests of the interface: functions, each with the comment before it."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

FOLDER = os.path.join(harness.SOURCE, "include", "traceloom")
LINKAGE = re.compile(r'#ifdef __cplusplus\n(?:extern "C" \{|\})\n#endif\n')
PIECE = re.compile(r"(?P<comment>/\*.*?\*/)|(?P<directive>^#(?:[^\n]*\\\n)*[^\n]*)|(?P<space>\s+)|(?P<code>.)", re.S | re.M)
RECORDER = re.compile(r"\bTL_RT_API\s[^;({]*?\b(tl_rt_\w+)\s*[(;]")


class Function:
    def __init__(self, header, line, comment, text):
        self.header, self.line, self.comment = header, line, " ".join(comment.split())
        self.text = " ".join(text.split())
        found = re.match(r"(.*?)\b(tl_\w+)\s*\((.*)\);$", re.sub(r"__attribute__\(\(.*?\)\)\)\s*", "", self.text))
        self.result, self.name, self.arguments = (part.strip() for part in found.groups())

    def __str__(self):
        return "%s:%d: %s" % (self.header, self.line, self.name)


def headers():
    return sorted(name for name in os.listdir(FOLDER) if name.endswith(".h"))


def read(header):
    with open(os.path.join(FOLDER, header), encoding="utf-8") as file:
        return file.read()


def statements(text):
    """(line, comment directly before it or "", text) of each statement at the top of a header."""
    comment, code, depth, begin = "", "", 0, 0
    for piece in PIECE.finditer(LINKAGE.sub(lambda m: "\n" * m.group().count("\n"), text)):
        kind, part = piece.lastgroup, piece.group()
        if kind == "comment" and not code:
            comment = part
        elif kind == "space" and not code:
            comment = "" if part.count("\n") > 1 else comment
        elif kind == "directive":
            # The attribute of a function is between it and its comment.
            comment = comment if re.match(r"#(if defined\(__GNUC__\)|endif)", part) else ""
        elif kind in ("code", "space"):
            begin = begin if code else piece.start()
            code += part
            depth += {"{": 1, "}": -1}.get(part, 0)
            if depth == 0 and (part == ";" or (part == "}" and re.match(r"static inline\b", code))):
                yield text.count("\n", 0, begin) + 1, comment, code
                comment, code = "", ""


def functions():
    """Functions of the library, without those that a header defines itself."""
    return [Function(header, line, comment, code) for header in headers() if header != "rt.h"
            for line, comment, code in statements(read(header))
            if re.search(r"\btl_\w+\s*\(", code) and not re.match(r"(static|typedef|struct|enum|union)\b", code)]


def recorder_symbols():
    """From the recorder's header: functions, and the switch that the macros test."""
    return set(RECORDER.findall(read("rt.h")))
