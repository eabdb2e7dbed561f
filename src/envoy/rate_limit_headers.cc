#include <algorithm>
#include <string>
#include <utility>

#include "envoy/rate_limit_call.h"
#include "envoy/rate_limit_service.h"
#include "service/rounding.h"

// What a call's response tells beside its codes: headers for the client, metadata for Envoy.
namespace sluice::envoy {

void RateLimitCall::AddHeaders() {
  const Settings& settings = service_->settings_;
  const wire::RlsStatus* least = nullptr;
  const wire::RlsStatus* last_over = nullptr;
  for (std::size_t i = 0; i < governing_.size(); ++i) {
    const wire::RlsStatus& status = response.statuses[i];
    if (!status.has_limit) {
      continue;
    }
    if (least == nullptr || status.limit_remaining < least->limit_remaining) {
      least = &status;
    }
    if (status.code == wire::RlsCode::kOverLimit && !InQuotaMode(parts_[governing_[i].part])) {
      last_over = &status;
    }
  }
  const wire::RlsStatus* reported = last_over != nullptr ? last_over : least;
  auto& headers = response.response_headers_to_add;
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

// When the same request would pass: once no limit denies it, and one of the quotas does not. No
// field where that is never.
void RateLimitCall::AddRetryAfter(const Over& over) {
  const auto wait_of = [this](const Governing& reported) {
    const Part& part = parts_[reported.part];
    if (part.hits > part.limit->quota.limit) {
      return Decision::kNever;  // A attempt window says when its window ends, and does not say
                                // this.
    }
    const Duration wait = reported.decision.retry_after;
    return wait == Decision::kUnknown ? Duration{} : wait;
  };
  Duration plain{};
  Duration quota = Decision::kNever;
  for (std::size_t i = 0; i < governing_.size(); ++i) {
    if (response.statuses[i].code != wire::RlsCode::kOverLimit) {
      continue;
    }
    const Duration wait = wait_of(governing_[i]);
    if (InQuotaMode(parts_[governing_[i].part])) {
      quota = std::min(quota, wait);
    } else {
      plain = std::max(plain, wait);
    }
  }
  const Duration wait = over.all_quotas ? std::max(plain, quota) : plain;
  if (wait != Decision::kNever) {
    response.response_headers_to_add.push_back(
        {"Retry-After", std::to_string(std::max<std::int64_t>(service::CeilSeconds(wait), 1))});
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
  for (std::size_t i = 0; i < governing_.size(); ++i) {
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
    const Limit* limit = parts_[governing_[i].part].limit;
    if (limit != nullptr && response.statuses[i].code != wire::RlsCode::kOverLimit) {
      merged.MergeMissing(limit->metadata);
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
