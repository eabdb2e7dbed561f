#!/usr/bin/env python3
"""docs/openapi.json against the live daemon: that what it says is there is, that nothing else is,
and that every answer is as it says. Usage: openapi_test.py SLUICE OPENAPI_JSON

A new path or answer makes this fail until docs/openapi.json has it and CALLS below exercises it.
"""
import json
import pathlib
import re
import sys
import unittest

import jsonschema

DOCUMENT = pathlib.Path(sys.argv.pop(2))

from desk import QUOTA, Case  # noqa: E402  (takes its own argument)

API = json.loads(DOCUMENT.read_text())
METHODS = ("get", "put", "post", "delete", "patch", "options")
CONFIG = """
listeners:
  - address: 127.0.0.1:0
  - {address: "127.0.0.1:0", role: admin}
  - {address: "127.0.0.1:0", auth: {token: secret}}
  - {address: "127.0.0.1:0", role: admin, auth: {token: secret}}
table: {keys: 10000, path: %s}
rule_sources:
  - files: [rules/*.yaml]
  - api: {dir: state}
"""
C = "/v1/ratelimit/"
CONCURRENT = {"key_pattern": "user:{worker}", "algorithm": "concurrency", "limit": 2,
              "hold_ttl": "1h"}
RESERVED = {**CONCURRENT, "key_pattern": "pool:{pool}", "reserve": {"critical": "100%"}}

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
    ("get", C + "shadow-report", C + "shadow-report", None, {}, 200),
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
    ("put", C + "config/f", C + "config/{rule_id}",
     {**QUOTA, "key_pattern": "path:{endpoint}", "match": {"endpoint": "/shut"}, "limit": 0}, {}, 200),
    ("get", "/v1/check/http", "/v1/check/http", None, {}, 200),
    ("get", "/v1/check/http", "/v1/check/http", None, {"X-Original-URI": "/shut"}, 429),
    ("get", "/v1/check/http?deny_status=403", "/v1/check/http", None,
     {"X-Original-URI": "/shut"}, 403),
    ("get", "/v1/check/http?deny_status=7", "/v1/check/http", None, {}, 400),
    ("post", C + "reset", C + "reset", {"user_id": "u"}, {}, 200),
    ("post", C + "reset", C + "reset", {}, {}, 400),
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
    ("get", "/metrics", "/metrics", None, {}, 200),
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


def resolved(node):
    """`node` without references, so that any validator reads it. None of ours goes in circles."""
    if isinstance(node, list):
        return [resolved(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = API
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        return {**resolved(target), **{k: v for k, v in node.items() if k != "$ref"}}
    return {name: resolved(value) for name, value in node.items()}


def operations():
    for path, item in API["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, resolved(item[method])


class OpenApiTest(Case):
    def setUp(self):
        super().setUp()
        root = self.node("documented", CONFIG)
        (root / "rules/a.yaml").write_text(json.dumps(
            {"rules": [{"id": "file", **QUOTA, "match": {"user_id": "nobody"}}]}))
        self.daemon = self.start(root)

    def listeners(self, path, role=""):
        """Those that have the path; `role` leaves one of two that mean different things by it."""
        names = [server["description"] for server in API["paths"][path]["servers"]
                 if role in server["description"]]
        return ([self.daemon.address] if "a check listener" in names else []) + (
            [self.daemon.admin] if "an admin listener" in names else [])

    def call(self, address, method, path, body=None, fields=None):
        return self.daemon.ask(address, method.upper(), path, body,
                               **{name.replace("-", "_"): v for name, v in (fields or {}).items()})

    def test_the_document_served_is_the_one_in_docs(self):
        for address in (self.daemon.address, self.daemon.admin):
            status, document, _ = self.call(address, "get", "/openapi.json")
            self.assertEqual((status, document), (200, API))

    def test_the_document_is_sound(self):
        names = [operation["operationId"] for _, _, operation in operations()]
        self.assertEqual(len(names), len(set(names)))
        for schema in API["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(resolved(schema))
        for method, path, operation in operations():
            stated = {parameter["name"] for parameter in
                      resolved(API["paths"][path].get("parameters", [])) +
                      operation.get("parameters", []) if parameter["in"] == "path"}
            self.assertEqual(stated, set(re.findall(r"{(\w+)}", path)), path)
            for media in operation.get("requestBody", {}).get("content", {}).values():
                examples = [one["value"] for one in media.get("examples", {}).values()]
                for example in examples or [media["example"]]:
                    jsonschema.validate(example, media["schema"], jsonschema.Draft202012Validator)

    def test_every_answer_is_as_documented(self):
        documented = {(method, path): operation for method, path, operation in operations()}
        seen = set(ELSEWHERE)
        last = {}
        for method, target, path, body, fields, wanted in CALLS:
            body = body(last) if callable(body) else body
            path, _, role = path.partition("#")
            for address in self.listeners(path, role):
                with self.subTest(call=(method, target, body, wanted)):
                    status, answer, headers = self.call(address, method, target, body, fields)
                    self.assertEqual(status, wanted, answer)
                    responses = documented[method, path]["responses"]
                    self.assertIn(str(status), responses)
                    if isinstance(answer, dict):
                        last.update(answer)
                    self.check(responses[str(status)], answer, headers)
                    seen.add((method, path, status))
        self.unauthorized(documented, seen)
        every = {(method, path, int(status)) for (method, path), operation in documented.items()
                 for status in operation["responses"]}
        self.assertEqual(every - seen, set(), "documented, and not in CALLS")

    def check(self, response, answer, headers):
        for name in response.get("headers", {}):
            if name in ("ETag", "Content-Type"):
                self.assertIn(name, headers)
        if "content" not in response:
            self.assertEqual(answer, "")
            return
        [(kind, media)] = response["content"].items()
        self.assertEqual(headers["Content-Type"].split(";")[0], kind.split(";")[0])
        jsonschema.validate(answer, media["schema"], jsonschema.Draft202012Validator)

    def unauthorized(self, documented, seen):
        for (method, path), operation in documented.items():
            target = path.replace("{rule_id}", "a").replace("{user_id}", "u")
            for address in self.listeners(path):
                guarded = self.daemon.guarded[address == self.daemon.admin]
                status, answer, headers = self.call(guarded, method, target)
                if "401" in operation["responses"]:
                    self.assertEqual(status, 401, path)
                    self.check(operation["responses"]["401"], answer, headers)
                    seen.add((method, path, 401))
                else:
                    self.assertEqual(status, 200, path)

    def test_what_is_not_documented_is_not_there(self):
        for path, item in API["paths"].items():
            if path == "/v1/check/http":
                continue  # A proxy asks with the method of the request that it was asked.
            target = path.replace("{rule_id}", "a").replace("{user_id}", "u")
            methods = {method.upper() for method in METHODS if method in item}
            methods |= {"HEAD"} if "GET" in methods else set()
            for address in self.listeners(path):
                for method in {m.upper() for m in METHODS} - methods:
                    status, answer, headers = self.call(address, method, target)
                    self.assertEqual(status, 405, (method, path))
                    self.assertEqual(set(headers["Allow"].split(", ")), methods)
                    jsonschema.validate(answer, resolved(API["components"]["schemas"]["Problem"]),
                                        jsonschema.Draft202012Validator)
        # What a listener says that it has.
        for address in (self.daemon.address, self.daemon.admin):
            detail = self.call(address, "get", "/nothing")[1]["detail"]
            for path in re.findall(r"/[\w/{}.-]*\w}?", detail):
                self.assertIn(path, API["paths"], "served, and not in docs/openapi.json")


if __name__ == "__main__":
    unittest.main(verbosity=2)
