#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "core/calendar.h"
#include "core/quota.h"
#include "lease/lease_entry.h"

namespace sluice::lease {

// The keys of which one loop may hold units. An entry is found by the key's fingerprint and the
// quota's numbers. If the numbers change, the key gets another entry, and the units of the old one
// are given back by the old numbers. There are at most `most` entries. They do not move until they
// are forgotten, and their memory is reused, so a warm book allocates nothing. One thread.
class LeaseBook {
 public:
  explicit LeaseBook(std::size_t most) : most_(most) {}

  // nullptr: there is none.
  [[nodiscard]] LeaseEntry* Find(const store::Fingerprint& key, const core::Quota& quota);
  // nullptr: the book is full.
  [[nodiscard]] LeaseEntry* Add(const store::Fingerprint& key, const core::KeyView& view,
                                const core::Quota& quota, NodeTime now);
  // Requires an entry of this book with nothing held and no call in flight.
  void Forget(LeaseEntry& entry);

  // Every entry of the key, with any numbers.
  template <class Visit>
  void EachOf(const store::Fingerprint& key, Visit visit) {
    for (std::uint32_t i = First(key); i != 0; i = at(i).next) {
      if (at(i).fingerprint == key) {
        visit(at(i));
      }
    }
  }

  // Visits the next `count` places, in turns. `visit` may forget the entry.
  template <class Visit>
  void EachOfNext(std::size_t count, Visit visit) {
    for (std::size_t n = 0; n < count && n < entries_.size(); ++n) {
      cursor_ = cursor_ >= entries_.size() ? 1 : cursor_ + 1;
      LeaseEntry& entry = at(static_cast<std::uint32_t>(cursor_));
      if (entry.used) {
        visit(entry);
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  // Places that were ever used.
  [[nodiscard]] std::size_t places() const { return entries_.size(); }

 private:
  // 0 is no entry.
  [[nodiscard]] LeaseEntry& at(std::uint32_t number) { return entries_[number - 1]; }
  [[nodiscard]] std::uint32_t& Chain(const store::Fingerprint& key) {
    return chains_[key.low & (chains_.size() - 1)];
  }
  [[nodiscard]] std::uint32_t First(const store::Fingerprint& key) {
    return chains_.empty() ? 0 : Chain(key);
  }
  // An equal calendar that lives as long as the book: a rule's own calendar goes when the rule is
  // replaced.
  [[nodiscard]] const core::Calendar* Keep(const core::Calendar& calendar);

  const std::size_t most_;
  std::deque<LeaseEntry> entries_;
  std::vector<std::uint32_t> chains_;  // A power of two, made with the first entry.
  std::uint32_t free_ = 0;
  std::size_t size_ = 0;
  std::size_t cursor_ = 0;
  // One of each shape that was used.
  std::vector<std::unique_ptr<const core::Calendar>> calendars_;
};

}  // namespace sluice::lease
