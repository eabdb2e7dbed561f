// Client against the real daemon, and against servers that misbehave.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { FakeClock, FakeLog, SILENCE, load, startDaemon, startScripted, until } from "./support.mjs";

const { Breaker, CallError, Client, Denied, Unavailable } = await load("index");

let daemon, client;
before(async () => {
  daemon = await startDaemon();
  client = new Client({ url: daemon.url, timeoutMs: 10_000 });
});
after(() => daemon.close());

const scripted = async (t, answer) => {
  const server = await startScripted(answer);
  t.after(() => server.close());
  return server;
};
const user = (t, endpoint = "/api") => ({ user_id: t.name, endpoint });
const ALLOWED = { body: '{"allowed": true, "remaining": 1, "reset_at": 1, "limits": []}' };

test("allows up to the limit and says when to come back", async (t) => {
  for (const left of [2, 1, 0]) {
    const decision = await client.check(user(t));
    assert.deepEqual([decision.allowed, decision.remaining, decision.reason, decision.retryAfterMs], [true, left, null, null]);
    assert.equal(decision.why, "allowed by api");
  }
  const denied = await client.check(user(t));
  assert.deepEqual([denied.allowed, denied.status, denied.reason, denied.deniedBy.name], [false, 429, "quota_exceeded", "api"]);
  assert.ok(denied.retryAfterMs > 1_190_000 && denied.retryAfterMs <= 1_200_000, denied.why);
  assert.equal(denied.headers["retry-after"], String(Math.ceil(denied.retryAfterMs / 1000)));
  assert.ok(denied.headers["ratelimit"] && !("date" in denied.headers));
  assert.match(denied.why, /^denied by api: quota_exceeded; again in 1\d\d\d\.\d{3} s$/);
});

test("no rule, and limits that waiting does not lift", async (t) => {
  assert.equal((await client.check({ endpoint: "/elsewhere" })).why, "allowed: no rule applies");
  const never = await client.check(user(t, "/never"));
  assert.deepEqual([never.reason, never.retryAfterMs], ["limit_zero", null]);
  assert.match(never.why, /waiting does not help/);
});

test("peek and status charge nothing", async (t) => {
  assert.equal((await client.check(user(t), { peek: true })).remaining, 3);
  assert.equal((await client.status({ ...user(t), "&=": "& ?#", no: null, yes: true })).remaining, 3);
  assert.equal((await client.status(user(t), { cost: 4 })).allowed, false);
});

test("an idempotency key charges once", async (t) => {
  const options = { idempotencyKey: t.name };
  assert.equal((await client.check(user(t), options)).remaining, 2);
  assert.equal((await client.check(user(t), options)).remaining, 2);
  await assert.rejects(client.check(user(t), { ...options, cost: 2 }), { status: 422, code: "key_reused" });
});

test("a wrong call is an error and no denial", async (t) => {
  await assert.rejects(client.check(user(t), { cost: -1 }), { name: "CallError", status: 400, code: "invalid_cost" });
  await assert.rejects(client.checkMany([{ attributes: user(t) }, { attributes: user(t), cost: -1 }]), CallError);
  await assert.rejects(new Client({ url: daemon.url + "/nothing", timeoutMs: 10_000 }).check(user(t)), CallError);
});

test("a batch", async (t) => {
  const decisions = await client.checkMany([2, 2, 1].map((cost) => ({ attributes: user(t), cost })));
  assert.deepEqual(decisions.map((decision) => decision.allowed), [true, false, true]);
  assert.deepEqual(await client.checkMany([]), []);
});

test("receipts and reservations", async (t) => {
  const { receipt } = await client.check(user(t), { cost: 3, receipt: true });
  assert.deepEqual(await client.refund(receipt), { api: 3 });
  const reservation = await client.reserve(user(t, "/llm"), 500);
  assert.deepEqual(await reservation.settle(312), [{ name: "tokens", charged: 500, cost: 312 }]);
  assert.deepEqual(await reservation.settle(1), [{ name: "tokens", charged: 500, cost: 312 }]);
  assert.equal((await client.status(user(t, "/llm"))).remaining, 688);
  await assert.rejects(client.reserve(user(t, "/llm"), 900), Denied);
});

test("a hold renews, releases, and says when it is lost", async (t) => {
  const jobs = { tenant: t.name, endpoint: "/jobs" };
  const hold = await client.hold(jobs, { renewEveryMs: 10 });
  await assert.rejects(client.hold(jobs), (error) => error instanceof Denied && error.decision.retryAfterMs === 1000);
  await until(() => hold.renewals >= 2);
  await client.release(hold.tokens);
  await until(() => hold.lost);
  await assert.rejects(client.withHold(jobs, () => { throw new RangeError("work"); }), RangeError);
  assert.equal(await client.withHold(jobs, () => 7), 7);
  assert.equal((await client.status(jobs)).allowed, true);
});

test("acquire waits as long as the daemon says, within the deadline", async (t) => {
  const clock = new FakeClock(1);
  const patient = new Client({ url: daemon.url, timeoutMs: 10_000, clock, policy: { capMs: 7_200_000, maxAttempts: 2 } });
  for (let i = 0; i < 3; i++) await patient.acquire(user(t));
  await assert.rejects(client.acquire(user(t)), Denied); // 20 minutes: above the cap.
  await assert.rejects(patient.acquire(user(t), { deadlineMs: 60_000 }), Denied);
  assert.deepEqual(clock.slept, []);
  await assert.rejects(patient.acquire(user(t)), Denied); // The daemon's clock does not follow the fake one.
  assert.equal(clock.slept.length, 1);
  assert.ok(clock.slept[0] > 1_190_000 * 1.2 && clock.slept[0] <= 1_200_000 * 1.2, String(clock.slept));
  for (let i = 0; i < 3; i++) assert.ok((await client.acquire(user(t, "/quick"), { deadlineMs: 10_000 })).allowed); // 50 ms each.
});

test("concurrent checks are exact", async (t) => {
  const decisions = await Promise.all(Array.from({ length: 30 }, () => client.check(user(t, "/llm"), { cost: 100 })));
  assert.equal(decisions.filter((decision) => decision.allowed).length, 10);
});

test("nobody listens", async () => {
  const server = await startScripted(() => null);
  server.close();
  const options = { url: server.url, timeoutMs: 10_000, log: new FakeLog() };
  const open = await new Client(options).check({});
  assert.deepEqual([open.allowed, open.degraded, open.status], [true, true, 200]);
  assert.match(open.why, /^allowed without Sluice: .*ECONNREFUSED/);
  const closed = await new Client({ ...options, fail: "closed" }).check({});
  assert.deepEqual([closed.allowed, closed.status, closed.reason], [false, 503, "sluice_unavailable"]);
  assert.ok(closed.retryAfterMs >= 1000 && Number(closed.headers["retry-after"]) >= 1);
});

test("a server that never answers costs the timeout", async (t) => {
  const server = await scripted(t, () => SILENCE);
  const decision = await new Client({ url: server.url, timeoutMs: 50, retries: 0, log: new FakeLog() }).check({});
  assert.equal(decision.why, "allowed without Sluice: timed out");
});

test("a retry has the same key, and a batch is not repeated", async (t) => {
  const server = await scripted(t, (_, number) => (number === 2 ? ALLOWED : null));
  assert.equal((await new Client({ url: server.url, timeoutMs: 10_000 }).check({})).degraded, false);
  const keys = server.requests.map((request) => request.headers["idempotency-key"]);
  assert.equal(keys.length, 2);
  assert.ok(keys[0] && keys[0] === keys[1]);
  const [decision] = await new Client({ url: server.url, timeoutMs: 10_000, log: new FakeLog() }).checkMany([{ attributes: {} }]);
  assert.ok(decision.degraded);
  assert.equal(server.requests.length, 3);
});

test("without retries there is no key", async (t) => {
  const server = await scripted(t, () => ALLOWED);
  await new Client({ url: server.url, timeoutMs: 10_000, retries: 0, token: "secret" }).check({});
  assert.equal(server.requests[0].headers["idempotency-key"], undefined);
  assert.equal(server.requests[0].headers["authorization"], "Bearer secret");
});

test("answers of something else", async (t) => {
  for (const answer of [{ status: 502, body: "bad gateway" }, { body: "<html>" }, { body: "[]" }, { status: 503, body: "{}" },
                        { status: 429, body: "slow down" }]) {
    const server = await scripted(t, () => answer);
    assert.ok((await new Client({ url: server.url, timeoutMs: 10_000, log: new FakeLog() }).check({})).degraded, answer.body);
  }
});

test("the breaker opens, tries and closes", async (t) => {
  let silent = true;
  const clock = new FakeClock();
  const log = new FakeLog();
  const server = await scripted(t, () => (silent ? null : ALLOWED));
  const broken = new Client({ url: server.url, timeoutMs: 10_000, retries: 0, clock, breaker: new Breaker(3, 1000, clock, log) });
  for (let i = 0; i < 10; i++) assert.ok((await broken.check({})).degraded);
  assert.equal(server.requests.length, 3); // The other seven were decided at once.
  clock.now += 999;
  await broken.check({});
  assert.equal(server.requests.length, 3);
  clock.now += 2;
  await Promise.all([broken.check({}), broken.check({})]);
  assert.equal(server.requests.length, 4); // One tries.
  silent = false;
  clock.now += 1001;
  assert.equal((await broken.check({})).degraded, false);
  assert.deepEqual(log.lines.map((line) => line.slice(0, 20)), ["warn Sluice does not", "info Sluice answers "]);
});

test("a middleware's wrong call is logged once and does not break its service", async (t) => {
  const log = new FakeLog();
  const wrong = new Client({ url: daemon.url, timeoutMs: 10_000, log });
  for (let i = 0; i < 3; i++) assert.ok((await wrong.decide({ ...user(t), ip: "nobody" })).degraded);
  assert.equal(log.lines.length, 1);
  assert.match(log.lines[0], /^error .*attribute ip is not an IP address/);
});

test("what is no parameter", () => {
  for (const wrong of [{ url: "redis://h" }, { fail: "ajar" }, { timeoutMs: 0 }, { retries: -1 }, { policy: { maxAttempts: 0 } }]) {
    assert.throws(() => new Client(wrong), JSON.stringify(wrong));
  }
  assert.throws(() => new Breaker(0));
  assert.ok(new Unavailable("x") instanceof Error);
});
