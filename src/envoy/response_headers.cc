#include <algorithm>
#include <string>
#include <utility>

#include "envoy/response_builder.h"
#include "service/header_times.h"
#include "service/rounding.h"
#include "wire/structured_field.h"

// What a response has beside its codes: headers for the client, metadata for Envoy.
namespace sluice::envoy {

namespace {

wire::SfListWriter Next(std::string& list) {
  list += list.empty() ? "" : ", ";
  return wire::SfListWriter(list);
}

}  // namespace

void LimitFields::Clear() {
  policy_.clear();
  state_.clear();
}

void LimitFields::Add(const Limit& limit, const Decision& decision, Units remaining,
                      WallInstant now) {
  wire::SfListWriter policy = Next(policy_);
  policy.Member(limit.policy).Param("q", limit.quota.limit);
  if (const auto window = service::WindowSeconds(limit.quota, now)) {
    policy.Param("w", *window);
  }
  wire::SfListWriter state = Next(state_);
  state.Member(limit.policy).Param("r", remaining);
  if (const auto seconds = service::EffectiveSeconds(limit.quota, decision, now)) {
    state.Param("t", *seconds);
  }
}

void ResponseBuilder::AddHeaders() {
  const Settings& settings = decided_->settings;
  const wire::RlsStatus* least = nullptr;
  const wire::RlsStatus* last_over = nullptr;
  for (std::size_t i = 0; i < governing_.size(); ++i) {
    const wire::RlsStatus& status = response_->statuses[i];
    if (!status.has_limit) {
      continue;
    }
    if (least == nullptr || status.limit_remaining < least->limit_remaining) {
      least = &status;
    }
    if (status.code == wire::RlsCode::kOverLimit && !InQuotaMode(*governing_[i])) {
      last_over = &status;
    }
  }
  const wire::RlsStatus* reported = last_over != nullptr ? last_over : least;
  auto& headers = response_->response_headers_to_add;
  if (settings.response_headers && reported != nullptr) {
    headers.push_back({settings.limit_header, std::to_string(reported->requests_per_unit)});
    headers.push_back({settings.remaining_header, std::to_string(reported->limit_remaining)});
    headers.push_back({settings.reset_header, std::to_string(reported->seconds_until_reset)});
  }
  // What is not enforced is no policy that a client could keep to.
  if (!fields_.empty() && !settings.shadow_mode) {
    headers.push_back({"RateLimit-Policy", fields_.policy()});
    headers.push_back({"RateLimit", fields_.state()});
  }
}

// When the same request would pass: no plain limit denies it any more, and one of those in quota
// mode does not. No header if that is never.
void ResponseBuilder::AddRetryAfter(const Over& over) {
  const auto wait_of = [](const AppliedLimit& reported) {
    if (reported.hits > reported.limit->quota.limit) {
      return Decision::kNever;  // An attempt window's wait is its end, whatever the cost.
    }
    const Duration wait = reported.decision.retry_after;
    return wait == Decision::kUnknown ? Duration{} : wait;
  };
  Duration plain{};
  Duration quota = Decision::kNever;
  for (std::size_t i = 0; i < governing_.size(); ++i) {
    if (response_->statuses[i].code != wire::RlsCode::kOverLimit) {
      continue;
    }
    const Duration wait = wait_of(*governing_[i]);
    if (InQuotaMode(*governing_[i])) {
      quota = std::min(quota, wait);
    } else {
      plain = std::max(plain, wait);
    }
  }
  const Duration wait = over.all_quotas ? std::max(plain, quota) : plain;
  if (wait != Decision::kNever) {
    response_->response_headers_to_add.push_back(
        {"Retry-After", std::to_string(std::max<std::int64_t>(service::CeilSeconds(wait), 1))});
  }
}

void ResponseBuilder::AddMetadata() {
  using wire::StructValue;
  StructValue all{StructValue::Object{}};
  all.Set("domain", StructValue(decided_->request.domain()));
  StructValue::List descriptors;
  StructValue merged{StructValue::Object{}};
  for (std::size_t i = 0; i < governing_.size(); ++i) {
    const wire::RlsDescriptor& descriptor = decided_->request.descriptors()[i];
    StructValue described{StructValue::Object{}};
    StructValue::List entries;
    for (const wire::RlsEntry& entry : descriptor.entries) {
      entries.emplace_back(std::string(entry.key) + "=" + std::string(entry.value));
    }
    described.Set("entries", StructValue(std::move(entries)));
    if (descriptor.limit) {
      described.Set(
          "limit",
          StructValue("requests_per_unit:" + std::to_string(descriptor.limit->requests_per_unit) +
                      "  unit:" + std::string(NameOf(static_cast<Unit>(descriptor.limit->unit)))));
    }
    if (descriptor.hits_addend) {
      described.Set("hitsAddend", StructValue(static_cast<double>(*descriptor.hits_addend)));
    }
    descriptors.push_back(std::move(described));
    const Limit* limit = governing_[i]->limit;
    if (limit != nullptr && response_->statuses[i].code != wire::RlsCode::kOverLimit) {
      merged.MergeMissing(limit->metadata);
    }
  }
  all.Set("descriptors", StructValue(std::move(descriptors)));
  if (decided_->request.hits_addend() != 0) {
    all.Set("hitsAddend", StructValue(static_cast<double>(decided_->request.hits_addend())));
  }
  if (!merged.object()->empty()) {
    all.Set("metadata", std::move(merged));
  }
  response_->dynamic_metadata = std::move(all);
}

}  // namespace sluice::envoy
