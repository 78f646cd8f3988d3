// The strip of a page without times: how the whole divides among the outermost functions. A click is focus.
import { el, fill, by_id, button, shorten } from './dom.js';
import { percent } from './units.js';
import { hue } from './profile.js';
import { children, node_name, path_of } from './tree_shape.js';

const PARTS_MOST = 40;
const NAMED_PART = 0.03;

export function draw_share_strip(app) {
  const { scene } = app, shape = scene.shape, whole = shape.total[0], parts = [];
  let rest = whole;
  for (const i of children(shape, 0).subarray(0, PARTS_MOST)) {
    const part = shape.total[i] / whole;
    if (!(part > 0.004)) break;
    rest -= shape.total[i];
    const text = node_name(shape, i) + ' \u00b7 ' + scene.units.short(shape.shown[i]) + ' \u00b7 ' + percent(shape.shown[i], shape.shown[0]);
    const e = button(part < NAMED_PART ? '' : shorten(node_name(shape, i), 60), shorten(text, 300), () => app.focus(i),
      { class: 'part', 'aria-label': shorten(text, 300) });
    e.style.flexGrow = part;
    const f = shape.fn[i];
    e.style.background = scene.paper.css(f >= 0 ? hue(scene.profile, f) : 'others');
    e.classList.toggle('on', path_of(shape, scene.focus)[0] === path_of(shape, i)[0]);
    parts.push(e);
  }
  if (rest / whole > 0.004 && parts.length) {
    const e = el('span', { class: 'part rest', title: 'others' });
    e.style.flexGrow = rest / whole;
    parts.push(e);
  }
  by_id('strip').hidden = parts.length < 2;
  fill(by_id('strip'), ...parts);
}
