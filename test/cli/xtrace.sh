#!/usr/bin/env bash
# Instruction streams through the command: parts, calls, slices, and unsuitable options.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
export ASAN_OPTIONS=quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}

# A loop that calls a function, with system calls now and then: 1000 rounds of 7 instructions, and 3 snapshots.
python3 - <<'PYTHON' || fail "no streams"
import struct
name = "xtrace.1700000000.42.hint9."
out = bytearray()
places = {}
for turn in range(1000):
    places[7 * turn] = len(out)
    out += struct.pack("<BQI", 0x09, 0x1000, 0x91000400)  # add
    out += struct.pack("<BI", 0x01, 0x940003ff)           # bl 0x2000
    out += struct.pack("<BQI", 0x09, 0x2000, 0xf9400020)  # ldr
    out += struct.pack("<BQQ", 0x32, 0x8000 + 8 * turn, turn)
    out += struct.pack("<BI", 0x01, 0xd503201f)           # nop
    out += struct.pack("<BI", 0x01, 0xd65f03c0) + struct.pack("<BQ", 0x2b, 0x1008)  # ret
    out += struct.pack("<BQI", 0x49, 0xffff000000000000, 0xd69f03e0)  # an interrupt: eret
    out += struct.pack("<BQ", 0x2b, 0x1008)
    out += struct.pack("<BQI", 0x09, 0x1008, 0x17fffffe)  # b 0x1000
open(name + "xinsndata.bin", "wb").write(out)
snapshots = bytearray(struct.pack("<IIQBBB5x", 1, 0, 1, 0, 0, 0))
for turn in 0, 300, 900:
    snapshots += struct.pack("<4Q", 0, places[7 * turn], 6 * turn, 7 * turn) + bytes(1424 - 40) + struct.pack("<Q", 128)
open(name + "xsnapshot.bin", "wb").write(snapshots)
PYTHON
s=xtrace.1700000000.42.hint9.xinsndata.bin
"$tl" help formats >formats
grep -q '^xtrace ' formats || { # built without it
    echo "skipped: this build does not read xtrace"
    exit 77
}

expect 0 "$tl" info $s
says out "span      7.00 k instructions"
says out "times are their numbers"
expect 0 "$tl" check $s
expect 0 "$tl" check xtrace.1700000000.42.hint9.xsnapshot.bin

# Every instruction is in one function: self times add up to the number of instructions.
selves() { python3 -c 'import json,sys; d=json.load(open("out")); print(d["unit"], sum(f["self"] for f in d["functions"]))'; }
expect 0 "$tl" report --json --by func $s
[ "$(selves)" = "instructions 7000" ] || fail "self times: $(selves)"
expect 0 "$tl" report --json --by func $s --insns 1k..2500
[ "$(selves)" = "instructions 1500" ] || fail "self times of a part: $(selves)"
expect 0 "$tl" report --json --by func $s --el 1
[ "$(selves)" = "instructions 1000" ] || fail "self times of a level: $(selves)"
expect 0 "$tl" report --json --by func $s --pc 0x2000..0x2004 --threads 1
[ "$(selves)" = "instructions 1000" ] || fail "self times of an address: $(selves)"
expect 0 "$tl" report --by tree $s
says out "times in instructions"
says out "[entry 0x1000]"
says out "[el1]"
says err "-e names the binary"
expect 0 "$tl" report $s -o calls.folded
says calls.folded "[entry 0x1000];0x2000 3000"
expect 0 "$tl" report $s -o calls.tlp
expect 0 "$tl" info calls.tlp
says out "self time 7.00 k instructions"
expect 0 "$tl" report $s --to callgrind -o -
says out "events: Ir Calls"

# Tables of instructions, from files and from a pipe.
for by in mix block branch page reuse cache syscall thread; do
    expect 0 "$tl" report --by $by $s
    expect 0 "$tl" report --json --by $by $s
    says out '{"schema":1,'
done
"$tl" report --by thread --from xtrace - <$s >out 2>err || fail "a pipe: $(cat err)"
says out "7,000 instructions"
expect 0 "$tl" report --by syscall $s
says out "no system calls"
expect 1 "$tl" report --json --by mix "$trace"
says err "--by mix needs instructions; this trace has calls"
is_empty out

# Parts of the events.
count() { expect 0 "$tl" convert "$@" --to jsonl -o events.jsonl -f; wc -l <events.jsonl; }
[ "$(count $s --insns ..7)" -eq 10 ] || fail "--insns: $(count $s --insns ..7)"
[ "$(count $s --el 1)" -eq 2000 ] || fail "--el: $(count $s --el 1)"
[ "$(count $s --pc 0x2000..0x2004)" -eq 2000 ] || fail "--pc: $(count $s --pc 0x2000..0x2004)"
[ "$(count $s --el 0 --insns 0..7)" -eq 8 ] || fail "--el and --insns: $(count $s --el 0 --insns 0..7)"
[ "$(count $s --slice-at 1 -n 7)" -eq 11 ] || fail "--slice-at: $(count $s --slice-at 1 -n 7)"
says events.jsonl '"insns":2100'
expect 0 "$tl" convert $s --slice-at 2 -n 70 -o slice
expect 0 "$tl" info --json slice
says out '"events":101'
expect 0 "$tl" check slice

# Errors are reported.
wrong() { # STATUS TEXT OPTIONS...
    local status=$1 text=$2
    shift 2
    expect "$status" "$tl" "$@"
    says err "$text"
}
wrong 2 "there are 3, counted from 0" convert $s --slice-at 3 -n 5 -o x.txt
wrong 2 "no snapshots" convert slice/xtrace.*xinsndata.bin --slice-at 0 -n 5 -o x.txt --from xtrace -t nobody
wrong 2 "say with -n" convert $s --slice-at 1 -o x.txt
echo '{"schema":1}' >$s.json # another tool's, about the stream
wrong 3 "unrecognised format" info $s.json
rm $s.json
wrong 2 "expected a time" convert $s --slice-at 1x -n 5 -o x.txt
wrong 2 "write xtrace-set" convert $s --slice-at +1 -o x.txt
wrong 2 "no TIMEs to cut it by" convert $s --slice-at +1 -o x.xtrace
wrong 2 "say with -o" convert $s --slice-at 1 -n 5
wrong 2 "where it begins" convert $s -n 5
wrong 2 "without --time" convert $s --slice-at 1 -n 5 --time 1..2 -o x.txt
wrong 2 "of one trace" convert $s $s --slice-at 1 -n 5 -o x.txt
wrong 2 "the same" report $s --insns 1..2 --time 1..2
wrong 2 "the end is not after" report $s --pc 0x2..0x1
wrong 2 "--el needs an instruction trace" report "$trace" --el 0
wrong 2 "--slice-at needs an instruction trace" convert "$trace" --slice-at 0 -n 1 -o x.txt
wrong 2 "--interval goes with --by page" report $s --by mix --interval 5
wrong 2 "--calls goes with --by syscall" report $s --calls
wrong 2 "is not made of intervals" convert $s --interval 5
wrong 2 "does not go with --by mix" report $s --by mix -F x
wrong 2 "does not go with --by gc" report "$trace" --by gc --pc 1..
wrong 2 "have no class to select" report $s --class insn
wrong 2 "no processors to select them by" report $s --cpu 0
[ ! -e x.txt ] && [ ! -e x.xtrace ] || fail "an output of what failed is there"
exit $failed
