#include "service/limiter_service.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/assert.h"
#include "service/batch_timer.h"
#include "service/fallback.h"

namespace sluice::service {

namespace {

// Collects checks, which a store is asked together.
class CheckBatch {
 public:
  explicit CheckBatch(store::KeyStore& store) : store_(store) {}

  void Add(store::CheckCall& call) {
    asked_[count_++] = &call;
    if (count_ == kAtOnce) {
      Flush();
    }
  }
  void Flush() {
    if (count_ != 0) {
      store_.CheckMany({asked_.data(), std::exchange(count_, 0)});
    }
  }

 private:
  // Far more than hides the memory's latency, and small enough for the stack.
  static constexpr std::size_t kAtOnce = 256;

  store::KeyStore& store_;
  std::size_t count_ = 0;
  std::array<store::CheckCall*, kAtOnce> asked_;  // NOLINT: only the first `count_` are read.
};

}  // namespace

LimiterService::LimiterService(store::KeyStore& store, ServiceMetrics& metrics, Fallback* fallback)
    : store_(store), metrics_(metrics), fallback_(fallback) {}

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
  const BatchTimer timer(metrics_);
  CheckBatch checks(store_);
  CheckBatch local(fallback_ == nullptr ? store_ : fallback_->local());
  CheckBatch& throttles = fallback_ == nullptr ? checks : local;
  for (Operation* const operation : batch) {
    if (operation->verb() == Operation::Verb::kRuleCheck) [[likely]] {
      RuleCheck& check = operation->Get<RuleCheck>();
      check.deadline = operation->deadline;
      check.batch_timer_ = timer.number();
      check.started_ = timer.started();
      if (check.Begin(published_.Pin(), metrics_, fallback_, store_)) {
        checks.Add(check.asked_);
      } else {
        check.Finish();
      }
    } else if (operation->verb() == Operation::Verb::kThrottleCheck) {
      ThrottleCheck& check = operation->Get<ThrottleCheck>();
      check.deadline = operation->deadline;
      check.metrics_ = &metrics_;
      check.batch_timer_ = timer.number();
      check.started_ = timer.started();
      throttles.Add(check);
    } else {
      // Checks before it in the batch do not see what it changes.
      checks.Flush();
      local.Flush();
      Start(*operation);
    }
  }
  checks.Flush();
  local.Flush();
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
