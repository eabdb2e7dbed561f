#!/usr/bin/python3
"""`sluice serve --envoy` as whoever runs envoyproxy/ratelimit sees it: the same files, the same
environment variables, asked by a gRPC client in Python (Debian's, which has the module grpc)."""
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "daemon")]
import grpc  # noqa: E402
import harness  # noqa: E402
import rls  # noqa: E402

CONFIG = """
domain: d
descriptors:
  - key: user
    rate_limit: {unit: year, requests_per_unit: %d}
  - key: path
    value: /slow
    rate_limit: {unit: year, requests_per_unit: 0}
"""


class EnvoyCase(unittest.TestCase):
    """A daemon with a configuration directory of its own."""
    sluice = ""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.process = None
        self.client = None
        self.configure("first", CONFIG % 3)
        os.symlink("first", self.root / "current")

    def configure(self, generation, text):
        config = self.root / generation / "ratelimit" / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "config.yaml").write_text(text)

    def swap(self, generation):
        """As Kubernetes and goruntime's users do it."""
        os.symlink(generation, self.root / "next")
        os.rename(self.root / "next", self.root / "current")

    def tearDown(self):
        if self.client:
            self.client.close()
        if self.process:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        self.folder.cleanup()

    def environment(self, **more):
        (self.root / "sluice.yaml").write_text("table: {keys: 1000, path: %s/table, "
                                               "snapshots: %s}\nloops: 1\n"
                                               % (self.root, self.root))
        return {"PATH": os.environ["PATH"], "HOST": "127.0.0.1", "PORT": "0",
                "GRPC_HOST": "127.0.0.1", "GRPC_PORT": "0", "DEBUG_PORT": "0",
                "LOG_LEVEL": "info", "RUNTIME_ROOT": str(self.root / "current"),
                "RUNTIME_SUBDIRECTORY": "ratelimit", **more}

    def start(self, credentials=None, **more):
        self.process, greeting = harness.launch(
            [self.sluice, "serve", "--envoy", "--config", "sluice.yaml"], self.root, mode="a",
            env=self.environment(**more))
        addresses = dict(re.findall(r"^  (checks|admin|grpc)\s+(?:https?://)?(\S+)", greeting, re.M))
        self.checks, self.admin = addresses["checks"], addresses["admin"]
        target = addresses["grpc"]
        if not target.startswith("unix:"):
            self.grpc_port = int(target.rsplit(":", 1)[1])
            target = "localhost:%d" % self.grpc_port
        self.client = rls.Client(target, credentials)
        return greeting

    def log(self):
        return (self.root / "log").read_text()

    def metrics(self):
        return harness.DaemonCase.get(self, self.admin, "/metrics")[1]


class EnvoyTest(EnvoyCase):
    def test_decides_by_the_files_and_says_so_in_metrics(self):
        self.start()
        codes = [self.client.ask("d", [[("user", "u")]])[0] for _ in range(5)]
        self.assertEqual(codes, [rls.OK] * 3 + [rls.OVER_LIMIT] * 2)
        code, statuses = self.client.ask("d", [[("user", "v")], [("nothing", "")]])
        self.assertEqual((code, len(statuses)), (rls.OK, 2))
        self.assertEqual(rls.first(statuses[0], 3), 2)
        self.assertEqual(rls.first(rls.first(statuses[0], 2, b""), 1), 3)
        self.assertEqual(self.client.ask("d", [[("path", "/slow")]])[0], rls.OVER_LIMIT)
        text = self.metrics()
        self.assertIn('ratelimit_service_rate_limit_over_limit{domain="d",key1="user"} 2', text)
        self.assertIn('ratelimit_service_total_requests{grpc_method="ShouldRateLimit"} 7', text)

    def post(self, body):
        connection = http.client.HTTPConnection(self.checks, timeout=20)
        try:
            connection.request("POST", "/json", body)
            response = connection.getresponse()
            return response.status, response.getheader("content-type"), response.read().decode()
        finally:
            connection.close()

    def test_answers_json_over_http(self):
        self.start()
        ask = json.dumps({"domain": "d", "descriptors": [
            {"entries": [{"key": "user", "value": "j"}]}], "hits_addend": 3})
        status, kind, body = self.post(ask)
        self.assertEqual((status, kind), (200, "application/json"))
        answer = json.loads(body)
        self.assertEqual(answer["overallCode"], "OK")
        limit = answer["statuses"][0]
        self.assertEqual(limit["currentLimit"], {"requestsPerUnit": 3, "unit": "YEAR"})
        self.assertNotIn("limitRemaining", limit)
        self.assertRegex(limit["durationUntilReset"], r"^\d+s$")
        status, _, body = self.post(ask)
        self.assertEqual((status, json.loads(body)["overallCode"]), (429, "OVER_LIMIT"))
        for wrong in ("", "{", '{"domain": ""}', '{"nope": 1}'):
            self.assertEqual(self.post(wrong),
                             (400, "text/plain; charset=utf-8", "Bad Request\n"))
        get = lambda address, path: harness.DaemonCase.get(self, address, path)[:2]  # noqa: E731
        self.assertEqual(get(self.checks, "/healthcheck"), (200, "OK"))
        status, text = get(self.admin, "/rlconfig")
        self.assertEqual(status, 200)
        self.assertIn("d.user: unit=YEAR requests_per_unit=3, shadow_mode: false, "
                      "quota_mode: false\n", text)
        self.assertEqual(get(self.checks, "/rlconfig")[0], 404)

    def test_errors_have_the_old_codes(self):
        self.start()
        for domain, descriptors, text in (("", [], "rate limit domain must not be empty"),
                                          ("d", [], "rate limit descriptor list must not be empty")):
            with self.assertRaises(grpc.RpcError) as caught:
                self.client.ask(domain, descriptors)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNKNOWN)
            self.assertEqual(caught.exception.details(), text)
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.call("/a.B/C", b"")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
        code, _ = self.client.ask("d", [[("user", "z")]], compression=grpc.Compression.Gzip)
        self.assertEqual(code, rls.OK)

    def test_follows_a_swapped_link_and_keeps_counts(self):
        self.start()
        for _ in range(3):
            self.client.ask("d", [[("user", "u")]])
        self.configure("second", CONFIG % 6)
        self.swap("second")
        harness.until(lambda: "ratelimit_service_config_load_success 2" in self.metrics())
        codes = [self.client.ask("d", [[("user", "u")]])[0] for _ in range(4)]
        self.assertEqual(codes, [rls.OK] * 3 + [rls.OVER_LIMIT])

    def test_a_bad_file_leaves_the_running_configuration(self):
        self.start()
        self.configure("bad", "domain: d\ndescriptors: [{key: k, rate_limit: {unit: eon}}]\n")
        self.swap("bad")
        harness.until(lambda: "ratelimit_service_config_load_error 1" in self.metrics())
        harness.until(lambda: "invalid rate limit unit 'eon'" in self.log())
        self.assertEqual(self.client.ask("d", [[("path", "/slow")]])[0], rls.OVER_LIMIT)

    def test_plain_directories_are_followed_in_place(self):
        self.start(RUNTIME_ROOT=str(self.root / "first"), RUNTIME_WATCH_ROOT="false")
        (self.root / "first/ratelimit/config/config.yaml").write_text(CONFIG % 1)
        harness.until(lambda: "ratelimit_service_config_load_success 2" in self.metrics())
        codes = [self.client.ask("d", [[("user", "w")]])[0] for _ in range(2)]
        self.assertEqual(codes, [rls.OK, rls.OVER_LIMIT])

    def test_starts_without_a_configuration_and_says_what_has_no_effect(self):
        self.start(RUNTIME_ROOT=str(self.root / "nowhere"), STATSD_HOST="x", MEMCACHE_SRV="y",
                   HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED="true")
        self.assertEqual(self.client.health(), 2)
        self.assertEqual(harness.DaemonCase.get(self, self.checks, "/healthcheck")[:2], (500, ""))
        self.assertEqual(self.client.health(""), 1)
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.ask("d", [[("user", "u")]])
        self.assertEqual(caught.exception.details(), "no rate limit configuration loaded")
        harness.until(lambda: "without effect: MEMCACHE_SRV (" in self.log())
        harness.until(lambda: "STATSD_HOST (metrics are at" in self.log())

    def test_wrong_variables_keep_it_from_starting(self):
        for more, text in (({"SHADOW_MODE": "maybe"}, "SHADOW_MODE=maybe is neither"),
                           ({"GRPC_PORT": "70000"}, "GRPC_PORT=70000 is not a number"),
                           ({"CONFIG_TYPE": "GRPC_XDS_SOTW"}, "CONFIG_TYPE=GRPC_XDS_SOTW"),
                           ({"DEBUG_HOST": "0.0.0.0"}, "set SLUICE_ADMIN_TOKEN")):
            run = subprocess.run([self.sluice, "serve", "--envoy"], cwd=self.root, timeout=20,
                                 env=self.environment(**more), capture_output=True, text=True)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(text, run.stderr)

    def test_health_is_watched_until_the_end(self):
        self.start()
        self.assertEqual(self.client.health(), 1)
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.health("nobody")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)
        seen = []
        watch = self.client.watch()
        seen.append(rls.first(next(watch), 1))
        self.process.terminate()
        try:
            for update in watch:
                seen.append(rls.first(update, 1))
        except grpc.RpcError as error:
            self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertEqual(seen, [1, 2])
        self.assertEqual(self.process.wait(timeout=20), 0)

    def test_counts_survive_a_kill(self):
        self.start()
        self.client.ask("d", [[("user", "u")]], hits=3)
        self.client.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.start()
        self.assertEqual(self.client.ask("d", [[("user", "u")]])[0], rls.OVER_LIMIT)

    def test_tls_with_client_certificates(self):
        authority = harness.Authority(self.root)
        authority.sign("server")
        authority.sign("client")
        read = lambda name: (self.root / name).read_bytes()  # noqa: E731
        self.start(grpc.ssl_channel_credentials(read("ca.crt"), read("client.key"),
                                                read("client.crt")),
                   GRPC_SERVER_USE_TLS="true", GRPC_SERVER_TLS_CERT="server.crt",
                   GRPC_SERVER_TLS_KEY="server.key", GRPC_CLIENT_TLS_CACERT="ca.crt")
        self.assertEqual(self.client.ask("d", [[("user", "t")]])[0], rls.OK)
        stranger = rls.Client("localhost:%d" % self.grpc_port,
                              grpc.ssl_channel_credentials(read("ca.crt")))
        with self.assertRaises(grpc.RpcError) as caught:
            stranger.ask("d", [[("user", "t")]], timeout=5)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
        stranger.close()

    def test_only_clients_of_the_name_that_is_asked_for(self):
        authority = harness.Authority(self.root)
        authority.sign("server")
        authority.sign("envoy", host="envoy.mesh.example")
        authority.sign("other", host="other.mesh.example")
        read = lambda name: (self.root / name).read_bytes()  # noqa: E731
        with_own = lambda name: grpc.ssl_channel_credentials(  # noqa: E731
            read("ca.crt"), read(name + ".key"), read(name + ".crt"))
        self.start(with_own("envoy"), GRPC_SERVER_USE_TLS="true", GRPC_SERVER_TLS_CERT="server.crt",
                   GRPC_SERVER_TLS_KEY="server.key", GRPC_CLIENT_TLS_CACERT="ca.crt",
                   GRPC_CLIENT_TLS_SAN="envoy.mesh.example")
        self.assertEqual(self.client.ask("d", [[("user", "t")]])[0], rls.OK)
        other = rls.Client("localhost:%d" % self.grpc_port, with_own("other"))
        with self.assertRaises(grpc.RpcError) as caught:
            other.ask("d", [[("user", "t")]], timeout=5)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)
        other.close()

    def test_a_unix_socket_in_place_of_the_port(self):
        socket = self.root / "grpc.sock"
        self.start(GRPC_UDS=str(socket))
        self.assertEqual(self.client.ask("d", [[("user", "u")]], hits=3)[0], rls.OK)
        self.client.close()
        self.process.kill()  # Leaves it behind.
        self.process.wait()
        self.process.stdout.close()
        self.assertTrue(socket.exists())
        self.start(GRPC_UDS=str(socket))
        self.assertEqual(self.client.ask("d", [[("user", "u")]])[0], rls.OVER_LIMIT)
        other = self.root / "other.yaml"
        other.write_text("table: {keys: 1000, path: other, snapshots: others}\nloops: 1\n")
        second = subprocess.run([self.sluice, "serve", "--envoy", "--config", str(other)],
                                cwd=self.root, env=self.environment(GRPC_UDS=str(socket)),
                                capture_output=True, text=True, timeout=20)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn("another process uses it", second.stderr)
        self.client.close()
        self.process.terminate()
        self.assertEqual(self.process.wait(timeout=20), 0)
        self.assertFalse(socket.exists())

    def test_validate_reads_the_environment_of_serve(self):
        config = self.root / "first/ratelimit/config"
        (config / "more.yaml").write_text(
            "domain: d\ndescriptors:\n  - {key: more, rate_limit: {unit: day, requests_per_unit: 1}}\n")

        def validate(*words, **more):
            run = subprocess.run([self.sluice, "validate", "--envoy", *words], cwd=self.root,
                                 env=self.environment(**more), capture_output=True, text=True, timeout=60)
            return run.returncode, run.stdout
        for words in ((), (str(config),)):
            code, said = validate(*words)
            self.assertEqual(code, 1, said)
            self.assertIn("duplicate domain 'd'", said)
            for more in ({"MERGE_DOMAIN_CONFIG": "true"}, {"MERGE_DOMAIN_CONFIG": "1"}):
                self.assertEqual(validate(*words, **more), (0, "ok: 3 limits in 1 domain\n"))
            self.assertEqual(validate(*words, "--merge-domains")[0], 0)
        self.assertEqual(validate(MERGE_DOMAIN_CONFIG="perhaps")[0], 1)
        self.start(MERGE_DOMAIN_CONFIG="true")
        self.assertEqual(self.client.ask("d", [[("more", "x")]])[0], rls.OK)

    def operate(self, *words):
        """What `sluice envoy` says, read from JSON; or its complaint."""
        run = subprocess.run([self.sluice, "envoy", *words, "--json", "--server",
                              "http://" + self.admin],
                             capture_output=True, text=True, timeout=20)
        return json.loads(run.stdout) if run.returncode == 0 else run.stderr

    def test_operators_look_at_counters_and_make_them_fresh(self):
        self.start(LOCAL_CACHE_SIZE_IN_BYTES="4096")
        self.client.ask("d", [[("user", "u")]], hits=2)
        usage = self.operate("usage", "d", "user=u")["limits"]
        self.assertEqual(len(usage), 1)
        self.assertEqual({k: usage[0][k] for k in ("path", "unit", "limit", "remaining", "allowed")},
                         {"path": "d.user", "unit": "YEAR", "limit": 3, "remaining": 1,
                          "allowed": True})
        codes = [self.client.ask("d", [[("user", "u")]])[0] for _ in range(2)]
        self.assertEqual(codes, [rls.OK, rls.OVER_LIMIT])
        usage = self.operate("usage", "d", "user=u")["limits"][0]
        self.assertEqual((usage["remaining"], usage["allowed"]), (0, False))
        self.assertTrue(0 < usage["retry_after_ms"] <= 365 * 86400_000)
        self.assertEqual(self.operate("reset", "d", "user=u"), {"keys": 1, "complete": True})
        self.assertEqual(self.client.ask("d", [[("user", "u")]], hits=3)[0], rls.OK)
        self.assertEqual(self.operate("usage", "d", "nothing=x"), {"limits": []})
        self.assertIn("no file names the domain", self.operate("usage", "e", "user=u"))
        self.assertIn("key=value", self.operate("usage", "d", "user"))
        # Not for whoever may only ask.
        self.assertEqual(harness.DaemonCase.get(self, self.checks, "/rlusage")[0], 404)
        # A request of 0 hits looks, too, and over gRPC as well.
        ask = '{"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "z"}], ' \
              '"hitsAddend": "0"}]}'
        self.assertEqual(json.loads(self.post(ask)[2])["statuses"][0]["limitRemaining"], 3)
        self.assertEqual(json.loads(self.post(ask)[2])["statuses"][0]["limitRemaining"], 3)

    def test_metrics_have_a_port_of_their_own_where_that_is_asked_for(self):
        greeting = self.start(USE_PROMETHEUS="true", PROMETHEUS_ADDR="127.0.0.1:0",
                              PROMETHEUS_PATH="/m", USE_STATSD="false",
                              PROMETHEUS_MAPPER_YAML="/etc/mapper.yaml")
        metrics = re.search(r"^  metrics\s+http://(\S+)", greeting, re.M).group(1)
        get = lambda path: harness.DaemonCase.get(self, metrics, path)[:2]  # noqa: E731
        self.client.ask("d", [[("user", "u")]], hits=2)
        status, text = get("/m")
        self.assertEqual(status, 200)
        self.assertIn('ratelimit_service_rate_limit_total_hits{domain="d",key1="user"} 2', text)
        self.assertEqual(get("/healthz")[0], 200)
        for path in ("/metrics", "/json", "/rlconfig", "/v1/ratelimit/config", "/"):
            self.assertEqual(get(path)[0], 404, path)
        harness.until(lambda: "PROMETHEUS_MAPPER_YAML (" in self.log())
        self.assertNotIn("PROMETHEUS_ADDR (", self.log())

    def test_the_debug_port_has_its_old_paths(self):
        self.start()
        self.client.ask("d", [[("user", "u")]], hits=4)
        get = lambda path: harness.DaemonCase.get(self, self.admin, path)[:2]  # noqa: E731
        status, text = get("/stats")
        self.assertEqual(status, 200)
        for line in ("ratelimit.service.rate_limit.d.user.total_hits: 4",
                     "ratelimit.service.rate_limit.d.user.over_limit: 1",
                     "ratelimit.service.config_load_success: 1",
                     "ratelimit_server.ShouldRateLimit.total_requests: 1"):
            self.assertIn(line + "\n", text)
        status, text = get("/")
        self.assertEqual(status, 200)
        for line in text.splitlines():
            path, told = line.split(": ", 1)
            self.assertEqual(get(path)[0], 405 if told.startswith("POST") else 200, path)
        self.assertEqual(get("/debug/pprof/")[0], 404)

    def test_exact_under_many_clients_at_once(self):
        self.configure("first", CONFIG % 500)
        self.start()
        codes = []

        def ask():
            for _ in range(100):
                codes.append(self.client.ask("d", [[("user", "crowd")]])[0])

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(codes.count(rls.OK), 500)
        self.assertEqual(codes.count(rls.OVER_LIMIT), 300)


if __name__ == "__main__":
    EnvoyCase.sluice = os.path.abspath(sys.argv.pop(1))
    unittest.main()
