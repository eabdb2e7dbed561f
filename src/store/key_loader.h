#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/key_store.h"
#include "store/table_layout.h"
#include "store/table_snapshot_format.h"

namespace sluice::store {

// Puts keys into an empty table that is not shared yet. Holds keep their ids, and so the places in
// blocks that the ids name, if this table has such blocks: claim those places for all holds first,
// then load the keys.
class KeyLoader final : public KeySink {
 public:
  enum class Trouble : std::uint8_t {
    kNone,
    kNoSlot,   // More keys than there is room for.
    kNoBlock,  // More entries and holds than there are blocks for.
    kDamage,   // The bytes cannot be a key.
  };

  explicit KeyLoader(const TableParts& parts);

  void Claim(HoldId id);
  // Stops at the first problem.
  bool Take(const KeyImage& image, std::span<const std::byte> items) override;

  [[nodiscard]] Trouble trouble() const { return trouble_; }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }
  // One flag per block, for the pool.
  [[nodiscard]] const std::vector<bool>& blocks_in_use() const { return in_use_; }

  // Whether the bytes can be no key in any table.
  [[nodiscard]] static bool IsDamaged(const KeyImage& image, std::span<const std::byte> items);

 private:
  [[nodiscard]] Slot* Place(const KeyImage& image);
  [[nodiscard]] Trouble Fill(Slot& slot, const KeyImage& image, std::span<const std::byte> items);
  [[nodiscard]] Trouble AddEntries(Slot& slot, std::span<const std::byte> items);
  [[nodiscard]] Trouble AddText(Slot& slot, std::span<const std::byte> items);
  [[nodiscard]] Trouble AddHolds(Slot& slot, std::span<const std::byte> items);
  // 0 if none is left.
  [[nodiscard]] BlockRef NextFree();
  Block& Link(BlockRef ref, std::uint32_t slot, BlockKind kind, ListState& list);
  void Empty(Slot& slot);

  TableParts parts_;
  std::uint64_t homes_;
  std::vector<bool> in_use_;
  std::size_t next_free_ = 0;
  Slot* last_ = nullptr;
  std::uint64_t keys_ = 0;
  Trouble trouble_ = Trouble::kNone;
};

}  // namespace sluice::store
