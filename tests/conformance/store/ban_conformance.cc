#include <chrono>
#include <vector>

#include "conformance/store/key_store_conformance.h"

// Bans: earned by denials, imposed and lifted by hand, listed.
namespace sluice::conformance {

using core::Algorithm;
using core::Ban;
using core::Quota;
using std::chrono::minutes;
using std::chrono::seconds;
using store::BannedKey;
using store::CheckAnswer;
using store::StoreError;
using support::OwnedCheckCall;
using support::OwnedKey;

namespace {

constexpr Ban kBan{.after = 3, .within = seconds(10), .lasts = minutes(5)};

store::Check CheckWithBan(const OwnedKey& key, const Quota& quota, Units cost = 1) {
  store::Check check = CheckOf(key, quota, cost);
  check.ban = &kBan;
  return check;
}

class BanAsker {
 public:
  BanAsker(StoreFixture& fixture, const OwnedKey& key, const Quota& quota)
      : fixture_(fixture), key_(key), quota_(quota) {}

  CheckAnswer Ask(Units cost = 1, bool peek = false) {
    OwnedCheckCall call;
    call.peek = peek;
    call.Add(CheckWithBan(key_, quota_, cost));
    store::CheckCall* const one = &call;
    fixture_.store().CheckMany({&one, 1});
    fixture_.Pump();
    EXPECT_EQ(call.error, StoreError::kNone);
    return call.own_answers[0];
  }
  Reason Why(Units cost = 1) { return Ask(cost).decision.reason; }

 private:
  StoreFixture& fixture_;
  const OwnedKey& key_;
  const Quota quota_;
};

}  // namespace

TEST_P(KeyStoreConformance, DenialsBanAKeyForTheTimeSaid) {
  for (const Algorithm algorithm : kAll) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("abuser");
    const OwnedKey other("neighbour");
    const Quota quota = QuotaOf(algorithm, 1);
    BanAsker asker(*fixture_, key, quota);
    EXPECT_EQ(asker.Why(), Reason::kNone);
    EXPECT_NE(asker.Why(), Reason::kNone);
    EXPECT_NE(asker.Why(), Reason::kBanned);
    const CheckAnswer last = asker.Ask();  // Denied by the limit; to wait for that is not enough.
    EXPECT_NE(last.decision.reason, Reason::kBanned);
    EXPECT_GE(last.decision.retry_after, kBan.lasts);
    for (const Units cost : {1, 0, 2}) {
      const CheckAnswer banned = asker.Ask(cost);
      EXPECT_FALSE(banned.decision.allowed);
      EXPECT_EQ(banned.decision.reason, Reason::kBanned);
      EXPECT_EQ(banned.decision.retry_after, kBan.lasts);
      EXPECT_EQ(banned.decision.remaining, 0);
      EXPECT_EQ(banned.decision.limit, 1);
    }
    EXPECT_EQ(asker.Ask(1, true).decision.reason, Reason::kBanned);
    EXPECT_EQ(BanAsker(*fixture_, other, quota).Why(), Reason::kNone);
    fixture_->Advance(kBan.lasts - fixture_->resolution());
    const CheckAnswer nearly = asker.Ask();  // Asking while banned has made it no longer.
    EXPECT_EQ(nearly.decision.reason, Reason::kBanned);
    EXPECT_EQ(nearly.decision.retry_after, fixture_->resolution());
    fixture_->Advance(fixture_->resolution());
    EXPECT_EQ(asker.Why(), Reason::kNone);
    EXPECT_NE(asker.Why(), Reason::kBanned);  // Counted from none again.
    EXPECT_NE(asker.Why(), Reason::kBanned);
    Reset(key, quota);
    Reset(other, quota);
  }
}

// Denials at 0, 9, 11 and 12 s: no three within 10 s but the last three.
TEST_P(KeyStoreConformance, DenialsCountWithinTheirTimeExactly) {
  const OwnedKey key("slow");
  BanAsker asker(*fixture_, key, QuotaOf(Algorithm::kFixedWindow, 0));
  EXPECT_EQ(asker.Why(), Reason::kLimitZero);
  fixture_->Advance(seconds(9));
  EXPECT_EQ(asker.Why(), Reason::kLimitZero);
  fixture_->Advance(seconds(1));
  EXPECT_EQ(asker.Why(), Reason::kLimitZero);  // The first has just left the ten seconds.
  EXPECT_NE(asker.Ask().decision.retry_after, kBan.lasts);
  EXPECT_EQ(asker.Why(), Reason::kBanned);
}

TEST_P(KeyStoreConformance, NeitherPeeksNorOthersDenialsCount) {
  const OwnedKey key("peeked");
  const OwnedKey full("full");
  const Quota quota = QuotaOf(Algorithm::kTokenBucket, 1);
  BanAsker asker(*fixture_, key, quota);
  EXPECT_EQ(asker.Why(), Reason::kNone);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(asker.Ask(1, true).decision.reason, Reason::kQuotaExceeded);
  }
  EXPECT_TRUE(Ask(full, quota).decision.allowed);
  Reset(key, quota);
  for (int i = 0; i < 10; ++i) {
    OwnedCheckCall call;
    call.Add(CheckOf(full, quota, 1));
    call.Add(CheckWithBan(key, quota));
    store::Check shadow = CheckWithBan(OwnedKey("s"), quota, 2);
    shadow.key = key.view();
    shadow.shadow = true;
    call.Add(shadow);
    Send(call);
    EXPECT_FALSE(call.own_answers[0].decision.allowed);
  }
  EXPECT_EQ(asker.Why(), Reason::kNone);
}

TEST_P(KeyStoreConformance, ABannedKeyDeniesTheWholeRequest) {
  const OwnedKey key("bad");
  const OwnedKey good("good");
  const Quota quota = QuotaOf(Algorithm::kGcra, 5);
  support::Answered<store::BanCall> ban;
  ban.key = key.view();
  ban.duration = minutes(1);
  fixture_->store().Ban(ban);
  fixture_->Pump();
  ASSERT_EQ(ban.error, StoreError::kNone);
  OwnedCheckCall call;
  call.Add(CheckOf(good, quota, 2));
  call.Add(CheckWithBan(key, quota));
  Send(call);
  EXPECT_TRUE(call.own_answers[0].decision.allowed);
  EXPECT_FALSE(call.own_answers[0].charged);
  EXPECT_EQ(call.own_answers[0].decision.remaining, 5);
  EXPECT_EQ(call.own_answers[1].decision.reason, Reason::kBanned);
  EXPECT_EQ(Left(good, quota), 5);
  EXPECT_EQ(Left(key, quota), 5);  // Nor was the banned key itself charged.
}

TEST_P(KeyStoreConformance, BansAreListedAndLifted) {
  support::Answered<store::BansCall> list;
  const auto list_now = [&]() -> std::vector<BannedKey>& {
    fixture_->store().ListBans(list);
    fixture_->Pump();
    return list.bans;
  };
  const OwnedKey key("listed");
  support::Answered<store::BanCall> ban;
  ban.key = key.view();
  ban.duration = minutes(1);
  fixture_->store().Ban(ban);
  fixture_->Pump();
  ASSERT_EQ(ban.error, StoreError::kNone);
  fixture_->Advance(seconds(20));
  ASSERT_EQ(list_now().size(), 1U);
  const BannedKey& banned = list.bans.front();
  EXPECT_EQ(banned.key.rule, "r");
  ASSERT_EQ(banned.key.parts.size(), 1U);
  EXPECT_EQ(banned.key.parts[0].attribute, "user_id");
  EXPECT_EQ(banned.key.parts[0].value, "listed");
  EXPECT_EQ(banned.until - list.now, seconds(40));
  EXPECT_EQ(list.now - banned.since, seconds(20));
  support::Answered<store::BanCall> unban;
  unban.key = key.view();
  fixture_->store().Unban(unban);
  fixture_->Pump();
  EXPECT_EQ(unban.error, StoreError::kNone);
  fixture_->store().Unban(unban);
  fixture_->Pump();
  EXPECT_EQ(unban.error, StoreError::kNotFound);
  EXPECT_TRUE(list_now().empty());
  EXPECT_EQ(BanAsker(*fixture_, key, QuotaOf(Algorithm::kTokenBucket, 1)).Why(), Reason::kNone);
}

TEST_P(KeyStoreConformance, AWallThatStepsBackMakesNoBanLonger) {
  const OwnedKey key("stepped");
  support::Answered<store::BanCall> ban;
  ban.key = key.view();
  ban.duration = minutes(1);
  fixture_->store().Ban(ban);
  fixture_->Pump();
  BanAsker asker(*fixture_, key, QuotaOf(Algorithm::kGcra, 5));
  fixture_->StepWall(-std::chrono::hours(1));
  EXPECT_EQ(asker.Ask(1, true).decision.retry_after, minutes(1));
  fixture_->Advance(seconds(20));
  EXPECT_EQ(asker.Ask(1).decision.retry_after, seconds(40));
  fixture_->Advance(seconds(40));
  EXPECT_EQ(asker.Why(), Reason::kNone);
}

TEST_P(KeyStoreConformance, AnotherAlgorithmLiftsNoBanAndAResetDoes) {
  const OwnedKey key("kept");
  support::Answered<store::BanCall> ban;
  ban.key = key.view();
  ban.duration = minutes(1);
  fixture_->store().Ban(ban);
  fixture_->Pump();
  const Quota quota = QuotaOf(Algorithm::kSlidingWindow, 5);
  EXPECT_EQ(BanAsker(*fixture_, key, quota).Why(), Reason::kBanned);
  const OwnedKey renamed("kept", "new", "r");
  EXPECT_EQ(BanAsker(*fixture_, renamed, quota).Why(), Reason::kBanned);
  Reset(key, quota);
  EXPECT_EQ(BanAsker(*fixture_, key, quota).Why(), Reason::kNone);
}

}  // namespace sluice::conformance
