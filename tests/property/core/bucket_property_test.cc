#include <gtest/gtest.h>

#include "core/bucket.h"
#include "property/core/history.h"
#include "unit/core/steps.h"

namespace sluice::core {
namespace {

I128 CeilOf(I128 n, I128 d) {
  return (n + d - 1) / d;
}

// A bucket by the book, in exact fractions: what is missing from it, in 1/window units. Each
// charge fixes when it will be full at the rate of that time, for that is when a store may
// forget it.
class FractionOracle {
 public:
  std::optional<Units> Remaining(const Quota& quota, const TableNow& now) const {
    if (quota.rate == 0) {
      return std::nullopt;
    }
    const I128 window = quota.window.count();
    const I128 room = I128{quota.limit} * window - Missing(quota, now);
    return room < 0 ? -1 : static_cast<Units>(room / window);
  }

  bool Fresh(const Quota& quota, const TableNow& now) const { return Missing(quota, now) == 0; }

  void Charge(const Quota& quota, const TableNow& now, Units units) {
    Set(quota, now, Missing(quota, now) + I128{units} * quota.window.count());
  }

  void Refund(const Quota& quota, const TableNow& now, Units units) {
    Set(quota, now, Missing(quota, now) - I128{units} * quota.window.count());
  }

 private:
  I128 Missing(const Quota& quota, const TableNow& now) const {
    if (At(now) >= full_at_) {
      return 0;
    }
    return std::max<I128>(missing_ - I128{quota.rate} * (At(now) - at_), 0);
  }

  void Set(const Quota& quota, const TableNow& now, I128 missing) {
    missing_ = std::max<I128>(missing, 0);
    at_ = At(now);
    if (missing_ == 0) {
      full_at_ = at_;
    } else if (quota.rate > 0) {
      full_at_ = at_ + CeilOf(missing_, quota.rate);
    }
  }

  I128 missing_ = 0;
  I128 at_ = 0;
  I128 full_at_ = std::numeric_limits<std::int64_t>::min();
};

// GCRA as the ATM Forum wrote it: a theoretical arrival time, here in 1/rate nanoseconds, so
// that the emission interval (window / rate) is the whole number `window`. For steady numbers.
class ArrivalTimeOracle {
 public:
  std::optional<Units> Remaining(const Quota& quota, const TableNow& now) const {
    const I128 interval = quota.window.count();
    const I128 ahead = std::max<I128>(tat_ - I128{At(now)} * quota.rate, 0);
    return static_cast<Units>((interval * quota.limit - ahead) / interval);
  }

  bool Fresh(const Quota& quota, const TableNow& now) const {
    return tat_ <= I128{At(now)} * quota.rate;
  }

  void Charge(const Quota& quota, const TableNow& now, Units units) {
    tat_ = std::max<I128>(tat_, I128{At(now)} * quota.rate) + I128{units} * quota.window.count();
  }

  void Refund(const Quota&, const TableNow&, Units) {}

 private:
  I128 tat_ = 0;
};

using BucketKey = SteppedKey<Bucket<TableClock>>;

// In any span: at most the burst and what flows in meanwhile.
void ExpectBurstAndRate(const Quota& quota, const Admissions& admissions) {
  const auto& all = admissions.all();
  const std::size_t first = all.size() > 200 ? all.size() - 200 : 0;
  for (std::size_t i = first; i < all.size(); ++i) {
    I128 sum = 0;
    for (std::size_t j = i; j < all.size(); ++j) {
      sum += all[j].units;
      const I128 most =
          I128{quota.limit} * quota.window.count() + I128{quota.rate} * (all[j].at - all[i].at);
      ASSERT_LE(sum * quota.window.count(), most);
    }
  }
}

class BucketProperty : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(Names, BucketProperty,
                         testing::Values(Algorithm::kTokenBucket, Algorithm::kGcra,
                                         Algorithm::kLeakyBucket),
                         [](const auto& name) { return std::string(NameOf(name.param)); });

TEST_P(BucketProperty, AgreesWithExactFractions) {
  for (std::uint64_t seed = 0; seed < kHistories * support::SoakFactor(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Quota quota = DrawQuota(random, GetParam());
    Duel<BucketKey, FractionOracle> duel(random, quota, seed % 2 == 1);
    ASSERT_NO_FATAL_FAILURE(duel.Run({}));
    if (seed % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectBurstAndRate(quota, duel.admissions()));
    }
  }
}

TEST(GcraProperty, AgreesWithTheTheoreticalArrivalTime) {
  for (std::uint64_t seed = 0; seed < kHistories * support::SoakFactor(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Duel<BucketKey, ArrivalTimeOracle> duel(random, DrawQuota(random, Algorithm::kGcra), false);
    ASSERT_NO_FATAL_FAILURE(duel.Run({}));
  }
}

}  // namespace
}  // namespace sluice::core
