#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sluice/decision.h"
#include "sluice/result.h"
#include "sluice/time.h"

#include "logs/attribute_plan.h"
#include "logs/log_merge.h"
#include "replay/key_ledger.h"
#include "replay/replay_report.h"

namespace sluice::replay {

// A limit, and whom it would have touched: the keys with a peak above it.
struct SuggestedLimit {
  std::uint64_t one_in = 0;  // At most one key in so many.
  Units limit = 0;
  std::uint64_t keys_touched = 0;
  std::uint64_t requests_of_touched = 0;  // All of theirs, denied or not.
};

// What limits fit some traffic, for one way to tell clients apart and one window.
struct Suggestion {
  Duration window{};
  std::uint64_t requests = 0;
  std::uint64_t skipped = 0;  // Without the key's attributes.
  std::uint64_t keys = 0;
  Units median_peak = 0;
  Units highest_peak = 0;
  std::vector<SuggestedLimit> limits{};  // 1 in 100, 1,000 and 10,000.
  std::vector<KeyLine> busiest{};        // By peak.
};

// Reads logs for suggestions: the peak of each key in each window. One thread; memory: per key
// and window what key_ledger.h says.
class SuggestionReader {
 public:
  // The first `key_size` attributes of `plan`, which outlives the reader, are the key. Those of
  // type ip are grouped as rules do (IPv6 by /64). `windows`: at least one.
  SuggestionReader(const logs::AttributePlan& plan, std::vector<Duration> windows);

  void Run(logs::LogMerge& logs, const std::function<void()>& progress);

  // By window, as given. `top`: how many keys each lists.
  [[nodiscard]] std::vector<Suggestion> Suggestions(std::size_t top) const;
  // The logs, for LogsText(). `today`: when this is asked; later times are doubted.
  [[nodiscard]] ReplayReport Logs(const logs::LogMerge& logs, WallInstant today) const;

 private:
  void Add(const logs::LogStream::Request& request);

  const logs::AttributePlan& plan_;
  std::vector<Duration> windows_;
  std::vector<KeyLedger> ledgers_;  // By window.
  std::uint64_t requests_ = 0;
  std::uint64_t skipped_ = 0;
  WallInstant first_{};
  WallInstant last_{};
};

// The suggestion as text: a table, and a rule to paste.
[[nodiscard]] std::string SuggestionText(const Suggestion& suggestion,
                                         const std::vector<std::string>& key,
                                         const std::string& cost);
// All of them as one JSON object, with what `report` says of the logs.
[[nodiscard]] std::string SuggestionsJson(const std::vector<Suggestion>& suggestions,
                                          const std::vector<std::string>& key,
                                          const ReplayReport& report);

}  // namespace sluice::replay
