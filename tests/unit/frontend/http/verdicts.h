#pragma once

#include <memory>
#include <string>
#include <vector>

#include "service/verdict.h"

namespace sluice::frontend::http {

// Verdicts made by hand, for tests of how they read. Rules live as long as this.
class Verdicts {
 public:
  explicit Verdicts(std::int64_t now_ns = 1'714'473'600'000'000'000) {
    verdict.now = WallInstant(Duration(now_ns));
  }

  // Adds a rule's decision; the first enforced one governs unless said otherwise.
  service::RuleDecision& Add(const std::string& id, core::Quota quota, Decision decision) {
    auto rule = std::make_unique<rules::Rule>();
    rule->id = id;
    rules_.push_back(std::move(rule));
    verdict.decisions.push_back(
        {.rule = rules_.back().get(), .quota = quota, .parts = {}, .decision = decision});
    verdict.allowed = service::EnforcedAllow(verdict.decisions);
    verdict.governing = service::Governing(verdict.decisions, verdict.allowed);
    verdict.wait = service::LongestWait(verdict.decisions);
    return verdict.decisions.back();
  }

  rules::Rule& rule(std::size_t i) { return *rules_[i]; }

  service::Verdict verdict;

 private:
  std::vector<std::unique_ptr<rules::Rule>> rules_;
};

inline core::Quota Bucket(Units rate, Duration window, Units burst) {
  return {
      .algorithm = core::Algorithm::kTokenBucket, .limit = burst, .rate = rate, .window = window};
}

inline core::Quota Window(Units limit, Duration window) {
  return {.algorithm = core::Algorithm::kFixedWindow, .limit = limit, .window = window};
}

inline core::Quota InFlight(Units limit, Duration ttl) {
  return {.algorithm = core::Algorithm::kConcurrency, .limit = limit, .window = ttl};
}

}  // namespace sluice::frontend::http
