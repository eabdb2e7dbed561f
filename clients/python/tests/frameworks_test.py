"""Middlewares, dependencies and the strategy for `limits`, each in its framework and against the real daemon."""

import json
import sys
import threading
import types
import unittest

from support import DaemonCase

from sluice_client import AsyncClient, Client, asgi, wsgi


def importable(*names):
    for name in names:
        try:
            __import__(name)
        except ImportError:
            return False
    return True


class WsgiTest(DaemonCase):
    def setUp(self):
        self.client = Client(self.daemon.url, timeout=10)
        self.addCleanup(self.client.close)

    def app(self, environ, start_response):
        self.slots = self.client.status({"tenant": self.id(), "endpoint": "/jobs"}).remaining
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"hello"]

    def get(self, app, path, **more):
        said = {}
        environ = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "PATH_INFO": path, "REMOTE_ADDR": self.address(), **more}

        def start_response(status, fields, *error):
            said.update(status=status, fields=dict(fields))

        parts = app(environ, start_response)
        try:
            return said["status"], said["fields"], b"".join(parts)
        finally:
            if hasattr(parts, "close"):
                parts.close()

    def test_allows_and_denies(self):
        app = wsgi.SluiceMiddleware(self.app, self.client)
        for left in ("1", "0"):
            status, fields, body = self.get(app, "/page")
            self.assertEqual((status, body, fields["X-RateLimit-Remaining"]), ("200 OK", b"hello", left))
        status, fields, body = self.get(app, "/page")
        self.assertEqual((status, fields["Content-Type"]), ("429 Too Many Requests", "application/problem+json"))
        self.assertEqual(json.loads(body), {"type": "about:blank", "title": "Too Many Requests", "status": 429,
                                            "reason": "quota_exceeded"})
        self.assertGreater(int(fields["Retry-After"]), 0)
        self.assertEqual(fields["Content-Length"], str(len(body)))

    def test_a_request_without_attributes_passes(self):
        app = wsgi.SluiceMiddleware(self.app, self.client, attributes=lambda environ: None)
        for _ in range(4):
            self.assertEqual(self.get(app, "/page")[0], "200 OK")

    def test_a_wrong_call_does_not_break_the_service(self):
        app = wsgi.SluiceMiddleware(self.app, self.client, attributes=lambda environ: {"ip": "nobody"})
        with self.assertLogs("sluice_client", "ERROR") as logs:
            for _ in range(3):
                self.assertEqual(self.get(app, "/page")[0], "200 OK")
        self.assertEqual(len(logs.records), 1)
        self.assertIn("attribute ip is not an IP address", logs.output[0])

    def test_over_a_unix_socket_there_is_no_address(self):
        self.assertEqual(wsgi.attributes_of({"REQUEST_METHOD": "GET", "PATH_INFO": "/x", "REMOTE_ADDR": ""}),
                         {"ip": None, "method": "GET", "endpoint": "/x"})

    def test_a_slot_is_held_until_the_response_is_complete(self):
        app = wsgi.SluiceMiddleware(self.app, self.client,
                                    attributes=lambda environ: {"tenant": self.id(), "endpoint": "/jobs"})
        for _ in range(2):
            self.assertEqual(self.get(app, "/jobs")[0], "200 OK")
            self.assertEqual(self.slots, 0)

        def failing(environ, start_response):
            raise ZeroDivisionError

        for _ in range(2):
            with self.assertRaises(ZeroDivisionError):
                self.get(wsgi.SluiceMiddleware(failing, self.client, attributes=app._attributes), "/jobs")


class AsgiTest(DaemonCase):
    async def app(self, scope, receive, send):
        if scope["type"] == "http":
            self.slots = (await self.client.status({"tenant": self.id(), "endpoint": "/jobs"})).remaining
            await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})
            await send({"type": "http.response.body", "body": b"hello"})

    def get(self, path, attributes=None, kind="http"):
        async def call():
            async with AsyncClient(self.daemon.url, timeout=10) as self.client:
                options = {} if attributes is None else {"attributes": attributes}
                app = asgi.SluiceMiddleware(self.app, self.client, **options)
                sent = []

                async def send(message):
                    sent.append(message)

                scope = {"type": kind, "method": "GET", "path": path, "client": (self.address(), 1)}
                await app(scope, None, send)
                return sent

        return self.run_async(call())

    def test_allows_and_denies(self):
        for left in (b"1", b"0"):
            start, body = self.get("/page")
            self.assertEqual((start["status"], body["body"]), (200, b"hello"))
            self.assertEqual(dict(start["headers"])[b"x-ratelimit-remaining"], left)
            self.assertEqual(dict(start["headers"])[b"a"], b"b")
        start, body = self.get("/page")
        self.assertEqual((start["status"], json.loads(body["body"])["reason"]), (429, "quota_exceeded"))
        self.assertIn(b"retry-after", dict(start["headers"]))

    def test_a_slot_is_held_while_the_application_runs(self):
        for _ in range(2):
            self.assertEqual(self.get("/x", lambda scope: {"tenant": self.id(), "endpoint": "/jobs"})[0]["status"], 200)
            self.assertEqual(self.slots, 0)

    def test_what_is_not_http_passes(self):
        for _ in range(4):
            self.assertEqual(self.get("/page", kind="lifespan"), [])


@unittest.skipUnless(importable("fastapi", "httpx"), "fastapi and httpx are not installed")
class FastapiTest(DaemonCase):
    def get(self, *paths):
        import fastapi
        import httpx

        from sluice_client.fastapi import Limit

        async def call():
            async with AsyncClient(self.daemon.url, timeout=10) as client:
                app = fastapi.FastAPI()

                def of_user(request):
                    return {"user_id": self.id() + request.headers.get("user", ""), "endpoint": "/api"}

                @app.get("/api", dependencies=[fastapi.Depends(Limit(client, of_user, cost=2))])
                async def api():
                    return "hello"

                @app.get("/jobs")
                async def jobs(decision=fastapi.Depends(Limit(client, lambda _: {"tenant": "t", "endpoint": "/jobs"}))):
                    return [token.name for token in decision.holds]

                @app.get("/free")
                async def free(decision=fastapi.Depends(Limit(client, lambda _: None))):
                    return decision

                transport = httpx.ASGITransport(app=app)
                async with httpx.AsyncClient(transport=transport, base_url="http://test") as browser:
                    return [await browser.get(path) for path in paths]

        return self.run_async(call())

    def test_a_route_is_limited(self):
        first, second = self.get("/api", "/api")
        self.assertEqual((first.status_code, first.json(), first.headers["x-ratelimit-remaining"]), (200, "hello", "1"))
        self.assertEqual((second.status_code, second.json()), (429, {"detail": "quota_exceeded"}))
        self.assertIn("retry-after", second.headers)

    def test_slots_are_released(self):
        for response in self.get("/jobs", "/jobs"):
            self.assertEqual((response.status_code, response.json()), (200, ["jobs"]))

    def test_no_attributes(self):
        self.assertEqual(self.get("/free")[0].json(), None)


@unittest.skipUnless(importable("starlette", "httpx"), "starlette and httpx are not installed")
class StarletteTest(DaemonCase):
    def test_add_middleware(self):
        import httpx
        from starlette.applications import Starlette
        from starlette.responses import PlainTextResponse
        from starlette.routing import Route

        async def page(request):
            return PlainTextResponse(repr(request.state.sluice.allowed))

        async def call():
            async with AsyncClient(self.daemon.url, timeout=10) as client:
                app = Starlette(routes=[Route("/page", page)])
                app.add_middleware(asgi.SluiceMiddleware, client=client)
                transport = httpx.ASGITransport(app=app, client=(self.address(), 1))
                async with httpx.AsyncClient(transport=transport, base_url="http://test") as browser:
                    return [await browser.get("/page") for _ in range(3)]

        answers = self.run_async(call())
        self.assertEqual([(a.status_code, a.text[:4]) for a in answers], [(200, "True"), (200, "True"), (429, '{"ty')])


@unittest.skipUnless(importable("django"), "django is not installed")
class DjangoTest(DaemonCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import django
        from django.conf import settings
        from django.http import HttpResponse
        from django.urls import path

        urls = types.ModuleType("sluice_test_urls")

        def view(request):
            return HttpResponse("hello %s" % request.sluice.allowed)

        async def async_view(request):
            return HttpResponse("hello %s" % request.sluice.allowed)

        urls.urlpatterns = [path("page", view), path("jobs", view), path("apage", async_view)]
        urls.attributes_of = lambda request: {"ip": request.GET["who"], "tenant": request.GET["who"],
                                              "endpoint": request.path.replace("apage", "page")}
        sys.modules["sluice_test_urls"] = urls
        settings.configure(ROOT_URLCONF="sluice_test_urls", ALLOWED_HOSTS=["*"], SECRET_KEY="x", LOGGING_CONFIG=None,
                           MIDDLEWARE=["sluice_client.django.SluiceMiddleware"],
                           SLUICE={"url": cls.daemon.url, "timeout": 10, "attributes": "sluice_test_urls.attributes_of"})
        django.setup()

    def check(self, answers):
        self.assertEqual([a.status_code for a in answers], [200, 200, 429])
        self.assertEqual(answers[0].content, b"hello True")
        self.assertEqual([a["X-RateLimit-Remaining"] for a in answers], ["1", "0", "0"])
        self.assertEqual(answers[2]["Content-Type"], "application/problem+json")
        self.assertIn("Retry-After", answers[2])

    def test_wsgi(self):
        from django.test import Client as Browser

        self.check([Browser().get("/page", {"who": self.address()}) for _ in range(3)])
        for _ in range(2):
            self.assertEqual(Browser().get("/jobs", {"who": self.address()}).status_code, 200)

    def test_asgi(self):
        from django.test import AsyncClient as Browser

        async def get():
            return [await Browser().get("/apage?who=" + self.address()) for _ in range(3)]

        self.check(self.run_async(get()))

    def test_a_wrong_setting(self):
        from django.core.exceptions import ImproperlyConfigured
        from django.test import override_settings

        from sluice_client.django import SluiceMiddleware

        for wrong in ({"uri": "http://h"}, {"url": "h"}, {"fail": "ajar"}):
            with override_settings(SLUICE=wrong), self.assertRaises(ImproperlyConfigured):
                SluiceMiddleware(lambda request: None)


@unittest.skipUnless(importable("limits"), "limits is not installed")
class LimitsTest(DaemonCase):
    def limiter(self, url=None, **options):
        import sluice_client.limits  # noqa: F401
        from limits.storage import storage_from_string
        from limits.strategies import STRATEGIES

        self.storage = storage_from_string(url or "sluice://" + self.daemon.resp, **options)
        return STRATEGIES["sluice"](self.storage)

    def test_hits_tests_and_stats(self):
        from limits import parse

        limiter, item = self.limiter(), parse("4/hour")
        self.assertTrue(self.storage.check())
        self.assertTrue(limiter.test(item, self.id()))
        self.assertTrue(limiter.test(item, self.id(), cost=4))
        self.assertFalse(limiter.test(item, self.id(), cost=5))
        self.assertTrue(limiter.hit(item, self.id()))
        self.assertTrue(limiter.hit(item, self.id(), cost=3))
        self.assertFalse(limiter.hit(item, self.id()))
        self.assertFalse(limiter.test(item, self.id()))
        reset, remaining = limiter.get_window_stats(item, self.id())
        self.assertEqual(remaining, 0)
        import time
        self.assertTrue(890 < reset - time.time() <= 901, reset - time.time())  # One is back in 15 minutes.
        self.assertTrue(limiter.hit(item, self.id() + "x" * 2000))
        self.assertTrue(limiter.hit(parse("4/2 days"), self.id()))

    def test_processes_share_a_limit(self):
        from limits import parse

        item = parse("10/hour")
        limiters = [self.limiter() for _ in range(4)]
        allowed = []
        threads = [threading.Thread(target=lambda l=l: allowed.extend(l.hit(item, self.id()) for _ in range(5)))
                   for l in limiters]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(allowed), 10)

    def test_nobody_listens(self):
        from limits import parse

        from sluice_client import Unavailable

        limiter = self.limiter("sluice://127.0.0.1:1")
        self.assertFalse(self.storage.check())
        with self.assertRaises(Unavailable):
            limiter.hit(parse("1/hour"), "x")

    def test_another_strategy_says_what_to_do(self):
        from limits import parse
        from limits.storage import MemoryStorage
        from limits.strategies import STRATEGIES, FixedWindowRateLimiter

        self.limiter()
        with self.assertRaisesRegex(NotImplementedError, 'strategy="sluice"'):
            FixedWindowRateLimiter(self.storage).hit(parse("1/hour"), "x")
        with self.assertRaisesRegex(ValueError, "sluice://"):
            STRATEGIES["sluice"](MemoryStorage())

    @unittest.skipUnless(importable("flask_limiter"), "flask-limiter is not installed")
    def test_flask_limiter(self):
        import flask
        from flask_limiter import Limiter

        import sluice_client.limits  # noqa: F401

        app = flask.Flask("shop")
        limiter = Limiter(key_func=self.id, app=app, storage_uri="sluice://" + self.daemon.resp, strategy="sluice",
                          headers_enabled=True)

        @app.route("/")
        @limiter.limit("2/hour")
        def page():
            return "hello"

        browser = app.test_client()
        answers = [browser.get("/") for _ in range(3)]
        self.assertEqual([a.status_code for a in answers], [200, 200, 429])
        self.assertEqual([a.headers["X-RateLimit-Remaining"] for a in answers], ["1", "0", "0"])
        self.assertTrue(1790 <= int(answers[2].headers["Retry-After"]) <= 1801, answers[2].headers)

    @unittest.skipUnless(importable("flask_limiter"), "flask-limiter is not installed")
    def test_flask_limiter_falls_back(self):
        import flask
        from flask_limiter import Limiter

        import sluice_client.limits  # noqa: F401

        app = flask.Flask("shop")
        limiter = Limiter(key_func=self.id, app=app, storage_uri="sluice://127.0.0.1:1", strategy="sluice",
                          swallow_errors=True)

        @app.route("/")
        @limiter.limit("1/hour")
        def page():
            return "hello"

        app.logger.disabled = True
        import logging
        logging.getLogger("flask-limiter").setLevel(logging.CRITICAL)
        self.assertEqual([app.test_client().get("/").status_code for _ in range(3)], [200] * 3)

    @unittest.skipUnless(importable("slowapi", "fastapi", "httpx"), "slowapi, fastapi and httpx are not installed")
    def test_slowapi(self):
        import fastapi
        import httpx
        from slowapi import Limiter, _rate_limit_exceeded_handler
        from slowapi.errors import RateLimitExceeded

        import sluice_client.limits  # noqa: F401

        app = fastapi.FastAPI()
        app.state.limiter = limiter = Limiter(key_func=lambda request: self.id(), strategy="sluice", headers_enabled=True,
                                              storage_uri="sluice://" + self.daemon.resp)
        app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)

        @app.get("/")
        @limiter.limit("2/hour")
        async def page(request: fastapi.Request, response: fastapi.Response):
            return "hello"

        async def get():
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as browser:
                return [await browser.get("/") for _ in range(3)]

        self.assertEqual([a.status_code for a in self.run_async(get())], [200, 200, 429])


if __name__ == "__main__":
    unittest.main()
