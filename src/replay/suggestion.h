#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"
#include "sluice/time.h"

#include "logs/attribute_plan.h"
#include "logs/log_merge.h"
#include "replay/demand.h"
#include "replay/key_ledger.h"
#include "replay/replay_report.h"
#include "replay/request_feed.h"
#include "rules/rule_set.h"

namespace sluice::replay {

// A limit, and the keys that the rule with this limit would have denied at least once.
struct SuggestedLimit {
  std::uint64_t one_in = 0;  // At most one key in this many; 0: not derived from a share of keys.
  Units limit = 0;
  std::uint64_t keys_touched = 0;
  std::uint64_t requests_of_touched = 0;  // All requests of these keys, denied or not.
};

// A gap between a few keys with far more demand and all others: no key's demand is between `below`
// and `above`.
struct DemandGap {
  Units below = 0;
  Units above = 0;
  SuggestedLimit limit{};  // Within the gap.
};

// The limits that fit some traffic, for one kind of key and one window.
struct Suggestion {
  Duration window{};
  std::uint64_t requests = 0;
  std::uint64_t skipped = 0;  // Requests without the key's attributes.
  std::uint64_t keys = 0;
  Units median_peak = 0;  // Peaks are exact; limits are for the rule, which estimates.
  Units highest_peak = 0;
  std::vector<SuggestedLimit> limits{};  // 1 in 100, 1,000 and 10,000.
  std::optional<DemandGap> gap{};
  std::vector<KeyLine> busiest{};  // By peak.
};

// Reads logs for suggestions. For each key and window it keeps the exact peak, and the demand in
// the measure of the suggested rule. So a suggested limit is right for that rule, which estimates,
// and not only for an exact count. One thread. Memory per key and window: a record of key_ledger.h
// and a peak.
class SuggestionReader {
 public:
  // `key`: the attributes that distinguish clients, empty to treat all requests as one client; they
  // are those of `plan`, which outlives the reader. `windows`: at least one. `spread`: as in
  // replays (request_feed.h). Error: no rule can have such a key.
  [[nodiscard]] static Result<SuggestionReader> Create(const logs::AttributePlan& plan,
                                                       const std::vector<std::string>& key,
                                                       const std::vector<Duration>& windows,
                                                       bool spread);

  void Run(logs::LogMerge& logs, const std::function<void()>& progress);

  // By window, in the given order. `top`: the number of keys in each list.
  [[nodiscard]] std::vector<Suggestion> Suggestions(std::size_t top) const;
  // The logs, for LogsText(). `today`: the current time; later times in logs cause a warning.
  [[nodiscard]] ReplayReport Logs(const logs::LogMerge& logs, WallInstant today) const;

 private:
  // One window with its keys.
  struct Window {
    Duration length{};
    KeyLedger keys{};
    std::vector<PeakWindow> peaks{};  // By key.
  };
  SuggestionReader(const logs::AttributePlan& plan, std::shared_ptr<const rules::RuleSet> rules,
                   const std::vector<Duration>& windows, bool spread);
  void Add(const RequestFeed::Request& request);

  const logs::AttributePlan& plan_;
  std::shared_ptr<const rules::RuleSet> rules_;  // The rule of each window, by number.
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

// The rule for a limit, as an entry of a rule file: a suggestion prints it and is judged by it.
[[nodiscard]] std::string SuggestedRuleText(std::string_view id,
                                            const std::vector<std::string>& key, Units limit,
                                            Duration window);
// The suggestion as text for a terminal of `width` columns: a table and a rule to paste.
[[nodiscard]] std::string SuggestionText(const Suggestion& suggestion,
                                         const std::vector<std::string>& key,
                                         const std::string& cost, std::size_t width = 80);
// All suggestions as one JSON object, with the logs of `report`.
[[nodiscard]] std::string SuggestionsJson(const std::vector<Suggestion>& suggestions,
                                          const std::vector<std::string>& key,
                                          const ReplayReport& report);

}  // namespace sluice::replay
