// Charts of tables: boxes over time, parts of a whole, and a curve over sizes.
import { el, fill, visible } from './dom.js';
import { percent } from './units.js';
import { hide_tip, show_tip } from './canvas.js';
import { start_chart } from './chart.js';
import { short_number } from './report_table.js';

const ROOM = { left: 64, right: 16, top: 12, bottom: 26 };
// Hues far from each other, for neighbours in a chart.
const SERIES_HUES = [17, 3, 10, 21, 6, 14, 0, 19];

export function series_colour(paper, i, n) {
  return n === 1 ? paper.css('bar') : i < SERIES_HUES.length ? paper.css(SERIES_HUES[i]) : paper.css('others');
}

export function make_legend(app, names) {
  const list = el('p', { class: 'legend' });
  const draw = () => fill(list, ...names.flatMap((name, i) => {
    const swatch = el('span', { class: 'swatch', 'aria-hidden': 'true' });
    swatch.style.background = series_colour(app.scene.paper, i, names.length);
    return [el('span', null, swatch, visible(name))];
  }));
  return { element: list, draw };
}

// Round values from low to high; of bytes powers of two.
function even_steps(low, high, most, bytes) {
  const rough = Math.max((high - low) / most, Number.MIN_VALUE), ten = 10 ** Math.floor(Math.log10(rough)), out = [];
  const step = bytes ? 2 ** Math.max(0, Math.ceil(Math.log2(rough))) : Math.max([1, 2, 5, 10].find((s) => s * ten >= rough) * ten, 1e-9);
  for (let v = Math.ceil(low / step) * step; v <= high && out.length < 50; v += step) out.push(v);
  return out;
}

// data: {series: [{name, points: [[from, to, value], ...]}], from, to, x(v), y(v): texts, bytes}. Boxes of later series stand on
// those of earlier ones where these have the same times.
export function make_boxes_chart(holder, app, label, data) {
  const box = el('div', { class: 'chart boxes' }), names = data.series.map((s) => s.name);
  const legend = names.length > 1 ? make_legend(app, names) : null;
  holder.append(el('h3', null, label), box);
  if (legend) holder.append(legend.element);
  const c = start_chart(box, label), heights = new Map();
  for (const s of data.series) for (const [from, , value] of s.points) heights.set(from, (heights.get(from) ?? 0) + value);
  const most = data.most ?? Math.max(...heights.values(), 0), times = [...heights.keys()].sort((a, b) => a - b);
  let x_of = null, chosen = -1;

  function draw() {
    if (!app.scene || box.clientWidth === 0) return;
    const { paper } = app.scene, faint = paper.css('faint'), line = paper.css('line');
    c.begin(paper);
    const bottom = c.height - ROOM.bottom, room = c.width - ROOM.left - ROOM.right, span = Math.max(data.to - data.from, 1e-9);
    x_of = (t) => ROOM.left + (t - data.from) / span * room;
    const y_of = (v) => bottom - v / Math.max(most, 1e-9) * (bottom - ROOM.top);
    for (const v of even_steps(0, most, Math.max(2, c.height / 44), data.bytes)) {
      c.fill(ROOM.left, Math.round(y_of(v)), room, 1, line);
      c.text(short_number(data.y(v)), ROOM.left - 6, y_of(v), faint, 'right');
    }
    for (const v of even_steps(data.from, data.to, Math.max(2, c.width / 110), false))
      c.label(short_number(data.x(v)), x_of(v), bottom + 13, faint);
    const base = new Map();
    data.series.forEach((s, i) => {
      const css = series_colour(paper, i, names.length);
      for (const [from, to, value] of s.points) {
        const below = base.get(from) ?? 0, y = y_of(below + value), x = x_of(from);
        base.set(from, below + value);
        if (value > 0) c.fill(x, y, Math.max(1.5, x_of(to) - x), Math.max(1, y_of(below) - y), css);
      }
    });
    c.fill(ROOM.left, bottom, room, 1, faint);
    if (chosen >= 0) c.fill(Math.round(x_of(times[chosen])), ROOM.top, 1, bottom - ROOM.top, paper.css('mark'));
  }

  const lines_at = (i) => data.series.map((s) => [s.name, s.points.find(([from]) => from === times[i])])
    .filter(([, p]) => p && (p[2] > 0 || names.length === 1)).slice(0, 12).map(([name, p]) => [visible(name), data.y(p[2]) + (p[3] ? ' \u00b7 ' + visible(p[3]) : '')]);

  function choose(i) {
    chosen = i;
    draw();
    if (i >= 0) c.describe([data.x(times[i]), ...lines_at(i).map((l) => l.join(' '))].join(', '));
  }

  c.canvas.addEventListener('mousemove', (event) => {
    if (!x_of) return;
    const x = event.clientX - c.canvas.getBoundingClientRect().left;
    let i = -1;
    while (i + 1 < times.length && x_of(times[i + 1]) <= x + 1) i++;
    if (i !== chosen) choose(i);
    if (i < 0) hide_tip();
    else show_tip(event.clientX, event.clientY, data.x(times[i]), lines_at(i));
  });
  c.canvas.addEventListener('mouseleave', () => {
    hide_tip();
    choose(-1);
  });
  c.canvas.addEventListener('keydown', (event) => {
    const step = new Map([['ArrowRight', 1], ['ArrowLeft', -1]]).get(event.key);
    if (!step || !times.length) return;
    choose(Math.max(0, Math.min(times.length - 1, chosen + step)));
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(draw).observe(box);
  return { draw() {
    legend?.draw();
    draw();
  } };
}

// Parts of a whole side by side: [[name, amount], ...], the largest first.
export function make_parts_bar(holder, app, parts) {
  const whole = parts.reduce((a, [, n]) => a + n, 0), shown = parts.filter(([, n]) => n / whole > 0.003).slice(0, 24);
  const bar = el('div', { class: 'parts', role: 'img', 'aria-label': shown.map(([name, n]) => visible(name) + ' ' + percent(n, whole)).join(', ') });
  holder.append(bar);
  return { draw() {
    fill(bar, ...shown.map(([name, n], i) => {
      const text = visible(name) + ' ' + percent(n, whole), e = el('span', { title: text }, n / whole > 0.05 ? text : '');
      e.style.flexGrow = n / whole;
      e.style.background = app.scene.paper.css(SERIES_HUES[i % SERIES_HUES.length]);
      return e;
    }));
  } };
}

// Shares by size, both axes as lines; data: {points: [[size, share], ...] ascending, marks: [[name, size], ...], x(v)}.
export function make_size_curve(holder, app, label, data) {
  const box = el('div', { class: 'chart boxes' });
  holder.append(el('h3', null, label), box);
  const c = start_chart(box, label);
  let x_of = null;
  const low = data.points[0][0], high = Math.max(data.points[data.points.length - 1][0], low * 2);
  const share_at = (size) => data.points.reduce((share, [from, s]) => from <= size ? s : share, data.points[0][1]);

  function draw() {
    if (!app.scene || box.clientWidth === 0) return;
    const { paper } = app.scene, faint = paper.css('faint'), bottom = c.height - ROOM.bottom;
    c.begin(paper);
    const room = c.width - ROOM.left - ROOM.right, octaves = Math.log2(high / low), every = Math.ceil(octaves / Math.max(2, c.width / 90));
    x_of = (v) => ROOM.left + Math.log2(v / low) / octaves * room;
    const y_of = (share) => bottom - share * (bottom - ROOM.top);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      c.fill(ROOM.left, Math.round(y_of(share)), room, 1, paper.css('line'));
      c.text(100 * share + ' %', ROOM.left - 6, y_of(share), faint, 'right');
    }
    for (let o = 0; o <= octaves; o += every) c.label(short_number(data.x(low * 2 ** o)), x_of(low * 2 ** o), bottom + 13, faint);
    data.points.forEach(([size, share], i) => {
      const x = x_of(size), next = i + 1 < data.points.length ? x_of(data.points[i + 1][0]) : c.width - ROOM.right;
      c.fill(x, y_of(share), Math.max(1, next - x), bottom - y_of(share), paper.css('bar'));
    });
    for (const [name, size] of data.marks) {
      if (size < low || size > high) continue;
      c.fill(Math.round(x_of(size)), ROOM.top, 1, bottom - ROOM.top, paper.css('mark'));
      c.text(visible(name), Math.round(x_of(size)) + 4, ROOM.top + 8, paper.css('mark'), 'left');
    }
  }

  c.canvas.addEventListener('mousemove', (event) => {
    if (!x_of) return;
    const r = c.canvas.getBoundingClientRect(), part = (event.clientX - r.left - ROOM.left) / (r.width - ROOM.left - ROOM.right);
    const size = low * 2 ** Math.floor(Math.log2(high / low) * Math.max(0, Math.min(1, part)));
    show_tip(event.clientX, event.clientY, data.x(size), [[data.what, percent(share_at(size), 1)]]);
  });
  c.canvas.addEventListener('mouseleave', hide_tip);
  c.describe([...data.marks].map(([name, size]) => name + ' ' + data.x(size) + ' ' + percent(share_at(size), 1)).join(', '));
  new ResizeObserver(draw).observe(box);
  return { draw };
}
