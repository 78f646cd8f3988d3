// The flame graph: boxes as wide as their share, callers above callees; as a sandwich callers stand above one function.
import { button, el, say, shorten } from './dom.js';
import { percent } from './units.js';
import { hue } from './profile.js';
import { callees_shape, callers_shape, children, node_name } from './tree_shape.js';
import { hide_tip, make_canvas, make_fitter, on_menu, show_tip, take_keys } from './canvas.js';
import { node_lines, node_sentence } from './detail.js';
import { function_menu } from './menu.js';
import { save_picture } from './export.js';

const ROW = 22;
const NARROWEST = 0.6;
const FONT = '12.5px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// Boxes of one tree within the window [from, to) of its root: rows of {node, x, w} in CSS pixels, from left to right.
// What is narrower than a pixel is one box of node -1.
function lay_out(shape, root, from, to, width) {
  const rows = [], scale = width / (to - from), whole = shape.total[root] || 1;
  const add = (row, box) => (rows[row] ??= []).push(box);
  const stack = [[root, -from * scale, scale, 0]];
  while (stack.length) {
    const [node, x, w, row] = stack.pop();
    add(row, { node, x, w, shape });
    let at = x;
    const inside = [], all = children(shape, node);
    for (let k = 0; k < all.length; k++) {
      const part = shape.total[all[k]] / whole * scale;
      if (part < NARROWEST) {
        let rest = 0;
        for (let j = k; j < all.length; j++) rest += shape.total[all[j]] / whole * scale;
        if (rest >= 1 && at < width && at + rest > 0) add(row + 1, { node: -1, x: at, w: rest, shape, n: all.length - k, parent: node });
        break;
      }
      if (at + part > 0 && at < width) inside.push([all[k], at, part, row + 1]);
      at += part;
    }
    for (let k = inside.length; k-- > 0;) stack.push(inside[k]);
  }
  for (const row of rows) row.sort((a, b) => a.x - b.x);
  return rows;
}

// A picture of one or two trees. options: app, label, rows (at most; 0: all); and, where a tree is not one of the profile,
// lines(shape, node), amount(shape, node), colour(box), hatched(box), under(box): a share of the box to underline, open(box).
export function make_flame(holder, options) {
  const { app } = options, c = make_canvas(holder, options.label), fit = make_fitter(c.context, FONT);
  const spacer = el('div', { class: 'spacer' });
  holder.append(spacer);
  holder.classList.add('flame');
  const lines = options.lines ?? ((shape, node) => node_lines(app.scene, shape, node));
  let parts = [], rows = [], from = 0, to = 1, hover = null, cursor = null, root_key = null;

  const width = () => holder.clientWidth;
  const height = () => options.rows ? Math.min(options.rows, Math.max(4, rows.length)) * ROW : holder.clientHeight;

  function lay_out_all() {
    rows = [];
    for (const part of parts) {
      const more = lay_out(part.shape, part.root, from, to, width());
      if (part.up) rows.push(...more.slice(1).reverse());
      else rows.push(...more);
    }
    spacer.style.height = options.rows ? '0' : Math.max(0, rows.length * ROW + 6) + 'px';
  }

  function colour(box) {
    const { scene } = app, { paper } = scene, f = box.shape.fn[box.node];
    if (box.node < 0) return paper.pixel('others');
    if (options.colour) return paper.pixel(options.colour(box));
    if (f < 0) return paper.pixel(box.shape.others[box.node] > 0 ? 'others' : 'root');
    return scene.matches?.[f] ? paper.pixel('match') : paper.pixel(hue(scene.profile, f));
  }

  function each_box(act) {
    const top = options.rows ? 0 : holder.scrollTop, first = Math.floor(top / ROW);
    for (let row = first; row < rows.length && row * ROW - top < c.height; row++)
      for (const box of rows[row]) act(box, row * ROW - top);
  }

  function draw_boxes() {
    const { paper } = app.scene;
    c.clear(paper.pixel('paper'));
    each_box((box, y) => {
      c.box(box.x, y, Math.max(box.w - (box.w > 3 ? 1 : 0), NARROWEST), ROW - 1, colour(box));
      if (box.node < 0 || box.shape.others[box.node] > 0 || options.hatched?.(box)) c.hatch(box.x, y, box.w - 1, ROW - 1, paper.pixel(options.hatched ? 'line' : 'faint'));
      const under = box.node >= 0 && options.under ? options.under(box) : 0;
      if (under) c.box(box.x, y + ROW - 4, under * (box.w - 1), 3, paper.pixel('faint'));
    });
    c.put();
  }

  function text_of(box, room) {
    const { units, profile } = app.scene, name = node_name(box.shape, box.node);
    const text = fit(name, room);
    if (text !== name || room < 160) return [text, ''];
    const amount = options.amount ? options.amount(box.shape, box.node) : units.short(box.shape.shown[box.node]) + ' \u00b7 ' + percent(box.shape.shown[box.node], profile.tree.shown[0]);
    return [text, c.context.measureText(text + '   ' + amount).width < room ? amount : ''];
  }

  function draw_text() {
    const { context } = c, { paper } = app.scene;
    context.font = FONT;
    context.textBaseline = 'middle';
    context.fillStyle = paper.css('ink');
    each_box((box, y) => {
      const x = Math.max(box.x, 0), room = Math.min(box.x + box.w, width()) - x - 10;
      if (box.node < 0 || room < 14) return;
      const [text, amount] = text_of(box, room);
      context.textAlign = 'left';
      if (text) context.fillText(text, x + 5, y + ROW / 2);
      if (!amount) return;
      context.textAlign = 'right';
      context.fillText(amount, x + room + 4, y + ROW / 2);
    });
    context.lineWidth = 2;
    each_box((b, y) => {
      const picked = app.scene.pick >= 0 && b.shape.fn[b.node] === app.scene.pick && (parts.length < 2 || b.node === 0);
      const key = same(b, cursor) ? 'accent' : same(b, hover) ? 'ink' : picked ? 'accent' : '';
      if (!key || b.node < 0) return;
      context.strokeStyle = paper.css(key);
      context.strokeRect(b.x + 1, y + 1, Math.max(1, b.w - 3), ROW - 3);
    });
  }

  const same = (a, b) => a && b && a.shape === b.shape && a.node === b.node && a.node >= 0;

  function draw() {
    if (!parts.length || width() === 0) return;
    lay_out_all();
    c.resize(width(), Math.max(ROW, height()));
    draw_boxes();
    draw_text();
  }

  function box_at(event) {
    const r = c.canvas.getBoundingClientRect(), x = event.clientX - r.left, y = event.clientY - r.top;
    const row = rows[Math.floor((y + (options.rows ? 0 : holder.scrollTop)) / ROW)];
    return row?.find((box) => x >= box.x && x < Math.max(box.x + box.w, box.x + 1)) ?? null;
  }

  function set_cursor(box) {
    cursor = box;
    if (!box) return;
    c.describe(node_sentence(box.shape, box.node, lines(box.shape, box.node)));
    const row = rows.findIndex((list) => list.some((b) => same(b, box)));
    if (row >= 0 && !options.rows) {
      if (row * ROW < holder.scrollTop) holder.scrollTop = row * ROW;
      if ((row + 1) * ROW > holder.scrollTop + holder.clientHeight) holder.scrollTop = (row + 1) * ROW - holder.clientHeight;
    }
    draw();
  }

  // Moves by caller, callee, sibling: all within what is drawn.
  function move(key) {
    const at = cursor ?? rows.flat().find((b) => b.node >= 0);
    if (!cursor || !at) return set_cursor(at);
    const row = rows.findIndex((list) => list.some((b) => same(b, at))), list = rows[row] ?? [];
    const k = list.findIndex((b) => same(b, at)), real = (b) => b && b.node >= 0;
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const next = list[k + (key === 'ArrowLeft' ? -1 : 1)];
      return real(next) ? set_cursor(next) : undefined;
    }
    const inside = (a, b) => a.x >= b.x - 0.5 && a.x + a.w <= b.x + b.w + 0.5;
    const step = rows[row + (key === 'ArrowUp' ? -1 : 1)] ?? [];
    const next = step.filter(real).find((b) => inside(b, at) || inside(at, b));
    return next ? set_cursor(next) : undefined;
  }

  function zoom(factor, centre) {
    const span = Math.min(1, Math.max((to - from) * factor, 1e-9)), at = from + (to - from) * centre;
    from = Math.min(Math.max(0, at - span * centre), 1 - span);
    to = from + span;
    draw();
  }

  function pan(part) {
    const step = Math.min(Math.max((to - from) * part, -from), 1 - to);
    from += step;
    to += step;
    draw();
  }

  function open(box) {
    if (!box || box.node < 0) return;
    if (options.open) return options.open(box);
    const f = box.shape.fn[box.node];
    if (box.shape === app.scene.shape) app.focus(box.node, f);
    else if (f >= 0) app.pick(f);
  }

  function key(event) {
    const zooms = new Map([['w', 0.7], ['+', 0.7], ['=', 0.7], ['-', 1 / 0.7]]);
    const node = cursor && cursor.node >= 0 ? cursor : null, f = node ? node.shape.fn[node.node] : -1;
    if (event.key.startsWith('Arrow')) move(event.key);
    else if (event.key === 'Enter') open(cursor);
    else if (zooms.has(event.key)) zoom(zooms.get(event.key), 0.5);
    else if (event.key === 'a' || event.key === 'd') pan(event.key === 'a' ? -0.2 : 0.2);
    else if (event.key === 's' && f >= 0) app.sandwich(f);
    else if ((event.key === 'm' || event.key === 'ContextMenu') && node) {
      const r = c.canvas.getBoundingClientRect();
      function_menu(app, f, node.shape, node.node, { clientX: r.left + Math.max(node.x, 0) + 20, clientY: r.top + 40 });
    } else return false;
    return true;
  }

  c.canvas.addEventListener('mousemove', (event) => {
    const box = box_at(event);
    if (box !== hover) {
      hover = box;
      draw();
    }
    c.canvas.style.cursor = box && box.node >= 0 ? 'pointer' : 'default';
    if (!box) return hide_tip();
    if (box.node < 0) return show_tip(event.clientX, event.clientY, box.n + ' narrow boxes', [['', 'zoom in to see them']]);
    return show_tip(event.clientX, event.clientY, shorten(node_name(box.shape, box.node), 300), lines(box.shape, box.node));
  });
  c.canvas.addEventListener('mouseleave', () => {
    hover = null;
    hide_tip();
    draw();
  });
  c.canvas.addEventListener('click', (event) => {
    const box = box_at(event), f = box && box.node >= 0 ? box.shape.fn[box.node] : -1;
    hide_tip();
    if (event.altKey && f >= 0) app.sandwich(f);
    else open(box);
  });
  on_menu(c.canvas, (event) => {
    const box = box_at(event);
    hide_tip();
    if (box && box.node >= 0) function_menu(app, box.shape.fn[box.node], box.shape, box.node, event);
  });
  holder.addEventListener('wheel', (event) => {
    if (options.rows || !(event.ctrlKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) return;
    event.preventDefault();
    const r = c.canvas.getBoundingClientRect();
    if (event.ctrlKey) zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 200), (event.clientX - r.left) / r.width);
    else pan((event.deltaX || event.deltaY) / 1000);
  }, { passive: false });
  holder.addEventListener('scroll', () => {
    hide_tip();
    draw();
  });
  take_keys(c.canvas, key);
  c.canvas.addEventListener('focus', () => { if (!cursor && c.canvas.matches(':focus-visible')) move('ArrowDown'); });
  new ResizeObserver(() => draw()).observe(holder);

  return {
    canvas: c.canvas, draw, rows: () => rows,
    show(new_parts) {
      parts = new_parts;
      const now = parts[0].shape.profile.meta.weight + ':' + parts.map((p) => p.shape.kind + p.root + ':' + p.shape.n).join();
      if (now !== root_key) {
        root_key = now;
        from = 0;
        to = 1;
        cursor = hover = null;
        if (!options.rows) holder.scrollTop = 0;
      }
      draw();
    },
    select(shape, node) {
      const box = rows.flat().find((b) => b.shape === shape && b.node === node);
      if (box) set_cursor(box);
      return Boolean(box);
    },
  };
}

export function make_flame_view(app) {
  const holder = el('div', { class: 'fill' });
  const flame = make_flame(holder, { app, label: 'Flame graph' });
  let sandwich = {};

  function parts_of(scene) {
    if (!scene.state.sandwich || scene.pick < 0) return [{ shape: scene.shape, root: scene.focus }];
    if (sandwich.base !== scene.base || sandwich.pick !== scene.pick) {
      const callers = callers_shape(scene.base, scene.pick), callees = callees_shape(scene.base, scene.pick);
      sandwich = { base: scene.base, pick: scene.pick, parts: [{ shape: callers, root: 0, up: true }, { shape: callees, root: 0 }] };
    }
    return sandwich.parts;
  }

  return {
    element: holder,
    tools: () => [button('PNG', 'save the picture', () => save_picture(flame.canvas))],
    draw(scene) {
      flame.show(parts_of(scene));
      if (scene.shape.cut) say('callers beyond 200 levels are not shown');
    },
    // n, N: the next match that is drawn.
    next_match(scene, step) {
      const hits = flame.rows().flat().filter((b) => b.node >= 0 && b.shape.fn[b.node] >= 0 && scene.matches?.[b.shape.fn[b.node]]);
      if (!hits.length) return;
      const at = hits.findIndex((b) => b.shape === this.at?.shape && b.node === this.at?.node);
      this.at = hits[(at + step + hits.length) % hits.length];
      flame.select(this.at.shape, this.at.node);
      flame.canvas.focus();
    },
    focus: () => flame.canvas.focus(),
  };
}
