#include "lease/lease_book.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "core/calendar.h"
#include "support/store_calls.h"

namespace sluice::lease {
namespace {

using support::OwnedKey;
using support::QuotaOf;

store::Fingerprint Print(std::uint64_t low) {
  return {.high = 1, .low = low};
}

TEST(LeaseBookTest, KeepsAKeyOncePerNumbers) {
  LeaseBook book(8);
  const OwnedKey key("u");
  const core::Quota quota = QuotaOf(core::Algorithm::kGcra, 100);
  LeaseEntry* const entry = book.Add(Print(5), key.view(), quota, NodeTime(0));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(book.Find(Print(5), quota), entry);
  EXPECT_EQ(book.Find(Print(5), QuotaOf(core::Algorithm::kGcra, 50)), nullptr);
  EXPECT_EQ(book.Find(Print(13), quota), nullptr);  // Of the same chain.
  const core::KeyView view = entry->key.view();
  EXPECT_EQ(view.rule, "r");
  ASSERT_EQ(view.parts.size(), 1U);
  EXPECT_EQ(view.parts[0].attribute, "user_id");
  EXPECT_EQ(view.parts[0].value, "u");
}

TEST(LeaseBookTest, IsFullAtItsBoundAndReusesWhatIsForgotten) {
  LeaseBook book(3);
  const core::Quota quota = QuotaOf(core::Algorithm::kGcra, 100);
  const OwnedKey key("u");
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_NE(book.Add(Print(i * 4), key.view(), quota, NodeTime(0)), nullptr);  // One chain.
  }
  EXPECT_EQ(book.Add(Print(77), key.view(), quota, NodeTime(0)), nullptr);
  book.Forget(*book.Find(Print(4), quota));
  EXPECT_EQ(book.size(), 2U);
  EXPECT_EQ(book.Find(Print(4), quota), nullptr);
  EXPECT_NE(book.Find(Print(0), quota), nullptr);
  EXPECT_NE(book.Find(Print(8), quota), nullptr);
  EXPECT_NE(book.Add(Print(77), key.view(), quota, NodeTime(0)), nullptr);
  EXPECT_EQ(book.places(), 3U);
}

// The rule that brought the calendar may be gone when units are given back.
TEST(LeaseBookTest, KeepsCalendarsOfItsOwn) {
  LeaseBook book(3);
  auto calendar = *core::Calendar::Create(core::CalendarUnit::kMonth, "Europe/Berlin", "15");
  core::Quota quota = QuotaOf(core::Algorithm::kFixedWindow, 100);
  quota.calendar = calendar.get();
  const OwnedKey key("u");
  const LeaseEntry* const entry = book.Add(Print(1), key.view(), quota, NodeTime(0));
  const LeaseEntry* const other = book.Add(Print(2), key.view(), quota, NodeTime(0));
  calendar.reset();
  EXPECT_EQ(entry->quota.calendar->shape(), "month Europe/Berlin 15");
  EXPECT_EQ(entry->quota.calendar, other->quota.calendar);
}

TEST(ArrivalRateTest, SaysWhatArrivedLately) {
  using std::chrono::milliseconds;
  ArrivalRate rate;
  rate.Start(NodeTime(0), std::chrono::seconds(10));
  for (int i = 1; i <= 3'000; ++i) {
    rate.Add(1, milliseconds(10) * i);
  }
  EXPECT_NEAR(rate.PerSecond(), 100, 2);
  EXPECT_EQ(rate.total(), 3'000);
  rate.Add(1, std::chrono::seconds(100));  // After a pause.
  EXPECT_LT(rate.PerSecond(), 1);
}

}  // namespace
}  // namespace sluice::lease
