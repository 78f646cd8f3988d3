// Trees made of the profile's: without some functions, turned round, above and below one function. Each keeps the sums.

// Deeper callers of an inverted tree say nothing new, and a hostile tree has a million levels.
const INVERTED_DEPTH_MAX = 200;
const SHAPE_NODES_MAX = 400000;
const FEW_CHILDREN = 12;

// Children of each node, heaviest first, others last.
export function link(shape) {
  const { n, parent, total, others } = shape, start = new Int32Array(n + 2);
  for (let i = 1; i < n; i++) start[parent[i] + 2]++;
  for (let i = 2; i < n + 2; i++) start[i] += start[i - 1];
  const child = new Int32Array(Math.max(0, n - 1));
  for (let i = 1; i < n; i++) child[start[parent[i] + 1]++] = i;
  const heavier = (a, b) => (others[a] > 0) - (others[b] > 0) || total[b] - total[a] || a - b;
  // Most are few, and in order: to move one at a time is faster than a sort of each.
  for (let i = 0; i < n; i++) {
    const from = start[i], to = start[i + 1];
    if (to - from > FEW_CHILDREN) child.subarray(from, to).sort(heavier);
    else
      for (let k = from + 1; k < to; k++) {
        const one = child[k];
        let at = k;
        for (; at > from && heavier(child[at - 1], one) > 0; at--) child[at] = child[at - 1];
        child[at] = one;
      }
  }
  const depth = new Int32Array(n);
  let deepest = 0;
  for (let i = 1; i < n; i++) deepest = Math.max(deepest, depth[i] = depth[parent[i]] + 1);
  return Object.assign(shape, { start, child, depth, deepest, shown: shape.shown ?? total });
}

export function children(shape, i) {
  return shape.child.subarray(shape.start[i], shape.start[i + 1]);
}

// The profile's tree itself.
export function whole_shape(profile) {
  const t = profile.tree, place = new Int32Array(t.n);
  for (let i = 0; i < t.n; i++) place[i] = i;
  return link({
    kind: 'whole', profile, n: t.n, parent: t.parent, fn: t.fn, thread: t.thread, others: t.others, calls: t.calls,
    total: t.width, shown: t.shown, self: t.self, place,
  });
}

// Collects nodes by parent and function.
function make_builder(profile) {
  const parent = [-1], fn = [-1], thread = [-1], others = [0], calls = [0], total = [0], self = [0], place = [-1];
  const found = new Map(), kinds = profile.count + profile.thread.length + 2;
  const get = (above, f, t, from) => {
    const key = above * kinds + (f >= 0 ? f : profile.count + 1 + t);
    let i = found.get(key);
    if (i !== undefined) {
      if (place[i] !== from) place[i] = -1;
      return i;
    }
    i = parent.length;
    found.set(key, i);
    parent.push(above);
    fn.push(f);
    thread.push(t);
    others.push(0);
    calls.push(0);
    total.push(0);
    self.push(0);
    place.push(from);
    return i;
  };
  const finish = (kind, more) => link({
    kind, profile, n: parent.length, parent: Int32Array.from(parent), fn: Int32Array.from(fn),
    thread: Int32Array.from(thread), others: Float64Array.from(others), calls: Float64Array.from(calls),
    total: Float64Array.from(total), self: Float64Array.from(self), place: Int32Array.from(place), ...more,
  });
  return { get, finish, others, calls, total, self, size: () => parent.length, root: (i, f) => { fn[i] = f; } };
}

// Functions that `hidden` marks are folded into their callers, which take over their self time.
export function folded_shape(shape, hidden) {
  const b = make_builder(shape.profile), to = new Int32Array(shape.n), last = [];
  for (let i = 1; i < shape.n; i++) {
    const above = to[shape.parent[i]], f = shape.fn[i];
    if (f >= 0 && hidden[f]) {
      to[i] = above;
      b.self[above] += shape.self[i];
      continue;
    }
    to[i] = b.get(above, f, shape.thread[i], shape.place[i]);
    b.others[to[i]] += shape.others[i];
    b.calls[to[i]] += shape.calls[i];
    b.self[to[i]] += shape.self[i];
    // What a node is wider than its parts, such as others, stays with it.
    let parts = shape.self[i];
    for (const c of children(shape, i)) parts += shape.total[c];
    last.push(to[i], shape.total[i] - parts);
  }
  for (let k = 0; k < last.length; k += 2) b.total[last[k]] += last[k + 1];
  b.self[0] += shape.self[0];
  const done = b.finish('folded');
  for (let i = done.n - 1; i >= 0; i--) {
    done.total[i] += done.self[i];
    if (i > 0) done.total[done.parent[i]] += done.total[i];
  }
  return link(done);
}

// Callees become roots: below each function its callers, by the function's self.
export function inverted_shape(shape) {
  const b = make_builder(shape.profile), samples = shape.profile.meta.kind === 'samples';
  let cut = false;
  for (let i = 1; i < shape.n; i++) {
    if (shape.self[i] === 0 && shape.calls[i] === 0) continue;
    let at = 0;
    b.total[0] += shape.self[i];
    for (let k = i, depth = 0; k > 0; k = shape.parent[k], depth++) {
      if (depth > 0 && shape.self[i] === 0) break;
      if (depth === INVERTED_DEPTH_MAX || b.size() >= SHAPE_NODES_MAX) {
        cut = true;
        break;
      }
      at = b.get(at, shape.fn[k], shape.thread[k], -1);
      b.total[at] += shape.self[i];
      if (depth === 0) b.others[at] += shape.others[i];
      b.calls[at] += samples ? NaN : shape.calls[i];
    }
    if (at > 0) b.self[at] += shape.self[i];
  }
  return b.finish('inverted', { cut });
}

// The outermost nodes of a function.
export function outermost(shape, f) {
  const inside = new Uint8Array(shape.n), found = [];
  for (let i = 1; i < shape.n; i++) {
    inside[i] = inside[shape.parent[i]];
    if (shape.fn[i] !== f || inside[i]) continue;
    inside[i] = 1;
    found.push(i);
  }
  return found;
}

// What a function calls: everything below it, from all its callers.
export function callees_shape(shape, f) {
  const b = make_builder(shape.profile), to = new Int32Array(shape.n).fill(-1);
  for (const i of outermost(shape, f)) to[i] = 0;
  for (let i = 1; i < shape.n; i++) {
    const above = to[shape.parent[i]];
    if (to[i] < 0) {
      if (above < 0) continue;
      to[i] = b.get(above, shape.fn[i], shape.thread[i], shape.place[i]);
    }
    b.calls[to[i]] += shape.calls[i];
    b.total[to[i]] += shape.total[i];
    b.self[to[i]] += shape.self[i];
    b.others[to[i]] += shape.others[i];
  }
  b.root(0, f);
  return b.finish('callees');
}

// Who calls it: the path from each outermost call, turned round.
export function callers_shape(shape, f) {
  const b = make_builder(shape.profile);
  for (const i of outermost(shape, f)) {
    let at = 0;
    b.total[0] += shape.total[i];
    b.calls[0] += shape.calls[i];
    for (let k = shape.parent[i], depth = 0; k > 0 && depth < INVERTED_DEPTH_MAX; k = shape.parent[k], depth++) {
      at = b.get(at, shape.fn[k], shape.thread[k], -1);
      b.total[at] += shape.total[i];
      b.calls[at] += shape.calls[i];
    }
  }
  b.root(0, f);
  return b.finish('callers');
}

export function node_name(shape, i) {
  const { profile } = shape, f = shape.fn[i];
  if (shape.label) return shape.label[i];
  if (f >= 0) return profile.name[f];
  if (shape.others[i] > 0) return shape.others[i] + ' other' + (shape.others[i] === 1 ? ' place' : ' places');
  if (shape.thread[i] >= 0) return profile.thread[shape.thread[i]];
  return i === 0 ? 'all' : '?';
}

// As links name it: functions of the same name are told apart.
function node_key(shape, i) {
  return shape.fn[i] >= 0 ? shape.profile.twins.key[shape.fn[i]] : node_name(shape, i);
}

export function path_of(shape, i) {
  const path = [];
  for (; i > 0; i = shape.parent[i]) path.push(node_key(shape, i));
  return path.reverse();
}

// The node of a path, 0 if there is none; a path that begins with * is the end of one, and the heaviest is meant.
export function node_of_path(shape, path) {
  if (path[0] === '*') return node_of_end(shape, path.slice(1));
  let at = 0;
  for (const name of path) {
    const next = children(shape, at).find((c) => node_key(shape, c) === name);
    if (next === undefined) return 0;
    at = next;
  }
  return at;
}

function node_of_end(shape, end) {
  let best = 0;
  for (let i = 1; i < shape.n; i++) {
    if (best && shape.total[i] <= shape.total[best]) continue;
    let k = end.length - 1, at = i;
    for (; k >= 0 && at > 0 && node_key(shape, at) === end[k]; k--) at = shape.parent[at];
    if (k < 0) best = i;
  }
  return best;
}

// How much of a subtree lies in matching functions, each stack once; and how many nodes match.
export function share_of_matches(shape, root, matches) {
  const inside = new Uint8Array(shape.n);
  let amount = 0, nodes = 0;
  for (let i = root; i < shape.n; i++) {
    const above = i === root ? 0 : inside[shape.parent[i]];
    if (i !== root && !above) continue;
    const hit = i > 0 && shape.fn[i] >= 0 && matches[shape.fn[i]] === 1;
    inside[i] = above === 2 || hit ? 2 : 1;
    if (i === root) inside[i] = hit ? 2 : 1;
    nodes += hit ? 1 : 0;
    if (hit && above !== 2) amount += shape.total[i];
  }
  return { amount, nodes };
}
