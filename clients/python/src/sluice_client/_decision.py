"""Answers of Sluice, as values."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ._http1 import Response

# What a service passes on to its own callers.
_PASSED_ON = frozenset(
    ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-used", "x-ratelimit-resource",
     "ratelimit", "ratelimit-policy", "retry-after")
)


_decode = json.JSONDecoder().decode


def loads(body: bytes) -> Any:
    """JSON in UTF-8. Raises ValueError. Faster than json.loads(), which guesses the encoding first."""
    return _decode(body.decode())


class Limit(NamedTuple):
    """One rule that applied to a request."""

    name: str
    allowed: bool
    limit: Optional[int]
    remaining: Optional[int]
    reset_at: Optional[int]
    reason: Optional[str] = None
    retry_after: Optional[float] = None
    shadow: bool = False
    degraded: bool = False


class HoldToken(NamedTuple):
    """One slot of a concurrency rule."""

    name: str
    id: str


class Decision:
    """Whether a request may pass. True in a condition if it may.

    Everything but `allowed` is read from the answer when it is asked for.
    """

    __slots__ = ("allowed", "status", "_parsed", "_response", "_unavailable", "_retry_in")

    def __init__(self, allowed: bool, status: int, answer: Optional[Mapping[str, Any]] = None,
                 response: Optional[Response] = None, unavailable: Optional[str] = None,
                 retry_in: Optional[float] = None) -> None:
        self.allowed, self.status = allowed, status
        self._parsed, self._response = answer, response
        self._unavailable, self._retry_in = unavailable, retry_in

    @property
    def _answer(self) -> Mapping[str, Any]:
        if self._parsed is None:  # Most callers ask for no more than `allowed`.
            assert self._response is not None
            self._parsed = loads(self._response.body)
        return self._parsed

    def __bool__(self) -> bool:
        return self.allowed

    def __repr__(self) -> str:
        return "<Decision %s: %s>" % ("allowed" if self.allowed else "denied", self.why)

    @property
    def remaining(self) -> Optional[int]:
        """Units that would be granted right now; None if nothing limits the request."""
        return self._answer.get("remaining")

    @property
    def reset_at(self) -> Optional[int]:
        """Unix time in seconds at which the full limit is available again."""
        return self._answer.get("reset_at")

    @property
    def retry_after(self) -> Optional[float]:
        """Seconds after which it is worth to try again: exact, not rounded. None if allowed, or waiting does not help."""
        if self.allowed:
            return None
        if self._unavailable is not None:
            return self._retry_in
        milliseconds = self._answer.get("retry_after_ms")
        if milliseconds is not None:
            return float(milliseconds) / 1000
        return float(self.headers["Retry-After"]) if self.headers.get("Retry-After", "").isdigit() else None

    @property
    def wait(self) -> float:
        """Allowed, but only after so many seconds (a rule with `shape: true`). Otherwise 0."""
        return float(self._answer.get("wait_ms", 0)) / 1000 if not self._answer.get("waited") else 0.0

    @property
    def limits(self) -> Tuple[Limit, ...]:
        """The rules that applied, in their order. Empty if none did."""
        return tuple(
            Limit(
                item["name"], item["allowed"], item.get("limit"), item.get("remaining"), item.get("reset_at"),
                item.get("reason"), None if item.get("retry_after_ms") is None else item["retry_after_ms"] / 1000,
                item.get("shadow", False), item.get("degraded", False),
            )
            for item in self._answer.get("limits", ())
        )

    @property
    def denied_by(self) -> Optional[Limit]:
        """The first enforced rule that denied."""
        return next((limit for limit in self.limits if not limit.allowed and not limit.shadow), None)

    @property
    def reason(self) -> Optional[str]:
        """Why it is denied: a reason of docs/http-api.md, or "sluice_unavailable". None if allowed."""
        if self.allowed:
            return None
        if self._unavailable is not None:
            return "sluice_unavailable"
        limit = self.denied_by
        return limit.reason if limit else None

    @property
    def degraded(self) -> bool:
        """Decided by the fail mode, because Sluice did not answer."""
        return self._unavailable is not None

    @property
    def holds(self) -> List[HoldToken]:
        return [HoldToken(item["name"], item["id"]) for item in self._answer.get("holds", ())]

    @property
    def receipt(self) -> Optional[str]:
        return self._answer.get("receipt")

    @property
    def reservation(self) -> Optional[str]:
        return self._answer.get("reservation")

    @property
    def headers(self) -> Dict[str, str]:
        """Retry-After and the rate limit fields, to pass on to your own caller."""
        if self._response is None:
            seconds = self.retry_after
            return {} if seconds is None else {"Retry-After": str(max(1, int(-(-seconds // 1))))}
        return {name: value for name, value in self._response.fields() if name.lower() in _PASSED_ON}

    @property
    def why(self) -> str:
        """The decision in a sentence, for logs."""
        if self._unavailable is not None:
            return "%s without Sluice: %s" % ("allowed" if self.allowed else "denied", self._unavailable)
        if self.allowed:
            names = ", ".join(limit.name for limit in self.limits)
            return "allowed by %s" % names if names else "allowed: no rule applies"
        limit, seconds = self.denied_by, self.retry_after
        when = "waiting does not help" if seconds is None else "again in %.3f s" % seconds
        return "denied by %s: %s; %s" % (limit.name if limit else "?", self.reason, when)


class Settled(NamedTuple):
    """A rule's part of a settlement: what the reservation had charged, and what it is settled at."""

    name: str
    charged: int
    cost: int
