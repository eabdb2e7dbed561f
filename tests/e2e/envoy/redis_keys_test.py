#!/usr/bin/python3
"""`sluice serve --envoy` beside envoyproxy/ratelimit on one Redis, as while a fleet moves. The test is
the old service: it counts as that one does, by INCRBY and EXPIRE. Usage: redis_keys_test.py SLUICE"""
import os
import pathlib
import re
import signal
import socket
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "daemon")]
import grpc  # noqa: E402
import harness  # noqa: E402
import rls  # noqa: E402

YEAR = 365 * 86400
CONFIG = """
domain: d
descriptors:
  - key: user
    rate_limit: {unit: year, requests_per_unit: 6}
  - key: files
    value: files/*
    share_threshold: true
    rate_limit: {unit: year, requests_per_unit: 6}
  - key: burst
    rate_limit: {unit: second, requests_per_unit: 6}
  - key: bucket
    rate_limit: {unit: year, requests_per_unit: 6, algorithm: token_bucket}
  - key: open
    rate_limit: {unit: year, requests_per_unit: 6, on_store_error: allow}
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class OldPod:
    """envoyproxy/ratelimit, as far as one descriptor of one entry with a limit a year goes."""

    def __init__(self, redis):
        self.redis = redis

    @staticmethod
    def key(key, value):
        return "d_%s_%s_%d" % (key, value, int(time.time()) // YEAR * YEAR)

    def ask(self, key, value, limit=6, hits=1):
        counter = self.key(key, value)
        count = int(self.redis.run("INCRBY", counter, str(hits)))
        self.redis.run("EXPIRE", counter, str(YEAR))
        return rls.OK if count <= limit else rls.OVER_LIMIT


class Pod:
    """A daemon of ours with the old service's environment."""

    def __init__(self, sluice, root, **more):
        config = root / "runtime" / "ratelimit" / "config"
        config.mkdir(parents=True)
        (config / "config.yaml").write_text(CONFIG)
        (root / "sluice.yaml").write_text("table: {keys: 1000, path: %s/table, snapshots: %s}\n"
                                          "loops: 2\n" % (root, root))
        self.root = root
        environment = {"PATH": os.environ["PATH"], "HOST": "127.0.0.1", "PORT": "0",
                       "GRPC_HOST": "127.0.0.1", "GRPC_PORT": "0", "DEBUG_PORT": "0",
                       "LOG_LEVEL": "info", "RUNTIME_ROOT": str(root / "runtime"),
                       "RUNTIME_SUBDIRECTORY": "ratelimit", "SLUICE_REDIS_TIMEOUT": "10s", **more}
        self.process, self.greeting = harness.launch(
            [sluice, "serve", "--envoy", "--config", "sluice.yaml"], root, env=environment)
        found = dict(re.findall(r"^  (checks|admin|grpc)\s+(?:https?://)?(\S+)", self.greeting,
                                re.M))
        self.admin = found["admin"]
        self.client = rls.Client("localhost:%d" % int(found["grpc"].rsplit(":", 1)[1]))

    def log(self):
        return (self.root / "log").read_text()

    def ask(self, key, value, hits=0):
        return self.client.ask("d", [[(key, value)]], hits)[0]

    def connections(self):
        text = harness.DaemonCase.get(self, self.admin, "/metrics")[1]
        return int(re.search(r"^sluice_redis_connections_up (\d+)$", text, re.M).group(1))

    def end(self):
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=20)
        self.process.stdout.close()


class RedisKeysTest(unittest.TestCase):
    sluice = ""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.servers, self.pods = [], []

    def tearDown(self):
        for pod in self.pods:
            pod.end()
        for server in self.servers:
            server.kill()
        self.folder.cleanup()

    def redis(self, *options):
        root = self.root / ("redis%d" % len(self.servers))
        root.mkdir()
        self.servers.append(harness.Redis(root, *options))
        return self.servers[-1]

    def pod(self, connections=3, **environment):
        """With all its loops connected: two for clients, one for operators."""
        root = self.root / ("pod%d" % len(self.pods))
        root.mkdir()
        pod = Pod(self.sluice, root, **environment)
        self.pods.append(pod)
        harness.until(lambda: pod.connections() == connections)
        return pod

    def test_a_fleet_moves_one_pod_at_a_time(self):
        redis = self.redis()
        old = OldPod(redis)
        self.assertEqual([old.ask("user", "u") for _ in range(2)], [rls.OK] * 2)
        first = self.pod(REDIS_URL=redis.socket, REDIS_SOCKET_TYPE="unix")
        fleet = [old, first]
        codes = [pod.ask("user", "u") for pod in fleet]
        fleet = [first, self.pod(REDIS_URL=redis.socket)]
        codes += [fleet[i % 2].ask("user", "u") for i in range(4)]
        codes += [old.ask("user", "u")]
        self.assertEqual(codes, [rls.OK] * 4 + [rls.OVER_LIMIT] * 3)
        self.assertEqual(redis.run("GET", old.key("user", "u")), "9")
        self.assertGreater(int(redis.run("TTL", old.key("user", "u"))), YEAR - 60)
        self.assertEqual(redis.run("DBSIZE"), "1")
        self.assertIn("redis unix:" + redis.socket, first.greeting)

    def test_shared_thresholds_have_the_old_key(self):
        redis = self.redis()
        pod, old = self.pod(REDIS_URL=redis.socket), OldPod(redis)
        self.assertEqual(old.ask("files", "files/*", hits=4), rls.OK)
        codes = [pod.ask("files", "files/%d" % i) for i in range(3)]
        self.assertEqual(codes, [rls.OK] * 2 + [rls.OVER_LIMIT])

    def test_prefix_jitter_password_and_seconds_elsewhere(self):
        main, seconds = self.redis("--requirepass", "right"), self.redis()
        main.password = ["--no-auth-warning", "-a", "right"]
        pod = self.pod(connections=6, REDIS_URL=main.socket, REDIS_AUTH="right",
                       CACHE_KEY_PREFIX="fleet:", EXPIRATION_JITTER_MAX_SECONDS="0",
                       REDIS_PERSECOND="true", REDIS_PERSECOND_URL=seconds.socket,
                       REDIS_POOL_SIZE="7")
        pod.ask("user", "u", 2)
        key = "fleet:" + OldPod.key("user", "u")
        self.assertEqual(main.run("GET", key), "2")
        self.assertLessEqual(int(main.run("TTL", key)), YEAR)
        pod.ask("burst", "b")
        written = re.search(r"cmdstat_incrby:calls=(\d+)", seconds.run("INFO", "commandstats"))
        self.assertEqual(written.group(1), "1")
        self.assertEqual(main.run("DBSIZE"), "1")
        harness.until(lambda: "REDIS_POOL_SIZE (each worker thread has one connection" in pod.log())
        self.assertNotIn("REDIS_URL (", pod.log())

    def test_tls_with_a_certificate_of_another_name(self):
        authority = harness.Authority(self.root)
        authority.sign("server", "other.example")
        port = free_port()
        redis = self.redis("--tls-port", str(port), "--tls-cert-file",
                           str(self.root / "server.crt"), "--tls-key-file",
                           str(self.root / "server.key"), "--tls-ca-cert-file",
                           str(self.root / "ca.crt"), "--tls-auth-clients", "no")
        pod = self.pod(REDIS_URL="localhost:%d" % port, REDIS_TLS="true",
                       REDIS_TLS_CACERT=str(self.root / "ca.crt"),
                       REDIS_TLS_SKIP_HOSTNAME_VERIFICATION="true")
        self.assertEqual(pod.ask("user", "u"), rls.OK)
        self.assertEqual(redis.run("GET", OldPod.key("user", "u")), "1")

    def test_our_algorithms_share_the_redis_under_our_keys(self):
        redis = self.redis()
        pods = [self.pod(REDIS_URL=redis.socket) for _ in range(2)]
        codes = [pods[i % 2].ask("bucket", "b") for i in range(8)]
        self.assertEqual(codes, [rls.OK] * 6 + [rls.OVER_LIMIT] * 2)
        self.assertTrue(redis.run("KEYS", "*").startswith("sl1:"))

    def test_without_redis_calls_fail_and_all_is_well_again_when_it_is_back(self):
        redis = self.redis()
        pod = self.pod(REDIS_URL=redis.socket)
        self.assertEqual(pod.ask("user", "u", 6), rls.OK)
        redis.kill()
        harness.until(lambda: pod.connections() == 0)
        with self.assertRaises(grpc.RpcError) as caught:
            pod.ask("user", "u")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNKNOWN)
        self.assertEqual(pod.ask("open", "o"), rls.OK)
        self.assertEqual(pod.client.health(), 1)
        redis.start()
        harness.until(lambda: pod.connections() == 3)
        self.assertEqual(pod.ask("user", "u", 6), rls.OK)
        self.assertEqual(pod.ask("user", "u"), rls.OVER_LIMIT)

    def test_it_starts_before_redis_does(self):
        redis = self.redis()
        redis.kill()
        pod = self.pod(connections=0, REDIS_URL=redis.socket)
        self.assertEqual(pod.client.health(), 1)
        redis.start()
        harness.until(lambda: pod.connections() == 3)
        self.assertEqual(pod.ask("user", "u"), rls.OK)


if __name__ == "__main__":
    RedisKeysTest.sluice = os.path.abspath(sys.argv.pop(1))
    unittest.main()
