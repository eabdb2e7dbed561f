#pragma once

// Answers of Sluice, as values.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "advise.h"

namespace sluice_client {

// One rule that applied to a request.
struct Limit {
  std::string name;
  bool allowed = false;
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> remaining;
  std::optional<std::int64_t> reset_at;  // Unix seconds.
  std::string reason;                    // Of a denial.
  std::optional<Milliseconds> retry_after;
  bool shadow = false;
  bool degraded = false;
};

// One slot of a concurrency rule.
struct HoldToken {
  std::string name;
  std::string id;
};

// Whether a request may pass. True in a condition if it may.
class Decision {
 public:
  bool allowed = false;
  int status = 200;       // What to answer to your own caller: 200, 429, 403 or 503.
  bool degraded = false;  // Sluice did not answer, and the fail mode decided.
  std::string reason;     // Of a denial, as in docs/http-api.md; "sluice_unavailable" if degraded.
  std::optional<std::int64_t> remaining;  // Units that would be granted now.
  std::optional<std::int64_t> reset_at;   // Unix seconds at which the full limit is back.
  std::optional<Milliseconds>
      retry_after;            // Exact; nothing if allowed, or if waiting does not help.
  Milliseconds wait{};        // Allowed, but only after so long (`shape: true`).
  std::vector<Limit> limits;  // The rules that applied, in their order.
  std::vector<HoldToken> holds;
  std::string receipt;      // For Refund().
  std::string reservation;  // For Settle().
  FieldList headers;        // Retry-After and the rate limit fields, to pass on to your own caller.

  explicit operator bool() const { return allowed; }

  // The first enforced rule that denied; nullptr if none did.
  [[nodiscard]] const Limit* DeniedBy() const {
    for (const Limit& each : limits) {
      if (!each.allowed && !each.shadow) {
        return &each;
      }
    }
    return nullptr;
  }

  // The decision in a sentence, for logs.
  [[nodiscard]] std::string Why() const {
    if (degraded) {
      return (allowed ? "allowed" : "denied") + (" without Sluice: " + unavailable);
    }
    if (allowed) {
      std::string names;
      for (const Limit& each : limits) {
        names += (names.empty() ? "" : ", ") + each.name;
      }
      return names.empty() ? "allowed: no rule applies" : "allowed by " + names;
    }
    const Limit* const by = DeniedBy();
    char when[48] = "waiting does not help";
    if (retry_after) {
      std::snprintf(when, sizeof when, "again in %.3f s",
                    static_cast<double>(retry_after->count()) / 1000);
    }
    return "denied by " + (by != nullptr ? by->name : "?") + ": " + reason + "; " + when;
  }

  std::string unavailable;  // Why Sluice did not answer.
};

// The base of all errors here.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Sluice did not answer in time, or not as Sluice does. Check() never throws it: its fail mode
// decides.
struct Unavailable : Error {
  using Error::Error;
};

// Sluice refused the call itself: the program or its configuration is wrong, and a retry does not
// help.
struct CallError : Error {
  CallError(int http_status, std::string problem, const std::string& what)
      : Error("Sluice refused the call: " + std::to_string(http_status) + " " + problem + ": " +
              what),
        status(http_status),
        code(std::move(problem)) {}
  int status;
  std::string code;  // For programs, such as "invalid_cost".
};

// The request may not pass now.
struct Denied : Error {
  explicit Denied(Decision made) : Error(made.Why()), decision(std::move(made)) {}
  Decision decision;
};

// A request was not sent, because its quota is used up for longer than the caller waits.
struct Throttled : Error {
  Throttled(const std::string& resource, Milliseconds held, const Advice& last,
            const std::string& bound)
      : Error("not sent: " + resource + " is held for " + std::to_string(held.count()) +
              " ms, longer than the " + bound + " allows (" + last.Explain() + ")"),
        wait(held),
        advice(last) {}
  Milliseconds wait;  // Until the quota is available again.
  Advice advice;      // What an earlier response said.
};

}  // namespace sluice_client
