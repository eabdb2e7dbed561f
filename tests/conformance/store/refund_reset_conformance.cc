#include "conformance/store/key_store_conformance.h"

// What gives back: refunds of an amount, and resets.
namespace sluice::conformance {

using core::Algorithm;
using core::Quota;
using support::OwnedKey;

TEST_P(KeyStoreConformance, RefundGivesBackAndNeverMoreThanTheWhole) {
  for (const Algorithm algorithm : kMetered) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("f");
    const Quota quota = QuotaOf(algorithm, 10);
    EXPECT_TRUE(Ask(key, quota, 5).decision.allowed);
    EXPECT_EQ(Ask(key, quota, 3).decision.remaining, 2);
    Refund(key, quota, 4);
    EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 6);
    Refund(key, quota, 400);
    EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 10);
    Refund(key, quota, 5);
    EXPECT_EQ(Drain(key, quota, 100), 10);
    Refund(OwnedKey("nobody"), quota, 5);
    EXPECT_EQ(Ask(OwnedKey("nobody"), quota, 0, true).decision.remaining, 10);
  }
}

TEST_P(KeyStoreConformance, ResetMakesFresh) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("x");
    const OwnedKey other("y");
    const Quota quota = QuotaOf(algorithm, 30);
    EXPECT_EQ(Drain(key, quota, 100), 30);
    EXPECT_EQ(Drain(other, quota, 10), 10);
    Reset(key, quota);
    EXPECT_EQ(Ask(key, quota, 0, true).decision.remaining, 30);
    EXPECT_EQ(Drain(key, quota, 100), 30);
    EXPECT_EQ(Ask(other, quota, 0, true).decision.remaining, 20);
  }
}

}  // namespace sluice::conformance
