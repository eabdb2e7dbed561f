#pragma once

#include <cstddef>
#include <string>

namespace sluice::envoy {

// How requests are decided, as the environment sets it (docs/envoy.md).
struct Settings {
  // As envoyproxy/ratelimit decides: denied hits are counted, each descriptor for itself, failures
  // are of the code UNKNOWN. False: by our own semantics. Limits without an algorithm are fixed
  // windows that count only what passes, a request is charged whole or not at all, and failures
  // have the codes that say what they are.
  bool compatible = true;
  // Where counters are kept in a Redis: under the names that envoyproxy/ratelimit has for them, so
  // that both can count there together. Of `compatible` only.
  bool old_counter_names = false;
  std::string cache_key_prefix;          // What those names begin with.
  bool shadow_mode = false;              // OVER_LIMIT is never the overall answer.
  bool quota_mode = false;               // All limits are in quota mode.
  float near_limit_ratio = 0.8F;         // From which share of a limit on hits count as near it.
  bool stop_counting_when_over = false;  // STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT
  std::size_t over_limit_cache_bytes = 0;
  bool dynamic_metadata = false;
  bool response_headers = false;
  std::string limit_header = "RateLimit-Limit";
  std::string remaining_header = "RateLimit-Remaining";
  std::string reset_header = "RateLimit-Reset";
  bool retry_after_header = false;  // Retry-After beside a denial.
  bool ratelimit_fields = false;    // RateLimit and RateLimit-Policy, as draft 10 has them.
};

}  // namespace sluice::envoy
