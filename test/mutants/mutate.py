"""Small semantic changes of a C file, found in its tokens, like slips of a programmer.

  comparison   <  becomes <=, == becomes !=, and the like
  off-by-one   a number becomes the next one; not the length of an array, nor its factor of growth
  guard        the body of an if is left out; && becomes ||, and the right side of || does not count
  count        a statement that counts is left out: n++; n += m;
  field        another member of the same object, which the function uses, too
  call         a statement that calls is left out: flush, close, note
  sign         + becomes -, and the other way round

Nothing is changed outside of functions, in comments, texts and lines of the preprocessor; nor in assertions, in the
texts of errors, in the handling of exhausted memory (`make faults` tests that), in freeing memory and taking locks (the
sanitizers test that)."""
import hashlib
import re

OPERATORS = ("comparison", "off-by-one", "guard", "count", "field", "call", "sign")
TOKEN = re.compile(r"""(?P<blank>\s+|/\*.*?\*/|//[^\n]*)|(?P<line>(?m:^)[ \t]*\#(?:[^\n\\]|\\.)*)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)|(?P<name>[A-Za-z_]\w*)
    |(?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)""", re.X | re.S)
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
# Calls whose arguments are text for people, or whose absence other tests notice.
SILENT = re.compile(r"(static_assert|_Static_assert|assert|sizeof|tl_fail\w*|\w*fail|\w*give_up\w*|\w*damage|tl_say_\w+|tl_warn\w*|printf|fprintf)$")
NEEDED = re.compile(r"(assert|free|\w+_free|\w+_fini|va_\w+|tl_fail\w*|abort|prefetch|\w+_prefetch|pthread_mutex_\w+|\w*no_memory|\w*out_of_memory)$")
NO_MEMORY = re.compile(r"ENOMEM|no memory|out of memory|(alloc|_new|strdup|_grow\w*|_reserve)\([^;]*;\s*if \(!")
KEYWORDS = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break", "continue", "sizeof"}


class Mutant:
    """One change: text[start:end] becomes `after`. `code` is its first line, `nth` its place among equal ones there."""

    def __init__(self, path, text, operator, start, end, after, function):
        first = text.rfind("\n", 0, start) + 1
        self.path, self.operator, self.start, self.end, self.function = path, operator, start, end, function
        self.before, self.line = text[start:end], text.count("\n", 0, start) + 1
        self.after = after + "\n" * (self.before.count("\n") - after.count("\n"))  # the lines after it keep their numbers
        self.code = " ".join(text[first:text.find("\n", start)].split())
        self.column, self.nth = start - first, 1

    def key(self):
        """Its name, valid while the line is unchanged."""
        return "%s | %s | %s | %s" % (self.path, self.operator + ("#%d" % self.nth if self.nth > 1 else ""), self.function, self.code)

    def rank(self, seed):
        return hashlib.sha256(("%s %s" % (seed, self.key())).encode()).digest()

    def apply(self, text):
        assert text[self.start:self.end] == self.before
        return text[:self.start] + self.after + text[self.end:]

    def __str__(self):
        before, after = (" ".join(t.split()) for t in (self.before, self.after))
        return "%s:%d:%s: `%.60s` -> `%.60s` in %s()" % (self.path, self.line, self.operator, before, after, self.function)


class Source:
    """The tokens of a file, with their closing brackets and their functions."""

    def __init__(self, path, text):
        self.path, self.text, self.mutants = path, text, []
        self.tokens = [(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(text) if m.lastgroup not in ("blank", "line")]
        self.words = [t[1] for t in self.tokens]
        self.partner, self.within, opened = {}, [], []
        for i, (kind, word, _) in enumerate(self.tokens):
            self.within.append(self.words[opened[-1]] if opened else "")
            if kind == "sign" and word in "([{":
                opened.append(i)
            elif kind == "sign" and word in ")]}" and opened:
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i

    def functions(self):
        """Triples of a function's name and the tokens of its braces."""
        i, depth = 0, 0
        while i < len(self.words):
            if self.words[i] == "{" and i in self.partner:
                end = self.partner[i]
                if i and self.words[i - 1] == ")" and self.partner.get(i - 1, 0) > 0:
                    yield self.words[self.partner[i - 1] - 1], i, end
                i = end
            i += 1

    def word(self, i):
        return self.words[i] if 0 <= i < len(self.words) else ""

    def declares(self, i):
        """Is this the length in an array's declaration: `char a[32], b[32];`?"""
        if self.word(i - 1) != "[" or self.word(i + 1) != "]" or self.tokens[i - 2][0] != "name" or self.within[i - 1] != "{":
            return False
        return self.tokens[i - 3][0] == "name" and self.words[i - 3] not in KEYWORDS or self.word(i - 3) == "," and self.word(i + 2) in ",;"

    def line_of(self, i):
        at = self.tokens[i][2]
        return self.text[self.text.rfind("\n", 0, at) + 1:self.text.find("\n", at)]

    def is_operand(self, i):
        """Does an operand end in this token?"""
        return i >= 0 and (self.tokens[i][0] in ("number", "name") and self.words[i] not in KEYWORDS or self.words[i] in (")", "]"))

    def add(self, operator, first, last, after, function):
        start, end = self.tokens[first][2], self.tokens[last][2] + len(self.words[last])
        self.mutants.append(Mutant(self.path, self.text, operator, start, end, after, function))

    def starts_statement(self, i):
        before = self.word(i - 1)
        if self.within[i] != "{":
            return False
        if before == ")":
            return self.word(self.partner.get(i - 1, 0) - 1) in ("if", "for", "while", "switch")
        return before in (";", "{", "}", "else", "do") or before == ":" and self.word(i - 2) != "?" and "?" not in self.words[i - 6:i]

    def statement_end(self, i):
        """The semicolon of a simple statement that begins here, or None."""
        while i < len(self.words) and self.words[i] not in (";", "{", "}"):
            i = self.partner.get(i, i) + 1 if self.words[i] in ("(", "[") else i + 1
        return i if self.word(i) == ";" else None

    def body_end(self, i):
        """The last token of the statement that begins here."""
        if self.word(i) == "{":
            return self.partner.get(i, i)
        while i < len(self.words) - 1 and self.words[i] != ";":
            i = self.partner[i] + 1 if self.words[i] in ("(", "[", "{") and i in self.partner else i + 1
        return i

    def at_if(self, i, function):
        close = self.partner.get(i + 1)
        if self.word(i + 1) != "(" or close is None:
            return
        last = self.body_end(close + 1)
        before = max((j for j in range(max(i - 40, 0), i - 1) if self.words[j] in (";", "{", "}")), default=i)
        if not NO_MEMORY.search(self.text[self.tokens[before][2]:self.tokens[last][2]]):
            condition = self.text[self.tokens[i + 2][2]:self.tokens[close][2]]
            self.add("guard", i + 2, close - 1, "0 && (%s)" % condition, function)

    def at_statement(self, i, function):
        end = self.statement_end(i)
        if end is None or end - i < 2 or self.words[i] in KEYWORDS:
            return
        j, counts = i, self.words[i] in ("++", "--") or self.words[end - 1] in ("++", "--")
        while j < end and not counts:
            counts = self.words[j] in ("+=", "-=", "|=")
            j = self.partner[j] + 1 if self.words[j] in ("(", "[") and j in self.partner else j + 1
        if counts:
            self.add("count", i, end, ";", function)
        elif self.words[end - 1] == ")" and self.tokens[i][0] == "name":
            # Only names before the parentheses: neither an assignment nor a declaration.
            j = i + 1
            while self.word(j) in ("->", ".") and self.tokens[j + 1][0] == "name":
                j += 2
            if self.word(j) == "(" and self.partner.get(j) == end - 1 and not NEEDED.match(self.words[j - 1]):
                self.add("call", i, end, ";", function)

    def fields(self, first, last, function):
        """Members of the same object, each replaced by the next one in the order of appearance."""
        members, uses = {}, []
        for i in range(first + 2, last):
            if self.words[i - 1] in ("->", ".") and self.tokens[i - 2][0] == "name" and self.tokens[i][0] == "name":
                if self.word(i - 3) in ("->", ".", "{", ",") and self.words[i - 1] == "." or self.word(i + 1) == "(":
                    continue
                known = members.setdefault(self.words[i - 2], [])
                if self.words[i] not in known:
                    known.append(self.words[i])
                uses.append(i)
        for i in uses:
            known = members[self.words[i - 2]]
            if len(known) > 1:
                yield i, known[(known.index(self.words[i]) + 1) % len(known)]

    def at_token(self, i, function):
        kind, word, _ = self.tokens[i]
        if kind == "number" and re.match(r"(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*$", word) and self.word(i - 1) + self.word(i + 1) != "{}":
            if self.declares(i):
                return
            if re.search(r"capacity\b.*\?", self.line_of(i)):
                return  # a factor of growth
            digits = word.rstrip("uUlL")
            value = int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10) + 1
            self.add("off-by-one", i, i, ("0x%x" if digits[:2] in ("0x", "0X") else "%d") % value + word[len(digits):], function)
        elif kind == "sign" and word in COMPARISONS:
            self.add("comparison", i, i, COMPARISONS[word], function)
        elif kind == "sign" and word in ("+", "-") and self.is_operand(i - 1):
            self.add("sign", i, i, "-" if word == "+" else "+", function)
        elif kind == "sign" and word in ("+=", "-="):
            self.add("sign", i, i, "-=" if word == "+=" else "+=", function)
        elif kind == "sign" and word in ("&&", "||"):
            self.add("guard", i, i, "|| 0 &&" if word == "||" else "||", function)

    def collect(self):
        for function, first, last in self.functions():
            i, silent = first + 1, set()
            for j in range(first, last):
                if SILENT.match(self.words[j]) and self.word(j + 1) == "(" and j + 1 in self.partner:
                    silent.update(range(j + 2, self.partner[j + 1]))
            for i in range(first + 1, last):
                if i in silent:
                    continue
                self.at_token(i, function)
                if self.words[i] == "if":
                    self.at_if(i, function)
                elif self.starts_statement(i):
                    self.at_statement(i, function)
            for i, other in self.fields(first, last, function):
                if i not in silent:
                    self.add("field", i, i, other, function)
        seen = {}
        self.mutants.sort(key=lambda m: (m.start, OPERATORS.index(m.operator)))
        for mutant in self.mutants:
            known = (mutant.operator, mutant.function, mutant.code)
            seen[known] = mutant.nth = seen.get(known, 0) + 1
        return self.mutants


def mutants_of(path, text):
    return Source(path, text).collect()


def sample(mutants, seed):
    """All of them in the order of trial: operators take turns, so that the frequent ones do not fill a sample. A mutant's
    place depends on the seed and its key, so most of a sample stays the same when files change."""
    kinds = [sorted((m for m in mutants if m.operator == operator), key=lambda m: m.rank(seed)) for operator in OPERATORS]
    for turn in range(max(map(len, kinds), default=0)):
        for kind in kinds:
            if turn < len(kind):
                yield kind[turn]
