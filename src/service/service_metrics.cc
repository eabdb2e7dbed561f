#include "service/service_metrics.h"

#include <algorithm>

namespace sluice::service {

namespace {

using telemetry::Exposition;
using telemetry::Label;

constexpr std::array<std::string_view, kRequestResults> kResultNames{"allowed", "denied", "no_rule",
                                                                     "peeked", "error"};

}  // namespace

std::vector<ServiceMetrics::RuleCounters> ServiceMetrics::ForRules(const rules::RuleSet& rules) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, known] : known_) {
    known.in_force = false;
  }
  std::vector<RuleCounters> counters;
  counters.reserve(rules.rules().size());
  for (const rules::Rule& rule : rules.rules()) {
    const auto [at, is_new] = known_.try_emplace(rule.id);
    if (is_new) {
      at->second.counters = std::make_shared<RuleCounts>();
      order_.push_back(rule.id);
    }
    at->second.in_force = true;
    counters.push_back(at->second.counters);
  }
  in_force_ = counters.size();

  // The oldest of the removed rules make room. A request in flight keeps its own alive.
  std::size_t gone = known_.size() - in_force_;
  std::erase_if(order_, [&](const std::string& id) {
    const auto at = known_.find(id);
    if (gone <= kRemembered || at->second.in_force) {
      return false;
    }
    known_.erase(at);
    --gone;
    return true;
  });
  return counters;
}

std::vector<ServiceMetrics::AttributeCounter> ServiceMetrics::ForMissing(
    const rules::RuleSet& rules) {
  const std::lock_guard lock(mutex_);
  std::map<std::string, AttributeCounter, std::less<>> before;
  before.swap(missing_);
  for (const rules::Rule& rule : rules.rules()) {
    for (const auto& attribute : rule.key) {
      const auto [at, is_new] = missing_.try_emplace(attribute.name);
      if (is_new) {
        const auto known = before.find(attribute.name);
        at->second = known == before.end() ? std::make_shared<telemetry::Counter>() : known->second;
      }
    }
  }
  std::vector<AttributeCounter> counters;
  for (const std::string& name : rules.AttributeNames()) {
    const auto found = missing_.find(name);
    counters.push_back(found == missing_.end() ? nullptr : found->second);
  }
  return counters;
}

std::uint64_t ServiceMetrics::Count(std::string_view rule, Outcome outcome) const {
  if (rule == kThrottleRule) {
    return throttle_.Read(outcome);
  }
  const std::lock_guard lock(mutex_);
  const auto at = known_.find(std::string(rule));
  return at == known_.end() ? 0 : at->second.counters->Read(outcome);
}

std::uint64_t ServiceMetrics::NewlyDenied(std::string_view rule) const {
  const std::lock_guard lock(mutex_);
  const auto at = known_.find(std::string(rule));
  return at == known_.end() ? 0 : at->second.counters->newly_denied();
}

std::uint64_t ServiceMetrics::Count(RequestResult result) const noexcept {
  return requests_.Read(static_cast<std::size_t>(result));
}

void ServiceMetrics::Write(Exposition& out) const {
  out.Family("sluice_requests_total", "Requests by result.", Exposition::Type::kCounter);
  for (std::size_t i = 0; i < kRequestResults; ++i) {
    const Label label{.name = "result", .value = kResultNames[i]};
    out.Sample("sluice_requests_total", {&label, 1}, requests_.Read(i));
  }

  const std::lock_guard lock(mutex_);
  out.Family("sluice_decisions_total", "Decisions by rule and outcome, without peeks.",
             Exposition::Type::kCounter);
  const auto write = [&out](std::string_view id, const RuleCounts& counts) {
    for (std::size_t i = 0; i < kOutcomes; ++i) {
      const std::array labels{Label{.name = "rule", .value = id},
                              Label{.name = "outcome", .value = NameOf(static_cast<Outcome>(i))}};
      out.Sample("sluice_decisions_total", labels, counts.Read(static_cast<Outcome>(i)));
    }
  };
  for (const std::string& id : order_) {
    write(id, *known_.at(id).counters);
  }
  write(kThrottleRule, throttle_);
  out.Family("sluice_missing_attributes_total",
             "Rules skipped because the request lacks this attribute of the key.",
             Exposition::Type::kCounter);
  for (const auto& [name, counter] : missing_) {
    const Label label{.name = "attribute", .value = name};
    out.Sample("sluice_missing_attributes_total", {&label, 1}, counter->Read());
  }
  out.Family("sluice_decide_duration_seconds",
             "Time from receiving a request to its verdict, in seconds.",
             Exposition::Type::kHistogram);
  out.Samples("sluice_decide_duration_seconds", duration_.Read());
  out.Family("sluice_rule_reloads_total", "Loads of the rules by result, including the first.",
             Exposition::Type::kCounter);
  const Label ok{.name = "result", .value = "ok"};
  const Label failed{.name = "result", .value = "failed"};
  out.Sample("sluice_rule_reloads_total", {&ok, 1}, reloads_.Read(1));
  out.Sample("sluice_rule_reloads_total", {&failed, 1}, reloads_.Read(0));
  out.Family("sluice_rules", "Active rules.", Exposition::Type::kGauge);
  out.Sample("sluice_rules", {}, static_cast<std::uint64_t>(in_force_));
}

}  // namespace sluice::service
