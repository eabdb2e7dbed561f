#!/usr/bin/env python3
"""The real binary over real sockets: serve, check, reload, drain. Usage: daemon_test.py SLUICE

No fixed ports and no sleeps for luck: ports are 0 and read from the greeting; what takes time is
waited for, with an end.
"""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import harness
from harness import until

SLUICE = os.path.abspath(sys.argv.pop(1))

CONFIG = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 1000}
drain_timeout: 5s
rule_sources:
  - files: [rules/*.yaml]
"""
RULES = """
rules:
  - id: api
    key_pattern: "user:{user_id}"
    algorithm: token_bucket
    rate: %d
    window: 3650d
  - id: shaped
    match: {shape: "yes"}
    key_pattern: "u:{user_id}"
    algorithm: leaky_bucket
    shape: true
    rate: 5
    window: 1s
    burst: 5
    replaces: [api]
"""


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "rules").mkdir()
        (self.root / "sluice.yaml").write_text(CONFIG)
        self.process = None

    def tearDown(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
        self.folder.cleanup()

    def start(self):
        self.process = subprocess.Popen([SLUICE, "serve", "--config", "sluice.yaml"], cwd=self.root,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        greeting = ""
        for line in self.process.stdout:
            greeting += line
            if "/metrics" in line:
                break
        self.address = re.search(r"checks\s+http://(\S+)", greeting).group(1)
        self.admin = re.search(r"admin\s+http://(\S+)", greeting).group(1)
        return greeting

    def check(self, **body):
        connection = http.client.HTTPConnection(self.address, timeout=20)
        connection.request("POST", "/v1/ratelimit/check", json.dumps(body),
                           {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = json.loads(response.read())
        connection.close()
        return response.status, answer, response.headers

    def metric(self, name):
        return harness.metric(self.admin, name)

    def limit(self):
        return self.check(user_id="looker", peek=True)[1]["limits"][0]["limit"]

    def test_decides_and_tells(self):
        (self.root / "rules/a.yaml").write_text(RULES % 2)
        self.assertIn("2 from rules/a.yaml", self.start())
        self.assertEqual(self.check(user_id="a")[0], 200)
        self.assertEqual(self.check(user_id="a")[1]["remaining"], 0)
        status, answer, headers = self.check(user_id="a")
        self.assertEqual(status, 429)
        self.assertEqual(int(headers["Retry-After"]), answer["retry_after"])
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(self.check(nobody="a")[1]["limits"], [])
        run = subprocess.run([SLUICE, "check", "--server", "http://" + self.address, "user_id=a"],
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("denied", run.stdout)

    def test_a_changed_file_counts_and_a_bad_one_leaves_the_running_rules(self):
        rules = self.root / "rules/a.yaml"
        rules.write_text(RULES % 10)
        self.start()
        self.assertEqual(self.limit(), 10)
        rules.write_text(RULES % 20)
        until(lambda: self.limit() == 20)
        rules.write_text("rules: [{id: broken}]")
        until(lambda: self.metric('sluice_rule_reloads_total{result="failed"}'))
        self.assertEqual(self.limit(), 20)
        failed = self.metric('sluice_rule_reloads_total{result="failed"}')
        self.process.send_signal(signal.SIGHUP)
        until(lambda: self.metric('sluice_rule_reloads_total{result="failed"}') > failed)
        self.assertEqual(self.limit(), 20)

    def test_a_swapped_configmap_counts(self):
        for name, rate in (("..1", 10), ("..2", 30)):
            (self.root / "rules" / name).mkdir()
            (self.root / "rules" / name / "a.yaml").write_text(RULES % rate)
        os.symlink("..1", self.root / "rules/..data")
        os.symlink("..data/a.yaml", self.root / "rules/a.yaml")
        self.start()
        self.assertEqual(self.limit(), 10)
        os.symlink("..2", self.root / "rules/..data_tmp")
        os.rename(self.root / "rules/..data_tmp", self.root / "rules/..data")
        until(lambda: self.limit() == 30)

    def test_sigterm_answers_what_was_asked(self):
        (self.root / "rules/a.yaml").write_text(RULES % 10)
        self.start()
        body = json.dumps({"user_id": "w", "shape": "yes", "wait": True}).encode()
        request = (b"POST /v1/ratelimit/check HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"
                   % len(body)) + body
        host, port = self.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=20) as client:
            client.sendall(request * 3)  # Waits of 0, 200 and 400 ms.
            got = b""
            while b"\r\n\r\n" not in got:
                got += client.recv(65536)
            self.process.send_signal(signal.SIGTERM)
            while chunk := client.recv(65536):
                got += chunk
        self.assertEqual(got.count(b"HTTP/1.1 200 OK"), 3)
        self.assertEqual(got.count(b'"waited": true'), 2)
        self.assertEqual(self.process.wait(timeout=20), 0)

    def test_says_what_keeps_it_from_starting(self):
        (self.root / "rules/a.yaml").write_text("rules:\n  - id: x\n    raet: 5\n")
        run = subprocess.run([SLUICE, "serve", "--config", "sluice.yaml"], cwd=self.root,
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 2)
        self.assertIn("a.yaml:3:5: unknown field raet, did you mean rate?", run.stderr)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            (self.root / "rules/a.yaml").write_text(RULES % 1)
            (self.root / "sluice.yaml").write_text(
                'listeners: [{address: "127.0.0.1:%d"}]\ntable: {path: %s, keys: 1000}\n'
                % (port, self.root / "table"))
            run = subprocess.run([SLUICE, "serve", "--config", "sluice.yaml"], cwd=self.root,
                                 capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 2)
        self.assertIn("127.0.0.1:%d" % port, run.stderr)
        self.assertIn("set another address", run.stderr)

    def test_a_second_daemon_does_not_share_the_port(self):
        (self.root / "rules/a.yaml").write_text(RULES % 1)
        self.start()
        (self.root / "other.yaml").write_text(
            'listeners: [{address: "%s"}]\ntable: {path: %s, keys: 1000}\n'
            % (self.address, self.root / "table"))
        run = subprocess.run([SLUICE, "serve", "--config", "other.yaml"], cwd=self.root,
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 2)
        self.assertIn("cannot listen on " + self.address, run.stderr)

    def test_status_asks_about_a_cost(self):
        (self.root / "rules/a.yaml").write_text(RULES % 5)
        self.start()
        for cost, code in ((5, 0), (6, 1), (-1, 2)):
            run = subprocess.run([SLUICE, "status", "--server", "http://" + self.address,
                                  "--cost", str(cost), "user_id=s"],
                                 capture_output=True, text=True, timeout=20)
            self.assertEqual(run.returncode, code, run.stdout + run.stderr)

    def test_a_glob_that_names_no_file_is_warned_of(self):
        run = subprocess.run([SLUICE, "validate", "sluice.yaml"], cwd=self.root,
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("rules/*.yaml: matches no file, so no rule comes from it (warning)", run.stdout)
        (self.root / "rules/a.yaml").write_text("rules:\n  - id: x\n    raet: 5\n")
        run = subprocess.run([SLUICE, "validate", "sluice.yaml", "rules/a.yaml"], cwd=self.root,
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 1)
        self.assertNotIn("warning", run.stdout)
        self.assertEqual(run.stdout.count("a.yaml:3:5: unknown field raet, did you mean rate?"), 1)

    def test_health_says_whether_it_is_ready(self):
        def health(server, *words):
            return subprocess.run([SLUICE, "health", "--server", server, *words],
                                  capture_output=True, text=True, timeout=20)
        (self.root / "rules/a.yaml").write_text(RULES % 5)
        self.start()
        for address in (self.address, self.admin):
            run = health("http://" + address)
            self.assertEqual((run.returncode, run.stdout), (0, "ready\n"), run.stderr)
        self.assertEqual(health("http://" + self.address, "--quiet").stdout, "")
        # A listener that is there and does not say 200.
        self.assertEqual(health("http://" + self.address + "/nowhere").returncode, 1)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)
        run = health("http://" + self.address)
        self.assertEqual(run.returncode, 1)
        self.assertIn("not ready: ", run.stderr)
        self.assertEqual(health("gopher://x").returncode, 2)

    def test_names_a_command_that_is_none(self):
        run = subprocess.run([SLUICE, "valdate", "x"], capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 2)
        self.assertIn("sluice has no command valdate, did you mean validate?", run.stderr)
        run = subprocess.run([SLUICE, "bogus"], capture_output=True, text=True, timeout=20)
        self.assertRegex(run.stderr, r"the commands are init, serve, check, status, .*table, .* or [a-z-]+\n")

    def test_explain_calls_a_calendar_period_by_its_name(self):
        (self.root / "rules/a.yaml").write_text(
            "rules: [{id: m, key_pattern: 'u:{user_id}', algorithm: fixed_window, limit: 5, "
            "window: month, time_zone: Europe/Berlin}]\n")
        run = subprocess.run([SLUICE, "explain", "--rules", "sluice.yaml", "user_id=a"],
                             cwd=self.root, capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("5 per month (Europe/Berlin)", run.stdout)

    def test_explain_shows_what_strict_paths_make_of_a_path(self):
        (self.root / "rules/a.yaml").write_text(
            "rules: [{id: login, match: {endpoint: /login}, key_pattern: '{ip}', "
            "algorithm: fixed_window, limit: 5, window: 1h}]\n")
        (self.root / "proxy.yaml").write_text(
            "listeners: [{address: 127.0.0.1:8080, proxy: {paths: strict}}]\n"
            "rule_sources: [{files: [rules/a.yaml]}]\n")
        def explain(endpoint):
            run = subprocess.run([SLUICE, "explain", "--rules", "proxy.yaml", "ip=192.0.2.1",
                                  "endpoint=" + endpoint], cwd=self.root, capture_output=True,
                                 text=True, timeout=20)
            return run.returncode, run.stdout
        status, said = explain("//a/../login;x=1")
        self.assertEqual((status, "refuses this request" in said), (1, True), said)
        status, said = explain("/a/../%6cogin;x=1")
        self.assertEqual(status, 0, said)
        self.assertIn("127.0.0.1:8080 (paths: strict) reads the path /a/../%6cogin;x=1 as /login", said)
        self.assertNotIn("reads the path", explain("/login")[1])

    def test_what_refuses_a_request_is_counted_and_logged(self):
        (self.root / "rules/a.yaml").write_text(RULES % 5)
        self.start()
        connection = http.client.HTTPConnection(self.address, timeout=20)
        for _ in range(3):
            connection.request("GET", "/nowhere")
            response = connection.getresponse()
            response.read()
            self.assertEqual(response.status, 404)
        connection.close()
        self.assertEqual(
            self.metric('sluice_http_requests_total{listener="127.0.0.1:0",status="404"}'), 3)
        self.process.terminate()
        log = self.process.communicate(timeout=20)[1]
        self.assertEqual(len(re.findall("answered 404 to 127.0.0.1: this listener serves", log)), 1)

    def test_a_status_query_that_is_no_utf8_is_refused(self):
        (self.root / "rules/a.yaml").write_text(RULES % 5)
        self.start()
        connection = http.client.HTTPConnection(self.address, timeout=20)
        connection.request("GET", "/v1/ratelimit/status?user_id=%ff")
        response = connection.getresponse()
        self.assertEqual(response.status, 400)
        self.assertEqual(json.loads(response.read())["code"], "invalid_query")
        connection.close()


if __name__ == "__main__":
    unittest.main()
