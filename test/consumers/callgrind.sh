#!/bin/bash
# Does callgrind_annotate read traceloom's call graphs, and see the same numbers?
#
#     callgrind.sh TRACELOOM TRACE [EXE]
#
# Self times and calls must be those of traceloom report, the total their sum, and inclusive times the totals.
# Exit status: 0 right, 1 wrong, 77 callgrind_annotate is missing or the trace has no calls.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

if ! command -v callgrind_annotate >/dev/null; then
    echo "skipped: no callgrind_annotate"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$traceloom" report --json ${exe:+-e "$exe"} "$trace" >"$work/report.json" 2>"$work/messages" || true
"$traceloom" report ${exe:+-e "$exe"} -o "$work/out.callgrind" "$trace" 2>>"$work/messages" || true
[ -s "$work/out.callgrind" ] || { cat "$work/messages"; echo "nothing was written"; exit 1; }
if ! grep -q '"self":[1-9]' "$work/report.json"; then
    echo "skipped: a trace without time"
    exit 77
fi
for inclusive in no yes; do
    callgrind_annotate --threshold=100 --auto=no --inclusive=$inclusive "$work/out.callgrind" \
        >"$work/$inclusive" 2>"$work/stderr" || { cat "$work/stderr"; exit 1; }
    if [ -s "$work/stderr" ]; then
        echo "callgrind_annotate complains:"
        head -5 "$work/stderr"
        exit 1
    fi
done

cat >"$work/check.py" <<'END'
import json, re, sys
work = sys.argv[1]
report = json.load(open(work + "/report.json"))
problems = []

def table(path):
    """Rows: name -> [time, calls], and the totals."""
    rows, totals = {}, None
    for line in open(work + "/" + path):
        found = re.match(r"\s*([\d,]+) \([\d. ]+%\)\s+([\d,]+|\.) (?:\([\d. ]+%\))?\s*(.*)$", line)
        if not found:
            continue
        numbers = [int(n.replace(",", "")) if n != "." else 0 for n in found.groups()[:2]]
        if found.group(3) == "PROGRAM TOTALS":
            totals = numbers
            continue
        name = re.sub(r" \[[^\[\]]*\]$", "", found.group(3))
        rows[name] = [a + b for a, b in zip(rows.get(name, [0, 0]), numbers)]
    return rows, totals

expected = {}
for f in report["functions"]:
    name = "%s:%s" % (f["file"] or "???", f["name"] if f["name"] is not None else "#%d" % f["id"])
    sums = expected.setdefault(name, [0, 0, 0])
    for i, key in enumerate(("self", "calls", "total")):
        sums[i] += f[key]
alone = sum(1 for f in report["functions"]) == len(expected)
own, totals = table("no")
inclusive, _ = table("yes")
for name, (self, calls, total) in expected.items():
    # callgrind_annotate shows no functions without time.
    if own.get(name, [0, calls]) != [self, calls]:
        problems.append("%s: self and calls %s, not %s" % (name, own.get(name), [self, calls]))
    if alone and report["unmatched"]["open"] == 0 and abs(inclusive.get(name, [0])[0] - total) > len(expected):
        problems.append("%s: inclusive %s, not %d" % (name, inclusive.get(name), total))
wanted = [sum(e[0] for e in expected.values()), sum(e[1] for e in expected.values())]
if totals != wanted:
    problems.append("totals %s, not %s" % (totals, wanted))
print("\n".join(problems[:10]))
print("%d functions, total %s, %s" % (len(expected), totals, "%d problems" % len(problems) if problems else "right"))
sys.exit(1 if problems else 0)
END
python3 "$work/check.py" "$work"
