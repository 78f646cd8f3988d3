// What is missing, and why: damage, lost events, what the page left out, and how to make it again.
import { button, copy_text, el, visible } from './dom.js';
import { grouped } from './units.js';
import { make_table } from './table.js';

function section(title, ...inside) {
  return el('section', { class: 'card' }, el('h2', null, title), ...inside);
}

function sentences(list, none) {
  return list.length ? el('ul', null, ...list.map((text) => el('li', null, visible(text)))) : el('p', { class: 'faint' }, none);
}

function facts_table(rows) {
  return el('table', { class: 'small' }, el('tbody', null, ...rows.filter(([, text]) => text !== null && text !== '').map(([title, text]) =>
    el('tr', null, el('th', { scope: 'row' }, title), el('td', null, text)))));
}

function damage_section(source, meta) {
  const all = source.json('damage');
  if (!all || !all.n) return null;
  const files = meta.inputs.length > 1;
  const columns = [
    { id: 'kind', title: 'Kind', text: (d) => d.kind }, { id: 'rule', title: 'Rule', text: (d) => d.rule },
    { id: 'offset', title: 'At byte', num: true, text: (d) => d.offset === null ? '-' : grouped(d.offset) },
    { id: 'bytes', title: 'Bytes', num: true, text: (d) => d.bytes === null || d.bytes === undefined ? '-' : grouped(d.bytes) },
    { id: 'what', title: 'What was found', wide: true, text: (d) => visible(d.what ?? ''), cell: (d) => el('span', { class: 'tree-name', title: visible(d.what ?? '') }, visible(d.what ?? '')) },
  ];
  if (files || all.damage.some((d) => d.file))
    columns.unshift({ id: 'file', title: 'File', text: (d) => visible(d.file ?? meta.inputs[d.input - 1]?.name ?? '') });
  const table = make_table({ label: 'Damage', columns });
  table.show(all.damage, { columns });
  table.element.style.maxHeight = '420px';
  const rest = all.n - all.damage.length;
  return section('Damage: ' + grouped(all.n) + (all.n === 1 ? ' place' : ' places'), table.element,
    rest > 0 ? el('p', { class: 'faint' }, 'and ' + grouped(rest) + ' more, which traceloom check lists') : null);
}

export function make_losses(app) {
  const { source } = app, { meta } = app.profile_of(-1);
  const lost = meta.lost || {}, samples = meta.samples, unmatched = meta.unmatched || {};
  const some = (n) => n ? grouped(n) : null;
  const numbers = facts_table([
    ['Exits without entry', some(unmatched.exits)], ['Calls that never ended', some(unmatched.open)],
    ['Calls closed by an outer exit', some(unmatched.unwound)], ['Lost events', some(lost.events)], ['Lost packets', some(lost.packets)],
    ['Lost bytes', some(lost.bytes)], ['Events out of order', some(lost.out_of_order)],
    ['Samples', samples ? grouped(samples.counted) : null], ['Samples with an empty stack', samples ? some(samples.empty) : null],
    ['Samples while recording was paused', samples ? some(samples.paused) : null]]);
  const element = el('div', { class: 'losses' },
    section('Lost', sentences(meta.losses || [], 'nothing was lost'), numbers),
    damage_section(source, meta),
    (meta.notes || []).length ? section('Notes of the reader', sentences(meta.notes, '')) : null,
    section('Not in this page', sentences((meta.left_out || []).map((l) => grouped(l.n) + ' ' + l.text),
      meta.kind === 'events' ? 'every row of its tables is in this page' : 'every function and every place of the call tree is in this page'),
    meta.has_time || meta.kind === 'events' ? null : el('p', { class: 'faint' }, 'no timeline: ' + visible(meta.no_time || 'this page has sums, not times of single calls'))),
    section('This page', facts_table([
      ...meta.inputs.map((input) => ['Input', [visible(input.name), input.format, input.version].filter(Boolean).join(' \u00b7 ')]),
      ['Other inputs', some(meta.inputs_left_out)], ['Selection', meta.selection ? visible(meta.selection) : 'everything'],
      ['Made by', meta.made_by]]),
    meta.again ? el('p', { class: 'command' }, el('code', null, visible(meta.again)), button('Copy', 'copy the command', () => copy_text(meta.again))) : null));
  return { element, own_table: true, draw() {} };
}
