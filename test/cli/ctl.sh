#!/usr/bin/env bash
# traceloom ctl: commands a running program, or gives the reason why it cannot.
# shellcheck disable=SC2154,SC2016
. "$(dirname "$0")/common.inc"
. "$root/test/cli/recorder.inc"

cat >app.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int x) { __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) int inner(int x) { return leaf(x) + leaf(x + 1); }
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "close"))
        for (int i = 3; i < 1024; i++)
            close(i);
    for (;;) {
        inner(argc);
        usleep(1000);
        if (access("enough", F_OK) == 0)
            return 0;
    }
}
END
build_recorded app app.c
record=
start() { # settings of the recorder...: $pid is the program's
    "$tl" record -q "$@" >record.out 2>record.err &
    record=$!
    pid=$(child_of $record app)
    [ -n "$pid" ] || { echo "FAILED: the program did not start: $(cat record.err)"; exit 1; }
    wait_until 10 "$tl" ctl "$pid" status || fail "no control page: $("$tl" ctl "$pid" status 2>&1)"
}
end() {
    touch enough
    wait $record || fail "the program ended with $?: $(cat record.err)"
    rm enough
}
field() { # of the status
    "$tl" ctl --json "$pid" status | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}
is() {
    local value
    value=$(field "$1")
    [ "$value" = "$2" ] || fail "$1 is $value instead of $2"
}

# Off, on, off, on: only the events while it was on are there.
start --start off -m profile ./app
is state waiting
is threads 0
is bytes 0
expect 0 "$tl" help --names processes # what completion offers
grep -qx "$pid" out || fail "the process is not listed: $(cat out)"
grep -qx $$ out && fail "a shell is listed"
expect 0 "$tl" ctl "$pid"
says out "state       waiting for traceloom ctl $pid start"
says_not out "recorded"
sleep 0.1
[ ! -e app.tlp.live ] || fail "there is a file already"
expect 0 "$tl" ctl "$pid" start
says err "recording to $PWD/app.tlp"
is state recording
is mode profile
is path "$PWD/app.tlp"
wait_until 10 eval '[ "$(field threads)" = 1 ]' || fail "no thread was seen"
expect 0 "$tl" ctl "$pid" start
says err "was recording already"
expect 0 "$tl" ctl "$pid"
says out "recording since"
says out "file        $PWD/app.tlp.live"
expect 0 "$tl" ctl "$pid" flush
says err "wrote $PWD/app.tlp"
[ "$(calls_of app.tlp leaf)" -gt 0 ] || fail "nothing was flushed"
expect 0 "$tl" ctl "$pid" stop
is state waiting
expect 0 "$tl" ctl "$pid" stop
says err "was not recording"
"$tl" ctl -q "$pid" flush
before=$(calls_of app.tlp leaf)
sleep 0.1
"$tl" ctl -q "$pid" flush
[ "$(calls_of app.tlp leaf)" = "$before" ] || fail "calls were recorded while stopped"
expect 0 "$tl" ctl -q "$pid" start
is_empty err
sleep 0.1
end
[ "$(calls_of app.tlp leaf)" -gt "$before" ] || fail "nothing was recorded after the second start"
[ ! -e app.tlp.live ] || fail "the live file was left"
rm app.tlp

# An obstacle to a start is reported, and the program continues.
mkdir later
start --start off -m profile -o later/app.tlp ./app
if [ -n "$clang" ]; then
    "$tl" ctl -q "$pid" set 'func=no_such_*'
    expect 1 "$tl" ctl "$pid" start
    says err "recording could not start: no function matches the patterns"
    is state waiting
    "$tl" ctl -q "$pid" set func=
fi
rmdir later
expect 1 "$tl" ctl "$pid" start
says err "recording could not start: $PWD/later/app.tlp: No such file or directory"
is state over
touch enough
wait $record
rm enough

# Changing settings while it records.
start -m fdr ./app
sleep 0.1
expect 0 "$tl" ctl "$pid" set 'func=leaf' not=
says err "set func=leaf:not="
if [ -n "$clang" ]; then
    is functions 1
    expect 1 "$tl" ctl "$pid" set 'func=no_such_*'
    says err "no function matches; all is as before"
    is functions 1
fi
is state recording
"$tl" ctl "$pid" flush 2>err
inner=$(calls_of app.xray inner) leaf=$(calls_of app.xray leaf)
sleep 0.1
"$tl" ctl "$pid" flush 2>err
[ "$(calls_of app.xray leaf)" -gt "$leaf" ] || fail "leaf is not recorded any more"
[ "$(calls_of app.xray inner)" = "$inner" ] || fail "inner is still recorded"
expect 0 "$tl" ctl "$pid" set func= threshold=100s
expect 1 "$tl" ctl "$pid" set threshold=5u
says err "threshold=5u: expected a time"
expect 1 "$tl" ctl "$pid" set mode=ctf
says err "cannot change while the program runs"
expect 1 "$tl" ctl "$pid" set ring=1M

# Nonsensical command lines.
expect 2 "$tl" ctl
expect 2 "$tl" ctl app
expect 2 "$tl" ctl "$pid" frobnicate
expect 2 "$tl" ctl "$pid" stat
says err "did you mean stat"
expect 2 "$tl" ctl "$pid" start now
expect 2 "$tl" ctl "$pid" set
expect 2 "$tl" ctl "$pid" set threshold
expect 2 "$tl" ctl --json "$pid" stop
says err "--json goes with status"
expect 3 "$tl" ctl 4194305 # too large for a process
says err "there is no process"
expect 1 "$tl" ctl $$
says err "has no recorder that takes commands"

# The wait for a program that does not answer ends, without harm to the program.
kill -STOP "$pid"
expect 3 "$tl" ctl "$pid"
says err "it is stopped"
says out "mode        fdr"
kill -CONT "$pid"
expect 0 "$tl" ctl "$pid" status
is_empty err

# Several commanders take turns, and a killed one does not block the others.
for _ in 1 2 3 4 5 6; do
    "$tl" ctl "$pid" status >>many 2>&1 &
    commanders="${commanders:-} $!"
done
# shellcheck disable=SC2086
wait $commanders
[ "$(grep -c '^state       recording' many)" -eq 6 ] || fail "commanders got $(cat many)"
kill -STOP "$pid"
"$tl" ctl "$pid" status >/dev/null 2>&1 &
commander=$!
sleep 0.3
kill -KILL $commander
wait $commander 2>/dev/null
kill -CONT "$pid"
expect 0 "$tl" ctl "$pid" status

# No other user may. (Only root can try this.)
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 . && expect 3 setpriv --reuid 65534 --clear-groups "$tl" ctl "$pid" stop
    says err "only root may command process $pid"
    is state recording
fi
end
rm app.xray

# A program that closes all descriptors can be recorded, but not commanded.
"$tl" record -q -m profile ./app close >record.out 2>record.err &
record=$!
pid=$(child_of $record app)
wait_until 10 eval '! "$tl" ctl "$pid" status'
expect 1 "$tl" ctl "$pid" status
says err "has no recorder that takes commands"
end
[ "$(calls_of app.tlp inner)" -gt 0 ] || fail "nothing was recorded"
rm app.tlp

# control=off: no further thread.
TRACELOOM=control=off "$tl" record -q ./app >record.out 2>record.err &
record=$!
pid=$(child_of $record app)
wait_until 10 [ -e app.tlp.live ]
[ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" -eq 1 ] || fail "control=off: there are several threads"
end
exit $failed
