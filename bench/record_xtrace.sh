#!/usr/bin/env bash
# Records programs of AArch64 with QEMU and the plugin of the tests: record_xtrace.sh FOLDER NAME OPTIONS ARGUMENT...
# FOLDER/NAME has the streams then, FOLDER/NAME.txt the program's output, FOLDER/app is the program. Status 77: cannot.
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
plugin=$folder/xtrace_plugin.so
if [ ! "$plugin" -nt "$consumers/xtrace_plugin.c" ]; then
    cc -O2 -fPIC -shared -fvisibility=hidden "$consumers/xtrace_plugin.c" -o "$plugin"
fi
if [ ! "$folder/app" -nt "$consumers/xtrace_app.c" ]; then
    aarch64-linux-gnu-gcc -O2 -static -mno-outline-atomics -fno-optimize-sibling-calls -fno-inline-functions \
        "$consumers/xtrace_app.c" -o "$folder/app" -pthread || exit 77
fi
# What is there was recorded with these arguments, and completely.
if [ "$folder/$name.txt" -nt "$folder/app" ] && [ "$folder/$name.txt" -nt "$plugin" ]; then
    exit 0
fi
rm -rf "${folder:?}/$name"
mkdir "$folder/$name"
qemu-aarch64 -cpu neoverse-n1 -singlestep -plugin "$plugin,out=$folder/$name$options" "$folder/app" "$@" >"$folder/$name.new"
mv "$folder/$name.new" "$folder/$name.txt"
