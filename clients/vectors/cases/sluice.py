"""The answers of a Sluice daemon to a check."""
import json

from generate import case, quota, stated

SOURCES = ["Sluice: docs/http-api.md, Check, Which wait to use; docs/calling-from-code.md, The headers for your own callers"]


def denied(reason, wait_ms, **more):
    seconds = None if wait_ms is None else -(-wait_ms // 1000)
    return json.dumps({"allowed": False, "remaining": 0, "reset_at": 1795953700, "retry_after": seconds,
                       "retry_after_ms": wait_ms,
                       "limits": [{"name": "api", "allowed": False, "limit": 3, "remaining": 0, "reset_at": 1795953700,
                                   "reason": reason, "retry_after_ms": wait_ms}], **more})


RL = {"RateLimit-Policy": '"api";q=3;w=60', "RateLimit": '"api";r=0;t=20'}
NEVER = {"throttled": True, "never": True}
CASES = [
    case("denied", "retry_after_ms is exact; the field is rounded up and may have a random delay.", 429,
         {**RL, "Retry-After": "27"}, stated(26412, "retry_after_ms"), body=denied("quota_exceeded", 26412),
         call={"method": "POST"}),
    case("denied, a fraction of a second", "", 429, {**RL, "Retry-After": "1"}, stated(3, "retry_after_ms"),
         body=denied("quota_exceeded", 3), call={"method": "POST"}),
    case("a slot", "Nobody knows when a slot is free: the field says 1.", 429, {"Retry-After": "1"}, stated(1000),
         body=denied("in_flight", None), call={"method": "POST"}),
    case("cost above the limit", "Never", 429, RL, NEVER, body=denied("cost_exceeds_capacity", None),
         call={"method": "POST"}),
    case("limit 0", "Never", 429, {}, NEVER, body=denied("limit_zero", None), call={"method": "POST"}),
    case("attribute missing", "Never", 429, {}, NEVER, body=denied("attribute_missing", None), call={"method": "POST"}),
    case("deny list", "Never", 403, {}, NEVER, body=denied("deny_listed", None), call={"method": "POST"}),
    case("banned", "The rest of the ban is more than the cap.", 403, {"Retry-After": "870"},
         stated(870000, "retry_after_ms"), body=denied("banned", 870000), call={"method": "POST"}),
    case("banned, a short rest", "", 403, {"Retry-After": "9"}, stated(8500, "retry_after_ms"),
         body=denied("banned", 8500), call={"method": "POST"}),
    case("allowed", "", 200, {"RateLimit": '"api";r=2;t=20'}, quota("ratelimit", (2, 20000)),
         body='{"allowed": true, "remaining": 2, "reset_at": 1795953640, "limits": []}', call={"method": "POST"}),
    case("allowed, the last", "The field says when there is more.", 200, RL, quota("ratelimit", (0, 20000)),
         body='{"allowed": true, "remaining": 0, "reset_at": 1795953620, "limits": []}', call={"method": "POST"}),
    case("the caller's deadline", "", 429, {"Retry-After": "27"}, stated(26412, "retry_after_ms"),
         body=denied("quota_exceeded", 26412), call={"method": "POST", "deadline_ms": 26412}),
]
