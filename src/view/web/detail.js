// What is known about a place or a function: as lines of a tooltip, as a sentence, and as the panel beside the views.
import { el, fill, by_id, button, shorten } from './dom.js';
import { percent } from './units.js';
import { function_percentile, hue, percentile_text, place_percentile, place_text } from './profile.js';
import { children, node_name, outermost } from './tree_shape.js';
import { call_lines } from './call_text.js';

const LIST_MOST = 8;
const SHOWN_QS = [50, 90, 99, 99.9];

export function q_text(q) {
  return q >= 100 ? 'max' : 'p' + q;
}

// Lines of [label, text] about a node of a tree.
export function node_lines(scene, shape, i) {
  const { profile, units } = scene, f = shape.fn[i], place = shape.place[i], root = shape.shown[0], lines = [];
  const where = f >= 0 ? place_text(profile, f) : '';
  if (where) lines.push(['at', shorten(where, 80)]);
  if (f >= 0 && profile.library[f]) lines.push(['in', shorten(profile.library[f], 80)]);
  if (shape.others[i] > 0) lines.push(['places', 'too small for this page']);
  if (i > 0 && shape.calls[i] >= 0) lines.push([units.words.many, units.calls(shape.calls[i]).split(' ')[0]]);
  const name = shape.kind === 'inverted' ? 'self here' : 'total';
  lines.push([name, units.long(shape.shown[i]) + ' \u00b7 ' + percent(shape.shown[i], root) + ' of all']);
  const focus = shape === scene.shape ? scene.focus : 0;
  if (focus > 0 && focus !== i) lines.push(['in focus', percent(shape.shown[i], shape.shown[focus])]);
  if (shape.kind !== 'inverted' && shape.kind !== 'callers')
    lines.push(['self', units.long(shape.self[i]) + ' \u00b7 ' + percent(shape.self[i], root) + ' of all']);
  for (const q of [...SHOWN_QS.slice(0, 3), 100]) {
    const p = place_percentile(profile, place, q);
    if (p) lines.push([q_text(q), percentile_text(units, p)]);
  }
  return lines;
}

export function node_sentence(shape, i, lines) {
  return [node_name(shape, i), 'level ' + shape.depth[i], ...lines.map(([label, text]) => label + ' ' + text)].join(', ');
}

// Which functions call f and which it calls, each with the time that these calls take.
function neighbours(shape, f) {
  const above = new Map(), below = new Map(), open = new Map();
  const add = (map, key, amount) => map.set(key, (map.get(key) ?? 0) + amount);
  const called = (i) => shape.fn[i] !== f && shape.fn[shape.parent[i]] === f;
  for (const i of outermost(shape, f)) add(above, shape.fn[shape.parent[i]], shape.total[i]);
  // Within calls of f a callee counts once, however often f calls itself. A negative number leaves a node.
  const stack = Array.from(children(shape, 0));
  while (stack.length) {
    const i = stack.pop();
    if (i < 0) {
      add(open, shape.fn[-i], -1);
      continue;
    }
    if (called(i)) {
      if (!open.get(shape.fn[i])) add(below, shape.fn[i], shape.total[i]);
      add(open, shape.fn[i], 1);
      stack.push(-i);
    }
    for (const c of children(shape, i)) stack.push(c);
  }
  const sorted = (map) => [...map].sort((a, b) => b[1] - a[1]);
  return { above: sorted(above), below: sorted(below) };
}

export function swatch(scene, f) {
  const e = el('span', { class: 'swatch', 'aria-hidden': 'true' });
  e.style.background = f >= 0 ? scene.paper.css(hue(scene.profile, f)) : scene.paper.css('others');
  return e;
}

function neighbour_list(app, title, list, whole) {
  const { scene } = app, { profile, units } = scene;
  const rows = list.slice(0, LIST_MOST).map(([f, amount]) => {
    const name = f >= 0 ? profile.name[f] : title === 'Called from' ? 'outermost' : 'others';
    return el('tr', null,
      el('td', { class: 'name' }, el('span', { class: 'tree-name' }, swatch(scene, f),
        f >= 0 ? button(shorten(name, 200), shorten(name, 500), () => app.pick(f)) : el('span', null, name))),
      el('td', { class: 'num' }, units.short(amount)), el('td', { class: 'num' }, percent(amount, whole)));
  });
  if (!rows.length) return el('p', { class: 'faint' }, title === 'Calls' ? 'calls nothing' : 'not called');
  const rest = list.length - rows.length;
  return el('div', null, el('table', { class: 'small', 'aria-label': title }, el('tbody', null, ...rows)),
    rest > 0 ? el('p', { class: 'faint' }, 'and ' + rest + ' more') : null);
}

function numbers_of(app, f) {
  const { profile, units } = app.scene, s = profile.functions, whole = profile.meta.self;
  const lines = [['self', units.long(s.self[f]) + ' \u00b7 ' + percent(s.self[f], whole)],
    ['total', units.long(s.total[f]) + ' \u00b7 ' + percent(s.total[f], whole)],
    [units.words.many, units.calls(s.calls[f]).split(' ')[0]]];
  if (profile.meta.histogram && s.calls[f]) {
    lines.push(['shortest', percentile_text(units, function_percentile(profile, f, 0))]);
    const qs = [...new Set([...SHOWN_QS, app.scene.state.q])].filter((q) => q < 100).sort((a, b) => a - b);
    for (const q of qs) lines.push([q_text(q), percentile_text(units, function_percentile(profile, f, q))]);
    lines.push(['longest', percentile_text(units, function_percentile(profile, f, 100))]);
  }
  if (s.unwound[f] > 0) lines.push(['unwound', String(s.unwound[f])]);
  return el('dl', null, ...lines.flatMap(([label, text]) => [el('dt', null, label), el('dd', null, text)]));
}

// The panel: the picked function.
export function draw_detail(app) {
  const { scene } = app, f = scene.pick, panel = by_id('detail');
  panel.hidden = f < 0;
  by_id('work').classList.toggle('with-detail', f >= 0);
  if (f < 0) return;
  const { profile, base } = scene, where = place_text(profile, f), { above, below } = neighbours(base, f);
  const views = [['flame', 'Sandwich', { sandwich: true }], ['latency', 'Latency', {}]]
    .filter(([id]) => app.views.some((v) => v.id === id));
  fill(panel,
    el('div', { class: 'panel-head' }, swatch(scene, f), el('h2', { title: profile.name[f] }, shorten(profile.name[f], 400)),
      button('\u00d7', 'close (Esc)', () => app.pick(-1), { class: 'close', 'aria-label': 'close' })),
    where || profile.library[f] ? el('p', { class: 'faint where' }, shorten([where, profile.library[f]].filter(Boolean).join(' \u00b7 '), 300)) : null,
    el('p', { class: 'buttons' }, ...views.map(([id, text, more]) =>
      button(text, '', () => app.state.set({ view: id, focus: [], pick: profile.twins.key[f], ...more })))),
    scene.call ? el('dl', { class: 'call' }, ...call_lines(app, scene.call).flatMap(([label, text]) => [el('dt', null, label), el('dd', null, text)])) : null,
    numbers_of(app, f),
    el('h3', null, 'Called from'), neighbour_list(app, 'Called from', above, profile.functions.total[f]),
    el('h3', null, 'Calls'), neighbour_list(app, 'Calls', below, profile.functions.total[f]));
}
