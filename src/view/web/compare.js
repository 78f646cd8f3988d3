// Two sides of runs: the verdicts as a table with each run as a dot, and the union of both trees.
import { button, el, fill, shorten, visible } from './dom.js';
import { grouped, human_bytes, human_count, human_time } from './units.js';
import { link } from './tree_shape.js';
import { make_table, sort_rows } from './table.js';
import { make_flame } from './flame.js';
import { save_csv, save_picture } from './export.js';

const WORSE = new Set(['slower', 'slightly slower', 'more', 'slightly more', 'larger', 'slightly larger']);
const BETTER = new Set(['faster', 'slightly faster', 'fewer', 'slightly fewer', 'smaller', 'slightly smaller']);
const LEVELS_NAMED = 64;                       // of the path of a row, as in the answer
const SCALE_LEAST = Math.log(1.25), SCALE_MOST = Math.log(4);
const NEITHER = 1e-9;

const known = (v) => v !== null && Number.isFinite(v);

function amount_of(unit) {
  return unit === 'share' ? (v) => (100 * v).toFixed(1) + ' %'
    : unit === 'count' ? (v) => grouped(Math.floor(v + 0.5))
      : unit === 'ns' ? (v) => human_time(Math.floor(v + 0.5))
        : unit === 'bytes' ? (v) => human_bytes(Math.floor(v + 0.5)) : (v) => human_count(Math.floor(v + 0.5));
}

export function change_text(v) {
  if (!known(v)) return '-';
  return v > 10 ? 'x ' + Number((v + 1).toPrecision(4)) : (v < 0 ? '' : '+') + (100 * v).toFixed(1) + ' %';
}

function interval_text(row) {
  return row.exact ? 'exact' : known(row.low) && known(row.high) ? change_text(row.low) + ' .. ' + change_text(row.high) : '-';
}

function note_of(row) {
  if (row.inlined_into) return 'inlined into ' + row.inlined_into + '?';
  if (row.was) return (row.maybe_renamed ? 'renamed? was ' : 'was ') + row.was;
  if (row.mix_changed && row.verdict !== 'exact') return 'mix of calls changed';
  return row.verdict === 'unclear' && row.runs ? 'about ' + grouped(row.runs) + ' runs a side would tell' : '';
}

function kind_of(verdict) {
  return WORSE.has(verdict) ? 'worse' : BETTER.has(verdict) ? 'better' : verdict === 'new' || verdict === 'gone' ? verdict
    : verdict === 'same' || verdict === 'exact' ? 'same' : 'unclear';
}

// The rows, with names that can be shown; `key` is what a place of the trees is looked up by.
function read_rows(answer) {
  return answer.rows.map((row) => {
    const shown = { ...row, amount: amount_of(row.unit), kind: kind_of(row.verdict) };
    for (const name of ['function', 'was', 'path', 'inlined_into']) if (row[name]) shown[name] = visible(row[name]);
    shown.key = shown.path ?? shown.function;
    return shown;
  });
}

// For each path, the row that matters most: durations before counts.
function verdicts_of(rows) {
  const found = new Map();
  for (const row of rows) {
    const before = found.get(row.key);
    if (!before || (before.unit === 'count' && row.unit !== 'count')) found.set(row.key, row);
  }
  return found;
}

function read_union(union, profile) {
  const n = union.places, label = union.name.map((name) => name === null ? 'all' : visible(name));
  const zeros = new Float64Array(n), width = Float64Array.from(union.width);
  const pair = (key) => union.base[key].map((v, i) => [v, union.new[key][i]]);
  return link({
    kind: 'union', profile, n, label, parent: Int32Array.from(union.parent, (p, i) => i ? p : -1), fn: Int32Array.from(label, (name, i) =>
      i ? profile.twins.found.get(name) ?? -1 : -1), thread: new Int32Array(n).fill(-1), others: zeros, calls: zeros,
    total: width, shown: width, self: zeros, place: Int32Array.from(zeros, () => -1), calls_of: pair('calls'), total_of: pair('total'), self_of: pair('self'),
  });
}

// One row as a picture: the interval, the noise, and each run relative to the median of BASE.
function make_plot(row, scale, noise) {
  const plot = el('span', { class: 'runs', 'aria-hidden': 'true' }), at = (change) => {
    const v = Math.log(Math.max(NEITHER, 1 + change));
    return 50 + 50 * Math.max(-1, Math.min(1, v / scale));
  };
  const part = (kind, from, to) => plot.append(el('span', { class: kind, style: { left: from + '%', width: Math.max(0, to - from) + '%' } }));
  part('noise', at(1 / (1 + noise) - 1), at(noise));
  if (known(row.low) && known(row.high) && !row.exact) part('interval ' + row.kind, at(row.low), at(row.high));
  for (const [side, kind] of [[row.base, 'base'], [row.new, 'new']])
    for (const v of side)
      if (known(v) && row.base_median > 0) plot.append(el('span', { class: 'dot ' + kind, style: { left: at(v / row.base_median - 1) + '%' } }));
  if (known(row.change)) plot.append(el('span', { class: 'estimate', style: { left: at(row.change) + '%' } }));
  return plot;
}

// As far out as the intervals of most rows.
function scale_of(rows) {
  const far = rows.flatMap((r) => [r.low, r.high].filter(known)).map((v) => Math.abs(Math.log(Math.max(NEITHER, 1 + v)))).sort((a, b) => a - b);
  const most = far.length ? far[Math.floor(far.length * 0.9)] : 0;
  return Math.min(SCALE_MOST, Math.max(SCALE_LEAST, most * 1.15));
}

function columns_of(scale, noise) {
  const number = (id, title, of, text, more) => ({ id, title, num: true, value: of, text, ...more });
  const amount = (id, title) => number(id, title, (r) => r[id + '_median'] ?? -1, (r) => known(r[id + '_median']) ? r.amount(r[id + '_median']) : '-', { low: 2 });
  return [
    { id: 'verdict', title: 'Verdict', text: (r) => r.verdict, cell: (r) => el('span', { class: 'verdict ' + r.kind }, r.verdict) },
    { id: 'name', title: 'Function', wide: true, value: (r) => r.key, text: (r) => r.key, cell: (r) =>
      el('span', { class: 'tree-name', title: shorten(r.key, 500) }, el('span', null, shorten(r.path ? r.path.split(';').slice(-3).join(';') : r.key, 300)),
        note_of(r) ? el('span', { class: 'faint note' }, shorten(note_of(r), 200)) : null) },
    { id: 'metric', title: 'Metric', value: (r) => r.metric, text: (r) => r.metric },
    amount('base', 'Base'), amount('new', 'New'),
    number('change', 'Change', (r) => known(r.change) ? Math.abs(Math.log(Math.max(NEITHER, 1 + r.change))) : -1, (r) => change_text(r.change), { tip: 'estimate of the change from BASE to NEW' }),
    { id: 'runs', title: 'Runs', low: 2, text: () => '', cell: (r) => make_plot(r, scale, noise),
      tip: 'each run relative to the median of BASE: BASE above, NEW below; the bar is the interval, the band the noise' },
    number('interval', '95 % interval', (r) => known(r.low) ? r.low : -2, interval_text, { low: 1 }),
    number('q', 'q', (r) => known(r.q) ? -r.q : -2, (r) => known(r.q) ? r.q < 0.001 ? '<0.001' : r.q.toFixed(3) : '-',
      { low: 3, tip: 'of all rows called different, at most 5 % are expected to be none' }),
  ];
}

function gate_list(gates) {
  return el('ul', { class: 'gates', 'aria-label': 'Gates' }, ...gates.map((g) => el('li', null,
    el('span', { class: 'verdict ' + (g.status === 'failed' ? 'worse' : g.status === 'passed' ? 'better' : 'unclear') }, g.status), ' ',
    el('code', null, visible(g.gate)), g.message ? el('span', { class: 'faint' }, ' ' + visible(g.message)) : null)));
}

// "3 slower, 1 new, 8 unclear"
function count_text(rows) {
  const counts = new Map();
  for (const row of rows) counts.set(row.verdict, (counts.get(row.verdict) ?? 0) + 1);
  return [...counts].map(([verdict, n]) => grouped(n) + ' ' + verdict).join(', ');
}

function place_lines(shape, i, row, unit) {
  const amount = amount_of(unit), [base, now] = shape.total_of[i], sides = (a, b) => a + ' \u2192 ' + b;
  const lines = [['total a run', sides(amount(base), amount(now)) + (base > 0 && now > 0 ? ' \u00b7 ' + change_text(now / base - 1) : '')],
    ['self a run', sides(...shape.self_of[i].map(amount))], ['calls a run', sides(...shape.calls_of[i].map((v) => grouped(Math.floor(v + 0.5))))]];
  if (row) lines.push([row.metric, change_text(row.change) + ' (' + interval_text(row) + '): ' + row.verdict]);
  return lines;
}

// The tree of both sides. A box is as wide as the larger side; a line below it is as long as the other one.
function make_union_flame(app, holder, shape, verdicts, unit) {
  const found = new Map(), row_of = (i) => {
    if (!found.has(i)) {
      const path = [];
      for (let k = i; k > 0 && path.length <= LEVELS_NAMED; k = shape.parent[k]) path.unshift(shape.label[k]);
      if (path.length > LEVELS_NAMED) path[0] = '...';
      found.set(i, verdicts.get(path.join(';')));
    }
    return found.get(i);
  };
  return make_flame(holder, {
    app, label: 'Trees of both sides',
    lines: (of, i) => place_lines(of, i, row_of(i), unit),
    amount: (of, i) => {
      const [base, now] = of.total_of[i], row = row_of(i);
      if (base > 0 !== now > 0) return now > 0 ? 'new' : 'gone';
      return row && known(row.change) && row.kind !== 'unclear' && row.kind !== 'same' ? row.metric + ' ' + change_text(row.change) : row?.verdict ?? '';
    },
    colour(box) {
      const [base, now] = shape.total_of[box.node], row = row_of(box.node);
      if (box.node === 0) return 'root';
      if (base === 0 && now === 0) return 'same';
      const kind = base === 0 ? 'new' : now === 0 ? 'gone' : row?.kind ?? 'same';
      return kind === 'worse' || kind === 'new' ? 'worse' : kind === 'better' || kind === 'gone' ? 'better' : kind === 'unclear' ? 'others' : 'same';
    },
    hatched: (box) => box.node > 0 && (row_of(box.node)?.kind === 'unclear' || shape.total_of[box.node].some((v) => v === 0)),
    under: (box) => {
      const [base, now] = shape.total_of[box.node];
      return box.node > 0 && base > 0 && now > 0 && base !== now ? Math.min(base, now) / Math.max(base, now) : 0;
    },
    open: (box) => {
      if (shape.fn[box.node] >= 0) app.pick(shape.fn[box.node]);
    },
  });
}

export function make_compare(app) {
  const answer = app.source.json('compare'), union = app.source.json('union');
  const rows = read_rows(answer), scale = scale_of(rows), shape = read_union(union, app.profile_of(-1));
  const columns = columns_of(scale, union.noise), holder = el('div', { class: 'union' });
  const table = make_table({
    label: 'Changes', columns, none: 'nothing was compared',
    sort: (id) => app.state.set({ sort: id === 'verdict' ? '' : id }, true),
    pick(row) {
      const f = app.scene.profile.twins.found.get(row.function);
      if (f !== undefined) app.pick(f, true);
    },
  });
  const paths = app.source.has('paths') ? read_rows(app.source.json('paths')) : rows;
  const flame = make_union_flame(app, holder, shape, verdicts_of(paths), answer.unit);
  const warnings = (answer.warnings || []).map((w) => el('li', null, visible(w.message)));
  const element = el('div', { class: 'compare' },
    el('div', { class: 'compare-head' },
      el('p', null, el('strong', null, answer.base.runs.length + ' + ' + answer.new.runs.length + ' runs'), ' of ' + visible(union.sides[0]) + ' and ' +
        visible(union.sides[1]) + ': ' + count_text(rows)),
      (answer.gates || []).length ? gate_list(answer.gates) : null,
      warnings.length ? el('ul', { class: 'warnings' }, ...warnings) : null),
    table.element,
    el('div', { class: 'union-head' }, el('h2', null, 'Both trees'),
      ...[['worse', 'slower or new'], ['better', 'faster or gone'], ['unclear', 'unclear'], ['same', 'same, or not compared']].map(([kind, text]) =>
        el('span', { class: 'key' }, el('span', { class: 'verdict ' + kind, 'aria-hidden': 'true' }, '\u2002'), text)),
      union.left_out ? el('span', { class: 'faint' }, grouped(union.left_out) + ' narrow places are left out') : null),
    holder);
  // Functions that are gone are not in the profile, so only their name can be looked at.
  const matches = (scene, row) => {
    const f = scene.profile.twins.found.get(row.function);
    return f !== undefined ? scene.matches[f] : row.function.toLowerCase().includes(scene.state.find.toLowerCase());
  };
  return {
    element, own_table: true, table,
    tools: () => [button('CSV', 'save the table', () => save_csv(columns.map((c) => c.title),
      table.rows().map((r) => columns.map((c) => c.text(r))))), button('PNG', 'save the picture', () => save_picture(flame.canvas))],
    draw(scene) {
      const shown = scene.matches ? rows.filter((row) => matches(scene, row)) : rows, by = scene.state.sort || '';
      table.show(by ? sort_rows(shown, columns, by) : shown, { columns, sort: by });
      flame.show([{ shape, root: 0 }]);
    },
    next_match(scene, step) {
      const list = table.rows();
      if (list.length) table.activate((list.indexOf(table.active()) + step + list.length) % list.length);
    },
    focus: () => table.table.focus(),
  };
}
