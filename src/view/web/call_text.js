// What is known about one call: as lines of a tooltip and of the panel.
import { shorten } from './dom.js';
import { grouped, percent } from './units.js';
import { bucket_low, bucket_size } from './profile.js';

// How long a call is among all of its function.
function rank_text(app, call) {
  const profile = app.profile_of(-1), h = profile.histograms.get(call.f), length = call.end - call.begin;
  if (!h) return '';
  let shorter = 0;
  for (let i = 0; i < h.buckets.length && bucket_low(h.buckets[i], h.sub) + bucket_size(h.buckets[i], h.sub) <= length; i++) shorter += h.calls[i];
  const all = h.calls.reduce((a, b) => a + b, 0);
  return all > 1 ? 'longer than ' + percent(shorter, all) + ' of ' + grouped(all) : '';
}

export function call_lines(app, call) {
  const { clock, profile } = app.scene, rank = rank_text(app, call), lines = [['begin', clock.text(call.begin)],
    [call.open ? 'until the end' : 'duration', clock.text(call.end - call.begin)], ['thread', shorten(profile.thread[call.thread] ?? '', 80)]];
  if (call.depth) lines.push(['depth', String(call.depth)]);
  if (rank) lines.push(['rank', rank]);
  return lines;
}
