#include "envoy/usage_call.h"

#include <chrono>
#include <utility>

#include "envoy/rate_limit_service.h"

namespace sluice::envoy {

void UsageCall::Start(RateLimitService& service) {
  service_ = &service;
  configuration_ = service.configuration();
  Find();
  if (failure != Failure::kNone || uses.empty()) {
    completion_.OnCompleted(*this);
  } else if (reset) {
    SendResets();
  } else {
    Peek();
  }
}

void UsageCall::Find() {
  if (request->domain().empty() || request->descriptors().empty()) {
    Fail(Failure::kBadRequest, "a domain and a descriptor are required");
    return;
  }
  if (configuration_ == nullptr) {
    Fail(Failure::kNoConfiguration, "no rate limit configuration loaded");
    return;
  }
  const DescriptorLevel* const domain = configuration_->Find(request->domain());
  if (domain == nullptr) {
    Fail(Failure::kNoDomain, "no file names the domain `" + std::string(request->domain()) +
                                 "`: /rlconfig lists the limits");
    return;
  }
  limits_.Find(*request, domain, service_->settings_, nullptr);
  std::erase_if(limits_.all(), [](const AppliedLimit& applied) { return !applied.IsCounted(); });
  for (const AppliedLimit& applied : limits_.all()) {
    uses.push_back({.descriptor = applied.descriptor, .limit = applied.limit, .decision = {}});
  }
  if (uses.size() > store::kMaxChecksPerCall) {
    Fail(Failure::kBadRequest, "more than 64 limits in one request: ask about fewer descriptors");
  }
}

void UsageCall::Peek() {
  for (const AppliedLimit& applied : limits_.all()) {
    charge_.Add({.key = applied.Key(),
                 .quota = QuotaOf(*applied.limit, service_->settings_),
                 .cost = Cost{1},
                 .sync = applied.limit->sync},
                rules::OnStoreError::kFail);
  }
  charge_.atomicity = store::Atomicity::kEach;
  charge_.peek = true;
  charge_.Send(service_->path_);
}

void UsageCall::OnCharged() noexcept {
  if (charge_.failed()) {
    Fail(Failure::kStore, "the store did not answer: try again");
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    uses[i].decision = charge_.answers[i].decision;
  }
  completion_.OnCompleted(*this);
}

void UsageCall::SendResets() {
  for (const AppliedLimit& applied : limits_.all()) {
    Reset& of_limit = resets_.emplace_back(*this);
    of_limit.key = applied.Key();
    of_limit.quota = QuotaOf(*applied.limit, service_->settings_);
    of_limit.sync = applied.limit->sync;
  }
  resets_left_ = resets_.size();
  // The last answer may end the call, and with it this list.
  for (std::size_t i = 0, count = resets_.size(); i < count; ++i) {
    service_->path_.store.Reset(resets_[i]);
  }
}

void UsageCall::OnReset(const Reset& of_limit) noexcept {
  if (of_limit.error != store::StoreError::kNone) {
    Fail(Failure::kStore, "the store did not answer for all of them: try again");
  }
  if (service_->path_.fallback != nullptr) {
    service_->path_.fallback->Reset(of_limit.key, of_limit.quota);
  }
  const std::int64_t now_s =
      service_->clock_.Read().wall_clock.time_since_epoch() / std::chrono::seconds(1);
  service_->over_limit_.Forget(of_limit.key.parts.front().value,
                               OverLimitCache::WindowAt(now_s, of_limit.quota.window));
  if (--resets_left_ == 0) {
    completion_.OnCompleted(*this);
  }
}

void UsageCall::Fail(Failure why, std::string text) {
  failure = why;
  failure_text = std::move(text);
}

}  // namespace sluice::envoy
