#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "sluice/decision.h"

#include "frontend/http/exchange.h"
#include "frontend/http/route.h"

// The handlers of the routes in routes.cc. Each reads its request into the exchange, and leaves the
// exchange answered or ready to be submitted.
namespace sluice::frontend::http {

using Routed = RoutedRequest;

// --- Checks ------------------------------------------------------------------------------------

// POST /v1/ratelimit/check: 415 for an encoded body, 400 for one that is no JSON. Content-Type is
// ignored, because `curl -d` calls every body a form.
//
// With an Idempotency-Key (or X-Idempotency-Key), a repeated check with the same body gets the
// first answer that allowed, and charges nothing; a denial is judged again. If two copies arrive at
// the same time, at this node or at two nodes that share a store, one is judged and the other waits
// for its answer. With another body the key is refused, 422. A key belongs to the caller's address
// and Authorization.
void HandleCheck(const Routed& routed);
[[nodiscard]] inline bool IsKeyed(const wire::HttpRequest& request) {
  return request.fields.Has(wire::RareField::kIdempotencyKey);
}
// Continues a keyed check after it was read. The listener has a memory of answers.
void RunKeyedCheck(const Routed& routed);
// Writes the answer to a check that was submitted.
void WriteCheck(Exchange& exchange);
// Adds Retry-After to the response, if there is a time after which a denied request can pass.
void AddRetryAfter(const service::Verdict& verdict, Exchange& exchange);

inline constexpr std::size_t kMostChecksInBatch = 1'000;
// POST /v1/ratelimit/batch: an array of bodies of checks. Each is judged by itself, and all of them
// at one reading of the clock. The answer is 200 with an array of answers in the same order, each
// with the `status` that a single check would have. An invalid element is answered with its
// problem, and the others are judged. `wait` has no effect here.
void HandleBatch(const Routed& routed);

// GET /v1/ratelimit/status/{user_id} and /v1/ratelimit/status?user_id=u_42&plan=pro: what each rule
// that applies has left, as a peek of one unit (or of `cost` units). Every query member but cost is
// an attribute. An operator may give a secret one by its hash.
void HandleStatus(const Routed& routed);
// Reads such a query into the exchange's check. False: it is invalid, and answered.
[[nodiscard]] bool ReadStatusQuery(const Routed& routed);
// Decimal digits, 0 to kMaxUnits; none for anything else.
[[nodiscard]] std::optional<Cost> ReadCost(std::string_view text);

// GET, HEAD, POST ... /v1/check/http: a proxy's auth request (NGINX's auth_request, Caddy's
// forward_auth, Traefik's forwardAuth, Envoy's ext_authz, which puts the original path behind
// ours); see proxy_question.h. The answer is 200 with an empty body, or the one requested status
// for every denial, because proxies treat other statuses as an outage.
void HandleProxyCheck(const Routed& routed);

// --- The console ------------------------------------------------------------------------------

// GET /console/ and /console/app.js: the files of the page for operators (console.h). They hold
// nothing of this daemon, so they need no token; the page sends it with each call of the API.
void HandleConsole(const Routed& routed);
// GET /console: a redirect to /console/, so that the page's relative links work behind a proxy.
void HandleConsoleFolder(const Routed& routed);

// --- Tokens of earlier answers ------------------------------------------------------------------

// POST /v1/ratelimit/release and renew. The body is one hold of a check's answer, {"name": …, "id":
// …}, or that answer's list, {"holds": [{"name": …, "id": …}]}, of 64 at most. The answer says how
// many were released or renewed. A release of a hold that is gone is no error, because a release
// may be repeated. To renew such a hold is 404.
void HandleRelease(const Routed& routed);
void HandleRenew(const Routed& routed);

// POST /v1/ratelimit/settle: {"reservation": "…", "cost": 312}, the actual cost of a request that
// was checked with "reserve": true. A rule whose cost is an attribute takes the member of that
// name, if there is one. The answer says for each rule what was charged and at what it is settled;
// only the first settlement counts.
void HandleSettle(const Routed& routed);
// POST /v1/ratelimit/refund: {"receipt": "…"}, of a check with "receipt": true, gives back its
// whole charge, once, as far as it still counts.
void HandleReceipt(const Routed& routed);

// --- Operators: keys -----------------------------------------------------------------------------

// POST /v1/ratelimit/reset with a request's attributes, as a check has them: the key of every rule
// that applies to them, or of the one that `rule` names, is fresh again.
void HandleReset(const Routed& routed);
// POST /v1/ratelimit/refund, with `units` beside the attributes: the same keys get them back,
// clamped, so that none has more than its whole quota.
void HandleRefund(const Routed& routed);
// POST /v1/ratelimit/unban: the same keys are banned no longer.
void HandleUnban(const Routed& routed);
// GET /v1/ratelimit/bans: every key that is banned, by which rule, since and until when.
void HandleBans(const Routed& routed);

// --- Operators: rules ----------------------------------------------------------------------------

// GET /v1/ratelimit/config: all active rules, in declaration order.
void HandleRules(const Routed& routed);
// GET, PUT, DELETE /v1/ratelimit/config/{rule_id}. An ETag names the current text of the rule. If-
// Match and If-None-Match (RFC 9110, 13.1) are compared with it, 412 if they fail. A rule that does
// not load is 422 with every error, and nothing changes.
void HandleRule(const Routed& routed);
// PUT /v1/ratelimit/mode/{rule_id} with {"mode": "enforce" | "shadow" | "off"}; GET returns the
// active mode, DELETE restores the rule's own mode.
void HandleMode(const Routed& routed);
// PUT /v1/ratelimit/kill-switch with {"on": true}: every rule is off until it is set to false. GET
// returns the state.
void HandleKillSwitch(const Routed& routed);
// GET /v1/ratelimit/explain?user_id=u_42: which of the active rules, with the modes that are set,
// apply to such a request, with which numbers, and why the others do not. Charges nothing, and
// calls no store. `cost` is the request's; every other member of the query is an attribute.
void HandleExplain(const Routed& routed);
// GET /v1/ratelimit/why?user_id=u_42: the same, the verdict that the request would get now, and the
// state of each key: see why_report.h. Charges nothing, and calls the store as a status does.
void HandleWhy(const Routed& routed);
// GET /v1/ratelimit/shadow-report: for each rule in shadow mode how much it would have denied, and
// the keys that it would have denied most.
void HandleShadowReport(const Routed& routed);
// GET /v1/ratelimit/history: what counters grew by in each minute of the last hour, the oldest
// minute first, and when requests passed without a limit.
void HandleHistory(const Routed& routed);
// GET /v1/ratelimit/top?rule=&kind=&window=&n=: for each rule the keys that count most, by what it
// decided of them: `kind` all, allowed, denied, banned or shadow; in the last `minute` or since the
// `start`. See insight::TopKeys.
void HandleTop(const Routed& routed);

// POST /v1/ratelimit/lab: what algorithms would decide about a stream of arrivals, in a time of its
// own and apart from all keys. {"quotas": [{"algorithm": "gcra", "limit": 10, "rate": 10,
// "window_ms": 10000}], "events": [{"at": 0, "cost": 1}, {"at": 40, "peek": true}]}; the answer has
// a list of decisions for each quota.
void HandleLab(const Routed& routed);

// GET /v1/ratelimit/decisions?rule=&request_id=&key=&outcome=&n=: the last decisions, newest first;
// see records/decision_json.h.
void HandleDecisions(const Routed& routed);
// PUT /v1/ratelimit/trace with {"per_second": 10, "seconds": 300}: the log shows so many requests a
// second whole, until then. GET says how it stands, DELETE turns it off.
void HandleTrace(const Routed& routed);

// --- Operators: the daemon -----------------------------------------------------------------------

void HandleHealth(const Routed& routed);
// 503 while the daemon does not accept traffic.
void HandleReadiness(const Routed& routed);
void HandleMetrics(const Routed& routed);
void HandleOpenApi(const Routed& routed);

// --- envoyproxy/ratelimit's paths, with its answers ----------------------------------------------

// /json: a RateLimitRequest in JSON. 200 with the response, 429 if it is OVER_LIMIT; 400 for every
// invalid request.
void HandleRateLimitJson(const Routed& routed);
// /healthcheck: 200 OK, or 500.
void HandleEnvoyHealth(const Routed& routed);
// /rlconfig: a line for each active limit.
void HandleLimits(const Routed& routed);
// GET /stats on the operators' listener: the counters of envoyproxy/ratelimit, under its names in
// statsd.
void HandleStats(const Routed& routed);
// GET / there: the list of paths.
void HandleDebugPaths(const Routed& routed);
// POST /rlusage and /rlreset there, with a body as /json takes it: how much is left of the limits
// that its descriptors have, each limit for itself; or these made fresh.
//   {"limits": [{"descriptor": 0, "path": "d.user", "name": "daily", "unit": "DAY",
//     "requests_per_unit": 3, "limit": 3, "remaining": 1, "allowed": true, "retry_after_ms": 0,
//     "reset_after_ms": 81234567}]}
//   {"keys": 1, "complete": true}
void HandleEnvoyUsage(const Routed& routed);
void HandleEnvoyReset(const Routed& routed);

}  // namespace sluice::frontend::http
