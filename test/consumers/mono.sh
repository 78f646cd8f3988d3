#!/usr/bin/env bash
# Records a .NET program on Mono, and compares the recording with the program's own numbers: mono.sh BINARY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:?usage: mono.sh BINARY}")
skip() {
    echo "skipped: $1"
    exit 77
}
command -v mono >/dev/null || skip "mono-runtime is not installed"
command -v mcs >/dev/null || skip "mono-mcs is not installed"
pkg-config --exists mono-2 || skip "libmono-2.0-dev is not installed"

mkdir -p "${TL_WORK:=/tmp}"
work=$(mktemp -d "$TL_WORK/mono.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Only the compiler's flags: the profiler is loaded into the runtime, so it needs no library.
read -ra flags <<<"$(pkg-config --cflags mono-2)"
cc -O2 -Wall -Wextra -fPIC -shared "${flags[@]}" "$here"/mono_*.c -o "$work/libmono-profiler-tracelog.so"
mcs -debug -out:"$work/app.exe" "$here/mono_app.cs" >"$work/messages" 2>&1 || {
    cat "$work/messages"
    exit 1
}
# Signals stop threads, and collections never run in parallel to the program: the profiler relies on both.
record() { # NAME OPTIONS
    local status=0
    MONO_THREADS_SUSPEND=preemptive MONO_GC_PARAMS=major=marksweep LD_LIBRARY_PATH=$work \
        timeout 120 mono --debug --profile=tracelog:"$2$work/$1.log" "$work/app.exe" >"$work/$1.txt" 2>"$work/messages" || status=$?
    if [ "$status" -ne 0 ] || [ ! -s "$work/$1.log" ]; then
        cat "$work/messages"
        echo "FAILED: recording ends with status $status"
        exit 1
    fi
}
record app ""
record lines lines: # call points are source lines
python3 -B "$here/mono_check.py" "$binary" "$work/app.log" "$work/app.txt" "$work/lines.log" "$work/lines.txt" "$here/mono_app.cs"
