#include "envoy/rate_limit_service.h"

#include <array>
#include <chrono>
#include <utility>

namespace sluice::envoy {

namespace {
constexpr std::size_t kAtOnce = 256;  // Longer batches go to the store in pieces.
}  // namespace

const std::shared_ptr<const Configuration>& ConfigurationPin::Get() {
  const std::uint64_t version = service_.version_.load(std::memory_order_acquire);
  if (version != version_) [[unlikely]] {
    version_ = version;
    auto current = service_.configuration();
    // A count of users of its own: the aliasing pointer shares that of this copy.
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
                                   service::Fallback* fallback)
    : store_(store),
      clock_(clock),
      metrics_(metrics),
      settings_(std::move(settings)),
      fallback_(fallback),
      over_limit_(settings_.over_limit_cache_bytes) {}

void RateLimitService::SetConfiguration(std::shared_ptr<const Configuration> configuration) {
  metrics_.Adopt(*configuration);
  const std::lock_guard lock(mutex_);
  current_ = std::move(configuration);
  // Pairs with the acquire in Get. The configuration itself is handed over under the mutex.
  version_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const Configuration> RateLimitService::configuration() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

core::Quota RateLimitService::QuotaOf(const Limit& limit) const {
  core::Quota quota = limit.quota;
  if (!settings_.compatible && quota.algorithm == core::Algorithm::kAttemptWindow) {
    quota.algorithm = core::Algorithm::kFixedWindow;
  }
  return quota;
}

void RateLimitService::Decide(std::span<RateLimitCall* const> batch, ConfigurationPin& pin) {
  const auto started = std::chrono::steady_clock::now();
  std::array<store::CheckCall*, kAtOnce> asked;  // NOLINT: only the first `count` are read.
  std::size_t count = 0;
  for (RateLimitCall* const call : batch) {
    call->started_ = started;
    if (!call->Begin(*this, pin.Get())) {
      call->Finish();
      continue;
    }
    if (!call->taken_back_.empty()) {
      call->TakeBack();  // And goes on by itself.
      continue;
    }
    store::CheckCall* const next = call->NextAsk();
    if (next == nullptr) {
      call->Finish();
      continue;
    }
    asked[count++] = next;
    if (count == kAtOnce) {
      store_.CheckMany(asked);
      count = 0;
    }
  }
  if (count != 0) {
    store_.CheckMany({asked.data(), count});
  }
}

}  // namespace sluice::envoy
