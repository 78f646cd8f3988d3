"""Programs to attach to, and what they must be afterwards: shared by rt_attach.py and rt_attach_faults.py."""
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HERE = os.path.dirname(os.path.abspath(__file__))


class Victim:
    """A program that waits for nothing but its end."""

    def __init__(self, words, feed=False, settings=None, **options):
        env = {key: value for key, value in os.environ.items() if not key.startswith("TRACELOOM")}
        if settings:
            env["TRACELOOM"] = settings
        self.feeds = feed
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=subprocess.PIPE, env=env, **options)
        self.pid = self.process.pid
        self.first = self.process.stdout.readline().strip()

    def feed(self):
        if self.feeds:
            self.process.stdin.write(b"word")
            self.process.stdin.flush()

    def end(self, checks, *what):
        """It must end as it would have without us."""
        if self.feeds:
            self.process.stdin.close()
        else:
            self.process.send_signal(signal.SIGUSR1)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            checks.that(False, *what, "hangs")
        checks.equal((self.process.returncode, self.process.stdout.read()), (0, b"good\n"), *what, "end and output")


def compare_code(pid):
    """Bytes of code in memory that differ from the mapped files, but for the recorder's own; None: the mappings changed meanwhile."""
    out = []
    with open("/proc/%d/maps" % pid) as maps:
        lines = maps.readlines()
    with open("/proc/%d/mem" % pid, "rb") as memory:
        for line in lines:
            words = line.split(None, 5)
            if len(words) < 6 or not words[5].startswith("/") or "x" not in words[1] or "libtraceloom-rt" in words[5]:
                continue
            begin, end = (int(word, 16) for word in words[0].split("-"))
            try:
                memory.seek(begin)
                now = memory.read(end - begin)
            except OSError:
                return None
            with open(words[5].strip(), "rb") as file:
                file.seek(int(words[2], 16))
                then = file.read(end - begin)
            if len(now) < len(then):
                return None
            if now[:len(then)] != then:
                out += ["%s+%#x" % (words[5].strip(), int(words[2], 16) + i) for i in range(len(then)) if then[i] != now[i]]
    return out


def changed_code(pid):
    for _ in range(20):
        out = compare_code(pid)
        if out is not None:
            return out
        time.sleep(0.05)
    return ["mappings that never stay"]


def build(folder, name="attach_victim", flags=(), libraries=()):
    """A victim, built with nothing of ours."""
    sources = [os.path.join(HERE, "attach_victim.c"), os.path.join(HERE, "attach_registers.S")]
    compiler = "gcc"
    if name == "attach_throw":
        sources, compiler = [os.path.join(HERE, "attach_throw.cpp")], "g++"
    if not shutil.which(compiler):
        harness.skip("no " + compiler)
    out = os.path.join(folder, name)
    subprocess.run([compiler, "-O2", "-g0", "-U_GNU_SOURCE", "-D_GNU_SOURCE", "-pthread", *flags, "-o", out, *sources, *libraries], check=True)
    return out


def record(folder, pid, *arguments, **options):
    return harness.run("record", "-p", pid, *arguments, cwd=folder, **options)


def settled(folder):
    """Names of recordings; none may be left unfinished."""
    return sorted(name for name in os.listdir(folder) if name.endswith((".tlp", ".xray", ".live", ".part")))


def calls_of(path, name):
    """How often a function was called. Names in C++ have their arguments."""
    rows = harness.run("report", "--json", path).json()["functions"]
    return sum(row["calls"] for row in rows if row["name"].partition("(")[0] == name)
