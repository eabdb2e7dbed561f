#!/usr/bin/env python3
"""Schemathesis against a check and an admin listener, each by its own /openapi.json: what is valid by
it is not refused, what is not valid is, and every answer is as described. Always the same requests.
Usage: schemathesis_test.py SLUICE ENVIRONMENT   (of tools/schemathesis.sh)
"""
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from harness import DaemonCase, main  # noqa: E402

HERE = pathlib.Path(os.path.abspath(__file__)).parent
PROGRAM = pathlib.Path(os.path.abspath(sys.argv.pop(2))) / "bin" / "schemathesis"
CONFIG = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 10000}
rule_sources: [{files: [rules.yaml]}, {api: {dir: state}}]
"""
RULES = """
rules:
  - {id: api, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 1000, window: 1h}
  - {id: jobs, key_pattern: "w:{worker}", algorithm: concurrency, limit: 30, hold_ttl: 1h}
"""


class SchemathesisTest(DaemonCase):
    def setUp(self):
        super().setUp()
        (self.root / "sluice.yaml").write_text(CONFIG)
        (self.root / "rules.yaml").write_text(RULES)
        self.start()

    def check(self, **body):
        request = urllib.request.Request("http://%s/v1/ratelimit/check" % self.checks,
                                         json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def tokens(self):
        users = ["u%d" % i for i in range(8)]
        return {"rule": ["api", "jobs"],
                "hold": [self.check(worker=user)["holds"][0]["id"] for user in users],
                "receipt": [self.check(user_id=user, receipt=True)["receipt"] for user in users],
                "reservation": [self.check(user_id=user, reserve=True)["reservation"]
                                for user in users]}

    def run_against(self, address):
        run = subprocess.run(
            [PROGRAM, "--config-file", HERE / "schemathesis.toml", "run",
             "http://%s/openapi.json" % address, "--no-color", "--warnings", "off"],
            cwd=self.root, capture_output=True, text=True, timeout=600,
            env={**os.environ, "TOKENS": json.dumps(self.tokens()), "PYTHONPATH": str(HERE),
                 "SCHEMATHESIS_HOOKS": "hooks"})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertNotIn("0 generated", run.stdout)

    def test_a_check_listener(self):
        self.run_against(self.checks)

    def test_an_admin_listener(self):
        self.run_against(self.admin)


if __name__ == "__main__":
    if not PROGRAM.exists():
        print("schemathesis is not here: tools/schemathesis.sh could not get it")
        sys.exit(77)
    main(sys.argv)
