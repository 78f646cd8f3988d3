"""Shared by the tests of `record --insn`: a program of AArch64, recordings of it, and a reader of streams of its own."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
GCC, QEMU = "aarch64-linux-gnu-gcc", "qemu-aarch64"
CPU = ["-cpu", "neoverse-n1"]
HEADER, RECORD = 24, 1424
SECONDS = 300
# Bytes behind each token, as docs/format/xtrace.md lists them; SYSCALL_VEC says its own.
SIZES = {0x01: 4, 0x09: 12, 0x03: 8, 0x0b: 8, 0x13: 8, 0x1b: 8, 0x23: 8, 0x2b: 8, 0x0c: 256, 0x1c: 8, 0x07: 8}
SIZES.update({k << 4 | kind: 8 + (1 << k) for k in range(16) for kind in (0x02, 0x0a)})


def need():
    for tool, package in ((QEMU, "qemu-user"), (GCC, "gcc-aarch64-linux-gnu")):
        if not shutil.which(tool):
            harness.skip("%s is not installed" % package)
    if b"-plugin" not in subprocess.run([QEMU, "-help"], capture_output=True, check=False).stdout:
        harness.skip("this qemu-aarch64 has no plugins")


def build(folder, *flags, source="insn_programs.c"):
    path = os.path.join(folder, "program" + "".join(flags).replace("/", "_"))
    done = subprocess.run([GCC, "-O2", "-pthread", *flags, os.path.join(HERE, source), "-o", path], capture_output=True, text=True, check=False)
    if done.returncode and ("cannot find -lc" in done.stderr or "No such file" in done.stderr):
        harness.skip("libc6-dev-arm64-cross is not installed")
    if done.returncode:
        sys.exit(done.stderr)
    return path


def emulated(words, *options, **more):
    return subprocess.run([QEMU, *CPU, *options, *words], capture_output=True, text=True, timeout=SECONDS, check=False, **more)


class Recording:
    """The folder that `record --insn` made."""
    def __init__(self, binary, folder, name, words, *options, prefix=(), env=None, packed=False):
        self.binary, self.path = binary, os.path.join(folder, name + ".xtrace")
        self.done = subprocess.run([*prefix, binary, "record", "--insn", *([] if packed else ["--plain"]), *options, "-o", self.path, *words], capture_output=True,
                                   text=True, timeout=SECONDS, check=False, env=env)
        if "this QEMU" in self.done.stderr or "did not load" in self.done.stderr:
            harness.skip(self.done.stderr)
        self.find()

    def unpack(self):
        """Replaces compressed files by what zstd makes of them."""
        for name in self.names:
            if name.endswith(".zst"):
                subprocess.run(["zstd", "-q", "-d", "--rm", os.path.join(self.path, name)], check=True)
        self.find()

    def find(self):
        self.names = sorted(os.listdir(self.path)) if os.path.isdir(self.path) else []

    def files(self, kind):
        return [os.path.join(self.path, name) for name in self.names if kind in name]

    @property
    def streams(self):
        return self.files("xinsndata")

    @property
    def snapshots(self):
        return self.files("xsnapshot")

    def check(self, checks, *about):
        done = subprocess.run([self.binary, "check", self.path], capture_output=True, text=True, timeout=SECONDS, check=False)
        checks.equal((done.returncode, done.stdout[-600:].split(": ")[-1]), (0, "ok\n"), *about, "check:", done.stdout[-600:], done.stderr[-300:])


def tokens(path):
    """Pairs of a token and its bytes; an error if they do not fit."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        token = data[at]
        size = 8 + 16 * struct.unpack_from("<Q", data, at + 1)[0] if token == 0x24 else SIZES[token]
        assert at + 1 + size <= len(data), "%s ends in a token" % path
        yield token, data[at + 1:at + 1 + size]
        at += 1 + size


def pcs(path):
    """The pc of every instruction."""
    pc = None
    for token, data in tokens(path):
        if token == 0x09:
            pc = struct.unpack_from("<Q", data)[0]
        elif token == 0x01:
            pc += 4
        if token in (0x01, 0x09):
            yield pc


def states(path):
    """Snapshots: instructions before, X0 to SP, NZCV."""
    with open(path, "rb") as file:
        data = file.read()[HEADER:]
    for at in range(0, len(data) - RECORD + 1, RECORD):
        yield struct.unpack_from("<Q", data, at + 24)[0], struct.unpack_from("<32Q", data, at + 32), struct.unpack_from("<Q", data, at + 1344)[0]


def thread_pointers(path):
    """TPIDR_EL0 of snapshots."""
    with open(path, "rb") as file:
        data = file.read()[HEADER:]
    return [struct.unpack_from("<Q", data, at + 1352)[0] for at in range(0, len(data) - RECORD + 1, RECORD)]


def logged(path):
    """The pcs of QEMU's log, -d exec with -singlestep."""
    with open(path, encoding="ascii", errors="replace") as file:
        return [int(found.group(1), 16) for found in re.finditer(r"^Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/", file.read(), re.M)]


def workspace():
    os.makedirs(os.environ.get("TL_WORK", "/tmp"), exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="insn.", dir=os.environ.get("TL_WORK", "/tmp"))


def main(cases):
    """Of a script BINARY CASE."""
    binary, case = os.path.abspath(sys.argv[1]), sys.argv[2]
    need()
    checks = harness.Checks()
    with workspace() as folder:
        cases[case](checks, binary, folder)
    checks.end()
