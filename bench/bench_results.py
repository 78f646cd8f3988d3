"""The parts of bench/results.md, each written by its own benchmark; writing one keeps the others."""
import os
import re

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results.md")
PARTS = ("xray", "ctf", "tracelog", "xtrace", "rt")


def read():
    if not os.path.exists(PATH):
        return {}
    with open(PATH, encoding="utf-8") as file:
        text = file.read()
    return dict(re.findall(r"<!-- (\w+) -->\n(.*?)<!-- end -->", text, re.S))


def write(part, text):
    parts = dict(read(), **{part: text.strip() + "\n"})
    with open(PATH, "w", encoding="utf-8") as file:
        file.write("# Measured by `make bench`\n")
        for name in PARTS:
            if name in parts:
                file.write("\n<!-- %s -->\n%s<!-- end -->\n" % (name, parts[name]))
