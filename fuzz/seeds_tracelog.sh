#!/usr/bin/env bash
# Makes the seeds of fuzz_tracelog: small logs of every dialect from our generator, good and damaged ones.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$here/corpus/tracelog"
mkdir -p "$here/corpus/tracelog"
python3 -B "$here/../test/generate/tracelog_gen.py" --list | while read -r name; do
    python3 -B "$here/../test/generate/tracelog_gen.py" --one "$name" "$here/corpus/tracelog/$name"
done
# Large ones teach the fuzzer nothing that small ones do not.
find "$here/corpus/tracelog" -type f -size +16k -delete
