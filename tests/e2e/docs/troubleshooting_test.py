#!/usr/bin/env python3
"""Every command that docs/troubleshooting.md shows works: typed into a shell, in the page's order, against a
daemon over Redis that has served some traffic.

troubleshooting_test.py SLUICE ROOT
"""
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "daemon"))
import harness  # noqa: E402

ROOT = pathlib.Path()
CONFIG = """
loops: 1
listeners:
  - {address: "127.0.0.1:0"}
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 1000, path: sluice.table}
store: {redis: {address: "unix:%s", timeout: 5s}}
rule_sources: [{files: [rules.yaml]}]
envoy: {directory: domains}
"""
RULES = """
rules:
  - {id: api, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 100, window: 1m, burst: 150,
     plans: [{match: {plan: pro}, rate: 1000}]}
  - {id: login, match: {endpoint: /login}, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 1, window: 1h,
     ban: {after: 1, within: 1m, for: 15m}}
  - {id: jobs, key_pattern: "{tenant}", algorithm: concurrency, limit: 3, hold_ttl: 10m}
  - {id: peers, key_pattern: "{peer}", algorithm: gcra, rate: 10, window: 1m}
  - {id: all, match: {endpoint: /all}, key_pattern: all, algorithm: gcra, rate: 10, window: 1m}
  - {id: blocked, action: deny, match: {endpoint: /blocked}}
"""
DOMAIN = """
domain: shop
descriptors:
  - {key: remote_address, rate_limit: {unit: minute, requests_per_unit: 10}}
"""
# These say by their exit code what the verdict is. (Doctor says whether it found something, or could not look.)
VERDICTS = re.compile(r"sluice (why|status|check|explain)\b")


def commands(page):
    """What stands in fenced blocks of shell and in code spans, in order; a table writes | as \\|."""
    found = []
    for block, span in re.findall(r"^```sh\n(.*?)^```|`([^`\n]+)`", page, re.M | re.S):
        for line in block.splitlines() if block else [span.replace("\\|", "|")]:
            if re.match(r"(sluice|curl|redis-cli) ", line):
                found.append(line)
    return found


class TroubleshootingTest(harness.DaemonCase):
    def setUp(self):
        super().setUp()
        self.redis = harness.Redis(self.root)
        self.addCleanup(self.redis.kill)
        (self.root / "sluice.yaml").write_text(CONFIG % self.redis.socket)
        (self.root / "rules.yaml").write_text(RULES)
        (self.root / "domains").mkdir()
        (self.root / "domains/shop.yaml").write_text(DOMAIN)
        self.start()
        harness.until(lambda: self.metric("sluice_redis_connections_up") == 2)  # Of the loop, and of operators.
        # On the page redis-cli asks the server of its defaults.
        tools = self.root / "tools"
        tools.mkdir()
        (tools / "redis-cli").write_text("#!/bin/sh\nPATH=${PATH#*:} exec redis-cli -s %s \"$@\"\n" % self.redis.socket)
        (tools / "redis-cli").chmod(0o755)
        self.environment = {**os.environ, "SLUICE_SERVER": "http://" + self.checks,
                            "SLUICE_ADMIN": "http://" + self.admin,
                            "PATH": ":".join((str(tools), os.path.dirname(self.sluice), os.environ["PATH"]))}

    def check(self, **attributes):
        connection = http.client.HTTPConnection(self.checks, timeout=20)
        try:
            connection.request("POST", "/v1/ratelimit/check", json.dumps(attributes))
            response = connection.getresponse()
            head = "HTTP/1.1 %d %s\r\n%s\r\n" % (response.status, response.reason, "".join(
                "%s: %s\r\n" % field for field in response.getheaders()))
            return response.status, head + response.read().decode()
        finally:
            connection.close()

    def run_command(self, line):
        return subprocess.run(["bash", "-c", "set -o pipefail; " + line.replace(" URL", " $SLUICE_ADMIN")],
                              cwd=self.root, capture_output=True, text=True, env=self.environment, timeout=60)

    def test_every_command_works(self):
        self.assertEqual([self.check(ip="192.0.2.7", endpoint="/login")[0] for _ in range(3)], [200, 429, 403])
        status, answer = self.check(user_id="u_43", cost=151)
        self.assertEqual(status, 429)
        (self.root / "answer.txt").write_text(answer)
        self.redis.kill()
        harness.until(lambda: '"degraded": true' in self.check(user_id="u_42")[1])
        self.redis.start()
        harness.until(lambda: '"degraded"' not in self.check(user_id="u_42")[1])
        page = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
        found = commands(page)
        self.assertGreater(len(found), 40)
        for line in found:
            with self.subTest(command=line):
                run = self.run_command(line)
                good = (0, 1) if VERDICTS.match(line) else (0, 1, 2) if "sluice doctor" in line else (0,)
                self.assertIn(run.returncode, good, run.stdout + run.stderr)
                self.assertNotEqual(run.stdout, "")

    def test_each_cause_has_a_command_or_a_section(self):
        page = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
        headings = {re.sub(r"[^a-z0-9 -]", "", each.lower()).replace(" ", "-")
                    for each in re.findall(r"^## (.*)$", page, re.M)}
        rows = re.findall(r"^\| ([^|]*(?:\\\|[^|]*)*) \| ((?:\\\||[^|])*) \|(?:\\\||[^|])*\|$", page, re.M)
        causes = [row for row in rows if "how to see it" not in row[1] and not set(row[0]) <= set("- ")]
        self.assertGreater(len(causes), 50)
        for cause, see in causes:
            if cause == "message" or cause.startswith("`"):
                continue  # The table of messages.
            link = re.fullmatch(r"\[[^]]*\]\(#([^)]*)\)", see.strip())
            self.assertTrue(commands(see) or (link and link[1] in headings), cause)


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(2)).resolve()
    harness.main(sys.argv)
