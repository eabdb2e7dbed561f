// The table of algorithms, and that each of its rows has what belongs to it elsewhere. What the
// compiler holds is not here: the steps (core/steps.h) and the fragments (redis/scripts.h).
#include "core/algorithm.h"

#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "core/quota.h"

namespace sluice::core {
namespace {

using ::testing::HasSubstr;

std::string TextOf(const std::string& path) {
  std::ifstream file(SLUICE_ROOT "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class AlgorithmTest : public ::testing::TestWithParam<Algorithm> {
 protected:
  const AlgorithmTraits& traits_ = TraitsOf(GetParam());
  const std::string name_{traits_.name};
};

TEST_P(AlgorithmTest, HasStepsAndVectors) {
  const std::string steps(traits_.steps);
  EXPECT_THAT(TextOf("src/core/" + steps + ".h"), HasSubstr("kTraits"));
  EXPECT_NE(TextOf("tests/vectors/" + name_ + ".jsonl"), "");
}

TEST_P(AlgorithmTest, HasItsNameForRulesAlone) {
  EXPECT_EQ(AlgorithmNamed(traits_.name),
            traits_.in_rules ? std::optional(GetParam()) : std::nullopt);
}

TEST_P(AlgorithmTest, ReadsWhatItsShapeHas) {
  for (const QuotaField field :
       {QuotaField::kWindow, QuotaField::kCalendar, QuotaField::kSegments}) {
    EXPECT_TRUE(traits_.fields.Has(field) || !traits_.shape.Has(field));
  }
}

TEST_P(AlgorithmTest, HasNumbersAsItsRefillWantsThem) {
  EXPECT_EQ(traits_.fields.Has(QuotaField::kRate), traits_.is_bucket());
  EXPECT_EQ(traits_.fields.Has(QuotaField::kBurst), traits_.is_bucket());
  EXPECT_EQ(traits_.fields.Has(QuotaField::kLimit), !traits_.is_bucket());
  EXPECT_EQ(traits_.fields.Has(QuotaField::kHoldTtl), traits_.has_holds());
  EXPECT_NE(traits_.fields.Has(QuotaField::kHoldTtl), traits_.fields.Has(QuotaField::kWindow));
  EXPECT_EQ(traits_.refill == Refill::kOnRelease, traits_.has_holds());
}

INSTANTIATE_TEST_SUITE_P(Algorithms, AlgorithmTest, ::testing::ValuesIn(kAllAlgorithms),
                         [](const auto& tested) { return std::string(NameOf(tested.param)); });

// Those that a rule may name are described to those who write rules.
class RuleAlgorithmTest : public AlgorithmTest {};

TEST_P(RuleAlgorithmTest, HasItsPlaceInTheDocuments) {
  EXPECT_THAT(TextOf("docs/choosing-an-algorithm.md"), HasSubstr("\n| `" + name_ + "` |"));
  const std::string rules = TextOf("docs/rules.md");
  const std::size_t row = rules.find("\n| `algorithm` |");
  ASSERT_NE(row, std::string::npos);
  EXPECT_THAT(rules.substr(row, rules.find('\n', row + 1) - row), HasSubstr('`' + name_ + '`'));
  EXPECT_THAT(TextOf("docs/redis.md"), HasSubstr('`' + name_ + '`'));
  EXPECT_THAT(TextOf("docs/openapi.json"), HasSubstr('"' + name_ + '"'));
  EXPECT_THAT(TextOf("tests/vectors/README.md"), HasSubstr('`' + name_ + '`'));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, RuleAlgorithmTest, ::testing::ValuesIn(kRuleAlgorithms),
                         [](const auto& tested) { return std::string(NameOf(tested.param)); });

// Tables, snapshots and fingerprints store them.
TEST(AlgorithmNumbersTest, StayAsTheyWere) {
  const std::array names{"fixed_window",   "sliding_window_log", "sliding_window_counter",
                         "sliding_window", "token_bucket",       "gcra",
                         "leaky_bucket",   "concurrency",        "throttle",
                         "tally"};
  ASSERT_GE(kAlgorithms.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(kAlgorithms[i].name, names[i]);
  }
}

}  // namespace
}  // namespace sluice::core
