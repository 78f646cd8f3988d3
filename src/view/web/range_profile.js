// The profile of a part of the time, or of some threads: sums of slices. Percentiles come from heat, which is coarse.
import { make_units } from './units.js';
import { add_widths, sums_of_functions } from './profile.js';

// The tree with a row of others, at its end, for each row that has cells for places below it without any.
function with_rests(tree, slices) {
  const has = new Uint8Array(tree.n), rest = new Map();
  for (let i = 0; i < slices.row.length; i++) {
    if (slices.rest[i]) rest.set(slices.row[i], 0);
    else has[slices.row[i]] = 1;
  }
  if (!rest.size) return { tree, to: null };
  const near = new Int32Array(tree.n), rows = Array.from(rest.keys()), to = new Map(rows.map((row, k) => [row, tree.n + k]));
  for (let i = 0; i < tree.n; i++) {
    near[i] = has[i] || rest.has(i) ? i : near[Math.max(0, tree.parent[i])];
    if (near[i] !== i && (tree.self[i] > 0 || tree.calls[i] > 0)) rest.set(near[i], (rest.get(near[i]) ?? 0) + Math.max(1, tree.others[i]));
  }
  const join = (a, more) => {
    const all = new a.constructor(tree.n + rows.length);
    all.set(a);
    rows.forEach((row, k) => { all[tree.n + k] = more(row); });
    return all;
  };
  return { to, tree: { ...tree, n: tree.n + rows.length, parent: join(tree.parent, (row) => row), fn: join(tree.fn, () => -1),
    thread: join(tree.thread, () => -1), others: join(tree.others, (row) => Math.max(1, rest.get(row))) } };
}

// Self and calls of each place within the slices [from, to).
function sum_slices(n, to, slices, part) {
  const self = new Float64Array(n), calls = new Float64Array(n);
  for (let i = 0; i < slices.row.length; i++) {
    if (slices.slice[i] < part.from || slices.slice[i] >= part.to) continue;
    const row = slices.rest[i] ? to.get(slices.row[i]) : slices.row[i];
    self[row] += slices.self[i];
    calls[row] += slices.calls[i];
  }
  return { self, calls };
}

// Places below the root of another thread have nothing.
function clear_others(tree, threads, self, calls) {
  const out = new Uint8Array(tree.n);
  for (let i = 1; i < tree.n; i++) {
    out[i] = tree.thread[i] >= 0 ? Number(!threads.has(tree.thread[i])) : out[tree.parent[i]];
    if (out[i]) self[i] = calls[i] = 0;
  }
}

// The tree of what is left; `from_row` says which row of the file each of its rows is.
function compact(tree, self, calls) {
  const n = tree.n, total = Float64Array.from(self), keep = new Uint8Array(n), to = new Int32Array(n);
  for (let i = n - 1; i > 0; i--) {
    if (self[i] > 0 || calls[i] > 0) keep[i] = 1;
    if (keep[i]) keep[tree.parent[i]] = 1;
    total[tree.parent[i]] += total[i];
  }
  keep[0] = 1;
  const rows = [];
  for (let i = 0; i < n; i++)
    if (keep[i]) {
      to[i] = rows.length;
      rows.push(i);
    }
  const pick = (from) => from.constructor.from(rows, (i) => from[i]);
  const parent = Int32Array.from(rows, (i) => i > 0 ? to[tree.parent[i]] : -1);
  return add_widths({ n: rows.length, parent, fn: pick(tree.fn), thread: pick(tree.thread), others: pick(tree.others), calls: pick(calls),
    total: pick(total), self: pick(self), weights: [] });
}

// Histograms of the calls that begin within the window.
function sum_heat(heat, part) {
  const histograms = new Map(), from = part.begin / heat.ticks, to = part.end / heat.ticks;
  for (const [f, row] of heat.rows) {
    const sums = new Map();
    for (let i = 0; i < row.column.length; i++)
      if (row.column[i] + 0.5 >= from && row.column[i] + 0.5 < to) sums.set(row.bucket[i], (sums.get(row.bucket[i]) ?? 0) + row.calls[i]);
    const buckets = Float64Array.from(sums.keys()).sort();
    if (buckets.length) histograms.set(f, { sub: heat.sub, buckets, calls: Float64Array.from(buckets, (b) => sums.get(b)) });
  }
  return histograms;
}

// The longest call of each function that begins within the window, if it is one of the slowest of the whole time.
function find_longest(slow, { unwound }, part, threads) {
  const longest = new Map();
  for (const { f, kind, begin, end, thread } of slow ?? []) {
    if (kind !== 0 || begin < part.begin || begin >= part.end || (threads && !threads.has(thread))) continue;
    longest.set(f, { ticks: Math.max(longest.get(f)?.ticks ?? 0, end - begin), mark: unwound[f] > 0 ? '~' : '' });
  }
  return longest;
}

// part: {from, to} in slices and {begin, end} in ticks, or null; threads: a set, or null.
export function part_of_profile(profile, { slices, heat, slow }, part, threads) {
  const { tree, to } = part ? with_rests(profile.tree, slices) : { tree: profile.tree };
  const { self, calls } = part ? sum_slices(tree.n, to, slices, part)
    : { self: Float64Array.from(tree.self), calls: Float64Array.from(tree.calls) };
  if (threads) clear_others(tree, threads, self, calls);
  const other = compact(tree, self, calls), functions = sums_of_functions(other, profile.count, profile.functions.order, profile.meta.kind !== 'samples');
  const meta = { ...profile.meta, self: other.self.reduce((a, b) => a + b, 0), total: other.width[0] };
  return { ...profile, meta, units: make_units(meta), tree: other, functions, part: true,
    histograms: part && heat && !threads ? sum_heat(heat, part) : new Map(), longest: part ? find_longest(slow, profile.functions, part, threads) : new Map() };
}
