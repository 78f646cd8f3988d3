"""Reads a trace of LTTng in Python, for python.py: python_reads.py bt2|traceloom columns|events TRACE

Prints as JSON the seconds, and those of the processor, from opening to the last value, without the start of Python and its
modules; the peak of memory; and sums of what was read, made afterwards."""
import collections
import json
import resource
import sys
import time

import numpy

WORD = 1 << 64
TEXTS = ("name", "word")    # "message" may be empty, and then babeltrace2 2.0 gives that of the event before


def bt2_columns(bt2, path):
    classes = {}
    for message in bt2.TraceCollectionMessageIterator(path):
        if type(message) is bt2._EventMessageConst:     # pylint: disable=unidiomatic-typecheck
            event = message.event
            columns = classes.setdefault(event.name, {})
            columns.setdefault("utc", []).append(message.default_clock_snapshot.ns_from_origin)
            columns.setdefault("cpu", []).append(int(event.packet.context_field["cpu_id"]))
            for name, value in event.payload_field.items():
                if isinstance(value, bt2._IntegerFieldConst):
                    value = int(value)
                elif isinstance(value, bt2._RealFieldConst):
                    value = float(value)
                else:
                    value = str(value)
                columns.setdefault(name, []).append(value)
    return {name: {key: numpy.array(values) for key, values in columns.items()} for name, columns in classes.items()}


def traceloom_columns(traceloom, path):
    with traceloom.open(path) as trace:
        return {name: batch.arrays() for name, batch in trace.columns().items()}


def bt2_events(bt2, path):
    events, total, names = 0, 0, collections.Counter()
    for message in bt2.TraceCollectionMessageIterator(path):
        if type(message) is bt2._EventMessageConst:     # pylint: disable=unidiomatic-typecheck
            event = message.event
            fields = dict(event.payload_field.items())
            names[event.name, len(fields)] += 1
            total += message.default_clock_snapshot.ns_from_origin
            events += 1
    return events, total, names


def traceloom_events(traceloom, path):
    events, total, names = 0, 0, collections.Counter()
    for event in traceloom.open(path):
        fields = event.fields
        names[event.name, len(fields)] += 1
        total += event.utc
        events += 1
    return events, total, names


def sums(classes):
    """Of each class the number of events, and of its columns of numbers the sum, of those of text the characters."""
    out = {}
    for name, columns in classes.items():
        for key, values in columns.items():
            if values.dtype.kind in "iuM":
                out["%s.%s" % (name, key)] = int(values.astype("u8").sum(dtype="u8"))
            elif key in TEXTS:
                out["%s.%s" % (name, key)] = sum(map(len, values.tolist()))
        out[name] = len(columns["utc"])
    return out


def main():
    reader, mode, path = sys.argv[1:]
    module = __import__(reader)
    begin, work = time.perf_counter(), time.process_time()
    found = globals()["%s_%s" % (reader, mode)](module, path)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - work
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if mode == "columns":
        answer = sums(found)
        events = sum(count for name, count in answer.items() if "." not in name)
    else:
        events, total, names = found
        answer = {"utc": total % WORD, **{name: sum(n for (one, _), n in names.items() if one == name) for name, _ in names}}
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak": peak, "events": events, "answer": answer}))


if __name__ == "__main__":
    main()
