// Rows of the timeline: calls of one thread and depth, each as long as it took; where calls are not in the page, the grid.
import { first_above } from './time.js';

const NAMED_BOX = 26;
const HATCH = 6;

// Which columns of the grid have calls that are not among the spans: the number of its run's, or 0.
export function missing_columns(grid, row) {
  const { spans } = row;
  if (!row.grid || (spans && spans.missing === 0)) return null;
  const { run, calls } = row.grid.cells(), left = Float64Array.from(calls), begin = spans?.begin ?? [];
  for (let i = 0; i < begin.length; i++) left[run[Math.min(grid.n - 1, Math.floor(begin[i] / grid.ticks))]]--;
  return Float64Array.from(run, (k) => Math.max(0, left[k]));
}

// Pixels of the grid, where calls are missing; `mask` is 1 there.
function draw_cells(line, mask, row, view) {
  const { from, scale, grid, colour } = view, { fn, share } = row.grid.cells(), last = grid.n - 1;
  let any = false;
  for (let x = 0; x < line.length; x++) {
    const c = Math.min(last, Math.floor((from + (x + 0.5) / scale) / grid.ticks));
    if (!(row.missing[c] > 0) || share[c] === 0) continue;
    line[x] = colour(fn[c]);
    mask[x] = 1;
    any = true;
  }
  return any;
}

// Boxes of calls. Those within one pixel are drawn once, and the search goes on behind that pixel.
function draw_calls(line, mask, spans, view, boxes) {
  const { from, to, scale, colour, paper, ratio } = view, { begin, end, fn } = spans, w = line.length;
  for (let i = first_above(end, from); i < begin.length && begin[i] < to;) {
    const left = Math.round((begin[i] - from) * scale), x1 = Math.min(w, Math.max(left + 1, Math.round((end[i] - from) * scale))), x0 = Math.max(0, left);
    const pixel = colour(fn[i]);
    if (x1 - x0 > 1) {
      line.fill(pixel, x0, x1);
      mask.fill(0, x0, x1);
      // A box has a gap behind it, but only where it ends.
      if (x1 - x0 > 3 && (end[i] - from) * scale <= w) line[x1 - 1] = paper;
      if (x1 - x0 >= NAMED_BOX * ratio) boxes.push({ x: x0 / ratio, w: (x1 - x0) / ratio, i });
      i++;
      continue;
    }
    if (x0 < w) {
      line[x0] = pixel;
      mask[x0] = 0;
    }
    const next = first_above(begin, from + (x0 + 0.5) / scale);
    // The last one that begins in this pixel may be long.
    i = next - 1 > i && Math.round((end[next - 1] - from) * scale) > x0 + 1 ? next - 1 : Math.max(next, i + 1);
  }
}

// Draws a row between two lines of pixels, and returns the boxes with room for a name, in CSS pixels.
// view: {from, to, scale, grid, colour(f), paper, faint, ratio}.
export function draw_row(image, row, top, bottom, view, mask) {
  const { width: w, pixels } = image, line = pixels.subarray(top * w, (top + 1) * w), boxes = [];
  let hatched = false;
  if (row.missing) {
    mask.fill(0);
    hatched = draw_cells(line, mask, row, view);
  }
  if (row.spans) draw_calls(line, mask, row.spans, view, boxes);
  for (let y = top + 1; y < bottom; y++) pixels.copyWithin(y * w, top * w, (top + 1) * w);
  const step = Math.round(HATCH * view.ratio);
  for (let y = top; hatched && y < bottom; y++)
    for (let x = (step - y % step) % step; x < w; x += step) if (mask[x]) pixels[y * w + x] = view.faint;
  return boxes;
}

export function call_of(row, i) {
  return { thread: row.thread, depth: row.depth, i, f: row.spans.fn[i], begin: row.spans.begin[i], end: row.spans.end[i], open: row.spans.open[i] & 1 };
}

// The call at a time, or one that is at most `near` ticks away: its index, or -1.
export function call_at(spans, ticks, near) {
  const i = first_above(spans.end, ticks), within = (k) => k >= 0 && k < spans.begin.length &&
    spans.begin[k] - near <= ticks && ticks <= Math.max(spans.end[k], spans.begin[k]) + near;
  if (within(i) && spans.begin[i] <= ticks) return i;
  return within(i) ? i : within(i - 1) ? i - 1 : -1;
}

// The selected call: its function, thread and begin, among the spans or, where that one was left out, the exemplars.
export function find_call(scene) {
  const { state, profile, clock, time, pick } = scene, at = state.call.lastIndexOf('@'), moment = clock.parse(state.call.slice(at + 1));
  const thread = profile.thread_twins.found.get(state.call.slice(0, at)) ?? -1;
  if (thread < 0 || pick < 0 || moment === null) return null;
  const near = (begin) => Math.abs(begin - moment) <= clock.slack;
  for (const row of time.spans ?? []) {
    if (row.thread !== thread) continue;
    for (let i = first_above(row.begin, moment - clock.slack - 1); i < row.begin.length && row.begin[i] <= moment + clock.slack; i++)
      if (row.fn[i] === pick && near(row.begin[i]))
        return { thread, depth: row.depth, i, f: pick, begin: row.begin[i], end: row.end[i], open: row.open[i] & 1 };
  }
  const one = time.slow?.find((s) => s.f === pick && s.thread === thread && near(s.begin));
  return one ? { thread, depth: 0, i: -1, f: pick, begin: one.begin, end: one.end, open: 0 } : null;
}

// The callers of a call, outermost first, with itself; null: some are not in this page.
export function callers_of(threads, call) {
  const rows = threads.find((t) => t.thread === call.thread)?.rows ?? [], path = [];
  for (const row of rows) {
    if (row.depth > call.depth) break;
    const i = row.depth === call.depth ? call.i : row.spans ? first_above(row.spans.begin, call.begin) - 1 : -1;
    if (i < 0 || row.spans.end[i] < call.end || row.depth !== path.length + 1) return null;
    path.push(call_of(row, i));
  }
  return path.length === call.depth ? path : null;
}
