"""The client for asyncio."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Coroutine, Callable, Dict, Generator, Generic, Iterable, List, Optional, Sequence, Type, TypeVar, Union

from . import _call
from ._call import Attributes, Check, Settings
from ._decision import Decision, HoldToken, Settled
from ._http1 import Response, ResponseParser
from .errors import CallError, Denied, Unavailable


class _Connection(asyncio.Protocol):
    """A connection that carries one request at a time."""

    def __init__(self) -> None:
        self._transport: Optional[asyncio.Transport] = None
        self._parser: Optional[ResponseParser] = None
        self._answer: Optional[asyncio.Future[Response]] = None
        self.usable = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        answer, parser = self._answer, self._parser
        if answer is None or parser is None or answer.done():
            self.close()  # The server sends nothing unasked.
            return
        try:
            response = parser.feed(data)
        except Unavailable as error:
            answer.set_exception(error)
            return
        if response is not None:
            answer.set_result(response)

    def eof_received(self) -> None:
        self._end()

    def connection_lost(self, error: Optional[Exception]) -> None:
        self._end()

    def _end(self) -> None:
        self.usable = False
        answer, parser = self._answer, self._parser
        if answer is None or parser is None or answer.done():
            return
        try:
            answer.set_result(parser.end())
        except Unavailable as error:
            answer.set_exception(error)

    async def exchange(self, request: bytes, seconds: float) -> Response:
        assert self._transport is not None
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Response] = loop.create_future()
        self._answer = answer
        self._parser = ResponseParser()
        timer = loop.call_later(seconds, self._expire, answer)
        self._transport.write(request)
        try:
            return await answer
        finally:
            timer.cancel()
            self._answer = None

    @staticmethod
    def _expire(answer: asyncio.Future[Response]) -> None:
        if not answer.done():
            answer.set_exception(Unavailable("timed out"))

    def close(self) -> None:
        self.usable = False
        if self._transport is not None:
            self._transport.abort()


class AsyncClient(Settings[_Connection]):
    """Asks a Sluice daemon over HTTP, from one event loop. The parameters are those of `Client`."""

    _loop: Optional[asyncio.AbstractEventLoop] = None

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the idle connections. The client can still be used."""
        while self._idle:
            self._idle.pop().close()

    async def check(
        self,
        attributes: Attributes,
        *,
        cost: int = 1,
        peek: bool = False,
        wait: bool = False,
        reserve: bool = False,
        receipt: bool = False,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Decision:
        """As `Client.check()`."""
        body = _call.check_body(attributes, cost, peek, wait, reserve, receipt)
        key = idempotency_key or (_call.new_key() if self._retries and not peek else None)
        try:
            return self._verbs.decision(await self._send(self._verbs.post("check", body, key), timeout))
        except Unavailable as error:
            return self._verbs.without_sluice(error)

    async def check_many(self, checks: Sequence[Check], *, timeout: Optional[float] = None) -> List[Decision]:
        """As `Client.check_many()`."""
        if not checks:
            return []
        try:
            response = await self._send(self._verbs.post("batch", _call.batch_body(checks)), timeout, repeatable=False)
            return self._verbs.decisions(response, len(checks))
        except Unavailable as error:
            return [self._verbs.without_sluice(error)] * len(checks)

    async def acquire(
        self, attributes: Attributes, *, cost: int = 1, deadline: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> Decision:
        """As `Client.acquire()`."""
        end = None if deadline is None else self._clock.monotonic() + deadline
        attempt = 1
        while True:
            decision = await self.check(attributes, cost=cost, idempotency_key=idempotency_key)
            if decision.allowed:
                return decision
            left = None if end is None else end - self._clock.monotonic()
            advice = _call.acquire_advice(decision, self._clock, self._policy, attempt, left)
            if advice.action != "wait":
                raise Denied(decision)
            await self._clock.asleep(advice.wait_seconds(self._clock.random()))
            attempt += 1

    def reserve(self, attributes: Attributes, *, cost: int, timeout: Optional[float] = None) -> _Entry[AsyncReservation]:
        """As `Client.reserve()`: `async with client.reserve(...) as reservation`, or `await` it."""

        async def enter() -> AsyncReservation:
            decision = await self.check(attributes, cost=cost, reserve=True, timeout=timeout)
            if not decision.allowed:
                raise Denied(decision)
            return AsyncReservation(self, decision)

        return _Entry(enter)

    def hold(self, attributes: Attributes, *, cost: int = 1, renew_every: Optional[float] = None,
             timeout: Optional[float] = None) -> _Entry[AsyncHold]:
        """As `Client.hold()`: `async with client.hold(...) as hold`, or `await` it. A task renews."""

        async def enter() -> AsyncHold:
            decision = await self.check(attributes, cost=cost, timeout=timeout)
            if not decision.allowed:
                raise Denied(decision)
            return AsyncHold(self, decision, renew_every or _call.renewal_interval(decision, self._clock.time()))

        return _Entry(enter)

    async def status(self, attributes: Attributes, *, cost: int = 1, timeout: Optional[float] = None) -> Decision:
        """As `Client.status()`."""
        return self._verbs.decision(await self._send(self._verbs.get_status(attributes, cost), timeout))

    async def settle(self, reservation: str, cost: Optional[int] = None, *, timeout: Optional[float] = None,
                     **costs: int) -> List[Settled]:
        """As `Client.settle()`."""
        body = _call.settle_body(reservation, cost, costs)
        return self._verbs.settled(await self._send(self._verbs.post("settle", body), timeout))

    async def refund(self, receipt: str, *, timeout: Optional[float] = None) -> Dict[str, int]:
        """As `Client.refund()`."""
        return self._verbs.units(await self._send(self._verbs.post("refund", _call.receipt_body(receipt)), timeout))

    async def release(self, holds: Iterable[HoldToken], *, timeout: Optional[float] = None) -> int:
        """As `Client.release()`."""
        body = _call.holds_body(holds)
        return self._verbs.count(await self._send(self._verbs.post("release", body), timeout), "released")

    async def renew(self, holds: Iterable[HoldToken], *, timeout: Optional[float] = None) -> int:
        """As `Client.renew()`."""
        body = _call.holds_body(holds)
        return self._verbs.count(await self._send(self._verbs.post("renew", body), timeout), "renewed")

    async def _send(self, request: bytes, timeout: Optional[float], repeatable: bool = True) -> Response:
        """Raises Unavailable when the breaker is open or the time is over."""
        breaker, clock = self._verbs.breaker, self._clock
        if not breaker.allows():
            raise Unavailable("Sluice did not answer lately")
        now = clock.monotonic()
        end = now + (self._timeout if timeout is None else timeout)
        attempts = 1 + (self._retries if repeatable else 0)
        for attempt in range(attempts):
            connection = None
            try:
                until = now + (end - now) / (attempts - attempt)
                connection = await self._connection(until - now)
                response = await connection.exchange(request, until - clock.monotonic())
            except (OSError, asyncio.TimeoutError, Unavailable) as error:
                if connection is not None:
                    connection.close()
                now = clock.monotonic()
                if attempt + 1 < attempts and now < end:
                    continue
                failure = error if isinstance(error, Unavailable) else Unavailable(str(error) or "timed out")
                breaker.failed(failure)
                raise failure from error
            except BaseException:  # Cancelled: the response may still come, and would be read as the next one.
                if connection is not None:
                    connection.close()
                raise
            if response.reusable and connection.usable and len(self._idle) < self._max_idle:
                self._idle.append(connection)
            else:
                connection.close()
            if response.status in _call._NOT_OURS and b'"allowed"' not in response.body:
                breaker.failed(Unavailable("status %d" % response.status))
            else:
                breaker.succeeded()
            return response
        raise AssertionError("unreachable")

    async def _connection(self, seconds: float) -> _Connection:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # Connections belong to a loop: those of one that has ended are of no use.
            self._loop = loop
            self._idle.clear()
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
            connection.close()
        server = self._verbs.server
        _, fresh = await asyncio.wait_for(
            loop.create_connection(_Connection, server.host, server.port, ssl=self._context), max(seconds, 0.001)
        )
        return fresh


class AsyncReservation:
    """As `Reservation`; `settle()` is awaited."""

    def __init__(self, client: AsyncClient, decision: Decision) -> None:
        self._client, self.decision = client, decision
        self.cost: Optional[int] = None
        self.costs: Dict[str, int] = {}
        self.settled: List[Settled] = []

    async def settle(self, cost: Optional[int] = None, **costs: int) -> List[Settled]:
        reservation = self.decision.reservation
        if reservation is not None and not self.settled:
            try:
                self.settled = await self._client.settle(reservation, cost, **costs)
            except Unavailable:
                pass
        return self.settled

    async def aclose(self) -> None:
        if self.cost is not None or self.costs:
            await self.settle(self.cost, **self.costs)


class AsyncHold:
    """As `Hold`; a task renews, and `release()` is awaited."""

    def __init__(self, client: AsyncClient, decision: Decision, renew_every: float) -> None:
        self._client, self.decision, self.tokens = client, decision, decision.holds
        self.lost = False
        self.renewals = 0
        self._task = asyncio.ensure_future(self._renew(renew_every)) if self.tokens else None

    async def release(self) -> None:
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try:
            await self._client.release(self.tokens)
        except Unavailable:
            pass

    aclose = release

    async def _renew(self, every: float) -> None:
        while True:
            await self._client._clock.asleep(every)
            try:
                await self._client.renew(self.tokens)
                self.renewals += 1
            except Unavailable:
                continue
            except CallError:
                self.lost = True
                return


_Held = TypeVar("_Held", bound=Union[AsyncReservation, AsyncHold])


class _Entry(Generic[_Held]):
    """What `async with client.hold(...)` enters, and `await client.hold(...)` gives."""

    def __init__(self, enter: Callable[[], Coroutine[Any, Any, _Held]]) -> None:
        self._enter: Callable[[], Coroutine[Any, Any, _Held]] = enter
        self._held: Optional[_Held] = None

    def __await__(self) -> Generator[Any, None, _Held]:
        return self._enter().__await__()

    async def __aenter__(self) -> _Held:
        self._held = await self._enter()
        return self._held

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if self._held is not None:
            await self._held.aclose()
