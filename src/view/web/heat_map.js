// A map of numbers: columns are pieces of the time, rows are whatever is counted there; the more, the stronger the colour.
import { draw_range, hide_tip, make_canvas, show_tip, take_keys } from './canvas.js';
import { pixel } from './colours.js';

const LEVELS = 32;
const MAP_AXIS = 16;
const MAP_TOP = 6;
const MAP_FONT = '11.5px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// Colours from faint to strong; 0 is paper.
function level_pixels(paper) {
  const part = (hex, k) => parseInt(hex.slice(2 * k, 2 * k + 2), 16), mix = (a, b, t) => [0, 1, 2].map((k) =>
    Math.round(part(a, k) + (part(b, k) - part(a, k)) * t).toString(16).padStart(2, '0')).join('');
  return Uint32Array.from({ length: LEVELS + 1 }, (_, i) => i === 0 ? pixel(paper.paper)
    : pixel(i < LEVELS / 2 ? mix(paper.bar_far, paper.bar, 2 * i / LEVELS) : mix(paper.bar, paper.deep, 2 * i / LEVELS - 1)));
}

// data: {n, ticks, rows, cells (row * n + column), left (room for labels), row_height (0: all of the room), labels: [[row, text]],
// marks: [[ticks, row]], title(row, column), lines(row, column), open(row, column)}; row 0 is at the top.
export function make_heat_map(holder, app, label) {
  const c = make_canvas(holder, label);
  let data = null, most = 1, cursor = null, drag = null;
  const room = () => Math.max(1, c.width - data.left);
  const height = () => data.row_height || Math.max(1, (c.height - MAP_AXIS - MAP_TOP) / data.rows);
  const x_at = (ticks) => data.left + ticks / app.scene.clock.span * room();
  const y_at = (row) => MAP_TOP + row * height();
  const ticks_of = (event) => Math.max(0, Math.min(1, (event.clientX - c.canvas.getBoundingClientRect().left - data.left) / room())) * app.scene.clock.span;

  function draw() {
    if (!data || holder.clientWidth === 0) return;
    c.resize(holder.clientWidth, data.row_height ? data.rows * data.row_height + MAP_AXIS + MAP_TOP : Math.max(80, holder.clientHeight));
    const { paper, clock, part } = app.scene, pixels = level_pixels(paper), { context } = c, top = Math.log1p(most), bottom = y_at(data.rows);
    c.clear(paper.pixel('paper'));
    for (let row = 0; row < data.rows; row++)
      for (let k = 0; k < data.n; k++) {
        const v = data.cells[row * data.n + k];
        if (v > 0) c.box(x_at(k * data.ticks), y_at(row), x_at(Math.min(clock.span, (k + 1) * data.ticks)) - x_at(k * data.ticks),
          height() - (height() > 4 ? 1 : 0), pixels[Math.max(1, Math.ceil(Math.log1p(v) / top * LEVELS))]);
      }
    c.put();
    context.font = MAP_FONT;
    context.textBaseline = 'middle';
    const window = drag?.to !== undefined ? app.snapped(drag.from, drag.to) : part && [part.begin, part.end];
    if (window) draw_range(c, paper, x_at(window[0]), x_at(window[1]), data.left, bottom);
    context.fillStyle = paper.css('faint');
    context.fillRect(data.left, bottom, room(), 1);
    for (const [row, text, ink] of data.labels) {
      context.fillStyle = paper.css(ink ?? 'faint');
      context.textAlign = 'right';
      context.fillText(text, data.left - 6, Math.max(7, y_at(row) + (data.row_height ? height() / 2 : 0)), data.left - 10);
    }
    context.textAlign = 'left';
    context.fillStyle = paper.css('faint');
    for (const [ticks, text] of clock.axis(0, clock.span, room() / 110))
      context.fillText(text, Math.min(x_at(ticks), c.width - context.measureText(text).width), bottom + MAP_AXIS / 2 + 1);
    context.strokeStyle = paper.css('mark');
    context.lineWidth = 1.5;
    for (const [ticks, row] of data.marks ?? []) {
      context.beginPath();
      context.arc(x_at(ticks), y_at(row) + height() / 2, 4, 0, 7);
      context.stroke();
    }
    if (!cursor) return;
    context.strokeStyle = paper.css('ink');
    context.strokeRect(x_at(cursor.k * data.ticks) - 1, y_at(cursor.row) - 1, room() * data.ticks / clock.span + 2, height() + 2);
  }

  function cell_at(event) {
    const r = c.canvas.getBoundingClientRect(), row = Math.floor((event.clientY - r.top - MAP_TOP) / height());
    if (row < 0 || row >= data.rows || event.clientX - r.left < data.left) return null;
    return { row, k: Math.min(data.n - 1, Math.floor(ticks_of(event) / data.ticks)) };
  }

  function choose(cell) {
    cursor = cell;
    if (cell) c.describe([data.title(cell.row, cell.k), ...data.lines(cell.row, cell.k).map((l) => l.join(' '))].join(', '));
    draw();
  }

  const finish = (event, take) => {
    const done = drag;
    drag = null;
    if (!done || !take) return;
    if (done.to !== undefined) app.select_time(done.from, done.to);
    else {
      const cell = cell_at(event);
      hide_tip();
      if (cell) data.open(cell.row, cell.k);
    }
  };
  c.canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !data) return;
    drag = { from: ticks_of(event), x: event.clientX };
    c.canvas.setPointerCapture(event.pointerId);
  });
  c.canvas.addEventListener('pointermove', (event) => {
    if (!data) return;
    app.moment = ticks_of(event);
    if (drag && (drag.to !== undefined || Math.abs(event.clientX - drag.x) > 3)) {
      drag.to = ticks_of(event);
      hide_tip();
      draw();
      return;
    }
    const cell = cell_at(event);
    c.canvas.style.cursor = cell ? 'crosshair' : 'default';
    if (cell?.row !== cursor?.row || cell?.k !== cursor?.k) choose(cell);
    if (cell && data.cells[cell.row * data.n + cell.k] > 0) show_tip(event.clientX, event.clientY, data.title(cell.row, cell.k), data.lines(cell.row, cell.k));
    else hide_tip();
  });
  c.canvas.addEventListener('pointerup', (event) => finish(event, true));
  c.canvas.addEventListener('pointercancel', (event) => finish(event, false));
  c.canvas.addEventListener('pointerleave', () => {
    hide_tip();
    if (!drag && data) choose(null);
  });
  take_keys(c.canvas, (event) => {
    const step = new Map([['ArrowLeft', [0, -1]], ['ArrowRight', [0, 1]], ['ArrowUp', [-1, 0]], ['ArrowDown', [1, 0]]]).get(event.key);
    if (!data || (!step && !(event.key === 'Enter' && cursor))) return false;
    if (step) choose({ row: Math.max(0, Math.min(data.rows - 1, (cursor?.row ?? 0) + step[0])), k: Math.max(0, Math.min(data.n - 1, (cursor?.k ?? 0) + step[1])) });
    else data.open(cursor.row, cursor.k);
    if (cursor) app.moment = cursor.k * data.ticks;
    return true;
  });
  new ResizeObserver(draw).observe(holder);
  return {
    canvas: c.canvas,
    show(new_data) {
      data = new_data;
      most = data.cells.reduce((a, b) => Math.max(a, b), 1);
      cursor = null;
      draw();
    },
  };
}
