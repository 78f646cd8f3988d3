#!/bin/bash
# Does babeltrace2 read traceloom's CTF, and see the same events?
#
#     ctf.sh TRACELOOM TRACE [EXE]
#
# Writes version 1.8, and version 2 for a babeltrace2 of 2.1 or newer. Every event must be there with its time, class,
# processor, thread, function and data, and without complaints. Also without the index, which babeltrace2 uses if it
# is there.
# Exit status: 0 right, 1 wrong, 77 babeltrace2 is missing.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

if ! command -v babeltrace2 >/dev/null; then
    echo "skipped: no babeltrace2"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
versions=1.8
[[ $(babeltrace2 --version | head -n 1) == *" 2.0."* ]] || versions="1.8 2"
# A damaged trace gives status 3; its readable part counts.
"$traceloom" convert --to jsonl ${exe:+-e "$exe"} -o "$work/events.jsonl" "$trace" 2>"$work/messages" || [ $? = 3 ]

cat >"$work/check.py" <<'END'
import collections, json, re, sys
expected, texts = sys.argv[1], sys.argv[2]
problems = []

def canonical(ts, name, cpu, thread, fields):
    return (ts, name, cpu, thread, json.dumps(fields, sort_keys=True))

wanted = collections.Counter()
for line in open(expected):
    event = json.loads(line)
    fields = {k: v for k, v in event["fields"].items() if k != "function"}
    if "data" in fields:
        fields["data"] = list(bytes.fromhex(fields["data"]))
    wanted[canonical(event["ts"], event["class"], event.get("cpu"), int(event["track"].split()[-1]), fields)] += 1

TOKEN = re.compile(r'\s*(?:(0x[0-9A-Fa-f]+|-?\d+)|([\[\]{}=,])|"((?:[^"\\]|\\.)*)"|(\w+))')

def value(text, at):
    """A value as babeltrace2 prints it, { a = 1, b = [ [0] = 2 ] }, and where it ends."""
    match = TOKEN.match(text, at)
    number, mark, string, _ = match.groups()
    if number is not None:
        return int(number, 0), match.end()
    if mark is None:
        return string, match.end()
    result, at, close = ({}, match.end(), "}") if mark == "{" else ([], match.end(), "]")
    while True:
        match = TOKEN.match(text, at)
        if match.group(2) == close:
            return result, match.end()
        if match.group(2) == ",":
            match = TOKEN.match(text, match.end())
        if mark == "{":
            name, at = match.group(4), TOKEN.match(text, match.end()).end()                 # name =
            result[name], at = value(text, at)
        else:
            at = text.index("=", match.end()) + 1                                           # [0] =
            item, at = value(text, at)
            result.append(item)

found, first, table = collections.Counter(), None, 0
for line in open(texts):
    match = re.match(r"\[(\d+)\.(\d{9})\] (\S+): ", line)
    if not match:
        problems.append("not understood: " + line.strip())
        continue
    ns, name, at = int(match.group(1)) * 10**9 + int(match.group(2)), match.group(3), match.end()
    first = ns if first is None else first
    if name.startswith("traceloom."):
        table += 1
        continue
    packet, at = value(line, at)
    fields = value(line, at + 1)[0] if line[at:at + 1] == "," else {}
    fields = {k: v for k, v in fields.items() if not k.startswith("__")}
    found[canonical(ns - first, name, packet.get("cpu_id"), packet["tid"], fields)] += 1

# babeltrace2 rounds all times down, including the first.
for event in list(found):
    for step in (1, -1):
        other = canonical(event[0] + step, *event[1:4], json.loads(event[4]))
        if found[event] > wanted[event] and wanted[other] > found[other]:
            moved = min(found[event] - wanted[event], wanted[other] - found[other])
            found[event] -= moved
            found[other] += moved
missing, surplus = wanted - found, found - wanted
for what, events in (("missing", missing), ("surplus", surplus)):
    for event in list(events)[:3]:
        problems.append("%s: %s" % (what, event))
if not wanted:
    problems.append("no events")
print("\n".join(problems[:10]))
print("%d events, %d entries of the table, %s" % (sum(found.values()), table, "%d problems" % len(problems) if problems else "right"))
sys.exit(1 if problems else 0)
END

for version in $versions; do
    out=$work/out.$version.ctf
    "$traceloom" convert ${exe:+-e "$exe"} --format-version "$version" -o "$out" "$trace" 2>>"$work/messages" || [ $? = 3 ]
    [ -s "$out/metadata" ] || { cat "$work/messages"; echo "nothing was written"; exit 1; }
    for index in with without; do
        [ $index = with ] || rm -r "$out/index"
        babeltrace2 --clock-seconds --no-delta "$out" >"$work/text" 2>"$work/stderr" || { cat "$work/stderr"; exit 1; }
        if [ -s "$work/stderr" ]; then
            echo "babeltrace2 complains:"
            head -5 "$work/stderr"
            exit 1
        fi
        python3 "$work/check.py" "$work/events.jsonl" "$work/text"
    done
done
