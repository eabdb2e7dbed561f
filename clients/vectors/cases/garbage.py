"""Fields that say nothing readable, and numbers that are too large."""
from generate import case, quota, stated

SOURCES = ["draft-ietf-httpapi-ratelimit-headers-10: malformed fields MUST be ignored; Denial of Service",
           "RFC 9110, 10.2.3: Retry-After = HTTP-date / delay-seconds"]
MOST = 2 ** 53 - 1
X = "x-ratelimit"


def retry_after(value, why="Unreadable: as if it were missing.", name=None):
    return case(name or f"Retry-After: {value}", why, 429, {"Retry-After": value}, {"throttled": True})


CASES = [
    retry_after("", name="Retry-After, empty"), retry_after("soon"), retry_after("-5"), retry_after("+5"),
    retry_after("1e3"), retry_after("0x10"), retry_after("5s"), retry_after("5 seconds"), retry_after("1,000"),
    retry_after("5;q=1"), retry_after("NaN"), retry_after("Infinity"), retry_after(".5"), retry_after("5."),
    retry_after("１２", "Digits of other scripts are no digits."), retry_after("\"5\""), retry_after("null"),
    retry_after("Sun, 31 Feb 2027 12:00:00 GMT", "There is no such day."),
    retry_after("Sun, 29 Nov 2026 25:00:00 GMT", "There is no such hour."),
    retry_after("Sun, 29 Nov 2026 12:00:10", "No time zone: no HTTP-date."),
    retry_after("Sun, 29 Nov 2026 12:00:10 +0100", "An HTTP-date is in GMT."),
    retry_after("29 Nov 2026 12:00:10 GMT", "No weekday: no HTTP-date."),
    retry_after("2026-11-29T12:00:10Z", "RFC 3339 is no HTTP-date."),
    case("Retry-After, 20 digits", "As long as can be: give up.", 429, {"Retry-After": "99999999999999999999"}, stated(MOST)),
    case("Retry-After, 400 digits", "No crash, no infinity", 429, {"Retry-After": "9" * 400}, stated(MOST)),
    case("Retry-After, a decimal with 400 digits", "", 429, {"Retry-After": "1." + "9" * 400}, stated(2000)),
    case("Retry-After, the year 9999", "Far, but readable", 429,
         {"Date": "Sun, 29 Nov 2026 12:00:00 GMT", "Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"},
         stated(251606347199000)),
    case("a huge t", "Others hold for a day at most, then one request looks again.", 200,
         {"RateLimit": '"a";r=0;t=999999999999999'}, quota("ratelimit", (0, 999999999999999000))),
    case("a t above 15 digits", "No Integer of RFC 9651: the field is ignored.", 200,
         {"RateLimit": '"a";r=0;t=9999999999999999'}),
    case("a huge r", "Enough left", 200, {"RateLimit": '"a";r=999999999999999;t=5'},
         quota("ratelimit", (999999999999999, 5000))),
    case("X-RateLimit-Reset unreadable", "Nothing says when: back off.", 429,
         {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "tomorrow"}, quota(X, (0, None), throttled=True)),
    case("X-RateLimit-Reset negative", "Unreadable", 200,
         {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "-20"}, quota(X, (0, None))),
    case("X-RateLimit-Remaining negative", "Kong and others count below 0: nothing is left.", 200,
         {"X-RateLimit-Remaining": "-3", "X-RateLimit-Reset": "20"}, quota(X, (0, 20000))),
    case("X-RateLimit-Remaining unreadable", "No quota is shown.", 200,
         {"X-RateLimit-Remaining": "some", "X-RateLimit-Reset": "20"}),
    case("X-RateLimit-Reset of 400 digits", "More than 14 digits are unreadable.", 429,
         {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9" * 400}, quota(X, (0, None), throttled=True)),
    case("a duration that is none", "Unreadable", 200,
         {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6 m"}, quota("openai", (0, None))),
    case("a duration with units twice", "Unreadable", 200,
         {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s1s"}, quota("openai", (0, None))),
    case("Date unreadable", "The client's clock has to do.", 429,
         {"Date": "today", "Retry-After": "Sun, 29 Nov 2026 12:00:30 GMT"}, stated(30000)),
    case("a body that is no JSON", "It is not needed.", 429, {"Retry-After": "2"}, stated(2000), body="<html>slow down</html>"),
    case("a body of other JSON", "It is not needed.", 429, {"Retry-After": "2"}, stated(2000), body='[1, {"error": []}]'),
    case("403 with a body of other JSON", "No limit", 403, {}, body='{"message": ["secondary rate limit"]}'),
]
