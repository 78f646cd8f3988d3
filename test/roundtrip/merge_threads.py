#!/usr/bin/env python3
"""Several threads read files with profiles: output and messages do not depend on how many."""
import gzip
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import xray_gen

THREADS = (1, 2, 5)
ANSWERS = (("-o", "out.tlp"), ("--by", "tree", "--json"), ("--by", "func"))
LOGS = ("fdr-v5-le", "fdr-v5-le-plain", "fdr-v5-le-messy")


def put(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def content(path):
    with open(path, "rb") as file:
        return file.read()


def generated(folder, *names):
    return [put(folder, name, xray_gen.make(name)[0]) for name in names]


def in_tlp(folder, log):
    path = log + ".tlp"
    harness.run("report", log, "-f", "-o", path)
    return path


def answer(folder, arguments, files, threads, stdin, feed):
    """All results of one run, in a folder of its own, so that messages name the same paths."""
    work = os.path.join(folder, "with-%d" % threads)
    os.makedirs(work, exist_ok=True)
    out = os.path.join(work, "out.tlp")
    if os.path.exists(out):
        os.unlink(out)
    writer = threading.Thread(target=feed) if feed else None
    if writer:
        writer.start()
    result = harness.run("report", "-v", "--threads", threads, *arguments, *files, cwd=work, stdin=stdin)
    if writer:
        writer.join()
    return result.status, result.out, result.err, content(out) if os.path.exists(out) else None


def compare(checks, folder, what, status, files, stdin=None, feed=None):
    for arguments in ANSWERS:
        first = answer(folder, arguments, files, THREADS[0], stdin, feed)
        checks.equal(first[0], status, what, arguments, first[2])
        for threads in THREADS[1:]:
            checks.equal(answer(folder, arguments, files, threads, stdin, feed), first, what, arguments, "%d threads" % threads)


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        logs = generated(folder, *LOGS)
        tlp = [in_tlp(folder, log) for log in logs]
        salvaged = generated(folder, "profile-le", "damaged-profile-cut", "profile-be", "damaged-profile-block",
                             "damaged-profile-negative", "profile-le")
        data = content(tlp[0])
        cut, changed = put(folder, "cut.tlp", data[:-9]), put(folder, "changed.tlp", data[:60] + b"\xff" + data[61:])
        packed, fifo = put(folder, "packed.tlp.gz", gzip.compress(data)), os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        compare(checks, folder, "good ones", 0, tlp * 5)
        compare(checks, folder, "losses are told in the order of files", 3, salvaged * 3)
        compare(checks, folder, "one that was cut", 3, tlp * 3 + [cut] + tlp * 2 + [changed] + tlp)
        compare(checks, folder, "one that was changed", 3, tlp + [changed, cut] + tlp * 3)
        compare(checks, folder, "one that is not there", 3, tlp * 2 + [os.path.join(folder, "none.tlp")] + tlp * 2)
        compare(checks, folder, "one of another clock", 2, tlp * 2 + salvaged[:1] + tlp * 2)
        compare(checks, folder, "logs among them", 0, tlp + logs + [packed] + tlp * 2)
        compare(checks, folder, "what can be opened only once", 0, tlp * 2 + ["-"] + tlp + [fifo] + tlp, stdin=content(tlp[1]),
                feed=lambda: put(folder, "fifo", data))
    checks.end()


if __name__ == "__main__":
    main()
