#!/usr/bin/env bash
# Builds the benchmark's program with XRay and records logs of about 100 MB and 1 GB: record.sh FOLDER
# Logs that are there already are kept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: record.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
clang=$(command -v clang-19 || command -v clang) || {
    echo "record.sh: clang is missing; it records XRay logs (apt-get install clang-19)" >&2
    exit 1
}
"$clang" -O2 -fxray-instrument -fxray-instruction-threshold=1 -pthread "$here/programs/busy.c" -o "$folder/busy"

# record NAME THREADS ROUNDS BUFFERS BUFFER_SIZE
record() {
    local log=$folder/$1.xray
    [ -s "$log" ] && return
    rm -f "$folder/recording."*
    XRAY_OPTIONS="xray_logfile_base=$folder/recording." "$folder/busy" "$2" "$3" "$4" "$5" 2>"$folder/$1.messages"
    mv "$folder/recording."* "$log"
    echo "recorded $log, $(stat -c %s "$log") bytes"
}
# Buffers of 16 KiB are what the runtime has by default.
record 100m 4 16000 12000 16384
record 1g 4 165000 100000 16384
# One thread in a few large buffers: the kind of log that llvm-xray can account for.
record single 1 64000 20 8388608
