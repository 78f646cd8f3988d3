"""Compares events with actf's text of them (refs/out.ref beside its traces).

Names and texts are printed unquoted, so the text cannot be parsed alone; it is walked along with our values instead.
Objects are lists of pairs, for a struct may have two members of one name."""
import re

NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|0b[01]+|\d+(?:\.\d+)?(?:e[+-]\d+)?)")


class Different(Exception):
    pass


class Pairs(list):
    """A JSON object."""


def number(text):
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if digits.startswith(("0x", "0b")):
        return sign * int(digits, 0)
    if "." in digits or "e" in digits:
        return sign * float(digits)
    return sign * int(digits)


def octal(text):
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    return sign * int(digits, 8) if re.fullmatch("0[0-7]+", digits) else None


def near(shown, value):
    """Numbers with a point are printed with six decimals."""
    return isinstance(value, float) and abs(shown - value) <= 1e-6 * abs(value)


class Walk:
    def __init__(self, text):
        self.text, self.at = text, 0

    def expect(self, word):
        if not self.text.startswith(word, self.at):
            raise Different("expected %r at %r" % (word, self.text[self.at:self.at + 60]))
        self.at += len(word)

    def has(self, word):
        found = self.text.startswith(word, self.at)
        self.at += len(word) if found else 0
        return found

    def absent(self):
        """An absent optional: actf prints it as nil."""
        found = re.compile(r"[^:{}\[\]\"]*: nil").match(self.text, self.at)
        if found:
            self.at = found.end()
            self.has(", ")
        return bool(found)

    def members(self, pairs):
        self.expect("{ ")
        for place, (name, value) in enumerate(pairs):
            if place:
                self.expect(", ")
            while not self.text.startswith(name + ": ", self.at) and self.absent():
                pass
            self.expect(name + ": ")
            self.value(value)
        if pairs and self.has(", ") or not pairs:
            while self.absent():
                pass
        self.expect(" }" if pairs else "}")

    def value(self, value):
        if isinstance(value, Pairs):
            if [name for name, _ in value] == ["value", "labels"]:
                self.value(value[0][1])
                self.expect(": ")
                self.expect(",".join('"%s"' % label for label in value[1][1]) or "nil")
            else:
                self.members(value)
        elif isinstance(value, list):
            self.expect("[")
            for place, one in enumerate(value):
                if place:
                    self.expect(", ")
                self.value(one)
            self.expect("]")
        elif isinstance(value, str):
            if self.has('"'):
                self.expect(value + '"')
            else:
                self.expect(value)                                      # bytes
        else:
            found = NUMBER.match(self.text, self.at)
            if not found:
                raise Different("expected %r at %r" % (value, self.text[self.at:self.at + 60]))
            self.at = found.end()
            shown = number(found.group())
            if shown != value and octal(found.group()) != value and not near(shown, value):
                raise Different("%s, but we have %r" % (found.group(), value))


def compare(line, fields):
    """How the payload of a line differs from our fields, or None."""
    at = line.find("event-payload: ")
    walk = Walk(line)
    walk.at = at + len("event-payload: ") if at >= 0 else len(line)
    try:
        if at >= 0 or fields:
            walk.members(fields)
    except Different as difference:
        return str(difference)
    return None
