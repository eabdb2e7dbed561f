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

// Whose requests of one second are spread over it together: those with the same values of these
// attributes, by their place in the plan; none: all.
using SpreadKey = std::vector<std::size_t>;

// How `rules` want whole-second timestamps spread: nullopt if no rule has a window so short (less
// than 30 s) that it matters, else by the attributes that the keys of all such rules share.
[[nodiscard]] std::optional<SpreadKey> SpreadFor(const rules::RuleSet& rules,
                                                 const logs::AttributePlan& plan);
// The requests of several logs in the order in which they are judged.
//
// Most servers write whole seconds. Judged as they are written, all requests of a second come at
// once, and those of the next come exactly one second later: at the very edge of windows and
// segments of a few seconds, where what came exactly W ago still counts whole. Six requests a
// second are denied by "10 per 1s" so. So, where the caller asks for it, the n requests of one key
// in one second are spread over it evenly, in the order of the log: at (i + 1/2) / n. Decision
// 0029 has what that was measured against.
//
// One thread. Memory: of one second.
class RequestFeed {
 public:
  // `spread`: nullopt judges requests at their timestamps. `logs` and `plan` outlive the feed.
  RequestFeed(logs::LogMerge& logs, const logs::AttributePlan& plan,
              std::optional<SpreadKey> spread);

  struct Request {
    WallInstant at{};
    logs::LogStream* stream = nullptr;
    logs::LogStream::Request logged;  // As logs/log_stream.h says, with its lifetime.
  };
  // nullptr at the end. Valid until the next call.
  [[nodiscard]] const Request* Next();

  // Whether any request was moved within its second.
  [[nodiscard]] bool has_spread() const { return has_spread_; }

 private:
  // Collects the next second, and spreads it. False at the end.
  bool CollectSecond();
  void Spread();
  // The count of the key with this hash, new with 0.
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
  std::vector<Request> second_;  // Of one second, from next_ on not given out.
  std::size_t next_ = 0;
  WallInstant last_{};  // Given out last: the next one is not earlier.
  std::vector<std::uint64_t> hashes_;
  std::vector<KeyCount> counts_;  // By hash; a power of two, at most half full.
  std::string scratch_;
};

}  // namespace sluice::replay
