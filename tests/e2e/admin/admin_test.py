#!/usr/bin/env python3
"""The admin listener's verbs on the real binary. Usage: admin_test.py SLUICE"""
import os
import signal
import unittest

from admin_client import QUOTA, Case, until


class AdminTest(Case):
    # Rules.

    def test_a_rule_that_is_put_is_in_force_at_once_and_after_a_kill(self):
        daemon = self.start()
        status, answer, headers = daemon.ask_admin(
            "PUT", "config/api_rate",
            {"key_pattern": "user:{user_id}", "algorithm": "token_bucket", "rate": 100,
             "burst": 150, "window": "1m"})
        self.assertEqual(status, 200, answer)
        self.assertEqual(answer["rule_id"], "api_rate")
        self.assertEqual(answer["status"], "active")
        self.assertEqual(answer["scope"], "node")
        self.assertEqual(daemon.limits(), {"api_rate": 150})
        daemon.stop(signal.SIGKILL)
        daemon = self.start()
        self.assertEqual(daemon.limits(), {"api_rate": 150})
        status, again, tags = daemon.ask_admin("GET", "config/api_rate")
        self.assertEqual(status, 200)
        self.assertEqual(again["rule"]["burst"], 150)
        self.assertEqual(again["source"], "api")
        self.assertEqual(tags["ETag"], headers["ETag"])
        everything = daemon.ask_admin("GET", "config")[1]
        self.assertEqual([rule["rule_id"] for rule in everything["rules"]], ["api_rate"])
        self.assertEqual(daemon.ask_admin("DELETE", "config/api_rate")[0], 200)
        self.assertEqual(daemon.limits(), {})
        self.assertEqual(daemon.ask_admin("GET", "config/api_rate")[0], 404)
        daemon.stop()
        self.assertEqual(self.start().limits(), {})

    def test_a_bad_rule_is_refused_with_every_error_and_its_place(self):
        daemon = self.start()
        daemon.put("a")
        status, problem, headers = daemon.ask_admin(
            "PUT", "config/a", '{"key_pattern": "user:{user_id}",\n  "algorithm": "gcrb",\n'
            '  "rate": 1.5, "window": "1m"}')
        self.assertEqual(status, 422)
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        self.assertEqual(problem["code"], "invalid_rule")
        self.assertEqual(problem["errors"][0]["line"], 2, problem)
        self.assertNotIn("source", problem["errors"][0])
        self.assertEqual(daemon.ask_admin("PUT", "config/a", "{no")[0], 400)
        self.assertEqual(daemon.ask_admin("PUT", "config/a%2f..", {})[0], 400)
        self.assertEqual(daemon.limits(), {"a": 10})
        self.assertEqual(daemon.ask_admin("POST", "config/a", {})[0], 405)

    def test_a_change_on_a_condition_that_does_not_hold_is_none(self):
        daemon = self.start()
        first = daemon.put("a")
        self.assertEqual(daemon.ask_admin("PUT", "config/a", QUOTA, If_None_Match="*")[0], 412)
        second = daemon.put("a", limit=11)
        self.assertNotEqual(first, second)
        body = {**QUOTA, "limit": 12}
        self.assertEqual(daemon.ask_admin("PUT", "config/a", body, If_Match=first)[0], 412)
        self.assertEqual(daemon.limits(), {"a": 11})
        self.assertEqual(daemon.ask_admin("PUT", "config/a", body, If_Match=second)[0], 200)
        self.assertEqual(daemon.ask_admin("DELETE", "config/a", If_Match=second)[0], 412)
        self.assertEqual(daemon.ask_admin("PUT", "config/b", QUOTA, If_Match="*")[0], 412)
        self.assertEqual(daemon.limits(), {"a": 12})

    def test_the_api_is_before_files(self):
        self.write({"id": "a", **QUOTA}, {"id": "b", **QUOTA})
        daemon = self.start()
        self.assertEqual(daemon.ask_admin("DELETE", "config/a")[0], 409)
        daemon.put("a", limit=3)
        self.assertEqual(daemon.limits(), {"a": 3, "b": 10})
        self.assertEqual(daemon.ask_admin("GET", "config/b")[1]["source"], "rules/a.yaml")
        (self.root / "rules/a.yaml").write_text("rules: [{id: broken}]")
        until(lambda: daemon.metric('sluice_rule_reloads_total{result="failed"}'))
        daemon.put("a", limit=4)  # A file that does not load stands in nobody's way.
        self.assertEqual(daemon.limits(), {"a": 4, "b": 10})
        self.write({"id": "a", **QUOTA, "limit": 7})
        until(lambda: daemon.limits() == {"a": 4})
        self.assertEqual(daemon.ask_admin("DELETE", "config/a")[1]["in_force"], "rules/a.yaml")
        self.assertEqual(daemon.limits(), {"a": 7})

    def test_a_rule_that_others_name_stays(self):
        daemon = self.start()
        daemon.put("a")
        daemon.put("b", replaces=["a"])
        self.assertEqual(daemon.ask_admin("DELETE", "config/a")[0], 422)
        self.assertEqual(daemon.limits(), {"b": 10})

    # Modes.

    def test_modes_count_at_once_and_after_a_kill(self):
        daemon = self.start()
        daemon.put("a", limit=1)
        self.assertEqual(daemon.check(user_id="u")[0], 200)
        self.assertEqual(daemon.check(user_id="u")[0], 429)
        run = daemon.command("mode", "a", "shadow")
        self.assertEqual(run.returncode, 0, run.stderr)
        status, answer = daemon.check(user_id="u")
        self.assertEqual((status, answer["limits"][0]["shadow"]), (200, True))
        self.assertEqual(daemon.metric('sluice_rule_mode{rule="a",mode="shadow"}'), 1)
        daemon.stop(signal.SIGKILL)
        daemon = self.start()
        self.assertEqual(daemon.check(user_id="u")[0], 200)
        self.assertEqual(daemon.ask_admin("GET", "config/a")[1]["mode"], "shadow")
        self.assertEqual(daemon.ask_admin("PUT", "mode/a", {"mode": "off"})[1]["mode"], "off")
        self.assertEqual(daemon.check(user_id="u")[1]["limits"], [])
        self.assertEqual(daemon.ask_admin("DELETE", "mode/a")[1]["mode"], "enforce")
        self.assertEqual(daemon.check(user_id="u")[0], 429)
        self.assertEqual(daemon.ask_admin("PUT", "mode/a", {"mode": "on"})[0], 400)
        self.assertEqual(daemon.ask_admin("PUT", "mode/b", {"mode": "off"})[0], 404)
        self.assertEqual(daemon.command("mode", "b").returncode, 2)

    def test_the_kill_switch_lifts_every_rule_until_it_is_off(self):
        daemon = self.start()
        daemon.put("a", limit=0)
        self.assertEqual(daemon.check(user_id="u")[0], 429)
        self.assertEqual(daemon.command("kill-switch", "on").returncode, 0)
        status, answer = daemon.check(user_id="u")
        self.assertEqual((status, answer["limits"]), (200, []))
        self.assertEqual(daemon.metric("sluice_kill_switch"), 1)
        daemon.stop(signal.SIGKILL)
        daemon = self.start()
        self.assertEqual(daemon.check(user_id="u")[0], 200)
        self.assertEqual(daemon.ask_admin("PUT", "kill-switch", {"on": False})[1]["on"], False)
        self.assertEqual(daemon.check(user_id="u")[0], 429)
        # By file: what stands there counts as soon as it does.
        file = self.root / "state/modes.json"
        file.write_text('{"kill_switch": true}')
        until(lambda: daemon.check(user_id="u")[0] == 200)
        file.unlink()
        until(lambda: daemon.check(user_id="u")[0] == 429)

    def test_the_shadow_report_says_what_would_have_been_denied_and_to_whom(self):
        daemon = self.start()
        daemon.put("a", limit=1)
        daemon.put("b", limit=1, mode="shadow", key_pattern="ip:{ip}")
        self.assertEqual(daemon.ask_admin("PUT", "mode/a", {"mode": "shadow"})[0], 200)
        for _ in range(3):
            self.assertEqual(daemon.check(user_id="u_1", ip="192.0.2.1")[0], 200)
        self.assertEqual(daemon.check(user_id="u_2", ip="192.0.2.2", peek=True)[0], 200)
        report = {rule["rule_id"]: rule for rule in daemon.ask_admin("GET", "shadow-report")[1]["rules"]}
        self.assertEqual(report["a"]["would_allow"], 1)
        self.assertEqual(report["a"]["would_deny"], 2)
        self.assertEqual(report["a"]["newly_denied"], 2)
        self.assertEqual(report["a"]["keys"], [{"key": "user_id=u_1", "would_deny": 2, "newly_denied": 2}])
        self.assertEqual(report["b"]["keys"][0]["key"], "ip=192.0.2.1")
        run = daemon.command("shadow-report")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("this node, since ", run.stdout)
        self.assertIn("a (shadow): would have denied 2 of 3 requests: 2 that passed, 0 that other rules denied",
                      run.stdout)
        # A request that an enforced rule denies too is not newly denied.
        self.assertEqual(daemon.ask_admin("PUT", "mode/a", {"mode": "enforce"})[0], 200)
        self.assertEqual(daemon.check(user_id="u_1", ip="192.0.2.1")[0], 429)
        report = {rule["rule_id"]: rule for rule in daemon.ask_admin("GET", "shadow-report")[1]["rules"]}
        self.assertEqual((report["b"]["would_deny"], report["b"]["newly_denied"]), (3, 2))
        self.assertIn("a (now enforce; while in shadow): would have denied 2 of 3",
                      daemon.command("shadow-report").stdout)

    # Keys.

    def test_a_reset_makes_a_key_fresh(self):
        daemon = self.start()
        daemon.put("a", limit=2)
        daemon.put("b", limit=3)
        for _ in range(2):
            self.assertEqual(daemon.check(user_id="u")[0], 200)
        self.assertEqual(daemon.check(user_id="u")[0], 429)
        self.assertEqual(daemon.check(user_id="other")[0], 200)
        status, answer, _ = daemon.ask_admin("POST", "reset", {"user_id": "u"})
        self.assertEqual((status, answer["keys"], answer["complete"]), (200, 2, True))
        left = {limit["name"]: limit["remaining"]
                for limit in daemon.check(user_id="u", peek=True)[1]["limits"]}
        self.assertEqual(left, {"a": 2, "b": 3})
        self.assertEqual(daemon.check(user_id="other")[1]["remaining"], 0)
        run = daemon.command("reset", "user_id=other")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(daemon.check(user_id="other")[1]["remaining"], 1)

    def test_a_refund_never_lifts_a_key_above_its_quota(self):
        daemon = self.start()
        daemon.put("a")
        self.assertEqual(daemon.check(user_id="u", cost=8)[1]["remaining"], 2)
        self.assertEqual(daemon.ask_admin("POST", "refund", {"user_id": "u", "units": 3})[0], 200)
        self.assertEqual(daemon.check(user_id="u", peek=True)[1]["remaining"], 5)
        run = daemon.command("refund", "user_id=u", "--units", "50")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(daemon.check(user_id="u", peek=True)[1]["remaining"], 10)
        for body in ({"user_id": "u"}, {"units": 3}, {"user_id": "u", "units": -1}, [], "{"):
            self.assertEqual(daemon.ask_admin("POST", "refund", body)[0], 400, body)
        self.assertEqual(daemon.ask_admin("POST", "reset", {"user_id": "u", "units": 1})[0], 400)
        self.assertEqual(daemon.ask_admin("POST", "reset", {"user_id": "u", "rule": "z"})[0], 400)
        daemon.put("b")
        self.assertEqual(daemon.check(user_id="u", cost=4)[0], 200)
        answer = daemon.ask_admin("POST", "reset", {"user_id": "u", "rule": "b"})[1]
        self.assertEqual(answer["keys"], 1)
        left = {limit["name"]: limit["remaining"]
                for limit in daemon.check(user_id="u", peek=True)[1]["limits"]}
        self.assertEqual(left, {"a": 6, "b": 10})
        self.assertEqual(daemon.ask_admin("POST", "refund", {"nobody": 1, "units": 1})[1]["keys"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
