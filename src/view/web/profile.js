// The profile of the page: functions, places, histograms. All numbers come from the file; here are only sums.
import { make_units } from './units.js';
import { visible } from './dom.js';
import { hue_of } from './colours.js';
import { read_signed, read_texts, read_varints } from './unpack.js';

// Percentiles that the file has for each function, in the order of its columns.
const STORED = [50, 90, 99, 99.9, 99.99];

const WEIGHT_UNITS = new Map([['nanoseconds', 'ns'], ['bytes', 'bytes']]);

function read_names(columns) {
  const v = (i) => read_varints(columns[i]);
  const texts = read_texts(v(6), columns[7]).map(visible);
  const name = v(0), file = v(1), library = v(3), thread = v(8), tid = v(10);
  const text = (i) => i > 0 ? texts[i - 1] ?? '' : '', flags = v(4), id = read_signed(columns[5]);
  // Where the texts have run out, functions are called by their id.
  const by_id = (f) => (flags[f] & 4) ? '0x' + BigInt(id[f]).toString(16) : '#' + id[f];
  return {
    name: Array.from(name, (i, f) => i > 0 ? text(i) : by_id(f)), file: Array.from(file, text), library: Array.from(library, text),
    line: v(2), flags, id,
    thread: Array.from(thread, (t, i) => text(t) || (tid[i] > 0 ? 'thread ' + (tid[i] - 1) : 'thread #' + (i + 1))),
  };
}

// Rows of `functions` become columns by function.
function read_functions(columns, count) {
  const rows = columns.map(read_varints), order = Int32Array.from(rows[0]);
  const spread = (from) => {
    const to = new Float64Array(count);
    order.forEach((f, row) => { to[f] = from[row]; });
    return to;
  };
  const [calls, total, self, min, max, ...rest] = rows.slice(1).map(spread);
  return { order, calls, total, self, min, max, stored: rest.slice(0, STORED.length), unwound: rest[STORED.length] };
}

function read_tree(columns) {
  // Numbers of single places are decoded when one is looked at.
  const late = new Map(), v = columns.map((c, i) => i >= 7 && i <= 12 ? null : read_varints(c)), n = v[0].length;
  const later = (i) => {
    if (!late.has(i)) late.set(i, read_varints(columns[i]));
    return late.get(i);
  };
  const parent = new Int32Array(n), fn = new Int32Array(n), thread = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    parent[i] = i - v[0][i];
    fn[i] = v[1][i] - 1;
    thread[i] = v[2][i] - 1;
  }
  parent[0] = -1;
  return {
    n, parent, fn, thread, others: v[3],
    calls: v[4], total: v[5], self: v[6], weights: v.slice(13),
    min: (i) => later(7)[i], max: (i) => later(8)[i], stored: (k, i) => later(9 + k)[i], unwound: (i) => later(12)[i],
  };
}

// Calls that never ended have no total, but what is below them has. So the width of a box is at least that of its parts, and
// the total that tables show is at least the sum of those of its callees, as in `report --by tree`.
export function add_widths(tree) {
  const { n, parent, fn, others } = tree, below = new Float64Array(n), shown = new Float64Array(n), width = new Float64Array(n);
  for (let i = n - 1; i >= 0; i--) {
    const root = fn[i] < 0 && others[i] === 0;
    width[i] = Math.max(tree.total[i], tree.self[i] + below[i]);
    shown[i] = Math.max(root ? 0 : tree.total[i], shown[i]);
    if (i === 0) continue;
    below[parent[i]] += width[i];
    shown[parent[i]] += shown[i];
  }
  return Object.assign(tree, { width, shown });
}

// By function, each made when it is looked at.
function read_histograms(columns) {
  const made = new Map(), place = new Map();
  if (!columns) return made;
  const [fn, n, sub, bucket, calls] = columns.map(read_varints);
  for (let i = 0, at = 0; i < fn.length; at += n[i++]) place.set(fn[i], [at, at + n[i], sub[i]]);
  return {
    has: (f) => place.has(f),
    get(f) {
      if (made.has(f) || !place.has(f)) return made.get(f);
      const [from, to, bits] = place.get(f), buckets = bucket.slice(from, to);
      for (let k = 1; k < buckets.length; k++) buckets[k] += buckets[k - 1];
      made.set(f, { sub: bits, buckets, calls: calls.subarray(from, to) });
      return made.get(f);
    },
  };
}

export function bucket_low(bucket, sub) {
  if (bucket < 2 << sub) return bucket;
  const e = Math.floor(bucket / (1 << sub)) - 1;
  return (bucket - e * (1 << sub)) * 2 ** e;
}

// Values in a bucket.
export function bucket_size(bucket, sub) {
  return bucket < 2 << sub ? 1 : 2 ** (Math.floor(bucket / (1 << sub)) - 1);
}

// The call of rank ceil(q % of the calls): as in the reader of docs/page.md, in millionths.
function histogram_percentile(h, q, min, max) {
  const sum = h.calls.reduce((a, b) => a + b, 0), m = Math.round(q * 10000), rest = sum % 1e6;
  const rank = (sum - rest) / 1e6 * m + Math.ceil(rest * m / 1e6);
  if (rank <= 1) return min;
  if (rank >= sum) return max;
  let below = 0, i = 0;
  while (i < h.buckets.length && (below += h.calls[i]) < rank) i++;
  const b = h.buckets[i], middle = bucket_low(b, h.sub) + Math.floor((bucket_size(b, h.sub) - 1) / 2);
  return Math.min(Math.max(middle, min), max);
}

// Sums of functions where the file has sums by place only. Recursion counts once, but each of its calls is one.
export function sums_of_functions(tree, count, order, each) {
  const total = new Float64Array(count), self = new Float64Array(count), calls = new Float64Array(count);
  const open = new Int32Array(count), ends = [];
  const leave = (parent) => {
    while (ends.length && ends[ends.length - 1] !== parent) {
      const f = tree.fn[ends.pop()];
      if (f >= 0) open[f]--;
    }
  };
  for (const i of depth_first(tree)) {
    const f = tree.fn[i];
    leave(tree.parent[i]);
    ends.push(i);
    if (f < 0) continue;
    self[f] += tree.self[i];
    if (each || open[f] === 0) calls[f] += tree.calls[i];
    if (open[f]++ > 0) continue;
    total[f] += tree.width[i];
  }
  const none = new Float64Array(count), by_self = Int32Array.from(order);
  by_self.sort((a, b) => self[b] - self[a] || a - b);
  return { order: by_self.filter((f) => total[f] > 0 || (each && calls[f] > 0)), calls, total, self, min: none, max: none,
    stored: STORED.map(() => none), unwound: none };
}

// Rows in depth-first order; `tree` needs parents before children only.
function depth_first(tree) {
  const first = new Int32Array(tree.n).fill(-1), next = new Int32Array(tree.n).fill(-1), out = new Int32Array(tree.n);
  for (let i = tree.n - 1; i > 0; i--) {
    next[i] = first[tree.parent[i]];
    first[tree.parent[i]] = i;
  }
  for (let i = 0, k = 0; i >= 0 && k < tree.n;) {
    out[k++] = i;
    if (first[i] >= 0) {
      i = first[i];
      continue;
    }
    while (i >= 0 && next[i] < 0) i = tree.parent[i];
    i = i < 0 ? -1 : next[i];
  }
  return out;
}

// The same profile by another weight of its samples: totals are sums of self.
function with_weight(profile, index) {
  const { meta, tree } = profile, weight = meta.weights[index], n = tree.n;
  const allocations = weight.name.startsWith('alloc'), counting = allocations ? 'alloc_objects' : 'samples';
  const counter = meta.weights.findIndex((w) => w.name === counting);
  const sum = (self) => {
    const total = Float64Array.from(self);
    for (let i = n - 1; i > 0; i--) total[tree.parent[i]] += total[i];
    return total;
  };
  const self = tree.weights[index], calls = counter < 0 ? new Float64Array(n) : sum(tree.weights[counter]);
  const words = allocations ? { one: 'allocation', many: 'allocations' } : { one: 'sample', many: 'samples' };
  let unit = WEIGHT_UNITS.get(weight.unit) ?? words.many;
  if (unit === 'ns' && Number(meta.clock.hz) === 0) unit = 'ticks';
  words.whole = weight.unit === 'nanoseconds' ? 'time' : unit;
  const other = add_widths({ ...tree, self, total: sum(self), calls });
  const changed = { ...meta, weight: index, unit, words, total: other.width[0], self: other.total[0] };
  return { ...profile, meta: changed, units: make_units(changed), tree: other,
    functions: sums_of_functions(other, profile.count, profile.functions.order) };
}

// Of a page without a profile: columns of no function, and of a tree that is only the whole.
function no_columns(name) {
  return Array.from({ length: 14 }, () => Uint8Array.from(name === 'tree' ? [0] : []));
}

// Everything that views ask for; `weight` is the index of one of meta.weights, or -1 for the page's own.
export async function read_profile(source) {
  const meta = source.json('meta');
  const [names, functions, tree, hist] =
    await Promise.all(['names', 'functions', 'tree', 'hist'].map(async (name) =>
      source.has(name) || name === 'hist' ? source.columns(name) : no_columns(name)));
  const text = read_names(names), count = text.name.length;
  const first = { meta, units: make_units(meta), ...text, count, hue: new Int8Array(count).fill(-1) };
  // The browser may draw between these.
  for (const read of [() => { first.functions = read_functions(functions, count); }, () => { first.tree = read_tree(tree); },
    () => add_widths(first.tree), () => { first.histograms = read_histograms(hist); }, () => {
      first.twins = number_twins(first.name);
      first.thread_twins = number_twins(first.thread);
    }]) {
    read();
    await (globalThis.scheduler?.yield?.() ?? new Promise((done) => setTimeout(done, 0)));
  }
  const by_weight = new Map([[meta.weight, first]]);
  return (weight) => {
    if (weight < 0 || !meta.weights[weight]) return first;
    if (!by_weight.has(weight)) by_weight.set(weight, with_weight(first, weight));
    return by_weight.get(weight);
  };
}

// Functions, or threads, of the same name, in links called name~2, name~3.
function number_twins(names) {
  const seen = new Map(), key = [], found = new Map();
  names.forEach((name, i) => {
    const n = (seen.get(name) ?? 0) + 1;
    seen.set(name, n);
    key.push(n > 1 ? name + '~' + n : name);
    if (!found.has(key[i])) found.set(key[i], i);
  });
  return { key, found };
}

export function hue(profile, f) {
  if (profile.hue[f] < 0) profile.hue[f] = hue_of(profile.name[f]);
  return profile.hue[f];
}

export function place_text(profile, f) {
  const file = profile.file[f];
  return file ? file + (profile.line[f] ? ':' + profile.line[f] : '') : '';
}

// In a part of the time: from coarse buckets, but the longest call where it is one of the function's slowest of all.
function coarse_percentile({ histograms, longest }, f, q) {
  const h = histograms.get(f);
  if (q >= 100 && longest.has(f)) return longest.get(f);
  if (!h) return null;
  const last = h.buckets[h.buckets.length - 1], middle = (b) => bucket_low(b, h.sub) + Math.floor((bucket_size(b, h.sub) - 1) / 2);
  return { ticks: histogram_percentile(h, q, middle(h.buckets[0]), middle(last)), mark: '\u2248 ' };
}

// In a part of the time, of the calls that lie within.
function exact_percentile({ exact, histograms }, f, q) {
  const stored = STORED.indexOf(q), mark = exact.unwound[f] > 0 ? '~' : '', h = histograms.get(f);
  if (!exact.calls[f]) return null;
  if (q <= 0 || q >= 100) return { ticks: (q <= 0 ? exact.min : exact.max)[f], mark };
  if (stored >= 0) return { ticks: exact.stored[stored][f], mark };
  return h ? { ticks: histogram_percentile(h, q, exact.min[f], exact.max[f]), mark: h.sub < 8 ? '\u2248 ' : mark } : null;
}

// A duration of a function as {ticks, mark}; q 0 is the shortest call, 100 the longest. The mark is "~" where calls were
// closed by the exit of an outer one, as in `report`, and "\u2248" where the page has coarse buckets only. null: not known.
export function function_percentile(profile, f, q) {
  const s = profile.functions, stored = STORED.indexOf(q), mark = s.unwound[f] > 0 ? '~' : '';
  if (!profile.meta.histogram || !s.calls[f]) return null;
  if (profile.exact) return exact_percentile(profile, f, q);
  if (profile.part) return coarse_percentile(profile, f, q);
  if (q <= 0 || q >= 100) return { ticks: (q <= 0 ? s.min : s.max)[f], mark };
  if (stored >= 0) return { ticks: s.stored[stored][f], mark };
  const h = profile.histograms.get(f);
  return h ? { ticks: histogram_percentile(h, q, s.min[f], s.max[f]), mark: h.sub < 8 ? '\u2248 ' : mark } : null;
}

// Of a place the file has three.
export function place_percentile(profile, place, q) {
  const t = profile.tree, stored = STORED.indexOf(q);
  if (!profile.meta.histogram || profile.part || place < 0 || !t.calls[place] || t.others[place]) return null;
  const mark = t.unwound(place) > 0 ? '~' : '';
  if (q >= 100) return { ticks: t.max(place), mark };
  return stored >= 0 && stored < 3 ? { ticks: t.stored(stored, place), mark } : null;
}

export function percentile_text(units, p) {
  return p ? p.mark + units.short(p.ticks) : '-';
}
