#!/bin/bash
# Is the Perfetto trace that traceloom writes well-formed, by protoc and by the rules of packet sequences?
#
#     perfetto.sh TRACELOOM TRACE [EXE]
#
# Lets protoc decode the file without a schema, and with Perfetto's if TL_PERFETTO_PROTOS is the folder that holds
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
# A damaged trace gives status 3; what could be read of it is what counts.
$traceloom convert --to perfetto ${exe:+-e "$exe"} -o "$work/out.pftrace" "$trace" 2>"$work/messages" || [ $? = 3 ]
$traceloom info --json "$trace" >"$work/info.json" 2>>"$work/messages" || [ $? = 3 ]
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
at, first = 0, True
while at < len(data):
    assert data[at] == 0x0a, "no packet at %d" % at
    size, at = varint(data, at + 1)
    packet, at = fields(data[at:at + size]), at + size
    sequence, flags = packet[10][0], packet[13][0] if packet[13] else 0
    if first and not packet[6]:
        problem("the first packet is no clock snapshot")
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
        if f[5] and f[5][0] not in descriptors:
            problem("a descriptor before that of its parent")
    for interned in packet[12]:
        for entry in fields(interned)[2]:
            name = fields(entry)
            if name[1][0] in known[sequence] or not name[1][0]:
                problem("iid %d is given twice in sequence %d" % (name[1][0], sequence))
            known[sequence][name[1][0]] = name[2][0] if name[2] else b""
    for event in packet[11]:
        if not flags & 2:
            problem("an event without SEQ_NEEDS_INCREMENTAL_STATE")
        f = fields(event)
        kind = f[9][0]
        counts[kind] += 1
        if packet[8][0] < last.get(sequence, 0):
            problem("time goes back in sequence %d at %d" % (sequence, packet[8][0]))
        last[sequence] = packet[8][0]
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
if counts[3] != kinds["instant"]:
    problem("%d instants for %d" % (counts[3], kinds["instant"]))
print("%d begins, %d ends, %d instants, %d open: %s" % (
    counts[1], counts[2], counts[3], sum(open_slices.values()), "%d problems" % problems if problems else "right"))
sys.exit(1 if problems else 0)
END
python3 "$work/check.py" "$work/out.pftrace" "$work/info.json"
