"""X-RateLimit-* and X-Rate-Limit-*: no standard, so the number says its unit."""
from generate import case, quota, stated

SOURCES = ["X (Twitter) API: Rate limits (x-rate-limit-reset in UTC epoch seconds)",
           "Sluice: docs/http-api.md, Headers (X-RateLimit-Reset in Unix seconds)",
           "express-rate-limit: legacyHeaders (epoch seconds)", "Reddit API rules (X-Ratelimit-Remaining has decimals)",
           "Rule of these vectors: up to 9 digits seconds to wait, up to 11 Unix seconds, up to 14 Unix milliseconds"]
X, XD = "x-ratelimit", "x-rate-limit"
DATE = {"Date": "Sun, 29 Nov 2026 12:00:00 GMT"}


def fields(reset, remaining="0", prefix="X-RateLimit-"):
    return {**DATE, prefix + "Limit": "100", prefix + "Remaining": remaining, prefix + "Reset": reset}


CASES = [
    case("epoch seconds", "As Sluice and express-rate-limit send it", 200, fields("1795953620"), quota(X, (0, 20000))),
    case("epoch seconds with a fraction", "As Discord sends it", 200, fields("1795953620.123"), quota(X, (0, 20123))),
    case("epoch milliseconds", "13 digits", 200, fields("1795953620500"), quota(X, (0, 20500))),
    case("seconds to wait", "A small number", 200, fields("20"), quota(X, (0, 20000))),
    case("seconds to wait, a decimal", "As Reddit sends them", 200, fields("20.5", "0.0"), quota(X, (0, 20500))),
    case("half a unit left", "Half a unit is no unit.", 200, fields("20", "0.5"), quota(X, (0, 20000))),
    case("a day to wait", "Still seconds: 10 digits would be 31 years.", 200, fields("86400"), quota(X, (0, 86400000))),
    case("nine digits", "Still seconds to wait; others hold for a day at most.", 200, fields("999999999"),
         quota(X, (0, 999999999000))),
    case("twelve digits", "Unix milliseconds of 1975: past.", 200, fields("179595362050"), quota(X, (0, None))),
    case("ISO 8601", "RFC 3339, as some send it", 200, fields("2026-11-29T12:00:20Z"), quota(X, (0, 20000))),
    case("ISO 8601 with an offset", "RFC 3339", 200, fields("2026-11-29T13:00:20.25+01:00"), quota(X, (0, 20250))),
    case("an HTTP date", "Seen too", 200, fields("Sun, 29 Nov 2026 12:00:20 GMT"), quota(X, (0, 20000))),
    case("enough left", "", 200, fields("1795953620", "12"), quota(X, (12, 20000))),
    case("denied, epoch seconds", "", 429, fields("1795953620"), quota(X, (0, 20000), throttled=True)),
    case("denied, epoch milliseconds", "Read as seconds it would be 56,000 years.", 429,
         fields("1795953620500"), quota(X, (0, 20500), throttled=True)),
    case("denied, reset is past", "Back off.", 429, fields("1795953590"), quota(X, (0, None), throttled=True)),
    case("reset is past", "The quota is there again.", 200, fields("1795953590"), quota(X, (0, None))),
    case("epoch microseconds", "More than 14 digits are unreadable.", 429, fields("1795953620500000"),
         quota(X, (0, None), throttled=True)),
    case("X-Rate-Limit", "Twitter's spelling", 429, fields("1795953660", prefix="x-rate-limit-"),
         quota(XD, (0, 60000), throttled=True)),
    case("X-Rate-Limit, enough left", "Twitter's spelling", 200, fields("1795954500", "170", prefix="x-rate-limit-"),
         quota(XD, (170, 900000))),
    case("Retry-After beside", "Retry-After first", 429, {**fields("1795953620"), "Retry-After": "3"},
         {**quota(X, (0, 20000)), **stated(3000)}),
    case("no reset", "Nothing says when.", 200, {"X-RateLimit-Remaining": "0"}, quota(X, (0, None))),
    case("no remaining", "A reset alone holds nothing.", 200, {"X-RateLimit-Reset": "20"}),
    case("no remaining, denied", "A 429 says that nothing is left.", 429, {"X-RateLimit-Reset": "20"},
         quota(X, (0, 20000), throttled=True)),
    case("the caller leaves headroom", "Two units are for others.", 200, fields("20", "2"), quota(X, (2, 20000)),
         {"headroom": 2}),
    case("above the headroom", "", 200, fields("20", "3"), quota(X, (3, 20000)), {"headroom": 2}),
]
