"""A dependency for FastAPI: limits of single routes, with what the route knows of its caller.

    @app.get("/charges", dependencies=[Depends(Limit(client, attributes))])
"""

# No `from __future__ import annotations`: FastAPI reads the annotations of __call__.
from typing import AsyncIterator, Callable, Optional

from fastapi import HTTPException, Request, Response

from . import asgi
from ._aio import AsyncClient
from ._call import Attributes
from ._decision import Decision


def attributes_of(request: Request) -> Attributes:
    """The attributes of a request, unless you say otherwise: `ip`, `method`, `endpoint` (the path)."""
    return asgi.attributes_of(request.scope)


class Limit:
    """Asks Sluice before the route runs. A denial is an HTTPException with the limit fields and Retry-After.

    attributes: makes the attributes of a request; None for a request that is not limited.
    A slot of a concurrency rule is held until the route has run. The dependency's value is the Decision.
    """

    def __init__(self, client: AsyncClient, attributes: Callable[[Request], Optional[Attributes]] = attributes_of,
                 cost: int = 1) -> None:
        self._client, self._attributes, self._cost = client, attributes, cost

    async def __call__(self, request: Request, response: Response) -> AsyncIterator[Optional[Decision]]:
        attributes = self._attributes(request)
        if attributes is None:
            yield None
            return
        decision = await asgi.decide(self._client, attributes, self._cost)
        if not decision.allowed:
            fields = {**decision.headers, "Cache-Control": "no-store"}
            raise HTTPException(decision.status, decision.reason, headers=fields)
        response.headers.update(decision.headers)
        try:
            yield decision
        finally:
            await asgi.release(self._client, decision)
