#!/usr/bin/env python3
"""docs/conversions.md has the results of the matrix: conversions.py compares, conversions.py --update rewrites it.

matrix.py leaves the results for each kind of input in TL_WORK/matrix; missing ones are run."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import harness
import matrix
import matrix_inputs
import matrix_words as words

PAGE = os.path.join(harness.SOURCE, "docs", "conversions.md")


def results():
    """kind -> files -> cells"""
    out = {}
    for name in matrix_inputs.KINDS:
        path = os.path.join(matrix.results_folder(), name + ".json")
        if "--run" in sys.argv or not os.path.exists(path):
            done = subprocess.run([sys.executable, os.path.join(HERE, "matrix.py"), name])
            if done.returncode == harness.SKIP:
                harness.skip("not every kind of input can be made here")
            if done.returncode:
                sys.exit("the matrix of %s fails" % name)
        with open(path, encoding="utf-8") as file:
            out[name] = json.load(file)
    return out


class Column:
    """Kinds of input that look like one to users."""

    def __init__(self, title, kinds, found):
        self.title = title
        self.cells = {}
        for kind in kinds:
            for cells in found[kind]:
                for cell in cells:
                    if kind == "recording-ctf":     # recorded for this run: durations differ from run to run
                        cell["lines"] = {line: n for line, n in cell["lines"].items() if line not in words.BY_TIME}
                    self.cells.setdefault((cell["verb"], cell["to"]), []).append(cell)

    def of(self, verb, to):
        """All cells of an output, by its verb."""
        return self.cells[verb, to]

    def mark(self, verb, to):
        cells = self.of(verb, to)
        refused = sum(cell["status"] != 0 for cell in cells)
        if refused == len(cells):
            return "-"
        if all(cell.get("nothing") for cell in cells):
            return "none"
        part = refused or any(cell["lost"] or set(cell["lines"]) & words.PARTS for cell in cells)
        return "part" if part else "yes"

    def reasons(self, verb, to):
        """Without those that the page names at its top."""
        said = {reason(cell["reason"]) for cell in self.of(verb, to) if cell["reason"]}
        return sorted(text for text in said if not words.USUAL.match(text))

    def losses(self, verb, to):
        """The losses reported as not written, in words."""
        cells = [cell for cell in self.of(verb, to) if not cell["status"]]
        lines = {line for cell in cells for line in cell["lines"]}
        classes = {name for cell in cells for name in cell["lost"]}
        out = [words.of_classes(classes)] if classes else []
        return out + sorted(lines, key=lambda line: (line.startswith("the "), line))


def reason(text):
    """A refusal, without details of this trace and without the name of the format."""
    text = re.sub(r'instructions of "[^"]*" and "[^"]*"', "instructions of several", text)
    return re.sub(r"^[a-z-]+: ", "", text)


def sentence(parts):
    return "; ".join(parts)


def table(columns, rows):
    """rows: (title, verb, to)"""
    yield "| | " + " | ".join(column.title for column in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for title, verb, to in rows:
        yield "| %s | %s |" % (title, " | ".join(column.mark(verb, to) for column in columns))


def grouped(columns, what):
    """(titles of columns, answer) for each answer that `what` gives."""
    answers = {}
    for column in columns:
        answers.setdefault(tuple(what(column)), []).append(column.title)
    return [(titles, answer) for answer, titles in answers.items() if answer]


def section(columns, to, verb):
    """What an output keeps and drops."""
    yield ""
    yield "**`%s`%s** %s" % (to, " (`report -o`)" if words.HOLDS.get((to, verb)) else "", words.HOLDS.get((to, verb)) or words.HOLDS[to])
    yield ""
    lines = ["* Not written, from %s: %s." % (", ".join(titles), sentence(answer))
             for titles, answer in grouped(columns, lambda column: column.losses(verb, to))]
    whole = {column.title: column.title if column.mark(verb, to) == "-" else "some " + column.title for column in columns}
    lines += ["* Refused, from %s: %s." % (", ".join(whole[title] for title in titles), sentence(answer))
              for titles, answer in grouped(columns, lambda column: column.reasons(verb, to))]
    yield from lines or ["* Nothing is counted as left out."]


def page(found, formats, tables):
    columns = [Column(title, kinds, found) for title, kinds in words.COLUMNS]
    yield words.HEAD.rstrip("\n")
    for title, text, outputs in words.WANTS:
        yield "\n## %s\n\n%s\n" % (title, text)
        rows = [(words.row(to, verb), verb, to) for to, verb in outputs]
        yield from table(columns, rows)
        for to, verb in outputs:
            yield from section(columns, to, verb)
    yield words.TABLES.rstrip("\n")
    yield ""
    yield from table(columns, [("`--by %s`" % by, "by", by) for by in tables])
    for titles, answer in grouped(columns, lambda column: sorted({r for by in tables for r in column.reasons("by", by)})):
        yield "\nRefused, from %s: %s." % (", ".join(titles), sentence(answer))
    yield words.TAIL.rstrip("\n")


def check_complete(checks, formats):
    """The page names every output format, once for each way, and no other."""
    listed = [pair for _, _, outputs in words.WANTS for pair in outputs]
    written = [(name, "convert") for name, (events, _) in formats.items() if events]
    written += [(name, "report") for name, (_, profiles) in formats.items() if profiles]
    if set(written) < set(listed):
        harness.skip("this build has not all formats")
    checks.equal(sorted(listed), sorted(written), "formats of the page (WANTS in matrix_words.py), and those of the program")
    kinds = [kind for _, kinds in words.COLUMNS for kind in kinds]
    checks.equal(sorted(kinds), sorted(matrix_inputs.KINDS), "kinds of input of the page, and of the matrix")


def main():
    checks = harness.Checks()
    formats, tables = matrix.formats(), matrix.tables()
    check_complete(checks, formats)
    found = results()
    text = "\n".join(page(found, formats, tables)) + "\n"
    if "--update" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
    with open(PAGE, encoding="utf-8") as file:
        written = file.read()
    for got, expected in zip(written.splitlines(), text.splitlines()):
        if not checks.equal(got, expected, "docs/conversions.md is out of date; test/matrix/conversions.py --update"):
            break
    checks.equal(len(written), len(text), "docs/conversions.md is out of date; test/matrix/conversions.py --update")
    checks.end()


if __name__ == "__main__":
    main()
