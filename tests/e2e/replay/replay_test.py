#!/usr/bin/env python3
"""`sluice replay` and `sluice suggest` as people run them. Usage: replay_test.py SLUICE"""
import gzip
import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

SLUICE = os.path.abspath(sys.argv.pop(1))
RULES = """
rules:
  - {id: per_ip, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 5, window: 1m}
"""


def line(second, host):
    return (f'192.0.2.{host} - - [17/Dec/2025:09:{second // 60:02}:{second % 60:02} +0000] '
            f'"GET /p?x HTTP/1.1" 200 5 "-" "agent"\n')


# Ten clients ask once in six seconds for three minutes; one asks every second of the second.
LOG = "".join(line(s, s % 60 // 6) for s in range(0, 180, 6)) + "".join(line(s, 77) for s in range(60, 120))


class ReplayTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)
        self.write("rules.yaml", RULES)
        self.write("access.log", LOG)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def run_sluice(self, *words, stdin=None, code=0, columns=None):
        environment = {**os.environ, "COLUMNS": columns or ""}
        done = subprocess.run([SLUICE, *words], cwd=self.folder, input=stdin, capture_output=True, timeout=60,
                              env=environment)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout.decode(), done.stderr.decode()

    def test_reports_who_would_have_been_denied(self):
        out, err = self.run_sluice("replay", "--rules", "rules.yaml", "access.log")
        self.assertIn("would have denied 55 of 90 requests (61.1 %), of 1 of 11 keys (9.1 %)", out)
        self.assertIn("192.0.2.77", out)
        self.assertEqual(err, "")  # No bar where there is no terminal.

    def test_reads_gzip_standard_input_and_several_logs_alike(self):
        with gzip.open(self.folder / "access.log.gz", "wt", encoding="utf-8") as file:
            file.write(LOG)
        plain = json.loads(self.run_sluice("replay", "--json", "--rules", "rules.yaml", "access.log")[0])
        packed = json.loads(self.run_sluice("replay", "--json", "--rules", "rules.yaml", "access.log.gz")[0])
        piped = json.loads(self.run_sluice("replay", "--json", "--rules", "rules.yaml", "-",
                                           stdin=(self.folder / "access.log.gz").read_bytes())[0])
        self.assertEqual(plain["rules"], packed["rules"])
        self.assertEqual(plain["rules"], piped["rules"])
        both = json.loads(self.run_sluice("replay", "--json", "--rules", "rules.yaml",
                                          "access.log", "access.log.gz")[0])
        self.assertEqual(both["requests"], 180)

    def test_takes_rules_from_several_files_and_from_a_configuration(self):
        self.write("more.yaml", "rules:\n  - {id: all, key_pattern: all, algorithm: gcra, rate: 1, window: 1h}\n")
        self.write("sluice.yaml", "listeners:\n  - address: 127.0.0.1:0\n" + RULES)
        out, _ = self.run_sluice("replay", "--json", "--rules", "sluice.yaml", "--rules", "more.yaml", "access.log")
        self.assertEqual([rule["name"] for rule in json.loads(out)["rules"]], ["per_ip", "all"])

    def test_sorts_files_that_are_out_of_order_and_refuses_pipes(self):
        lines = "".join(line(s, s % 7) for s in range(0, 3000, 2)).splitlines(keepends=True)
        self.write("sorted.log", "".join(lines))
        self.write("newest_first.log", "".join(reversed(lines)))
        self.write("rotated.log", "".join(lines[1000:] + lines[500:1000] + lines[:500]))
        right = json.loads(self.run_sluice("replay", "--json", "--rules", "rules.yaml", "sorted.log")[0])
        for name in ("newest_first.log", "rotated.log"):
            got = json.loads(self.run_sluice("replay", "--json", "--rules", "rules.yaml", name)[0])
            self.assertEqual(got["rules"], right["rules"], name)
            self.assertTrue(got["logs"][0]["sorted"])
            self.assertEqual(got["warnings"], [])
            piped = (self.folder / name).read_bytes()
            for words in (["replay", "--rules", "rules.yaml", "-"], ["suggest", "-"]):
                out, err = self.run_sluice(*words, stdin=piped, code=2)
                self.assertEqual(out, "")
                self.assertIn("--sort", err)
            sorted_pipe = json.loads(self.run_sluice("replay", "--json", "--sort", "--rules", "rules.yaml", "-",
                                                     stdin=piped)[0])
            self.assertEqual(sorted_pipe["rules"], right["rules"])
            decisions = self.run_sluice("replay", "--decisions", "--rules", "rules.yaml", name)[0]
            self.assertEqual(decisions, self.run_sluice("replay", "--decisions", "--rules", "rules.yaml",
                                                        "sorted.log")[0])
            suggested = json.loads(self.run_sluice("suggest", "--json", name)[0])
            self.assertEqual(suggested["suggestions"],
                             json.loads(self.run_sluice("suggest", "--json", "sorted.log")[0])["suggestions"])
            self.assertEqual((suggested["bad_lines"], suggested["warnings"]), ([], []))

    def test_names_the_column_and_the_unit_of_the_time(self):
        self.write("trace.jsonl", "".join(f'{{"at": {100 * i}, "ip": "192.0.2.1"}}\n' for i in range(1000)))
        for words, denied in ((["--time", "at:ms"], 990), (["--map", "time=at:ms"], 990), (["--time", "at"], 0)):
            got = json.loads(self.run_sluice("replay", "--json", "--rules", "rules.yaml", *words, "trace.jsonl")[0])
            self.assertEqual(got["denied"], denied, words)
            self.assertEqual(len(got["warnings"]), 1 if words[1] == "at" else 0, words)
        _, err = self.run_sluice("replay", "--rules", "rules.yaml", "--time", "absent", "trace.jsonl", code=2)
        self.assertIn("absent", err)
        _, err = self.run_sluice("replay", "--rules", "rules.yaml", "--time", "at", "access.log", code=2)
        self.assertIn("column", err)

    def test_reads_what_a_log_format_describes(self):
        self.write("own.log", "".join(f"{i}|192.0.2.1|GET /x\n" for i in range(1765962000, 1765962030)))
        got = json.loads(self.run_sluice("replay", "--json", "--rules", "rules.yaml", "--log-format",
                                         "$msec|$remote_addr|$request", "own.log")[0])
        self.assertEqual((got["requests"], got["denied"]), (30, 25))
        _, err = self.run_sluice("replay", "--rules", "rules.yaml", "--log-format", "$a$b", "own.log", code=2)
        self.assertIn("--log-format", err)

    def test_no_line_is_wider_than_the_terminal(self):
        for columns, width in ((None, 80), ("60", 60), ("118", 118), ("nonsense", 80)):
            for words in (["replay", "--compare", "--rules", "rules.yaml"], ["suggest"]):
                out, _ = self.run_sluice(*words, "access.log", columns=columns)
                self.assertLessEqual(max(len(text) for text in out.splitlines()), width, out)
        ours, theirs = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 64, 0, 0))
        done = subprocess.run([SLUICE, "replay", "--compare", "--rules", "rules.yaml", "access.log"], cwd=self.folder,
                              stdout=theirs, stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:  # EIO: the other end is closed.
            pass
        os.close(ours)
        self.assertEqual(done.returncode, 0)
        longest = max(len(text) for text in shown.decode().splitlines())
        self.assertTrue(50 < longest <= 64, longest)

    def test_shows_no_byte_of_a_client_that_a_terminal_obeys(self):
        hostile = "\x1b[31mRED\x1b[0m\x1b]0;title\x07\u009b31m\u202eevil " + "é" * 40
        self.write("hostile.log", "".join(
            line(s, 1).replace('"agent"', f'"{hostile}"') for s in range(60)))
        self.write("agents.yaml", RULES.replace("ip:{ip}", "a:{user_agent}"))
        self.run_sluice("replay", "--rules", "agents.yaml", "--html", "page.html", "hostile.log")
        shown = [(self.folder / "page.html").read_bytes()]
        for words in (["replay", "--rules", "agents.yaml"], ["suggest", "--key", "user_agent"]):
            shown.append(self.run_sluice(*words, "hostile.log")[0].encode())
        for text in shown:
            decoded = text.decode()  # Valid UTF-8.
            self.assertIn("RED", decoded)
            for char in decoded:
                self.assertTrue(char == "\n" or char >= " " and not "\x7f" <= char <= "\x9f" and char != "\u202e",
                                repr(char))

    def test_writes_a_page(self):
        self.run_sluice("replay", "--rules", "rules.yaml", "--compare", "--html", "page.html", "access.log")
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertIn("<!doctype html>", page)
        self.assertIn("192.0.2.77", page)
        self.assertIn("The rule would have denied 55 of 90 requests (61.1 %), from 1 of 11 keys", page)
        self.assertIn("rules.yaml", page)
        self.assertIn("2xx 100.0 %", page)  # What the denied requests were.
        self.assertNotIn("<script", page)
        _, err = self.run_sluice("replay", "--rules", "rules.yaml", "--html", "no/such/page.html", "access.log", code=2)
        self.assertIn("no/such/page.html", err)

    def test_prints_decisions_on_request(self):
        out, err = self.run_sluice("replay", "--rules", "rules.yaml", "--decisions", "access.log")
        decisions = [json.loads(text) for text in out.splitlines()]
        self.assertEqual(len(decisions), 90)
        self.assertEqual(sum(not decision["allowed"] for decision in decisions), 55)
        self.assertIn("would have denied 55", err)

    def test_events_stay_what_they_were(self):
        self.write("events.jsonl", '{"t_ms": 60000, "ip": "192.0.2.1"}\n')
        out, _ = self.run_sluice("replay", "--rules", "rules.yaml", "--format", "events", "--decisions", "events.jsonl")
        self.assertEqual(json.loads(out)["t_ns"], 60_000_000_000)
        _, err = self.run_sluice("replay", "--rules", "rules.yaml", "events.jsonl", code=2)
        self.assertIn("--format events", err)

    def test_says_what_is_wrong_and_ends_with_a_code(self):
        self.write("bad.yaml", "rules:\n  - {id: x}\n")
        _, err = self.run_sluice("replay", "--rules", "bad.yaml", "access.log", code=1)
        self.assertIn("bad.yaml:2", err)
        for words in (["absent.log"], ["--map", "user_id", "access.log"], ["--reorder", "2h", "access.log"],
                      ["--time-zone", "Mars", "access.log"], []):
            self.run_sluice("replay", "--rules", "rules.yaml", *words, code=2)

    def test_a_suggestion_can_be_pasted_and_replayed(self):
        out, _ = self.run_sluice("suggest", "--window", "1m", "access.log")
        self.assertIn("11 keys", out)
        self.assertIn("A limit of 4 would affect 1 key, which sent 60 requests", " ".join(out.split()))
        self.write("pasted.yaml", out[out.index("# At most"):])
        report = json.loads(self.run_sluice("replay", "--json", "--rules", "pasted.yaml", "access.log")[0])
        self.assertEqual(report["rules"][0]["mode"], "shadow")
        self.assertEqual(report["rules"][0]["denied"], 0)
        asked = json.loads(self.run_sluice("suggest", "--json", "--key", "ip,endpoint", "--window", "1m",
                                           "--window", "10s", "access.log")[0])
        self.assertEqual(asked["key"], ["ip", "endpoint"])
        self.assertEqual([s["highest_peak"] for s in asked["suggestions"]], [60, 10])

    def test_shows_a_bar_on_a_terminal_only_and_wipes_it_off(self):
        ours, theirs = pty.openpty()
        done = subprocess.run([SLUICE, "suggest", "access.log"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=theirs, timeout=60, check=False)
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:  # EIO: the other end is closed.
            pass
        os.close(ours)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"lines", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)


if __name__ == "__main__":
    unittest.main()
