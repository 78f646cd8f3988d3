#!/usr/bin/env bash
# Makes the golden inputs with our generator and records what the command prints: record.sh BINARY [NAME...]
# Read `git diff test/golden` before committing: what is recorded is what will be demanded.
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
TL_BINARY=$binary python3 -B "$here/golden.py" --record "$@"
