#!/usr/bin/env python3
"""The last decisions and the decision log of the real binary, and `sluice replay` over that log.
Usage: decisions_test.py SLUICE
"""
import json
import os
import random
import signal
import subprocess
import unittest

from admin_client import SLUICE, Case, until  # (takes its own argument)

RULES = """
attributes: {api_key: {hash: true}}
rules:
  - {id: user, match: {user_id: "*"}, key_pattern: "{user_id}", algorithm: gcra, rate: 20, burst: 6, window: 1s}
  - {id: window, match: {user_id: "*"}, key_pattern: "{user_id}", algorithm: sliding_window_log, limit: 30, window: 10m}
  - {id: trial, match: {plan: free}, key_pattern: "{user_id}", algorithm: fixed_window, limit: 3, window: 1d, mode: shadow}
  - {id: keyed, match: {api_key: "*"}, key_pattern: "{api_key}", algorithm: fixed_window, limit: 2, window: 1d}
  - {id: listed, action: deny, match: {user_id: u7}}
"""
CONFIG = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 10000, path: %s}
loops: 1
rule_sources: [{files: [rules/*.yaml]}]
"""


class DecisionsTest(Case):
    def start_with(self, more=""):
        (self.root / "rules").mkdir(exist_ok=True)
        (self.root / "rules" / "rules.yaml").write_text(RULES)
        (self.root / "sluice.yaml").write_text(CONFIG % (self.root / "sluice.table") + more)
        return self.start()

    def lines(self, name="decisions.log"):
        path = self.root / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def test_a_denial_is_found_by_the_id_of_its_answer(self):
        daemon = self.start_with()
        body = {"api_key": "secret-key-0123456789"}
        for _ in range(2):
            self.assertEqual(daemon.ask(daemon.address, "POST", "/v1/ratelimit/check", body)[0], 200)
        status, _, fields = daemon.ask(daemon.address, "POST", "/v1/ratelimit/check", body)
        self.assertEqual(status, 429)
        found = daemon.ask_admin("GET", "decisions?request_id=" + fields["X-Request-Id"])[1]["decisions"]
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]["decisions"][0]["rule"], "keyed")
        self.assertEqual(found[0]["decisions"][0]["reason"], "quota_exceeded")
        self.assertTrue(found[0]["decisions"][0]["key"]["api_key"].startswith("h1:"))
        everything = daemon.ask_admin("GET", "decisions")[1]
        self.assertEqual([d["allowed"] for d in everything["decisions"]], [False, True, True])
        self.assertNotIn("secret-key", json.dumps(everything))
        run = daemon.command("decisions", "--outcome", "denied")
        self.assertIn(fields["X-Request-Id"], run.stdout)
        self.assertIn("keyed  api_key=h1:", run.stdout)
        self.assertIn("0 of 2 left  quota_exceeded, passes in ", run.stdout)
        self.assertIn("no such decision is kept", daemon.command("decisions", "--rule", "none").stdout)

    def test_replay_of_a_whole_log_makes_the_same_decisions(self):
        daemon = self.start_with("decision_log: {path: decisions.log, sample: 1, denied_sample: 1}\n")
        draw = random.Random(20)
        denied = 0
        for _ in range(600):
            body = {"user_id": "u%d" % draw.randrange(8), "cost": draw.choice([1, 1, 1, 2, 0]),
                    "plan": draw.choice(["free", "pro"])}
            if draw.random() < 0.2:
                body = {"api_key": "key-%d" % draw.randrange(30), "endpoint": "/a%2Fb"}
            status = daemon.ask(daemon.address, "POST", "/v1/ratelimit/check", body)[0]
            self.assertIn(status, (200, 403, 429))
            denied += status != 200
        daemon.stop()
        lines = self.lines()
        self.assertEqual(len(lines), 600)
        self.assertEqual(sum(not line["allowed"] for line in lines), denied)
        self.assertNotIn("key-1", json.dumps(lines))
        logged = {}
        for line in lines:
            for one in line["decisions"]:
                count = logged.setdefault(one["rule"], {"requests": 0, "denied": 0})
                count["requests"] += 1
                count["denied"] += one["outcome"] in ("denied", "shadow_denied")
        report = json.loads(subprocess.run(
            [SLUICE, "replay", "--json", "--rules", "rules/rules.yaml", "decisions.log"], cwd=self.root,
            check=True, capture_output=True, text=True, timeout=60).stdout)
        self.assertEqual(report["requests"], 600)
        self.assertEqual(report["denied"], denied)
        self.assertEqual(report["bad_lines"], [])
        replayed = {rule["name"]: {"requests": rule["requests"], "denied": rule["denied"]} for rule in report["rules"]}
        self.assertEqual(replayed, logged)
        self.assertGreater(logged["user"]["denied"], 0)
        self.assertGreater(logged["keyed"]["denied"], 0)
        self.assertGreater(logged["trial"]["denied"], 0)

    def test_the_log_follows_logrotate_and_its_own_bound(self):
        daemon = self.start_with("decision_log: {path: decisions.log, sample: 1, max_bytes: 100000, keep: 1}\n")

        def ask(count):
            for _ in range(count):
                daemon.ask(daemon.address, "POST", "/v1/ratelimit/check", {"user_id": "x" * 100})
        ask(3)
        until(lambda: len(self.lines()) == 3)
        os.rename(self.root / "decisions.log", self.root / "moved.log")
        daemon.process.send_signal(signal.SIGHUP)
        until(lambda: "reloaded" in daemon.log())
        ask(2)
        until(lambda: len(self.lines()) == 2)
        self.assertEqual(len(self.lines("moved.log")), 3)
        ask(400)
        daemon.stop()
        kept = self.lines("decisions.log.1")
        self.assertLessEqual((self.root / "decisions.log.1").stat().st_size, 100000)
        self.assertLessEqual((self.root / "decisions.log").stat().st_size, 100000)
        self.assertGreater(len(kept), 0)
        self.assertFalse((self.root / "decisions.log.2").exists())

    def test_the_daemons_log_has_fields_and_one_line_of_denials_a_rule(self):
        daemon = self.start_with("log: {format: json, denial_summary: 1h}\n")
        for _ in range(200):
            daemon.ask(daemon.address, "POST", "/v1/ratelimit/check", {"api_key": "k\x1b[2J"})
        daemon.ask(daemon.address, "POST", "/v1/ratelimit/check", "{")
        (self.root / "rules" / "rules.yaml").write_text("rules: [{id: r, algorithm: none}]\n")
        daemon.process.send_signal(signal.SIGHUP)
        until(lambda: "rules_invalid" in daemon.log())
        daemon.stop()
        lines = [json.loads(line) for line in daemon.log().splitlines()]
        events = {line["event"]: line for line in lines}
        denials = [line for line in lines if line["event"] == "denials"]
        self.assertEqual(len(denials), 1)
        self.assertEqual((denials[0]["rule"], denials[0]["denied"], denials[0]["allowed"]), ("keyed", 198, 2))
        self.assertEqual(events["request_refused"]["status"], 400)
        self.assertEqual(events["request_refused"]["listener"], "127.0.0.1:0")
        self.assertIn("algorithm", events["rules_invalid"]["reason"] + events["rules_invalid"]["message"])
        self.assertEqual(events["serving"]["rules"], 5)
        self.assertTrue(all(line["level"] and line["time"] and line["message"] for line in lines))

    def test_a_trace_shows_requests_whole_and_can_be_turned_off(self):
        daemon = self.start_with("log: {format: json}\n")
        self.assertEqual(daemon.command("trace").stdout, "the trace is off\n")
        daemon.ask(daemon.address, "POST", "/v1/ratelimit/check", {"user_id": "before"})
        self.assertIn("up to 1000 requests a second, for another 60 s",
                      daemon.command("trace", "on", "--per-second", "1000", "--seconds", "60").stdout)
        daemon.ask(daemon.address, "POST", "/v1/ratelimit/check",
                   {"user_id": "u1", "plan": "free", "api_key": "secret-key-0123456789"})
        until(lambda: '"event": "request"' in daemon.log())
        self.assertEqual(daemon.command("trace", "off").stdout, "the trace is off\n")
        daemon.ask(daemon.address, "POST", "/v1/ratelimit/check", {"user_id": "after"})
        daemon.stop()
        shown = [json.loads(line) for line in daemon.log().splitlines() if '"event": "request"' in line]
        self.assertEqual(len(shown), 1)
        request = shown[0]["request"]
        self.assertEqual({one["rule"] for one in request["decisions"]}, {"user", "window", "trial", "keyed"})
        self.assertEqual((request["attributes"]["user_id"], request["attributes"]["plan"]), ("u1", "free"))
        self.assertTrue(request["attributes"]["api_key"].startswith("h1:"))
        self.assertNotIn("secret-key", daemon.log())

    def test_a_log_that_cannot_be_opened_keeps_the_daemon_from_starting(self):
        (self.root / "rules").mkdir(exist_ok=True)
        (self.root / "sluice.yaml").write_text(CONFIG % (self.root / "sluice.table") +
                                               "decision_log: {path: none/decisions.log}\n")
        run = subprocess.run([SLUICE, "serve", "--config", "sluice.yaml"], cwd=self.root, capture_output=True,
                             text=True, timeout=60)
        self.assertEqual(run.returncode, 2)
        self.assertIn("decision log: cannot open", run.stderr)


if __name__ == "__main__":
    unittest.main()
