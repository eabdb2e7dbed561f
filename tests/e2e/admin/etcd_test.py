#!/usr/bin/env python3
"""Rules in a real etcd: followed by every node, written through, and never the outage of those that
run. Usage: etcd_test.py SLUICE"""
import json
import signal
import ssl
import subprocess
import threading
import unittest

from admin_client import CONFIG, QUOTA, Case, Load, until
from etcd_server import Etcd, Wire


class EtcdTest(Case):
    def setUp(self):
        super().setUp()
        self.etcd = Etcd(self)

    def follower(self, name="follower", **options):
        return self.start(self.node(name, self.etcd.config(CONFIG, **options)))

    def sees(self, daemon, limits):
        until(lambda: daemon.limits() == limits)

    def up(self, daemon, value=1):
        until(lambda: daemon.metric("sluice_etcd_up") == value)

    def test_every_node_follows(self):
        self.etcd.put("a", QUOTA)
        nodes = [self.follower("one"), self.follower("two")]
        for node in nodes:
            self.assertEqual(node.limits(), {"a": 10})  # From the first request on.
            self.up(node)
        for limit in (3, 4, 5):
            self.etcd.put("a", {**QUOTA, "limit": limit})
            for node in nodes:
                self.sees(node, {"a": limit})
        self.etcd.put("b", QUOTA)
        for node in nodes:
            self.sees(node, {"a": 5, "b": 10})
        self.etcd.delete("a")
        for node in nodes:
            self.sees(node, {"b": 10})

    def test_a_put_writes_through(self):
        one, two = self.follower("one"), self.follower("two")
        status, answer, headers = one.ask_admin("PUT", "config/a", QUOTA)
        self.assertEqual(status, 200, answer)
        self.assertEqual((answer["scope"], answer["source"]), ("fleet", "etcd"))
        self.assertEqual(one.limits(), {"a": 10})  # Here at once.
        self.sees(two, {"a": 10})
        self.assertEqual(self.etcd.get("a"), QUOTA)
        status, answer, again = two.ask_admin("GET", "config/a")
        self.assertEqual((status, answer["scope"]), (200, "fleet"))
        self.assertEqual(again["ETag"], headers["ETag"])
        # A change on the ETag that stands, made at the other node.
        status, answer, _ = two.ask_admin("PUT", "config/a", {**QUOTA, "limit": 11},
                                     If_Match=headers["ETag"])
        self.assertEqual(status, 200, answer)
        self.sees(one, {"a": 11})
        self.assertEqual(one.ask_admin("DELETE", "config/a", If_Match=headers["ETag"])[0], 412)
        answer = one.ask_admin("DELETE", "config/a")[1]
        self.assertEqual(answer["scope"], "fleet")
        self.assertEqual(one.limits(), {})
        self.sees(two, {})
        self.assertIsNone(self.etcd.get("a"))
        self.assertEqual(one.ask_admin("DELETE", "config/a")[0], 404)

    def test_a_bad_rule_is_not_written(self):
        node = self.follower()
        node.put("a")
        status, problem, _ = node.ask_admin("PUT", "config/a",
                                       '{"key_pattern": "user:{user_id}",\n "algorithm": "gcrb"}')
        self.assertEqual(status, 422)
        self.assertEqual(problem["errors"][0]["line"], 2, problem)
        self.assertNotIn("source", problem["errors"][0])
        self.assertEqual(node.ask_admin("PUT", "config/a", "{no")[0], 400)
        self.assertEqual(self.etcd.get("a"), QUOTA)

    def test_of_changes_at_once_none_is_lost_unseen(self):
        nodes = [self.follower("one"), self.follower("two")]
        nodes[0].put("a", limit=0)
        self.sees(nodes[1], {"a": 0})
        done = [[], []]

        def count_up(node, mine):
            # What was read, one more, only if it still stands: as a counter in a file.
            while len(mine) < 10:
                _, answer, headers = node.ask_admin("GET", "config/a")
                body = {**QUOTA, "limit": answer["rule"]["limit"] + 1}
                status = node.ask_admin("PUT", "config/a", body, If_Match=headers["ETag"])[0]
                if status == 200:
                    mine.append(body["limit"])
                else:
                    self.assertIn(status, (409, 412))

        threads = [threading.Thread(target=count_up, args=pair) for pair in zip(nodes, done)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(done[0] + done[1]), list(range(1, 21)))
        for node in nodes:
            self.sees(node, {"a": 20})

    def test_etcd_away_disturbs_nobody(self):
        self.etcd.put("a", {**QUOTA, "limit": 0})
        node = self.follower()
        load = Load(node, "busy")
        self.addCleanup(load.end)
        load.settle()
        self.etcd.kill()
        self.up(node, 0)
        load.settle()
        status, problem, _ = node.ask_admin("PUT", "config/b", QUOTA)
        self.assertEqual((status, problem["code"]), (503, "not_kept"))
        self.assertEqual(node.limits(), {"a": 0})
        # A start without etcd has the rules of before.
        load.end()
        node.stop(signal.SIGKILL)
        node = self.start(node.root)
        self.assertEqual(node.limits(), {"a": 0})
        self.etcd.start()
        self.up(node)
        self.etcd.put("a", {**QUOTA, "limit": 2})
        self.sees(node, {"a": 2})
        self.assertEqual(node.ask_admin("PUT", "config/b", QUOTA)[0], 200)
        self.assertEqual(node.limits(), {"a": 2, "b": 10})

    def test_what_was_compacted_meanwhile_is_not_missed(self):
        wire = Wire(self, self.etcd.port)
        self.etcd.put("a", {**QUOTA, "limit": 0})
        self.etcd.put("b", QUOTA)
        node = self.follower(endpoint="http://127.0.0.1:%d" % wire.port)
        load = Load(node, "busy")
        self.addCleanup(load.end)
        self.up(node)
        wire.cut()
        self.up(node, 0)
        for limit in range(1, 6):
            self.etcd.put("b", {**QUOTA, "limit": limit})
        self.etcd.delete("b")
        self.etcd.put("c", QUOTA)
        self.etcd.compact()
        load.settle()
        self.assertEqual(node.limits(), {"a": 0, "b": 10})
        wire.mend()
        self.sees(node, {"a": 0, "c": 10})
        load.settle()
        self.assertEqual(load.allowed, 0)

    def test_a_restored_etcd_is_followed_without_a_gap(self):
        self.etcd.put("a", {**QUOTA, "limit": 0})
        self.etcd.put("b", QUOTA)
        self.etcd.kill()
        backup = self.etcd.backup()
        self.etcd.start()
        for limit in range(20, 30):
            self.etcd.put("b", {**QUOTA, "limit": limit})
        node = self.follower()
        load = Load(node, "busy")
        self.addCleanup(load.end)
        self.assertEqual(node.limits(), {"a": 0, "b": 29})
        self.etcd.kill()
        self.up(node, 0)
        self.etcd.restore(backup)
        self.etcd.start()
        self.sees(node, {"a": 0, "b": 10})
        self.etcd.put("b", {**QUOTA, "limit": 4})
        self.sees(node, {"a": 0, "b": 4})
        load.settle()
        self.assertEqual(load.allowed, 0)

    def test_an_etcd_that_lost_its_data_lifts_no_limit(self):
        self.etcd.put("a", {**QUOTA, "limit": 0})
        node = self.follower()
        load = Load(node, "busy")
        self.addCleanup(load.end)
        self.etcd.kill()
        self.up(node, 0)
        self.etcd.restore()
        self.etcd.start()
        until(lambda: "the previous rules stay active" in node.log())
        load.settle()
        self.assertEqual(node.limits(), {"a": 0})
        load.end()
        node.stop(signal.SIGKILL)  # Nor does a restart.
        node = self.start(node.root)
        self.assertEqual(node.limits(), {"a": 0})
        self.assertEqual(load.allowed, 0)
        node.put("b", limit=7)  # What is written there from now on counts.
        self.sees(node, {"b": 7})
        self.etcd.put("c", QUOTA)
        self.sees(node, {"b": 7, "c": 10})

    def test_what_does_not_load_leaves_what_runs(self):
        node = self.follower()
        self.etcd.put("a", QUOTA)
        self.sees(node, {"a": 10})
        self.etcd.put("a", '{"algorithm": "gcrb"}')
        until(lambda: "etcd:/ratelimit/rules/a" in node.log())
        self.etcd.put("no/id", QUOTA)
        until(lambda: "etcd:/ratelimit/rules/no/id" in node.log())
        self.assertEqual(node.limits(), {"a": 10})
        # Not even a start is kept from them.
        node.stop(signal.SIGKILL)
        node = self.start(node.root)
        self.assertEqual(node.limits(), {"a": 10})
        self.etcd.delete("no/id")
        self.etcd.put("a", {**QUOTA, "limit": 9})
        self.sees(node, {"a": 9})

    def test_the_api_is_before_etcd_and_etcd_before_files(self):
        root = self.node("follower", self.etcd.config(CONFIG))
        (root / "rules/a.yaml").write_text(json.dumps({"rules": [
            {"id": name, **QUOTA, "limit": 1} for name in ("a", "b", "c")]}))
        (root / "state/rules").mkdir(parents=True)
        (root / "state/rules/c.json").write_text(json.dumps(
            {"rules": [{"id": "c", **QUOTA, "limit": 3}]}))
        for name in ("b", "c"):
            self.etcd.put(name, {**QUOTA, "limit": 2})
        node = self.start(root)
        self.assertEqual(node.limits(), {"a": 1, "b": 2, "c": 3})
        self.assertEqual([node.ask_admin("GET", "config/" + rule)[1]["source"] for rule in "abc"],
                         ["rules/a.yaml", "etcd", "api"])
        self.assertEqual(node.ask_admin("DELETE", "config/c")[1]["in_force"], "etcd")
        self.assertEqual(node.limits(), {"a": 1, "b": 2, "c": 2})
        self.etcd.delete("b")
        self.sees(node, {"a": 1, "b": 1, "c": 2})

    def test_it_logs_in(self):
        for path, body in (("user/add", {"name": "root", "password": "secret"}),
                           ("role/add", {"name": "root"}),
                           ("user/grant", {"user": "root", "role": "root"}), ("enable", {})):
            self.etcd.ask("/v3/auth/" + path, **body)
        root = self.node("follower", self.etcd.config(
            CONFIG, more=", auth: {username: root, password_file: password}"))
        (root / "password").write_text("wrong\n")
        node = self.start(root)
        until(lambda: "authentication failed" in node.log())
        (root / "password").write_text("secret\n")
        self.up(node)
        self.assertEqual(node.ask_admin("PUT", "config/a", QUOTA)[0], 200)
        self.etcd.token = self.etcd.ask("/v3/auth/authenticate", name="root",
                                        password="secret")["token"]
        self.etcd.put("a", {**QUOTA, "limit": 6})
        self.sees(node, {"a": 6})


class EtcdTlsTest(Case):
    def test_it_speaks_tls_and_shows_its_certificate(self):
        folder = self.root
        config = folder / "ca.cnf"
        config.write_text("[req]\ndistinguished_name=dn\n[dn]\n"
                          "[ca]\nbasicConstraints=critical,CA:true\n"
                          "[leaf]\nsubjectAltName=IP:127.0.0.1,DNS:localhost\n")

        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=ca", "-days", "2",
                "-config", "ca.cnf", "-extensions", "ca")
        for name in ("server", "client"):
            openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name,
                    "-config", "ca.cnf")
            openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                    "-CAcreateserial", "-out", name + ".crt", "-days", "2",
                    "-extfile", "ca.cnf", "-extensions", "leaf")
        context = ssl.create_default_context(cafile=folder / "ca.crt")
        context.load_cert_chain(folder / "client.crt", folder / "client.key")
        etcd = Etcd(self, "--cert-file", str(folder / "server.crt"), "--key-file",
                    str(folder / "server.key"), "--client-cert-auth", "--trusted-ca-file",
                    str(folder / "ca.crt"), secure=context)
        etcd.put("a", QUOTA)
        files = {name: folder / name for name in ("ca.crt", "client.crt", "client.key")}
        node = self.start(self.node("follower", etcd.config(
            CONFIG, more=", tls: {ca: %s, cert: %s, key: %s}" % tuple(files.values()))))
        self.assertEqual(node.limits(), {"a": 10})
        self.assertEqual(node.ask_admin("PUT", "config/a", {**QUOTA, "limit": 3})[0], 200)
        self.assertEqual(etcd.get("a")["limit"], 3)
        # Without one of its own it is not let in.
        stranger = self.start(self.node("stranger", etcd.config(
            CONFIG, more=", tls: {ca: %s}" % files["ca.crt"])))
        until(lambda: "lost connection to etcd" in stranger.log())
        self.assertEqual(stranger.limits(), {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
