// What the daemon does now: by second, by rule, and whether anything is wrong with it.
import {get, poll, serves} from './api.js';
import {badge, card, count, h, modeBadge, notice, percent, rate, renew, span, table} from './dom.js';
import {bars, share, sparkline} from './chart.js';
import {follow, rateNow, rates} from './metrics.js';

export const title = 'Overview';

const DECISIONS = 'sluice_decisions_total';
const DEGRADED = ['degraded_allowed', 'degraded_denied', 'degraded_local'];
const TILES = [
  {name: 'Allowed', kind: 'allowed', metric: 'sluice_requests_total', labels: {result: ['allowed', 'no_rule']}, hint: 'requests'},
  {name: 'Denied', kind: 'denied', metric: 'sluice_requests_total', labels: {result: 'denied'}, hint: 'requests'},
  {name: 'Would deny', kind: 'shadow', metric: DECISIONS, labels: {outcome: 'shadow_denied'}, hint: 'by rules in shadow'},
  {name: 'Shed', kind: 'shed', metric: 'sluice_shed_total', labels: {}, hint: 'refused for load'},
];

function tile({name, kind, metric, labels, hint}) {
  const now = rateNow(metric, labels);
  return h('section', {class: `tile ${kind}`}, h('h2', {}, name),
    h('p', {class: 'figure'}, rate(now), h('span', {}, ' /s')), h('p', {class: 'hint'}, hint),
    sparkline(rates(metric, labels), kind, `${name} per second in the last minutes, now ${rate(now)}`));
}

export const modeOf = (sample, rule) =>
  sample.all('sluice_rule_mode').find(({labels, value}) => labels.rule === rule && value === 1)?.labels.mode;

function ruleRows(sample) {
  const rules = new Set(sample.all(DECISIONS).map(({labels}) => labels.rule));
  const rows = [...rules].map((rule) => {
    const of = (outcome) => rateNow(DECISIONS, {rule, outcome});
    const total = (outcome) => sample.sum(DECISIONS, {rule, outcome}) ?? 0;
    const denied = ['denied', 'shadow_denied', 'degraded_denied'];
    const judged = total([...denied, 'allowed', 'shadow_allowed', 'degraded_allowed', 'degraded_local']);
    return {rule, judged, denied: total(denied), cells: () => [
      rule.startsWith('@') ? rule : h('a', {href: `#/rules/${encodeURIComponent(rule)}`}, rule),
      modeBadge(modeOf(sample, rule) ?? 'enforce'),
      rate(of(['allowed', 'shadow_allowed', 'degraded_allowed', 'degraded_local'])), rate(of(denied)),
      h('span', {class: 'with-share'}, share(total(denied), judged, modeOf(sample, rule) === 'shadow' ? 'shadow' : 'denied'), percent(total(denied), judged)),
      count(judged), total(DEGRADED) > 0 ? rate(of(DEGRADED)) : '–', count(total('skipped'))]};
  }).filter(({rule, judged}) => !rule.startsWith('@') || judged > 0);
  rows.sort((a, b) => b.denied - a.denied || b.judged - a.judged);
  return rows.slice(0, 100).map(({cells}) => cells());
}

// [state, text, detail] of everything that can be wrong.
function health(sample) {
  const found = [];
  const say = (kind, name, text) => found.push({kind, name, text});
  const up = sample.sum('sluice_redis_connections_up');
  if (up !== null) {
    const open = sample.sum('sluice_redis_breakers_open');
    say(up === 0 || open > 0 ? 'bad' : 'good', 'Redis', up === 0 ? 'No connection: rules follow their on_store_error.'
      : open > 0 ? `${open} threads wait before they ask again.` : `${count(up)} connections are open.`);
  }
  const slots = sample.sum('sluice_table_slots');
  if (slots !== null) {
    const live = sample.sum('sluice_table_live_slots');
    const evicted = rateNow('sluice_table_evictions_total', {});
    say(evicted > 0 ? 'bad' : live > 0.8 * slots ? 'warn' : 'good', 'Table',
      `${count(live)} of ${count(slots)} slots are in use${evicted > 0 ? `; ${rate(evicted)} keys a second lose their counters` : ''}.`);
  }
  const failed = sample.sum('sluice_table_snapshot_failures_total');
  const age = sample.sum('sluice_table_snapshot_age_seconds');
  if (failed !== null && sample.sum('sluice_table_snapshots_total') + failed > 0) {
    say(failed > 0 ? 'warn' : 'good', 'Snapshots', failed > 0 ? `${count(failed)} failed.` : `The newest is ${span(age * 1000)} old.`);
  }
  const open = rateNow(DECISIONS, {outcome: 'degraded_allowed'});
  if (open > 0) say('bad', 'Fail open', `${rate(open)} requests a second pass without the store.`);
  const reloads = sample.sum('sluice_rule_reloads_total', {result: 'failed'});
  say(reloads > 0 ? 'warn' : 'good', 'Rules', reloads > 0 ? `${count(sample.sum('sluice_rules'))} are active. Since the start, ${count(reloads)} ${reloads === 1 ? 'change was' : 'changes were'} refused.`
    : `${count(sample.sum('sluice_rules'))} are active.`);
  const etcd = sample.sum('sluice_etcd_up');
  if (etcd !== null) say(etcd ? 'good' : 'bad', 'etcd', etcd ? 'This node follows its rules.' : 'Not followed: changes do not arrive.');
  const offset = sample.sum('sluice_clock_offset_seconds');
  if (offset !== null) say(Math.abs(offset) > 1 ? 'bad' : 'good', 'Clock', `${(offset * 1000).toFixed(1)} ms from Redis’s.`);
  const took = sample.sum('sluice_decide_duration_seconds_sum');
  const decided = sample.sum('sluice_decide_duration_seconds_count');
  if (decided > 0) say('good', 'Deciding', `${took / decided < 1e-3 ? `${count(Math.round(took / decided * 1e7) / 10)} µs` : `${count(took / decided * 1e3)} ms`} each on average since the start.`);
  return found;
}

const STATES = {good: 'good', warn: 'look', bad: 'wrong'};
export const healthList = (found) => h('dl', {class: 'health'}, found.map(({kind, name, text}) =>
  h('div', {}, h('dt', {}, badge(STATES[kind], kind), name), h('dd', {}, text))));

const CAUSES = {'store': 'the store did not answer', 'table-full': 'the table was full', 'kill-switch': 'the kill switch was on'};

function lastHour(history) {
  const sum = (outcomes) => {
    const total = Array(history.minutes).fill(0);
    for (const {metric, labels, grew} of history.series) {
      if (metric === DECISIONS && outcomes.includes(labels.outcome)) grew.forEach((value, i) => { total[i] += value; });
    }
    return total;
  };
  const allowed = sum(['allowed', 'degraded_allowed', 'degraded_local']);
  const denied = sum(['denied', 'degraded_denied']);
  const add = (values) => values.reduce((a, b) => a + b, 0);
  const time = (at) => new Date(at * 1000).toLocaleTimeString();
  return [h('h2', {}, 'The last hour'),
    h('p', {class: 'legend'}, h('span', {class: 'allowed'}, `${count(add(allowed))} allowed`), h('span', {class: 'denied'}, `${count(add(denied))} denied`)),
    bars([{kind: 'allowed', values: allowed}, {kind: 'denied', values: denied}],
      `Decisions by minute: ${count(add(allowed))} allowed, ${count(add(denied))} denied`),
    h('p', {class: 'hint axis'}, h('span', {}, '60 minutes ago'), h('span', {}, `now, ${count(allowed.at(-1) + denied.at(-1))} in this minute`)),
    ...history.fail_open.map(({cause, begin, end}) => notice(end === null
      ? `Since ${time(begin)} requests pass without a limit: ${CAUSES[cause] ?? cause}.`
      : `From ${time(begin)} to ${time(end)} requests passed without a limit: ${CAUSES[cause] ?? cause}.`, end === null ? 'bad' : 'warn'))];
}

export async function mount(root, {signal}) {
  const tiles = h('div', {class: 'tiles'});
  const byRule = h('div', {});
  const state = h('div', {});
  const hour = h('section', {class: 'card', hidden: true});
  root.append(tiles, hour, h('div', {class: 'columns'}, card('By rule', byRule), card('Health', state)));
  follow((sample) => {
    if (!sample) return;
    tiles.replaceChildren(...TILES.map(tile));
    renew(byRule, table('Decisions by rule', ['Rule', 'Mode', {text: 'Allowed /s', number: true}, {text: 'Denied /s', number: true},
      'Share denied', {text: 'Decided', number: true}, {text: 'Degraded /s', number: true}, {text: 'Skipped', number: true}], ruleRows(sample), 'No rule is active: every request is allowed.'));
    state.replaceChildren(healthList(health(sample)));
  }, signal);
  if (await serves('history')) {
    await poll(async () => {
      hour.replaceChildren(...lastHour(await get('history', signal)));
      hour.hidden = false;
    }, 15000, signal);
  }
}
