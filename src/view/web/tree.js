// The call tree as a table: the view Tree, and the table of the data of the flame graph.
import { button, el, shorten, visible } from './dom.js';
import { percent } from './units.js';
import { percentile_text, place_percentile } from './profile.js';
import { children, node_name, path_of } from './tree_shape.js';
import { make_table } from './table.js';
import { q_text, swatch } from './detail.js';
import { function_menu } from './menu.js';
import { save_csv } from './export.js';

const OPEN_LEVELS = 200;

function tree_columns(app, toggle, is_open) {
  const { scene } = app, { shape, units, profile } = scene, whole = shape.shown[0];
  const number = (id, title, text, more) => ({ id, title, text, num: true, ...more });
  const name = {
    id: 'name', wide: true, title: shape.kind === 'inverted' ? 'Function, and who calls it' : 'Call tree',
    cell(i) {
      const full = node_name(shape, i), some = children(shape, i).length > 0, f = shape.fn[i];
      const level = shape.depth[i] - shape.depth[scene.focus] - (scene.focus > 0 ? 0 : 1);
      const arrow = some ? el('button', { type: 'button', class: 'arrow', tabindex: '-1', 'aria-hidden': 'true',
        on: { click: () => toggle(i) } }, is_open(i) ? '\u25be' : '\u25b8') : el('span', { class: 'arrow' });
      const cell = el('span', { class: 'tree-name', title: shorten(full, 500) }, arrow, swatch(scene, f),
        el('span', { class: scene.matches && f >= 0 && scene.matches[f] ? 'hit' : null }, shorten(full, 300)));
      cell.style.setProperty('--level', Math.min(level, 40));
      return cell;
    },
  };
  const columns = [
    number('total', shape.kind === 'inverted' ? 'Self' : 'Total', (i) => units.short(shape.shown[i])),
    number('share', 'Share', (i) => percent(shape.shown[i], whole), { bar: (i) => shape.shown[i] / whole }),
    number('calls', words_title(units), (i) => shape.calls[i] >= 0 ? units.calls(shape.calls[i]).split(' ')[0] : '-', { low: 1 })];
  if (shape.kind !== 'inverted') columns.push(number('self', 'Self', (i) => units.short(shape.self[i]), { low: 1 }));
  if (profile.meta.histogram && shape.kind !== 'inverted')
    for (const q of [...new Set([50, 90, 99, scene.state.q])].sort((a, b) => a - b).filter((v) => v < 100).concat(100))
      columns.push(number(q_text(q), q_text(q), (i) => percentile_text(units, place_percentile(profile, shape.place[i], q)), { low: 2 }));
  return [...columns, name];
}

export function words_title(units) {
  return units.words.many[0].toUpperCase() + units.words.many.slice(1);
}

// A treegrid of the scene's tree below its focus.
export function make_tree_table(app, label) {
  let open = new Set(), shape = null, root = -1, picked = -1;
  const is_open = (i) => open.has(i);

  function toggle(i) {
    if (!children(shape, i).length) return;
    if (open.has(i)) open.delete(i);
    else open.add(i);
    show();
  }

  // The heaviest path, and whatever is a tenth of the whole.
  function open_heavy() {
    open = new Set([root]);
    const stack = [root];
    while (stack.length) {
      const i = stack.pop(), kids = children(shape, i);
      for (let k = 0; k < kids.length; k++) {
        const part = shape.total[kids[k]] / (shape.total[root] || 1);
        if (part < 0.1 || shape.depth[kids[k]] - shape.depth[root] > OPEN_LEVELS) break;
        open.add(kids[k]);
        stack.push(kids[k]);
      }
    }
  }

  function visible_rows() {
    const rows = [], stack = root > 0 ? [root] : Array.from(children(shape, 0)).reverse();
    while (stack.length) {
      const i = stack.pop();
      rows.push(i);
      if (!open.has(i)) continue;
      const kids = children(shape, i);
      for (let k = kids.length; k-- > 0;) stack.push(kids[k]);
    }
    return rows;
  }

  function key(event, i) {
    const kids = children(shape, i);
    if (event.key === 'ArrowRight' && kids.length && !open.has(i)) toggle(i);
    else if (event.key === 'ArrowRight' && kids.length) table.activate(table.rows().indexOf(kids[0]));
    else if (event.key === 'ArrowLeft' && open.has(i) && kids.length) toggle(i);
    else if (event.key === 'ArrowLeft') table.activate(Math.max(0, table.rows().indexOf(shape.parent[i])));
    else if (event.key === 's' && shape.fn[i] >= 0) app.sandwich(shape.fn[i]);
    else return false;
    return true;
  }

  const table = make_table({
    label, role: 'treegrid', columns: [], key, none: 'no calls',
    pick(i) {
      picked = i;
      app.pick(shape.fn[i], true);
    },
    open: (i) => app.focus(i),
    sandwich: (i) => shape.fn[i] >= 0 && app.sandwich(shape.fn[i]),
    menu: (i, event) => function_menu(app, shape.fn[i], shape, i, event),
    attributes(i) {
      const kids = children(shape, i), siblings = children(shape, Math.max(0, shape.parent[i]));
      return { 'aria-level': shape.depth[i] - shape.depth[root] + (root > 0 ? 1 : 0), 'aria-setsize': siblings.length,
        'aria-posinset': siblings.indexOf(i) + 1, 'aria-expanded': kids.length ? String(open.has(i)) : undefined };
    },
  });

  function show() {
    const chosen = picked >= 0 && app.scene.pick >= 0 && shape.fn[picked] === app.scene.pick ? picked : null;
    table.show(visible_rows(), { columns: tree_columns(app, toggle, is_open), chosen });
  }

  return {
    element: table.element, table: table.table,
    draw(scene) {
      if (scene.shape !== shape || scene.focus !== root) {
        shape = scene.shape;
        root = scene.focus;
        picked = -1;
        open_heavy();
      }
      show();
    },
    expand(all) {
      open = new Set([root]);
      if (all) for (let i = 0; i < shape.n; i++) if (shape.depth[i] < OPEN_LEVELS) open.add(i);
      show();
    },
    save() {
      const columns = tree_columns(app, toggle, is_open).slice(0, -1);
      save_csv(['Path', ...columns.map((c) => c.title)],
        table.rows().map((i) => [visible(path_of(shape, i).join(';')), ...columns.map((c) => c.text(i))]));
    },
    // Opens the way to the next matching place.
    next_match(scene, step) {
      const n = shape.n, at = Math.max(0, table.active() ?? 0);
      for (let k = 1; k <= n; k++) {
        const i = ((at + step * k) % n + n) % n;
        if (i === 0 || shape.fn[i] < 0 || !scene.matches?.[shape.fn[i]]) continue;
        let above = shape.parent[i];
        for (; above > 0 && above !== root; above = shape.parent[above]) open.add(above);
        if (above !== root && root > 0) continue;
        show();
        table.activate(table.rows().indexOf(i));
        table.table.focus();
        return;
      }
    },
    focus: () => table.table.focus(),
  };
}

export function make_tree_view(app) {
  const tree = make_tree_table(app, 'Call tree');
  return { ...tree, tools: () => [button('Expand', 'all rows', () => tree.expand(true)),
    button('Collapse', 'all rows', () => tree.expand(false)), button('CSV', 'save the rows that are shown', tree.save)] };
}
