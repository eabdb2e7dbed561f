#include "replay/key_ledger.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::replay {
namespace {

TEST(KeyLedgerTest, KnowsEveryKeyAgain) {
  KeyLedger ledger;
  constexpr std::size_t kKeys = 20'000;  // Many times the room that it begins with.
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kKeys; ++i) {
      const std::string value = "key number " + std::to_string(i);
      const core::KeyPart part{.attribute = "user", .value = value};
      ASSERT_EQ(ledger.Find({&part, 1}), i);
    }
  }
  EXPECT_EQ(ledger.size(), kKeys);
  EXPECT_EQ(ledger[7].text, "key number 7");
}

TEST(KeyLedgerTest, KeysOfSeveralPartsAreNotTheirJoinedText) {
  KeyLedger ledger;
  const std::vector<core::KeyPart> one{{.attribute = "a", .value = "x:y"},
                                       {.attribute = "b", .value = "z"}};
  const std::vector<core::KeyPart> other{{.attribute = "a", .value = "x"},
                                         {.attribute = "b", .value = "y:z"}};
  EXPECT_NE(ledger.Find(one), ledger.Find(other));
  EXPECT_EQ(ledger.Find({}), ledger.Find({}));  // The one key that all share.
  EXPECT_EQ(ledger.size(), 3U);
}

}  // namespace
}  // namespace sluice::replay
