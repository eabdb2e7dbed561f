#include "envoy/rate_limit_call.h"

#include <algorithm>
#include <utility>

#include "envoy/counter_name.h"
#include "envoy/limit_override.h"
#include "envoy/rate_limit_service.h"

namespace sluice::envoy {

RateLimitCall::RateLimitCall() : asked_(*this) {}

bool RateLimitCall::Begin(RateLimitService& service,
                          const std::shared_ptr<const Configuration>& configuration) {
  service_ = &service;
  configuration_ = configuration;
  failure = Failure::kNone;
  failure_text = {};
  response.Clear();
  store_failed_ = false;
  phase_ = Phase::kCount;
  parts_.clear();
  overrides_.clear();
  texts_.clear();
  checks_.clear();
  taken_back_.clear();
  if (request->domain().empty()) {
    Fail(Failure::kBadRequest, "rate limit domain must not be empty");
  } else if (request->descriptors().empty()) {
    Fail(Failure::kBadRequest, "rate limit descriptor list must not be empty");
  } else if (configuration_ == nullptr) {
    Fail(Failure::kNoConfiguration, "no rate limit configuration loaded");
  }
  if (failure != Failure::kNone) {
    return false;
  }
  if (service.over_limit_.enabled()) {
    now_s_ = service.clock_.Read().wall.time_since_epoch() / std::chrono::seconds(1);
  }
  const DescriptorLevel* domain = configuration_->Find(request->domain());
  for (std::size_t i = 0; i < request->descriptors().size(); ++i) {
    Plan(i, domain);
  }
  DropReplaced();
  MakeChecks();
  return failure == Failure::kNone;
}

// Which limits the descriptor has, how many hits it brings, and what its counter is called.
void RateLimitCall::Plan(std::size_t i, const DescriptorLevel* domain) {
  const wire::RlsDescriptor& descriptor = request->descriptors()[i];
  Part& part = parts_.emplace_back();
  part.descriptor = i;
  if (domain == nullptr) {
    service_->metrics_.CountDomainNotFound();
    return;
  }
  match_.Clear();
  if (descriptor.limit && IsHonoured(*descriptor.limit)) {
    PlanOverride(part, *descriptor.limit, descriptor.entries);
  } else {
    FindLimits(*domain, descriptor, match_);
    if (match_.limits.empty()) {
      return;
    }
    part.limit = match_.limits.front().get();
    part.counters = part.limit->counters.get();
    if (match_.has_value_in_metric) {
      part.counters = service_->metrics_.Named(
          NameWithValues(request->domain(), match_, descriptor.entries), part.counters);
    }
  }
  const std::uint64_t hits =
      descriptor.hits_addend.value_or(std::max<std::uint64_t>(request->hits_addend(), 1));
  part.hits = static_cast<Units>(std::min<std::uint64_t>(hits, kMaxUnits));
  part.is_negative = descriptor.is_negative_hits;
  if (part.limit->unlimited) {
    return;
  }
  NameCounter(part);
  // The others of a list.
  for (std::size_t n = 1; n < match_.limits.size(); ++n) {
    Part other = parts_.back();
    other.limit = match_.limits[n].get();
    NameCounter(other);
    parts_.push_back(other);
  }
}

void RateLimitCall::NameCounter(Part& part) {
  part.text_begin = texts_.size();
  AppendCounterName(texts_, service_->settings_, request->domain(),
                    request->descriptors()[part.descriptor].entries, match_, *part.limit);
  part.text_size = texts_.size() - part.text_begin;
}

void RateLimitCall::PlanOverride(Part& part, const wire::RlsOverride& limit,
                                 std::span<const wire::RlsEntry> entries) {
  part.limit = &overrides_.emplace_back(LimitOf(limit, request->domain(), entries));
  RateLimitMetrics& metrics = service_->metrics_;
  part.counters = metrics.Named(NameOfOverride(request->domain(), entries), nullptr);
  if (part.counters == nullptr) {
    part.counters = metrics.OfOverrides(request->domain());
  }
}

// What any limit of the request replaces is not counted, also where that limit is replaced itself.
void RateLimitCall::DropReplaced() {
  replaced_.clear();
  for (const Part& part : parts_) {
    if (part.limit != nullptr) {
      replaced_.insert(replaced_.end(), part.limit->replaces.begin(), part.limit->replaces.end());
    }
  }
  if (replaced_.empty()) {
    return;
  }
  for (Part& part : parts_) {
    if (part.limit != nullptr && !part.limit->name.empty() &&
        std::ranges::find(replaced_, part.limit->name) != replaced_.end()) {
      part.limit = nullptr;
    }
  }
}

void RateLimitCall::MakeChecks() {
  const Settings& settings = service_->settings_;
  key_parts_.clear();
  key_parts_.reserve(parts_.size());  // Views of its items are made as it grows.
  bool any_known_over = false;
  for (Part& part : parts_) {
    if (part.limit == nullptr || part.limit->unlimited) {
      continue;
    }
    const std::string_view text = std::string_view(texts_).substr(part.text_begin, part.text_size);
    const core::Quota quota = service_->QuotaOf(*part.limit);
    if (part.is_negative) {
      TakenBack& back = taken_back_.emplace_back(*this);
      back.part = {.attribute = "counter", .value = text};
      back.key = {.rule = kEnvoyRule, .formerly = {}, .parts = {&back.part, 1}};
      back.quota = quota;
      back.units = part.hits;
      back.sync = part.limit->sync;
      back.deadline = deadline;
    } else if (quota.algorithm == core::Algorithm::kAttemptWindow &&
               service_->over_limit_.Has(text, WindowNow(quota))) {
      part.is_known_over = true;
      any_known_over = true;
      continue;
    }
    part.check = static_cast<std::int32_t>(checks_.size());
    key_parts_.push_back({.attribute = "counter", .value = text});
    checks_.push_back(
        {.key = {.rule = kEnvoyRule, .formerly = {}, .parts = {&key_parts_.back(), 1}},
         .quota = quota,
         .cost = Cost{part.is_negative ? 0 : part.hits},
         .shadow = !settings.compatible && part.limit->shadow_mode,
         .sync = part.limit->sync});
  }
  if (checks_.size() > store::kMaxChecksPerCall) {
    Fail(Failure::kTooMany, "more than 64 limits in one request");
    return;
  }
  if (settings.compatible && settings.stop_counting_when_over && !checks_.empty()) {
    if (any_known_over) {
      for (store::Check& check : checks_) {
        check.cost = Cost{0};
      }
    } else {
      phase_ = Phase::kLook;
    }
  }
}

OverLimitCache::Window RateLimitCall::WindowNow(const core::Quota& quota) const {
  return OverLimitCache::WindowAt(now_s_, quota.window);
}

store::CheckCall* RateLimitCall::NextAsk() {
  if (checks_.empty()) {
    return nullptr;
  }
  answers_.resize(checks_.size());
  asked_.checks = checks_;
  asked_.answers = answers_;
  asked_.atomicity =
      service_->settings_.compatible ? store::Atomicity::kEach : store::Atomicity::kAll;
  asked_.peek = phase_ == Phase::kLook;
  asked_.deadline = deadline;
  asked_.error = store::StoreError::kNone;
  return &asked_;
}

void RateLimitCall::TakeBack() {
  taken_back_left_ = taken_back_.size();
  // The last answer may end the call, and with it this list.
  const std::size_t count = taken_back_.size();
  for (std::size_t i = 0; i < count; ++i) {
    TakenBack& back = taken_back_[i];
    service_->store_.Refund(back);
  }
}

void RateLimitCall::OnTakenBack() noexcept {
  if (--taken_back_left_ != 0) {
    return;
  }
  store_failed_ = std::ranges::any_of(
      taken_back_, [](const TakenBack& back) { return back.error != store::StoreError::kNone; });
  Proceed();
}

// What is left to ask, or the end.
void RateLimitCall::Proceed() noexcept {
  store::CheckCall* next = store_failed_ ? nullptr : NextAsk();
  if (next == nullptr) {
    Finish();
  } else {
    service_->store_.CheckMany({&next, 1});
  }
}

void RateLimitCall::OnChecked() noexcept {
  const auto has_error = [](const store::CheckAnswer& answer) {
    return answer.error != store::StoreError::kNone;
  };
  if (phase_ == Phase::kLook && asked_.error == store::StoreError::kNone &&
      std::ranges::none_of(answers_, has_error)) {
    phase_ = Phase::kCount;
    LookAtCosts();
    Proceed();
    return;
  }
  Finish();
}

// Where a counter would go over its limit, only such counters go on.
void RateLimitCall::LookAtCosts() {
  const bool any_over = std::ranges::any_of(answers_, [](const store::CheckAnswer& answer) {
    return answer.error == store::StoreError::kNone && !answer.decision.allowed;
  });
  for (std::size_t i = 0; any_over && i < checks_.size(); ++i) {
    if (answers_[i].decision.allowed) {
      checks_[i].cost = Cost{0};
    }
  }
}

void RateLimitCall::Fail(Failure why, std::string_view text) {
  failure = why;
  failure_text = text;
}

}  // namespace sluice::envoy
