// Rules in force: modes, the kill switch, what shadow rules would deny.
import {get, poll, send} from './api.js';
import {card, clientText, clock, confirm, count, h, modeBadge, notice, percent, renew, sentence, table} from './dom.js';
import {mountEditor} from './editor.js';

export const title = 'Rules';
const MODES = ['enforce', 'shadow', 'off'];

const MEANING = {
  enforce: 'It denies requests above its limit from now on.',
  shadow: 'It counts, and denies nothing.',
  off: 'It neither counts nor denies.',
};

// A menu that sets a rule's mode, and shows again what is in force if that fails.
function modeMenu(rule, said, read) {
  const choose = async (event) => {
    const menu = event.target;
    const wanted = menu.value;
    menu.value = rule.mode;
    if (!await confirm(`Set ${rule.rule_id} to ${wanted}?`, MEANING[wanted], `Set to ${wanted}`)) return;
    await act(said, read, wanted === rule.configured_mode
      ? () => send('DELETE', `mode/${encodeURIComponent(rule.rule_id)}`)
      : () => send('PUT', `mode/${encodeURIComponent(rule.rule_id)}`, {mode: wanted}));
  };
  return h('select', {class: `mode ${rule.mode}`, 'aria-label': `Mode of ${rule.rule_id}`, change: choose},
    MODES.map((mode) => h('option', {value: mode, selected: mode === rule.mode}, mode + (mode === rule.configured_mode ? '' : ' *'))));
}

async function act(said, read, change) {
  try {
    await change();
    said.replaceChildren();
    document.activeElement?.blur();
    await read();
  } catch (error) {
    said.replaceChildren(notice(error.message, 'bad'));
  }
}

function killSwitch(on, said, read) {
  const change = async () => {
    const sure = await confirm(on ? 'Switch the rules on again?' : 'Switch every rule off?',
      on ? 'Every rule has its mode again.' : 'Every request is allowed and nothing is counted, until somebody turns this off.',
      on ? 'Limit again' : 'Turn the kill switch on');
    if (sure) await act(said, read, () => send('PUT', 'kill-switch', {on: !on}));
  };
  return h('section', {class: `card switch ${on ? 'bad' : ''}`}, h('div', {class: 'grow'}, h('h2', {}, 'Kill switch'),
    h('p', {}, on ? 'On: every request is allowed, and nothing is counted.' : 'Off: the rules are active in their modes.')),
  h('button', {type: 'button', class: on ? '' : 'danger', click: change}, on ? 'Limit again' : 'Turn on'));
}

function rulesTable(rules, said, read) {
  return table('Rules in force', ['Rule', 'Mode', 'Algorithm', 'Counted for', 'From'], rules.map((rule) => [
    h('a', {href: `#/rules/${encodeURIComponent(rule.rule_id)}`}, rule.rule_id), modeMenu(rule, said, read),
    rule.algorithm ?? `always ${rule.action}`, rule.key_pattern ? h('code', {}, rule.key_pattern) : '–', sentence(rule.source)]),
  'There is no rule: every request is allowed.');
}

function shadowPart(report, said, read) {
  return report.rules.map((rule) => {
    const judged = rule.would_allow + rule.would_deny;
    return h('article', {class: 'reason'},
      h('h3', {}, rule.rule_id, modeBadge(rule.mode), rule.mode === 'shadow' ? h('button', {type: 'button', click: async () => {
        if (await confirm(`Enforce ${rule.rule_id}?`, `It would have denied ${count(rule.newly_denied)} requests that were allowed since the start.`, 'Enforce')) {
          await act(said, read, () => send('PUT', `mode/${encodeURIComponent(rule.rule_id)}`, {mode: 'enforce'}));
        }
      }}, 'Enforce') : ''),
      h('p', {}, `Would deny ${count(rule.would_deny)} of ${count(judged)} requests (${percent(rule.would_deny, judged)})${rule.would_deny > 0 ? `; other rules deny ${count(rule.would_deny - rule.newly_denied)} of them already` : ''}.`),
      rule.keys.length === 0 ? '' : h('details', {}, h('summary', {}, 'Keys it would deny most'),
        table(`Keys that ${rule.rule_id} would deny`, ['Key', {text: 'Would deny', number: true}, {text: 'Of them new', number: true}],
          rule.keys.slice(0, 50).map((key) => [clientText(key.key), count(key.would_deny), count(key.newly_denied)]))));
  });
}

export async function mount(root, {signal, rest}) {
  if (rest !== '') return mountEditor(root, rest, signal);
  const said = h('div', {role: 'status'});
  const power = h('div', {});
  const list = h('div', {});
  const shadow = h('div', {});
  const since = h('span', {class: 'hint'});
  root.append(said, power,
    h('section', {class: 'card'}, h('div', {class: 'row spread'}, h('h2', {}, 'In force'), h('a', {class: 'button quiet', href: '#/rules/+'}, 'New rule')), list,
      h('p', {class: 'hint'}, '* is not the mode that the rule itself says. A change of mode holds on this node until it is taken back.')),
    h('section', {class: 'card'}, h('div', {class: 'row spread'}, h('h2', {}, 'What shadow rules would do'), since), shadow));
  const read = async () => {
    const [{kill_switch: on, rules}, report] = await Promise.all([get('config', signal), get('shadow-report', signal)]);
    renew(power, killSwitch(on, said, read));
    renew(list, rulesTable(rules, said, read));
    since.textContent = `since the daemon’s start, ${new Date(report.since * 1000).toLocaleDateString()} ${clock(report.since)}`;
    if (!shadow.querySelector('details[open]')) renew(shadow, report.rules.length === 0 ? h('p', {class: 'empty'}, 'No rule is in shadow mode.') : shadowPart(report, said, read));
  };
  return poll(read, 5000, signal, (error) => said.replaceChildren(notice(error.message, 'bad')));
}
