// Requests as an operator types them: user_id=u_42 endpoint="/a b" cost=3.
import {get} from './api.js';
import {h} from './dom.js';

const PAIR = /\s*([^\s=]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))/y;

// The attributes of `text`: words of name=value, a JSON object, or a query string. Throws an Error that says what is wrong.
export function parseAttributes(text) {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    const read = JSON.parse(trimmed);
    return Object.fromEntries(Object.entries(read).filter(([, value]) => typeof value !== 'object')
      .map(([name, value]) => [name, String(value)]));
  }
  const attributes = {};
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < trimmed.length) {
    const at = PAIR.lastIndex;
    const found = PAIR.exec(trimmed);
    if (!found) throw new Error(`Write name=value, separated by spaces: “${trimmed.slice(at, at + 40).trim()}” has no “=”.`);
    const [, name, quoted, bare] = found;
    if (name in attributes) throw new Error(`${name} is there twice.`);
    attributes[name] = quoted === undefined ? bare : quoted.replace(/\\(.)/g, '$1');
  }
  if (Object.keys(attributes).length === 0) throw new Error('Write at least one attribute, such as user_id=u_42.');
  return attributes;
}

export const attributesLine = (attributes) => Object.entries(attributes).map(([name, value]) =>
  `${name}=${value !== '' && /^[^\s"\\]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`).join(' ');

export const query = (attributes) => new URLSearchParams(attributes).toString();
// Links to a request. `key` may be of a rule, without the attributes of its match: then the page adds them.
const RULE = '@rule';
const link = (page) => (key, rule) => `#/${page}?${query(rule === undefined ? key : {...key, [RULE]: rule})}`;
export const keysLink = link('keys');
export const whyLink = link('why');

// The attributes in a link. What a rule's match asks for by value or prefix is added.
export async function linkedAttributes(asked, signal) {
  const {[RULE]: rule, ...attributes} = Object.fromEntries(asked);
  if (rule === undefined) return attributes;
  let match = {};
  try {
    match = (await get(`config/${encodeURIComponent(rule)}`, signal)).rule.match ?? {};
  } catch (error) {
    if (error.name === 'AbortError') throw error;  // Not one of ours: @cl.throttle, or deleted meanwhile.
  }
  for (const [name, value] of Object.entries(match)) {
    const one = [].concat(value)[0];
    if (!(name in attributes) && typeof one !== 'object') attributes[name] = String(one).replace(/\*$/, '') || 'any';
  }
  return attributes;
}

// A line for attributes. Submitting it goes to `page` with them, so that the address can be kept and shared.
export function requestForm(page, verb, attributes) {
  const problem = h('p', {class: 'problem', id: 'request-problem', role: 'alert'});
  const input = h('input', {id: 'request', name: 'request', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false',
    placeholder: 'user_id=u_42 endpoint=/login', 'aria-describedby': 'request-problem'});
  input.value = attributesLine(attributes);
  const submit = (event) => {
    event.preventDefault();
    try {
      problem.textContent = '';
      location.hash = `#/${page}?${query(parseAttributes(input.value))}`;
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  return h('form', {class: 'ask', submit, role: 'search'}, h('label', {for: 'request'}, 'Attributes of a request'),
    h('div', {class: 'row'}, input, h('button', {}, verb)), problem);
}

const REASONS = {
  quota_exceeded: 'The limit is used up.',
  cost_exceeds_capacity: 'The cost is above the limit, so it never passes.',
  limit_zero: 'The limit is 0, so nothing passes.',
  in_flight: 'All slots are taken.',
  reserved: 'What is left is reserved for other priorities.',
  attribute_missing: 'The request lacks an attribute that the rule needs.',
  banned: 'The key is banned after too many denials.',
  deny_listed: 'A rule refuses such requests.',
  store_full: 'The table has no room for the key.',
  store_unavailable: 'The store does not answer.',
};
export const reasonText = (reason) => REASONS[reason] ?? reason;
