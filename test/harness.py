"""Shared by the test scripts: running the command, and reporting skips and failures to ctest.

The environment has the paths: TL_BINARY (the command, perhaps with an emulator in front), TL_PLAIN_BINARY (one without
sanitizers), TL_SOURCE (this project), TL_WORK (a folder for output), TL_SHARED (files of other projects, if any)."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib

SKIP = 77
SOURCE = os.environ.get("TL_SOURCE") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(SOURCE, "test", "generate"))
sys.dont_write_bytecode = True

# `make slow` sets it: tries everything, not a sample, with all checks of the sanitizers.
THOROUGH = bool(os.environ.get("TL_THOROUGH"))
# Scripts that start the command thousands of times: most of such a short run would be the sanitizer's, which registers
# 50,000 globals and searches them for pointers at the end. Other tests, and `make slow`, search for leaks, too.
if os.environ.get("TL_MANY_RUNS") and not THOROUGH:
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0:report_globals=0:malloc_context_size=4")


def some_of(name, items, count):
    """The part of `items` to try in the case of this name: all in `make slow`, otherwise `count`, always the same."""
    first = zlib.crc32(name.encode())
    return [item for at, item in enumerate(items) if THOROUGH or (at + first) % len(items) < count]


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIP)


def command_words(text):
    """The words of a command that may have an emulator in front; a path alone may contain spaces."""
    text = text.strip()
    return [text] if os.path.exists(text) else shlex.split(text)


def binary(which="TL_BINARY"):
    words = command_words(os.environ.get(which, ""))
    if not words or not all(os.path.exists(word) or shutil.which(word) for word in (words[0], words[-1])):
        if which == "TL_BINARY":
            sys.exit("TL_BINARY does not name the command: %r" % " ".join(words))
        skip("no build without sanitizers (%s); `make` makes one" % which)
    return words


def shared(*parts):
    root = os.environ.get("TL_SHARED")
    if not root or not os.path.isdir(root):
        skip("TL_SHARED does not name the folder of the shared corpus")
    return os.path.join(root, *parts)


def tests_of(build):
    """The names of a build's tests. ctest runs in a folder of its own: otherwise it would empty the log of the running
    one, which holds the reasons of skipped tests."""
    with work_folder() as folder:
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            file.write('subdirs("%s")\n' % os.path.abspath(build))
        listed = subprocess.run(["ctest", "-N"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ +Test +#\d+: (\S+)", listed, re.M)


class Result:
    def __init__(self, arguments, done):
        self.arguments, self.status, self.out, self.err = arguments, done.returncode, done.stdout, done.stderr

    def text(self):
        return self.out.decode("utf-8")

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return "$ traceloom %s\nstatus %d\n%s%s" % (shlex.join(self.arguments), self.status, self.out[-2000:].decode(errors="replace"),
                                                    self.err[-2000:].decode(errors="replace"))


def run(*arguments, cwd=None, stdin=None, which="TL_BINARY", env=None, timeout=120):
    arguments = [str(a) for a in arguments]
    done = subprocess.run(binary(which) + arguments, cwd=cwd, input=stdin, capture_output=True, timeout=timeout,
                          env=dict(os.environ, **(env or {})), stdin=None if stdin is not None else subprocess.DEVNULL)
    return Result(arguments, done)


def built_with(*libraries):
    """Whether the build has these optional libraries, as --version names them. Tests skip the parts that need others."""
    found = re.search(r"^libraries +(.*)$", run("--version").text(), re.M)
    has = {word.split()[0] for word in found.group(1).split(", ")}
    return has.issuperset(libraries)


class Checks:
    """Counts comparisons; prints the first failures; ends the script."""

    def __init__(self, show=20):
        self.done, self.failed, self.show = 0, 0, show

    def that(self, good, *what):
        self.done += 1
        if not good:
            self.failed += 1
            if self.failed <= self.show:
                print("FAILED:", *what)
        return good

    def equal(self, got, expected, *what):
        return self.that(got == expected, *what, "\n  got      %.1500s\n  expected %.1500s" % (got, expected))

    def end(self):
        print("%d checks, %d failed" % (self.done, self.failed))
        if self.done == 0:
            sys.exit("nothing was checked")
        sys.exit(1 if self.failed else 0)


def work_folder():
    root = os.environ.get("TL_WORK") or tempfile.gettempdir()
    os.makedirs(root, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=root)
