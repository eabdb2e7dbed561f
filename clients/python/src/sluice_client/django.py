"""A middleware for Django, for WSGI and ASGI.

    MIDDLEWARE = ["sluice_client.django.SluiceMiddleware", ...]
    SLUICE = {"url": "http://127.0.0.1:8080", "attributes": "shop.limits.attributes_of"}
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Awaitable, Callable, Dict, Optional, Union, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

from . import asgi, wsgi
from ._aio import AsyncClient
from ._call import Attributes, address
from ._client import Client
from ._decision import Decision
from ._deny import denial

GetResponse = Union[Callable[[HttpRequest], HttpResponseBase], Callable[[HttpRequest], Awaitable[HttpResponseBase]]]


def attributes_of(request: HttpRequest) -> Attributes:
    """The attributes of a request, unless you say otherwise: `ip`, `method`, `endpoint` (the path).

    At the top of MIDDLEWARE `request.user` does not exist yet: name your own function, below the middleware that sets it.
    """
    return {"ip": address(request.META.get("REMOTE_ADDR")), "method": request.method, "endpoint": request.path}


class SluiceMiddleware:
    """Asks Sluice before each request. A denied one is answered here, with the limit fields and Retry-After.

    The setting SLUICE is a dict of the client's parameters (`url`, `token`, `timeout`, `retries`, `fail`) and of
    `attributes`, the name of a function that makes the attributes of a request (None: not limited), and `cost`.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        options: Dict[str, Any] = dict(getattr(settings, "SLUICE", {}))
        self._get_response = get_response
        self._cost: int = options.pop("cost", 1)
        name = options.pop("attributes", "sluice_client.django.attributes_of")
        self._attributes: Callable[[HttpRequest], Optional[Attributes]] = import_string(name)
        self._async = inspect.iscoroutinefunction(get_response) or asyncio.iscoroutinefunction(get_response)
        try:
            self._client, self._async_client = Client(**options), AsyncClient(**options)
        except (TypeError, ValueError) as error:
            raise ImproperlyConfigured("SLUICE: %s" % error) from error
        if self._async:  # So Django knows that it is to be awaited.
            self._is_coroutine = getattr(asyncio.coroutines, "_is_coroutine", None)
            if hasattr(inspect, "markcoroutinefunction"):
                inspect.markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Union[HttpResponseBase, Awaitable[HttpResponseBase]]:
        if self._async:
            return self._call_async(request)
        get_response = cast(Callable[[HttpRequest], HttpResponseBase], self._get_response)
        attributes = self._attributes(request)
        if attributes is None:
            return get_response(request)
        decision = wsgi.decide(self._client, attributes, self._cost)
        if not decision.allowed:
            return _denied(decision)
        setattr(request, "sluice", decision)
        try:
            return _with_fields(get_response(request), decision)
        finally:
            if decision.holds:
                wsgi._release(self._client, decision)

    async def _call_async(self, request: HttpRequest) -> HttpResponseBase:
        get_response = cast(Callable[[HttpRequest], Awaitable[HttpResponseBase]], self._get_response)
        attributes = self._attributes(request)
        if attributes is None:
            return await get_response(request)
        decision = await asgi.decide(self._async_client, attributes, self._cost)
        if not decision.allowed:
            return _denied(decision)
        setattr(request, "sluice", decision)
        try:
            return _with_fields(await get_response(request), decision)
        finally:
            await asgi.release(self._async_client, decision)


def _denied(decision: Decision) -> HttpResponse:
    status, fields, body = denial(decision)
    response = HttpResponse(body, status=status)
    for name, value in fields:
        response[name] = value
    return response


def _with_fields(response: HttpResponseBase, decision: Decision) -> HttpResponseBase:
    for name, value in decision.headers.items():
        response[name] = value
    return response
