#include "store/key_loader.h"

#include <bit>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "store/block.h"
#include "store/block_pool.h"
#include "store/hold_list.h"
#include "store/mapping.h"

namespace sluice::store {
namespace {

constexpr Geometry kSmallTable{.homes = 100, .blocks = 10};

HoldId IdAt(std::uint64_t block, std::uint64_t place, std::uint64_t number) {
  return (block << 36U) | (place << 34U) | number;
}

bool Load(KeyLoader& loader, std::uint64_t key, const Hold& hold) {
  const KeyImage image{.high = key,
                       .low = key,
                       .expiry = kNoExpirySecond,
                       .kind = KindOf(core::Algorithm::kConcurrency),
                       .items = 1,
                       .state = {.words = {1, 1, 1, 0}}};
  return loader.Take(image, std::as_bytes(std::span(&hold, 1)));
}

// Keys are copied one after the other: a block that the first gave back comes again with the
// second, which took it.
TEST(KeyLoaderTest, AHoldWhoseBlockAnotherKeyHadIsKeptAndCanBeReleased) {
  const TableLayout layout = TableLayout::Of(kSmallTable);
  const Mapping mapping = std::move(*Mapping::Anonymous(layout.bytes, false));
  const TableParts parts = TableParts::Of(mapping.bytes(), layout);
  KeyLoader loader(parts);
  const Hold before{.id = IdAt(3, 1, 17), .expiry_ns = 1'000, .charge = 2};
  const Hold after{.id = IdAt(3, 1, 18), .expiry_ns = 2'000, .charge = 5};
  loader.Claim(before.id);
  loader.Claim(after.id);
  ASSERT_TRUE(Load(loader, 1, before));
  ASSERT_TRUE(Load(loader, 2, after));
  EXPECT_EQ(loader.keys(), 2U);

  BlockPool pool(parts.blocks, loader.blocks_in_use());
  for (std::uint32_t i = 0; i < 2; ++i) {
    Slot& slot = parts.slots[i];
    const Hold& its = i == 0 ? before : after;
    const Hold& others = i == 0 ? after : before;
    HoldList holds(pool, i, slot.state);
    EXPECT_FALSE(holds.Release(others.id));
    EXPECT_TRUE(holds.Release(its.id));
    EXPECT_FALSE(holds.Release(its.id));
    EXPECT_EQ(std::bit_cast<ListState>(slot.state).head, 0U);
  }
}

}  // namespace
}  // namespace sluice::store
