#!/bin/bash
# Does pprof read traceloom's profiles, and see the same numbers?
#
#     pprof.sh TRACELOOM TRACE [EXE]
#
# Writes the trace as a pprof profile, lets `go tool pprof` print it by calls and by time, and compares both with
# traceloom report; then asks for the latency and thread labels, all stacks, and a comparison of the profile with itself.
# Exit status: 0 right, 1 wrong, 77 go is missing or the trace has no calls.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

if ! command -v go >/dev/null || ! go tool pprof --help >/dev/null 2>&1; then
    [ "$(go tool pprof --help 2>&1 | head -c 5)" = usage ] || { echo "skipped: no go"; exit 77; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PPROF_TMPDIR="$work" HOME="$work"
"$traceloom" report --json ${exe:+-e "$exe"} "$trace" >"$work/report.json" 2>"$work/messages" || true
"$traceloom" report ${exe:+-e "$exe"} -o "$work/out.pb.gz" "$trace" 2>>"$work/messages" || true
[ -s "$work/out.pb.gz" ] || { cat "$work/messages"; echo "nothing was written"; exit 1; }
if ! grep -q '"calls":[1-9]' "$work/report.json"; then
    echo "skipped: a trace without calls"
    exit 77
fi
unit=$(sed -E 's/^.*"unit":"([a-z]+)".*$/\1/' "$work/report.json")

pprof() { go tool pprof "$@" "$work/out.pb.gz" 2>"$work/stderr" || { cat "$work/stderr"; exit 1; }; }
pprof -top -nodefraction=0 -nodecount=0 -sample_index=calls -unit=count >"$work/calls"
pprof -top -nodefraction=0 -nodecount=0 -sample_index=time -unit="$unit" >"$work/time"
pprof -tags -sample_index=calls >"$work/tags"
pprof -raw >"$work/raw"
pprof -traces >"$work/traces"
pprof -top -diff_base="$work/out.pb.gz" -sample_index=time >"$work/diff"

cat >"$work/check.py" <<'END'
import json, re, sys
work = sys.argv[1]
report = json.load(open(work + "/report.json"))
problems = []

def table(path):
    """Rows of -top: name -> (flat, cumulative)."""
    rows = {}
    for line in open(work + "/" + path):
        found = re.match(r"\s*(\d+)[a-z]*\s+[\d.]+%\s+[\d.]+%\s+(\d+)[a-z]*\s+[\d.]+%\s+(.*)$", line)
        if found:
            rows[found.group(3)] = int(found.group(1)), int(found.group(2))
    return rows

raw = open(work + "/raw").read()
samples = len(re.findall(r"^\s+\d+\s+\d+: ", raw, re.M))
calls, time = table("calls"), table("time")
expected = {}
for f in report["functions"]:
    name = f["name"] if f["name"] is not None else "#%d" % f["id"]
    sums = expected.setdefault(name, [0, 0, 0])
    for i, key in enumerate(("calls", "self", "total")):
        sums[i] += f[key]
whole = report["unmatched"]["open"] == 0
for name, (n, self, total) in expected.items():
    if calls.get(name, (0, 0))[0] != n:
        problems.append("%s: %s calls, not %d" % (name, calls.get(name), n))
    flat, cumulative = time.get(name, (0, 0))
    # Each place is rounded separately: by at most half a unit.
    if abs(flat - self) > samples / 2 + 1:
        problems.append("%s: self %d, not %d" % (name, flat, self))
    if whole and abs(cumulative - total) > samples / 2 + 1:
        problems.append("%s: total %d, not %d" % (name, cumulative, total))
for name in set(time) - set(expected):
    if time[name][0]:
        problems.append("%s: not in the report" % name)
tags = open(work + "/tags").read()
histogram = any(f["p50"] is not None for f in report["functions"])
if histogram != (" latency:" in tags):
    problems.append("latency labels: %s" % (" latency:" in tags))
if " thread:" not in tags:
    problems.append("no thread labels")
if "PeriodType: time nanoseconds" not in raw:
    problems.append("another period")
if re.search(r"^\s*-?[1-9]", open(work + "/diff").read(), re.M):
    problems.append("the profile differs from itself")
print("\n".join(problems[:10]))
print("%d functions, %d samples, %s" % (len(expected), samples, "%d problems" % len(problems) if problems else "right"))
sys.exit(1 if problems else 0)
END
python3 "$work/check.py" "$work"
