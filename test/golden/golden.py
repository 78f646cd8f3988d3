#!/usr/bin/env python3
"""Runs the command on small committed inputs and compares every byte: golden.py NAME, or golden.py --record [NAME...]

cases.txt has the commands, expected/NAME.out and .err (if there is any) the output, which a person has read."""
import os
import re
import shlex
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
INPUT = os.path.join(HERE, "input")


def cases():
    """name -> (exit status, arguments)"""
    out = {}
    with open(os.path.join(HERE, "cases.txt")) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, status, *arguments = shlex.split(line)
                assert name not in out, name
                out[name] = (int(status), arguments)
    return out


def plain(data):
    """Output without the parts that change with every release."""
    return re.sub(rb"traceloom \d+\.\d+\.\d+", b"traceloom VERSION", data)


def expected_path(name, what):
    return os.path.join(HERE, "expected", name + "." + what)


def execute(name):
    """Cases named *-utf8 run in such a locale; all others in one that every host has. Instructions are shown by our own
    code: an installed disassembler words them differently. TL_LOCALE_UTF8 and TL_LOCALE_8BIT name other locales, in
    which the output must be the same."""
    locale = os.environ.get("TL_LOCALE_UTF8", "C.UTF-8") if name.endswith("-utf8") else os.environ.get("TL_LOCALE_8BIT", "C")
    env = {"LC_ALL": locale, "TRACELOOM_LLVM": "off"}
    return harness.run(*cases()[name][1], cwd=INPUT, env=env)


def record(names):
    for name in names:
        status, result = cases()[name][0], execute(name)
        if result.status != status:
            print("%s: status %d, cases.txt says %d\n%s" % (name, result.status, status, result))
        for what, data in (("out", plain(result.out)), ("err", plain(result.err))):
            path = expected_path(name, what)
            if data:
                with open(path, "wb") as file:
                    file.write(data)
            elif os.path.exists(path):
                os.unlink(path)


def difference(got, expected):
    if b"\0" in expected:
        return "%d bytes, expected %d" % (len(got), len(expected))
    import difflib
    lines = difflib.unified_diff(expected.decode(errors="replace").splitlines(), got.decode(errors="replace").splitlines(),
                                 "expected", "got", lineterm="", n=1)
    return "\n".join(list(lines)[:40])


def test(name):
    status, result = cases()[name][0], execute(name)
    checks = harness.Checks()
    checks.that(result.status == status, "status %d, expected %d" % (result.status, status), result)
    for what, data in (("out", plain(result.out)), ("err", plain(result.err))):
        path = expected_path(name, what)
        wanted = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                wanted = file.read()
        checks.that(data == wanted, "std" + what, "differs:\n", difference(data, wanted))
    if cases()[name][1][:1] in (["report"], ["check"], ["info"]):
        checks.that(b" \n" not in result.out, "a line ends in blanks")
    checks.end()


def main():
    if sys.argv[1] == "--record":
        record(sys.argv[2:] or cases())
    else:
        test(sys.argv[1])


if __name__ == "__main__":
    main()
