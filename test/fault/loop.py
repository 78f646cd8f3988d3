#!/usr/bin/env python3
"""Makes the n-th call of one kind fail, for n = 1, 2, ..., and checks what the command does:

    loop.py SHIM KIND [COMMAND...]

KIND is one of the table KINDS below. Tries every n up to 50 (up to 12 for further faults of a kind), and from there on
ever larger steps; with TL_FAULT_ALL=1 in the environment, every n.

Whatever fails, the command ends by itself, with one message and status 3. It leaks neither memory nor descriptors, and
leaves no partial file behind. If it reports success, its output is that of a run without faults."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import fault_commands
from fault_commands import COMMANDS, STANDARD_INPUT, STATUS

ALL_UP_TO, FURTHER_UP_TO, STEP = 50, 12, 1.6
CALLS = ("malloc", "read", "write", "close", "open", "name", "mkdir", "thread")  # as the shim counts them
# Faults of each kind, and the call counted for them. Fewer n are tried for all but the first.
KINDS = {
    "malloc": [("malloc:%d", "malloc")],
    "malloc+": [("malloc+:%d", "malloc")],
    "read": [("read:%d", "read"), ("read+:%d", "read")],
    "write": [("write:%d", "write"), ("write+:%d:EDQUOT", "write"), ("write:%d:EIO", "write")],
    "files": [("close:%d", "close"), ("open:%d", "open"), ("open+:%d:ENFILE", "open"), ("name:%d", "name"), ("name+:%d", "name"),
              ("name+:%d:EXDEV", "name"), ("mkdir:%d", "mkdir")],
    "thread": [("thread:%d", "thread"), ("thread+:%d", "thread")],
    "pipe": [("write+:%d:EPIPE", "write")],
    "shrink": [("shrink:%d:0", "read"), ("shrink:%d:50", "read"), ("shrink:%d:97", "read")],
    "grow": [("grow:%d", "read")],
    "folder": [("vanish:%d", "write"), ("readonly:%d", "write")],
}
WHOLE = ("short", "eintr")  # of every call
# File names are shorter if the folder read cannot be listed again.
NAMED_LESS = ("insn-set ", "insn-slice ", "insn-slice-time ")
# The input is opened after other reads: it was short from the start.
OPENED_LATE = ("insn-mix ", "insn-slice-time ", "machine-folder ", "machine-cache ")


class Shimmed:
    """The command with the shim in it: one process, with a child for each run."""

    def __init__(self, folder, shim, name):
        self.folder, self.name, self.out = folder, name, os.path.join(folder, "out")
        self.file = {key: os.path.join(folder, "run." + key) for key in ("stdout", "stderr", "report")}
        self.writes = any("@OUT@" in word for word in COMMANDS[name])
        words = [word.replace("@OUT@", self.out) for word in COMMANDS[name]]
        self.input = victim(folder, words)
        kept = self.input and os.path.join(folder, self.input)
        self.content = open(kept, "rb").read() if kept else b""
        commands, their_end = os.pipe()
        our_end, answers = os.pipe()
        # In any other locale the C library itself allocates; a failure there only makes bars plainer, rightly.
        # Without memory LLVM itself ends the program.
        env = dict(os.environ, LC_ALL="C", TRACELOOM_LLVM="off", LD_PRELOAD=shim, TL_FAULT_SERVER="%d %d" % (commands, answers),
                   TL_FAULT_STDOUT=self.file["stdout"], TL_FAULT_STDERR=self.file["stderr"], TL_FAULT_REPORT=self.file["report"])
        if name in STANDARD_INPUT:
            env["TL_FAULT_STDIN"] = os.path.join(folder, STANDARD_INPUT[name])
        self.env = env
        self.start = lambda: subprocess.Popen(harness.binary("TL_PLAIN_BINARY") + words, cwd=folder, env=self.env, stdin=subprocess.DEVNULL,
                                              pass_fds=(commands, answers))
        self.ends, self.process, self.changes = (their_end, our_end, commands, answers), None, None

    def begin(self, changes=None):
        """`changes`: the file or folder for shrink, grow, vanish and readonly."""
        if self.process is None or changes != self.changes:
            self.stop()
            if changes:
                self.env["TL_FAULT_FILE"] = os.path.join(self.folder, changes)
            self.process, self.changes = self.start(), changes

    def stop(self):
        if self.process:
            os.write(self.ends[0], b"end\n")
            self.process.wait()
            self.process = None

    def close(self):
        self.stop()
        for end in self.ends:
            os.close(end)

    def run(self, fault):
        kind = fault.split(":")[0]
        self.begin("out" if kind in ("vanish", "readonly") else self.input if kind in ("shrink", "grow") else self.changes)
        if self.writes:
            os.makedirs(self.out)
            fault_commands.put_before(self.folder, self.out, self.name)
        os.write(self.ends[0], fault.encode() + b"\n")
        answer = os.read(self.ends[1], 16)
        run = Run(int(answer), self)
        if self.writes and os.path.exists(self.out):
            os.chmod(self.out, 0o755)
            shutil.rmtree(self.out)
        if kind in ("shrink", "grow") and self.input:
            fault_commands.write(self.folder, self.input, self.content)
        return run


def victim(folder, words):
    """The input that shrinks or grows: the largest file of the first input in the command."""
    for path in (word for word in words[1:] if not os.path.isabs(word)):  # no files of the system
        whole = os.path.join(folder, path)
        if os.path.isfile(whole):
            return path
        if os.path.isdir(whole):
            names = [os.path.relpath(os.path.join(inside, name), folder) for inside, _, names in os.walk(whole) for name in names]
            return max(sorted(names), key=lambda name: os.path.getsize(os.path.join(folder, name)))
    return None


class Run:
    def __init__(self, status, of):
        self.status = os.waitstatus_to_exitcode(status)
        self.out, self.err = (take(of.file[key]) for key in ("stdout", "stderr"))
        self.files = {}
        for inside, folders, names in os.walk(of.out) if of.writes else ():
            self.files.update({os.path.join(inside, name) + "/": None for name in folders})
            self.files.update({os.path.join(inside, name): take(os.path.join(inside, name)) for name in names})
        report = [int(word) for word in take(of.file["report"]).split()]
        self.faults, self.live, self.descriptors = report[:3] if report else (None, None, None)
        self.counts = dict(zip(CALLS, report[3:]))
        if report:
            os.unlink(of.file["report"])

    def new_lines(self, good):
        """Messages that a run without faults does not print."""
        return [line for line in self.err.splitlines() if line not in good.err.splitlines()]

    def __str__(self):
        return "status %s, faults %s, files %s, stderr %s" % (self.status, self.faults, sorted(self.files), self.err[-300:])


def take(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def repeats(text):
    """Does a message repeat a name, as in "a.xray: fdr: a.xray: cannot be read"?"""
    return any(len(parts) > len(set(parts)) for parts in (line.split(b": ") for line in text.splitlines()))


def judge(checks, what, run, good):
    """Exit status and output of a run with faults, compared with the run without."""
    if not checks.that(run.status in (0, 1, 2, 3, 4, 5, 125, 126, 127), what, "ends badly:", run):
        return
    checks.that(run.live is None or run.live <= good.live, what, "leaks", run.live, "blocks, not", good.live, run)
    checks.that(run.descriptors is None or run.descriptors <= good.descriptors, what, "leaves descriptors open:", run)
    # SQLite writes a file itself: it does not say which error it was, and needs the file's name while it writes.
    of_sqlite = what.startswith("query-database ")
    quiet = "EPIPE" in what and not of_sqlite
    new = run.new_lines(good)
    if run.status == good.status and (run.status == 0 or run.err == good.err) and not quiet:
        if "open" in what and (new or what.startswith(NAMED_LESS)):  # names stay unknown, and it says so
            return
        checks.that(run.out == good.out, what, "says success, but its output differs:", run, run.out[-200:])
        checks.that(run.files == good.files, what, "says success, but its files differ:", run)
        return
    # SQLite does not say whether memory ran out or its limit was reached, which is status 5.
    is_limit = what.startswith("query") and "malloc" in what and run.status == 5
    checks.that(run.status == 3 or is_limit or (good.status >= 125 and run.status == 125), what, "not status 3:", run)
    checks.that(not new if quiet else 1 <= len(new) <= good.inputs, what, "not one message:", run)
    checks.that(not repeats(run.err), what, "says the same twice:", run)
    if what.startswith("split "):  # each file is whole
        checks.that(run.files.items() <= good.files.items(), what, "leaves a partial file:", run)
    else:
        # Nothing can be removed from a read-only folder: an empty one stays.
        files = {name: data for name, data in run.files.items() if "readonly" not in what or (data is not None and not of_sqlite) or name in good.before}
        checks.that(files in ({}, good.files, good.before), what, "leaves a partial file:", run)


def judge_changed(checks, what, run, good):
    """The input changed while it was read. Losses are reported with their place; files have their own names."""
    if not checks.that(run.status in (0, 1, 3), what, "ends badly:", run):
        return
    checks.that(run.live is None or run.live <= good.live, what, "leaks", run.live, "blocks, not", good.live, run)
    checks.that(set(run.files) <= set(good.files) | set(good.before), what, "leaves a temporary file:", run)
    if run.status == good.status and run.out == good.out and run.files == good.files:
        return
    if "shrink" in what and not what.startswith(OPENED_LATE):
        checks.that(run.status and (run.new_lines(good) or run.status == 1), what, "lost something silently:", run)
    checks.that(not repeats(run.err), what, "says the same twice:", run)


def numbers(most, up_to):
    n = 1
    while n <= most:
        yield n
        n = n + 1 if n < up_to else int(n * STEP)


def try_all(checks, shimmed, kind, good, every):
    runs = fired = 0
    if kind in ("shrink", "grow") and not shimmed.input:
        return runs, fired
    for at, (fault, call) in enumerate(KINDS[kind]):
        for n in numbers(good.counts.get(call, 0), sys.maxsize if every else FURTHER_UP_TO if at else ALL_UP_TO):
            what = "%s %s" % (shimmed.name, fault % n)
            run = shimmed.run(fault % n)
            for _ in range(3):  # the C library's blocks for threads vary with timing; leaks do not
                run = shimmed.run(fault % n) if run.live is not None and run.live > good.live else run
            (judge_changed if kind in ("shrink", "grow") else judge)(checks, what, run, good)
            runs, fired = runs + 1, fired + (run.faults != 0)
    return runs, fired


def main():
    shim, kind, words = sys.argv[1], sys.argv[2], sys.argv[3:]
    every = os.environ.get("TL_FAULT_ALL") == "1"
    harness.binary("TL_PLAIN_BINARY")
    checks, sum_runs, sum_fired = harness.Checks(show=60), 0, 0
    with harness.work_folder() as folder:
        fault_commands.prepare(folder)
        for command in words or COMMANDS:
            shimmed = Shimmed(folder, shim, command)
            good = shimmed.run("count")
            good.before = before(folder, command)
            good.inputs = max(1, sum(os.path.exists(os.path.join(folder, word)) for word in COMMANDS[command][1:]))
            checks.that(good.status in ((STATUS[command],) if command in STATUS else (0, 3)), command, "fails without any fault:", good)
            if kind in WHOLE:
                run, runs = shimmed.run(kind), 1
                fired = run.faults
                checks.equal((run.status, run.out, run.files), (good.status, good.out, good.files), command, "differs with", kind)
            else:
                runs, fired = try_all(checks, shimmed, kind, good, every)
            shimmed.close()
            sum_runs, sum_fired = sum_runs + runs, sum_fired + (fired or 0)
            if words or every:
                print("%s: %d runs, %d with a fault" % (command, runs, fired or 0))
    checks.that(sum_fired, "no fault of kind", kind)
    print("%d runs, %d with a fault" % (sum_runs, sum_fired))
    checks.end()


def before(folder, command):
    """The files in the folder of outputs before a run."""
    out = os.path.join(folder, "out")
    os.makedirs(out)
    fault_commands.put_before(folder, out, command)
    files = {}
    for inside, folders, names in os.walk(out):
        files.update({os.path.join(inside, name) + "/": None for name in folders})
        files.update({os.path.join(inside, name): take(os.path.join(inside, name)) for name in names})
    shutil.rmtree(out)
    return files


if __name__ == "__main__":
    main()
