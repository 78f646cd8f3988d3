// The page of a comparison, clicked through: compare_scenes.mjs PAGE. What was seen is printed as JSON.
import { go, hover, open, rows, runs_of_rows, settle, start, text, type } from './rig.mjs';

const [, , file] = process.argv, browser = await start(), out = { sizes: [] };
const FLAME_ROWS = 5;

async function look(width, height, theme) {
  const { page, seen } = await open(browser, file, { width, height, theme, touch: width < 500 });
  const one = { width, theme, seen, scroll: await page.evaluate(() => document.documentElement.scrollWidth) };
  one.canvas = await page.$eval('#view .flame canvas', (e) => e.getBoundingClientRect().width);
  one.boxes = await runs_of_rows(page, FLAME_ROWS);
  out.sizes.push(one);
  return page;
}

try {
  const page = await look(1600, 900, 'light');
  out.tabs = await page.$$eval('#tabs [role=tab]', (list) => list.map((e) => e.firstChild.textContent));
  out.chosen = await page.$eval('#tabs [aria-selected=true]', (e) => e.firstChild.textContent);
  out.head = await text(page, '.compare-head');
  out.rows = await rows(page);
  out.dots = await page.$$eval('#view tbody tr[data-row]', (list) => list.map((tr) =>
    [Number(tr.dataset.row), ...['base', 'new'].map((side) => tr.querySelectorAll('.dot.' + side).length)]));
  out.tips = [];
  for (const [share, row] of [[0.3, 2], [0.001, 3]]) out.tips.push((await hover(page, share, row)).tip);
  await page.click('th[data-id=change] button');
  await settle(page);
  out.sorted = await rows(page);
  out.found = {};
  for (const word of ['esc', 'chec', 'nobody']) {
    await type(page, '#find', word);
    out.found[word] = (await rows(page)).map((row) => row.name);
  }
  await type(page, '#find', '');
  await page.click('#view tbody tr[data-row="0"]');
  await settle(page);
  out.hash = await page.evaluate(() => location.hash);
  await go(page, 'v=functions');
  out.functions = (await rows(page)).map((row) => row.name);
  await (await look(1600, 900, 'dark')).close();
  await (await look(390, 844, 'light')).close();
  console.log(JSON.stringify(out));
} finally {
  await browser.close();
}
