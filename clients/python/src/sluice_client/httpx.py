"""Transports for httpx that keep to the limits of the servers they talk to.

    client = httpx.Client(transport=ThrottledTransport())
    client = httpx.AsyncClient(transport=AsyncThrottledTransport())
"""

from __future__ import annotations

from typing import Callable, Optional

import httpx

from ._advice import Advice
from .throttle import Attempts, Throttle, wants_body

Resource = Callable[[httpx.Request], str]


def host_and_path(request: httpx.Request) -> str:
    """The resource of a request, unless you say otherwise: its host and path, without the query."""
    return "%s%s" % (request.url.netloc.decode("ascii"), request.url.path)


def host(request: httpx.Request) -> str:
    """For servers with one quota for everything."""
    return request.url.netloc.decode("ascii")


class _Throttled:
    def __init__(self, throttle: Optional[Throttle], resource: Resource) -> None:
        self.throttle, self._resource = throttle or Throttle(), resource

    def start(self, request: httpx.Request) -> Attempts:
        return self.throttle.start(host(request), self._resource(request))

    @staticmethod
    def after(attempts: Attempts, request: httpx.Request, response: httpx.Response) -> Advice:
        body = response.text if wants_body(response.status_code) else None
        key = "idempotency-key" in request.headers
        advice = attempts.after(response.status_code, response.headers.multi_items(), body, request.method, key)
        response.extensions["sluice"] = advice
        return advice

    @staticmethod
    def again(advice: Advice, request: httpx.Request) -> bool:
        """Whether to send it again: a body that is a stream has been used up."""
        return advice.action == "wait" and isinstance(request.stream, httpx.ByteStream)


class ThrottledTransport(httpx.BaseTransport):
    """Waits before it sends where a quota is used up, and after a 429 as long as the server says.

    The response's `extensions["sluice"]` is the `Advice` that was followed last.
    Raises Throttled, without sending, if a wait would be above the policy's cap or beyond the deadline.

    transport: what sends. throttle: share one to share what is known. resource: names what has a quota of its own.
    """

    def __init__(self, transport: Optional[httpx.BaseTransport] = None, throttle: Optional[Throttle] = None,
                 resource: Resource = host_and_path) -> None:
        self._inner = transport or httpx.HTTPTransport()
        self._throttled = _Throttled(throttle, resource)
        self.throttle = self._throttled.throttle

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        attempts, clock = self._throttled.start(request), self.throttle.clock
        while True:
            seconds = attempts.before()
            if seconds:
                clock.sleep(seconds)
                continue
            try:
                response = self._inner.handle_request(request)
                if wants_body(response.status_code):
                    response.read()
                advice = self._throttled.after(attempts, request, response)
            finally:
                attempts.failed()
            if not self._throttled.again(advice, request):
                return response
            response.close()
            clock.sleep(advice.wait_seconds(clock.random()))

    def close(self) -> None:
        self._inner.close()


class AsyncThrottledTransport(httpx.AsyncBaseTransport):
    """As ThrottledTransport, for httpx.AsyncClient."""

    def __init__(self, transport: Optional[httpx.AsyncBaseTransport] = None, throttle: Optional[Throttle] = None,
                 resource: Resource = host_and_path) -> None:
        self._inner = transport or httpx.AsyncHTTPTransport()
        self._throttled = _Throttled(throttle, resource)
        self.throttle = self._throttled.throttle

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        attempts, clock = self._throttled.start(request), self.throttle.clock
        while True:
            seconds = attempts.before()
            if seconds:
                await clock.asleep(seconds)
                continue
            try:
                response = await self._inner.handle_async_request(request)
                if wants_body(response.status_code):
                    await response.aread()
                advice = self._throttled.after(attempts, request, response)
            finally:
                attempts.failed()
            if not self._throttled.again(advice, request):
                return response
            await response.aclose()
            await clock.asleep(advice.wait_seconds(clock.random()))

    async def aclose(self) -> None:
        await self._inner.aclose()
