#!/usr/bin/env bash
# Following a log while it is written: lines come out as they come in, and an interrupt ends it cleanly.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

if ! "$tl" help --names read | grep -qx tracelog; then
    echo "skipped: this build cannot read a format that can be followed"
    exit 77
fi

deadline=300 # tenths of a second; no wait takes that long unless something is wrong
until_says() { # file, fixed text
    local i=0
    while ! grep -qsF -- "$2" "$1"; do
        i=$((i + 1))
        if [ $i -gt $deadline ]; then
            fail "$1 does not come to say \"$2\": $(head -5 "$1")"
            return
        fi
        sleep 0.1
    done
}
until_over() { # process, exit status
    local i=0
    while kill -0 "$1" 2>/dev/null; do
        i=$((i + 1))
        if [ $i -gt $deadline ]; then
            fail "process $1 does not end"
            kill -9 "$1"
        fi
        sleep 0.1
    done
    wait "$1"
    got=$?
    [ $got -eq "$2" ] || fail "exit status $got instead of $2: $(head -3 err)"
}
# Background jobs of a script ignore SIGINT.
set -m

# A growing file, to standard output: also a line that comes in two pieces, and threads that begin later.
printf 'prf stm 2018-06-25 07:24:28.049\nthr crt 0x00007FA6D6B31BC0 0x00000000\nprc cpu 10 9500\nprc c' >app.log
"$tl" cat --follow app.log >out 2>err &
pid=$!
until_says out "9500"
says_not out "11800"
printf 'pu 20 118' >>app.log
printf '00\n' >>app.log
until_says out "11800"
printf 'thr crt 0x00007F6628000CA0 0x00000007\nthr cpu 0x00000007 30 777\n' >>app.log
until_says out "777"
says out "thread 0x7"
kill -0 $pid 2>/dev/null || fail "it did not wait for more"
kill -INT $pid
until_over $pid 0
is_empty err

# A written file is complete after an interrupt, as if the log had ended there. This script cannot see when the command
# has read the log: it gets ever more time, and must leave a whole file or, killed very early, none.
"$tl" convert --to jsonl app.log >expected 2>err
for signal in INT TERM; do
    for i in 1 2 3 5 8 16 32 64 100 200; do
        rm -f out.jsonl
        "$tl" convert --quiet --follow app.log -o out.jsonl 2>err &
        pid=$!
        sleep "$((i / 10)).$((i % 10))"
        kill -$signal $pid
        wait $pid
        got=$?
        [ $got -eq 0 ] && cmp -s out.jsonl expected && break
        if [ $got -ne 0 ]; then
            [ ! -e out.jsonl ] || fail "exit status $got, and there is a file"
        else
            head -c "$(wc -c <out.jsonl)" expected | cmp - out.jsonl || fail "the file is not a beginning of the whole"
        fi
    done
    { [ $got -eq 0 ] && cmp out.jsonl expected; } || fail "SIG$signal: exit status $got: $(head -3 err)"
done

# A file without a byte is followed by its name, at once.
: >new.log
"$tl" convert --follow --to csv new.log >out 2>err &
pid=$!
until_says out "ts,class"
printf 'prf stm 2018-06-25 07:24:28.049\nprc cpu 10 4711\n' >>new.log
until_says out "4711"
kill -TERM $pid
until_over $pid 0
is_empty err

# A pipe ends by itself.
{
    cat app.log
    sleep 0.3
    printf 'prc cpu 50 4712\n'
} | "$tl" convert --follow --to jsonl - >out 2>err
got=$?
[ $got -eq 0 ] || fail "exit status $got of a pipe: $(cat err)"
says out "4712"
[ "$(tail -1 out | cut -c1-6)" = '{"ts":' ] || fail "the last line is not an object: $(tail -1 out)"
sed -n '1,$p' app.log >whole.log
printf 'prc cpu 50 4712\n' >>whole.log
"$tl" convert --to jsonl whole.log | sort >expected
sort out | cmp - expected || fail "what was followed is not what is read at once"

# Impossible combinations.
expect 2 "$tl" cat --follow app.log app.log
says err "only one input"
expect 2 "$tl" convert --follow --to chrome app.log
says err "text"
says err "jsonl"
expect 2 "$tl" convert --follow --split 1s -o part.txt app.log
says err "--split"
expect 2 "$tl" cat --follow --min-dur 1ms app.log
says err "--min-dur"
expect 3 "$tl" cat --follow "$trace"
says err "cannot be read while it is still being written"
gzip -c app.log >app.log.gz
expect 3 "$tl" cat --follow app.log.gz
says err "compressed"
exit $failed
