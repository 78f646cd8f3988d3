#!/usr/bin/env bash
# Records a program of AArch64 with `record --insn`: record_xtrace.sh FOLDER NAME OPTIONS ARGUMENT...
# FOLDER/NAME has the streams then, FOLDER/NAME.txt the program's output, FOLDER/app is the program. TRACELOOM_COMMAND is
# the command, if it is not build/traceloom. Status 77: cannot.
set -euo pipefail
consumers=$(cd "$(dirname "$0")/../test/consumers" && pwd)
folder=${1:?usage: record_xtrace.sh FOLDER NAME OPTIONS ARGUMENT...} name=$2 options=$3
shift 3
mkdir -p "$folder"
for needed in qemu-aarch64 aarch64-linux-gnu-gcc; do
    command -v $needed >/dev/null || {
        echo "record_xtrace.sh: $needed is missing" >&2
        exit 77
    }
done
qemu-aarch64 -help | grep -q -e '-plugin' || {
    echo "record_xtrace.sh: this qemu-aarch64 has no plugins" >&2
    exit 77
}
traceloom=${TRACELOOM_COMMAND:-$consumers/../../build/traceloom}
if [ ! "$folder/app" -nt "$consumers/xtrace_app.c" ]; then
    aarch64-linux-gnu-gcc -O2 -static -mno-outline-atomics -fno-optimize-sibling-calls -fno-inline-functions \
        "$consumers/xtrace_app.c" -o "$folder/app" -pthread || exit 77
fi
# What is there was recorded with these arguments, and completely.
if [ "$folder/$name.txt" -nt "$folder/app" ]; then
    exit 0
fi
rm -rf "${folder:?}/$name"
# shellcheck disable=SC2086 # several words
"$traceloom" record --insn --plain -q -f $options -o "$folder/$name.xtrace" "$folder/app" "$@" >"$folder/$name.new"
mv "$folder/$name.xtrace" "$folder/$name"
mv "$folder/$name.new" "$folder/$name.txt"
