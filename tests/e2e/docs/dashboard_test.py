#!/usr/bin/env python3
"""docs/grafana-dashboard.json: Grafana can load it, Prometheus can parse every query, and every metric and
label that a query names is exported by a running daemon, with Redis and without.

dashboard_test.py SLUICE ROOT
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "daemon"))
import harness  # noqa: E402

ROOT = pathlib.Path()
WIDTH = 24  # Columns of a dashboard.
PANELS = {"row", "stat", "timeseries"}
# Metrics that only a daemon with Redis has.
OF_REDIS = re.compile(r"sluice_(redis_|store_|leases?_|clock_offset)")
RULES = """
rules:
  - {id: api, key_pattern: "{user_id}", algorithm: fixed_window, limit: 100, window: 1m}
  - {id: login, key_pattern: "{ip}", algorithm: gcra, rate: 5, window: 1m, mode: shadow}
"""


def dashboard():
    return json.loads((ROOT / "docs/grafana-dashboard.json").read_text())


def queries():
    """Title of the panel and expression, of every query, with Grafana's variables filled in."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            text = target["expr"].replace("$__rate_interval", "5m")
            for name in ("instance", "job"):
                text = text.replace("$" + name, ".*")
            yield panel["title"], text


def named(expression):
    """The metrics that an expression names, each with the labels that it is asked by."""
    for name, labels in re.findall(r"\b((?:sluice|process)_\w+)\{([^}]*)\}", expression):
        yield name, set(re.findall(r"(\w+)\s*[=!]", labels)) - {"instance", "job"}
    for name in re.findall(r"\b((?:sluice|process)_\w+)\b(?!\{)", expression):
        yield name, set()


class DashboardTest(harness.DaemonCase):
    def setUp(self):
        super().setUp()
        self.redis = None

    def tearDown(self):
        super().tearDown()
        if self.redis:
            self.redis.kill()

    def exported(self, store):
        """Every metric of a daemon that has answered a request on each listener, with its labels."""
        (self.root / "rules.yaml").write_text(RULES)
        (self.root / "sluice.yaml").write_text(
            'listeners: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:0", role: admin},'
            ' {address: "127.0.0.1:0", protocol: grpc}, {address: "127.0.0.1:0", protocol: resp}]\n'
            "otlp: {endpoint: 'http://127.0.0.1:1'}\n"
            "table: {keys: 1000}\nrule_sources: [{files: [rules.yaml]}]\n" + store)
        self.start()
        self.get(self.checks, "/healthz")
        text = self.get(self.admin, "/metrics")[1]
        metrics = {name: set() for name in re.findall(r"^# TYPE (\S+) ", text, re.M)}
        for name, labels in re.findall(r"^(\w+)(\{.*\})? ", text, re.M):
            metrics.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
        return metrics

    def assert_live(self, metrics, wanted):
        for title, expression in queries():
            for name, labels in named(expression):
                if wanted(name):
                    with self.subTest(panel=title, metric=name):
                        self.assertIn(name, metrics)
                        if metrics[name]:  # It has samples with labels by now.
                            self.assertLessEqual(labels, metrics[name])

    def test_every_query_names_live_metrics_with_redis(self):
        self.redis = harness.Redis(self.root)
        metrics = self.exported('store: {redis: {address: "unix:%s"}}\n' % self.redis.socket)
        self.assertGreater(len({name for _, text in queries() for name, _ in named(text)}), 40)
        self.assert_live(metrics, lambda name: True)

    def test_every_query_names_live_metrics_without_redis(self):
        self.assert_live(self.exported(""), lambda name: not OF_REDIS.match(name))

    @unittest.skipUnless(shutil.which("promtool"), "no promtool here: install Debian's prometheus")
    def test_every_query_parses(self):
        rules = [{"record": "q:%d" % i, "expr": text} for i, (_, text) in enumerate(queries())]
        path = self.root / "queries.yml"
        path.write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
        run = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_grafana_can_load_it(self):
        board = dashboard()
        self.assertRegex(board["uid"], r"^[\w-]{1,40}$")
        self.assertGreaterEqual(board["schemaVersion"], 36)
        variables = {one["name"] for one in board["templating"]["list"]}
        asked = set(re.findall(r"\$\{?(\w+)", json.dumps(board["panels"]))) - {"__rate_interval"}
        self.assertLessEqual(asked, variables)
        panels = board["panels"]
        ids = [panel["id"] for panel in panels]
        self.assertEqual(len(ids), len(set(ids)), "ids are unique")
        taken = {}
        for panel in panels:
            with self.subTest(panel["title"]):
                self.assertIn(panel["type"], PANELS)
                place = panel["gridPos"]
                self.assertGreater(place["w"], 0)
                self.assertLessEqual(place["x"] + place["w"], WIDTH)
                for cell in [(x, y) for x in range(place["x"], place["x"] + place["w"])
                             for y in range(place["y"], place["y"] + place["h"])]:
                    self.assertIsNone(taken.get(cell), "overlaps %s" % taken.get(cell))
                    taken[cell] = panel["title"]
                if panel["type"] != "row":
                    self.assertTrue(panel["description"])
                    self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                    refs = [target["refId"] for target in panel["targets"]]
                    self.assertEqual(len(refs), len(set(refs)))

    def test_it_has_a_row_for_each_question(self):
        rows = [panel["title"] for panel in dashboard()["panels"] if panel["type"] == "row"]
        self.assertEqual(rows[:7],
                         ["Overview", "Rules", "Keys", "Store", "Listeners", "Leases", "Host"])


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(2)).resolve()
    harness.main(sys.argv)
