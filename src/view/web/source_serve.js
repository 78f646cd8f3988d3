// Where the answers of a served page come from: its server. In a file, and in a page that was saved, there is none; nothing
// else differs. docs/serve.md has the questions.
import { read_columns } from './unpack.js';

// A failure that the server explains, or its absence.
function failure(message, code) {
  return Object.assign(new Error(message), { code });
}

async function ask_text(place, signal) {
  let answer, text;
  try {
    answer = await fetch(place, { signal, cache: 'no-store', credentials: 'omit', redirect: 'error' });
    text = await answer.text();
  } catch (error) {
    throw error.name === 'AbortError' ? failure('a newer question was asked', 'cancelled') : failure('the server does not answer: it has ended', 'gone');
  }
  if (answer.ok) return text;
  let why = { message: 'the server refused to answer', code: 'failure' };
  try {
    why = JSON.parse(text).error;
  } catch {
    // Not from us.
  }
  throw failure(String(why.message), String(why.code));
}

// An answer with sections, as a source like that of a file.
function source_of(sections) {
  const answers = new Map(), has = (name) => Object.hasOwn(sections, name);
  return {
    has,
    json: (name) => has(name) ? sections[name] : null,
    columns(name) {
      if (!answers.has(name)) answers.set(name, has(name) ? read_columns(sections[name].data) : Promise.resolve(null));
      return answers.get(name);
    },
  };
}

function make_server(served) {
  const page = Array.from(crypto.getRandomValues(new Uint8Array(6)), (b) => b.toString(16).padStart(2, '0')).join('');
  const running = new Map();
  let seq = 0;
  // The text of an answer. A question of a slot ends the one before.
  async function ask(question, keys, slot) {
    const control = new AbortController(), all = { ...keys, slot: page + '-' + slot, seq: ++seq };
    running.get(slot)?.abort();
    running.set(slot, control);
    const pairs = Object.entries(all).filter(([, value]) => value !== '' && value !== undefined);
    try {
      return await ask_text('q/' + question + '?' + pairs.map(([key, value]) => key + '=' + encodeURIComponent(value)).join('&'), control.signal);
    } finally {
      if (running.get(slot) === control) running.delete(slot);
    }
  }
  return {
    sql: served.sql === true,
    whole: served.whole === true,
    ask,
    stop: (slot) => running.get(slot)?.abort(),
    // The sections of a range, "12ns..34ns" as of --time, or of the whole.
    sections: async (t, slot = 'range', fresh = '') => source_of(JSON.parse(await ask('profile', { t, fresh }, slot)).sections),
    news(take) {
      const events = new EventSource('live');
      events.addEventListener('message', (event) => take(JSON.parse(event.data)));
      events.addEventListener('error', () => take(null));
    },
  };
}

// The source, with a server if there is one: that of an earlier source, or its own.
export function make_served(source, earlier = null) {
  const server = earlier ?? (source.has('served') && location.protocol !== 'file:' ? make_server(source.json('served')) : null);
  return { ...source, server, has: (name) => name === 'sql' ? server !== null && server.sql : source.has(name) };
}
