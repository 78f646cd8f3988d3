#!/usr/bin/env python3
"""Folders as traces in which a file is missing, a folder, a link to itself, a pipe, unreadable, or empty:

    folders.py KIND

In each case the verbs end with a documented status, and name the trace in their messages."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

TRACES = ["ctf-18", "ctf-2", "ctf-2010", "ctf-folders", "xtrace-user", "xtrace-cores"]
NOBODY = 65534


def missing(path):
    os.remove(path)


def folder(path):
    os.remove(path)
    os.mkdir(path)


def loop(path):
    os.remove(path)
    os.symlink(os.path.basename(path), path)


def upwards(path):
    """A link to its own folder: following it would not end."""
    os.remove(path)
    os.symlink(".", path)


def pipe(path):
    os.remove(path)
    os.mkfifo(path)


def unreadable(path):
    os.chmod(path, 0)


def empty(path):
    os.truncate(path, 0)


def device(path):
    os.remove(path)
    os.symlink("/dev/zero", path)


KINDS = {f.__name__: f for f in (missing, folder, loop, upwards, pipe, unreadable, empty, device)}


def run(command, work, kind):
    """Run by a user who may not read everything, if that matters."""
    as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if kind == "unreadable" and os.geteuid() == 0 else {}
    return subprocess.run(harness.binary() + command, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, errors="replace", timeout=120, env=dict(os.environ, TRACELOOM_NO_CACHE="1"), **as_nobody)


def main():
    kind = sys.argv[1]
    checks = harness.Checks()
    with harness.work_folder() as work:
        os.chmod(work, 0o755)
        for trace in TRACES:
            source = os.path.join(harness.SOURCE, "test", "golden", "input", trace)
            files = sorted(os.path.relpath(os.path.join(r, n), source) for r, _, names in os.walk(source) for n in names)
            for file in files:
                shutil.rmtree(os.path.join(work, "t"), ignore_errors=True)
                shutil.copytree(source, os.path.join(work, "t"))
                KINDS[kind](os.path.join(work, "t", file))
                for command in (["check", "t"], ["convert", "t", "--to", "jsonl", "-o", "-"]):
                    what = "traceloom %s, %s of %s %s" % (" ".join(command), file, trace, kind)
                    try:
                        done = run(command, work, kind)
                    except subprocess.TimeoutExpired:
                        checks.that(False, "it does not end:", what)
                        continue
                    checks.that(0 <= done.returncode <= 4, what, "status", done.returncode, done.stderr[-1500:])
                    if done.returncode not in (0, 1):
                        checks.that("t/" in done.stderr or "t:" in done.stderr, what, "does not name it:", done.stderr[-1500:])
    checks.end()


if __name__ == "__main__":
    main()
