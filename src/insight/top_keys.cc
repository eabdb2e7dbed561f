#include "insight/top_keys.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace sluice::insight {

namespace {

constexpr std::array<std::string_view, kKinds> kKindNames{"allowed", "denied", "banned", "shadow"};

template <class Counts>
std::array<HeavyKeys*, 3> AllOf(Counts& counts) {
  return {&counts.before, &counts.current, &counts.since_start};
}

}  // namespace

std::string_view NameOf(Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

void TopKeys::Add(const KeySample& sample) {
  auto at = rules_.find(sample.rule);
  if (at == rules_.end()) {
    at = rules_.emplace(std::string(sample.rule), OfRule{}).first;
  }
  OfRule& rule = at->second;
  rule.last_used = ++uses_;
  const HeavyKeys::Hit hit{.key = sample.key,
                           .hash = std::hash<std::string_view>{}(sample.key),
                           .weight = sample.weight,
                           .newly_denied = sample.newly_denied,
                           .at = sample.at};
  for (const std::size_t kind : {static_cast<std::size_t>(sample.kind), kAllKinds}) {
    AddTo(rule.by_kind[kind].current, hit, rule);
    AddTo(rule.by_kind[kind].since_start, hit, rule);
  }
}

void TopKeys::AddTo(HeavyKeys& keys, const HeavyKeys::Hit& hit, const OfRule& rule) {
  if (entries_ == kMostEntries) {
    MakeRoom(rule);
  }
  entries_ += keys.Add(hit, room_) ? 1 : 0;
}

void TopKeys::MakeRoom(const OfRule& needed) {
  while (entries_ == kMostEntries) {
    if (room_ > kLeastRoom) {
      room_ /= 2;
      for (auto& [id, rule] : rules_) {
        for (Counts& counts : rule.by_kind) {
          for (HeavyKeys* const keys : AllOf(counts)) {
            keys->Shrink(room_);
          }
        }
      }
    } else {
      auto silent = rules_.end();
      for (auto at = rules_.begin(); at != rules_.end(); ++at) {
        if (&at->second != &needed &&
            (silent == rules_.end() || at->second.last_used < silent->second.last_used)) {
          silent = at;
        }
      }
      rules_.erase(silent);  // One rule alone has no more than 15 * kLeastRoom.
    }
    Recount();
  }
}

void TopKeys::Recount() {
  entries_ = 0;
  for (auto& [id, rule] : rules_) {
    for (Counts& counts : rule.by_kind) {
      for (const HeavyKeys* const keys : AllOf(counts)) {
        entries_ += keys->size();
      }
    }
  }
}

bool TopKeys::Advance(Duration now) {
  if (now - half_began_ < kHalf) {
    return false;
  }
  const bool is_late = now - half_began_ >= 2 * kHalf;  // Nothing advanced it: the half is old.
  for (auto& [id, rule] : rules_) {
    for (Counts& counts : rule.by_kind) {
      counts.before = std::exchange(counts.current, HeavyKeys());
      if (is_late) {
        counts.before.Clear();
      }
    }
  }
  before_began_ = is_late ? now : half_began_;
  half_began_ = now;
  Recount();
  if (entries_ < kMostEntries / 4) {
    room_ = std::min(room_ * 2, kMostRoom);
  }
  return true;
}

void TopKeys::KeepRules(const std::function<bool(std::string_view rule)>& keep) {
  std::erase_if(rules_, [&keep](const auto& rule) { return !keep(rule.first); });
  Recount();
}

std::vector<HeavyKey> TopKeys::KeysOf(const Counts& counts, Window window) {
  return window == Window::kMinute ? HeavyKeys::Merge(counts.before, counts.current)
                                   : HeavyKeys::Merge(counts.since_start, HeavyKeys());
}

std::vector<RuleTop> TopKeys::Top(const Query& query) const {
  const bool minute = query.window == Window::kMinute;
  std::vector<RuleTop> tops;
  for (const auto& [id, rule] : rules_) {
    if (!query.rule.empty() && id != query.rule) {
      continue;
    }
    RuleTop top;
    top.rule = id;
    for (std::size_t kind = 0; kind <= kAllKinds; ++kind) {
      const Counts& counts = rule.by_kind[kind];
      top.totals[kind] =
          minute ? counts.before.total() + counts.current.total() : counts.since_start.total();
    }
    if (top.totals[query.kind] == 0) {
      continue;
    }
    const Counts& counts = rule.by_kind[query.kind];
    top.error =
        minute ? counts.before.floor() + counts.current.floor() : counts.since_start.floor();
    std::vector<HeavyKey> keys = KeysOf(counts, query.window);
    keys.resize(std::min({keys.size(), query.most, kMostRoom}));
    std::unordered_map<std::string_view, RuleTop::Key*> shown;
    top.keys.reserve(keys.size());
    for (HeavyKey& key : keys) {
      RuleTop::Key& added = top.keys.emplace_back(RuleTop::Key{.counted = std::move(key)});
      shown.emplace(added.counted.key, &added);
    }
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      for (const HeavyKey& key : KeysOf(rule.by_kind[kind], query.window)) {
        if (const auto at = shown.find(key.key); at != shown.end()) {
          at->second->by_kind[kind] = key.count - key.overcount;
        }
      }
    }
    tops.push_back(std::move(top));
  }
  return tops;
}

std::vector<RuleShare> TopKeys::Shares(double share, std::uint64_t least_total) const {
  constexpr std::size_t kNoParts = 1;  // What WriteKey() makes of none.
  std::vector<RuleShare> shares;
  for (const auto& [id, rule] : rules_) {
    const Counts& counts = rule.by_kind[kAllKinds];
    const std::uint64_t total = counts.before.total() + counts.current.total();
    if (total == 0 || total < least_total) {
      continue;
    }
    RuleShare found{.rule = id, .total = total, .top_share = 0, .keys = {}};
    for (HeavyKey& key : KeysOf(counts, Window::kMinute)) {
      const double part = static_cast<double>(key.AtLeast()) / static_cast<double>(total);
      if (key.key.size() == kNoParts) {
        continue;
      }
      found.top_share = std::max(found.top_share, part);
      if (part >= share) {
        found.keys.push_back({.key = std::move(key.key), .count = key.count, .share = part});
      }
    }
    shares.push_back(std::move(found));
  }
  return shares;
}

}  // namespace sluice::insight
