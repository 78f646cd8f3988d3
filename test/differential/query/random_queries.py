"""Random statements over a table whose rows are known: (the statement, the same without pushdown, how to compare).

Unary plus keeps SQLite from telling a virtual table about a constraint. Statements with LIMIT have a total order, or
select only what they are ordered by."""
PLAIN, SORTED = "in order", "sorted"
GLOBS = ("*", "?*", "", "thread*", "*[0-9]", "[!a-m]*", "*e*", "a*b*c*", "[", "xray.e*")


def literal(value):
    if value is None:
        return "NULL"
    return "'%s'" % value.replace("'", "''") if isinstance(value, str) else repr(value)


class Maker:
    """Of statements about one table. values: {column: its values}; reals and JSON are left out."""

    def __init__(self, rng, name, columns, rows, types):
        self.rng, self.name, self.types = rng, name, types
        self.values = {}
        for i, column in enumerate(columns):
            cells = [row[i] for row in rows[:2000]]
            if types[column] in ("INTEGER", "TEXT") and all(v is None or isinstance(v, (int, str)) for v in cells):
                self.values[column] = sorted({int(v) if isinstance(v, bool) else v for v in cells if v is not None}, key=repr)
        self.columns = list(self.values)

    def quoted(self, column, plus=""):
        return '%s"%s"' % (plus, column.replace('"', '""'))

    def value(self, column):
        """Mostly one that is there, or near; else of another kind."""
        rng, values = self.rng, self.values[column]
        kind = rng.random()
        known = rng.choice(values) if values else 0
        if kind < 0.6:
            return known
        if isinstance(known, str):
            return rng.choice((known + "x", known[:-1], known.upper(), "", 5, None, -1.5))
        return rng.choice((known + 1, known - 1, known + 0.5, float(known), str(known), "x", None, known // 2, -1, 0, 2 ** 63 - 1,
                           -2 ** 63 + 1, 1e18, -1e300, 1e300, " %d " % known))

    def term(self, column):
        """A condition with {} for the column."""
        rng = self.rng
        kind = rng.randrange(10)
        value = lambda: literal(self.value(column))
        if kind < 4:
            return "{} %s %s" % (rng.choice(("=", "=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT")), value())
        if kind == 4:
            return "{} %sIN (%s)" % (rng.choice(("", "", "NOT ")), ", ".join(value() for i in range(rng.randint(1, 4))))
        if kind == 5:
            return "{} %sGLOB %s" % (rng.choice(("", "", "NOT ")), literal(rng.choice(GLOBS)))
        if kind == 6:
            return "{} %s" % rng.choice(("IS NULL", "IS NOT NULL", "NOTNULL"))
        if kind == 7:
            return "{} BETWEEN %s AND %s" % (value(), value())
        if kind == 8:
            return "{} = %s COLLATE NOCASE" % value()
        return "{} %s %s" % (rng.choice(("=", "<", ">=")), rng.choice(("(SELECT max({0}) FROM {1})", "(SELECT min({0}) FROM {1})"))
                             .format(self.quoted(column), '"%s"' % self.name))

    def where(self):
        """A WHERE with {plus} before constrained columns."""
        terms = []
        for i in range(self.rng.randint(1, 3)):
            column = self.rng.choice(self.columns)
            terms.append(self.term(column).replace("{}", "{plus}" + self.quoted(column).replace("{", "{{").replace("}", "}}")))
        joined = terms[0]
        for term in terms[1:]:
            joined += self.rng.choice((" AND ", " AND ", " AND ", " OR ")) + term
        return joined if self.rng.random() < 0.9 else "NOT (%s)" % joined

    def make(self):
        rng, table = self.rng, '"%s"' % self.name.replace('"', '""')
        where = " WHERE " + self.where() if rng.random() < 0.95 else ""
        kind = rng.random()
        some = rng.sample(self.columns, min(len(self.columns), rng.randint(1, 4)))
        names = ", ".join(self.quoted(c) for c in some)
        if kind < 0.35:
            group = some[:rng.randint(0, 2)]
            parts = [self.quoted(c) for c in group] + ["count(*)"] + self.aggregates()
            text = "SELECT %s FROM %s%s" % (", ".join(parts), table, where)
            if group:
                text += " GROUP BY " + ", ".join(self.quoted(c) for c in group)
            how = SORTED
        elif kind < 0.65:
            text, how = "SELECT %s FROM %s%s" % (names, table, where), SORTED
        elif kind < 0.85:
            order = ", ".join(self.quoted(c) + rng.choice((" ASC", " DESC", "")) for c in some)
            text, how = "SELECT %s FROM %s%s ORDER BY %s%s" % (names, table, where, order, self.limit()), PLAIN
        else:
            column = "ts" if "ts" in self.columns else some[0]
            text = "SELECT {0} FROM {1}{2} ORDER BY {0}{3}".format(self.quoted(column), table, where, rng.choice(("", " DESC")) + self.limit())
            how = PLAIN
        return text, how

    def limit(self):
        rng = self.rng
        return rng.choice(("", " LIMIT %d" % rng.randint(0, 20), " LIMIT %d OFFSET %d" % (rng.randint(1, 50), rng.randint(0, 50))))

    def aggregates(self):
        rng = self.rng
        return ["%s(%s)" % (rng.choice(("min", "max", "count", "count")), self.quoted(rng.choice(self.columns))) for i in range(rng.randint(0, 2))]

    def pair(self):
        """The statement, the one without pushdown, and how to compare."""
        text, how = self.make()
        return filled(text, ""), filled(text, "+"), how


def filled(text, plus):
    """{plus} before columns; doubled braces of names are single again."""
    return text.replace("{plus}", plus).replace("{{", "{").replace("}}", "}")
