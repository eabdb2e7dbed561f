#include "envoy/applied_limits.h"

#include <algorithm>

#include "envoy/counter_name.h"
#include "envoy/limit.h"

namespace sluice::envoy {

core::Quota QuotaOf(const Limit& limit, const Settings& settings) {
  core::Quota quota = limit.quota;
  if (!settings.compatible && quota.algorithm == core::Algorithm::kAttemptWindow) {
    quota.algorithm = core::Algorithm::kFixedWindow;
  }
  return quota;
}

void AppliedLimits::Find(const wire::RlsRequest& request, const DescriptorLevel* domain,
                         const Settings& settings, RateLimitMetrics* metrics) {
  request_ = &request;
  domain_ = domain;
  settings_ = &settings;
  metrics_ = metrics;
  all_.clear();
  names_.clear();
  overrides_.clear();
  for (std::size_t i = 0; i < request.descriptors().size(); ++i) {
    FindOf(i);
  }
  // The names stand still now.
  std::size_t end = names_.size();
  for (std::size_t i = all_.size(); i-- > 0;) {
    const std::size_t begin = all_[i].name_begin;
    all_[i].counter = {.attribute = "counter",
                       .value = std::string_view(names_).substr(begin, end - begin)};
    end = begin;
  }
}

// Which limits the descriptor has, how many hits it brings, and where they are counted.
void AppliedLimits::FindOf(std::size_t i) {
  const wire::RlsDescriptor& descriptor = request_->descriptors()[i];
  AppliedLimit& applied = all_.emplace_back();
  applied.descriptor = i;
  applied.name_begin = names_.size();
  if (domain_ == nullptr) {
    if (metrics_ != nullptr) {
      metrics_->CountDomainNotFound();
    }
    return;
  }
  match_.Clear();
  if (descriptor.limit && IsHonoured(*descriptor.limit)) {
    FindOverride(descriptor, applied);
  } else {
    FindLimits(*domain_, descriptor, match_);
    if (match_.limits.empty()) {
      return;
    }
    applied.limit = match_.limits.front().get();
    applied.counters = applied.limit->counters.get();
    if (match_.has_value_in_metric && metrics_ != nullptr) {
      applied.counters = metrics_->Named(
          NameWithValues(request_->domain(), match_, descriptor.entries), applied.counters);
    }
  }
  const std::uint64_t hits =
      descriptor.hits_addend.value_or(std::max<std::uint64_t>(request_->hits_addend(), 1));
  applied.hits = static_cast<Units>(std::min<std::uint64_t>(hits, kMaxUnits));
  applied.is_negative = descriptor.is_negative_hits;
  if (applied.limit->unlimited) {
    return;
  }
  NameCounter(applied);
  for (std::size_t n = 1; n < match_.limits.size(); ++n) {  // The others of a list.
    AppliedLimit other = all_.back();
    other.limit = match_.limits[n].get();
    NameCounter(other);
    all_.push_back(other);
  }
}

void AppliedLimits::FindOverride(const wire::RlsDescriptor& descriptor, AppliedLimit& applied) {
  const std::string_view domain = request_->domain();
  applied.limit = &overrides_.emplace_back(LimitOf(*descriptor.limit, domain, descriptor.entries));
  if (metrics_ != nullptr) {
    applied.counters = metrics_->Named(NameOfOverride(domain, descriptor.entries), nullptr);
    if (applied.counters == nullptr) {
      applied.counters = metrics_->OfOverrides(domain);
    }
  }
}

void AppliedLimits::NameCounter(AppliedLimit& applied) {
  applied.name_begin = names_.size();
  AppendCounterName(names_, *settings_, request_->domain(),
                    request_->descriptors()[applied.descriptor].entries, match_, *applied.limit);
}

void AppliedLimits::DropReplaced() {
  replaced_.clear();
  for (const AppliedLimit& applied : all_) {
    if (applied.limit != nullptr) {
      replaced_.insert(replaced_.end(), applied.limit->replaces.begin(),
                       applied.limit->replaces.end());
    }
  }
  if (replaced_.empty()) {
    return;
  }
  for (AppliedLimit& applied : all_) {
    if (applied.limit != nullptr && !applied.limit->name.empty() &&
        std::ranges::find(replaced_, applied.limit->name) != replaced_.end()) {
      applied.limit = nullptr;
    }
  }
}

}  // namespace sluice::envoy
