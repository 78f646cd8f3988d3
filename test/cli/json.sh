#!/usr/bin/env bash
# Every --json is one line of valid JSON that begins with "schema", for each table and each kind of input.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
command -v python3 >/dev/null || {
    echo "skipped: python3 is not installed"
    exit 77
}

valid() { # required member
    python3 - "$1" out <<'PYTHON' || fail "not the JSON expected (member $1)"
import json, sys
text = open(sys.argv[2], encoding="utf-8").read()
assert text.count("\n") == 1 and text.endswith("\n"), "not one line"
value = json.loads(text, parse_float=lambda s: sys.exit("a number with a fraction: " + s))
assert list(value)[0] == "schema" and value["schema"] == 1, "no schema in front"
assert sys.argv[1] in value, "no member " + sys.argv[1]
assert json.dumps(value, separators=(",", ":"), ensure_ascii=False) == text[:-1], "not compact"
PYTHON
}

for file in "$trace" "$profile"; do
    expect 0 "$tl" info --json "$file"
    valid classes
    expect 0 "$tl" check --json "$file"
    valid problems
    expect 0 "$tl" report --json "$file"
    valid functions
    expect 0 "$tl" report --json --by tree "$file"
    valid nodes
    expect 0 "$tl" report --json --by callers "$file"
    valid edges
    expect 0 "$tl" report --json --by thread "$file"
    valid threads
done
expect 0 "$tl" report --json --by hist "$trace"
valid functions
expect 1 "$tl" report --json --by hist "$profile" # sums have no histogram, in JSON as in the table
is_empty out
expect 0 "$tl" report --json --by tree --per-thread "$trace"
valid nodes
says out '"thread":"thread '
expect 1 "$tl" check --json "$damaged"
valid problems
says out '"ok":false'
expect 1 "$tl" check --json "$trace" "$damaged"
[ "$(wc -l <out)" -eq 2 ] || fail "not one line for each file"

# --top and --sort.
expect 0 "$tl" report --json --sort calls --top 2 "$trace"
python3 -c '
import json
f = json.load(open("out"))["functions"]
assert len(f) == 2 and f[0]["calls"] >= f[1]["calls"], f' || fail "--sort calls --top 2"
# The tree for people has the same places as the one for programs, however few.
for top in 1 2 3 5 8 13; do
    expect 0 "$tl" report --by tree --no-fold --top $top "$trace" -e "$binary" # first, so that out is JSON
    mv out tree.txt
    expect 0 "$tl" report --by tree --json --top $top "$trace" -e "$binary"
    python3 -c '
import json, sys
text = [line.rstrip("\n") for line in open("tree.txt", encoding="utf-8")]
at = next(i for i, line in enumerate(text) if "call tree" in line)
column = text[at].index("call tree")
names = [node["stack"][-1] for node in json.load(open("out"))["nodes"]]
shown = [line for line in text[at + 1:] if line]
assert len(names) == len(shown) == int(sys.argv[1]), (names, shown)
depths = sorted((node["stack"][-1], len(node["stack"])) for node in json.load(open("out"))["nodes"])
found = sorted((next(n for n in sorted(set(names), key=len, reverse=True) if n in line), line) for line in shown)
assert [name for name, _ in found] == [name for name, _ in depths], (found, depths)' $top || fail "--by tree --top $top"
done
# Stacks that would fill a disk are refused, but not a part of them.
python3 - <<'PYTHON'
import struct
with open("deep.xray", "wb") as file:
    file.write(struct.pack("<HHIQ16x", 3, 0, 3, 1000000000))
    for kind in (0, 1):                                           # different functions: trees of recursion end
        for step in range(30000):
            file.write(struct.pack("<HBBiQII8x", 0, 0, kind, 1 + (29999 - step if kind else step), 1000 + step + 30000 * kind, 1, 7))
PYTHON
expect 2 "$tl" report --json --by tree deep.xray
says err "the stacks of this tree have 450015000 functions in all, at most 268435456 are printed as JSON"
is_empty out
expect 0 "$tl" report --json --by tree --depth 20 deep.xray
valid nodes
exit $failed
