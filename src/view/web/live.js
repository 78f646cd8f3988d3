// Inputs that are still being written: Follow shows what comes, Freeze keeps what is shown. Others that have changed can be
// read again.
import { button, by_id, el, say } from './dom.js';
import { human_bytes } from './units.js';
import { read_profile } from './profile.js';
import { make_served } from './source_serve.js';

export function start_news(app) {
  const { server } = app.source, line = el('p', { id: 'live', role: 'status' });
  const words = el('span'), follow = button('Follow', 'show what comes, or keep what is shown', () => {
    follows = !follows;
    if (follows) renew();
    draw();
  }, { id: 'follow' }), reload = button('Reload', 'read the file again', () => renew(), { id: 'reload' });
  let follows = false, is_reading = false, is_whole = server?.whole, last = null, trouble = '';
  if (!server) return;
  line.append(words, follow, reload);
  by_id('head').after(line);
  line.hidden = true;

  async function renew(fresh = 1) {
    if (is_reading) return;
    is_reading = true;
    try {
      const source = await server.sections('', 'live', fresh);
      await app.renew(make_served(source, server), await read_profile(source));
      trouble = '';
      is_whole = true;
    } catch (error) {
      if (error.code !== 'cancelled') trouble = error.message;
    }
    is_reading = false;
    draw();
  }

  // The elements stay, so that a click is not lost to the next event.
  function draw() {
    const live = last?.live === true, changed = last?.changed === true;
    line.hidden = !(live || changed || follows || trouble || !last || !is_whole);
    words.textContent = (trouble || (!last ? 'the server has ended: what is shown stays'
      : !is_whole ? 'times and tables are being made'
      : live ? 'still being written, ' + human_bytes(last.bytes)
        : changed ? 'the file has changed' : 'no longer being written')) + ' ';
    follow.hidden = !live || !is_whole;
    follow.textContent = follows ? 'Freeze' : 'Follow';
    follow.setAttribute('aria-pressed', String(follows));
    reload.hidden = live || !changed || !is_whole;
  }

  if (!is_whole) renew('');
  server.news((news) => {
    const ended = follows && last?.live === true && news !== null && !news.live;
    if (!news && last) say('the server has ended');
    last = news;
    if ((follows && news?.live && news.changed) || ended) renew();
    else draw();
  });
}
