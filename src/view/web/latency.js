// Durations of the calls of one function: histogram, percentiles, and the same as tables.
import { el, fill } from './dom.js';
import { grouped, percent } from './units.js';
import { bucket_low, bucket_size, function_percentile, percentile_text } from './profile.js';
import { MARKS, bars_of, make_curve, make_histogram } from './chart.js';
import { make_table, sort_rows } from './table.js';
import { q_text, swatch } from './detail.js';
import { duration_column, function_name_cell, shown_functions } from './functions.js';
import { function_menu } from './menu.js';
import { make_latency_heat } from './latency_heat.js';

const TABLE_QS = [50, 75, 90, 95, 99, 99.9, 99.99];

// The picked function, or else the heaviest one that has durations.
export function timed_function(scene) {
  const { profile, pick } = scene, has = (f) => profile.histograms.has(f) || profile.functions.calls[f] > 0;
  if (pick >= 0 && has(pick)) return pick;
  let best = -1;
  for (const f of profile.functions.order)
    if (has(f) && (best < 0 || profile.functions.self[f] > profile.functions.self[best])) best = f;
  return best;
}

// What the charts draw of a function; bits: 2^bits bars an octave, -1: as many as its calls bear.
export function chart_data(scene, f, bits, log) {
  const { profile } = scene, s = profile.exact ?? profile.functions, h = profile.histograms.get(f) ?? null, calls = s.calls[f];
  const marks = [...new Set([...MARKS, scene.state.q])].filter((q) => q < 100).sort((a, b) => a - b)
    .map((q) => [q, function_percentile(profile, f, q)?.ticks]).filter(([, ticks]) => ticks !== undefined);
  const [min, max] = profile.part && !profile.exact ? ends_of(h) : [s.min[f], s.max[f]];
  return { h, bits: bits >= 0 ? bits : default_bits(h, calls), log, marks, calls, min, max };
}

// In a range the shortest and the longest call are not known, but their buckets.
function ends_of(h) {
  if (!h) return [0, 0];
  const last = h.buckets[h.buckets.length - 1];
  return [bucket_low(h.buckets[0], h.sub), bucket_low(last, h.sub) + bucket_size(last, h.sub) - 1];
}

function default_bits(h, calls) {
  let bits = calls > 5000 ? 5 : calls > 500 ? 4 : 3;
  if (!h) return bits;
  // A bar must not be narrower than a bucket, which is a whole tick, where most calls are.
  const middle = bucket_low(h.buckets[h.buckets.length >> 1], h.sub), size = bucket_size(h.buckets[h.buckets.length >> 1], h.sub);
  while (bits > 0 && middle * 0.69 / 2 ** bits < 2 * size) bits--;
  while (bits > 1 && bars_of(h, bits).length > 160) bits--;
  return bits;
}

function percentile_table(scene, f) {
  const qs = [...new Set([...TABLE_QS, scene.state.q])].filter((q) => q < 100).sort((a, b) => a - b);
  const rows = [0, ...qs, 100].map((q) => [q === 0 ? 'min' : q_text(q),
    percentile_text(scene.units, function_percentile(scene.profile, f, q)), q === scene.state.q]);
  return el('table', { class: 'small across', 'aria-label': 'Percentiles' }, el('tbody', null,
    el('tr', null, ...rows.map(([title, , on]) => el('th', { scope: 'col', class: on ? 'num on' : 'num' }, title))),
    el('tr', null, ...rows.map(([, text]) => el('td', { class: 'num' }, text)))));
}

export function make_latency_view(app) {
  let bits = -1, log = false;
  const head = el('div', { class: 'chart-head' }), bar = el('div', { class: 'bar-of-view' }), numbers = el('div', { class: 'wide-table', tabindex: '0' });
  const box = el('div', { class: 'chart' }), curve_box = el('div', { class: 'chart' });
  const histogram = make_histogram(box, app), curve = make_curve(curve_box, app);
  const bars = make_table({ label: 'Histogram as a table', columns: [] });
  const heat = app.source.has('heat') ? make_latency_heat(app) : null, curve_title = el('h3', null, 'Duration by percentile');
  const charts = el('div', { class: 'charts' }, head, bar, box, bars.element, curve_title, curve_box, numbers, heat?.element ?? '');
  const list = make_table({
    label: 'Functions with durations', columns: [], none: 'no function matches',
    pick: (f) => app.pick(f, true), menu: (f, event) => function_menu(app, f, null, 0, event),
    sort: (id) => app.state.set({ sort: id }, true),
  });
  const slider = el('input', { type: 'range', min: '0', max: '8', step: '1', 'aria-label': 'bars for each doubling of the duration',
    on: { input: () => {
      bits = Number(slider.value);
      draw(app.scene);
    } } });
  const log_box = el('input', { type: 'checkbox', on: { change: () => {
    log = log_box.checked;
    draw(app.scene);
  } } });
  const slider_text = el('span', { class: 'faint' });

  function draw_list(scene) {
    const { profile } = scene, s = profile.functions, q = Math.min(scene.state.q, 99.99);
    const columns = [
      { id: 'name', title: 'Function', wide: true, text: (f) => profile.name[f], value: (f) => profile.name[f], cell: (f) => function_name_cell(scene, f) },
      ...new Set([50, q, 100])].map((c) => c.id ? c : duration_column(scene, c));
    const rows = shown_functions(scene).filter((f) => s.calls[f] > 0);
    list.show(sort_rows(rows, columns, scene.state.sort), { columns, sort: scene.state.sort || 'self', chosen: timed_function(scene) });
  }

  function draw_table(data, scene) {
    const { units } = scene, most = Math.max(1, ...histogram.bars().map((b) => b.calls));
    bars.show(histogram.bars(), { columns: [
      { id: 'from', title: 'From', num: true, text: (b) => units.short(b.low) },
      { id: 'below', title: 'Below', num: true, text: (b) => units.short(b.high) },
      { id: 'calls', title: 'Calls', num: true, text: (b) => grouped(b.calls) },
      { id: 'share', title: 'Share', num: true, text: (b) => percent(b.calls, data.calls), bar: (b) => b.calls / most },
      { id: 'sum', title: 'So far', num: true, text: (b) => percent(b.below + b.calls, data.calls) }] });
  }

  function draw(scene) {
    const f = timed_function(scene);
    draw_list(scene);
    if (f < 0) return;
    const data = chart_data(scene, f, bits, log), { profile, units } = scene;
    slider.max = String(data.h ? data.h.sub : 8);
    slider.value = String(data.bits);
    slider_text.textContent = 2 ** data.bits + (data.bits ? ' bars' : ' bar') + ' for each doubling';
    fill(head, el('h2', null, swatch(scene, f), profile.name[f]),
      el('span', { class: 'faint' }, units.calls(profile.functions.calls[f]) + ', self ' + units.short(profile.functions.self[f]) +
      (profile.exact ? '; durations of the ' + grouped(profile.exact.calls[f]) + ' that lie within' : '')));
    fill(bar, el('label', null, 'Bars ', slider), slider_text, el('span', { class: 'grow' }), el('label', null, log_box, ' logarithmic counts'));
    box.hidden = curve_box.hidden = curve_title.hidden = !data.h;
    histogram.show(data);
    box.hidden = box.hidden || scene.state.table;
    bars.element.hidden = !scene.state.table;
    if (scene.state.table) draw_table(data, scene);
    curve.show(data);
    fill(numbers, percentile_table(scene, f), data.h ? null : el('p', { class: 'faint' }, profile.part && !profile.exact ? 'only the functions with the largest total have durations in a range'
      : profile.exact && !profile.exact.calls[f] ? 'no call of it lies within the range' : 'the histogram of this function was left out of the page; its percentiles are exact'));
    heat?.draw(scene, f);
  }

  return { element: el('div', { class: 'latency' }, el('div', { class: 'side-list' }, list.element), charts), draw,
    own_table: true, focus: () => list.table.focus(), histogram };
}
