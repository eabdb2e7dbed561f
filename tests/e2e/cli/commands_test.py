#!/usr/bin/env python3
"""What commands say to people: slips of the pen, answers as text, holds. Usage: commands_test.py
SLUICE"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from harness import DaemonCase, main  # noqa: E402

RULES = """
rules:
  - {id: jobs, match: {kind: [export, import]}, key_pattern: "{tenant}", algorithm: concurrency,
     limit: 1, hold_ttl: 1h}
  - {id: api, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 1, window: 1h,
     ban: {after: 1, within: 1h, for: 1h}}
"""
LISTENERS = """  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
"""


class CommandsTest(DaemonCase):
    def run_sluice(self, *words, code=0, **environment):
        run = subprocess.run([self.sluice, *words], cwd=self.root, capture_output=True, text=True,
                             env={**os.environ, **environment}, timeout=60)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def serve(self):
        (self.root / "rules.yaml").write_text(RULES)
        self.configure(LISTENERS)
        greeting = self.start()
        servers = {"SLUICE_SERVER": "http://" + self.checks, "SLUICE_ADMIN": "http://" + self.admin}
        return greeting, lambda *words, code=0: self.run_sluice(*words, code=code, **servers)

    def test_a_slip_of_the_pen_is_answered_with_the_right_word(self):
        for words, said in ((("chek",), "did you mean check?"),
                            (("table", "inof"), "did you mean info?"),
                            (("check", "--jsn"), "did you mean --json?"),
                            (("check", "--jsn=1"), "sluice check has no option --jsn"),
                            (("explain", "--rulez", "x"), "did you mean --rules?"),
                            (("mode", "login", "shadwo"), "shadow"),
                            (("xyzzy",), "the commands are init, serve")):
            self.assertIn(said, self.run_sluice(*words, code=2), words)

    def test_a_word_is_printed_without_its_control_characters(self):
        odd = "x\x1b[31m"
        for words in ((odd,), ("check", "--" + odd), ("mode", "login", odd),
                      ("replay", "--format", odd, "log")):
            self.assertNotIn("\x1b", self.run_sluice(*words, code=2), words)

    def test_values_are_no_options(self):
        said = self.run_sluice("check", "--server", "--odd", "user_id=u", code=2)
        self.assertNotIn("no option --odd", said)

    def test_file_names_among_the_rules_are_sent_to_rule_sources(self):
        (self.root / "sluice.yaml").write_text(
            "listeners: [{address: \"127.0.0.1:0\"}]\nrules: [api.yaml]\n")
        said = self.run_sluice("validate", "sluice.yaml", code=1)
        self.assertIn("write rule_sources: [{files: [api.yaml]}]", said)
        self.assertIn("write rule_sources: [{files: [api.yaml]}]", self.refuses_to_start())

    def test_validate_reads_envoys_limits_of_a_configuration(self):
        (self.root / "domains").mkdir()
        limits = self.root / "domains/shop.yaml"
        limits.write_text("domain: shop\ndescriptors:\n"
                          "  - {key: user, rate_limit: {unit: day, requests_per_unit: 1}}\n")
        (self.root / "sluice.yaml").write_text("envoy: {directory: domains}\n")
        self.assertEqual(self.run_sluice("validate", "sluice.yaml"),
                         "ok: 0 rules; Envoy: 1 limit in 1 domain\n")
        limits.write_text("domain: shop\ndescriptors:\n  - {key: user, rate_limit: {unit: eon}}\n")
        said = self.run_sluice("validate", "sluice.yaml", code=1)
        self.assertIn("shop.yaml", said)
        self.assertNotIn("ok", said)

    def test_a_check_prints_its_holds_and_release_gives_them_back(self):
        _, sluice = self.serve()
        said = sluice("check", "kind=export", "tenant=a")
        words = re.search(r"sluice (release jobs \S+)", said)[1].split()
        self.assertIn("in_flight", sluice("check", "kind=export", "tenant=a", code=1))
        self.assertEqual(sluice(*words), "released\n")
        self.assertEqual(sluice(*words), "the hold had already been released or had expired\n")
        sluice("check", "kind=export", "tenant=a")
        self.assertIn("the answer to a check", sluice("release", "jobs", "x", code=2))

    def test_operators_read_text_and_programs_json(self):
        _, sluice = self.serve()
        self.assertEqual(sluice("mode", "api"), "api: enforce (the rule's own mode)\n")
        self.assertEqual(sluice("mode", "api", "shadow"),
                         "api: shadow (set at run time on this node; the rule's own mode is "
                         "enforce)\n")
        self.assertEqual(json.loads(sluice("mode", "api", "--json"))["mode"], "shadow")
        self.assertIn("the rule's own mode", sluice("mode", "api", "own"))
        self.assertEqual(sluice("mode", "apy", code=2),
                         "sluice: Not Found: there is no rule apy, did you mean api?\n")
        self.assertEqual(sluice("mode", "login", code=2),
                         "sluice: Not Found: there is no rule login (known: jobs, api)\n")
        self.assertIn("switch is on", sluice("kill-switch", "on"))
        self.assertIn("switch is on: every request", sluice("mode", "api"))
        self.assertIn("switch is off", sluice("kill-switch", "off"))
        self.assertEqual(sluice("bans"), "no key is banned\n")
        sluice("check", "user_id=u")
        sluice("check", "user_id=u", code=1)
        self.assertRegex(sluice("bans"), r"^api +user_id=u  for another 3[56]\d\d s\n$")
        # What a client chose stays on its line.
        forged = "v\x1b[31m\napi                      user_id=u  for another 1 s"
        sluice("check", "user_id=" + forged)
        sluice("check", "user_id=" + forged, code=1)
        lines = sluice("bans").splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertTrue(any(r"user_id=v\x1b[31m\x0aapi" in line for line in lines), lines)
        self.assertEqual(sluice("unban", "user_id=" + forged), "1 ban lifted\n")
        self.assertEqual(sluice("unban", "user_id=u"), "1 ban lifted\n")
        self.assertEqual(sluice("reset", "user_id=u"), "1 key reset\n")
        self.assertEqual(sluice("refund", "user_id=u", "--units", "1"), "1 key refunded\n")
        self.assertEqual(json.loads(sluice("reset", "user_id=u", "--json"))["keys"], 1)

    def test_envoys_commands_say_that_the_daemon_has_no_envoy_limits(self):
        _, sluice = self.serve()
        for verb in ("usage", "reset"):
            said = sluice("envoy", verb, "shop", "user=u", code=2)
            self.assertEqual(said, "sluice: http://" + self.admin + ": this daemon has no "
                             "Envoy limits: start it with sluice serve --envoy, or with envoy: in "
                             "its configuration, and give its admin listener as --server\n")

    def test_the_greeting_proposes_a_request_that_a_rule_limits(self):
        self.serve()
        command = self.process.stdout.readline().strip()  # Behind "Try:".
        said = subprocess.run(["bash", "-c", command.replace("-i ", "-s ")], capture_output=True,
                              text=True, timeout=60).stdout
        self.assertEqual([limit["name"] for limit in json.loads(said)["limits"]], ["jobs"])
        self.assertIn('"kind":"export"', command.replace(" ", ""))

    def test_the_greeting_names_the_folders_of_the_state(self):
        folder = str(self.root / "state")
        (self.root / "sluice.yaml").write_text(
            "listeners:\n%stable: {keys: 1000, path: %s/table}\n"
            "rule_sources: [{files: [rules.yaml]}, {api: {dir: state}}]\n" % (LISTENERS, self.root))
        greeting = self.start()
        self.assertIn("state   " + folder + " (rules put over the API, modes)", greeting)
        self.assertRegex(greeting, r"state   \S+ \(snapshots of the table\)")


if __name__ == "__main__":
    main(sys.argv)
