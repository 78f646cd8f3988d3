#!/bin/bash
# Does Graphviz draw traceloom's call graphs, with the right numbers?
#
#     dot.sh TRACELOOM TRACE [EXE]
#
# Exit status: 0 right, 1 wrong, 77 dot is missing or the trace has no calls.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

if ! command -v dot >/dev/null; then
    echo "skipped: no dot"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$traceloom" report --json ${exe:+-e "$exe"} "$trace" >"$work/report.json" 2>"$work/messages" || true
"$traceloom" report ${exe:+-e "$exe"} -o "$work/out.dot" "$trace" 2>>"$work/messages" || true
[ -s "$work/out.dot" ] || { cat "$work/messages"; echo "nothing was written"; exit 1; }
if ! grep -q '"calls":[1-9]' "$work/report.json"; then
    echo "skipped: a trace without calls"
    exit 77
fi
for kind in svg json; do
    dot -T$kind -o "$work/out.$kind" "$work/out.dot" 2>"$work/stderr" || { cat "$work/stderr"; exit 1; }
    if [ -s "$work/stderr" ]; then
        echo "dot complains:"
        head -5 "$work/stderr"
        exit 1
    fi
done

cat >"$work/check.py" <<'END'
import json, re, sys
work = sys.argv[1]
report = json.load(open(work + "/report.json"))
graph = json.load(open(work + "/out.json"))
problems = []
expected = {}
for f in report["functions"]:
    name = f["name"] if f["name"] is not None else "#%d" % f["id"]
    expected.setdefault(name, []).append(tuple(f[key] for key in ("calls", "self", "total")))
nodes = graph.get("objects", [])
largest = max(f["total"] for f in report["functions"])
for node in nodes:
    found = re.match(r"(?s)(.*)\\ncalls (\d+)\\nself (\d+) \w+\\ntotal (\d+) \w+$", node["tooltip"])
    if not found:
        problems.append("no numbers in %r" % node["tooltip"])
        continue
    name, numbers = found.group(1).replace("\\\\", "\\"), tuple(map(int, found.groups()[1:]))
    known = expected.get(name, [])
    if report["unmatched"]["open"]:  # then totals contain time within open calls
        known, numbers = [k[:2] for k in known], numbers[:2]
    if numbers not in known:
        problems.append("%s: %s, not %s" % (name, numbers, known))
shown = sum(1 for line in open(work + "/out.svg") if 'class="node"' in line)
if shown != len(nodes) or shown == 0:
    problems.append("%d nodes drawn of %d" % (shown, len(nodes)))
if len(nodes) < min(100, sum(1 for f in report["functions"] if f["total"] > largest / 20)):
    problems.append("large functions are missing")
into = {}
for edge in graph.get("edges", []):
    calls = int(re.search(r"\\ncalls (\d+)", edge["tooltip"]).group(1))
    into[edge["head"]] = into.get(edge["head"], 0) + calls
for node in nodes:
    calls = int(re.search(r"\\ncalls (\d+)", node["tooltip"]).group(1))
    if into.get(node["_gvid"], 0) > calls:
        problems.append("more calls lead to %s than it has" % node["name"])
print("\n".join(problems[:10]))
print("%d functions, %d calls, %s" % (len(nodes), len(graph.get("edges", [])), "%d problems" % len(problems) if problems else "right"))
sys.exit(1 if problems else 0)
END
python3 "$work/check.py" "$work"
