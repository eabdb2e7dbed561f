#!/usr/bin/env python3
"""Who is limited: /v1/ratelimit/top and `sluice top` against the real daemon, on a terminal and into a pipe.
Usage: top_test.py SLUICE"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from admin_client import SLUICE, Case, until


class Screen:
    """`sluice top` on a terminal of its own."""

    def __init__(self, daemon, *words, rows=24, columns=80):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen([SLUICE, "top", "--server", "http://" + daemon.admin, *words],
                                        stdin=slave, stdout=slave, stderr=slave)
        self.text = ""

    def until(self, what, limit=20.0):
        """Reads until the newest picture has `what`."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                self.text += os.read(self.master, 65536).decode()
            if re.search(what, self.picture()):
                return
        raise AssertionError(f"no {what!r} in:\n{self.picture()}")

    def picture(self):
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.text.split("\x1b[H")[-1]).replace("\r", "")

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """The exit code; the terminal is as it was."""
        code = self.process.wait(timeout=20)
        while select.select([self.master], [], [], 0)[0]:
            self.text += os.read(self.master, 65536).decode()
        assert self.text.endswith("\x1b[?7h\x1b[?25h\x1b[?1049l"), repr(self.text[-60:])
        assert termios.tcgetattr(self.slave) == self.before
        os.close(self.slave)
        os.close(self.master)
        return code


class TopTest(Case):
    def loaded(self):
        daemon = self.start()
        daemon.put("a", limit=2)
        daemon.put("b", limit=100, key_pattern="ip:{ip}")
        for _ in range(5):
            daemon.check(user_id="u_1", ip="192.0.2.1")
        daemon.check(user_id="u_2", ip="2001:db8::1")
        daemon.check(user_id="u_2", ip="192.0.2.1", peek=True)
        return daemon

    def top(self, daemon, query=""):
        status, answer, _ = daemon.ask_admin("GET", "top" + query)
        self.assertEqual(status, 200, answer)
        return {rule["rule"]: rule for rule in answer["rules"]}, answer

    def test_each_decision_counts_once_for_its_key_and_peeks_do_not(self):
        daemon = self.loaded()
        rules, answer = self.top(daemon)
        self.assertEqual((answer["kind"], answer["window"]), ("all", "minute"))
        self.assertEqual(rules["a"]["totals"], {"allowed": 3, "denied": 3, "banned": 0, "shadow": 0})
        self.assertEqual(rules["a"]["total"], 6)
        first, second = rules["a"]["keys"]
        self.assertEqual(first["attributes"], {"user_id": "u_1"})
        self.assertEqual([first[name] for name in ("count", "at_least", "at_most", "allowed", "denied")], [5, 5, 5, 2, 3])
        self.assertEqual((first["key"], first["share"]), ("user_id=u_1", 0.8333))
        self.assertEqual((second["key"], second["count"]), ("user_id=u_2", 1))
        self.assertLessEqual(abs(first["last"] - answer["now"]), 60)
        self.assertEqual(rules["b"]["keys"][0]["key"], "ip=192.0.2.1")

        denied, _ = self.top(daemon, "?kind=denied&window=start&n=1")
        self.assertEqual(list(denied), ["a"])
        self.assertEqual([key["count"] for key in denied["a"]["keys"]], [3])
        self.assertEqual(list(self.top(daemon, "?rule=b")[0]), ["b"])

    def test_bans_and_shadow_denials_are_kinds_of_their_own(self):
        daemon = self.start()
        daemon.put("a", limit=1, ban={"after": 1, "within": "1m", "for": "1h"})
        daemon.put("s", limit=1, mode="shadow")
        for _ in range(4):
            daemon.check(user_id="u_1")
        totals = {rule: of["totals"] for rule, of in self.top(daemon)[0].items()}
        self.assertEqual(totals["a"], {"allowed": 1, "denied": 1, "banned": 2, "shadow": 0})
        self.assertEqual(totals["s"]["shadow"], self.top(daemon, "?kind=shadow")[0]["s"]["total"])

    def test_a_key_can_be_sent_back_as_it_is(self):
        daemon = self.loaded()
        key = self.top(daemon, "?rule=a")[0]["a"]["keys"][0]
        body = {"rule": "a", "attributes": key["attributes"]}
        self.assertEqual(daemon.ask_admin("POST", "reset", body)[1]["keys"], 1)
        self.assertEqual(daemon.check(**key["attributes"])[0], 200)

    def test_a_rule_that_is_deleted_is_gone(self):
        daemon = self.loaded()
        daemon.delete("a")
        until(lambda: list(self.top(daemon)[0]) == ["b"])

    def test_wrong_questions_are_refused(self):
        daemon = self.start()
        for query in ("?n=0", "?n=513", "?n=x", "?kind=x", "?window=hour", "?user_id=u"):
            self.assertEqual(daemon.ask_admin("GET", "top" + query)[0], 400, query)

    def test_what_a_client_chose_cannot_command_a_terminal(self):
        daemon = self.start()
        daemon.put("a", limit=2)
        daemon.check(user_id="\x1b]0;owned\x07\n")
        printed = daemon.command("top").stdout
        self.assertNotIn("\x1b", printed)
        self.assertIn("\\x1b]0;owned", printed)

    def test_into_a_pipe_it_prints_one_picture(self):
        daemon = self.loaded()
        run = daemon.command("top", "--kind", "denied")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"keys by decisions that are denied in the last \d+ s, 1 rule, this node")
        self.assertRegex(run.stdout, r"(?m)^ 100% +\S+ +2 +3 +- +- +\S+ a +user_id=u_1$")
        answer = json.loads(daemon.command("top", "--json").stdout)
        self.assertEqual(answer["rules"][0]["rule"], "a")
        self.assertEqual(daemon.command("top", "--rule", "none").stdout.splitlines()[1], "nothing was decided")
        self.assertEqual(daemon.command("top", "-n", "200").returncode, 2)

    def test_on_a_terminal_it_is_live_and_its_keys_act(self):
        daemon = self.loaded()
        screen = Screen(daemon)
        screen.until(r"a +user_id=u_1[^$]*q quit")
        self.assertEqual(len(screen.picture().splitlines()), 24)
        self.assertTrue(all(len(line) <= 80 for line in screen.picture().splitlines()), screen.picture())
        daemon.check(user_id="newcomer")
        screen.until("user_id=newcomer")
        screen.press("3")
        screen.until("decisions that are denied")
        screen.press("/u_1\n")
        screen.until(r"filter \(u_1\)")
        screen.press("r")
        screen.until(r"reset user_id=u_1 of a\? y/n")
        screen.press("y")
        screen.until("1 key reset")
        self.assertEqual(daemon.check(user_id="u_1")[0], 200)
        screen.press("?")
        screen.until("Press any key")
        screen.press("x\x1b")
        screen.until("/ filter  r reset")
        screen.press("q")
        self.assertEqual(screen.end(), 0)

    def test_signals_leave_the_terminal_as_it_was(self):
        daemon = self.loaded()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            screen = Screen(daemon, rows=50, columns=200)
            screen.until(r"a +user_id=u_1")
            screen.process.send_signal(number)
            self.assertEqual(screen.end(), -number)

    def test_a_daemon_that_ends_is_said_and_the_picture_stays(self):
        daemon = self.loaded()
        screen = Screen(daemon)
        screen.until(r"a +user_id=u_1")
        daemon.stop()
        screen.until("(?i)refused|cannot|connect")
        self.assertIn("user_id=u_1", screen.picture())
        screen.press("q")
        self.assertEqual(screen.end(), 0)


if __name__ == "__main__":
    unittest.main()
