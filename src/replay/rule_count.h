#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sluice/time.h"

#include "replay/comparison.h"
#include "replay/key_ledger.h"
#include "replay/replay_report.h"
#include "rules/rule_set.h"
#include "service/verdict.h"

namespace sluice::replay {

// The results of one rule in a replay. Memory: the records of key_ledger.h for each key. One
// thread.
class RuleCount {
 public:
  // `rule` outlives it. `compare`: also judge by all algorithms, if the rule is comparable.
  // `profile`: keep a profile of the denied requests of each key.
  RuleCount(const rules::Rule& rule, bool compare, bool profile);

  [[nodiscard]] const rules::Rule& rule() const { return rule_; }

  // The hash of a decision's key in the ledger; 0 without a key.
  [[nodiscard]] std::uint64_t HashOf(const service::RuleDecision& made);
  // For prefetching before Count(): see key_ledger.h.
  [[nodiscard]] const KeyLedger& keys() const { return keys_; }

  // A request from a log, and its result.
  struct Request {
    WallInstant at{};
    bool allowed = true;  // By all rules.
    // For the profile of a key: without data if the log does not have it.
    std::string_view status{};
    std::string_view endpoint{};
    std::string_view user_agent{};
  };
  // `key_hash` is HashOf(made).
  void Count(const service::RuleDecision& made, const Request& request, std::uint64_t key_hash);

  // With `top` keys in each list. `skipped`: requests that lacked an attribute of the key.
  [[nodiscard]] RuleReport Report(std::size_t top, std::uint64_t skipped) const;

 private:
  const rules::Rule& rule_;
  bool has_peaks_;
  bool profile_;
  std::uint64_t requests_ = 0;
  std::uint64_t denied_ = 0;
  std::uint64_t delayed_ = 0;
  Duration longest_wait_{};
  KeyLedger keys_;
  std::vector<std::unique_ptr<KeyProfile>> profiles_;  // By key; nullptr: never denied.
  Timeline timeline_;
  std::unique_ptr<Comparison> comparison_;  // nullptr: not requested or not possible.
};

}  // namespace sluice::replay
