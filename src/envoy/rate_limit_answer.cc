#include <algorithm>
#include <limits>
#include <utility>

#include "envoy/counter_text.h"
#include "envoy/rate_limit_call.h"
#include "envoy/rate_limit_service.h"
#include "rules/rule.h"
#include "service/failure_policy.h"
#include "service/fallback.h"
#include "service/rounding.h"
#include "service/verdict.h"

// How a call makes its response of what the store said; the way there is in rate_limit_call.cc,
// what the response has beside codes in rate_limit_headers.cc.
namespace sluice::envoy {

namespace {

constexpr std::uint32_t kMostRemaining = std::numeric_limits<std::uint32_t>::max();

std::uint32_t Narrow(Units units) {
  return static_cast<std::uint32_t>(std::clamp<Units>(units, 0, Units{kMostRemaining}));
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

void RateLimitCall::Finish() noexcept {
  RateLimitMetrics& metrics = service_->metrics_;
  CallResult result = CallResult::kServiceError;
  if (failure == Failure::kNone) {
    if (asked_.error != store::StoreError::kNone && !checks_.empty()) {
      for (store::CheckAnswer& answer : answers_) {
        answer.error = asked_.error;
      }
    }
    response.statuses.resize(request->descriptors().size());
    governing_.clear();
    fields_.Clear();
    for (std::size_t begin = 0; begin < parts_.size() && !store_failed_;) {
      begin = MakeStatus(begin);
    }
    if (store_failed_) {
      Fail(Failure::kStore, "the store did not answer");
    }
  }
  if (failure == Failure::kNone) {
    const Over who = FindOver();
    const bool over = who.any_plain || who.all_quotas;
    const bool shadowed = over && service_->settings_.shadow_mode;
    if (shadowed) {
      metrics.CountGlobalShadow();
    }
    response.overall_code = over && !shadowed ? wire::RlsCode::kOverLimit : wire::RlsCode::kOk;
    AddHeaders();
    if (service_->settings_.retry_after_header && over && !shadowed) {
      AddRetryAfter(who);
    }
    AddMetadata();
    result = over && !shadowed ? CallResult::kOverLimit : CallResult::kOk;
  } else if (failure == Failure::kStore) {
    result = CallResult::kStoreError;
  }
  metrics.CountCall(result);
  metrics.RecordCall(std::chrono::steady_clock::now() - started_, 1);
  OnDecided();
}

// Makes the status of one descriptor of its parts, which begin there; the end of these. Of several
// limits the status tells one, which alone is counted in the statistics, so that a hit is one hit.
std::size_t RateLimitCall::MakeStatus(std::size_t begin) {
  const std::size_t i = parts_[begin].descriptor;
  wire::RlsStatus& status = response.statuses[i];
  status = {};
  std::size_t governing = begin;
  Decision decision;
  bool any = false;
  std::size_t end = begin;
  for (; end < parts_.size() && parts_[end].descriptor == i; ++end) {
    const Part& part = parts_[end];
    if (part.limit == nullptr || part.limit->unlimited) {
      status.limit_remaining = part.limit == nullptr ? status.limit_remaining : kMostRemaining;
      continue;
    }
    const Decision candidate = DecisionOf(part);
    if (store_failed_) {
      return parts_.size();
    }
    if (service_->settings_.ratelimit_fields && !part.limit->shadow_mode) {
      fields_.Add(*part.limit, candidate, RemainingOf(part, candidate), asked_.now);
    }
    if (!any || service::Outranks(candidate, decision)) {
      decision = candidate;
      governing = end;
    }
    any = true;
  }
  governing_.push_back({.part = governing, .decision = decision});
  if (any) {
    const Part& part = parts_[governing];
    CountHits(part, decision);
    FillStatus(part, decision, status);
  }
  return end;
}

// What the store, or who stands in for it, says of one limit.
Decision RateLimitCall::DecisionOf(const Part& part) {
  const Limit& limit = *part.limit;
  Decision decision;
  if (part.is_known_over) {
    const OverLimitCache::Window window = WindowNow(limit.quota);
    decision.reset_after = std::chrono::seconds(window.start_s + window.length_s - now_s_);
    decision.retry_after = decision.reset_after;
    decision.limit = limit.quota.limit;
    return decision;
  }
  const auto at = static_cast<std::size_t>(part.check);
  const store::CheckAnswer& answer = answers_[at];
  decision = answer.decision;
  if (answer.error != store::StoreError::kNone) {
    if (limit.on_store_error == OnStoreError::kFail) {
      store_failed_ = true;
      return decision;
    }
    decision = DecideAlone(limit, checks_[at]);
  }
  if (!decision.allowed && !decision.degraded && CountsDenials(limit)) {
    service_->over_limit_.Remember(std::string_view(texts_).substr(part.text_begin, part.text_size),
                                   WindowNow(limit.quota));
  }
  return decision;
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

// Whether it is judged as the old service judges.
bool RateLimitCall::CountsDenials(const Limit& limit) const {
  return limit.quota.algorithm == core::Algorithm::kAttemptWindow && service_->settings_.compatible;
}

// What an answer says is left. After an attempt window's denial nothing is, though it tells what
// was before.
Units RateLimitCall::RemainingOf(const Part& part, const Decision& decision) const {
  return !decision.allowed && CountsDenials(*part.limit) ? 0 : decision.remaining;
}

void RateLimitCall::FillStatus(const Part& part, const Decision& decision,
                               wire::RlsStatus& status) const {
  const Limit& limit = *part.limit;
  const bool over = !decision.allowed;
  status.has_limit = true;
  status.requests_per_unit = limit.requests_per_unit;
  status.unit = static_cast<std::uint32_t>(limit.unit);
  status.unit_name = NameOf(limit.unit);
  status.name = limit.name;
  status.limit_remaining = Narrow(RemainingOf(part, decision));
  const bool says_when = over && service::IsKnown(decision.retry_after);
  status.seconds_until_reset =
      service::CeilSeconds(says_when ? decision.retry_after : decision.reset_after);
  status.code = over && !limit.shadow_mode && !part.is_negative ? wire::RlsCode::kOverLimit
                                                                : wire::RlsCode::kOk;
}

// `decision.remaining` of an attempt window's denial is what was left before it.
void RateLimitCall::CountHits(const Part& part, const Decision& decision) {
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
  if (decision.allowed) {
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

RateLimitCall::Over RateLimitCall::FindOver() const {
  Over found;
  std::size_t quotas = 0;
  std::size_t quotas_over = 0;
  for (std::size_t i = 0; i < governing_.size(); ++i) {
    const Part& part = parts_[governing_[i].part];
    const bool over = response.statuses[i].code == wire::RlsCode::kOverLimit;
    if (part.limit != nullptr && part.limit->unlimited) {
      continue;
    }
    if (InQuotaMode(part)) {
      ++quotas;
      quotas_over += over ? 1 : 0;
    } else {
      found.any_plain = found.any_plain || over;
    }
  }
  found.all_quotas = quotas != 0 && quotas == quotas_over;
  return found;
}

}  // namespace sluice::envoy
