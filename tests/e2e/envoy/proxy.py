"""A real Envoy in front of a small HTTP server, asking the daemon under test."""
import http.client
import http.server
import json
import pathlib
import subprocess
import threading

import harness


class Backend(http.server.ThreadingHTTPServer):
    """Answers everything with 200; x-tokens of a request come back in the answer."""
    daemon_threads = True

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("content-length", "2")
            if self.headers.get("x-tokens"):
                self.send_header("x-tokens", self.headers["x-tokens"])
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def any_of(name, **more):
    return {"@type": "type.googleapis.com/envoy." + name, **more}


def cluster(name, port, **more):
    return {"name": name, "connect_timeout": "1s", "type": "STATIC",
            "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [
                {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1",
                                                             "port_value": port}}}}]}]}, **more}


HTTP2 = {"typed_extension_protocol_options": {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": any_of(
        "extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config={"http2_protocol_options": {}})}}


def tls(root):
    """A client's TLS with the certificates that harness.Authority made in `root`."""
    read = lambda name: {"filename": str(root / name)}  # noqa: E731
    return {"transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": any_of(
        "extensions.transport_sockets.tls.v3.UpstreamTlsContext", sni="localhost",
        common_tls_context={
            "tls_certificates": [{"certificate_chain": read("client.crt"),
                                  "private_key": read("client.key")}],
            "validation_context": {"trusted_ca": read("ca.crt")}})}}


def route(prefix, *limits):
    """Requests below `prefix` ask by each of `limits`: a list of actions, or a whole rate limit."""
    whole = [limit if isinstance(limit, dict) else {"actions": limit} for limit in limits]
    return {"match": {"prefix": prefix},
            "route": {"cluster": "backend", "rate_limits": whole},
            "metadata": {"filter_metadata": {"tests": {"tenant": "t1"}}}}


def own_route(prefix, *limits):
    """The same with limits that the filter reads: these alone may say how many hits they are."""
    return {"match": {"prefix": prefix}, "route": {"cluster": "backend"},
            "typed_per_filter_config": {"limit": any_of(
                "extensions.filters.http.ratelimit.v3.RateLimitPerRoute",
                rate_limits=list(limits))}}


class Envoy:
    def __init__(self, binary, root, service_port, routes, deny=False, cluster_more=None):
        self.backend = Backend()
        rate_limit = any_of("extensions.filters.http.ratelimit.v3.RateLimit", domain="d",
                            timeout="5s", failure_mode_deny=deny,
                            enable_x_ratelimit_headers="DRAFT_VERSION_03",
                            rate_limit_service={"transport_api_version": "V3", "grpc_service": {
                                "envoy_grpc": {"cluster_name": "sluice"}}})
        manager = any_of(
            "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            stat_prefix="in", route_config={"virtual_hosts": [
                {"name": "all", "domains": ["*"], "routes": routes}]},
            http_filters=[
                {"name": "limit", "typed_config": rate_limit},
                {"name": "router", "typed_config": any_of("extensions.filters.http.router.v3.Router")}])
        bootstrap = {
            "node": {"id": "n", "cluster": "front"},
            "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}},
            "static_resources": {
                "listeners": [{"name": "in", "address": {"socket_address": {
                    "address": "127.0.0.1", "port_value": 0}},
                    "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}]}],
                "clusters": [cluster("backend", self.backend.server_port),
                             cluster("sluice", service_port, **{**HTTP2, **(cluster_more or {})})]}}
        file = pathlib.Path(root) / "envoy.json"
        file.write_text(json.dumps(bootstrap))
        self.log_path = pathlib.Path(root) / "envoy.log"
        admin = pathlib.Path(root) / "envoy.admin"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(
                [binary, "-c", str(file), "--admin-address-path", str(admin), "--concurrency", "1",
                 "--use-dynamic-base-id", "--disable-hot-restart", "-l", "warning"],
                stdout=log, stderr=subprocess.STDOUT)
        self.admin = harness.until(lambda: self._alive() and admin.exists() and admin.read_text())
        self.port = harness.until(self._listener_port)

    def _alive(self):
        if self.process.poll() is not None:
            raise AssertionError("Envoy ended: " + self.log_path.read_text())
        return True

    def _listener_port(self):
        self._alive()
        status = json.loads(self.ask_admin("/listeners?format=json"))
        found = status.get("listener_statuses")
        return found and found[0]["local_address"]["socket_address"]["port_value"]

    def ask_admin(self, path):
        connection = http.client.HTTPConnection(self.admin, timeout=20)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def get(self, path, headers=None):
        """The status, and the headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", path, headers=headers or {})
            response = connection.getresponse()
            response.read()
            return response.status, response.headers
        finally:
            connection.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.backend.shutdown()
        self.backend.server_close()
