#!/usr/bin/env python3
"""Times of CTF clocks of any frequency and offset, against exact arithmetic: in the text of babeltrace's style they are the
nanoseconds since the origin, rounded down; of several frequencies in one folder, those are what the events are put on."""
import json
import os
import struct
import sys
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "generate"))
import harness
from program import Random

FREQUENCIES = [1, 3, 1000, 32768, 999_999_937, 10**9, 1_000_000_007, 2_593_993_000, 2_599_999_979, 10**12 + 39, 2**62 - 57, 2**62 + 135,
               2**64 - 59]
SECOND = 10**9

TSDL = """/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = %d; offset_s = %d; offset = %d; };
stream { event.header := struct { integer { size = 64; align = 8; map = clock.c.value; } timestamp; }; };
event { name = "e"; fields := struct { integer { size = 8; align = 8; } number; }; };
"""


def number(bits, **more):
    return {"type": "fixed-length-unsigned-integer", "length": bits, "byte-order": "little-endian", "alignment": 8, **more}


def json_metadata(hz, seconds, cycles):
    """Of version 2, without an origin."""
    struct_of = lambda name, field: {"type": "structure", "member-classes": [{"name": name, "field-class": field}]}
    fragments = [{"type": "preamble", "version": 2}, {"type": "trace-class"},
                 {"type": "clock-class", "id": "c", "frequency": hz, "offset-from-origin": {"seconds": seconds, "cycles": cycles}},
                 {"type": "data-stream-class", "default-clock-class-id": "c",
                  "event-record-header-field-class": struct_of("t", number(64, roles=["default-clock-timestamp"]))},
                 {"type": "event-record-class", "name": "e", "payload-field-class": struct_of("number", number(8))}]
    return "".join("\x1e%s\n" % json.dumps(f) for f in fragments)


def save(folder, metadata, values):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "metadata"), "w", encoding="utf-8") as file:
        file.write(metadata)
    with open(os.path.join(folder, "s"), "wb") as file:
        for i, value in enumerate(values):
            file.write(struct.pack("<QB", value, i % 256))


def exact(hz, seconds, cycles, value):
    """Nanoseconds since the origin, rounded down."""
    return (Fraction(value + cycles, hz) + seconds) * SECOND // 1


def shown(ns):
    """As babeltrace2 --clock-gmt prints it; before 1970 including the sign of a last second."""
    if ns < 0:
        return "-%d.%09d" % divmod(-ns, SECOND)
    seconds, rest = divmod(ns, SECOND)
    return "%02d:%02d:%02d.%09d" % (seconds // 3600 % 24, seconds // 60 % 60, seconds % 60, rest)


def below(random, limit):
    return (random.below(2**32) << 32 | random.below(2**32)) % limit


def draw(random, hz, new):
    """A clock and values whose times fit 63 bits."""
    seconds = random.below(10**8) - (0 if new else 10**7)
    cycles = below(random, hz) if new else below(random, 2 * min(hz, 2**60)) - min(hz, 2**60)
    most = min(2**64, hz * 10**6)
    return seconds, cycles, sorted(below(random, most) for _ in range(300)) + [most - 1]


def check_one(checks, folder, random):
    for hz in FREQUENCIES:
        for new in (False, True):
            seconds, cycles, values = draw(random, hz, new)
            path = os.path.join(folder, "%d-%d" % (hz, new))
            save(path, json_metadata(hz, seconds, cycles) if new else TSDL % (hz, seconds, cycles), values)
            lines = harness.run("cat", path, "--text-style=babeltrace").text().splitlines()
            times = [line[1:line.index("]")] for line in lines]
            checks.equal(times, [shown(exact(hz, seconds, cycles, v)) for v in values], path)


def check_several(checks, folder, random):
    """Several clocks in one folder: ts 0 is the earliest event."""
    path, all_times = os.path.join(folder, "several"), []
    for hz in FREQUENCIES:
        seconds, cycles, values = draw(random, hz, False)
        save(os.path.join(path, str(hz)), TSDL % (hz, seconds, cycles), values)
        all_times += [exact(hz, seconds, cycles, v) for v in values]
    got = [json.loads(line)["ts"] for line in harness.run("convert", path, "--to", "jsonl", "-o", "-").text().splitlines()]
    checks.equal(got, [t - min(all_times) for t in sorted(all_times)], path)


def main():
    checks = harness.Checks()
    with harness.work_folder() as folder:
        random = Random(7)
        check_one(checks, folder, random)
        check_several(checks, folder, random)
    checks.end()


if __name__ == "__main__":
    main()
