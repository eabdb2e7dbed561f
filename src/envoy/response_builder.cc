#include "envoy/response_builder.h"

#include <algorithm>
#include <limits>

#include "service/rounding.h"
#include "service/verdict.h"

namespace sluice::envoy {

namespace {

constexpr std::uint32_t kMostRemaining = std::numeric_limits<std::uint32_t>::max();

std::uint32_t Narrow(Units units) {
  return static_cast<std::uint32_t>(std::clamp<Units>(units, 0, Units{kMostRemaining}));
}

}  // namespace

CallResult ResponseBuilder::Build(const Decided& decided, wire::RlsResponse& response) {
  decided_ = &decided;
  response_ = &response;
  governing_.clear();
  fields_.Clear();
  for (std::size_t begin = 0; begin < decided.limits.size();) {
    begin = AddStatus(begin);
  }
  const Over who = FindOver();
  const bool over = who.any_plain || who.all_quotas;
  const bool enforced = over && !decided.settings.shadow_mode;
  if (over && !enforced) {
    decided.metrics.CountGlobalShadow();
  }
  response.overall_code = enforced ? wire::RlsCode::kOverLimit : wire::RlsCode::kOk;
  AddHeaders();
  if (decided.settings.retry_after_header && enforced) {
    AddRetryAfter(who);
  }
  if (decided.settings.dynamic_metadata) {
    AddMetadata();
  }
  return enforced ? CallResult::kOverLimit : CallResult::kOk;
}

// Of several limits of a descriptor the status reports one. The statistics count that one alone, so
// that a hit is counted once.
std::size_t ResponseBuilder::AddStatus(std::size_t begin) {
  const std::span<const AppliedLimit> limits = decided_->limits;
  const AppliedLimit* governing = nullptr;
  std::size_t end = begin;
  for (; end < limits.size() && limits[end].descriptor == limits[begin].descriptor; ++end) {
    const AppliedLimit& applied = limits[end];
    if (!applied.IsCounted()) {
      continue;
    }
    if (decided_->settings.ratelimit_fields && !applied.limit->shadow_mode) {
      fields_.Add(*applied.limit, applied.decision, RemainingOf(applied), decided_->now);
    }
    if (governing == nullptr || service::Outranks(applied.decision, governing->decision)) {
      governing = &applied;
    }
  }
  if (governing != nullptr) {
    CountHits(*governing);
  }
  governing_.push_back(governing != nullptr ? governing : &limits[begin]);
  response_->statuses.push_back(StatusOf(*governing_.back()));
  return end;
}

// After a denial that is counted nothing remains; its decision has what remained before.
Units ResponseBuilder::RemainingOf(const AppliedLimit& applied) const {
  const Decision& decision = applied.decision;
  return !decision.allowed && CountsDenials(*applied.limit, decided_->settings)
             ? 0
             : decision.remaining;
}

wire::RlsStatus ResponseBuilder::StatusOf(const AppliedLimit& applied) const {
  wire::RlsStatus status;
  if (!applied.IsCounted()) {
    status.limit_remaining = applied.limit == nullptr ? 0 : kMostRemaining;
    return status;
  }
  const Limit& limit = *applied.limit;
  const Decision& decision = applied.decision;
  const bool over = !decision.allowed;
  status.has_limit = true;
  status.requests_per_unit = limit.requests_per_unit;
  status.unit = static_cast<std::uint32_t>(limit.unit);
  status.unit_name = NameOf(limit.unit);
  status.name = limit.name;
  status.limit_remaining = Narrow(RemainingOf(applied));
  const bool says_when = over && service::IsKnown(decision.retry_after);
  status.seconds_until_reset =
      service::CeilSeconds(says_when ? decision.retry_after : decision.reset_after);
  status.code = over && !limit.shadow_mode && !applied.is_negative ? wire::RlsCode::kOverLimit
                                                                   : wire::RlsCode::kOk;
  return status;
}

// `decision.remaining` of a denial that is counted is what was left before it.
void ResponseBuilder::CountHits(const AppliedLimit& applied) const {
  telemetry::CounterGroup& counters = *applied.counters;
  const auto add = [&counters](Count count, Units units) {
    if (units > 0) {
      counters.Add(static_cast<std::size_t>(count), static_cast<std::uint64_t>(units));
    }
  };
  const Units hits = applied.hits;
  const Decision& decision = applied.decision;
  const bool shadow = applied.limit->shadow_mode;
  if (applied.is_negative) {
    add(Count::kTotalNegativeHits, hits);
    return;
  }
  add(Count::kTotalHits, hits);
  const Units limit = decision.limit;
  // In single precision, as the old service does: 0.8 of 10 is 8 there, too.
  const auto near =
      static_cast<Units>(static_cast<float>(limit) * decided_->settings.near_limit_ratio);
  if (decision.allowed) {
    add(Count::kWithinLimit, hits);
    const Units after = limit - decision.remaining;
    if (after > near) {
      add(Count::kNearLimit, after - hits >= near ? hits : after - near);
    }
    return;
  }
  if (applied.is_known_over) {
    add(Count::kOverLimit, hits);
    add(Count::kOverLimitWithLocalCache, hits);
    add(Count::kShadowMode, shadow ? hits : 0);
    return;
  }
  // Of this request, what still fitted; the old service counts that as near the limit.
  const Units fitted = std::min(decision.remaining, hits);
  const Units before = limit - decision.remaining;
  add(Count::kOverLimit, hits - fitted);
  add(Count::kNearLimit, fitted > 0 ? limit - std::max(near, before) : 0);
  add(Count::kShadowMode, shadow ? hits - fitted : 0);
}

bool ResponseBuilder::InQuotaMode(const AppliedLimit& applied) const {
  return decided_->settings.quota_mode || (applied.limit != nullptr && applied.limit->quota_mode);
}

ResponseBuilder::Over ResponseBuilder::FindOver() const {
  Over found;
  std::size_t quotas = 0;
  std::size_t quotas_over = 0;
  for (std::size_t i = 0; i < governing_.size(); ++i) {
    const AppliedLimit& applied = *governing_[i];
    const bool over = response_->statuses[i].code == wire::RlsCode::kOverLimit;
    if (applied.limit != nullptr && applied.limit->unlimited) {
      continue;
    }
    if (InQuotaMode(applied)) {
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
