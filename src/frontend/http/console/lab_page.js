// The lab: the algorithms side by side on one stream of arrivals, decided by this daemon's core.
import {get, send, serves} from './api.js';
import {h} from './dom.js';
import {mountLab} from './lab.js';

export const title = 'Lab';

const MINUTE = 60000;

// Asks the daemon one question at a time. While it thinks, only the newest of further questions is kept; an older one
// is never answered, for its drawing would be out of date.
function latestOnly(ask) {
  let next = null;
  let busy = false;
  const run = async () => {
    busy = true;
    while (next) {
      const {question, resolve, reject} = next;
      next = null;
      await ask(...question).then(resolve, reject);
    }
    busy = false;
  };
  return (...question) => new Promise((resolve, reject) => {
    next = {question, resolve, reject};
    if (!busy) run();
  });
}

// When requests came in the last minute, in milliseconds: those of the list of last decisions.
async function lastMinute(signal) {
  const {decisions} = await get('decisions?n=1000', signal);
  const times = decisions.map(({time}) => Date.parse(time));
  const begin = Math.max(...times) - MINUTE + 1;
  return times.filter((time) => time >= begin).map((time) => time - begin);
}

export async function mount(root, {signal}) {
  const said = h('p', {class: 'hint', role: 'status'});
  const place = h('div', {class: 'lab'});
  const lab = mountLab(place, latestOnly(async (quotas, events) => (await send('POST', 'lab', {quotas, events})).decisions));
  if (await serves('decisions')) {
    root.append(h('div', {class: 'row'}, h('button', {type: 'button', class: 'quiet', click: async () => {
      try {
        const arrivals = await lastMinute(signal);
        lab.setArrivals(arrivals);
        said.textContent = `${Math.min(400, arrivals.length)} requests of this node: under load the list of last decisions is a sample.`;
      } catch (error) {
        said.textContent = error.message;
      }
    }}, 'Use this node’s last minute'), said));
  }
  root.append(place);
}
