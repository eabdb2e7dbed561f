#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.h"
#include "rules/rule_set.h"
#include "service/rule_history.h"
#include "service/service_metrics.h"

namespace sluice::service {

// Everything that decides one request. It is immutable: its holder sees one set of rules with one
// set of modes, even if rules are reloaded meanwhile.
struct ActiveRules {
  std::shared_ptr<const rules::RuleSet> rules;  // nullptr: none yet, no rule applies.
  rules::ModeOverrides modes;
  std::vector<ServiceMetrics::RuleCounters> counters;     // By Rule::number.
  std::vector<ServiceMetrics::AttributeCounter> missing;  // By SkippedRule::missing.
  // A token given out before a rename still names its rule.
  RuleHistory history;
};

// The rule that callers know as `id`: by the name it has now, or had before a rename. nullptr if
// there is none.
[[nodiscard]] const rules::Rule* FindRule(const ActiveRules& active, std::string_view id);
// The message for an unknown one.
[[nodiscard]] std::string NoSuchRule(std::string_view id);

// One thread's reference to one snapshot. Only that thread touches it, so counting its users costs
// no atomic operation. The shared reference, which all threads would contend for, is taken once per
// thread and snapshot, not once per request.
class ActiveRulesPin {
 public:
  explicit ActiveRulesPin(std::shared_ptr<const ActiveRules> active) : active_(std::move(active)) {}

  [[nodiscard]] const ActiveRules& operator*() const { return *active_; }
  [[nodiscard]] const ActiveRules* operator->() const { return active_.get(); }

  void Hold() { ++users_; }
  // May delete this.
  void Drop() {
    if (--users_ == 0) {
      delete this;
    }
  }

 private:
  ~ActiveRulesPin() = default;

  std::shared_ptr<const ActiveRules> active_;
  std::size_t users_ = 1;
};

// Publishes the active snapshot.
class PublishedRules {
 public:
  PublishedRules();
  PublishedRules(const PublishedRules&) = delete;
  PublishedRules& operator=(const PublishedRules&) = delete;

  // Active for every Pin() that begins after this returns. Safe from any thread.
  void Publish(std::shared_ptr<const ActiveRules> active);
  [[nodiscard]] std::shared_ptr<const ActiveRules> Get() const;

  // The active snapshot, held once for the caller, who must Drop() it on the same thread. Costs one
  // load of a word that rarely changes; only a thread's first call after a Publish() takes the lock
  // and allocates. An idle thread keeps the snapshot that it used last until its next call or its
  // end.
  [[nodiscard]] ActiveRulesPin& Pin() const;

 private:
  const std::uint64_t serial_;  // Distinguishes this publisher from all others of the process.
  mutable std::mutex mutex_;
  std::shared_ptr<const ActiveRules> current_;  // Guarded by mutex_.
  // Written after current_ and under the lock; the acquire load in Pin() pairs with that
  // release, though the lock that follows it would do: what matters is that it changes.
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace sluice::service
