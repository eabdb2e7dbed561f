"""Throttle and the transports: paced by what a server says, in a fake time."""

import asyncio
import unittest

from support import FakeClock, Scripted, http_answer

from sluice_client import Policy, Throttle, Throttled, deadline

try:
    import httpx

    from sluice_client import httpx as throttled_httpx
except ImportError:
    httpx = None
try:
    import requests

    from sluice_client import requests as throttled_requests
except ImportError:
    requests = None


class ThrottleTest(unittest.TestCase):
    def setUp(self):
        self.clock = FakeClock()
        self.throttle = Throttle(clock=self.clock)

    def send(self, resource, *fields, status=200, body=None, host="api.example"):
        """Sends once: the seconds that it waited before, and the advice."""
        attempts, waited = self.throttle.start(host, resource), 0.0
        while True:
            seconds = attempts.before()
            if not seconds:
                return waited, attempts.after(status, fields, body, "GET", False)
            self.clock.sleep(seconds)
            waited += seconds

    def test_waits_before_it_sends_where_the_quota_is_used_up(self):
        self.send("/a", ("RateLimit", '"x";r=0;t=30'))
        (holding,) = self.throttle.holdings()
        self.assertEqual((holding.bucket, holding.seconds), ("/a", 30.0))
        self.assertEqual(holding.why, "the quota is used up: ratelimit says 30.000 s")
        self.assertEqual(self.send("/b")[0], 0)  # Another resource goes on.
        with self.assertLogs("sluice_client", "INFO") as logs:
            self.assertEqual(self.send("/a")[0], 30)
        self.assertIn("/a is held for 30.000 s: the quota is used up", logs.output[0])
        self.assertEqual(self.throttle.holdings(), [])

    def test_jitter_is_upwards(self):
        self.clock.chance = 1.0
        self.send("/a", ("RateLimit", '"x";r=0;t=30'))
        self.assertEqual(self.send("/a")[0], 36)

    def test_resources_share_a_bucket_that_the_server_names(self):
        core = [("X-RateLimit-Resource", "core"), ("X-RateLimit-Reset", "30")]
        self.send("/repos", ("X-RateLimit-Remaining", "9"), *core)
        self.send("/users", ("X-RateLimit-Remaining", "0"), *core)
        self.send("/search", ("X-RateLimit-Remaining", "9"), ("X-RateLimit-Resource", "search"), ("X-RateLimit-Reset", "30"))
        self.assertEqual(self.send("/search")[0], 0)
        self.assertEqual(self.send("/repos")[0], 30)
        self.assertEqual(self.send("/other", host="elsewhere")[0], 0)

    def test_a_limit_of_all_buckets_holds_the_host(self):
        _, advice = self.send("/a", ("Retry-After", "7"), ("X-RateLimit-Global", "true"), status=429)
        self.assertEqual((advice.action, advice.everywhere), ("wait", True))
        self.assertEqual(self.send("/b")[0], 7)
        self.assertEqual(self.send("/b", host="elsewhere")[0], 0)

    def test_what_is_in_flight_counts(self):
        self.send("/a", ("RateLimit", '"x";r=2;t=30'))
        first, second, third = (self.throttle.start("h", "/a") for _ in range(3))
        self.assertEqual((first.before(), second.before()), (0, 0))
        self.assertGreater(third.before(), 0)  # Two are left and two are under way.
        first.after(200, [("RateLimit", '"x";r=1;t=29')], None, "GET", False)
        self.assertGreater(third.before(), 0)  # The one that is left is under way.
        second.after(200, [("RateLimit", '"x";r=3;t=29')], None, "GET", False)
        self.assertEqual(third.before(), 0)

    def test_headroom_is_left_to_others(self):
        self.throttle = Throttle(Policy(headroom=5), clock=self.clock)
        self.send("/a", ("RateLimit", '"x";r=6;t=30'))
        self.assertEqual(self.send("/a", ("RateLimit", '"x";r=5;t=30'))[0], 0)
        self.assertEqual(self.send("/a")[0], 30)

    def test_a_new_window_lifts_what_was_known(self):
        self.send("/a", ("RateLimit", '"x";r=1;t=30'))
        self.send("/a")
        self.clock.sleep(31)
        self.assertEqual(self.send("/a")[0], 0)

    def test_cap_and_deadline_end_a_hold_at_once(self):
        self.send("/a", ("Retry-After", "3600"), status=429)
        with self.assertRaises(Throttled) as raised:
            self.send("/a")
        self.assertEqual(raised.exception.seconds, 3600)
        self.assertRegex(str(raised.exception), "^not sent: /a is held for 3600.000 s, longer than the cap of 60 s allows")
        self.send("/b", ("Retry-After", "30"), status=429)
        with deadline(10, self.clock), self.assertRaises(Throttled):
            self.send("/b")
        with deadline(99, self.clock), deadline(10, self.clock), self.assertRaises(Throttled):
            self.send("/b")
        self.assertEqual(self.clock.slept, [])
        self.assertEqual(self.send("/b")[0], 30)

    def test_memory_is_bounded(self):
        for number in range(10000):
            self.send("/%d" % number, ("X-RateLimit-Bucket", "b%d" % number))
        self.assertLessEqual(len(self.throttle._buckets), 4097)
        self.assertLessEqual(len(self.throttle._bucket_of), 4097)

    def test_a_failure_gives_its_place_back(self):
        attempts = self.throttle.start("h", "/a")
        attempts.before()
        attempts.failed()
        attempts.failed()
        self.assertEqual(self.throttle._buckets["/a"].in_flight, 0)


class Api:
    """A server with a quota: `left` requests, then 429."""

    def __init__(self, test, *replies):
        self.replies = list(replies)
        self.server = Scripted(lambda request, number: self.replies.pop(0) if len(self.replies) > 1 else self.replies[0])
        test.addCleanup(self.server.close)
        self.url, self.requests = self.server.url + "/things?page=1", self.server.requests


OK = http_answer(200, "ok")
LAST = http_answer(200, "last", 'RateLimit: "x";r=0;t=30')
SLOW_DOWN = http_answer(429, "slow down", "Retry-After: 20")
AN_HOUR = http_answer(429, "no", "Retry-After: 3600")


class Transport:
    """The same tests for each HTTP library. get, post: what the library's client does, and (status, text, advice)."""

    def setUp(self):
        self.clock = FakeClock()
        self.throttle = Throttle(clock=self.clock)

    def test_waits_after_a_429_and_sends_again(self):
        api = Api(self, SLOW_DOWN, OK)
        self.assertEqual(self.get(api.url)[:2], (200, "ok"))
        self.assertEqual(self.clock.slept, [20])

    def test_a_body_is_sent_again(self):
        api = Api(self, SLOW_DOWN, OK)
        self.assertEqual(self.post(api.url, b"payload")[:2], (200, "ok"))
        self.assertEqual([request.partition("\n\n")[2] for request in api.requests], ["payload", "payload"])

    def test_a_stream_is_not_sent_again(self):
        api = Api(self, SLOW_DOWN, OK)
        self.assertEqual(self.post(api.url, iter([b"payload"]))[0], 429)
        self.assertEqual(self.clock.slept, [])

    def test_waits_before_it_sends(self):
        api = Api(self, LAST, OK)
        self.assertEqual(self.get(api.url)[:2], (200, "last"))
        self.assertEqual(self.clock.slept, [])
        self.assertEqual(self.get(api.url)[:2], (200, "ok"))
        self.assertEqual(self.clock.slept, [30])

    def test_an_hour_is_given_back_at_once(self):
        api = Api(self, AN_HOUR)
        status, text, advice = self.get(api.url)
        self.assertEqual((status, text, advice.reason), (429, "no", "cap"))
        with self.assertRaises(Throttled):
            self.get(api.url)
        self.assertEqual((self.clock.slept, len(api.requests)), ([], 1))

    def test_attempts_end(self):
        api = Api(self, SLOW_DOWN)
        self.assertEqual(self.get(api.url)[2].reason, "attempts")
        self.assertEqual((self.clock.slept, len(api.requests)), ([20, 20, 20], 4))

    def test_the_deadline_wins(self):
        api = Api(self, SLOW_DOWN, OK)
        with deadline(15, self.clock):
            self.assertEqual(self.get(api.url)[2].reason, "deadline")
        self.assertEqual(self.clock.slept, [])

    def test_a_failure_is_the_callers(self):
        api = Api(self, None)
        with self.assertRaises(self.failure):
            self.get(api.url)
        self.assertTrue(all(not bucket.in_flight for bucket in self.throttle._buckets.values()))


@unittest.skipUnless(httpx, "httpx is not installed")
class HttpxTest(Transport, unittest.TestCase):
    failure = httpx and httpx.TransportError

    def result(self, response):
        return response.status_code, response.text, response.extensions["sluice"]

    def client(self):
        return httpx.Client(transport=throttled_httpx.ThrottledTransport(throttle=self.throttle))

    def get(self, url):
        with self.client() as client:
            return self.result(client.get(url))

    def post(self, url, content):
        length = {"Content-Length": "7"}
        with self.client() as client:
            return self.result(client.post(url, content=content, headers=length))


@unittest.skipUnless(httpx, "httpx is not installed")
class AsyncHttpxTest(Transport, unittest.TestCase):
    failure = httpx and httpx.TransportError

    async def request(self, method, url, **more):
        async with httpx.AsyncClient(transport=throttled_httpx.AsyncThrottledTransport(throttle=self.throttle)) as client:
            response = await client.request(method, url, **more)
            return response.status_code, response.text, response.extensions["sluice"]

    def get(self, url):
        return asyncio.run(self.request("GET", url))

    def post(self, url, content):
        async def stream(parts):
            for part in parts:
                yield part
        return asyncio.run(self.request("POST", url, content=content if isinstance(content, bytes) else stream(content),
                                        headers={"Content-Length": "7"}))


@unittest.skipUnless(requests, "requests is not installed")
class RequestsTest(Transport, unittest.TestCase):
    failure = requests and requests.ConnectionError

    def session(self):
        session = requests.Session()
        session.mount("http://", throttled_requests.ThrottledAdapter(self.throttle))
        return session

    def get(self, url):
        with self.session() as session:
            response = session.get(url)
            return response.status_code, response.text, response.sluice

    def post(self, url, content):
        with self.session() as session:
            response = session.post(url, data=content)  # A stream is sent in chunks; the script answers at the head.
            return response.status_code, response.text, response.sluice


if __name__ == "__main__":
    unittest.main()
