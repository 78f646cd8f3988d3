// Opens pages in headless Chromium and says how long that took, as JSON: page_watch.mjs open|frames|speedscope FILE [JS]
// The environment has PUPPETEER and CHROMIUM. Times are those of the page's own clock, which begins with the navigation.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { launch } = createRequire(import.meta.url)(process.env.PUPPETEER);
const STEPS = 240;
const [, , what, file, script] = process.argv;

// Notes when the first state has been drawn and the frame after it has begun.
function note_first() {
  const note = () => requestAnimationFrame(() => setTimeout(() => { window.first_picture = performance.now(); }, 0));
  document.addEventListener('DOMContentLoaded', () => {
    const watch = new MutationObserver(() => {
      if (document.getElementById('app')?.getAttribute('aria-busy') !== 'false') return;
      watch.disconnect();
      note();
    });
    watch.observe(document.documentElement, { subtree: true, attributes: true, attributeFilter: ['aria-busy'] });
  });
}

// Speedscope has drawn when it offers its views of a profile, and the frames after that are over.
function note_canvas() {
  document.addEventListener('DOMContentLoaded', () => {
    const look = () => {
      if (!document.body.textContent.includes('Left Heavy') || !document.querySelector('canvas')) return requestAnimationFrame(look);
      return requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { window.first_picture = performance.now(); }, 0)));
    };
    look();
  });
}

// Zooms in and out and pans; the work of each frame in ms, from its begin until the picture is made.
async function zoom_frames(steps) {
  const canvas = document.querySelector('#view .timeline canvas'), box = canvas.getBoundingClientRect(), out = [];
  for (let k = 0; k < steps; k++) {
    const clientX = box.left + box.width * (0.3 + 0.4 * (k % 7) / 6), wheel = (more) => canvas.dispatchEvent(new WheelEvent('wheel', { bubbles: true, cancelable: true, clientX, clientY: box.top + 60, ...more }));
    const phase = k % 60;
    await new Promise((done) => {
      requestAnimationFrame(() => {
        const begin = performance.now();
        wheel(phase < 40 ? { ctrlKey: true, deltaY: -60 } : phase < 45 ? { shiftKey: true, deltaY: 100 } : { ctrlKey: true, deltaY: 140 });
        const asked = performance.now() - begin;
        requestAnimationFrame((now) => {
          const late = performance.now();
          out.push(asked + late - now);
          done();
        });
      });
    });
  }
  return out;
}

const browser = await launch({ executablePath: process.env.CHROMIUM, protocolTimeout: 300000,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--enable-unsafe-swiftshader', '--allow-file-access-from-files'] });
try {
  // One page before, so that the browser is warm.
  const warm = await browser.newPage();
  await warm.goto('about:blank');
  const page = await browser.newPage();
  await page.setViewport({ width: 1600, height: 900 });
  await page.evaluateOnNewDocument(what === 'speedscope' ? note_canvas : note_first);
  const url = pathToFileURL(file).href;
  await page.goto(what === 'speedscope' ? url + '#localProfilePath=' + script : what === 'frames' ? url + '#v=timeline' : url);
  await page.waitForFunction(() => window.first_picture > 0, { timeout: 120000 });
  const out = { first: await page.evaluate(() => window.first_picture) };
  if (what === 'frames') out.frames = await page.evaluate(zoom_frames, STEPS);
  const metrics = await page.metrics();
  out.heap = metrics.JSHeapUsedSize;
  console.log(JSON.stringify(out));
} finally {
  await browser.close();
}
