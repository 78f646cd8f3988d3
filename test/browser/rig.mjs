// A page of traceloom in headless Chromium, driven with real clicks and keys: opening, waiting, reading what is shown.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { launch } = createRequire(import.meta.url)(process.env.TL_PUPPETEER);
const PATIENCE = 120000;                                // for a loaded machine; nothing is measured

export async function start() {
  return launch({ executablePath: process.env.TL_CHROMIUM, protocolTimeout: PATIENCE,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-color-profile=srgb'] });
}

// Waits until the page has drawn its newest state.
export async function settle(page) {
  await page.waitForFunction(() => document.getElementById('app')?.getAttribute('aria-busy') === 'false' ||
    document.getElementById('failed'), { timeout: PATIENCE });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function open(browser, file, options = {}) {
  const page = await browser.newPage(), seen = { console: [], requests: [], dialogs: [], errors: [] };
  page.setDefaultTimeout(PATIENCE);
  page.on('console', (message) => seen.console.push(message.text()));
  page.on('pageerror', (error) => seen.errors.push(String(error)));
  page.on('request', (request) => { if (!request.url().startsWith('blob:')) seen.requests.push(request.url().split('#')[0]); });
  page.on('dialog', (dialog) => {
    seen.dialogs.push(dialog.message());
    dialog.dismiss();
  });
  const { width = 1600, height = 900, dpr = 1, theme = 'light', touch = false } = options;
  await page.setViewport({ width, height, deviceScaleFactor: dpr, isMobile: touch, hasTouch: touch });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  await page.goto((file.startsWith('http:') ? file : pathToFileURL(file).href) + (options.hash ? '#' + options.hash : ''));
  await settle(page);
  return { page, seen };
}

export async function go(page, hash) {
  await page.evaluate((text) => { location.hash = text; }, hash);
  // The event comes later: wait for the page to have seen it.
  await page.evaluate(() => new Promise((done) => setTimeout(done, 0)));
  await settle(page);
}

// Drags over an element, from a share of its width to another; y in CSS pixels, or its middle.
export async function drag(page, selector, from, to, y) {
  const box = await page.$eval(selector, (e) => {
    const r = e.getBoundingClientRect();
    return { x: r.x, y: r.y, width: r.width, height: r.height };
  });
  const line = box.y + (y ?? box.height / 2);
  await page.mouse.move(box.x + from * box.width, line);
  await page.mouse.down();
  await page.mouse.move(box.x + to * box.width, line, { steps: 6 });
  await page.mouse.up();
}

export async function press(page, ...keys) {
  for (const key of keys) {
    const [modifier, last] = key.includes('+') && key.length > 1 ? key.split('+') : [null, key];
    if (modifier) await page.keyboard.down(modifier);
    await page.keyboard.press(last);
    if (modifier) await page.keyboard.up(modifier);
    await settle(page);
  }
}

// Types into a field, and does not wait for its pause.
export async function type(page, selector, text) {
  await page.focus(selector);
  await page.$eval(selector, (input) => input.select());
  await page.keyboard.press('Delete');
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
  await settle(page);
}

export const text = (page, selector) => page.$eval(selector, (e) => e.textContent);

// All rows of a table, which has elements only for those in sight: {title: text}, and aria-level as `level`.
export async function rows(page, selector = '#view table[role]') {
  return page.evaluate(async (which) => {
    const table = document.querySelector(which), scroller = table.closest('.scroller'), found = new Map();
    const titles = () => Array.from(table.querySelectorAll('th'), (th) => th.dataset.id);
    const collect = () => {
      const keys = titles();
      for (const tr of table.querySelectorAll('tr[data-row]')) {
        const row = { level: Number(tr.getAttribute('aria-level') ?? 0), selected: tr.getAttribute('aria-selected') === 'true' };
        tr.querySelectorAll('td').forEach((td, i) => { row[keys[i]] = td.textContent.replace(/^[\u25be\u25b8]/, ''); });
        found.set(Number(tr.dataset.row), row);
      }
    };
    for (scroller.scrollTop = 0; ; scroller.scrollTop += scroller.clientHeight) {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      collect();
      if (scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1) break;
    }
    return [...found].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
  }, selector);
}

// The tooltip at a share of the flame graph's width and a row: [title, lines].
export async function hover(page, share, row) {
  const box = await page.$eval('#view .flame canvas', (e) => {
    const r = e.getBoundingClientRect();
    return { x: r.x, y: r.y, width: r.width };
  });
  const at = { x: box.x + share * box.width, y: box.y + (row + 0.5) * 22 };
  await page.mouse.move(at.x, at.y);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const tip = await page.evaluate(() => {
    const e = document.getElementById('tip');
    return e.hidden ? null : [e.querySelector('b').textContent,
      Object.fromEntries(Array.from(e.querySelectorAll('div'), (d) => [d.children[0].textContent, d.children[1].textContent]))];
  });
  return { at, tip };
}

// The picture's colours, row by row of boxes: runs of [css pixels, colour] along its upper edge, where no text is.
export async function runs_of_rows(page, count) {
  return page.$eval('#view .flame canvas', (canvas, n) => {
    const ratio = canvas.width / canvas.getBoundingClientRect().width, rows = [];
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    for (let row = 0; row < n; row++) {
      const runs = [], y = Math.round((row * 22 + 2) * ratio);
      for (let x = 0; x < canvas.width; x++) {
        const at = 4 * (y * canvas.width + x), colour = data[at] + ',' + data[at + 1] + ',' + data[at + 2];
        if (runs.length && runs[runs.length - 1][1] === colour) runs[runs.length - 1][0] += 1 / ratio;
        else runs.push([1 / ratio, colour]);
      }
      rows.push(runs);
    }
    return rows;
  }, count);
}
