#!/bin/bash
# Does speedscope load traceloom's files of events and of profiles, and show the same times?
#
#     speedscope.sh TRACELOOM TRACE [EXE]
#
# Loads both files in the npm package speedscope (TL_SPEEDSCOPE: its folder) in headless Chromium, and compares the table
# of its sandwich view with traceloom report for the thread shown.
# Exit status: 0 right, 1 wrong, 77 speedscope or Chromium is missing or the trace has no calls.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

speedscope=${TL_SPEEDSCOPE:-$(npm root -g 2>/dev/null || true)/speedscope}
browser=$(command -v chromium-headless-shell || command -v chromium || true)
if [ ! -e "$speedscope/dist/release/index.html" ]; then
    echo "skipped: no speedscope (npm install speedscope; TL_SPEEDSCOPE names its folder)"
    exit 77
fi
if [ -z "$browser" ]; then
    echo "skipped: no chromium"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$traceloom" report --json ${exe:+-e "$exe"} "$trace" >"$work/report.json" 2>"$work/messages" || true
if ! grep -q '"self":[1-9]' "$work/report.json"; then
    echo "skipped: a trace without time"
    exit 77
fi
cat >"$work/check.py" <<'END'
import html, json, re, subprocess, sys
work, command, trace, exe = sys.argv[1:]
text = open(work + "/dom", encoding="utf-8").read()
cells = [html.unescape(c).strip() for c in re.sub(r"<style.*?</style>|<script.*?</script>", "", text, flags=re.S).replace("<", "\0<").split("\0")]
cells = [c for c in (re.sub(r"^<[^>]*>", "", c).strip() for c in cells) if c]
profile = json.load(open(work + "/out.speedscope.json", encoding="utf-8"))
shown = profile["profiles"][profile["activeProfileIndex"]]
if "Symbol Name" not in cells:
    sys.exit("speedscope shows no table: %s" % " | ".join(cells)[:300])

def number(cell):
    """A time or a number as speedscope prints it, in ns, and how exact that is."""
    found = re.match(r"([\d,]*\.?\d*)(ns|\u00b5s|ms|s|min)?( |$)", cell)
    scale = {None: 1, "ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10}[found.group(2)]
    return float(found.group(1).replace(",", "")) * scale, scale * 0.011

arguments = ["report", "--json", trace]
if len(profile["profiles"]) > 1:
    arguments += ["-t", shown["name"]]
if exe:
    arguments += ["-e", exe]
report = json.loads(subprocess.run([command] + arguments, capture_output=True).stdout)
expected, problems, rows = {}, [], 0
for f in report["functions"]:
    sums = expected.setdefault(f["name"] if f["name"] is not None else "#%d" % f["id"], [0, 0])
    sums[0] += f["total"]
    sums[1] += f["self"]
at = cells.index("Symbol Name") + 1
while at + 2 < len(cells) and re.match(r"[\d,.]+\S* ?\(", cells[at]):
    (total, margin), (self, _) = number(cells[at]), number(cells[at + 1])
    name = cells[at + 2]
    at, rows = at + 3, rows + 1
    margin += 0.5 * len(report["functions"]) + 64        # every place is rounded separately
    if name not in expected:
        # The writer closes calls that never ended; the report does not count them.
        if report["unmatched"]["open"] == 0:
            problems.append("%s is not in the report" % name)
        continue
    if report["unmatched"]["open"] == 0 and (abs(total - expected[name][0]) > margin or abs(self - expected[name][1]) > margin):
        problems.append("%s: total and self %s, not %s" % (name, [total, self], expected[name]))
print("\n".join(problems[:10]))
print("%s: %d profiles, %d functions compared in %s, %s" % (shown["type"], len(profile["profiles"]), rows, shown["name"],
      "%d problems" % len(problems) if problems else "right"))
sys.exit(1 if problems or rows == 0 else 0)
END

failed=0
for verb in convert report; do
    rm -f "$work/out.speedscope.json"
    "$traceloom" $verb ${exe:+-e "$exe"} -o "$work/out.speedscope.json" "$trace" 2>"$work/messages" || true
    if [ ! -s "$work/out.speedscope.json" ]; then
        # Profile files have no events to convert.
        [ $verb = convert ] && ! "$traceloom" info --json "$trace" 2>/dev/null | grep -q '"kind":"enter"' && continue
        cat "$work/messages"
        failed=1
        continue
    fi
    {
        printf "speedscope.loadFileFromBase64('out.speedscope.json','"
        base64 -w0 "$work/out.speedscope.json"
        printf "')"
    } >"$work/profile.js"
    timeout 120 "$browser" --no-sandbox --disable-gpu --allow-file-access-from-files --enable-logging=stderr --v=0 \
        --virtual-time-budget=20000 --dump-dom \
        "file://$speedscope/dist/release/index.html#localProfilePath=$work/profile.js&view=sandwich" \
        >"$work/dom" 2>"$work/log" || true
    if grep CONSOLE "$work/log" | grep -i -E 'error|mismatch|fail|tried' | grep -v -i webgl; then
        echo "speedscope complains of what $verb wrote"
        failed=1
        continue
    fi
    python3 "$work/check.py" "$work" "$traceloom" "$trace" "$exe" || failed=1
done
exit $failed
