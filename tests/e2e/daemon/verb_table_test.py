#!/usr/bin/python3
"""docs/verbs.md says which front end has which verb: every cell of its tables is tried.
Usage: verb_table_test.py DOCS SLUICE"""
import http.client
import json
import os
import pathlib
import re
import socket
import sys
import unittest

import grpc

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "envoy")]
import rls  # noqa: E402
from harness import DaemonCase, launch  # noqa: E402

DOCS = pathlib.Path(sys.argv.pop(1))

CONFIG = """
listeners:
  - {address: "127.0.0.1:0"}
  - {address: "127.0.0.1:0", role: admin}
  - {address: "127.0.0.1:0", protocol: resp}
  - {address: "127.0.0.1:0", protocol: grpc}
table: {keys: 1000, path: %(root)s/table, snapshots: %(root)s/snapshots, snapshot_interval: off}
rules:
  - {id: api, key_pattern: "{u}", algorithm: fixed_window, limit: 100, window: 30d}
  - {id: jobs, match: {job: "1"}, key_pattern: "{u}", algorithm: concurrency, limit: 5, hold_ttl: 1h}
  - {id: login, match: {login: "1"}, key_pattern: "{u}", algorithm: fixed_window, limit: 1, window: 30d,
     ban: {after: 1, within: 1h, for: 1h}}
"""


def tables(text):
    """[{verb: [cell, ...]}], a cell being what stands between back quotes in it; [] for none."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            continue
        if cells[0] == "verb":
            found.append({})
        elif not cells[0].startswith("-"):
            found[-1][cells[0]] = [re.findall("`([^`]+)`", cell) if "—" not in cell else []
                                   for cell in cells[1:]]
    return found


class Resp:
    """A connection that speaks RESP2."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def __call__(self, *words):
        data = b"".join(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words)
        self.socket.sendall(b"*%d\r\n%s" % (len(words), data))
        return self.read()

    def read(self):
        line = self.file.readline().rstrip(b"\r\n").decode()
        kind, rest = line[0], line[1:]
        if kind == "*":
            return [self.read() for _ in range(int(rest))]
        if kind == "$":
            if rest == "-1":
                return None
            return self.file.read(int(rest) + 2)[:-2].decode()
        return int(rest) if kind == ":" else kind + rest


def named(values):
    return dict(zip(values[::2], values[1::2]))


class VerbTableTest(DaemonCase):
    def setUp(self):
        super().setUp()
        (self.root / "snapshots").mkdir()
        (self.root / "sluice.yaml").write_text(CONFIG % {"root": self.root})
        self.process, greeting = launch([self.sluice, "serve", "--config", "sluice.yaml"], self.root)
        found = dict(re.findall(r"^  (checks|admin|resp|grpc)\s+(?:\w+://)?(\S+)", greeting, re.M))
        self.checks, self.admin = found["checks"], found["admin"]
        self.resp = Resp(found["resp"])
        self.channel = grpc.insecure_channel(found["grpc"])
        self.clients, self.operators = tables((DOCS / "verbs.md").read_text())

    def tearDown(self):
        self.channel.close()
        self.resp.close()
        super().tearDown()

    # The three front ends: what the table names, and the rest of what such a call needs.

    def ask_http(self, said, body=None, query="", admin=False):
        method, path = said.split(" ", 1)
        connection = http.client.HTTPConnection(self.admin if admin else self.checks, timeout=20)
        connection.request(method, path + query, None if body is None else json.dumps(body),
                           {"Content-Type": "application/json"})
        response = connection.getresponse()
        status, text = response.status, response.read().decode()
        connection.close()
        self.assertEqual(status, 200, (said, text))
        return json.loads(text)

    def call(self, method, message=b""):
        """The fields of a gRPC call's response; a grpc.RpcError where it failed."""
        call = self.channel.unary_unary("/sluice.v1.RateLimit/" + method, lambda data: data, rls.fields)
        return call(message, timeout=20)

    def grpc_check(self, method, cost=1, **flags):
        message = rls.message(1, rls.message(1, "u") + rls.message(2, "u"))
        message += rls.message(1, rls.message(1, "job") + rls.message(2, "1")) + rls.number(2, cost)
        for tag, name in ((4, "peek"), (5, "receipt"), (6, "reserve")):
            message += rls.number(tag, 1) if flags.get(name) else b""
        return dict(self.call(method, message))

    def left(self):
        limits = self.ask_http("GET /v1/ratelimit/status", query="?u=u&job=1")["limits"]
        return {limit["name"]: limit["remaining"] for limit in limits}

    # What is given out over HTTP is followed up by each front end.

    def given(self, cost=1):
        return self.ask_http("POST /v1/ratelimit/check", {"u": "u", "job": "1", "cost": cost,
                                                      "receipt": True, "reserve": True})

    def test_the_tables_have_the_verbs_that_are_tried_here(self):
        self.assertEqual(list(self.clients), ["check", "peek", "status", "batch", "receipt", "reserve",
                                              "release", "renew", "settle", "refund", "throttle"])
        self.assertEqual(list(self.operators), ["reset", "give back", "bans", "unban"])

    def test_what_the_table_leaves_out_is_not_there(self):
        for table in (self.clients, self.operators):
            for verb, (_, resp, rpc) in table.items():
                word = verb.split()[0]
                if not resp:
                    self.assertRegex(self.resp("SLUICE." + word.upper(), "x", "y"), "unknown command")
                if not rpc:
                    with self.assertRaises(grpc.RpcError) as raised:
                        self.call(word.capitalize())
                    self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_check(self):
        http, resp, rpc = self.clients["check"]
        self.assertTrue(self.ask_http(http[0], {"u": "u"})["allowed"])
        self.assertEqual(named(self.resp(resp[0], "*", "u=u"))["allowed"], 1)
        self.assertEqual(self.grpc_check(rpc[0])[1], 1)
        self.assertEqual(self.left()["api"], 97)

    def test_peek(self):
        http, resp, rpc = self.clients["peek"]
        self.ask_http(http[0], {"u": "u", **json.loads("{%s}" % http[1])})
        self.assertEqual(named(self.resp(resp[0], "*", "u=u", resp[1]))["allowed"], 1)
        self.assertEqual(self.grpc_check(rpc[0], **{rpc[1]: True})[1], 1)
        self.assertEqual(self.left()["api"], 100)

    def test_status(self):
        http, resp, _ = self.clients["status"]
        self.assertEqual(self.ask_http(http[0], query="?u=u")["remaining"], 100)
        self.assertEqual(named(self.resp(resp[0], "*", "u=u"))["remaining"], 100)
        self.assertEqual(self.left()["api"], 100)

    def test_batch(self):
        self.assertEqual(len(self.ask_http(self.clients["batch"][0][0], [{"u": "u"}, {"u": "u"}])), 2)

    def test_receipt_and_refund(self):
        http, resp, rpc = self.clients["receipt"]
        receipts = [self.ask_http(http[0], {"u": "u", **json.loads("{%s}" % http[1])})["receipt"],
                    named(self.resp(resp[0], "*", "u=u", resp[1]))["receipt"],
                    self.grpc_check(rpc[0], **{rpc[1]: True})[12].decode()]
        self.assertEqual(self.left()["api"], 97)
        http, resp, rpc = self.clients["refund"]
        self.assertEqual(self.ask_http(http[0], {"receipt": receipts[2]}),
                         {"refunded": [{"name": "api", "units": 1}]})
        self.assertEqual(self.resp(*resp[0].split(), receipts[0]), [["name", "api", "units", 1]])
        refunded = dict(self.call(rpc[0], rls.message(1, receipts[1])))[1]
        self.assertEqual(dict(rls.fields(refunded)), {1: b"api", 2: 1})
        self.assertEqual(self.left()["api"], 100)

    def test_reserve_and_settle(self):
        http, resp, rpc = self.clients["reserve"]
        flags = json.loads("{%s}" % http[1])
        reserved = [self.ask_http(http[0], {"u": "u", "cost": 9, **flags})["reservation"],
                    named(self.resp(resp[0], "*", "u=u", "COST", "9", resp[1]))["reservation"],
                    self.grpc_check(rpc[0], cost=5, **{rpc[1]: True})[13].decode()]
        self.assertEqual(self.left()["api"], 77)
        http, resp, rpc = self.clients["settle"]
        self.assertEqual(self.ask_http(http[0], {"reservation": reserved[2], "cost": 2})["settled"][0],
                         {"name": "api", "charged": 5, "cost": 2})
        self.assertEqual(self.resp(resp[0], reserved[0], "COST", "3"),
                         [["name", "api", "charged", 9, "cost", 3]])
        settled = dict(self.call(rpc[0], rls.message(1, reserved[1]) + rls.number(2, 4)))[1]
        self.assertEqual(dict(rls.fields(settled)), {1: b"api", 2: 9, 3: 4})
        self.assertEqual(self.left()["api"], 91)

    def test_renew_and_release(self):
        holds = [self.given()["holds"][0],
                 named(named(self.resp("SLUICE.CHECK", "jobs", "u=u", "job=1"))["holds"][0])]
        hold = dict(rls.fields(self.grpc_check("Check")[11]))
        holds.append({"name": hold[1].decode(), "id": hold[2].decode()})
        self.assertEqual(self.left()["jobs"], 2)

        def message(hold):
            return rls.message(1, rls.message(1, hold["name"]) + rls.message(2, hold["id"]))

        http, resp, rpc = self.clients["renew"]
        for hold in holds:
            self.assertEqual(self.ask_http(http[0], hold), {"renewed": 1})
            self.assertEqual(self.resp(resp[0], hold["name"], hold["id"]), 1)
            self.assertEqual(dict(self.call(rpc[0], message(hold))), {1: 1})
        http, resp, rpc = self.clients["release"]
        self.assertEqual(self.ask_http(http[0], holds[1]), {"released": 1})
        self.assertEqual(self.resp(resp[0], holds[2]["name"], holds[2]["id"]), 1)
        self.assertEqual(dict(self.call(rpc[0], message(holds[0]))), {1: 1})
        self.assertEqual(self.left()["jobs"], 5)

    def test_throttle(self):
        self.assertEqual(self.resp(self.clients["throttle"][1][0], "k", "4", "1", "1"),
                         [0, 5, 4, -1, 1])

    def test_operators(self):
        http, resp, _ = self.operators["give back"]
        charge = {"u": "u", "cost": 5}
        self.ask_http("POST /v1/ratelimit/check", charge)
        self.assertEqual(self.ask_http(http[0], {"u": "u", "units": 2}, admin=True)["keys"], 1)
        self.assertEqual(self.resp(resp[0], "api", "u=u", "COST", "2"), 1)
        self.assertEqual(self.left()["api"], 99)
        http, resp, _ = self.operators["reset"]
        self.assertEqual(self.ask_http(http[0], {"u": "u"}, admin=True)["keys"], 1)
        self.assertEqual(self.left()["api"], 100)
        self.ask_http("POST /v1/ratelimit/check", charge)
        self.assertEqual(self.resp(resp[0], "*", "u=u"), 1)
        self.assertEqual(self.left()["api"], 100)
        for _ in range(2):
            self.resp("SLUICE.CHECK", "login", "u=u", "login=1")
        bans = self.ask_http(self.operators["bans"][0][0], admin=True)["bans"]
        self.assertEqual([ban["rule"] for ban in bans], ["login"])
        self.assertEqual(self.ask_http(self.operators["unban"][0][0], {"u": "u", "login": "1"}, admin=True),
                         {"lifted": 1})


if __name__ == "__main__":
    DaemonCase.sluice = os.path.abspath(sys.argv.pop(1))
    unittest.main()
