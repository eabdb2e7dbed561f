// Elements without markup: whatever a client chose becomes a text node.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      node.addEventListener(name, value);
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// h('button', {class: 'quiet', click: act}, 'Reset'): a function is a listener of the event of that name.
export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

// Controls, and characters that are invisible or turn the direction of what follows.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const escaped = (char) => '\\u' + char.charCodeAt(0).toString(16).padStart(4, '0');
export const visible = (text) => String(text).replace(HIDDEN, escaped);

// A text that a client chose, apart from the text around it. A long one is cut in the middle; the title has it whole.
export function clientText(text, longest = 96) {
  const whole = visible(text);
  const half = Math.floor(longest / 2);
  const cut = whole.length > longest ? whole.slice(0, half) + '…' + whole.slice(-half) : whole;
  return h('bdi', {class: 'client', title: cut === whole ? null : whole}, cut);
}

// A sentence of the daemon, which may quote a client.
export const sentence = (text) => h('bdi', {}, visible(text));

// {ip: '192.0.2.7', endpoint: '/login'} as ip=192.0.2.7 endpoint=/login.
export const attributesText = (attributes) =>
  Object.entries(attributes).map(([name, value]) => h('span', {class: 'pair'}, clientText(name), '=', clientText(value)));

const compact = new Intl.NumberFormat('en', {maximumFractionDigits: 1, notation: 'compact'});
const plain = new Intl.NumberFormat('en', {maximumFractionDigits: 2});
export const count = (value) => (value === null || value === undefined ? '–'
  : Math.abs(value) >= 100000 ? compact.format(value) : plain.format(value));
export const rate = (value) => (value === null ? '–' : value > 0 && value < 0.05 ? '<0.1'
  : count(Math.round(value * (value < 100 ? 10 : 1)) / (value < 100 ? 10 : 1)));
export const percent = (part, whole) => (whole > 0 ? `${(100 * part / whole).toFixed(part > 0 && part / whole < 0.1 ? 1 : 0)} %` : '–');

// 93000 -> "1 min 33 s".
export function span(ms) {
  const s = Math.ceil(ms / 1000);
  if (ms < 1000) return `${Math.ceil(ms)} ms`;
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}
export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString();

export const badge = (text, kind = '') => h('span', {class: `badge ${kind}`}, text);
export const modeBadge = (mode) => badge(mode, {enforce: 'good', shadow: 'shade', off: 'dim'}[mode] ?? '');
export const notice = (text, kind = '') => h('p', {class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : 'status'}, text);

// A table that scrolls by itself on a narrow screen. `columns`: texts, or {text, number: true}.
export function table(caption, columns, rows, empty = 'None.') {
  if (rows.length === 0) return h('p', {class: 'empty'}, empty);
  const head = columns.map((one) => h('th', {scope: 'col', class: one.number ? 'number' : null},
    one === '' ? h('span', {class: 'hidden'}, 'Action') : one.text ?? one));
  const body = rows.map((cells) => h('tr', {}, cells.map((cell, i) =>
    h('td', {class: columns[i].number ? 'number' : null}, cell))));
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
    h('table', {}, h('caption', {class: 'hidden'}, caption), h('thead', {}, h('tr', {}, head)), h('tbody', {}, body)));
}

export const card = (title, ...children) => h('section', {class: 'card'}, title ? h('h2', {}, title) : null, ...children);

// Replaces the content of `root`, unless the user is in it: an open select or a half typed text stays.
export function renew(root, ...children) {
  if (!root.contains(document.activeElement) || !document.activeElement.matches('input, select, textarea, button, a, summary')) {
    root.replaceChildren(...children.flat().filter(Boolean));
  }
}

// Asks before something that other people notice. Resolves to true or false.
export function confirm(title, text, verb) {
  return new Promise((resolve) => {
    const dialog = h('dialog', {'aria-labelledby': 'confirm-title', close: () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    }},
    h('h2', {id: 'confirm-title'}, title), h('p', {}, text),
    h('div', {class: 'row end'},
      h('button', {type: 'button', class: 'quiet', click: () => dialog.close('no')}, 'Cancel'),
      h('button', {type: 'button', class: 'danger', click: () => dialog.close('yes')}, verb)));
    document.body.append(dialog);
    dialog.showModal();
  });
}
