// The menu of a function or place, the command that prints the same numbers, and the help.
import { by_id, button, copy_text, el, fill, shorten } from './dom.js';
import { node_name, path_of } from './tree_shape.js';

function close_menu() {
  const menu = by_id('menu');
  if (menu.hidden) return;
  menu.hidden = true;
  menu.returnTo?.focus();
}

function shell_quoted(text) {
  return /^[\w.,:/=+@-]+$/.test(text) ? text : '\'' + text.replace(/'/g, '\'\\\'\'') + '\'';
}

// A command with a range in place of its own.
export function within(command, clock, from, to) {
  return command.replace(/ --(time|insns)[ =]\S+/g, '') + clock.option + clock.link(from, to);
}

// The report of this function, as text.
function command_of(app, name) {
  const again = (app.scene.profile.meta.again || 'traceloom report FILE').replace(/ (-o|--output) \S+/g, '');
  const pattern = name.replace(/[*?[\]\\]/g, '\\$&'), { part, clock } = app.scene;
  return (part ? within(again, clock, part.begin, part.end) : again) + ' --by ' + (app.scene.profile.meta.histogram ? 'hist' : 'func') + ' -F ' + shell_quoted(pattern);
}

// A function's name as a regular expression that matches nothing else.
export function exactly(name) {
  return '^' + name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&') + '$';
}

function show_menu(items, event) {
  const menu = by_id('menu');
  menu.returnTo = document.activeElement;
  fill(menu, ...items.map(([text, act]) => button(text, '', () => {
    close_menu();
    act();
  }, { role: 'menuitem' })));
  menu.hidden = false;
  const box = menu.getBoundingClientRect();
  menu.style.left = Math.max(4, Math.min(event.clientX, innerWidth - box.width - 4)) + 'px';
  menu.style.top = Math.max(4, Math.min(event.clientY, innerHeight - box.height - 4)) + 'px';
  menu.firstElementChild?.focus();
}

// The menu of node i of a tree, or of a function alone.
export function function_menu(app, f, shape, i, event) {
  const { state, scene } = app, items = [];
  const name = f >= 0 ? scene.profile.name[f] : shape ? node_name(shape, i) : '';
  if (shape && shape === scene.shape && i > 0) items.push(['Focus on this place', () => app.focus(i)]);
  if (f >= 0) {
    const key = scene.profile.twins.key[f], pattern = exactly(name);
    items.push(['Callers and callees (sandwich)', () => state.set({ view: 'flame', pick: key, sandwich: true, focus: [] })]);
    if (app.views.some((v) => v.id === 'latency')) items.push(['Latency', () => state.set({ view: 'latency', pick: key })]);
    if (pattern.length <= 256) {
      items.push(['Find it', () => state.set({ find: pattern })]);
      items.push(['Fold it into its callers', () => state.set({ drop: state.get().drop ? state.get().drop + '|' + pattern : pattern, focus: [] })]);
    }
    if (scene.profile.library[f]) {
      const library = scene.profile.library[f].replace(/[.*+?^${}()|[\]\\/]/g, '\\$&') + '$';
      items.push(['Keep only its library', () => state.set({ keep: library, focus: [] })]);
    }
  }
  items.push(['Copy name', () => copy_text(name)]);
  if (shape && i > 0) items.push(['Copy path', () => copy_text(path_of(shape, i).join(';'))]);
  if (f >= 0) items.push(['Copy command line', () => copy_text(command_of(app, name))]);
  show_menu(items, event);
}

export function start_menu() {
  const menu = by_id('menu');
  addEventListener('pointerdown', (event) => {
    if (!menu.contains(event.target)) menu.hidden = true;
  });
  menu.addEventListener('keydown', (event) => {
    const items = Array.from(menu.children), at = items.indexOf(document.activeElement);
    if (event.key === 'Escape' || event.key === 'Tab') close_menu();
    else if (event.key === 'ArrowDown') items[(at + 1) % items.length].focus();
    else if (event.key === 'ArrowUp') items[(at + items.length - 1) % items.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

const KEY_HELP = [
  ['Click, Enter', 'flame: zoom into a box; tables: pick a function, Enter focuses'],
  ['Alt-click, s', 'sandwich: callers above, callees below'],
  ['Right click, m', 'menu'],
  ['Arrows', 'up to the caller, down to the heaviest callee, left and right'],
  ['Ctrl-wheel, + \u2212', 'zoom at the pointer; Shift-wheel, a, d: move'],
  ['Ctrl-F, /', 'find functions by regular expression; Ctrl-F again: the browser\u2019s own search'],
  ['n, N', 'next and previous match'],
  ['i', 'invert: callees become roots'],
  ['Drag, [ ] \\', 'strip, heat map, with Shift the timeline: a range of the time; its ends; the whole. Edges can be dragged'],
  ['w s a d 0 z', 'timeline: zoom in and out, left and right, the whole, the call; also with the wheel'],
  ['v', 'picture or table of the same data'],
  ['p', 'percentile'],
  ['t', 'light or dark'],
  ['1 \u2026 9', 'tabs'],
  ['Backspace', 'back; with Shift forward'],
  ['Esc', 'leaves search, then focus, then the selection'],
];

export function show_help(app) {
  const dialog = by_id('help'), { meta } = app.scene.profile;
  fill(dialog,
    el('h2', null, 'Keys and gestures'),
    el('table', { class: 'small' }, el('tbody', null, ...KEY_HELP.map(([key, text]) =>
      el('tr', null, el('th', { scope: 'row' }, key), el('td', null, text))))),
    el('p', null, '\u201cKeep\u201d shows only functions whose name, file or library matches, \u201cdrop\u201d hides those; ' +
      'the time of hidden functions counts as their callers\u2019. The address of the page holds all of this: copy it to share a view.'),
    el('p', { class: 'faint' }, shorten('Made by ' + meta.made_by + (meta.again ? ': ' + meta.again : ''), 600)),
    el('p', { class: 'buttons' }, button('Close', '', () => dialog.close())));
  dialog.showModal();
}
