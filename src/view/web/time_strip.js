// The strip of a page with times: how much runs in each moment of the whole trace, the worst calls, and the range.
import { button, by_id, el, fill, shorten } from './dom.js';
import { grouped } from './units.js';
import { hide_tip, make_canvas, show_tip, take_keys } from './canvas.js';
import { busy_columns, counted_slices } from './time.js';

const STRIP_HEIGHT = 54;
const STRIP_TOP = 9;
const STRIP_BOTTOM = 14;
const STRIP_FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const EDGE_NEAR = 6;
const EDGE_NEAR_TOUCH = 18;
const SLOW_FUNCTIONS = 8;
const KEY_STEPS = 128;

// The longest call of each function, or all exemplars of the longest of one: longest first.
export function slowest_calls(scene, pick) {
  const { slow } = scene.time, { hidden, part, state } = scene, worst = new Map();
  const wanted = (one) => one.kind === 0 && (pick < 0 ? !hidden?.[one.f] && (!scene.matches || scene.matches[one.f]) : one.f === pick) &&
    (!part || (one.begin >= part.begin && one.begin < part.end)) && (!state.threads.length || scene.threads.has(one.thread));
  const rows = (slow ?? []).filter(wanted), duration = (one) => one.end - one.begin;
  rows.sort((a, b) => duration(b) - duration(a) || a.begin - b.begin);
  if (pick >= 0) return rows;
  for (const one of rows) if (!worst.has(one.f)) worst.set(one.f, one);
  return [...worst.values()];
}

// Selects a call, and shows it in the timeline with some time around it.
export function show_call(app, call) {
  const { clock, profile } = app.scene, length = Math.max(1, call.end - call.begin), room = 2 * length;
  const from = Math.max(0, call.begin - room), to = Math.min(clock.span, call.end + room);
  app.state.set({ view: 'timeline', table: false, pick: profile.twins.key[call.f], zoom: clock.link(from, to), call: call_key(app.scene, call) });
}

// Thread and begin, as links have them.
export function call_key(scene, call) {
  return scene.profile.thread_twins.key[call.thread] + '@' + scene.clock.moment(call.begin);
}

export function make_time_strip(app) {
  const holder = el('div', { class: 'strip-picture' }), note = el('div', { class: 'strip-note' }), c = make_canvas(holder, 'Time', {});
  fill(by_id('strip'), holder, note);
  by_id('strip').classList.add('time');
  by_id('strip').hidden = false;
  let levels = null, most = 1, source = null, chosen = '', marks = [], drag = null;

  const x_of = (ticks) => ticks / app.scene.clock.span * c.width;
  const ticks_at = (event) => {
    const r = c.canvas.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - r.left) / r.width)) * app.scene.clock.span;
  };

  // Levels by column; made again when threads are chosen.
  function make_levels(scene) {
    const { grid, slices } = scene.time, key = scene.state.threads.join();
    if ((grid ?? slices) === source && key === chosen) return;
    [source, chosen] = [grid ?? slices, key];
    levels = grid ? busy_columns(grid, scene.threads.size ? scene.threads : null) : slices ? counted_slices(slices) : new Float64Array(1);
    most = levels.reduce((a, b) => Math.max(a, b), 1);
  }

  function level(from, to) {
    const { grid, slices } = app.scene.time, ticks = (grid ?? slices)?.ticks ?? 1, last = levels.length - 1;
    const a = Math.min(last, Math.floor(from / ticks)), b = Math.max(a, Math.min(last, Math.ceil(to / ticks) - 1));
    let sum = 0;
    for (let i = a; i <= b; i++) sum += levels[i];
    return sum / (b - a + 1);
  }

  function window_now() {
    if (drag?.to !== undefined) return app.snapped(drag.from, drag.to);
    const { part } = app.scene;
    return part ? [part.begin, part.end] : null;
  }

  function draw() {
    const { scene } = app, width = holder.clientWidth;
    if (!scene?.clock || !levels || width === 0) return;
    c.resize(width, STRIP_HEIGHT);
    const { paper, clock } = scene, w = c.image.width, ratio = c.ratio, window = window_now();
    const bottom = STRIP_HEIGHT - STRIP_BOTTOM, height = bottom - STRIP_TOP, bar = paper.pixel('bar'), far = paper.pixel('bar_far');
    c.clear(paper.pixel('paper'));
    for (let x = 0; x < w; x++) {
      const t = x / w * clock.span, part = level(t, (x + 1) / w * clock.span) / most, inside = !window || (t >= window[0] && t < window[1]);
      const pixel = inside ? bar : far, foot = Math.round(bottom * ratio), h = part > 0 ? Math.max(1, Math.round(part * height * ratio)) : 0;
      for (let y = foot - h; y < foot; y++) c.pixels[y * w + x] = pixel;
    }
    c.box(0, bottom, width, 1 / ratio, paper.pixel('line'));
    c.put();
    draw_over(scene, window, bottom);
    draw_note(scene, window);
  }

  function draw_over(scene, window, bottom) {
    const { paper, clock } = scene, { context } = c;
    context.font = STRIP_FONT;
    context.textBaseline = 'alphabetic';
    context.fillStyle = paper.css('faint');
    for (const [ticks, text] of clock.axis(0, clock.span, c.width / 110)) {
      const x = x_of(ticks), half = context.measureText(text).width / 2;
      context.textAlign = 'left';
      context.fillRect(Math.round(x), bottom, 1, 3);
      context.fillText(text, Math.max(0, Math.min(x - half, c.width - 2 * half)), STRIP_HEIGHT - 2);
    }
    context.fillStyle = paper.css('mark');
    for (const one of marks) {
      const x = x_of(one.begin);
      context.beginPath();
      context.moveTo(x - 4, 0);
      context.lineTo(x + 4, 0);
      context.lineTo(x, 7);
      context.fill();
    }
    const zoom = scene.view.id === 'timeline' && clock.window(scene.state.zoom);
    context.strokeStyle = paper.css('faint');
    context.lineWidth = 1;
    if (zoom) context.strokeRect(Math.round(x_of(zoom[0])) + 0.5, STRIP_TOP + 0.5, Math.max(2, Math.round(x_of(zoom[1]) - x_of(zoom[0]))), bottom - STRIP_TOP);
    context.fillStyle = paper.css('accent');
    for (const edge of window ?? []) {
      const x = Math.max(1, Math.min(c.width - 1, x_of(edge)));
      context.fillRect(x - 1, STRIP_TOP - 2, 2, bottom - STRIP_TOP + 3);
      context.fillRect(x - 2.5, (STRIP_TOP + bottom) / 2 - 6, 5, 12);
    }
    if (app.moment >= 0 && document.activeElement === c.canvas) {
      context.fillStyle = paper.css('ink');
      context.fillRect(Math.min(c.width - 1, x_of(app.moment)), STRIP_TOP - 4, 1, bottom - STRIP_TOP + 4);
    }
  }

  function draw_note(scene, window) {
    const { clock } = scene, { slices } = scene.time;
    if (!window) {
      const hint = scene.other_weight ? 'no ranges by this weight; report --weight makes a page with them' : 'drag to select a range';
      fill(note, el('span', null, el('b', null, clock.short(clock.span))), el('span', { class: 'faint' }, hint));
      return;
    }
    const text = clock.short(window[0]) + ' \u2026 ' + clock.short(window[1]);
    fill(note, el('span', { class: 'strip-range' }, el('b', { title: clock.text(window[0]) + ' to ' + clock.text(window[1]) }, text),
      button('\u00d7', 'the whole time (\\)', () => app.state.set({ range: '' }), { class: 'close', 'aria-label': 'the whole time' })),
    el('span', { class: 'faint' }, clock.short(window[1] - window[0]) + (slices ? ', snapped to ' + clock.short(slices.ticks) : '')));
  }

  function edge_at(event) {
    const { part } = app.scene, near = event.pointerType === 'touch' ? EDGE_NEAR_TOUCH : EDGE_NEAR;
    if (!part) return null;
    const r = c.canvas.getBoundingClientRect(), x = event.clientX - r.left, a = Math.abs(x - x_of(part.begin)), b = Math.abs(x - x_of(part.end));
    if (Math.min(a, b) > near) return null;
    return a < b ? { fixed: part.end } : { fixed: part.begin };
  }

  const mark_at = (event) => {
    const r = c.canvas.getBoundingClientRect(), x = event.clientX - r.left;
    return event.clientY - r.top > STRIP_TOP + 2 ? null : marks.find((one) => Math.abs(x_of(one.begin) - x) <= 5);
  };

  function hover(event) {
    const { scene } = app, at = ticks_at(event), mark = mark_at(event);
    c.canvas.style.cursor = mark ? 'pointer' : edge_at(event) ? 'ew-resize' : 'crosshair';
    app.moment = at;
    if (mark) {
      show_tip(event.clientX, event.clientY, shorten(scene.profile.name[mark.f], 300), [['duration', scene.clock.text(mark.end - mark.begin)],
        ['at', scene.clock.text(mark.begin)], ['thread', scene.profile.thread[mark.thread] ?? '']]);
      return;
    }
    show_tip(event.clientX, event.clientY, scene.clock.text(at), [moment_line(scene, at)]);
  }

  function moment_line(scene, at) {
    const { grid, slices } = scene.time, one = scene.clock.span / Math.max(1, c.width), value = level(at, at + one);
    if (grid) return ['busy threads', (value / 255).toFixed(2)];
    return ['here', scene.units.long(Math.round(value)) + ' in ' + scene.clock.short(slices.ticks)];
  }

  c.canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || mark_at(event)) return;
    const edge = edge_at(event);
    drag = { from: edge ? edge.fixed : ticks_at(event), x: event.clientX, edge };
    c.canvas.setPointerCapture(event.pointerId);
    hide_tip();
  });
  c.canvas.addEventListener('pointermove', (event) => {
    if (!app.scene?.clock) return;
    if (!drag) {
      hover(event);
      return;
    }
    if (Math.abs(event.clientX - drag.x) < 3 && drag.to === undefined) return;
    drag.to = ticks_at(event);
    draw();
  });
  const finish = (take) => {
    const window = drag?.to !== undefined ? window_now() : null;
    drag = null;
    if (window && take) app.select_time(...window);
    else draw();
  };
  c.canvas.addEventListener('pointerup', () => finish(true));
  c.canvas.addEventListener('pointercancel', () => finish(false));
  c.canvas.addEventListener('click', (event) => {
    const mark = mark_at(event);
    if (mark) show_call(app, mark);
  });
  c.canvas.addEventListener('dblclick', () => app.state.set({ range: '' }));
  c.canvas.addEventListener('pointerleave', hide_tip);
  take_keys(c.canvas, (event) => {
    const { clock } = app.scene, step = clock.span / (event.shiftKey ? KEY_STEPS / 8 : KEY_STEPS);
    const moves = new Map([['ArrowLeft', -step], ['ArrowRight', step], ['Home', -clock.span], ['End', clock.span]]);
    if (!moves.has(event.key)) return false;
    app.moment = Math.max(0, Math.min(clock.span, Math.max(0, app.moment) + moves.get(event.key)));
    c.describe(clock.text(app.moment) + ', ' + moment_line(app.scene, app.moment).join(' ') + '; [ and ] set the ends of the range');
    draw();
    return true;
  });
  for (const type of ['focus', 'blur']) c.canvas.addEventListener(type, draw);
  new ResizeObserver(draw).observe(holder);

  return {
    draw(scene) {
      make_levels(scene);
      marks = slowest_calls(scene, scene.pick).slice(0, scene.pick >= 0 ? undefined : SLOW_FUNCTIONS);
      const text = scene.part ? 'range ' + scene.clock.text(scene.part.begin) + ' to ' + scene.clock.text(scene.part.end) : 'the whole time, ' + scene.clock.text(scene.clock.span);
      c.describe(text + ', ' + grouped(marks.length) + ' marked calls');
      draw();
    },
  };
}
