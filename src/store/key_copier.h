#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/slot_array.h"
#include "store/table_snapshot_format.h"

namespace sluice::store {

// Copies the keys of a table while others decide on it.
//
// Each key is copied under its own lock, so each is consistent: its state at some moment of the
// copying. No two keys are of the same moment. A lock is held for some tens of nanoseconds, for a
// key with holds as long as it takes to read them, and for a key with a long log for at most
// kBlocksAPart blocks at a time. Empty and expired slots are not locked.
class KeyCopier {
 public:
  static constexpr std::uint32_t kBlocksAPart = 64;

  // `owner` is the calling thread's, for the lock words.
  KeyCopier(SlotArray& slots, const BlockPool& blocks, std::uint32_t owner)
      : slots_(slots), blocks_(blocks), owner_(owner) {}

  // Passes every key that is not over at `now` to `sink`, in the order of their slots, and then the
  // marks of settled charges. So a copy that has the units of a settlement always has its mark too,
  // and they are not given back twice. False if the sink stopped.
  [[nodiscard]] bool CopyAll(TableInstant now, KeySink& sink);

 private:
  // The entry of a chain after which the next part begins.
  struct Mark {
    BlockRef block = 0;
    std::uint32_t index = 0;
    std::int64_t at = 0;
    std::uint64_t origin = 0;  // The origin of `at`.
  };

  enum class Pass : std::uint8_t { kKeys, kMarks };

  bool CopyKey(Slot& slot, std::uint32_t now, Pass pass, KeySink& sink);
  // Locks the slot, with enough room in items_ for the copy: nothing is allocated under a lock.
  KeyImage LockWithRoom(Slot& slot);
  [[nodiscard]] std::size_t BytesOf(const KeyImage& image) const;
  bool CopyMoreEntries(Slot& slot, KeyImage image, Mark mark, KeySink& sink);
  void CopyHolds(KeyImage& image);
  void CopyText(KeyImage& image);
  // Copies a part; `mark.block` is 0 when it was the last.
  void CopyEntries(KeyImage& image, Mark& mark);
  [[nodiscard]] bool Stands(const Slot& slot, const Mark& mark) const;

  SlotArray& slots_;
  const BlockPool& blocks_;
  std::uint32_t owner_;
  std::vector<std::byte> items_;  // Of the current part.
};

}  // namespace sluice::store
