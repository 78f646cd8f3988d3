// The timeline of samples: which functions ran when, by the slices of the page.
import { el, shorten } from './dom.js';
import { percent } from './units.js';
import { make_table } from './table.js';
import { make_heat_map } from './heat_map.js';
import { function_name_cell, shown_functions } from './functions.js';
import { function_menu } from './menu.js';

const FUNCTIONS_MOST = 40;
const MAP_ROW = 20;

export function make_over_time(app) {
  const box = el('div', { class: 'heat-rows' }), map = make_heat_map(box, app, 'Functions over time'), note = el('p', { class: 'faint none' });
  const table = make_table({ label: 'Functions over time', columns: [], none: 'no samples', pick: (f) => app.pick(f, true),
    menu: (f, event) => function_menu(app, f, null, 0, event) });
  const element = el('div', { class: 'column' }, note, box, table.element);

  function sums_of(scene, rows) {
    const { slices } = scene.time, { tree } = app.profile_of(-1), at = new Map(rows.map((f, row) => [f, row])), cells = new Float64Array(rows.length * slices.n);
    for (let i = 0; i < slices.row.length; i++) {
      const row = slices.rest[i] ? undefined : at.get(tree.fn[slices.row[i]]);
      if (row !== undefined) cells[row * slices.n + slices.slice[i]] += slices.self[i];
    }
    return cells;
  }

  return {
    element, own_table: true, canvas: map.canvas,
    draw(scene) {
      const { clock, units, profile } = scene, { slices } = scene.time, rows = shown_functions(scene).slice(0, FUNCTIONS_MOST), cells = sums_of(scene, rows);
      const left = Math.round(Math.min(220, Math.max(96, innerWidth / 4))), peak = (row) => {
        let best = 0;
        for (let k = 1; k < slices.n; k++) if (cells[row * slices.n + k] > cells[row * slices.n + best]) best = k;
        return best;
      };
      note.textContent = 'self of each function in each ' + clock.short(slices.ticks) + '; the stronger the colour, the more. A trace of samples has no single calls.';
      box.hidden = scene.state.table || !rows.length;
      table.element.hidden = !scene.state.table;
      map.show({ n: slices.n, ticks: slices.ticks, rows: rows.length, cells, left, row_height: MAP_ROW,
        labels: rows.map((f, row) => [row, shorten(profile.name[f], Math.floor(left / 7)), f === scene.pick ? 'accent' : 'ink']),
        title: (row) => shorten(profile.name[rows[row]], 300),
        lines: (row, k) => [['from', clock.short(k * slices.ticks)], ['to', clock.short(Math.min(clock.span, (k + 1) * slices.ticks))],
          ['self', units.long(cells[row * slices.n + k])]],
        open: (row) => app.pick(rows[row], true) });
      if (scene.state.table) table.show(rows, { chosen: scene.pick, columns: [
        { id: 'self', title: 'Self', num: true, text: (f) => units.short(profile.functions.self[f]) },
        { id: 'share', title: 'Share', num: true, text: (f) => percent(profile.functions.self[f], profile.meta.self), bar: (f) => profile.functions.self[f] / profile.meta.self },
        { id: 'peak', title: 'Most at', num: true, text: (f) => clock.short(peak(rows.indexOf(f)) * slices.ticks) },
        { id: 'name', title: 'Function', wide: true, text: (f) => profile.name[f], cell: (f) => function_name_cell(scene, f) }] });
    },
    focus: () => map.canvas.focus(),
  };
}
