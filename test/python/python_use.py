"""What users meet: the README's example, Ctrl-C, messages, and how things look at the prompt."""
import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import traceloom

INPUT = os.path.join(harness.SOURCE, "test", "golden", "input")
TRACE = os.path.join(INPUT, "fdr-v5-le.xray")
ENDLESS = "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
checks = harness.Checks()


def readme():
    """The example in README.md prints what is written below it."""
    with open(os.path.join(harness.SOURCE, "README.md"), encoding="utf-8") as file:
        found = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", file.read(), re.S)
    checks.equal(len(found), 1, "examples")
    with harness.work_folder() as folder:
        env = dict(os.environ, LD_PRELOAD="")
        subprocess.run([sys.executable, "-B", os.path.join(harness.SOURCE, "test", "docs", "demo_files.py"), "."], cwd=folder, env=env, check=True, capture_output=True)
        for code, out in found:
            done = subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, capture_output=True, text=True, check=False)
            checks.equal((done.stdout, done.stderr, done.returncode), (out, "", 0), "README.md")


class Stopped(Exception):
    pass


def interrupt():
    """A handler of a signal that raises ends what is read, and the trace goes on."""
    def handle(*_):
        raise Stopped

    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell starts tests in the background
    signal.signal(signal.SIGALRM, handle)
    trace = traceloom.open(TRACE)
    expected = sum(1 for _ in trace)
    for number, kind in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGALRM, Stopped)):
        for read in (lambda: trace.query(ENDLESS), lambda: list(trace.query("SELECT 1 UNION ALL SELECT * FROM (%s)" % ENDLESS)),
                     lambda: list(trace.query("SELECT a.id FROM events AS a, events AS b, events AS c, events AS d WHERE a.ts + b.ts + c.ts + d.ts < 0"))):
            threading.Timer(0.2, os.kill, (os.getpid(), number)).start()
            try:
                read()
                checks.that(False, "not interrupted by", number)
            except kind:
                pass
            checks.equal(trace.query("SELECT count(*) FROM events").first(), (expected,), "the next query, after", number)
            checks.equal(sum(1 for _ in trace), expected, "events after", number)
    # At any moment of short reads: nothing is left behind for the next one.
    signal.signal(signal.SIGALRM, handle)
    for step in range(60):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + step * 0.0003, 0.5)  # again, if it comes while something is freed: Python ignores it there
            while True:
                trace.query("SELECT count(*) FROM events").first()
        except Stopped:
            signal.setitimer(signal.ITIMER_REAL, 0)
        checks.equal(trace.query("SELECT count(*) FROM events").first(), (expected,), "after a signal at step", step)
    # Handlers that do not raise only run.
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        list(traceloom.open(TRACE, timeout=1).query(ENDLESS))
        checks.that(False, "the query ended")
    except traceloom.Error as error:
        checks.equal((error.code, len(seen)), (traceloom.Code.LIMIT, 1), "a handler that returns")


def failed(action, kind, piece):
    try:
        action()
    except kind as error:
        checks.that(piece in str(error), piece, "is not in", error)
        return error
    checks.that(False, "no error:", piece)
    return None


def looks():
    trace = traceloom.open(TRACE, executable=os.path.join(INPUT, "program.elf"))
    failed(lambda: trace.table("cals"), traceloom.Error, "no such table: cals; did you mean calls?")
    failed(lambda: trace.recipe("slowest_calls"), traceloom.Error, "did you mean slowest-calls?")
    for kind in (FileNotFoundError, OSError, traceloom.Error, traceloom.MissingFileError):
        error = failed(lambda: traceloom.open("absent.xray"), kind, "absent.xray: No such file")
        checks.equal((error.errno, error.file), (2, "absent.xray"))
    checks.that(not isinstance(failed(lambda: traceloom.open(os.devnull), traceloom.Error, ""), FileNotFoundError))
    for thing, pattern in ((trace, r"<traceloom\.Trace .*fdr-v5-le\.xray>"), (trace.columns()["xray.enter"], r"<traceloom\.Batch of \d+ rows: trace, id, .*, function_name>"),
                           (next(iter(trace)), r"<traceloom\.Event xray\.enter \S+ at 0: \{\}>"), (trace.query("SELECT 1 AS one"), r"<traceloom\.Rows query: one>"),
                           (trace.profile(), r"<traceloom\.Profile of .*>"), (traceloom.Error, r"<class 'traceloom\.Error'>")):
        checks.that(re.fullmatch(pattern, repr(thing)), repr(thing), "is not", pattern)
    checks.equal(trace.query("SELECT 1, 'a' UNION ALL SELECT 2, 'b'").first(), (1, "a"))
    checks.equal(trace.query("SELECT 1 WHERE 0").first(), None)
    for name in traceloom.__all__:
        thing = getattr(traceloom, name)
        checks.that(thing.__doc__ and thing.__module__.startswith("traceloom"), name, "has no docstring")
        for member, value in vars(thing).items() if isinstance(thing, type) and name != "Code" else ():
            if callable(value) and not member.startswith("_"):
                checks.that(value.__doc__ and "return" in value.__annotations__, name, member, "has no docstring, or no hints")
    # The functions of events are those of the table of all events.
    names = dict(trace.query("SELECT id, function_name FROM events"))
    checks.equal({event.id: event.function for event in trace}, names, "functions")
    checks.that(len(set(names.values())) > 5, names)
    ids = dict(trace.query("SELECT id, function_id FROM events WHERE function_id IS NOT NULL"))
    checks.equal({event.id: event["function_id"] for event in trace if "function_id" in event}, ids, "numbers of functions")
    lttng = traceloom.open(os.path.join(INPUT, "ctf-sched"))
    checks.equal({event.function for event in lttng}, {None}, "events without functions")
    checks.that("function_name" not in next(iter(lttng)), "a column")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    checks.end()
