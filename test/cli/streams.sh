#!/usr/bin/env bash
# Standard input and output: `-` is read, a pipe without a reader ends silently, a full disk is reported.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

expect 0 "$tl" info --json "$trace"
sed 's/"path":"[^"]*"//' out >file
"$tl" info --json - <"$trace" | sed 's/"path":"[^"]*"//' >stdin
cmp file stdin || fail "standard input reads otherwise than a file"
# shellcheck disable=SC2002
cat "$trace" | "$tl" info --json - | sed 's/"path":"[^"]*"//' >pipe
cmp file pipe || fail "a pipe reads otherwise than a file"
"$tl" info --json "$trace" - </dev/null >out 2>err
says err "standard input: "

for i in 1 2 3 4 5 6 7 8; do
    "$tl" cat "$trace" "$trace" "$trace" "$trace" 2>err | head -1 >out
    is_empty err
    [ "$(wc -l <out)" -eq 1 ] || fail "no first line in round $i"
done

if [ -w /dev/full ]; then
    for verb in info check report cat "report --json" --help "help formats" --version; do
        # shellcheck disable=SC2086
        case $verb in
        -* | help*) "$tl" $verb >/dev/full 2>err ;;
        *) "$tl" $verb "$trace" >/dev/full 2>err ;;
        esac
        got=$?
        [ $got -eq 3 ] || fail "$verb to a full disk: exit status $got"
        [ -s err ] || fail "$verb to a full disk says nothing"
        says_not err "$trace" # it is not the input that is full
    done
fi
exit $failed
