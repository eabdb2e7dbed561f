// Why a request is allowed or denied: what each rule says of it, and what a 429 that somebody got means.
import {get, poll, serves} from './api.js';
import {attributesText, badge, card, clientText, clock, count, h, modeBadge, notice, renew, sentence, span, table} from './dom.js';
import {keysLink, linkedAttributes, query, reasonText, requestForm, whyLink} from './request.js';

export const title = 'Why';

// What the pages show of a rule, from /explain with /status, or from /why, which knows more.
async function ask(attributes, signal) {
  if (await serves('why')) return get(`why?${query(attributes)}`, signal);
  const [explained, {limits, allowed}] = await Promise.all([get(`explain?${query(attributes)}`, signal), get(`status?${query(attributes)}`, signal)]);
  const rules = explained.rules.map((rule) => ({...rule, state: limits.find(({name}) => name === rule.rule_id)}));
  const governing = rules.find(({state}) => state && !state.allowed && !state.shadow);
  return {...explained, rules, verdict: {allowed, kill_switch: explained.kill_switch, rule_id: governing?.rule_id ?? null,
    reason: governing?.state.reason, retry_after_ms: governing?.state.retry_after_ms}};
}

function stateText(rule) {
  const {state, ban, remembered_denial: remembered, lease} = rule;
  if (!state) return '';
  const parts = [h('p', {}, badge(state.allowed ? 'passes' : 'denied', state.allowed ? 'good' : 'bad'), ' ',
    state.reason ? reasonText(state.reason) + ' ' : '', `${count(state.remaining)} of ${count(state.limit)} left. `,
    state.retry_after_ms ? `Passes in ${span(state.retry_after_ms)}. ` : '', state.degraded ? 'Decided without the store.' : '')];
  if (ban?.left_ms) parts.push(h('p', {}, badge('banned', 'bad'), ` for ${span(ban.left_ms)} more.`));
  if (remembered) parts.push(h('p', {}, 'An earlier denial counts while the store is away.'));
  if (lease) parts.push(h('p', {}, `This node has borrowed ${count(lease.held)} units that are not spent: by these, checks pass without Redis.`));
  return parts;
}

function verdictCard({verdict, rules}) {
  const passes = verdict.allowed;
  return h('section', {class: `card verdict ${passes ? 'good' : 'bad'}`}, h('h2', {}, passes ? 'It passes' : 'It is denied'),
    h('p', {}, verdict.kill_switch ? 'The kill switch is on: no rule is active.'
      : verdict.request_error ? verdict.request_error
      : passes ? (rules.some(({applies}) => applies) ? 'Every rule that applies has room.' : 'No rule applies to it.')
      : ['By ', h('strong', {}, verdict.rule_id), `. ${reasonText(verdict.reason)} `,
        verdict.retry_after_ms ? `It would pass in ${span(verdict.retry_after_ms)}.` : 'Waiting does not help, or the time is unknown.']));
}

async function explain(root, attributes, signal) {
  const answer = await ask(attributes, signal);
  const part = (applies) => answer.rules.filter((rule) => rule.applies === applies);
  const rule = (id) => h('a', {href: `#/rules/${encodeURIComponent(id)}`}, id);
  root.append(verdictCard(answer),
    card('Rules that apply', part(true).length === 0 ? h('p', {class: 'empty'}, 'None.') : part(true).map((one) => h('article', {class: 'reason'},
      h('h3', {}, rule(one.rule_id), modeBadge(one.mode), one.mode === one.configured_mode ? '' : h('span', {class: 'hint'}, `set at run time; the rule says ${one.configured_mode}`)),
      h('p', {}, one.numbers ?? '', one.numbers ? ' – ' : '', sentence(one.why), '.'),
      one.key ? h('p', {}, 'Key ', clientText(one.key), ', cost ', count(one.cost)) : null, stateText(one)))),
    card('Rules that do not', table('Rules that do not apply', ['Rule', 'Mode', 'Reason'], part(false).map((one) => [rule(one.rule_id), modeBadge(one.mode), sentence(one.why)]), 'None: all apply.')),
    h('p', {}, h('a', {href: keysLink(attributes)}, 'Look at its keys')));
}

const HEADER = /^[<\s]*([A-Za-z][A-Za-z0-9-]*):\s*(.*?)\s*$/;

// The header fields and the JSON body of a pasted response; either may be missing.
export function readResponse(text) {
  const headers = {};
  for (const line of text.split('\n')) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name) headers[name.toLowerCase()] = value;
  }
  let body = null;
  const begin = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (begin >= 0 && end > begin) {
    try {
      body = JSON.parse(text.slice(begin, end + 1));
    } catch {
      body = null;
    }
  }
  return {headers, body};
}

async function pasted(root, text, signal) {
  const {headers, body} = readResponse(text);
  const limits = Array.isArray(body?.limits) ? body.limits : [];
  const id = headers['x-request-id'];
  const facts = [];
  for (const limit of limits.filter((one) => one && one.allowed === false)) {
    facts.push(h('p', {}, badge(limit.shadow ? 'shadow' : 'denied', limit.shadow ? 'shade' : 'bad'), ' ', h('strong', {}, clientText(limit.name)), ': ',
      reasonText(limit.reason), Number.isFinite(limit.retry_after_ms) ? ` It passes after ${span(limit.retry_after_ms)}.` : ''));
  }
  const policy = headers.ratelimit ?? headers['x-ratelimit-resource'];
  if (facts.length === 0 && policy) facts.push(h('p', {}, 'Limits named in its headers: ', clientText(policy, 200)));
  if (headers['retry-after']) facts.push(h('p', {}, 'Retry-After: ', clientText(headers['retry-after']), ' seconds.'));
  const found = id && await serves('decisions') ? (await get(`decisions?${query({request_id: id, n: 1})}`, signal)).decisions[0] : null;
  if (found) {
    facts.push(h('p', {}, 'This daemon decided it at ', clock(Date.parse(found.time) / 1000), ':'),
      ...found.decisions.map((one) => h('p', {}, badge(one.outcome, /denied/.test(one.outcome) ? 'bad' : 'good'), ' ', h('strong', {}, one.rule), ' ', attributesText(one.key ?? {}), ' ',
        one.key ? h('a', {href: whyLink(one.key, one.rule)}, 'Why now?') : '')));
  } else if (id) {
    facts.push(h('p', {class: 'hint'}, 'Request ', clientText(id), ' is not among the last decisions that this node has kept.'));
  }
  root.replaceChildren(...facts.length > 0 ? facts : [notice('Neither header fields nor a body of Sluice are in it.', 'warn')]);
}

function lastDenials(root, signal) {
  const list = h('div', {});
  root.append(card('Last denials', list));
  poll(async () => {
    const {decisions} = await get('decisions?outcome=denied&n=50', signal);
    renew(list, table('Last denials', ['Time', 'Rule', 'Key', 'Reason', ''], decisions.map((one) => {
      const by = one.decisions.find(({outcome}) => /^(denied|degraded_denied)$/.test(outcome)) ?? one.decisions[0];
      const key = by?.key ?? {};
      return [clock(Date.parse(one.time) / 1000), by?.rule ?? '', h('span', {}, attributesText(key)), by?.reason ?? '',
        Object.keys(key).length > 0 ? h('a', {href: whyLink(key, by.rule)}, 'Why now?') : ''];
    }), 'No request was denied lately.'));
  }, 5000, signal, (error) => list.replaceChildren(notice(error.message, 'bad')));
}

export async function mount(root, {signal, query: asked}) {
  const attributes = await linkedAttributes(asked, signal);
  root.append(requestForm('why', 'Explain', attributes));
  if (asked.size > 0) return explain(root, attributes, signal);
  const area = h('textarea', {id: 'response', rows: 7, spellcheck: 'false', placeholder: 'HTTP/1.1 429 Too Many Requests\nX-Request-Id: …\n\n{"allowed": false, "limits": […]}'});
  const result = h('div', {role: 'status'});
  root.append(card('Or paste a response', h('label', {for: 'response'}, 'Header fields, body, or both'), area,
    h('div', {class: 'row'}, h('button', {type: 'button', click: () => pasted(result, area.value, signal).catch((error) => result.replaceChildren(notice(error.message, 'bad')))}, 'Read it')), result));
  if (await serves('decisions')) lastDenials(root, signal);
}
