#!/usr/bin/env bash
# On a terminal `info` and `report` fit one screen of 24 lines, however large the trace.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

cat >many.py <<'END'
import struct
with open("many.xray", "wb") as file:
    file.write(struct.pack("<HHIQ16x", 3, 0, 3, 1000000000))
    for tid in range(3000):
        for kind in (0, 1):
            file.write(struct.pack("<HBBiQII8x", 0, 0, kind, 1 + tid, 1000 + 10 * tid + kind, 1 + tid, 7))
END
cat >screen.py <<'END'
import os, pty, sys
with open("screen", "wb") as file:
    def read(fd):
        data = os.read(fd, 65536)
        file.write(data)
        return data
    status = pty.spawn(sys.argv[1:], read)
sys.exit(os.waitstatus_to_exitcode(status))
END
python3 many.py

on_terminal() { # most lines, command...
    local most=$1 lines
    shift
    COLUMNS=80 TERM=dumb python3 screen.py "$@" >/dev/null </dev/null || fail "exit status $?: $*"
    lines=$(tr -d '\r' <screen | wc -l)
    [ "$lines" -le "$most" ] || fail "$lines lines on a terminal: $*"
}
on_terminal 23 "$tl" info -q many.xray
says screen "2,992 more threads; --json lists all"
on_terminal 23 "$tl" info -q "$trace"
says_not screen "more threads"
on_terminal 23 "$tl" report -q many.xray
says screen "2,981 more functions; --top 0 shows all"
on_terminal 23 "$tl" report -q --by tree many.xray
expect 0 "$tl" info many.xray
[ "$(grep -c 'thread [0-9]' out)" -eq 3000 ] || fail "a file gets all threads"
# Help fits a narrow window.
for width in 40 60 79; do
    for verb in "" info check report convert record ctl help; do
        # shellcheck disable=SC2086
        COLUMNS=$width TERM=dumb python3 screen.py "$tl" $verb --help >/dev/null </dev/null || fail "exit status $?: $verb --help"
        tr -d '\r' <screen >narrow
        [ "$width" -eq 40 ] || ! grep -qE "^.{$((width + 1))}" narrow || fail "$verb --help is wider than $width columns: $(grep -E "^.{$((width + 1))}" narrow | head -1)"
        "$tl" $verb --help | tr -s ' \n' '\n' | sort >words
        tr -s ' \n' '\n' <narrow | sort | cmp - words || fail "$verb --help has other words at $width columns"
    done
done
exit $failed
