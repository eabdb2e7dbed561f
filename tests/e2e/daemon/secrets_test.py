#!/usr/bin/env python3
"""An attribute with `hash` stands nowhere in clear: whatever the daemon keeps, lists, answers, prints and
logs is searched for its value. Usage: secrets_test.py SLUICE
"""
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile

from harness import DaemonCase, Redis, main

SECRET = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
OTHER = "sk_live_00000000000000000000override"

CONFIG = """
%(store)s
listeners:
  - {address: "127.0.0.1:0", proxy: {headers: {api_key: X-Api-Key}}}
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 1000, path: %(root)s/state/table, snapshots: %(root)s/state/snapshots}
rule_sources: [{api: {dir: %(root)s/state/api}}]
attributes: {api_key: {hash: {secret: %(secret)s}}}
rules:
  - {id: live, match: {api_key: "sk_live_*"}, key_pattern: "{api_key}", algorithm: sliding_window_log, limit: 2, window: 30d,
     overrides: {%(other)s: {limit: 3}}, ban: {after: 1, within: 1h, for: 1h}}
  - {id: new, key_pattern: "{api_key}{ip}", algorithm: fixed_window, limit: 1, window: 30d, mode: shadow}
  - {id: jobs, match: {job: "yes"}, key_pattern: "{api_key}", algorithm: concurrency, limit: 5, hold_ttl: 1h,
     replaces: [live]}
"""


class SecretsTest(DaemonCase):
    store = ""

    def setUp(self):
        super().setUp()
        self.said = []
        for folder in ("state", "state/snapshots"):
            (self.root / folder).mkdir()
        self.config = self.root / "sluice.yaml"
        self.config.write_text(CONFIG % {"root": self.root, "secret": "a-secret-of-the-fleet",
                                         "other": OTHER, "store": self.store})
        self.start()

    def ask(self, address, method, path, body=None, **fields):
        connection = http.client.HTTPConnection(address, timeout=20)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json"} | fields)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        self.said.append(text + str(response.headers))
        return response.status, json.loads(text) if text.startswith(("{", "[")) else text

    def check(self, key, **more):
        return self.ask(self.checks, "POST", "/v1/ratelimit/check",
                        {"api_key": key, "ip": "192.0.2.1", **more})

    def keep_what_others_know(self):
        """Puts what is kept beside the daemon's own files below state/ as well."""

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=30)
        return self.process.returncode

    def run_cli(self, *words):
        run = subprocess.run([self.sluice, *words], capture_output=True, text=True, timeout=30)
        self.said.append(run.stdout + run.stderr)
        return run.stdout

    def test_a_secret_stands_nowhere_in_clear(self):
        # By value: the match, the override.
        self.assertEqual([self.check(SECRET, receipt=True)[0] for _ in range(4)],
                         [200, 200, 429, 403])
        self.assertEqual([self.check(OTHER, reserve=True)[0] for _ in range(4)],
                         [200, 200, 200, 429])
        self.assertEqual(self.check("sk_test_1")[0], 200)
        self.assertIn("hold", json.dumps(self.check(SECRET, job="yes")[1]))
        self.assertEqual(self.ask(self.checks, "GET", "/v1/check/http/x", **{"X-Api-Key": SECRET})[0], 429)
        bans = self.ask(self.admin, "GET", "/v1/ratelimit/bans")[1]
        self.assertIn("h1:", json.dumps(bans))
        report = self.ask(self.admin, "GET", "/v1/ratelimit/shadow-report")[1]
        self.assertIn("h1:", json.dumps(report))
        for path in ("/metrics", "/v1/ratelimit/config", "/v1/ratelimit/config/new"):
            self.ask(self.admin, "GET", path)
        self.ask(self.checks, "GET", "/v1/ratelimit/status?job=yes&api_key=" + SECRET)
        admin = "http://" + self.admin
        self.run_cli("bans", "--server", admin)
        self.run_cli("shadow-report", "--server", admin)
        self.assertIn("h1:", self.run_cli("key", "--rules", str(self.config), "api_key=" + SECRET))
        self.assertIn("live", self.run_cli("explain", "--rules", str(self.config), "ip=192.0.2.1",
                                           "api_key=" + SECRET))
        # Operators may name the value.
        self.run_cli("unban", "--server", admin, "api_key=" + SECRET, "ip=192.0.2.1")
        self.assertEqual(self.check(SECRET)[0], 429)
        self.check(SECRET)
        self.assertEqual(self.stop(), 0)
        self.run_cli("table", "dump", str(self.root / "state/table"))
        self.keep_what_others_know()
        kept = [path for path in (self.root / "state").rglob("*") if path.is_file()]
        self.assertGreater(sum(path.stat().st_size for path in kept), 64 * 1000)
        for path in kept + [self.root / "log"]:
            for secret in (SECRET, OTHER):
                self.assertNotIn(secret.encode(), path.read_bytes(), path)
        for text in self.said:
            for secret in (SECRET, OTHER):
                self.assertNotIn(secret, text)

    def test_an_operator_who_has_the_hash_alone_can_look_unban_and_reset(self):
        self.assertEqual([self.check(SECRET)[0] for _ in range(4)], [200, 200, 429, 403])
        admin = "http://" + self.admin
        [ban] = self.ask(self.admin, "GET", "/v1/ratelimit/bans")[1]["bans"]
        hashed = "api_key=" + ban["attributes"]["api_key"]
        self.assertIn(hashed, self.run_cli("bans", "--server", admin))
        used = self.run_cli("status", "--server", admin, hashed, "ip=192.0.2.1")
        self.assertRegex(used, r"new +denied +limit 1, remaining 0")
        # The match of `live` asks for the value, so the rule is named.
        self.assertEqual(self.run_cli("unban", "--server", admin, hashed, "--rule", "live"),
                         "1 ban lifted\n")
        self.assertEqual(self.check(SECRET)[0], 429)
        self.run_cli("unban", "--server", admin, hashed, "--rule", "live")
        self.assertEqual(self.run_cli("reset", "--server", admin, hashed, "--rule", "live"),
                         "1 key reset\n")
        self.assertEqual(self.check(SECRET)[0], 200)
        # To a caller the hash is a value like any other.
        self.assertEqual(self.ask(self.checks, "GET", "/v1/ratelimit/status?ip=192.0.2.1&" + hashed)
                         [1]["limits"][0]["remaining"], 1)

    def test_the_hash_is_the_same_after_a_restart(self):
        self.assertEqual([self.check(SECRET)[0] for _ in range(2)], [200, 200])
        self.assertEqual(self.stop(), 0)
        self.start()
        self.assertEqual(self.check(SECRET)[0], 429)


class SecretsInRedisTest(SecretsTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.redis = Redis(pathlib.Path(folder.name), "--rdbcompression", "no")
        self.addCleanup(self.redis.kill)
        self.store = "store: {redis: {address: 'unix:%s', timeout: 5s}}" % self.redis.socket
        super().setUp()

    def keep_what_others_know(self):
        self.assertIn("h1:", self.redis.run("KEYS", "*").replace("%3a", ":"))
        self.redis.run("SAVE")
        dump = (self.redis.root / "dump.rdb").read_bytes()
        self.assertIn(b"h1:", dump)
        (self.root / "state/dump.rdb").write_bytes(dump)


if __name__ == "__main__":
    main(sys.argv)
