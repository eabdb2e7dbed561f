#include <string>

#include <gtest/gtest.h>

#include "replay/key_ledger.h"

namespace sluice::replay {
namespace {

TEST(KeyProfileTest, CountsFewTextsExactlyAndFindsTheMostFrequentOfMany) {
  FrequentTexts few;
  for (int i = 0; i < 30; ++i) {
    few.Add(i % 3 == 0 ? "/a" : "/b" + std::to_string(i % 6));
  }
  EXPECT_EQ(few.top().text, "/a");
  EXPECT_EQ(few.top().count, 10U);
  FrequentTexts many;
  for (int i = 0; i < 1'000; ++i) {
    many.Add(i % 2 == 0 ? "/a" : "/" + std::to_string(i));
  }
  EXPECT_EQ(many.top().text, "/a");
  EXPECT_LE(many.top().count, 500U);
  EXPECT_GE(many.top().count, 500U - (1'000U / 9));
  EXPECT_EQ(FrequentTexts().top().count, 0U);
}

TEST(KeyProfileTest, AStatusIsOneOfAnAnswerOrUnknown) {
  KeyProfile profile;
  for (const std::string_view status : {"200", "204", "404", "", "abc", "700", "20"}) {
    profile.Add(status, {}, {});
  }
  EXPECT_EQ(profile.requests(), 7U);
  EXPECT_EQ(profile.statuses(), (std::array<std::uint64_t, 6>{4, 0, 2, 0, 1, 0}));
  EXPECT_EQ(profile.endpoint().count, 0U);
}

}  // namespace
}  // namespace sluice::replay
