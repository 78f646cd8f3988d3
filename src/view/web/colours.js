// Colours of functions: 24 hues, chosen by FNV-1a of the name as in the flame graphs of the svg writer. The same table
// for both themes: light paper has pale boxes with dark text, dark paper dark boxes with light text.
const LIGHT = 'fac3d2 fcc4c6 fcc5bb fac8b1 f5cbaa eecfa5 e5d3a4 dad7a6 cedbab c2deb4 b7e1be ade2ca ' +
  'a5e3d6 a2e2e1 a2e1ec a6def5 aedbfb b8d7ff c3d3ff cfcffe dacbf9 e5c8f2 eec5e9 f5c4de';
const DARK = '683f4c 6a3f42 6a4039 684231 65452a 604825 5a4c24 524f26 49522b 3f5433 34563b 2a5745 ' +
  '21584e 1c5757 1d565f 235466 2c516b 364e6d 404b6e 4a486d 524569 594364 60415d 654055';

const PAPERS = new Map([
  ['light', { hues: LIGHT.split(' '), paper: 'ffffff', ink: '1d2126', faint: '5b6470', root: 'dde1e6', match: 'ffb224',
    others: 'd0d5db', line: 'c9ced6', accent: '0b62d6', worse: 'ffbe7d', better: 'a3c8fb', same: 'e6eaef', bar: '5b95e6', bar_far: 'c3cad3', mark: 'b3400a',
    deep: '0a2f6e' }],
  ['dark', { hues: DARK.split(' '), paper: '16181c', ink: 'e8eaed', faint: 'a3abb6', root: '3a3f47', match: '8a5300',
    others: '4a505a', line: '3a3f47', accent: '7fb0ff', worse: '86480c', better: '24508f', same: '2b3038', bar: '4a80d0', bar_far: '3f4651', mark: 'ff9b5e',
    deep: 'cfe0ff' }],
]);

const utf8 = new TextEncoder();

export function hue_of(name) {
  let hash = 2166136261;
  for (const byte of utf8.encode(name)) hash = Math.imul(hash ^ byte, 16777619) >>> 0;
  return ((hash ^ hash >>> 16) >>> 0) % 24;
}

// As pixels of an ImageData: four bytes, red first.
const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

export function pixel(hex) {
  const rgb = parseInt(hex, 16), r = rgb >> 16, g = rgb >> 8 & 255, b = rgb & 255;
  return (LITTLE ? 255 << 24 | b << 16 | g << 8 | r : r << 24 | g << 16 | b << 8 | 255) >>> 0;
}

export function paper_of(theme) {
  const paper = PAPERS.get(theme), pixels = new Map();
  return {
    ...paper, theme,
    css: (key) => '#' + (typeof key === 'number' ? paper.hues[key] : paper[key]),
    pixel(key) {
      if (!pixels.has(key)) pixels.set(key, pixel(typeof key === 'number' ? paper.hues[key] : paper[key]));
      return pixels.get(key);
    },
  };
}
