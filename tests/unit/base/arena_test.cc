#include "base/arena.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

TEST(ArenaTest, KeepsBytesWhereTheyAreWhateverComesAfterThem) {
  Arena arena;
  std::vector<std::string> texts;
  std::vector<std::string_view> kept;
  for (std::size_t i = 0; i < 300; ++i) {
    texts.push_back(std::string(i * 7, static_cast<char>('a' + i % 26)));
    kept.push_back(arena.Keep(texts.back()));
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(kept[i], texts[i]);
  }
}

TEST(ArenaTest, IsUsedAgainWithTheRoomThatItHas) {
  Arena arena;
  const std::string long_text(3'000, 'x');
  (void)arena.Keep("short");
  (void)arena.Keep(long_text);
  arena.Clear();
  const std::string_view first = arena.Keep(long_text);
  arena.Clear();
  EXPECT_EQ(arena.Keep(long_text).data(), first.data());
}

TEST(ArenaTest, NothingTakesNoRoom) {
  Arena arena;
  EXPECT_TRUE(arena.Keep({}).empty());
  arena.Clear();
  EXPECT_TRUE(arena.Keep({}).empty());
}

}  // namespace
}  // namespace sluice::base
