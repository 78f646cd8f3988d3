#!/usr/bin/env bash
# The demonstration: makes a sample trace of a small server and shows what traceloom says of it.
set -euo pipefail
cd "$(dirname "$0")/.."
traceloom=build/traceloom
mkdir -p demo
python3 -B test/generate/xray_gen.py --bulk 400000 demo/sample.xray --elf demo/sample.elf >/dev/null

say() {
    printf '\n$ %s\n' "${*/#$traceloom/traceloom}"
    "$@"
}
say $traceloom info demo/sample.xray -e demo/sample.elf
say $traceloom report demo/sample.xray -e demo/sample.elf --top 10
say $traceloom report demo/sample.xray -e demo/sample.elf -f -o demo/sample.pb.gz
say $traceloom report demo/sample.xray -e demo/sample.elf -f -o demo/sample.svg
cat <<'TEXT'

demo/sample.svg     a flame graph: open it in a browser
demo/sample.pb.gz   a profile: go tool pprof -http=: demo/sample.pb.gz
TEXT
