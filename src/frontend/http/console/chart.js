// Small pictures in SVG. Sizes are attributes, because the page allows no style of elements.
import {svg} from './dom.js';

const known = (values) => values.filter((value) => value !== null);

// A line of rates; the newest is at the right end. A gap is where the rate is not known.
export function sparkline(values, kind, label) {
  const room = Math.max(30, values.length);
  const width = 240;
  const height = 44;
  const top = Math.max(1, ...known(values));
  const x = (i) => (width * (room - values.length + i) / (room - 1)).toFixed(1);
  const y = (value) => (height - 2 - (height - 6) * value / top).toFixed(1);
  let line = '';
  let areas = '';
  let from = null;
  for (let i = 0; i <= values.length; ++i) {
    const value = values[i] ?? null;
    if (value !== null) {
      line += `${from === null ? 'M' : 'L'}${x(i)} ${y(value)}`;
      areas += from === null ? `M${x(i)} ${height}L${x(i)} ${y(value)}` : `L${x(i)} ${y(value)}`;
      from ??= i;
    } else if (from !== null) {
      areas += `L${x(i - 1)} ${height}Z`;
      from = null;
    }
  }
  return svg('svg', {class: `spark ${kind}`, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label},
    svg('path', {class: 'area', d: areas}), svg('path', {class: 'line', d: line, 'vector-effect': 'non-scaling-stroke'}));
}

// Bars one beside the other, each of parts that are stacked: [{kind, values}], the oldest first.
export function bars(parts, label) {
  const length = Math.max(1, ...parts.map(({values}) => values.length));
  const width = 600;
  const height = 120;
  const sums = Array.from({length}, (_, i) => parts.reduce((sum, {values}) => sum + (values[i] ?? 0), 0));
  const top = Math.max(1, ...sums);
  const each = width / 60;
  const drawn = [];
  for (let i = 0; i < length; ++i) {
    let y = height;
    for (const {kind, values} of parts) {
      const tall = height * (values[i] ?? 0) / top;
      y -= tall;
      if (tall > 0) {
        drawn.push(svg('rect', {class: `bar ${kind}`, x: width - each * (length - i) + 1, y: y.toFixed(2), width: each - 2, height: tall.toFixed(2)}));
      }
    }
  }
  return svg('svg', {class: 'bars', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label}, drawn);
}

// A share of a whole as a short bar, beside its number.
export function share(part, whole, kind) {
  const width = whole > 0 ? 100 * Math.min(1, part / whole) : 0;
  return svg('svg', {class: 'share', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
    svg('rect', {class: 'track', width: 100, height: 8, rx: 4}), svg('rect', {class: kind, width: width.toFixed(1), height: 8, rx: 4}));
}

// A bucket whose level is what is left. setLevel(0 to 1) lets it rise or fall to there; at first it is there at once.
export function bucket(label) {
  const water = svg('rect', {class: 'water', x: 5, width: 70, y: 95, height: 0});
  const drawn = svg('svg', {class: 'bucket', viewBox: '0 0 80 100', role: 'img', 'aria-label': label},
    svg('rect', {class: 'inside', x: 3, y: 3, width: 74, height: 94, rx: 10}), water,
    svg('path', {class: 'marks', d: 'M66 26.5h8M66 50h8M66 73.5h8'}),
    svg('rect', {class: 'wall', x: 3, y: 3, width: 74, height: 94, rx: 10}));
  const setLevel = (level, text) => {
    const tall = 90 * Math.max(0, Math.min(1, level));
    drawn.classList.toggle('moving', water.hasAttribute('data-set'));
    water.setAttribute('data-set', '');
    water.setAttribute('y', (95 - tall).toFixed(2));
    water.setAttribute('height', tall.toFixed(2));
    drawn.classList.toggle('low', level <= 0);
    drawn.setAttribute('aria-label', text);
  };
  return {drawn, setLevel};
}
