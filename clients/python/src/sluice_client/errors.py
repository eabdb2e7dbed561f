"""What can go wrong with a call of Sluice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from ._advice import Advice
    from ._decision import Decision


class SluiceError(Exception):
    """The base of all errors of this package."""


class Unavailable(SluiceError):
    """Sluice did not answer in time, or not as Sluice does. `check()` never raises it: its fail mode decides."""


class CallError(SluiceError):
    """Sluice refused the call itself: the program or its configuration is wrong, and a retry does not help.

    status: of HTTP, such as 400 or 401. code: for programs, such as "invalid_cost". detail: for people.
    """

    def __init__(self, status: int, code: Optional[str], detail: str) -> None:
        super().__init__("Sluice refused the call: %d %s: %s" % (status, code or "", detail))
        self.status, self.code, self.detail = status, code, detail


class Denied(SluiceError):
    """The request may not pass now. `decision` says why and when it may."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.why)
        self.decision = decision


class Throttled(SluiceError):
    """A request was not sent, because its quota is used up for longer than the caller waits.

    seconds: until the quota is available again. advice: what an earlier response said.
    """

    def __init__(self, resource: str, seconds: float, advice: Advice, limit: str) -> None:
        super().__init__(
            "not sent: %s is held for %.3f s, longer than the %s allows (%s)"
            % (resource, seconds, limit, advice.explain())
        )
        self.resource, self.seconds, self.advice = resource, seconds, advice
