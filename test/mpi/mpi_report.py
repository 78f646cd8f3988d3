#!/usr/bin/env python3
"""traceloom-mpi, with several ranks on this machine: mpi_report.py WHAT PROGRAM

    bytes     any number of ranks and any order of files gives the bytes of `traceloom report`
    options   --clock, --by name, --glob, and what is refused
    failures  files that cannot be read, empty folders, wrong command lines
    rerun     a rank is killed; the next run takes what was finished
    parts     parts that are damaged, foreign, or cannot be written
    pieces    messages smaller than their content (the program mpi_pieces)
    missing   says why there is no traceloom-mpi: the second word

mpirun of Open MPI listens on every interface of its host. So it runs in a network of its own that has only the loopback
interface, where the system allows that."""
import ctypes
import fcntl
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
PATIENCE, GRACE = 120, 5
RANKS = (1, 2, 3, 4, 7)
HOSTILE = ["a b", "new\nline", "-o", "--state", "%s%n", "'quoted\"", "$(touch x)", "\udcff\udcfe", "é", "+", "x" * 200, "semi;colon", "*", ".tlp"]


def lonely():
    """Gives this process, about to become mpirun, a network without other interfaces."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40000000) == 0:  # CLONE_NEWNET
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def ended(pid):
    """The exit status of a process that is a zombie; None: it is not."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    code = int(fields[-1])
    return (code >> 8 or 128 + code if code else 0) if fields[0] == b"Z" else None


class Job:
    """A running mpirun."""
    def __init__(self, folder, ranks, words, env=None):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_pml="ob1",
                           OMPI_MCA_btl="self,vader", OMPI_MCA_rmaps_base_oversubscribe="1", LSAN_OPTIONS="exitcode=0", **(env or {}))
        self.err_path, self.out_path = os.path.join(folder, "err-of-mpirun"), os.path.join(folder, "out-of-mpirun")
        with open(self.err_path, "wb") as err, open(self.out_path, "wb") as out:
            self.process = subprocess.Popen(["mpirun", "-q", "-np", str(ranks), sys.argv[2]] + words, cwd=folder, stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err, env=environment, preexec_fn=lonely)

    def end(self):
        """Waits. mpirun itself may hang in its very end, behind its ranks (PMIx 4.2: a thread waits for itself): then
        their exit status is taken from them."""
        deadline, over = time.monotonic() + PATIENCE, None
        status = self.process.poll()
        while status is None:
            states = [ended(pid) for pid in self.rank_pids()]
            if not states or None in states:
                over = None
            elif over is None:
                over = time.monotonic()
            elif time.monotonic() > over + GRACE:
                print("mpirun hangs behind its ranks, which have ended:", states)
                status = min(filter(None, states), default=0)  # those that mpirun ended are above 128
                self.process.kill()
                break
            if time.monotonic() > deadline:
                with open(self.err_path, "rb") as err:
                    print("out of patience:", [open("/proc/%d/stat" % pid, "rb").read() for pid in self.rank_pids()], err.read())
                self.process.terminate()
                sys.exit(1)
            time.sleep(0.05)
            status = self.process.poll()
        self.process.wait()
        with open(self.err_path, "rb") as err:
            self.err = err.read().decode(errors="surrogateescape")
        with open(self.out_path, "rb") as out:
            self.out = out.read().decode(errors="surrogateescape")
        self.status = status
        return self

    def rank_pids(self):
        """In the order of ranks, which mpirun starts in this order."""
        if self.process.poll() is not None:
            return []
        with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid), encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def own_leaks(self):
        """Allocations of ours that were never freed; MPI's libraries leave some of theirs."""
        return re.findall(r"^    #1 .*/src/(?:base|model|format|op|cli|mpi)/.*$", self.err, re.M)


class Fleet:
    """A folder of different profiles, and what `traceloom report` makes of it."""
    def __init__(self, checks, folder):
        self.checks, self.folder = checks, folder
        self.kinds = []
        trace, binary = os.path.join(INPUT, "fdr-v5-le.xray"), os.path.join(INPUT, "program.elf")
        for i, words in enumerate(([], ["-e", binary], ["--depth", "1"], ["--depth", "2"], ["-F", "#1"], ["-e", binary, "--depth", "3"],
                                   ["--min-dur", "2us"], ["--time", "..9us"], ["-N", "#7"])):
            self.kinds.append(os.path.join(folder, "kind%d.tlp" % i))
            self.report([trace] + words + ["-q", "-o", self.kinds[-1]])

    def report(self, words, status=0):
        done = harness.run("report", *words, cwd=self.folder)
        self.checks.equal(done.status, status, "traceloom report", words, done)
        return done

    def fill(self, name, count, hostile=False):
        """A tree of files of all kinds."""
        for i in range(count):
            below = os.path.join(self.folder, name, "host-%d" % (i % 5)) if i % 3 else os.path.join(self.folder, name)
            os.makedirs(below, exist_ok=True)
            word = HOSTILE[i % len(HOSTILE)] if hostile else ""
            shutil.copyfile(self.kinds[i * i % len(self.kinds)], os.path.join(below, "%s%03d.tlp" % (word, i)))

    def start(self, ranks, words, env=None):
        return Job(self.folder, ranks, ["report"] + words, env)

    def run(self, ranks, words, status=0, env=None):
        job = self.start(ranks, words, env).end()
        self.checks.equal(job.status, status, ranks, "ranks", words, job.err[-3000:])
        self.checks.equal(job.own_leaks(), [], "leaks", words)
        return job

    def path(self, *name):
        return os.path.join(self.folder, *name)

    def content(self, *name):
        with open(self.path(*name), "rb") as file:
            return file.read()

    def same(self, *what):
        self.checks.that(self.content("all.tlp") == self.content("report.tlp"), "not the bytes of traceloom report:", *what)

    def parts(self, state=".all.tlp.parts"):
        """Finished ones."""
        found = os.listdir(self.path(state)) if os.path.isdir(self.path(state)) else []
        return sorted(name for name in found if re.fullmatch(r"\.[0-9a-f]{64}\.part", name))


def said(text):
    """Our messages, sorted: ranks say them in no order."""
    return sorted(line for line in text.splitlines() if line.startswith(("traceloom: ", "fleet/")) and "wrote " not in line)


def of_bytes(fleet):
    fleet.fill("fleet", 150, hostile=True)
    by_report = fleet.report(["fleet", "-o", "report.tlp"]).err.decode(errors="surrogateescape")
    for ranks in RANKS:
        job = fleet.run(ranks, ["fleet", "-f", "-o", "all.tlp"])
        fleet.same(ranks, "ranks")
        fleet.checks.equal(said(job.err), said(by_report), ranks, "ranks: messages")
        fleet.checks.that(not os.path.exists(fleet.path(".all.tlp.parts")), "parts are left")
    files = [os.path.join(root, name) for root, _, names in os.walk(fleet.path("fleet")) for name in names]
    fleet.checks.equal(len(files), 150, "files")
    fleet.report(["-f", "-o", "report.tlp", "--"] + sorted(files))
    for seed, ranks in ((1, 2), (2, 5)):
        random.Random(seed).shuffle(files)
        fleet.run(ranks, ["-f", "-o", "all.tlp", "--"] + files)
        fleet.same("files in order", seed)
    # More ranks than files; a file twice; compressed.
    fleet.report(["kind0.tlp", "kind0.tlp", "kind3.tlp", "-f", "-o", "report.tlp"])
    fleet.run(7, ["kind3.tlp", "kind0.tlp", "kind0.tlp", "-f", "-o", "all.tlp"])
    fleet.same("more ranks than files")
    fleet.report(["fleet", "kind1.tlp", "-o", "report.tlp.zst"])
    fleet.run(3, ["kind1.tlp", "fleet", "-o", "all.tlp.zst"])
    fleet.checks.that(fleet.content("report.tlp.zst") == fleet.content("all.tlp.zst"), "compressed")


def of_options(fleet):
    checks = fleet.checks
    fleet.fill("fleet", 40)
    with open(os.path.join(INPUT, "fdr-v5-le.xray"), "rb") as file:
        trace = bytearray(file.read())
    trace[8:16] = struct.pack("<Q", 3000000000)
    with open(fleet.path("other.xray"), "wb") as file:
        file.write(trace)
    fleet.report(["other.xray", "-e", os.path.join(INPUT, "program.elf"), "-o", "fleet/host-1/other.tlp"])
    for ranks in (1, 3):
        job = fleet.run(ranks, ["fleet", "-o", "all.tlp"], status=2)
        checks.that("profiles of different clocks cannot be added up: " in job.err and "; with --clock ns they can" in job.err, job.err)
        checks.that(re.search(r"^fleet/\S+\.tlp: profiles of different clocks", job.err, re.M), "names no file", job.err)
        checks.that(not os.path.exists(fleet.path("all.tlp")), "an output of half of it")
    for words in (["--clock", "ns"], ["--clock", "ns", "--by", "name"], ["--glob", "*1.tlp"]):
        fleet.report(["fleet", "-f", "-o", "report.tlp"] + words)
        fleet.run(3, ["fleet", "-f", "-o", "all.tlp"] + words)
        fleet.same(words)
    fleet.report(["other.xray", "fleet", "-f", "-o", "report.tlp", "--clock", "ns"])
    fleet.run(2, ["other.xray", "fleet", "-f", "-o", "all.tlp", "--clock", "ns"])
    fleet.same("events beside profiles")
    for words, message in ((["fleet", "-o", "all.tlp"], "all.tlp: the file exists"), (["fleet", "-o", "all.svg"], "writes .tlp files only"),
                           (["fleet", "-o", "all.html"], "writes .tlp files only"), (["fleet"], "needs -o FILE.tlp"),
                           (["fleet", "-o", "b.tlp", "--by", "tree"], "knows --by name only"), (["fleet", "-o", "b.tlp", "--by", "nme"], "did you mean"),
                           (["-o", "b.tlp"], "no folder and no file"), (["-", "-o", "b.tlp"], "standard input"), (["fleet", "-o", "b.tlp", "-e", "x"], "has no option -e"),
                           (["fleet", "-o", "b.tlp", "--state"], "--state needs a value"), (["kind0.tlp", "-o", "b.tlp", "--glob", "*"], "--glob chooses")):
        job = fleet.run(2, words, status=2)
        checks.equal(job.err.count(message), 1, words, "message once", job.err)
        checks.that(not os.path.exists(fleet.path("b.tlp")), words, "wrote")
    for words, text in ((["--help"], "usage: mpirun -np N traceloom-mpi report"), (["--version"], "traceloom-mpi ")):
        done = subprocess.run([sys.argv[2]] + words, capture_output=True, text=True, check=False, env=dict(os.environ, LSAN_OPTIONS="exitcode=0"))
        checks.that(done.returncode == 0 and done.stdout.startswith(text), words, done)


def of_failures(fleet):
    checks = fleet.checks
    fleet.fill("fleet", 30)
    for name, content in (("fleet/cut.tlp", fleet.content("kind0.tlp")[:100]), ("fleet/host-2/none.tlp", b""), ("bad/cut.tlp", fleet.content("kind0.tlp")[:100])):
        os.makedirs(os.path.dirname(fleet.path(name)), exist_ok=True)
        with open(fleet.path(name), "wb") as file:
            file.write(content)
    fleet.report(["fleet", "-o", "report.tlp"], status=3)
    for ranks in (1, 2, 4):
        job = fleet.run(ranks, ["fleet", "-f", "-o", "all.tlp"], status=3)
        fleet.same("damaged files", ranks)
        for message in ("fleet/cut.tlp: byte 100: tlp: tlp.truncated", "fleet/host-2/none.tlp: ", "traceloom: 2 of 32 files could not be read, and are left out"):
            checks.equal(job.err.count(message), 1, message, job.err)
        checks.that(not os.path.exists(fleet.path(".all.tlp.parts")), "parts are left")
    os.unlink(fleet.path("all.tlp"))
    job = fleet.run(3, ["fleet", "--strict", "-o", "all.tlp"], status=3)
    job = fleet.run(3, ["fleet", "kind0.tlp", "fleet/cut.tlp", "-o", "all.tlp"], status=3)
    checks.that("fleet/cut.tlp: byte 100" in job.err, "a file that was named", job.err)
    job = fleet.run(3, ["fleet", "nowhere.tlp", "-o", "all.tlp"], status=3)
    checks.that("nowhere.tlp: No such file" in job.err and "MPI_ABORT" not in job.err, job.err)
    # The others have finished theirs: once the file is there, only its group is left.
    shutil.copyfile(fleet.kinds[1], fleet.path("nowhere.tlp"))
    job = fleet.run(2, ["fleet", "nowhere.tlp", "-o", "all.tlp"], status=3)
    checks.that("traceloom: 30 of 33 parts were there" in job.err, "all but two files that cannot be read, and the new one", job.err)
    fleet.report(["fleet", "nowhere.tlp", "-f", "-o", "report.tlp"], status=3)
    fleet.same("a file that appeared")
    os.unlink(fleet.path("all.tlp"))
    job = fleet.run(2, ["bad", "-o", "all.tlp"], status=3)
    checks.that("1 of 1 files could not be read" in job.err, job.err)
    os.mkdir(fleet.path("empty"))
    job = fleet.run(3, ["empty", "-o", "all.tlp"], status=3)
    checks.equal(job.err.count("empty: no recognised trace in this folder, and no profiles"), 1, job.err)
    job = fleet.run(2, ["fleet", "-o", "nowhere/all.tlp"], status=3)
    checks.that("nowhere" in job.err, job.err)
    checks.that(not os.path.exists(fleet.path("all.tlp")), "an output of half of it")


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit("waited in vain for " + what)
        time.sleep(0.05)


def listening(pid):
    """Local addresses where a process listens, in hexadecimal, of its own network."""
    inodes, found = set(), []
    for fd in os.listdir("/proc/%d/fd" % pid):
        try:
            target = os.readlink("/proc/%d/fd/%s" % (pid, fd))
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    for table in ("tcp", "tcp6"):
        path = "/proc/%d/net/%s" % (pid, table)
        rows = open(path, encoding="ascii").read().splitlines()[1:] if os.path.exists(path) else []
        found += [row.split()[1] for row in rows if row.split()[3] == "0A" and row.split()[9] in inodes]
    return found


def check_network(checks, job):
    for pid in job.rank_pids():
        checks.equal(listening(pid), [], "a rank listens")
    with open("/proc/%d/net/dev" % job.process.pid, encoding="ascii") as file:
        interfaces = [line.split(":")[0].strip() for line in file if ":" in line]
    if os.readlink("/proc/%d/ns/net" % job.process.pid) == os.readlink("/proc/self/ns/net"):
        print("mpirun shares the network of this machine, and listens there: no namespace could be made")
    else:
        checks.equal([name for name in interfaces if name != "lo" and "tun" not in name and name[:3] not in ("sit", "gre", "ip6", "ip_")], [], "interfaces")


def of_rerun(fleet):
    """A pipe without a writer among the files holds one rank up; meanwhile the others finish. Then a rank is killed."""
    checks = fleet.checks
    fleet.fill("fleet", 60)
    for at, killed, ranks, again in ((0, 0, 3, 2), (60, 1, 2, 4), (31, 2, 4, 1), (31, 0, 3, 3)):
        files = ["fleet/" + os.path.relpath(os.path.join(root, name), fleet.path("fleet"))
                 for root, _, names in sorted(os.walk(fleet.path("fleet"))) for name in sorted(names)]
        files.insert(at, "slow.tlp")
        os.mkfifo(fleet.path("slow.tlp"))
        job = fleet.start(ranks, ["-f", "-o", "all.tlp"] + files)
        # 61 files are 61 groups, each ranks-th is of one rank: the one that waits has finished those before.
        finished = 60 - len([g for g in range(61) if g > at and g % ranks == at % ranks])
        wait_for(lambda: len(fleet.parts()) == finished, "%d parts" % finished)
        pids = job.rank_pids()
        checks.equal(len(pids), ranks, "ranks")
        check_network(checks, job)
        os.kill(pids[killed], signal.SIGKILL)
        job.end()
        checks.that(job.status != 0, "the job went on without a rank", job.err)
        checks.that(not os.path.exists(fleet.path("all.tlp")), "an output of half of it")
        checks.equal(len(fleet.parts()), finished, "parts after the kill")
        os.unlink(fleet.path("slow.tlp"))
        shutil.copyfile(fleet.kinds[4], fleet.path("slow.tlp"))
        fleet.report(["-f", "-o", "report.tlp"] + files)
        job = fleet.run(again, ["-f", "-o", "all.tlp"] + files)
        fleet.same("after a rank was killed", at, killed)
        checks.that("traceloom: %d of 61 parts were there from an earlier run" % finished in job.err, finished, job.err)
        checks.that(not os.path.exists(fleet.path(".all.tlp.parts")), "parts are left")
        os.unlink(fleet.path("slow.tlp"))
        os.unlink(fleet.path("all.tlp"))


def leave_parts(fleet, files, words=(), state=".all.tlp.parts"):
    """A run of `files` and a pipe that ends before it wrote; the pipe is a file after it."""
    os.mkfifo(fleet.path("slow.tlp"))
    job = fleet.start(2, files + ["slow.tlp", "-f", "-o", "all.tlp"] + list(words))
    wait_for(lambda: len(fleet.parts(state)) == len(files), "parts")
    os.kill(job.rank_pids()[1], signal.SIGKILL)
    job.end()
    os.unlink(fleet.path("slow.tlp"))
    shutil.copyfile(fleet.kinds[4], fleet.path("slow.tlp"))
    return [fleet.path(state, name) for name in fleet.parts(state)]


def of_parts(fleet):
    checks = fleet.checks
    fleet.fill("fleet", 12)
    files = ["fleet/" + os.path.relpath(os.path.join(root, name), fleet.path("fleet")) for root, _, names in os.walk(fleet.path("fleet")) for name in names]
    every = files + ["slow.tlp"]
    # Each part is damaged in another way: they are made again.
    parts = leave_parts(fleet, files)
    fleet.report(every + ["-o", "report.tlp"])
    for i, path in enumerate(parts[:9]):
        with open(path, "rb") as file:
            part = bytearray(file.read())
        if i < 5:
            part[(0, 9, 45, len(part) // 2, len(part) - 1)[i]] ^= 0x10
        else:
            part = (part[:-1], part[:20], b"", part + b"\0")[i - 5]
        with open(path, "wb") as file:
            file.write(part)
    os.unlink(parts[9])
    os.mkfifo(parts[9])
    job = fleet.run(3, every + ["-f", "-o", "all.tlp"])
    fleet.same("damaged parts")
    checks.that("traceloom: 2 of 13 parts were there" in job.err, job.err)
    # A file that has changed, options, and another version: no part of what was before is taken.
    os.unlink(fleet.path("slow.tlp"))
    leave_parts(fleet, files)
    shutil.copyfile(fleet.kinds[8], fleet.path(files[3]))
    os.utime(fleet.path(files[3]), ns=(1, 1))
    fleet.report(every + ["-f", "-o", "report.tlp", "--by", "name"])
    job = fleet.run(1, every + ["-f", "-o", "all.tlp", "--by", "name"])
    fleet.same("other options")
    checks.that("from an earlier run" not in job.err, job.err)
    os.unlink(fleet.path("slow.tlp"))
    leave_parts(fleet, files, ["--state", "kept"], "kept")
    shutil.copyfile(fleet.kinds[2], fleet.path(files[5]))
    with open(fleet.path("kept", "mine"), "wb"):
        pass
    fleet.report(every + ["-f", "-o", "report.tlp"])
    job = fleet.run(2, every + ["-f", "-o", "all.tlp", "--state=kept"])
    fleet.same("a changed file")
    checks.that("traceloom: 11 of 13 parts were there" in job.err, job.err)
    checks.equal(os.listdir(fleet.path("kept")), ["mine"], "what is not a part was removed")
    # The output cannot be written: the parts stay, and the next run takes them.
    job = fleet.run(2, every + ["-f", "-o", "/dev/full", "--state", "kept"], status=2)
    os.mkdir(fleet.path("taken.tlp"))
    with open(fleet.path("taken.tlp", "file"), "wb"):
        pass
    job = fleet.run(2, every + ["-f", "-o", "taken.tlp", "--state", "kept"], status=3)
    checks.equal(len(fleet.parts("kept")), 13, "parts, of a run that could not write", job.err)
    job = fleet.run(3, every + ["-f", "-o", "all.tlp", "--state", "kept"])
    checks.that("traceloom: 13 of 13 parts were there" in job.err, job.err)
    fleet.same("after an output that could not be written")
    # Parts cannot be written: said, and done without.
    job = fleet.run(2, every + ["-f", "-o", "all.tlp", "--state", "/proc/self/task"])
    fleet.same("without room for parts")
    checks.equal(len(re.findall(r"rank \d keeps no more parts", job.err)), 2, "said once in each rank", job.err)
    # Others could put parts there.
    os.mkdir(fleet.path("open"))
    os.chmod(fleet.path("open"), 0o777)
    os.symlink("kept", fleet.path("link"))
    for state in ("open", "link", "kind0.tlp"):
        job = fleet.run(2, every + ["-f", "-o", "all.tlp", "--state", state], status=2)
        checks.equal(job.err.count(state + ": the folder for parts must be a folder of yours"), 1, state, job.err)


def of_pieces(fleet):
    for ranks in (1, 2, 5):
        job = Job(fleet.folder, ranks, []).end()
        fleet.checks.equal((job.status, job.out), (0, "40 sizes, %d ranks, 0 wrong\n" % ranks), job.err)


def main():
    what = sys.argv[1]
    if what == "missing":
        harness.skip(" ".join(sys.argv[2:]))
    if not shutil.which("mpirun"):
        harness.skip("no mpirun; apt-get install openmpi-bin")
    checks = harness.Checks()
    with harness.work_folder() as folder:
        fleet = Fleet(checks, folder)
        {"bytes": of_bytes, "options": of_options, "failures": of_failures, "rerun": of_rerun, "parts": of_parts, "pieces": of_pieces}[what](fleet)
    checks.end()


if __name__ == "__main__":
    main()
