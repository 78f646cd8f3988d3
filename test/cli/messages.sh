#!/usr/bin/env bash
# Messages: the nearest word is suggested, -q silences all but errors, and names cannot command the terminal.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

expect 2 "$tl" rpeort
says err "traceloom: unknown verb rpeort; did you mean report?"
expect 2 "$tl" formats
says err "unknown verb formats; did you mean traceloom help formats?"
for pair in account:report graph:report view:cat dump:cat stats:report stat:report merge:convert \
    flamegraph:report record-attach:ctl version:--version; do
    expect 2 "$tl" ${pair%%:*} "$trace"
    says err "unknown verb ${pair%%:*}; did you mean traceloom ${pair#*:}"
done
expect 2 "$tl" report "$trace" --by function
says err "traceloom: --by function: did you mean func?"
expect 2 "$tl" report "$trace" --by flamegraph
says err "traceloom: --by flamegraph: -o app.svg draws a flame graph"
expect 2 "$tl" report "$trace" --tree
says err "unknown option --tree; did you mean --by tree?"
expect 2 "$tl" report --tpo 3 "$trace"
says err "did you mean --top?"
expect 2 "$tl" info --by func "$trace"
says err "info has no option --by (report has)"
expect 2 "$tl" convert --to jsnol "$trace"
says err "did you mean jsonl?"
expect 2 "$tl" report -e "$binary" -F 'nope*' "$trace"
says err 'no function matches "nope*"'

expect 0 "$tl" convert "$trace" -e "$binary" -o a.csv
says err "traceloom: wrote a.csv ("
expect 0 "$tl" convert -q "$trace" -e "$binary" -o b.csv
is_empty err
expect 3 "$tl" info -q "$damaged"
is_empty err
expect 3 "$tl" info "$damaged"
says err "$damaged: byte "
expect 1 "$tl" check -q "$damaged"
expect 0 "$tl" check -q "$trace"
is_empty out

# A damaged place beyond the fifth is only counted.
expect 0 "$tl" report "$trace"
says err "functions have no names; -e"

expect 2 "$tl" convert "$trace" "$profile"
says err "$profile: holds a profile"

# A binary that one of the inputs does not use.
expect 0 "$tl" report "$trace" -o names.tlp
expect 0 "$tl" report names.tlp "$trace" -e "$binary"
says err "names.tlp: format tlp holds its own names; -e is not used for it"
says_not err "$trace: format"
expect 3 "$tl" report "$trace" -e "$trace"
says err "$trace: $trace: not an ELF file"
says_not err "byte 0"

# Functions missing in the binary: two calls, of function 1 and of one with a large number.
python3 -c '
import struct, sys
sys.stdout.buffer.write(struct.pack("<HHIQ16x", 3, 0, 3, 1000000000))
for time, (kind, function) in enumerate([(0, 1), (0, 70000), (1, 70000), (1, 1)]):
    sys.stdout.buffer.write(struct.pack("<HBBiQII8x", 0, 0, kind, function, time, 1, 1))
' >strange.xray
expect 0 "$tl" report strange.xray -e "$binary"
says err "traceloom: 1 of 2 functions is not in $binary; is that the binary that was traced?"
expect 0 "$tl" report "$trace" -e "$binary"
says_not err "the binary that was traced"
expect 0 "$tl" report strange.xray --time 9s..10s
says err "no calls and no stack samples in what was chosen"
says_not err "functions have no names"

# Samples whose frames hold the runtime's id of a function, while names belong to its number in the log.
for number in 0x1 0xaa; do
    printf 'fun inf 0x1 0xaa ? ? 0x0\nfun nam 0x1 "A.B" "" ""\nthr crt 0x7 0x0\nsam str 0x0 10 1 0:0 %s\n' "$number" >ids.log
    expect 0 "$tl" report ids.log --by func
    if [ "$number" = 0xaa ]; then
        says err "ids.log: no names for 1 of 1 functions: samples number them differently from the names"
        says out "0xaa"
    else
        says_not err "no names"
        says out "A.B"
    fi
done

# Inputs are named once.
for input in . -; do
    "$tl" info "$input" <. 2>err && fail "a folder without a trace is read"
    [ "$(grep -o 'is a directory\|in this folder\|^\.:\|standard input:' err | wc -l)" -eq 2 ] || fail "info $input: $(cat err)"
done

# A file that is no trace ends the command at once, with a message that names it once and tells what it is.
: >empty
printf x >"two words"
printf x >"$(printf 'line\nbreak')"
long=$(printf 'n%.0s' $(seq 250))
mkdir -p "$long/$long" && printf 'xy' >"$long/$long/$long"
mkdir no-trace
for verb in info check report cat; do
    expect 3 timeout 60 "$tl" $verb /dev/zero
    says err "/dev/zero: is a device, expected a file or a pipe"
    expect 3 "$tl" $verb /dev/null
    says err "/dev/null: the file is empty; expected a trace"
    expect 3 "$tl" $verb empty
    says err "empty: the file is empty; expected a trace"
    expect 3 "$tl" $verb no/such/file
    says err "no/such/file: No such file or directory"
    expect 3 "$tl" $verb "two words"
    says err "two words: unrecognised format (starts with 78)"
    expect 3 "$tl" $verb "$(printf 'line\nbreak')"
    [ "$(cat err)" = "line?break: unrecognised format (starts with 78)" ] || fail "$verb: $(cat err)"
    expect 3 "$tl" $verb "$long/$long/$long"
    [ "$(cat err)" = "$long/$long/$long: unrecognised format (starts with 78 79)" ] || fail "$verb: $(cat err)"
    expect 3 "$tl" $verb no-trace
    says err "no-trace: no recognised trace in this folder"
    expect 2 "$tl" $verb
    says err "traceloom: $verb: no input file; - is standard input"
done
# A table without rows is a sentence.
{ printf '\003\000\000\000\003\000\000\000\000\312\232\073\000\000\000\000' && head -c 16 /dev/zero; } >nothing.xray
for by in func tree callers callees hist thread module; do
    expect 0 "$tl" report --by $by nothing.xray
    [ "$(tail -n 1 out)" = "no calls" ] || fail "--by $by of no calls: $(cat out)"
done
mkfifo pipe
cat "$trace" >pipe &
expect 0 "$tl" info pipe
wait
if command -v script >/dev/null; then
    script -qec "$tl info -" /dev/null </dev/null >out
    says out "standard input: is a terminal, expected a file or a pipe"
fi

# The number of events written is printed on request, unless it is 0.
expect 0 "$tl" convert -v "$trace" -o some.jsonl
says err " events in "
expect 0 "$tl" convert -v "$trace" --time 900s..901s -o none.jsonl
says err "wrote none.jsonl"
says_not err " events in "

# A file name with an escape sequence is shown harmlessly.
evil=$(printf 'a\033]0;b\007.xray')
cp "$damaged" "$evil"
expect 3 "$tl" info "$evil"
says_not out "$(printf '\033')"
says_not err "$(printf '\033')"
exit $failed
