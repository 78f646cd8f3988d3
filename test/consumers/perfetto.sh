#!/bin/bash
# Is traceloom's Perfetto trace well-formed, for protoc and by the rules of packet sequences?
#
#     perfetto.sh TRACELOOM TRACE [EXE]
#
# protoc decodes the file without a schema, and with Perfetto's if TL_PERFETTO_PROTOS is the folder that contains
# protos/perfetto/trace/trace.proto (then no field may be unknown). Checks every packet: each sequence begins with cleared
# state, defaults and a descriptor; names are interned before they are used, once for each state; times do not go back;
# slices nest; and the counts are those of traceloom info.
# Exit status: 0 right, 1 wrong, 77 protoc is missing.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

if ! command -v protoc >/dev/null; then
    echo "skipped: no protoc"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A damaged trace gives status 3; its readable part counts.
"$traceloom" convert --to perfetto ${exe:+-e "$exe"} -o "$work/out.pftrace" "$trace" 2>"$work/messages" || [ $? = 3 ]
"$traceloom" info --json "$trace" >"$work/info.json" 2>>"$work/messages" || [ $? = 3 ]
if [ ! -s "$work/out.pftrace" ] || [ ! -s "$work/info.json" ]; then
    echo "traceloom wrote nothing: $(head -1 "$work/messages")"
    exit 1
fi

if ! protoc --decode_raw <"$work/out.pftrace" >"$work/raw"; then
    echo "protoc cannot decode the file"
    exit 1
fi
schema=${TL_PERFETTO_PROTOS:-}
if [ -n "$schema" ] && [ -e "$schema/protos/perfetto/trace/trace.proto" ]; then
    if ! protoc -I "$schema" --decode=perfetto.protos.Trace protos/perfetto/trace/trace.proto \
        <"$work/out.pftrace" >"$work/text" 2>"$work/messages"; then
        cat "$work/messages"
        exit 1
    fi
    if grep -n -E '^ *[0-9]+(:| \{)' "$work/text" | head -5 | grep .; then
        echo "fields that the schema does not know"
        exit 1
    fi
    echo "decoded with Perfetto's schema"
else
    echo "not decoded with Perfetto's schema: TL_PERFETTO_PROTOS is not set"
fi

cat >"$work/check.py" <<'END'
import collections, json, sys

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at

def fields(data):
    """field number -> values, in order"""
    out, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert tag & 7 == 2, "wire type %d" % (tag & 7)
            size, at = varint(data, at)
            assert at + size <= len(data), "a field longer than its message"
            value, at = data[at:at + size], at + size
        out[tag >> 3].append(value)
    return out

problems = 0
def problem(text):
    global problems
    problems += 1
    if problems <= 10:
        print(text)

data, info = open(sys.argv[1], "rb").read(), json.load(open(sys.argv[2]))
known, last, open_slices, descriptors, counts = {}, {}, collections.Counter(), {}, collections.Counter()
managed = any(c["kind"] in ("begin", "sample") and c["events"] for c in info["classes"])
own, threads, spans, samples = collections.Counter(), set(), 0, 0
at, first = 0, True
while at < len(data):
    assert data[at] == 0x0a, "no packet at %d" % at
    size, at = varint(data, at + 1)
    packet, at = fields(data[at:at + size]), at + size
    sequence, flags = packet[10][0], packet[13][0] if packet[13] else 0
    if first and not packet[6]:
        problem("the first packet is not a clock snapshot")
    first = False
    if flags & 1:
        if sequence not in known and not (packet[87] or packet[42]):
            problem("sequence %d begins with neither first_packet_on_sequence nor previous_packet_dropped" % sequence)
        known[sequence] = {}
        if not packet[6] and not packet[59]:
            problem("sequence %d begins without defaults" % sequence)
    elif sequence not in known:
        problem("sequence %d begins without SEQ_INCREMENTAL_STATE_CLEARED" % sequence)
    for descriptor in packet[60]:
        f = fields(descriptor)
        descriptors[f[1][0]] = f
        for thread in f[4]:
            thread = fields(thread)
            threads.add((thread[1][0] & 0xffffffff, thread[2][0]))
        if f[5] and f[5][0] not in descriptors:
            problem("a descriptor before that of its parent")
    for interned in packet[12]:
        for table, entries in fields(interned).items():
            for entry in entries:
                name = fields(entry)
                iid = name[1][0] if table == 2 else (table, name[1][0])
                if iid in known[sequence] or not name[1][0]:
                    problem("iid %s is given twice in sequence %d" % (iid, sequence))
                known[sequence][iid] = name[2][0] if name[2] else b""
                refers = {6: [(5, n) for n in name[2]] + [(19, n) for n in name[3]], 7: [(6, n) for n in name[2]],
                          19: [(17, n) for n in name[7]]}.get(table, [])
                if any(r not in known[sequence] for r in refers):
                    problem("iid %s refers to what is not known" % (iid,))
    for sample in packet[66]:
        f = fields(sample)
        samples += 1
        if (f[2][0], f[3][0]) not in threads:
            problem("a sample of an unknown thread")
        if f[4] and (7, f[4][0]) not in known[sequence]:
            problem("a sample of an unknown stack")
    for event in packet[11]:
        if not flags & 2:
            problem("an event without SEQ_NEEDS_INCREMENTAL_STATE")
        f = fields(event)
        kind = f[9][0]
        counts[kind] += 1
        track = f[11][0] if f[11] else sequence
        if f[11] and track not in descriptors:
            problem("an event on a track without descriptor")
        if packet[8][0] < last.get(track, 0) and (f[11] or not managed):
            problem("time goes back in sequence or track %d at %d" % (track, packet[8][0]))
        last[track] = packet[8][0]
        if f[11]:
            own[track] += {1: 1, 2: -1}.get(kind, 0)
            spans += kind == 1
            counts[kind] -= kind != 4
            if own[track] not in (0, 1):
                problem("slices that overlap on track %d" % track)
            continue
        if kind in (1, 3) and f[10][0] not in known[sequence]:
            problem("iid %d is not known in sequence %d" % (f[10][0], sequence))
        open_slices[sequence] += {1: 1, 2: -1}.get(kind, 0)
        if open_slices[sequence] < 0:
            problem("an end without begin in sequence %d" % sequence)

kinds = collections.Counter()
for c in info["classes"]:
    kinds[c["kind"]] += c["events"]
if counts[1] != kinds["enter"]:
    problem("%d begins for %d entries" % (counts[1], kinds["enter"]))
if counts[2] != counts[1] - sum(open_slices.values()):
    problem("begins, ends and open slices do not add up")
if spans > kinds["begin"] or (kinds["end"] and not spans):
    problem("%d spans for %d begins" % (spans, kinds["begin"]))
if counts[3] > kinds["instant"] if kinds["begin"] or kinds["sample"] else counts[3] != kinds["instant"]:
    problem("%d instants for %d" % (counts[3], kinds["instant"]))
print("%d begins, %d ends, %d instants, %d open, %d spans, %d samples: %s" % (
    counts[1], counts[2], counts[3], sum(open_slices.values()), spans, samples, "%d problems" % problems if problems else "right"))
sys.exit(1 if problems else 0)
END
python3 "$work/check.py" "$work/out.pftrace" "$work/info.json"
