// A real daemon for tests, and time that tests advance. No fixed ports, no sleeps for luck.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const DIST = process.env.DIST ?? new URL("../dist/", import.meta.url).pathname;
export const load = (module) => import(join(DIST, "esm", `${module}.js`));

export const RULES = `
rules:
  - {id: api, match: {endpoint: /api}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 3, window: 1h, burst: 3}
  - {id: quick, match: {endpoint: /quick}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1, window: 50ms, burst: 1}
  - {id: pages, match: {endpoint: /page}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 2, window: 30d}
  - {id: addresses, match: {endpoint: /address}, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 2, window: 30d}
  - {id: jobs, match: {endpoint: /jobs}, key_pattern: "tenant:{tenant}", algorithm: concurrency, limit: 1, hold_ttl: 10s}
  - {id: tokens, match: {endpoint: /llm}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1000, window: 30d, burst: 1000}
  - {id: never, match: {endpoint: /never}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 0, window: 1m}
  - {id: express, key_pattern: "key:{key}", algorithm: fixed_window, limit: 2, window: 30d}
`;

/** A daemon of the real binary over these rules: {url, stop(), close()}. */
export async function startDaemon(rules = RULES) {
  const root = mkdtempSync(join(tmpdir(), "sluice-"));
  writeFileSync(join(root, "rules.yaml"), rules);
  writeFileSync(join(root, "sluice.yaml"),
                'listeners: [{address: "127.0.0.1:0"}]\ntable: {keys: 1000}\nrule_sources: [{files: [rules.yaml]}]\n');
  const child = spawn(process.env.SLUICE, ["serve", "--config", "sluice.yaml"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  let greeting = "";
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (data) => {
      greeting += data;
      const found = /^ {2}checks\s+(\S+)\n[^]*^Try:/m.exec(greeting);
      if (found) resolve(found[1]);
    });
    child.on("exit", () => reject(new Error("the daemon did not start")));
  });
  const stop = () => new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on("exit", resolve);
    return child.kill("SIGKILL");
  });
  return { url, stop, close: async () => { await stop(); rmSync(root, { recursive: true }); } };
}

export async function until(what) {
  const end = performance.now() + 20_000;
  while (!(await what())) {
    if (performance.now() > end) throw new Error("did not happen within 20 s");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Advances when somebody sleeps, and says who slept how long. */
export class FakeClock {
  now = 1795953600000;
  slept = [];
  constructor(chance = 0) { this.chance = chance; }
  monotonic() { return this.now; }
  wall() { return this.now; }
  random() { return this.chance; }
  async sleep(ms, signal) {
    if (signal?.aborted) throw signal.reason;
    this.slept.push(Math.round(ms));
    this.now += ms;
  }
}

export class FakeLog {
  lines = [];
  info(message) { this.lines.push(`info ${message}`); }
  warn(message) { this.lines.push(`warn ${message}`); }
  error(message) { this.lines.push(`error ${message}`); }
}

/** A server that answers by a script: `answer(request, number)` gives {status, headers, body}, null to close, or SILENCE. */
export const SILENCE = Symbol("silence");
export async function startScripted(answer) {
  const requests = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", () => {
      requests.push({ method: request.method, url: request.url, headers: request.headers, body });
      const reply = answer(requests.at(-1), requests.length);
      if (reply === SILENCE) return;
      if (reply === null) request.socket.destroy();
      else response.writeHead(reply.status ?? 200, reply.headers ?? {}).end(reply.body ?? "");
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, requests, close: () => { server.closeAllConnections(); server.close(); } };
}

export const readText = (url) => readFileSync(url, "utf8");
