// Where answers come from: this file. Another source only has to have the same three functions.
import { read_columns } from './unpack.js';

// Whole numbers that a double cannot hold become text, so that no digit is lost.
export function parse_json(text) {
  return JSON.parse(text, (key, v, context) => typeof v === 'number' && Number.isInteger(v) && !Number.isSafeInteger(v) && context?.source ? context.source : v);
}

export function make_source() {
  const elements = new Map(), answers = new Map();
  for (const e of document.querySelectorAll('script[data-section]'))
    if (!elements.has(e.dataset.section)) elements.set(e.dataset.section, e);
  return {
    has: (name) => elements.has(name),
    json: (name) => elements.has(name) ? parse_json(elements.get(name).textContent) : null,
    // Columns of a section; made once. The element stays, so that the page can be saved.
    columns(name) {
      if (!answers.has(name))
        answers.set(name, elements.has(name) ? read_columns(elements.get(name).textContent) : Promise.resolve(null));
      return answers.get(name);
    },
  };
}
