#!/usr/bin/env python3
"""Every example in the help of every command is typed into a shell, in a folder with the files that
the examples name, against a daemon that the environment names. Usage: examples_test.py SLUICE
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from harness import DaemonCase, launch, main  # noqa: E402

OLD_SNAPSHOT = pathlib.Path(__file__).parent.parent / "daemon/old_tables/format-1.snapshot"

LISTENERS = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
table: {keys: 1000, path: sluice.table}
rule_sources: [{files: [rules.yaml]}]
"""
RULES = """
rules:
  - {id: api, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 100, window: 1m}
  - id: login
    match: {endpoint: /login, method: POST}
    key_pattern: "ip:{ip}"
    algorithm: sliding_window_log
    limit: 10
    window: 15m
  - {id: jobs, key_pattern: "{tenant}", algorithm: concurrency, limit: 3, hold_ttl: 10m}
"""
ENVOY = """
domain: shop
descriptors:
  - {key: remote_address, rate_limit: {unit: minute, requests_per_unit: 10}}
"""
LOG = "".join(
    '192.0.2.%d - - [10/Oct/2025:13:55:%02d +0000] "GET /a HTTP/1.1" 200 5\n' % (i % 3, i)
    for i in range(60))


def help_of(sluice, *words):
    return subprocess.run([sluice, *words, "--help"], capture_output=True, text=True, check=True,
                          timeout=60).stdout


def commands(sluice, *words):
    """All commands, as the words behind `sluice`; () is sluice itself."""
    yield words
    text = help_of(sluice, *words)
    _, _, below = text.partition("Subcommands:\n")
    for name in re.findall(r"^  ([a-z-]+) ", below.partition("\n\n")[0], re.M):
        yield from commands(sluice, *words, name)


def examples(sluice, *words):
    _, _, text = help_of(sluice, *words).partition("\nExamples:\n")
    return [line[2:] for line in text.splitlines() if not line.startswith("  #") and line.strip()]


class ExamplesTest(DaemonCase):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "HOME": str(self.root), "PAGER": "cat", "MANPAGER": "cat",
                            "STATE_DIRECTORY": str(self.root), "PORT": "0", "GRPC_PORT": "0",
                            "DEBUG_PORT": "0", "HOST": "127.0.0.1", "GRPC_HOST": "127.0.0.1",
                            "DEBUG_HOST": "127.0.0.1",
                            "PATH": os.path.dirname(self.sluice) + ":" + os.environ["PATH"]}
        self.fill(self.root, LISTENERS + "envoy: {directory: config}\n")
        self.process, greeting = launch([self.sluice, "serve", "--config", "sluice.yaml"],
                                        self.root, env=self.environment)
        for kind, name in (("checks", "SLUICE_SERVER"), ("admin", "SLUICE_ADMIN")):
            self.environment[name] = re.search(kind + r"\s+(http://\S+)", greeting)[1]

    @staticmethod
    def fill(folder, configuration):
        (folder / "ratelimit" / "config").mkdir(parents=True)
        (folder / "config").mkdir()
        for name, text in (("sluice.yaml", configuration), ("rules.yaml", RULES),
                           ("more-rules.yaml", "rules: []\n"), ("access.log", LOG),
                           ("config/shop.yaml", ENVOY), ("ratelimit/config/shop.yaml", ENVOY)):
            (folder / name).write_text(text)
        (folder / "moved.yaml").write_text(configuration.replace("sluice.table", "moved.table"))
        shutil.copy(OLD_SNAPSHOT, folder / "old.snapshot")

    def test_every_example_works(self):
        count = 0
        for words in commands(self.sluice):
            found = examples(self.sluice, *words)
            if words not in (("table",), ("envoy",)):  # Theirs are those of the commands below.
                self.assertTrue(found, "no example: sluice " + " ".join(words))
            for line in found:
                count += 1
                with self.subTest(example=line):
                    if "sluice serve" in line:
                        self.serve(line, count)
                        continue
                    run = subprocess.run(["bash", "-c", line], cwd=self.root, capture_output=True,
                                         text=True, env=self.environment, timeout=120)
                    self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertGreater(count, 20)

    def serve(self, line, number):
        folder = self.root / ("serve%d" % number)
        folder.mkdir()
        self.fill(folder, LISTENERS)
        # `exec`, so that the signal reaches the daemon; variables stand before a command.
        words = re.sub(r"\bsluice serve", "exec sluice serve", line, count=1)
        variables, _, rest = words.partition("exec ")
        process, greeting = launch(
            ["bash", "-c", "export " + variables + "; exec " + rest if variables else words],
            folder, env={**self.environment, "STATE_DIRECTORY": str(folder)})
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertIn("is ready", greeting)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    main(sys.argv)
