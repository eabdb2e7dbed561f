#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pasted_response.h"

namespace sluice::app {

// What a response says of one limit: in RateLimit-Policy and RateLimit, or in its body.
struct StatedLimit {
  std::string name;                                // The rule's id.
  std::optional<std::int64_t> limit;               // q
  std::optional<std::int64_t> window_seconds;      // w
  std::optional<std::int64_t> remaining;           // r
  std::optional<std::int64_t> more_after_seconds;  // t
  std::string partition;                           // pk; "" if it is not stated.
  bool denies = false;
  std::string reason;  // Of a denial, if it is stated.
};

// What a response of Sluice, or of a proxy that passes its header on, says of a decision. What it
// does not say is absent.
struct StatedDecision {
  int status = 0;  // 0: unknown.
  bool denied = false;
  std::string rule;      // The one that governs; "": the response does not say.
  std::string reason;    // As in the table of docs/http-api.md; "": it does not say.
  std::string evidence;  // What names the rule: "the body's limits".
  std::vector<StatedLimit> limits;
  std::optional<std::int64_t> limit;  // X-RateLimit-...
  std::optional<std::int64_t> remaining;
  std::optional<std::int64_t> reset_at;  // Unix seconds.
  std::optional<std::int64_t> retry_after_seconds;
  std::optional<std::int64_t> dated;  // Unix seconds.
  std::string request_id;
  bool from_envoy = false;  // It is one of Envoy's own filter.

  [[nodiscard]] bool is_of_a_limit() const {
    return !limits.empty() || !rule.empty() || limit || retry_after_seconds || from_envoy;
  }
};

[[nodiscard]] StatedDecision ReadStatedDecision(const PastedResponse& response);

// As text: the decision in one sentence and what is stated of each limit. `now`: Unix milliseconds.
[[nodiscard]] std::string TellStatedDecision(const StatedDecision& stated, std::int64_t now);

// As a JSON object, for scripts.
void AppendStatedDecision(const StatedDecision& stated, std::string& out);

}  // namespace sluice::app
