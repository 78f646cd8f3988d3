#!/usr/bin/env python3
"""No text of a trace becomes a part of the page: page_hostile.py

Names with meanings in HTML, JSON, scripts and terminals, in every format that has names, in file names and in the title:
the page has the elements and attributes of a page with plain names, and its texts are those of `report --json`."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import elf_gen
from page_read import parse, read

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
HOSTILE = ["</script><script>alert(1)</script>", "]]>", "<!--<script>", '"onmouseover="alert(1)', "'><img src=x onerror=alert(1)>",
           "javascript:alert(1)", "\u202eevil\u2066\u2028", "\x01\x1b[2J\x7f\x85", "__proto__", "constructor", "%s%n%99999d",
           "</title></style></main></textarea>" + "x" * 1_000_000]
PLAIN = ["name%02d" % number for number in range(len(HOSTILE) - 1)] + ["y" * 1_000_000]
TITLE = "</title><script>alert(2)</script>\"'&amp;\x1b\u202e"


def skeleton(data):
    """Tags and attributes; the cells of the table apart, which may be in another order."""
    out = []
    for tag, attributes, _ in parse(data):
        out.append((tag, sorted((key, value) for key, value in attributes.items() if key != "data-n")))
    return out


def report(folder, words, title, *more):
    result = harness.run("report", *words, "--to", "html", "--title", title, *more, cwd=folder)
    assert result.status in (0, 3), result
    return result


def check(checks, what, hostile, plain):
    """Two inputs (words of the command, in a folder), which differ in names only."""
    got, right = report(*hostile, TITLE), report(*plain, "plain")
    checks.equal(skeleton(got.out), skeleton(right.out), what, "has other elements")
    for tag, attributes, text in parse(got.out):
        checks.that(tag != "script" or not attributes or "alert" not in text or "data-section" in attributes, what, "a script of the trace")
        checks.that(not any(key.startswith("on") for key in attributes), what, "a handler")
    outside = got.out.split(b'<script type="application/json"')[0]
    checks.that(b"<script" not in outside and b"<img" not in outside and "\u202e".encode() not in outside, what, "text in front of the data")
    checks.that(not any(byte < 32 and byte != 10 for byte in outside), what, "control characters")
    page = read(got.out)
    wanted = {f["name"] for f in harness.run("report", *hostile[1], "--json", "--by", "tree", cwd=hostile[0]).json().get("functions", [])}
    wanted |= {name for node in harness.run("report", *hostile[1], "--json", "--by", "tree", cwd=hostile[0]).json()["nodes"] for name in node["stack"]}
    short = {name for name in wanted if len(name.encode()) <= 1024}
    labels = {f["label"] for f in page["functions"]}
    checks.that(short <= labels, what, "lacks", short - labels)
    checks.equal(len(wanted), len(labels), what, "number of names")
    checks.equal(page["meta"]["title"], TITLE, what, "title")
    for label in labels - short:
        checks.that(len(label.encode()) <= 1024 + 32 and label.endswith(" bytes]") and "\u2026" in label, what, "a long name", label[:100])
    return labels


def binaries(folder):
    for name, names in (("hostile.elf", HOSTILE), ("plain.elf", PLAIN)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(elf_gen.build_elf(names=names))


def convert(folder, of, to):
    """A log with the names of a binary, as another format."""
    path = "%s.%s" % (of.split(".")[0], to)
    result = harness.run("convert" if to != "tlp" else "report", "fdr-v5-le.xray", "-e", of, "-o", path, cwd=folder)
    assert result.status == 0, result
    return path


def replace_names(folder, name, replaced, hostile):
    """A text log with other names."""
    with open(os.path.join(INPUT, name), "rb") as file:
        data = file.read()
    for old, new in replaced:
        assert old in data, old
        data = data.replace(old, new)
    path = ("hostile-" if hostile else "plain-") + name
    with open(os.path.join(folder, path), "wb") as file:
        file.write(data)
    return path


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        shutil.copy(os.path.join(INPUT, "fdr-v5-le.xray"), folder)
        binaries(folder)
        labels = check(checks, "elf", (folder, ["fdr-v5-le.xray", "-e", "hostile.elf", "--no-demangle"]),
                       (folder, ["fdr-v5-le.xray", "-e", "plain.elf", "--no-demangle"]))
        checks.that(labels >= {name for name in HOSTILE if len(name) < 1000}, "names of the binary", labels)
        for to in ("tlp", "ctf"):
            check(checks, to, (folder, [convert(folder, "hostile.elf", to)]), (folder, [convert(folder, "plain.elf", to)]))
        old, bad = (b"Shop.Json", b"Tree:Insert"), b"<script>'a&\x07\xe2\x80\xae</script>"
        check(checks, "tracelog", (folder, [replace_names(folder, "tracelog-vs.log", [(one, bad + one) for one in old], True)]),
              (folder, [replace_names(folder, "tracelog-vs.log", [(one, b"plain" + one) for one in old], False)]))
        for name in ("<img src=x onerror=alert(1)>.xray", "-->\"'.xray", "\x1b[2J\u202e.xray"):
            shutil.copy(os.path.join(INPUT, "damaged-fdr-v5-le-unknown-kind.xray"), os.path.join(folder, name))
            shutil.copy(os.path.join(INPUT, "damaged-fdr-v5-le-unknown-kind.xray"), os.path.join(folder, "plain.xray"))
            hostile, plain = report(folder, ["./" + name], name), report(folder, ["plain.xray"], "plain")
            checks.equal(skeleton(hostile.out), skeleton(plain.out), "file name", name)
            checks.equal(read(hostile.out)["meta"]["inputs"][0]["name"], name, "file name")
            checks.that(name in read(hostile.out)["meta"]["losses"][0], "file name in a sentence")
    checks.end()


main()
