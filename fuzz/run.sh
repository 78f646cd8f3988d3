#!/usr/bin/env bash
# Runs every fuzz target for some time: run.sh BUILD_FOLDER [SECONDS_EACH]
# New inputs go to BUILD_FOLDER/fuzz-<target>, never into the seeds. Ends at the first finding.
set -euo pipefail
build=${1:?usage: run.sh BUILD_FOLDER [SECONDS_EACH]}
seconds=${2:-600}
here=$(cd "$(dirname "$0")" && pwd)
# Freed memory kept by the sanitizer must not count against the limit on memory.
export ASAN_OPTIONS=quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}
shopt -s nullglob
count=0
for target in "$build"/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    name=${name#fuzz_}
    found=$build/fuzz-$name
    mkdir -p "$found" "$here/corpus/$name"
    dictionary=()
    [ -f "$here/$name.dict" ] && dictionary=("-dict=$here/$name.dict")
    bytes=$(sed -n "s/^$name //p" "$here/sizes.txt")
    echo "== $name, $seconds s"
    # The limits are part of the promise: no file may cost more memory or time than this.
    "$target" -max_total_time="$seconds" -rss_limit_mb=256 -timeout=10 -max_len="${bytes:-16384}" -print_final_stats=1 \
        -artifact_prefix="$build/finding-$name-" "${dictionary[@]}" "$found" "$here/corpus/$name"
    count=$((count + 1))
done
[ "$count" -gt 0 ] || {
    echo "run.sh: no fuzz targets in $build/fuzz" >&2
    exit 1
}
echo "$count targets, no findings"
