#!/usr/bin/env python3
"""Snapshots that earlier versions wrote are loaded, with all that they hold (docs/upgrade.md).

old_tables/ has one of each format, made under its rules.yaml by seven requests. One of the format
that is written now belongs there too, before another version writes another.
Usage: old_tables_test.py SLUICE
"""
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))
OLD = pathlib.Path(__file__).parent / "old_tables"
CONFIG = """listeners: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:0", role: admin}]
table: {path: table, keys: 100, snapshots: snapshots}
"""


class OldTablesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "sluice.yaml").write_text(CONFIG + (OLD / "rules.yaml").read_text())

    def used_after(self, snapshot):
        done = subprocess.run([SLUICE, "table", "restore", str(snapshot), "--config", "sluice.yaml"], cwd=self.root,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with subprocess.Popen([SLUICE, "serve", "--config", "sluice.yaml"], cwd=self.root, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as daemon:
            address = ""
            for line in daemon.stdout:
                found = re.search(r"checks\s+http://(\S+)", line)
                address = found.group(1) if found else address
                if line.startswith("Try:"):
                    break
            connection = http.client.HTTPConnection(address, timeout=20)
            connection.request("POST", "/v1/ratelimit/check", json.dumps({"user_id": "u", "hold": "yes", "peek": True}),
                               {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
            connection.close()
            daemon.terminate()
            daemon.communicate(timeout=60)
        (self.root / "table").unlink()
        return {limit["name"]: limit["limit"] - limit["remaining"] for limit in answer["limits"]}

    def test_each_format_is_read_with_all_that_it_has(self):
        snapshots = sorted(OLD.glob("*.snapshot"))
        self.assertTrue(snapshots)
        for snapshot in snapshots:
            with self.subTest(snapshot.name):
                used = self.used_after(snapshot)
                for rule in ("fixed", "log", "counter", "sliding", "flight"):
                    self.assertEqual(used[rule], 7, used)
                for rule in ("bucket", "gcra", "leaky"):  # A unit comes back each year.
                    self.assertTrue(0 < used[rule] <= 7, used)

    def test_the_format_that_is_written_now_is_among_them(self):
        self.used_after(OLD / "format-1.snapshot")
        (written,) = (self.root / "snapshots").glob("*.snapshot")
        formats = {int.from_bytes(path.read_bytes()[8:12], "little") for path in OLD.glob("*.snapshot")}
        self.assertIn(int.from_bytes(written.read_bytes()[8:12], "little"), formats)


if __name__ == "__main__":
    unittest.main()
