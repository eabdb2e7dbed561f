#!/usr/bin/env python3
"""The console: its files over HTTP, and its pages in a real Chromium over a live daemon.
Usage: console_test.py SLUICE CONSOLE_FOLDER     without Chromium its part is skipped, and said
"""
import http.client
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "admin"))
FILES = pathlib.Path(sys.argv.pop(2))

import console_browser  # noqa: E402
from admin_client import Case  # noqa: E402  (takes its own argument)

TOKEN = "0123456789abcdef-token"
CONFIG = """
listeners:
  - {address: "127.0.0.1:0", role: admin}
  - {address: "127.0.0.1:0", role: admin, console: true, auth: {token: %s}}
  - address: 127.0.0.1:0
table: {keys: 50000, path: %%s}
loops: 1
rule_sources:
  - files: [rules/*.yaml]
  - api: {dir: state}
""" % TOKEN
RULES = [
    {"id": "api_rate", "key_pattern": "user:{user_id}", "algorithm": "token_bucket", "rate": 10, "burst": 20, "window": "1h"},
    {"id": "login", "key_pattern": "client:{client}", "algorithm": "fixed_window", "limit": 1, "window": "3650d",
     "match": {"endpoint": "/login"}, "ban": {"after": 1, "within": "1m", "for": "1h"}},
    {"id": "trial", "key_pattern": "tenant:{tenant}", "algorithm": "fixed_window", "limit": 1, "window": "3650d", "mode": "shadow"},
]
PAGES = ["#/overview", "#/keys", "#/keys?user_id=u_1", "#/why", "#/why?user_id=u_1&endpoint=/login&client=c_7",
         "#/rules", "#/rules/api_rate", "#/rules/+", "#/lab", "#/fleet"]
HOSTILE = ["<img src=x onerror=alert(1)>", "a\u202eb\u2066c\u200f\u0007", "k" * 200, "\"'`&lt;${1}", "javascript:alert(1)"]


class ConsoleCase(Case):
    def setUp(self):
        super().setUp()
        self.served = self.node("served", CONFIG)
        (self.served / "rules/a.yaml").write_text(json.dumps({"rules": RULES}))
        self.daemon = self.start(self.served)
        self.plain, self.address = self.daemon.admin, self.daemon.guarded[1]

    def check(self, **body):
        return self.daemon.ask(self.daemon.address, "POST", "/v1/ratelimit/check", body)[1]

    def batch(self, bodies):
        return self.daemon.ask(self.daemon.address, "POST", "/v1/ratelimit/batch", bodies)[1]

    def admin(self, method, path, body=None):
        status, answer, _ = self.daemon.ask(self.address, method, "/v1/ratelimit/" + path, body,
                                            Authorization="Bearer " + TOKEN)
        self.assertEqual(status, 200, answer)
        return answer


class FilesTest(ConsoleCase):
    def get(self, path, method="GET", address=None, **fields):
        connection = http.client.HTTPConnection(address or self.address, timeout=20)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, body, response.headers

    def test_every_file_is_served_without_a_token_and_as_what_it_is(self):
        types = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
        for file in FILES.iterdir():
            with self.subTest(file=file.name):
                status, body, headers = self.get("/console/" + file.name)
                self.assertEqual((status, body), (200, file.read_bytes()))
                self.assertEqual(headers["Content-Type"].split(";")[0], types[file.suffix])
                self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(headers["Referrer-Policy"], "no-referrer")
                policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
                self.assertEqual(policy["default-src"], "'none'")
                self.assertEqual(policy["frame-ancestors"], "'none'")
                self.assertNotIn("unsafe", headers["Content-Security-Policy"])
                again = self.get("/console/" + file.name, If_None_Match=headers["ETag"])
                self.assertEqual((again[0], again[1], again[2]["ETag"]), (304, b"", headers["ETag"]))
                head = self.get("/console/" + file.name, "HEAD")
                self.assertEqual((head[0], head[1], head[2]["Content-Length"]), (200, b"", headers["Content-Length"]))

    def test_the_folder_is_the_page(self):
        self.assertEqual(self.get("/console/")[1], (FILES / "index.html").read_bytes())
        status, _, headers = self.get("/console")
        self.assertEqual((status, headers["Location"]), (308, "console/"))

    def test_nothing_else_is_open(self):
        for path in ("/console/no.js", "/console/..%2fmetrics", "/console/../metrics", "/console//index.html"):
            self.assertIn(self.get(path)[0], (401, 404), path)
        self.assertEqual(self.get("/consolex")[0], 401)
        self.assertEqual(self.get("/metrics")[0], 401)
        self.assertEqual(self.get("/console/", "POST")[0], 405)

    def test_a_listener_that_does_not_say_so_has_no_console(self):
        self.assertEqual(self.get("/console/", address=self.plain)[0], 404)
        self.assertEqual(self.get("/console/", address=self.daemon.address)[0], 404)

    def test_no_file_has_what_the_policy_forbids(self):
        page = (FILES / "index.html").read_text()
        self.assertIsNone(re.search(r"\son\w+=|style=|<style|<script>|javascript:|https?:", page))
        for file in FILES.glob("*.js"):
            text = file.read_text()
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
                         ".style", "document.cookie", "localStorage"):
                self.assertNotIn(word, text, file.name)


@unittest.skipIf(console_browser.missing(), console_browser.missing())
class BrowserTest(ConsoleCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = console_browser.Browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        super().setUp()
        self.browser.open(self.address, "icon.svg")
        self.browser.run("sessionStorage.setItem('sluice-token', arguments[0])", TOKEN)
        self.browser.complaints()

    def show(self, page):
        self.browser.open(self.address, page)
        self.browser.sees("Connected")

    def test_every_page_opens_without_a_complaint(self):
        self.check(user_id="u_1")
        self.check(client="c_7", endpoint="/login")
        self.check(tenant="a")
        self.show("#/overview")
        for page in PAGES:
            with self.subTest(page=page):
                self.browser.go(page)
                self.browser.until(lambda: self.browser.find("main h1").text)
                self.browser.until(lambda: len(self.browser.find("main").text) > 40)
                self.assertEqual(self.browser.run(
                    "return [...document.querySelectorAll('main .notice.bad')].map(x => x.textContent)"), [])
                for width in (360, 1440, 3840):
                    self.browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
                    self.assertFalse(self.browser.run("return document.documentElement.scrollWidth > innerWidth"), width)
                self.assertEqual(self.browser.run("return document.querySelectorAll('[style]').length"), 0)
        self.assertEqual(self.browser.complaints(), [])

    def test_a_wrong_token_is_asked_for_again(self):
        self.browser.run("sessionStorage.setItem('sluice-token', 'expired')")
        self.browser.open(self.address)
        self.browser.sees("refused this token")
        self.browser.give_token("wrong")
        self.browser.sees("refused this token")
        self.browser.give_token(TOKEN)
        self.browser.sees("Connected", "api_rate")
        self.assertEqual(self.browser.run("return document.cookie"), "")
        self.browser.complaints()  # The 401s.

    def test_what_clients_chose_is_text(self):
        for value in HOSTILE:
            self.check(client=value, endpoint="/login")
            self.check(client=value, endpoint="/login")
            self.check(tenant=value)
            self.check(tenant=value)
        self.show("#/keys")
        self.browser.sees("<img src=x onerror=alert(1)>", "a\\u202eb\\u2066c\\u200f\\u0007")
        self.browser.go("#/rules")
        self.browser.find("details summary").click()
        self.browser.sees("<img src=x onerror=alert(1)>")
        for value in HOSTILE:
            line = json.dumps({"client": value, "endpoint": "/login"})
            for page in ("keys", "why"):
                self.browser.go("#/" + page)
                field = self.browser.find("#request")
                self.browser.run("arguments[0].value = arguments[1]", field, line)
                field.submit()
                self.browser.sees("login", "banned")
        self.assertEqual(self.browser.run("return document.querySelectorAll('main img, main script').length"), 0)
        self.assertEqual(self.browser.complaints(), [])

    def test_ten_thousand_banned_keys_do_not_stop_the_page(self):
        for begin in range(0, 10000, 500):
            self.batch([{"client": "key-%05d" % i, "endpoint": "/login"} for i in range(begin, begin + 500)] * 2)
        self.assertGreaterEqual(len(self.admin("GET", "bans")["bans"]), 9000)
        self.show("#/keys")
        self.browser.sees("200 of")
        self.browser.find("#ban-filter").send_keys("key-07777")
        self.browser.until(lambda: self.browser.run("return document.querySelectorAll('main tbody tr').length") == 1)
        self.browser.press("Unban")
        self.browser.sees("1 lifted")
        self.assertEqual(self.browser.complaints(), [])

    def test_a_key_is_reset_and_seen_to_fill(self):
        self.check(user_id="u_1", cost=20)
        self.show("#/keys?user_id=u_1")
        self.browser.sees("0 of 20 left")
        self.browser.press("Refund")
        self.browser.sees("1 of 20 left")
        self.browser.press("Reset")
        self.browser.press("Reset", "dialog")
        self.browser.sees("20 of 20 left", "1 key changed")
        self.assertEqual(self.browser.complaints(), [])

    def test_a_rule_is_written_and_its_errors_have_places(self):
        self.show("#/rules/+")
        self.browser.find("#rule-id").send_keys("fresh")
        self.browser.press("Save")
        self.browser.sees("From api")
        draft = self.browser.find("#draft")
        fill = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
        self.browser.run(fill, draft, '{\n  "key_pattern": "user:{user_id}",\n  "algorithm": "gcrb", "limit": 3\n}')
        self.browser.press("Save")
        self.browser.sees("Nothing has changed", "line 3, column 16")
        good = '{"key_pattern": "user:{user_id}", "algorithm": "fixed_window", "limit": 7, "window": "1h"}'
        self.browser.run(fill, draft, good)
        self.browser.sees('+ {"key_pattern"')
        self.admin("PUT", "config/fresh", {"key_pattern": "x", "algorithm": "fixed_window", "limit": 5, "window": "1h"})
        self.browser.press("Save")
        self.browser.sees("changed this rule meanwhile")
        self.browser.press("Save")
        self.browser.sees("Saved")
        self.assertEqual(self.admin("GET", "config/fresh")["rule"]["limit"], 7)
        self.browser.press("Delete")
        self.browser.press("Delete", "dialog")
        self.browser.sees("Kill switch")
        self.assertNotIn("fresh", [rule["rule_id"] for rule in self.admin("GET", "config")["rules"]])
        refused = self.browser.complaints()  # Of the 422 and the 412.
        self.assertTrue(all("status of 422" in one or "status of 412" in one for one in refused), refused)

    def test_the_kill_switch_and_enforcing_a_shadow_rule(self):
        self.check(tenant="a")
        self.check(tenant="a")
        self.show("#/rules")
        self.browser.sees("Would deny 1 of 2 requests")
        self.browser.press("Enforce")
        self.browser.press("Enforce", "dialog")
        self.browser.until(lambda: self.admin("GET", "mode/trial")["mode"] == "enforce")
        self.browser.press("Turn on")
        self.browser.press("Turn the kill switch on", "dialog")
        self.browser.sees("Kill switch on: nothing is limited")
        self.assertTrue(self.admin("GET", "kill-switch")["on"])
        self.browser.press("Limit again")
        self.browser.press("Limit again", "dialog")
        self.browser.sees("Connected")
        self.assertEqual(self.browser.complaints(), [])

    def test_a_429_that_somebody_got_is_explained(self):
        self.check(user_id="u_1", cost=20)
        denied = self.check(user_id="u_1")
        self.show("#/why")
        self.browser.run("arguments[0].value = arguments[1]", self.browser.find("#response"),
                         "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 360\r\n\r\n" + json.dumps(denied))
        self.browser.press("Read it")
        self.browser.sees("api_rate: The limit is used up.", "Retry-After: 360 seconds.")
        self.browser.go("#/why?user_id=u_1")
        self.browser.sees("It is denied", "By api_rate", "match endpoint: /login")
        self.assertEqual(self.browser.complaints(), [])

    def test_a_daemon_that_restarts_is_found_again(self):
        self.show("#/overview")
        self.daemon.stop()
        self.browser.sees("The daemon does not answer.")
        port = self.address.rsplit(":", 1)[1]
        text = (self.served / "sluice.yaml").read_text()
        guarded = '127.0.0.1:0", role: admin, console'
        (self.served / "sluice.yaml").write_text(text.replace(guarded, guarded.replace(":0\"", ":%s\"" % port)))
        self.daemon = self.start(self.served)
        self.browser.sees("Connected", "api_rate")
        self.browser.complaints()  # Of the connections that were refused.

    def test_nothing_is_asked_while_the_tab_is_hidden(self):
        self.show("#/overview")
        self.browser.run("""Object.defineProperty(document, 'hidden', {get: () => window.isHidden});
                            window.asked = 0; window.isHidden = true;
                            const ask = window.fetch; window.fetch = (...all) => { ++window.asked; return ask(...all); };""")
        # What was under way has ended, and the next turn has come and gone: pages wait two seconds between requests.
        asked = self.browser.driver.execute_async_script(
            "setTimeout(() => { const before = window.asked; setTimeout(() => arguments[0](window.asked - before), 5000) }, 3000)")
        self.assertEqual(asked, 0)
        self.browser.run("window.isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
        self.browser.until(lambda: self.browser.run("return window.asked") > 0)

    def test_it_is_accessible(self):
        with tempfile.TemporaryDirectory() as folder:
            axe = console_browser.read_axe(pathlib.Path(folder))
        if axe is None:
            self.skipTest("no %s: npm has none here, and SLUICE_AXE names none" % console_browser.AXE)
        self.check(user_id="u_1")
        self.check(client="c_7", endpoint="/login")
        self.check(tenant="a")
        self.show("#/overview")
        for theme in ("light", "dark"):
            self.browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": theme}]})
            for page in PAGES:
                with self.subTest(page=page, theme=theme):
                    self.browser.go(page)
                    self.browser.until(lambda: len(self.browser.find("main").text) > 40)
                    found = self.browser.driver.execute_async_script(
                        axe + "; axe.run(document, {resultTypes: ['violations']}).then((all) => arguments[0](all.violations.map("
                        "({id, nodes}) => [id, nodes.slice(0, 3).map(({html, failureSummary}) => html + ' ' + failureSummary)])),"
                        " (error) => arguments[0]([String(error)]))")
                    self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
