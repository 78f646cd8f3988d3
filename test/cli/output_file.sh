#!/usr/bin/env bash
# -o: never overwrites without -f, appears whole or not at all, and takes its format from the suffix or from --to.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

expect 0 "$tl" convert "$trace" -o a.jsonl
is_empty out
lines=$(wc -l <a.jsonl)
[ "$lines" -gt 10 ] || fail "a.jsonl has $lines lines"
echo mine >b.jsonl
expect 2 "$tl" convert "$trace" -o b.jsonl
says err "b.jsonl: the file exists; -f replaces it"
[ "$(cat b.jsonl)" = mine ] || fail "b.jsonl was touched"
expect 0 "$tl" convert -f "$trace" -o b.jsonl
cmp a.jsonl b.jsonl || fail "-f did not replace the file"
expect 0 "$tl" convert "$trace" --to jsonl
cmp a.jsonl out || fail "standard output differs from a file"
expect 0 "$tl" convert "$trace" -o - --to jsonl
cmp a.jsonl out || fail "-o - differs from a file"
expect 0 "$tl" convert "$trace" -o strange.name --to jsonl
cmp a.jsonl strange.name || fail "--to differs from the suffix"
expect 3 "$tl" convert "$trace" -o no/such/folder.jsonl

echo mine >p.svg
expect 2 "$tl" report "$trace" -o p.svg
[ "$(cat p.svg)" = mine ] || fail "p.svg was touched"
expect 0 "$tl" report -f "$trace" -o p.svg
is_empty out # no table with -o alone
says p.svg "<svg"
expect 0 "$tl" report -f "$trace" --by func -o p.svg
[ -s out ] || fail "no table with -o and --by"
expect 0 "$tl" report "$trace" --json -o t.json
is_empty out
expect 0 "$tl" report "$trace" --json
cmp out t.json || fail "--json -o differs from --json"
expect 0 "$tl" report "$trace" -o t.txt
expect 0 "$tl" report "$trace"
cmp out t.txt || fail "-o t.txt differs from the table"
expect 0 "$tl" convert "$profile" -o c.folded # a profile to a profile
expect 0 "$tl" report "$profile" -o d.folded
cmp c.folded d.folded || fail "convert of a profile differs from report -o"
only_files ./a.jsonl ./b.jsonl ./c.folded ./d.folded ./p.svg ./strange.name ./t.json ./t.txt
exit $failed
