#!/usr/bin/env python3
"""The verbs beyond check on the real binary, and what of them a kill leaves.
Usage: verbs_test.py SLUICE
"""
import http.client
import json
import subprocess
import sys

from harness import DaemonCase, main

CONFIG = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 1000, path: %(root)s/table, snapshots: %(root)s/snapshots}
idempotency: {keep: 1h, mebibytes: 8}
rules:
  - {id: blocked, action: deny, match: {ip: {cidr: 198.51.100.0/24}}}
  - {id: office, action: allow, match: {ip: 192.0.2.99}}
  - id: login
    match: {endpoint: /login}
    key_pattern: "ip:{ip}"
    algorithm: fixed_window
    limit: 2
    window: 3650d
    ban: {after: 3, within: 30d, for: 30d}
  - {id: jobs, match: {job: "yes"}, key_pattern: "user:{user_id}", algorithm: concurrency, limit: 1,
     hold_ttl: 1h}
  - {id: tokens, key_pattern: "user:{user_id}", algorithm: sliding_window, limit: 1000, window: 3650d,
     reservation_ttl: 1h}
"""


class VerbsTest(DaemonCase):
    def setUp(self):
        super().setUp()
        (self.root / "snapshots").mkdir()
        (self.root / "sluice.yaml").write_text(CONFIG % {"root": self.root})
        self.start()

    def post(self, path, body, address=None, headers=None):
        host, port = (address or self.checks).rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=20)
        try:
            connection.request("POST", "/v1/ratelimit/" + path, json.dumps(body),
                               {"Content-Type": "application/json"} | (headers or {}))
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def left(self):
        return self.post("check", {"user_id": "a", "peek": True})[1]["remaining"]

    def sluice_says(self, *words):
        run = subprocess.run([self.sluice, *words], cwd=self.root, capture_output=True, text=True,
                             timeout=20)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_what_was_given_out_survives_a_kill(self):
        _, job = self.post("check", {"user_id": "a", "job": "yes", "cost": 1})
        _, reserved = self.post("check", {"user_id": "a", "cost": 400, "reserve": True})
        _, other = self.post("check", {"user_id": "a", "cost": 100, "receipt": True})
        settled = {"reservation": reserved["reservation"], "cost": 300}
        self.assertEqual(self.post("settle", settled)[0], 200)
        abuse = {"ip": "192.0.2.7", "endpoint": "/login"}
        for status in (200, 200, 429, 429, 429, 403):
            self.assertEqual(self.post("check", abuse)[0], status)
        self.assertEqual(self.left(), 599)

        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.assertIn("valid", self.sluice_says("table", "verify", "table"))
        self.assertIn("ban", self.sluice_says("table", "info", "table"))
        self.assertIn("settled charge", self.sluice_says("table", "dump", "table"))
        self.start()

        self.assertEqual(self.left(), 599)
        self.assertEqual(self.post("check", {"user_id": "a", "job": "yes"})[0], 429)
        self.assertEqual(self.post("settle", settled)[1]["settled"][0]["cost"], 300)
        self.assertEqual(self.post("settle", dict(settled, cost=0))[1]["settled"][0]["cost"], 300)
        self.assertEqual(self.post("refund", {"receipt": other["receipt"]})[1],
                         {"refunded": [{"name": "tokens", "units": 100}]})
        self.assertEqual(self.left(), 699)
        self.assertEqual(self.post("release", {"holds": job["holds"]})[1], {"released": 1})
        self.assertEqual(self.post("check", {"user_id": "a", "job": "yes"})[0], 200)
        self.assertEqual(self.post("check", abuse)[0], 403)

        bans = json.loads(self.sluice_says("bans", "--json", "--server", "http://" + self.admin))["bans"]
        self.assertEqual([(ban["rule"], ban["attributes"]) for ban in bans],
                         [("login", {"ip": "192.0.2.7"})])
        lifted = self.sluice_says("unban", "--json", "ip=192.0.2.7", "endpoint=/login", "--rule", "login",
                                  "--server", "http://" + self.admin)
        self.assertEqual(json.loads(lifted), {"lifted": 1})
        self.assertEqual(self.post("check", abuse)[0], 429)

    def test_what_was_given_out_survives_a_snapshot(self):
        _, job = self.post("check", {"user_id": "a", "job": "yes", "receipt": True})
        self.assertEqual(self.left(), 999)
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        (self.root / "table").unlink()  # As after a reboot.
        self.start()

        self.assertEqual(self.left(), 999)
        forged = job["receipt"][:-1] + ("A" if job["receipt"][-1] != "A" else "E")
        self.assertIn(self.post("refund", {"receipt": forged})[0], (400, 404))
        self.assertEqual(self.post("refund", {"receipt": job["receipt"]})[1],
                         {"refunded": [{"name": "tokens", "units": 1}]})
        self.assertEqual(self.post("release", {"holds": job["holds"]})[1], {"released": 1})
        self.assertEqual(self.left(), 1000)

        # Without its snapshots the table is another: what the first one gave out is not its own.
        _, other = self.post("check", {"user_id": "a", "job": "yes", "receipt": True})
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        (self.root / "table").unlink()
        for snapshot in (self.root / "snapshots").iterdir():
            snapshot.unlink()
        self.start()
        self.assertEqual(self.post("check", {"user_id": "a", "job": "yes"})[0], 200)
        self.assertEqual(self.post("refund", {"receipt": other["receipt"]})[0], 404)
        self.assertEqual(self.post("release", {"holds": other["holds"]})[1], {"released": 0})
        self.assertEqual(self.left(), 999)

    def test_lists(self):
        for _ in range(5):
            self.assertEqual(self.post("check", {"ip": "192.0.2.99", "endpoint": "/login"})[0], 200)
        status, denied = self.post("check", {"ip": "198.51.100.1", "user_id": "a"})
        self.assertEqual((status, denied["limits"][0]["reason"]), (403, "deny_listed"))

    def test_a_check_sent_again_spends_nothing(self):
        headers = {"Idempotency-Key": "one"}
        first = self.post("check", {"user_id": "a", "cost": 10}, headers=headers)
        self.assertEqual(self.post("check", {"user_id": "a", "cost": 10}, headers=headers), first)
        self.assertEqual(self.left(), 990)
        self.assertEqual(self.post("check", {"user_id": "a", "cost": 1}, headers=headers)[0], 422)
        self.assertEqual(self.metric("sluice_idempotency_replays_total"), 1)

    def test_a_batch(self):
        status, answers = self.post("batch", [{"user_id": "a"}, {"user_id": 1, "cost": "x"}])
        self.assertEqual((status, [a["status"] for a in answers]), (200, [200, 400]))


if __name__ == "__main__":
    main(sys.argv)
