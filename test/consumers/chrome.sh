#!/bin/bash
# Is traceloom's Chrome trace event JSON what its consumers expect, with all events?
#
#     chrome.sh TRACELOOM TRACE [EXE]
#
# Converts the trace, lets node parse it, checks the structure (names before events, begin and end nest in each thread and
# time does not go back, ts are exact thousandths), and compares the counts with traceloom info. If chromium and the npm
# package speedscope are there (TL_SPEEDSCOPE: its folder), loads the file in speedscope and fails on its complaints.
# Exit status: 0 right, 1 wrong, 77 node is missing.
set -eu
traceloom=$1 trace=$2 exe=${3:-}

if ! command -v node >/dev/null; then
    echo "skipped: no node"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A damaged trace gives status 3; its readable part counts.
"$traceloom" convert --to chrome ${exe:+-e "$exe"} -o "$work/out.trace.json" "$trace" 2>"$work/messages" || [ $? = 3 ]
"$traceloom" info --json "$trace" >"$work/info.json" 2>>"$work/messages" || [ $? = 3 ]
if [ ! -s "$work/out.trace.json" ] || [ ! -s "$work/info.json" ]; then
    echo "traceloom wrote nothing: $(head -1 "$work/messages")"
    exit 1
fi

cat >"$work/check.js" <<'END'
const fs = require('fs');
const [file, infoFile, instantFile] = process.argv.slice(2);
const trace = JSON.parse(fs.readFileSync(file, 'utf8'));
const info = JSON.parse(fs.readFileSync(infoFile, 'utf8'));
let problems = 0;
function problem(text) { if (++problems <= 10) console.log(text); }
if (trace.displayTimeUnit !== 'ns' || !Array.isArray(trace.traceEvents)) problem('not an object of trace events');

const kinds = {};
for (const c of info.classes) kinds[c.kind] = (kinds[c.kind] || 0) + c.events;
const runtime = kinds.begin || kinds.sample; // some of its instants are counters

let instantCalls = 0; // that begin and end at the same time

const raw = fs.readFileSync(file, 'utf8');
const ts = raw.match(/"ts":[0-9.]+/g) || [];
for (const t of ts) if (!/^"ts":(0|[0-9]+\.[0-9]{3})$/.test(t)) problem('ts not in exact thousandths: ' + t);

const count = {}, threads = new Map(), named = new Set(), open = new Map(), profiles = new Map();
let sampled = 0;

// A complete event must nest in the others of its thread; times as whole ns, which doubles hold.
function checkNesting(spans, id) {
    const ns = t => Math.round(t * 1000), ends = [];
    spans = spans.map(e => [ns(e.ts), ns(e.ts) + ns(e.dur)]).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    for (const [begin, end] of spans) {
        while (ends.length && ends[ends.length - 1] <= begin) ends.pop();
        if (ends.length && end > ends[ends.length - 1]) problem('spans that overlap in thread ' + id + ' at ' + begin);
        ends.push(end);
    }
}

// Chunks of a profile: nodes before their samples, as many times as samples, times that do not go back.
function checkProfile(e) {
    const data = e.args.data;
    if (e.name === 'Profile') {
        if (profiles.has(e.id)) problem('a profile that begins twice');
        profiles.set(e.id, { nodes: new Set(), at: data.startTime });
        return;
    }
    const p = profiles.get(e.id);
    if (!p || e.name !== 'ProfileChunk') return problem('a chunk without profile: ' + e.name);
    for (const n of data.cpuProfile.nodes || []) {
        if (n.parent !== undefined && !p.nodes.has(n.parent)) problem('a node before its parent');
        p.nodes.add(n.id);
    }
    if (data.cpuProfile.samples.length !== data.timeDeltas.length) problem('samples without time');
    for (const s of data.cpuProfile.samples) {
        if (!p.nodes.has(s)) problem('a sample of an unknown node ' + s);
        sampled += s !== 2;
    }
    for (const d of data.timeDeltas) if (!(d >= 0)) problem('time goes back in a profile');
}
for (const e of trace.traceEvents) {
    count[e.ph] = (count[e.ph] || 0) + 1;
    const id = e.pid + ' ' + e.tid;
    if (e.ph === 'M') { if (e.name === 'thread_name') named.add(id); continue; }
    if (!named.has(id)) problem('event before the name of thread ' + id);
    let t = threads.get(id);
    if (!t) threads.set(id, t = { stack: [], last: 0, spans: [] });
    if (e.ph === 'X') { t.spans.push(e); continue; }
    if (e.ph === 'b') { if (open.has(e.id)) problem('an id twice: ' + e.id); open.set(e.id, e); continue; }
    if (e.ph === 'e') {
        const begin = open.get(e.id);
        if (!begin || begin.name !== e.name || begin.cat !== e.cat || begin.ts > e.ts) problem('an end without begin: ' + e.name);
        open.delete(e.id);
        continue;
    }
    if (e.ph === 'P') { checkProfile(e); continue; }
    if ('Ci'.includes(e.ph) && runtime) { if (e.ph === 'i' && e.s !== 't') problem('an instant that is not of a thread'); continue; }
    if (e.ts < t.last) problem('time goes back in thread ' + id + ' at ' + e.ts);
    t.last = e.ts;
    if (e.ph === 'B') t.stack.push(e);
    else if (e.ph === 'E') {
        const begin = t.stack.pop();
        if (!begin || begin.name !== e.name) problem('end of ' + e.name + ' where ' + (begin && begin.name) + ' is open');
        else if (begin.ts === e.ts) instantCalls++;
    } else if (e.ph === 'i') { if (e.s !== 't') problem('an instant that is not of a thread'); }
    else if (e.ph !== 'C') problem('unknown phase ' + e.ph);
}
for (const [id, t] of threads) checkNesting(t.spans, id);
if (open.size) problem(open.size + ' asynchronous events left open');
for (const [id, t] of threads) if (t.stack.length) problem(t.stack.length + ' calls left open in thread ' + id);

if ((count.B || 0) !== (kinds.enter || 0)) problem(`${count.B} begins for ${kinds.enter} entries`);
if ((count.E || 0) !== (kinds.enter || 0)) problem(`${count.E} ends for ${kinds.enter} entries`);
if ((count.X || 0) + (count.b || 0) > (kinds.begin || 0)) problem('more spans than begins');
if (kinds.end && !count.X) problem('no spans');
if (runtime ? (count.i || 0) > kinds.instant : (count.i || 0) !== (kinds.instant || 0)) problem(`${count.i} instants for ${kinds.instant}`);
if (named.size < new Set(info.tracks.filter(t => t.events).map(t => t.pid + ' ' + t.tid)).size && !kinds.exit)
    problem('threads without a name');
console.log(JSON.stringify(count), ...(kinds.sample ? [`${sampled} samples,`] : []), `${instantCalls} calls of no duration,`, problems ? problems + ' problems' : 'right');
fs.writeFileSync(instantFile, String(instantCalls));
process.exit(problems ? 1 : 0);
END
node "$work/check.js" "$work/out.trace.json" "$work/info.json" "$work/instant" || exit 1

speedscope=${TL_SPEEDSCOPE:-$(npm root -g 2>/dev/null || true)/speedscope}
browser=$(command -v chromium-headless-shell || command -v chromium || true)
if [ ! -e "$speedscope/dist/release/index.html" ] || [ -z "$browser" ]; then
    echo "read with node, but not loaded in speedscope: it or chromium is not installed"
    exit 0
fi
if ! grep -q '"ph":"[BXP]"' "$work/out.trace.json"; then
    echo "not loaded in speedscope, which takes a trace without calls and samples for an error"
    exit 0
fi
{
    printf "speedscope.loadFileFromBase64('out.trace.json','"
    base64 -w0 "$work/out.trace.json"
    printf "')"
} >"$work/profile.js"
timeout 120 "$browser" --no-sandbox --disable-gpu --allow-file-access-from-files --enable-logging=stderr --v=0 \
    --virtual-time-budget=20000 --dump-dom "file://$speedscope/dist/release/index.html#localProfilePath=$work/profile.js" \
    >"$work/dom" 2>"$work/log" || true
# It complains whenever the begin has args and the end has none, but closes the right call. Calls of no duration it
# opens and closes in the wrong order if they are nested or have args: then its complaints mean nothing.
grep 'CONSOLE' "$work/log" | grep -i -E 'tried|error|fail' | grep -v -E 'Tried to end "([^{]*)" when "\1 \{.*instead' \
    >"$work/complaints" || true
if [ "$(cat "$work/instant")" -gt 0 ]; then
    grep -v -E 'Tried to end' "$work/complaints" >"$work/others" || true
    mv "$work/others" "$work/complaints"
fi
if grep -q -i 'something went wrong\|failed to load' "$work/dom" || [ -s "$work/complaints" ]; then
    echo "speedscope complains:"
    head -5 "$work/complaints"
    exit 1
fi
# The page shows the file's name once it is loaded; before that there are no complaints, either.
grep -q '<title>out.trace.json' "$work/dom" || {
    echo "speedscope did not load it: $(tail -n 5 "$work/log")"
    exit 1
}
