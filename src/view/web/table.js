// A table of any length: only the rows in sight are elements. Columns are {id, title, tip, num, low, wide, text(row), value(row),
// bar(row), cell(row)}: low ones go first where there is little room, a wide one takes what is left; those with value() can
// be sorted by.
import { el, fill } from './dom.js';
import { hide_tip, on_menu } from './canvas.js';

const SPARE_ROWS = 8;
let tables = 0;

function class_of(column) {
  return (column.num ? 'num' : 'name') + (column.low ? ' low' + column.low : '') + (column.wide ? ' wide' : '');
}

function make_cell(column, row) {
  const cell = el('td', { class: class_of(column) });
  if (column.cell) cell.append(column.cell(row));
  else cell.textContent = column.text(row);
  if (column.bar) {
    const bar = el('span', { class: 'bar', 'aria-hidden': 'true' });
    bar.style.setProperty('--part', Math.max(0, Math.min(1, column.bar(row))));
    cell.append(bar);
  }
  return cell;
}

// options: label, role, columns, pick(row), open(row), menu(row, event), sort(id), attributes(row), key(event, row),
// none (text of an empty table).
export function make_table(options) {
  const prefix = 'r' + ++tables + '-';
  const head = el('tr', { role: 'row' }), body = el('tbody');
  const table = el('table', { role: options.role || 'grid', 'aria-label': options.label, tabindex: '0', class: 'rows' },
    el('thead', null, head), body);
  const scroller = el('div', { class: 'scroller' }, table);
  let columns = options.columns, rows = [], active = 0, chosen = null, height = 28, drawn = '', sort = '';

  function draw_head() {
    fill(head, ...columns.map((c) => {
      const on = sort.replace('-', '') === c.id, up = sort.endsWith('-');
      const text = c.title + (on ? up ? ' \u25b4' : ' \u25be' : '');
      const inside = c.value && options.sort ? el('button', {
        type: 'button', tabindex: '-1', on: { click: () => options.sort(on && !up ? c.id + '-' : c.id) },
      }, text) : text;
      return el('th', {
        scope: 'col', class: class_of(c), title: c.tip, 'data-id': c.id,
        'aria-sort': on ? up ? 'ascending' : 'descending' : c.value && options.sort ? 'none' : undefined,
      }, inside);
    }));
  }

  function draw_row(i) {
    const row = rows[i], tr = el('tr', {
      id: prefix + i, 'aria-rowindex': i + 2, 'data-row': i, class: i === active ? 'active' : undefined,
      'aria-selected': chosen !== null && row === chosen ? 'true' : 'false',
      ...options.attributes?.(row),
    });
    tr.append(...columns.map((c) => make_cell(c, row)));
    return tr;
  }

  // The rows in sight, between two that are as high as all others.
  function draw(force) {
    const top = scroller.scrollTop, room = scroller.clientHeight || 600;
    const from = Math.max(0, Math.floor(top / height) - SPARE_ROWS);
    const to = Math.min(rows.length, Math.ceil((top + room) / height) + SPARE_ROWS);
    const key = from + '-' + to;
    if (!force && key === drawn) return;
    drawn = key;
    const space = (n) => n > 0 ? el('tr', { class: 'space', 'aria-hidden': 'true' },
      el('td', { colspan: columns.length, style: { height: n * height + 'px' } })) : null;
    const visible = [];
    for (let i = from; i < to; i++) visible.push(draw_row(i));
    const none = rows.length ? null
      : el('tr', null, el('td', { class: 'none', colspan: columns.length }, options.none || 'nothing to show'));
    fill(body, space(from), ...visible, none, space(rows.length - to));
    table.setAttribute('aria-rowcount', rows.length + 1);
    if (rows.length) table.setAttribute('aria-activedescendant', prefix + active);
    const first = body.querySelector('tr[data-row]');
    const seen = first ? Math.round(first.getBoundingClientRect().height) : 0;
    if (seen > 0 && seen !== height) {
      height = seen;
      draw(true);
    }
  }

  function activate(i, quiet) {
    active = Math.max(0, Math.min(rows.length - 1, i));
    const top = active * height, head_height = head.offsetHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + height + head_height > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = top + height + head_height - scroller.clientHeight;
    draw(true);
    if (!quiet && rows.length) options.pick?.(rows[active]);
  }

  const row_of = (event) => {
    const tr = event.target.closest?.('tr[data-row]');
    return tr ? Number(tr.dataset.row) : -1;
  };
  body.addEventListener('click', (event) => {
    const i = row_of(event);
    if (i < 0 || event.target.closest('button')) return;
    if (event.altKey && options.sandwich) options.sandwich(rows[i]);
    else activate(i);
  });
  body.addEventListener('dblclick', (event) => {
    const i = row_of(event);
    if (i >= 0) options.open?.(rows[i]);
  });
  on_menu(body, (event) => {
    const i = row_of(event);
    if (i < 0) return;
    activate(i, true);
    options.menu?.(rows[i], event);
  });
  scroller.addEventListener('scroll', () => {
    hide_tip();
    draw();
  });
  table.addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.floor(scroller.clientHeight / height) - 2);
    const steps = new Map([['ArrowDown', 1], ['ArrowUp', -1], ['PageDown', page], ['PageUp', -page],
      ['Home', -rows.length], ['End', rows.length]]);
    if (event.ctrlKey || event.metaKey || event.altKey || !rows.length) return;
    if (options.key?.(event, rows[active])) ;
    else if (steps.has(event.key)) activate(active + steps.get(event.key));
    else if (event.key === 'Enter') options.open?.(rows[active]);
    else if (event.key === 'm' || event.key === 'ContextMenu') {
      const at = body.querySelector('tr.active')?.getBoundingClientRect();
      options.menu?.(rows[active], { clientX: at ? at.left + 40 : 40, clientY: at ? at.bottom : 40 });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(() => draw(true)).observe(scroller);

  return {
    element: scroller, table, activate,
    rows: () => rows,
    active: () => rows[active],
    columns: () => columns,
    show(new_rows, more) {
      rows = new_rows;
      columns = more?.columns || columns;
      sort = more?.sort ?? sort;
      chosen = more?.chosen ?? null;
      const at = chosen === null ? -1 : rows.indexOf(chosen);
      active = at >= 0 ? at : Math.min(active, Math.max(0, rows.length - 1));
      draw_head();
      draw(true);
    },
  };
}

// Rows in the order of "column" (largest first; text from A) or "column-" (the reverse).
export function sort_rows(rows, columns, sort) {
  const up = sort.endsWith('-'), column = columns.find((c) => c.id === sort.replace('-', '') && c.value);
  if (!column) return rows;
  const keys = new Map(rows.map((row) => [row, column.value(row)]));
  const compare = (a, b) => {
    const x = keys.get(a), y = keys.get(b);
    if (typeof x === 'string') return x < y ? -1 : x > y ? 1 : 0;
    return (y ?? -1) - (x ?? -1);
  };
  return rows.slice().sort((a, b) => up ? compare(b, a) : compare(a, b));
}
