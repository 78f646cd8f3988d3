// The calls of the timeline's window as a table.
import { say } from './dom.js';
import { grouped } from './units.js';
import { make_table, sort_rows } from './table.js';
import { function_name_cell } from './functions.js';
import { function_menu } from './menu.js';
import { first_above } from './time.js';
import { call_of } from './timeline_rows.js';

const TABLE_MOST = 20000;

function calls_in_window({ threads: chosen, matches }, threads, from, to) {
  const out = [];
  for (const { thread, rows } of threads) {
    if (chosen.size && !chosen.has(thread)) continue;
    for (const row of rows) {
      const { begin, end, fn } = row.spans ?? { begin: [], end: [] };
      for (let i = first_above(end, from); i < begin.length && begin[i] < to && out.length < TABLE_MOST; i++)
        if (!matches || matches[fn[i]]) out.push(call_of(row, i));
    }
  }
  return out.sort((a, b) => a.begin - b.begin || a.depth - b.depth);
}

export function make_call_table(app, select) {
  const table = make_table({ label: 'Calls in the window', columns: [], none: 'no calls here', sort: (id) => app.state.set({ sort: id }, true),
    pick: (call) => app.pick(call.f, true), open: select, menu: (call, event) => function_menu(app, call.f, null, 0, event) });
  return {
    element: table.element,
    draw(scene, threads, from, to) {
      const { clock, profile } = scene, calls = calls_in_window(scene, threads, from, to), columns = [
        { id: 'begin', title: 'Begin', num: true, text: (k) => clock.text(k.begin), value: (k) => k.begin },
        { id: 'duration', title: 'Duration', num: true, text: (k) => clock.text(k.end - k.begin), value: (k) => k.end - k.begin },
        { id: 'thread', title: 'Thread', low: 1, text: (k) => profile.thread[k.thread] ?? '', value: (k) => k.thread },
        { id: 'depth', title: 'Depth', num: true, low: 2, text: (k) => String(k.depth), value: (k) => k.depth },
        { id: 'name', title: 'Function', wide: true, text: (k) => profile.name[k.f], value: (k) => profile.name[k.f], cell: (k) => function_name_cell(scene, k.f) }];
      const sorted = columns.some((col) => col.id === scene.state.sort.replace('-', ''));
      table.show(sorted ? sort_rows(calls, columns, scene.state.sort) : calls, { columns, sort: sorted ? scene.state.sort : '' });
      if (calls.length === TABLE_MOST) say('the first ' + grouped(TABLE_MOST) + ' calls of the window');
    },
  };
}
