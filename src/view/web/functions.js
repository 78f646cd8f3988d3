// The table of functions: that of `traceloom report`, sorted by any column.
import { button, el, shorten } from './dom.js';
import { percent } from './units.js';
import { function_percentile, percentile_text, place_text } from './profile.js';
import { outermost } from './tree_shape.js';
import { make_table, sort_rows } from './table.js';
import { q_text, swatch } from './detail.js';
import { words_title } from './tree.js';
import { function_menu } from './menu.js';
import { save_csv } from './export.js';

export function function_name_cell(scene, f) {
  const { profile } = scene;
  return el('span', { class: 'tree-name', title: shorten(profile.name[f], 500) }, swatch(scene, f),
    el('span', { class: scene.matches?.[f] ? 'hit' : null }, shorten(profile.name[f], 300)));
}

// A percentile, or the shortest (0) or longest (100) call.
export function duration_column(scene, q, low) {
  const { profile, units } = scene, of = (f) => function_percentile(profile, f, q);
  const id = q === 0 ? 'min' : q === 100 ? 'max' : 'p' + String(q).replace('.', '');
  return { id, title: q === 0 ? 'min' : q_text(q), num: true, low, text: (f) => percentile_text(units, of(f)), value: (f) => of(f)?.ticks };
}

export function function_columns(scene) {
  const { profile, units } = scene, s = profile.functions, whole = profile.meta.self, of = (a) => (f) => a[f];
  const amount = (id, title, a, more) => ({ id, title, num: true, text: (f) => units.short(a[f]), value: of(a), ...more });
  const columns = [
    amount('self', 'Self', s.self),
    { id: 'share', title: 'Share', num: true, text: (f) => percent(s.self[f], whole), value: of(s.self), bar: (f) => s.self[f] / whole,
      tip: 'of the self time of all functions' },
    amount('total', 'Total', s.total, { tip: 'with everything that it calls; recursion counts once' }),
    { id: 'calls', title: words_title(units), num: true, low: 1, text: (f) => units.calls(s.calls[f]).split(' ')[0], value: of(s.calls) }];
  if (profile.meta.histogram) {
    for (const q of [0, ...new Set([50, 90, 99, scene.state.q].filter((v) => v < 100).sort((a, b) => a - b)), 100])
      columns.push(duration_column(scene, q, q === scene.state.q ? 1 : q === 0 ? 3 : 2));
    if (s.unwound.some((n) => n > 0)) columns.push({ id: 'unwound', title: 'Unwound', num: true, low: 3, value: of(s.unwound),
      text: (f) => String(s.unwound[f]), tip: 'calls that the exit of an outer call closed: durations marked ~ depend on them' });
  }
  columns.push({ id: 'name', title: 'Function', wide: true, text: (f) => profile.name[f], value: of(profile.name), cell: (f) => function_name_cell(scene, f) });
  if (profile.file.some(Boolean))
    columns.push({ id: 'file', title: 'Source', low: 3, text: (f) => place_text(profile, f), value: (f) => place_text(profile, f) });
  if (profile.library.some(Boolean))
    columns.push({ id: 'module', title: 'Library', low: 3, text: (f) => profile.library[f], value: of(profile.library) });
  return columns;
}

// The functions that a search, keep and drop leave.
export function shown_functions(scene) {
  const rows = Array.from(scene.profile.functions.order);
  return rows.filter((f) => !scene.hidden?.[f] && (!scene.matches || scene.matches[f]));
}

export function make_functions_view(app) {
  const table = make_table({
    label: 'Functions', columns: [], none: 'no function matches',
    sort: (id) => app.state.set({ sort: id === 'self' ? '' : id }, true),
    pick: (f) => app.pick(f, true),
    open(f) {
      // The heaviest place of the function.
      const { base } = app.scene, places = outermost(base, f).sort((a, b) => base.total[b] - base.total[a]);
      app.state.set({ view: 'flame', invert: false, sandwich: false, pick: app.scene.profile.twins.key[f] });
      if (places.length) app.focus(places[0], f);
    },
    sandwich: (f) => app.sandwich(f),
    key(event, f) {
      if (event.key !== 's') return false;
      app.sandwich(f);
      return true;
    },
    menu: (f, event) => function_menu(app, f, null, 0, event),
  });
  return {
    element: table.element,
    table,
    tools(scene) {
      const columns = function_columns(scene), n = shown_functions(scene).length, all = Number(scene.profile.meta.functions);
      return [el('span', { class: 'faint' }, n === all ? n + ' functions' : n + ' of ' + all + ' functions'),
        button('CSV', 'save the table', () => save_csv(columns.map((c) => c.title), table.rows().map((f) => columns.map((c) => c.text(f)))))];
    },
    draw(scene) {
      const columns = function_columns(scene), rows = shown_functions(scene), by = scene.state.sort || 'self';
      table.show(scene.state.sort ? sort_rows(rows, columns, by) : rows,
        { columns, sort: by, chosen: scene.pick >= 0 ? scene.pick : null });
    },
    next_match(scene, step) {
      const rows = table.rows();
      if (!rows.length) return;
      table.activate((rows.indexOf(table.active()) + step + rows.length) % rows.length);
      table.table.focus();
    },
    focus: () => table.table.focus(),
  };
}
