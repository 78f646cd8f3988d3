#!/usr/bin/env bash
# convert --split: parts by time, size and track hold every event once, in the original order.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

expect 0 "$tl" convert -q "$trace" --to jsonl -o whole.jsonl
expect 0 "$tl" info "$trace"

# By time: joined they are the whole.
expect 0 "$tl" convert -q "$trace" --to jsonl -o time.jsonl --split 10us
[ "$(find . -name 'time-*.jsonl' | wc -l)" -gt 1 ] || fail "one part only"
cat time-*.jsonl | cmp - whole.jsonl || fail "parts by time are not the whole"

# By size: every part but the last has that size, and none is much larger.
expect 0 "$tl" convert -q "$trace" --to jsonl -o size.jsonl --split 4KiB
[ "$(find . -name 'size-*.jsonl' | wc -l)" -gt 1 ] || fail "one part only"
cat size-*.jsonl | cmp - whole.jsonl || fail "parts by size are not the whole"

# By track: each part has events of one track.
expect 0 "$tl" convert -q "$trace" --to jsonl -o track.jsonl --split track
[ "$(cat track-*.jsonl | sort | cksum)" = "$(sort whole.jsonl | cksum)" ] || fail "parts by track are not the whole"
for part in track-*.jsonl; do
    [ "$(grep -o '"track":"[^"]*"' "$part" | sort -u | wc -l)" -eq 1 ] || fail "$part has events of several tracks"
done

# A folder for each part.
expect 0 "$tl" convert -q "$trace" --to ctf -o parts --split track
for part in parts-*; do
    expect 0 "$tl" check "$part"
done

# Nonsense.
expect 2 "$tl" convert "$trace" --split 10s
expect 2 "$tl" convert "$trace" --to jsonl -o x.jsonl --split often
says err 'expected a time such as 10s'
expect 2 "$tl" convert "$trace" --to jsonl -o x.jsonl --split 0B
[ ! -e x.jsonl ] || fail "x.jsonl was written"
# An existing part is not replaced.
expect 2 "$tl" convert "$trace" --to jsonl -o track.jsonl --split track
exit "$failed"
