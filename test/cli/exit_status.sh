#!/usr/bin/env bash
# The exit statuses; each failure has its reason on standard error and nothing on standard output.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

expect 0 "$tl" info "$trace"
expect 0 "$tl" check "$trace" "$profile"
expect 1 "$tl" check "$damaged"
says out "fdr.unknown-kind"
expect 1 "$tl" check "$trace" "$damaged" # the worst of both
expect 3 "$tl" info "$damaged"           # the part that could be saved is still shown
says out "events"
says err "byte "
expect 3 "$tl" info --strict "$damaged"
is_empty out
expect 3 "$tl" report "$damaged"
expect 3 "$tl" convert "$damaged" --to jsonl
[ -s out ] || fail "nothing was saved of a damaged trace"
expect 3 "$tl" info no-such-file
says err "no-such-file: "
expect 3 "$tl" info "$binary" # not a trace
mkdir no-trace
expect 3 "$tl" info no-trace
says err "no recognised trace in this folder"
: >empty
expect 3 "$tl" info empty
expect 3 "$tl" info "$trace" no-such-file
says out "events" # the first is shown

cp "$trace" a.xray # words are split at spaces, which the folder may contain
cp "$profile" profile.xray
for words in frobnicate "report --frobnicate" "report --top" "report --top x a.xray" "report --by moon a.xray" report \
    "info - -" "report -F nothing_like_it a.xray" "report -t 99999 a.xray" "report --class nope a.xray" \
    "convert --class nope a.xray" "report --time 3s..2s a.xray" "report --time 2030-01-01T00:00:00Z.. a.xray" \
    "report --from nope a.xray" "convert --to nope a.xray" "convert profile.xray --to jsonl" "report --per-thread a.xray" \
    "report --no-fold a.xray" "convert a.xray -o a.unknown" "help nope" "help --man nope" "--nope"; do
    # shellcheck disable=SC2086
    expect 2 "$tl" $words
    is_empty out
    [ "$(wc -l <err)" -eq 1 ] || fail "$words: not one line of message: $(cat err)"
done
only_files ./a.xray ./empty ./profile.xray
exit $failed
