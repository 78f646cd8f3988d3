// A box for SQL, in served pages: tables and columns are those of traceloom-schema(5). A selected range limits what they hold.
import { button, el, fill, say, visible } from './dom.js';
import { grouped, human_bytes, human_time } from './units.js';
import { make_table, sort_rows } from './table.js';

const FIRST = 'SELECT name, count(*) AS n, sum(dur) AS total\nFROM calls GROUP BY name ORDER BY total DESC';
const ROWS_MOST = 1000;
const EXAMPLES = [
  ['Slowest calls', 'SELECT ts, dur, name, caller, thread FROM calls ORDER BY dur DESC LIMIT 50'],
  ['Functions', 'SELECT * FROM function_stats'],
  ['Events by class', 'SELECT name, count(*) AS n FROM events GROUP BY name ORDER BY n DESC'],
  ['Threads', 'SELECT * FROM tracks'],
];

function shown(unit, value) {
  if (value === null) return '-';
  if (typeof value === 'object') return visible(JSON.stringify(value));
  if (typeof value === 'number' && value >= 0) {
    if (unit === 'ns') return human_time(value);
    if (unit === 'bytes') return human_bytes(value);
    if (unit === 'hex') return '0x' + value.toString(16);
    if (Number.isInteger(value)) return grouped(value);
  }
  return visible(String(value));
}

function result_columns(result) {
  return result.columns.map((c, i) => {
    const num = result.rows.some((row) => typeof row[i] === 'number');
    return {
      id: 'c' + i, title: visible(c.name), num, text: (row) => shown(c.unit, row[i]),
      value: (row) => num ? row[i] ?? -Infinity : String(row[i] ?? ''),
      cell: num ? undefined : (row) => {
        const text = shown(c.unit, row[i]);
        return el('span', { class: 'tree-name', title: text }, text);
      },
    };
  });
}

export function make_sql_view(app) {
  const box = el('textarea', { id: 'sql', 'aria-label': 'SQL', rows: '5', spellcheck: 'false', maxlength: '5000' });
  const note = el('p', { id: 'sql-note', class: 'faint', role: 'status' }, 'Ctrl-Enter runs it');
  const results = el('div', { class: 'results' });
  let last = null, sort = '', table = null;
  box.value = FIRST;

  function draw_table() {
    const columns = result_columns(last);
    table = make_table({
      label: 'Result', columns,
      sort(id) {
        sort = id;
        table.show(sort_rows(last.rows, columns, sort), { columns, sort });
      },
    });
    fill(results, table.element);
    table.show(last.rows, { columns });
  }

  async function run() {
    const t = app.state.get().range;
    note.textContent = 'running ...';
    note.classList.remove('wrong');
    try {
      const text = await app.source.server.ask('sql', { sql: box.value, n: ROWS_MOST, t }, 'sql');
      const answers = text.trim().split('\n').map((line) => JSON.parse(line));
      last = answers[answers.length - 1];
      sort = '';
      draw_table();
      const n = last.rows.length;
      note.textContent = (last.more ? 'the first ' + grouped(n) + ' rows; there are more' : grouped(n) + (n === 1 ? ' row' : ' rows')) +
        (t ? ', within ' + t : '');
    } catch (error) {
      if (error.code === 'cancelled') return;
      note.textContent = visible(error.message);
      note.classList.add('wrong');
    }
    say(note.textContent);
  }

  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
    event.stopPropagation();
  });
  const element = el('div', { class: 'sql' }, box,
    el('div', { class: 'bar-of-view' }, button('Run', 'run the statement (Ctrl-Enter)', run, { id: 'sql-run' }),
      button('Stop', 'end it', () => app.source.server.stop('sql')),
      ...EXAMPLES.map(([title, sql]) => button(title, sql, () => {
        box.value = sql;
        run();
      }))), note, results);
  return { element, own_table: true, draw() {} };
}
