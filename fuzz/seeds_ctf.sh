#!/usr/bin/env bash
# Makes the seeds of fuzz_ctf: small traces of every kind from our generator, each packed into one file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
generate() {
    python3 -B "$here/../test/generate/ctf_gen.py" "$@"
}
rm -rf "$here/corpus/ctf"
mapfile -t names < <(generate --list)
generate --pack "$here/corpus/ctf" "${names[@]}"
# Large ones teach the fuzzer nothing that small ones do not.
find "$here/corpus/ctf" -type f -size +11k -delete
