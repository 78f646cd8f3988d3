#!/usr/bin/env bash
# traceloom record: runs a program, returns its status, and leaves one recording however it ends.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
. "$root/test/cli/recorder.inc"

cat >app.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int x) { __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) int inner(int x) { int s = 0; for (int i = 0; i < 10; i++) s += leaf(x + i); return s; }
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += inner(i);
    printf("sum %d\n", sum);
    fflush(stdout);
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "_exit")) _exit(3);
    if (!strcmp(how, "again")) execl("./app", "app", "7", (char *)0);
    if (!strcmp(how, "fork") && fork() == 0) { inner(1); exit(0); }
    if (!strcmp(how, "leaves") && fork() == 0) { inner(1); _exit(0); }
    if (!strcmp(how, "execs") && fork() == 0) execl("/bin/true", "true", (char *)0);
    if (!strcmp(how, "fork") || !strcmp(how, "leaves") || !strcmp(how, "execs")) wait(NULL);
    if (!strcmp(how, "stays") && fork() == 0) { inner(1); close(creat("began", 0600)); for (int i = 0; i < 1000 && access("go", F_OK); i++) usleep(10000); _exit(0); }
    if (!strcmp(how, "stays")) while (access("began", F_OK)) usleep(1000);
    if (!strcmp(how, "int")) { kill(getppid(), SIGINT); kill(getppid(), SIGTERM); pause(); }
    if (!strcmp(how, "main_ends")) pthread_exit(NULL);
    if (!strcmp(how, "words")) for (int i = 2; i < argc; i++) puts(argv[i]);
    return how[0] >= '0' && how[0] <= '9' ? atoi(how) : 0;
}
END
build_recorded app app.c
cc -O1 app.c -o plain -lpthread

has_calls() {
    local calls
    calls=$(calls_of "$1" leaf)
    [ "$calls" = "$2" ] || fail "$1 has $calls calls of leaf instead of $2"
}
fresh() {
    rm -rf app.tlp* app.xray* app.ctf* app.[0-9]* x.* out err
}

# The usual case: the program's output is unchanged, the report goes to standard error.
expect 0 "$tl" record ./app
[ "$(cat out)" = "sum 50500" ] || [ "$(wc -l <out)" -eq 1 ] || fail "something else is in the output"
says err "leaf"
says err "1,000"
says err "wrote app.tlp"
has_calls app.tlp 1000
if [ "$(uname -m)" = x86_64 ]; then # the processor's counter, if the kernel also knows that it never stops
    clock=monotonic_raw
    ! grep -qw nonstop_tsc /proc/cpuinfo || clock=tsc
    expect 0 "$tl" info app.tlp
    says out "clock     $clock, "
fi
only_files ./app ./app.c ./app.tlp ./plain
expect 0 "$tl" record ./app # another one
says err "wrote app-2.tlp"
has_calls app-2.tlp 1000
touch app-3.tlp.live # of a program that was killed, or still runs
expect 0 "$tl" record -m fdr,profile ./app
has_calls app-4.xray 1000
only_files ./app ./app-2.tlp ./app-3.tlp.live ./app-4.tlp ./app-4.xray ./app.c ./app.tlp ./plain
rm app-*
expect 0 "$tl" record -f ./app
has_calls app.tlp 1000
fresh
expect 0 "$tl" record -q ./app
is_empty err
expect 7 "$tl" record -q -f ./app 7
expect 0 "$tl" record -f -q -- ./app words -m --help "a b" "it's:\\" # all words after the command are its own
[ "$(tail -n +2 out)" = "$(printf '%s\n' -m --help 'a b' "it's:\\")" ] || fail "arguments arrived as $(cat out)"
says_not err TRACELOOM
expect 0 "$tl" record -v -f ./app
says err "TRACELOOM=strict=on:quiet=on:mode=profile:out=$PWD/app:start=on"

# Every mode; the suffix of -o chooses one.
fresh
for mode in fdr profile ctf; do
    expect 0 "$tl" record -m $mode ./app
done
has_calls app.xray 1000
has_calls app.ctf 1000
expect 0 "$tl" check app.xray app.ctf app.tlp
fresh
expect 0 "$tl" record -m fdr,profile -o x ./app
has_calls x.xray 1000
has_calls x.tlp 1000
for name in x.xray x.ctf; do
    fresh
    expect 0 "$tl" record -o $name ./app
    has_calls $name 1000
    says err "wrote $name"
done
fresh
expect 0 "$tl" record --ring 64M ./app # only fdr has it, so fdr is meant
has_calls app.xray 1000
fresh
mkdir "a:b %e" && expect 0 "$tl" record -o "a:b %e/c\\d.tlp" ./app
has_calls "a:b %e/c\\d.tlp" 1000
rm -r "a:b %e"

# Other suffixes are converted from a recording.
fresh
expect 0 "$tl" record -o x.folded ./app
says x.folded "main;inner;leaf"
only_files ./app ./app.c ./plain ./x.folded
expect 125 "$tl" record -o x.folded ./app
says err "x.folded: the file exists"
fresh
expect 0 "$tl" record -o x.jsonl ./app
[ "$(grep -c leaf x.jsonl)" -eq 2000 ] || fail "x.jsonl has $(grep -c leaf x.jsonl) events of leaf"
only_files ./app ./app.c ./plain ./x.jsonl

# Outputs that calls cannot give are refused before the program runs.
fresh
for name in x.lst x.bb x.xtrace x.champsim; do
    expect 125 "$tl" record -o $name ./app
    says err "$name: format "
    says err "cannot hold calls of functions"
    is_empty out
    only_files ./app ./app.c ./plain
done

# Which calls.
fresh
expect 0 "$tl" record -F 'lea*' -N inner ./app
has_calls app.tlp 1000
[ "$(calls_of app.tlp inner)" = 0 ] || fail "inner was recorded"
fresh
if [ -n "$clang" ]; then # a program without a list of its functions cannot know
    expect 125 "$tl" record -F 'no_such_*' ./app
    says err "no function matches the patterns"
    is_empty out
    only_files ./app ./app.c ./plain
fi
expect 0 "$tl" record -D 2 ./app
[ "$(calls_of app.tlp inner)" = 100 ] || fail "inner is on the second level"
[ "$(calls_of app.tlp leaf)" = 0 ] || fail "leaf is deeper than 2"
fresh
expect 0 "$tl" record -m fdr --threshold 10s ./app
[ "$(calls_of app.xray leaf)" = 0 ] || fail "leaf is shorter than 10 s"

# However it ends: the recording is there, under its final name.
for mode in profile fdr ctf; do
    name=$(echo "app.$mode" | sed 's/profile/tlp/;s/fdr/xray/')
    for how in kill:137 abort:134 _exit:3 main_ends:0; do
        fresh
        expect "${how#*:}" "$tl" record -m $mode ./app "${how%:*}"
        has_calls "$name" 1000
        [ ! -e "$name.live" ] || fail "$mode, $how: the live file was left"
        expect 0 "$tl" check "$name"
    done
done
fresh
expect 137 "$tl" record ./app kill
says err "the program was killed (Killed); what it had recorded is in app.tlp"
fresh
expect 0 "$tl" record ./app fork
says err "1 more by other processes: app.1.tlp"
for name in app.tlp app.1.tlp; do # small, and as private as the recorder made them
    expect 0 "$tl" info "$name"
    says out "format    tlp 1"
    [ "$(stat -c %a "$name")" = 600 ] || fail "$name has mode $(stat -c %a "$name")"
done
has_calls app.tlp 1000
has_calls app.1.tlp 10 # a child starts its own
for mode in profile fdr ctf; do # a child that cannot finish its recording, one that has nothing in it, one that goes on
    name=$(echo "app.1.$mode" | sed 's/profile/tlp/;s/fdr/xray/')
    fresh
    expect 0 "$tl" record -m $mode ./app leaves
    says err "1 more by other processes: $name"
    has_calls "$name" 10
    [ ! -e "$name.live" ] || fail "$mode: the live file of a child was left"
    [ "$mode" = ctf ] || [ "$(stat -c %a "$name")" = 600 ] || fail "$name has mode $(stat -c %a "$name")"
    fresh
    expect 0 "$tl" record -m $mode ./app execs
    [ "$mode" = ctf ] || ! ls app.1.* || fail "$mode: a recording without calls was kept"
    [ ! -e "$name.live" ] || fail "$mode: the live file of a child that started another program was left"
    fresh
    expect 0 "$tl" record -m $mode ./app stays
    says err "1 more by other processes: $name.live"
    [ -e "$name.live" ] && [ ! -e "$name" ] || fail "$mode: the child still records to $name.live"
    touch go
    sleep 0.2
    rm go began
done
fresh
expect 7 "$tl" record ./app again
has_calls app.tlp 1000
has_calls app.1.tlp 1000
fresh
expect 143 "$tl" record ./app int # SIGINT is left to the program, SIGTERM is passed on
has_calls app.tlp 1000

# Programs that cannot be recorded.
fresh
expect 125 "$tl" record --how linked ./plain
says err "./plain: has no recorder in it; build it with one of these"
says err "pkg-config --cflags --libs traceloom-rt-xray"
says err "traceloom-rt-functions"
is_empty out
expect 125 "$tl" record --any ./plain
says out "sum "
says err "nothing was recorded"
expect 3 "$tl" record --any ./plain 3
expect 0 "$tl" record --any sh -c './app' # started by a shell
has_calls sh.tlp 1000
rm sh.tlp
printf '#!/bin/sh\nexec ./app "$@"\n' >script && chmod +x script
expect 5 "$tl" record --how linked ./script 5
has_calls script.tlp 1000
rm script script.tlp
printf 'exit 6\n' >script && chmod +x script
expect 6 "$tl" record ./script
says err "nothing was recorded"
rm script
if [ -n "$clang" ]; then
    $clang -fxray-instrument -fxray-instruction-threshold=1 app.c -o llvm -lpthread 2>/dev/null &&
        expect 125 "$tl" record --how linked ./llvm && says err "the compiler's runtime" && rm llvm
fi
gcc -finstrument-functions app.c -o hooks -lpthread
expect 125 "$tl" record --how linked ./hooks
says err "calls the hooks of -finstrument-functions"
rm hooks
expect 127 "$tl" record ./nothing
expect 127 "$tl" record nothing-of-this-name
expect 127 "$tl" record app
says err "did you mean ./app?"
expect 126 "$tl" record ./app.c
expect 126 "$tl" record .
expect 125 "$tl" record
expect 125 "$tl" record --frobnicate ./app
expect 125 "$tl" record -o - ./app
expect 125 "$tl" record -o x.unknown ./app
says err "the suffix names no format"
expect 125 "$tl" record -m profile --ring 64M ./app
expect 125 "$tl" record -m fdr --ring 64Q ./app
says err "ring=64Q: expected a size"
expect 125 "$tl" record -o no/such/folder/x.tlp ./app
says err "no/such/folder/: no recording can be written there: No such file"
is_empty out
expect 0 "$tl" record --start off ./app
says err "is not recorded yet: traceloom ctl"
says err "nothing was recorded"
only_files ./app ./app.c ./plain

# An existing variable is extended; it is enough without `record`.
TRACELOOM=control=off:depth=2 expect 0 "$tl" record ./app
[ "$(calls_of app.tlp leaf)" = 0 ] || fail "depth=2 was lost"
fresh
TRACELOOM='' expect 0 ./app # empty means not set
is_empty err
[ -z "$(find . -name '*.tlp*')" ] || fail "an empty TRACELOOM records"
TRACELOOM=mode=fdr:out=x expect 0 ./app
has_calls x.xray 1000
fresh
expect 0 ./app
only_files ./app ./app.c ./plain
exit $failed
