"""The real binary with its admin listener, and load on it. No fixed ports and no sleeps for luck:
ports are 0 and read from the greeting; what takes time is waited for, with an end."""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))

CONFIG = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 10000, path: %s}
drain_timeout: 5s
rule_sources:
  - files: [rules/*.yaml]
  - api: {dir: state}
"""
QUOTA = {"key_pattern": "user:{user_id}", "algorithm": "fixed_window", "limit": 10, "window": "3650d"}


def until(what, limit=20.0):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.01)
    raise AssertionError("did not happen within %s s" % limit)


class Daemon:
    def __init__(self, root):
        self.root = root
        with open(root / "log", "a") as log:
            self.process = subprocess.Popen([SLUICE, "serve", "--config", "sluice.yaml"], cwd=root,
                                            env={**os.environ, "STATE_DIRECTORY": str(root)},
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        greeting = ""
        for line in self.process.stdout:
            greeting += line
            if "/metrics" in line:
                break
        assert "/metrics" in greeting, self.log()
        checks = re.findall(r"checks\s+http://(\S+)", greeting)
        admins = re.findall(r"admin\s+http://(\S+)", greeting)
        self.address, self.admin = checks[0], admins[0]
        metrics = re.findall(r"metrics\s+http://(\S+)", greeting)
        self.metrics = metrics[0] if metrics else None
        self.guarded = checks[-1], admins[-1]  # Of a configuration that has listeners with a token.

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.communicate(timeout=20)

    def log(self):
        return (self.root / "log").read_text()

    @staticmethod
    def ask(address, method, path, body=None, **fields):
        connection = http.client.HTTPConnection(address, timeout=20)
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        headers |= {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        is_json = "json" in (response.headers["Content-Type"] or "") and text
        return response.status, json.loads(text) if is_json else text, response.headers

    def ask_admin(self, method, path, body=None, **fields):
        return self.ask(self.admin, method, "/v1/ratelimit/" + path, body, **fields)

    def put(self, rule, **changes):
        status, answer, headers = self.ask_admin("PUT", "config/" + rule, {**QUOTA, **changes})
        assert status == 200, answer
        return headers["ETag"]

    def delete(self, rule):
        status, answer, _ = self.ask_admin("DELETE", "config/" + rule)
        assert status == 200, answer

    def check(self, **body):
        return self.ask(self.address, "POST", "/v1/ratelimit/check", body)[:2]

    def limits(self, user="looker"):
        return {limit["name"]: limit["limit"]
                for limit in self.check(user_id=user, peek=True)[1]["limits"]}

    def metric(self, name):
        text = self.ask(self.admin, "GET", "/metrics")[1]
        found = re.search("^" + re.escape(name) + r" (\S+)$", text, re.M)
        return float(found.group(1)) if found else None

    def command(self, *words):
        return subprocess.run([SLUICE, *words, "--server", "http://" + self.admin],
                              capture_output=True, text=True, timeout=20)


class Load:
    """Checks on one key from several connections, as fast as they are answered."""

    def __init__(self, daemon, user, threads=3):
        self.daemon, self.user = daemon, user
        self.allowed = self.denied = 0
        self.wrong = []
        self.lock = threading.Lock()
        self.ending = False
        self.threads = [threading.Thread(target=self.run) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def run(self):
        connection = http.client.HTTPConnection(self.daemon.address, timeout=20)
        while not self.ending:
            connection.request("POST", "/v1/ratelimit/check", json.dumps({"user_id": self.user, "plan": "free"}))
            response = connection.getresponse()
            answer = json.loads(response.read())
            with self.lock:
                if response.status == 200:
                    self.allowed += 1
                elif response.status == 429:
                    self.denied += 1
                else:
                    self.wrong.append(answer)
        connection.close()

    def settle(self):
        """Until what was answered since is plainly judged by the rules of now."""
        denied = self.denied
        until(lambda: self.denied > denied + 50 or self.wrong)

    def passes(self, units):
        """Until `units` have passed in all, and a while longer: exactly so many."""
        until(lambda: self.allowed >= units or self.wrong)
        self.settle()
        assert self.allowed == units, (self.allowed, units)

    def end(self):
        self.ending = True
        for thread in self.threads:
            thread.join()
        assert not self.wrong, self.wrong[0]


class Case(unittest.TestCase):
    """A folder for one daemon, which ends with the test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.node("node", CONFIG)
        self.daemon = None
        self.addCleanup(self.folder.cleanup)

    def node(self, name, config):
        root = pathlib.Path(self.folder.name) / name
        (root / "rules").mkdir(parents=True)
        (root / "sluice.yaml").write_text(config % (root / "table"))
        return root

    def start(self, root=None):
        daemon = Daemon(root or self.root)
        self.daemon = self.daemon if root else daemon
        self.addCleanup(self.end, daemon)
        return daemon

    @staticmethod
    def end(daemon):
        if daemon.process.poll() is None:
            daemon.process.kill()
        daemon.process.communicate()

    def write(self, *rules):
        (self.root / "rules/new").write_text(json.dumps({"rules": list(rules)}))
        os.rename(self.root / "rules/new", self.root / "rules/a.yaml")
