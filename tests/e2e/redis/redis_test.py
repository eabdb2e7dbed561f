#!/usr/bin/env python3
"""Nodes that share one Redis: one limit for all, and what holds while it is away.
Usage: redis_test.py SLUICE"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "daemon"))
from harness import Authority, Redis, launch, until  # noqa: E402

RULES = """
rules:
  - {id: fleet, match: {for: fleet}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 100, window: 3650d}
  - {id: open, match: {for: open}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 3, window: 3650d}
  - {id: shut, match: {for: shut}, key_pattern: "user:{user_id}", algorithm: gcra, rate: 3, window: 3650d,
     on_store_error: deny}
  - {id: here, match: {for: here}, key_pattern: "user:{user_id}", algorithm: gcra, rate: 7, window: 3650d,
     on_store_error: local}
  - {id: abuse, match: {for: abuse}, key_pattern: "user:{user_id}", algorithm: gcra, rate: 1, window: 3650d,
     ban: {after: 2, within: 30d, for: 15d}}
  - {id: lent, match: {for: lent}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 1000, window: 3650d,
     sync: lease}
  - {id: own, match: {for: own}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 5, window: 3650d,
     sync: local}
"""


class Node:
    """A daemon in a folder of its own."""

    def __init__(self, sluice, root, store, rules=RULES):
        root.mkdir()
        (root / "sluice.yaml").write_text(
            "store: %s\ntable: {keys: 1000}\nloops: 2\nlisteners:\n"
            "  - {address: \"127.0.0.1:0\"}\n  - {address: \"127.0.0.1:0\", role: admin}\n%s"
            % (store, rules))
        self.root = root
        self.process, self.greeting = launch([sluice, "serve", "--config", "sluice.yaml"], root)
        found = dict(re.findall(r"^  (checks|admin)\s+http://(\S+)", self.greeting, re.M))
        self.checks, self.admin = found["checks"], found["admin"]

    def log(self):
        return (self.root / "log").read_text()

    def ask(self, method, path, body=None, admin=False, headers=None):
        connection = http.client.HTTPConnection(self.admin if admin else self.checks, timeout=20)
        try:
            connection.request(method, path, body,
                               {"Content-Type": "application/json"} | (headers or {}))
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def check(self, what, user="u", cost=1):
        status, text = self.keyed_check(what, None, user, cost)
        return status, json.loads(text)

    def keyed_check(self, what, key, user="u", cost=1):
        body = json.dumps({"attributes": {"for": what, "user_id": user}, "cost": cost})
        return self.ask("POST", "/v1/ratelimit/check", body,
                        headers={"Idempotency-Key": key} if key else {})

    def up(self):
        """Whether all its loops are connected: two for checks, one for operators."""
        return self.metric("sluice_redis_connections_up") == 3

    def metric(self, name):
        text = self.ask("GET", "/metrics", admin=True)[1]
        found = re.search("^" + re.escape(name) + r" (\S+)$", text, re.M)
        return float(found.group(1)) if found else None

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=20)
        self.process.stdout.close()


class RedisTest(unittest.TestCase):
    sluice = ""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.redis, self.nodes = None, []

    def tearDown(self):
        for node in self.nodes:
            node.end()
        if self.redis:
            self.redis.kill()
        self.folder.cleanup()

    def node(self, store=None):
        # Far longer than any answer takes on a busy machine: who tests deadlines says so.
        store = store or "{redis: {address: \"unix:%s\", timeout: 5s}}" % self.redis.socket
        self.nodes.append(Node(self.sluice, self.root / ("node%d" % len(self.nodes)), store))
        return self.nodes[-1]

    def test_three_nodes_admit_exactly_one_limit(self):
        self.redis = Redis(self.root)
        nodes = [self.node() for _ in range(3)]
        for node in nodes:
            until(node.up)
            self.assertIn("store   redis unix:", node.greeting)
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda i: nodes[i % 3].check("fleet")[0], range(240)))
        self.assertEqual(answers.count(200), 100)
        self.assertEqual(answers.count(429), 140)
        until(lambda: nodes[0].metric("sluice_redis_nodes") is not None)
        self.assertEqual(int(self.redis.run("zcard", "sl1:{nodes}:nodes")), 3)

    def test_two_nodes_that_borrow_admit_exactly_one_limit_and_seldom_ask(self):
        self.redis = Redis(self.root)
        nodes = [self.node(), self.node()]
        for node in nodes:
            until(node.up)
        answered = "sluice_redis_calls_total{result=\"answered\"}"
        before = sum(node.metric(answered) for node in nodes)
        asked = admitted = denied_in_a_row = 0
        # What one loop holds to the end is served there: all are asked until none serves any more.
        while denied_in_a_row < 100 and asked < 5000:
            status = nodes[asked % 2].check("lent")[0]
            asked += 1
            admitted += status == 200
            denied_in_a_row = 0 if status == 200 else denied_in_a_row + 1
        self.assertEqual(admitted, 1000)
        calls = sum(node.metric(answered) for node in nodes) - before
        self.assertLess(calls, asked / 3)

    def test_a_node_that_ends_gives_back_what_it_borrowed(self):
        self.redis = Redis(self.root)
        one, other = self.node(), self.node()
        until(one.up)
        until(other.up)
        for _ in range(100):
            self.assertEqual(one.check("lent")[0], 200)
        self.assertGreater(one.metric("sluice_leases_held"), 0)
        one.end()
        self.assertEqual(other.check("lent", cost=900)[0], 200)
        self.assertEqual(other.check("lent")[0], 429)

    def test_a_local_rule_is_each_nodes_own(self):
        self.redis = Redis(self.root)
        nodes = [self.node(), self.node()]
        for node in nodes:
            until(node.up)
            self.assertEqual([node.check("own")[0] for _ in range(6)], [200] * 5 + [429])
        self.assertEqual(self.redis.run("--scan", "--pattern", "*own*"), "")

    def test_policies_hold_while_redis_is_away_and_end_when_it_is_back(self):
        self.redis = Redis(self.root)
        node = self.node()
        until(node.up)
        for _ in range(3):
            self.assertEqual(node.check("open", "spent")[0], 200)
        self.assertEqual(node.check("open", "spent")[0], 429)
        self.redis.kill()
        until(lambda: node.metric("sluice_redis_connections_up") == 0)
        status, body = node.check("open", "new")
        self.assertEqual(status, 200)
        self.assertTrue(body["limits"][0]["degraded"])
        # Who was denied stays so.
        status, body = node.check("open", "spent")
        self.assertEqual(status, 429, body)
        self.assertEqual(node.check("shut")[0], 503)
        got = [node.check("here")[0] for _ in range(9)]
        self.assertEqual(got, [200] * 7 + [429] * 2)
        self.redis.start()
        until(node.up)
        status, body = node.check("shut")
        self.assertEqual(status, 200)
        self.assertNotIn("degraded", json.dumps(body))
        until(lambda: "lost connection to Redis" in node.log())
        until(lambda: "connected to Redis" in node.log())

    def test_a_ban_is_the_fleets_listed_and_lifted_at_any_node(self):
        self.redis = Redis(self.root)
        one, other = self.node(), self.node()
        until(one.up)
        until(other.up)
        got = [node.check("abuse")[0] for node in (one, one, other, one, other)]
        self.assertEqual(got, [200, 429, 429, 403, 403])
        bans = json.loads(other.ask("GET", "/v1/ratelimit/bans", admin=True)[1])["bans"]
        self.assertEqual([(ban["rule"], ban["attributes"]) for ban in bans],
                         [("abuse", {"user_id": "u"})])
        status, text = one.ask("POST", "/v1/ratelimit/unban",
                               json.dumps({"for": "abuse", "user_id": "u"}), admin=True)
        self.assertEqual((status, json.loads(text)), (200, {"lifted": 1}))
        self.assertEqual(other.check("abuse")[0], 429)

    def test_a_check_sent_again_to_another_node_spends_nothing(self):
        self.redis = Redis(self.root)
        one, other = self.node(), self.node()
        until(one.up)
        until(other.up)
        first = one.keyed_check("fleet", "k1", cost=10)
        self.assertEqual(first[0], 200)
        self.assertEqual(other.keyed_check("fleet", "k1", cost=10), first)
        self.assertEqual(one.keyed_check("fleet", "k1", cost=10), first)
        self.assertEqual(other.keyed_check("fleet", "k1", cost=11)[0], 422)
        # Many copies that come together at both.
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(
                lambda i: (one, other)[i % 2].keyed_check("fleet", "k2", cost=10), range(24)))
        self.assertEqual(len(set(answers)), 1, answers)
        status, body = other.check("fleet", cost=0)
        self.assertEqual((status, body["remaining"]), (200, 80))
        # A denial is judged anew, wherever.
        self.assertEqual(one.keyed_check("fleet", "k3", cost=81)[0], 429)
        self.assertEqual(other.keyed_check("fleet", "k3", cost=80)[0], 200)
        # Without Redis each node is alone, and the rule's policy answers.
        self.redis.kill()
        until(lambda: one.metric("sluice_redis_connections_up") == 0)
        self.assertEqual(one.keyed_check("open", "k4", "new")[0], 200)
        self.assertEqual(one.metric("sluice_idempotency_unshared_total"), 1)

    def test_starts_without_redis_and_finds_it_later(self):
        self.redis = Redis(self.root)
        self.redis.kill()
        node = self.node()
        self.assertEqual(node.check("open")[0], 200)
        self.assertEqual(node.check("shut")[0], 503)
        self.redis.start()
        until(node.up)
        self.assertEqual(node.check("shut")[0], 200)

    def test_a_paused_redis_is_answered_for_in_time(self):
        self.redis = Redis(self.root)
        node = self.node("{redis: {address: \"unix:%s\", timeout: 20ms}}" % self.redis.socket)
        until(node.up)
        self.redis.signal(signal.SIGSTOP)
        try:
            for i in range(8):
                self.assertEqual(node.check("open", "p%d" % i)[0], 200)
                self.assertEqual(node.check("shut", "p%d" % i)[0], 503)
        finally:
            self.redis.signal(signal.SIGCONT)
        until(lambda: node.check("shut", "after")[0] == 200)
        # What landed late has gone back: the bucket's key is fresh, and so gone.
        until(lambda: node.metric("sluice_redis_late_charges_total") > 0)

    def test_users_passwords_and_tls_with_certificates(self):
        authority = Authority(self.root)
        authority.sign("server")
        authority.sign("client", "node")
        port = free_port()
        self.redis = Redis(self.root, "--tls-port", str(port), "--tls-cert-file",
                           str(self.root / "server.crt"), "--tls-key-file",
                           str(self.root / "server.key"), "--tls-ca-cert-file",
                           str(self.root / "ca.crt"), "--tls-auth-clients", "yes")
        self.redis.run("acl", "setuser", "sluice", "on", ">secret", "~sl1:*", "+@all")
        self.redis.run("config", "set", "requirepass", "another")
        (self.root / "password").write_text("secret\n")
        tls = "tls: {ca: ../ca.crt, cert: ../client.crt, key: ../client.key%s}"
        store = ("{redis: {address: \"127.0.0.1:%d\", username: sluice, timeout: 5s, "
                 "password_file: ../password, %s}}" % (port, tls))
        node = self.node(store % "")
        until(node.up)
        self.assertEqual(node.check("shut")[0], 200)
        # The certificate's name is checked.
        other = self.node(store % ", server_name: elsewhere")
        until(lambda: "lost connection to Redis" in other.log())
        until(lambda: "certificate" in other.log())
        self.assertEqual(other.check("shut", "v")[0], 503)

    def test_sluice_key_names_what_redis_holds(self):
        self.redis = Redis(self.root)
        node = self.node()
        until(node.up)
        node.check("shut", "u 1")
        run = subprocess.run([self.sluice, "key", "--rules", "sluice.yaml", "for=shut",
                              "user_id=u 1"], cwd=node.root, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        rule, key = run.stdout.split()
        self.assertEqual(rule, "shut")
        self.assertEqual(self.redis.run("exists", key), "1")
        for _ in range(2):
            node.check("shut", "u 1")
        self.assertEqual(node.check("shut", "u 1")[0], 429)
        self.redis.run("del", key)
        self.assertEqual(node.check("shut", "u 1")[0], 200)


def free_port():
    """One that nobody had a moment ago: redis-server does not say which it was given."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


if __name__ == "__main__":
    RedisTest.sluice = os.path.abspath(sys.argv.pop(1))
    unittest.main()
