// The timeline: single calls by thread and depth, as long as they took. Zoom and place are its own; what is selected is state.
import { button, el, fill, shorten } from './dom.js';
import { grouped, percent } from './units.js';
import { hue } from './profile.js';
import { call_lines } from './call_text.js';
import { node_of_path } from './tree_shape.js';
import { draw_range, hide_tip, make_canvas, make_fitter, on_menu, show_tip, take_keys } from './canvas.js';
import { function_menu, within } from './menu.js';
import { save_picture } from './export.js';
import { make_call_table } from './call_table.js';
import { first_above, rows_by_thread } from './time.js';
import { call_at, call_of, callers_of, draw_row, missing_columns } from './timeline_rows.js';
import { call_key } from './time_strip.js';
import { make_over_time } from './over_time.js';

const LINE = 18;
const HEAD = 26;
const HEAD_TOUCH = 34;
const AXIS = 20;
const TIMELINE_FONT = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const UNFOLDED_LINES = 60;
const SAVE_MS = 250;
const ZOOM_STEP = 0.7;

function command_for(app, from, to) {
  const { profile, clock } = app.scene;
  return within(profile.meta.again || 'traceloom report FILE', clock, from, to);
}

export function make_timeline_view(app) {
  return app.source.has('grid') ? make_call_timeline(app) : make_over_time(app);
}

function make_call_timeline(app) {
  const axis = el('canvas', { class: 'timeline-axis', 'aria-hidden': 'true' }), holder = el('div', { class: 'timeline' });
  const lanes = el('div', { class: 'lanes' }), spacer = el('div', { class: 'spacer' }), none = el('p', { class: 'faint none' });
  const c = make_canvas(holder, 'Timeline'), fit = make_fitter(c.context, TIMELINE_FONT);
  const list = make_call_table(app, (call) => select(call));
  const element = el('div', { class: 'column' }, axis, none, holder, list.element);
  holder.append(lanes, spacer);
  let threads = null, lines = [], folded = null, from = 0, to = 1, saved = '', timer = 0, frame = 0, hover = null, cursor = null, drag = null;
  let head = HEAD, room = 0, chosen_call = '', colours = null, colours_key = null, mask = new Uint8Array(1), places = [];
  const fingers = new Map();

  const width = () => holder.clientWidth;
  const time_at = (x) => from + x / Math.max(1, c.width) * (to - from);
  const x_at = (ticks) => (ticks - from) / (to - from) * c.width;

  // Folds what does not fit, from the last thread on.
  function first_folds() {
    folded = new Set();
    let sum = 0;
    for (const { thread, rows } of threads) {
      sum += rows.length + 1;
      if (sum > UNFOLDED_LINES && threads.length > 1) folded.add(thread);
    }
  }

  function lay_out_lines() {
    const { threads: chosen } = app.scene, shown = threads.filter((t) => !chosen.size || chosen.has(t.thread));
    lines = [];
    let y = 0;
    head = innerWidth <= 720 ? HEAD_TOUCH : HEAD;
    for (const { thread, rows } of shown) {
      lines.push({ thread, y, h: head, head: rows[0] });
      y += head;
      if (!folded.has(thread)) for (const row of rows) {
        lines.push({ thread, y, h: LINE, row });
        y += LINE;
      }
    }
    room = y + LINE;
    spacer.style.height = room + 'px';
    draw_lanes();
  }

  function draw_lanes() {
    const { profile, state } = app.scene, chosen = app.scene.threads;
    fill(lanes, ...threads.map(({ thread, rows }) => {
      const line = lines.find((l) => l.thread === thread && l.head), name = profile.thread[thread] ?? '?', open = line && !folded.has(thread);
      const here = rows.reduce((a, r) => a + (r.spans?.begin.length ?? 0), 0), missing = rows.reduce((a, r) => a + (r.spans?.missing ?? 0), 0);
      const text = missing ? grouped(here) + ' of ' + grouped(here + missing) + ' calls in this page' : grouped(here) + (here === 1 ? ' call' : ' calls');
      const e = el('div', { class: 'lane' },
        button(open ? '\u25be' : '\u25b8', open ? 'fold' : 'unfold', () => toggle(thread), { class: 'arrow', 'aria-expanded': String(Boolean(open)), 'aria-label': (open ? 'fold ' : 'unfold ') + name }),
        el('button', { type: 'button', class: 'lane-name', 'aria-pressed': String(chosen.has(thread)), title: 'only this thread; with Shift: this one, too',
          on: { click: (event) => choose_thread(thread, event.shiftKey) } }, shorten(name, 60)), el('span', { class: 'faint' }, text));
      e.style.top = (line?.y ?? 0) + 'px';
      e.style.height = head - 6 + 'px';
      e.hidden = !line;
      return e;
    }));
    none.hidden = !state.threads.length;
    if (state.threads.length) fill(none, chosen.size + ' of ' + threads.length + ' threads ', button('All threads', '', () => app.state.set({ threads: [] })));
  }

  function toggle(thread) {
    if (folded.has(thread)) folded.delete(thread);
    else folded.add(thread);
    lay_out_lines();
    draw();
    const at = threads.findIndex((t) => t.thread === thread);
    lanes.children[at]?.querySelector('.arrow').focus();
  }

  function choose_thread(thread, more) {
    const key = app.scene.profile.thread_twins.key[thread], now = app.state.get().threads;
    const next = now.includes(key) ? now.filter((k) => k !== key) : more ? [...now, key] : [key];
    app.state.set({ threads: next });
  }

  // Colours of functions, each made when it is first drawn.
  function colour_of(scene) {
    const key = scene.paper.theme + scene.state.find + '\n' + scene.state.keep + '\n' + scene.state.drop;
    if (key !== colours_key) {
      colours_key = key;
      colours = new Uint32Array(scene.profile.count);
    }
    const { paper, profile, matches, hidden } = scene;
    return (f) => {
      if (f < 0) return paper.pixel('others');
      if (colours[f] === 0) colours[f] = hidden?.[f] ? paper.pixel('root') : matches?.[f] ? paper.pixel('match') : paper.pixel(hue(profile, f));
      return colours[f];
    };
  }

  function draw() {
    cancelAnimationFrame(frame);
    frame = 0;
    const { scene } = app;
    if (!threads || width() === 0 || scene.state.table) return;
    c.resize(width(), Math.max(head, holder.clientHeight));
    const { paper, time } = scene, w = c.image.width, ratio = c.ratio, top = holder.scrollTop, h = c.image.height;
    if (mask.length !== w) mask = new Uint8Array(w);
    const view = { from, to, scale: w / (to - from), grid: time.grid, colour: colour_of(scene), paper: paper.pixel('paper'), faint: paper.pixel('faint'), ratio };
    const image = { width: w, pixels: c.pixels };
    c.clear(view.paper);
    places = [];
    for (const line of lines) {
      const y0 = Math.max(0, Math.round((line.y - top) * ratio)), y1 = Math.min(h, Math.round((line.y - top + line.h - 1) * ratio));
      if (y1 <= y0) continue;
      if (line.head) draw_busy(line, top);
      else places.push([line, draw_row(image, line.row, y0, y1, view, mask)]);
    }
    c.put();
    draw_names(top);
    draw_over(top);
    draw_axis();
  }

  // How much of each moment a thread is busy: the outermost row of the grid.
  function draw_busy(line, top) {
    const { paper, time } = app.scene, share = line.head.grid?.cells().share, w = c.image.width, bar = paper.pixel('bar_far');
    const most = folded.has(line.thread) ? head - 8 : 4, bottom = line.y - top + head - 2;
    const height = (x) => share[Math.min(time.grid.n - 1, Math.floor(time_at((x + 0.5) / c.ratio) / time.grid.ticks))] / 255 * most;
    if (!share) return;
    // Neighbours of the same height are one box.
    for (let x = 0, first = 0, h = height(0); x < w;) {
      const next = ++x < w ? height(x) : -1;
      if (next === h) continue;
      if (h > 0) c.box(first / c.ratio, bottom - Math.max(1, h), (x - first) / c.ratio, Math.max(1, h), bar);
      [first, h] = [x, next];
    }
  }

  function draw_names(top) {
    const { context } = c, { profile, paper } = app.scene;
    context.font = TIMELINE_FONT;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    context.fillStyle = paper.css('ink');
    for (const [line, boxes] of places)
      for (const box of boxes) {
        const text = fit(profile.name[line.row.spans.fn[box.i]], box.w - 8);
        if (text) context.fillText(text, box.x + 4, line.y - top + LINE / 2);
      }
  }

  function outline(call, top, key, thick) {
    const line = call && lines.find((l) => l.row && l.thread === call.thread && l.row.depth === call.depth);
    if (!line) return;
    const x = Math.max(-2, x_at(call.begin)), w = Math.min(width() + 2, x_at(call.end)) - x;
    c.context.strokeStyle = app.scene.paper.css(key);
    c.context.lineWidth = thick;
    c.context.strokeRect(x, line.y - top + thick / 2, Math.max(2, w - 1), LINE - 1 - thick);
  }

  function draw_over(top) {
    const { scene } = app, window = drag?.range ? app.snapped(...drag.range) : scene.part && [scene.part.begin, scene.part.end];
    if (window) draw_range(c, scene.paper, x_at(window[0]), x_at(window[1]), 0, c.height);
    if (hover && hover.i >= 0) outline(hover, top, 'ink', 1);
    outline(scene.call, top, 'accent', 2);
    if (cursor && document.activeElement === c.canvas) outline(cursor, top, 'accent', 2);
  }

  function draw_axis() {
    const { scene } = app, context = axis.getContext('2d', { alpha: false }), w = c.image.width;
    if (axis.width !== w || axis.height !== AXIS * c.ratio) {
      axis.width = w;
      axis.height = AXIS * c.ratio;
      axis.style.width = c.width + 'px';
      axis.style.height = AXIS + 'px';
    }
    context.setTransform(c.ratio, 0, 0, c.ratio, 0, 0);
    context.fillStyle = scene.paper.css('paper');
    context.fillRect(0, 0, c.width, AXIS);
    context.font = TIMELINE_FONT;
    context.textBaseline = 'middle';
    context.fillStyle = scene.paper.css('faint');
    for (const [ticks, text] of scene.clock.axis(from, to, c.width / 130)) {
      const x = x_at(ticks), left = x + 4 + context.measureText(text).width > c.width;
      context.fillRect(Math.round(x), 3, 1, AXIS - 3);
      context.textAlign = left ? 'right' : 'left';
      context.fillText(text, left ? x - 4 : x + 4, AXIS / 2 + 1);
    }
  }

  // The window, at most the whole and at least a few ticks. Links have it a little later.
  function set_window(a, b) {
    const { clock } = app.scene, size = Math.max(Math.min(8, clock.span), Math.min(clock.span, b - a));
    from = Math.max(0, Math.min(clock.span - size, a));
    to = from + size;
    if (!frame) frame = requestAnimationFrame(draw);
    clearTimeout(timer);
    timer = setTimeout(() => {
      saved = size >= clock.span ? '' : clock.link(from, to);
      app.state.set({ zoom: saved }, true);
    }, SAVE_MS);
  }

  function zoom(factor, centre) {
    const at = from + (to - from) * centre, size = Math.min(app.scene.clock.span, Math.max(8, (to - from) * factor));
    set_window(at - size * centre, at - size * centre + size);
  }

  const pan = (part) => set_window(from + (to - from) * part, to + (to - from) * part);

  // What is at a point: a call, or a cell of the grid (i is -1).
  function at_point(event) {
    const r = c.canvas.getBoundingClientRect(), x = event.clientX - r.left, y = event.clientY - r.top + holder.scrollTop;
    const line = lines.find((l) => y >= l.y && y < l.y + l.h), ticks = time_at(x);
    app.moment = ticks;
    if (!line) return null;
    const { row } = line, i = row?.spans ? call_at(row.spans, ticks, (to - from) / width()) : -1;
    return i >= 0 ? call_of(row, i) : { thread: line.thread, depth: row?.depth ?? 0, row: row ?? line.head, i: -1, ticks };
  }

  function cell_lines(at) {
    const { grid } = app.scene.time, { profile, clock } = app.scene, cells = at.row.grid?.cells(), col = Math.min(grid.n - 1, Math.floor(at.ticks / grid.ticks));
    if (!cells || cells.share[col] === 0) return null;
    const missing = at.row.missing?.[col] ?? 0, f = cells.fn[col], lines_of = [['busy', percent(cells.share[col], 255)],
      ['thread', shorten(profile.thread[at.thread] ?? '', 80)], ['mostly', f >= 0 ? shorten(profile.name[f], 80) : '-']];
    if (missing > 0 && at.depth > 0) {
      lines_of.push(['calls', grouped(missing) + ' that are not in this page']);
      if (at.row.spans?.all_from) lines_of.push(['in this page', 'calls from ' + clock.short(at.row.spans.all_from) + ' on']);
      lines_of.push(['see them', shorten(command_for(app, col * grid.ticks, Math.min(clock.span, (col + 1) * grid.ticks)), 160)]);
    }
    return lines_of;
  }

  function tip(event) {
    const at = hover;
    if (!at) return hide_tip();
    if (at.i >= 0) return show_tip(event.clientX, event.clientY, shorten(app.scene.profile.name[at.f], 300), call_lines(app, at));
    const text = cell_lines(at);
    return text ? show_tip(event.clientX, event.clientY, app.scene.clock.text(at.ticks), text) : hide_tip();
  }

  // Picks the function, remembers the call, and focuses on its place in the tree if all its callers are here.
  function select(call) {
    const { scene } = app, { profile, shape, hidden } = scene, path = scene.state.invert ? null : callers_of(threads, call);
    const names = (path ?? []).filter((p) => !hidden?.[p.f]).map((p) => profile.twins.key[p.f]);
    if (profile.meta.per_thread) names.unshift(profile.thread_twins.key[call.thread]);
    cursor = call;
    app.state.set({ pick: profile.twins.key[call.f], call: call_key(scene, call), sandwich: false, ...(path && node_of_path(shape, names) ? { focus: names } : {}) });
  }

  function set_cursor(call) {
    const { clock } = app.scene;
    if (!call) return;
    cursor = call;
    const line = lines.find((l) => l.row && l.thread === call.thread && l.row.depth === call.depth), size = to - from;
    if (line && line.y < holder.scrollTop) holder.scrollTop = line.y;
    if (line && line.y + LINE > holder.scrollTop + holder.clientHeight) holder.scrollTop = line.y + LINE - holder.clientHeight;
    if (call.end < from || call.begin > to) set_window(call.begin - size / 2, call.begin + size / 2);
    app.moment = call.begin;
    c.describe([app.scene.profile.name[call.f], ...call_lines(app, call).map((l) => l.join(' '))].join(', '));
    if (clock) draw();
  }

  // To the caller, the first callee, the call before or behind.
  function move(key) {
    const rows = lines.filter((l) => l.row?.spans?.begin.length).map((l) => l.row);
    if (!cursor) {
      const row = rows.find((r) => first_above(r.end ?? r.spans.end, from) < r.spans.begin.length);
      return row && set_cursor(call_of(row, Math.min(row.spans.begin.length - 1, first_above(row.spans.end, from))));
    }
    const of = (depth) => rows.find((r) => r.thread === cursor.thread && r.depth === depth), own = of(cursor.depth);
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const i = cursor.i + (key === 'ArrowLeft' ? -1 : 1);
      return own && i >= 0 && i < own.spans.begin.length ? set_cursor(call_of(own, i)) : undefined;
    }
    if (key === 'ArrowUp') {
      const row = of(cursor.depth - 1), i = row ? first_above(row.spans.begin, cursor.begin) - 1 : -1;
      return i >= 0 ? set_cursor(call_of(row, i)) : undefined;
    }
    const row = of(cursor.depth + 1), i = row ? first_above(row.spans.end, cursor.begin) : -1;
    return row && i < row.spans.begin.length && row.spans.begin[i] < cursor.end ? set_cursor(call_of(row, i)) : undefined;
  }

  function zoom_to(call) {
    const room = Math.max(1, (call.end - call.begin) / 8);
    set_window(call.begin - room, call.end + room);
  }

  function key(event) {
    const zooms = new Map([['w', ZOOM_STEP], ['+', ZOOM_STEP], ['=', ZOOM_STEP], ['s', 1 / ZOOM_STEP], ['-', 1 / ZOOM_STEP]]);
    const centre = cursor && cursor.begin >= from && cursor.begin <= to ? (cursor.begin - from) / (to - from) : 0.5;
    if (event.key.startsWith('Arrow')) move(event.key);
    else if (zooms.has(event.key)) zoom(zooms.get(event.key), centre);
    else if (event.key === 'a' || event.key === 'd') pan(event.key === 'a' ? -0.2 : 0.2);
    else if (event.key === '0') set_window(0, app.scene.clock.span);
    else if (event.key === 'z' && cursor) zoom_to(cursor);
    else if (event.key === 'Enter' && cursor) select(cursor);
    else if (event.key === ']' && cursor) app.range_end(1, cursor.end);
    else if ((event.key === 'm' || event.key === 'ContextMenu') && cursor) {
      const r = c.canvas.getBoundingClientRect();
      function_menu(app, cursor.f, null, 0, { clientX: r.left + Math.max(0, x_at(cursor.begin)) + 20, clientY: r.top + 40 });
    } else return false;
    return true;
  }

  c.canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, event.clientX);
    const xs = [...fingers.values()], r = c.canvas.getBoundingClientRect();
    if (xs.length === 2) drag = { pinch: Math.max(10, Math.abs(xs[0] - xs[1])), centre: ((xs[0] + xs[1]) / 2 - r.left) / r.width, window: [from, to] };
    else drag = { x: event.clientX, window: [from, to], start: time_at(event.clientX - r.left), shift: event.shiftKey };
    c.canvas.setPointerCapture(event.pointerId);
  });
  c.canvas.addEventListener('pointermove', (event) => {
    if (!threads) return;
    if (!drag) {
      const at = at_point(event), changed = at?.i !== hover?.i || at?.thread !== hover?.thread || at?.depth !== hover?.depth;
      hover = at;
      if (changed) draw();
      c.canvas.style.cursor = at && at.i >= 0 ? 'pointer' : 'default';
      tip(event);
      return;
    }
    hide_tip();
    fingers.set(event.pointerId, event.clientX);
    const [a, b] = drag.window;
    if (drag.pinch) {
      const xs = [...fingers.values()], size = (b - a) * drag.pinch / Math.max(10, Math.abs(xs[0] - xs[1])), at = a + (b - a) * drag.centre;
      set_window(at - size * drag.centre, at + size * (1 - drag.centre));
    } else if (drag.moved || Math.abs(event.clientX - drag.x) > 3) {
      drag.moved = true;
      const r = c.canvas.getBoundingClientRect(), step = (event.clientX - drag.x) / width() * (b - a);
      if (drag.shift) {
        drag.range = [drag.start, time_at(Math.max(0, Math.min(r.width, event.clientX - r.left)))];
        draw();
      } else set_window(a - step, b - step);
    }
  });
  const finish = (event, take) => {
    const done = drag;
    fingers.delete(event.pointerId);
    if (!done || fingers.size) return;
    drag = null;
    if (done.range && take) app.select_time(...done.range);
    else if (!done.moved && !done.pinch && take) {
      const at = at_point(event);
      hide_tip();
      if (at && at.i >= 0) select(at);
    }
  };
  c.canvas.addEventListener('pointerup', (event) => finish(event, true));
  c.canvas.addEventListener('pointercancel', (event) => finish(event, false));
  c.canvas.addEventListener('dblclick', (event) => {
    const at = at_point(event);
    if (at && at.i >= 0) zoom_to(at);
  });
  c.canvas.addEventListener('pointerleave', () => {
    hover = null;
    hide_tip();
    draw();
  });
  on_menu(c.canvas, (event) => {
    const at = at_point(event);
    drag = null;
    fingers.clear();
    hide_tip();
    if (at && at.i >= 0) function_menu(app, at.f, null, 0, event);
  });
  holder.addEventListener('wheel', (event) => {
    const r = c.canvas.getBoundingClientRect(), still = room <= holder.clientHeight;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
    else if (event.ctrlKey || still) zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 200), (event.clientX - r.left) / r.width);
    else return;
    hide_tip();
    event.preventDefault();
  }, { passive: false });
  holder.addEventListener('scroll', () => {
    hide_tip();
    draw();
  });
  take_keys(c.canvas, key);
  for (const type of ['focus', 'blur']) c.canvas.addEventListener(type, () => {
    if (type === 'focus' && !cursor && threads && c.canvas.matches(':focus-visible')) move('ArrowDown');
    draw();
  });
  new ResizeObserver(draw).observe(holder);

  return {
    element, own_table: true, canvas: c.canvas,
    tools: () => [button('Whole', 'all of the time (0)', () => set_window(0, app.scene.clock.span)), button('PNG', 'save the picture', () => save_picture(c.canvas))],
    draw(scene) {
      if (!threads) {
        threads = rows_by_thread(scene.time.grid, scene.time.spans);
        for (const { rows } of threads) for (const row of rows) row.missing = missing_columns(scene.time.grid, row);
        first_folds();
        to = scene.clock.span;
      }
      if (scene.state.zoom !== saved) {
        clearTimeout(timer);
        saved = scene.state.zoom;
        [from, to] = scene.clock.window(saved) ?? [0, scene.clock.span];
      }
      if (scene.state.call !== chosen_call) {
        chosen_call = scene.state.call;
        cursor = scene.call?.i >= 0 ? scene.call : null;
        if (scene.call) folded.delete(scene.call.thread);
      }
      axis.hidden = holder.hidden = scene.state.table;
      list.element.hidden = !scene.state.table;
      lay_out_lines();
      if (scene.state.table) list.draw(scene, threads, from, to);
      else draw();
    },
    // n, N: the next call of a matching function.
    next_match(scene, step) {
      const at = cursor?.begin ?? from;
      let best = null;
      for (const { row } of lines)
        if (row?.spans) {
          const { begin, fn } = row.spans;
          let i = first_above(begin, at) - (step > 0 ? 0 : 1);
          while (i >= 0 && i < begin.length && (!scene.matches[fn[i]] || begin[i] === at)) i += step;
          if (i >= 0 && i < begin.length && (!best || (begin[i] - best.begin) * step < 0)) best = call_of(row, i);
        }
      set_cursor(best);
    },
    focus: () => c.canvas.focus(),
  };
}
