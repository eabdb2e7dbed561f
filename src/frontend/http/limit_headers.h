#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "service/verdict.h"

// The header fields by which an answer states a client's limits:
//
//   X-RateLimit-Limit, -Remaining, -Reset   the governing rule's; Reset in Unix seconds
//   RateLimit-Policy, RateLimit             draft-ietf-httpapi-ratelimit-headers-10
//   Retry-After                             RFC 9110, 10.2.3: whole seconds, on a denial
//
// In the draft's fields each enforced rule with a limit is one item, in declaration order,
// its id the policy's name (ids are checked at load to be serialisable, RFC 9651):
//
//   q  the limit, for buckets the capacity
//   w  the window, for buckets the time to refill from empty; seconds, rounded up
//   r  what would be granted right now
//   t  windows: until the key is fresh. Buckets: the later of "the next unit comes" and
//      r / rate, so that r / t never promises more than the rate. Never 0 while r > 0.
//
// concurrency counts "concurrent-requests" and has neither w nor t: nothing comes back by
// time alone.
//
// github: the governing rule's X-RateLimit-Limit, -Remaining, -Used, -Reset, and -Resource, which
// is its id.
namespace sluice::frontend::http {

// Fields that are sent together. A listener sends a set of groups; Retry-After always goes with a
// denial.
enum LimitFields : std::uint8_t {
  kNoLimitFields = 0,
  kXRateLimitFields = 1 << 0,
  kGithubFields = 1 << 1,  // What GitHub adds to the fields above.
  kDraft10Fields = 1 << 2,
};

// A value of a listener's `limit_headers`, and the groups of headers that it selects.
struct LimitDialect {
  std::string_view word;
  std::uint8_t fields;
};
inline constexpr std::array<LimitDialect, 4> kLimitDialects{{
    {"x-ratelimit", kXRateLimitFields},
    {"draft-10", kDraft10Fields},
    {"github", kXRateLimitFields | kGithubFields},
    {"none", kNoLimitFields},
}};
inline constexpr std::uint8_t kDefaultLimitFields = kXRateLimitFields | kDraft10Fields;

// Appends the header lines of the groups in `groups` to `fields`, without Retry-After. Nothing if
// no enforced rule has a limit.
void AppendLimitFields(const service::Verdict& verdict, std::string& fields,
                       std::uint8_t groups = kDefaultLimitFields);

// The names of the groups' fields, each after ", ".
[[nodiscard]] std::string LimitFieldNames(std::uint8_t groups);

// The value of Retry-After for a denied verdict: the longest wait of the denying rules, at least 1.
// An unknown wait (all slots taken) counts as one second. None if one of them can never pass, or if
// the verdict is allowed. A rule with retry_jitter adds up to that much, drawn from `random`:
// later, never earlier.
[[nodiscard]] std::optional<std::int64_t> RetryAfterSeconds(const service::Verdict& verdict,
                                                            std::uint64_t random);

}  // namespace sluice::frontend::http
