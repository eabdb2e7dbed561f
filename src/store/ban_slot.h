#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/key.h"
#include "store/block.h"
#include "store/table_core.h"

// What the slot of a ban holds, and the text of the key in its blocks. Each function takes a slot
// that the caller has locked.
namespace sluice::store {

// In the words of ListState.
struct BanState {
  std::int64_t until_ns = 0;
  std::int64_t since_ns = 0;
  std::uint64_t text_bytes = 0;
};
static_assert(sizeof(BanState) == sizeof(ListState::core));

[[nodiscard]] BanState BanIn(const Slot& slot);
[[nodiscard]] bool IsLasting(const Slot& slot, const Turn& turn);

// The longest key text that a ban stores; of a longer one it stores only the rule.
inline constexpr std::size_t kBanTextBytes = 2048;
using BanText = std::array<char, kBanTextBytes>;

// Writes a ban into its slot, which may already contain one. The old ban stays until the new one is
// complete, in the journal too: a process that is killed in between lifts no ban.
void WriteBan(TableCore& core, const Turn& turn, Slot& slot, const core::KeyView& key,
              BanState ban);

// Copies the text and returns its size. Allocates nothing.
[[nodiscard]] std::size_t CopyText(const TableCore& core, const Slot& slot, BanText& into);

}  // namespace sluice::store
