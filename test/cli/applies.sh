#!/usr/bin/env bash
# Selections, orders and tables that cannot apply are refused, and the output is what was requested.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"
insns=$samples/xtrace-user log=$samples/tracelog-doc.log tlp=live.tlp # instructions; samples of stacks

# Neither calls nor functions: these options could select nothing.
for option in "--depth 1" "--min-dur 1"; do
    # shellcheck disable=SC2086
    expect 2 "$tl" cat "$insns" $option
    says err "no calls to select by depth or duration"
    is_empty out
done
for option in "-F nosuch" "-N nosuch"; do
    # shellcheck disable=SC2086
    expect 2 "$tl" cat "$insns" $option
    says err "no functions to select by name"
    is_empty out
done
# One of several inputs has them. Patterns without a match are reported at the end, after complete output.
expect 0 "$tl" cat "$trace" "$samples/basic-v3-le.xray" --depth 1
"$tl" cat "$trace" -e "$binary" | grep -vE ' (<-|->) ' | tr -s ' ' >instants
[ -s instants ] || fail "no events but calls in $trace"
expect 2 "$tl" cat "$trace" -e "$binary" -F 'nope*'
says err 'no function matches "nope*"'
grep -vE ' (<-|->) ' out | tr -s ' ' | cmp -s - instants || fail "the end of what was printed is missing"
expect 2 "$tl" convert "$trace" -e "$binary" -F 'nope*' -o nope.txt
[ ! -e nope.txt ] || fail "a file of what was not asked for"

# Unrelated clocks.
expect 2 "$tl" convert "$trace" "$log" -o both.json --to chrome
says err "different clocks, and not all know the time of day: $trace has tsc at"
[ ! -e both.json ] || fail "a file of unrelated clocks"
expect 2 "$tl" report "$trace" "$log"

# Orders that a table lacks.
expect 2 "$tl" report "$log" --sort p99
says err "$log: --sort p99 needs durations of calls; samples of stacks have none"
expect 2 "$tl" report "$profile" --sort max
says err "$profile: --sort max needs durations of calls; this profile holds only sums of them"
expect 2 "$tl" report "$trace" --by thread --sort p90
says err "--sort p90 does not go with --by thread, which sorts by one of: total calls name"
expect 2 "$tl" report "$log" --by module --sort min
says err "which sorts by one of: self total calls name"
for sort in total calls name; do expect 0 "$tl" report "$trace" --by thread --sort $sort; done
for sort in self total calls name; do expect 0 "$tl" report "$log" --by line --sort $sort; done

# A profile of threads has one tree for all of them, unless each is requested.
expect 0 "$tl" report "$trace" --per-thread -o "$tlp"
"$tl" report "$trace" --by tree --json >tree.json
expect 0 "$tl" report "$tlp" --by tree --json
python3 -c '
import json, sys
want, got = ([(p["stack"], p["calls"], p["total"], p["self"], p["p99"]) for p in json.load(open(f))["nodes"]] for f in ("tree.json", "out"))
sys.exit("trees differ: %s %s" % (want[:2], got[:2]) if sorted(want) != sorted(got) or not want else 0)' || fail "the tree of $tlp"
expect 0 "$tl" report "$tlp" --by tree --per-thread
says out "thread "
expect 0 "$tl" report "$tlp" --by tree
says_not out "thread 1"

# Shares of pairs refer to everything shown, for any caller.
first=$("$tl" report --json "$trace" -e "$binary" --by callers | python3 -c '
import json, sys; print([p["callee"] for p in json.load(sys.stdin)["edges"] if p["caller"]][0])')
expect 0 "$tl" report "$trace" -e "$binary" --by callers -F "$first"
python3 -c '
import re, sys
shares = [float(s) for s in re.findall(r" ([0-9.]+) %", open("out").read())]
sys.exit(not shares or abs(sum(shares) - 100) > 0.1 * len(shares))' || fail "shares of the callers of $first: $(cat out)"

# Callees are the pairs of callers, caller by caller, with their part of the caller's time.
for by in func callers callees; do
    "$tl" report "$trace" -e "$binary" --by $by --json >$by.json
done
python3 -c '
import json, sys
read = lambda by, member: json.load(open(by + ".json"))[member]
total = {f["id"]: f["total"] for f in read("func", "functions")}
pairs, callees = read("callers", "edges"), read("callees", "edges")
total[None] = sum(p["total"] for p in pairs if p["caller_id"] is None)
share = [p.pop("share") for p in callees]
key = lambda p: (-total[p["caller_id"]] if p["caller"] else -1 << 64, p["caller_id"] or 0, -p["total"], p["callee_id"])
assert len(callees) > 3 and sorted(pairs, key=key) == sorted(callees, key=key), "other pairs"
assert [key(p)[:3] for p in callees] == sorted(key(p)[:3] for p in callees), "not in the order of callers"
far = [p for s, p in zip(share, callees) if abs(s * total[p["caller_id"]] - p["total"]) > 1]  # times are whole ns
assert not far and min(share) < 0.9, "shares: %s" % far
' || fail "callees: $(head -c 300 callees.json)"

# --top counts rows of JSON, too: the longest collections, as in the text.
expect 0 "$tl" report "$log" --by gc --json --top 1
python3 -c '
import json, sys
longest = json.load(open("out"))["collections"]
sys.exit(len(longest) != 1 or longest[0]["pause"] != 13000000)' || fail "--by gc --json --top 1: $(head -c 300 out)"

# Names are never cut without a window.
long=$(printf 'T%.0s' $(seq 3000))
sed "s/ReadValue/Read${long}Value/" "$log" >long.log
expect 0 "$tl" report long.log --by callers
grep -qE "Read${long}Value (→|->) " out || fail "a long caller is cut"
grep -qE "(→|->) Shop.Json:Read${long}Value" out || fail "a long callee is cut"

# Which files of a folder were read, and which were not.
mkdir two
cp -r "$samples/ctf-2" two/a
cp -r "$samples/ctf-2" two/b
echo >two/readme.txt
expect 0 "$tl" report two
says err "two: 2 traces in this folder are read as one: a, b"
says err "two: a file in this folder belongs to no trace and was not read: readme.txt"
expect 0 "$tl" report "$samples/ctf-2"
says_not err "in this folder"
exit $failed
