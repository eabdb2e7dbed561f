#!/usr/bin/env python3
"""Every field that the documents name loads, and every field that loads is in the documents: of a
configuration, a rule file, and a limit of Envoy's.

What loads is asked of the program: an unknown field is refused with the list of those that
are known. documented_fields_test.py ROOT SLUICE
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path()
SLUICE = ""

UNKNOWN = "zzzzzzzzzzzz"
RULE = "id: r, key_pattern: '{user_id}', "
GCRA = RULE + "algorithm: gcra, rate: 5, window: 1s, "
FIXED = RULE + "algorithm: fixed_window, limit: 5, "
SLIDING = RULE + "algorithm: sliding_window, limit: 5, window: 1m, "
IN_FLIGHT = RULE + "algorithm: concurrency, limit: 5, hold_ttl: 5s, "


def rule(text):
    return "rules: [{" + text + "}]\n"


def config(text):
    return "loops: 1\n" + text + "\n"


def listener(text):
    return config("listeners: [{" + text + "}]")


def redis(text):
    return config("store: {redis: {" + text + "}}")


def etcd(text):
    return config("rule_sources: [{etcd: {" + text + "}}]")


# Of each map: how a document is made of its fields, the pages that describe it, and a text that
# loads for every field; a text stands for the whole map where a field needs others beside it.
SECTIONS = {
    "a configuration": (lambda text: text + "\n", ["configuration-reference.md"], {
        "listeners": "listeners: [{address: '127.0.0.1:0'}]",
        "store": "store: table",
        "table": "table: {keys: 5}",
        "rule_sources": "rule_sources: [{files: ['none/*.yaml']}]",
        "rules": "loops: 1\nrules: []",
        "attributes": "loops: 1\nattributes: {peer: {type: ip}}",
        "envoy": "envoy: {directory: domains}",
        "loops": "loops: 2",
        "connections": "connections: 100",
        "connections_per_peer": "connections_per_peer: 50",
        "drain_timeout": "drain_timeout: 5s",
        "idempotency": "idempotency: {keep: 1h, mebibytes: 1}",
        "insight": "insight: {hot_key_share: 20%}",
        "decisions": "decisions: {mebibytes: 1}",
        "decision_log": "decision_log: {path: decisions.log}",
        "otlp": "otlp: {endpoint: 'http://127.0.0.1:4318'}",
        "log": "log: {level: warn, format: json}"}),
    "listener": (listener, ["configuration-reference.md"], {
        "address": "address: '127.0.0.1:0'",
        "protocol": "protocol: grpc",
        "role": "role: metrics, address: '127.0.0.1:0'",
        "hosts": "role: admin, hosts: [admin.example]",
        "console": "role: admin, console: true",
        "tls": "tls: {cert: server.pem, key: server.key}",
        "auth": "auth: {token: 0123456789abcdef}",
        "proxy": "proxy: {trusted: [10.0.0.0/8]}",
        "limit_headers": "limit_headers: [draft-10]"}),
    "listener.tls": (lambda text: listener("tls: {" + text + "}"), ["configuration-reference.md"], {
        "cert": "cert: server.pem, key: server.key",
        "key": "cert: server.pem, key: server.key",
        "client_ca": "cert: server.pem, key: server.key, client_ca: server.pem",
        "client_name": "cert: server.pem, key: server.key, client_ca: server.pem, client_name: a.example"}),
    "listener.auth": (lambda text: listener("protocol: resp, auth: {" + text + "}"), ["configuration-reference.md"], {
        "token": "token: 0123456789abcdef",
        "token_file": "token_file: secret",
        "password": "password: 0123456789abcdef",
        "password_file": "password_file: secret"}),
    "listener.proxy": (lambda text: listener("proxy: {" + text + "}"), ["configuration-reference.md", "proxies.md"], {
        "trusted": "trusted: [10.0.0.0/8]",
        "client_address": "client_address: X-Forwarded-For",
        "request_fields": "request_fields: x-original",
        "headers": "headers: {user_id: X-User-Id}",
        "trusted_headers": "trusted_headers: {user_id: X-User-Id}",
        "paths": "paths: strict",
        "cors": "cors: ['https://a.example']"}),
    "listener.proxy.paths": (lambda text: listener("proxy: {paths: {" + text + "}}"), ["proxies.md"], {
        "fold_case": "fold_case: true",
        "encoded_slash": "encoded_slash: decode"}),
    "store": (lambda text: config("store: {" + text + "}"), ["configuration-reference.md"], {
        "redis": "redis: {address: redis.example}"}),
    "redis": (redis, ["redis.md"], {
        "address": "address: redis.example",
        "sentinel": "sentinel: {primary: p, addresses: [a.example]}",
        "cluster": "cluster: [a.example]",
        "username": "address: a, username: u, password_file: secret",
        "password_file": "address: a, password_file: secret",
        "tls": "address: a, tls: {}",
        "database": "address: a, database: 3",
        "timeout": "address: a, timeout: 20ms",
        "lease": "address: a, lease: {keys: 5}"}),
    "redis.tls": (lambda text: redis("address: a, tls: {" + text + "}"), ["redis.md"], {
        "ca": "ca: server.pem",
        "cert": "cert: server.pem, key: server.key",
        "key": "cert: server.pem, key: server.key",
        "server_name": "server_name: redis.example"}),
    "redis.sentinel": (lambda text: redis("sentinel: {" + text + "}"), ["redis.md"], {
        "primary": "primary: p, addresses: [a]",
        "addresses": "primary: p, addresses: [a]",
        "username": "primary: p, addresses: [a], username: u",
        "password_file": "primary: p, addresses: [a], password_file: secret"}),
    "redis.lease": (lambda text: redis("address: a, lease: {" + text + "}"), ["redis.md"], {"keys": "keys: 5"}),
    "table": (lambda text: config("table: {" + text + "}"), ["configuration-reference.md"], {
        "path": "path: /dev/shm/t", "keys": "keys: 5", "blocks": "blocks: 5", "when_full": "when_full: deny",
        "snapshots": "snapshots: s", "snapshot_interval": "snapshot_interval: off"}),
    "rule source": (lambda text: config("rule_sources: [{" + text + "}]"), ["configuration-reference.md"], {
        "files": "files: ['none/*.yaml']", "api": "api: {dir: d}", "etcd": "etcd: {endpoints: [a]}"}),
    "api": (lambda text: config("rule_sources: [{api: {" + text + "}}]"), ["configuration-reference.md"], {"dir": "dir: d"}),
    "etcd": (etcd, ["configuration-reference.md"], {
        "endpoints": "endpoints: ['http://a:2379']",
        "prefix": "endpoints: [a], prefix: /p/",
        "tls": "endpoints: [a], tls: {ca: server.pem}",
        "auth": "endpoints: [a], auth: {username: u, password_file: secret}"}),
    "etcd.tls": (lambda text: etcd("endpoints: [a], tls: {" + text + "}"), ["configuration-reference.md"], {
        "ca": "ca: server.pem",
        "cert": "cert: server.pem, key: server.key",
        "key": "cert: server.pem, key: server.key"}),
    "etcd.auth": (lambda text: etcd("endpoints: [a], auth: {" + text + "}"), ["configuration-reference.md"], {
        "username": "username: u, password_file: secret",
        "password_file": "username: u, password_file: secret"}),
    "envoy": (lambda text: config("envoy: {" + text + "}"), ["configuration-reference.md"], {
        "directory": "directory: domains",
        "merge_domains": "directory: domains, merge_domains: true",
        "semantics": "directory: domains, semantics: sluice"}),
    "idempotency": (lambda text: config("idempotency: {" + text + "}"), ["configuration-reference.md"], {
        "keep": "keep: 1h", "mebibytes": "mebibytes: 1", "caller": "caller: tenant"}),
    "insight": (lambda text: config("insight: {" + text + "}"), ["configuration-reference.md"], {
        "hot_key_share": "hot_key_share: 5%", "hot_key_requests": "hot_key_requests: 100"}),
    "decisions": (lambda text: config("decisions: {" + text + "}"), ["configuration-reference.md"], {
        "mebibytes": "mebibytes: 1"}),
    "decision_log": (lambda text: config("decision_log: {" + text + "}"), ["configuration-reference.md"], {
        "path": "path: d.log", "sample": "path: d.log, sample: 0.5", "denied_sample": "path: d.log, denied_sample: 0",
        "max_bytes": "path: d.log, max_bytes: 1000000", "keep": "path: d.log, keep: 0"}),
    "otlp": (lambda text: config("otlp: {" + text + "}"), ["configuration-reference.md"], {
        "endpoint": "endpoint: 'https://otel.example/prefix'",
        "interval": "endpoint: 'http://a', interval: 1m",
        "timeout": "endpoint: 'http://a', timeout: 2s",
        "compression": "endpoint: 'http://a', compression: none",
        "headers": "endpoint: 'http://a', headers: {X-Scope-OrgID: shop}",
        "token_file": "endpoint: 'https://a', token_file: secret",
        "tls": "endpoint: 'https://a', tls: {ca: server.pem}",
        "traces": "endpoint: 'http://a', traces: false",
        "service_name": "endpoint: 'http://a', service_name: limits",
        "attributes": "endpoint: 'http://a', attributes: {deployment.environment.name: prod}"}),
    "otlp.tls": (lambda text: config("otlp: {endpoint: 'https://a', tls: {" + text + "}}"), ["configuration-reference.md"], {
        "ca": "ca: server.pem",
        "cert": "cert: server.pem, key: server.key",
        "key": "cert: server.pem, key: server.key",
        "server_name": "server_name: otel.example"}),
    "log": (lambda text: config("log: {" + text + "}"), ["configuration-reference.md"], {
        "level": "level: warn", "format": "format: json", "denial_summary": "denial_summary: off", "requests": "requests: 5"}),
    "a rule file": (lambda text: text + "\n", ["rules.md"], {
        "rules": "rules: []", "attributes": "rules: []\nattributes: {peer: {type: ip}}"}),
    "attribute": (lambda text: "rules: []\nattributes: {peer: {" + text + "}}\n", ["rules.md"], {
        "type": "type: host", "v4_prefix": "type: ip, v4_prefix: 24", "v6_prefix": "type: ip, v6_prefix: 56",
        "nat64": "type: ip, nat64: ['64:ff9b::/96']", "hash": "hash: true"}),
    "rule": (rule, ["rules.md"], {
        "id": GCRA, "key_pattern": GCRA, "algorithm": GCRA, "rate": GCRA, "window": GCRA,
        "limit": FIXED + "window: 1m",
        "burst": GCRA + "burst: 7",
        "unit": FIXED + "unit: minute",
        "time_zone": FIXED + "window: day, time_zone: Europe/Berlin",
        "anchor": FIXED + "window: week, anchor: Sunday",
        "segments": SLIDING + "segments: 12",
        "strict": SLIDING + "strict: true",
        "shape": RULE + "algorithm: leaky_bucket, rate: 5, burst: 9, window: 1s, shape: true",
        "hold_ttl": IN_FLIGHT,
        "reserve": IN_FLIGHT + "reserve: {critical: 20%}",
        "cost": GCRA + "cost: 1",
        "match": GCRA + "match: {endpoint: /login}",
        "plans": GCRA + "plans: [{match: {plan: pro}, rate: 9}]",
        "overrides": GCRA + "overrides: {u_42: {rate: 9}}",
        "on_missing": GCRA + "on_missing: deny",
        "on_store_error": GCRA + "on_store_error: local",
        "sync": FIXED + "window: 1m, sync: lease",
        "mode": GCRA + "mode: shadow",
        "replaces": GCRA + "}, {" + GCRA.replace("id: r", "id: other") + "replaces: [r]",
        "formerly": GCRA + "formerly: old",
        "ban": GCRA + "ban: {after: 20, within: 1m, for: 15m}",
        "reservation_ttl": GCRA + "reservation_ttl: 5m",
        "action": "id: r, action: deny, match: {ip: 192.0.2.1}",
        "retry_jitter": GCRA + "retry_jitter: 2s"}),
    "plan": (lambda text: rule(GCRA + "plans: [{" + text + "}]"), ["rules.md"], {
        "match": "match: {plan: pro}, rate: 9",
        "rate": "match: {plan: pro}, rate: 9",
        "burst": "match: {plan: pro}, burst: 9",
        "limit": "match: {plan: pro}, limit: unlimited"}),
    "ban": (lambda text: rule(GCRA + "ban: {" + text + "}"), ["rules.md"], {
        name: "after: 20, within: 1m, for: 15m" for name in ("after", "within", "for")}),
    "condition": (lambda text: rule(GCRA + "match: {ip: {" + text + "}}"), ["rules.md"], {
        "regex": "regex: '10[.].*'", "cidr": "cidr: 10.0.0.0/8"}),
}

# Fields that a table of the documents lists, by the first column: which section each row is of.
ROWS = {
    "configuration.md#etcd": [(r"(\w+)", "etcd")],
    "redis.md": [(r"(\w+)", "redis")],
    "rules.md#attributes": [(r"(\w+)", "attribute")],
    "rules.md": [(r"(\w+)", "rule")],
    "proxies.md": [(r"(\w+)", "listener.proxy.paths")],
}
# Which section each heading of the configuration's reference is of.
REFERENCE = {
    "The file": "a configuration", "`listeners[]`": "listener", "`listeners[].tls`": "listener.tls",
    "`listeners[].auth`": "listener.auth", "`listeners[].proxy`": "listener.proxy",
    "`listeners[].proxy.paths`": "listener.proxy.paths", "`store`": "store", "`store.redis`": "redis",
    "`store.redis.sentinel`": "redis.sentinel", "`store.redis.tls`": "redis.tls", "`store.redis.lease`": "redis.lease",
    "`table`": "table", "`rule_sources[]`": "rule source", "`rule_sources[].api`": "api", "`rule_sources[].etcd`": "etcd",
    "`rule_sources[].etcd.tls`": "etcd.tls", "`rule_sources[].etcd.auth`": "etcd.auth", "`log`": "log", "`decisions`": "decisions",
    "`decision_log`": "decision_log", "`envoy`": "envoy",
    "`idempotency`": "idempotency", "`insight`": "insight", "`otlp`": "otlp", "`otlp.tls`": "otlp.tls"}

ENVOY = """domain: d
descriptors:
  - key: k
    rate_limit: {requests_per_unit: 5, %s}
"""
ENVOY_FIELDS = {
    "algorithm": "unit: minute, algorithm: gcra", "burst": "unit: minute, algorithm: gcra, burst: 7",
    "period": "period: 30s", "sync": "unit: minute, sync: local", "on_store_error": "unit: minute, on_store_error: deny",
}


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def code_of(name):
    """All that a page writes as code."""
    text = page(name)
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    return "\n".join(blocks + re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)))


def tables_of(name):
    """The rows of each table whose first column is `field`: a list of lists of (names, rest)."""
    tables = []
    for table in re.findall(r"^\| (?:field|option) \|.*\n\| ---.*\n((?:\|.*\n)+)", page(name), re.M):
        rows = [line.strip().strip("|").split("|", 1) for line in table.splitlines()]
        tables.append([(re.findall(r"`([^`]+)`", first), rest) for first, rest in rows])
    return tables


class DocumentedFieldsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "domains").mkdir()
        (self.folder / "secret").write_text("0123456789abcdef\n")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.pem"],
                       cwd=self.folder, check=True, capture_output=True)

    def validate(self, text):
        (self.folder / "c.yaml").write_text(text)
        return subprocess.run([SLUICE, "validate", "c.yaml"], cwd=self.folder, capture_output=True, text=True)

    def known(self, section):
        make, _, examples = SECTIONS[section]
        some = next(iter(examples.values()))
        text = make(UNKNOWN + ": 1" if section.startswith("a ") else some.rstrip(", ") + ", " + UNKNOWN + ": 1")
        if section == "a configuration":
            text += "loops: 1\n"
        said = self.validate(text).stdout
        found = re.search(f"unknown field {UNKNOWN}: .*? has (.*)", said)
        self.assertIsNotNone(found, f"{section}: {text}{said}")
        return set(re.split(r", | or ", found.group(1)))

    def test_every_field_loads_and_is_documented(self):
        for section, (make, pages, examples) in SECTIONS.items():
            with self.subTest(section):
                self.assertEqual(self.known(section), set(examples))
                code = "\n".join(code_of(name) for name in pages)
                for field, text in examples.items():
                    said = self.validate(make(text))
                    self.assertEqual(said.returncode, 0, f"{section}, {field}: {said.stdout}{said.stderr}")
                    self.assertRegex(code, rf"\b{field}\b", f"{section}: {field} is in none of {pages}")

    def test_every_documented_field_is_one_that_loads(self):
        attributes, rules = tables_of("rules.md")[:2]
        tables = {"configuration.md#etcd": tables_of("configuration.md")[0], "redis.md": tables_of("redis.md")[0],
                  "rules.md#attributes": attributes, "rules.md": rules, "proxies.md": tables_of("proxies.md")[0]}
        for name, table in tables.items():
            seen = set()
            for fields, _ in table:
                for field in fields:
                    match, section = next((match, section) for pattern, section in ROWS[name]
                                          if (match := re.fullmatch(pattern, field)))
                    self.assertIn(match.group(1), SECTIONS[section][2], f"{name}: {field}")
                    seen.add((section, match.group(1)))
            self.assertGreater(len(seen), 1, name)
        listed = {field for fields, _ in rules for field in fields}
        self.assertEqual(listed, set(SECTIONS["rule"][2]), "the table of rules.md is the whole of a rule")

    def test_the_reference_has_every_field_of_a_configuration(self):
        headings = re.findall(r"^## (.*)$", page("configuration-reference.md"), re.M)
        self.assertEqual(sorted(headings), sorted(REFERENCE))
        for heading, table in zip(headings, tables_of("configuration-reference.md"), strict=True):
            listed = [field for fields, _ in table for field in fields]
            self.assertEqual(sorted(listed), sorted(SECTIONS[REFERENCE[heading]][2]), heading)

    def test_every_field_of_a_limit_of_envoys_loads(self):
        documented = {re.match(r"\w+", field).group(0) for fields, _ in tables_of("envoy.md")[0] for field in fields}
        self.assertEqual(documented, set(ENVOY_FIELDS))
        for field, text in ENVOY_FIELDS.items():
            (self.folder / "domains/d.yaml").write_text(ENVOY % text)
            said = subprocess.run([SLUICE, "validate", "--envoy", "domains"], cwd=self.folder, capture_output=True,
                                  text=True)
            self.assertEqual(said.returncode, 0, f"{field}: {said.stdout}{said.stderr}")

    def test_the_daemon_starts_with_what_validate_takes(self):
        (self.folder / "domains/d.yaml").write_text(ENVOY % "unit: minute")
        (self.folder / "c.yaml").write_text(
            "listeners: [{address: '127.0.0.1:0'}, {address: '127.0.0.1:0', role: admin}]\n"
            "table: {keys: 1000}\nconnections: 100\nconnections_per_peer: 50\nenvoy: {directory: domains}\n"
            "drain_timeout: 5s\nidempotency: {keep: 1h, mebibytes: 1}\ninsight: {hot_key_share: off}\nrule_sources: [{files: ['none/*.yaml']}]\n"
            "rules: []\nattributes: {peer: {type: ip}}\nloops: 1\nlog: {level: info}\n")
        with subprocess.Popen([SLUICE, "serve", "--config", "c.yaml"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as daemon:
            greeted = any(line.startswith("Try:") for line in daemon.stdout)
            daemon.terminate()
            _, log = daemon.communicate(timeout=60)
        self.assertTrue(greeted, log)
        self.assertEqual(daemon.returncode, 0, log)


if __name__ == "__main__":
    SLUICE = sys.argv.pop(2)
    ROOT = pathlib.Path(sys.argv.pop(1))
    unittest.main()
