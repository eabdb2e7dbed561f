#!/usr/bin/env python3
"""docs/monitoring.md lists every metric that a daemon exports, and no other; docs/alerts.yml asks
for metrics that exist, and its alerts fire in the series of alerts_test.yml that they are meant for, by
promtool (of Debian's `prometheus`).

monitoring_test.py SLUICE ROOT
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "daemon"))
import harness  # noqa: E402

ROOT = pathlib.Path()
NAME = re.compile(r"\b(?:sluice|ratelimit_service|process)_[a-z0-9_]+\b")
# Everything that has metrics, at once. Nothing listens at the store and at etcd: a daemon exports
# their metrics from the start, whether they answer or not.
EVERYTHING = """
listeners:
  - {address: "127.0.0.1:0"}
  - {address: "127.0.0.1:0", role: admin}
  - {address: "127.0.0.1:0", protocol: grpc}
  - {address: "127.0.0.1:0", protocol: resp}
table: {keys: 1000}
otlp: {endpoint: "http://127.0.0.1:1"}
store: {redis: {address: "unix:%(root)s/no-redis"}}
rule_sources:
  - files: [rules.yaml]
  - etcd: {endpoints: ["http://127.0.0.1:1"]}
"""
LEASED = """
rules:
  - {id: api, key_pattern: "{user_id}", algorithm: fixed_window, limit: 100, window: 1m, sync: lease}
"""
DOMAIN = """
domain: shop
descriptors:
  - key: user
    rate_limit: {unit: minute, requests_per_unit: 5}
"""


def listed():
    """The metrics named in the first column of the tables of docs/monitoring.md."""
    text = (ROOT / "docs/monitoring.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([^|]*`[^|]*) \| (?:counter|gauge|histogram) \|", text, re.M)
    return {name for cell in cells for name in NAME.findall(cell)}


class MonitoringTest(harness.DaemonCase):
    def exported(self):
        self.process, greeting = harness.launch(
            [self.sluice, "serve", "--envoy", "--config", "sluice.yaml"], self.root,
            env={"RUNTIME_ROOT": str(self.root), "STATE_DIRECTORY": str(self.root)})
        self.admin = re.search(r"^  admin\s+http://(\S+)", greeting, re.M).group(1)
        status, text, _ = self.get(self.admin, "/metrics")
        self.assertEqual(status, 200)
        return set(re.findall(r"^# TYPE (\S+) ", text, re.M)), text

    def test_the_page_lists_what_a_daemon_exports(self):
        (self.root / "rules.yaml").write_text(LEASED)
        (self.root / "config").mkdir()
        (self.root / "config/shop.yaml").write_text(DOMAIN)
        (self.root / "sluice.yaml").write_text(EVERYTHING % {"root": self.root})
        exported, text = self.exported()
        self.assertEqual(sorted(exported - listed()), [], "exported, and not in docs/monitoring.md")
        self.assertEqual(sorted(listed() - exported), [], "in docs/monitoring.md, and not exported")
        helped = set(re.findall(r"^# HELP (\S+) \S", text, re.M))
        self.assertEqual(sorted(exported - helped), [], "exported without HELP")

    def test_alerts_ask_for_metrics_that_exist(self):
        suffix = re.compile(r"_bucket$")
        asked = {suffix.sub("", name) for name in NAME.findall((ROOT / "docs/alerts.yml").read_text())}
        self.assertGreater(len(asked), 8)
        self.assertEqual(sorted(asked - listed()), [])

    def test_the_page_lists_the_alerts(self):
        alerts = re.findall(r"alert: (\w+)", (ROOT / "docs/alerts.yml").read_text())
        page = re.findall(r"^\| (Sluice\w+) \|", (ROOT / "docs/monitoring.md").read_text(), re.M)
        self.assertEqual(page, alerts)

    def test_every_alert_has_series_in_which_it_fires_and_healthy_ones(self):
        alerts = re.findall(r"alert: (\w+)", (ROOT / "docs/alerts.yml").read_text())
        tests = yaml.safe_load((ROOT / "tests/e2e/docs/alerts_test.yml").read_text())["tests"]
        firing = {one["alertname"] for test in tests for one in test["alert_rule_test"]
                  if one["exp_alerts"]}
        self.assertEqual(sorted(firing), sorted(alerts))
        for test in tests:
            with self.subTest(test["name"]):
                series = " ".join(one["series"] for one in test["input_series"])
                self.assertIn('"healthy"', series)
                self.assertNotIn("healthy", str(test["alert_rule_test"]))

    @unittest.skipUnless(shutil.which("promtool"), "no promtool here: install Debian's prometheus")
    def test_alerts_fire_when_they_should_and_not_when_all_is_well(self):
        for words in (["check", "rules", ROOT / "docs/alerts.yml"],
                      ["test", "rules", ROOT / "tests/e2e/docs/alerts_test.yml"]):
            run = subprocess.run(["promtool", *words], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(2)).resolve()
    harness.main(sys.argv)
