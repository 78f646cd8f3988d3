#!/usr/bin/env python3
"""What one does without `query`: reads a trace with another tool, loads it into SQLite, and asks there.

    load_sqlite.py xray LLVM_XRAY LOG     by llvm-xray convert: "function<TAB>ticks" of calls that ended
    load_sqlite.py ctf TRACE              by the bindings of babeltrace2: "class<TAB>events"; status 77: not installed"""
import re
import sqlite3
import subprocess
import sys

RECORD = re.compile(r"func-id: (\d+),.* thread: (\d+),.* kind: function-(enter|exit|tail-exit)[^,]*, tsc: (\d+)")
ROWS = 10000    # that are inserted at once


def calls_of(command, log):
    """Yields (function, begin, end): an exit ends the nearest call of its function, and those above it."""
    stacks = {}
    with subprocess.Popen([command, "convert", "-f", "yaml", log], stdout=subprocess.PIPE, text=True) as convert:
        for function, thread, kind, ticks in (m.groups() for m in map(RECORD.search, convert.stdout) if m):
            stack = stacks.setdefault(thread, [])
            if kind == "enter":
                stack.append((function, int(ticks)))
            elif any(open_one[0] == function for open_one in stack):
                ended = None
                while ended != function:
                    ended, begin = stack.pop()
                    yield int(ended), begin, int(ticks)


def names_of(trace):
    import bt2
    for message in bt2.TraceCollectionMessageIterator(trace):
        if isinstance(message, bt2._EventMessageConst):
            yield message.event.name, message.default_clock_snapshot.ns_from_origin


def ask(create, insert, rows, question):
    database = sqlite3.connect(":memory:")
    database.execute(create)
    some = []
    for row in rows:
        some.append(row)
        if len(some) == ROWS:
            database.executemany(insert, some)
            some.clear()
    database.executemany(insert, some)
    for key, number in database.execute(question):
        print("%s\t%d" % (key, number))


def main():
    if sys.argv[1] == "xray":
        ask("CREATE TABLE calls(function_id INTEGER, ts INTEGER, end_ts INTEGER)", "INSERT INTO calls VALUES (?, ?, ?)",
            calls_of(*sys.argv[2:4]), "SELECT function_id, sum(end_ts - ts) FROM calls GROUP BY function_id")
        return 0
    try:
        ask("CREATE TABLE events(name TEXT, ts INTEGER)", "INSERT INTO events VALUES (?, ?)", names_of(sys.argv[2]),
            "SELECT name, count(*) FROM events GROUP BY name")
    except ImportError:
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
