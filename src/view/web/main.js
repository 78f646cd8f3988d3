// The page: makes the scene of the state, and draws the view. Every gesture only changes the state.
import { by_id, el, fill, say, shorten, visible } from './dom.js';
import { percent } from './units.js';
import { make_source } from './source_file.js';
import { paper_of } from './colours.js';
import { read_profile } from './profile.js';
import { make_clock } from './clock.js';
import { make_times, snap, snap_near } from './time.js';
import { part_of_profile } from './range_profile.js';
import { make_exact_ranges } from './exact_range.js';
import { folded_shape, inverted_shape, node_of_path, path_of, share_of_matches, whole_shape } from './tree_shape.js';
import { make_state } from './state.js';
import { make_finder } from './find.js';
import { hide_tip } from './canvas.js';
import { draw_detail } from './detail.js';
import { show_help, start_menu } from './menu.js';
import { draw_share_strip } from './strip.js';
import { make_time_strip } from './time_strip.js';
import { find_call } from './timeline_rows.js';
import { make_crumbs, make_tabs, make_tools } from './shell.js';
import { VIEWS } from './views.js';
import { make_served } from './source_serve.js';
import { start_news } from './live.js';

const dark_scheme = matchMedia('(prefers-color-scheme: dark)');
const SHAPES_KEPT = 8;

// Trees by what they are made of; made once.
function make_shapes() {
  const kept = new Map();
  return (key, make) => {
    if (!kept.has(key)) {
      if (kept.size >= SHAPES_KEPT) kept.delete(kept.keys().next().value);
      kept.set(key, make());
    }
    return kept.get(key);
  };
}

function hidden_functions(profile, keep, drop) {
  if (!keep && !drop) return null;
  return Uint8Array.from({ length: profile.count }, (_, f) => (keep && !keep[f]) || drop?.[f] ? 1 : 0);
}

// The profile of the selected range and threads, as far as the page has it: slices are of one weight, trees of threads of some pages.
function profile_of_part(app, profile, time, part, threads) {
  const by_thread = threads.size && profile.meta.per_thread ? threads : null, w = profile.meta.weight;
  if (!part && !by_thread) return profile;
  return app.shapes(JSON.stringify(['part', w, part?.from, part?.to, by_thread && [...by_thread]]), () => part_of_profile(profile, time, part, by_thread));
}

const threads_text = (threads) => ' ' + [...threads].join();

// Everything that a view needs to know, from the state. Searching and decoding are asynchronous, so this is.
async function make_scene(app, state) {
  const first = app.profile_of(-1), whole_profile = app.profile_of(first.meta.weights.findIndex((w) => w.name === state.weight));
  const view = app.views.find((v) => v.id === state.view) ?? app.first_view, { clock } = app;
  const [time, find, keep, drop] = await Promise.all([
    app.times(['grid', 'slow', ...(app.source.has('grid') ? [] : ['slices']), ...(view.times ?? []), ...(state.range ? ['slices', 'heat'] : [])]), ...[state.find, state.keep, state.drop].map(app.finder)]);
  const other_weight = whole_profile.meta.weight !== first.meta.weight, window = clock && time.slices && !other_weight ? clock.window(state.range) : null;
  const part = window && snap(time.slices, clock, window), threads = new Set(state.threads.map((key) => first.thread_twins.found.get(key) ?? -1));
  threads.delete(-1);
  const part_profile = profile_of_part(app, whole_profile, time, part, threads);
  const profile = threads.size ? part_profile : app.exact(part_profile, part), w = profile.meta.weight + ' ' + (profile.part ? state.range + threads_text(threads) : '');
  const hidden = hidden_functions(profile, keep.hits, drop.hits);
  const whole = app.shapes('whole ' + w, () => whole_shape(profile));
  const names = JSON.stringify([w, keep.hits ? state.keep : '', drop.hits ? state.drop : '']);
  const base = hidden ? app.shapes('folded ' + names, () => folded_shape(whole, hidden)) : whole;
  const shape = state.invert ? app.shapes('inverted ' + names, () => inverted_shape(base)) : base;
  const theme = app.printing ? 'light' : state.theme || (dark_scheme.matches ? 'dark' : 'light');
  const scene = {
    state, profile, clock, time, part, threads, other_weight, units: profile.units, paper: paper_of(theme), view, hidden, base, shape,
    matches: find.hits, focus: node_of_path(shape, state.focus), pick: profile.twins.found.get(state.pick) ?? -1,
    problems: [[find, 'search'], [keep, 'keep'], [drop, 'drop']].filter(([answer]) => answer.late || answer.literal),
  };
  scene.call = state.call && clock ? find_call(scene) : null;
  return scene;
}

function problem_text(problems) {
  return problems.map(([answer, word]) => answer.late ? word + ': given up after 1 s'
    : word + ': not a regular expression, looked for as it is').join('; ');
}

// Names that a link has and the page does not.
function missing_text(scene) {
  const { state, focus, pick } = scene, missing = [];
  if (state.focus.length && focus === 0) missing.push(state.focus[state.focus.length - 1]);
  if (state.pick && pick < 0) missing.push(state.pick);
  for (const key of state.threads) if (!scene.profile.thread_twins.found.has(key)) missing.push(key);
  return missing.length ? 'the link names ' + missing.map((m) => shorten(visible(m), 80)).join(', ') + ', which is not in this page' : '';
}

function found_text(scene) {
  if (!scene.matches) return '';
  const { amount, nodes } = share_of_matches(scene.shape, scene.focus, scene.matches);
  const functions = scene.matches.reduce((a, b) => a + b, 0);
  return functions + (functions === 1 ? ' function, ' : ' functions, ') + nodes + (nodes === 1 ? ' place, ' : ' places, ') +
    percent(amount, scene.shape.total[scene.focus]);
}

const clock_of = (meta) => meta.has_time ? make_clock(meta) : null;

function views_of(source) {
  const tables = source.json('tables')?.tables ?? [];
  return VIEWS.filter((v) => v.needs.every((name) => source.has(name)) && (!v.tables || tables.some((t) => t.tab === v.id)));
}

function make_app(source, profile_of) {
  const tables = source.json('tables')?.tables ?? [];
  const { meta } = profile_of(-1), app = {
    source, profile_of, state: make_state(), shapes: make_shapes(), finder: make_finder(profile_of(-1)), scene: null, printing: false,
    times: make_times(source), clock: clock_of(meta), moment: -1,
    views: views_of(source), made: new Map(),
    pick(f, quiet) {
      app.state.set({ pick: f >= 0 ? app.scene.profile.twins.key[f] : '', ...(f < 0 ? { sandwich: false } : {}) }, quiet);
    },
    // Zooms into a place; its function is picked, too.
    focus(node, f) {
      const pick = f >= 0 ? { pick: app.scene.profile.twins.key[f] } : {};
      app.state.set({ focus: path_of(app.scene.shape, node), sandwich: false, ...pick });
    },
    // Two moments as a range: from borders of slices, once these are decoded.
    snapped: (a, b) => app.scene.time.slices ? snap_near(app.scene.time.slices, app.clock, a, b) : [Math.min(a, b), Math.max(a, b)],
    async select_time(a, b) {
      const { slices } = await app.times(['slices']);
      if (slices) app.state.set({ range: app.clock.link(...snap_near(slices, app.clock, a, b)) });
    },
    // [ and ]: one end of the range goes to a moment.
    range_end(end, ticks) {
      const { part, clock } = app.scene, now = part ? [part.begin, part.end] : [0, clock.span];
      if (ticks < 0) return;
      now[end] = ticks;
      if (now[0] >= now[1]) now[1 - end] = end ? 0 : clock.span;
      app.select_time(...now);
    },
    sandwich: (f) => app.state.set({ view: 'flame', sandwich: true, table: false, pick: app.scene.profile.twins.key[f] }),
    next_match(step) {
      const view = view_of(app, app.scene);
      if (app.scene.matches) view.next_match?.(app.scene, step);
    },
    toggle_theme: () => app.state.set({ theme: app.scene.paper.theme === 'dark' ? 'light' : 'dark' }, true),
    losses: () => (app.profile_of(-1).meta.losses || []).length,
    // Other numbers of the same inputs, or more of them.
    renew(new_source, new_profile_of) {
      Object.assign(app, { source: new_source, views: views_of(new_source), profile_of: new_profile_of, shapes: make_shapes(), finder: make_finder(new_profile_of(-1)),
        times: make_times(new_source), clock: clock_of(new_profile_of(-1).meta), exact: make_exact_ranges(app) });
      app.made.clear();
      draw_head(app);
      return app.draw();
    },
  };
  app.exact = make_exact_ranges(app);
  const { by } = meta, first = new Map([['tree', 'tree'], ['hist', 'latency'], ['func', 'functions']]).get(by);
  const tab = tables.find((t) => t.section === by)?.tab;
  app.first_view = app.views.find((v) => v.id === first || v.id === tab) ?? app.views[0];
  return app;
}

// Views are made when they are first shown.
function view_of(app, scene) {
  const tree = app.views.find((v) => v.id === 'tree');
  const view = scene.state.table && scene.view.id === 'flame' && tree ? tree : scene.view;
  if (!app.made.has(view.id)) app.made.set(view.id, view.make(app));
  return app.made.get(view.id);
}

function draw_head(app) {
  const { meta } = app.profile_of(-1), alarm = by_id('alarm'), losses = meta.losses || [];
  by_id('title').textContent = shorten(visible(meta.title), 200);
  by_id('facts').textContent = visible(meta.facts);
  by_id('made').textContent = visible(meta.made_by);
  alarm.hidden = losses.length === 0;
  if (losses.length)
    fill(alarm, el('span', { 'aria-hidden': 'true' }, '\u26a0 '), shorten(visible(losses.join('; ')), 300) + ' ',
      el('button', { type: 'button', on: { click: () => app.state.set({ view: 'losses' }) } }, 'What is missing'));
}

// Draws the state that is newest when its scene is ready; older ones are left out.
function make_drawer(app) {
  const tools = make_tools(app), tabs = make_tabs(app), crumbs = make_crumbs(app);
  let newest = 0, time_strip = null;
  app.tools = tools;
  return async (now, before) => {
    // Zooming changes nothing else.
    if (before && app.scene && Object.keys(now).every((key) => key === 'zoom' || now[key] === before[key])) {
      app.scene = { ...app.scene, state: now };
      view_of(app, app.scene).draw(app.scene);
      time_strip?.draw(app.scene);
      return;
    }
    const number = ++newest, root = by_id('app');
    root.setAttribute('aria-busy', 'true');
    const scene = await make_scene(app, app.state.get());
    if (number !== newest) return;
    scene.state = { ...scene.state, zoom: app.state.get().zoom };
    app.scene = scene;
    hide_tip();
    document.documentElement.dataset.theme = scene.paper.theme;
    const view = view_of(app, scene), holder = by_id('view');
    if (holder.firstElementChild !== view.element) fill(holder, view.element);
    tools.draw(scene);
    tabs(scene);
    crumbs(scene, view);
    if (app.clock) (time_strip ??= make_time_strip(app)).draw(scene);
    else draw_share_strip(app);
    draw_detail(app);
    view.draw(scene);
    const found = found_text(scene);
    tools.found(found);
    say([missing_text(scene), problem_text(scene.problems), found && 'found ' + found].filter(Boolean).join('; '));
    root.setAttribute('aria-busy', 'false');
  };
}

function leave(app) {
  const now = app.state.get();
  if (now.find) app.state.set({ find: '' }, true);
  else if (now.sandwich) app.state.set({ sandwich: false });
  else if (now.focus.length) app.state.set({ focus: [] });
  else if (now.range) app.state.set({ range: '' });
  else app.state.set({ pick: '', call: '' }, true);
}

function on_key(app, event) {
  const { state } = app, now = state.get(), typing = event.target.closest?.('input:not([type=range]):not([type=checkbox]),select,textarea,dialog');
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'f') {
    // The second time it is the browser's.
    if (document.activeElement?.id === 'find') return false;
    app.tools.find();
    return true;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return false;
  const keys = new Map([
    ['/', () => app.tools.find()], ['n', () => app.next_match(1)], ['N', () => app.next_match(-1)],
    ['i', () => state.set({ invert: !now.invert, focus: [], sandwich: false })], ['v', () => state.set({ table: !now.table })],
    ['p', () => app.tools.percentile()], ['t', app.toggle_theme], ['?', () => show_help(app)], ['Escape', () => leave(app)],
    ['[', () => app.clock && app.range_end(0, app.moment)], [']', () => app.clock && app.range_end(1, app.moment)], ['\\', () => state.set({ range: '' })],
    ['s', () => app.scene.pick >= 0 && app.sandwich(app.scene.pick)],
    ['Backspace', () => event.shiftKey ? state.forward() : state.back()],
  ]);
  const tab = /^[1-9]$/.test(event.key) ? app.views[Number(event.key) - 1] : null;
  if (tab) state.set({ view: tab.id });
  else if (keys.has(event.key)) keys.get(event.key)();
  else return false;
  return true;
}

async function start() {
  const source = make_served(make_source()), app = make_app(source, await read_profile(source)), draw = make_drawer(app);
  start_menu();
  draw_head(app);
  by_id('app').hidden = false;
  by_id('static').hidden = true;
  document.body.classList.add('started');
  app.draw = draw;
  app.state.listen(draw);
  dark_scheme.addEventListener('change', draw);
  addEventListener('keydown', (event) => {
    if (app.scene && on_key(app, event)) event.preventDefault();
  });
  addEventListener('blur', hide_tip);
  for (const type of ['beforeprint', 'afterprint'])
    addEventListener(type, () => {
      app.printing = type === 'beforeprint';
      draw();
    });
  await draw();
  start_news(app);
}

start().catch((error) => {
  // The static part stays: numbers without pictures.
  const note = el('p', { id: 'failed', role: 'alert' }, 'The interactive page cannot start in this browser: ' + error.message);
  by_id('static')?.prepend(note);
  console.error(error);
});
