"""What to do with a response of a server that limits rates: a pure function, the same in every client.

The rules, and the vectors that hold this file to them, are in clients/vectors.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Iterable, List, Mapping, Optional, Tuple

from ._fields import MOST_MS, Fields, Quota, decimal_ms, http_date_ms, quotas_of

DAY_MS = 24 * 3600 * 1000
GITHUB_SECONDARY_MS = 60_000
_IDEMPOTENT = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"))


@dataclasses.dataclass(frozen=True)
class Policy:
    """What a caller allows.

    max_attempts: how often a request is sent at most, the first time included.
    cap: the longest single wait in seconds; a server that asks for more is given up on.
    base: the first back-off in seconds, where the server says no time. It doubles with each attempt, up to `cap`.
    jitter: by which part a wait may be extended at random. A wait is never shortened.
    headroom: units of each quota that are left to other users of it.
    """

    max_attempts: int = 4
    cap: float = 60.0
    base: float = 0.5
    jitter: float = 0.2
    headroom: int = 0

    def __post_init__(self) -> None:
        if self.max_attempts < 1 or self.cap < 0 or self.base <= 0 or self.jitter < 0 or self.headroom < 0:
            raise ValueError("policy: max_attempts is at least 1, base above 0, and the rest not negative: %r" % (self,))


@dataclasses.dataclass(frozen=True)
class Advice:
    """What to do with a response. `explain()` says it in a sentence.

    action: "proceed" (no limit refused the request), "wait" (send it again) or "give_up" (hand it to the caller).
    reason: "ok", "used_up", "server", "backoff", "never", "attempts", "unsafe", "cap" or "deadline".
    source: what the time was read from, such as "retry-after"; None if no time was read.
    wait_ms: for "wait", the earliest and latest time to send the request again.
    hold_ms: how long other requests to the same bucket must not be sent.
    bucket: the name that the server gives to the bucket. everywhere: `hold_ms` counts for the whole host.
    left: of the quota with the least units, those units and the milliseconds until its reset; None if unknown.
    """

    action: str
    reason: str
    source: Optional[str] = None
    wait_ms: Optional[Tuple[int, int]] = None
    hold_ms: int = 0
    bucket: Optional[str] = None
    everywhere: bool = False
    left: Optional[Tuple[int, int]] = None

    def wait_seconds(self, random: float) -> float:
        """The wait for a random number from 0 to 1. 0 unless the action is "wait"."""
        if self.wait_ms is None:
            return 0.0
        earliest, latest = self.wait_ms
        return (earliest + (latest - earliest) * random) / 1000

    def explain(self) -> str:
        stated = "%s says %.3f s" % (self.source, self.hold_ms / 1000)
        return {
            "ok": "no limit",
            "used_up": "the quota is used up: %s" % stated,
            "server": "refused by a limit: %s" % stated,
            "backoff": "refused by a limit that says no time: backing off",
            "never": "refused by a limit, and waiting does not help",
            "attempts": "refused by a limit, and this was the last attempt",
            "unsafe": "503, and the request may have been processed: it has no idempotency key",
            "cap": "refused by a limit: %s, more than the cap" % stated,
            "deadline": "refused by a limit: %s, more than the deadline leaves" % stated,
        }[self.reason]


def _json_object(body: Optional[str]) -> Mapping[str, Any]:
    if not body or not body.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _told_ms(fields: Fields, answer: Mapping[str, Any], server_now_ms: int, now_ms: int) -> Tuple[int, Optional[str]]:
    """The time that the server asks to wait and where it says so; (0, None) if it does not."""
    exact = answer.get("retry_after_ms")
    if isinstance(exact, int) and exact > 0:
        return min(exact, MOST_MS), "retry_after_ms"
    milliseconds = decimal_ms(fields.get("retry-after-ms", ""), 1)
    if milliseconds:
        return milliseconds, "retry-after-ms"
    text = fields.get("retry-after", "")
    seconds = decimal_ms(text)
    if seconds:
        return seconds, "retry-after"
    if seconds is None:
        at = http_date_ms(text, now_ms)
        if at is not None and at > server_now_ms:
            return at - server_now_ms, "retry-after"
    return 0, None


def _reset_ms(quotas: List[Quota], headroom: int) -> int:
    return max((quota.reset_ms for quota in quotas if quota.remaining <= headroom), default=0)


def advise(
    status: int,
    fields: Iterable[Tuple[str, str]],
    body: Optional[str] = None,
    *,
    now: float,
    policy: Policy = Policy(),
    method: str = "GET",
    idempotency_key: bool = False,
    attempt: int = 1,
    deadline: Optional[float] = None,
) -> Advice:
    """What to do with a response.

    fields: pairs of name and value; a name may come twice.
    body: needed only of 403 and 429 (GitHub's secondary limit, OpenAI's insufficient_quota, answers of Sluice).
    now: the wall clock in Unix seconds, used where the response has no Date.
    attempt: 1 for the first. deadline: seconds that the caller has left, None for ever.

    Never raises for what the response holds. Thread-safe: it keeps no state.
    """
    known = Fields.of(fields)
    now_ms = round(now * 1000)
    server_now_ms = http_date_ms(known.get("date", ""), now_ms)
    if server_now_ms is None:
        server_now_ms = now_ms
    object_ = _json_object(body) if status in (403, 429, 503) else {}
    answer = object_ if object_.get("allowed") is False and isinstance(object_.get("limits"), list) else {}
    told_ms, source = _told_ms(known, answer, server_now_ms, now_ms)
    secondary = status in (403, 429) and "secondary rate limit" in _text_of(object_.get("message")).lower()

    refused = status in (429, 529) or (status in (403, 503) and told_ms > 0) or secondary or bool(answer)
    family, quotas = quotas_of(known, refused, server_now_ms, now_ms)
    if status == 403 and family == "x-ratelimit" and _reset_ms(quotas, 0) and quotas[0].remaining == 0:
        refused = True
    bucket = known.get("x-ratelimit-bucket") or known.get("x-ratelimit-resource")
    everywhere = refused and (
        secondary or known.get("x-ratelimit-global") == "true" or known.get("x-ratelimit-scope") == "global"
    )

    least = min((quota for quota in quotas if quota.reset_ms), default=None)
    left = None if least is None else (least.remaining, min(least.reset_ms, DAY_MS))
    if not refused:
        hold_ms = min(_reset_ms(quotas, policy.headroom), DAY_MS)
        return Advice("proceed", "used_up" if hold_ms else "ok", family if hold_ms else None, None, hold_ms, bucket,
                      left=left)
    error = object_.get("error")
    if (
        known.get("x-should-retry") == "false"
        or (isinstance(error, dict) and error.get("code") == "insufficient_quota")
        or (answer and not told_ms)
    ):
        return Advice("give_up", "never", bucket=bucket, left=left)

    cap_ms, base_ms = round(policy.cap * 1000), round(policy.base * 1000)
    if not told_ms:
        told_ms, source = min(_reset_ms(quotas, 0), MOST_MS), family
    if not told_ms:
        floor_ms = GITHUB_SECONDARY_MS if secondary else 0
        told_ms = min(max(base_ms, floor_ms) * 2 ** min(attempt - 1, 60), max(cap_ms, floor_ms))
        source = "backoff"
    hold_ms = min(told_ms, DAY_MS)

    def give_up(reason: str) -> Advice:
        return Advice("give_up", reason, source, None, hold_ms, bucket, everywhere, left)

    if attempt >= policy.max_attempts:
        return give_up("attempts")
    if status == 503 and method.upper() not in _IDEMPOTENT and not idempotency_key:
        return give_up("unsafe")
    if told_ms > cap_ms:
        return give_up("cap")
    latest_ms = told_ms + int(told_ms * policy.jitter)
    if deadline is not None:
        deadline_ms = round(deadline * 1000)
        if told_ms >= deadline_ms:
            return give_up("deadline")
        latest_ms = min(latest_ms, deadline_ms)
    reason = "backoff" if source == "backoff" else "server"
    return Advice("wait", reason, source, (told_ms, latest_ms), hold_ms, bucket, everywhere, left)
