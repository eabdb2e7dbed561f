#include "envoy/rate_limit_call.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "base/assert.h"
#include "envoy/rate_limit_service.h"

namespace sluice::envoy {

namespace {

// The limits of a request that count.
class DecisionsOfLimits final : public insight::DecisionList {
 public:
  DecisionsOfLimits(std::span<const AppliedLimit> limits,
                    std::span<const store::CheckAnswer> answers)
      : limits_(limits), answers_(answers) {}
  [[nodiscard]] std::size_t size() const override {
    return static_cast<std::size_t>(
        std::ranges::count_if(limits_, [](const AppliedLimit& a) { return a.IsCounted(); }));
  }
  [[nodiscard]] insight::DecisionRecord At(std::size_t i) const override {
    for (const AppliedLimit& applied : limits_) {
      if (applied.IsCounted() && i-- == 0) {
        return Of(applied);
      }
    }
    SLUICE_ASSERT(false);
  }

 private:
  [[nodiscard]] insight::DecisionRecord Of(const AppliedLimit& applied) const {
    const core::KeyView key = applied.Key();
    return {
        .rule = key.rule,
        .parts = key.parts,
        .quota = &applied.limit->quota,
        .cost = Cost{applied.is_negative ? 0 : applied.hits},
        .decision = &applied.decision,
        .outcome = OutcomeOf(applied),
        .charged = applied.check >= 0 && answers_[static_cast<std::size_t>(applied.check)].charged};
  }
  [[nodiscard]] static insight::Outcome OutcomeOf(const AppliedLimit& applied) {
    const Decision& decision = applied.decision;
    if (decision.degraded) {
      return decision.allowed ? insight::Outcome::kDegradedAllowed
                              : insight::Outcome::kDegradedDenied;
    }
    return insight::OutcomeOf(decision.allowed, applied.limit->shadow_mode);
  }

  const std::span<const AppliedLimit> limits_;
  const std::span<const store::CheckAnswer> answers_;
};

}  // namespace

void RateLimitCall::Decide(RateLimitService& service,
                           const std::shared_ptr<const Configuration>& configuration,
                           service::ChargeBatch& batch) {
  service_ = &service;
  configuration_ = configuration;
  failure = Failure::kNone;
  failure_text = {};
  response.Clear();
  refunds_.clear();
  must_look_ = false;
  charge_.Clear();
  if (IsAcceptable()) {
    Match();
  }
  if (!refunds_.empty()) {
    batch.Join(charge_);
    SendRefunds();
  } else if (must_look_) {
    batch.Join(charge_);
    batch.Ask(PrepareLook());
  } else {
    batch.Add(charge_);
  }
}

bool RateLimitCall::IsAcceptable() {
  if (request->domain().empty()) {
    Fail(Failure::kBadRequest, "rate limit domain must not be empty");
  } else if (request->descriptors().empty()) {
    Fail(Failure::kBadRequest, "rate limit descriptor list must not be empty");
  } else if (configuration_ == nullptr) {
    Fail(Failure::kNoConfiguration, "no rate limit configuration loaded");
  }
  return failure == Failure::kNone;
}

// Finds the limits that apply, and fills the charge with their checks.
void RateLimitCall::Match() {
  const Settings& settings = service_->settings_;
  if (service_->over_limit_.enabled()) {
    now_s_ = service_->clock_.Read().wall_clock.time_since_epoch() / std::chrono::seconds(1);
  }
  limits_.Find(*request, configuration_->Find(request->domain()), settings, &service_->metrics_);
  limits_.DropReplaced();
  bool any_known_over = false;
  for (AppliedLimit& applied : limits_.all()) {
    if (applied.IsCounted()) {
      AddCheck(applied);
      any_known_over |= applied.is_known_over;
    }
  }
  if (charge_.size() > store::kMaxChecksPerCall) {
    Fail(Failure::kTooMany, "more than 64 limits in one request");
    charge_.Clear();
    refunds_.clear();
    return;
  }
  charge_.deadline = deadline;
  charge_.atomicity = settings.compatible ? store::Atomicity::kEach : store::Atomicity::kAll;
  if (settings.compatible && settings.stop_counting_when_over && charge_.size() != 0) {
    must_look_ = !any_known_over;
    for (store::Check& check : charge_.mutable_checks()) {
      check.cost = any_known_over ? Cost{0} : check.cost;
    }
  }
}

void RateLimitCall::AddCheck(AppliedLimit& applied) {
  const Settings& settings = service_->settings_;
  const Limit& limit = *applied.limit;
  const core::Quota quota = QuotaOf(limit, settings);
  if (applied.is_negative) {
    AddRefund(applied);
  } else if (quota.algorithm == core::Algorithm::kAttemptWindow &&
             service_->over_limit_.Has(applied.counter.value, WindowNow(quota))) {
    applied.is_known_over = true;
    return;
  }
  applied.check = static_cast<std::int32_t>(charge_.size());
  charge_.Add({.key = applied.Key(),
               .quota = quota,
               .cost = Cost{applied.is_negative ? 0 : applied.hits},
               .shadow = !settings.compatible && limit.shadow_mode,
               .sync = limit.sync},
              limit.on_store_error);
}

void RateLimitCall::AddRefund(const AppliedLimit& applied) {
  HitRefund& refund = refunds_.emplace_back(*this);
  refund.key = applied.Key();
  refund.quota = QuotaOf(*applied.limit, service_->settings_);
  refund.units = applied.hits;
  refund.sync = applied.limit->sync;
  refund.deadline = deadline;
}

void RateLimitCall::SendRefunds() {
  refunds_left_ = refunds_.size();
  // The last answer may end the call, and with it this list.
  for (std::size_t i = 0, count = refunds_.size(); i < count; ++i) {
    service_->path_.store.Refund(refunds_[i]);
  }
}

void RateLimitCall::OnRefunded(const HitRefund& refund) noexcept {
  const service::DecisionPath& path = service_->path_;
  if (refund.error != store::StoreError::kNone) {
    Fail(Failure::kStore, "the store did not answer");
  } else if (path.fallback != nullptr) {
    path.fallback->Forget(refund.key,
                          refund.quota);  // A denied request may pass now.
  }
  if (--refunds_left_ != 0) {
    return;
  }
  if (failure != Failure::kNone) {
    charge_.Clear();
    charge_.Send(path);
  } else if (must_look_) {
    store::CheckCall* const look = &PrepareLook();
    path.store.CheckMany({&look, 1});
  } else {
    charge_.Send(path);
  }
}

store::CheckCall& RateLimitCall::PrepareLook() {
  looks_.assign(charge_.size(), {});
  look_.checks = charge_.mutable_checks();
  look_.answers = looks_;
  look_.atomicity = store::Atomicity::kEach;
  look_.peek = true;
  look_.deadline = deadline;
  look_.error = store::StoreError::kNone;
  return look_;
}

// Where a counter would go over its limit, only such counters go on.
void RateLimitCall::OnLooked() noexcept {
  if (look_.error != store::StoreError::kNone) {
    charge_.DecideWithout(service_->path_, look_.error);
    return;
  }
  const auto is_over = [](const store::CheckAnswer& look) {
    return look.error == store::StoreError::kNone && !look.decision.allowed;
  };
  if (std::ranges::any_of(looks_, is_over)) {
    for (std::size_t i = 0; i < looks_.size(); ++i) {
      store::Check& check = charge_.mutable_checks()[i];
      check.cost = is_over(looks_[i]) ? check.cost : Cost{0};
    }
  }
  charge_.Send(service_->path_);
}

void RateLimitCall::OnCharged() noexcept {
  if (charge_.failed()) {
    Fail(Failure::kStore, "the store did not answer");
  }
  CallResult result =
      failure == Failure::kStore ? CallResult::kStoreError : CallResult::kServiceError;
  if (failure == Failure::kNone) {
    for (AppliedLimit& applied : limits_.all()) {
      if (applied.IsCounted()) {
        TakeDecision(applied);
      }
    }
    result = builder_.Build({.request = *request,
                             .limits = limits_.all(),
                             .now = charge_.now,
                             .settings = service_->settings_,
                             .metrics = service_->metrics_},
                            response);
  }
  service_->metrics_.CountCall(result);
  if (service_->insight_ != nullptr && failure == Failure::kNone) {
    Record();
  }
  completion_.OnCompleted(*this);
}

void RateLimitCall::Record() noexcept {
  const std::vector<AppliedLimit>& limits = limits_.all();
  const DecisionsOfLimits decisions(limits, charge_.answers);
  service_->insight_->Record(
      {.now = charge_.now,
       .request_id = &request_id,
       .listener = listener,
       .judged_by = insight::JudgedBy::kEnvoy,
       .allowed = response.overall_code != wire::RlsCode::kOverLimit,
       .any_denied = std::ranges::any_of(
           limits, [](const AppliedLimit& a) { return a.IsCounted() && !a.decision.allowed; }),
       .trace = trace.sampled() ? &trace : nullptr,
       .asked = charge_.started(),
       .decisions = decisions});
}

// The decision comes from the charge, or from the cache of counters over their limit.
void RateLimitCall::TakeDecision(AppliedLimit& applied) const {
  const core::Quota& quota = applied.limit->quota;
  if (applied.is_known_over) {
    const OverLimitCache::Window window = WindowNow(quota);
    const Duration left = std::chrono::seconds(window.start_s + window.length_s - now_s_);
    applied.decision = {.limit = quota.limit, .retry_after = left, .reset_after = left};
    return;
  }
  applied.decision = charge_.answers[static_cast<std::size_t>(applied.check)].decision;
  if (!applied.decision.allowed && !applied.decision.degraded &&
      CountsDenials(*applied.limit, service_->settings_)) {
    service_->over_limit_.Remember(applied.counter.value, WindowNow(quota));
  }
}

OverLimitCache::Window RateLimitCall::WindowNow(const core::Quota& quota) const {
  return OverLimitCache::WindowAt(now_s_, quota.window);
}

void RateLimitCall::Fail(Failure why, std::string_view text) {
  failure = why;
  failure_text = text;
}

}  // namespace sluice::envoy
