#include "service/limiter_service.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "service/batch_timer.h"

namespace sluice::service {

namespace {

// How many requests the store is asked about at once; longer batches go in pieces. Far more
// than hides the memory's latency, and small enough for the stack.
constexpr std::size_t kAtOnce = 256;

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

void LimiterService::Decide(std::span<DecideCall* const> batch) {
  const BatchTimer timer(metrics_);
  std::array<store::CheckCall*, kAtOnce> asked;  // NOLINT: only the first `count` are read.
  std::size_t count = 0;
  for (DecideCall* const call : batch) {
    call->batch_timer_ = timer.number();
    call->started_ = timer.started();
    if (!call->Begin(published_.Pin(), metrics_, fallback_, store_)) {
      call->Finish();
      continue;
    }
    asked[count++] = &call->asked_;
    if (count == kAtOnce) {
      store_.CheckMany(asked);
      count = 0;
    }
  }
  if (count != 0) {
    store_.CheckMany({asked.data(), count});
  }
}

void LimiterService::Throttle(std::span<ThrottleCall* const> batch) {
  store::KeyStore& store = fallback_ == nullptr ? store_ : fallback_->local();
  const BatchTimer timer(metrics_);
  std::array<store::CheckCall*, kAtOnce> asked;  // NOLINT: only the first `count` are read.
  std::size_t count = 0;
  for (ThrottleCall* const call : batch) {
    call->metrics_ = &metrics_;
    call->batch_timer_ = timer.number();
    call->started_ = timer.started();
    asked[count++] = call;
    if (count == kAtOnce) {
      store.CheckMany(asked);
      count = 0;
    }
  }
  if (count != 0) {
    store.CheckMany({asked.data(), count});
  }
}

bool LimiterService::Prepare(HolderCall& call) {
  auto active = published_.Get();
  const rules::Rule* rule = FindRule(*active, call.rule);
  call.key.parts = call.parts;
  const bool known = rule != nullptr && rule->quota.algorithm == core::Algorithm::kConcurrency;
  if (known) {
    // The hold is in the store under the old id until the key is touched under the new one.
    call.key.rule = rule->id;
    call.former_ids_ = active->history.FormerIds(*rule);
    call.key.formerly = call.former_ids_;
    call.quota = rule->quota;
  } else {
    // The rule is gone, or is of another kind by now. Its holds go on until they expire, and
    // still are what the releaser says: which key they belong to depends on no number.
    call.key.rule = call.rule;
    call.key.formerly = {};
    call.quota = core::Quota{.algorithm = core::Algorithm::kConcurrency,
                             .limit = kMaxUnits,
                             .window = std::chrono::milliseconds(1)};
  }
  call.kept_ = std::move(active);
  return known;
}

void LimiterService::Release(HolderCall& call) {
  (void)Prepare(call);
  store::HoldCall& asked = call;
  if (fallback_ != nullptr && fallback_->Release(asked)) {
    asked.error = store::StoreError::kNone;
    asked.OnAnswered();
  } else {
    store_.Release(call);
  }
}

void LimiterService::Renew(HolderCall& call) {
  store::HoldCall& asked = call;
  if (Prepare(call)) {
    if (fallback_ != nullptr && fallback_->Renew(asked)) {
      asked.error = store::StoreError::kNone;
      asked.OnAnswered();
    } else {
      store_.Renew(call);
    }
    return;
  }
  asked.error = store::StoreError::kNotFound;
  asked.OnAnswered();
}

}  // namespace sluice::service
