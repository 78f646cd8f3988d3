#!/usr/bin/env bash
# Runs a command that can record with LTTng: with-lttng.sh FOLDER COMMAND [ARGUMENT...]
# A session daemon (user space only) of its own is started for it, with its log in FOLDER, and every process that is left
# of it is ended. Exit status 77, and the reason on standard error: not possible here.
set -euo pipefail
not_here() {
    echo "with-lttng.sh: $1" >&2
    exit 77
}
inside=
if [ "${1:-}" = --inside ]; then
    inside=yes
    shift
fi
[ $# -ge 2 ] || {
    echo "usage: with-lttng.sh FOLDER COMMAND [ARGUMENT...]" >&2
    exit 2
}
for tool in lttng lttng-sessiond unshare; do
    command -v $tool >/dev/null || not_here "$tool is not installed (apt-get install lttng-tools)"
done
if [ "$(id -u)" -eq 0 ] && [ -z "$inside" ]; then
    # Root's daemon has fixed places in /run and /dev/shm, which may belong to another one: own name spaces. And when the
    # first process of a process name space ends, the kernel ends all others.
    own=(unshare --mount --pid --fork --kill-child --mount-proc)
    "${own[@]}" true 2>/dev/null || not_here "the system does not allow own name spaces (unshare)"
    exec "${own[@]}" "$0" --inside "$@"
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
# The paths of sockets must be short.
LTTNG_HOME=$(mktemp -d)
export LTTNG_HOME LTTNG_UST_REGISTER_TIMEOUT=10000 LTTNG_UST_ALLOW_BLOCKING=1
if [ -n "$inside" ]; then
    mount -t tmpfs none /run && mount -t tmpfs none /dev/shm && mkdir -p /run/lttng || not_here "cannot mount a tmpfs"
fi
lttng-sessiond --no-kernel >"$folder/sessiond.log" 2>&1 &
daemon=$!
stop() {
    lttng --no-sessiond destroy --all >/dev/null 2>&1 || true
    kill "$daemon" 2>/dev/null && wait "$daemon" || true
    rm -rf "$LTTNG_HOME"
}
trap stop EXIT
ready=
for _ in {1..100}; do
    if lttng --no-sessiond list >/dev/null 2>&1; then
        ready=yes
        break
    fi
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.1
done
[ -n "$ready" ] || {
    tail -n 5 "$folder/sessiond.log" >&2
    not_here "lttng-sessiond does not start"
}
"$@"
