#include "service/rule_history.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/quota.h"

namespace sluice::service {

void RuleHistory::TakeRenames(const rules::RuleSet& after) {
  ++sets_;
  std::unordered_map<std::string, Rename> renames;
  for (const rules::Rule& rule : after.rules()) {
    for (const std::string& old : rule.formerly) {
      const auto known = renames_.find(old);
      const bool stated_before = known != renames_.end() && known->second.id == rule.id;
      renames.insert_or_assign(old, stated_before ? known->second : Rename{rule.id, sets_});
    }
  }
  // Drops ids that lead to no active rule, and ids that other rules have now.
  for (const auto& [old, rename] : renames_) {
    const auto next = renames.find(rename.id);
    const std::string& now = next == renames.end() ? rename.id : next->second.id;
    if (after.Find(now) != nullptr && after.Find(old) == nullptr) {
      renames.try_emplace(old, Rename{now, rename.at});
    }
  }
  renames_ = std::move(renames);
}

void RuleHistory::Replace(const rules::RuleSet* before, const rules::RuleSet& after, Time now) {
  TakeRenames(after);
  std::erase_if(count_until_, [now](const auto& entry) { return entry.second <= now; });
  if (before == nullptr) {
    unknown_until_ = now + kBeforeStart;
    return;
  }
  for (const rules::Rule& rule : before->rules()) {
    const rules::Rule* const heir = after.Find(rule.id);
    const bool as_slow = heir != nullptr && heir->longest_refill >= rule.longest_refill;
    if (rule.longest_refill > Duration{} && !as_slow) {
      Time& until = count_until_[rule.id];
      until = std::max(until, now + rule.longest_refill);
    }
  }
}

const std::string* RuleHistory::NameNow(std::string_view old) const {
  const auto found = renames_.find(std::string(old));
  return found == renames_.end() ? nullptr : &found->second.id;
}

std::vector<std::string> RuleHistory::FormerIds(const rules::Rule& rule) const {
  std::vector<std::string> ids = rule.formerly;
  std::vector<std::pair<std::uint64_t, std::string_view>> others;
  for (const auto& [old, rename] : renames_) {
    if (rename.id == rule.id && std::ranges::find(ids, old) == ids.end()) {
      others.emplace_back(rename.at, old);
    }
  }
  std::ranges::sort(others, std::greater<>());
  for (const auto& [at, old] : others) {
    ids.emplace_back(old);
  }
  return ids;
}

Duration RuleHistory::ChargesCountFor(const rules::Rule& rule, Time now) const {
  if (!core::IsBucket(rule.quota.algorithm)) {
    return {};
  }
  Time until = unknown_until_;
  const auto look = [&](const std::string& id) {
    if (const auto found = count_until_.find(id); found != count_until_.end()) {
      until = std::max(until, found->second);
    }
  };
  look(rule.id);
  for (const std::string& id : FormerIds(rule)) {
    look(id);
  }
  return std::chrono::duration_cast<Duration>(until - now);
}

}  // namespace sluice::service
