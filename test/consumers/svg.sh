#!/bin/bash
# Does traceloom's flame graph work in a browser, with the right numbers?
#
#     svg.sh TRACELOOM TRACE [EXE]
#
# Parses the file as XML, compares its data with traceloom report, then loads it in headless Chromium with a script that
# zooms, searches and presses keys. TL_PICTURE names a PNG file for a picture.
# Exit status: 0 right, 1 wrong, 77 Chromium is missing or the trace has no calls.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

browser=$(command -v chromium-headless-shell || command -v chromium || true)
if [ -z "$browser" ]; then
    echo "skipped: no chromium"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$traceloom" report --json ${exe:+-e "$exe"} "$trace" >"$work/report.json" 2>"$work/messages" || true
"$traceloom" report ${exe:+-e "$exe"} -o "$work/out.svg" "$trace" 2>>"$work/messages" || true
[ -s "$work/out.svg" ] || { cat "$work/messages"; echo "nothing was written"; exit 1; }
if ! grep -q '"self":[1-9]' "$work/report.json"; then
    echo "skipped: a trace without time"
    exit 77
fi

cat >"$work/try.js" <<'END'
(function () {
var seen = {}, svg = document.documentElement;
function boxes() { return Array.from(svg.querySelectorAll('.f')); }
function named() { return boxes().filter(function (g) { return g.querySelector('text'); }); }
function rect(g) { return g.querySelector('rect').getBoundingClientRect(); }
try {
  seen.boxes = boxes().length;
  seen.overflow = named().filter(function (g) {
    return g.querySelector('text').getBoundingClientRect().right > rect(g).right + 1; }).length;
  seen.outside = boxes().filter(function (g) { return rect(g).right > svg.getBoundingClientRect().width + 1; }).length;
  var target = boxes().slice(1).sort(function (a, b) { return rect(a).width - rect(b).width; })[Math.floor(boxes().length / 2)];
  var index = target.getAttribute('data-i');
  target.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  var now = svg.querySelector('.f[data-i="' + index + '"]');
  seen.zoomed = rect(now).width / svg.getBoundingClientRect().width;
  seen.above = svg.querySelectorAll('.up').length;
  seen.depth = (Number(now.querySelector('rect').getAttribute('y')) - Number(boxes()[0].querySelector('rect').getAttribute('y'))) / 18;
  seen.details = svg.querySelector('.details').textContent;
  svg.querySelector('button').click();
  seen.reset = boxes().length;
  var input = svg.querySelector('input');
  input.value = '.';
  input.dispatchEvent(new Event('input'));
  seen.everything = svg.querySelector('[role=status]').textContent;
  seen.marked = svg.querySelectorAll('.m').length;
  input.value = 'no such (function';
  input.dispatchEvent(new Event('input'));
  seen.nothing = svg.querySelector('[role=status]').textContent;
  window.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
  seen.cleared = input.value + svg.querySelector('[role=status]').textContent;
  var first = boxes()[0];
  first.focus();
  first.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}));
  seen.arrow = document.activeElement.getAttribute('data-i');
  window.dispatchEvent(new KeyboardEvent('keydown', {key: 'f', ctrlKey: true, cancelable: true}));
  seen.find = document.activeElement === input;
} catch (error) { seen.error = String(error) + error.stack; }
svg.setAttribute('data-seen', encodeURIComponent(JSON.stringify(seen)));
})();
END
{
    sed '$d' "$work/out.svg"
    printf '<script><![CDATA[\n'
    cat "$work/try.js"
    printf ']]></script>\n</svg>\n'
} >"$work/try.svg"
timeout 120 "$browser" --no-sandbox --disable-gpu --enable-logging=stderr --v=0 --window-size=1200,800 --dump-dom \
    "file://$work/try.svg" >"$work/dom" 2>"$work/log" || true
if [ -n "${TL_PICTURE:-}" ]; then
    timeout 120 "$browser" --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,800 \
        --screenshot="$TL_PICTURE" "file://$work/out.svg" >/dev/null 2>&1 || true
fi
if grep CONSOLE "$work/log"; then
    echo "the browser complains"
    exit 1
fi

cat >"$work/check.py" <<'END'
import json, re, sys, urllib.parse, xml.dom.minidom
work = sys.argv[1]
report = json.load(open(work + "/report.json"))
document = xml.dom.minidom.parse(work + "/out.svg")
script = document.getElementsByTagName("script")
data = json.loads(script[0].firstChild.data)
problems = []

def that(good, *what):
    if not good:
        problems.append(" ".join(map(str, what)))

text = open(work + "/out.svg", encoding="utf-8").read()
that(not re.search(r"(href|src)=|url\(|@import", text), "the file refers to others")
found = re.search(r"; shown are ([\d,]+) of", text)
sums = {}
for i, name in enumerate(data["f"]):
    entry = sums.setdefault(data["names"][name][0], [0, 0])
    entry[0] += data["c"][i]
    entry[1] += data["s"][i]
expected = {}
for f in report["functions"]:
    entry = expected.setdefault(f["name"] if f["name"] is not None else "#%d" % f["id"], [0, 0])
    entry[0] += f["calls"]
    entry[1] += f["self"]
for name, (calls, self) in expected.items():
    if found or self == 0:                              # something was left out; boxes without time
        that(sums.get(name, [0, 0])[0] <= calls, name, sums.get(name), "of", calls, "calls")
        continue
    that(sums.get(name, [0])[0] == calls, name, sums.get(name), "not", calls, "calls")
    that(abs(sums.get(name, [0, 0])[1] - self) <= len(data["f"]), name, sums.get(name), "not", self)
that(("p" in data) == any(f["p50"] is not None for f in report["functions"]), "percentiles")
ends = []
for i, depth in enumerate(data["d"]):
    del ends[depth:]
    begin, end = data["x"][i], data["x"][i] + data["w"][i]
    that(not ends or (begin >= ends[-1][0] - 2 and end <= ends[-1][1] + 2), "box", i, "sticks out")
    ends.append((begin, end))

found = re.search(r'data-seen="([^"]*)"', open(work + "/dom", encoding="utf-8").read())
seen = json.loads(urllib.parse.unquote(found.group(1))) if found else {"error": "no script ran"}
that("error" not in seen, seen.get("error"))
if "error" not in seen:
    that(seen["boxes"] > 1 and seen["boxes"] <= len(data["f"]), seen["boxes"], "boxes drawn")
    that(seen["overflow"] == 0, seen["overflow"], "names do not fit")
    that(seen["outside"] == 0, seen["outside"], "boxes outside")
    that(abs(seen["zoomed"] - 1) < 0.01, "zoomed to", seen["zoomed"])
    that(seen["above"] == seen["depth"], seen["above"], "boxes above one at depth", seen["depth"])
    that("total" in seen["details"], "details:", seen["details"])
    that(seen["reset"] == seen["boxes"], seen["reset"], "boxes after reset")
    that("100.00 %" in seen["everything"], "everything is", seen["everything"])
    that(seen["marked"] == seen["boxes"] - 1, seen["marked"], "boxes marked")
    that(seen["nothing"].startswith("0 boxes, 0.00 %"), "nothing is", seen["nothing"])
    that(seen["cleared"] == "", "after Escape:", seen["cleared"])
    that(seen["arrow"] == "1", "arrow leads to", seen["arrow"])
    that(seen["find"], "Ctrl-F does not lead to the search")
print("\n".join(problems[:10]))
print("%d boxes, %s drawn, %s" % (len(data["f"]), seen.get("boxes"), "%d problems" % len(problems) if problems else "right"))
sys.exit(1 if problems else 0)
END
python3 "$work/check.py" "$work"
