#!/usr/bin/env bash
# Hostile and cut text logs of .NET programs: clear errors, exit statuses, and bounded memory.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

# Freed memory that the sanitizer keeps must not count.
export ASAN_OPTIONS=quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}
memory_kib=300000 # most that any of these may take, even with sanitizers

# peak STATUS command...: like expect; the command gets standard input
peak() {
    local want=$1
    shift
    python3 - "$want" "$memory_kib" "$@" 3<&0 >out 2>err <<'PYTHON' || fail "$*: $(tail -2 err)"
import os, resource, subprocess, sys
done = subprocess.run(sys.argv[3:], stdin=3)
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
if done.returncode != int(sys.argv[1]) or used > int(sys.argv[2]):
    sys.exit("status %d, %d KiB" % (done.returncode, used))
PYTHON
}

# wrong RULE LINE: a log with this line, which is skipped, and reported with its place.
wrong() {
    printf 'prf tps 5\n%b\nprf trs 7\n' "$2" >wrong.log
    expect 1 "$tl" check --json wrong.log
    says out "\"problems\":[{\"offset\":10,\"rule\":\"tracelog.$1\""
    expect 1 "$tl" check wrong.log
    says out "tracelog.$1"
    expect 3 "$tl" info --json wrong.log
    says out '"events":2,'
    [ -s err ] || fail "info says nothing of the damage: $2"
    expect 3 "$tl" report --json --by func wrong.log
    expect 3 "$tl" cat --strict wrong.log
    says err "byte 10"
}

wrong number-range 'sam str 0x0 1 1 4000000000:4000000000'
wrong number-range 'sam str 0x0 1 4294967296 0:0 0x1'
wrong number-range 'thr cpu 0x0 18446744073709551616 1'
wrong number-range 'thr crt 0x1 0x123456789012345678901234567890'
wrong prefix 'sam str 0x0 1 1 3:2'
wrong field 'sam str 0x0 1 1'
wrong string 'cls nam 0x1 "open'
wrong unknown-record '# a comment'

# A line with 70,000 frames is too deep; one with 60,000 is not, even with many samples.
frames=$(printf ' 0x%x' $(seq 60000))
printf 'sam str 0x0 1 1 0:0%s%s\n' "$frames" "$(printf ' 0x%x' $(seq 10000))" >deep.log
expect 1 "$tl" check deep.log
says out tracelog.number-range
{
    printf 'sam str 0x0 1 1 0:0%s\n' "$frames"
    for at in $(seq 2 300); do
        printf 'sam str 0x0 %d 1 59990:60000 1 2 3\nsam str 0x0 %d 1 59990:60000 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9 0xa\n' "$at" "$at"
    done
} >deep.log
peak 3 "$tl" report --json --by func --top 3 deep.log </dev/null
says out '"counted":300'
peak 3 "$tl" convert deep.log --to folded -o - </dev/null || true
expect 1 "$tl" check deep.log
says out tracelog.field

# Bytes that are not UTF-8 appear as the characters of their values, and cannot command the terminal.
printf 'cls nam 0x1 "caf\351 \033]0;x\007"\nsam mem 0x0 1 0x1:1:8\n' >bytes.log
expect 1 "$tl" check bytes.log
says out tracelog.utf8
expect 3 "$tl" convert bytes.log --to jsonl -o -
says out "\"className\":\"caf$(printf '\303\251')"
expect 3 "$tl" report --by alloc bytes.log
says_not out "$(printf '\033')"
expect 3 "$tl" cat bytes.log
says_not out "$(printf '\033')"

# The last line may be cut: it is not used, even if it is valid.
printf 'prf tps 5\nprf trs 17' >cut.log
expect 1 "$tl" check --json cut.log
says out '"problems":[{"offset":10,"rule":"tracelog.truncated-line"'
expect 3 "$tl" info --json cut.log
says out '"events":1,'
: >empty.log
expect 0 "$tl" info --json empty.log
says out '"events":0,'
expect 0 "$tl" check empty.log
expect 3 "$tl" info --from tracelog "$trace"
says err "$trace: byte 0"

# A line of 1 GiB from a pipe is skipped, with little memory; the lines around it are read.
if [ "$(df --output=avail -k "${TMPDIR:-/tmp}" | tail -1)" -gt 2500000 ]; then
    { printf 'prf tps 5\ncls nam 0x1 "' && head -c 1G /dev/zero | tr '\0' x && printf '"\nprf trs 7\n'; } |
        peak 3 "$tl" info --json --from tracelog -
    says out '"events":2,'
    says out '"damage":[{"offset":10,"bytes":1073741839,'
fi
exit $failed
