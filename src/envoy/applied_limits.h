#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"

#include "core/algorithm.h"
#include "core/key.h"
#include "core/quota.h"
#include "envoy/descriptor_tree.h"
#include "envoy/rate_limit_metrics.h"
#include "envoy/settings.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

// Under which id the counters of Envoy's descriptors live. No rule can have it:
// a rule's id has no such first character.
inline constexpr std::string_view kEnvoyRule = "@envoy";

// One limit of one descriptor of a request, or a descriptor that has none: what
// rules::AppliedRule is to rules.
struct AppliedLimit {
  std::size_t descriptor = 0;    // Of the request. Limits of one descriptor are adjacent.
  const Limit* limit = nullptr;  // Of the tree, or of an override; none where that is replaced.
  bool is_negative = false;      // The hits are taken back.
  bool is_known_over = false;    // By OverLimitCache.
  std::int32_t check = -1;       // Which one of the charge's it is; -1: it is not charged.
  Units hits = 0;
  telemetry::CounterGroup* counters = nullptr;
  core::KeyPart counter{};  // Its name; views the AppliedLimits.
  std::size_t name_begin = 0;
  Decision decision{};  // Out, where it IsCounted().

  [[nodiscard]] bool IsCounted() const { return limit != nullptr && !limit->unlimited; }
  // Of its counter. Views this.
  [[nodiscard]] core::KeyView Key() const {
    return {.rule = kEnvoyRule, .formerly = {}, .parts = {&counter, 1}};
  }
};

// By which a limit is judged.
[[nodiscard]] core::Quota QuotaOf(const Limit& limit, const Settings& settings);
// Whether hits that are denied are counted, as envoyproxy/ratelimit does.
[[nodiscard]] inline bool CountsDenials(const Limit& limit, const Settings& settings) {
  return settings.compatible && core::ChargesDenials(limit.quota.algorithm);
}

// The limits that apply to one request, and the room that finding them takes: reused, so that
// nothing is allocated once warm. Alive and unmoved while its keys are asked about.
class AppliedLimits {
 public:
  // Finds them, in the order of the request's descriptors. `domain`: nullptr where no file names
  // it. `metrics`: whose counters the hits go to; nullptr for who only looks.
  void Find(const wire::RlsRequest& request, const DescriptorLevel* domain,
            const Settings& settings, RateLimitMetrics* metrics);
  // Drops those that another one of the request replaces, also where that one is replaced itself.
  void DropReplaced();
  void Clear() { all_.clear(); }

  [[nodiscard]] std::vector<AppliedLimit>& all() { return all_; }

 private:
  void FindOf(std::size_t descriptor);
  void FindOverride(const wire::RlsDescriptor& descriptor, AppliedLimit& applied);
  void NameCounter(AppliedLimit& applied);

  const wire::RlsRequest* request_ = nullptr;
  const DescriptorLevel* domain_ = nullptr;
  const Settings* settings_ = nullptr;
  RateLimitMetrics* metrics_ = nullptr;
  std::vector<AppliedLimit> all_;
  std::string names_;  // Of the counters, one behind the other.
  std::deque<Limit> overrides_;
  Match match_;
  std::vector<std::string_view> replaced_;
};

}  // namespace sluice::envoy
