"""Damage for the TraceLog generator: each function changes the records of a log, and notes in them the problem that a
reader must report (rule), or the values that it must still find (fields)."""
from tracelog_lines import Record

TOO_LARGE = "18446744073709551616"          # 2^64


def find(log, name, number=0):
    """A record in the middle of the log."""
    found = [record for record in log.records if record.name == name and not record.rule]
    return found[(len(found) // 2 + number) % len(found)]


def samples(log):
    return [record for record in log.records if record.delta and not record.rule]


def spoil(record, rule, old, new):
    """The first `old` in the text becomes `new`; the line must be skipped."""
    assert old in record.text, (old, record.text)
    record.text = record.text.replace(old, new, 1)
    record.rule = rule


def insert(log, place, rule, *texts, hint=None):
    """Lines that must be skipped with a report (rule), or silently (None)."""
    at = len(log.records) * place // 10
    for text in texts:
        record = Record(None, None, None, None, text)
        record.rule, record.hint = rule, hint
        log.records.insert(at, record)
        at += 1


def cut_line(log):
    last = log.records[-1]
    last.text, last.end, last.rule = last.text[:len(last.text) * 2 // 3], b"", "tracelog.truncated-line"


def no_line_feed(log):
    log.records[-1].end, log.records[-1].rule = b"", "tracelog.truncated-line"


def no_line_feed_text(log):
    insert(log, 10, "tracelog.truncated-line", b"# the end")
    log.records[-1].end = b""


def flipped_bytes(log):
    spoil(find(log, "thr.cpu"), "tracelog.unknown-record", b"thr cpu", b"th\xf2 cpu")
    spoil(find(log, "prc.cpu"), "tracelog.unknown-record", b"prc cpu", b"prc#cpu")
    spoil(find(log, "cls.nam"), "tracelog.unknown-record", b"cls nam ", b"cls nam\t")
    spoil(find(log, "mod.ata"), "tracelog.field", b" 0x", b" 0X")
    spoil(find(log, "thr.cpu", 3), "tracelog.field", b" 0x0", b" 0g0")
    for number, (old, new) in enumerate(((b":", b";"), (b" 0x", b" 0y"), (b" 0x", b"  0x"), (b"sam str ", b"sam str  "))):
        spoil(samples(log)[9 + 4 * number], "tracelog.field", old, new)
    spoil(find(log, "sam.mem"), "tracelog.unknown-record", b" 0x", b"\0000x")
    spoil(find(log, "sam.mem", 1), "tracelog.field", b":", b"\0")


def stack_size(log):
    """The stack is still cut; later lines are unchanged."""
    for number in (5, 17, 30):
        record = samples(log)[number]
        kept, size = record.delta[:2]
        old, new = b" %d:%d" % (kept, size), b" %d:%d" % (kept, size + 1 + number)
        assert old in record.text
        record.text = record.text.replace(old, new, 1)
        record.delta = (kept, size + 1 + number) + record.delta[2:]


def lost_samples(log):
    """A reader cannot know the program's stack; if the sizes agree by chance it cannot even notice."""
    for start in (6, 20, 41):
        for record in samples(log)[start:start + 3]:
            log.records.remove(record)
    for record in samples(log):
        record.truth = None


def wrong_prefix(log):
    thread = b"sam str 0x00000000 99999 1 "
    insert(log, 5, "tracelog.prefix", thread + b"3:2", thread + b"1:0 0x1", thread + b"0:0:0x10 0x1", thread + b"0:5:?")


def strings(log):
    spoil(find(log, "mod.ldf"), "tracelog.string", b'.dll"', b".dll")
    spoil(find(log, "asm.ldf"), "tracelog.string", b'"', b"'")
    spoil(find(log, "cls.nam"), "tracelog.string", b'" "' if b'" "' in find(log, "cls.nam").text else b' "', b" ")
    spoil(find(log, "fun.nam"), "tracelog.string", b'" "', b'"  "')
    insert(log, 3, "tracelog.string", b'cls nam 0x1 "', b'cls nam 0x1 "open', b"cls nam 0x1 none", b'fun nam 0x1 "one',
           b'fun nam 0x1 "one" "two"', b'fun nam 0x1 "one" "two" "three', b'mod ldf ? ? ? 0x0 \xff', b'cls nam 0x1 "a" ')
    insert(log, 6, "tracelog.field", b'cls nam "one"', b'cls nam  0x1 "one"', b'fun nam "one" "two" "three"', b"cls nam 0x1",
           b'mod ldf ? ? ? "name"', b'mod ldf ? ? ? ? "status cannot be undefined"')


def not_utf8(log):
    """Each wrong byte becomes the character of its value."""
    for number, (raw, text, bad) in enumerate((
            (b"caf\xe9", "caf\u00e9", 1), (b"\xff\xfe", "\u00ff\u00fe", 2), (b"\xe2\x82", "\u00e2\u0082", 2),
            (b"\xed\xa0\x80", "\u00ed\u00a0\u0080", 3), (b"\xc0\xaf", "\u00c0\u00af", 2), (b"\xf5\x80", "\u00f5\u0080", 2),
            (b"\xf0\x9f\x98", "\u00f0\u009f\u0098", 3), (b"\xf0\x9f\x98\x80", "\U0001f600", 0),
            (b"\xe2\x82\xac\x80", "\u20ac\u0080", 1))):
        at = len(log.records) * (number + 1) // 11
        record = Record("cls.nam", "process", None, {"classIid": hex(number), "className": "T." + text + "!"},
                        b'cls nam 0x%x "T.' % number + raw + b'!"')
        record.bad_bytes = bad
        log.records.insert(at, record)
    record = Record("prf.cfg", "process", None, {"name": "N\u00e4", "value": "\u00e4 "}, b"prf cfg N\xe4 \xe4 ")
    record.bad_bytes = 2
    log.records.insert(2, record)
    record = Record("fun.nam", "process", None, {"internalId": "0x1", "fullName": "A\u0080", "returnType": "\u0081",
                                                 "signature": "\u0082"},
                    b'fun nam 0x1 "A\x80" "\x81" "\x82"')
    record.bad_bytes = 3
    log.records.insert(len(log.records) // 2, record)
    insert(log, 7, "tracelog.string", b'cls nam 0x1 "\xe9')


def out_of_range(log):
    big = TOO_LARGE.encode()
    insert(log, 2, "tracelog.number-range", b"prc cpu 9223372036855 0", b"prc cpu 1 9223372036854001", b"prf tps " + big,
           b"prf trs " + b"9" * 400, b"thr aos 0x1 " + big, b"thr aos 0x10000000000000000 1", b"thr crt 0x1 0x" + b"F" * 70)
    insert(log, 6, "tracelog.number-range", b"sam str 0x0 1 4294967296 0:0", b"sam str 0x0 1 1 65537:65537",
           b"sam str 0x0 1 1 0:65537",
           b"sam str 0x0 1 1 4000000000:4000000000", b"sam str 0x0 1 1 65536:65536 0x1", b"sam str 0x0 1 1 0:0 0x1:" + b"A" * 17,
           b"sam str 0x0 1 1 " + big + b":" + big, b"sam mem 0x0 1 0x1:1:" + big, b"gch alt 1 0x1:" + big + b":1",
           b"fun inf 0x1 ? ? ? 0x6000001 0x1:0x10000000000000000",
           b"jit cms " + big + b" 1 0x1",
           b"gch gen 1 A:1:1 B:1:1 C:1:1 D:1:" + big)
    insert(log, 7, "tracelog.number-range", b"lin src 0x1 0x1 0x1 1 1 1 " + big, hint="lin.src")


def unknown_records(log):
    insert(log, 1, "tracelog.unknown-record", b"# a comment", b"#", b"sam", b"sam st", b"sam  str 0x0 1 1 0:0", b" sam str",
           b"SAM STR 1",
           b"sam stx 0x0 1 1 0:0", b"sam strx 0x0 1 1 0:0", b"gch zzz 1", b"\x00\x01\x02\x03\x04\x05\x06\x07\x08",
           b"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4",
           b'"', b"prf", b"prf\tstm 2018-06-25 07:24:28.049", b"traceloom")


def fields(log):
    insert(log, 1, "tracelog.field", b"sam str 0x0 1 1 0:0 0x1 x", b"sam str 0x0 1 1 0:0" + b" 0x1" * 700 + b" x")
    insert(log, 4, "tracelog.field", b"sam str", b"sam str ", b"sam str 0x0", b"sam str 0x0 1 1", b"sam str 0x0 1 1 0",
           b"sam str 0x0 1 1 0:0 ",
           b"sam str 0x0 1 1 0:0:", b"sam str 0x0 1 1 0:0:0x1:0x1", b"sam str 0x0 1 1 0:0 1", b"sam str 0x0 1 1 0:0 0x1:",
           b"sam str 0x0 1 1 0:0 0x1:0x",
           b"sam str 0x0 1 1 0:0 0x1:0x1:0x1", b"sam str 0x0 1 1 0:0 :0x1", b"sam str 0x0 -1 1 0:0", b"sam str 0x0 1 +1 0:0",
           b"sam str 0x0 1 ? 0:0",
           b"sam str 0x0 1 1 0x0:0", b"sam str 0 1 1 0:0", b"sam str 0x0\t1 1 0:0", b"sam str 0x 1 1 0:0", b"sam str 0x0 1 1 ?:0")
    insert(log, 8, "tracelog.field", b"sam mem 0x0 1 0x1:1", b"sam mem 0x0 1 0x1:1:1:0x1:1", b"sam mem 0x0 1 0x1:x:1",
           b"sam mem 0x0", b"sam mem 0x0 1 ",
           b"gch gcs 0x0 1 forced tttt", b"gch gcs 0x0 1 ? ttt", b"gch gcs 0x0 1 ? tttx", b"gch gcs 0x0 1 ? ttttt",
           b"gch gcf 0x0", b"gch gcf 0x0 1 2",
           b"gch alt", b"gch alt 1 0x1:1:1:1", b"gch gen 1 A:1:1 B:1:1 C:1:1", b"gch gen 1 A:1:1 B:1:1 C:1:1 D:1:1 E:1:1",
           b"gch gen 1 A:1:1 B:1:1 C:1:1 D-:1:1",
           b"fun inf 0x1 ? ? ? 0x6000001 0x1:0x1:0x1 0x1:0x1", b"fun inf 0x1 ? ? ? 0x6000001 0x1",
           b"fun inf 0x1 ? ? ? 0x6000001 ?:0x1",
           b"fun inf 0x1 ? ? ?", b"fun inf 0x1 ? ? ? ?", b"jit cms 0x0 1", b"jit cmf 0x0 1 0x1", b"jit csf 0x0 1 0x1 0x0",
           b"jit cms x 1 0x1",
           b"thr dst", b"thr dst 0x1 0x1 0x1", b"thr aos 0x1 ?", b"thr aos 0x1 x", b"mod ata ?", b"prf tps", b"prf tps 1 1",
           b"prf cfg", b"prf cfg x",
           b"prf cfg  x", b"lin src 0x1 0x1 0x1 1 1 1")
    insert(log, 8, "tracelog.field", b"lin src 0x1 0x1 0x1 1 1 1 0x1", hint="lin.src")
    insert(log, 8, "tracelog.field", b"str sam 0x1", b"str sam 0x1 1 1", hint="str.sam")
    insert(log, 9, "tracelog.field", b"prf stm", b"prf stm ", b"prf stm 2018-06-25 07:24:28", b"prf stm 2018-02-29 07:24:28.049",
           b"prf stm 2018-13-01 07:24:28.049", b"prf stm 2018-06-25 24:00:00.000", b"prf stm 2018-06-25 07:60:28.049",
           b"prf stm 2018-06-25 07:24:60.000",
           b"prf stm 2018-06-25T07:24:28.049", b"prf stm 2018-06-25 07:24:28.049 +24:00",
           b"prf stm 2018-06-25 07:24:28.049 09:00",
           b"prf stm 2018-06-25 07:24:28.049 +09:60", b"prf stm 0000-06-25 07:24:28.049",
           b"prf stm 0001-01-01 00:00:00.000 +00:01")


def backwards(log):
    """Lines of a thread out of order: reported, but used."""
    every = samples(log)
    for number in (12, 26, 40):
        record = every[number]
        earlier = [other.at for other in every[:number] if other.track == record.track] or [record.at]
        old, new = b" %d " % record.at, b" %d " % max(0, earlier[-1] - 5)
        record.text = record.text.replace(old, new, 1)
        record.at = record.fields["timestamp"] = int(new)
        if record is not log.records[-1]:
            following = log.records[log.records.index(record) + 1]
            if following.name == "sam.mem":
                following.text = following.text.replace(old, new, 1)
                following.at = following.fields["timestamp"] = int(new)


def mixed_line_ends(log):
    """Line ends of both kinds, and blank lines; a second carriage return is not a line end."""
    for number, record in enumerate(log.records):
        record.end = (b"\n", b"\r\n")[number % 3 == 0]
    insert(log, 3, None, b"", b"\r", b"")
    for record in log.records:
        if record.text == b"\r":
            record.text, record.end = b"", b"\r\n"
    insert(log, 5, "tracelog.field", b"prf tps 5\r", b"sam str \r")
    insert(log, 6, "tracelog.string", b'cls nam 0x1 "x"\r')
    insert(log, 7, "tracelog.unknown-record", b"\r", b"\xef\xbb\xbfprf tps 5")
    for record in log.records:
        if record.text.endswith(b"\r"):
            record.end = b"\r\n"


def runtime_ends(log):
    """Ends of compilations and collections that never began, and begins without an end."""
    for _ in range(3):
        for name in ("gch.gcs", "gch.gcf", "jit.cms", "jit.cmf"):
            if any(record.name == name for record in log.records):
                log.records.remove(find(log, name, 1))
    for name in ("thr.aos", "cls.nam", "fun.nam", "fun.inf", "fun.cmf"):
        for record in [record for record in log.records if record.name == name][2:4]:
            log.records.remove(record)


def long_lines(log):
    """No line is too long; only stacks have a limit."""
    text = "N" * 200000
    log.type_named(0x0, text)
    log.function_named(0x3, "F" * 70000, "R" * 66000, "S" * 65536)
    # Function 3, with the longest name, is only in ten of them: in JSON every frame repeats its name.
    frames = [(number % (5 if number < 50 else 3), 0x10 + number if number % 3 else None) for number in range(60000)]
    at = log.records[-1].at or 500
    log.sample(200, at, 0, 0, 0, False, None, frames, None)
    log.sample(200, at, 0, 59998, 60000, True, 0x77, [(1, None)], None)
    log.sample(200, at, 2, 700, 59999, False, None, [(1, None)], None)
    log.allocations(200, at, [(number % 7, 1, 16, number) for number in range(5000)])
    log.heap(at, [(number, 1, 16) for number in range(5000)])
    insert(log, 5, "tracelog.unknown-record", b"#" * 1000000)
    insert(log, 5, "tracelog.number-range", b"sam str 0xC9 1 1 0:0" + b" 0x1" * 70000)
    insert(log, 5, "tracelog.field", b"sam str 0xC9 1 1 0:0" + b" 0x1" * 9000 + b" ", b"sam str 0xC9 1 1 0:0 " + b"1" * 100000)
    insert(log, 5, "tracelog.number-range", b"prf tps " + b"1" * 4000)


DAMAGES = {"cut-line": cut_line, "no-line-feed": no_line_feed, "no-line-feed-text": no_line_feed_text,
           "flipped-bytes": flipped_bytes,
           "stack-size": stack_size, "lost-samples": lost_samples, "wrong-prefix": wrong_prefix, "strings": strings,
           "not-utf8": not_utf8,
           "out-of-range": out_of_range, "unknown-records": unknown_records, "fields": fields, "backwards": backwards,
           "line-ends": mixed_line_ends, "runtime-ends": runtime_ends, "long-lines": long_lines}
