// What the page knows about times: slices of the tree, single calls by row, the grid that covers all calls, durations over time.
import { read_varints } from './unpack.js';

const HEAT_BUCKETS = 512;

// Cells of places and pieces of time: {n, ticks, row, rest, slice, self, calls}. Where rest is 1, a cell is of all places below
// the row that have no cells.
function read_slices(columns) {
  const [head, cell, self, calls] = columns.map(read_varints), [n, ticks] = head;
  const row = new Int32Array(cell.length), rest = new Uint8Array(cell.length), slice = new Uint16Array(cell.length);
  for (let i = 0, at = 0; i < cell.length; i++) {
    at += cell[i];
    slice[i] = at % n;
    const place = (at - slice[i]) / n;
    rest[i] = place % 2;
    row[i] = (place - rest[i]) / 2;
  }
  return { n, ticks, row, rest, slice, self, calls };
}

// Rows {thread, depth, cells()}; cells by column, made when they are first drawn: {run, fn, share}, and calls and fn of each run.
function read_grid(columns) {
  const [head, thread, depth, count, length, fn] = columns.slice(0, 6).map(read_varints), share = columns[6], calls = read_varints(columns[7]);
  const [n, ticks] = head, rows = [];
  const expand = (first, runs) => {
    const cells = { fn: new Int32Array(n).fill(-1), share: new Uint8Array(n), run: new Uint16Array(n), calls: calls.subarray(first, first + runs) };
    for (let k = 0, at = 0; k < runs; k++)
      for (const end = Math.min(n, at + length[first + k]); at < end; at++) {
        cells.fn[at] = fn[first + k] - 1;
        cells.share[at] = share[first + k];
        cells.run[at] = k;
      }
    return cells;
  };
  for (let r = 0, run = 0; r < thread.length; run += count[r++]) {
    const first = run, runs = count[r];
    let cells = null;
    rows.push({ thread: thread[r], depth: depth[r], cells: () => cells ??= expand(first, runs) });
  }
  return { n, ticks, rows };
}

// Rows of single calls: {thread, depth, begin, end, fn, open, missing, missing_ticks, all_from}.
function read_spans(columns) {
  const [thread, depth, n, missing, missing_ticks, all_from, gap, duration, fn, flags] = columns.map(read_varints), rows = [];
  for (let r = 0, at = 0; r < thread.length; at += n[r++]) {
    const begin = gap.slice(at, at + n[r]), end = duration.slice(at, at + n[r]);
    for (let i = 1; i < begin.length; i++) begin[i] += begin[i - 1];
    for (let i = 0; i < end.length; i++) end[i] += begin[i];
    rows.push({ thread: thread[r], depth: depth[r], begin, end, fn: Int32Array.from(fn.subarray(at, at + n[r])),
      open: flags.subarray(at, at + n[r]), missing: missing[r], missing_ticks: missing_ticks[r], all_from: all_from[r] });
  }
  return rows;
}

// Calls by function, column of time and bucket: {n, ticks, sub, rows: Map function -> {column, bucket, calls}}.
function read_heat(columns) {
  const [head, fn, count, gap, calls] = columns.map(read_varints), [n, ticks, sub] = head, rows = new Map();
  for (let r = 0, from = 0; r < fn.length; from += count[r++]) {
    const column = new Uint16Array(count[r]), bucket = new Uint16Array(count[r]);
    for (let i = 0, at = 0; i < count[r]; i++) {
      at += gap[from + i];
      bucket[i] = at % HEAT_BUCKETS;
      column[i] = (at - bucket[i]) / HEAT_BUCKETS;
    }
    rows.set(fn[r], { column, bucket, calls: calls.subarray(from, from + count[r]) });
  }
  return { n, ticks, sub, rows };
}

function read_slow(columns) {
  const [fn, kind, place, thread, begin, duration] = columns.map(read_varints);
  return Array.from(fn, (f, i) => ({ f, kind: kind[i], place: place[i], thread: thread[i], begin: begin[i], end: begin[i] + duration[i] }));
}

const READERS = new Map([['slices', read_slices], ['grid', read_grid], ['spans', read_spans], ['heat', read_heat], ['slow', read_slow]]);

// Sections with times, each decoded when something first asks for it; null: not in this page.
export function make_times(source) {
  const answers = new Map();
  return async (names) => {
    for (const name of names)
      if (!answers.has(name)) answers.set(name, source.columns(name).then((columns) => columns && READERS.get(name)(columns)));
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await answers.get(name)])));
  };
}

// The first index whose value is larger.
export function first_above(sorted, value) {
  let from = 0, to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] > value) to = middle;
    else from = middle + 1;
  }
  return from;
}

// Threads as rows of the timeline have them, in the order of the file: {thread, rows: [{depth, grid, spans}]}.
export function rows_by_thread(grid, spans) {
  const threads = new Map(), add = (row, kind) => {
    const rows = threads.get(row.thread) ?? new Map(), one = rows.get(row.depth) ?? { thread: row.thread, depth: row.depth, grid: null, spans: null };
    one[kind] = row;
    rows.set(row.depth, one);
    threads.set(row.thread, rows);
  };
  for (const row of grid?.rows ?? []) add(row, 'grid');
  for (const row of spans ?? []) add(row, 'spans');
  return [...threads].sort((a, b) => a[0] - b[0]).map(([thread, rows]) => ({ thread, rows: [...rows.values()].sort((a, b) => a.depth - b.depth) }));
}

// How many threads do something in each column of the grid, 255 each.
export function busy_columns(grid, threads) {
  const sums = new Float64Array(grid.n);
  for (const row of grid.rows) {
    if (row.depth !== 1 || (threads && !threads.has(row.thread))) continue;
    const { share } = row.cells();
    for (let c = 0; c < grid.n; c++) sums[c] += share[c];
  }
  return sums;
}

// Of samples: how many in each slice, by the sums of all places.
export function counted_slices(slices) {
  const sums = new Float64Array(slices.n);
  for (let i = 0; i < slices.self.length; i++) sums[slices.slice[i]] += slices.self[i];
  return sums;
}

// The slices that a window touches, snapped: {from, to} in slices, {begin, end} in ticks.
export function snap(slices, clock, window) {
  const from = Math.min(slices.n - 1, Math.floor((window[0] + clock.slack) / slices.ticks));
  const to = Math.max(from + 1, Math.min(slices.n, Math.ceil((window[1] - clock.slack) / slices.ticks)));
  return { from, to, begin: from * slices.ticks, end: Math.min(clock.span, to * slices.ticks) };
}

// The same for a brush: the nearest borders.
export function snap_near(slices, clock, a, b) {
  const near = (t) => Math.max(0, Math.min(slices.n, Math.round(t / slices.ticks)));
  let from = near(Math.min(a, b)), to = near(Math.max(a, b));
  if (from === to) {
    from = Math.min(slices.n - 1, Math.max(0, Math.floor(Math.min(a, b) / slices.ticks)));
    to = from + 1;
  }
  return [from * slices.ticks, Math.min(clock.span, to * slices.ticks)];
}
