"""What both clients share: which bytes a call sends, and what its response means. No I/O."""

from __future__ import annotations

import collections
import dataclasses
import ipaddress
import json
import logging
import os
import ssl
import urllib.parse
from typing import Any, Deque, Dict, Generic, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union

from ._advice import Advice, Policy, advise
from ._breaker import Breaker
from ._clock import SYSTEM, Clock
from ._decision import Decision, HoldToken, Settled, loads
from ._fields import Fields, http_date_ms
from ._http1 import Response, request_head
from .errors import CallError, Unavailable

Value = Union[str, int, float, bool, None]
Attributes = Mapping[str, Value]

log = logging.getLogger("sluice_client")
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_NOT_OURS = (408, 429, 502, 503, 504)  # Without a decision in it: a proxy's, or a daemon that shuts down.


@dataclasses.dataclass(frozen=True)
class Check:
    """One element of a batch: the attributes of a request, and what it costs."""

    attributes: Attributes
    cost: int = 1
    peek: bool = False


@dataclasses.dataclass(frozen=True)
class Server:
    """Where the daemon listens."""

    host: str
    port: int
    tls: bool
    authority: str
    path: str

    @classmethod
    def of(cls, url: str) -> Server:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("url: expected http://HOST:PORT or https://HOST:PORT, got %r" % url)
        tls = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if tls else 80), tls, parts.netloc.rpartition("@")[2],
                   parts.path.rstrip("/"))


class Verbs:
    """Writes calls and reads responses for one server. Thread-safe."""

    def __init__(self, url: str, token: Optional[str], fail: str, breaker: Breaker, clock: Clock) -> None:
        if fail not in ("open", "closed"):
            raise ValueError('fail: expected "open" or "closed", got %r' % fail)
        self.server, self.breaker, self._fail, self._clock = Server.of(url), breaker, fail, clock
        self._token = token
        self._heads: Dict[str, bytes] = {}
        self._logged_at: Optional[float] = None

    # What is sent.

    def post(self, verb: str, body: str, key: Optional[str] = None) -> bytes:
        head = self._heads.get(verb)
        if head is None:
            target = "%s/v1/ratelimit/%s" % (self.server.path, verb)
            head = request_head("POST", target, self.server.authority, self._token)
            self._heads[verb] = head
        data = body.encode()
        if key is None:
            return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(data), data)
        if not (key.isascii() and key.isprintable()):
            raise ValueError("idempotency_key: it has a character that HTTP does not allow: %r" % key)
        return b"%bIdempotency-Key: %b\r\nContent-Length: %d\r\n\r\n%b" % (head, key.encode("ascii"), len(data), data)

    def get_status(self, attributes: Attributes, cost: int) -> bytes:
        pairs = [(name, text_of(value)) for name, value in attributes.items() if value is not None]
        query = urllib.parse.urlencode([*pairs, ("cost", str(cost))])
        target = "%s/v1/ratelimit/status?%s" % (self.server.path, query)
        return request_head("GET", target, self.server.authority, self._token) + b"\r\n"

    # What comes back.

    def decision(self, response: Response) -> Decision:
        """Raises CallError for a call that is wrong, Unavailable for a response that is not Sluice's."""
        body = response.body
        # Every answer of the daemon begins so: then nothing else is read until it is asked for.
        if body.startswith(b'{"allowed": true,') and body.endswith(b"}"):
            return Decision(True, response.status, None, response)
        if body.startswith(b'{"allowed": false,') and body.endswith(b"}"):
            return Decision(False, response.status, None, response)
        try:
            answer = loads(body)
        except ValueError:
            answer = None
        if isinstance(answer, dict) and "allowed" in answer:
            return Decision(answer["allowed"] is True, response.status, answer, response)
        raise self._error(response.status, answer)

    def decisions(self, response: Response, count: int) -> List[Decision]:
        answers = self._json(response)
        if not isinstance(answers, list) or len(answers) != count:
            raise Unavailable("the answer to a batch has another length than the batch")
        decisions = []
        for answer in answers:
            if "allowed" not in answer:
                raise self._error(int(answer.get("status", 400)), answer)
            decisions.append(Decision(answer["allowed"] is True, answer["status"], answer))
        return decisions

    def settled(self, response: Response) -> List[Settled]:
        return [Settled(item["name"], item["charged"], item["cost"]) for item in self._json(response)["settled"]]

    def units(self, response: Response) -> Dict[str, int]:
        return {item["name"]: item["units"] for item in self._json(response)["refunded"]}

    def count(self, response: Response, member: str) -> int:
        return int(self._json(response)[member])

    def without_sluice(self, error: Exception) -> Decision:
        """The decision of the fail mode."""
        allowed = self._fail == "open"
        answer = {"allowed": allowed, "limits": []}
        retry_in = None if allowed else max(self.breaker.retry_in(), 1.0)
        return Decision(allowed, 200 if allowed else 503, answer, None, str(error), retry_in)

    def refused(self, error: CallError) -> Decision:
        """What a middleware does when its call is wrong: its service must not fail for that. Logged once a minute."""
        now = self._clock.monotonic()
        if self._logged_at is None or now - self._logged_at >= 60:
            self._logged_at = now
            log.error("%s; the fail mode decides until this is mended", error)
        return self.without_sluice(error)

    def _json(self, response: Response) -> Any:
        try:
            answer = loads(response.body)
        except ValueError:
            answer = None
        if response.status != 200:
            raise self._error(response.status, answer)
        if answer is None:
            raise Unavailable("the response has no JSON")
        return answer

    @staticmethod
    def _error(status: int, answer: Any) -> Exception:
        problem = answer if isinstance(answer, dict) else {}
        detail = str(problem.get("detail", "no detail"))
        if status in _NOT_OURS or status == 500 or status == 200:
            return Unavailable("status %d: %s" % (status, detail))
        return CallError(status, problem.get("code"), detail)


def text_of(value: Value) -> str:
    """As JSON writes it: true and not True."""
    return value if isinstance(value, str) else _encode(value)


def address(text: Optional[str]) -> Optional[str]:
    """An address as the attribute `ip`, whose type the daemon checks. None over a Unix socket."""
    try:
        return str(ipaddress.ip_address(text or ""))
    except ValueError:
        return None


_ConnectionT = TypeVar("_ConnectionT")


class Settings(Generic[_ConnectionT]):
    """How a client asks. The parameters are described at `Client`."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        token: Optional[str] = None,
        timeout: float = 0.1,
        retries: int = 1,
        fail: str = "open",
        breaker: Optional[Breaker] = None,
        policy: Policy = Policy(),
        ssl_context: Optional[ssl.SSLContext] = None,
        max_idle: int = 32,
        clock: Clock = SYSTEM,
    ) -> None:
        if timeout <= 0 or retries < 0:
            raise ValueError("timeout is above 0 and retries are not negative")
        self._verbs = Verbs(url, token, fail, breaker or Breaker(clock=clock), clock)
        self._timeout, self._retries, self._policy, self._clock = timeout, retries, policy, clock
        self._context = (ssl_context or ssl.create_default_context()) if self._verbs.server.tls else None
        self._idle: Deque[_ConnectionT] = collections.deque()
        self._max_idle = max_idle


def check_body(attributes: Attributes, cost: int, peek: bool, wait: bool, reserve: bool, receipt: bool) -> str:
    body: Dict[str, Any] = {"attributes": attributes, "cost": cost}
    if peek:
        body["peek"] = True
    if wait:
        body["wait"] = True
    if reserve:
        body["reserve"] = True
    if receipt:
        body["receipt"] = True
    return _encode(body)


def batch_body(checks: Sequence[Check]) -> str:
    return _encode([{"attributes": c.attributes, "cost": c.cost, "peek": c.peek} for c in checks])


def holds_body(holds: Iterable[HoldToken]) -> str:
    return _encode({"holds": [{"name": hold.name, "id": hold.id} for hold in holds]})


def settle_body(reservation: str, cost: Optional[int], costs: Mapping[str, int]) -> str:
    body: Dict[str, Any] = {**costs, "reservation": reservation}
    if cost is not None:
        body["cost"] = cost
    return _encode(body)


def receipt_body(receipt: str) -> str:
    return _encode({"receipt": receipt})


def new_key() -> str:
    """An idempotency key that no other process makes, also after a fork."""
    return os.urandom(16).hex()


def renewal_interval(decision: Decision, now: float) -> float:
    """Seconds between renewals: a third of the time that the holds have left. `now` is the wall clock's.

    The answer says when all slots of the key are free again, in whole seconds, and a hold just granted is the
    last to expire. The server's Date field is used where there is one, as the clocks may differ.
    """
    response = decision._response
    if response is not None:
        date = http_date_ms(Fields.of(response.fields()).get("date", ""), int(now * 1000))
        now = now if date is None else date / 1000
    names = {hold.name for hold in decision.holds}
    resets = [limit.reset_at for limit in decision.limits if limit.name in names and limit.reset_at is not None]
    left = (min(resets) - now - 1) if resets else 30.0
    return max(0.1, left / 3)


def acquire_advice(decision: Decision, clock: Clock, policy: Policy, attempt: int, deadline: Optional[float]) -> Advice:
    """What `acquire()` does after a denial."""
    response = decision._response
    if response is None:  # The fail mode denied.
        fields = list(decision.headers.items())
        return advise(503, fields, now=clock.time(), policy=policy, attempt=attempt, deadline=deadline)
    return advise(
        response.status, response.fields(), response.body.decode("utf-8", "replace"), now=clock.time(), policy=policy,
        method="POST", idempotency_key=True, attempt=attempt, deadline=deadline,
    )
