#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "logs/attribute_plan.h"
#include "logs/log_merge.h"
#include "rules/rule_set.h"

namespace sluice::replay {

// The attributes by which requests of one second are spread: requests with the same values are
// spread together. Indexes in the plan; empty: all requests together.
using SpreadKey = std::vector<std::size_t>;

// How to spread whole-second timestamps for `rules`: nullopt if no rule looks back for less than 30
// s, otherwise by the attributes that the keys of all such rules have in common.
[[nodiscard]] std::optional<SpreadKey> SpreadFor(const rules::RuleSet& rules,
                                                 const logs::AttributePlan& plan);
// Returns the requests of several logs in the order in which they are judged.
//
// Most servers write whole seconds. Taken literally, all requests of a second arrive at once, and
// those of the next one exactly one second later: at the edge of windows and segments of a few
// seconds, where a request from exactly W ago still counts fully. "10 per 1s" would then deny six
// requests per second. So, if the caller requests it, the n requests of one key in one second are
// spread over it evenly, in the order of the log: at (i + 1/2) / n. Decision 0029 has the
// measurements.
//
// One thread. Memory: the requests of one second.
class RequestFeed {
 public:
  // `spread`: nullopt judges requests at their timestamps. `logs` and `plan` outlive the feed.
  RequestFeed(logs::LogMerge& logs, const logs::AttributePlan& plan,
              std::optional<SpreadKey> spread);

  struct Request {
    WallInstant at{};
    logs::LogStream* stream = nullptr;
    logs::LogStream::Request logged;  // With the lifetime of LogStream::Request.
  };
  // nullptr at the end. Valid until the next call.
  [[nodiscard]] const Request* Next();

  // Whether any request was moved within its second.
  [[nodiscard]] bool has_spread() const { return has_spread_; }

 private:
  // Collects the requests of the next second and spreads them. False at the end.
  bool CollectSecond();
  void Spread();
  // The count of the key with this hash; a new one starts at 0.
  struct KeyCount {
    std::uint64_t hash = 0;
    std::uint32_t requests = 0;
    std::uint32_t given = 0;
  };
  [[nodiscard]] KeyCount& CountOf(std::uint64_t hash);
  [[nodiscard]] std::uint64_t HashOf(const logs::LogStream::Request& request);

  logs::LogMerge& logs_;
  const logs::AttributePlan& plan_;
  std::optional<SpreadKey> spread_;
  bool has_spread_ = false;
  Request request_;
  std::vector<Request> second_;  // Of one second; not yet returned from next_ on.
  std::size_t next_ = 0;
  WallInstant last_{};  // Returned last: the next one is not earlier.
  std::vector<std::uint64_t> hashes_;
  std::vector<KeyCount> counts_;  // By hash; a power of two, at most half full.
  std::string scratch_;
};

}  // namespace sluice::replay
