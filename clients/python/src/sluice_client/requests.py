"""An adapter for requests that keeps to the limits of the servers it talks to.

    session = requests.Session()
    session.mount("https://", ThrottledAdapter())
"""

from __future__ import annotations

import urllib.parse
from typing import Any, Callable, Mapping, Optional, Tuple, Union

import requests
from requests.adapters import HTTPAdapter

from .throttle import Throttle, wants_body

Resource = Callable[[requests.PreparedRequest], str]


def host_and_path(request: requests.PreparedRequest) -> str:
    """The resource of a request, unless you say otherwise: its host and path, without the query."""
    parts = urllib.parse.urlsplit(request.url or "")
    return parts.netloc + parts.path


def host(request: requests.PreparedRequest) -> str:
    """For servers with one quota for everything."""
    return urllib.parse.urlsplit(request.url or "").netloc


class ThrottledAdapter(HTTPAdapter):
    """Waits before it sends where a quota is used up, and after a 429 as long as the server says.

    The response's attribute `sluice` is the `Advice` that was followed last.
    Raises Throttled, without sending, if a wait would be above the policy's cap or beyond the deadline.

    throttle: share one to share what is known. resource: names what has a quota of its own. The rest is HTTPAdapter's;
    leave its `max_retries` at 0.
    """

    def __init__(self, throttle: Optional[Throttle] = None, resource: Resource = host_and_path, **options: Any) -> None:
        self.throttle, self._resource = throttle or Throttle(), resource
        super().__init__(**options)

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Union[None, float, Tuple[float, float], Tuple[float, None]] = None,
        verify: Union[bool, str] = True,
        cert: Union[None, bytes, str, Tuple[Union[bytes, str], Union[bytes, str]]] = None,
        proxies: Optional[Mapping[str, str]] = None,
    ) -> requests.Response:
        attempts, clock = self.throttle.start(host(request), self._resource(request)), self.throttle.clock
        while True:
            seconds = attempts.before()
            if seconds:
                clock.sleep(seconds)
                continue
            try:
                response = super().send(request, stream, timeout, verify, cert, proxies)
                body = response.text if wants_body(response.status_code) else None
                key = "Idempotency-Key" in request.headers
                fields = list(response.raw.headers.items())
                advice = attempts.after(response.status_code, fields, body, request.method or "GET", key)
            finally:
                attempts.failed()
            response.sluice = advice  # type: ignore[attr-defined]
            # A body that is a stream or a file has been used up.
            if advice.action != "wait" or not isinstance(request.body, (bytes, str, type(None))):
                return response
            response.close()
            clock.sleep(advice.wait_seconds(clock.random()))
