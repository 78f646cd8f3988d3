#!/usr/bin/env bash
# Runs a program with -finstrument-functions under LTTng-UST: rt_lttng.sh LIBRARY PROGRAM [ARGUMENT...]
# Called by rt.py inside of tools/with-lttng.sh. Buffers are overwritten, as in a flight recorder.
set -euo pipefail
library=$1
shift
lttng --no-sessiond create calls --output "$PWD/session" >/dev/null
lttng --no-sessiond enable-channel --userspace --session calls --overwrite --subbuf-size 1M --num-subbuf 8 ch0 >/dev/null
lttng --no-sessiond enable-event --userspace --session calls --channel ch0 'lttng_ust_cyg_profile*' >/dev/null
lttng --no-sessiond start calls >/dev/null
LD_PRELOAD=$library "$@"
lttng --no-sessiond destroy calls >/dev/null
