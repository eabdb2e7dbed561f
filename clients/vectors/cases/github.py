"""GitHub's primary and secondary limits."""
from generate import case, quota, stated

SOURCES = ["GitHub REST API: Rate limits, Exceeding the rate limit (primary: 403 or 429 with x-ratelimit-remaining 0, wait "
           "for x-ratelimit-reset; secondary: retry-after if present, else the reset if remaining is 0, else at least one "
           "minute, then exponentially longer)"]
X = "x-ratelimit"
SECONDARY = ('{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", '
             '"documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api'
             '#about-secondary-rate-limits"}')


def fields(remaining="4999", reset="1795953630", resource="core", **more):
    return {"Date": "Sun, 29 Nov 2026 12:00:00 GMT", "x-ratelimit-limit": "5000", "x-ratelimit-remaining": remaining,
            "x-ratelimit-used": "1", "x-ratelimit-reset": reset, "x-ratelimit-resource": resource, **more}


CORE, ALL = {"bucket": "core"}, {"bucket": "core", "global": True}
CASES = [
    case("enough left", "", 200, fields(), quota(X, (4999, 30000), **CORE)),
    case("the last one", "The next has to wait for the reset.", 200, fields("0"), quota(X, (0, 30000), **CORE)),
    case("another resource", "Search has its own quota: core goes on.", 200, fields("0", resource="search"),
         quota(X, (0, 30000), bucket="search")),
    case("primary, 403", "403 with nothing remaining is a limit.", 403, fields("0"),
         quota(X, (0, 30000), throttled=True, **CORE)),
    case("primary, 429", "", 429, fields("0"), quota(X, (0, 30000), throttled=True, **CORE)),
    case("primary, an hour away", "Longer than the cap: give up, and let others know.", 403,
         fields("0", "1795957200"), quota(X, (0, 3600000), throttled=True, **CORE)),
    case("403, enough left", "A permission is missing. No limit.", 403, fields("4999"), quota(X, (4999, 30000), **CORE),
         body='{"message": "Resource not accessible by integration"}'),
    case("secondary with retry-after", "It is for all resources.", 403, fields("4990", **{"retry-after": "45"}),
         {**quota(X, (4990, 30000)), **stated(45000), **ALL}, body=SECONDARY),
    case("secondary with retry-after, 429", "", 429, fields("4990", **{"retry-after": "45"}),
         {**quota(X, (4990, 30000)), **stated(45000), **ALL}, body=SECONDARY),
    case("secondary with nothing remaining", "Then the reset", 403, fields("0"),
         quota(X, (0, 30000), throttled=True, **ALL), body=SECONDARY),
    case("secondary without", "At least one minute", 403, fields("4990"),
         quota(X, (4990, 30000), throttled=True, floor_ms=60000, **ALL), body=SECONDARY),
    case("secondary without, again", "Exponentially longer: two minutes", 403, fields("4990"),
         quota(X, (4990, 30000), throttled=True, floor_ms=60000, **ALL), {"attempt": 2, "cap_ms": 300000}, SECONDARY),
    case("secondary without, a short cap", "A minute is more than the caller waits.", 403, fields("4990"),
         quota(X, (4990, 30000), throttled=True, floor_ms=60000, **ALL), {"cap_ms": 30000}, SECONDARY),
    case("secondary without, a short deadline", "", 429, fields("4990"),
         quota(X, (4990, 30000), throttled=True, floor_ms=60000, **ALL), {"deadline_ms": 20000}, SECONDARY),
    case("the client's clock is an hour slow", "The reset is measured from Date.", 403, fields("0"),
         quota(X, (0, 30000), throttled=True, **CORE), {"now_ms": 1795950000000}),
    case("the client's clock is an hour fast", "The reset is measured from Date.", 403, fields("0"),
         quota(X, (0, 30000), throttled=True, **CORE), {"now_ms": 1795957200000}),
]
