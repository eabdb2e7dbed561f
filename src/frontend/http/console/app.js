// The frame around the pages: which one the address names, the state of the daemon at the top.
import {forgetToken, hasToken} from './api.js';
import {h, notice} from './dom.js';
import {follow, start} from './metrics.js';
import * as overview from './overview.js';
import * as keys from './keys.js';
import * as why from './why.js';
import * as rules from './rules.js';
import * as fleet from './fleet.js';
import * as lab from './lab_page.js';

const PAGES = {overview, keys, why, rules, lab, fleet};
const main = document.getElementById('main');
const links = new Map();
let open = null;

// #/rules/api_rate?x=y -> {name: 'rules', rest: 'api_rate', query}.
function place() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/');
  return {name: PAGES[name] ? name : 'overview', rest: decodeURIComponent(rest.join('/')), query: new URLSearchParams(query)};
}

function show(event) {
  if (location.hash === '#main') return;  // The link that skips the pages' names.
  open?.abort();
  open = new AbortController();
  const {name, rest, query} = place();
  const page = PAGES[name];
  for (const [each, link] of links) {
    if (each === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${page.title} – Sluice`;
  main.replaceChildren(h('h1', {}, page.title));
  if (event) main.focus();
  const {signal} = open;
  Promise.resolve(page.mount(main, {signal, rest, query})).catch((error) => {
    if (!signal.aborted) main.append(notice(error.message, 'bad'));
  });
}

for (const [name, page] of Object.entries(PAGES)) {
  const link = h('a', {href: `#/${name}`}, page.title);
  links.set(name, link);
  document.getElementById('pages').append(link);
}

follow((sample, problem) => {
  const on = sample?.sum('sluice_kill_switch') > 0;
  const link = document.getElementById('link');
  const [text, kind] = problem ? [problem.message, 'bad'] : on ? ['Kill switch on: nothing is limited', 'bad'] : ['Connected', 'good'];
  link.className = `link ${kind}`;
  if (link.firstChild?.textContent !== text) {
    link.replaceChildren(h('span', {}, text), hasToken() ? h('button', {class: 'plain', click: () => {
      forgetToken();
      location.reload();
    }}, 'Forget token') : '');
  }
});

addEventListener('hashchange', show);
start(new AbortController().signal);
show();
