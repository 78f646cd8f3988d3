#!/usr/bin/env python3
"""`serve` while the n-th call of one kind fails, for many n:

    fault_serve.py SHIM [KIND...]

Whatever fails, it does not start and says why in one message, or goes on: a question whose call failed has an error as
its answer, or none, and all others have the answers of a run without faults. ^C ends it with status 0, and no memory or
descriptor is lost. With TL_FAULT_ALL=1 in the environment every n is tried."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "serve"))
import harness
from serve_lib import Answer, NotStarted, Server, need

CALLS = ("malloc", "read", "write", "close", "open", "name", "mkdir", "thread")  # as the shim counts them
KINDS = ("malloc:%d", "malloc+:%d", "read:%d", "read+:%d", "write:%d", "close:%d", "open:%d", "open+:%d", "thread:%d", "thread+:%d")
TRIES = 40  # of each kind, from the first calls, which are those of starting, to the last
QUESTIONS = ("", "q/meta", "q/profile?t=0..10us", "q/spans?t=5us..", "q/table?by=func", "q/table?by=gc", "q/nothing", "q/table?by=tree&t=3us..",
             "q/sql?sql=SELECT%20name%2C%20count%28%2A%29%20FROM%20calls%20GROUP%20BY%20name%20ORDER%20BY%20name")


class Run:
    def __init__(self, shim, fault, report):
        env = {"LC_ALL": "C", "TRACELOOM_LLVM": "off", "LD_PRELOAD": shim, "TL_FAULT": fault, "TL_FAULT_REPORT": report}
        self.answers, self.started = [], True
        try:
            server = Server("fdr-v5-le.xray", "--threads", "2", which="TL_PLAIN_BINARY", env=env)
        except NotStarted as error:
            self.started, server = False, error.server
        else:
            for question in QUESTIONS:
                answer = get(server, question)
                self.answers.append((answer.status, answer.body.replace(server.base.encode(), b"/T/")))
            server.end(signal.SIGINT)
        self.status, self.err = server.process.returncode, server.err
        self.faults, self.live, self.descriptors, *counts = numbers_in(report)
        self.counts = dict(zip(CALLS, counts))

    def __str__(self):
        return "status %s, faults %s, live %s, answers %s, stderr %s" % (self.status, self.faults, self.live, [a[0] for a in self.answers], self.err[-300:])


def get(server, question):
    """An answer, or one of status 0: the connection was closed without."""
    try:
        return server.get(question)
    except (IndexError, ValueError, OSError):
        return Answer(b"")


def numbers_in(path):
    """What the shim counted; zeros if the process was killed, as by a crash."""
    if not os.path.exists(path):
        return [0] * (3 + len(CALLS))
    with open(path, encoding="ascii") as file:
        numbers = [int(word) for word in file.read().split()]
    os.unlink(path)
    return numbers


def is_error(answer):
    """No answer, or one that says what failed. Only the page itself is not JSON."""
    status, body = answer
    return status == 0 or (status >= 400 and json.loads(body)["error"]["status"] == status)


def judge(checks, fault, run, good):
    if not run.started:
        checks.equal(run.status, 3, fault, "status", run)
        checks.equal(len([line for line in run.err.splitlines() if line not in good.err.splitlines()]), 1, fault, "is not one message:", run)
        return
    if b"Fatal error in GNU libmicrohttpd" in run.err and fault.startswith("write"):
        return  # it ends the program if its eventfd cannot be written, which the system never refuses
    checks.equal(run.status, 0, fault, "status", run)
    wrong = [(mine, theirs) for mine, theirs in zip(run.answers, good.answers) if mine != theirs]
    checks.that(all(is_error(mine) for mine, _ in wrong), fault, "answers differ:", [mine for mine, _ in wrong if not is_error(mine)])
    if "+" not in fault:
        checks.that(len(wrong) <= 1, fault, "fails more than one question:", run)
    checks.that(run.live <= good.live, fault, "leaks", run.live, "blocks, not", good.live, run)
    checks.that(run.descriptors <= good.descriptors, fault, "leaves descriptors open:", run)


def some(most):
    """The n of faults: all, or some of 1 .. most, from dense to far apart."""
    if os.environ.get("TL_FAULT_ALL") == "1":
        return range(1, most + 1)
    return sorted({max(1, round(most ** (i / (TRIES - 1)))) for i in range(TRIES)}) if most else ()


def main():
    need()
    shim, kinds = sys.argv[1], sys.argv[2:] or KINDS
    checks, runs, fired = harness.Checks(show=60), 0, 0
    with harness.work_folder() as folder:
        report = os.path.join(folder, "report")
        good = Run(shim, "count", report)
        checks.equal([answer[0] for answer in good.answers], [200, 200, 200, 200, 200, 404, 404, 200, 200], "without any fault", good)
        for kind in kinds:
            for n in some(good.counts[kind.split(":")[0].rstrip("+")]):
                for _ in range(3):  # blocks of the C library for threads vary with timing; leaks do not
                    run = Run(shim, kind % n, report)
                    if not run.started or run.live <= good.live:
                        break
                judge(checks, kind % n, run, good)
                runs, fired = runs + 1, fired + (run.faults != 0)
    checks.that(fired > runs / 2, "few runs had a fault:", fired, "of", runs)
    print("%d runs, %d with a fault" % (runs, fired))
    checks.end()


if __name__ == "__main__":
    main()
