// One state, from which every view is drawn and which every gesture changes. It is the hash of the address, in names and
// not in numbers, so that a link fits a page that was made again.
import { range_or_none } from './clock.js';

const HASH_MAX = 2000;
const VALUE_MAX = 512;
const HISTORY_MAX = 100;

const START = {
  view: '', focus: [], pick: '', sandwich: false, find: '', keep: '', drop: '', weight: '', q: 99, invert: false,
  sort: '', theme: '', table: false, rel: '', cls: '', range: '', zoom: '', call: '', threads: [],
};

function parse_q(text) {
  const q = /^\d{1,3}(\.\d{1,2})?$/.test(text) ? Number(text) : NaN;
  return q >= 50 && q <= 100 ? q : START.q;
}

const one_of = (...words) => (text) => words.includes(text) ? text : '';
const flag = { write: (v) => v ? '1' : '', read: (text) => text === '1' };
const plain = { write: (v) => v, read: (text) => text };
const time_range = { write: (v) => v, read: range_or_none };

// Names of a path are joined by ';', which is escaped in them.
const path = {
  write(names) {
    const parts = names.map((name) => name.replace(/[%;*]/g, encodeURIComponent).replace(/\*/g, '%2A'));
    let text = parts.join(';');
    for (let from = 1; text.length > VALUE_MAX && from < parts.length; from++) text = '*;' + parts.slice(from).join(';');
    return text.length > VALUE_MAX ? '' : text;
  },
  read: (text) => text ? text.split(';').map((name) => name === '*' ? name : decode(name)) : [],
};

const KEYS = new Map([
  ['v', ['view', plain]], ['f', ['focus', path]], ['p', ['pick', plain]], ['sw', ['sandwich', flag]],
  ['find', ['find', plain]], ['keep', ['keep', plain]], ['drop', ['drop', plain]], ['w', ['weight', plain]],
  ['q', ['q', { write: (v) => v === START.q ? '' : String(v), read: parse_q }]], ['i', ['invert', flag]],
  ['s', ['sort', { write: (v) => v, read: (text) => /^[a-z0-9]{1,20}-?$/.test(text) ? text : '' }]],
  ['th', ['theme', { write: (v) => v, read: one_of('light', 'dark') }]], ['tab', ['table', flag]],
  ['rel', ['rel', plain]], ['cls', ['cls', plain]],
  ['t', ['range', time_range]], ['z', ['zoom', time_range]], ['at', ['call', plain]], ['thr', ['threads', path]],
]);

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

export function write_hash(state) {
  let hash = '';
  for (const [key, [name, { write }]] of KEYS) {
    const value = write(state[name]);
    if (!value || value.length > VALUE_MAX) continue;
    const pair = (hash ? '&' : '#') + key + '=' + encodeURIComponent(value).replace(/%3B/g, ';');
    if (hash.length + pair.length <= HASH_MAX) hash += pair;
  }
  return hash;
}

export function read_hash(hash) {
  const state = { ...START };
  if (hash.length > HASH_MAX) return state;
  for (const pair of hash.replace(/^#/, '').split('&')) {
    const at = pair.indexOf('='), key = KEYS.get(pair.slice(0, at));
    const value = decode(pair.slice(at + 1));
    if (at > 0 && key && value.length <= VALUE_MAX) state[key[0]] = key[1].read(value);
  }
  return state;
}

export function make_state() {
  let now = read_hash(location.hash);
  const listeners = [], past = [], future = [];
  const tell = (before) => {
    const hash = write_hash(now);
    if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname + location.search);
    for (const f of listeners) f(now, before);
  };
  const go = (from, to) => {
    if (!from.length) return;
    const before = now;
    to.push(now);
    now = from.pop();
    tell(before);
  };
  addEventListener('hashchange', () => {
    const before = now;
    if (write_hash(now) === location.hash) return;
    now = read_hash(location.hash);
    past.push(before);
    tell(before);
  });
  return {
    get: () => now,
    listen: (f) => listeners.push(f),
    // Changes some of it. Typing and picking are not worth a step back.
    set(change, quiet) {
      const before = now;
      if (Object.keys(change).every((key) => Object.is(now[key], change[key]))) return;
      if (!quiet) {
        past.push(now);
        if (past.length > HISTORY_MAX) past.shift();
        future.length = 0;
      }
      now = { ...now, ...change };
      tell(before);
    },
    back: () => go(past, future),
    forward: () => go(future, past),
  };
}
