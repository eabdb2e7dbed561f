"""An ASGI middleware: Starlette, FastAPI, Litestar, Quart and any other ASGI application.

    app.add_middleware(SluiceMiddleware, client=client)
"""

from __future__ import annotations

from typing import Any, Awaitable, Callable, List, MutableMapping, Optional, Tuple

from ._aio import AsyncClient
from ._call import Attributes, address
from ._decision import Decision
from ._deny import denial
from .errors import CallError, Unavailable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def attributes_of(scope: Scope) -> Attributes:
    """The attributes of a request, unless you say otherwise: `ip`, `method`, `endpoint` (the path)."""
    client = scope.get("client")
    return {"ip": address(client[0]) if client else None, "method": scope["method"], "endpoint": scope["path"]}


class SluiceMiddleware:
    """Asks Sluice before each HTTP request. A denied one is answered here, with the limit fields and Retry-After.

    attributes: makes the attributes of a request from its scope; None for a request that is not limited.
    A slot of a concurrency rule is held until the response is complete. WebSockets and lifespan pass.
    """

    def __init__(self, app: App, client: AsyncClient,
                 attributes: Callable[[Scope], Optional[Attributes]] = attributes_of, cost: int = 1) -> None:
        self.app, self._client, self._attributes, self._cost = app, client, attributes, cost

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        attributes = self._attributes(scope) if scope["type"] == "http" else None
        if attributes is None:
            await self.app(scope, receive, send)
            return
        decision = await decide(self._client, attributes, self._cost)
        if not decision.allowed:
            status, fields, body = denial(decision)
            await send({"type": "http.response.start", "status": status, "headers": encoded(fields)})
            await send({"type": "http.response.body", "body": body})
            return
        scope.setdefault("state", {})["sluice"] = decision
        passed_on = encoded(list(decision.headers.items()))

        async def send_with_fields(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *passed_on]}
            await send(message)

        try:
            await self.app(scope, receive, send_with_fields)
        finally:
            await release(self._client, decision)


def encoded(fields: List[Tuple[str, str]]) -> List[Tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in fields]


async def decide(client: AsyncClient, attributes: Attributes, cost: int) -> Decision:
    """Of a middleware: a wrong call is logged, and the fail mode decides."""
    try:
        return await client.check(attributes, cost=cost)
    except CallError as error:
        return client._verbs.refused(error)


async def release(client: AsyncClient, decision: Decision) -> None:
    if not decision.holds:
        return
    try:
        await client.release(decision.holds)
    except Unavailable:
        pass  # The rule's hold_ttl frees the slots.
