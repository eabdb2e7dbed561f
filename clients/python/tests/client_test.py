"""Client and AsyncClient against the real daemon, and against servers that misbehave."""

import asyncio
import logging
import socket
import threading
import unittest

from support import ALLOWED, Daemon, DaemonCase, FakeClock, Scripted, http_answer, until

from sluice_client import (AsyncClient, Breaker, CallError, Check, Client, Denied, Policy, Unavailable)


class CheckTest(DaemonCase):
    def setUp(self):
        self.client = Client(self.daemon.url, timeout=10)
        self.addCleanup(self.client.close)

    def test_allows_up_to_the_limit_and_says_when_to_come_back(self):
        for left in (2, 1, 0):
            decision = self.client.check(self.user())
            self.assertTrue(decision)
            self.assertEqual((decision.remaining, decision.reason, decision.retry_after), (left, None, None))
            self.assertEqual(decision.why, "allowed by api")
        denied = self.client.check(self.user())
        self.assertFalse(denied)
        self.assertEqual((denied.status, denied.reason, denied.denied_by.name), (429, "quota_exceeded", "api"))
        self.assertTrue(1190 < denied.retry_after <= 1200, denied.retry_after)
        self.assertEqual(denied.headers["Retry-After"], str(-int(-denied.retry_after // 1)))
        self.assertIn("RateLimit", denied.headers)
        self.assertNotIn("Date", denied.headers)
        self.assertRegex(denied.why, r"^denied by api: quota_exceeded; again in 1\d\d\d\.\d+ s$")
        self.assertIn("denied by api", repr(denied))

    def test_no_rule(self):
        decision = self.client.check({"endpoint": "/elsewhere"})
        self.assertEqual((decision.allowed, decision.limits, decision.remaining), (True, (), None))
        self.assertEqual(decision.why, "allowed: no rule applies")

    def test_waiting_does_not_help(self):
        for attributes, cost, reason in ((self.user("/never"), 1, "limit_zero"), (self.user(), 9, "cost_exceeds_capacity")):
            decision = self.client.check(attributes, cost=cost)
            self.assertEqual((decision.reason, decision.retry_after), (reason, None))
            self.assertIn("waiting does not help", decision.why)

    def test_peek_and_status_charge_nothing(self):
        self.assertEqual(self.client.check(self.user(), peek=True).remaining, 3)
        self.assertEqual(self.client.status(self.user()).remaining, 3)
        self.assertFalse(self.client.status(self.user(), cost=4).allowed)
        self.assertEqual(self.client.check(self.user()).remaining, 2)

    def test_attributes_of_all_types_and_names(self):
        decision = self.client.check({"user_id": self.id(), "endpoint": "/api", "cost": "x", "n": 1, "yes": True, "no": None,
                                      "Ünïcode ☃": "\"\n"})
        self.assertEqual(decision.remaining, 2)
        self.assertEqual(self.client.status({**self.user(), "yes": True, "none": None, "&=": "& ?#"}).remaining, 2)

    def test_an_idempotency_key_charges_once(self):
        first = self.client.check(self.user(), idempotency_key="k-" + self.id())
        again = self.client.check(self.user(), idempotency_key="k-" + self.id())
        self.assertEqual((first.remaining, again.remaining), (2, 2))
        with self.assertRaises(CallError) as raised:
            self.client.check(self.user(), cost=2, idempotency_key="k-" + self.id())
        self.assertEqual((raised.exception.status, raised.exception.code), (422, "key_reused"))

    def test_a_wrong_call_is_an_error_and_no_denial(self):
        with self.assertRaises(CallError) as raised:
            self.client.check(self.user(), cost=-1)
        self.assertEqual((raised.exception.status, raised.exception.code), (400, "invalid_cost"))
        with self.assertRaises(CallError):
            self.client.check({"a": "x" * 2000})
        with self.assertRaises(CallError):
            Client(self.daemon.url + "/nothing", timeout=10).check(self.user())

    def test_a_batch(self):
        decisions = self.client.check_many([Check(self.user(), cost=2), Check(self.user(), cost=2), Check(self.user())])
        self.assertEqual([d.allowed for d in decisions], [True, False, True])
        self.assertEqual(decisions[1].reason, "quota_exceeded")
        self.assertEqual(self.client.check_many([]), [])
        with self.assertRaises(CallError):
            self.client.check_many([Check(self.user()), Check(self.user(), cost=-1)])

    def test_receipts_give_back_once(self):
        receipt = self.client.check(self.user(), cost=3, receipt=True).receipt
        self.assertEqual(self.client.refund(receipt), {"api": 3})
        self.client.refund(receipt)
        self.assertEqual(self.client.status(self.user()).remaining, 3)
        with self.assertRaises(CallError):
            self.client.refund("nonsense")

    def test_reserve_settles_at_the_actual_cost(self):
        with self.client.reserve(self.user("/llm"), cost=500) as reservation:
            self.assertEqual(self.client.status(self.user("/llm")).remaining, 500)
            reservation.cost = 312
        self.assertEqual([tuple(part) for part in reservation.settled], [("tokens", 500, 312)])
        self.assertEqual(self.client.status(self.user("/llm")).remaining, 688)

    def test_reserve_keeps_the_estimate_on_an_exception(self):
        with self.assertRaises(ZeroDivisionError):
            with self.client.reserve(self.user("/llm"), cost=500):
                1 / 0
        self.assertEqual(self.client.status(self.user("/llm")).remaining, 500)
        with self.assertRaises(Denied) as raised:
            self.client.reserve(self.user("/llm"), cost=501)
        self.assertEqual(raised.exception.decision.reason, "quota_exceeded")

    def test_hold_releases(self):
        jobs = {"tenant": self.id(), "endpoint": "/jobs"}
        with self.client.hold(jobs) as hold:
            self.assertEqual([token.name for token in hold.tokens], ["jobs"])
            with self.assertRaises(Denied) as raised:
                self.client.hold(jobs)
            self.assertEqual((raised.exception.decision.reason, raised.exception.decision.retry_after), ("in_flight", 1.0))
        with self.assertRaises(ZeroDivisionError):
            with self.client.hold(jobs):
                1 / 0
        self.assertTrue(self.client.status(jobs).allowed)

    def test_hold_renews_and_says_when_it_is_lost(self):
        jobs = {"tenant": self.id(), "endpoint": "/jobs"}
        with self.client.hold(jobs, renew_every=0.01) as hold:
            until(lambda: hold.renewals >= 2)
            self.assertFalse(hold.lost)
            self.client.release(hold.tokens)
            until(lambda: hold.lost)

    def test_the_interval_of_renewals_follows_the_rule(self):
        jobs = {"tenant": self.id(), "endpoint": "/jobs"}
        decision = self.client.check(jobs)
        from sluice_client._call import renewal_interval
        self.assertTrue(2.5 < renewal_interval(decision, 0.0) <= 10 / 3 + 0.4, renewal_interval(decision, 0.0))
        self.client.release(decision.holds)

    def test_acquire_waits_as_long_as_the_daemon_says(self):
        clock = FakeClock()
        client = Client(self.daemon.url, timeout=10, clock=clock)
        for _ in range(3):
            client.acquire(self.user())
        with self.assertRaises(Denied):
            client.acquire(self.user())  # 20 minutes: above the cap.
        self.assertEqual(clock.slept, [])
        with self.assertRaises(Denied):
            Client(self.daemon.url, timeout=10, clock=clock, policy=Policy(cap=7200)).acquire(self.user(), deadline=60)
        self.assertEqual(clock.slept, [])
        # The daemon's clock does not follow the fake one, so each attempt waits, until there are none left.
        with self.assertRaises(Denied):
            Client(self.daemon.url, timeout=10, clock=clock, policy=Policy(cap=7200, max_attempts=3)).acquire(self.user())
        self.assertEqual(len(clock.slept), 2)
        self.assertTrue(all(1190 < seconds <= 1200 for seconds in clock.slept), clock.slept)

    def test_acquire_in_real_time(self):
        for _ in range(3):  # 50 ms each.
            self.assertTrue(self.client.acquire(self.user("/quick"), deadline=10))

    def test_connections_are_reused(self):
        for _ in range(5):
            self.client.check(self.user())
        self.assertEqual(len(self.client._idle), 1)

    def test_many_threads_share_a_client(self):
        allowed = []
        def work():
            allowed.append(sum(self.client.check(self.user("/llm"), cost=10).allowed for _ in range(20)))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(allowed), 100)
        self.assertLessEqual(len(self.client._idle), 8)


class AsyncCheckTest(DaemonCase):
    def test_every_verb(self):
        async def verbs():
            async with AsyncClient(self.daemon.url, timeout=10) as client:
                self.assertEqual((await client.check(self.user())).remaining, 2)
                self.assertEqual((await client.status(self.user())).remaining, 2)
                decisions = await client.check_many([Check(self.user(), cost=2), Check(self.user())])
                self.assertEqual([d.allowed for d in decisions], [True, False])
                receipt = (await client.check(self.user("/llm"), cost=9, receipt=True)).receipt
                self.assertEqual(await client.refund(receipt), {"tokens": 9})
                async with client.reserve(self.user("/llm"), cost=500) as reservation:
                    reservation.cost = 312
                self.assertEqual(reservation.settled[0].cost, 312)
                self.assertEqual((await client.status(self.user("/llm"))).remaining, 688)
                jobs = {"tenant": self.id(), "endpoint": "/jobs"}
                async with client.hold(jobs, renew_every=0.01) as hold:
                    with self.assertRaises(Denied):
                        await client.hold(jobs)
                    while hold.renewals < 2:
                        await asyncio.sleep(0.005)
                    await client.release(hold.tokens)
                    while not hold.lost:
                        await asyncio.sleep(0.005)
                hold = await client.hold(jobs)
                await hold.release()
                self.assertTrue((await client.status(jobs)).allowed)
                with self.assertRaises(CallError):
                    await client.check(self.user(), cost=-1)
                self.assertLessEqual(len(client._idle), 2)  # A renewal may have had its own.
        self.run_async(verbs())

    def test_acquire(self):
        async def acquire():
            clock = FakeClock(chance=1.0)
            client = AsyncClient(self.daemon.url, timeout=10, clock=clock, policy=Policy(cap=7200, max_attempts=2))
            for _ in range(3):
                await client.acquire(self.user())
            with self.assertRaises(Denied):
                await client.acquire(self.user())
            self.assertEqual(len(clock.slept), 1)
            self.assertTrue(1190 * 1.2 < clock.slept[0] <= 1200 * 1.2, clock.slept)
            await client.aclose()
        self.run_async(acquire())

    def test_concurrent_checks_are_exact(self):
        async def many():
            async with AsyncClient(self.daemon.url, timeout=10) as client:
                decisions = await asyncio.gather(*(client.check(self.user("/llm"), cost=100) for _ in range(30)))
                self.assertEqual(sum(d.allowed for d in decisions), 10)
                self.assertLessEqual(len(client._idle), 30)
        self.run_async(many())

    def test_a_client_outlives_an_event_loop(self):
        client = AsyncClient(self.daemon.url, timeout=10)
        for left in (2, 1):
            self.assertEqual(self.run_async(client.check(self.user())).remaining, left)

    def test_cancelled(self):
        server = Scripted(lambda request, number: Scripted.SILENCE)
        self.addCleanup(server.close)
        async def cancel():
            client = AsyncClient(server.url, timeout=30)
            task = asyncio.ensure_future(client.check({}))
            while not server.requests:
                await asyncio.sleep(0.005)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(len(client._idle), 0)
        self.run_async(cancel())


class Both:
    """Runs a test with both clients: `self.check(server, ...)` is a check by either."""

    def clients(self, url, **options):
        client = Client(url, **options)
        self.addCleanup(client.close)
        yield lambda **more: client.check({}, **more)
        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)
        options.pop("breaker", None)
        aclient = AsyncClient(url, **options)
        yield lambda **more: loop.run_until_complete(aclient.check({}, **more))
        loop.run_until_complete(aclient.aclose())

    def scripted(self, answer):
        server = Scripted(answer)
        self.addCleanup(server.close)
        return server


class FailureTest(Both, unittest.TestCase):
    def setUp(self):
        logging.getLogger("sluice_client").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("sluice_client").setLevel, logging.NOTSET)

    def nobody(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            return "http://127.0.0.1:%d" % listener.getsockname()[1]

    def test_nobody_listens(self):
        for check in self.clients(self.nobody(), timeout=10):
            decision = check()
            self.assertEqual((decision.allowed, decision.degraded, decision.status), (True, True, 200))
            self.assertIn("allowed without Sluice", decision.why)
        for check in self.clients(self.nobody(), timeout=10, fail="closed"):
            decision = check()
            self.assertEqual((decision.allowed, decision.degraded, decision.status), (False, True, 503))
            self.assertEqual(decision.reason, "sluice_unavailable")
            self.assertGreaterEqual(decision.retry_after, 1.0)
            self.assertEqual(list(decision.headers), ["Retry-After"])

    def test_a_server_that_never_answers_costs_the_timeout(self):
        server = self.scripted(lambda request, number: Scripted.SILENCE)
        for check in self.clients(server.url, timeout=0.05, retries=0):
            self.assertEqual(check().why, "allowed without Sluice: timed out")

    def test_a_retry_has_the_same_key(self):
        server = self.scripted(lambda request, number: ALLOWED if number % 2 == 0 else None)
        for number, check in enumerate(self.clients(server.url, timeout=10)):
            self.assertFalse(check().degraded)
            keys = [line for request in server.requests[2 * number:] for line in request.split("\r\n")
                    if line.startswith("Idempotency-Key: ")]
            self.assertEqual(len(keys), 2)
            self.assertEqual(keys[0], keys[1])
            self.assertEqual(len(keys[0]), len("Idempotency-Key: ") + 32)

    def test_a_lost_answer_leaves_time_for_a_retry(self):
        server = self.scripted(lambda request, number: ALLOWED if number % 2 == 0 else Scripted.SILENCE)
        for check in self.clients(server.url, timeout=1.0):
            self.assertFalse(check().degraded)

    def test_without_retries_there_is_no_key(self):
        server = self.scripted(lambda request, number: ALLOWED)
        for check in self.clients(server.url, timeout=10, retries=0):
            check()
        for request in server.requests:
            self.assertNotIn("Idempotency-Key", request)

    def test_a_batch_is_not_repeated(self):
        server = self.scripted(lambda request, number: None)
        self.assertTrue(Client(server.url, timeout=10).check_many([Check({})])[0].degraded)
        self.assertEqual(len(server.requests), 1)

    def test_a_kept_connection_that_the_server_closed(self):
        server = self.scripted(lambda request, number: ALLOWED)
        for check in self.clients(server.url, timeout=10, retries=0):
            before = server.connections
            check()
            server.close_connections()
            until(lambda: not check().degraded)
            self.assertGreater(server.connections, before + 1)

    def test_answers_of_something_else(self):
        for answer in (b"SSH-2.0-OpenSSH\r\n\r\n", http_answer(502, "bad gateway"), http_answer(200, "<html>"),
                       http_answer(200, "[]"), http_answer(503, '{"status": 503}'), http_answer(429, "slow down"),
                       b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
                       b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n", b"x" * 70000):
            server = self.scripted(lambda request, number: answer)
            for check in self.clients(server.url, timeout=10):
                self.assertTrue(check().degraded, answer[:50])

    def test_other_framings(self):
        body = b'{"allowed": true, "limits": []}'
        for answer, connections in (
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + body[:5] + b"\r\n%x;a=b\r\n" % len(body[5:]) + body[5:]
             + b"\r\n0\r\n\r\n", 1),
            (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body, 1),
            (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body, 2),
        ):
            server = self.scripted(lambda request, number: answer)
            client = Client(server.url, timeout=10, retries=0)
            for _ in range(2):
                self.assertFalse(client.check({}).degraded, answer)
            self.assertEqual(server.connections, connections, answer)

    def test_a_body_until_the_end_of_the_connection(self):
        from sluice_client._http1 import ResponseParser
        parser = ResponseParser()
        self.assertIsNone(parser.feed(b"HTTP/1.1 200 OK\r\n\r\n{"))
        self.assertIsNone(parser.feed(b"}"))
        self.assertEqual((parser.end().body, parser.end().reusable), (b"{}", False))

    def test_every_split_of_a_response(self):
        from sluice_client._http1 import ResponseParser
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\": 1\r\n1\r\n}\r\n0\r\n\r\n"
        for data in (ALLOWED, chunked):
            whole = ResponseParser().feed(data)
            self.assertIsNotNone(whole)
            for at in range(1, len(data)):
                parser = ResponseParser()
                self.assertIsNone(parser.feed(data[:at]), data[:at])
                self.assertEqual(parser.feed(data[at:]), whole)

    def test_what_is_no_parameter(self):
        for wrong in (dict(url="127.0.0.1:8080"), dict(url="redis://h"), dict(fail="ajar"), dict(timeout=0), dict(retries=-1),
                      dict(token="a\nb")):
            with self.assertRaises(ValueError, msg=wrong):
                client = Client(**wrong)
                client.check({})
        for key in ("a\r\nHost: b", "ä"):
            with self.assertRaises(ValueError):
                Client().check({}, idempotency_key=key)
        for wrong in (dict(max_attempts=0), dict(cap=-1), dict(jitter=-0.1)):
            with self.assertRaises(ValueError):
                Policy(**wrong)
        with self.assertRaises(ValueError):
            Breaker(failures=0)


class BreakerTest(unittest.TestCase):
    def test_opens_tries_and_closes(self):
        clock = FakeClock()
        silent = [True]
        server = Scripted(lambda request, number: None if silent[0] else ALLOWED)
        self.addCleanup(server.close)
        client = Client(server.url, timeout=10, retries=0, breaker=Breaker(3, 1.0, clock), clock=clock)
        with self.assertLogs("sluice_client", "INFO") as logs:
            for _ in range(10):
                self.assertTrue(client.check({}).degraded)
            self.assertEqual(len(server.requests), 3)  # The other seven were decided at once.
            clock.sleep(0.999)
            client.check({})
            self.assertEqual(len(server.requests), 3)
            clock.sleep(0.002)
            client.check({})
            client.check({})
            self.assertEqual(len(server.requests), 4)  # One tries.
            silent[0] = False
            clock.sleep(1.001)
            self.assertFalse(client.check({}).degraded)
            self.assertFalse(client.check({}).degraded)
        self.assertEqual([record.levelname for record in logs.records], ["WARNING", "INFO"])

    def test_the_next_try_is_extended_at_random(self):
        clock = FakeClock(chance=1.0)
        breaker = Breaker(1, 2.0, clock)
        breaker.failed(Unavailable("x"))
        self.assertTrue(breaker.open)
        self.assertAlmostEqual(breaker.retry_in(), 3.0)


class OutageTest(unittest.TestCase):
    def test_a_daemon_that_stops_and_comes_back(self):
        logging.getLogger("sluice_client").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("sluice_client").setLevel, logging.NOTSET)
        daemon = Daemon()
        self.addCleanup(daemon.close)
        client = Client(daemon.url, timeout=0.2, breaker=Breaker(2, 0.02))
        user = {"user_id": "u", "endpoint": "/api"}
        self.assertEqual(client.check(user, timeout=10).remaining, 2)
        daemon.pause()  # Connections stay open, and nobody answers.
        self.assertTrue(client.check(user).degraded)
        self.assertTrue(client.check(user).degraded)
        self.assertTrue(client._verbs.breaker.open)
        daemon.resume()
        until(lambda: not client.check(user).degraded)
        daemon.stop()
        self.assertTrue(client.check(user).degraded)
        daemon.start()
        until(lambda: not client.check(user).degraded)


if __name__ == "__main__":
    unittest.main()
