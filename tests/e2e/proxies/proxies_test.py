#!/usr/bin/env python3
"""The examples in examples/proxies/ with the real servers: what a client gets that passes, that is
refused, and while Sluice is down. Usage: proxies_test.py SLUICE EXAMPLES

The examples' ports are replaced by free ones.
"""
import http.client
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from harness import DaemonCase, main, until  # noqa: E402

EXAMPLES = pathlib.Path(os.path.abspath(sys.argv.pop(2)))


class App(http.server.BaseHTTPRequestHandler):
    """What stands behind the proxy: says what reached it."""
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        said = json.dumps({"path": self.path, "body": body.decode()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = answer

    def log_message(self, *words):
        pass


# Behind those of the example: refusals that are no limit.
MORE_RULES = """
  - {id: listed, match: {endpoint: /listed}, action: deny}
  - id: redirects
    match: {endpoint: [/plain, /old]}
    key_pattern: "{ip} {endpoint}"
    algorithm: sliding_window_log
    limit: 2
    window: 1d
"""
LIMIT_HEADERS = ("RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining",
                 "X-RateLimit-Reset")


class Stub(http.server.BaseHTTPRequestHandler):
    """In place of Sluice: refuses as it does, with the X-RL-Status of its server."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(403)
        self.send_header("X-RL-Status", str(self.server.rl_status))
        self.send_header("Retry-After", "7")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


class ProxiesTest(DaemonCase):
    def setUp(self):
        super().setUp()
        self.app = http.server.ThreadingHTTPServer(("127.0.0.1", 0), App)
        threading.Thread(target=self.app.serve_forever, daemon=True).start()
        self.proxy = None
        (self.root / "sluice.yaml").write_text(
            (EXAMPLES / "sluice.yaml").read_text()
            .replace("127.0.0.1:8080", "127.0.0.1:0").replace("127.0.0.1:6070", "127.0.0.1:0") +
            MORE_RULES)
        self.start()

    def tearDown(self):
        if self.proxy:
            self.proxy.terminate()
            self.proxy.wait()
        self.app.shutdown()
        self.app.server_close()
        super().tearDown()

    def example(self, name, is_open, asks=None):
        """The example's text, with our ports; its variant that lets pass while Sluice is down. `asks`
        is the file beside it that names Sluice's port, if it does not do so itself."""
        self.port = free_port()
        text = (EXAMPLES / name).read_text()
        for theirs, ours in (("127.0.0.1:8000", "127.0.0.1:%d" % self.port),
                             *(() if asks else (("127.0.0.1:8080", self.checks),)),
                             ("127.0.0.1:3000", "127.0.0.1:%d" % self.app.server_address[1])):
            self.assertIn(theirs, text)
            text = text.replace(theirs, ours)
        return text.replace("#open ", "") if is_open else text

    def run_proxy(self, words, **more):
        with open(self.root / "proxy.log", "w") as log:
            self.proxy = subprocess.Popen(words, cwd=self.root, stdout=subprocess.DEVNULL,
                                          stderr=log, **more)
        until(self.listens)

    def listens(self):
        if self.proxy.poll() is not None:
            raise AssertionError((self.root / "proxy.log").read_text())
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def nginx(self, is_open=False):
        (self.root / "site.conf").write_text(self.example("nginx.conf", is_open))
        temporary = "".join("%s_temp_path tmp;\n" % each for each in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.root / "nginx.conf").write_text(
            "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\n"
            "access_log off;\n%sinclude site.conf;\n}\n" % temporary)
        self.run_proxy(["nginx", "-p", str(self.root), "-c", "nginx.conf", "-e", "error.log"])

    def caddy(self, is_open=False):
        (self.root / "Caddyfile").write_text(self.example("Caddyfile", is_open))
        self.run_proxy(["caddy", "run", "--config", "Caddyfile"],
                       env=dict(os.environ, HOME=str(self.root), XDG_DATA_HOME=str(self.root),
                                XDG_CONFIG_HOME=str(self.root)))

    def haproxy(self, is_open=False):
        (self.root / "haproxy.cfg").write_text(
            self.example("haproxy.cfg", is_open, asks="sluice.lua"))
        (self.root / "sluice.lua").write_text(
            (EXAMPLES / "sluice.lua").read_text().replace("127.0.0.1:8080", self.checks))
        self.run_proxy(["haproxy", "-f", "haproxy.cfg"],
                       env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin"))

    def ask(self, path="/", method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode(), response.headers
        finally:
            connection.close()

    def what_passes_and_what_does_not(self):
        status, body, headers = self.ask("/page?x=1")
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(body)["path"], "/page?x=1")
        self.assertIn('"per_address";r=19', headers["RateLimit"])
        self.assertIn('"per_address";q=20;w=2', headers["RateLimit-Policy"])
        self.assertEqual(headers["X-RateLimit-Limit"], "20")
        self.assertEqual(headers["X-RateLimit-Remaining"], "19")
        self.assertTrue(headers["X-RateLimit-Reset"].isdigit())
        self.says_each_once(headers)
        for _ in range(5):
            # What the client says about its own address is nobody's word.
            status, body, _ = self.ask("/login", "POST", "name=a",
                                       **{"X-Forwarded-For": "203.0.113.9"})
            self.assertEqual(status, 200)
            self.assertEqual(json.loads(body)["body"], "name=a")
        status, body, headers = self.ask("/login", "POST", "name=a",
                                         **{"X-Forwarded-For": "203.0.113.10"})
        self.assertEqual(status, 429)
        self.assertGreater(int(headers["Retry-After"]), 800)
        self.assertLessEqual(int(headers["Retry-After"]), 900)
        self.assertIn('"login";r=0', headers["RateLimit"])
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        self.assertIn("quota-exceeded", json.loads(body)["type"])
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(headers["X-RateLimit-Remaining"], "0")
        self.says_each_once(headers)
        self.assertEqual(self.ask("/page")[0], 200)
        # Nor what it writes of the request: it is the same request.
        for name, value in (("X-Original-URI", "/page"), ("X-Original-Method", "GET"),
                            ("X-Forwarded-Uri", "/page"), ("X-Forwarded-Method", "GET"),
                            ("X-Forwarded-Host", "free.example"), ("X-User-Id", "u_1")):
            self.assertEqual(self.ask("/login", "POST", "name=a", **{name: value})[0], 429, name)
        # Nor its query, nor how it spells the path.
        for path in ("/login?cost=0", "/login?deny_status=403&cost=0", "//login", "/login/",
                     "/LOGIN", "/./login", "/a/../login", "/login;x=1", "/%6cogin"):
            self.assertEqual(self.ask(path, "POST", "name=a")[0], 429, path)

    def says_each_once(self, headers):
        for name in LIMIT_HEADERS + ("Retry-After", "Cache-Control"):
            self.assertLessEqual(len(headers.get_all(name, [])), 1, name)
        self.assertNotIn("{", str(headers))  # A placeholder that has no value.

    def what_no_rule_applies_to(self):
        """Under the kill switch no rule is in force."""
        connection = http.client.HTTPConnection(self.admin, timeout=20)
        connection.request("PUT", "/v1/ratelimit/kill-switch", '{"on": true}',
                           {"Content-Type": "application/json"})
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        status, body, headers = self.ask("/page?x=1")
        self.assertEqual((status, json.loads(body)["path"]), (200, "/page?x=1"))
        self.says_each_once(headers)
        for name in LIMIT_HEADERS + ("Retry-After", "Cache-Control"):
            self.assertNotIn(name, headers)

    def what_is_refused_without_a_limit(self, listed, unjudged):
        status, _, headers = self.ask("/listed")
        self.assertEqual(status, listed)
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        self.assertNotIn("Retry-After", headers)
        self.says_each_once(headers)
        for path in ("/a%2flogin", "/a/..;/login", "/login%0a", "/" + "p" * 1100):
            status, body, headers = self.ask(path)
            self.assertEqual(status, unjudged, path)
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertNotIn("proxy", body)  # No advice for operators.
            self.says_each_once(headers)

    def passes_with_its_body(self):
        status, body, _ = self.ask("/login", "POST", "name=a")
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(body), {"path": "/login", "body": "name=a"})

    def end_sluice(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def test_haproxy(self):
        self.haproxy()
        self.what_passes_and_what_does_not()
        self.what_is_refused_without_a_limit(listed=403, unjudged=400)
        self.what_no_rule_applies_to()
        self.end_sluice()
        self.assertEqual(self.ask()[0], 503)

    def test_haproxy_lets_pass_while_sluice_is_down(self):
        self.haproxy(is_open=True)
        self.what_passes_and_what_does_not()
        self.end_sluice()
        self.passes_with_its_body()

    def test_nginx(self):
        self.nginx()
        self.what_passes_and_what_does_not()
        self.what_is_refused_without_a_limit(listed=403, unjudged=400)
        self.what_no_rule_applies_to()
        self.end_sluice()
        self.assertEqual(self.ask()[0], 500)

    def test_nginx_lets_pass_while_sluice_is_down(self):
        self.nginx(is_open=True)
        self.what_passes_and_what_does_not()
        self.end_sluice()
        self.passes_with_its_body()

    def test_a_return_in_nginx_is_not_judged_and_the_remedy_is(self):
        """docs/proxies.md says how to answer by `return` behind auth_request."""
        here = "server {\n"
        def example(name, is_open, plain=self.example):
            return plain(name, is_open).replace(here, here + """
  location = /plain { auth_request /_rate_limit; return 301 /new; }
  location = /old { auth_request /_rate_limit; error_page 403 = @rate_limited; error_page 404 = @moved;
                    auth_request_set $rl_status $upstream_http_x_rl_status;
                    try_files /nowhere =404; }
  location @moved { return 301 /new; }
""", 1)
        self.example = example
        self.nginx()
        self.assertEqual([self.ask("/plain")[0] for _ in range(3)], [301, 301, 301])
        self.assertEqual([self.ask("/old")[0] for _ in range(3)], [301, 301, 429])

    def test_nginx_gives_each_refusal_its_status(self):
        stub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stub)
        threading.Thread(target=stub.serve_forever, daemon=True).start()
        self.addCleanup(stub.server_close)
        self.addCleanup(stub.shutdown)
        self.checks = "127.0.0.1:%d" % stub.server_address[1]
        self.nginx()
        for stub.rl_status, expected in ((429, 429), (400, 400), (403, 403), (503, 503)):
            status, body, headers = self.ask("/page")
            self.assertEqual(status, expected)
            self.assertEqual(json.loads(body)["status"], expected)
            self.assertEqual(headers["Cache-Control"], "no-store")
            self.assertEqual(headers["Retry-After"], "7")

    def test_caddy(self):
        self.caddy()
        self.what_passes_and_what_does_not()
        self.what_is_refused_without_a_limit(listed=429, unjudged=429)
        self.what_no_rule_applies_to()
        self.end_sluice()
        self.assertEqual(self.ask()[0], 502)

    def test_caddy_lets_pass_while_sluice_is_down(self):
        self.caddy(is_open=True)
        self.what_passes_and_what_does_not()
        self.end_sluice()
        self.passes_with_its_body()


if __name__ == "__main__":
    main(sys.argv)
