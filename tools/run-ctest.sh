#!/usr/bin/env bash
# Runs ctest in a build folder and repeats its verdict as the last line: run-ctest.sh FOLDER [ctest options]
set -uo pipefail
folder=$1
shift
log=$folder/ctest.log
ctest --test-dir "$folder" --output-on-failure "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
skipped=$(grep -c '\*\*\*Skipped' "$log")
[ "$skipped" -gt 0 ] && echo "skipped: $skipped (the reasons stand above)"
if ! grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" | tail -n 1 | grep .; then
    echo "ctest in $folder ran no tests"
    status=1
fi
exit "$status"
