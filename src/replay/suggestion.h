#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"
#include "sluice/time.h"

#include "logs/attribute_plan.h"
#include "logs/log_merge.h"
#include "replay/key_ledger.h"
#include "replay/peak_window.h"
#include "replay/replay_report.h"
#include "replay/request_feed.h"
#include "rules/rule_set.h"

namespace sluice::replay {

// A limit, and which keys the rule with this limit would have denied at least once.
struct SuggestedLimit {
  std::uint64_t one_in = 0;  // At most one key in so many; 0: it was not asked for so.
  Units limit = 0;
  std::uint64_t keys_touched = 0;
  std::uint64_t requests_of_touched = 0;  // All of theirs, denied or not.
};

// Where few keys ask for far more than all others: no key's need lies between `below` and `above`.
struct DemandGap {
  Units below = 0;
  Units above = 0;
  SuggestedLimit limit{};  // In the gap.
};

// What limits fit some traffic, for one way to tell clients apart and one window.
struct Suggestion {
  Duration window{};
  std::uint64_t requests = 0;
  std::uint64_t skipped = 0;  // Without the key's attributes.
  std::uint64_t keys = 0;
  Units median_peak = 0;  // Peaks are exact; limits are those of the rule, which estimates.
  Units highest_peak = 0;
  std::vector<SuggestedLimit> limits{};  // 1 in 100, 1,000 and 10,000.
  std::optional<DemandGap> gap{};
  std::vector<KeyLine> busiest{};  // By peak.
};

// Reads logs for suggestions. For each key and window it keeps the exact peak, and what the rule
// that is suggested would have counted: so a limit is held by that rule itself, and by no exact
// count that the rule only estimates. One thread; memory: per key and window what key_ledger.h says
// and a peak.
class SuggestionReader {
 public:
  // `key`: the attributes that tell clients apart, none for all requests as one; those of `plan`,
  // which outlives the reader. `windows`: at least one. `spread`: as replays do it
  // (request_feed.h). Error: no rule can have such a key.
  [[nodiscard]] static Result<SuggestionReader> Create(const logs::AttributePlan& plan,
                                                       const std::vector<std::string>& key,
                                                       const std::vector<Duration>& windows,
                                                       bool spread);

  void Run(logs::LogMerge& logs, const std::function<void()>& progress);

  // By window, as given. `top`: how many keys each lists.
  [[nodiscard]] std::vector<Suggestion> Suggestions(std::size_t top) const;
  // The logs, for LogsText(). `today`: when this is asked; later times are doubted.
  [[nodiscard]] ReplayReport Logs(const logs::LogMerge& logs, WallInstant today) const;

 private:
  // One window, and the keys.
  struct Window {
    Duration length{};
    KeyLedger keys{};
    std::vector<PeakWindow> peaks{};  // By key.
  };
  SuggestionReader(const logs::AttributePlan& plan, std::shared_ptr<const rules::RuleSet> rules,
                   const std::vector<Duration>& windows, bool spread);
  void Add(const RequestFeed::Request& request);

  const logs::AttributePlan& plan_;
  std::shared_ptr<const rules::RuleSet> rules_;  // The rule of each window, by its number.
  rules::Matches matches_;
  std::vector<Attribute> attributes_;
  bool spread_;
  bool has_spread_ = false;
  std::vector<Window> windows_;
  std::uint64_t requests_ = 0;
  std::uint64_t skipped_ = 0;
  WallInstant first_{};
  WallInstant last_{};
};

}  // namespace sluice::replay
