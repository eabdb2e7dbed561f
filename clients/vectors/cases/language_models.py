"""Token budgets: OpenAI and Anthropic."""
from generate import case, quota, stated

SOURCES = ["OpenAI: Rate limits, Rate limits in headers (x-ratelimit-reset-tokens: 6m0s)",
           "OpenAI: Error codes (429 insufficient_quota: waiting does not help)",
           "Anthropic: Rate limits, Response headers (anthropic-ratelimit-*-reset in RFC 3339); Errors (529 overloaded_error)",
           "openai-python and anthropic-sdk-python: retry-after-ms, retry-after, x-should-retry"]
DATE = {"Date": "Sun, 29 Nov 2026 12:00:00 GMT"}
O, A = "openai", "anthropic"


def openai(requests="59", requests_reset="1s", tokens="149984", tokens_reset="6m0s", **more):
    return {**DATE, "x-ratelimit-limit-requests": "60", "x-ratelimit-limit-tokens": "150000",
            "x-ratelimit-remaining-requests": requests, "x-ratelimit-remaining-tokens": tokens,
            "x-ratelimit-reset-requests": requests_reset, "x-ratelimit-reset-tokens": tokens_reset, **more}


def anthropic(requests="49", tokens="40000", **more):
    return {**DATE, "anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": requests,
            "anthropic-ratelimit-requests-reset": "2026-11-29T12:00:05Z", "anthropic-ratelimit-tokens-limit": "48000",
            "anthropic-ratelimit-tokens-remaining": tokens, "anthropic-ratelimit-tokens-reset": "2026-11-29T12:00:50Z",
            **more}


CASES = [
    case("OpenAI, enough left", "", 200, openai(), quota(O, (59, 1000), (149984, 360000))),
    case("OpenAI, tokens used up", "6m0s", 200, openai(tokens="0"), quota(O, (59, 1000), (0, 360000))),
    case("OpenAI, requests used up", "1s", 200, openai("0"), quota(O, (0, 1000), (149984, 360000))),
    case("OpenAI, milliseconds", "17ms", 200, openai("0", "17ms"), quota(O, (0, 17), (149984, 360000))),
    case("OpenAI, a fraction", "7.66s", 200, openai("0", "7.66s"), quota(O, (0, 7660), (149984, 360000))),
    case("OpenAI, three units", "1h2m3s", 200, openai("0", "1h2m3s"), quota(O, (0, 3723000), (149984, 360000))),
    case("OpenAI, a day", "1d2h", 200, openai("0", "1d2h"), quota(O, (0, 93600000), (149984, 360000))),
    case("OpenAI, denied with Retry-After", "Retry-After first", 429, openai("0", "7s", **{"retry-after": "2"}),
         {**quota(O, (0, 7000)), **stated(2000)}, {"method": "POST"}),
    case("OpenAI, denied with retry-after-ms", "The most precise", 429,
         openai("0", "7s", **{"retry-after": "2", "retry-after-ms": "1850"}),
         {**quota(O, (0, 7000)), **stated(1850, "retry-after-ms")}, {"method": "POST"}),
    case("OpenAI, denied without", "The requests' reset", 429, openai("0", "7s"),
         quota(O, (0, 7000), (149984, 360000), throttled=True), {"method": "POST"}),
    case("OpenAI, tokens short", "Denied though a few tokens are left: the request needed more. Back off.", 429,
         openai(tokens="12", tokens_reset="59s"), quota(O, (59, 1000), (12, 59000), throttled=True), {"method": "POST"}),
    case("OpenAI, headroom of tokens", "The budget of others", 200, openai("1000", tokens="900", tokens_reset="59s"),
         quota(O, (1000, 1000), (900, 59000)), {"headroom": 900}),
    case("OpenAI, no money", "insufficient_quota: not retried.", 429, openai(), {"throttled": True, "never": True},
         {"method": "POST"}, '{"error": {"message": "You exceeded your current quota, please check your plan and '
         'billing details.", "type": "insufficient_quota", "param": null, "code": "insufficient_quota"}}'),
    case("OpenAI, rate limit in the body", "The other code: back off.", 429, {}, {"throttled": True}, {"method": "POST"},
         '{"error": {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}}'),
    case("x-should-retry: false", "The server forbids retries.", 429, {"Retry-After": "2", "x-should-retry": "false"},
         {"throttled": True, "never": True}),
    case("x-should-retry: true", "It adds nothing to a 429.", 429, {"Retry-After": "2", "x-should-retry": "true"},
         stated(2000)),
    case("Anthropic, enough left", "", 200, anthropic(), quota(A, (49, 5000), (40000, 50000))),
    case("Anthropic, requests used up", "RFC 3339", 200, anthropic("0"), quota(A, (0, 5000), (40000, 50000))),
    case("Anthropic, both used up", "The later", 200, anthropic("0", "0"), quota(A, (0, 5000), (0, 50000))),
    case("Anthropic, input tokens used up", "Four families of fields", 200,
         anthropic(**{"anthropic-ratelimit-input-tokens-remaining": "0",
                      "anthropic-ratelimit-input-tokens-reset": "2026-11-29T12:00:20Z"}),
         quota(A, (49, 5000), (40000, 50000), (0, 20000))),
    case("Anthropic, output tokens used up", "Four families of fields", 200,
         anthropic(**{"anthropic-ratelimit-output-tokens-remaining": "0",
                      "anthropic-ratelimit-output-tokens-reset": "2026-11-29T12:00:20Z"}),
         quota(A, (49, 5000), (40000, 50000), (0, 20000))),
    case("Anthropic, denied", "retry-after", 429, anthropic("0", **{"retry-after": "11"}),
         {**quota(A, (0, 5000)), **stated(11000)}, {"method": "POST"}),
    case("Anthropic, denied without", "The reset", 429, anthropic("49", "0"),
         quota(A, (49, 5000), (0, 50000), throttled=True), {"method": "POST"}),
    case("Anthropic, overloaded", "529 says no time.", 529, DATE, {"throttled": True}, {"method": "POST"},
         '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'),
    case("Anthropic, clock skew", "Measured from Date", 200, anthropic("0"), quota(A, (0, 5000), (40000, 50000)),
         {"now_ms": 1795950000000}),
]
