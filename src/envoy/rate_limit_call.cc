#include "envoy/rate_limit_call.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/tally.h"
#include "envoy/counter_text.h"
#include "envoy/rate_limit_service.h"
#include "rules/rule.h"
#include "service/failure_policy.h"
#include "service/fallback.h"

namespace sluice::envoy {

namespace {

constexpr std::uint32_t kMostRemaining = std::numeric_limits<std::uint32_t>::max();

std::uint32_t Narrow(Units units) {
  return static_cast<std::uint32_t>(std::clamp<Units>(units, 0, Units{kMostRemaining}));
}

// Whole seconds, a begun one counted.
std::int64_t SecondsUp(Duration duration) {
  return (duration + std::chrono::seconds(1) - Duration(1)) / std::chrono::seconds(1);
}

rules::OnStoreError PolicyOf(OnStoreError policy) {
  switch (policy) {
    case OnStoreError::kDeny:
      return rules::OnStoreError::kDeny;
    case OnStoreError::kLocal:
      return rules::OnStoreError::kLocal;
    case OnStoreError::kFail:
    case OnStoreError::kAllow:
      break;
  }
  return rules::OnStoreError::kAllow;
}

}  // namespace

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
  parts_.resize(request->descriptors().size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Plan(i, domain);
  }
  DropReplaced();
  MakeChecks();
  return failure == Failure::kNone;
}

// Which limit the descriptor has, how many hits it brings, and what its counter is called.
void RateLimitCall::Plan(std::size_t i, const DescriptorLevel* domain) {
  const wire::RlsDescriptor& descriptor = request->descriptors()[i];
  Part& part = parts_[i];
  if (domain == nullptr) {
    service_->metrics_.CountDomainNotFound();
    return;
  }
  match_.Clear();
  // Where the old service ends its process, over a unit that is none, the override is passed over.
  if (descriptor.limit && descriptor.limit->unit >= 1 && descriptor.limit->unit <= kMostUnit) {
    PlanOverride(part, descriptor);
  } else {
    FindLimit(*domain, descriptor, match_);
    part.limit = match_.limit;
    if (part.limit == nullptr) {
      return;
    }
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
  if (!part.limit->unlimited) {
    part.text_begin = texts_.size();
    const Settings& settings = service_->settings_;
    if (settings.old_counter_names && part.limit->quota.algorithm == core::kTally) {
      AppendOldCounterText(texts_, settings.cache_key_prefix, request->domain(), descriptor.entries,
                           match_);
    } else {
      AppendCounterText(texts_, request->domain(), descriptor.entries, match_.shared);
    }
    part.text_size = texts_.size() - part.text_begin;
  }
}

void RateLimitCall::PlanOverride(Part& part, const wire::RlsDescriptor& descriptor) {
  Limit& limit = overrides_.emplace_back();
  limit.unit = static_cast<Unit>(descriptor.limit->unit);
  limit.requests_per_unit = descriptor.limit->requests_per_unit;
  limit.quota.algorithm = core::kTally;
  limit.quota.limit = limit.requests_per_unit;
  limit.quota.window = LengthOf(limit.unit);
  part.limit = &limit;
  RateLimitMetrics& metrics = service_->metrics_;
  part.counters = metrics.Named(NameOfOverride(request->domain(), descriptor.entries), nullptr);
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
    core::Quota quota = part.limit->quota;
    if (!settings.compatible && quota.algorithm == core::kTally) {
      quota.algorithm = core::Algorithm::kFixedWindow;
    }
    if (part.is_negative) {
      TakenBack& back = taken_back_.emplace_back(*this);
      back.part = {.attribute = "counter", .value = text};
      back.key = {.rule = kEnvoyRule, .formerly = {}, .parts = {&back.part, 1}};
      back.quota = quota;
      back.units = part.hits;
      back.deadline = deadline;
    } else if (quota.algorithm == core::kTally &&
               service_->over_limit_.Has(text, WindowStart(quota))) {
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
         .shadow = !settings.compatible && part.limit->shadow_mode});
  }
  if (checks_.size() > store::kMaxChecksPerCall) {
    Fail(Failure::kTooMany, "more than 64 descriptors with a limit in one request");
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

std::int64_t RateLimitCall::WindowStart(const core::Quota& quota) const {
  const std::int64_t window = quota.window / std::chrono::seconds(1);
  return now_s_ - now_s_ % std::max<std::int64_t>(window, 1);
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

Decision RateLimitCall::DecideAlone(const Limit& limit, const store::Check& check) const {
  const rules::OnStoreError policy = PolicyOf(limit.on_store_error);
  if (policy != rules::OnStoreError::kLocal || service_->fallback_ == nullptr) {
    return service::DecideWithoutStore(policy, check.quota).decision;
  }
  std::string text(check.key.parts.front().value);
  ShortenCounterText(text, 0);  // A name in Redis may be longer than the table's.
  const core::KeyPart part{.attribute = "counter", .value = text};
  store::Check here = check;
  here.key.parts = {&part, 1};
  service::FallbackRoom room;
  room.unanswered.push_back({.check = &here, .policy = policy});
  service_->fallback_->Decide(room, /*charge=*/true);
  return room.unanswered.front().failed.decision;
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

void RateLimitCall::Finish() noexcept {
  RateLimitMetrics& metrics = service_->metrics_;
  CallResult result = CallResult::kServiceError;
  if (failure == Failure::kNone) {
    if (asked_.error != store::StoreError::kNone && !checks_.empty()) {
      for (store::CheckAnswer& answer : answers_) {
        answer.error = asked_.error;
      }
    }
    response.statuses.resize(parts_.size());
    for (std::size_t i = 0; i < parts_.size() && !store_failed_; ++i) {
      MakeStatus(i);
    }
    if (store_failed_) {
      Fail(Failure::kStore, "the store did not answer");
    }
  }
  if (failure == Failure::kNone) {
    const bool over = IsOverLimit();
    const bool shadowed = over && service_->settings_.shadow_mode;
    if (shadowed) {
      metrics.CountGlobalShadow();
    }
    response.overall_code = over && !shadowed ? wire::RlsCode::kOverLimit : wire::RlsCode::kOk;
    AddHeaders();
    AddMetadata();
    result = over && !shadowed ? CallResult::kOverLimit : CallResult::kOk;
  } else if (failure == Failure::kStore) {
    result = CallResult::kStoreError;
  }
  metrics.CountCall(result);
  metrics.RecordCall(std::chrono::steady_clock::now() - started_, 1);
  OnDecided();
}

void RateLimitCall::MakeStatus(std::size_t i) {
  const Part& part = parts_[i];
  wire::RlsStatus& status = response.statuses[i];
  status = {};
  if (part.limit == nullptr) {
    return;
  }
  if (part.limit->unlimited) {
    status.limit_remaining = kMostRemaining;
    return;
  }
  const Limit& limit = *part.limit;
  Decision decision;
  if (part.is_known_over) {
    const std::int64_t window = limit.quota.window / std::chrono::seconds(1);
    decision.reset_after = std::chrono::seconds(window - now_s_ % window);
    decision.retry_after = decision.reset_after;
    decision.limit = limit.quota.limit;
  } else {
    const auto at = static_cast<std::size_t>(part.check);
    const store::CheckAnswer& answer = answers_[at];
    decision = answer.decision;
    if (answer.error != store::StoreError::kNone) {
      if (limit.on_store_error == OnStoreError::kFail) {
        store_failed_ = true;
        return;
      }
      decision = DecideAlone(limit, checks_[at]);
    }
  }
  const bool is_tally = limit.quota.algorithm == core::kTally;
  const bool over = !decision.allowed;
  CountHits(part, decision, over);
  const bool is_counted = is_tally && !part.is_known_over && !decision.degraded;
  if (over && is_counted && service_->settings_.compatible) {
    service_->over_limit_.Remember(std::string_view(texts_).substr(part.text_begin, part.text_size),
                                   WindowStart(limit.quota));
  }
  status.has_limit = true;
  status.requests_per_unit = limit.requests_per_unit;
  status.unit = static_cast<std::uint32_t>(limit.unit);
  status.unit_name = NameOf(limit.unit);
  status.name = limit.name;
  const bool counted_on = over && is_tally && service_->settings_.compatible;
  status.limit_remaining = counted_on ? 0 : Narrow(decision.remaining);
  const bool says_when = over && decision.retry_after != Decision::kNever &&
                         decision.retry_after != Decision::kUnknown;
  status.seconds_until_reset = SecondsUp(says_when ? decision.retry_after : decision.reset_after);
  status.code = over && !limit.shadow_mode && !part.is_negative ? wire::RlsCode::kOverLimit
                                                                : wire::RlsCode::kOk;
}

// `decision.remaining` of a tally's denial is what was left before it.
void RateLimitCall::CountHits(const Part& part, const Decision& decision, bool over) {
  telemetry::CounterGroup& counters = *part.counters;
  const auto add = [&counters](Count count, Units units) {
    if (units > 0) {
      counters.Add(static_cast<std::size_t>(count), static_cast<std::uint64_t>(units));
    }
  };
  const Units hits = part.hits;
  if (part.is_negative) {
    add(Count::kTotalNegativeHits, hits);
    return;
  }
  add(Count::kTotalHits, hits);
  const Units limit = decision.limit;
  // In single precision, as the old service does: 0.8 of 10 is 8 there, too.
  const auto near =
      static_cast<Units>(static_cast<float>(limit) * service_->settings_.near_limit_ratio);
  if (!over) {
    add(Count::kWithinLimit, hits);
    const Units after = limit - decision.remaining;
    if (after > near) {
      add(Count::kNearLimit, after - hits >= near ? hits : after - near);
    }
    return;
  }
  if (part.is_known_over) {
    add(Count::kOverLimit, hits);
    add(Count::kOverLimitWithLocalCache, hits);
    add(Count::kShadowMode, part.limit->shadow_mode ? hits : 0);
    return;
  }
  // Of this request, what still fitted; the old service counts that as near the limit.
  const Units fitted = std::min(decision.remaining, hits);
  const Units before = limit - decision.remaining;
  add(Count::kOverLimit, hits - fitted);
  add(Count::kNearLimit, fitted > 0 ? limit - std::max(near, before) : 0);
  add(Count::kShadowMode, part.limit->shadow_mode ? hits - fitted : 0);
}

bool RateLimitCall::InQuotaMode(const Part& part) const {
  return service_->settings_.quota_mode || (part.limit != nullptr && part.limit->quota_mode);
}

bool RateLimitCall::IsOverLimit() const {
  std::size_t quotas = 0;
  std::size_t quotas_over = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const bool over = response.statuses[i].code == wire::RlsCode::kOverLimit;
    if (part.limit != nullptr && part.limit->unlimited) {
      continue;
    }
    if (InQuotaMode(part)) {
      ++quotas;
      quotas_over += over ? 1 : 0;
    } else if (over) {
      return true;
    }
  }
  return quotas != 0 && quotas == quotas_over;
}

void RateLimitCall::AddHeaders() {
  const Settings& settings = service_->settings_;
  const wire::RlsStatus* least = nullptr;
  const wire::RlsStatus* last_over = nullptr;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const wire::RlsStatus& status = response.statuses[i];
    if (!status.has_limit) {
      continue;
    }
    if (least == nullptr || status.limit_remaining < least->limit_remaining) {
      least = &status;
    }
    if (status.code == wire::RlsCode::kOverLimit) {
      longest = std::max(longest, status.seconds_until_reset);
      last_over = InQuotaMode(parts_[i]) ? last_over : &status;
    }
  }
  const wire::RlsStatus* told = last_over != nullptr ? last_over : least;
  auto& headers = response.response_headers_to_add;
  if (settings.response_headers && told != nullptr) {
    headers.push_back({settings.limit_header, std::to_string(told->requests_per_unit)});
    headers.push_back({settings.remaining_header, std::to_string(told->limit_remaining)});
    headers.push_back({settings.reset_header, std::to_string(told->seconds_until_reset)});
  }
  if (settings.retry_after_header && response.overall_code == wire::RlsCode::kOverLimit) {
    headers.push_back({"Retry-After", std::to_string(std::max<std::int64_t>(longest, 1))});
  }
}

void RateLimitCall::AddMetadata() {
  if (!service_->settings_.dynamic_metadata) {
    return;
  }
  using wire::StructValue;
  StructValue all{StructValue::Object{}};
  all.Set("domain", StructValue(request->domain()));
  StructValue::List descriptors;
  StructValue merged{StructValue::Object{}};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const wire::RlsDescriptor& descriptor = request->descriptors()[i];
    StructValue said{StructValue::Object{}};
    StructValue::List entries;
    for (const wire::RlsEntry& entry : descriptor.entries) {
      entries.emplace_back(std::string(entry.key) + "=" + std::string(entry.value));
    }
    said.Set("entries", StructValue(std::move(entries)));
    if (descriptor.limit) {
      said.Set(
          "limit",
          StructValue("requests_per_unit:" + std::to_string(descriptor.limit->requests_per_unit) +
                      "  unit:" + std::string(NameOf(static_cast<Unit>(descriptor.limit->unit)))));
    }
    if (descriptor.hits_addend) {
      said.Set("hitsAddend", StructValue(static_cast<double>(*descriptor.hits_addend)));
    }
    descriptors.push_back(std::move(said));
    if (parts_[i].limit != nullptr && response.statuses[i].code != wire::RlsCode::kOverLimit) {
      merged.MergeMissing(parts_[i].limit->metadata);
    }
  }
  all.Set("descriptors", StructValue(std::move(descriptors)));
  if (request->hits_addend() != 0) {
    all.Set("hitsAddend", StructValue(static_cast<double>(request->hits_addend())));
  }
  if (!merged.object()->empty()) {
    all.Set("metadata", std::move(merged));
  }
  response.dynamic_metadata = std::move(all);
}

}  // namespace sluice::envoy
