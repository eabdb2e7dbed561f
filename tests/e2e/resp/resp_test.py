#!/usr/bin/env python3
"""Redis clients as they come, against the real binary. Usage: resp_test.py SLUICE

redis-cli, redis-benchmark, redis-py (its own parser and hiredis's, which is C), Perl's Redis and
redis-lua. tools/setup.sh installs them; one that is absent is said to be skipped.
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))
HERE = pathlib.Path(__file__).resolve().parent
PASSWORD = "correct horse"

CONFIG = """
listeners:
  - {address: "127.0.0.1:0", protocol: resp}
  - {address: "127.0.0.1:0", protocol: resp, auth: {password_file: password}}
  - {address: "127.0.0.1:0", protocol: resp, tls: {cert: cert.pem, key: key.pem}}
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 10000}
drain_timeout: 5s
rules:
  - id: api
    key_pattern: "user:{user_id}"
    algorithm: token_bucket
    rate: 100
    window: 3650d
"""


def needs(program):
    return unittest.skipUnless(shutil.which(program), "not installed: %s (tools/setup.sh)" % program)


class RespTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        (root / "sluice.yaml").write_text(CONFIG)
        (root / "password").write_text(PASSWORD + "\n")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                        "-keyout", "key.pem", "-out", "cert.pem"],
                       cwd=root, check=True, capture_output=True)
        cls.cert = str(root / "cert.pem")
        cls.process = subprocess.Popen([SLUICE, "serve", "--config", "sluice.yaml"], cwd=root,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        greeting = ""
        for line in cls.process.stdout:
            greeting += line
            if line == "Try:\n":
                break
        ports = re.findall(r"^ *resp +redis://127\.0\.0\.1:(\d+)$", greeting, re.M)
        secure = re.findall(r"^ *resp +rediss://127\.0\.0\.1:(\d+)$", greeting, re.M)
        if len(ports) != 2 or len(secure) != 1:
            cls.process.kill()
            raise AssertionError(greeting + cls.process.stderr.read())
        cls.port, cls.locked_port = ports
        cls.tls_port = secure[0]
        cls.admin = re.search(r"^ *admin +http://(.*)$", greeting, re.M)[1]
        cls.reader = threading.Thread(target=cls.process.stdout.read)
        cls.reader.start()

    @classmethod
    def tearDownClass(cls):
        cls.process.send_signal(signal.SIGTERM)
        code = cls.process.wait(timeout=20)
        cls.reader.join()
        cls.process.stdout.close()
        errors = cls.process.stderr.read()
        cls.process.stderr.close()
        cls.folder.cleanup()
        assert code == 0, errors

    def run_program(self, *command, **options):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                              **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def cli(self, *arguments, port=None, **options):
        return self.run_program("redis-cli", "-p", port or self.port, *arguments, **options)

    @needs("redis-cli")
    def test_redis_cli(self):
        self.assertEqual(self.cli("PING"), "PONG\n")
        self.assertEqual(self.cli("CL.THROTTLE", "cli:1", "15", "30", "60"), "0\n16\n15\n-1\n2\n")
        self.assertEqual(self.cli("--no-raw", "CL.THROTTLE", "cli:1", "0", "30", "60"),
                         "1) (integer) 1\n2) (integer) 1\n3) (integer) 0\n4) (integer) 2\n"
                         "5) (integer) 2\n")
        self.assertIn("(error) ERR count must be", self.cli("--no-raw", "CL.THROTTLE", "k", "1", "0", "1"))
        answer = self.cli("--no-raw", "-3", "SLUICE.CHECK", "*", "user_id=cli")
        self.assertIn('1# "allowed" => (true)', answer)
        self.assertIn('2# "remaining" => (integer) 99', answer)
        self.assertEqual(self.cli("SLUICE.RESET", "api", "user_id=cli"), "1\n")
        self.assertIn("sluice_version:", self.cli("INFO"))
        self.assertTrue(self.cli("COMMAND", "COUNT").strip().isdigit())

    @needs("redis-cli")
    def test_redis_cli_as_people_type_into_it(self):
        # Reads COMMAND DOCS for its hints, then commands from a terminal or a pipe.
        typed = "PING\nCL.THROTTLE typed 0 1 60\nHELLO 3\nSLUICE.STATUS api user_id=typed\nQUIT\n"
        answer = self.cli(input=typed)
        self.assertTrue(answer.startswith("PONG\n0\n1\n0\n-1\n60\n"), answer)

    @needs("redis-cli")
    def test_a_password(self):
        self.assertIn("NOAUTH", self.cli("PING", port=self.locked_port))
        self.assertIn("WRONGPASS", self.cli("AUTH", "wrong", port=self.locked_port))
        for user in ([], ["--user", "default"]):
            for version in ("-2", "-3"):
                self.assertEqual(self.cli(*user, "--pass", PASSWORD, "--no-auth-warning", version,
                                          "PING", port=self.locked_port), "PONG\n")

    @needs("redis-cli")
    def test_tls(self):
        tls = ("--tls", "--cacert", self.cert)
        self.assertEqual(self.cli(*tls, "CL.THROTTLE", "tls:1", "15", "30", "60", port=self.tls_port),
                         "0\n16\n15\n-1\n2\n")
        self.assertIn("requests per second", self.run_program(
            "redis-benchmark", "-p", self.tls_port, *tls, "-n", "20000", "-c", "5", "-P", "64", "-q",
            "CL.THROTTLE", "tls:__rand_int__", "15", "30", "60"))

    @needs("redis-benchmark")
    def test_redis_benchmark(self):
        for depth in ("1", "100"):
            out = self.run_program("redis-benchmark", "-p", self.port, "-n", "20000", "-c", "10",
                                   "-r", "1000", "-P", depth, "-q",
                                   "CL.THROTTLE", "bench:__rand_int__", "15", "30", "60")
            self.assertIn("requests per second", out)
        out = self.run_program("redis-benchmark", "-p", self.port, "-n", "5000", "-q", "-t", "ping")
        self.assertEqual(out.count("requests per second"), 2, out)  # Inline and as an array.

    def python(self, parser, module):
        # Debian's modules are Debian's python3's, which need not be the one that runs this.
        for python in (sys.executable, "/usr/bin/python3"):
            if subprocess.run([python, "-c", "import " + module], capture_output=True,
                              check=False).returncode == 0:
                self.assertIn("python: ok", self.run_program(python, HERE / "client.py", parser,
                                                             self.locked_port, PASSWORD))
                return
        self.skipTest("not installed: Python's %s (tools/setup.sh)" % module)

    def test_python(self):
        self.python("PythonParser", "redis")

    def test_python_over_hiredis(self):
        self.python("HiredisParser", "redis, hiredis")

    @needs("perl")
    def test_perl(self):
        if subprocess.run(["perl", "-MRedis", "-e", "1"], capture_output=True, check=False).returncode:
            self.skipTest("not installed: Perl's Redis (tools/setup.sh)")
        self.assertIn("perl: ok", self.run_program("perl", HERE / "client.pl",
                                                   "127.0.0.1:" + self.locked_port, PASSWORD))

    @needs("lua5.1")
    def test_lua(self):
        self.assertIn("lua: ok", self.run_program("lua5.1", HERE / "client.lua", "127.0.0.1",
                                                  self.locked_port, PASSWORD))

    def test_what_was_decided_is_counted(self):
        with socket.create_connection(("127.0.0.1", int(self.port))) as client:
            client.sendall(b"CL.THROTTLE counted 0 1 60\r\nCL.THROTTLE counted 0 1 60\r\nQUIT\r\n")
            with client.makefile("rb") as answers:
                self.assertEqual(answers.read().split(b"\r\n")[1:2], [b":0"])
        host, port = self.admin.split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            with client.makefile("rb") as answer:
                text = answer.read().decode()
        self.assertRegex(text, r'sluice_decisions_total\{rule="@cl.throttle",outcome="denied"\} [1-9]')


if __name__ == "__main__":
    unittest.main()
