#!/usr/bin/env bash
# Records an AArch64 program with `record --insn`, and compares with the program's numbers, QEMU and objdump: xtrace.sh BINARY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:?usage: xtrace.sh BINARY}")
skip() {
    echo "skipped: $1"
    exit 77
}
# qemu-user-static has the same command under another name, without plugins.
command -v qemu-aarch64 >/dev/null || skip "qemu-user is not installed"
command -v aarch64-linux-gnu-gcc >/dev/null || skip "gcc-aarch64-linux-gnu is not installed"
command -v aarch64-linux-gnu-objdump >/dev/null || skip "binutils-aarch64-linux-gnu is not installed"
qemu-aarch64 -help | grep -q -e '-plugin' || skip "this qemu-aarch64 has no plugins"

mkdir -p "${TL_WORK:=/tmp}"
work=$(mktemp -d "$TL_WORK/xtrace.XXXXXX")
trap 'rm -rf "$work"' EXIT
build=(aarch64-linux-gnu-gcc -O2 -Wall -Wextra -static -mno-outline-atomics -fno-optimize-sibling-calls -fno-inline-functions)
"${build[@]}" "$here/xtrace_app.c" -o "$work/app" -pthread >"$work/messages" 2>&1 || {
    cat "$work/messages"
    grep -q 'cannot find -lc\|No such file' "$work/messages" && skip "libc6-dev-arm64-cross is not installed"
    exit 1
}
emulate=(timeout 120 qemu-aarch64 -cpu neoverse-n1)
record() { # NAME OPTIONS ARGUMENT...
    local name=$1 options=$2 status=0
    shift 2
    # shellcheck disable=SC2086 # several words
    timeout 120 "$binary" record --insn --plain $options -o "$work/$name.xtrace" "$work/app" "$@" >"$work/$name.txt" 2>"$work/messages" || status=$?
    if grep -q 'this QEMU\|did not load' "$work/messages"; then
        skip "$(cat "$work/messages")"
    fi
    if [ "$status" -ne 0 ]; then
        cat "$work/messages"
        echo "FAILED: recording ends with status $status"
        exit 1
    fi
    mv "$work/$name.xtrace" "$work/$name"
}
record whole "--snapshots 10k" 500 12 1
record part "--hint --snapshots 20k" 300 8 1
record threads "--hint --order --snapshots 50k" 300 8 1 2
"${emulate[@]}" -strace "$work/app" 500 12 1 2>"$work/strace.txt" >/dev/null
aarch64-linux-gnu-objdump -d "$work/app" >"$work/objdump.txt"
python3 -B "$here/xtrace_check.py" "$binary" "$work"
