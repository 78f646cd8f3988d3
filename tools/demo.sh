#!/usr/bin/env bash
# The demonstration: makes the files of the README's examples, and shows what traceloom says about one: demo.sh [FOLDER]
set -euo pipefail
traceloom=${TL_TRACELOOM:-$(cd "$(dirname "$0")/.." && pwd)/build/traceloom}
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$source/demo}
mkdir -p "$folder"
cd "$folder"
python3 -B "$source/test/docs/demo_files.py" .

say() {
    printf '\n$ traceloom %s\n' "$*"
    "$traceloom" "$@"
}
say info app.xray
say report app.xray -e app --top 10
say report app.xray -e app -f -o sample.pb.gz
say report app.xray -e app -f -o sample.svg
cat <<'TEXT'

demo/ has the files of the README's examples: cd demo, and copy the commands.
demo/sample.svg     a flame graph: open it in a browser
demo/sample.pb.gz   a profile: go tool pprof -http=: demo/sample.pb.gz
TEXT
