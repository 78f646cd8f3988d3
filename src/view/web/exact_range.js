// Durations of the calls that lie within a range, which the server of a page knows exactly. Until it has answered, and in a file,
// there are coarse ones.
import { read_profile } from './profile.js';

const ANSWERS_KEPT = 8;

// What tells functions apart: numbers are others in each answer.
const key_of = (p, f) => [p.name[f], p.file[f], p.line[f], p.library[f], p.id[f]].join('\0');

// Columns and histograms of an answer by the functions of the page.
function exact_of(page, other) {
  const found = new Map(Array.from({ length: page.count }, (_, f) => [key_of(page, f), f]));
  const to = Array.from({ length: other.count }, (_, f) => found.get(key_of(other, f)) ?? -1);
  const spread = (from) => {
    const column = new Float64Array(page.count);
    for (const f of other.functions.order) if (to[f] >= 0) column[to[f]] = from[f];
    return column;
  };
  const { calls, min, max, stored, unwound } = other.functions, back = new Map(to.map((f, number) => [f, number]));
  back.delete(-1);
  const histograms = { has: (f) => other.histograms.has(back.get(f)), get: (f) => other.histograms.get(back.get(f)) };
  return { calls: spread(calls), min: spread(min), max: spread(max), stored: stored.map(spread), unwound: spread(unwound), histograms };
}

// The range as of --time; what ends with the trace has no end.
function range_text(clock, part) {
  const text = clock.link(part.begin, part.end);
  return part.end < clock.span ? text : text.slice(0, text.indexOf('..') + 2);
}

// Of a profile of a part of the time: the same with exact durations, once they are there; the page is drawn again then.
export function make_exact_ranges(app) {
  const kept = new Map();
  async function ask(t, one) {
    try {
      const other = await read_profile(await app.source.server.sections(t));
      one.exact = exact_of(app.profile_of(-1), other(-1));
    } catch (error) {
      if (error.code === 'cancelled') kept.delete(t);
      else one.failed = error.message;
    }
    if (app.scene?.part && range_text(app.clock, app.scene.part) === t) await app.draw();
  }
  return (profile, part) => {
    if (!app.source.server || !part || !profile.part || !profile.meta.histogram || profile.meta.axis === 'instructions') return profile;
    const t = range_text(app.clock, part);
    if (!kept.has(t)) {
      if (kept.size >= ANSWERS_KEPT) kept.delete(kept.keys().next().value);
      kept.set(t, { exact: null, failed: '', profile: null, of: null });
      ask(t, kept.get(t));
    }
    const one = kept.get(t);
    if (!one.exact) return profile;
    if (one.of !== profile) Object.assign(one, { of: profile, profile: { ...profile, exact: one.exact, histograms: one.exact.histograms } });
    return one.profile;
  };
}
