"""The client for threads."""

from __future__ import annotations

import select
import socket
import ssl
import struct
import threading
from types import TracebackType
from typing import Dict, Iterable, List, Optional, Sequence, Type

from . import _call
from ._call import Attributes, Check, Settings
from ._clock import Clock
from ._decision import Decision, HoldToken, Settled
from ._http1 import Response, ResponseParser
from .errors import CallError, Denied, Unavailable


class _Connection:
    """A socket that carries one request at a time."""

    def __init__(self, server: _call.Server, context: Optional[ssl.SSLContext], deadline: float, clock: Clock) -> None:
        self._clock = clock
        plain = socket.create_connection((server.host, server.port), timeout=max(deadline - clock.monotonic(), 0.001))
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = context.wrap_socket(plain, server_hostname=server.host) if context else plain
        except BaseException:
            plain.close()
            raise
        self._poll = None
        self._kernel_timeout = 0.0  # What the kernel ends a blocking call after; 0: not set.
        if context is None and hasattr(select, "poll"):  # TLS may have records that are no data.
            self._poll = select.poll()
            self._poll.register(self._socket, select.POLLIN)

    def usable(self) -> bool:
        """Whether the server has kept it open. It sends nothing unasked, so readable means closed."""
        return self._poll is None or not self._poll.poll(0)

    def exchange(self, request: bytes, deadline: float) -> Response:
        connection, clock = self._socket, self._clock
        self._set_timeout(deadline - clock.monotonic())
        connection.sendall(request)
        parser = ResponseParser()
        while True:
            data = connection.recv(65536)
            if not data:
                return parser.end()
            response = parser.feed(data)
            if response is not None:
                return response
            left = deadline - clock.monotonic()
            if left <= 0:
                raise socket.timeout("timed out")
            self._set_timeout(left)

    def _set_timeout(self, seconds: float) -> None:
        seconds = max(seconds, 0.001)
        if self._poll is None:
            self._socket.settimeout(seconds)
        elif not 0.9 * seconds <= self._kernel_timeout <= seconds:
            # Two system calls fewer for each exchange than settimeout(), which polls before each one. A time that is
            # up to a tenth shorter does as well, so calls of one timeout set it once.
            self._kernel_timeout = 0.95 * seconds
            value = struct.pack("@ll", int(self._kernel_timeout), int(self._kernel_timeout % 1 * 1e6) or 1000)
            self._socket.settimeout(None)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, value)

    def close(self) -> None:
        self._socket.close()


def _text(error: OSError) -> str:
    return "timed out" if isinstance(error, (BlockingIOError, socket.timeout)) else str(error) or type(error).__name__


class Client(Settings[_Connection]):
    """Asks a Sluice daemon over HTTP. Thread-safe: make one for a process, and share it.

    url: of a check listener. token: the listener's bearer token, if it has `auth`.
    timeout: seconds that a call may take at most, connecting and retries included.
    retries: how often a call is sent again that failed on the way. With retries, a check carries an idempotency key, so
        it is charged once; the daemon keeps its answer for that. 0 sends no key.
    fail: what `check()` decides when Sluice does not answer: "open" allows, "closed" denies.
    breaker: when to stop asking a daemon that does not answer.
    policy: how `acquire()` waits. ssl_context: for https, instead of the system's certificates.
    max_idle: connections that are kept open between calls.
    """

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes the idle connections. The client can still be used."""
        while self._idle:
            self._idle.pop().close()

    def check(
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
        """Whether a request with these attributes may pass now, and if so charges its cost. Does not wait.

        Ends within `timeout` (the client's, if None). If Sluice does not answer, the fail mode decides.
        cost: units, 0 to 999999999999999. peek: charge nothing. wait: let the daemon hold the answer back until a
        shaped request may go. reserve, receipt: the decision has a text for `settle()`, `refund()`.
        idempotency_key: of your caller's request, so that its retries are charged once.
        Raises CallError if the call is wrong.
        """
        body = _call.check_body(attributes, cost, peek, wait, reserve, receipt)
        key = idempotency_key or (_call.new_key() if self._retries and not peek else None)
        try:
            return self._verbs.decision(self._send(self._verbs.post("check", body, key), timeout))
        except Unavailable as error:
            return self._verbs.without_sluice(error)

    def check_many(self, checks: Sequence[Check], *, timeout: Optional[float] = None) -> List[Decision]:
        """Up to 1,000 checks in one call, each judged on its own. The decisions are in the same order.

        A batch carries no idempotency key, so it is not sent again once it is on its way. Raises CallError if one of the
        checks is wrong; the others were charged.
        """
        if not checks:
            return []
        try:
            response = self._send(self._verbs.post("batch", _call.batch_body(checks)), timeout, repeatable=False)
            return self._verbs.decisions(response, len(checks))
        except Unavailable as error:
            return [self._verbs.without_sluice(error)] * len(checks)

    def acquire(
        self, attributes: Attributes, *, cost: int = 1, deadline: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> Decision:
        """Waits until a request may pass, as long as the daemon says and the client's policy allows.

        deadline: seconds from now after which it is of no use. If the wait would be longer, Denied is raised at once.
        """
        end = None if deadline is None else self._clock.monotonic() + deadline
        attempt = 1
        while True:
            decision = self.check(attributes, cost=cost, idempotency_key=idempotency_key)
            if decision.allowed:
                return decision
            left = None if end is None else end - self._clock.monotonic()
            advice = _call.acquire_advice(decision, self._clock, self._policy, attempt, left)
            if advice.action != "wait":
                raise Denied(decision)
            self._clock.sleep(advice.wait_seconds(self._clock.random()))
            attempt += 1

    def reserve(self, attributes: Attributes, *, cost: int, timeout: Optional[float] = None) -> Reservation:
        """Charges an estimate, and the actual cost at the end of the `with`. Raises Denied if it may not pass."""
        decision = self.check(attributes, cost=cost, reserve=True, timeout=timeout)
        if not decision.allowed:
            raise Denied(decision)
        return Reservation(self, decision)

    def hold(self, attributes: Attributes, *, cost: int = 1, renew_every: Optional[float] = None,
             timeout: Optional[float] = None) -> Hold:
        """Takes slots of concurrency rules until the end of the `with`. Raises Denied if none is free.

        renew_every: seconds between renewals, done by a thread; None for a third of the rule's `hold_ttl`.
        """
        decision = self.check(attributes, cost=cost, timeout=timeout)
        if not decision.allowed:
            raise Denied(decision)
        return Hold(self, decision, renew_every or _call.renewal_interval(decision, self._clock.time()))

    def status(self, attributes: Attributes, *, cost: int = 1, timeout: Optional[float] = None) -> Decision:
        """What a check would answer now. Charges nothing. Raises Unavailable."""
        return self._verbs.decision(self._send(self._verbs.get_status(attributes, cost), timeout))

    def settle(self, reservation: str, cost: Optional[int] = None, *, timeout: Optional[float] = None,
               **costs: int) -> List[Settled]:
        """Charges the actual cost of a reservation. `costs` are attributes that rules use as their cost.

        Only the first settlement counts, so it is safe to repeat. Raises Unavailable.
        """
        body = _call.settle_body(reservation, cost, costs)
        return self._verbs.settled(self._send(self._verbs.post("settle", body), timeout))

    def refund(self, receipt: str, *, timeout: Optional[float] = None) -> Dict[str, int]:
        """Gives a charge back: units by rule. Works once, so it is safe to repeat. Raises Unavailable."""
        return self._verbs.units(self._send(self._verbs.post("refund", _call.receipt_body(receipt)), timeout))

    def release(self, holds: Iterable[HoldToken], *, timeout: Optional[float] = None) -> int:
        """Frees slots: the number that were still held. Safe to repeat. Raises Unavailable."""
        body = _call.holds_body(holds)
        return self._verbs.count(self._send(self._verbs.post("release", body), timeout), "released")

    def renew(self, holds: Iterable[HoldToken], *, timeout: Optional[float] = None) -> int:
        """Extends holds to the rule's `hold_ttl` from now. Raises CallError with the code "no_such_hold" if one is gone."""
        body = _call.holds_body(holds)
        return self._verbs.count(self._send(self._verbs.post("renew", body), timeout), "renewed")

    def _send(self, request: bytes, timeout: Optional[float], repeatable: bool = True) -> Response:
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
                # Each attempt has its part of the time, so that a lost packet leaves time for another.
                until = now + (end - now) / (attempts - attempt)
                connection = self._connection(until)
                response = connection.exchange(request, until)
            except (OSError, Unavailable) as error:
                if connection is not None:
                    connection.close()
                now = clock.monotonic()
                if attempt + 1 < attempts and now < end:
                    continue
                failure = error if isinstance(error, Unavailable) else Unavailable(_text(error))
                breaker.failed(failure)
                raise failure from error
            except BaseException:  # Interrupted: the response may still come, and would be read as the next one.
                if connection is not None:
                    connection.close()
                raise
            if response.reusable and len(self._idle) < self._max_idle:
                self._idle.append(connection)
            else:
                connection.close()
            if response.status in _call._NOT_OURS and b'"allowed"' not in response.body:
                breaker.failed(Unavailable("status %d" % response.status))
            else:
                breaker.succeeded()
            return response
        raise AssertionError("unreachable")

    def _connection(self, deadline: float) -> _Connection:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return _Connection(self._verbs.server, self._context, deadline, self._clock)
            if connection.usable():
                return connection
            connection.close()


class Reservation:
    """An estimate that is charged. Set `cost` to the actual cost; it is settled at the end of the `with`.

    If `cost` is not set, by an exception for instance, the estimate stays charged.
    """

    def __init__(self, client: Client, decision: Decision) -> None:
        self._client, self.decision = client, decision
        self.cost: Optional[int] = None
        self.costs: Dict[str, int] = {}
        self.settled: List[Settled] = []

    def settle(self, cost: Optional[int] = None, **costs: int) -> List[Settled]:
        """Settles now. A daemon that does not answer leaves the estimate charged."""
        reservation = self.decision.reservation
        if reservation is not None and not self.settled:
            try:
                self.settled = self._client.settle(reservation, cost, **costs)
            except Unavailable:
                pass
        return self.settled

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self.cost is not None or self.costs:
            self.settle(self.cost, **self.costs)


class Hold:
    """Slots that are renewed until they are released, at the end of the `with`.

    `lost` becomes True if the daemon says that they have expired or were reset: others may have the slots by then.
    """

    def __init__(self, client: Client, decision: Decision, renew_every: float) -> None:
        self._client, self.decision, self.tokens = client, decision, decision.holds
        self.lost = False
        self.renewals = 0
        self._done = threading.Event()
        self._thread: Optional[threading.Thread] = None
        if self.tokens:
            self._thread = threading.Thread(target=self._renew, args=(renew_every,), name="sluice-hold", daemon=True)
            self._thread.start()

    def release(self) -> None:
        """Frees the slots. If the daemon does not answer, they are freed by the rule's `hold_ttl`."""
        if self._done.is_set():
            return
        self._done.set()
        if self._thread is not None:
            self._thread.join()
            try:
                self._client.release(self.tokens)
            except Unavailable:
                pass

    def _renew(self, every: float) -> None:
        while not self._done.wait(every):
            try:
                self._client.renew(self.tokens)
                self.renewals += 1
            except Unavailable:
                continue
            except CallError:
                self.lost = True
                return

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.release()
