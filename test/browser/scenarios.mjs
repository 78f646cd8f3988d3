// What is done with a page, and what was seen then, as JSON: scenarios.mjs NAME PAGE [ARGUMENT-AS-JSON].
// Whether it is right is decided in page_browser.py, from the reports of the same trace.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { time_scenarios } from './time_scenarios.mjs';
import { go, hover, open, press, rows, runs_of_rows, settle, start, text, type } from './rig.mjs';

const hash_of = (page) => page.evaluate(() => location.hash);
const picture = (page) => page.$eval('#view .flame canvas', (c) => c.toDataURL());
const tabs_of = (page) => page.$$eval('#tabs [role=tab]', (list) => list.map((e) => e.firstChild.textContent));
const chosen_tab = (page) => page.$eval('#tabs [aria-selected=true]', (e) => e.firstChild.textContent);
const crumbs_of = (page) => page.$$eval('#crumbs nav button', (list) => list.map((e) => e.title || e.textContent));

const scenarios = {
  async shows(browser, file) {
    const { page, seen } = await open(browser, file), out = { seen };
    out.title = await text(page, '#title');
    out.facts = await text(page, '#facts');
    out.alarm = await page.$eval('#alarm', (e) => e.hidden ? null : e.textContent);
    out.tabs = await tabs_of(page);
    out.hot = await page.$$eval('.cards table[aria-label="Hot functions"] tbody tr', (list) =>
      list.map((tr) => Array.from(tr.querySelectorAll('td'), (td) => td.textContent)));
    out.static_hidden = await page.$eval('#static', (e) => e.hidden);
    await go(page, 'v=functions');
    out.functions = await rows(page);
    await go(page, 'v=tree');
    await page.evaluate(() => Array.from(document.querySelectorAll('#view-tools button')).find((b) => b.textContent === 'Expand').click());
    out.tree = await rows(page);
    if (out.tabs.includes('Latency')) {
      await go(page, 'v=latency');
      out.latency = { function: await text(page, '.chart-head h2'), list: await rows(page),
        across: await page.$$eval('.across tr', (list) => list.map((tr) => Array.from(tr.children, (c) => c.textContent))) };
      await go(page, 'v=latency&tab=1');
      out.bars = await rows(page, 'table[aria-label="Histogram as a table"]');
    }
    await go(page, 'v=losses');
    out.losses = await text(page, '#view');
    return out;
  },

  // probes: [[share, row], ...] of the flame graph; the last one is clicked.
  async click(browser, file, { probes, pick }) {
    const { page, seen } = await open(browser, file, { hash: 'v=flame' }), out = { seen, tips: [] };
    for (const [share, row] of probes) out.tips.push((await hover(page, share, row)).tip);
    const { at } = await hover(page, ...probes[probes.length - 1]);
    await page.mouse.click(at.x, at.y);
    await settle(page);
    out.focused = { hash: await hash_of(page), crumbs: await crumbs_of(page), tip: (await hover(page, 0.5, 0)).tip,
      detail: await text(page, '#detail') };
    await page.click('#crumbs nav button');
    await settle(page);
    out.whole = await crumbs_of(page);
    const { at: again } = await hover(page, ...probes[probes.length - 1]);
    await page.keyboard.down('Alt');
    await page.mouse.click(again.x, again.y);
    await page.keyboard.up('Alt');
    await settle(page);
    out.sandwich = { hash: await hash_of(page), chips: await text(page, '.chips'), tips: [] };
    for (let row = 0; row < pick.rows; row++) out.sandwich.tips.push((await hover(page, 0.001, row)).tip);
    await page.mouse.click(again.x, again.y, { button: 'right' });
    await page.waitForFunction(() => !document.getElementById('menu').hidden || true);
    await go(page, 'v=flame');
    const { at: third } = await hover(page, ...probes[probes.length - 1]);
    await page.mouse.click(third.x, third.y, { button: 'right' });
    out.menu = await page.$$eval('#menu button', (list) => list.map((e) => e.textContent));
    await page.evaluate(() => Array.from(document.querySelectorAll('#menu button')).find((b) => b.textContent.startsWith('Fold')).click());
    await settle(page);
    out.folded = await hash_of(page);
    return out;
  },

  async trees(browser, file, { find, drop, keep, q }) {
    const { page, seen } = await open(browser, file, { hash: 'v=tree' }), out = { seen };
    const expand = () => page.evaluate(() => Array.from(document.querySelectorAll('#view-tools button')).find((b) => b.textContent === 'Expand').click());
    await type(page, '#find', find);
    out.found = await text(page, '#found');
    await go(page, 'v=tree&drop=' + encodeURIComponent(drop));
    await expand();
    out.dropped = await rows(page);
    await go(page, 'v=tree&keep=' + encodeURIComponent(keep));
    await expand();
    out.kept = await rows(page);
    await go(page, 'v=tree&i=1');
    out.inverted = await rows(page);
    await go(page, 'v=functions&q=' + q + '&s=calls');
    out.functions = await rows(page);
    return out;
  },

  // The panel of each function.
  async details(browser, file, { names }) {
    const { page, seen } = await open(browser, file, { hash: 'v=functions' }), out = { seen, panels: {} };
    for (const name of names) {
      await go(page, 'v=functions&p=' + encodeURIComponent(name));
      out.panels[name] = await page.$$eval('#detail table', (list) => Object.fromEntries(list.map((t) => [t.getAttribute('aria-label'),
        Array.from(t.querySelectorAll('tr'), (tr) => Array.from(tr.children, (td) => td.textContent))])));
      out.panels[name].numbers = await page.$$eval('#detail dl > *', (list) => list.map((e) => e.textContent));
    }
    return out;
  },

  async keys(browser, file) {
    const { page, seen } = await open(browser, file), out = { seen, hash: {} };
    const note = async (name) => { out.hash[name] = await hash_of(page); };
    out.tabs = [];
    for (let k = (await tabs_of(page)).length; k > 0; k--) {
      await press(page, String(k));
      out.tabs.unshift(await chosen_tab(page));
    }
    await press(page, '2');
    await page.focus('#view .flame canvas');
    await press(page, 'ArrowDown', 'ArrowDown');
    out.described = await page.$eval('#view .flame .off', (e) => e.textContent);
    await press(page, 'Enter');
    await note('focus');
    await press(page, 'Backspace');
    await note('back');
    await press(page, 'Shift+Backspace');
    await note('forward');
    await press(page, 's');
    await note('sandwich');
    await press(page, 'Escape');
    await note('escape');
    await press(page, 'v');
    out.table = await page.$eval('#view table', (e) => e.getAttribute('role'));
    await press(page, 'v', 'i');
    await note('invert');
    await press(page, 'i', 't');
    out.theme = await page.evaluate(() => document.documentElement.dataset.theme);
    await press(page, '/');
    out.slash = await page.evaluate(() => document.activeElement.id);
    await page.keyboard.type('render');
    await page.keyboard.press('Enter');
    await settle(page);
    await note('find');
    await page.keyboard.press('Tab');
    await page.evaluate(() => document.activeElement.blur());
    await press(page, 'n');
    out.match = await page.$eval('#view .flame .off', (e) => e.textContent);
    await press(page, 'Escape');
    await note('cleared');
    await press(page, 'Control+f');
    out.control_f = await page.evaluate(() => document.activeElement.id);
    await page.evaluate(() => document.activeElement.blur());
    await press(page, '?');
    out.help = await page.$eval('#help', (e) => e.open);
    await press(page, 'Escape', '3');
    await page.focus('#view table');
    await press(page, 'Home', 'ArrowLeft');
    out.collapsed = (await rows(page)).length;
    await press(page, 'ArrowRight');
    out.expanded = (await rows(page)).length;
    return out;
  },

  // A finger on a small screen: a tap zooms, a long press is a right click.
  async touch(browser, file, { share, row }) {
    const { page, seen } = await open(browser, file, { width: 390, height: 844, dpr: 2, touch: true, hash: 'v=flame' }), out = { seen };
    const at = await page.$eval('#view .flame canvas', (e, x, y) => {
      e.scrollIntoView({ block: 'center' });
      const r = e.getBoundingClientRect();
      return [r.x + x * r.width, r.y + (y + 0.5) * 22];
    }, share, row);
    await page.touchscreen.touchStart(...at);
    await page.waitForFunction(() => !document.getElementById('menu').hidden);
    await page.touchscreen.touchEnd();
    out.menu = await page.$$eval('#menu button', (list) => list.map((e) => e.textContent));
    out.after_press = await hash_of(page);
    await page.keyboard.press('Escape');
    await page.touchscreen.tap(...at);
    await page.waitForFunction(() => location.hash.includes('f='));
    await settle(page);
    out.after_tap = await hash_of(page);
    out.targets = await page.$$eval('#tabs button, #tools button, #tools select, #crumbs button, #crumbs input[type=search]',
      (list) => list.filter((e) => e.checkVisibility()).map((e) => [e.textContent || e.id, e.getBoundingClientRect().height]));
    return out;
  },

  async hash(browser, file, { hashes, garbage }) {
    const out = { states: [], garbage: [] };
    for (const hash of hashes) {
      const first = await open(browser, file, { hash }), one = { hash: await hash_of(first.page), picture: await picture(first.page) };
      const second = await open(browser, file, { hash: one.hash.slice(1) });
      out.states.push({ asked: hash, first: one, seen: [first.seen, second.seen],
        again: { hash: await hash_of(second.page), picture: await picture(second.page) } });
      await first.page.close();
      await second.page.close();
    }
    for (const hash of garbage) {
      const { page, seen } = await open(browser, file, { hash });
      out.garbage.push({ hash, seen, tab: await chosen_tab(page), status: await text(page, '#status'), now: await hash_of(page) });
      await page.close();
    }
    return out;
  },

  async picture(browser, file, { sizes, row_count }) {
    const out = { sizes: [] };
    for (const [width, height, dpr, theme] of sizes) {
      const { page, seen } = await open(browser, file, { width, height, dpr, theme, touch: width < 500, hash: 'v=flame' });
      const one = { width, height, dpr, theme, seen, wide: {} };
      one.canvas = await page.$eval('#view .flame canvas', (e) => [e.getBoundingClientRect().width, e.width]);
      one.rows = await runs_of_rows(page, row_count);
      for (const view of ['overview', 'flame', 'tree', 'timeline', 'latency', 'functions', 'losses']) {
        await go(page, 'v=' + view);
        one.wide[view] = await page.evaluate(() => document.documentElement.scrollWidth);
      }
      one.contrast = await page.evaluate(contrasts);
      out.sizes.push(one);
      await page.close();
    }
    const { page } = await open(browser, file), pdf = await page.pdf({ format: 'A4' });
    out.pages = (Buffer.from(pdf).toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length;
    return out;
  },

  async a11y(browser, file) {
    const { page, seen } = await open(browser, file, { hash: 'v=flame&p=' }), out = { seen, trees: {} };
    for (const view of ['overview', 'flame', 'tree', 'timeline', 'latency', 'functions', 'losses']) {
      await go(page, 'v=' + view);
      out.trees[view] = flat(await page.accessibility.snapshot({ interestingOnly: true }));
    }
    await go(page, 'v=tree');
    out.levels = await page.$$eval('#view tr[data-row]', (list) => list.map((tr) =>
      ['aria-level', 'aria-setsize', 'aria-posinset', 'aria-expanded'].map((name) => tr.getAttribute(name))));
    await go(page, 'v=overview');
    out.order = [];
    await page.evaluate(() => document.activeElement?.blur());
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      out.order.push(await page.evaluate(() => {
        const e = document.activeElement;
        return e.id || e.getAttribute('aria-label') || e.textContent;
      }));
    }
    await go(page, 'v=flame&find=e');
    out.status = await text(page, '#status');
    return out;
  },

  // What axe-core finds in each view.
  async axe(browser, file, { source }) {
    const { page } = await open(browser, file), out = { rules: 0, found: [] };
    await page.evaluate(readFileSync(source, 'utf8'));
    out.views = await page.$$eval('#tabs button', (list) => list.map((tab) => tab.id.slice(4)));
    for (const view of out.views)
      for (const theme of ['light', 'dark']) {
        await go(page, 'v=' + view + '&th=' + theme);
        const { passes, violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        out.rules = Math.max(out.rules, passes.length);
        for (const v of violations) out.found.push([view, theme, v.id, v.impact, v.nodes.length, v.nodes[0].html.slice(0, 160)]);
      }
    return out;
  },

  async hostile(browser, file, { bomb }) {
    const { page, seen } = await open(browser, file), out = { seen };
    writeFileSync(file + '.blank.html', '<!doctype html><title>blank</title>');
    const blank = await browser.newPage();
    await blank.goto(pathToFileURL(file + '.blank.html').href);
    const usual = new Set(await blank.evaluate(() => Object.keys(window)));
    out.globals = (await page.evaluate(() => Object.keys(window))).filter((key) => !usual.has(key) && !key.includes('ariaQuery'));
    await go(page, 'v=functions');
    out.functions = await rows(page);
    for (const view of ['flame', 'tree', 'timeline', 'latency', 'losses']) await go(page, 'v=' + view);
    out.elements = await page.evaluate(() => document.querySelectorAll('img,iframe,object,embed,link,#view script').length);
    await go(page, 'v=functions&find=' + encodeURIComponent(bomb));
    out.bomb = await text(page, '#status');
    out.alive = await page.evaluate(() => 1 + 1);
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.injected = 1';
      document.body.append(script);
    });
    out.injected = await page.evaluate(() => window.injected ?? 0);
    return out;
  },

  async save(browser, file) {
    const first = await open(browser, file, { hash: 'v=functions' }), before = await rows(first.page);
    await go(first.page, 'v=flame');
    const html = await first.page.evaluate(() => '<!doctype html>' + document.documentElement.outerHTML);
    writeFileSync(file + '.saved.html', html);
    const second = await open(browser, file + '.saved.html', { hash: 'v=functions' });
    return { before, after: await rows(second.page), errors: second.seen.errors };
  },
};

// Texts with the colours of their ink and of the paper under them.
function contrasts() {
  const parse = (css) => (css.match(/[\d.]+/g) ?? []).map(Number);
  const paper_of = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const rgb = parse(getComputedStyle(at).backgroundColor);
      if (rgb.length === 3 || rgb[3] === 1) return rgb.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const out = new Map();
  for (const e of document.querySelectorAll('#app *')) {
    const own = Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.closest('.off,[aria-hidden=true]')) continue;
    const ink = parse(getComputedStyle(e).color).slice(0, 3), paper = paper_of(e);
    out.set(ink.join() + ' ' + paper.join(), [ink, paper, e.textContent.slice(0, 40)]);
  }
  return [...out.values()];
}

function flat(node) {
  return node ? [[node.role, node.name ?? ''], ...(node.children ?? []).flatMap(flat)] : [];
}

const [, , name, file, argument] = process.argv, browser = await start();
try {
  const out = await { ...scenarios, ...time_scenarios }[name](browser, file, argument ? JSON.parse(readFileSync(argument, 'utf8')) : {});
  console.log(JSON.stringify(out));
} finally {
  await browser.close();
}
