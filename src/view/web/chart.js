// Charts of durations: the histogram with a logarithmic axis, and the curve of percentiles.
import { axis_text, grouped, percent } from './units.js';
import { bucket_low } from './profile.js';
import { hide_tip, make_canvas, show_tip, take_keys } from './canvas.js';
import { q_text } from './detail.js';

const EDGE = { left: 52, right: 16, top: 26, bottom: 28 };
const CHART_FONT = '11.5px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
export const MARKS = [50, 90, 99, 99.9];

// The first bucket edge at or behind a value.
function next_edge(v, sub) {
  const e = Math.max(0, Math.floor(Math.log2(Math.max(1, v))) - sub);
  return Math.ceil(v / 2 ** e) * 2 ** e;
}

// Bars of a histogram: {low, high, calls, below}, with `high` the first value behind it. An octave has 2^bits of them, all
// equally wide on a logarithmic axis, as near as whole buckets allow: so calls are exact. Zeros have a bar of their own.
export function bars_of(h, bits) {
  const bars = [], each = 2 ** bits;
  let below = 0;
  for (let i = 0; i < h.buckets.length; i++) {
    const v = bucket_low(h.buckets[i], h.sub), last = bars[bars.length - 1];
    if (!last || v >= last.high) {
      let k = Math.floor(Math.log2(Math.max(1, v)) * each);
      while (next_edge(2 ** ((k + 1) / each), h.sub) <= v) k++;
      while (k > 0 && next_edge(2 ** (k / each), h.sub) > v) k--;
      const low = v < 1 ? 0 : next_edge(2 ** (k / each), h.sub), high = v < 1 ? 1 : next_edge(2 ** ((k + 1) / each), h.sub);
      bars.push({ low, high: Math.max(high, low + 1), calls: 0, below });
    }
    bars[bars.length - 1].calls += h.calls[i];
    below += h.calls[i];
  }
  return bars;
}

// Values 1, 2, 5 times powers of ten within [low, high] of what is shown: in ticks.
function round_values(low, high, ticks_per_unit, most) {
  const out = [], decades = Math.log10(high / low), steps = decades * 3 < most ? [1, 2, 5] : [1];
  for (let d = Math.floor(Math.log10(low / ticks_per_unit)); d <= Math.log10(high / ticks_per_unit); d++)
    for (const s of steps) {
      const v = s * 10 ** d * ticks_per_unit;
      if (v >= low && v <= high) out.push(v);
    }
  // Less than a decade: equal steps.
  if (out.length < 3) {
    const rough = (high - low) / ticks_per_unit / Math.min(5, most), ten = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].find((s) => s * ten >= rough) * ten) * ticks_per_unit;
    out.length = 0;
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) out.push(v);
  }
  const every = Math.ceil(out.length / most);
  return out.filter((_, i) => i % every === 0);
}

// A few round numbers up to the most.
function count_steps(most) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(1, most / 3)));
  const step = [1, 2, 5, 10].map((s) => s * ten).find((s) => most / s <= 4), out = [];
  for (let v = step; v <= most; v += step) out.push(v);
  return out;
}

export function start_chart(holder, label) {
  const c = make_canvas(holder, label);
  c.fill = (x, y, w, h, css) => {
    c.context.fillStyle = css;
    c.context.fillRect(x, y, w, h);
  };
  c.text = (text, x, y, css, align) => {
    c.context.fillStyle = css;
    c.context.textAlign = align;
    c.context.fillText(text, x, y);
  };
  // Around x, but within the picture.
  c.label = (text, x, y, css) => {
    const half = c.context.measureText(text).width / 2;
    c.text(text, Math.max(half, Math.min(x, c.width - half)), y, css, 'center');
  };
  c.begin = (paper) => {
    c.resize(Math.max(120, holder.clientWidth), Math.max(120, holder.clientHeight));
    c.context.setTransform(c.ratio, 0, 0, c.ratio, 0, 0);
    c.context.font = CHART_FONT;
    c.context.textBaseline = 'middle';
    c.fill(0, 0, c.width, c.height, paper.css('paper'));
  };
  return c;
}

// data: {h, stat: {min, max}, marks: [[q, ticks], ..]}
export function make_histogram(holder, app) {
  const c = start_chart(holder, 'Histogram of durations');
  let data = null, bars = [], scale = null, hover = -1, most = 1;

  const y_of = (calls) => {
    const part = data.log ? Math.log1p(calls) / Math.log1p(most) : calls / most;
    return c.height - EDGE.bottom - part * (c.height - EDGE.top - EDGE.bottom);
  };

  function draw_axes() {
    const { paper, units } = app.scene, line = paper.css('line'), faint = paper.css('faint');
    const bottom = c.height - EDGE.bottom, rate = units.unit === 'ns' ? (Number(app.scene.profile.meta.clock.hz) || 1e9) / 1e9 : 1;
    for (const v of round_values(scale.low, scale.high, rate, Math.max(2, c.width / 70))) {
      const x = scale.x(v);
      c.fill(Math.round(x), EDGE.top, 1, bottom - EDGE.top, line);
      c.label(axis_text(units, Math.round(v)), x, bottom + 13, faint);
    }
    const steps = data.log ? [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9].filter((v) => v <= most) : count_steps(most);
    const every = Math.ceil(steps.length / Math.max(2, c.height / 40));
    for (const v of new Set(steps.filter((n, i) => n > 0 && i % every === 0))) {
      c.fill(EDGE.left, Math.round(y_of(v)), c.width - EDGE.left - EDGE.right, 1, line);
      c.text(v < 1e5 ? grouped(v) : v / 1e6 + ' M', EDGE.left - 6, y_of(v), faint, 'right');
    }
    c.fill(EDGE.left, bottom, c.width - EDGE.left - EDGE.right, 1, faint);
  }

  function draw_marks() {
    const { paper } = app.scene, css = paper.css('mark'), labels = [];
    for (const [q, ticks] of data.marks) {
      const x = scale.x(Math.max(ticks, scale.low)), last = labels[labels.length - 1];
      // Marks that are too near for a label each have one together.
      if (last && x - last.x < 40) last.to = q;
      else labels.push({ x, from: q, to: q });
      c.context.strokeStyle = css;
      c.context.setLineDash([4, 3]);
      c.context.beginPath();
      c.context.moveTo(x, EDGE.top - 4);
      c.context.lineTo(x, c.height - EDGE.bottom);
      c.context.stroke();
      c.context.setLineDash([]);
    }
    for (const { x, from, to } of labels) {
      c.label(from === to ? q_text(from) : q_text(from) + ' \u2026 ' + q_text(to), x, EDGE.top - 13, css);
    }
  }

  function draw() {
    if (!data || holder.clientWidth === 0) return;
    const { paper } = app.scene;
    c.begin(paper);
    if (!bars.length) return;
    const low = Math.max(0.5, bars[0].low), high = Math.max(bars[bars.length - 1].high, low * 1.5);
    const room = c.width - EDGE.left - EDGE.right, span = Math.log(high / low);
    scale = { low, high, x: (v) => EDGE.left + Math.log(Math.max(v, low) / low) / span * room };
    most = bars.reduce((a, b) => Math.max(a, b.calls), 1);
    draw_axes();
    bars.forEach((bar, i) => {
      const x = scale.x(bar.low), w = Math.max(1, scale.x(bar.high) - x), y = Math.min(y_of(bar.calls), c.height - EDGE.bottom - 1);
      c.fill(x, y, w > 3 ? w - 1 : w, c.height - EDGE.bottom - y, paper.css(i === hover ? 'accent' : 'bar'));
    });
    draw_marks();
  }

  function lines_of(bar) {
    const { units } = app.scene, all = data.calls;
    return [['from', units.short(bar.low)], ['below', units.short(bar.high)],
      [units.words.many, grouped(bar.calls) + ' \u00b7 ' + percent(bar.calls, all)],
      ['shorter', grouped(bar.below) + ' \u00b7 ' + percent(bar.below, all)],
      ['longer', grouped(all - bar.below - bar.calls) + ' \u00b7 ' + percent(all - bar.below - bar.calls, all)]];
  }

  function choose(i) {
    hover = i;
    draw();
    if (bars[i]) c.describe(lines_of(bars[i]).map((line) => line.join(' ')).join(', '));
  }

  c.canvas.addEventListener('mousemove', (event) => {
    if (!scale) return;
    const x = event.clientX - c.canvas.getBoundingClientRect().left;
    const i = bars.findIndex((bar) => x < Math.max(scale.x(bar.high), scale.x(bar.low) + 1) && x >= scale.x(bar.low));
    if (i !== hover) choose(i);
    if (i < 0) hide_tip();
    else show_tip(event.clientX, event.clientY, 'calls of this duration', lines_of(bars[i]));
  });
  c.canvas.addEventListener('mouseleave', () => {
    hide_tip();
    choose(-1);
  });
  take_keys(c.canvas, (event) => {
    const step = new Map([['ArrowRight', 1], ['ArrowLeft', -1]]).get(event.key);
    if (!step || !bars.length) return false;
    choose(Math.max(0, Math.min(bars.length - 1, hover + step)));
    return true;
  });
  new ResizeObserver(draw).observe(holder);
  return {
    canvas: c.canvas,
    bars: () => bars,
    show(new_data) {
      data = new_data;
      bars = data.h ? bars_of(data.h, data.bits) : [];
      data.calls = bars.reduce((a, b) => a + b.calls, 0);
      hover = -1;
      draw();
    },
  };
}

// Durations by percentile; the axis is the logarithm of 1 / (1 - p), so that the tail has as much room as the rest.
export function make_curve(holder, app) {
  const c = start_chart(holder, 'Duration by percentile');
  let data = null, points = [], x_of = null, decades = 1;

  function draw() {
    if (!data?.h || holder.clientWidth === 0) return;
    const { paper, units } = app.scene, faint = paper.css('faint'), line = paper.css('line');
    c.begin(paper);
    const bottom = c.height - EDGE.bottom, room = c.width - EDGE.left - EDGE.right;
    decades = Math.max(1, Math.min(6, Math.ceil(Math.log10(Math.max(2, data.calls)))));
    x_of = (p) => EDGE.left + Math.min(decades, -Math.log10(Math.max(1 - p, 10 ** -decades))) / decades * room;
    const low = Math.max(0.5, data.min), high = Math.max(data.max, low * 1.5), span = Math.log(high / low);
    const y_of = (v) => bottom - Math.log(Math.max(v, low) / low) / span * (bottom - EDGE.top);
    const rate = units.unit === 'ns' ? (Number(app.scene.profile.meta.clock.hz) || 1e9) / 1e9 : 1;
    for (const v of round_values(low, high, rate, Math.max(2, c.height / 34))) {
      c.fill(EDGE.left, Math.round(y_of(v)), room, 1, line);
      c.text(axis_text(units, Math.round(v)), EDGE.left - 6, y_of(v), faint, 'right');
    }
    for (let d = 0; d <= decades; d++) {
      const x = EDGE.left + d / decades * room;
      c.fill(Math.round(x), EDGE.top, 1, bottom - EDGE.top, line);
      const text = d === 0 ? 'min' : (100 - 100 / 10 ** d).toFixed(Math.max(0, d - 2)) + ' %';
      if (d === decades) c.text(text, c.width, bottom + 13, faint, 'right');
      else c.text(text, x, bottom + 13, faint, 'center');
    }
    c.context.strokeStyle = paper.css('accent');
    c.context.lineWidth = 2;
    c.context.beginPath();
    c.context.moveTo(x_of(0), y_of(low));
    for (const [p, v] of points) c.context.lineTo(x_of(p), y_of(v));
    c.context.lineTo(x_of(1), y_of(data.max));
    c.context.stroke();
    for (const [q, ticks] of data.marks) {
      c.context.fillStyle = paper.css('mark');
      c.context.beginPath();
      c.context.arc(x_of(q / 100), y_of(ticks), 3.5, 0, 7);
      c.context.fill();
    }
  }

  c.canvas.addEventListener('mousemove', (event) => {
    if (!x_of) return;
    const r = c.canvas.getBoundingClientRect(), part = (event.clientX - r.left - EDGE.left) / (r.width - EDGE.left - EDGE.right);
    if (part < 0 || part > 1) return hide_tip();
    const p = 1 - 10 ** (-part * decades), at = points.find(([share]) => share >= p);
    return show_tip(event.clientX, event.clientY, (100 * p).toFixed(Math.max(1, Math.round(part * decades))) + ' % of calls',
      [['at most', app.scene.units.short(Math.min(at ? at[1] : data.max, data.max))]]);
  });
  c.canvas.addEventListener('mouseleave', hide_tip);
  new ResizeObserver(draw).observe(holder);
  return {
    canvas: c.canvas,
    show(new_data) {
      data = new_data;
      points = [];
      const bars = data.h ? bars_of(data.h, 8) : [];
      for (const bar of bars) points.push([(bar.below + bar.calls) / data.calls, Math.max(data.min, Math.min(data.max, bar.high - 1))]);
      c.describe(data.marks.map(([q, ticks]) => q_text(q) + ' ' + app.scene.units.short(ticks)).join(', '));
      draw();
    },
  };
}
