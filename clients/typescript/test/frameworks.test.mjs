// Middlewares and the store: by themselves, and in the real frameworks where they are installed (NODE_PATH or node_modules).
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

import { load, startDaemon } from "./support.mjs";

const { Client } = await load("index");
const express = (await load("express")).sluice;
const fastify = (await load("fastify")).sluice;
const hono = (await load("hono")).sluice;
const { SluiceStore } = await load("express-rate-limit");
const require = createRequire(process.env.FRAMEWORKS ? `${process.env.FRAMEWORKS}/` : import.meta.url);
const installed = (name) => {
  try {
    return require(name);
  } catch {
    return null;
  }
};

let daemon, client;
before(async () => {
  daemon = await startDaemon();
  client = new Client({ url: daemon.url, timeoutMs: 10_000 });
});
after(() => daemon.close());

async function listen(t, server) {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}`;
}

async function get(url, times) {
  const answers = [];
  for (let i = 0; i < times; i++) {
    const response = await fetch(url);
    answers.push({ status: response.status, left: response.headers.get("x-ratelimit-remaining"), text: await response.text(),
                   type: response.headers.get("content-type"), retry: response.headers.get("retry-after") });
  }
  return answers;
}

function checkAnswers(answers) {
  assert.deepEqual(answers.map(({ status, left }) => [status, left]), [[200, "1"], [200, "0"], [429, "0"]]);
  assert.equal(answers[0].text, "hello");
  assert.match(answers[2].type, /^application\/problem\+json/); // Fastify adds a charset.
  assert.deepEqual(JSON.parse(answers[2].text), { type: "about:blank", title: "Too Many Requests", status: 429, reason: "quota_exceeded" });
  assert.ok(Number(answers[2].retry) > 0);
}

const page = (t) => () => ({ user_id: t.name, endpoint: "/page" });
const jobs = (t) => () => ({ tenant: t.name, endpoint: "/jobs" });

/** An app of node:http with this middleware. */
const plain = (middleware) => createServer((request, response) =>
  middleware(request, response, (error) => {
    response.statusCode = error ? 500 : 200;
    response.end(error ? String(error) : "hello");
  }));

test("node:http: allows and denies", async (t) => {
  checkAnswers(await get(await listen(t, plain(express({ client, attributes: page(t) }))), 3));
});

test("node:http: a slot is held until the response is closed", async (t) => {
  const url = await listen(t, plain(express({ client, attributes: jobs(t) })));
  for (let i = 0; i < 3; i++) {
    assert.equal((await get(url, 1))[0].status, 200);
    // The release is under way when the response arrives.
    while (!(await client.status(jobs(t)())).allowed) await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

test("node:http: without attributes, and with a failing function", async (t) => {
  const free = await listen(t, plain(express({ client, attributes: () => null })));
  assert.deepEqual((await get(free, 3)).map((answer) => answer.left), [null, null, null]);
  const failing = await listen(t, plain(express({ client, attributes: () => { throw new Error("no user"); } })));
  assert.equal((await get(failing, 1))[0].text, "Error: no user");
});

test("node:http: the attributes unless you say otherwise", async (t) => {
  const seen = [];
  const spy = { decide: async (attributes) => { seen.push(attributes); return client.check({}); } };
  await get((await listen(t, plain(express({ client: spy })))) + "/a/b?c=d", 1);
  assert.deepEqual(seen, [{ ip: undefined, method: "GET", endpoint: "/a/b" }]);
});

test("hono's interface: allows, denies, releases", async (t) => {
  const headers = {};
  const context = { req: { method: "GET", path: "/x" }, header: (name, value) => (headers[name] = value) };
  const middleware = hono({ client, attributes: page(t) });
  let ran = 0;
  for (let i = 0; i < 2; i++) assert.equal(await middleware(context, async () => void ran++), undefined);
  const denied = await middleware(context, async () => void ran++);
  assert.deepEqual([ran, denied.status, (await denied.json()).reason], [2, 429, "quota_exceeded"]);
  assert.equal(headers["x-ratelimit-remaining"], "0");
  for (let i = 0; i < 2; i++) {
    await assert.rejects(hono({ client, attributes: jobs(t) })(context, async () => { throw new RangeError("work"); }), RangeError);
  }
});

test("the store counts, denies, and gives back", async (t) => {
  const store = new SluiceStore({ client, prefix: `${t.name}:` });
  store.init({ limit: 5 });
  const hits = [];
  for (let i = 0; i < 3; i++) hits.push((await store.increment("a")).totalHits);
  assert.deepEqual(hits, [1, 2, 6]);
  await store.decrement("a");
  assert.equal((await store.get("a")).totalHits, 1);
  assert.ok((await store.increment("a")).resetTime > new Date());
  assert.equal((await store.increment("b")).totalHits, 1);
  await store.decrement("unknown");
  await assert.rejects(store.resetKey("a"), /sluice reset key=/);
  const gone = new SluiceStore({ client: new Client({ url: "http://127.0.0.1:1", timeoutMs: 10_000, log: { info() {}, warn() {}, error() {} } }) });
  await assert.rejects(gone.increment("a"), { name: "Unavailable" });
});

test("express", { skip: !installed("express") && "express is not installed" }, async (t) => {
  const app = installed("express")();
  app.use(express({ client, attributes: page(t) }));
  app.get("/", (_, response) => response.send("hello"));
  checkAnswers(await get(await listen(t, createServer(app)), 3));
});

test("fastify", { skip: !installed("fastify") && "fastify is not installed" }, async (t) => {
  const app = installed("fastify")();
  app.addHook("onRequest", fastify({ client, attributes: page(t) }));
  app.get("/", async () => "hello");
  t.after(() => app.close());
  checkAnswers(await get(await app.listen({ port: 0, host: "127.0.0.1" }), 3));
});

test("hono", { skip: !installed("hono") && "hono is not installed" }, async (t) => {
  const app = new (installed("hono").Hono)();
  app.use("*", hono({ client, attributes: page(t) }));
  app.get("/", (context) => context.text("hello"));
  const answers = [];
  for (let i = 0; i < 3; i++) {
    const response = await app.request("/");
    answers.push({ status: response.status, left: response.headers.get("x-ratelimit-remaining"), text: await response.text(),
                   type: response.headers.get("content-type"), retry: response.headers.get("retry-after") });
  }
  checkAnswers(answers);
});

test("express-rate-limit", { skip: !installed("express-rate-limit") && "express-rate-limit is not installed" }, async (t) => {
  const { rateLimit } = installed("express-rate-limit");
  const app = installed("express")();
  app.use(rateLimit({ limit: 2, windowMs: 60_000, keyGenerator: () => t.name, store: new SluiceStore({ client }),
                      standardHeaders: "draft-7", legacyHeaders: false }));
  app.get("/", (_, response) => response.send("hello"));
  assert.deepEqual((await get(await listen(t, createServer(app)), 3)).map((answer) => answer.status), [200, 200, 429]);
});
