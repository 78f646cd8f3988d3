// Opens the tables of a page, sorts them, points at charts, and tells what was seen: table_scenes.mjs PAGE ARGUMENT-AS-JSON
// {views: [hash, ...], sort: [hash, column], point: [hash, label, share, height]}. tables_browser.py decides whether it is right.
import { readFileSync } from 'node:fs';
import { go, open, rows, settle, start, text } from './rig.mjs';

const [, , file, argument] = process.argv, browser = await start(), { views, sort, point } = JSON.parse(readFileSync(argument, 'utf8'));

const labels_of = (page) => page.$$eval('#view .scroller table[role]', (list) => list.map((t) => t.getAttribute('aria-label')));

async function tables_of(page) {
  const tables = {};
  for (const label of await labels_of(page)) tables[label] = await rows(page, `#view table[aria-label="${label}"]`);
  return tables;
}

async function look(page) {
  return {
    facts: await page.$$eval('#view .facts > div', (list) => list.map((d) => Array.from(d.children, (c) => c.textContent))),
    pressed: await page.$$eval('#view [aria-pressed=true]', (list) => list.map((b) => b.textContent)),
    text: await text(page, '#view'),
    parts: await page.$$eval('#view .parts', (list) => list.map((e) => e.getAttribute('aria-label'))),
    tables: await tables_of(page),
  };
}

const out = { seen: [], views: {}, wide: [], clipped: [], labels: 0 };
try {
  const { page, seen } = await open(browser, file);
  out.seen.push(seen);
  await page.evaluate(watch_texts);
  out.tabs = await page.$$eval('#tabs [role=tab]', (list) => list.map((e) => e.firstChild.textContent));
  out.chosen = await page.$eval('#tabs [aria-selected=true]', (e) => e.firstChild.textContent);
  out.facts = await text(page, '#facts');
  for (const hash of views) {
    await go(page, hash);
    out.views[hash] = await look(page);
  }
  await add_texts(page);
  if (sort) {
    await go(page, sort[0]);
    out.sorted = [];
    for (let i = 0; i < 2; i++) {
      await page.click(`#view th[data-id="${sort[1]}"] button`);
      await settle(page);
      out.sorted.push(Object.values(await tables_of(page))[0]);
    }
    out.order = await page.$$eval('#view [aria-sort]', (list) => list.map((th) => [th.dataset.id, th.getAttribute('aria-sort')]));
  }
  if (point) {
    await go(page, point[0]);
    const box = await page.$eval(`#view canvas[aria-label="${point[1]}"]`, (e) => {
      const r = e.getBoundingClientRect();
      return { x: r.x, y: r.y, width: r.width, height: r.height };
    });
    await page.mouse.move(box.x + 64 + point[2] * (box.width - 80), box.y + box.height / 2);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    out.tip = await page.$eval('#tip', (e) => e.hidden ? null : e.innerText);
    // The colour of the picture there, near its foot, and how far up it reaches.
    out.column = await page.$eval(`#view canvas[aria-label="${point[1]}"]`, (canvas, share) => {
      const ratio = canvas.width / canvas.getBoundingClientRect().width, x = Math.round((64 + share * (canvas.width / ratio - 80) + 3) * ratio);
      const data = canvas.getContext('2d').getImageData(x, 0, 1, canvas.height).data, bottom = canvas.height - Math.round(26 * ratio);
      const same = (y) => [0, 1, 2].every((k) => data[4 * y + k] === data[4 * (bottom - 2) + k]);
      let top = bottom - 2;
      while (top > 0 && same(top - 1)) top--;
      return { height: (bottom - top) / ratio, room: (bottom / ratio - 12), colour: Array.from(data.slice(4 * (bottom - 2), 4 * (bottom - 2) + 3)) };
    }, point[2]);
  }
  out.elements = await page.evaluate(() => document.querySelectorAll('img,iframe,object,embed,link,#view script').length);
  for (const [width, height, theme] of [[390, 844, 'dark'], [1000, 700, 'light']]) {
    const small = await open(browser, file, { width, height, theme, touch: width < 720 });
    out.seen.push(small.seen);
    await small.page.evaluate(watch_texts);
    for (const hash of views) {
      await go(small.page, hash);
      out.wide.push([hash, width, await small.page.evaluate(() => document.documentElement.scrollWidth), await small.page.evaluate(small_targets), await small.page.evaluate(chosen_in_sight)]);
    }
    await add_texts(small.page);
    await small.page.close();
  }
  console.log(JSON.stringify(out));
} finally {
  await browser.close();
}

// Texts of pictures that are not within them, from now on.
function watch_texts() {
  const { prototype } = CanvasRenderingContext2D, draw = prototype.fillText, seen = window.seen_texts = { all: 0, outside: [] };
  prototype.fillText = function fill_text(text, x, y) {
    const width = this.measureText(text).width, shift = { center: 0.5, right: 1, end: 1 }[this.textAlign] ?? 0, { a } = this.getTransform();
    const left = (x - shift * width) * a, right = left + width * a;
    seen.all++;
    if (left < -1 || right > this.canvas.width + 1) seen.outside.push([text, left, right, this.canvas.width]);
    draw.call(this, text, x, y);
  };
}

async function add_texts(page) {
  const seen = await page.evaluate(() => window.seen_texts);
  out.labels += seen.all;
  out.clipped.push(...seen.outside);
}

function chosen_in_sight() {
  const tab = document.querySelector('#tabs [aria-selected=true]').getBoundingClientRect();
  return tab.left >= -1 && tab.right <= innerWidth + 1;
}

// Buttons in sight that a finger may miss; those of heads of tables are in a high row.
function small_targets() {
  return innerWidth > 720 ? [] : Array.from(document.querySelectorAll('#view button')).filter((b) => !b.closest('th') && b.checkVisibility() &&
    b.getBoundingClientRect().height < 32).map((b) => b.textContent);
}
