#!/usr/bin/env python3
"""The daemon behind TLS: certificates, clients' certificates, renewal. Usage: tls_test.py SLUICE"""
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import unittest
import warnings

from harness import Authority, DaemonCase, main, until

TLS = """
  - {address: "127.0.0.1:0", tls: {cert: server.crt, key: server.key}}
  - {address: "127.0.0.1:0", role: admin}
"""
FAILED = 'sluice_credential_reloads_total{result="failed"}'
RELOADED = 'sluice_credential_reloads_total{result="ok"}'


class TlsTest(DaemonCase):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.root)
        self.authority.sign("server")

    def connect(self, context):
        host, port = self.checks.rsplit(":", 1)
        connection = http.client.HTTPSConnection(host, int(port), timeout=20, context=context)
        connection.connect()
        return connection

    def check(self, connection):
        connection.request("POST", "/v1/ratelimit/check", json.dumps({"user_id": "a"}))
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def serial(self):
        connection = self.connect(self.authority.trust())
        serial = connection.sock.getpeercert()["serialNumber"]
        connection.close()
        return serial

    def renew(self, name):
        """As a tool does that renews: the key first, then the certificate, each renamed over."""
        self.authority.sign(name)
        os.rename(self.root / (name + ".key"), self.root / "server.key")
        os.rename(self.root / (name + ".crt"), self.root / "server.crt")

    def test_answers_over_tls_1_2_and_1_3_and_no_older(self):
        self.configure(TLS)
        self.assertIn("checks  https://", self.start())
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.authority.trust()
            context.minimum_version = context.maximum_version = version
            context.set_alpn_protocols(["http/1.1"])
            connection = self.connect(context)
            self.assertEqual(connection.sock.selected_alpn_protocol(), "http/1.1")
            for _ in range(3):
                self.assertEqual(self.check(connection)[0], 200)
            connection.close()
        old = self.authority.trust()
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(ssl.SSLError):
            self.connect(old)
        until(lambda: self.metric('sluice_tls_handshakes_total{result="failed"}') == 1)
        self.assertEqual(self.metric('sluice_tls_handshakes_total{result="done"}'), 2)

    def curl(self, *words):
        run = subprocess.run(["curl", "-sS", "-w", "\n%{http_version} %{http_code}", *words],
                             capture_output=True, text=True, timeout=20, cwd=self.root)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.rsplit("\n", 1)

    def test_speaks_http_2_with_prior_knowledge_and_where_tls_agrees_on_it(self):
        self.configure(TLS + '  - {address: "127.0.0.1:0"}\n')
        greeting = self.start()
        plain = re.search(r"checks\s+(http://\S+)", greeting).group(1)
        secure = re.search(r"checks\s+(https://\S+)", greeting).group(1)
        check = ["-d", '{"user_id": "a"}']
        (self.root / "body").write_text('{"user_id": "b"}')
        path = "/v1/ratelimit/check"
        body, said = self.curl("--http2-prior-knowledge", *check, plain + path)
        self.assertEqual(said, "2 200")
        self.assertTrue(json.loads(body)["allowed"])
        self.assertEqual(self.curl(*check, plain + path)[1], "1.1 200")
        trust = ["--cacert", "ca.crt"]
        self.assertEqual(self.curl("--http2", *trust, *check, secure + path)[1], "2 200")
        self.assertEqual(self.curl("--http1.1", *trust, *check, secure + path)[1], "1.1 200")
        # Many at once on one connection. (Not by curl: 7.88 with prior knowledge fails on the second
        # request of a connection that it shares.)
        for url in (plain, secure):
            run = subprocess.run(["h2load", "-n", "1000", "-c", "2", "-m", "100", "-d", "body", url + path],
                                 capture_output=True, text=True, timeout=20, cwd=self.root)
            # Some are refused, all are answered: 200 or 429.
            self.assertRegex(run.stdout, r"1000 done, \d+ succeeded, \d+ failed, 0 errored, 0 timeout")
            self.assertRegex(run.stdout, r"status codes: \d+ 2xx, 0 3xx, \d+ 4xx, 0 5xx")

    def test_a_renewed_certificate_is_shown_and_no_connection_is_lost(self):
        self.configure(TLS)
        self.start()
        before = self.serial()
        lasting = self.connect(self.authority.trust())
        self.renew("second")
        until(lambda: self.serial() != before)
        self.assertEqual(self.check(lasting)[0], 200)
        # A bad one is not taken, logged once and at each SIGHUP, and the next good one is.
        second = self.serial()
        (self.root / "server.crt").write_text("nonsense")
        until(lambda: self.metric(FAILED))
        failed = self.metric(FAILED)
        self.process.send_signal(signal.SIGHUP)
        until(lambda: self.metric(FAILED) > failed)
        self.assertEqual(self.serial(), second)
        until(lambda: "SIGHUP: the new certificate" in self.log())
        self.assertEqual(self.log().count("files changed: the new certificate of 127.0.0.1:0 cannot be loaded"), 1)
        self.assertEqual(self.log().count("holds no certificate in PEM form"), 2)
        reloaded = self.metric(RELOADED)
        self.renew("third")
        until(lambda: self.metric(RELOADED) > reloaded)
        self.assertNotIn(self.serial(), (before, second))
        self.assertEqual(self.check(lasting)[0], 200)
        lasting.close()

    def test_clients_need_a_certificate_where_an_authority_is_named(self):
        self.authority.sign("client")
        stranger = Authority(self.root, "stranger")
        stranger.sign("foreign")
        self.configure("""
  - {address: "127.0.0.1:0", tls: {cert: server.crt, key: server.key, client_ca: ca.crt}}
  - {address: "127.0.0.1:0", role: admin}
""")
        self.start()
        connection = self.connect(self.authority.trust("client"))
        self.assertEqual(self.check(connection)[0], 200)
        connection.close()
        for own in (None, "foreign"):
            with self.assertRaises((ssl.SSLError, OSError)):
                self.check(self.connect(self.authority.trust(own)))

    def test_an_admin_listener_for_others_wants_to_know_them(self):
        self.configure('  - {address: "0.0.0.0:0", role: admin, '
                       'tls: {cert: server.crt, key: server.key}}')
        self.assertIn("sluice.yaml:2:5: an admin listener on a non-loopback address needs auth",
                      self.refuses_to_start())
        self.configure('  - {address: "0.0.0.0:0", role: admin, '
                       'tls: {cert: server.crt, key: server.key, client_ca: ca.crt}}')
        self.authority.sign("operator")
        self.start()
        address = "127.0.0.1:" + self.admin.rsplit(":", 1)[1]
        self.assertEqual(self.get(address, "/metrics", self.authority.trust("operator"))[0], 200)

    def test_a_token_follows_its_file(self):
        self.configure("""
  - {address: "127.0.0.1:0", auth: {token_file: token}}
  - {address: "127.0.0.1:0", role: admin}
""")
        (self.root / "token").write_text("first\n")
        self.start()

        def status(token):
            return self.get(self.checks, "/v1/ratelimit/status/u",
                            headers={"Authorization": "Bearer " + token})[0]

        self.assertEqual(status("first"), 200)
        self.assertEqual(self.get(self.checks, "/v1/ratelimit/status/u")[0], 401)
        self.assertEqual(self.get(self.checks, "/healthz")[0], 200)
        (self.root / "token").write_text("")  # No token at all is no token to take.
        until(lambda: self.metric(FAILED))
        self.assertEqual(status("first"), 200)
        self.assertEqual(status(""), 401)
        (self.root / "token").write_text("second\n")
        until(lambda: status("second") == 200)
        self.assertEqual(status("first"), 401)

    def test_says_which_file_keeps_it_from_starting(self):
        self.configure(TLS)
        os.rename(self.root / "server.key", self.root / "away")
        self.assertRegex(self.refuses_to_start(),
                         r"sluice.yaml:3:\d+: server.key: cannot be read: No such file")
        self.authority.sign("other")
        os.rename(self.root / "other.key", self.root / "server.key")
        self.assertIn("server.key: is not the key of the first certificate in server.crt",
                      self.refuses_to_start())

    def test_sigterm_answers_what_was_asked(self):
        self.configure(TLS)
        self.start()
        connection = self.connect(self.authority.trust())
        self.assertEqual(self.check(connection)[0], 200)
        silent = socket.create_connection(("127.0.0.1", int(self.checks.rsplit(":", 1)[1])))
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.check(connection)[0], 200)
        self.assertEqual(self.process.wait(timeout=20), 0)
        connection.close()
        silent.close()


if __name__ == "__main__":
    main(sys.argv)
