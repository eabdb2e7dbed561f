#include "store/rule_directory.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::store {
namespace {

class RuleDirectoryTest : public ::testing::Test {
 protected:
  std::vector<RulePlace> places_ = std::vector<RulePlace>(kRulePlaces);
  RuleDirectory directory_{places_};
};

TEST_F(RuleDirectoryTest, GivesEachIdOneNumberAndFindsItAgain) {
  const std::uint16_t login = directory_.NumberOf("login");
  const std::uint16_t api = directory_.NumberOf("api_rate");
  EXPECT_NE(login, 0);
  EXPECT_NE(api, 0);
  EXPECT_NE(login, api);
  EXPECT_EQ(directory_.NumberOf("login"), login);
  EXPECT_EQ(directory_.IdOf(login), "login");
  EXPECT_EQ(directory_.IdOf(api), "api_rate");
}

TEST_F(RuleDirectoryTest, KeepsItsNumbersInTheMapping) {
  const std::uint16_t login = directory_.NumberOf("login");
  RuleDirectory next_process(places_);
  EXPECT_EQ(next_process.NumberOf("login"), login);
}

TEST_F(RuleDirectoryTest, HasNoNumberForWhatIsNoId) {
  EXPECT_EQ(directory_.NumberOf(""), 0);
  EXPECT_EQ(directory_.NumberOf(std::string(kRuleIdBytes + 1, 'x')), 0);
  EXPECT_NE(directory_.NumberOf(std::string(kRuleIdBytes, 'x')), 0);
  EXPECT_EQ(directory_.IdOf(0), "");
  EXPECT_EQ(directory_.IdOf(kRulePlaces), "");
}

TEST_F(RuleDirectoryTest, GivesNoNumberTwiceWhenMoreComeThanItHolds) {
  std::set<std::uint16_t> given;
  std::size_t without = 0;
  for (std::size_t i = 0; i < 2 * kRulePlaces; ++i) {
    const std::string id = "rule_" + std::to_string(i);
    if (const std::uint16_t number = directory_.NumberOf(id); number == 0) {
      ++without;
    } else {
      EXPECT_TRUE(given.insert(number).second) << id;
      EXPECT_EQ(directory_.IdOf(number), id);
    }
  }
  EXPECT_GE(without, kRulePlaces);
  EXPECT_GT(given.size(), kRulePlaces * 3 / 4);
}

}  // namespace
}  // namespace sluice::store
