// The daemon's counters: one request for /metrics every two seconds for all pages, and the rates of the last minutes.
import {call, poll} from './api.js';

export const INTERVAL = 2000;
const KEPT = 150;  // Samples: five minutes.
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const UNESCAPED = {n: '\n'};

// The samples of one scrape. Buckets of histograms are left out.
export class Sample {
  constructor(text, at) {
    this.at = at;
    this.families = new Map();
    for (const line of text.split('\n')) {
      if (line.startsWith('#') || line.includes('_bucket{')) continue;
      const [, name, labels, value] = LINE.exec(line) ?? [];
      if (name === undefined) continue;
      if (!this.families.has(name)) this.families.set(name, []);
      this.families.get(name).push({labels: readLabels(labels ?? ''), value: Number(value)});
    }
  }
  all(name) {
    return this.families.get(name) ?? [];
  }
  // The sum of the samples that have these labels; null if there is none. A label's value may be a list.
  sum(name, wanted = {}) {
    let total = null;
    for (const {labels, value} of this.all(name)) {
      if (Object.entries(wanted).every(([label, one]) => [].concat(one).includes(labels[label]))) {
        total = (total ?? 0) + value;
      }
    }
    return total;
  }
}

function readLabels(text) {
  const labels = {};
  for (const [, name, value] of text.matchAll(LABEL)) {
    labels[name] = value.replace(/\\(.)/g, (_, char) => UNESCAPED[char] ?? char);
  }
  return labels;
}

export const samples = [];
const listeners = new Set();
let problem = null;

export const latest = () => samples.at(-1) ?? null;

// Calls `heard(sample, error)` now and after every scrape, until `signal` aborts.
export function follow(heard, signal) {
  listeners.add(heard);
  signal?.addEventListener('abort', () => listeners.delete(heard), {once: true});
  if (samples.length > 0 || problem) heard(latest(), problem);
}

export function start(signal) {
  const tell = () => listeners.forEach((heard) => heard(latest(), problem));
  return poll(async () => {
    const {data} = await call('GET', 'metrics', {signal});
    samples.push(new Sample(data, performance.now()));
    if (samples.length > KEPT) samples.shift();
    problem = null;
    tell();
  }, INTERVAL, signal, (error) => {
    problem = error;
    tell();
  });
}

const perSecond = (from, to, name, labels) => {
  const grown = (to.sum(name, labels) ?? 0) - (from.sum(name, labels) ?? 0);
  return grown < 0 ? null : grown * 1000 / (to.at - from.at);  // Less than before: the daemon has restarted.
};

// How much a counter grew per second, over the last ten seconds; null if that is not known yet.
export function rateNow(name, labels) {
  const to = latest();
  const from = samples.at(-6) ?? samples[0];
  return !to || from === to ? null : perSecond(from, to, name, labels);
}

// The same between each two samples, oldest first; null where it is not known.
export function rates(name, labels) {
  return samples.slice(1).map((to, i) => perSecond(samples[i], to, name, labels));
}
