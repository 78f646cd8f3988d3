// What is done with a page that has times: brushes, the timeline, the heat map. time_browser.py decides whether it is right.
import { drag, go, open, press, rows, settle, text } from './rig.mjs';

const strip = '#strip canvas';
const canvas = '#view .timeline canvas';

const hash_of = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const note_of = (page) => text(page, '.strip-note');
const zoom_of = (page) => page.evaluate(() => /[#&]z=([^&]*)/.exec(location.hash)?.[1] ?? '');
const described = (page, selector) => page.$eval(selector + ' .off', (e) => e.textContent);
const call_of = (page) => page.$$eval('#detail dl.call > *', (list) => list.map((e) => e.textContent));
const cells_of = (page, table) => page.$$eval('table[aria-label="' + table + '"] tbody tr', (list) =>
  list.map((tr) => Array.from(tr.children, (td) => td.textContent)));

// A first range waits for its data.
async function changed(page, was) {
  await page.waitForFunction((old) => decodeURIComponent(location.hash) !== old, {}, was);
  await settle(page);
}

// The zoom goes into the hash after a pause.
const zoomed = (page, was) => page.waitForFunction((old) => (/[#&]z=([^&]*)/.exec(location.hash)?.[1] ?? '') !== old, {}, was);

const tip_of = (page) => page.evaluate(() => {
  const e = document.getElementById('tip');
  return e.hidden ? null : [e.querySelector('b').textContent,
    Object.fromEntries(Array.from(e.querySelectorAll('div'), (d) => [d.children[0].textContent, d.children[1].textContent]))];
});

const box_of = (page, selector) => page.$eval(selector, (e) => {
  const r = e.getBoundingClientRect();
  return { x: r.x, y: r.y, width: r.width, height: r.height };
});

// Where the rows of the timeline begin: {thread: top of its first row}, in CSS pixels of the window.
const lanes_of = (page) => page.evaluate(() => {
  const top = document.querySelector('#view .timeline').getBoundingClientRect().top, out = {};
  for (const lane of document.querySelectorAll('.lane'))
    if (!lane.hidden) out[lane.querySelector('.lane-name').textContent] = top + parseFloat(lane.style.top) + parseFloat(lane.style.height) + 6;
  return out;
});

// Runs of [pixels, colour] along lines of the picture, from the left; lines in CSS pixels of the window.
const runs_at = (page, lines) => page.$eval(canvas, (e, ys) => {
  const r = e.getBoundingClientRect(), ratio = e.width / r.width, data = e.getContext('2d').getImageData(0, 0, e.width, e.height).data;
  return ys.map((y) => {
    const runs = [], row = Math.round((y - r.top) * ratio) * e.width;
    for (let at = 4 * row; at < 4 * (row + e.width); at += 4) {
      const colour = data[at] + ',' + data[at + 1] + ',' + data[at + 2];
      if (runs.length && runs[runs.length - 1][1] === colour) runs[runs.length - 1][0]++;
      else runs.push([1, colour]);
    }
    return runs;
  });
}, lines);

// All that depends on the range that the hash has.
async function look(page) {
  const one = { hash: await hash_of(page), note: await note_of(page) }, range = /t=[^&]*/.exec(one.hash)?.[0] ?? '';
  await go(page, range);
  one.hot = await cells_of(page, 'Hot functions');
  await go(page, 'v=functions&' + range);
  one.functions = await rows(page);
  await go(page, 'v=tree&' + range);
  await page.evaluate(() => Array.from(document.querySelectorAll('#view-tools button')).find((b) => b.textContent === 'Expand').click());
  one.tree = await rows(page);
  await go(page, 'v=flame&' + range);
  const at = await box_of(page, '#view .flame canvas');
  await page.mouse.move(10, 10);
  await page.mouse.move(at.x + at.width / 2, at.y + 33);
  one.flame = await tip_of(page);
  await go(page, range);
  return one;
}

export const time_scenarios = {
  // drags: [[from, to], ...] in shares of the strip's width, one after another: the first selects, others drag an edge.
  async brush(browser, file, { drags }) {
    const { page, seen } = await open(browser, file), out = { seen, whole: await look(page), ranges: [] };
    for (const [from, to] of drags) {
      const was = await hash_of(page);
      await drag(page, strip, from, to);
      await changed(page, was);
      out.ranges.push(await look(page));
    }
    const box = await box_of(page, strip);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2, { count: 2 });
    await settle(page);
    out.double = await hash_of(page);
    await page.focus(strip);
    await press(page, 'Home', 'ArrowRight', 'ArrowRight', '[', 'ArrowRight', 'ArrowRight', 'ArrowRight', ']');
    out.keys = await hash_of(page);
    out.described = await described(page, '#strip');
    await press(page, '\\');
    out.cleared = await hash_of(page);
    return out;
  },

  // The picture of each window at each size: runs of colours of each row.
  async timeline(browser, file, { windows, sizes }) {
    const out = { pictures: [] };
    for (const [width, height, dpr, theme] of sizes)
      for (const window of windows) {
        const { page, seen } = await open(browser, file, { width, height, dpr, theme, touch: width < 500, hash: 'v=timeline&z=' + window });
        await page.evaluate(() => document.querySelector('#view .timeline').scrollIntoView());
        const box = await box_of(page, canvas), one = { seen, window, width, theme, dpr, box, lanes: {}, wide: await page.evaluate(() => document.documentElement.scrollWidth) };
        const places = Object.entries(await lanes_of(page)).flatMap(([thread, top]) => Array.from({ length: 9 }, (_, k) => [thread, top + k * 18 + 1]))
          .filter(([, y]) => y < box.y + box.height - 1), runs = await runs_at(page, places.map(([, y]) => y));
        places.forEach(([thread], i) => (one.lanes[thread] ??= []).push(runs[i]));
        out.pictures.push(one);
        await page.close();
      }
    return out;
  },

  // at: [share of the width, thread, depth] of a call in the window.
  async gestures(browser, file, { window, at }) {
    const { page, seen } = await open(browser, file, { hash: 'v=timeline&z=' + window }), out = { seen, zooms: {}, described: [] };
    const lanes = await lanes_of(page), box = await box_of(page, canvas), point = [box.x + at[0] * box.width, lanes[at[1]] + (at[2] - 1) * 18 + 9];
    // A window that was moved by a key is put into the link a little later, perhaps after this.
    const again = async () => {
      do {
        await go(page, 'v=timeline&z=' + window);
        await new Promise((done) => setTimeout(done, 500));
        await settle(page);
      } while (await zoom_of(page) !== window);
    };
    await page.mouse.move(...point);
    await settle(page);
    out.tip = await tip_of(page);
    await page.mouse.click(...point);
    await settle(page);
    out.clicked = { hash: await hash_of(page), call: await call_of(page) };
    await again();
    await page.mouse.move(...point);
    await page.mouse.wheel({ deltaY: -100 });
    await zoomed(page, window);
    out.zooms.wheel = await zoom_of(page);
    await again();
    await drag(page, canvas, 0.5, 0.25, 10);
    await zoomed(page, window);
    out.zooms.pan = await zoom_of(page);
    await again();
    await page.keyboard.down('Shift');
    await drag(page, canvas, 0.25, 0.75, 40);
    await page.keyboard.up('Shift');
    await page.waitForFunction(() => location.hash.includes('t='));
    await settle(page);
    out.shift_drag = await hash_of(page);
    await again();
    await page.focus(canvas);
    for (const key of ['w', 's', 'd', 'a', '0']) {
      const was = await zoom_of(page);
      await press(page, key);
      await zoomed(page, was);
      out.zooms[key] = await zoom_of(page);
    }
    await again();
    await page.focus(canvas);
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowDown']) {
      await press(page, key);
      out.described.push(await described(page, '#view .timeline'));
    }
    await press(page, 'Enter');
    out.entered = await hash_of(page);
    await press(page, '[');
    out.bracket = await hash_of(page);
    await again();
    await press(page, 'v');
    out.table = await rows(page, 'table[aria-label="Calls in the window"]');
    await go(page, 'v=timeline');
    await page.click('.lane-name');
    await settle(page);
    out.one_thread = { hash: await hash_of(page), lanes: Object.keys(await lanes_of(page)) };
    await go(page, 'v=timeline');
    const before = await lanes_of(page);
    await page.click('.lane .arrow');
    out.folded = [before, await lanes_of(page)];
    return out;
  },

  // The heat map of a function: hovers over a column, clicks its topmost cell; then calls of tables.
  async heat(browser, file, { name, share }) {
    const { page, seen } = await open(browser, file, { hash: 'v=latency&p=' + name }), out = { seen, tips: [] };
    await page.evaluate(() => document.querySelector('.chart.heat').scrollIntoView());
    const box = await box_of(page, '.chart.heat canvas'), x = box.x + 64 + share * (box.width - 64);
    let first = null;
    for (let y = box.y + 7; y < box.y + box.height - 16; y++) {
      await page.mouse.move(x, y);
      const tip = await tip_of(page);
      if (tip) out.tips.push(tip);
      if (tip) first ??= y;
    }
    await page.mouse.click(x, first);
    await page.waitForFunction(() => location.hash.includes('v=timeline'));
    await settle(page);
    out.jump = { hash: await hash_of(page), call: await call_of(page) };
    await go(page, 'v=overview');
    out.slow = await cells_of(page, 'Slowest calls');
    await page.click('table[aria-label="Slowest calls"] tbody tr:nth-child(2)');
    await settle(page);
    out.slow_jump = { hash: await hash_of(page), call: await call_of(page) };
    await go(page, 'v=latency&p=' + name);
    out.exemplars = await rows(page, 'table[aria-label="Calls to look at"]');
    return out;
  },

  // Where calls are not in the page: tooltips of the deepest rows.
  async cut(browser, file) {
    const { page, seen } = await open(browser, file, { hash: 'v=timeline&z=60ms..60.5ms' }), out = { seen, tips: [] };
    const box = await box_of(page, canvas);
    out.lanes = await page.$$eval('.lane .faint', (list) => list.map((e) => e.textContent));
    for (const [thread, top] of Object.entries(await lanes_of(page)))
      for (const depth of [6, 8, 9])
        for (let share = 0.01; share < 1 && out.tips.length < 40; share += 0.07) {
          const at = [box.x + share * box.width, top + (depth - 1) * 18 + 9];
          if (at[1] > box.y + box.height - 2) continue;
          await page.mouse.move(...at);
          const tip = await tip_of(page);
          if (tip && tip[1]['see them']) out.tips.push([thread, depth, tip]);
        }
    await go(page, 'v=losses');
    out.losses = await text(page, '#view');
    return out;
  },

  async time_hash(browser, file, { hashes, garbage }) {
    const out = { states: [], garbage: [] };
    const look_at = async (hash) => {
      const { page, seen } = await open(browser, file, { hash });
      const one = { seen, hash: await hash_of(page), note: await note_of(page), status: await text(page, '#status'),
        pictures: await page.$$eval('canvas', (list) => list.filter((e) => e.checkVisibility()).map((e) => e.toDataURL())) };
      await page.close();
      return one;
    };
    for (const hash of hashes) {
      const first = await look_at(hash);
      out.states.push({ asked: hash, first, again: await look_at(first.hash.slice(1)) });
    }
    for (const hash of garbage) out.garbage.push({ asked: hash, ...await look_at(hash), pictures: [] });
    return out;
  },

  // A finger drags over the strip; two fingers zoom the timeline.
  async time_touch(browser, file) {
    const { page, seen } = await open(browser, file, { width: 390, height: 844, dpr: 2, touch: true }), out = { seen };
    const box = await box_of(page, strip), y = box.y + box.height / 2;
    await page.touchscreen.touchStart(box.x + box.width / 4, y);
    for (let k = 1; k <= 4; k++) await page.touchscreen.touchMove(box.x + box.width * (1 / 4 + k / 16), y);
    await page.touchscreen.touchEnd();
    await page.waitForFunction(() => location.hash.includes('t='));
    await settle(page);
    out.hash = await hash_of(page);
    await go(page, 'v=timeline');
    await page.evaluate(() => document.querySelector('#view .timeline').scrollIntoView());
    const at = await box_of(page, canvas), client = await page.createCDPSession();
    const send = (type, xs) => client.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x, y: at.y + 60, id })) });
    await send('touchStart', [at.x + 150, at.x + 200]);
    for (let k = 1; k <= 5; k++) await send('touchMove', [at.x + 150 - 20 * k, at.x + 200 + 20 * k]);
    await send('touchEnd', []);
    await zoomed(page, '');
    out.zoom = await zoom_of(page);
    out.targets = await page.$$eval('#strip button, .lane .arrow', (list) => list.filter((e) => e.checkVisibility())
      .map((e) => [e.getAttribute('aria-label'), e.getBoundingClientRect().height]));
    return out;
  },
};
