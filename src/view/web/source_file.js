// Where answers come from: this file. Another source only has to have the same three functions.
import { read_columns } from './unpack.js';

export function make_source() {
  const elements = new Map(), answers = new Map();
  for (const e of document.querySelectorAll('script[data-section]'))
    if (!elements.has(e.dataset.section)) elements.set(e.dataset.section, e);
  return {
    has: (name) => elements.has(name),
    json: (name) => elements.has(name) ? JSON.parse(elements.get(name).textContent) : null,
    // Columns of a section; made once. The element stays, so that the page can be saved.
    columns(name) {
      if (!answers.has(name))
        answers.set(name, elements.has(name) ? read_columns(elements.get(name).textContent) : Promise.resolve(null));
      return answers.get(name);
    },
  };
}
