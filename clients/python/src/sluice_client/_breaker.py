"""A circuit breaker: a daemon that does not answer costs few requests their timeout, not all of them."""

from __future__ import annotations

import logging
import threading

from ._clock import SYSTEM, Clock

log = logging.getLogger("sluice_client")


class Breaker:
    """Opens after `failures` failed calls in a row; then only one call each `retry_every` seconds is tried.

    While it is open, checks are answered at once by the client's fail mode. One success closes it.
    retry_every: seconds, extended at random by up to a half, so that many clients do not try in step.
    Thread-safe.
    """

    def __init__(self, failures: int = 3, retry_every: float = 1.0, clock: Clock = SYSTEM) -> None:
        if failures < 1 or retry_every <= 0:
            raise ValueError("breaker: failures is at least 1, and retry_every above 0")
        self._most, self._retry_every, self._clock = failures, retry_every, clock
        self._lock = threading.Lock()
        self._failed = 0
        self._retry_at = 0.0

    @property
    def open(self) -> bool:
        return self._failed >= self._most

    def allows(self) -> bool:
        """Whether a call may be made now. If it is, tell the breaker how it ended."""
        if self._failed < self._most:
            return True
        with self._lock:
            now = self._clock.monotonic()
            if self._failed < self._most:
                return True
            if now < self._retry_at:
                return False
            self._wait(now)  # This caller tries. The others go on without.
            return True

    def retry_in(self) -> float:
        """Seconds until the next call may be made; 0 if one may be made now."""
        return max(0.0, self._retry_at - self._clock.monotonic()) if self.open else 0.0

    def succeeded(self) -> None:
        if not self._failed:
            return
        with self._lock:
            if self.open:
                log.info("Sluice answers again")
            self._failed = 0

    def failed(self, error: Exception) -> None:
        with self._lock:
            self._failed += 1
            if self._failed >= self._most:
                self._wait(self._clock.monotonic())
            if self._failed == self._most:
                log.warning("Sluice does not answer (%s): requests are decided without it", error)

    def _wait(self, now: float) -> None:
        self._retry_at = now + self._retry_every * (1 + self._clock.random() / 2)
