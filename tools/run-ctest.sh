#!/usr/bin/env bash
# Runs ctest in a build folder, lists skipped tests with reasons, and repeats ctest's verdict as the last line:
#   run-ctest.sh FOLDER [ctest options]
# TL_MAY_SKIP names a list of the tests that may be skipped; any other skipped test is a failure: see ctest_summary.py.
set -uo pipefail
folder=$1
shift
log=$folder/ctest.log
results=$folder/ctest.xml
rm -f "$log" "$results"
ctest --test-dir "$folder" --output-on-failure --output-junit ctest.xml --test-output-size-passed 65536 "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ -f "$results" ]; then
    "$(dirname "$0")/ctest_summary.py" "$results" --labels ${TL_MAY_SKIP:+--may-skip "$TL_MAY_SKIP"} | tee -a "$log"
    [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
fi
if ! grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" | tail -n 1 | grep .; then
    echo "ctest in $folder ran no tests"
    status=1
fi
exit "$status"
