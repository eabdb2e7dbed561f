#!/usr/bin/env python3
"""/openapi.json of each listener against the live daemon: that what it says is there is, that nothing
else is, that every answer is as it says, and that all listeners' parts make docs/openapi.json.
Usage: openapi_test.py SLUICE OPENAPI_JSON

A new path or answer makes this fail until docs/openapi.json has it and CALLS below exercises it.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema

DOCUMENT = pathlib.Path(sys.argv.pop(2))

from admin_client import QUOTA, SLUICE, Case  # noqa: E402  (takes its own argument)

SOURCE = json.loads(DOCUMENT.read_text())
LAB = {"quotas": [{"algorithm": "gcra", "limit": 2, "rate": 2, "window_ms": 1000}],
       "events": [{"at": 0}, {"at": 10, "cost": 2}, {"at": 20, "peek": True}]}
C = "/v1/ratelimit/"
METHODS = ("get", "put", "post", "delete", "patch", "options", "head", "trace")
PROXY = "/v1/check/http"  # A proxy asks with the method of the request that it was asked.
CONFIG = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin, console: true}
  - {address: "127.0.0.1:0", auth: {token: secret}}
  - {address: "127.0.0.1:0", role: admin, console: true, auth: {token: secret}}
  - {address: "127.0.0.1:0", role: metrics}
table: {keys: 10000, path: %s}
rule_sources:
  - files: [rules/*.yaml]
  - api: {dir: state}
"""
CONCURRENT = {"key_pattern": "user:{worker}", "algorithm": "concurrency", "limit": 2,
              "hold_ttl": "1h"}
RESERVED = {**CONCURRENT, "key_pattern": "pool:{pool}", "reserve": {"critical": "100%"}}

# What stands for the names in paths.
NAMED = {"rule_id": "a", "user_id": "u", "original_path": "x", "file": "app.js"}

# As bodies: what an answer gave last.
HOLDS, RECEIPT = (lambda last, name=name: {name: last[name]} for name in ("holds", "receipt"))


def settled(last):
    return {"reservation": last["reservation"], "cost": 1}


# In this order: method, path as it is called, its place in the document, body, header fields, and
# the status that it must have.
CALLS = [
    ("put", C + "config/a", C + "config/{rule_id}", {**QUOTA, "limit": 2}, {}, 200),
    ("put", C + "config/a", C + "config/{rule_id}", QUOTA, {"If-None-Match": "*"}, 412),
    ("put", C + "config/a", C + "config/{rule_id}", "{", {}, 400),
    ("put", C + "config/a", C + "config/{rule_id}", {"algorithm": "gcrb"}, {}, 422),
    ("put", C + "config/b", C + "config/{rule_id}", {**QUOTA, "mode": "shadow", "limit": 1}, {}, 200),
    ("put", C + "config/c", C + "config/{rule_id}", CONCURRENT, {}, 200),
    ("put", C + "config/d", C + "config/{rule_id}", RESERVED, {}, 200),
    ("get", C + "config/a", C + "config/{rule_id}", None, {}, 200),
    ("get", C + "config/a", C + "config/{rule_id}", None, {"If-None-Match": "*"}, 304),
    ("get", C + "config/z", C + "config/{rule_id}", None, {}, 404),
    ("get", C + "config", C + "config", None, {}, 200),
    ("post", C + "check", C + "check", {"user_id": "u", "cost": 2}, {}, 200),
    ("post", C + "check", C + "check", {"user_id": "u"}, {}, 429),
    ("post", C + "check", C + "check", {"user_id": "u", "cost": -1}, {}, 400),
    ("post", C + "check", C + "check", {"user_id": "u" * 70000}, {}, 413),
    ("post", C + "check", C + "check", {"worker": "w"}, {}, 200),
    ("post", C + "check", C + "check", {"pool": "p"}, {}, 503),
    ("post", C + "batch", C + "batch", [{"user_id": "u", "peek": True}, {"cost": -1}], {}, 200),
    ("post", C + "batch", C + "batch", {}, {}, 400),
    ("post", C + "batch", C + "batch", ["u" * 300000], {}, 413),
    ("post", C + "check", C + "check", {"worker": "v"}, {}, 200),
    ("post", C + "renew", C + "renew", HOLDS, {}, 200),
    ("post", C + "release", C + "release", HOLDS, {}, 200),
    ("post", C + "renew", C + "renew", HOLDS, {}, 404),
    ("post", C + "renew", C + "renew", {"name": "c"}, {}, 400),
    ("post", C + "release", C + "release", {"name": "c"}, {}, 400),
    ("post", C + "renew", C + "renew", {"name": "c" * 70000}, {}, 413),
    ("post", C + "release", C + "release", {"name": "c" * 70000}, {}, 413),
    ("get", C + "status?user_id=u", C + "status", None, {}, 200),
    ("get", C + "status?user_id=%zz", C + "status", None, {}, 400),
    ("get", C + "status/u?cost=2", C + "status/{user_id}", None, {}, 200),
    ("get", C + "status/u?cost=x", C + "status/{user_id}", None, {}, 400),
    ("get", C + "explain?user_id=u&cost=2", C + "explain", None, {}, 200),
    ("get", C + "explain?cost=x", C + "explain", None, {}, 400),
    ("get", C + "why?user_id=u&cost=2", C + "why", None, {}, 200),
    ("get", C + "why?worker=w", C + "why", None, {}, 200),
    ("get", C + "why?cost=x", C + "why", None, {}, 400),
    ("get", C + "shadow-report", C + "shadow-report", None, {}, 200),
    ("get", C + "history", C + "history", None, {}, 200),
    ("get", C + "top?rule=a&kind=denied&window=start&n=3", C + "top", None, {}, 200),
    ("get", C + "top?kind=worst", C + "top", None, {}, 400),
    ("get", C + "decisions?rule=a&n=5", C + "decisions", None, {}, 200),
    ("get", C + "decisions?n=0", C + "decisions", None, {}, 400),
    ("put", C + "trace", C + "trace", {"per_second": 5, "seconds": 60}, {}, 200),
    ("put", C + "trace", C + "trace", {"per_second": 0, "seconds": 60}, {}, 400),
    ("put", C + "trace", C + "trace", {"x": "y" * 70000}, {}, 413),
    ("get", C + "trace", C + "trace", None, {}, 200),
    ("delete", C + "trace", C + "trace", None, {}, 200),
    ("post", C + "refund", C + "refund#admin", {"user_id": "u", "units": 1}, {}, 200),
    ("post", C + "refund", C + "refund", {"user_id": "u"}, {}, 400),
    ("post", C + "refund", C + "refund#admin", {"worker": "w", "units": 1}, {}, 422),
    ("post", C + "check", C + "check", {"user_id": "r", "receipt": True}, {}, 200),
    ("post", C + "refund", C + "refund#check", RECEIPT, {}, 200),
    ("post", C + "check", C + "check", {"user_id": "s", "reserve": True}, {}, 200),
    ("post", C + "settle", C + "settle", settled, {}, 200),
    ("post", C + "settle", C + "settle", {"reservation": "x"}, {}, 400),
    ("post", C + "settle", C + "settle", {"reservation": "x" * 70000}, {}, 413),
    ("post", C + "check", C + "check", {"user_id": "i"}, {"Idempotency-Key": "k"}, 200),
    ("post", C + "check", C + "check", {"user_id": "j"}, {"Idempotency-Key": "k"}, 422),
    ("put", C + "config/e", C + "config/{rule_id}",
     {"action": "deny", "match": {"user_id": "listed"}}, {}, 200),
    ("post", C + "check", C + "check", {"user_id": "listed"}, {}, 403),
    ("get", C + "config", C + "config", None, {}, 200),
    ("get", C + "bans", C + "bans", None, {}, 200),
    ("post", C + "unban", C + "unban", {"user_id": "u"}, {}, 200),
    ("post", C + "unban", C + "unban", {}, {}, 400),
    ("post", C + "lab", C + "lab", LAB, {}, 200),
    ("post", C + "lab", C + "lab", {"quotas": []}, {}, 400),
    ("post", C + "lab", C + "lab", {**LAB, "events": [{"at": 1}, {"at": 0}]}, {}, 422),
    ("put", C + "config/f", C + "config/{rule_id}",
     {**QUOTA, "key_pattern": "path:{endpoint}", "match": {"endpoint": "/shut"}, "limit": 0}, {}, 200),
    ("get", "/v1/check/http", "/v1/check/http", None, {}, 200),
    ("get", "/v1/check/http", "/v1/check/http", None, {"X-Original-URI": "/shut"}, 429),
    ("get", "/v1/check/http?deny_status=403", "/v1/check/http", None,
     {"X-Original-URI": "/shut"}, 403),
    ("get", "/v1/check/http?deny_status=7", "/v1/check/http", None, {}, 500),
    ("get", PROXY + "/shut/not?cost=x", PROXY + "/{original_path}", None, {}, 200),
    ("get", PROXY + "/shut", PROXY + "/{original_path}", None, {}, 429),
    ("post", C + "reset", C + "reset", {"user_id": "u"}, {}, 200),
    ("post", C + "reset", C + "reset", {}, {}, 400),
    ("post", C + "reset", C + "reset", {"user_id": "u", "rule": 0}, {}, 400),
    ("post", C + "reset", C + "reset", {"user_id": "u", "rule": ""}, {}, 400),
    ("post", C + "unban", C + "unban", {"user_id": "u", "rule": False}, {}, 400),
    ("put", C + "mode/a", C + "mode/{rule_id}", {"mode": "off"}, {}, 200),
    ("put", C + "mode/a", C + "mode/{rule_id}", {"mode": "on"}, {}, 400),
    ("put", C + "mode/z", C + "mode/{rule_id}", {"mode": "off"}, {}, 404),
    ("get", C + "mode/a", C + "mode/{rule_id}", None, {}, 200),
    ("get", C + "mode/z", C + "mode/{rule_id}", None, {}, 404),
    ("delete", C + "mode/a", C + "mode/{rule_id}", None, {}, 200),
    ("delete", C + "mode/z", C + "mode/{rule_id}", None, {}, 404),
    ("put", C + "kill-switch", C + "kill-switch", {"on": True}, {}, 200),
    ("put", C + "kill-switch", C + "kill-switch", {"on": "yes"}, {}, 400),
    ("get", C + "kill-switch", C + "kill-switch", None, {}, 200),
    ("put", C + "config/b", C + "config/{rule_id}", {**QUOTA, "replaces": ["a"]}, {}, 200),
    ("delete", C + "config/a", C + "config/{rule_id}", None, {}, 422),
    ("delete", C + "config/a", C + "config/{rule_id}", None, {"If-Match": '"x"'}, 412),
    ("delete", C + "config/z", C + "config/{rule_id}", None, {}, 404),
    ("delete", C + "config/file", C + "config/{rule_id}", None, {}, 409),
    ("delete", C + "config/b", C + "config/{rule_id}", None, {}, 200),
    *((method, C + path, C + place, {"x": "x" * 70000}, {}, 413) for method, path, place in (
        ("put", "config/a", "config/{rule_id}"), ("put", "mode/a", "mode/{rule_id}"),
        ("put", "kill-switch", "kill-switch"), ("post", "unban", "unban"),
        ("post", "lab", "lab"), ("post", "reset", "reset"), ("post", "refund", "refund"))),
    ("get", "/metrics", "/metrics", None, {}, 200),
    ("get", "/console", "/console", None, {}, 308),
    ("get", "/console/", "/console/{file}", None, {}, 200),
    ("get", "/console/app.js", "/console/{file}", None, {}, 200),
    ("get", "/console/app.js", "/console/{file}", None, {"If-None-Match": "*"}, 304),
    ("get", "/console/no.js", "/console/{file}", None, {}, 404),
    ("get", "/healthz", "/healthz", None, {}, 200),
    ("get", "/readyz", "/readyz", None, {}, 200),
    ("get", "/openapi.json", "/openapi.json", None, {}, 200),
]

# Answers that other tests bring about: what they take (a full disk, etcd, a store that is away, a
# daemon that stops) is theirs.
ELSEWHERE = {
    ("put", C + "config/{rule_id}", 409), ("put", C + "config/{rule_id}", 503),
    ("delete", C + "config/{rule_id}", 503), ("put", C + "mode/{rule_id}", 503),
    ("delete", C + "mode/{rule_id}", 503), ("put", C + "kill-switch", 503),
    ("post", C + "reset", 422), ("post", C + "reset", 503), ("post", C + "refund", 503),
    ("get", "/readyz", 503), ("get", C + "bans", 501), ("get", C + "bans", 503),
    ("post", C + "unban", 501), ("post", C + "unban", 503),
    ("post", C + "settle", 404), ("post", C + "settle", 501), ("post", C + "settle", 503),
    ("post", C + "refund", 404), ("post", C + "refund", 501),
    ("post", C + "release", 501), ("post", C + "release", 503),
    ("post", C + "renew", 501), ("post", C + "renew", 503),
}


def resolved(node, document):
    """`node` without references, so that any validator reads it. None of ours goes in circles."""
    if isinstance(node, list):
        return [resolved(item, document) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return {**resolved(target, document), **{k: v for k, v in node.items() if k != "$ref"}}
    return {name: resolved(value, document) for name, value in node.items()}


def operations(document):
    """{(method, path): operation}, without references."""
    return {(method, path): {**resolved(item[method], document),
                             "shared": resolved(item.get("parameters", []), document)}
            for path, item in document["paths"].items() for method in METHODS if method in item}


def described(document):
    """What a document is expected to describe: one of docs/ has GET for the paths of any method."""
    return {(method, path) for method, path in operations(document)
            if not path.startswith((PROXY, "/json"))
            } | {path for path in document["paths"] if path.startswith((PROXY, "/json"))}


class OpenApiTest(Case):
    def setUp(self):
        super().setUp()
        root = self.node("documented", CONFIG)
        (root / "rules/a.yaml").write_text(json.dumps(
            {"rules": [{"id": "file", **QUOTA, "match": {"user_id": "nobody"}}]}))
        self.daemon = self.start(root)
        self.served = {address: self.description(address)
                       for address in (self.daemon.address, self.daemon.admin)}

    def description(self, address):
        status, document, _ = self.call(address, "get", "/openapi.json", None,
                                        {"Authorization": "Bearer secret"})
        self.assertEqual(status, 200)
        return document

    def listeners(self, path, role=""):
        """Those that have the path; `role` leaves one of two that mean different things by it."""
        of_role = {"check": [self.daemon.address], "admin": [self.daemon.admin]}
        return [address for address in of_role.get(role, self.served)
                if path in self.served[address]["paths"]]

    def call(self, address, method, path, body=None, fields=None):
        return self.daemon.ask(address, method.upper(), path, body,
                               **{name.replace("_", "-"): v for name, v in (fields or {}).items()})

    def test_all_listeners_together_serve_what_docs_describe(self):
        root = self.node("envoy", CONFIG)
        envoy = subprocess.Popen(
            [SLUICE, "serve", "--envoy", "--config", "sluice.yaml"], cwd=root,
            env={"RUNTIME_ROOT": str(root), "STATE_DIRECTORY": str(root)},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(envoy.stdout.close)
        self.addCleanup(envoy.wait)
        self.addCleanup(envoy.kill)
        for line in envoy.stdout:
            found = re.match(r"\s+(checks|admin)\s+http://(\S+)", line)
            if found:
                self.served[found[2]] = None
            if "/metrics" in line:
                break
        served = set()
        for address, document in self.served.items():
            served |= described(document or self.description(address))
        self.assertEqual(served, described(SOURCE))

    def test_a_metrics_listener_describes_what_it_serves(self):
        paths = self.description(self.daemon.metrics)["paths"]
        self.assertEqual(set(paths), {"/metrics", "/healthz", "/readyz", "/openapi.json"})
        for path in paths:
            self.assertEqual(self.call(self.daemon.metrics, "get", path)[0], 200)

    def test_each_document_is_sound(self):
        for document in self.served.values():
            self.assertNotIn('"x-sluice-role"', json.dumps(document))
            for schema in document["components"]["schemas"].values():
                jsonschema.Draft202012Validator.check_schema(resolved(schema, document))
            names = [operation["operationId"] for operation in operations(document).values()]
            self.assertEqual(len(names), len(set(names)))
            for (_, path), operation in operations(document).items():
                stated = {parameter["name"]
                          for parameter in operation["shared"] + operation.get("parameters", [])
                          if parameter["in"] == "path"}
                self.assertEqual(stated, set(re.findall(r"{(\w+)}", path)), path)
                for media in operation.get("requestBody", {}).get("content", {}).values():
                    examples = [one["value"] for one in media.get("examples", {}).values()]
                    for example in examples or [media["example"]]:
                        jsonschema.validate(example, media["schema"],
                                            jsonschema.Draft202012Validator)

    def test_no_document_has_a_component_that_it_does_not_use(self):
        for document in self.served.values():
            text = json.dumps(document)
            for kind in ("schemas", "parameters", "headers", "responses"):
                for name in document["components"][kind]:
                    self.assertIn("#/components/%s/%s\"" % (kind, name), text)

    def test_every_answer_is_as_documented(self):
        documented = {address: operations(document) for address, document in self.served.items()}
        seen = set(ELSEWHERE)
        last = {}
        for method, target, path, body, fields, wanted in CALLS:
            body = body(last) if callable(body) else body
            path, _, role = path.partition("#")
            for address in self.listeners(path, role):
                with self.subTest(call=(method, target, body, wanted)):
                    status, answer, headers = self.call(address, method, target, body, fields)
                    self.assertEqual(status, wanted, answer)
                    responses = documented[address][method, path]["responses"]
                    self.assertIn(str(status), responses)
                    if isinstance(answer, dict):
                        last.update(answer)
                    self.check(responses[str(status)], answer, headers)
                    seen.add((method, path, status))
        every = {(method, path, int(status)) for document in documented.values()
                 for (method, path), operation in document.items()
                 for status in operation["responses"]
                 if (method == "get" or not path.startswith(PROXY))
                 and (status not in ("403", "415") or path in (C + "check", PROXY))}
        self.assertEqual(every - seen, set(), "documented, and not in CALLS")

    def test_what_a_web_page_is_refused_with_is_documented_wherever_it_can_occur(self):
        for address, document in {**self.served, self.daemon.metrics:
                                  self.description(self.daemon.metrics)}.items():
            for (method, path), operation in operations(document).items():
                target = path.format(**NAMED)
                body = {} if method in ("put", "post", "patch", "delete") else None
                for status, body, fields in (
                        (403, body, {"Origin": "https://evil.example"}),
                        (415, "{}", {"Content-Type": "text/plain"})):
                    with self.subTest(address=address, call=(method, path, status)):
                        said, answer, headers = self.call(address, method, target, body, fields)
                        responses = operation["responses"]
                        can = str(status) in responses and path != PROXY
                        self.assertEqual(said == status, can, answer)
                        if can and method != "head":
                            self.check(responses[str(status)], answer, headers)

    def test_a_listener_with_a_token_says_so_and_wants_it(self):
        for guarded in self.daemon.guarded:
            for (method, path), operation in operations(self.description(guarded)).items():
                target = path.format(**NAMED)
                status, answer, headers = self.call(guarded, method, target)
                if "security" in operation:
                    self.assertEqual(status, 401, path)
                    if method != "head":
                        self.check(operation["responses"]["401"], answer, headers)
                else:
                    self.assertIn(status, (200, 308), path)
                    self.assertNotIn("401", operation["responses"])

    def check(self, response, answer, headers):
        for name in response.get("headers", {}):
            if name in ("ETag", "Content-Type"):
                self.assertIn(name, headers)
        if "content" not in response:
            self.assertEqual(answer, "")
            return
        said = headers["Content-Type"].split(";")[0]
        [media] = [media for kind, media in response["content"].items()
                   if kind.split(";")[0] == said]
        jsonschema.validate(answer, media["schema"], jsonschema.Draft202012Validator)

    def test_what_is_not_documented_is_not_there(self):
        for address, document in self.served.items():
            for path, item in document["paths"].items():
                target = path.format(**NAMED)
                methods = {method.upper() for method in METHODS if method in item}
                methods |= {"HEAD"} if "GET" in methods else set()
                for method in {m.upper() for m in METHODS} - methods:
                    status, answer, headers = self.call(address, method, target)
                    self.assertEqual(status, 405, (method, path))
                    self.assertEqual(set(headers["Allow"].split(", ")), methods)
                    if method != "HEAD":
                        jsonschema.validate(
                            answer, resolved(SOURCE["components"]["schemas"]["Problem"], SOURCE),
                            jsonschema.Draft202012Validator)
            for other in self.served.values():
                for path in set(other["paths"]) - set(document["paths"]):
                    target = path.format(**NAMED)
                    status, answer, _ = self.call(address, "get", target)
                    self.assertEqual(status, 404, path)
            for path in document["paths"]:
                self.assertIn(path, answer["detail"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
