// Inputs that are still being written: Follow shows what comes, Freeze keeps what is shown. Others that have changed can be
// read again.
import { button, by_id, el, say } from './dom.js';
import { human_bytes } from './units.js';
import { read_profile } from './profile.js';

export function start_news(app) {
  const { server } = app.source, line = el('p', { id: 'live', role: 'status' });
  const words = el('span'), follow = button('Follow', 'show what comes, or keep what is shown', () => {
    follows = !follows;
    if (follows) renew();
    draw();
  }, { id: 'follow' }), reload = button('Reload', 'read the file again', renew, { id: 'reload' });
  let follows = false, is_reading = false, last = null, trouble = '';
  if (!server) return;
  line.append(words, follow, reload);
  by_id('head').after(line);
  line.hidden = true;

  async function renew() {
    if (is_reading) return;
    is_reading = true;
    try {
      const source = await server.sections('', 'live', 1);
      await app.renew({ ...app.source, json: source.json, columns: source.columns }, await read_profile(source));
      trouble = '';
    } catch (error) {
      if (error.code !== 'cancelled') trouble = error.message;
    }
    is_reading = false;
    draw();
  }

  // The elements stay, so that a click is not lost to the next event.
  function draw() {
    const live = last?.live === true, changed = last?.changed === true;
    line.hidden = !(live || changed || follows || trouble || !last);
    words.textContent = (trouble || (!last ? 'the server has ended: what is shown stays'
      : live ? 'still being written, ' + human_bytes(last.bytes)
        : changed ? 'the file has changed' : 'no longer being written')) + ' ';
    follow.hidden = !live;
    follow.textContent = follows ? 'Freeze' : 'Follow';
    follow.setAttribute('aria-pressed', String(follows));
    reload.hidden = live || !changed;
  }

  server.news((news) => {
    const ended = follows && last?.live === true && news !== null && !news.live;
    if (!news && last) say('the server has ended');
    last = news;
    if ((follows && news?.live && news.changed) || ended) renew();
    else draw();
  });
}
