#include "lease/lease_book.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "base/assert.h"

namespace sluice::lease {

namespace {

bool SameNumbers(const core::Quota& one, const core::Quota& other) {
  return one.limit == other.limit && one.rate == other.rate && one.strict == other.strict;
}

// Over which arrivals are counted: a sixth of the window, within reason.
Duration PeriodOf(Duration span) {
  return std::clamp<Duration>(span / 6, std::chrono::milliseconds(20), std::chrono::seconds(10));
}

}  // namespace

LeaseEntry* LeaseBook::Find(const store::Fingerprint& key, const core::Quota& quota) {
  for (std::uint32_t i = First(key); i != 0; i = at(i).next) {
    LeaseEntry& entry = at(i);
    if (entry.fingerprint == key && SameNumbers(entry.quota, quota)) {
      return &entry;
    }
  }
  return nullptr;
}

LeaseEntry* LeaseBook::Add(const store::Fingerprint& key, const core::KeyView& view,
                           const core::Quota& quota, NodeTime now) {
  if (size_ >= most_) {
    return nullptr;
  }
  if (chains_.empty()) {
    chains_.resize(std::bit_ceil(most_));
  }
  std::uint32_t place = free_;
  if (place == 0) {
    entries_.emplace_back();
    place = static_cast<std::uint32_t>(entries_.size());
  } else {
    free_ = at(place).next;
  }
  LeaseEntry& entry = at(place);
  core::Key room = std::move(entry.key);
  entry = LeaseEntry{};
  entry.key = std::move(room);
  entry.key.Assign(view);
  entry.fingerprint = key;
  entry.quota = quota;
  if (quota.calendar != nullptr) {
    entry.quota.calendar = Keep(*quota.calendar);
  }
  entry.span = SpanOf(quota);
  entry.arrivals.Start(now, PeriodOf(entry.span));
  entry.used = true;
  std::uint32_t& first = Chain(key);
  entry.next = first;
  first = place;
  ++size_;
  return &entry;
}

void LeaseBook::Forget(LeaseEntry& entry) {
  SLUICE_ASSERT(entry.used && entry.pinned == 0 && !entry.HoldsAny());
  std::uint32_t* link = &Chain(entry.fingerprint);
  while (&at(*link) != &entry) {
    link = &at(*link).next;
  }
  const std::uint32_t place = *link;
  *link = entry.next;
  entry.next = free_;
  entry.used = false;
  free_ = place;
  --size_;
}

const core::Calendar* LeaseBook::Keep(const core::Calendar& calendar) {
  const auto kept = std::ranges::find_if(
      calendars_, [&](const auto& one) { return one->shape() == calendar.shape(); });
  if (kept != calendars_.end()) {
    return kept->get();
  }
  calendars_.push_back(calendar.Copy());
  return calendars_.back().get();
}

}  // namespace sluice::lease
