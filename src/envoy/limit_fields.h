#pragma once

#include <string>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/quota.h"
#include "envoy/limit.h"

namespace sluice::envoy {

// By what name the fields below tell a limit: its own, or what its descriptor is called below the
// domain ("remote_address"); of a list with period and algorithm ("remote_address-60s-gcra").
// Printable ASCII, as a structured field needs it.
[[nodiscard]] std::string PolicyNameOf(const Limit& limit, std::string_view domain, bool of_list);

// The values of RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10), limit by
// limit.
class LimitFields {
 public:
  void Clear();
  // `remaining`: what is told of it.
  void Add(const Limit& limit, const Decision& decision, Units remaining, WallInstant now);

  [[nodiscard]] bool empty() const { return policy_.empty(); }
  [[nodiscard]] const std::string& policy() const { return policy_; }
  [[nodiscard]] const std::string& state() const { return state_; }

 private:
  std::string policy_;
  std::string state_;
};

}  // namespace sluice::envoy
