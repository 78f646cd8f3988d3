#!/usr/bin/env bash
# -e: files that are no binaries are refused without waiting; shared libraries by the number of their object, in words and from a map.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

mkfifo pipe
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
mkdir folder
for what in "pipe:a pipe" "socket:a socket" "/dev/null:a device" "folder:a folder" "-:standard input"; do
    expect 3 timeout 20 "$tl" report "$trace" -e "${what%%:*}"
    says err "${what%%:*}: expected a binary, found ${what#*:}"
done

# check accepts it like the others, and does not use it.
expect 0 "$tl" check "$trace" -e "$binary"
is_empty err
expect 0 "$tl" check "$profile" -e "$binary"
is_empty err

# Functions 1 and 2 of objects 0, 1 and 200, in a basic log with whole ids, and as a log that keeps 28 bits of them.
python3 -c '
import struct, sys
sys.stdout.buffer.write(struct.pack("<HHIQ16x", 3, 0, 3, 1000000000))
time = 0
for object in (0, 1, 200):
    for kind, function in (0, 2), (0, 1), (1, 1), (1, 2):
        id, = struct.unpack("<i", struct.pack("<I", object << 24 | function))
        time += 10
        sys.stdout.buffer.write(struct.pack("<HBBiQII8x", 0, 0, kind, id, time, 1, 1))
' >packed.basic
names() { python3 -c 'import json; print(*sorted((f["name"] or "?") + "@" + str(f["id"]) for f in json.load(open("out"))["functions"]))'; }
expect 0 "$tl" report --json packed.basic -e "$binary"
one=$(python3 -c 'import json; print([f["name"] for f in json.load(open("out"))["functions"] if f["id"] == 1][0])')
two=$(python3 -c 'import json; print([f["name"] for f in json.load(open("out"))["functions"] if f["id"] == 2][0])')
[ -n "$one" ] && [ "$one" != "$two" ] || fail "functions 1 and 2 have no names of their own: $one $two"
says out '"id":16777217,"name":null'

all=$(printf '%s\n' "$one@1" "$two@2" "$one@16777217" "$two@16777218" "$one@-939524095" "$two@-939524094" | LC_ALL=C sort | tr '\n' ' ')
expect 0 "$tl" report --json packed.basic -e "$binary" -e "1=$binary" -e "200=$binary"
[ "$(names) " = "$all" ] || fail "names: $(names), expected $all"
printf '%s\n' '---' '# objects' "0: $binary" "- { id: 1, path: '$binary' }" '- object: 200' "  file: \"$binary\"" '...' >map.yaml
expect 0 "$tl" report --json packed.basic -e map.yaml
[ "$(names) " = "$all" ] || fail "names by a map: $(names), expected $all"
expect 0 "$tl" report --json packed.basic -e "1=$binary"
says out '"id":1,"name":null'
says_not out '"id":16777217,"name":null'

expect 0 "$tl" report --json packed.basic -e "1=$binary" -e "$binary" # the order does not matter
says_not out '"id":1,"name":null'

# A useless one is reported.
expect 0 "$tl" report "$samples/tracelog-doc.log" -e 1=not-there
says err "format tracelog holds its own names; -e is not used for it"
expect 0 "$tl" report "$samples/rec-done.xray" -e "1=$binary"
says err "-e is not used for it"
expect 0 "$tl" report packed.basic -e "1=$binary"
says_not err "-e is not used"

for wrong in 256= 1= 99999999999999999999=x; do
    expect 2 "$tl" report packed.basic -e "$wrong"
    says err "-e $wrong: expected PATH, or N=PATH with a number from 0 to 255"
done
expect 2 "$tl" report packed.basic -e "1=$binary" -e "1=$binary"
says err "object 1 is given twice"
expect 2 "$tl" report packed.basic -e "$binary" -e "$trace"
says err "the traced binary is given twice"
expect 3 "$tl" report packed.basic -e 1=not-there
says err "not-there: No such file"
for line in '300: x' 'id: 1' '1:' 'nothing' '- id: 1|- id: 2' '{ id: 1 }' 'id: x' '1: a|1: b'; do
    echo "$line" | tr '|' '\n' >wrong.yaml
    expect 2 "$tl" report packed.basic -e wrong.yaml
    says_not err AddressSanitizer
done
exit $failed
