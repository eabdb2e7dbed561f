#!/usr/bin/python3
"""Routes of a real Envoy whose rate limit service is `sluice serve --envoy`.

  real_envoy_test.py SLUICE ENVOY     ends with 77, "skipped", where ENVOY is not there
"""
import os
import sys
import threading
import unittest

import envoy_test  # Finds harness, too.
import harness
import proxy

CONFIG = """
domain: d
descriptors:
  - key: generic_key
    value: slow
    rate_limit: {unit: year, requests_per_unit: 2, name: slow}
  - key: remote_address
    rate_limit: {unit: year, requests_per_unit: 2}
  - key: masked_remote_address
    value: 127.0.0.0/8
    rate_limit: {unit: year, requests_per_unit: 2}
  - key: destination_cluster
    value: backend
    descriptors:
      - key: source_cluster
        value: front
        rate_limit: {unit: year, requests_per_unit: 2}
  - key: header_match
    value: beta
    rate_limit: {unit: year, requests_per_unit: 2}
  - key: query_match
    value: big
    rate_limit: {unit: year, requests_per_unit: 2}
  - key: tenant
    rate_limit: {unit: year, requests_per_unit: 2}
  - key: user
    rate_limit: {unit: year, requests_per_unit: %d}
  - key: tokens
    rate_limit: {unit: year, requests_per_unit: 100}
  - key: team
    rate_limits:
      - {unit: second, requests_per_unit: 100}
      - {unit: year, requests_per_unit: 2, name: yearly}
"""

USER = [{"request_headers": {"header_name": "x-user", "descriptor_key": "user"}}]
TOKENS = [{"generic_key": {"descriptor_key": "tokens", "descriptor_value": "t"}}]
ROUTES = [
    proxy.route("/generic", [{"generic_key": {"descriptor_value": "slow"}}]),
    proxy.route("/remote", [{"remote_address": {}}]),
    proxy.route("/masked", [{"masked_remote_address": {"v4_prefix_mask_len": 8}}]),
    proxy.route("/clusters", [{"destination_cluster": {}}, {"source_cluster": {}}]),
    proxy.route("/header", [{"header_value_match": {
        "descriptor_value": "beta",
        "headers": [{"name": "x-beta", "present_match": True}]}}]),
    proxy.route("/query", [{"query_parameter_value_match": {
        "descriptor_value": "big", "expect_match": True,
        "query_parameters": [{"name": "size", "string_match": {"exact": "big"}}]}}]),
    proxy.route("/metadata", [{"metadata": {
        "descriptor_key": "tenant", "source": "ROUTE_ENTRY",
        "metadata_key": {"key": "tests", "path": [{"key": "tenant"}]}}}]),
    proxy.route("/user", USER),
    proxy.route("/team", [{"request_headers": {"header_name": "x-team", "descriptor_key": "team"}}]),
    proxy.route("/both", USER, [{"generic_key": {"descriptor_value": "slow"}}]),
    # Asks before with nothing to count, and counts what the answer said once it is through.
    proxy.own_route("/tokens",
                    {"actions": TOKENS, "hits_addend": {"number": 0}},
                    {"actions": TOKENS, "hits_addend": {"format": "%RESP(x-tokens)%"},
                     "apply_on_stream_done": True}),
]
KINDS = [("/generic", {}), ("/remote", {}), ("/masked", {}), ("/clusters", {}),
         ("/header", {"x-beta": "1"}), ("/query?size=big", {}), ("/metadata", {}),
         ("/user", {"x-user": "u"})]


class RealEnvoyTest(envoy_test.EnvoyCase):
    binary = ""

    def setUp(self):
        super().setUp()
        self.configure("first", CONFIG % 2)
        self.proxy = None

    def tearDown(self):
        if self.proxy:
            self.proxy.close()
        super().tearDown()

    def start_both(self, deny=False, cluster_more=None, credentials=None, **more):
        self.start(credentials, **more)
        self.proxy = proxy.Envoy(self.binary, self.root, self.grpc_port, ROUTES, deny, cluster_more)

    def statuses(self, path, headers=None, times=3):
        return [self.proxy.get(path, headers)[0] for _ in range(times)]

    def test_every_kind_of_action_is_limited(self):
        self.start_both(LIMIT_RESPONSE_HEADERS_ENABLED="true", SLUICE_RETRY_AFTER="true")
        for path, headers in KINDS:
            self.assertEqual(self.statuses(path, headers), [200, 200, 429], path)
        self.assertEqual(self.statuses("/header", times=4), [200] * 4)
        self.assertEqual(self.statuses("/query?size=small", times=4), [200] * 4)
        status, headers = self.proxy.get("/generic")
        self.assertEqual(status, 429)
        self.assertEqual(headers["x-envoy-ratelimited"], "true")
        self.assertEqual(headers["ratelimit-limit"], "2")
        self.assertEqual(headers["ratelimit-remaining"], "0")
        self.assertTrue(0 < int(headers["ratelimit-reset"]) <= 31536000)
        self.assertTrue(0 < int(headers["retry-after"]) <= 31536000)
        # Envoy makes these of the statuses: they must be right, too.
        self.assertTrue(headers["x-ratelimit-limit"].startswith("2, 2;w=31536000"), headers)
        self.assertIn('name="slow"', headers["x-ratelimit-limit"])
        self.assertEqual(headers["x-ratelimit-remaining"], "0")
        _, headers = self.proxy.get("/user", {"x-user": "fresh"})
        self.assertEqual(headers["ratelimit-remaining"], "1")

    def test_fields_of_the_draft_reach_the_client(self):
        self.start_both(SLUICE_RATELIMIT_FIELDS="true", SLUICE_RETRY_AFTER="true")
        team = {"x-team": "t"}
        for left in (1, 0, 0):
            status, headers = self.proxy.get("/team", team)
            self.assertEqual(headers["ratelimit-policy"],
                             '"team-1s";q=100;w=1, "yearly";q=2;w=31536000')
            self.assertRegex(headers["ratelimit"],
                             r'^"team-1s";r=\d+;t=1, "yearly";r=%d;t=\d+$' % left)
        self.assertEqual(status, 429)
        self.assertTrue(0 < int(headers["retry-after"]) <= 31536000)
        self.assertIn('name="yearly"', headers["x-ratelimit-limit"])

    def test_one_descriptor_of_several_is_enough(self):
        self.start_both()
        self.assertEqual(self.statuses("/both", {"x-user": "a"}), [200, 200, 429])
        self.assertEqual(self.statuses("/both", {"x-user": "b"}), [429] * 3)

    def test_hits_are_counted_when_the_stream_is_done(self):
        self.start_both()
        self.assertEqual(self.proxy.get("/tokens", {"x-tokens": "60"})[0], 200)
        name = 'ratelimit_service_rate_limit_total_hits{domain="d",key1="tokens"}'
        harness.until(lambda: name + " 60" in self.metrics())
        self.assertEqual(self.proxy.get("/tokens", {"x-tokens": "50"})[0], 200)
        harness.until(lambda: name + " 110" in self.metrics())
        self.assertEqual(self.proxy.get("/tokens", {"x-tokens": "1"})[0], 429)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def restart(self, **more):
        """On the same port."""
        port = str(self.grpc_port)
        self.client.close()
        self.start(GRPC_PORT=port, **more)

    def test_without_the_service_envoy_decides(self):
        self.start_both()
        self.assertEqual(self.statuses("/user", {"x-user": "u"}), [200, 200, 429])
        self.kill()
        self.assertEqual(self.statuses("/user", {"x-user": "u"}), [200] * 3)
        self.restart()
        # What was counted is still there.
        harness.until(lambda: self.proxy.get("/user", {"x-user": "u"})[0] == 429)

    def test_without_the_service_envoy_denies_if_told_to(self):
        self.start_both(deny=True)
        self.assertEqual(self.proxy.get("/user", {"x-user": "u"})[0], 200)
        self.kill()
        self.assertEqual(self.proxy.get("/user", {"x-user": "u"})[0], 500)
        self.restart()
        harness.until(lambda: self.proxy.get("/user", {"x-user": "v"})[0] == 200)

    def test_a_reload_under_load_loses_nothing(self):
        self.configure("first", CONFIG % 1_000_000)
        self.start_both(deny=True)
        stop, seen = threading.Event(), []

        def load():
            while not stop.is_set():
                seen.append(self.proxy.get("/user", {"x-user": "u"})[0])

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for i in range(5):
            self.configure("g%d" % i, CONFIG % (1_000_001 + i))
            self.swap("g%d" % i)
            name = "ratelimit_service_config_load_success %d" % (i + 2)
            harness.until(lambda: name in self.metrics())
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(set(seen), {200})
        name = 'ratelimit_service_rate_limit_total_hits{domain="d",key1="user"} %d' % len(seen)
        self.assertIn(name, self.metrics())

    def test_over_tls_with_a_certificate_of_its_own(self):
        authority = harness.Authority(self.root)
        authority.sign("server")
        authority.sign("client")
        self.start_both(cluster_more=proxy.tls(self.root), GRPC_SERVER_USE_TLS="true",
                        deny=True, GRPC_SERVER_TLS_CERT="server.crt",
                        GRPC_SERVER_TLS_KEY="server.key", GRPC_CLIENT_TLS_CACERT="ca.crt")
        self.assertEqual(self.statuses("/user", {"x-user": "u"}), [200, 200, 429])


if __name__ == "__main__":
    RealEnvoyTest.sluice, RealEnvoyTest.binary = map(os.path.abspath, sys.argv[1:3])
    if not os.access(RealEnvoyTest.binary, os.X_OK):
        print("skipped: there is no Envoy here (tools/envoy.sh says why)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:],
                  defaultTest=None if sys.argv[3:] else "RealEnvoyTest")
