#!/usr/bin/env python3
"""`sluice why` and GET /v1/ratelimit/why against real daemons, over the table and over Redis: what
they say is what a check then gets, and asking spends nothing.
Usage: why_test.py SLUICE"""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "daemon"))
from harness import Redis, launch, until  # noqa: E402

LISTENERS = """
loops: 2
listeners:
  - {address: "127.0.0.1:0"}
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 1000}
"""
RULES = """
rules:
  - id: api
    match: {for: api}
    key_pattern: "user:{user_id}"
    algorithm: fixed_window
    limit: 3
    window: 3650d
    plans:
      - {match: {plan: pro}, limit: 5}
    overrides:
      u_big: {limit: 7}
  - {id: abuse, match: {for: abuse}, key_pattern: "user:{user_id}", algorithm: gcra, rate: 1, window: 3650d,
     ban: {after: 2, within: 30d, for: 15d}}
  - {id: jobs, match: {for: jobs}, key_pattern: "user:{user_id}", algorithm: concurrency, limit: 1, hold_ttl: 1h}
  - {id: quiet, match: {for: quiet}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 1, window: 3650d,
     mode: shadow}
  - {id: tokens, match: {for: tokens}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 9, window: 3650d,
     cost: used}
  - {id: listed, action: deny, match: {for: listed}}
  - {id: shut, match: {for: shut}, key_pattern: "user:{user_id}", algorithm: gcra, rate: 3, window: 3650d,
     on_store_error: deny}
  - {id: here, match: {for: here}, key_pattern: "user:{user_id}", algorithm: gcra, rate: 7, window: 3650d,
     on_store_error: local}
  - {id: lent, match: {for: lent}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 1000, window: 3650d,
     sync: lease}
"""
ENVOY = """
domain: shop
descriptors:
  - {key: remote_address, rate_limit: {unit: minute, requests_per_unit: 10}}
"""


class Node:
    """A daemon in a folder of its own, with its rules in rules.yaml."""

    def __init__(self, sluice, root, store=""):
        self.sluice, self.root = sluice, root
        (root / "sluice.yaml").write_text(LISTENERS + store + "rule_sources: [{files: [rules.yaml]}]\n"
                                          "envoy: {directory: domains}\n")
        (root / "rules.yaml").write_text(RULES)
        (root / "domains").mkdir()
        (root / "domains/shop.yaml").write_text(ENVOY)
        self.process, self.greeting = launch([sluice, "serve", "--config", "sluice.yaml"], root)
        found = dict(re.findall(r"^  (checks|admin)\s+http://(\S+)", self.greeting, re.M))
        self.checks, self.admin = found["checks"], found["admin"]

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=20)
        self.process.stdout.close()

    def ask(self, method, path, body=None, admin=False):
        """(status, header text, body text)."""
        connection = http.client.HTTPConnection(self.admin if admin else self.checks, timeout=20)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            head = "HTTP/1.1 %d %s\r\n%s\r\n" % (response.status, response.reason, "".join(
                "%s: %s\r\n" % field for field in response.getheaders()))
            return response.status, head, response.read().decode()
        finally:
            connection.close()

    def check(self, what, user="u", **more):
        body = json.dumps({"for": what, "user_id": user, **more})
        status, head, text = self.ask("POST", "/v1/ratelimit/check", body)
        return status, json.loads(text), head + text

    def why(self, what, user="u", **more):
        query = urllib.parse.urlencode({"for": what, "user_id": user, **more})
        status, _, text = self.ask("GET", "/v1/ratelimit/why?" + query, admin=True)
        assert status == 200, text
        return json.loads(text)

    def rule(self, rule, **more):
        """That rule's part of the answer about a request for it."""
        return next(each for each in self.why(rule, **more)["rules"] if each["rule_id"] == rule)

    def tell(self, *words, text=None):
        """(exit code, output) of sluice why; of a failure what it says on stderr too."""
        run = subprocess.run([self.sluice, "why", *words, "--server", "http://" + self.admin], input=text,
                             capture_output=True, text=True, timeout=20)
        return run.returncode, run.stdout + (run.stderr if run.returncode == 2 else "")

    def run(self, *words):
        run = subprocess.run([self.sluice, *words, "--server", "http://" + self.admin], capture_output=True,
                             text=True, timeout=20)
        assert run.returncode == 0, run.stdout + run.stderr

    def metric(self, name):
        text = self.ask("GET", "/metrics", admin=True)[2]
        found = re.search("^" + re.escape(name) + r" (\S+)$", text, re.M)
        return float(found.group(1)) if found else None


class WhyCase(unittest.TestCase):
    sluice = ""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.node = self.redis = None

    def tearDown(self):
        if self.node:
            self.node.end()
        if self.redis:
            self.redis.kill()
        self.folder.cleanup()


class TableTest(WhyCase):
    def setUp(self):
        super().setUp()
        self.node = Node(self.sluice, self.root)

    def test_it_says_what_a_check_then_gets_and_spends_nothing(self):
        for used in range(3):
            for _ in range(3):
                self.assertEqual(self.node.rule("api")["state"]["used"], used)
            self.assertEqual(self.node.check("api")[0], 200)
        why = self.node.why("api")
        status, answer, _ = self.node.check("api")
        self.assertEqual(why["verdict"]["status"], status)
        self.assertEqual(why["verdict"]["rule_id"], "api")
        self.assertEqual(why["verdict"]["reason"], answer["limits"][0]["reason"])
        self.assertLess(abs(why["verdict"]["retry_after_ms"] - answer["retry_after_ms"]), 5000)
        for part in (why["verdict"], why["rules"][0]["state"]):
            self.assertLess(abs(why["now_ms"] + part["retry_after_ms"] - part["passes_at_ms"]), 2)
        code, text = self.node.tell("for=api", "user_id=u")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"\Adenied by api: 3 of 3 used; passes in [\d dh]+ "
                               r"\(at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC\)\n")
        self.assertRegex(text, r"(?m)^  api +denies +3 of 3 +0 ")
        self.assertIn("store: this node's table", text)
        self.assertIsNone(why["store"]["clock_offset_us"], "one clock")

    def test_it_says_what_is_left(self):
        code, text = self.node.tell("for=api", "user_id=u", "--cost", "2")
        self.assertEqual((code, text.split("\n")[0]), (0, "allowed by api: 3 of 3 left"))
        code, text = self.node.tell("for=api", "user_id=u", "--cost", "4")
        self.assertEqual(code, 1)
        self.assertIn("the cost of 4 is above the limit of 3, so it can never pass", text)

    def test_plan_and_override_are_named_with_their_line(self):
        line = {name: 1 + RULES.split("\n").index(next(each for each in RULES.split("\n") if name in each))
                for name in ("plan: pro", "u_big", "id: api")}
        api = self.node.rule("api")
        self.assertEqual(api["place"], "rules.yaml:%d" % line["id: api"])
        self.assertEqual(api["numbers_from"], "rule")
        pro = self.node.rule("api", plan="pro")
        self.assertEqual((pro["numbers_from"], pro["plan"], pro["numbers_place"], pro["state"]["limit"]),
                         ("plan", "plan: pro", "rules.yaml:%d" % line["plan: pro"], 5))
        big = self.node.rule("api", user="u_big", plan="pro")
        self.assertEqual((big["numbers_from"], big["numbers_place"], big["state"]["limit"]),
                         ("override", "rules.yaml:%d" % line["u_big"], 7))
        self.assertIn("plan with match plan: pro (rules.yaml:%d)" % line["plan: pro"],
                      self.node.tell("for=api", "user_id=u", "plan=pro")[1])

    def test_a_ban_says_since_when_why_and_until_when(self):
        ban = self.node.rule("abuse")["ban"]
        self.assertEqual((ban["after"], ban["for_ms"], ban["banned"]), (2, 15 * 86400 * 1000, False))
        self.assertEqual([self.node.check("abuse")[0] for _ in range(4)], [200, 429, 429, 403])
        why = self.node.why("abuse")
        ban = self.node.rule("abuse")["ban"]
        self.assertEqual((why["verdict"]["status"], why["verdict"]["reason"]), (403, "banned"))
        self.assertLess(why["now_ms"] - ban["since_ms"], 20000)
        self.assertLess(abs(ban["until_ms"] - ban["since_ms"] - ban["for_ms"]), 2)
        code, text = self.node.tell("for=abuse", "user_id=u")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"denied by abuse: the key is banned since .* UTC, after 2 denials within 30 d; passes in")
        self.assertIn("sluice unban", text)
        self.assertFalse(self.node.rule("abuse", user="other")["ban"]["banned"])

    def test_a_shadow_rule_would_deny(self):
        self.node.check("quiet")
        why = self.node.why("quiet")
        self.assertTrue(why["verdict"]["allowed"])
        self.assertFalse(self.node.rule("quiet")["state"]["allowed"])
        code, text = self.node.tell("for=quiet", "user_id=u")
        self.assertEqual(code, 0)
        self.assertIn("quiet (shadow) would deny it: 1 of 1 used", text)
        self.assertRegex(text, r"(?m)^  quiet +would deny ")

    def test_modes_and_the_kill_switch(self):
        for _ in range(3):
            self.node.check("api")
        self.node.run("mode", "api", "off")
        code, text = self.node.tell("for=api", "user_id=u")
        self.assertEqual(code, 0)
        self.assertIn("allowed: no enforced rule applies", text)
        self.assertIn("its mode is off (mode off is set at run time)", text)
        self.node.run("mode", "api", "own")
        self.assertEqual(self.node.tell("for=api", "user_id=u")[0], 1)
        self.node.run("kill-switch", "on")
        code, text = self.node.tell("for=api", "user_id=u")
        self.assertEqual(code, 0)
        self.assertIn("allowed: the kill switch is on", text)
        self.assertIn("sluice kill-switch off", text)
        self.assertTrue(self.node.why("api")["verdict"]["kill_switch"])

    def test_rules_that_do_not_apply_say_why(self):
        why = {rule["rule_id"]: rule for rule in self.node.why("jobs")["rules"]}
        self.assertEqual([rule for rule, each in why.items() if each["applies"]], ["jobs"])
        self.assertIn("match for: api, and it is jobs", why["api"]["why"])
        self.assertNotIn("state", why["api"])

    def test_slots_lists_and_wrong_requests(self):
        self.node.check("jobs")
        code, text = self.node.tell("for=jobs", "user_id=u")
        self.assertEqual(code, 1)
        self.assertIn("denied by jobs: 1 of 1 slots taken; passes when a hold is released or expires", text)
        code, text = self.node.tell("for=listed")
        self.assertEqual(code, 1)
        self.assertIn("denied by listed: match for: listed; it refuses the request", text)
        self.assertEqual(self.node.why("tokens", used="many")["verdict"]["status"], 400)
        code, text = self.node.tell("for=tokens", "user_id=u", "used=many")
        self.assertEqual(code, 1)
        self.assertIn("refused, for the request is wrong: ", text)

    def test_a_pasted_response_names_its_rule_and_leads_to_the_present(self):
        for _ in range(4):
            answer = self.node.check("api")[2]
        self.assertIn("429", answer)
        code, text = self.node.tell("--headers", "-", text=answer)
        self.assertEqual(code, 1)
        self.assertIn("denied by api (quota_exceeded), says the body's limits\n", text)
        code, text = self.node.tell("--headers", "-", text=answer.split("\r\n\r\n")[0].lower())
        self.assertEqual(code, 1)
        self.assertIn("denied by api, says RateLimit, in which it is the only policy with nothing left\n", text)
        (self.root / "answer").write_text(answer)
        code, text = self.node.tell("--headers", str(self.root / "answer"), "for=api", "user_id=u")
        self.assertEqual(code, 1)
        self.assertIn("Now such a request is denied by api: 3 of 3 used", text)
        code, text = self.node.tell("--headers", str(self.root / "answer"), "for=api", "user_id=u", "--json")
        answer = json.loads(text)
        self.assertEqual((answer["response"]["rule_id"], answer["now"]["verdict"]["rule_id"]), ("api", "api"))
        for wrong in ("", "Server: nginx\r\n\r\n<html></html>"):
            code, text = self.node.tell("--headers", "-", text=wrong)
            self.assertEqual(code, 2, text)

    def test_a_proxys_denial_names_its_rule(self):
        for _ in range(4):
            status, head, body = self.node.ask("GET", "/v1/check/http?for=api&user_id=u")
        self.assertEqual(status, 429, body)
        code, text = self.node.tell("--headers", "-", text=head + body)
        self.assertEqual(code, 1)
        self.assertIn("denied by api (quota_exceeded), says the problem document\n", text)

    def test_envoys_descriptors(self):
        code, text = self.node.tell("--domain", "shop", "remote_address=192.0.2.7")
        self.assertEqual((code, text), (0, "shop.remote_address: 10 of 10 per minute left\n"))

    def test_json_is_the_daemons_answer(self):
        code, text = self.node.tell("for=api", "user_id=u", "--json")
        self.assertEqual(code, 0)
        answer, asked = json.loads(text)["rules"], self.node.why("api")["rules"]
        for rule in (*answer, *asked):  # A fresh key is full again now, and that is not one instant.
            rule.get("state", {}).pop("reset_at_ms", None)
        self.assertEqual(answer, asked)


class RedisTest(WhyCase):
    def setUp(self):
        super().setUp()
        self.redis = Redis(self.root)
        # Far longer than any answer takes on a busy machine.
        self.node = Node(self.sluice, self.root, "store: {redis: {address: \"unix:%s\", timeout: 5s}}\n"
                         % self.redis.socket)
        until(lambda: self.node.metric("sluice_redis_connections_up") == 3)

    def test_the_clocks_are_compared(self):
        store = self.node.why("api")["store"]
        self.assertEqual((store["shared"], store["answered"]), (True, True))
        self.assertLess(abs(store["clock_offset_us"]), store["clock_error_us"] + 1000, "one machine")
        self.assertRegex(self.node.tell("for=api", "user_id=u")[1],
                         r"its clock is \d+\.\d ms (ahead of|behind) this node's \(± ")
        nothing = self.node.why("nothing")["store"]
        self.assertEqual((nothing["answered"], nothing["clock_offset_us"]), (None, None))

    def test_what_decides_while_the_store_is_away(self):
        for rule, count in (("api", 4), ("shut", 4), ("here", 1)):
            for _ in range(count):
                self.node.check(rule, user="spent" if count == 4 else "u")
        remembered = self.node.rule("api", user="spent")["remembered_denial"]
        self.assertGreater(remembered["left_ms"], 0)
        self.assertNotIn("remembered_denial", self.node.rule("here"))
        self.redis.kill()
        until(lambda: self.node.why("api")["store"]["answered"] is False)
        open_ = self.node.rule("api")
        self.assertEqual((open_["state"]["allowed"], open_["state"]["degraded"], open_["on_store_error"]),
                         (True, True, "allow"))
        code, text = self.node.tell("for=api", "user_id=u")
        self.assertEqual(code, 0)
        self.assertIn("allowed by api: not counted, for the store does not answer", text)
        self.assertIn("on_store_error: allow, which decides now", text)
        self.assertIn("store: shared, and it did not answer", text)
        code, text = self.node.tell("for=api", "user_id=spent")
        self.assertEqual(code, 1)
        self.assertIn("denied by api: 3 of 3 used, as the store said before it was away; passes in", text)
        self.assertEqual(self.node.check("api", user="spent")[0], 429)
        code, text = self.node.tell("for=shut", "user_id=u")
        self.assertEqual(code, 1)
        self.assertIn("denied by shut: the store does not answer, and its on_store_error is deny", text)
        self.assertEqual(self.node.why("shut")["verdict"]["status"], 503)
        self.assertIn("decided by this node's share of the limit", self.node.tell("for=here", "user_id=u")[1])

    def test_a_lease_says_what_this_node_holds(self):
        self.assertEqual(self.node.rule("lent")["lease"]["loops"], 0)
        spent = 0
        while self.node.rule("lent")["lease"]["held"] == 0 and spent < 500:
            spent += self.node.check("lent")[0] == 200
        why = self.node.rule("lent")
        self.assertGreater(why["lease"]["held"], 0)
        # Redis counts what is spent, and what the node holds of it.
        self.assertGreaterEqual(why["state"]["used"], spent + why["lease"]["held"])
        self.assertIn("borrowed unit", self.node.tell("for=lent", "user_id=u")[1])
        self.assertNotIn("lease", self.node.rule("api"))

    def test_a_ban_is_listed_by_redis(self):
        self.assertEqual([self.node.check("abuse")[0] for _ in range(4)], [200, 429, 429, 403])
        ban = self.node.rule("abuse")["ban"]
        self.assertTrue(ban["banned"])
        self.assertLess(abs(ban["until_ms"] - ban["since_ms"] - ban["for_ms"]), 2)
        self.assertIn("the key is banned since", self.node.tell("for=abuse", "user_id=u")[1])


if __name__ == "__main__":
    WhyCase.sluice = os.path.abspath(sys.argv.pop(1))
    unittest.main()
