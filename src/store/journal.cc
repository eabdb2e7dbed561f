#include "store/journal.h"

#include <cstring>

namespace sluice::store {

int UndoAll(std::span<std::byte> mapping, std::size_t from, std::span<JournalRecord> records) {
  for (const JournalRecord& record : records) {
    // Pairs with the release in Publish: the ranges that are counted are whole.
    const std::uint32_t count = record.count.load(std::memory_order_acquire);
    if (count > kJournalRanges) {
      return -1;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const SavedRange& range = record.ranges[i];
      if (range.size > kMaxSavedBytes || range.offset < from ||
          range.offset > mapping.size() - range.size) {
        return -1;
      }
    }
  }
  int undone = 0;
  for (JournalRecord& record : records) {
    // Backwards: a range saved twice gets its oldest bytes.
    for (std::uint32_t i = record.count.load(std::memory_order_relaxed); i > 0; --i) {
      const SavedRange& range = record.ranges[i - 1];
      std::memcpy(mapping.data() + range.offset, range.bytes.data(), range.size);
      undone += i == 1 ? 1 : 0;
    }
    record.count.store(0, std::memory_order_release);  // Killed here, the next start undoes again.
  }
  return undone;
}

}  // namespace sluice::store
