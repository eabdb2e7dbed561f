"""The same response, different callers: deadline, cap, attempt, jitter, method, clock."""
from generate import case, stated

SOURCES = ["Rules of these vectors: README.md, The caller",
           "psf/requests#4854, urllib3/urllib3#3401: a Retry-After of an hour blocked an hour",
           "RFC 9110, 9.2.2 Idempotent Methods"]
TEN = {"Retry-After": "10"}
DATE = "Sun, 29 Nov 2026 12:00:00 GMT"


def ten(name, why, **call):
    return case(name, why, 429, TEN, stated(10000), call)


def none(name, why, **call):
    return case(name, why, 429, {}, {"throttled": True}, call)


CASES = [
    ten("the deadline is far", "", deadline_ms=60000),
    ten("the deadline cuts the jitter", "10 s fits, 12 s does not.", deadline_ms=11000),
    ten("the deadline is the wait", "No time would be left for the request.", deadline_ms=10000),
    ten("the deadline is near", "Give up at once; don't sleep in vain.", deadline_ms=3000),
    ten("the deadline is over", "", deadline_ms=0),
    ten("the cap is the wait", "", cap_ms=10000),
    ten("the cap is below", "", cap_ms=9999),
    ten("cap and deadline below", "The cap is the first reason.", cap_ms=5000, deadline_ms=5000),
    ten("the last attempt", "", attempt=5),
    ten("the last but one", "", attempt=4),
    ten("one attempt", "The caller wants no retries.", max_attempts=1),
    ten("no jitter", "", jitter_percent=0),
    ten("much jitter", "", jitter_percent=100),
    ten("POST", "A 429 was not processed: any method may be sent again.", method="POST"),
    case("503 to a POST", "It may have been processed.", 503, TEN, stated(10000), {"method": "POST"}),
    case("503 to a POST with a key", "An idempotency key makes it safe.", 503, TEN, stated(10000),
         {"method": "POST", "idempotency_key": True}),
    case("503 to a PUT", "Idempotent", 503, TEN, stated(10000), {"method": "PUT"}),
    case("503 to a PATCH", "Not idempotent", 503, TEN, stated(10000), {"method": "PATCH"}),
    case("an hour", "Give up; others of this bucket hold.", 429, {"Retry-After": "3600"}, stated(3600000)),
    case("an hour, and the caller has two", "", 429, {"Retry-After": "3600"}, stated(3600000),
         {"cap_ms": 7200000, "deadline_ms": 7200000}),
    case("a month", "What a field says holds others for a day at most, then one request looks again.", 429,
         {"Retry-After": "2592000"}, stated(2592000000)),
    none("back-off 1", "base"),
    none("back-off 2", "twice", attempt=2),
    none("back-off 3", "four times", attempt=3),
    none("back-off 4", "eight times", attempt=4),
    none("back-off 5 of 9", "", attempt=5, max_attempts=9),
    none("back-off at the cap", "", attempt=8, max_attempts=9, cap_ms=20000),
    none("back-off, many attempts", "No overflow", attempt=80, max_attempts=99),
    none("back-off past the deadline", "", attempt=3, deadline_ms=1500),
    none("back-off, the deadline cuts the jitter", "", deadline_ms=550),
    none("back-off, the last attempt", "", attempt=5),
    none("back-off, another base", "", base_ms=100, attempt=2),
    case("the clock is an hour slow", "A date is measured from Date.", 429,
         {"Date": DATE, "Retry-After": "Sun, 29 Nov 2026 12:00:10 GMT"}, stated(10000), {"now_ms": 1795950000000}),
    case("the clock is a year fast", "A date is measured from Date.", 429,
         {"Date": DATE, "Retry-After": "Sun, 29 Nov 2026 12:00:10 GMT"}, stated(10000), {"now_ms": 1827489600000}),
    case("seconds need no clock", "", 429, {"Date": DATE, **TEN}, stated(10000), {"now_ms": 1}),
    case("slow, and no Date", "The client's clock is all there is: the hour is added.", 429,
         {"Retry-After": "Sun, 29 Nov 2026 12:00:10 GMT"}, stated(3610000), {"now_ms": 1795950000000}),
    case("fast, and no Date", "The date is past: back off.", 429,
         {"Retry-After": "Sun, 29 Nov 2026 12:00:10 GMT"}, {"throttled": True}, {"now_ms": 1795957200000}),
    case("the clock has milliseconds", "", 429, {"Retry-After": "Sun, 29 Nov 2026 12:00:10 GMT"}, stated(9250),
         {"now_ms": 1795953600750}),
]
