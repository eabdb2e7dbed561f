#!/usr/bin/env python3
"""`sluice doctor` on files and on a daemon: a healthy one causes nothing, a planted fault its
finding. Usage: doctor_test.py SLUICE"""
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from harness import DaemonCase, Redis, main  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
LISTENERS = """  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
"""
HEALTHY = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
rules:
  - {id: ip, key_pattern: "{ip}", algorithm: gcra, rate: 10, window: 1s}
"""


class DoctorTest(DaemonCase):
    def doctor(self, *words, code=0):
        run = subprocess.run([self.sluice, "doctor", *words], cwd=self.root, capture_output=True,
                             text=True, timeout=60)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def found(self, *words):
        """The report, and the names of its findings, whatever the exit code."""
        run = subprocess.run([self.sluice, "doctor", "--json", *words], cwd=self.root,
                             capture_output=True, text=True, timeout=60)
        report = json.loads(run.stdout)
        return report, [finding["check"] for finding in report["findings"]]

    def write(self, text):
        (self.root / "sluice.yaml").write_text(text)

    def test_a_healthy_configuration_causes_nothing(self):
        self.write(HEALTHY)
        said = self.doctor("--offline", "--config", "sluice.yaml")
        self.assertIn("looked at:\n  the configuration sluice.yaml: 1 rule\n", said)
        self.assertIn("nothing wrong\n", said)

    def test_what_is_wrong_is_said_with_its_place_and_remedy(self):
        self.write(HEALTHY + "  - {id: export, key_pattern: \"{org}\", algorithm: gcra, rate: 9, "
                             "window: 1m, burst: 5, cost: 10}\n")
        said = self.doctor("--offline", "--config", "sluice.yaml", code=1)
        self.assertIn("problem  cost-above-limit  sluice.yaml:7:", said)
        self.assertIn("Remedy: write a burst of at least 10, or a lower cost", said)
        self.assertIn("1 problem (docs/doctor.md explains each)", said)
        report = json.loads(self.doctor("--offline", "--config", "sluice.yaml", "--json", code=1))
        self.assertEqual(report["failed"], [])
        self.assertEqual([(f["check"], f["severity"], f["line"]) for f in report["findings"]],
                         [("cost-above-limit", "problem", 7)])
        # The same words from validate.
        validated = subprocess.run([self.sluice, "validate", "sluice.yaml"], cwd=self.root,
                                   capture_output=True, text=True, timeout=60)
        self.assertIn(report["findings"][0]["seen"], validated.stdout)

    def test_notes_alone_are_no_failure(self):
        self.write(HEALTHY + "  - {id: open, key_pattern: all, algorithm: gcra, limit: unlimited}\n")
        self.assertIn("note  never-denies", self.doctor("--offline", "--config", "sluice.yaml"))

    def test_what_cannot_be_read_is_said(self):
        said = self.doctor("--offline", "--config", "absent.yaml", code=2)
        self.assertIn("could not look at:\n  the configuration absent.yaml: ", said)
        self.assertNotIn("nothing wrong", said)

    def test_a_healthy_daemon_causes_nothing_and_a_fault_its_finding(self):
        self.configure(LISTENERS)
        self.start()
        server = "http://" + self.admin
        said = self.doctor("--server", server)
        self.assertIn("the daemon at %s: 1 rule, 0 requests since the daemon started" % server, said)
        self.assertIn("nothing wrong", said)
        subprocess.run([self.sluice, "kill-switch", "on", "--server", server], check=True,
                       capture_output=True, timeout=60)
        self.assertIn("problem  kill-switch-on", self.doctor("--server", server, code=1))

    def test_the_last_hour_is_what_counters_grew_by(self):
        self.configure(LISTENERS)
        self.start()
        server = "http://" + self.admin
        for _ in range(120):  # The rule's key is user_id.
            connection = http.client.HTTPConnection(self.checks, timeout=20)
            connection.request("POST", "/v1/ratelimit/check", '{"ip": "192.0.2.1"}')
            connection.getresponse().read()
            connection.close()
        report, found = self.found("--server", server)
        self.assertIn("attribute-missing", found)
        self.assertIn("120 requests since the daemon started", str(report["looked_at"]))
        seen = [f["seen"] for f in report["findings"] if f["check"] == "attribute-missing"]
        self.assertIn("missing: user_id (120 times)", seen[0])

    def test_a_token_is_read_from_the_configuration_or_a_file(self):
        (self.root / "token").write_text("0123456789abcdef0123456789abcdef")
        self.configure(LISTENERS.replace("role: admin", "role: admin, auth: {token_file: token}"))
        self.start()
        server = "http://" + self.admin
        self.assertIn("warning  daemon-refuses", self.doctor("--server", server, code=2))
        self.doctor("--server", server, "--token-file", "token")
        self.doctor("--server", server, "--config", "sluice.yaml")

    def test_redis_is_asked_for_its_clock_and_its_settings(self):
        redis = Redis(self.root, "--appendonly", "yes", "--requirepass", "secret")
        try:
            (self.root / "password").write_text("secret\n")
            self.write("listeners: [{address: \"127.0.0.1:0\"}]\nstore: {redis: {address: \"unix:%s\","
                       " password_file: password}}\n" % redis.socket + HEALTHY[HEALTHY.index("rules"):])
            said, found = self.found("--config", "sluice.yaml")
            self.assertRegex(str(said["looked_at"]), r"Redis at unix:\S+', 'found': 'version [7-9]")
            self.assertEqual([name for name in found if name.startswith("redis-")], [])
            redis.password = ["-a", "secret"]
            redis.run("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
            self.assertIn("redis-evicts", self.found("--config", "sluice.yaml")[1])
            (self.root / "password").write_text("wrong\n")
            self.assertIn("redis-no-answer", self.found("--config", "sluice.yaml")[1])
        finally:
            redis.kill()
        said, found = self.found("--config", "sluice.yaml")
        self.assertIn("redis-no-answer", found)
        self.assertEqual(len(said["failed"]), 1)

    def test_nginx_is_read(self):
        subprocess.run([self.sluice, "init", "--proxy", "nginx", "kit"], cwd=self.root, check=True,
                       capture_output=True, timeout=60)
        words = ("--config", "kit/sluice.yaml", "--nginx", "kit/nginx.conf", "--offline")
        self.assertIn("nothing wrong", self.doctor(*words))
        nginx = self.root / "kit/nginx.conf"
        nginx.write_text(nginx.read_text().replace("error_page 403", "return 200;\n    error_page 403"))
        self.assertIn("warning  nginx-return-bypasses  kit/nginx.conf:", self.doctor(*words, code=1))
        nginx.write_text("server {")
        self.assertIn("could not look at:\n  NGINX's kit/nginx.conf", self.doctor(*words, code=2))

    def test_a_dead_daemon_is_reported_and_files_are_looked_at_all_the_same(self):
        self.write(HEALTHY + "  - {id: free, key_pattern: all, algorithm: gcra, rate: 9, window: 1m, "
                             "cost: 0}\n")
        said = self.doctor("--config", "sluice.yaml", "--server", "http://127.0.0.1:1", code=2)
        self.assertIn("problem  daemon-unreachable", said)
        self.assertIn("warning  never-denies", said)
        # A port that accepts and never answers.
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            server = "http://127.0.0.1:%d" % deaf.getsockname()[1]
            self.assertIn("problem  daemon-unreachable", self.doctor("--server", server, code=2))

    def test_what_init_writes_is_healthy(self):
        for kit in ("", "nginx", "caddy", "traefik", "haproxy", "envoy"):
            words = ["--proxy", kit] if kit else []
            subprocess.run([self.sluice, "init", "kit" + kit, *words], cwd=self.root, check=True,
                           capture_output=True, timeout=60)
            report = json.loads(self.doctor("--offline", "--config", "kit%s/sluice.yaml" % kit, "--json"))
            self.assertEqual([f for f in report["findings"] if f["severity"] != "note"], [], kit)

    def test_every_finding_is_explained(self):
        sources = (ROOT / "apps/sluice/doctor").glob("*.cc")
        checks = {name for source in sources
                  for name in re.findall(r'(?:\.check = |Add\()"([a-z-]+)"', source.read_text())}
        explained = set(re.findall(r"^### ([a-z-]+)$", (ROOT / "docs/doctor.md").read_text(), re.M))
        self.assertGreater(len(checks), 10)
        self.assertEqual(checks, explained)


if __name__ == "__main__":
    main(sys.argv)
