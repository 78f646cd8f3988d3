#!/usr/bin/env bash
# Records the benchmark's program with XRay: record.sh FOLDER NAME MODE THREADS ROUNDS BUFFERS BUFFER_SIZE
# MODE is xray-fdr or xray-basic. FOLDER/NAME.xray is the log, FOLDER/busy the program. A log that is there is kept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: record.sh FOLDER NAME MODE THREADS ROUNDS BUFFERS BUFFER_SIZE} name=$2 mode=$3
shift 3
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
clang=$(command -v clang-19 || command -v clang) || {
    echo "record.sh: clang is missing; it records XRay logs (apt-get install clang-19)" >&2
    exit 1
}
if [ ! "$folder/busy" -nt "$here/programs/busy.c" ]; then
    "$clang" -O2 -fxray-instrument -fxray-instruction-threshold=1 -pthread "$here/programs/busy.c" -o "$folder/busy"
fi
log=$folder/$name.xray
[ -s "$log" ] && exit
rm -f "$folder/recording."*
XRAY_OPTIONS="xray_logfile_base=$folder/recording." "$folder/busy" "$mode" "$@" 2>"$folder/$name.messages"
mv "$folder/recording."* "$log"
echo "recorded $log, $(stat -c %s "$log") bytes"
