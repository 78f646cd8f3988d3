// Latency over time: when calls of one function took how long, and the calls that stand for its percentiles.
import { button, el } from './dom.js';
import { axis_text, grouped } from './units.js';
import { bucket_low, bucket_size } from './profile.js';
import { make_table } from './table.js';
import { make_heat_map } from './heat_map.js';
import { call_key, show_call } from './time_strip.js';

const KINDS = ['longest', 'p50', 'p90', 'p99'];

// Rows are buckets, the longest at the top.
function heat_data(scene, f) {
  const { heat } = scene.time, row = heat?.rows.get(f);
  if (!row) return null;
  const high = row.bucket.reduce((a, b) => Math.max(a, b), 0), low = row.bucket.reduce((a, b) => Math.min(a, b), high), rows = high - low + 1;
  const cells = new Float64Array(rows * heat.n), labels = [];
  for (let i = 0; i < row.bucket.length; i++) cells[(high - row.bucket[i]) * heat.n + row.column[i]] += row.calls[i];
  const step = Math.ceil(rows / 8);
  for (let b = high; b >= low; b -= step) labels.push([high - b, axis_text(scene.units, bucket_low(b, heat.sub))]);
  return { n: heat.n, ticks: heat.ticks, rows, cells, labels, left: 64, row_height: 0, bucket: (r) => high - r, row_of: (b) => high - b };
}

function bucket_of(value, sub) {
  const e = Math.max(0, Math.floor(Math.log2(Math.max(1, value))) - sub);
  return e * 2 ** sub + Math.floor(value / 2 ** e);
}

// A call of f in a cell of the map, the longest that the page has; null: none of them is in the page.
function call_in(spans, slow, f, from, to, low, high) {
  const fits = (begin, end) => begin >= from && begin < to && end - begin >= low && end - begin < high;
  let best = slow?.find((one) => one.f === f && fits(one.begin, one.end)) ?? null;
  for (const row of spans ?? [])
    for (let i = 0; i < row.fn.length; i++)
      if (row.fn[i] === f && fits(row.begin[i], row.end[i]) && !(best && best.end - best.begin >= row.end[i] - row.begin[i]))
        best = { f, thread: row.thread, begin: row.begin[i], end: row.end[i] };
  return best;
}

export function make_latency_heat(app) {
  const box = el('div', { class: 'chart heat' }), map = make_heat_map(box, app, 'Latency over time'), note = el('p', { class: 'faint' });
  const table = make_table({ label: 'Calls to look at', columns: [], none: 'none in this range', open: (call) => show_call(app, call) });
  const element = el('div', null, el('h3', null, 'Latency over time'), note, box, el('h3', null, 'Calls to look at'), table.element);

  async function open(data, f, row, k) {
    const { clock, time, profile } = app.scene, bucket = data.bucket(row), low = bucket_low(bucket, time.heat.sub);
    const { spans } = await app.times(['spans']), from = k * data.ticks, to = Math.min(clock.span, from + data.ticks);
    const call = data.cells[row * data.n + k] > 0 ? call_in(spans, time.slow, f, from, to, low, low + bucket_size(bucket, time.heat.sub)) : null;
    if (call) show_call(app, call);
    else app.state.set({ view: 'timeline', table: false, pick: profile.twins.key[f], zoom: clock.link(from, to) });
  }

  function exemplars(scene, f) {
    const { part } = scene;
    return (scene.time.slow ?? []).filter((one) => one.f === f && (!part || (one.begin >= part.begin && one.begin < part.end)));
  }

  return {
    element, canvas: map.canvas,
    draw(scene, f) {
      const data = heat_data(scene, f), { clock, units, profile } = scene, calls = exemplars(scene, f);
      box.hidden = !data;
      note.textContent = data ? 'each column ' + clock.short(data.ticks) + '; the stronger the colour, the more calls; circles are the calls below; click: timeline'
        : 'only the functions with the largest total have this';
      if (data) map.show({ ...data,
        marks: calls.map((one) => [one.begin, data.row_of(bucket_of(one.end - one.begin, scene.time.heat.sub))]),
        title: (row, k) => clock.short(k * data.ticks) + ' \u2026 ' + clock.short(Math.min(clock.span, (k + 1) * data.ticks)),
        lines(row, k) {
          const low = bucket_low(data.bucket(row), scene.time.heat.sub);
          return [['from', units.short(low)], ['below', units.short(low + bucket_size(data.bucket(row), scene.time.heat.sub))],
            [units.words.many, grouped(data.cells[row * data.n + k])]];
        },
        open: (row, k) => open(data, f, row, k) });
      table.element.style.height = Math.min(300, 32 + 28 * Math.max(2, calls.length)) + 'px';
      const at = calls.find((one) => call_key(scene, one) === scene.state.call);
      table.show(calls, { chosen: at ?? null, columns: [
        { id: 'kind', title: 'Near', text: (one) => KINDS[one.kind] ?? '' },
        { id: 'duration', title: 'Duration', num: true, text: (one) => units.short(one.end - one.begin) },
        { id: 'begin', title: 'At', num: true, text: (one) => clock.short(one.begin) },
        { id: 'thread', title: 'Thread', low: 1, text: (one) => profile.thread[one.thread] ?? '' },
        { id: 'go', title: 'Show', wide: true, text: () => 'timeline', cell: (one) => button('Timeline', 'show this call', () => show_call(app, one), { class: 'more' }) }] });
    },
  };
}
