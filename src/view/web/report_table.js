// Tables of `report` as the page has them: rows of JSON, whose columns the section `tables` describes.
import { button, el, fill, shorten, visible } from './dom.js';
import { grouped, human_bytes, human_count, human_time, percent } from './units.js';
import { make_table, sort_rows } from './table.js';

const NAME_LAST_MOST = 10;
const KEPT_MOST = 3;    // columns up to that with the bar, where there is little room
const PLAIN = new Map([['ts', 'Time'], ['min_dur', 'Shortest']]);

export function spaced(key) {
  if (PLAIN.has(key)) return PLAIN.get(key);
  const words = key.replace(/[._[\]]+/g, ' ').trim();
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

// The value of a column, whose key may be a path.
export function member(row, key) {
  let v = row;
  for (const part of key.split('.')) v = v?.[part];
  return v ?? null;
}

// Digits that say nothing are left out on axes.
export function short_number(text) {
  return text.replace(/(\.\d*?)0+(?= |$)/, '$1').replace(/\.(?= |$)/, '');
}

// A number in words, as `report` has it; unit is that of the column, times that of times in the table.
export function unit_text(v, unit, times) {
  if (v === null) return '-';
  if (typeof v === 'string' && (unit === 'time' || unit === 'bytes' || unit === 'count')) return unit_text(Number(v), unit, times);
  if (typeof v === 'number' && v < 0) return '-' + unit_text(-v, unit, times);
  if (unit === 'time') return times === 'ns' ? human_time(v) : human_count(v);
  if (unit === 'bytes') return human_bytes(v);
  if (unit === 'count') return grouped(v);
  if (unit === 'share') return percent(v, 1);
  if (unit === 'bool') return v ? 'yes' : 'no';
  if (Array.isArray(v)) return grouped(v.length);
  if (typeof v === 'number') return Number.isInteger(v) ? String(v) : v >= 1e4 ? grouped(Math.round(v)) : String(Number(v.toPrecision(4)));
  return visible(typeof v === 'object' ? JSON.stringify(v) : String(v));
}

function comparable(v, unit) {
  if (unit === 'hex' && typeof v === 'string') return Number(v);
  return Array.isArray(v) ? v.length : typeof v === 'string' || typeof v === 'number' ? v : Number(v ?? -1);
}

// Columns of a part for make_table(). Numbers come first, and the name, which is the first text, last unless it would be too far
// right. texts: by column, what it shows in place of its value.
export function relation_columns(part, times, rows, bar, number, texts) {
  const shown = part.columns.filter((c) => rows.some((row) => member(row, c.key) !== null));
  const is_text = (c) => rows.some((row) => typeof member(row, c.key) === 'string') && c.unit !== 'hex';
  const name = shown.find((c) => c.key === 'name' && is_text(c)) ?? shown.find(is_text), most = bar ? rows.reduce((a, row) => Math.max(a, member(row, bar) ?? 0), 0) : 0;
  const at = shown.findIndex((c) => c.key === bar), kept = shown.slice(Math.max(0, at + 1 - KEPT_MOST), at + 1);
  const column = (c) => {
    const wide = c === name, own = texts?.[c.key];
    const text = (row) => own ? own(member(row, c.key)) : unit_text(member(row, c.key), c.unit, times);
    return { id: (number + c.key.replace(/[^a-z0-9]/g, '')).slice(0, 20), title: spaced(c.title ?? c.key), tip: c.what, num: !is_text(c), wide, text,
      value: (row) => comparable(member(row, c.key), c.unit), low: wide || kept.includes(c) ? undefined : Math.min(3, Math.ceil(shown.indexOf(c) / 4)),
      cell: wide ? (row) => el('span', { class: 'tree-name', title: shorten(text(row), 500) }, el('span', null, shorten(text(row), 300))) : undefined,
      bar: c.key === bar && most > 0 ? (row) => (member(row, c.key) ?? 0) / most : undefined };
  };
  const filler = { id: 'none', title: '', wide: true, text: () => '' };
  const others = shown.filter((c) => c !== name).map(column);
  return !name ? [...others, filler] : others.length > NAME_LAST_MOST ? [{ ...column(name), wide: false }, ...others] : [...others, column(name)];
}

// What has one value only: [title, text] each.
export function relation_facts(table, data) {
  return table.parts.filter((p) => p.key === null).flatMap((p) => p.columns)
    .map((c) => [spaced(c.key), member(data, c.key), c]).filter(([, v]) => v !== null)
    .map(([title, v, c]) => [title, unit_text(v, c.unit, data.unit), c.what]);
}

function facts_list(facts) {
  return facts.length ? el('dl', { class: 'facts' }, ...facts.map(([title, text, what]) =>
    el('div', null, el('dt', { title: what }, title), el('dd', null, text)))) : null;
}

// All of a table: its chart, its facts, its lists.
function make_report(app, table, chart, bars, texts) {
  const data = app.source.json(table.section), lists = [];
  const element = el('div', { class: 'report' }, el('h2', null, table.title.slice(0, 1).toUpperCase() + table.title.slice(1)));
  const drawn = chart?.(app, data, element);
  element.append(...[facts_list(relation_facts(table, data))].filter(Boolean));
  table.parts.forEach((part, number) => {
    const rows = part.key === null ? null : member(data, part.key);
    if (!rows?.length) return;
    const bar = bars?.[part.key] ?? '', columns = relation_columns(part, data.unit, rows, bar.replace('-', ''), number, texts);
    const usual = bar.startsWith('-') ? columns.find((c) => c.bar)?.id ?? '' : '';
    const list = make_table({ label: spaced(part.key), columns, sort: (id) => app.state.set({ sort: id }, true) });
    list.element.style.setProperty('--rows', Math.min(rows.length, 16));
    element.append(el('h3', null, spaced(part.key) + ' \u00b7 ' + grouped(rows.length)), list.element);
    lists.push({ list, rows, columns, usual });
  });
  if (data.left_out)
    element.append(el('p', { class: 'faint' }, grouped(data.left_out) + ' more rows are not in this page; report --by ' + table.section + ' shows all'));
  return { element,
    draw(scene) {
      drawn?.draw(scene);
      for (const { list, rows, columns, usual } of lists) {
        const sort = scene.state.sort || usual;
        list.show(sort_rows(rows, columns, sort), { columns, sort });
      }
    } };
}

// A view of all tables of a tab, one at a time. charts: by section, make(app, data, holder) => {draw(scene)}. bars: by section and
// list the column with bars, after a '-' if the list is in its order. texts: by section and column, text(value).
export function make_reports_view(app, tab, charts, bars, texts) {
  const tables = app.source.json('tables').tables.filter((t) => t.tab === tab && app.source.has(t.section)), made = new Map();
  const head = el('div', { class: 'bar-of-view', role: 'group', 'aria-label': 'Tables' }), holder = el('div', { class: 'reports' });
  const buttons = tables.map((t) => button(t.section, t.title, () => app.state.set({ rel: t.section, sort: '' })));
  fill(head, ...buttons);
  return { element: el('div', { class: 'column' }, head, holder), own_table: true,
    draw(scene) {
      const by = app.profile_of(-1).meta.by, named = (name) => tables.find((t) => t.section === name);
      const table = named(scene.state.rel) ?? named(by) ?? tables[0];
      if (!made.has(table.section)) made.set(table.section, make_report(app, table, charts[table.section], bars[table.section], texts?.[table.section]));
      buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(tables[i] === table)));
      const report = made.get(table.section);
      if (holder.firstElementChild !== report.element) fill(holder, report.element);
      report.draw(scene);
    } };
}
