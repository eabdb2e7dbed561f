"""A daemon of the real binary for one test: started, read from, ended. No fixed ports and no sleeps
for luck: ports are 0 and read from the greeting; what takes time is waited for, with an end."""
import http.client
import os
import pathlib
import re
import ssl
import subprocess
import tempfile
import time
import unittest

RULES = """
rules:
  - id: api
    key_pattern: "user:{user_id}"
    algorithm: token_bucket
    rate: 1000
    window: 3650d
"""


def until(what, limit=20.0):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.01)
    raise AssertionError("did not happen within %s s" % limit)


def metric(admin, name):
    """What the admin listener's /metrics says under `name`; None where it says nothing."""
    connection = http.client.HTTPConnection(admin, timeout=20)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    found = re.search("^" + re.escape(name) + r" (\S+)$", text, re.M)
    return float(found.group(1)) if found else None


def launch(words, root, mode="w", env=None):
    """Starts a daemon in `root`, its log in `root`/log: the process, and what it said on the way."""
    with open(root / "log", mode) as log:
        process = subprocess.Popen(words, cwd=root, env=env, stdout=subprocess.PIPE, stderr=log,
                                   text=True)
    greeting = ""
    for line in process.stdout:
        greeting += line
        if line.startswith("Try:"):
            return process, greeting
    process.wait()
    process.stdout.close()
    raise AssertionError("it did not start: " + (root / "log").read_text())


class Redis:
    """A redis-server on a Unix socket, with its files in `root`; `options` as on its command line."""

    def __init__(self, root, *options):
        self.root, self.socket, self.options = root, str(root / "redis.sock"), options
        self.password, self.process = [], None  # Of redis-cli: ["-a", ...].
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir",
             str(self.root), *self.options], stdout=subprocess.PIPE, text=True)
        said = ""
        for line in self.process.stdout:
            said += line
            if "eady to accept connections" in line:
                return
        raise AssertionError("redis-server did not start: " + said)

    def run(self, *words):
        return subprocess.run(["redis-cli", "-s", self.socket, *self.password, *words], check=True,
                              capture_output=True, text=True, timeout=20).stdout.strip()

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None


def openssl(*words, **more):
    subprocess.run(["openssl", *words], check=True, capture_output=True, **more)


class Authority:
    """Signs certificates for a test, in a folder."""

    def __init__(self, root, name="ca"):
        self.root, self.name = root, name
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", name + ".key", "-out", name + ".crt", "-days", "2", "-subj",
                "/CN=" + name, cwd=root)

    def sign(self, name, host="localhost"):
        """Makes name.key and name.crt."""
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                name + ".key", "-out", name + ".csr", "-subj", "/CN=" + host, cwd=self.root)
        (self.root / "ext").write_text("subjectAltName=DNS:%s,IP:127.0.0.1\n" % host)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", self.name + ".crt", "-CAkey",
                self.name + ".key", "-CAcreateserial", "-days", "2", "-extfile", "ext", "-out",
                name + ".crt", cwd=self.root)

    def trust(self, own=None):
        """What a client of servers signed here needs; `own` is its certificate's name."""
        context = ssl.create_default_context(cafile=str(self.root / (self.name + ".crt")))
        if own:
            context.load_cert_chain(self.root / (own + ".crt"), self.root / (own + ".key"))
        return context


class DaemonCase(unittest.TestCase):
    sluice = ""  # The binary's path.

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "rules.yaml").write_text(RULES)
        self.process = None

    def tearDown(self):
        if self.process:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        self.folder.cleanup()

    def configure(self, listeners):
        (self.root / "sluice.yaml").write_text(
            "listeners:\n%s\ntable: {keys: 1000}\nrule_sources: [{files: [rules.yaml]}]\n"
            % listeners)

    def start(self):
        """Serves sluice.yaml; self.checks and self.admin are "host:port"."""
        self.process, greeting = launch([self.sluice, "serve", "--config", "sluice.yaml"],
                                        self.root)
        addresses = dict(re.findall(r"^  (checks|admin)\s+https?://(\S+)", greeting, re.M))
        self.checks, self.admin = addresses.get("checks"), addresses.get("admin")
        return greeting

    def refuses_to_start(self):
        """What it says instead of starting."""
        run = subprocess.run([self.sluice, "serve", "--config", "sluice.yaml"], cwd=self.root,
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 2, run.stderr)
        return run.stderr

    def log(self):
        return (self.root / "log").read_text()

    def get(self, address, path, context=None, headers=None):
        host, port = address.rsplit(":", 1)
        if context:
            connection = http.client.HTTPSConnection(host, int(port), timeout=20, context=context)
        else:
            connection = http.client.HTTPConnection(host, int(port), timeout=20)
        try:
            connection.request("GET", path, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.read().decode(), response.headers
        finally:
            connection.close()

    def metric(self, name):
        return metric(self.admin, name)


def main(argv):
    DaemonCase.sluice = os.path.abspath(argv.pop(1))
    unittest.main()
