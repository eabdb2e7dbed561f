"""A real daemon for tests, and time that tests advance. No fixed ports, no sleeps for luck."""

import asyncio
import hashlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from sluice_client import Clock

ROOT = pathlib.Path(__file__).resolve().parents[3]
SLUICE = os.environ.get("SLUICE", str(ROOT / "build" / "dev" / "bin" / "sluice"))

RULES = """
rules:
  - {id: api, match: {endpoint: /api}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 3, window: 1h, burst: 3}
  - {id: quick, match: {endpoint: /quick}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1, window: 50ms, burst: 1}
  - {id: pages, match: {endpoint: /page}, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 2, window: 30d}
  - {id: jobs, match: {endpoint: /jobs}, key_pattern: "tenant:{tenant}", algorithm: concurrency, limit: 1, hold_ttl: 10s}
  - {id: tokens, match: {endpoint: /llm}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1000, window: 30d, burst: 1000}
  - {id: never, match: {endpoint: /never}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 0, window: 1m}
"""
CONFIG = """
listeners:
  - {address: "127.0.0.1:%d"}
  - {address: "127.0.0.1:0", protocol: resp}
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 1000}
rule_sources: [{files: [rules.yaml]}]
"""


def until(what, limit=20.0):
    """What `what` gives, once that is true."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.005)
    raise AssertionError("did not happen within %s s" % limit)


class Daemon:
    """A daemon of the real binary."""

    def __init__(self, rules=RULES):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "rules.yaml").write_text(rules)
        self.port, self.process = 0, None
        self.start()

    def start(self):
        """Starts it, after `stop()` on the same port."""
        (self.root / "sluice.yaml").write_text(CONFIG % self.port)
        with open(self.root / "log", "a") as log:
            self.process = subprocess.Popen([SLUICE, "serve", "--config", "sluice.yaml"], cwd=self.root, stderr=log,
                                            stdout=subprocess.PIPE, text=True)
        greeting = ""
        for line in self.process.stdout:
            greeting += line
            if line.startswith("Try:"):
                break
        else:
            raise AssertionError("it did not start: " + (self.root / "log").read_text())
        found = dict(re.findall(r"^  (checks|resp|admin)\s+\w+://(\S+)", greeting, re.M))
        self.url, self.resp, self.admin = "http://" + found["checks"], found["resp"], found["admin"]
        self.port = int(found["checks"].rpartition(":")[2])

    def pause(self):
        """Stops it without an end: its sockets stay open. Returns once no thread of it runs."""
        self.process.send_signal(signal.SIGSTOP)
        tasks = pathlib.Path("/proc/%d/task" % self.process.pid)
        until(lambda: all(task.read_text().rpartition(")")[2].split()[0] == "T" for task in tasks.glob("*/stat")))

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def close(self):
        self.stop()
        self.folder.cleanup()


class DaemonCase(unittest.TestCase):
    """One daemon for all tests of a class: each test uses users of its own."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()

    def user(self, endpoint="/api", **more):
        return {"user_id": self.id(), "endpoint": endpoint, **more}

    def address(self):
        """An address for this test alone."""
        digits = hashlib.sha256(self.id().encode()).digest()
        return "10.%d.%d.%d" % tuple(digits[:3])

    def run_async(self, coroutine):
        return asyncio.run(asyncio.wait_for(coroutine, 30))


class FakeClock(Clock):
    """Advances when somebody sleeps, and says who slept how long."""

    def __init__(self, chance=0.0):
        self.now, self.slept, self.chance = 1795953600.0, [], chance

    def monotonic(self):
        return self.now

    def time(self):
        return self.now

    def random(self):
        return self.chance

    def sleep(self, seconds):
        self.slept.append(round(seconds, 6))
        self.now += seconds

    async def asleep(self, seconds):
        self.sleep(seconds)


class Scripted:
    """A server that answers connections by a script, to try what no daemon does. `answer(request, number)` gives the
    bytes to send, None to close the connection, or SILENCE."""

    SILENCE = object()

    def __init__(self, answer):
        self._answer, self.requests, self.connections = answer, [], 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        self._open = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        data = b""
        while True:
            try:
                received = connection.recv(65536)
            except OSError:
                return
            if not received:
                connection.close()
                return
            data += received
            head, blank, rest = data.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.I)
            size = int(length.group(1)) if length else 0
            if not blank or len(rest) < size:
                continue
            data = rest[size:]
            with self._lock:
                self.requests.append(head.decode() + "\n\n" + rest[:size].decode())
                number = len(self.requests)
            reply = self._answer(self.requests[-1], number)
            if reply is self.SILENCE:
                continue
            if reply is None:
                connection.close()
                return
            connection.sendall(reply)

    def close_connections(self):
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It was closed before.

    def close(self):
        self._listener.close()
        self.close_connections()


def http_answer(status, body, *fields):
    data = body.encode()
    lines = ["HTTP/1.1 %d X" % status, "Content-Length: %d" % len(data), *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


ALLOWED = http_answer(200, '{"allowed": true, "remaining": 1, "reset_at": 1, "limits": []}')
