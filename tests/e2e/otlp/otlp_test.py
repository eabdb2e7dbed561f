#!/usr/bin/env python3
"""What a daemon exports to an OpenTelemetry collector, decoded with the published messages.

otlp_test.py SLUICE ENVIRONMENT   (of tools/otlp_messages.sh)
"""
import gzip
import http.server
import json
import os
import pathlib
import signal
import ssl
import sys
import threading
import urllib.error
import urllib.request

ENVIRONMENT = pathlib.Path(sys.argv.pop(2)).resolve()
sys.path.insert(0, str(next(ENVIRONMENT.glob("lib/python3*/site-packages"))))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
import harness  # noqa: E402
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2  # noqa: E402
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2  # noqa: E402

CUMULATIVE = 2


class Collector:
    """Takes what is posted, decodes it, and keeps it. `status` is what it answers."""

    def __init__(self, port=0, context=None):
        self.requests, self.messages, self.traces, self.status = [], [], [], 200
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers)))
                if outer.status == 200:
                    if self.headers.get("Content-Encoding") == "gzip":
                        body = gzip.decompress(body)
                    if self.path.endswith("/v1/traces"):
                        message = trace_service_pb2.ExportTraceServiceRequest()
                        outer.traces.append(message)
                    else:
                        message = metrics_service_pb2.ExportMetricsServiceRequest()
                        outer.messages.append(message)
                    message.ParseFromString(body)
                self.send_response(outer.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def texts(attributes):
    return {one.key: one.value.string_value for one in attributes}


def points(message):
    """The numbers of all sums and gauges by name and labels."""
    found = {}
    for metric in message.resource_metrics[0].scope_metrics[0].metrics:
        data = metric.sum if metric.HasField("sum") else metric.gauge
        for point in data.data_points:
            value = point.as_int if point.HasField("as_int") else point.as_double
            found[(metric.name,) + tuple(sorted(texts(point.attributes).items()))] = value
    return found


class OtlpTest(harness.DaemonCase):
    def setUp(self):
        super().setUp()
        self.collectors = []

    def tearDown(self):
        super().tearDown()
        for collector in self.collectors:
            collector.close()

    def collect(self, **options):
        self.collectors.append(Collector(**options))
        return self.collectors[-1]

    def serve(self, endpoint, more="", interval="1s"):
        (self.root / "sluice.yaml").write_text(
            'listeners: [{address: "127.0.0.1:0"}, {address: "127.0.0.1:0", role: admin}]\n'
            "table: {keys: 1000}\nrule_sources: [{files: [rules.yaml]}]\n"
            "otlp: {endpoint: '%s', interval: %s%s}\n" % (endpoint, interval, more))
        self.start()

    def check(self, headers=None):
        request = urllib.request.Request(
            "http://%s/v1/ratelimit/check" % self.checks, data=b'{"user_id": "u"}',
            headers={"Content-Type": "application/json", **(headers or {})})
        try:
            return json.load(urllib.request.urlopen(request, timeout=20))
        except urllib.error.HTTPError as denied:
            return json.load(denied)

    def exports(self, what, signal_name="metrics"):
        return self.metric('sluice_otlp_exports_total{signal="%s",result="%s"}' % (signal_name, what))

    def test_metrics_are_those_of_prometheus(self):
        (self.root / "token").write_text("s3cret\n")
        collector = self.collect()
        self.serve("http://127.0.0.1:%d/otel" % collector.port,
                   ", headers: {X-Scope-OrgID: shop}, token_file: token, service_name: limits,"
                   " attributes: {deployment.environment.name: test}")
        for _ in range(3):
            self.check()
        allowed = ("sluice_requests_total", ("result", "allowed"))
        harness.until(lambda: any(points(m).get(allowed) == 3 for m in collector.messages))
        path, headers = collector.requests[-1]
        self.assertEqual(path, "/otel/v1/metrics")
        self.assertEqual(headers["Content-Type"], "application/x-protobuf")
        self.assertEqual(headers["Content-Encoding"], "gzip")
        self.assertEqual(headers["Authorization"], "Bearer s3cret")
        self.assertEqual(headers["X-Scope-OrgID"], "shop")
        message = collector.messages[-1]
        self.assertEqual(len(message.resource_metrics), 1)
        resource = texts(message.resource_metrics[0].resource.attributes)
        self.assertEqual(resource["service.name"], "limits")
        self.assertEqual(resource["deployment.environment.name"], "test")
        self.assertTrue(resource["service.version"])
        self.assertRegex(resource["service.instance.id"], r".+:\d+")
        scope = message.resource_metrics[0].scope_metrics[0]
        self.assertEqual(scope.scope.name, "sluice")
        text = self.get(self.admin, "/metrics")[1]
        for metric in scope.metrics:
            with self.subTest(metric.name):
                self.assertIn("\n# TYPE %s " % metric.name, "\n" + text)
                kind = metric.WhichOneof("data")
                if kind != "gauge":
                    data = getattr(metric, kind)
                    self.assertEqual(data.aggregation_temporality, CUMULATIVE)
                    self.assertTrue(kind == "histogram" or data.is_monotonic)
                    for point in data.data_points:
                        self.assertGreater(point.start_time_unix_nano, 10 ** 18)
                        self.assertGreaterEqual(point.time_unix_nano, point.start_time_unix_nano)
        histogram = {m.name: m.histogram for m in scope.metrics}["sluice_decide_duration_seconds"]
        point = histogram.data_points[0]
        self.assertEqual(point.count, 3)
        self.assertEqual(sum(point.bucket_counts), 3)
        self.assertEqual(len(point.bucket_counts), len(point.explicit_bounds) + 1)

    def test_the_last_message_has_what_happened_before_the_end(self):
        collector = self.collect()
        self.serve("http://127.0.0.1:%d" % collector.port, ", compression: none", interval="1h")
        self.check()
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(20), 0)
        self.assertEqual(len(collector.messages), 1)
        self.assertNotIn("Content-Encoding", collector.requests[0][1])
        self.assertEqual(points(collector.messages[0])[("sluice_requests_total", ("result", "allowed"))], 1)

    def test_a_collector_that_is_away_costs_counted_failures(self):
        collector = self.collect()
        collector.status = 503
        self.serve("http://127.0.0.1:%d" % collector.port)
        harness.until(lambda: self.exports("failed"))
        collector.close()
        self.assertTrue(self.check()["allowed"])
        self.assertEqual(self.exports("sent"), 0)
        self.collectors.remove(collector)
        again = self.collect(port=collector.port)
        harness.until(lambda: self.exports("sent"))
        self.assertGreater(len(again.messages), 0)
        log = self.log()
        self.assertEqual(log.count("cannot export to"), 1, log)
        self.assertIn("takes /v1/metrics again", log)

    def test_over_tls_the_collector_must_be_the_one_that_is_named(self):
        authority = harness.Authority(self.root)
        authority.sign("collector", "localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.root / "collector.crt", self.root / "collector.key")
        collector = self.collect(context=context)
        self.serve("https://127.0.0.1:%d" % collector.port, ", tls: {ca: ca.crt}")
        harness.until(lambda: self.exports("sent"))
        self.assertGreater(len(collector.messages), 0)

    def spans(self, collector):
        return [span for message in collector.traces
                for span in message.resource_spans[0].scope_spans[0].spans]

    def test_a_sampled_request_leaves_a_span(self):
        collector = self.collect()
        (self.root / "rules.yaml").write_text(
            'rules: [{id: api, key_pattern: "{user_id}", algorithm: fixed_window, limit: 1, window: 1h}]\n')
        self.serve("http://127.0.0.1:%d" % collector.port)
        trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
        self.check()
        self.check({"traceparent": "00-%s-%s-00" % (trace, parent)})
        self.check({"traceparent": "00-%s-%s-01" % (trace, parent), "X-Request-Id": "r1"})
        self.check({"traceparent": "00-%s-%s" % (trace, parent)})
        (span,) = harness.until(lambda: self.spans(collector))
        self.assertEqual(collector.traces[0].resource_spans[0].scope_spans[0].scope.name, "sluice")
        self.assertEqual(span.trace_id.hex(), trace)
        self.assertEqual(span.parent_span_id.hex(), parent)
        self.assertEqual(len(span.span_id), 8)
        self.assertNotEqual(span.span_id, span.parent_span_id)
        self.assertEqual(span.name, "ratelimit.decide")
        self.assertEqual(span.kind, 2)
        self.assertGreater(span.start_time_unix_nano, 10 ** 18)
        self.assertGreater(span.end_time_unix_nano, span.start_time_unix_nano)
        attributes = {one.key: one.value for one in span.attributes}
        said = {key: value.string_value for key, value in attributes.items() if value.string_value}
        self.assertEqual(said, {"sluice.rule": "api", "sluice.outcome": "denied",
                                "sluice.reason": "quota_exceeded", "sluice.request_id": "r1"})
        self.assertFalse(attributes["sluice.allowed"].bool_value)
        self.assertFalse(attributes["sluice.degraded"].bool_value)
        self.assertGreater(attributes["sluice.wait"].double_value, 0)
        self.assertGreater(attributes["sluice.store.duration"].double_value, 0)
        self.assertLess(attributes["sluice.store.duration"].double_value * 1e9,
                        span.end_time_unix_nano - span.start_time_unix_nano + 1)
        harness.until(lambda: self.metric('sluice_spans_total{result="sent"}') == 1)

    def test_without_traces_there_are_no_spans(self):
        collector = self.collect()
        self.serve("http://127.0.0.1:%d" % collector.port, ", traces: false")
        self.check({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
        harness.until(lambda: self.exports("sent"))
        self.assertIsNone(self.metric('sluice_spans_total{result="sent"}'))
        self.assertEqual(collector.traces, [])

    def test_what_is_wrong_in_the_configuration_is_said(self):
        for text, complaint in (
                ("{}", "otlp needs the URL of a collector"),
                ("{endpoint: 'collector:4318'}", "is not the URL of a collector"),
                ("{endpoint: 'http://c/v1/metrics'}", "leave them out of the URL"),
                ("{endpoint: 'http://c', tls: {}}", "write https://"),
                ("{endpoint: 'http://c', interval: 10ms}", "interval must be 1s to 1d"),
                ("{endpoint: 'http://c', headers: {'a b': c}}", "is not the name of a header"),
                ("{endpoint: 'http://c', token_file: none}", "none")):
            (self.root / "sluice.yaml").write_text("otlp: %s\n" % text)
            with self.subTest(text):
                self.assertIn(complaint, self.refuses_to_start())


if __name__ == "__main__":
    harness.main(sys.argv)
