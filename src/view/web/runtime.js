// What a managed runtime did: collections, compilations, allocations, the heap, processor time.
import { visible } from './dom.js';
import { make_reports_view, unit_text } from './report_table.js';
import { make_boxes_chart } from './report_charts.js';

const RUNTIME_BARS = { gc: { collections: 'pause' }, jit: { methods: '-total' }, alloc: { classes: 'bytes', 'live.classes': 'bytes' },
  heap: { snapshots: 'bytes', 'growth.classes': 'bytes' }, cpu: { tracks: 'used' } };

// "gen 0\u20131, LOH" for "ttft", or the sizes of generations.
function generations_text(v) {
  if (Array.isArray(v)) return visible(v.map((g) => g.name + ' ' + unit_text(g.alloc, 'bytes')).join(' \u00b7 '));
  const young = /^t{0,3}/.exec(v)[0].length, names = young ? ['gen 0' + (young > 1 ? '\u2013' + (young - 1) : '')] : [];
  for (let i = young; i < v.length; i++) if (v[i] === 't') names.push(i === 3 ? 'LOH' : 'gen ' + i);
  return names.join(', ') || 'no generation';
}

const time_text = (data) => (v) => unit_text(Math.round(v), 'time', data.unit);

// Values that hold until the next one.
function held(rows, value) {
  return rows.map((row, i) => [row.ts, i + 1 < rows.length ? rows[i + 1].ts : row.ts, value(row)]);
}

function gc_chart(app, data, holder) {
  const charts = [], x = time_text(data), rows = data.collections, sizes = data.heap ?? [];
  const to = Math.max(0, ...rows.map((r) => r.end), ...sizes.map((r) => r.ts));
  if (rows.length) {
    const points = rows.map((r) => [r.begin, r.end, r.pause, [r.track, r.reason].filter(Boolean).join(', ')]).sort((a, b) => a[0] - b[0]);
    charts.push(make_boxes_chart(holder, app, 'Pauses over time', { series: [{ name: 'pause', points }], from: 0, to, x, y: x }));
  }
  const names = [...new Set(sizes.flatMap((row) => row.generations.map((g) => g.name)))];
  if (sizes.length > 1)
    charts.push(make_boxes_chart(holder, app, 'Heap by generation over time', { from: 0, to, x, bytes: true, y: (v) => unit_text(v, 'bytes'),
      series: names.map((name) => ({ name, points: held(sizes, (row) => row.generations.find((g) => g.name === name)?.alloc ?? 0) })) }));
  return { draw: (scene) => charts.forEach((c) => c.draw(scene)) };
}

function heap_chart(app, data, holder) {
  const rows = data.snapshots;
  if (rows.length < 2) return null;
  const points = held(rows, (row) => row.bytes), to = points[points.length - 1][1], x = (v) => unit_text(Math.round(v), 'time', 'ns');
  return make_boxes_chart(holder, app, 'Heap over time', { series: [{ name: 'objects', points }], from: 0, to, x, bytes: true, y: (v) => unit_text(v, 'bytes') });
}

// Processors in use: of the process or, without it, of all threads.
function cpu_chart(app, data, holder) {
  const track = data.tracks.find((t) => t.points.length), points = (track?.points ?? []).map((p) =>
    [p.begin, p.end, p.end > p.begin ? p.used / (p.end - p.begin) : 0]);
  if (!points.length) return null;
  return make_boxes_chart(holder, app, 'Processors in use by ' + track.track, { series: [{ name: track.track, points }], from: 0,
    to: Math.max(...points.map((p) => p[1])), x: time_text(data), y: (v) => unit_text(v, '') + ' CPU' });
}

export function make_runtime(app) {
  return make_reports_view(app, 'runtime', { gc: gc_chart, heap: heap_chart, cpu: cpu_chart }, RUNTIME_BARS, { gc: { generations: generations_text } });
}
