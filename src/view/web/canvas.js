// A canvas of the size of its box: pixels of one ImageData, text on top, a tooltip, and what screen readers say.
import { by_id, el, fill } from './dom.js';

export function make_canvas(holder, label, more) {
  const canvas = el('canvas', { class: 'picture', role: 'application', tabindex: '0', 'aria-label': label, ...more });
  const id = 'd' + Math.random().toString(36).slice(2);
  // Inside of the canvas, so that it can be its active descendant.
  const described = el('div', { id, class: 'off', role: 'img', 'aria-label': label });
  canvas.setAttribute('aria-activedescendant', id);
  canvas.setAttribute('aria-describedby', id);
  canvas.append(described);
  holder.append(canvas);
  const context = canvas.getContext('2d', { alpha: false });
  const c = { canvas, context, width: 0, height: 0, ratio: 1, image: null, pixels: null };
  // Sizes are CSS pixels; boxes and text are in them, too.
  c.resize = (width, height) => {
    c.ratio = Math.min(4, devicePixelRatio || 1);
    const w = Math.max(1, Math.round(width * c.ratio)), h = Math.max(1, Math.round(height * c.ratio));
    if (canvas.width !== w || canvas.height !== h || !c.image) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.width = width + 'px';
      canvas.style.height = height + 'px';
      c.image = context.createImageData(w, h);
      c.pixels = new Uint32Array(c.image.data.buffer);
    }
    c.width = width;
    c.height = height;
  };
  c.clear = (pixel) => c.pixels.fill(pixel);
  // One line of pixels, then copies of it.
  c.box = (x, y, width, height, pixel) => {
    const r = c.ratio, w = c.image.width, h = c.image.height;
    const x0 = Math.max(0, Math.round(x * r)), x1 = Math.min(w, Math.round((x + width) * r));
    const y0 = Math.max(0, Math.round(y * r)), y1 = Math.min(h, Math.round((y + height) * r));
    if (x1 <= x0 || y1 <= y0) return;
    c.pixels.fill(pixel, y0 * w + x0, y0 * w + x1);
    for (let row = y0 + 1; row < y1; row++) c.pixels.copyWithin(row * w + x0, y0 * w + x0, y0 * w + x1);
  };
  // Slanted lines: something that is not one thing.
  c.hatch = (x, y, width, height, pixel) => {
    const r = c.ratio, w = c.image.width, h = c.image.height, step = Math.round(6 * r);
    const x0 = Math.max(0, Math.round(x * r)), x1 = Math.min(w, Math.round((x + width) * r));
    const y0 = Math.max(0, Math.round(y * r)), y1 = Math.min(h, Math.round((y + height) * r));
    for (let row = y0; row < y1; row++)
      for (let at = x0 + (step - (x0 + row) % step) % step; at < x1; at += step) c.pixels[row * w + at] = pixel;
  };
  c.put = () => {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(c.image, 0, 0);
    context.setTransform(c.ratio, 0, 0, c.ratio, 0, 0);
  };
  c.describe = (text) => {
    described.textContent = text;
    described.setAttribute('aria-label', text || label);
  };
  return c;
}

// What is outside of a range fades; `left` is where the picture begins.
export function draw_range(c, paper, from, to, left, height) {
  const { context } = c, x0 = Math.max(left, from), x1 = Math.min(c.width, to);
  context.globalAlpha = 0.65;
  context.fillStyle = paper.css('paper');
  context.fillRect(left, 0, x0 - left, height);
  context.fillRect(x1, 0, c.width - x1, height);
  context.globalAlpha = 1;
  context.fillStyle = paper.css('accent');
  for (const x of [from, to]) if (x >= left && x <= c.width) context.fillRect(x - 1, 0, 2, height);
}

// Widths of names are measured once; a name that does not fit loses its end.
export function make_fitter(context, font) {
  const widths = new Map();
  const measure = (text) => {
    if (widths.size > 20000) widths.clear();
    if (!widths.has(text)) widths.set(text, context.measureText(text).width);
    return widths.get(text);
  };
  return (text, room) => {
    context.font = font;
    if (room < 14) return '';
    const short = text.length > 400 ? text.slice(0, 400) : text, width = measure(short);
    if (width <= room) return short;
    const letters = Array.from(short);
    let from = 0, to = letters.length - 1;
    while (from < to) {
      const middle = (from + to + 1) >> 1;
      if (context.measureText(letters.slice(0, middle).join('') + '\u2026').width <= room) from = middle;
      else to = middle - 1;
    }
    return from < 2 ? '' : letters.slice(0, from).join('') + '\u2026';
  };
}

// Lines at the pointer, within the window: [[label, text], ...], the first is the title.
export function show_tip(x, y, title, lines) {
  const tip = by_id('tip');
  fill(tip, el('b', null, title), ...lines.map(([label, text]) =>
    el('div', null, el('span', null, label), el('span', null, text))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), gap = 14;
  const left = x + gap + box.width > innerWidth ? Math.max(4, x - gap - box.width) : x + gap;
  const top = y + gap + box.height > innerHeight ? Math.max(4, y - gap - box.height) : y + gap;
  tip.style.left = left + 'px';
  tip.style.top = top + 'px';
}

export function hide_tip() {
  by_id('tip').hidden = true;
}

// Keys that `act` returns true for go no further.
export function take_keys(target, act) {
  target.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !act(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

const LONG_PRESS_MS = 600;

// Calls `act` with the event of a right click, or after a long press of a finger, whose click is then none.
export function on_menu(target, act) {
  let timer = 0, pressed = false;
  const stop = () => clearTimeout(timer);
  target.addEventListener('contextmenu', (event) => {
    event.preventDefault();
    stop();
    if (!pressed) act(event);
  });
  target.addEventListener('touchstart', (event) => {
    stop();
    pressed = false;
    const touch = event.touches[0];
    if (event.touches.length === 1) timer = setTimeout(() => {
      pressed = true;
      act(touch);
    }, LONG_PRESS_MS);
  }, { passive: true });
  target.addEventListener('click', (event) => {
    if (pressed) event.stopImmediatePropagation();
    pressed = false;
  }, true);
  for (const type of ['touchend', 'touchmove', 'touchcancel']) target.addEventListener(type, stop, { passive: true });
}
