#include "service/limiter_service.h"

#include <chrono>
#include <utility>

#include "base/assert.h"
#include "service/fallback.h"

namespace sluice::service {

LimiterService::LimiterService(store::KeyStore& store, ServiceMetrics& metrics, Fallback* fallback,
                               insight::Insight* insight)
    : store_(store),
      metrics_(metrics),
      fallback_(fallback),
      insight_(insight),
      path_{.store = store, .fallback = fallback, .durations = metrics.durations()},
      throttle_path_{.store = fallback == nullptr ? store : fallback->local(),
                     .durations = metrics.durations()} {}

void LimiterService::SetRules(std::shared_ptr<const rules::RuleSet> rules) {
  const std::lock_guard lock(publishing_);
  auto next = std::make_shared<ActiveRules>(*published_.Get());
  next->counters = metrics_.ForRules(*rules);
  next->missing = metrics_.ForMissing(*rules);
  next->history.Replace(next->rules.get(), *rules, std::chrono::steady_clock::now());
  next->rules = std::move(rules);
  published_.Publish(std::move(next));
}

void LimiterService::SetModes(rules::ModeOverrides modes) {
  const std::lock_guard lock(publishing_);
  auto next = std::make_shared<ActiveRules>(*published_.Get());
  next->modes = std::move(modes);
  published_.Publish(std::move(next));
}

std::shared_ptr<const rules::RuleSet> LimiterService::Rules() const {
  return published_.Get()->rules;
}

rules::ModeOverrides LimiterService::Modes() const {
  return published_.Get()->modes;
}

void LimiterService::Submit(std::span<Operation* const> batch) {
  ChargeBatch charges(path_);
  for (Operation* const operation : batch) {
    if (operation->verb() == Operation::Verb::kRuleCheck) [[likely]] {
      RuleCheck& check = operation->Get<RuleCheck>();
      check.charge_.deadline = operation->deadline;
      check.Match(published_.Pin(), metrics_, insight_);
      charges.Add(check.charge_);
    } else if (operation->verb() == Operation::Verb::kThrottleCheck) {
      ThrottleCheck& check = operation->Get<ThrottleCheck>();
      check.charge_.deadline = operation->deadline;
      check.metrics_ = &metrics_;
      check.insight_ = insight_;
      charges.Add(check.charge_, throttle_path_);
    } else {
      charges.Send();  // Checks before it in the batch do not see its changes.
      Start(*operation);
    }
  }
  charges.Send();
}

void LimiterService::Start(Operation& operation) {
  const OperationParts::Target target{.store = store_,
                                      .fallback = fallback_,
                                      .active = published_.Get(),
                                      .deadline = operation.deadline};
  switch (operation.verb()) {
    case Operation::Verb::kKeyChange:
      operation.Get<KeyChange>().Start(target);
      break;
    case Operation::Verb::kSettlement:
      operation.Get<Settlement>().Start(target);
      break;
    case Operation::Verb::kHoldChange:
      operation.Get<HoldChange>().Start(target);
      break;
    case Operation::Verb::kBanList: {
      BanList& list = operation.Get<BanList>();
      list.deadline = operation.deadline;
      store_.ListBans(list);
      break;
    }
    case Operation::Verb::kRuleCheck:
    case Operation::Verb::kThrottleCheck:
      SLUICE_ASSERT(false);
  }
}

}  // namespace sluice::service
