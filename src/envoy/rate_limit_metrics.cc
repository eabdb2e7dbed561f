#include "envoy/rate_limit_metrics.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "base/display_text.h"

namespace sluice::envoy {

namespace {

using Type = telemetry::Exposition::Type;

constexpr std::array<std::string_view, kCounts> kCountNames{
    "total_hits",         "over_limit",  "near_limit",
    "within_limit",       "shadow_mode", "over_limit_with_local_cache",
    "total_negative_hits"};
constexpr std::array<std::string_view, kCallResults> kResultNames{"ok", "over_limit",
                                                                  "service_error", "store_error"};

// The first two levels are what labels tell apart.
struct Labels {
  std::string domain;
  std::string key1;
  std::string key2;
  auto operator<=>(const Labels&) const = default;
};

Labels LabelsOf(const StatName& name) {
  Labels labels;
  labels.domain = name.empty() ? "" : name[0];
  labels.key1 = name.size() > 1 ? name[1] : "";
  labels.key2 = name.size() > 2 ? name[2] : "";
  return labels;
}

}  // namespace

void RateLimitMetrics::Adopt(const Configuration& configuration) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, known] : known_) {
    known.in_force = false;
  }
  for (Limit* limit : configuration.limits()) {
    Known& known = known_[limit->stat_name];
    if (known.counters == nullptr) {
      known.counters = std::make_shared<telemetry::CounterGroup>();
    }
    known.in_force = true;
    limit->counters = known.counters;
  }
  in_force_ = configuration.limits().size();
  std::size_t spare = known_.size();
  for (auto at = known_.begin(); at != known_.end() && spare > in_force_ + kRemembered;) {
    if (at->second.in_force) {
      ++at;
    } else {
      at = known_.erase(at);
      --spare;
    }
  }
}

telemetry::CounterGroup* RateLimitMetrics::Named(const StatName& name,
                                                 telemetry::CounterGroup* otherwise) {
  const std::lock_guard lock(mutex_);
  if (const auto found = named_.find(name); found != named_.end()) {
    return found->second.get();
  }
  if (named_.size() >= kMostNamed) {
    return otherwise;
  }
  return named_.emplace(name, std::make_shared<telemetry::CounterGroup>()).first->second.get();
}

telemetry::CounterGroup* RateLimitMetrics::OfOverrides(std::string_view domain) {
  const std::lock_guard lock(mutex_);
  // One per domain that is configured: no client makes these.
  Counters& counters = named_[{std::string(domain), "override"}];
  if (counters == nullptr) {
    counters = std::make_shared<telemetry::CounterGroup>();
  }
  return counters.get();
}

std::uint64_t RateLimitMetrics::Read(const StatName& name, Count count) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  if (const auto found = known_.find(name); found != known_.end()) {
    sum += found->second.counters->Read(static_cast<std::size_t>(count));
  }
  if (const auto found = named_.find(name); found != named_.end()) {
    sum += found->second->Read(static_cast<std::size_t>(count));
  }
  return sum;
}

std::map<StatName, RateLimitMetrics::Sum> RateLimitMetrics::Sums() const {
  std::map<StatName, Sum> sums;
  const auto add = [&sums](const StatName& name, const Counters& counters) {
    Sum& sum = sums[name];
    for (std::size_t i = 0; i < kCounts; ++i) {
      sum[i] += counters->Read(i);
    }
  };
  const std::lock_guard lock(mutex_);
  for (const auto& [name, known] : known_) {
    add(name, known.counters);
  }
  for (const auto& [name, counters] : named_) {
    add(name, counters);
  }
  return sums;
}

std::uint64_t RateLimitMetrics::Calls() const {
  std::uint64_t calls = 0;
  for (std::size_t i = 0; i < kCallResults; ++i) {
    calls += calls_.Read(i);
  }
  return calls;
}

void RateLimitMetrics::AppendStats(std::string& out) const {
  const auto line = [&out](std::string_view name, std::string_view of, std::uint64_t value) {
    out.append(name).append(of).append(": ").append(std::to_string(value)).append("\n");
  };
  for (const auto& [name, sum] : Sums()) {
    std::string path = "ratelimit.service.rate_limit.";
    for (const std::string& part : name) {
      base::AppendDisplayText(part, path);  // It may have a descriptor's value in it.
      path += '.';
    }
    for (std::size_t i = 0; i < kCounts; ++i) {
      line(path, kCountNames[i], sum[i]);
    }
  }
  constexpr std::string_view kCall = "ratelimit.service.call.should_rate_limit.";
  line(kCall, "redis_error", Read(CallResult::kStoreError));
  line(kCall, "service_error", Read(CallResult::kServiceError));
  constexpr std::string_view kService = "ratelimit.service.";
  line(kService, "config_load_error", loads_.Read(0));
  line(kService, "config_load_success", loads_.Read(1));
  line(kService, "global_shadow_mode", global_shadow_.Read());
  line("ratelimit_server.ShouldRateLimit.", "total_requests", Calls());
}

void RateLimitMetrics::Write(telemetry::Exposition& out) const {
  std::map<Labels, Sum> sums;  // Several limits may have the labels of one.
  for (const auto& [name, counts] : Sums()) {
    Sum& sum = sums[LabelsOf(name)];
    std::ranges::transform(sum, counts, sum.begin(), std::plus());
  }
  for (std::size_t i = 0; i < kCounts; ++i) {
    const std::string family = "ratelimit_service_rate_limit_" + std::string(kCountNames[i]);
    out.Family(family, "Hits of limits of Envoy's domains, as envoyproxy/ratelimit counts them.",
               Type::kCounter);
    for (const auto& [labels, sum] : sums) {
      const std::array<telemetry::Label, 3> all{
          {{"domain", labels.domain}, {"key1", labels.key1}, {"key2", labels.key2}}};
      out.Sample(family, std::span(all).first(labels.key2.empty() ? 2 : 3), sum[i]);
    }
  }
  out.Family("ratelimit_service_should_rate_limit_error", "Calls that failed.", Type::kCounter);
  const std::array<telemetry::Label, 1> service_error{{{"err_type", "service_error"}}};
  const std::array<telemetry::Label, 1> store_error{{{"err_type", "redis_error"}}};
  out.Sample("ratelimit_service_should_rate_limit_error", service_error,
             Read(CallResult::kServiceError));
  out.Sample("ratelimit_service_should_rate_limit_error", store_error,
             Read(CallResult::kStoreError));
  const std::array<telemetry::Label, 1> method{{{"grpc_method", "ShouldRateLimit"}}};
  out.Family("ratelimit_service_total_requests", "Calls of ShouldRateLimit.", Type::kCounter);
  out.Sample("ratelimit_service_total_requests", method, Calls());
  out.Family("ratelimit_service_response_time_seconds",
             "Time from a call to its answer, in seconds.", Type::kHistogram);
  out.Samples("ratelimit_service_response_time_seconds", duration_.Read());
  const auto one = [&out](std::string_view name, std::string_view help, std::uint64_t value) {
    out.Family(name, help, Type::kCounter);
    out.Sample(name, {}, value);
  };
  one("ratelimit_service_config_load_success", "Configurations loaded.", loads_.Read(1));
  one("ratelimit_service_config_load_error", "Configurations that could not be loaded.",
      loads_.Read(0));
  one("ratelimit_service_global_shadow_mode", "Calls answered OK only because of SHADOW_MODE.",
      global_shadow_.Read());
  one("ratelimit_service_domain_not_found", "Descriptors of unknown domains.",
      domain_not_found_.Read());
  out.Family("sluice_envoy_requests_total", "Calls of ShouldRateLimit by result.", Type::kCounter);
  for (std::size_t i = 0; i < kCallResults; ++i) {
    const std::array<telemetry::Label, 1> result{{{"result", kResultNames[i]}}};
    out.Sample("sluice_envoy_requests_total", result, calls_.Read(i));
  }
  out.Family("sluice_envoy_limits", "Active limits of Envoy's domains.", Type::kGauge);
  const std::lock_guard lock(mutex_);
  out.Sample("sluice_envoy_limits", {}, static_cast<double>(in_force_));
}

}  // namespace sluice::envoy
