#!/usr/bin/env bash
# Records programs with LTTng-UST, and compares: lttng.sh BINARY
# The events read must be exactly those of the programs, and our text in babeltrace's style exactly that of babeltrace2.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:?usage: lttng.sh BINARY}")
skip() {
    echo "skipped: $1"
    exit 77
}
echo '#include <lttng/tracepoint.h>' | cc -E - >/dev/null 2>&1 || skip "liblttng-ust-dev is not installed"
profiler=$(cc -print-file-name=liblttng-ust-cyg-profile.so)
[ -e "$profiler" ] || profiler=$(ldconfig -p | sed -n 's/.*=> \(.*liblttng-ust-cyg-profile\.so.*\)/\1/p' | head -n 1)
rounds=500

# Inside the name spaces of with-lttng.sh.
session() { # NAME CHANNEL_OPTION... -- EVENT...
    local name=$1
    shift
    lttng --no-sessiond create "$name" --output "$work/$name" >/dev/null
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    lttng --no-sessiond enable-channel --userspace --session "$name" --blocking-timeout=inf "${options[@]}" channel >/dev/null
    local event
    for event in "$@"; do
        lttng --no-sessiond enable-event --userspace --session "$name" --channel channel "$event" >/dev/null
    done
}
if [ "${2:-}" = --inside ]; then
    work=$3
    export LTTNG_UST_ALLOW_BLOCKING=1
    session plain --buffers-uid --subbuf-size 16K -- 'shop:*'
    lttng --no-sessiond add-context --userspace --session plain --type vpid --type vtid --type procname >/dev/null
    lttng --no-sessiond start plain >/dev/null
    "$work/app" "$rounds" >"$work/plain.pid"
    lttng --no-sessiond destroy plain >/dev/null
    # Streams in several files, the first ones overwritten.
    session limited --buffers-uid --subbuf-size 4K --tracefile-size 8K --tracefile-count 3 -- 'shop:*'
    lttng --no-sessiond start limited >/dev/null
    taskset -c 0 "$work/app" "$rounds" >/dev/null
    lttng --no-sessiond destroy limited >/dev/null
    if [ -n "$profiler" ] && [ -e "$profiler" ]; then
        session calls --buffers-pid -- 'lttng_ust_cyg_profile*' 'lttng_ust_statedump*'
        lttng --no-sessiond start calls >/dev/null
        # Nothing in the events names the thread: calls are matched by processor, and it must stay on one.
        taskset -c 0 env LD_PRELOAD="$profiler" "$work/app-calls" "$rounds" >"$work/calls.pid"
        lttng --no-sessiond destroy calls >/dev/null
        # Two processes share buffers: only contexts tell which of them made a call.
        session shared --buffers-uid -- 'lttng_ust_cyg_profile*' 'lttng_ust_statedump*'
        lttng --no-sessiond add-context --userspace --session shared --type vpid --type vtid >/dev/null
        lttng --no-sessiond start shared >/dev/null
        LD_PRELOAD=$profiler "$work/app-calls" "$rounds" >"$work/shared.pid" &
        LD_PRELOAD=$profiler "$work/app-calls" "$rounds" >"$work/shared2.pid"
        wait
        lttng --no-sessiond destroy shared >/dev/null
    fi
    exit 0
fi

mkdir -p "${TL_WORK:=/tmp}"
work=$(mktemp -d "$TL_WORK/lttng.XXXXXX")
trap 'rm -rf "$work"' EXIT
flags=(-D_GNU_SOURCE -g -O1 -I "$here" "$here/lttng_app.c" -llttng-ust -ldl)
cc "${flags[@]}" -o "$work/app"
cc -finstrument-functions "${flags[@]}" -o "$work/app-calls"
status=0
"$here/../../tools/with-lttng.sh" "$work/daemon" "$here/lttng.sh" "$binary" --inside "$work" 2>"$work/messages" || status=$?
if [ "$status" -ne 0 ]; then
    cat "$work/messages" >&2
    [ "$status" -eq 77 ] && skip "$(tail -n 1 "$work/messages")"
    exit 1
fi
python3 -B "$here/lttng_check.py" "$binary" "$work" "$rounds"
