#include "envoy/usage_call.h"

#include <chrono>
#include <utility>

#include "envoy/counter_name.h"
#include "envoy/limit_override.h"
#include "envoy/rate_limit_service.h"

namespace sluice::envoy {

UsageCall::UsageCall() : peek_(*this) {}

void UsageCall::Start(RateLimitService& service) {
  service_ = &service;
  configuration_ = service.configuration();
  const DescriptorLevel* domain =
      configuration_ == nullptr ? nullptr : configuration_->Find(request->domain());
  if (request->domain().empty() || request->descriptors().empty()) {
    Fail(Failure::kBadRequest, "a domain and a descriptor are required");
  } else if (configuration_ == nullptr) {
    Fail(Failure::kNoConfiguration, "no rate limit configuration loaded");
  } else if (domain == nullptr) {
    Fail(Failure::kNoDomain, "no file names the domain `" + std::string(request->domain()) +
                                 "`: /rlconfig lists the limits");
  } else {
    Find(*domain);
  }
  if (failure != Failure::kNone || uses.empty()) {
    OnDone();
  } else if (reset) {
    AskResets();
  } else {
    AskPeek();
  }
}

void UsageCall::Find(const DescriptorLevel& domain) {
  Match match;
  for (std::size_t i = 0; i < request->descriptors().size(); ++i) {
    const wire::RlsDescriptor& descriptor = request->descriptors()[i];
    match.Clear();
    if (descriptor.limit && IsHonoured(*descriptor.limit)) {
      Add(i,
          overrides_.emplace_back(
              LimitOf(*descriptor.limit, request->domain(), descriptor.entries)),
          match);
    } else {
      FindLimits(domain, descriptor, match);
    }
    for (const auto& limit : match.limits) {
      if (!limit->unlimited) {
        Add(i, *limit, match);
      }
    }
  }
  if (uses.size() > store::kMaxChecksPerCall) {
    Fail(Failure::kBadRequest, "more than 64 limits in one request: ask about fewer descriptors");
  }
}

void UsageCall::Add(std::size_t descriptor, const Limit& limit, const Match& match) {
  uses.push_back({.descriptor = descriptor, .limit = &limit, .decision = {}});
  Reset& of_limit = resets_.emplace_back(*this);
  AppendCounterName(of_limit.counter, service_->settings(), request->domain(),
                    request->descriptors()[descriptor].entries, match, limit);
  of_limit.part = {.attribute = "counter", .value = of_limit.counter};
  of_limit.key = {.rule = kEnvoyRule, .formerly = {}, .parts = {&of_limit.part, 1}};
  of_limit.quota = service_->QuotaOf(limit);
  of_limit.sync = limit.sync;
}

void UsageCall::AskPeek() {
  for (const Reset& of_limit : resets_) {
    checks_.push_back(
        {.key = of_limit.key, .quota = of_limit.quota, .cost = Cost{1}, .sync = of_limit.sync});
  }
  answers_.resize(checks_.size());
  peek_.checks = checks_;
  peek_.answers = answers_;
  peek_.atomicity = store::Atomicity::kEach;
  peek_.peek = true;
  store::CheckCall* const call = &peek_;
  service_->store_.CheckMany({&call, 1});
}

void UsageCall::OnPeeked() noexcept {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    uses[i].decision = answers_[i].decision;
    if (peek_.error != store::StoreError::kNone || answers_[i].error != store::StoreError::kNone) {
      Fail(Failure::kStore, "the store did not answer: try again");
    }
  }
  OnDone();
}

void UsageCall::AskResets() {
  resets_left_ = resets_.size();
  // The last answer may end the call, and with it this list.
  for (std::size_t i = 0, count = resets_.size(); i < count; ++i) {
    service_->store_.Reset(resets_[i]);
  }
}

void UsageCall::OnReset(const Reset& of_limit) noexcept {
  if (of_limit.error != store::StoreError::kNone) {
    Fail(Failure::kStore, "the store did not answer for all of them: try again");
  }
  const std::int64_t now_s =
      service_->clock_.Read().wall.time_since_epoch() / std::chrono::seconds(1);
  service_->over_limit_.Forget(of_limit.counter,
                               OverLimitCache::WindowAt(now_s, of_limit.quota.window));
  if (--resets_left_ == 0) {
    OnDone();
  }
}

void UsageCall::Fail(Failure why, std::string text) {
  failure = why;
  failure_text = std::move(text);
}

}  // namespace sluice::envoy
