#!/usr/bin/env python3
"""Signals at drawn instants of a daemon's start and stop: it ends with 0, and never of a signal once it
has seen to them. Usage: signals_test.py SLUICE

The waits here draw an instant; nothing is taken for done because time has passed. SIGNALS_SEED and
SIGNALS_RUNS repeat and lengthen a search; SLUICE_SOAK multiplies the runs, as `make soak` does:
SLUICE_SOAK=10 is 480 starts and 240 stops."""
import concurrent.futures
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SLUICE = ""
SEED = int(os.environ.get("SIGNALS_SEED", "1"))
RUNS = int(os.environ.get("SIGNALS_RUNS", 48 * int(os.environ.get("SLUICE_SOAK", "1"))))
WORKERS = 4
PATIENCE = 60.0  # Seconds, for a machine that does other things too.

CONFIG = """listeners:
  - address: 127.0.0.1:0
  - {address: 127.0.0.1:0, role: admin}
"""
IN_MEMORY = "table: {{keys: 1000}}\n"
AWAY = {
    "nothing": IN_MEMORY,
    "etcd that refuses": IN_MEMORY + "rule_sources: [{{etcd: {{endpoints: [\"http://127.0.0.1:{closed}\"]}}}}]\n",
    "etcd that does not answer": IN_MEMORY + "rule_sources: [{{etcd: {{endpoints: [\"http://127.0.0.1:{silent}\"]}}}}]\n",
    "Redis that refuses": IN_MEMORY + "store: {{redis: {{address: \"127.0.0.1:{closed}\"}}}}\n",
    "Redis that does not answer": IN_MEMORY + "store: {{redis: {{address: \"127.0.0.1:{silent}\"}}}}\n",
}
# The same with files of its own: a table, its snapshot, rules of files and of the API.
KEPT = """table: {{path: {root}/table, keys: 1000, snapshots: {root}, snapshot_interval: 1ms}}
rule_sources: [{{files: ["{root}/*.rules"]}}, {{api: {{dir: {root}/api}}}}]
"""
RULE = "rules: [{id: a, key_pattern: 'u:{user_id}', algorithm: gcra, rate: 5, window: 1m}]\n"
BODY = '{"rules": [{"id": "b",\n"key_pattern": "x", "algorithm": "gcra", "rate": 5, "window": "1m"\n}]}\n'
SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


def sees_to(pid, number):
    """Whether the daemon has taken the signal over: it is blocked, and read from a descriptor."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigBlk:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


class SignalsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.silent = socket.create_server(("127.0.0.1", 0))  # Takes connections and says nothing.
        self.addCleanup(self.silent.close)
        closed = socket.socket()  # Bound and not listening: no other process gets the port.
        self.addCleanup(closed.close)
        closed.bind(("127.0.0.1", 0))
        ports = {"silent": self.silent.getsockname()[1], "closed": closed.getsockname()[1]}
        for number, text in enumerate(AWAY.values()):
            (self.root / f"{number}.yaml").write_text(CONFIG + text.format(**ports))

    def launch(self, name, **environment):
        env = {**os.environ, "STATE_DIRECTORY": str(self.root / "state"), **environment}
        return subprocess.Popen([SLUICE, "serve", "--config", str(self.root / f"{name}.yaml")], env=env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def kept(self, run):
        """The configuration of a daemon with files of its own, by its name."""
        own = self.root / f"kept{run}"
        (own / "api" / "rules").mkdir(parents=True)
        (own / "a.rules").write_text(RULE)
        (own / "api" / "rules" / "b.json").write_text(BODY)
        (self.root / f"kept{run}.yaml").write_text(CONFIG + KEPT.format(root=own))
        return f"kept{run}"

    def serves(self, name, story):
        """What a signal has ended starts again, with all that it keeps, and stops."""
        process = self.launch(name)
        for line in process.stdout:
            if line.startswith("Try:"):
                break
        process.send_signal(signal.SIGTERM)
        said, log = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, f"{story}: it does not start again\n{said}{log}")
        self.assertIn("serving with 2 rules", log, story)

    def finish(self, process, allowed, story):
        try:
            said, log = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            said, log = process.communicate()
            self.fail(f"{story}: it did not end\n{said}{log}")
        self.assertIn(process.returncode, allowed, f"{story}\n{said}{log}")

    def send(self, process, number):
        """Returns what the process may end with because of this signal."""
        seen = sees_to(process.pid, number)
        process.send_signal(number)
        return {0} if seen else {0, -number}

    def start_run(self, run):
        draw = random.Random(SEED * 1_000_003 + run)
        away = run % (len(AWAY) + 1)
        keeps = away == len(AWAY)
        name = self.kept(run) if keeps else away
        numbers = draw.choices(SIGNALS, k=draw.randrange(3)) + [draw.choice((signal.SIGTERM, signal.SIGINT))]
        longest = draw.choice((0.01, 0.1, 0.4))
        story = f"seed {SEED} run {run}: {[*AWAY, 'files'][away]}, {[n.name for n in numbers]}"
        process = self.launch(name)
        allowed = {0}
        for number in numbers:
            time.sleep(draw.uniform(0, longest))
            if process.poll() is not None:
                break
            allowed |= self.send(process, number)
        self.finish(process, allowed, story)
        if keeps:
            self.serves(name, story)

    def stop_run(self, run):
        draw = random.Random(SEED * 2_000_003 + run)
        numbers = draw.choices(SIGNALS, k=1 + draw.randrange(4))
        story = f"seed {SEED} run {run}: SIGTERM, {[n.name for n in numbers]}"
        name = self.kept(f"stop{run}") if run % 4 == 3 else 0
        process = self.launch(name)
        port = 0
        for line in process.stdout:
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            port = port or (int(found.group(1)) if found else 0)
            if line.startswith("Try:"):
                break
        with socket.create_connection(("127.0.0.1", port)) if run % 2 else open(os.devnull):
            process.send_signal(signal.SIGTERM)
            for number in numbers:
                time.sleep(draw.uniform(0, draw.choice((0.001, 0.03))))
                if process.poll() is not None:
                    break
                process.send_signal(number)
            self.finish(process, {0}, story)
        if name != 0:
            self.serves(name, story)

    def in_parallel(self, one, runs):
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for done in [pool.submit(one, run) for run in range(runs)]:
                done.result()

    def test_signals_while_it_starts(self):
        self.in_parallel(self.start_run, RUNS)

    def test_signals_while_it_stops(self):
        self.in_parallel(self.stop_run, RUNS // 2)

    def test_a_start_that_waits_for_etcd_ends_at_once(self):
        process = self.launch(list(AWAY).index("etcd that does not answer"))
        peer, _ = self.silent.accept()  # It waits for etcd from here on.
        with peer:
            process.send_signal(signal.SIGHUP)
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, log)
        # Or it had waited for long enough, on a machine that was busy.
        self.assertRegex(log, "signal 15 during the start: stopping|etcd has not answered")

    def test_a_reload_while_it_stops_tells_the_service_manager_nothing(self):
        path = str(self.root / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(PATIENCE)
            process = self.launch(0, NOTIFY_SOCKET=path)
            self.assertEqual(manager.recv(1000), b"READY=1")
            process.send_signal(signal.SIGHUP)
            self.assertTrue(manager.recv(1000).startswith(b"RELOADING=1\n"))
            self.assertEqual(manager.recv(1000), b"READY=1")
            for line in process.stdout:
                if found := re.search(r"^  checks\s+http://127\.0\.0\.1:(\d+)", line):
                    break
            with socket.create_connection(("127.0.0.1", int(found.group(1)))) as client:
                # A request whose body does not come: the daemon waits for it while it stops.
                client.sendall(b"POST /v1/ratelimit/check HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n"
                               b"Expect: 100-continue\r\n\r\n")
                self.assertTrue(client.recv(1000).startswith(b"HTTP/1.1 100 "))
                process.send_signal(signal.SIGTERM)
                self.assertEqual(manager.recv(1000), b"STOPPING=1")
                process.send_signal(signal.SIGHUP)
                for line in process.stderr:
                    if "SIGHUP: nothing is reloaded, the daemon is stopping" in line:
                        break
                process.send_signal(signal.SIGTERM)  # Without waiting.
                self.finish(process, {0}, "a reload while it stops")
            manager.setblocking(False)
            with self.assertRaises(BlockingIOError):
                manager.recv(1000)


if __name__ == "__main__":
    SLUICE = sys.argv.pop(1)
    unittest.main()
