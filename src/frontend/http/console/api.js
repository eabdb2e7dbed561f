// Calls of the admin API, with the token that the operator typed. It stays in this tab.
import {h} from './dom.js';

const KEY = 'sluice-token';
const BASE = new URL('../', document.baseURI);
let asking = null;

export class ApiError extends Error {
  // `status` 0: the daemon did not answer.
  constructor(status, problem, headers = new Headers()) {
    super(problem.detail ?? `The daemon answered ${status}.`);
    Object.assign(this, {status, problem, headers});
  }
}

function askForToken(wrong) {
  asking ??= new Promise((resolve) => {
    const input = h('input', {id: 'token', type: 'password', autocomplete: 'off', spellcheck: 'false', required: true});
    const dialog = h('dialog', {class: 'token', 'aria-labelledby': 'token-title', cancel: (event) => event.preventDefault()},
      h('form', {submit: (event) => {
        event.preventDefault();
        sessionStorage.setItem(KEY, input.value.trim());
        dialog.close();
      }},
      h('h2', {id: 'token-title'}, 'This listener asks for a token'),
      wrong ? h('p', {class: 'notice bad', role: 'alert'}, 'The daemon refused this token.') : null,
      h('label', {for: 'token'}, 'Token'), input,
      h('p', {class: 'hint'}, 'The one of this listener’s auth in the configuration. It is kept until you close this tab.'),
      h('div', {class: 'row end'}, h('button', {}, 'Open the console'))));
    dialog.addEventListener('close', () => {
      dialog.remove();
      asking = null;
      resolve();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
}

export function forgetToken() {
  sessionStorage.removeItem(KEY);
}
export const hasToken = () => sessionStorage.getItem(KEY) !== null;

// The answer's {data, headers}. Throws an ApiError for 400 and above; a 401 asks for the token and tries again.
export async function call(method, path, {body, headers = {}, signal} = {}) {
  for (;;) {
    const token = sessionStorage.getItem(KEY);
    let answer;
    let text;
    try {
      answer = await fetch(new URL(path, BASE), {method, body, signal, cache: 'no-store', credentials: 'omit', headers: {
        ...(body === undefined ? {} : {'Content-Type': 'application/json'}),
        ...(token === null ? {} : {Authorization: `Bearer ${token}`}), ...headers}});
      text = await answer.text();
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw new ApiError(0, {detail: 'The daemon does not answer.'});
    }
    if (answer.status === 401) {
      if (token === sessionStorage.getItem(KEY)) await askForToken(token !== null);
      signal?.throwIfAborted();
      continue;
    }
    const isJson = /json/.test(answer.headers.get('Content-Type') ?? '');
    const data = isJson ? JSON.parse(text) : text;
    if (!answer.ok) throw new ApiError(answer.status, isJson ? data : {}, answer.headers);
    return {data, headers: answer.headers};
  }
}

const V1 = 'v1/ratelimit/';
export const get = async (path, signal) => (await call('GET', V1 + path, {signal})).data;
export const send = async (method, path, body) =>
  (await call(method, V1 + path, {body: body === undefined ? undefined : JSON.stringify(body)})).data;

// Which paths this listener serves: what it lacks has no place on the pages.
let served = null;
export async function serves(path) {
  served ??= call('GET', 'openapi.json').then(({data}) => new Set(Object.keys(data.paths)));
  try {
    return (await served).has('/' + V1 + path);
  } catch {
    served = null;
    return false;
  }
}

// Calls `ask` now, and again `ms` after each end, until `signal` aborts. Waits while the tab is hidden. An error goes
// to `failed`, and does not end it.
export async function poll(ask, ms, signal, failed = () => {}) {
  const shown = () => new Promise((resolve) => {
    document.addEventListener('visibilitychange', resolve, {once: true});
    signal.addEventListener('abort', resolve, {once: true});
  });
  while (!signal.aborted) {
    if (document.hidden) {
      await shown();
      continue;
    }
    try {
      await ask();
    } catch (error) {
      if (error.name !== 'AbortError') failed(error);
    }
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
