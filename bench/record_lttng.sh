#!/usr/bin/env bash
# Records the benchmark's program with LTTng-UST: record_lttng.sh FOLDER [EVENTS_OF_EACH_THREAD]
# FOLDER/ctf18 is the trace as LTTng wrote it (CTF 1.8), FOLDER/ctf2 the same streams with metadata of CTF 2,
# FOLDER/fired how many events of each class the program says it fired. What is there already is kept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: record_lttng.sh FOLDER [EVENTS_OF_EACH_THREAD]}
events=${2:-6000000}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# Inside the name spaces of with-lttng.sh: no event is lost, for the program waits for free buffers.
record() {
    local channel=(--userspace --session mix --buffers-uid --subbuf-size 1M --num-subbuf 8 --blocking-timeout=inf)
    lttng --no-sessiond create mix --output "$folder/session" >/dev/null
    lttng --no-sessiond enable-channel "${channel[@]}" ch0 >/dev/null
    lttng --no-sessiond enable-event --userspace --session mix --channel ch0 'mix:*' >/dev/null
    lttng --no-sessiond start mix >/dev/null
    "$folder/mix" "$events" >"$folder/fired.new"
    lttng --no-sessiond destroy mix >/dev/null
}
if [ "${3:-}" = --inside ]; then
    record
    exit
fi
if [ ! -s "$folder/fired" ]; then
    echo '#include <lttng/tracepoint.h>' | cc -E - >/dev/null 2>&1 || {
        echo "record_lttng.sh: liblttng-ust-dev is not installed" >&2
        exit 77
    }
    rm -rf "$folder/session" "$folder/ctf18" "$folder/ctf2"
    cc -O2 -D_GNU_SOURCE -I "$here/programs" "$here/programs/mix.c" -o "$folder/mix" -llttng-ust -ldl -pthread
    "$here/../tools/with-lttng.sh" "$folder/lttng" "$here/record_lttng.sh" "$folder" "$events" --inside
    streams=$(dirname "$(find "$folder/session" -name metadata)")
    mkdir "$folder/ctf2"
    rm -rf "$folder/lttng"
    mv "$streams" "$folder/ctf18"
    rm -rf "$folder/session"
    for stream in "$folder"/ctf18/ch0_*; do
        ln "$stream" "$folder/ctf2/"
    done
    python3 -B "$here/mix_metadata.py" "$folder/ctf18/metadata" >"$folder/ctf2/metadata"
    mv "$folder/fired.new" "$folder/fired"
    echo "recorded $folder/ctf18, $(cat "$folder"/ctf18/ch0_* | wc -c) bytes in $(find "$folder/ctf18" -maxdepth 1 -name 'ch0_*' | wc -l) streams"
fi
