// Throttle and throttledFetch: paced by what a server says, in a fake time.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FakeClock, FakeLog, load, startScripted } from "./support.mjs";

const { Throttle, Throttled, adviceOf, host, throttledFetch } = await load("index");

/** Sends once: how long it waited before, and the advice. */
function sender(throttle, clock) {
  return (resource, fields, { status = 200, body = null, host: name = "api.example" } = {}) => {
    const attempts = throttle.start(name, resource);
    let waited = 0;
    for (let ms; (ms = attempts.before()); clock.now += ms) waited += ms;
    return { waited, advice: attempts.after({ status, fields: Object.entries(fields ?? {}), body }, "GET", false) };
  };
}

function setUp(options = {}) {
  const clock = new FakeClock();
  const throttle = new Throttle({ clock, ...options });
  return { clock, throttle, send: sender(throttle, clock) };
}

test("waits before it sends where the quota is used up", () => {
  const log = new FakeLog();
  const { throttle, send } = setUp({ log });
  send("/a", { RateLimit: '"x";r=0;t=30' });
  assert.deepEqual(throttle.holdings(), [{ bucket: "/a", ms: 30_000, why: "the quota is used up: ratelimit says 30.000 s" }]);
  assert.equal(send("/b").waited, 0); // Another resource goes on.
  assert.equal(send("/a").waited, 30_000);
  assert.deepEqual(log.lines, ["info /a is held for 30.000 s: the quota is used up: ratelimit says 30.000 s"]);
});

test("jitter is upwards", () => {
  const { clock, send } = setUp();
  clock.chance = 1;
  send("/a", { RateLimit: '"x";r=0;t=30' });
  assert.equal(send("/a").waited, 36_000);
});

test("resources share a bucket that the server names", () => {
  const { send } = setUp();
  const core = { "X-RateLimit-Resource": "core", "X-RateLimit-Reset": "30" };
  send("/repos", { "X-RateLimit-Remaining": "9", ...core });
  send("/users", { "X-RateLimit-Remaining": "0", ...core });
  send("/search", { "X-RateLimit-Remaining": "9", "X-RateLimit-Resource": "search", "X-RateLimit-Reset": "30" });
  assert.equal(send("/search").waited, 0);
  assert.equal(send("/repos").waited, 30_000);
});

test("a limit of all buckets holds the host", () => {
  const { send } = setUp();
  send("/a", { "Retry-After": "7", "X-RateLimit-Global": "true" }, { status: 429 });
  assert.equal(send("/b").waited, 7000);
  assert.equal(send("/b", {}, { host: "elsewhere" }).waited, 0);
});

test("what is in flight counts", () => {
  const { throttle, send } = setUp();
  send("/a", { RateLimit: '"x";r=2;t=30' });
  const [first, second, third] = [1, 2, 3].map(() => throttle.start("h", "/a"));
  assert.deepEqual([first.before(), second.before()], [0, 0]);
  assert.ok(third.before() > 0); // Two are left and two are under way.
  first.after({ status: 200, fields: [["RateLimit", '"x";r=1;t=29']] }, "GET", false);
  assert.ok(third.before() > 0);
  second.after({ status: 200, fields: [["RateLimit", '"x";r=3;t=29']] }, "GET", false);
  assert.equal(third.before(), 0);
});

test("headroom is left to others", () => {
  const { send } = setUp({ policy: { headroom: 5 } });
  send("/a", { RateLimit: '"x";r=6;t=30' });
  assert.equal(send("/a", { RateLimit: '"x";r=5;t=30' }).waited, 0);
  assert.equal(send("/a").waited, 30_000);
});

test("cap and deadline end a hold at once", () => {
  const { throttle, send } = setUp();
  send("/a", { "Retry-After": "3600" }, { status: 429 });
  assert.throws(() => send("/a"), (error) => error instanceof Throttled && error.ms === 3_600_000 && /cap of 60 s/.test(error.message));
  send("/b", { "Retry-After": "30" }, { status: 429 });
  assert.throws(() => throttle.start("h", "/b", 10_000).before(), /the deadline allows/);
});

test("memory is bounded", () => {
  const { throttle, send } = setUp();
  for (let i = 0; i < 10_000; i++) send(`/${i}`, { "X-RateLimit-Bucket": `b${i}` });
  assert.ok(throttle.buckets.size <= 4097 && throttle.bucketOf.size <= 4097);
});

const OK = { body: "ok" };
const SLOW_DOWN = { status: 429, headers: { "Retry-After": "20" }, body: "slow down" };

/** A server that gives these replies, the last for ever; a throttled fetch; and the clock. */
async function api(t, ...replies) {
  const server = await startScripted(() => (replies.length > 1 ? replies.shift() : replies[0]));
  t.after(() => server.close());
  const clock = new FakeClock();
  const throttle = new Throttle({ clock });
  return { url: server.url + "/things?page=1", requests: server.requests, clock, throttle, fetch: throttledFetch({ throttle }) };
}

test("fetch waits after a 429 and sends again, with its body", async (t) => {
  const { url, requests, clock, fetch } = await api(t, SLOW_DOWN, OK);
  const response = await fetch(url, { method: "POST", body: "payload" });
  assert.deepEqual([response.status, await response.text(), adviceOf(response).action], [200, "ok", "proceed"]);
  assert.deepEqual(clock.slept, [20_000]);
  assert.deepEqual(requests.map((request) => request.body), ["payload", "payload"]);
});

test("fetch does not send a stream again", async (t) => {
  const { url, clock, fetch } = await api(t, SLOW_DOWN, OK);
  const body = new Blob(["payload"]).stream();
  assert.equal((await fetch(url, { method: "POST", body, duplex: "half" })).status, 429);
  assert.equal((await fetch(new Request(url, { method: "POST", body: "x" }), {})).status, 200);
  assert.deepEqual(clock.slept, [20_000]); // The second waited before it was sent.
});

test("fetch waits before it sends", async (t) => {
  const { url, clock, fetch } = await api(t, { headers: { RateLimit: '"x";r=0;t=30' }, body: "last" }, OK);
  assert.equal(await (await fetch(url)).text(), "last");
  assert.deepEqual(clock.slept, []);
  assert.equal(await (await fetch(new URL(url))).text(), "ok");
  assert.deepEqual(clock.slept, [30_000]);
});

test("fetch gives an hour back at once", async (t) => {
  const { url, clock, requests, fetch } = await api(t, { status: 429, headers: { "Retry-After": "3600" }, body: "no" });
  const response = await fetch(url);
  assert.deepEqual([response.status, await response.text(), adviceOf(response).reason], [429, "no", "cap"]);
  await assert.rejects(fetch(url), Throttled);
  assert.deepEqual([clock.slept, requests.length], [[], 1]);
});

test("fetch: attempts end, and the deadline and the signal win", async (t) => {
  const { url, clock, requests, fetch } = await api(t, SLOW_DOWN);
  assert.equal(adviceOf(await fetch(url)).reason, "attempts");
  assert.deepEqual([clock.slept, requests.length], [[20_000, 20_000, 20_000], 4]);
  clock.now += 20_000;
  assert.equal(adviceOf(await fetch(url, { deadlineMs: 15_000 })).reason, "deadline");
  await assert.rejects(fetch(url, { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("fetch: a failure is the caller's", async (t) => {
  const { url, throttle, fetch } = await api(t, null);
  await assert.rejects(fetch(url), TypeError);
  assert.deepEqual([...throttle.buckets.values()].map((bucket) => bucket.inFlight), [0]);
  assert.equal(host(new URL(url)), new URL(url).host);
});
