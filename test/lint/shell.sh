#!/usr/bin/env bash
# Checks all shell scripts with shellcheck, also those without a suffix, as in Debian's tests.
set -euo pipefail
command -v shellcheck >/dev/null || {
    echo "skipped: shellcheck is not installed"
    exit 77
}
cd "$TL_SOURCE"
mapfile -d '' scripts < <(find . \( -path './build*' -o -path ./.git \) -prune -o -type f -size -100k -print0 |
    xargs -0 grep -lZE '^#!(/usr)?/bin/(env )?(ba|da)?sh$' --)
[ ${#scripts[@]} -gt 40 ] || {
    echo "FAILED: only ${#scripts[@]} scripts were found"
    exit 1
}
shellcheck -S warning "${scripts[@]}"
echo "${#scripts[@]} scripts"
