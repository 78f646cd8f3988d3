// Times since the begin of the trace: as text, as ends of a range in links, and as ticks.
import { human_count, human_time, ticks_to_ns } from './units.js';

const UNITS = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];

// Whole nanoseconds without loss: 1234567 is 1.234567 ms.
function exact_ns(ns, between) {
  const [unit, one] = UNITS.find(([, n]) => ns >= n) ?? UNITS[3], rest = ns % one;
  const digits = String(rest).padStart(String(one).length - 1, '0').replace(/0+$/, '');
  return (ns - rest) / one + (rest > 0 ? '.' + digits : '') + between + unit;
}

const END = /^(\d{1,15})(?:\.(\d{1,9}))?(ns|us|ms|s)?$/;

function parse_end(text, unit) {
  const [, whole, part, own] = END.exec(text) ?? [];
  if (whole === undefined) return null;
  const one = (UNITS.find(([name]) => name === (own ?? unit)) ?? UNITS[3])[1];
  return Number(whole) * one + Math.round(Number('0.' + (part ?? 0)) * one);
}

// FROM..TO as of --time, in nanoseconds, or in ticks where a clock has no frequency; null if it is something else.
export function parse_range(text) {
  const [from, to, more] = text.split('..'), unit = (one) => END.exec(one ?? '')?.[3];
  if (to === undefined || more !== undefined) return null;
  const a = parse_end(from, unit(to)), b = parse_end(to, unit(from));
  return a !== null && b !== null && a < b ? [a, b] : null;
}

export const range_or_none = (text) => parse_range(text) ? text : '';

// Ticks are what the file has; ns are what people and links have.
export function make_clock(meta) {
  const hz = Number(meta.clock.hz), timed = hz > 0 && meta.axis !== 'instructions', word = meta.axis === 'instructions' ? ' instructions' : ' ticks';
  const to_ns = (ticks) => timed ? ticks_to_ns(ticks, hz) : ticks;
  return {
    span: Number(meta.span) || 1, to_ns,
    // The option of the command for a range.
    option: meta.axis === 'instructions' ? ' --insns ' : ' --time ',
    to_ticks: (ns) => timed ? ns * (hz / 1e9) : ns,
    // How far a time in ns may be from its tick.
    slack: timed ? 1 + hz / 1e9 : 0,
    text: (ticks) => timed ? exact_ns(to_ns(Math.round(ticks)), ' ') : human_count(Math.round(ticks)) + word,
    // Three digits, as durations in tables.
    short: (ticks) => timed ? human_time(to_ns(Math.round(ticks))) : human_count(Math.round(ticks)) + word,
    link(from, to) {
      const end = (ticks) => timed ? exact_ns(to_ns(Math.round(ticks)), '') : String(Math.round(ticks));
      return end(from) + '..' + end(to);
    },
    parse(text) {
      const ns = parse_end(text);
      return ns === null ? null : this.to_ticks(ns);
    },
    moment: (ticks) => timed ? exact_ns(to_ns(Math.round(ticks)), '') : String(Math.round(ticks)),
    // The window of a range in ticks, within the trace; null: none.
    window(text) {
      const range = parse_range(text);
      if (!range) return null;
      const from = Math.max(0, this.to_ticks(range[0])), to = Math.min(this.span, this.to_ticks(range[1]));
      return from < to ? [from, to] : null;
    },
    // Round times of an axis: [ticks, text], at most so many.
    axis(from, to, most) {
      const rate = timed ? hz / 1e9 : 1, low = from / rate, high = to / rate, rough = Math.max(1e-9, (high - low) / Math.max(1, most));
      const ten = 10 ** Math.floor(Math.log10(rough)), step = Math.max(1, [1, 2, 5, 10].find((s) => s * ten >= rough) * ten), out = [];
      const [unit, one] = (timed && UNITS.find(([, n]) => high >= n)) || ['', 1];
      const decimals = Math.max(0, Math.ceil(Math.log10(one / step) - 1e-9));
      for (let v = Math.ceil(low / step) * step; v <= high; v += step)
        out.push([v * rate, timed ? (v / one).toFixed(decimals) + ' ' + unit : human_count(v)]);
      return out;
    },
  };
}
