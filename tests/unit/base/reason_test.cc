#include "sluice/reason.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr int kReasonCount = static_cast<int>(Reason::kDenyListed) + 1;

TEST(ReasonTest, EveryReasonHasARowAndANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i < kReasonCount; ++i) {
    const ReasonRow& row = RowOf(static_cast<Reason>(i));
    EXPECT_EQ(static_cast<int>(row.reason), i);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(ReasonTest, OnlyAnOwnQuotaIs429) {
  EXPECT_EQ(RowOf(Reason::kNone).http_status, 200);
  EXPECT_EQ(RowOf(Reason::kQuotaExceeded).http_status, 429);
  EXPECT_EQ(RowOf(Reason::kInFlight).http_status, 429);
  EXPECT_EQ(RowOf(Reason::kReserved).http_status, 503);
  EXPECT_EQ(RowOf(Reason::kBanned).http_status, 403);
  EXPECT_EQ(RowOf(Reason::kDenyListed).http_status, 403);
  EXPECT_EQ(RowOf(Reason::kStoreFull).http_status, 503);
  EXPECT_EQ(RowOf(Reason::kStoreUnavailable).http_status, 503);
}

TEST(ReasonDeathTest, StopsOnAReasonThatDoesNotExist) {
  EXPECT_DEATH((void)RowOf(static_cast<Reason>(99)), "assertion failed");
}

}  // namespace
}  // namespace sluice
