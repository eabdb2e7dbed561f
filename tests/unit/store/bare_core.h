#pragma once

#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "store/mapping.h"
#include "store/table_core.h"
#include "store/table_layout.h"
#include "support/store_calls.h"

namespace sluice::store {

// Long enough, most times, for another thread to come to where it waits. No test fails when it
// was not.
inline void LetOthersRun() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

// The working parts of a small table without the table: for tests that stand where another
// thread would.
struct BareCore {
  static constexpr Geometry kGeometry{.homes = 64, .blocks = 16};

  BareCore() : BareCore(kGeometry) {}
  explicit BareCore(const Geometry& geometry) : BareCore(TableLayout::Of(geometry)) {}
  BareCore(const BareCore&) = delete;
  BareCore& operator=(const BareCore&) = delete;

  // The key's slot under that rule id, or nullptr.
  [[nodiscard]] Slot* Find(std::string_view rule, const support::OwnedKey& key,
                           const core::Quota& quota) const {
    return core.slots.Find(core.hash.Of(rule, key.view(), quota));
  }

  Mapping mapping;
  TableParts parts;
  TableCore core;

 private:
  explicit BareCore(const TableLayout& layout)
      : mapping(std::move(*Mapping::Anonymous(layout.bytes, /*huge_pages=*/false))),
        parts(TableParts::Of(mapping.bytes(), layout)),
        core{.hash = KeyHash(parts.header->secret),
             .rules = RuleDirectory(parts.rules),
             .blocks = BlockPool(parts.blocks, {}),
             .counters = {},
             .slots = SlotArray(parts.slots, layout.geometry.homes, core.blocks, core.counters),
             .base = parts.bytes.data(),
             .journal = parts.journal,
             .when_full = WhenFull::kEvict} {}
};

}  // namespace sluice::store
