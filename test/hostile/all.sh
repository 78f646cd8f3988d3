#!/usr/bin/env bash
# Everything in hostile.py, with a driver with sanitizers and a plain one: all.sh DRIVER PLAIN_DRIVER [CHANGES]
# Runs every group, whatever fails; failed traces are in the folder `work` beside each driver.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
driver=${1:?usage: all.sh DRIVER PLAIN_DRIVER [CHANGES]}
plain=${2:?usage: all.sh DRIVER PLAIN_DRIVER [CHANGES]}
part=${3:+--changes $3}
status=0
for group in xray recording ctf tracelog xtrace profile; do
    echo "== $group, with sanitizers"
    # shellcheck disable=SC2086 # two words, or none
    TL_WORK=$(dirname "$driver")/work python3 "$here/hostile.py" "$driver" "$group" --everything $part || status=1
    echo "== $group, memory"
    # shellcheck disable=SC2086
    TL_WORK=$(dirname "$plain")/work python3 "$here/hostile.py" "$plain" "$group" --everything --memory $part || status=1
done
exit $status
