// Elements, and text that comes from traces: it is only ever set as text.

// Makes an element: el('td', {class: 'num', title: 't', on: {click: f}}, 'text', child, ...).
export function el(tag, properties, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'on') for (const [type, f] of Object.entries(value)) e.addEventListener(type, f);
    else if (key === 'class') e.className = value;
    else if (key === 'style') for (const [name, v] of Object.entries(value)) e.style.setProperty(name, v);
    else e.setAttribute(key, value === true ? '' : value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

export function by_id(id) {
  return document.getElementById(id);
}

export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((c) => c !== null && c !== undefined));
  return parent;
}

// Characters that draw nothing, or turn the direction of what follows, are shown by their number.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

export function visible(text) {
  return text.replace(HIDDEN, (c) => '\u27e8U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u27e9');
}

// The middle of a long text is what readers miss least.
export function shorten(text, most) {
  const letters = Array.from(text.length > 4 * most ? text.slice(0, 2 * most) + text.slice(-2 * most) : text);
  if (letters.length <= most && text.length <= 4 * most) return text;
  const tail = Math.floor(most / 3);
  return letters.slice(0, most - tail - 1).join('') + '\u2026' + letters.slice(-tail).join('');
}

// Says something to screen readers and in the footer.
export function say(text) {
  by_id('status').textContent = text;
}

export function button(text, title, click, more) {
  return el('button', { type: 'button', title, on: { click }, ...more }, text);
}

export async function copy_text(text) {
  try {
    await navigator.clipboard.writeText(text);
    say('copied: ' + shorten(text, 120));
  } catch {
    // Without permission, as in files: the old way.
    const box = el('textarea', { class: 'off', 'aria-hidden': 'true' });
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand('copy');
    box.remove();
    say((done ? 'copied: ' : 'cannot copy: ') + shorten(text, 120));
  }
}
