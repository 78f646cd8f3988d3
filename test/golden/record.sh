#!/usr/bin/env bash
# Makes the golden inputs with our generator and records the command's output: record.sh BINARY [NAME...]
# Read `git diff test/golden` before committing: the tests will demand what is recorded.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:?usage: record.sh BINARY [NAME...]}")
shift
generate() {
    python3 -B "$here/../generate/xray_gen.py" "$@"
}
for name in basic-v3-le fdr-v1-be fdr-v3-le fdr-v5-le fdr-v5-le-plain fdr-v5-le-no-clock fdr-v5-le-messy profile-le \
    damaged-fdr-v5-le-unknown-kind damaged-basic-cut damaged-profile-negative; do
    generate --one "$name" "$here/input/$name.xray"
done
generate --elf "$here/input/program.elf"
for name in rec-live-ring rec-done damaged-rec-note-overlap; do
    python3 -B "$here/../generate/recording_gen.py" --one "$name" "$here/input/$name.xray"
done
for name in live-done live-killed live-adding damaged-live-cut; do
    python3 -B "$here/../generate/live_gen.py" --one "$name" "$here/input/$name.tlp.live"
done
while read -r name case; do
    rm -rf "${here:?}/input/$name"
    python3 -B "$here/../generate/ctf_gen.py" --one "$case" "$here/input/$name"
done <<'CTF'
ctf-18 ctf18-small-counters
ctf-18-damaged damaged-ctf18-unknown-event
ctf-2 ctf2-slow-clock
ctf-2-damaged damaged-ctf2-cut-in-events
ctf-2010 ctf2010-natural2-be
ctf-2010-damaged damaged-ctf2010-checksum
ctf-folders ctf2-folders
CTF
while read -r name case; do
    python3 -B "$here/../generate/tracelog_gen.py" --one "$case" "$here/input/$name.log"
done <<'TRACELOG'
tracelog-doc doc-small
tracelog-vs vs-small
tracelog-old old-small
tracelog-saved saved-small
tracelog-calls calls-small
tracelog-records records
tracelog-damaged damaged-not-utf8
tracelog-cut damaged-cut-line
tracelog-lost damaged-lost-samples
TRACELOG
while read -r name case; do
    rm -rf "${here:?}/input/$name"
    python3 -B "$here/../generate/xtrace_gen.py" --one "$case" "$here/input/$name"
done <<'XTRACE'
xtrace-user user
xtrace-cores timed-kernel
xtrace-damaged-load damaged-load-0
xtrace-damaged-cut damaged-cut-in-1
xtrace-damaged-snapshots damaged-shot-offset-2
XTRACE
python3 -B "$here/../generate/xtrace_gen.py" --elf user "$here/input/xtrace-user.elf"
python3 -B "$here/../generate/xtrace_gen.py" --elf timed-kernel "$here/input/xtrace-cores.elf"
TL_BINARY=$binary python3 -B "$here/golden.py" --record "$@"
