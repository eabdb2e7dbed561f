#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "envoy/configuration.h"
#include "envoy/limit.h"
#include "telemetry/counter.h"
#include "telemetry/registry.h"

namespace sluice::envoy {

enum class CallResult : std::uint8_t { kOk, kOverLimit, kServiceError, kStoreError };
inline constexpr std::size_t kCallResults = 4;

// What is counted, under the names that envoyproxy/ratelimit has in Prometheus:
//   ratelimit_service_rate_limit_{total_hits,over_limit,...}{domain,key1,key2}
//   ratelimit_service_should_rate_limit_error{err_type}
//   ratelimit_service_total_requests{grpc_method}
//   ratelimit_service_response_time_seconds{grpc_method}
//   ratelimit_service_config_load_success, ratelimit_service_config_load_error
//   ratelimit_service_global_shadow_mode
// and, as ours, sluice_envoy_requests_total{result} and sluice_envoy_limits.
//
// Memory follows the configuration, not what clients send: of values with separate counters
// (detailed_metric, value_to_metric, overrides), the first kMostNamed have their own counters;
// later ones count under their limit. Counting allocates nothing, but for the first time that such
// a value comes. Safe from any thread.
class RateLimitMetrics final : public telemetry::Source {
 public:
  static constexpr std::size_t kMostNamed = 10'000;
  static constexpr std::size_t kRemembered = 1'000;

  // Gives each limit its counters: those that its path had before, or new ones. To be called before
  // a configuration is put in force.
  void Adopt(const Configuration& configuration);

  // The counters of `name`, which live as long as this; `otherwise` where there are too many names.
  [[nodiscard]] telemetry::CounterGroup* Named(const StatName& name,
                                               telemetry::CounterGroup* otherwise);
  // Those of a domain's overrides, where there are too many names.
  [[nodiscard]] telemetry::CounterGroup* OfOverrides(std::string_view domain);

  void CountDomainNotFound() noexcept { domain_not_found_.Add(); }
  void CountCall(CallResult result) noexcept { calls_.Add(static_cast<std::size_t>(result)); }
  void CountGlobalShadow() noexcept { global_shadow_.Add(); }
  void CountLoad(bool ok) noexcept { loads_.Add(ok ? 1 : 0); }
  [[nodiscard]] telemetry::Histogram* durations() noexcept { return &duration_; }

  // For tests and people who look: 0 of a name never seen.
  [[nodiscard]] std::uint64_t Read(const StatName& name, Count count) const;
  [[nodiscard]] std::uint64_t Read(CallResult result) const noexcept {
    return calls_.Read(static_cast<std::size_t>(result));
  }

  void Write(telemetry::Exposition& out) const override;
  // The same as "ratelimit.service.rate_limit.d.key.total_hits: 3" and the like, a line each, under
  // the names that envoyproxy/ratelimit sends to statsd.
  void AppendStats(std::string& out) const;

 private:
  struct Known {
    Counters counters;
    bool in_force = false;
  };
  using Sum = std::array<std::uint64_t, kCounts>;

  [[nodiscard]] std::map<StatName, Sum> Sums() const;
  [[nodiscard]] std::uint64_t Calls() const;

  telemetry::Counter domain_not_found_;
  telemetry::CounterGroup calls_;
  telemetry::Counter global_shadow_;
  telemetry::CounterGroup loads_;  // [0] failed, [1] ok.
  telemetry::Histogram duration_;

  mutable std::mutex mutex_;  // Guards all below.
  std::map<StatName, Known> known_;
  std::map<StatName, Counters> named_;
  std::size_t in_force_ = 0;
};

}  // namespace sluice::envoy
