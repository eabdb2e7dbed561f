#include <array>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/calendar.h"
#include "core/wide.h"
#include "store/table.h"
#include "support/redis_store_fixture.h"
#include "support/soak.h"
#include "support/store_calls.h"

namespace sluice::redis {
namespace {

using core::Algorithm;
using core::Quota;
using core::QuotaField;
using support::OwnedCheckCall;
using support::OwnedKey;

// Waits as Redis has them: whole microseconds, rounded up. Beyond any refill that a rule may have
// (a refund under a rate that is far lower than the one charged under) the stores cut differently.
Duration InRedis(Duration wait) {
  if (wait == Decision::kNever || wait == Decision::kUnknown) {
    return wait;
  }
  return wait > core::kLongestHorizon ? Duration(core::kLongestWaitNs)
                                      : Duration((wait.count() + 999) / 1000 * 1000);
}

store::CheckAnswer InRedis(store::CheckAnswer answer) {
  answer.decision.retry_after = InRedis(answer.decision.retry_after);
  answer.decision.reset_after = InRedis(answer.decision.reset_after);
  answer.decision.wait = InRedis(answer.decision.wait);
  return answer;
}

std::string TextOf(const store::CheckAnswer& answer) {
  const Decision& d = answer.decision;
  return "allowed " + std::to_string(d.allowed) + " reason " +
         std::to_string(static_cast<int>(d.reason)) + " shadow " + std::to_string(d.shadow) +
         " limit " + std::to_string(d.limit) + " remaining " + std::to_string(d.remaining) +
         " retry " + std::to_string(d.retry_after.count()) + " reset " +
         std::to_string(d.reset_after.count()) + " wait " + std::to_string(d.wait.count()) +
         " charged " + std::to_string(answer.charged) + " hold " +
         std::to_string(answer.hold != 0) + " error " +
         std::to_string(static_cast<int>(answer.error));
}

// The table and Redis, asked the same at the same time: random requests of one to three checks on
// a few keys, whose limits change all the time, refunds, resets, releases and bans between them.
class DifferenceTest : public ::testing::TestWithParam<Algorithm> {
 protected:
  DifferenceTest() {
    redis::RedisSettings settings = support::PatientSettings(server_);
    settings.channel.by_given_clock = true;
    redis_ = std::make_unique<support::LoopedRedisStore>(settings, clock_);
    redis_->RunUntilUp();
    auto table = store::Table::Create(
        {.path = {}, .keys = 1000, .blocks = 20'000, .huge_pages = false}, clock_);
    table_ = std::move(*table);
    for (const char* value : kValues) {
      keys_.push_back(std::make_unique<OwnedKey>(value, "now"));
      keys_.push_back(std::make_unique<OwnedKey>(value, "now", "then"));
      keys_.push_back(std::make_unique<OwnedKey>(value, "then"));
    }
    calendar_ = *core::Calendar::Create(core::CalendarUnit::kMonth, "Europe/Berlin", "31");
  }

  std::uint64_t Draw(std::uint64_t below) { return random_() % below; }
  bool Chance(std::uint64_t percent) { return Draw(100) < percent; }
  template <class List>
  const auto& OneOf(const List& list) {
    return list[Draw(std::size(list))];
  }

  Units DrawUnits() {
    static constexpr std::array kSome{Units{1}, Units{2},  Units{3},   Units{5},
                                      Units{7}, Units{10}, Units{100}, kMaxUnits};
    return Chance(80)   ? OneOf(kSome)
           : Chance(50) ? static_cast<Units>(Draw(50))
                        : static_cast<Units>(Draw(static_cast<std::uint64_t>(kMaxUnits)) + 1);
  }

  // A shape for a while; numbers are drawn for each check.
  static bool Has(QuotaField field) { return core::TraitsOf(GetParam()).fields.Has(field); }

  void DrawShape() {
    static constexpr std::array kWindows{1, 7, 250, 1000, 60'000, 3'600'000};
    shape_ = {};
    shape_.algorithm = GetParam();
    shape_.window = std::chrono::milliseconds(OneOf(kWindows));
    if (Chance(5)) {
      shape_.window = std::chrono::hours(24 * 365 * 10);
    }
    if (Has(QuotaField::kSegments)) {
      static constexpr std::array kSegments{1, 2, 3, 7, 8, 64};
      shape_.segments = static_cast<std::uint8_t>(OneOf(kSegments));
    }
    if (Has(QuotaField::kCalendar) && Chance(20)) {
      shape_.calendar = calendar_.get();
    }
  }

  Quota DrawQuota() {
    Quota quota = shape_;
    quota.unlimited = Chance(1);
    quota.limit = Chance(4) ? 0 : steady_ ? limit_ : DrawUnits();
    quota.strict = Has(QuotaField::kStrict) && Chance(20);
    quota.shape = Has(QuotaField::kShape) && Chance(50);
    if (Has(QuotaField::kReserves)) {
      quota.reserves = reserves_;
      quota.priority = reserves_ == nullptr ? core::PriorityTag{0} : reserves_->TagOf(priority_);
    }
    if (core::IsBucket(quota.algorithm)) {
      quota.rate = Chance(3) ? 0 : steady_ ? rate_ : DrawUnits();
      if (core::FaultOf(quota)) {
        quota.rate = quota.limit;
      }
    }
    return quota;
  }

  void DrawBan() {
    banning_ = Chance(30);
    ban_ = {.after = static_cast<Units>(Draw(5) + 1),
            .within = std::chrono::milliseconds(Draw(2) == 0 ? Draw(10) + 1 : 60'000),
            .lasts = std::chrono::milliseconds(Draw(2) == 0 ? Draw(100) + 1 : 600'000)};
  }

  Units DrawCost(const Quota& quota) {
    if (Chance(60)) {
      return 1;
    }
    const Units limit = std::min(quota.limit + 1, kMaxUnits);
    return Chance(20) ? 0 : static_cast<Units>(Draw(static_cast<std::uint64_t>(limit) + 1));
  }

  // Time goes on by nothing, by little, or to where something happens.
  void PassTime() {
    const auto window = static_cast<std::uint64_t>(shape_.window / std::chrono::microseconds(1));
    std::uint64_t by = 0;
    if (Chance(25)) {
      by = Draw(window / 10 + 2);
    } else if (Chance(15)) {
      by = Draw(2 * window);
    } else if (Chance(30)) {
      by = next_us_ + Draw(3);
      by -= by > 0 ? 1 : 0;
    }
    if (Chance(1)) {
      by = 4 * window;
    }
    clock_.Advance(std::chrono::microseconds(std::min(by, std::uint64_t{400'000'000'000'000})));
    // Ten years a step would outrun the clock's 64 bits.
    if (clock_.Read().wall_clock > WallInstant(std::chrono::hours(24 * 365 * 90))) {
      clock_.StepWallClock(-std::chrono::hours(24 * 365 * 30));
      clock_.StepBoot(-std::chrono::hours(24 * 365 * 30));
      Forget();
    }
  }

  void Forget() {
    server_.Run({"FLUSHALL"});
    auto table = store::Table::Create(
        {.path = {}, .keys = 1000, .blocks = 20'000, .huge_pages = false}, clock_);
    table_ = std::move(*table);
    holds_.clear();
  }

  void CheckBoth() {
    OwnedCheckCall in_table;
    OwnedCheckCall in_redis;
    const std::size_t checks = Chance(60) ? 1 : 2 + Draw(2);
    // One request has one priority.
    priority_ = OneOf(kPriorities);
    // A rule's old id is nobody's by the time that another rule names it: not in one request.
    const std::size_t naming = Draw(kNamings);
    for (std::size_t i = 0; i < checks; ++i) {
      const Quota quota = DrawQuota();
      const store::Check check{.key = keys_[kNamings * Draw(kValues.size()) + naming]->view(),
                               .quota = quota,
                               .cost = Cost{DrawCost(quota)},
                               .shadow = Chance(10),
                               .ban = banning_ && Chance(80) ? &ban_ : nullptr};
      in_table.Add(check);
      in_redis.Add(check);
    }
    in_table.peek = in_redis.peek = Chance(15);
    in_table.atomicity = in_redis.atomicity =
        Chance(80) ? store::Atomicity::kAll : store::Atomicity::kEach;
    const std::array<store::CheckCall*, 1> to_table{&in_table};
    const std::array<store::CheckCall*, 1> to_redis{&in_redis};
    table_->CheckMany(to_table);
    redis_->store().CheckMany(to_redis);
    redis_->RunUntilIdle();
    ASSERT_EQ(in_redis.error, store::StoreError::kNone) << redis_->events();
    next_us_ = 0;
    for (std::size_t i = 0; i < checks; ++i) {
      const store::CheckAnswer& table = in_table.own_answers[i];
      const store::CheckAnswer& redis = in_redis.own_answers[i];
      ASSERT_EQ(TextOf(InRedis(table)), TextOf(InRedis(redis)))
          << "check " << i << " of " << checks;
      if (table.hold != 0) {
        holds_.push_back({.key = in_table.own_checks[i].key,
                          .quota = in_table.own_checks[i].quota,
                          .table = table.hold,
                          .redis = redis.hold});
      }
      const Duration wait = Chance(70) ? redis.decision.retry_after : redis.decision.reset_after;
      if (wait < std::chrono::hours(24 * 365 * 10)) {
        next_us_ = static_cast<std::uint64_t>(wait / std::chrono::microseconds(1));
      }
    }
  }

  void RefundBoth() {
    const OwnedKey& key = *OneOf(keys_);
    const Quota quota = DrawQuota();
    const Units units = DrawUnits();
    for (store::KeyStore* const store : {static_cast<store::KeyStore*>(table_.get()),
                                         static_cast<store::KeyStore*>(&redis_->store())}) {
      support::Answered<store::RefundCall> call;
      call.key = key.view();
      call.quota = quota;
      call.units = units;
      store->Refund(call);
      redis_->RunUntilIdle();
      ASSERT_EQ(call.answers_got, 1);
    }
  }

  void ResetBoth() {
    const OwnedKey& key = *OneOf(keys_);
    for (store::KeyStore* const store : {static_cast<store::KeyStore*>(table_.get()),
                                         static_cast<store::KeyStore*>(&redis_->store())}) {
      support::Answered<store::ResetCall> call;
      call.key = key.view();
      call.quota = shape_;
      store->Reset(call);
      redis_->RunUntilIdle();
      ASSERT_EQ(call.error, store::StoreError::kNone);
    }
  }

  void BanOrUnbanBoth() {
    if (!banning_) {
      return;
    }
    const OwnedKey& key = *OneOf(keys_);
    const bool lift = Chance(60);
    std::array<store::StoreError, 2> errors{};
    for (const int which : {0, 1}) {
      store::KeyStore& store =
          which == 0 ? static_cast<store::KeyStore&>(*table_) : redis_->store();
      support::Answered<store::BanCall> call;
      call.key = key.view();
      call.duration = ban_.lasts;
      lift ? store.Unban(call) : store.Ban(call);
      redis_->RunUntilIdle();
      errors[static_cast<std::size_t>(which)] = call.error;
    }
    ASSERT_EQ(errors[0], errors[1]);
  }

  void ReleaseBoth() {
    if (holds_.empty()) {
      return;
    }
    const std::size_t i = Draw(holds_.size());
    std::array<store::StoreError, 2> errors{};
    for (const int which : {0, 1}) {
      support::Answered<store::HoldCall> call;
      call.key = holds_[i].key;
      call.quota = holds_[i].quota;
      call.hold = which == 0 ? holds_[i].table : holds_[i].redis;
      (which == 0 ? static_cast<store::KeyStore&>(*table_) : redis_->store()).Release(call);
      redis_->RunUntilIdle();
      errors[static_cast<std::size_t>(which)] = call.error;
    }
    ASSERT_EQ(errors[0], errors[1]);
    if (Chance(80)) {
      holds_.erase(holds_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  static constexpr std::array kPriorities{"gold", "sil ver=|", "other", ""};
  // Of a rule that has some, none, or others after a reload.
  void DrawReserves() {
    static const std::array<core::Reserves, 3> kSome = [] {
      std::array<core::Reserves, 3> some;
      some[0].Add("gold", 50);
      some[0].Add("sil ver=|", 50);
      some[1].Add("gold", 20);
      some[2].Add("other", 10);
      some[2].Add("sil ver=|", 30);
      some[2].Add("gold", 40);
      return some;
    }();
    reserves_ = Chance(30) ? nullptr : &kSome[Draw(kSome.size())];
  }

  static constexpr std::array kValues{"a", "b", "c"};
  static constexpr std::size_t kNamings = 3;  // Of each value: new id, new id with the old, old.

  struct HeldInBoth {
    core::KeyView key;
    Quota quota;
    store::HoldId table = 0;
    store::HoldId redis = 0;
  };

  std::mt19937_64 random_{20'231'114};
  support::ManualClock clock_;
  support::RedisServer server_;
  std::unique_ptr<support::LoopedRedisStore> redis_;
  std::unique_ptr<store::Table> table_;
  std::unique_ptr<const core::Calendar> calendar_;
  std::vector<std::unique_ptr<OwnedKey>> keys_;
  std::deque<HeldInBoth> holds_;
  Quota shape_;
  bool steady_ = true;  // Numbers stay for a while; else every check draws its own.
  Units limit_ = 1;
  Units rate_ = 1;
  bool banning_ = false;  // For a while: denials ban.
  core::Ban ban_;
  const core::Reserves* reserves_ = nullptr;
  const char* priority_ = "";
  std::uint64_t next_us_ = 0;  // When the last answer says that something changes.
};

TEST_P(DifferenceTest, TheTableAndRedisAnswerTheSame) {
  const std::size_t steps = 2000 * support::SoakFactor();
  for (std::size_t step = 0; step < steps; ++step) {
    if (step % 300 == 0) {
      Forget();
      DrawShape();
    }
    if (step % 40 == 0) {
      steady_ = Chance(75);
      limit_ = DrawUnits();
      rate_ = DrawUnits();
      DrawBan();
      DrawReserves();
    }
    PassTime();
    const std::uint64_t what = Draw(100);
    if (what < 88) {
      CheckBoth();
    } else if (what < 94 && !core::HasHolds(shape_.algorithm)) {
      RefundBoth();
    } else if (what < 98) {
      ReleaseBoth();
    } else if (what < 99) {
      BanOrUnbanBoth();
    } else {
      ResetBoth();
    }
    if (HasFatalFailure()) {
      FAIL() << "step " << step << " at " << clock_.Read().wall_clock.time_since_epoch().count()
             << ", window " << shape_.window.count() << ", segments "
             << static_cast<int>(shape_.segments);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, DifferenceTest, ::testing::ValuesIn(core::kRuleAlgorithms),
                         [](const auto& tested) {
                           return std::string(core::NameOf(tested.param));
                         });

}  // namespace
}  // namespace sluice::redis
