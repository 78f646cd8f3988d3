#!/usr/bin/env bash
# Records the present binary interface of the libraries, for abi.types to compare with: record.sh [BUILD_FOLDER]
# Read the difference first (docs/abi.md says what may change), and commit the record with its change.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build-dev}
cmake --build "$build" --target libtraceloom-shared traceloom-rt-shared abi_types
python3 -B test/abi/abi_diff.py --record "$build"/libtraceloom.so.?.?.? "$build"/libtraceloom-rt.so.?.?.? "$build"/test/libabi_types.so
git diff --stat -- test/abi/recorded
