"""Keeps to the limits that somebody else's server shows: what the httpx and requests transports share. No I/O."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import logging
import threading
from typing import Iterable, Iterator, List, NamedTuple, Optional, OrderedDict, Tuple

from ._advice import Advice, Policy, advise
from ._clock import SYSTEM, Clock
from .errors import Throttled

MOST_RESOURCES = 4096  # The least recently used are forgotten.

log = logging.getLogger("sluice_client")
_ends: contextvars.ContextVar[Optional[float]] = contextvars.ContextVar("sluice_client_deadline", default=None)


@contextlib.contextmanager
def deadline(seconds: float, clock: Clock = SYSTEM) -> Iterator[None]:
    """All requests of throttled transports within the `with` end by then, waits included: also those of libraries.

    Nested deadlines: the earlier one counts.
    """
    end, outer = clock.monotonic() + seconds, _ends.get()
    token = _ends.set(end if outer is None else min(end, outer))
    try:
        yield
    finally:
        _ends.reset(token)


class Holding(NamedTuple):
    """A bucket to which nothing is sent now. `why` says what the server said."""

    bucket: str
    seconds: float
    why: str


class _Bucket:
    """What is known of one quota of a server."""

    __slots__ = ("until", "advice", "left", "reset", "in_flight")

    def __init__(self) -> None:
        self.until = 0.0  # Monotonic: nothing is sent before.
        self.advice: Optional[Advice] = None
        self.left: Optional[int] = None  # Units that the last answer showed, less what was sent since.
        self.reset = 0.0
        self.in_flight = 0


class Throttle:
    """What servers said about their limits, by resource. Thread-safe, and shared by any number of transports.

    A resource is a text that the transport makes of a request: host and path, unless you say otherwise. Resources share a
    bucket once the server names it (`X-RateLimit-Resource`, `X-RateLimit-Bucket`), so that search stays open while the
    core quota is used up. A limit that the server declares for all buckets holds the whole host.

    deadline: seconds that one request may take with all its waits, None for ever.
    """

    def __init__(self, policy: Policy = Policy(), *, deadline: Optional[float] = None, clock: Clock = SYSTEM) -> None:
        self.policy, self.deadline, self.clock = policy, deadline, clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, _Bucket] = collections.OrderedDict()
        self._bucket_of: OrderedDict[str, str] = collections.OrderedDict()

    def start(self, host: str, resource: str) -> Attempts:
        """A request is about to be sent."""
        return Attempts(self, host, resource)

    def holdings(self) -> List[Holding]:
        """The buckets that are held now, and why."""
        now = self.clock.monotonic()
        with self._lock:
            return [
                Holding(name, bucket.until - now, bucket.advice.explain())
                for name, bucket in self._buckets.items()
                if bucket.until > now and bucket.advice is not None
            ]

    # For Attempts.

    def _bucket(self, name: str) -> _Bucket:
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = _Bucket()
            for old in list(self._buckets)[: max(0, len(self._buckets) - MOST_RESOURCES)]:
                if not self._buckets[old].in_flight:
                    del self._buckets[old]
        self._buckets.move_to_end(name)
        return bucket

    def _enter(self, host: str, resource: str) -> Tuple[float, Optional[Advice], Optional[_Bucket]]:
        """Seconds to wait before the request may be sent, why, and if 0 the bucket that counts it."""
        with self._lock:
            now = self.clock.monotonic()
            name = self._bucket_of.get(resource, resource)
            bucket = self._bucket(name)
            whole = self._buckets.get(host)
            for held in (whole, bucket):
                if held is not None and held.until > now:
                    return held.until - now, held.advice, None
            if bucket.left is not None:
                if now >= bucket.reset:
                    bucket.left = None  # A new window: the next answer says how much it holds.
                elif bucket.left <= self.policy.headroom and bucket.in_flight == 0:
                    return bucket.reset - now, bucket.advice, None
                elif bucket.left <= self.policy.headroom:
                    # The requests in flight use up what is left. Their answers come before the reset, and say more.
                    return min(bucket.reset - now, 0.05), bucket.advice, None
                else:
                    bucket.left -= 1
            bucket.in_flight += 1
            return 0.0, None, bucket

    def _leave(self, bucket: _Bucket, host: str, resource: str, advice: Optional[Advice]) -> None:
        with self._lock:
            bucket.in_flight -= 1
            if advice is None:
                return
            now = self.clock.monotonic()
            if advice.bucket is not None:
                name = "%s %s" % (host, advice.bucket)
                self._bucket_of[resource] = name
                self._bucket_of.move_to_end(resource)
                if len(self._bucket_of) > MOST_RESOURCES:
                    self._bucket_of.popitem(last=False)
                bucket = self._bucket(name)
            if advice.hold_ms:
                held = self._bucket(host) if advice.everywhere else bucket
                until = now + advice.hold_ms / 1000
                if until > held.until:
                    held.until, held.advice = until, advice
            if advice.left is not None:
                left, reset_ms = advice.left
                bucket.left, bucket.reset = left - bucket.in_flight, now + reset_ms / 1000
                bucket.advice = advice


class Attempts:
    """One request, from before it is first sent until its last response. Used by one thread or task.

    The transport calls `before()` until it gives 0, sends, and calls `after()`, which says what to do with the response.
    """

    def __init__(self, throttle: Throttle, host: str, resource: str) -> None:
        self._throttle, self._host, self._resource = throttle, host, resource
        ends = [] if throttle.deadline is None else [throttle.clock.monotonic() + throttle.deadline]
        outer = _ends.get()
        self._end: Optional[float] = min([*ends, *([] if outer is None else [outer])], default=None)
        self._bucket: Optional[_Bucket] = None
        self.attempt = 0

    def left(self) -> Optional[float]:
        return None if self._end is None else self._end - self._throttle.clock.monotonic()

    def before(self) -> float:
        """Seconds to wait and then call again; 0: send the request now. Raises Throttled if that is too long."""
        throttle = self._throttle
        seconds, advice, self._bucket = throttle._enter(self._host, self._resource)
        if seconds == 0.0:
            self.attempt += 1
            return 0.0
        assert advice is not None
        left = self.left()
        if seconds > throttle.policy.cap:
            raise Throttled(self._resource, seconds, advice, "cap of %g s" % throttle.policy.cap)
        if left is not None and seconds >= left:
            raise Throttled(self._resource, seconds, advice, "deadline")
        log.info("%s is held for %.3f s: %s", self._resource, seconds, advice.explain())
        extended = seconds * (1 + throttle.policy.jitter * throttle.clock.random())
        return extended if left is None else min(extended, left)

    def after(
        self, status: int, fields: Iterable[Tuple[str, str]], body: Optional[str], method: str, idempotency_key: bool
    ) -> Advice:
        throttle = self._throttle
        advice = advise(
            status, fields, body, now=throttle.clock.time(), policy=throttle.policy, method=method,
            idempotency_key=idempotency_key, attempt=self.attempt, deadline=self.left(),
        )
        assert self._bucket is not None
        bucket, self._bucket = self._bucket, None
        throttle._leave(bucket, self._host, self._resource, advice)
        if advice.action != "proceed":
            log.info("%s answered %d, attempt %d: %s", self._resource, status, self.attempt, advice.explain())
        return advice

    def failed(self) -> None:
        """The request was sent and got no response."""
        if self._bucket is not None:
            bucket, self._bucket = self._bucket, None
            self._throttle._leave(bucket, self._host, self._resource, None)


def wants_body(status: int) -> bool:
    """Whether the body of a response may say something about a limit."""
    return status in (403, 429)

