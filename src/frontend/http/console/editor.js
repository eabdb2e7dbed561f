// One rule as JSON: what is in force, a draft of it, what differs, and what the daemon says of the draft.
import {ApiError, call} from './api.js';
import {card, confirm, h, notice} from './dom.js';

const NEW_RULE = {key_pattern: 'user:{user_id}', algorithm: 'token_bucket', rate: 100, burst: 150, window: '1m', mode: 'shadow'};
const pretty = (rule) => JSON.stringify(rule, null, 2);

// The lines of both texts in order: [' ' in both, '-' only before, '+' only after, line].
export function difference(before, after) {
  const a = before.split('\n');
  const b = after.split('\n');
  const longest = Array.from({length: a.length + 1}, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([' ', a[i++]]);
      ++j;
    } else if (i < a.length && (j === b.length || longest[i + 1][j] >= longest[i][j + 1])) {
      lines.push(['-', a[i++]]);
    } else {
      lines.push(['+', b[j++]]);
    }
  }
  return lines;
}

const CLASSES = {' ': 'same', '-': 'gone', '+': 'added'};
const differenceView = (before, after) => before === after ? h('p', {class: 'empty'}, 'The draft is what is in force.')
  : h('pre', {class: 'diff', tabindex: '0', 'aria-label': 'Differences'}, difference(before, after).map(([kind, line]) => h('span', {class: CLASSES[kind]}, `${kind} ${line}\n`)));

// A text area with the numbers of its lines.
function codeArea(changed) {
  const numbers = h('pre', {class: 'numbers', 'aria-hidden': 'true'});
  const area = h('textarea', {id: 'draft', spellcheck: 'false', autocomplete: 'off', wrap: 'off', rows: 18,
    input: () => { number(); changed(); }, scroll: () => { numbers.scrollTop = area.scrollTop; }});
  const number = () => {
    const length = area.value.split('\n').length;
    numbers.textContent = Array.from({length}, (_, i) => i + 1).join('\n');
  };
  const goTo = (line, column) => {
    const at = area.value.split('\n').slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    area.focus();
    area.setSelectionRange(at, at + 1);
  };
  const set = (text) => { area.value = text; number(); };
  return {root: h('div', {class: 'code'}, numbers, area), area, set, goTo};
}

export async function mountEditor(root, id, signal) {
  const isNew = id === '+';
  let inForce = '';
  let tag = null;
  const said = h('div', {role: 'status'});
  const changes = h('div', {});
  const origin = h('p', {class: 'hint'});
  const deletion = h('button', {type: 'button', class: 'danger', hidden: true, click: () => remove()}, 'Delete');
  const name = h('input', {id: 'rule-id', autocomplete: 'off', spellcheck: 'false', placeholder: 'api_rate'});
  const code = codeArea(() => changes.replaceChildren(differenceView(inForce, code.area.value)));
  const path = () => `v1/ratelimit/config/${encodeURIComponent(isNew ? name.value.trim() : id)}`;

  const show = ({rule, source, scope}, etag) => {
    inForce = pretty(rule);
    tag = etag;
    const isFile = source !== 'api' && source !== 'etcd';
    origin.textContent = `From ${source}, ${scope === 'fleet' ? 'on every node' : 'on this node'}.`
      + (isFile ? ' What you save takes its place, until it is deleted here.' : '');
    deletion.hidden = isFile;
  };
  const read = async () => {
    const {data, headers} = await call('GET', path(), {signal});
    show(data, headers.get('ETag'));
  };
  const place = ({line, column, source, message}) => h('li', {}, line
    ? h('button', {type: 'button', class: 'plain', click: () => code.goTo(line, column)}, `line ${line}, column ${column}`) : '',
  line ? ': ' : '', source ? `${source}: ` : '', message);
  const refuse = async (error) => {
    if (error instanceof ApiError && error.status === 412) {
      if (!isNew) await read();
      changes.replaceChildren(differenceView(inForce, code.area.value));
      said.replaceChildren(notice(isNew ? 'There is a rule of this name already.'
        : 'Somebody has changed this rule meanwhile. The differences are now against what is in force: look, then save again.', 'warn'));
      return;
    }
    const errors = error.problem?.errors ?? [];
    const position = error.problem?.position;
    said.replaceChildren(h('div', {class: 'notice bad', role: 'alert'}, h('p', {}, 'Nothing has changed.'),
      h('ul', {}, errors.length > 0 ? errors.map(place) : place({message: error.message, ...position}))));
  };
  const save = async () => {
    try {
      const {data, headers} = await call('PUT', path(), {body: code.area.value, headers: isNew ? {'If-None-Match': '*'} : {'If-Match': tag}, signal});
      if (isNew) {
        location.hash = `#/rules/${encodeURIComponent(data.rule_id)}`;
        return;
      }
      show(data, headers.get('ETag'));
      code.set(inForce);
      changes.replaceChildren(differenceView(inForce, inForce));
      said.replaceChildren(notice('Saved. It decides every new request.', 'good'));
    } catch (error) {
      await refuse(error);
    }
  };
  const remove = async () => {
    if (!await confirm(`Delete ${id}?`, 'If a file has a rule of this name, that one becomes active again; otherwise it limits nothing any more.', 'Delete')) return;
    try {
      await call('DELETE', path(), {headers: {'If-Match': tag}, signal});
      location.hash = '#/rules';
    } catch (error) {
      await refuse(error);
    }
  };

  root.replaceChildren(h('p', {}, h('a', {href: '#/rules'}, '‹ All rules')), h('h1', {}, isNew ? 'New rule' : id));
  if (isNew) {
    code.set(pretty(NEW_RULE));
    origin.textContent = 'In shadow mode a rule counts and denies nothing: see what it would do, then enforce it.';
  } else {
    await read();
    code.set(inForce);
  }
  changes.replaceChildren(differenceView(inForce, code.area.value));
  root.append(h('div', {class: 'columns even'},
    card('Draft', isNew ? [h('label', {for: 'rule-id'}, 'Name'), name] : null, origin, h('label', {for: 'draft'}, 'The rule, as JSON'), code.root,
      h('div', {class: 'row'}, h('button', {type: 'button', click: save}, 'Save'),
        isNew ? null : h('button', {type: 'button', class: 'quiet', click: () => { code.set(inForce); changes.replaceChildren(differenceView(inForce, inForce)); said.replaceChildren(); }}, 'Discard'),
        deletion), said),
    card('Against what is in force', changes)));
}
