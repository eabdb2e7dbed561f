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
      // Two of a limit of one never pass.
      EXPECT_EQ(banned.decision.retry_after, cost == 2 ? Decision::kNever : kBan.lasts);
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

// A ban that is over before the limit lets anything pass again: at every denial the wait is that
// for both, and a caller that waits exactly so long passes.
TEST_P(KeyStoreConformance, WhoIsBannedWaitsForTheLimitToo) {
  constexpr Ban kShort{.after = 2, .within = seconds(10), .lasts = seconds(5)};
  for (const Algorithm algorithm : {Algorithm::kSlidingWindowLog, Algorithm::kTokenBucket}) {
    SCOPED_TRACE(core::NameOf(algorithm));
    const OwnedKey key("early");
    const Quota quota = QuotaOf(algorithm, 1);
    const auto ask = [&](Units cost, bool peek) {
      OwnedCheckCall call;
      call.peek = peek;
      call.Add(CheckOf(key, quota, cost));
      call.own_checks[0].ban = &kShort;
      Send(call);
      return call.own_answers[0].decision;
    };
    EXPECT_TRUE(ask(1, false).allowed);
    fixture_->Advance(seconds(1));
    EXPECT_EQ(ask(1, false).retry_after, seconds(59));
    EXPECT_EQ(ask(1, false).retry_after, seconds(59));  // Bans for 5 s.
    fixture_->Advance(seconds(1));
    for (const bool peek : {false, true}) {
      const Decision banned = ask(1, peek);
      EXPECT_EQ(banned.reason, Reason::kBanned);
      EXPECT_EQ(banned.retry_after, seconds(58));
      EXPECT_EQ(banned.reset_after, seconds(58));
      EXPECT_EQ(banned.remaining, 0);
    }
    EXPECT_EQ(ask(0, false).retry_after, seconds(4));  // Nothing needs no room in the limit.
    EXPECT_EQ(ask(0, false).reset_after, seconds(58));
    EXPECT_EQ(ask(2, false).retry_after, Decision::kNever);
    fixture_->Advance(seconds(58) - fixture_->resolution());
    EXPECT_FALSE(ask(1, true).allowed);
    fixture_->Advance(fixture_->resolution());
    EXPECT_TRUE(ask(1, false).allowed);
    Reset(key, quota);
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
  EXPECT_EQ(banned.key.rule(), "r");
  ASSERT_EQ(banned.key.parts().size(), 1U);
  EXPECT_EQ(banned.key.parts()[0].attribute, "user_id");
  EXPECT_EQ(banned.key.parts()[0].value, "listed");
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

// Asked while banned, and then renamed again: the ban moves, and so do the denials that count.
TEST_P(KeyStoreConformance, ABanSurvivesTwoRenames) {
  const OwnedKey first("twice", "first");
  const OwnedKey second("twice", "second", "first");
  const OwnedKey third("twice", "third", "second");
  const Quota quota = QuotaOf(Algorithm::kFixedWindow, 0);
  EXPECT_EQ(BanAsker(*fixture_, first, quota).Why(), Reason::kLimitZero);
  EXPECT_EQ(BanAsker(*fixture_, second, quota).Why(), Reason::kLimitZero);
  fixture_->Advance(seconds(1));
  EXPECT_EQ(BanAsker(*fixture_, third, quota).Ask().decision.reset_after, kBan.lasts);
  const OwnedKey fourth("twice", "fourth", "third");
  const OwnedKey fifth("twice", "fifth", "fourth");
  fixture_->Advance(seconds(1));
  EXPECT_EQ(BanAsker(*fixture_, fourth, quota).Why(), Reason::kBanned);
  EXPECT_EQ(BanAsker(*fixture_, fifth, quota).Ask(1, true).decision.reset_after,
            kBan.lasts - seconds(1));
  support::Answered<store::BansCall> list;
  fixture_->store().ListBans(list);
  fixture_->Pump();
  ASSERT_EQ(list.bans.size(), 1U);
  EXPECT_EQ(list.bans[0].key.rule(), "fifth");
  EXPECT_EQ(list.now - list.bans[0].since, seconds(1));
  Reset(fifth, quota);
  EXPECT_EQ(BanAsker(*fixture_, fifth, quota).Why(), Reason::kLimitZero);
}

TEST_P(KeyStoreConformance, AWallThatStepsBackMakesNoBanLonger) {
  const OwnedKey key("stepped");
  support::Answered<store::BanCall> ban;
  ban.key = key.view();
  ban.duration = minutes(1);
  fixture_->store().Ban(ban);
  fixture_->Pump();
  BanAsker asker(*fixture_, key, QuotaOf(Algorithm::kGcra, 5));
  fixture_->StepWallClock(-std::chrono::hours(1));
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
