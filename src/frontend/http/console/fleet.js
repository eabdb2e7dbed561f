// This node, the stores and the nodes that it shares them with.
import {badge, card, count, h, notice, rate, renew, span, table} from './dom.js';
import {follow, rateNow} from './metrics.js';

export const title = 'Fleet';

const facts = (rows) => h('dl', {class: 'facts'}, rows.filter(([, value]) => value !== null)
  .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));

const figure = (sample, metric, show = count) => {
  const value = sample.sum(metric);
  return value === null ? null : show(value);
};
const milliseconds = (sample, metric) => {
  const calls = sample.sum(`${metric}_count`);
  return calls > 0 ? `${count(sample.sum(`${metric}_sum`) / calls * 1000)} ms` : null;
};
const mebibytes = (bytes) => `${count(bytes / 1048576)} MiB`;

function node(sample) {
  const began = sample.sum('process_start_time_seconds');
  return card('This node', facts([
    ['Address', location.host], ['Up for', began === null ? null : span(Date.now() - began * 1000)],
    ['Memory', figure(sample, 'process_resident_memory_bytes', mebibytes)],
    ['CPU', sample.sum('process_cpu_seconds_total') === null ? null : `${count((rateNow('process_cpu_seconds_total', {}) ?? 0) * 100)} % of a core`],
    ['Open files', figure(sample, 'process_open_fds')], ['Connections of clients', figure(sample, 'sluice_connections_open')],
    ['Requests in flight', figure(sample, 'sluice_requests_in_flight')], ['Wait for a worker thread', milliseconds(sample, 'sluice_loop_lag_seconds')],
    ['Rules', figure(sample, 'sluice_rules')], ['Steps of its clock', figure(sample, 'sluice_clock_steps_total')]]));
}

function tableCard(sample) {
  if (sample.sum('sluice_table_slots') === null) return null;
  return card('Table', facts([
    ['Slots', figure(sample, 'sluice_table_slots')], ['In use', figure(sample, 'sluice_table_live_slots')],
    ['Blocks in use', `${figure(sample, 'sluice_table_blocks_in_use')} of ${figure(sample, 'sluice_table_blocks')}`],
    ['Keys evicted', figure(sample, 'sluice_table_evictions_total')], ['Bans', figure(sample, 'sluice_table_bans_total')],
    ['Snapshots', figure(sample, 'sluice_table_snapshots_total')], ['Failed snapshots', figure(sample, 'sluice_table_snapshot_failures_total')],
    ['Newest snapshot', sample.sum('sluice_table_snapshots_total') > 0 ? `${figure(sample, 'sluice_table_snapshot_age_seconds', (s) => span(s * 1000))} old` : null]]));
}

function redis(sample) {
  const up = sample.sum('sluice_redis_connections_up');
  if (up === null) return card('Redis', h('p', {class: 'empty'}, 'This node counts in its own table and shares it with no other.'));
  const calls = (result) => rateNow('sluice_redis_calls_total', {result});
  return card('Redis', up === 0 ? notice('There is no connection.', 'bad') : null, facts([
    ['Nodes that share it', figure(sample, 'sluice_redis_nodes')], ['Connections', count(up)],
    ['Open breakers', figure(sample, 'sluice_redis_breakers_open')], ['Calls answered', `${rate(calls('answered'))} /s`],
    ['Calls without answer', `${rate(calls(['timed_out', 'refused', 'failed', 'lost']))} /s`],
    ['Time of a call', milliseconds(sample, 'sluice_store_duration_seconds')], ['Calls in flight', figure(sample, 'sluice_store_calls_in_flight')],
    ['Clock offset', figure(sample, 'sluice_clock_offset_seconds', (s) => `${(s * 1000).toFixed(1)} ms`)],
    ['Late charges refunded', figure(sample, 'sluice_redis_late_charges_total')]]));
}

function leases(sample) {
  const held = sample.sum('sluice_leases_held');
  if (held === null) return null;
  return card('Leases', facts([
    ['Held', count(held)], ['Decided with one', `${rate(rateNow('sluice_lease_decisions_total', {}))} /s`],
    ['Units borrowed', figure(sample, 'sluice_lease_borrowed_units_total')], ['Given back', figure(sample, 'sluice_lease_given_back_units_total')],
    ['Lapsed', figure(sample, 'sluice_lease_lapsed_units_total')], ['Failed borrows', figure(sample, 'sluice_lease_failed_borrows_total')],
    ['Keys with room for one', figure(sample, 'sluice_lease_keys')], ['Keys without', figure(sample, 'sluice_lease_unknown_keys_total')]]));
}

function listeners(sample) {
  const rows = [
    ...sample.all('sluice_http_requests_total').map(({labels, value}) => [labels.listener, 'HTTP', labels.status, value, Number(labels.status) >= 400 && labels.status !== '429']),
    ...sample.all('sluice_grpc_calls_total').map(({labels, value}) => [labels.listener, 'gRPC', labels.code, value, labels.code !== '0']),
    ...sample.all('sluice_resp_commands_total').map(({labels, value}) => [labels.listener, 'Redis protocol', labels.result, value, labels.result === 'error'])];
  return card('Answers by listener', table('Answers by listener', ['Listener', 'Protocol', 'Answer', {text: 'Count', number: true}],
    rows.filter(([, , , value]) => value > 0).map(([listener, protocol, answer, value, wrong]) => [listener, protocol, badge(answer, wrong ? 'warn' : 'good'), count(value)]),
    'No listener has answered yet.'));
}

export function mount(root, {signal}) {
  const cards = h('div', {class: 'cards'});
  const answers = h('div', {});
  root.append(cards, answers);
  follow((sample) => {
    if (!sample) return;
    cards.replaceChildren(...[node(sample), tableCard(sample), redis(sample), leases(sample)].filter(Boolean));
    renew(answers, listeners(sample));
  }, signal);
}
