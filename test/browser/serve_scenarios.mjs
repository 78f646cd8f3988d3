// What is done with a served page: serve_scenarios.mjs NAME ADDRESS; standard input has what the test wants next, a line each.
import { createInterface } from 'node:readline';
import { drag, go, open, press, rows, settle, start, text } from './rig.mjs';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// Tells the test that it can go on, and waits for its word.
async function turn(word) {
  process.stdout.write(JSON.stringify({ turn: word }) + '\n');
  return (await lines.next()).value;
}

const tabs_of = (page) => page.$$eval('#tabs [role=tab]', (list) => list.map((e) => e.firstChild.textContent));

// Runs SQL and waits for what comes of it.
async function run(page, sql) {
  await page.$eval('#sql', (box, value) => { box.value = value; }, sql);
  await page.focus('#sql');
  await page.keyboard.down('Control');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Control');
  await page.waitForFunction(() => !['running ...', 'Ctrl-Enter runs it'].includes(document.getElementById('sql-note').textContent));
  return text(page, '#sql-note');
}

const scenarios = {
  async shows(browser, address) {
    const { page, seen } = await open(browser, address), out = { seen, tabs: await tabs_of(page) };
    out.views = {};
    for (let i = 1; i <= out.tabs.length; i++) {
      await press(page, String(i));
      out.views[out.tabs[i - 1]] = (await text(page, '#view')).length;
    }
    await go(page, 'v=functions');
    out.functions = await rows(page);
    await go(page, 'v=sql');
    out.note = await run(page, 'SELECT name, count(*) AS n FROM calls GROUP BY name ORDER BY n DESC, name');
    out.titles = await page.$$eval('.results th', (list) => list.map((th) => th.textContent));
    out.rows = await rows(page, '.results table');
    out.wrong = await run(page, 'SELECT nme FROM calls');
    out.markup = await run(page, "SELECT '<img src=x onerror=alert(1)>' AS x");
    out.cell = await text(page, '.results td');
    out.more = await run(page, 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i FROM n');
    await go(page, 'v=sql&t=0..10us');
    out.within = await run(page, 'SELECT count(*) AS n FROM calls');
    out.inside = await rows(page, '.results table');
    out.images = await page.$$eval('img', (list) => list.length);
    out.policy = await page.evaluate(async () => {
      const tries = {};
      for (const place of ['http://localhost:1/', 'https://evil.example/', 'data:text/plain,x'])
        tries[place] = await fetch(place).then(() => 'answered', () => 'refused');
      return tries;
    });
    return out;
  },

  // Ranges: coarse durations until the exact ones have come.
  async zoom(browser, address, drags) {
    const { page, seen } = await open(browser, address, { hash: 'v=functions' }), out = { seen, ranges: [], whole: await rows(page) };
    const coarse = () => page.$eval('#view', (view) => view.textContent.includes('\u2248'));
    for (const [from, to] of drags) {
      await go(page, 'v=functions');
      await page.setRequestInterception(true);
      let held = [];
      const hold = (request) => request.url().includes('/q/profile') ? held.push(request) : request.continue();
      page.on('request', hold);
      await drag(page, '#strip canvas', from, to);
      await page.waitForFunction(() => location.hash.includes('t='));
      await settle(page);
      const one = { coarse: await coarse() };
      page.off('request', hold);
      for (const request of held) await request.continue();
      one.asked = held.map((request) => new URL(request.url()).search);
      await page.setRequestInterception(false);
      await page.waitForFunction(() => !document.getElementById('view').textContent.includes('\u2248'));
      await settle(page);
      Object.assign(one, { hash: await page.evaluate(() => decodeURIComponent(location.hash)), functions: await rows(page) });
      await press(page, '5');
      one.latency = { head: await text(page, '.chart-head'), charts: await page.$$eval('.charts > .chart', (list) => list.filter((e) => !e.hidden).length),
        table: await page.$eval('table[aria-label=Percentiles]', (table) => table.innerText) };
      out.ranges.push(one);
    }
    return out;
  },

  // A recording that grows: followed, frozen, ended.
  async live(browser, address) {
    const { page, seen } = await open(browser, address, { hash: 'v=functions' }), out = { seen };
    await page.waitForSelector('#follow', { visible: true });
    out.before = await rows(page);
    out.facts = [await text(page, '#facts')];
    await turn('grow');
    await page.click('#follow');
    await page.waitForFunction((old) => document.getElementById('facts').textContent !== old, {}, out.facts[0]);
    await settle(page);
    out.facts.push(await text(page, '#facts'));
    await page.click('#follow');
    await page.waitForFunction(() => document.getElementById('follow').textContent === 'Follow');
    await settle(page);
    out.frozen = await text(page, '#facts');
    await turn('end');
    await page.waitForSelector('#reload', { visible: true });
    out.still = await text(page, '#facts');
    await page.click('#reload');
    await page.waitForFunction(() => document.getElementById('live').hidden);
    await settle(page);
    out.after = await rows(page);
    out.hash = await page.evaluate(() => location.hash);
    await turn('stop');
    await page.waitForFunction(() => document.getElementById('live').textContent.includes('has ended'));
    out.last = await rows(page);
    return out;
  },

  // A large log: sums at first, then times and tables, without a new page.
  async large(browser, address) {
    const { page, seen } = await open(browser, address, { hash: 'v=functions' }), out = { seen, before: await rows(page) };
    const tabs = () => page.$$eval('#tabs button', (list) => list.map((tab) => tab.id));
    await page.evaluate(() => { window.same = true; });
    out.tabs = [await tabs()];
    await page.waitForSelector('#tab-timeline');
    await page.waitForFunction(() => document.getElementById('live').hidden);
    await settle(page);
    out.tabs.push(await tabs());
    out.after = await rows(page);
    out.same = await page.evaluate(() => window.same === true);
    await page.click('#tab-timeline');
    await settle(page);
    out.selected = await page.$eval('#tab-timeline', (tab) => tab.getAttribute('aria-selected'));
    return out;
  },

  // A log that grows, until nobody writes any longer.
  async log(browser, address) {
    const { page, seen } = await open(browser, address, { hash: 'v=functions' }), out = { seen, before: await rows(page), facts: [] };
    const changed = (old) => page.waitForFunction((text) => document.getElementById('facts').textContent !== text, {}, old);
    out.quiet = await page.$eval('#live', (line) => line.hidden);
    out.facts.push(await text(page, '#facts'));
    await turn('grow');
    await page.waitForSelector('#follow', { visible: true });
    await page.click('#follow');
    await changed(out.facts[0]);
    out.facts.push(await text(page, '#facts'));
    await turn('more');
    await changed(out.facts[1]);
    await page.waitForSelector('#follow', { hidden: true });
    await settle(page);
    out.words = await text(page, '#live');
    out.after = await rows(page);
    return out;
  },

  // The file of --open leads to the page.
  async link(browser, file) {
    const page = await browser.newPage();
    const { pathToFileURL } = await import('node:url');
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => location.protocol === 'http:' && document.getElementById('app')?.getAttribute('aria-busy') === 'false');
    return { title: await text(page, '#title') };
  },
};

const browser = await start();
try {
  process.stdout.write(JSON.stringify(await scenarios[process.argv[2]](browser, process.argv[3], JSON.parse(process.argv[4] ?? 'null'))) + '\n');
} finally {
  await browser.close();
  process.exit();
}
