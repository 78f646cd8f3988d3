// Which events there are, when, and what the first ones say. Calls, samples and instructions are counted only, if these have tabs.
import { button, el, fill, shorten, visible } from './dom.js';
import { grouped, percent, ticks_to_ns } from './units.js';
import { make_table, sort_rows } from './table.js';
import { relation_columns, unit_text } from './report_table.js';
import { make_boxes_chart } from './report_charts.js';

const STACKED_MOST = 8;
const VALUES_MOST = 6;
const SPARK = { width: 128, height: 18 };

// Numbers by class and column of the section `density`.
function read_density(density) {
  return density.classes.map((cells) => {
    const row = new Float64Array(density.columns);
    for (let i = 0, at = 0; i + 1 < cells.length; i += 2) {
      at += cells[i];
      row[at] += cells[i + 1];
    }
    return row;
  });
}

// A line of bars in a cell of a table.
function spark(app, row) {
  const ratio = Math.min(4, devicePixelRatio || 1), canvas = el('canvas', { class: 'spark', 'aria-hidden': 'true', width: SPARK.width * ratio, height: SPARK.height * ratio });
  const context = canvas.getContext('2d'), n = Math.min(64, row.length), sums = new Float64Array(n);
  row.forEach((v, i) => { sums[Math.floor(i * n / row.length)] += v; });
  const most = Math.max(...sums);
  context.scale(ratio, ratio);
  context.fillStyle = app.scene.paper.css('bar');
  sums.forEach((v, i) => {
    const h = v > 0 ? Math.max(1, v / most * SPARK.height) : 0;
    context.fillRect(i * SPARK.width / n, SPARK.height - h, Math.max(1, SPARK.width / n - 0.5), h);
  });
  return canvas;
}

function density_chart(app, holder, classes, density, rows) {
  const { meta } = app.profile_of(-1), hz = Number(meta.clock.hz), series = [];
  const time = (column) => ticks_to_ns(Math.round(density.first + column * density.width), hz);
  const points = (row) => Array.from(row, (v, i) => [time(i), time(i + 1), v]).filter((p) => p[2] > 0);
  const used = classes.slice(0, rows.length).map((c, i) => [c.class, rows[i]]).filter(([, row]) => row.some((v) => v > 0));
  used.slice(0, STACKED_MOST - 1).forEach(([name, row]) => series.push({ name, points: points(row) }));
  if (used.length >= STACKED_MOST) {
    const rest = new Float64Array(density.columns);
    for (const [, row] of used.slice(STACKED_MOST - 1)) row.forEach((v, i) => { rest[i] += v; });
    series.push({ name: used.length === STACKED_MOST ? used[STACKED_MOST - 1][0] : 'others', points: points(rest) });
  }
  return make_boxes_chart(holder, app, meta.kind === 'events' ? 'Events over time' : 'Other events over time', { series, from: time(0), to: time(density.columns), y: (v) => unit_text(v, 'count'),
    x: (v) => unit_text(Math.round(v), 'time', hz ? 'ns' : '') });
}

function fields_text(fields) {
  return visible(Object.entries(fields ?? {}).map(([name, v]) => name + '=' + (typeof v === 'string' ? v : JSON.stringify(v?.labels?.length ? v.labels.join('|') : v))).join('  '));
}

// How often each value of each field occurs in the events of the page.
function field_values(events) {
  const fields = new Map();
  for (const event of events)
    for (const [name, v] of Object.entries(event.fields ?? {})) {
      const text = typeof v === 'string' ? v : JSON.stringify(v?.labels?.length ? v.labels.join('|') : v);
      if (!fields.has(name)) fields.set(name, new Map());
      fields.get(name).set(text, (fields.get(name).get(text) ?? 0) + 1);
    }
  return [...fields].map(([name, values]) => [name, [...values].sort((a, b) => b[1] - a[1])]);
}

// How long threads were in which state; null where the trace does not say.
function make_states(app, sort) {
  const data = app.source.json('state'), part = app.source.json('tables').tables.find((t) => t.section === 'state')?.parts.find((p) => p.key === 'states');
  if (!data?.states.length || !part) return null;
  const table = make_table({ label: 'States of threads', columns: [], sort }), columns = relation_columns(part, data.unit, data.states, 'share', 2);
  table.element.style.setProperty('--rows', Math.min(data.states.length, 14));
  return { parts: [el('h2', null, 'States of threads'), table.element,
    data.left_out ? el('p', { class: 'faint' }, grouped(data.left_out) + ' more rows are not in this page; report --by state shows all') : ''],
  draw: (scene) => table.show(sort_rows(data.states, columns, scene.state.sort), { columns, sort: scene.state.sort }) };
}

export function make_events(app) {
  const { source } = app, data = source.json('class'), first = source.json('events'), density = source.json('density');
  const table = source.json('tables').tables.find((t) => t.section === 'class'), of = (key) => table.parts.find((p) => p.key === key);
  const rows_of = density ? read_density(density) : [], chart_box = el('div'), side = el('div', { class: 'fields', tabindex: '0' }), note = el('p', { class: 'faint' });
  const chart = density ? density_chart(app, chart_box, data.classes, density, rows_of) : null;
  const key = (row) => row.class + '\n' + row.kind, by_sort = (id) => app.state.set({ sort: id }, true);
  const classes = make_table({ label: 'Classes of events', columns: [], sort: by_sort, pick: (row) => app.state.set({ cls: row.class }, true) });
  const pairs = data.pairs.length ? make_table({ label: 'Pairs of classes', columns: [], sort: by_sort }) : null;
  const events = make_table({ label: 'First events', columns: [], none: 'none of the first events is of this class' });
  const states = make_states(app, by_sort);
  const only = app.profile_of(-1).meta.kind === 'events' ? '' : ' other than calls, samples and instructions', named = 'events' + only;
  const everything = button('All classes', 'show events of all classes', () => app.state.set({ cls: '' }, true));
  const index = new Map(data.classes.map((row, i) => [key(row), i]));

  function class_columns() {
    const columns = relation_columns(of('classes'), data.unit, data.classes, 'share', 0), end = columns.pop();
    const row = (r) => rows_of[index.get(key(r))];
    return [...columns, ...(chart ? [{ id: 'over', title: 'Over time', low: 1, text: () => '', cell: (r) => row(r) ? spark(app, row(r)) : el('span', null, '') }] : []), end];
  }

  const event_columns = [
    { id: 'ts', title: 'Time', num: true, text: (r) => unit_text(r.ts, 'time', first?.unit) },
    { id: 'thread', title: 'Track', low: 2, text: (r) => visible(r.thread ?? '-') },
    { id: 'cpu', title: 'CPU', num: true, low: 2, text: (r) => unit_text(r.cpu, '') },
    { id: 'class', title: 'Class', text: (r) => visible(r.class ?? '-') },
    { id: 'fields', title: 'Fields', wide: true, text: (r) => fields_text(r.fields),
      cell: (r) => el('span', { class: 'tree-name', title: shorten(fields_text({ ...r.context, ...r.fields }), 900) }, el('span', null, shorten(fields_text(r.fields), 400))) }];

  function draw_fields(picked, shown) {
    const values = field_values(shown);
    fill(side, el('h2', null, picked ? shorten(visible(picked), 200) : 'All classes'),
      el('p', { class: 'faint' }, 'values of fields in ' + (shown.length === 1 ? 'one event' : grouped(shown.length) + ' events') + ' of this page'),
      ...values.slice(0, 24).map(([name, list]) => el('div', null, el('h3', null, shorten(visible(name), 80)),
        el('table', { class: 'small', 'aria-label': visible(name) }, el('tbody', null, ...list.slice(0, VALUES_MOST).map(([text, n]) => el('tr', null,
          el('td', { class: 'name' }, el('span', { class: 'tree-name', title: shorten(visible(text), 300) }, el('span', null, shorten(visible(text), 120)))),
          el('td', { class: 'num' }, grouped(n)), el('td', { class: 'num' }, percent(n, shown.length)))))),
        list.length > VALUES_MOST ? el('p', { class: 'faint' }, 'and ' + grouped(list.length - VALUES_MOST) + ' other values') : null)));
  }

  function draw(scene) {
    const picked = data.classes.find((r) => r.class === scene.state.cls) ?? null, columns = class_columns(), all = first?.events ?? [];
    const shown = picked ? all.filter((r) => r.class === picked.class) : all;
    chart?.draw(scene);
    states?.draw(scene);
    classes.show(sort_rows(data.classes, columns, scene.state.sort), { columns, sort: scene.state.sort, chosen: picked });
    if (pairs) {
      const some = relation_columns(of('pairs'), data.unit, data.pairs, 'total', 1);
      pairs.show(sort_rows(data.pairs, some, scene.state.sort), { columns: some, sort: scene.state.sort });
    }
    events.show(shown, { columns: event_columns });
    everything.hidden = !picked;
    fill(note, 'The first ' + grouped(all.length) + (first?.left_out ? ' of ' + grouped(all.length + first.left_out) + ' ' + named : ' ' + named + ': all') +
      (picked ? ', of which ' + grouped(shown.length) + ' are ' + shorten(visible(picked.class), 80) : '') + ' ');
    draw_fields(picked?.class, shown);
  }

  for (const [list, rows] of [[classes, data.classes], [pairs, data.pairs], [events, first?.events ?? []]])
    list?.element.style.setProperty('--rows', Math.min(Math.max(rows.length, 1), 14));
  return { draw, own_table: true, focus: () => classes.table.focus(),
    element: el('div', { class: 'reports' }, el('div', { class: 'report' }, el('h2', { class: 'off' }, 'Events'), chart_box,
      el('h2', null, 'Classes \u00b7 ' + grouped(data.classes.length)),
      el('div', { class: 'beside' }, classes.element, side),
      data.left_out ? el('p', { class: 'faint' }, grouped(data.left_out) + ' more rows are not in this page; report --by class shows all') : null,
      ...(pairs ? [el('h2', null, 'Pairs of classes'), pairs.element] : []),
      ...(states?.parts ?? []),
      el('h2', null, 'First events'), el('p', null, note, everything), events.element)) };
}
