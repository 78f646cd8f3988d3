#!/usr/bin/env bash
# Records a .NET program on Mono with `record`, and compares the recording with the program's own numbers: mono.sh BINARY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:?usage: mono.sh BINARY}")
skip() {
    echo "skipped: $1"
    exit 77
}
command -v mono >/dev/null || skip "mono-runtime is not installed"
command -v mcs >/dev/null || skip "mono-mcs is not installed"
[ -e "$(dirname "$binary")/libmono-profiler-traceloom.so" ] || skip "libmono-2.0-dev is not installed"

mkdir -p "${TL_WORK:=/tmp}"
work=$(mktemp -d "$TL_WORK/mono.XXXXXX")
trap 'rm -rf "$work"' EXIT
mcs -debug -out:"$work/app.exe" "$here/mono_app.cs" >"$work/messages" 2>&1 || {
    cat "$work/messages"
    exit 1
}
record() { # NAME OPTIONS
    local status=0 name=$1
    shift
    timeout 120 "$binary" record --period 1ms --alloc --heap "$@" -o "$work/$name.log" "$work/app.exe" >"$work/$name.txt" 2>"$work/messages" || status=$?
    if [ "$status" -ne 0 ] || [ ! -s "$work/$name.log" ]; then
        cat "$work/messages"
        echo "FAILED: recording ends with status $status"
        exit 1
    fi
}
record app
record lines --lines # call points are source lines
python3 -B "$here/mono_check.py" "$binary" "$work/app.log" "$work/app.txt" "$work/lines.log" "$work/lines.txt" "$here/mono_app.cs"
