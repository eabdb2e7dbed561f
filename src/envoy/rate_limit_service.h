#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/clock.h"
#include "envoy/configuration.h"
#include "envoy/over_limit_cache.h"
#include "envoy/rate_limit_call.h"
#include "envoy/rate_limit_metrics.h"
#include "envoy/settings.h"
#include "insight/insight.h"
#include "service/charge_call.h"
#include "store/key_store.h"

namespace sluice::envoy {

class RateLimitService;

// One loop's hold on the configuration in force, so that calls on many loops do
// not fight over one count of users. One thread.
class ConfigurationPin {
 public:
  explicit ConfigurationPin(const RateLimitService& service) : service_(service) {}
  // nullptr: none was loaded.
  [[nodiscard]] const std::shared_ptr<const Configuration>& Get();

 private:
  const RateLimitService& service_;
  std::uint64_t version_ = 0;
  std::shared_ptr<const Configuration> pinned_;
};

// Envoy's rate limit service: requests in, responses out. Thread-safe. Its constructor's references
// outlive it; it outlives every call that it has not answered.
class RateLimitService {
 public:
  // `fallback`: for a store that can be unreachable; nullptr where it is in this process.
  // `insight`: what operators see of decisions; nullptr: nothing is recorded.
  RateLimitService(store::KeyStore& store, const base::Clock& clock, RateLimitMetrics& metrics,
                   Settings settings, service::Fallback* fallback = nullptr,
                   insight::Insight* insight = nullptr);

  // Activates a configuration for all requests from now on; those under way keep the old one whole.
  // Its limits get their counters here.
  void SetConfiguration(std::shared_ptr<const Configuration> configuration);
  // nullptr until the first one.
  [[nodiscard]] std::shared_ptr<const Configuration> configuration() const;

  // The requests of one turn of a loop, each judged for itself; asked of the store together.
  void Decide(std::span<RateLimitCall* const> batch, ConfigurationPin& pin);

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] RateLimitMetrics& metrics() { return metrics_; }

 private:
  friend class RateLimitCall;
  friend class ConfigurationPin;
  friend class UsageCall;

  const base::Clock& clock_;
  RateLimitMetrics& metrics_;
  const Settings settings_;
  const service::DecisionPath path_;
  insight::Insight* const insight_;
  OverLimitCache over_limit_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Configuration> current_;  // Guarded by mutex_.
  // Changes with current_, after it. The lock that follows its load orders the rest.
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace sluice::envoy
