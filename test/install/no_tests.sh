#!/usr/bin/env bash
# Without cmocka or Python the presets' builds stop instead of registering fewer tests, and other builds warn: no_tests.sh C_COMPILER
set -euo pipefail
build=${TL_WORK:-/tmp}/no-tests

# expect STATUS MESSAGE SWITCHES...: configuring ends with this status and message
expect() {
    local wanted=$1 message=$2 status=0
    shift 2
    rm -rf "$build"
    mkdir -p "$build"
    cmake -S "$TL_SOURCE" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$compiler" -DTRACELOOM_EXAMPLES=OFF "$@" >"$build.log" 2>&1 || status=1
    if [ "$status" -ne "$wanted" ] || ! grep -q "$message" "$build.log"; then
        tail -n 20 "$build.log"
        echo "FAILED: cmake $*: expected status $wanted and '$message', found status $status"
        exit 1
    fi
}

compiler=$1
for all in ON:1 OFF:0; do
    expect "${all#*:}" "cmocka was not found" -DTRACELOOM_ALL_TESTS="${all%:*}" -DTL_CMOCKA=OFF
    expect "${all#*:}" "Python 3 was not found" -DTRACELOOM_ALL_TESTS="${all%:*}" -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON
done
rm -rf "$build"
