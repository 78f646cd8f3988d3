// What stays around the views: search, pickers, tabs, breadcrumb.
import { button, by_id, el, fill, shorten } from './dom.js';
import { node_name } from './tree_shape.js';
import { show_help } from './menu.js';

const QS = [50, 75, 90, 95, 99, 99.9, 99.99];
const CRUMBS_MOST = 6;
const TYPING_MS = 120;

// An input whose text goes into the state once typing pauses.
function text_input(app, key, label, more) {
  let timer = 0;
  const input = el('input', { type: 'search', 'aria-label': label, spellcheck: 'false', autocomplete: 'off', maxlength: '500', ...more });
  const take = () => {
    clearTimeout(timer);
    app.state.set({ [key]: input.value, ...(key === 'find' ? {} : { focus: [] }) }, key === 'find');
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(take, TYPING_MS);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      take();
      if (key === 'find') app.next_match(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape') {
      input.value = '';
      take();
      input.blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return input;
}

function option(value, text) {
  return el('option', { value }, text);
}

export function make_tools(app) {
  const { meta } = app.profile_of(-1);
  const find = text_input(app, 'find', 'find functions by regular expression', { id: 'find', placeholder: 'Find  (Ctrl-F, /)' });
  const found = el('span', { id: 'found', class: 'faint' });
  const q = el('select', { id: 'percentile', 'aria-label': 'percentile', title: 'percentile (p)',
    on: { change: () => app.state.set({ q: Number(q.value) }) } });
  const weight = meta.weights.length > 1 ? el('select', { id: 'weight', 'aria-label': 'what is counted',
    on: { change: () => app.state.set({ weight: weight.value, focus: [] }) } }, ...meta.weights.map((w) => option(w.name, w.name.replace(/_/g, ' ')))) : null;
  fill(by_id('tools'), meta.kind === 'events' ? null : el('span', { class: 'find' }, find, found), weight, meta.histogram ? q : null,
    button('\u25d0', 'light or dark (t)', () => app.toggle_theme(), { class: 'icon', 'aria-label': 'light or dark' }),
    button('?', 'help', () => show_help(app), { class: 'icon', 'aria-label': 'help' }));
  return {
    draw(scene) {
      const { state } = scene;
      if (document.activeElement !== find) find.value = state.find;
      fill(q, ...[...new Set([...QS, state.q])].filter((v) => v < 100).sort((a, b) => a - b).map((v) => option(v, 'p' + v)));
      q.value = String(Math.min(state.q, 99.99));
      if (weight) weight.value = scene.profile.meta.weights[scene.profile.meta.weight].name;
    },
    found: (text) => { found.textContent = text; },
    find() {
      find.focus();
      find.select();
    },
    percentile() {
      q.focus();
      q.showPicker?.();
    },
  };
}

export function make_tabs(app) {
  const tabs = new Map();
  let views = null;
  function make() {
    views = app.views;
    tabs.clear();
    views.forEach((v, i) => tabs.set(v.id, el('button', {
      type: 'button', role: 'tab', id: 'tab-' + v.id, 'aria-controls': 'view', title: 'key ' + (i + 1),
      on: { click: () => app.state.set({ view: v.id }) },
    }, v.title, v.id === 'losses' && app.losses() > 0 ? el('span', { class: 'count' }, String(app.losses())) : null)));
    fill(by_id('tabs'), ...tabs.values());
  }
  by_id('tabs').addEventListener('keydown', (event) => {
    const step = new Map([['ArrowRight', 1], ['ArrowLeft', -1]]).get(event.key);
    if (!step) return;
    const ids = [...tabs.keys()], at = ids.indexOf(app.scene.view.id);
    const id = ids[(at + step + ids.length) % ids.length];
    app.state.set({ view: id });
    tabs.get(id).focus();
    event.preventDefault();
  });
  return (scene) => {
    if (views !== app.views) make();
    for (const [id, tab] of tabs) {
      const on = id === scene.view.id;
      tab.setAttribute('aria-selected', String(on));
      tab.tabIndex = on ? 0 : -1;
      if (!on) continue;
      by_id('view').setAttribute('aria-labelledby', tab.id);
      tab.parentElement.scrollLeft = Math.max(tab.offsetLeft + tab.offsetWidth - tab.parentElement.clientWidth, Math.min(tab.parentElement.scrollLeft, tab.offsetLeft));
    }
  };
}

function chip(title, text, remove) {
  return el('span', { class: 'chip' }, el('b', null, title), text ? ' ' + shorten(text, 60) : '',
    button('\u00d7', 'remove', remove, { 'aria-label': 'remove ' + title }));
}

function path_crumbs(app, shape, focus) {
  const path = [];
  for (let i = focus; i > 0; i = shape.parent[i]) path.unshift(i);
  const shown = path.length > CRUMBS_MOST ? [...path.slice(0, 1), -1, ...path.slice(1 - CRUMBS_MOST)] : path;
  return [button('all', 'the whole', () => app.focus(0)), ...shown.flatMap((i) => {
    const arrow = el('span', { class: 'faint', 'aria-hidden': 'true' }, '\u203a');
    if (i < 0) return [arrow, el('span', { class: 'faint' }, '\u2026')];
    const name = node_name(shape, i);
    return [arrow, button(shorten(name, 48), shorten(name, 500), () => app.focus(i), { 'aria-current': i === focus ? 'location' : null })];
  })];
}

export function make_crumbs(app) {
  const { state } = app;
  const keep = text_input(app, 'keep', 'keep only functions that match', { id: 'keep', placeholder: 'keep' });
  const drop = text_input(app, 'drop', 'fold functions that match into their callers', { id: 'drop', placeholder: 'drop' });
  const invert = el('input', { type: 'checkbox', id: 'invert', on: { change: () => state.set({ invert: invert.checked, focus: [], sandwich: false }) } });
  const table = button('Table', 'the same as a table (v)', () => state.set({ table: !state.get().table }), { id: 'as-table' });
  const path = el('nav', { 'aria-label': 'Focus' }), chips = el('span', { class: 'chips' });
  const tools = el('span', { class: 'tree-tools' }, keep, drop, el('label', { title: 'callees become roots (i)' }, invert, ' invert'), table);
  const more = el('span', { id: 'view-tools' });
  tools.append(more);
  fill(by_id('crumbs'), path, chips, tools);
  return (scene, view) => {
    fill(more, ...(view.tools?.(scene) ?? []));
    const { shape } = scene, now = scene.state, tree = ['overview', 'flame', 'tree'].includes(scene.view.id);
    const plain = scene.view.id === 'overview' && !scene.focus && !now.keep && !now.drop && !now.invert;
    by_id('crumbs').hidden = scene.view.plain || plain;
    path.hidden = !tree;
    if (tree) fill(path, ...path_crumbs(app, shape, scene.focus));
    fill(chips,
      now.sandwich && scene.pick >= 0 && scene.view.id === 'flame' ? chip('sandwich', scene.profile.name[scene.pick], () => state.set({ sandwich: false })) : null,
      now.keep ? chip('keep', now.keep, () => state.set({ keep: '', focus: [] })) : null,
      now.drop ? chip('drop', now.drop, () => state.set({ drop: '', focus: [] })) : null);
    invert.checked = now.invert;
    invert.parentElement.hidden = !tree;
    table.setAttribute('aria-pressed', String(now.table));
    table.hidden = !['flame', 'latency', 'timeline'].includes(scene.view.id);
    for (const [input, key] of [[keep, 'keep'], [drop, 'drop']]) if (document.activeElement !== input) input.value = now[key];
  };
}
