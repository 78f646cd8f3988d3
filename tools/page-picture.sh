#!/usr/bin/env bash
# The picture of a page in README: docs/page.png, the report of demo/app.xray in headless Chromium. After `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
page=$(mktemp -d)
trap 'rm -r "$page"' EXIT
(cd demo && ../build/traceloom report app.xray -e app -q -o "$page/app.html")
TL_PUPPETEER=$PWD/build-node/node_modules/puppeteer-core node --input-type=module - "$page/app.html" docs/page.png <<'JS'
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const { launch } = createRequire(import.meta.url)(process.env.TL_PUPPETEER);
const [, , file, picture] = process.argv;
const browser = await launch({ executablePath: process.env.TL_CHROMIUM ?? '/usr/bin/chromium-headless-shell', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 860 });
await page.goto(pathToFileURL(file).href);
await page.waitForFunction(() => document.getElementById('app')?.getAttribute('aria-busy') === 'false');
await page.screenshot({ path: picture });
await browser.close();
JS
size=$(stat -c %s docs/page.png)
[ "$size" -le 200000 ] || { echo "docs/page.png has $size bytes, more than 200,000" >&2; exit 1; }
