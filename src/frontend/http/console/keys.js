// Keys: what each has left, live; who asks most; who is banned.
import {get, poll, send, serves} from './api.js';
import {attributesText, badge, card, clientText, clock, confirm, count, h, notice, percent, renew, span, table} from './dom.js';
import {bucket, share} from './chart.js';
import {keysLink, linkedAttributes, query, reasonText, requestForm, whyLink} from './request.js';

export const title = 'Keys';

// A button that does something to a key and says beside it what came of it.
function action(text, said, act, options = {}) {
  const button = h('button', {type: 'button', class: options.kind ?? 'quiet', click: async () => {
    button.disabled = true;
    try {
      said.textContent = await act();
    } catch (error) {
      said.textContent = error.message;
    }
    button.disabled = false;
  }}, text);
  return button;
}

const keysText = ({keys, complete}) => `${count(keys)} ${keys === 1 ? 'key' : 'keys'} changed${complete ? '' : ', not all'}.`;

function changes(attributes, rule, said) {
  const units = h('input', {type: 'number', min: 1, value: 1, 'aria-label': `Units to refund to ${rule}`});
  return [
    action('Reset', said, async () => (await confirm(`Reset the key of ${rule}?`, 'It has its full limit again, and a ban of it is lifted.', 'Reset'))
      ? keysText(await send('POST', 'reset', {...attributes, rule})) : ''),
    h('span', {class: 'joined'}, units, action('Refund', said, async () =>
      keysText(await send('POST', 'refund', {...attributes, rule, units: Number(units.value)})))),
  ];
}

// One limit of the answer to a status. update() shows another answer.
function limitCard(attributes, name) {
  const said = h('span', {class: 'said', role: 'status'});
  const {drawn, setLevel} = bucket('');
  const figure = h('p', {class: 'figure'});
  const state = h('p', {});
  const unban = action('Lift the ban', said, async () => `${count((await send('POST', 'unban', {...attributes, rule: name})).lifted)} lifted.`);
  const root = h('section', {class: 'card key'}, drawn, h('div', {class: 'grow'},
    h('h2', {}, h('a', {href: `#/rules/${encodeURIComponent(name)}`}, name)), figure, state,
    h('div', {class: 'row'}, ...changes(attributes, name, said), unban, said)));
  const update = (limit, at) => {
    const level = limit.limit > 0 ? limit.remaining / limit.limit : 0;
    setLevel(level, `${count(limit.remaining)} of ${count(limit.limit)} left`);
    figure.replaceChildren(count(limit.remaining), h('span', {}, ` of ${count(limit.limit)} left`));
    const full = limit.reset_at === null ? 0 : limit.reset_at * 1000 - at;
    state.replaceChildren(
      limit.allowed ? badge('passes', 'good') : badge('denied', 'bad'), limit.shadow ? badge('shadow', 'shade') : '', limit.degraded ? badge('without the store', 'warn') : '',
      ' ', limit.allowed ? '' : reasonText(limit.reason) + ' ',
      limit.retry_after_ms ? `Passes in ${span(limit.retry_after_ms)}. ` : '',
      full > 0 ? `Full again in ${span(full)}.` : limit.remaining === limit.limit ? 'Full.' : '');
    unban.hidden = limit.reason !== 'banned';
  };
  return {root, update};
}

function watchKey(root, attributes, signal) {
  const cards = new Map();
  const said = h('p', {role: 'status'});
  root.append(h('p', {}, h('a', {href: whyLink(attributes)}, 'Why is that so?')), said);
  poll(async () => {
    const {limits} = await get(`status?${query(attributes)}`, signal);
    said.textContent = limits.length === 0 ? 'No rule applies to such a request: it is allowed. A rule needs the attributes of its match and of its key.' : '';
    for (const [name, {root: old}] of cards) {
      if (!limits.some((limit) => limit.name === name)) {
        old.remove();
        cards.delete(name);
      }
    }
    for (const limit of limits) {
      if (!cards.has(limit.name)) {
        cards.set(limit.name, limitCard(attributes, limit.name));
        root.append(cards.get(limit.name).root);
      }
      cards.get(limit.name).update(limit, Date.now());
    }
  }, 2000, signal, (error) => { said.textContent = error.message; });
}

function bansCard(signal) {
  const SHOWN = 200;
  const list = h('div', {});
  const said = h('p', {role: 'status'});
  const filter = h('input', {type: 'search', id: 'ban-filter', placeholder: 'Filter by rule or key', 'aria-label': 'Filter bans', input: () => draw()});
  let bans = [];
  const draw = () => {
    const wanted = filter.value.toLowerCase();
    const found = bans.filter(({rule, attributes}) => !wanted || `${rule} ${Object.entries(attributes).flat().join(' ')}`.toLowerCase().includes(wanted));
    list.replaceChildren(table('Banned keys', ['Rule', 'Key', 'Since', {text: 'Left', number: true}, ''], found.slice(0, SHOWN).map((ban) => [
      ban.rule, h('a', {href: keysLink(ban.attributes, ban.rule)}, attributesText(ban.attributes)), clock(ban.since), span(ban.left_ms),
      action('Unban', said, async () => {
        const {lifted} = await send('POST', 'unban', {rule: ban.rule, ...ban.attributes});
        await read();
        return `${count(lifted)} lifted.`;
      })]), bans.length === 0 ? 'No key is banned.' : 'No ban is like that.'),
    found.length > SHOWN ? h('p', {class: 'hint'}, `${SHOWN} of ${count(found.length)} are shown: filter.`) : '');
  };
  const read = async () => {
    ({bans} = await get('bans', signal));
    filter.hidden = bans.length < 10;
    if (!list.contains(document.activeElement) || bans.length === 0) draw();
  };
  poll(read, 10000, signal, (error) => { said.textContent = error.message; });
  return card('Banned keys', filter, said, list);
}

function topCard(signal) {
  const list = h('div', {});
  const wish = {kind: 'denied', window: 'minute'};
  const choose = (name, label, words) => h('label', {}, label, h('select', {change: (event) => {
    wish[name] = event.target.value;
    read().catch((error) => list.replaceChildren(notice(error.message, 'bad')));
  }}, words.map(([value, text]) => h('option', {value, selected: wish[name] === value}, text))));
  const read = async () => {
    const {rules} = await get(`top?${query({...wish, n: 10})}`, signal);
    const rows = rules.flatMap((rule) => rule.keys.map((key) => [rule.rule,
      key.attributes ? h('a', {href: keysLink(key.attributes, rule.rule)}, attributesText(key.attributes)) : clientText(key.key), count(key.count),
      h('span', {class: 'with-share'}, share(key.share, 1, wish.kind === 'allowed' ? 'allowed' : 'denied'), percent(key.share, 1)),
      count(key.allowed), count(key.denied), count(key.banned)]));
    renew(list, table('Keys that are decided most', ['Rule', 'Key', {text: 'Count', number: true}, 'Share of the rule',
      {text: 'Allowed', number: true}, {text: 'Denied', number: true}, {text: 'By a ban', number: true}], rows, 'None in this time.'));
  };
  poll(read, 5000, signal, (error) => list.replaceChildren(notice(error.message, 'bad')));
  return card('Top keys', h('div', {class: 'row'}, choose('kind', 'Decisions', [['denied', 'denied'], ['allowed', 'allowed'], ['banned', 'banned'], ['shadow', 'would be denied'], ['all', 'all']]),
    choose('window', 'Of', [['minute', 'the last minute'], ['start', 'all since the start']])), list);
}

export async function mount(root, {signal, query: asked}) {
  const attributes = await linkedAttributes(asked, signal);
  root.append(requestForm('keys', 'Look', attributes));
  if (asked.size > 0) {
    const place = h('div', {class: 'keys'});
    root.append(place);
    watchKey(place, attributes, signal);
    return;
  }
  if (await serves('top')) root.append(topCard(signal));
  root.append(bansCard(signal));
}

