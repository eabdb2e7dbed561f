#include "envoy/rate_limit_service.h"

#include <utility>

namespace sluice::envoy {

const std::shared_ptr<const Configuration>& ConfigurationPin::Get() {
  const std::uint64_t version = service_.version_.load(std::memory_order_acquire);
  if (version != version_) [[unlikely]] {
    version_ = version;
    auto current = service_.configuration();
    // A separate count of users: the aliasing pointer shares that of this copy.
    const auto* const configuration = current.get();
    auto owner = std::make_shared<std::shared_ptr<const Configuration>>(std::move(current));
    pinned_ = configuration == nullptr
                  ? nullptr
                  : std::shared_ptr<const Configuration>(std::move(owner), configuration);
  }
  return pinned_;
}

RateLimitService::RateLimitService(store::KeyStore& store, const base::Clock& clock,
                                   RateLimitMetrics& metrics, Settings settings,
                                   service::Fallback* fallback, insight::Insight* insight)
    : clock_(clock),
      metrics_(metrics),
      settings_(std::move(settings)),
      path_{.store = store, .fallback = fallback, .durations = metrics.durations()},
      insight_(insight),
      over_limit_(settings_.over_limit_cache_bytes) {}

void RateLimitService::SetConfiguration(std::shared_ptr<const Configuration> configuration) {
  metrics_.Adopt(*configuration);
  const std::lock_guard lock(mutex_);
  current_ = std::move(configuration);
  // Pairs with the acquire in Get. The pointer is exchanged under the mutex.
  version_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const Configuration> RateLimitService::configuration() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void RateLimitService::Decide(std::span<RateLimitCall* const> batch, ConfigurationPin& pin) {
  service::ChargeBatch charges(path_);
  for (RateLimitCall* const call : batch) {
    call->Decide(*this, pin.Get(), charges);
  }
  charges.Send();
}

}  // namespace sluice::envoy
