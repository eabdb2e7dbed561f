"""Discord: buckets that answers name."""
from generate import case, quota, stated

SOURCES = ["Discord API: Rate Limits, Header Format, Exceeding A Rate Limit (X-RateLimit-Reset-After, -Bucket, -Scope, -Global)",
           "discord/discord-api-docs#7394: field and body disagree on retry_after"]
X = "x-ratelimit"


def fields(remaining="1", **more):
    return {"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": remaining, "X-RateLimit-Reset": "1795953601.523",
            "X-RateLimit-Reset-After": "1.5", "X-RateLimit-Bucket": "abcd1234", **more}


B = {"bucket": "abcd1234"}
BODY = '{"message": "You are being rate limited.", "retry_after": 64.57, "global": %s}'
CASES = [
    case("enough left", "", 200, fields(), quota(X, (1, 1500), **B)),
    case("used up", "Reset-After needs no clock, so it counts before Reset.", 200, fields("0"), quota(X, (0, 1500), **B)),
    case("used up, a wrong clock", "Reset-After needs no clock.", 200, fields("0"), quota(X, (0, 1500), **B),
         {"now_ms": 1795950000000}),
    case("Reset alone", "A Unix time with a fraction", 200,
         {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795953601.523", "X-RateLimit-Bucket": "abcd1234"},
         quota(X, (0, 1523), **B)),
    case("denied, user", "Only this bucket", 429,
         fields("0", **{"Retry-After": "65", "X-RateLimit-Scope": "user"}), {**stated(65000), **B}, {"cap_ms": 120000},
         BODY % "false"),
    case("denied, shared", "A bucket that others use too", 429,
         fields("0", **{"Retry-After": "65", "X-RateLimit-Scope": "shared"}), {**stated(65000), **B}, {"cap_ms": 120000},
         BODY % "false"),
    case("denied, global scope", "All buckets", 429,
         {"Retry-After": "65", "X-RateLimit-Scope": "global"}, stated(65000, **{"global": True}), {"cap_ms": 120000},
         BODY % "true"),
    case("denied, global field", "All buckets", 429,
         {"Retry-After": "65", "X-RateLimit-Global": "true"}, stated(65000, **{"global": True}), {"cap_ms": 120000},
         BODY % "true"),
    case("field and body disagree", "One source: the field. The body is not read for a time.", 429,
         fields("0", **{"Retry-After": "1"}), {**stated(1000), **B}, body=BODY % "false"),
    case("the body alone", "No field says a time: back off.", 429, {}, {"throttled": True}, body=BODY % "false"),
]
