#!/usr/bin/env bash
# Colour goes to terminals only, unless requested; NO_COLOR and TERM=dumb are heeded; the table fits the window.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
esc=$(printf '\033')

expect 0 "$tl" report "$trace" -e "$binary"
says_not out "$esc"
expect 0 "$tl" report "$trace" -e "$binary" --color=always
says out "${esc}[1;4m"
sed "s/${esc}\[[0-9;]*m//g" out >plain
expect 0 "$tl" report "$trace" -e "$binary" --color never
cmp plain out || fail "colour changes more than colour"
expect 2 "$tl" report "$trace" --color=sometimes

LC_ALL=C expect 0 "$tl" report "$trace" -e "$binary" --by tree
LC_ALL=C grep -q '[^ -~]' out && fail "characters beyond ASCII in the C locale"

command -v script >/dev/null || {
    echo "the terminal was not tested: script is not installed"
    exit $failed
}
on_terminal() { # environment..., then the words of traceloom
    script -qec "env $*" /dev/null </dev/null | tr -d '\r' >out
}
on_terminal TERM=xterm "$tl" report "$trace" -e "$binary"
says out "${esc}["
on_terminal TERM=xterm NO_COLOR=1 "$tl" report "$trace" -e "$binary"
says_not out "${esc}["
on_terminal TERM=xterm NO_COLOR= "$tl" report "$trace" -e "$binary" # empty means not set
says out "${esc}["
on_terminal TERM=dumb "$tl" report "$trace" -e "$binary"
says_not out "${esc}["
on_terminal TERM=xterm NO_COLOR=1 "$tl" report "$trace" -e "$binary" --color=always
says out "${esc}["
for width in 40 60 80 120; do
    for by in func tree callers callees hist thread; do
        on_terminal TERM=dumb LC_ALL=C COLUMNS=$width "$tl" report "$trace" -e "$binary" --by "$by" -q
        # The head, the line of numbers above a histogram and the last line are sentences: they may be longer.
        longest=$(grep -v -e ', ' -e --top out | awk '{ if (length($0) > n) n = length($0) } END { print n }')
        [ "$longest" -le "$width" ] || fail "--by $by is $longest columns wide in a window of $width"
    done
done
exit $failed
