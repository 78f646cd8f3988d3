#!/usr/bin/env python3
"""Runs the examples of README.md and docs/tour.md and compares their output: run_examples.py [--update]
The stacks of the example in docs/format/tracelog.md are compared with those read from its lines.

    ```console          a block of lines "$ command", each followed by its output and messages
    <!-- from FILE: "a" to "b" -->
    ```c                a block that must be FILE's lines from the first one with a to the next one with b; also in docs/recording.md
    <!-- recorded -->   a block that run_recorded.py runs
    <!-- formats -->    a table of formats: name, use for events and for profiles, suffixes

Commands run in a folder with the files of `make demo` (demo_files.py); each file that a command of README.md reads must
be there or have been written by an earlier command. --update rewrites blocks that differ: then read `git diff`.
TL_BINARY names the command; without it, that of the release build is taken."""
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

FENCE = re.compile(r"(?<!<!-- recorded -->\n)^```(\w+)\n(.*?)^```$", re.M | re.S)
EXCERPT = re.compile(r'(<!-- from (\S+): "([^"]+)" to "([^"]+)" -->\n```c\n)(.*?)(^```$)', re.M | re.S)


def put(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def make_commands(folder):
    """The command under its own name, for any build and emulator."""
    os.mkdir(os.path.join(folder, ".bin"))
    put(folder, ".bin/traceloom", ("#!/bin/sh\nexec %s \"$@\"\n" % shlex.join(harness.binary())).encode())
    os.chmod(os.path.join(folder, ".bin", "traceloom"), 0o755)


def make_inputs(folder):
    """The files of `make demo` in demo/, made by the same script."""
    done = subprocess.run([os.path.join(harness.SOURCE, "tools", "demo.sh"), folder], capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, TL_TRACELOOM=os.path.join(folder, ".bin", "traceloom"), TRACELOOM_LLVM="off"))
    if done.returncode:
        sys.exit("tools/demo.sh: " + done.stdout + done.stderr)


def run_command(command, folder):
    environment = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", TERM="dumb", TRACELOOM_LLVM="off",
                       PATH=os.path.join(folder, ".bin") + ":" + os.environ["PATH"])
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=300)
    # Messages first: in a pipe, the order of the two outputs is random.
    lines = (done.stderr + done.stdout).decode("utf-8", "backslashreplace").splitlines()
    return "".join(line.rstrip() + "\n" for line in lines)


def run_block(text, folder):
    """The same block with its commands' real output."""
    out = ""
    for line in text.splitlines():
        if line.startswith("$ "):
            out += ("\n" if out else "") + line + "\n" + run_command(line[2:], folder)
    return out


def excerpt(path, first, last):
    with open(os.path.join(harness.SOURCE, path), encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    begin = next(i for i, line in enumerate(lines) if first in line)
    end = next(i for i in range(begin, len(lines)) if last in lines[i])
    if not lines[begin].startswith(" ") and lines[end + 1:end + 2] == ["}\n"]:
        end += 1    # whole functions
    return textwrap.dedent("".join(lines[begin:end + 1]))


def real(document, folder):
    """The document as it should be."""
    def console(match):
        if "$ traceloom query" in match.group(2) and not harness.built_with("SQLite"):
            print("not compared, because this build has no SQL: a block of %d lines" % match.group(2).count("\n"))
            return match.group(0)
        return match.group(0) if match.group(1) != "console" else "```console\n%s```" % run_block(match.group(2), folder)
    document = EXCERPT.sub(lambda m: m.group(1) + excerpt(*m.group(2, 3, 4)) + m.group(6), document)
    return FENCE.sub(console, document)


def check_formats(checks, document):
    """The table of formats agrees with the command; it may omit suffixes."""
    table = document.split("<!-- formats -->", 1)[1].split("\n\n", 1)[0]
    rows = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0].startswith("`"):
            rows[cells[0].strip("`")] = cells[1:3] + cells[3].replace("`", "").split()
    can = r"(read, write|read|write|-) +"
    real = re.findall(r"^(\S+) +" + can + can + r".*?(?:\(([^()]*)\))?$", harness.run("help", "formats").text(), re.M)
    checks.equal(sorted(rows), sorted(name for name, *_ in real), "the formats listed")
    for name, events, profiles, suffixes in real:
        row = rows.get(name, [])
        checks.equal(row[:2], [events, profiles], "what can be done with", name)
        checks.that(row[2:] and set(row[2:]) <= set(suffixes.split() or "-"), name, "has the suffixes", suffixes, "not", row[2:])


def check_stacks(checks, folder):
    """Rows | `sam str ...` | stack | of the TraceLog document: the stack after the line, outermost first, like "1 at 0x140, 4"."""
    with open(os.path.join(harness.SOURCE, "docs/format/tracelog.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(sam str [^`]+)` \| ([^|]+) \|$", file.read(), re.M)
    rows = [(line, text) for line, text in rows if ":" in line and "timestamp:" not in line]
    put(folder, "stacks.log", "".join(line + "\n" for line, _ in rows).encode())
    checks.that(len(rows) > 3 and harness.run("check", os.path.join(folder, "stacks.log")).status == 0, "stacks.log is damaged")
    lines = harness.run("convert", os.path.join(folder, "stacks.log"), "--to", "jsonl", "-o", "-").text().splitlines()
    checks.equal(len(lines), len(rows), "lines of stacks.log")
    before = None
    for line, (source, text) in zip(lines, rows):
        frames = json.loads(line)["fields"]["frames"]
        got = ", ".join("%d%s" % (int(f["iid"], 16), " at " + f["ip"] if f["ip"] else "") for f in frames) or "empty"
        checks.equal("the same" if got == before else got, text, "docs/format/tracelog.md: the stack after", source)
        before = got


def check_excerpts(checks, path, update):
    """Blocks of code marked as a file's lines are equal to them."""
    with open(os.path.join(harness.SOURCE, path), encoding="utf-8") as file:
        document = file.read()
    wanted = EXCERPT.sub(lambda m: m.group(1) + excerpt(*m.group(2, 3, 4)) + m.group(6), document)
    checks.that(EXCERPT.search(document), path, "has no code of a file")
    if update:
        put(harness.SOURCE, path, wanted.encode())
    else:
        checks.equal(document, wanted, path, "has other code than the file")


def commands(document):
    """Every command of the document's shell blocks, in order, except those that need root or a checkout."""
    for kind, text in re.findall(r"^```(console|sh)\n(.*?)^```$", document, re.M | re.S):
        for line in text.splitlines():
            line = line[2:] if line.startswith("$ ") else line if kind == "sh" else ""
            if line and not line.startswith(("make", "sudo", "cd ", "git ")):
                yield line


def check_order(checks, document, there):
    """A newcomer can copy all commands in order into the folder of `make demo`: each reads only files that are there by then,
    and none overwrites one."""
    there, count = set(there), 0
    for command in commands(document):
        count += 1
        outputs = re.findall(r" -o (\S+)", command)
        for name in re.findall(r"(?<![\w./*$-])(?:\./)?([\w-]+(?:\.[a-z]\w*)*)(?![\w/=])", re.sub(r"'[^']*'|\$\([^)]*\)| -[oe] \S+", " ", command)):
            if "." in name:
                checks.that(name in there, "README.md reads", name, "which is not there:", command)
        for name in re.findall(r" -e (\S+)|\./(\w+)", command):
            checks.that("".join(name) in there, "README.md reads", "".join(name), "which is not there:", command)
        for name in outputs:
            checks.that(name not in there, "README.md writes", name, "which is there already:", command)
            there.add(name)
        there.update(name + ".exe" for name in re.findall(r"^mcs (\w+)\.cs$", command))
        for program in re.findall(r"traceloom record (?:\./)(\w+)$", command):
            there.add(program + ".tlp")
    checks.that(count > 12, "only", count, "commands were found in README.md")


def check_document(checks, path, update):
    """Its examples print the documented output, each in the folder left by those before it."""
    full = os.path.join(harness.SOURCE, path)
    with open(full, encoding="utf-8") as file:
        document = file.read()
    with harness.work_folder() as folder:
        make_commands(folder)
        make_inputs(folder)
        if path == "README.md":
            check_order(checks, document, os.listdir(folder))
        wanted = real(document, folder)
    if update:
        put(harness.SOURCE, path, wanted.encode())
    blocks = [(a.group(2), b.group(2)) for a, b in zip(FENCE.finditer(document), FENCE.finditer(wanted))]
    checks.that(len(blocks) > 5, path, "has hardly any examples")
    for got, expected in blocks:
        checks.equal(got, expected, path, "differs from what is printed (run_examples.py --update rewrites it):")
    return document


def main():
    update = sys.argv[1:] == ["--update"]
    os.environ.setdefault("TL_BINARY", os.path.join(harness.SOURCE, "build", "traceloom"))
    checks = harness.Checks()
    readme = check_document(checks, "README.md", update)
    check_document(checks, "docs/tour.md", update)
    check_excerpts(checks, "README.md", update)
    check_excerpts(checks, "docs/recording.md", update)
    check_formats(checks, readme)
    with harness.work_folder() as folder:
        check_stacks(checks, folder)
    if not update:
        checks.end()


if __name__ == "__main__":
    main()
