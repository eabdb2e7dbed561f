// The golden vectors, played to the table: one check alone, which is the way of decide_one.h where
// the algorithm has no entries, and one of two, which is the way of request.h.
#include <memory>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "store/decide_one.h"
#include "store/table.h"
#include "support/store_calls.h"
#include "support/vector_replay.h"

namespace sluice::store {
namespace {

using core::Algorithm;

class TableVectorsTest : public ::testing::TestWithParam<std::tuple<Algorithm, bool>> {};

TEST_P(TableVectorsTest, AnswersAsWritten) {
  const auto [algorithm, in_company] = GetParam();
  for (const support::VectorCase& vectors : support::ReadVectors(algorithm)) {
    if (vectors.clocks == 1) {
      continue;  // Of a store whose only clock steps.
    }
    support::ManualClock clock;
    support::SetClock(clock, vectors);
    const auto table =
        Table::Create({.path = {}, .keys = 64, .blocks = 64, .huge_pages = false}, clock);
    ASSERT_TRUE(table.has_value());
    support::PlayVectors(vectors, {.store = **table, .clock = clock, .in_company = in_company},
                         "u");
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, TableVectorsTest,
                         ::testing::Combine(::testing::ValuesIn(core::kAllAlgorithms),
                                            ::testing::Bool()),
                         [](const auto& tested) {
                           return std::string(core::NameOf(std::get<0>(tested.param))) +
                                  (std::get<1>(tested.param) ? "_of_two" : "_alone");
                         });

// Which of the two ways a check of the vectors takes.
TEST(TableVectorsWayTest, OneCheckAloneIsPlainUnlessItHasEntries) {
  const support::OwnedKey key("u");
  for (const Algorithm algorithm : core::kAllAlgorithms) {
    support::OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = support::QuotaOf(algorithm, 1), .cost = {}});
    EXPECT_EQ(IsPlain(call), !core::TraitsOf(algorithm).has_items());
    call.Add({.key = key.view(), .quota = support::QuotaOf(algorithm, 1), .cost = {}});
    EXPECT_FALSE(IsPlain(call));
  }
}

}  // namespace
}  // namespace sluice::store
