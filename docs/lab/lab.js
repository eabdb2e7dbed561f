// The lab: the eight algorithms side by side on one stream of arrivals, each decision visible.
//
// mountLab(root, decide) draws it into an element. decide(quotas, events) answers with a list for each quota, one
// decision for each event; the page beside this file asks the core in WebAssembly.

const HORIZON = 60_000; // Milliseconds of the stream.
const SAMPLES = 240; // Where what is left is read, for the curves.
const MOST_ARRIVALS = 400;
const SVG = "http://www.w3.org/2000/svg";
const LANE = { width: 1200, height: 56 };

const LANES = [
  ["fixed_window", "Counts in each window of the clock. Twice the limit may pass around an edge."],
  ["sliding_window_log", "Remembers each arrival. Exact at every instant; memory grows with the limit."],
  ["sliding_window_counter", "Weighs the last window against this one: an estimate, in the room of two numbers."],
  ["sliding_window", "Counts in segments of the window. As exact as it has segments."],
  ["token_bucket", "A burst at once, then the rate. What was not used is saved, up to the burst."],
  ["gcra", "The token bucket as one time: when the next request would be on schedule."],
  ["leaky_bucket", "A queue that drains at the rate: a request waits for its turn instead of being denied."],
  ["concurrency", "At most so many at the same time, whatever the rate."],
];

const PARAMETERS = [
  ["limit", "Limit per window", 1, 60, 10, ""],
  ["window", "Window", 1, 30, 10, " s"],
  ["burst", "Burst of the buckets", 1, 60, 10, ""],
  ["segments", "Segments of sliding_window", 1, 32, 8, ""],
  ["slots", "Slots of concurrency", 1, 20, 3, ""],
  ["held", "Each request takes", 0.1, 10, 2, " s"],
];

const PATTERNS = {
  Steady: () => spread(60, (i) => i * 1000),
  "Around an edge": (p) => spread(2 * p.limit, (i) => 2 * p.window * 1000 - 2000 + (i * 4000) / (2 * p.limit)),
  Bursts: (p) => spread(6 * p.limit, (i) => Math.floor(i / p.limit) * 10_000 + 500 + (i % p.limit) * 20),
  Overload: () => spread(300, (i) => i * 200),
  Random: () => {
    let at = 0;
    return spread(120, () => (at += -Math.log(1 - Math.random()) * 500));
  },
  "Retries at once": (p) => spread(200, (i) => (i < p.limit ? i * 50 : 3000 + (i - p.limit) * 100)),
  Nothing: () => [],
};

const spread = (count, at) =>
  Array.from({ length: count }, (_, i) => Math.round(at(i))).filter((ms) => ms >= 0 && ms < HORIZON);

/** The quota of an algorithm, in whole milliseconds and units. */
function quotaOf(algorithm, p) {
  const bucket = ["token_bucket", "gcra", "leaky_bucket"].includes(algorithm);
  return {
    algorithm,
    limit: algorithm === "concurrency" ? p.slots : bucket ? p.burst : p.limit,
    rate: bucket ? p.limit : 0,
    window_ms: algorithm === "concurrency" ? 60_000 : p.window * 1000,
    segments: p.segments,
    shape: algorithm === "leaky_bucket",
  };
}

function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:") ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) {
      made.addEventListener(key.slice(2), value);
    } else {
      made.setAttribute(key, value);
    }
  }
  made.append(...children);
  return made;
}

const seconds = (ms) => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

/** A decision in a sentence. */
function describe(event, decision) {
  const at = `at ${seconds(event.at)}: `;
  if (decision.allowed) {
    const wait = decision.wait_ms > 0 ? `, goes on after ${seconds(decision.wait_ms)}` : "";
    return `${at}allowed${wait}, ${decision.remaining} left`;
  }
  const retry = decision.retry_after_ms === null ? "" : `, again in ${seconds(decision.retry_after_ms)}`;
  return `${at}denied (${decision.reason})${retry}`;
}

class Lane {
  constructor(name, about) {
    this.name = name;
    this.counts = element("output", { class: "counts" });
    this.drawing = element("svg:svg", {
      viewBox: `0 0 ${LANE.width} ${LANE.height}`, preserveAspectRatio: "none", role: "img",
    });
    this.section = element("section", { class: "lane", "aria-label": name },
      element("header", {}, element("h2", {}, name), this.counts), element("p", {}, about), this.drawing);
  }

  draw(events, decisions, capacity, grid) {
    const x = (ms) => (ms / HORIZON) * LANE.width;
    const shapes = [];
    for (let ms = grid; grid > 0 && ms < HORIZON; ms += grid) {
      shapes.push(element("svg:line", { class: "grid", x1: x(ms), x2: x(ms), y1: 0, y2: LANE.height }));
    }
    let curve = `M0 ${LANE.height}`;
    let allowed = 0;
    let denied = 0;
    const ticks = [];
    events.forEach((event, i) => {
      const decision = decisions[i];
      const level = capacity > 0 ? Math.min(1, Number(decision.remaining) / capacity) : 0;
      curve += ` L${x(event.at).toFixed(1)} ${(LANE.height * (1 - level * 0.9)).toFixed(1)}`;
      if (event.peek) {
        return;
      }
      allowed += decision.allowed ? 1 : 0;
      denied += decision.allowed ? 0 : 1;
      const goes = event.at + (decision.wait_ms ?? 0);
      const kind = !decision.allowed ? "denied" : decision.wait_ms > 0 ? "waits" : "allowed";
      if (kind === "waits") {
        ticks.push(element("svg:line", { class: "queue", x1: x(event.at), x2: x(goes), y1: 14, y2: 14 }));
      }
      ticks.push(element("svg:rect", {
        class: `tick ${kind}`, x: x(goes) - 1, y: kind === "denied" ? LANE.height - 20 : 4, width: 2, height: 16,
      }, element("svg:title", {}, describe(event, decision))));
    });
    shapes.push(element("svg:path", { class: "level", d: `${curve} L${LANE.width} ${LANE.height} Z` }));
    this.drawing.replaceChildren(...shapes, ...ticks);
    this.drawing.setAttribute("aria-label", `${this.name}: ${allowed} allowed, ${denied} denied`);
    this.counts.replaceChildren(element("b", { class: "allowed" }, `${allowed} allowed`), " ",
      element("b", { class: "denied" }, `${denied} denied`));
  }
}

class Stream {
  /** What one draws: a click adds an arrival, or removes the one that is there; a drag adds many. */
  constructor(changed) {
    this.arrivals = [];
    this.changed = changed;
    this.drawing = element("svg:svg", {
      viewBox: `0 0 ${LANE.width} ${LANE.height}`, preserveAspectRatio: "none", class: "stream", tabindex: 0,
      role: "img", onpointerdown: (event) => this.#begin(event), onpointermove: (event) => this.#move(event),
    });
  }

  set(arrivals) {
    this.arrivals = arrivals.slice(0, MOST_ARRIVALS).sort((a, b) => a - b);
    this.#draw();
    this.changed();
  }

  #at(event) {
    const box = this.drawing.getBoundingClientRect();
    return Math.min(HORIZON - 1, Math.max(0, Math.round(((event.clientX - box.left) / box.width) * HORIZON)));
  }

  #begin(event) {
    const at = this.#at(event);
    const near = this.arrivals.filter((ms) => Math.abs(ms - at) > HORIZON / 500);
    this.drawing.setPointerCapture(event.pointerId);
    this.set(near.length < this.arrivals.length ? near : [...this.arrivals, at]);
  }

  #move(event) {
    const at = this.#at(event);
    const last = this.drawn ?? -1;
    if (event.buttons === 1 && Math.abs(at - last) >= HORIZON / 300) {
      this.drawn = at;
      this.set([...this.arrivals, at]);
    }
  }

  #draw() {
    this.drawing.replaceChildren(...this.arrivals.map((ms) => element("svg:rect", {
      class: "tick arrival", x: (ms / HORIZON) * LANE.width - 1, y: 10, width: 2, height: LANE.height - 20,
    })));
    this.drawing.setAttribute("aria-label", `${this.arrivals.length} arrivals in ${HORIZON / 1000} seconds`);
  }
}

/** Draws the lab into `root`. Returns {setArrivals}, for streams that come from elsewhere: milliseconds from 0. */
export function mountLab(root, decide) {
  const values = Object.fromEntries(PARAMETERS.map(([name, , , , value]) => [name, value]));
  const lanes = LANES.map(([name, about]) => new Lane(name, about));
  const problem = element("p", { role: "alert", class: "problem" });
  const stream = new Stream(() => schedule());
  let pattern = "Around an edge";
  let pending = false;

  async function update() {
    pending = false;
    const held = Math.round(values.held * 1000);
    const events = stream.arrivals.map((at) => ({ at, cost: 1, held }));
    for (let i = 0; i <= SAMPLES; ++i) {
      events.push({ at: Math.round((i * HORIZON) / SAMPLES), cost: 1, held, peek: true });
    }
    events.sort((a, b) => a.at - b.at);
    const quotas = LANES.map(([name]) => quotaOf(name, values));
    try {
      const answers = await decide(quotas, events);
      lanes.forEach((lane, i) => lane.draw(events, answers[i], quotas[i].limit,
        ["fixed_window", "sliding_window_counter"].includes(lane.name) ? quotas[i].window_ms : 0));
      problem.textContent = "";
    } catch (error) {
      problem.textContent = `The lab cannot decide: ${error.message}`;
    }
  }

  function schedule() {
    if (!pending) {
      pending = true;
      requestAnimationFrame(update);
    }
  }

  const controls = PARAMETERS.map(([name, label, least, most, value, unit]) => {
    const output = element("output", {}, value + unit);
    const input = element("input", {
      type: "range", min: least, max: most, step: least < 1 ? 0.1 : 1, value, name,
      oninput: () => {
        values[name] = Number(input.value);
        output.textContent = input.value + unit;
        stream.set(pattern in PATTERNS && pattern !== "Random" ? PATTERNS[pattern](values) : stream.arrivals);
      },
    });
    return element("label", {}, element("span", {}, label), output, input);
  });
  const buttons = Object.keys(PATTERNS).map((name) =>
    element("button", {
      type: "button",
      onclick: () => {
        pattern = name;
        stream.set(PATTERNS[name](values));
      },
    }, name));
  stream.drawing.addEventListener("pointerdown", () => {
    pattern = "drawn";
  });

  root.append(
    element("div", { class: "controls" }, ...controls),
    element("div", { class: "patterns", role: "group", "aria-label": "Arrivals" }, ...buttons),
    element("section", { class: "lane", "aria-label": "Arrivals" },
      element("header", {}, element("h2", {}, "Arrivals")),
      element("p", {}, "Click to add one or take it away, drag to add many. A minute from left to right."),
      stream.drawing),
    problem, ...lanes.map((lane) => lane.section));
  stream.set(PATTERNS[pattern](values));
  return {
    setArrivals: (arrivals) => {
      pattern = "given";
      stream.set(arrivals);
    },
  };
}
