#include "core/sync.h"

#include <array>
#include <cstddef>

namespace sluice::core {

namespace {

constexpr std::array<std::string_view, 3> kSyncNames{"exact", "lease", "local"};

}  // namespace

std::string_view NameOf(Sync sync) {
  return kSyncNames[static_cast<std::size_t>(sync)];
}

std::optional<std::string> FaultOf(Sync sync, const Quota& quota) {
  if (sync != Sync::kLease || quota.unlimited || CanBeLent(quota)) {
    return std::nullopt;
  }
  if (quota.algorithm == Algorithm::kConcurrency) {
    return "sync: lease cannot be combined with concurrency, whose holds are released one by one: "
           "write "
           "sync: exact";
  }
  if (quota.algorithm == Algorithm::kSlidingWindowLog) {
    return "sync: lease cannot be combined with sliding_window_log, which promises to be exact at "
           "every "
           "instant: write sync: exact, or algorithm: sliding_window";
  }
  if (quota.shape) {
    return "sync: lease cannot be combined with shape: true, which is one queue for all nodes: "
           "write "
           "sync: exact";
  }
  return "sync: lease needs one of Sluice's algorithms, because envoyproxy/ratelimit's counts "
         "denials too: "
         "name one, as in algorithm: fixed_window";
}

}  // namespace sluice::core
