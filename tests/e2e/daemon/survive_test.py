#!/usr/bin/env python3
"""What the daemon remembers when it is killed, stopped, moved. Usage: survive_test.py SLUICE

Ports are 0 and read from the greeting; the table has a path of its own.
"""
import http.client
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import harness

SLUICE = os.path.abspath(sys.argv.pop(1))

CONFIG = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
table: {path: %s, keys: %d, snapshots: %s, snapshot_interval: %s}
rules:
  - id: monthly
    key_pattern: "user:{user_id}"
    algorithm: fixed_window
    window: 3650d
    limit: 1000000
  - id: hourly
    key_pattern: "user:{user_id}"
    algorithm: sliding_window_log
    limit: 900000
    window: 3650d
  - id: flight
    match: {hold: "yes"}
    key_pattern: "user:{user_id}"
    algorithm: concurrency
    limit: 1000
    hold_ttl: 1h
"""


class SurviveTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.root = pathlib.Path(self.folder.name)
        self.table = self.root / "table"
        self.snapshots = self.root / "snapshots"
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()
        self.folder.cleanup()

    def configure(self, keys=1000, interval="1h"):
        (self.root / "sluice.yaml").write_text(
            CONFIG % (self.table, keys, self.snapshots, interval))

    def start(self, keys=1000, interval="1h"):
        self.configure(keys, interval)
        process = subprocess.Popen([SLUICE, "serve", "--config", "sluice.yaml"], cwd=self.root,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        self.greeting = ""
        for line in process.stdout:
            self.greeting += line
            if "/metrics" in line:
                break
        self.address = re.search(r"checks\s+http://(\S+)", self.greeting).group(1)
        self.admin = re.search(r"admin\s+http://(\S+)", self.greeting).group(1)
        return process

    def check(self, connection=None, **body):
        own = connection or http.client.HTTPConnection(self.address, timeout=20)
        own.request("POST", "/v1/ratelimit/check", json.dumps(body),
                    {"Content-Type": "application/json"})
        answer = json.loads(own.getresponse().read())
        if connection is None:
            own.close()
        return answer

    def used(self, user):
        limits = self.check(user_id=user, peek=True)["limits"]
        return [limit["limit"] - limit["remaining"] for limit in limits]

    def metric(self, name):
        return harness.metric(self.admin, name)

    def tool(self, verb, path):
        return subprocess.run([SLUICE, "table", verb, str(path)], capture_output=True, text=True,
                              timeout=60)

    def test_killed_at_random_it_has_counted_what_it_admitted(self):
        # Killed while requests are under way, at a random one of them and not at a random time: a
        # fast machine must not fill the table before the end, nor a slow one do too little.
        dice = random.Random(1)
        asked = admitted = 0
        for _ in range(5):
            process = self.start()
            self.assertEqual("resumed" in self.greeting, asked > 0)
            connection = http.client.HTTPConnection(self.address, timeout=20)
            at = threading.Event()
            killer = threading.Thread(target=lambda: (at.wait(), process.kill()))
            killer.start()
            last = dice.randint(1, 200)
            try:
                for i in range(last + 100):  # So many, should the kill be late.
                    if i == last:
                        at.set()
                    asked += 1
                    admitted += self.check(connection, user_id="u")["allowed"]
            except (OSError, http.client.HTTPException, ValueError):
                pass
            killer.join()
            process.wait()
        self.start()
        used = self.used("u")
        self.assertEqual(used[0], used[1])
        self.assertGreaterEqual(used[0], admitted)
        self.assertLessEqual(used[0], asked)
        self.assertEqual(self.metric('sluice_table_full_denials_total') or 0, 0)

    def test_after_a_stop_and_a_reboot_the_snapshot_has_it_all(self):
        process = self.start()
        for _ in range(7):
            self.check(user_id="u", hold="yes")
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 0)
        self.table.unlink()  # What a reboot does to a tmpfs.
        process = self.start()
        self.assertIn("from its snapshot", self.greeting)
        self.assertEqual(self.used("u")[:2], [7, 7])
        process.terminate()
        process.wait(timeout=20)
        # A damaged one yields to the one before it, with a word in the log.
        self.table.unlink()
        (snapshot,) = [path for path in self.snapshots.iterdir() if path.suffix == ".snapshot"]
        content = bytearray(snapshot.read_bytes())
        content[len(content) // 2] ^= 1
        snapshot.write_bytes(content)
        process = self.start()
        self.assertEqual(self.used("u")[:2], [7, 7])
        process.terminate()
        self.assertRegex(process.communicate(timeout=20)[1], "damaged|wrong checksum")

    def test_a_snapshot_of_another_table_is_named_and_restored(self):
        process = self.start()
        for _ in range(7):
            self.check(user_id="u")
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 0)
        (old,) = [path for path in self.snapshots.iterdir() if path.suffix == ".snapshot"]
        # The same folder, and a table of another path: it starts fresh, and says why.
        self.table = self.root / "moved"
        process = self.start()
        self.assertEqual(self.used("u")[:2], [0, 0])
        process.terminate()
        log = process.communicate(timeout=20)[1]
        self.assertIn("every key starts with its full limit: this table has no snapshot", log)
        self.assertIn(str(old), log)

        def restore(snapshot):
            return subprocess.run([SLUICE, "table", "restore", str(snapshot), "--config", "sluice.yaml"],
                                  cwd=self.root, capture_output=True, text=True, timeout=60)

        refused = restore(old)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the table exists", refused.stderr)
        self.table.unlink()
        self.assertEqual(restore(self.root / "sluice.yaml").returncode, 1)  # No snapshot.
        done = restore(old)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^\d+ keys restored to ")
        process = self.start()
        self.assertIn("from its snapshot", self.greeting)
        self.assertEqual(self.used("u")[:2], [7, 7])
        process.terminate()
        self.assertNotIn("all keys start fresh", process.communicate(timeout=20)[1])
        self.assertEqual(restore(old).returncode, 1)  # The table is there again.

    def test_snapshots_that_cannot_be_written_stop_nothing(self):
        self.snapshots.write_text("a file where a folder should be")
        process = self.start(interval="20ms")
        deadline = time.monotonic() + 20
        while not self.metric("sluice_table_snapshot_failures_total"):
            self.assertLess(time.monotonic(), deadline)
        self.check(user_id="u")
        self.assertEqual(self.used("u")[:2], [1, 1])
        self.snapshots.unlink()
        while not self.metric("sluice_table_snapshots_total"):
            self.assertLess(time.monotonic(), deadline)
        process.terminate()
        log = process.communicate(timeout=20)[1]
        self.assertEqual(log.count("decisions continue"), 1)
        self.assertIn("written again", log)

    def test_another_size_keeps_every_key(self):
        process = self.start(keys=1000)
        for user in range(50):
            self.check(user_id=str(user))
        process.terminate()
        process.wait(timeout=20)
        process = self.start(keys=200)
        self.assertEqual([self.used(str(user))[0] for user in range(50)], [1] * 50)
        process.terminate()
        self.assertIn("100 keys moved", process.communicate(timeout=20)[1])

    def test_a_second_daemon_on_the_same_table_is_refused(self):
        self.start()
        run = subprocess.run([SLUICE, "serve", "--config", "sluice.yaml"], cwd=self.root,
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 2)
        self.assertIn("is the table of another running process", run.stderr)

    def test_the_table_tool_looks_in_while_it_runs_and_after(self):
        process = self.start()
        for user in range(3):
            self.check(user_id=str(user), hold="yes")
        (self.root / "letter").write_text("to a friend")
        info = self.tool("info", self.table)
        self.assertEqual(info.returncode, 0, info.stderr)
        self.assertIn("open by   process %d" % process.pid, info.stdout)
        for rule, algorithm in (("monthly", "fixed_window"), ("hourly", "sliding_window_log"),
                                ("flight", "concurrency")):
            self.assertRegex(info.stdout, r"%s\s+%s\s+3 " % (rule, algorithm))
        process.terminate()
        process.wait(timeout=20)
        self.assertIn("open by   no process", self.tool("info", self.table).stdout)
        (snapshot,) = self.snapshots.iterdir()
        for path in (self.table, snapshot):
            verified = self.tool("verify", path)
            self.assertEqual((verified.returncode, verified.stderr), (0, ""))
            self.assertIn("valid, 9 keys", verified.stdout)
            lines = [json.loads(line) for line in self.tool("dump", path).stdout.splitlines()]
            self.assertEqual(len(lines), 9)
            self.assertEqual({line["rule"] for line in lines}, {"monthly", "hourly", "flight"})
            used = [line["used"] for line in lines if line["rule"] == "monthly"]
            self.assertEqual(used, [1, 1, 1])
            self.assertEqual({line["in_flight"] for line in lines if line["rule"] == "flight"}, {1})
        letter = self.tool("verify", self.root / "letter")
        self.assertEqual(letter.returncode, 1)
        self.assertIn("a table of Sluice", letter.stderr)


if __name__ == "__main__":
    unittest.main()
