// What the processor executed: instructions, blocks, branches, pages, caches.
import { grouped } from './units.js';
import { make_reports_view, unit_text } from './report_table.js';
import { make_boxes_chart, make_parts_bar, make_size_curve } from './report_charts.js';

const CODE_BARS = { mix: { classes: 'instructions' }, block: { blocks: 'executions' }, branch: { branches: 'taken' }, page: { pages: 'code' },
  cache: { levels: 'misses', misses_by_pc: 'loads' }, reuse: { distances: 'accesses' }, syscall: { syscalls: 'count' } };

function mix_chart(app, data, holder) {
  return data.classes.length ? make_parts_bar(holder, app, data.classes.map((c) => [c.name, c.instructions])) : null;
}

// Pages in the order of their addresses, one beside the other.
function page_chart(app, data, holder) {
  const rows = data.pages.slice().sort((a, b) => Number(a.page) - Number(b.page));
  const series = ['code', 'loads', 'stores'].map((name) => ({ name, points: rows.map((row, i) => [i, i + 1, row[name], row.page]) }));
  return make_boxes_chart(holder, app, 'Accesses by page', { series, from: 0, to: rows.length, y: (v) => unit_text(v, 'count'),
    x: (v) => rows[v]?.page ?? '' });
}

// A cache of so many lines, of which the least recently used goes, misses what was used longer ago, and first uses.
function reuse_chart(app, data, holder) {
  const rows = data.distances.filter((d) => d.from !== null), all = data.cold + rows.reduce((a, d) => a + d.accesses, 0);
  if (!rows.length || !all) return null;
  const points = [];
  let missed = all;
  for (const d of rows) {
    if (d.from > 0) points.push([d.from * data.line_size, missed / all]);
    missed -= d.accesses;
  }
  const last = rows[rows.length - 1];
  points.push([((last.to ?? last.from) + 1) * data.line_size, missed / all]);
  const levels = app.source.json('cache')?.levels ?? [];
  const marks = levels.filter((l) => l.size && l.line_size === data.line_size && (l.load.accesses || l.store.accesses)).map((l) => [l.name, l.size]);
  return make_size_curve(holder, app, 'Misses by size of the cache', { points, marks, what: 'misses', x: (v) => unit_text(v, 'bytes') });
}

// Misses of each level, in the order of the table.
function cache_chart(app, data, holder) {
  const used = data.levels.filter((l) => l.lookups);
  const series = ['code', 'load', 'store'].map((name) => ({ name, points: used.map((l, i) => [i, i + 0.8, l[name].misses, grouped(l[name].lookups) + ' lookups']) }));
  return used.length ? make_boxes_chart(holder, app, 'Misses by level', { series, from: 0, to: used.length, y: (v) => unit_text(v, 'count'),
    x: (v) => used[v]?.name ?? '' }) : null;
}

export function make_code(app) {
  return make_reports_view(app, 'code', { mix: mix_chart, page: page_chart, reuse: reuse_chart, cache: cache_chart }, CODE_BARS);
}
