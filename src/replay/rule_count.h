#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sluice/time.h"

#include "replay/comparison.h"
#include "replay/key_ledger.h"
#include "replay/replay_report.h"
#include "rules/rule_set.h"
#include "service/verdict.h"

namespace sluice::replay {

// What one rule did to the requests of a replay. Memory: what key_ledger.h keeps per key. One
// thread.
class RuleCount {
 public:
  // `rule` outlives it. `compare`: judge by all algorithms too, where the rule's can be compared.
  RuleCount(const rules::Rule& rule, bool compare);

  [[nodiscard]] const rules::Rule& rule() const { return rule_; }

  // A decision's key in the ledger; 0 without a key.
  [[nodiscard]] std::uint64_t HashOf(const service::RuleDecision& made);
  // For the caches, before Count(): see key_ledger.h.
  [[nodiscard]] const KeyLedger& keys() const { return keys_; }

  // `key_hash` is HashOf(made).
  void Count(const service::RuleDecision& made, WallInstant at, std::uint64_t key_hash);

  // With `top` keys in each list. `skipped`: requests that lacked an attribute of the key.
  [[nodiscard]] RuleReport Report(std::size_t top, std::uint64_t skipped) const;

 private:
  const rules::Rule& rule_;
  bool has_peaks_;
  std::uint64_t requests_ = 0;
  std::uint64_t denied_ = 0;
  std::uint64_t delayed_ = 0;
  Duration longest_wait_{};
  KeyLedger keys_;
  Timeline timeline_;
  std::unique_ptr<Comparison> comparison_;  // nullptr: none was asked for, or none can be made.
};

}  // namespace sluice::replay
