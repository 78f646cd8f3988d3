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
# With several traces a pattern must match in one: the calls of the others count, too.
expect 0 "$tl" convert "$trace" -e "$binary" -N "$name" -o rest.fdr
expect 0 "$tl" report --json "$trace" rest.fdr -e "$binary" -N "$name"
[ "$(calls)" -eq $((2 * others)) ] || fail "-N of a function that one of two traces lacks: $(calls) of 2 * $others calls"
expect 2 "$tl" report "$trace" rest.fdr -e "$binary" -F "$name" -F nobody
says err 'no function matches "nobody"'
class=$(grep -o '"class":"[^"]*"' all.jsonl | head -1 | cut -d'"' -f4)
expect 0 "$tl" convert "$trace" --to jsonl --class "$class"
[ "$(grep -c "\"$class\"" all.jsonl)" -eq "$(wc -l <out)" ] || fail "--class $class"
# A selection of nothing is answered with the possible choices.
expect 0 "$tl" cat "$trace" --time 100h..
is_empty out
says err "0 events were selected; the trace spans 0 .. "
expect 2 "$tl" cat "$trace" -F nosuch
says err 'no function matches "nosuch": functions have no names; give -e'
expect 2 "$tl" report "$trace" -F nosuch
says err 'no function matches "nosuch": functions have no names; give -e'
name=$("$tl" report "$trace" -e "$binary" --json | python3 -c '
import json, sys
print(max((f["name"] for f in json.load(sys.stdin)["functions"] if f["name"].isidentifier()), key=len))')
for verb in cat report; do
    expect 2 "$tl" $verb "$trace" -e "$binary" -F "${name%?}"
    says err "no function matches \"${name%?}\"; did you mean \"*${name%?}*\"?"
done
expect 2 "$tl" cat "$trace" -e "$binary" -F 'no*such'
says_not err "did you mean"
class=$("$tl" convert "$trace" --to jsonl | python3 -c '
import json, sys
print(max((e["class"] for e in map(json.loads, sys.stdin) if "class" in e), key=len))')
expect 2 "$tl" cat "$trace" --class "${class%?}"
says err "; did you mean $class?"
expect 2 "$tl" cat "$trace" -t 99999999
says err '"99999999"; there are '
ctf=$(dirname "$0")/../golden/input/ctf-18
expect 2 "$tl" report "$ctf" -F nosuch -o none.folded
says err 'no function matches "nosuch": the trace has no functions'
says_not err "give -e"
# Which pattern it was is known by its number, not by its words.
expect 2 "$tl" report "$trace" -t 'no function matches' -F '*'
says err '"no function matches"; there are '
# The head of a table shows the selection.
expect 0 "$tl" report "$trace" -e "$binary" --time 0..1h -F '*' -N "$name" --depth 9
says out " (--time 0..1h, -F *, -N $name, --depth 9), "
expect 0 "$tl" report "$trace" --by tree -t '*' --min-dur 0 --cpu 0-9
says out " (-t *, --cpu 0-9, --min-dur 0)"
expect 0 "$tl" report "$trace" -e "$binary"
says_not out "("
exit $failed
