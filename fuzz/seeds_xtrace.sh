#!/usr/bin/env bash
# Makes the seeds of fuzz_xtrace, fuzz_xsnapshot, fuzz_xtrace_set and fuzz_a64 from our generator: seeds_xtrace.sh [BINARY]
# With the command, folders with memory images are among them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here/../test/generate"
python3 -B xtrace_gen.py --suite "$work"
rm -rf "$here"/corpus/{xtrace,xsnapshot,xtrace_set,a64}
mkdir -p "$here"/corpus/{xtrace,xsnapshot,xtrace_set,a64}
for folder in "$work"/*/; do
    name=$(basename "$folder")
    case $name in *-[12]) continue ;; esac # one of each kind of damage is enough
    file=$(find "$folder" -name '*.xinsndata.bin' | sort | head -n 1)
    case $name in damaged-shot-*) ;; *) [ -z "$file" ] || head -c 4500 "$file" >"$here/corpus/xtrace/$name" ;; esac
    file=$(find "$folder" -name '*.xsnapshot.bin' | sort | head -n 1)
    [ -z "$file" ] || cp "$file" "$here/corpus/xsnapshot/$name"
done
python3 -B xtrace_gen.py --pack "$here/corpus/xtrace_set" small one-insn threads timed vl-256 damaged-shot-offset-0
if [ $# -gt 0 ]; then
    for name in small kernel timed; do
        "$1" convert -q -o "$work/$name.xtrace" --insns ..150 "$work/$name"
        python3 -B - "$work/$name.xtrace" "$here/corpus/xtrace_set/$name-image" <<'PYTHON'
import os, struct, sys
with open(sys.argv[2], "wb") as out:
    for name in sorted(os.listdir(sys.argv[1])):
        data = open(os.path.join(sys.argv[1], name), "rb").read()
        out.write(name.encode() + b"\0" + struct.pack("<I", len(data)) + data)
PYTHON
    done
fi
python3 -B - "$here/corpus/a64" <<'PYTHON'
import os, struct, sys
import xtrace_gen
words = sorted({e.fields["opcode"] for name in ("kernel", "vl-256") for f in xtrace_gen.make(name) if f.reports
                for e in f.record.events if e.name == "insn"})
open(os.path.join(sys.argv[1], "machine"), "wb").write(b"".join(struct.pack("<I", int(word, 16)) for word in words))
# One word of each of the larger groups of encodings.
open(os.path.join(sys.argv[1], "groups"), "wb").write(b"".join(struct.pack("<I", high << 21 | 0x410) for high in range(0, 2048, 5)))
PYTHON
# Large ones teach the fuzzer nothing that small ones do not.
find "$here"/corpus/{xtrace,xsnapshot,xtrace_set,a64} -type f -size +16k -delete
