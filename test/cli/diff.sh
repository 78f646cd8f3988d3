#!/usr/bin/env bash
# Comparing runs: sides, gates, exit statuses, outputs.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.inc"

mkdir old new
for i in 1 2 3 4 5; do
    "$tl" report "$trace" -e "$binary" -o old/$i.tlp -q || fail "no profile"
    cp old/$i.tlp new/
done

# A side is a file, a folder, or a pattern, and the same runs are the same.
for side in "old new" "old/ new/" "old/*.tlp new/?.tlp" "old new/*.tlp"; do
    set -f
    # shellcheck disable=SC2086
    expect 0 "$tl" report --diff $side --json --min-share 0
    set +f
    grep -o '"verdict":"[^"]*"' out | sort -u >verdicts
    cmp -s verdicts - <<<$'"verdict":"exact"\n"verdict":"same"' || fail "$side: $(cat verdicts)"
done
cp out one
expect 0 "$tl" diff old 'new/*.tlp' --json --min-share 0
cmp out one || fail "diff is not report --diff"
expect 0 "$tl" diff old new --threads 1 --json --min-share 0
grep -o '"rows":.*"gates"' out >a
grep -o '"rows":.*"gates"' one >b
cmp a b || fail "the answer depends on --threads"

# What a folder has besides runs is left out, and said.
cp old/1.tlp new/6.tlp.live
echo text >new/README
expect 0 "$tl" diff old new
says err 'new/6.tlp.live: left out'
says err 'new/README: left out: not a trace'
says out 'NEW   new: 5 runs'
rm new/6.tlp.live new/README

# Less work in NEW: functions that are gone, and exact numbers of calls.
mkdir less
for i in 1 2 3 4 5; do
    "$tl" report "$trace" -e "$binary" -N render_node -o less/$i.tlp -q || fail "no profile"
done
expect 0 "$tl" diff old less --min-share 0 --to csv
grep -q '^render_node,.*,gone,' out || fail "render_node is not gone: $(head -3 out)"
expect 0 "$tl" diff less old --min-share 0 --to csv
grep -q '^render_node,.*,new,' out || fail "render_node is not new: $(head -3 out)"

# Gates: 0 passed, 1 failed, 2 makes no sense.
expect 0 "$tl" diff old new --fail-if 'p99(render_page) > +5%'
says out 'passed'
expect 1 "$tl" diff old new --fail-if 'p99(render_page) > 1ns'
says out 'failed'
expect 0 "$tl" diff old new --fail-if 'p99(render_page) > 1h'
expect 1 "$tl" diff old new --fail-if 'p99(render_page) > 1h' --fail-if 'calls(render_*) < +0% or calls(main) > 0'
expect 1 "$tl" diff old new --by tree --fail-if 'calls(path:render_page;render_node) > 1' --json
says out '"status":"failed"'
expect 2 "$tl" diff old new --fail-if 'p99(nobody) > +5%'
says err 'matches no function'
expect 2 "$tl" diff old new --fail-if 'p99(main > +5%'
grep -q "column 15: expected ')'" err || fail "no place in: $(cat err)"
expect 2 "$tl" diff old less --fail-if 'p99(render_node) > +5%'
says err 'new or gone'
expect 2 "$tl" diff old/1.tlp new/1.tlp --fail-if 'p99(main) > +5%'
says err '--one-run'
expect 0 "$tl" diff old/1.tlp new/1.tlp --fail-if 'p99(main) > +5%' --one-run
says out 'fewer than 4 runs'
expect 1 "$tl" diff old new --fail-if 'calls(main) > 0' --fail-when unclear

# Damage: the answer is printed, and the status is 3 unless a gate failed.
mkdir bad
cp "$damaged" bad/a.xray
expect 3 "$tl" diff bad bad -e "$binary"
says out 'NEW   bad'
expect 1 "$tl" diff bad bad -e "$binary" --one-run --fail-if 'calls(*) > 0'

# Outputs by suffix and by name.
expect 1 "$tl" diff old new --fail-if 'calls(main) > 0' --fail-if 'p50(main) > +5%' -o gates.xml
says gates.xml '<testsuite name="traceloom diff" tests="2" failures="1" errors="0" skipped="0">'
python3 -c 'import xml.dom.minidom as x; x.parse("gates.xml")' || fail "gates.xml is not XML"
expect 0 "$tl" diff old new -o rows.md
says rows.md "again: traceloom report --diff old new"
[ "$(wc -c <rows.md)" -lt 65536 ] || fail "rows.md is too long for a comment"
expect 0 "$tl" diff old new -o rows.csv
head -1 rows.csv | grep -q '^name,was,path,metric,' || fail "rows.csv: $(head -1 rows.csv)"
expect 0 "$tl" diff old new --to jsonl
head -1 out | python3 -m json.tool >json || fail "no line of JSON"
expect 2 "$tl" diff old new -o picture.svg
says err 'csv'
expect 2 "$tl" diff old new --to junit
says err '--fail-if'
cp old/1.tlp old/rows.csv
expect 2 "$tl" diff 'old/*' new -o old/rows.csv -f
says err 'is also the input'
rm old/rows.csv

# Mistakes.
expect 2 "$tl" report --diff old
expect 2 "$tl" report --diff old new less
expect 2 "$tl" report --diff old -
expect 2 "$tl" report old/1.tlp --fail-if 'p99(main) > +5%'
says err '--fail-if goes with --diff'
expect 2 "$tl" report old/1.tlp --noise 2%
expect 2 "$tl" diff old new --by callers
expect 2 "$tl" diff old new --sort self
expect 2 "$tl" diff old new --title x
expect 2 "$tl" diff old new -o page.svg
expect 2 "$tl" diff old new --fail-when estimate
expect 2 "$tl" diff old new --noise much
expect 2 "$tl" diff old new --noise 1.2.3
expect 2 "$tl" diff old new --per second
expect 2 "$tl" diff old new --map main=nobody
says err '--map'
expect 3 "$tl" diff 'none/*.tlp' new
says err 'matches no file'
mkdir empty
expect 3 "$tl" diff empty new
says err 'no traces in this folder'
expect 2 "$tl" diff old "$samples/tracelog-saved.log"
says err 'cannot be compared'
exit "$failed"
