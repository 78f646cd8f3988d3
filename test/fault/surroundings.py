#!/usr/bin/env python3
"""The command in unusual surroundings:

    surroundings.py standard     standard input, output or error is not open
    surroundings.py pipes        nobody reads its output to the end
    surroundings.py targets      the target of -o is a folder, a pipe, the input, ...
    surroundings.py limits       little memory, stack, descriptors, or room for a file"""
import itertools
import os
import resource
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import fault_commands

PLAIN = "TL_PLAIN_BINARY"


def run(folder, words, limits=(), closed=(), patience=60, **more):
    """`limits`: pairs for setrlimit; `closed`: descriptors that are not open."""
    def prepare():
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for what, most in limits:
            resource.setrlimit(what, (most, most))
        for fd in closed:
            os.close(fd)
    streams = dict({"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}, **more)
    env = dict(os.environ, TRACELOOM_LLVM="off")
    return subprocess.run(harness.binary(PLAIN) + words, cwd=folder, preexec_fn=prepare, timeout=patience, env=env, **streams)


def content(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def standard(checks, folder):
    before = content(folder, "a.xray")
    good = run(folder, ["convert", "a.xray", "-o", "good.jsonl"])
    checks.equal(good.returncode, 0, "convert", good.stderr)
    # The message, and whether the command uses standard output or standard input.
    for words, out, from_in in ((["info", "a.xray"], True, False), (["check", "a.xray"], True, False), (["report", "a.xray"], True, False),
                                (["report", "--json", "a.xray"], True, False), (["cat", "a.xray"], True, False),
                                (["help", "formats"], True, False), (["--version"], True, False), (["--help"], True, False),
                                (["convert", "-f", "a.xray", "-o", "b.jsonl"], False, False), (["info", "-"], True, True),
                                # The first input must not become standard input.
                                (["convert", "-f", "a.xray", "-", "-o", "c.jsonl"], False, True),
                                (["report", "-f", "a.xray", "-o", "b.svg"], False, False), (["convert", "-f", "t2", "-o", "b.ctf"], False, False)):
        for closed in itertools.chain.from_iterable(itertools.combinations((0, 1, 2), n) for n in (1, 2, 3)):
            with open(os.path.join(folder, "a.xray"), "rb") as trace:
                done = run(folder, words, closed=closed, stdin=trace if from_in else subprocess.DEVNULL)
            fails = (out and 1 in closed) or (from_in and 0 in closed)
            what = "%s without %s:" % (" ".join(words), closed)
            checks.equal(done.returncode, 3 if fails else 0, what, "status", done.stderr)
            checks.that(bool(done.stderr) == fails or 2 in closed or b"wrote" in done.stderr or b"names" in done.stderr, what, done.stderr)
            checks.equal(content(folder, "a.xray"), before, what, "the input")
    checks.equal(content(folder, "b.jsonl"), content(folder, "good.jsonl"), "what was written")


def pipes(checks, folder):
    """Commands that write to standard output end quietly if it has no reader."""
    large = "large.xray"
    for words in (["cat", large], ["convert", large, "--to", "jsonl"], ["convert", large, "--to", "csv"], ["convert", large, "--to", "chrome"],
                  ["convert", large, "--to", "perfetto"], ["convert", large, "--to", "babeltrace"], ["convert", large, "--to", "xray-fdr"],
                  ["convert", large, "--to", "speedscope"], ["report", "--json", large], ["report", large], ["report", "--to", "svg", large, "-o", "-"],
                  ["report", "--to", "pprof", large, "-o", "-"], ["info", "--json", large], ["check", "--json", large], ["help", "formats"],
                  ["help", "--completion", "bash"], ["convert", "--help"], ["--version"]):
        for dispositions, expected in ((signal.SIG_DFL, -signal.SIGPIPE), (signal.SIG_IGN, 3)):
            reader, writer = os.pipe()
            os.close(reader)
            env = dict(os.environ, TRACELOOM_LLVM="off")
            done = subprocess.run(harness.binary(PLAIN) + words, cwd=folder, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE,
                                  preexec_fn=lambda: signal.signal(signal.SIGPIPE, dispositions), timeout=60, env=env)
            os.close(writer)
            checks.equal(done.returncode, expected, words, "status", done.stderr)
            said = [line for line in done.stderr.splitlines() if b"names" not in line and b"unmatched" not in line]
            checks.equal(said, [], words, "is not quiet")
    whole = subprocess.run("%s cat %s | head -1" % (" ".join(harness.binary(PLAIN)), large), shell=True, cwd=folder, capture_output=True)
    checks.equal((whole.returncode, len(whole.stdout.splitlines()), whole.stderr), (0, 1, b""), "cat | head -1")


def refused(checks, folder, words, status, kept):
    """It ends with that status and one message; no file appears or vanishes, and those in `kept` do not change."""
    names, before = sorted(os.listdir(folder)), {name: content(folder, name) for name in kept}
    done = run(folder, words)
    checks.equal(done.returncode, status, words, "status", done.stderr)
    checks.equal(len(done.stderr.splitlines()), 1, words, "messages", done.stderr)
    checks.equal(sorted(os.listdir(folder)), names, words, "files")
    checks.that(all(content(folder, name) == data for name, data in before.items()), words, "changed one of", kept)


def targets(checks, folder):
    for link, to in (("to-input.jsonl", "a.xray"), ("nowhere.jsonl", "not/there"), ("to-old.jsonl", "old.jsonl"), ("to-t2.ctf", "t2")):
        os.symlink(to, os.path.join(folder, link))
    os.link(os.path.join(folder, "a.xray"), os.path.join(folder, "hard.jsonl"))
    os.mkdir(os.path.join(folder, "full"))
    os.mkfifo(os.path.join(folder, "pipe.jsonl"))
    fault_commands.write(folder, "old.jsonl", b"old\n")
    fault_commands.write(folder, "full/file", b"mine\n")
    kept = ["a.xray", "a.elf", "old.jsonl", "full/file", "t2/metadata", "a.xtrace/" + min(os.listdir(os.path.join(folder, "a.xtrace")))]
    convert, force = ["convert", "a.xray", "--to", "jsonl", "-o"], ["convert", "-f", "a.xray", "--to", "jsonl", "-o"]
    for target in ("a.xray", "./a.xray", "hard.jsonl", "to-input.jsonl"):
        refused(checks, folder, convert + [target], 2, kept)
        refused(checks, folder, force + [target], 2, kept)
        refused(checks, folder, ["report", "-f", "a.xray", "--to", "svg", "-o", target], 2, kept)
    refused(checks, folder, force + ["a.elf", "-e", "a.elf"], 2, kept)
    refused(checks, folder, ["convert", "-f", "t2", "--to", "ctf", "-o", "t2/"], 2, kept)
    refused(checks, folder, ["convert", "-f", "t2", "--to", "ctf", "-o", "to-t2.ctf"], 2, kept)
    refused(checks, folder, ["convert", "-f", "a.xtrace", "-o", "a.xtrace"], 2, kept)
    refused(checks, folder, ["convert", "-f", kept[-1], "--to", "xtrace-set", "-o", "a.xtrace"], 2, kept)
    for target, status in (("old.jsonl", 2), ("to-old.jsonl", 2), ("nowhere.jsonl", 2), ("full", 3), ("t2", 3), ("not/there.jsonl", 3),
                           ("a.xray/b.jsonl", 3), ("/dev/full", 3), ("x" * 300, 3)):
        refused(checks, folder, convert + [target], status, kept)
    refused(checks, folder, force + ["full"], 3, kept)
    for form in ("ctf", "xtrace-set"):
        source = "a.xray" if form == "ctf" else "a.xinsndata.bin"
        for target, status in (("old.jsonl", 2), ("full", 2), ("/dev/null", 2), ("not/there", 3), ("to-old.jsonl", 2), ("-", 3)):
            done = ["convert", source, "--to", form, "-o", target]
            refused(checks, folder, done, 2 if target == "-" else status, kept)
            if target not in ("not/there", "-"):
                refused(checks, folder, ["convert", "-f"] + done[1:], 2, kept)
    good = run(folder, convert + ["-"]).stdout
    with subprocess.Popen(["cat", "pipe.jsonl"], cwd=folder, stdout=subprocess.PIPE) as reader:
        checks.equal(run(folder, convert + ["pipe.jsonl"]).returncode, 0, "a pipe as output")
        checks.equal(reader.stdout.read(), good, "what came through the pipe")
    checks.equal(run(folder, force + ["to-old.jsonl"]).returncode, 0, "a link as output")
    checks.that(os.path.islink(os.path.join(folder, "to-old.jsonl")) and content(folder, "old.jsonl") == good, "the link, or what it leads to")
    with open(os.path.join(folder, "a.xray"), "ab") as out:
        done = run(folder, ["cat", "a.xray"], stdout=out)
        checks.equal((done.returncode, content(folder, "a.xray") == content(folder, "hard.jsonl")), (2, True), "standard output onto the input")


def limits(checks, folder):
    import ctf_gen
    ctf_gen.save(folder, "many", dict(ctf_gen.make("ctf2-bytes-le")[0]), None)
    names = [name for name in os.listdir(os.path.join(folder, "many")) if name != "metadata"]
    for copy in range(60):
        for name in names:
            fault_commands.write(os.path.join(folder, "many"), "%s_%d" % (name, copy), content(folder, "many", name))
    commands = (["report", "large.xray", "--threads", "4"], ["convert", "large.xray", "--to", "jsonl", "-o", "x.jsonl", "--threads", "4"],
                ["report", "many", "--threads", "3"], ["convert", "many", "-o", "y.ctf"], ["report", "a.log", "--by", "tree", "--threads", "4"],
                ["report", "--json", "--by", "mix", "a.xinsndata.bin", "--threads", "4"], ["check", "many", "large.xray", "a.log", "a.xtrace"])
    settings = [[(resource.RLIMIT_AS, mib << 20)] for mib in (12, 16, 24, 32, 48, 64, 128)]
    settings += [[(resource.RLIMIT_NOFILE, n)] for n in (3, 4, 5, 6, 8, 12, 20, 40)]
    settings += [[(resource.RLIMIT_FSIZE, n)] for n in (0, 1, 4096, 100_000)]
    settings += [[(resource.RLIMIT_STACK, kib << 10)] for kib in (128, 256, 1024)]
    for words in commands:
        good = run(folder, words)
        good_files = outputs(folder)
        for setting in settings:
            done = run(folder, words, limits=setting)
            what, files = "%s with %s:" % (" ".join(words), setting), outputs(folder)
            if done.returncode == 127 and b"shared libraries" in done.stderr:
                continue                    # not yet our program
            if (done.returncode, done.stdout) == (good.returncode, good.stdout):
                checks.equal(files, good_files, what, "files")
                continue
            checks.equal(done.returncode, 3, what, "status", done.stderr[-300:])
            checks.that(done.stderr.strip(), what, "fails without a message")
            checks.equal(files, {}, what, "files")
        checks.that(setting[0][0] == resource.RLIMIT_STACK and done.returncode == good.returncode, words, "needs much stack", done.stderr[-300:])


def outputs(folder):
    """The files x.* and y.* in the folder; removes them."""
    import shutil
    found = {}
    for name in [name for name in os.listdir(folder) if name.startswith(("x.", "y."))]:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            found[name] = sorted((os.path.relpath(inside, path), file, os.path.getsize(os.path.join(inside, file)))
                                 for inside, _, files in os.walk(path) for file in files)
            shutil.rmtree(path)
        else:
            found[name] = content(path)
            os.unlink(path)
    return found


def main():
    harness.binary(PLAIN)
    checks = harness.Checks(show=40)
    with harness.work_folder() as folder:
        fault_commands.prepare(folder)
        {"standard": standard, "pipes": pipes, "targets": targets, "limits": limits}[sys.argv[1]](checks, folder)
    checks.end()


if __name__ == "__main__":
    main()
