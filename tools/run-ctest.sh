#!/usr/bin/env bash
# Runs ctest in a build folder and repeats its verdict as the last line: run-ctest.sh FOLDER [ctest options]
set -uo pipefail
folder=$1
shift
log=$folder/ctest.log
rm -f "$log"
ctest --test-dir "$folder" --output-on-failure "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
skipped=$(grep -c '\*\*\*Skipped' "$log")
if [ "$skipped" -gt 0 ]; then
    echo "$skipped tests were skipped. Reasons given:"
    grep -h '^skipped: ' "$folder/Testing/Temporary/LastTest.log" | sort | uniq -c
fi
if ! grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" | tail -n 1 | grep .; then
    echo "ctest in $folder ran no tests"
    status=1
fi
exit "$status"
