#!/usr/bin/env bash
# Selections mean the same in report and in convert.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

calls() { # sum of calls in ./out, JSON of functions
    grep -o '"calls":[0-9]*' out | cut -d: -f2 | awk '{ n += $1 } END { print n + 0 }'
}
expect 0 "$tl" report --json "$trace" -e "$binary"
all=$(calls)
name=$(grep -o '"name":"[^"]*"' out | head -1 | cut -d'"' -f4)
expect 0 "$tl" report --json "$trace" -e "$binary" -F "$name"
one=$(calls)
expect 0 "$tl" report --json "$trace" -e "$binary" -N "$name"
others=$(calls)
[ "$one" -gt 0 ] && [ $((one + others)) -eq "$all" ] || fail "-F $one and -N $others are not all $all calls"
expect 0 "$tl" report --json "$trace" -e "$binary" --depth 1
outer=$(calls)
[ "$outer" -gt 0 ] && [ "$outer" -lt "$all" ] || fail "--depth 1 leaves $outer of $all calls"
expect 0 "$tl" report --json "$trace" -e "$binary" --min-dur 0
[ "$(calls)" -eq "$all" ] || fail "--min-dur 0 leaves something out"

expect 0 "$tl" convert "$trace" --to jsonl
cp out all.jsonl
expect 0 "$tl" convert "$trace" --to jsonl --time ..5us
cp out early.jsonl
expect 0 "$tl" convert "$trace" --to jsonl --time=+5us..
cp out late.jsonl
[ -s early.jsonl ] && [ -s late.jsonl ] || fail "--time leaves nothing"
cat early.jsonl late.jsonl | sort >both
sort all.jsonl | cmp - both || fail "two parts by --time are not the whole"
thread=$(grep -o '"track":"thread [0-9]*"' all.jsonl | head -1 | tr -dc 0-9)
expect 0 "$tl" convert "$trace" --to jsonl -t "$thread"
grep -c "thread $thread\"" all.jsonl >want
wc -l <out | tr -d ' ' >got
cmp want got || fail "-t $thread: $(cat got) events instead of $(cat want)"
expect 0 "$tl" convert "$trace" --to jsonl -t "thread $thread"
wc -l <out | tr -d ' ' >got
cmp want got || fail "-t by name differs from -t by id"
# Of several traces a pattern needs to match in one: the calls of the others count too.
expect 0 "$tl" convert "$trace" -e "$binary" -N "$name" -o rest.fdr
expect 0 "$tl" report --json "$trace" rest.fdr -e "$binary" -N "$name"
[ "$(calls)" -eq $((2 * others)) ] || fail "-N of a function that one of two traces lacks: $(calls) of 2 * $others calls"
expect 2 "$tl" report "$trace" rest.fdr -e "$binary" -F "$name" -F nobody
says err 'no function matches "nobody"'
class=$(grep -o '"class":"[^"]*"' all.jsonl | head -1 | cut -d'"' -f4)
expect 0 "$tl" convert "$trace" --to jsonl --class "$class"
[ "$(grep -c "\"$class\"" all.jsonl)" -eq "$(wc -l <out)" ] || fail "--class $class"
exit $failed
