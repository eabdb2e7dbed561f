"""A WSGI middleware: Flask, Bottle, Pyramid and any other WSGI application.

    app.wsgi_app = SluiceMiddleware(app.wsgi_app, client)
"""

from __future__ import annotations

import http
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, List, Mapping, Optional, Tuple

from ._call import Attributes, address
from ._client import Client
from ._decision import Decision
from ._deny import denial
from .errors import CallError, Unavailable

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def attributes_of(environ: Mapping[str, Any]) -> Attributes:
    """The attributes of a request, unless you say otherwise: `ip`, `method`, `endpoint` (the path)."""
    return {
        "ip": address(environ.get("REMOTE_ADDR")),
        "method": environ["REQUEST_METHOD"],
        "endpoint": environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", ""),
    }


class SluiceMiddleware:
    """Asks Sluice before each request. A denied one is answered here, with the limit fields and Retry-After.

    attributes: makes the attributes of a request from its environ; None for a request that is not limited.
    A slot of a concurrency rule is held until the response is complete.
    """

    def __init__(self, app: WSGIApplication, client: Client,
                 attributes: Callable[[WSGIEnvironment], Optional[Attributes]] = attributes_of, cost: int = 1) -> None:
        self._app, self._client, self._attributes, self._cost = app, client, attributes, cost

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        attributes = self._attributes(environ)
        if attributes is None:
            return self._app(environ, start_response)
        decision = decide(self._client, attributes, self._cost)
        if not decision.allowed:
            status, fields, body = denial(decision)
            start_response("%d %s" % (status, http.HTTPStatus(status).phrase), fields)
            return [body]
        environ["sluice.decision"] = decision
        passed_on = list(decision.headers.items())

        def start(status: str, fields: List[Tuple[str, str]], *more: Any) -> Any:
            return start_response(status, [*fields, *passed_on], *more)

        if not decision.holds:
            return self._app(environ, start)
        try:
            return _Held(self._app(environ, start), self._client, decision)
        except BaseException:
            _release(self._client, decision)
            raise


def decide(client: Client, attributes: Attributes, cost: int) -> Decision:
    """Of a middleware: a wrong call is logged, and the fail mode decides."""
    try:
        return client.check(attributes, cost=cost)
    except CallError as error:
        return client._verbs.refused(error)


def _release(client: Client, decision: Decision) -> None:
    try:
        client.release(decision.holds)
    except Unavailable:
        pass  # The rule's hold_ttl frees the slots.


class _Held:
    """A response whose end releases its slots."""

    def __init__(self, body: Iterable[bytes], client: Client, decision: Decision) -> None:
        self._body, self._client, self._decision = body, client, decision

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        try:
            close = getattr(self._body, "close", None)
            if close is not None:
                close()
        finally:
            _release(self._client, self._decision)
