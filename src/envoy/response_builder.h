#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sluice/time.h"

#include "envoy/applied_limits.h"
#include "envoy/rate_limit_metrics.h"
#include "envoy/settings.h"
#include "wire/rls_request.h"
#include "wire/rls_response.h"

namespace sluice::envoy {

// The values of the header fields RateLimit-Policy and RateLimit, limit by limit
// (draft-ietf-httpapi-ratelimit-headers-10).
class LimitFields {
 public:
  void Clear();
  // `remaining`: what the response reports, which may differ from the decision's.
  void Add(const Limit& limit, const Decision& decision, Units remaining, WallInstant now);

  [[nodiscard]] bool empty() const { return policy_.empty(); }
  [[nodiscard]] const std::string& policy() const { return policy_; }
  [[nodiscard]] const std::string& state() const { return state_; }

 private:
  std::string policy_;
  std::string state_;
};

// Makes the response to a request whose limits are decided: statuses, the overall code, and headers
// and metadata (response_headers.cc). Counts the hits in the statistics. Reused, so that nothing is
// allocated once warm.
class ResponseBuilder {
 public:
  struct Decided {
    const wire::RlsRequest& request;
    std::span<const AppliedLimit> limits;  // Of all of the request's descriptors, in their order.
    WallInstant now;                       // The store's.
    const Settings& settings;
    RateLimitMetrics& metrics;
  };
  // kOk or kOverLimit. `response` is empty; afterwards it views the request and the limits.
  CallResult Build(const Decided& decided, wire::RlsResponse& response);

 private:
  // Whose limits are used up.
  struct Over {
    bool any_plain = false;   // Of those that are in no quota mode.
    bool all_quotas = false;  // And there is one.
  };

  // Makes the status of the descriptor whose limits begin there; the end of these.
  std::size_t AddStatus(std::size_t begin);
  [[nodiscard]] Units RemainingOf(const AppliedLimit& applied) const;
  [[nodiscard]] wire::RlsStatus StatusOf(const AppliedLimit& applied) const;
  void CountHits(const AppliedLimit& applied) const;
  [[nodiscard]] bool InQuotaMode(const AppliedLimit& applied) const;
  [[nodiscard]] Over FindOver() const;
  void AddHeaders();
  void AddRetryAfter(const Over& over);
  void AddMetadata();

  const Decided* decided_ = nullptr;
  wire::RlsResponse* response_ = nullptr;
  // By descriptor: the limit that its status reports. The first one where none has a number.
  std::vector<const AppliedLimit*> governing_;
  LimitFields fields_;
};

}  // namespace sluice::envoy
