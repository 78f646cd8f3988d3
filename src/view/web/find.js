// Regular expressions over the names of functions, in a worker that is ended after a second: a pattern may come with a
// link, and some patterns take for ever.
const FIND_MS = 1000;
const PATTERNS_MAX = 16;

function find_in_worker() {
  onmessage = (event) => {
    const { texts, pattern } = event.data, expression = new RegExp(pattern, 'iu'), hits = new Uint8Array(texts.length);
    for (let i = 0; i < texts.length; i++) hits[i] = expression.test(texts[i]) ? 1 : 0;
    postMessage(hits, [hits.buffer]);
  };
}

// What is no regular expression is looked for as it is.
function as_pattern(text) {
  try {
    new RegExp(text, 'iu');
    return { pattern: text, literal: false };
  } catch {
    return { pattern: text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), literal: true };
  }
}

function run_worker(texts, pattern) {
  const url = URL.createObjectURL(new Blob(['(' + find_in_worker + ')()'], { type: 'text/javascript' }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  return new Promise((resolve) => {
    const end = (hits, late) => {
      clearTimeout(timer);
      worker.terminate();
      resolve({ hits, late });
    };
    const timer = setTimeout(() => end(null, true), FIND_MS);
    worker.onmessage = (event) => end(event.data, false);
    worker.onerror = () => end(null, false);
    worker.postMessage({ texts, pattern });
  });
}

// A function from a text to the functions whose name, file or library match: {hits: Uint8Array | null, late, literal}.
export function make_finder(profile) {
  const texts = profile.name.map((name, f) => [name, profile.file[f], profile.library[f]].filter(Boolean).join('\n'));
  const answers = new Map();
  return (text) => {
    if (!text) return Promise.resolve({ hits: null, late: false, literal: false });
    if (!answers.has(text)) {
      if (answers.size >= PATTERNS_MAX) answers.delete(answers.keys().next().value);
      const { pattern, literal } = as_pattern(text);
      answers.set(text, run_worker(texts, pattern).then((answer) => ({ ...answer, literal })));
    }
    return answers.get(text);
  };
}
