// The first screen: what costs most, where it is, how bad the tail is.
import { button, el, fill, visible } from './dom.js';
import { grouped, percent } from './units.js';
import { function_percentile, percentile_text } from './profile.js';
import { make_flame } from './flame.js';
import { make_histogram } from './chart.js';
import { chart_data, timed_function } from './latency.js';
import { function_name_cell, shown_functions } from './functions.js';
import { words_title } from './tree.js';
import { show_call, slowest_calls } from './time_strip.js';
import { q_text } from './detail.js';

const HOT_MOST = 10;
const SLOW_MOST = 4;
const SLOW_CALLS_MOST = 5;
const FLAME_ROWS = 12;

function card(title, more, ...inside) {
  const head = el('div', { class: 'card-head' }, el('h2', null, title), ...more);
  return el('section', { class: 'card', 'aria-label': title }, head, ...inside);
}

// A small table of functions: columns are [title, text(f), bar(f)].
function short_table(app, label, rows, columns, open) {
  const { scene } = app;
  const low = (title) => title === words_title(scene.units) ? 'num low1' : 'num';
  const line = (f) => el('tr', { 'aria-selected': String(f === scene.pick), on: { click: () => open ? open(f) : app.pick(f, true) } },
    el('td', { class: 'name wide' }, el('button', { type: 'button', class: 'plain' }, function_name_cell(scene, f))),
    ...columns.map(([title, text, bar]) => {
      const cell = el('td', { class: low(title) }, text(f));
      if (bar) {
        const e = el('span', { class: 'bar', 'aria-hidden': 'true' });
        e.style.setProperty('--part', bar(f));
        cell.append(e);
      }
      return cell;
    }));
  return el('div', { class: 'wide-table', tabindex: '0' }, el('table', { class: 'rows short', 'aria-label': label },
    el('thead', null, el('tr', null, el('th', { class: 'name', scope: 'col' }, 'Function'),
      ...columns.map(([title]) => el('th', { class: low(title), scope: 'col' }, title)))),
    el('tbody', null, ...rows.map(line), rows.length ? null : el('tr', null, el('td', { class: 'none', colspan: columns.length + 1 }, 'no calls')))));
}

function hot_table(app) {
  const { scene } = app, { profile, units, state } = scene, s = profile.functions, whole = profile.meta.self;
  const top = profile.meta.top > 0 ? Math.min(HOT_MOST, profile.meta.top) : HOT_MOST, q = Math.min(state.q, 99.99);
  const columns = [['Self', (f) => units.short(s.self[f])],
    ['Share', (f) => percent(s.self[f], whole), (f) => s.self[f] / whole],
    [words_title(units), (f) => units.calls(s.calls[f]).split(' ')[0]]];
  if (profile.meta.histogram) columns.push([q_text(q), (f) => percentile_text(units, function_percentile(profile, f, q))]);
  return short_table(app, 'Hot functions', shown_functions(scene).slice(0, top), columns);
}

function wide_table(app) {
  const { scene } = app, { profile, units } = scene, s = profile.functions, whole = profile.tree.shown[0];
  const rows = shown_functions(scene).sort((a, b) => s.total[b] - s.total[a]).slice(0, HOT_MOST);
  return short_table(app, 'Functions by total', rows, [['Total', (f) => units.short(s.total[f])],
    ['Share', (f) => percent(s.total[f], whole), (f) => s.total[f] / whole],
    [words_title(units), (f) => units.calls(s.calls[f]).split(' ')[0]]]);
}

// One call of each function, which is in the timeline.
function slow_calls_table(app, calls) {
  const { profile, clock } = app.scene, worst = new Map(calls.map((call) => [call.f, call])), threads = profile.thread.length > 1;
  return short_table(app, 'Slowest calls', calls.slice(0, SLOW_CALLS_MOST).map((call) => call.f), [
    ['Duration', (f) => clock.short(worst.get(f).end - worst.get(f).begin)], ['At', (f) => clock.short(worst.get(f).begin)],
    ...(threads ? [['Thread', (f) => profile.thread[worst.get(f).thread] ?? '']] : [])], (f) => show_call(app, worst.get(f)));
}

function slow_table(app) {
  const { scene } = app, { profile, units } = scene, s = profile.functions;
  const rows = shown_functions(scene).filter((f) => s.calls[f] > 0).sort((a, b) => s.max[b] - s.max[a]).slice(0, SLOW_MOST);
  return short_table(app, 'Longest calls', rows, [['Longest', (f) => percentile_text(units, function_percentile(profile, f, 100))],
    ['p99', (f) => percentile_text(units, function_percentile(profile, f, 99))],
    ['p50', (f) => percentile_text(units, function_percentile(profile, f, 50))]]);
}

export function make_overview(app) {
  const hot = el('div'), wide = el('div'), slow = el('div'), flame_box = el('div', { class: 'flame-box' }), chart = el('div', { class: 'chart' });
  const title = el('span', { class: 'faint clip' }), flame = make_flame(flame_box, { app, label: 'Flame graph', rows: FLAME_ROWS });
  const histogram = make_histogram(chart, app), { meta } = app.profile_of(-1), left_out = meta.left_out || [];
  const to = (view, change) => () => app.state.set({ view, ...change }), more = { class: 'more' };
  const wide_card = card('Functions by total', [button('All', 'Functions by total', to('functions', { sort: 'total' }), more)], wide);
  const slow_card = card(app.source.has('slow') ? 'Slowest calls' : 'Longest calls', [button('All', 'Functions by their longest call', to('functions', { sort: 'max' }), more)], slow);
  const chart_card = card('Latency', [title, button('More', 'Latency', to('latency'), more)], chart);
  const element = el('div', { class: 'cards' },
    card('Hot functions', [button('All', 'Functions', to('functions'), more)], hot),
    meta.histogram ? el('div', { class: 'stack' }, slow_card, chart_card) : wide_card,
    left_out.length ? el('p', { class: 'whole faint' }, 'Not in this page: ' + visible(left_out.map((l) => grouped(l.n) + ' ' + l.text).join('; ')) + ' ', button('Losses', 'What is missing', to('losses'), more)) : null,
    el('div', { class: 'whole' }, card('Flame graph', [button('Large', 'Flame', to('flame'), more)], flame_box)));
  return {
    element, own_table: true,
    draw(scene) {
      fill(hot, hot_table(app));
      flame.show([{ shape: scene.shape, root: scene.focus }]);
      if (!meta.histogram) {
        fill(wide, wide_table(app));
        return;
      }
      fill(slow, app.source.has('slow') ? slow_calls_table(app, slowest_calls(scene, -1)) : slow_table(app));
      const f = timed_function(scene);
      title.textContent = f >= 0 ? scene.profile.name[f] : '';
      if (f >= 0) histogram.show(chart_data(scene, f, -1, false));
    },
    focus: () => flame.canvas.focus(),
  };
}
