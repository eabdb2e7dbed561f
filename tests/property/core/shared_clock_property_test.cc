#include <gtest/gtest.h>

#include "core/bucket.h"
#include "core/fixed_window.h"
#include "core/sliding_window.h"
#include "core/sliding_window_counter.h"
#include "core/sliding_window_log.h"
#include "property/core/history.h"
#include "unit/core/steps.h"

// A shared store has one clock, which a failover may set back; it then moves the key's times
// back too. The table has a monotonic clock, which never steps. Both mean: a step back
// is no time passed, and time goes on from there. So, key by key, they answer alike, if the
// monotonic clock advances by the time that passed since the key was last written.
namespace sluice::core {
namespace {

template <class TableKey, class StoreKey>
void ExpectAlike(Algorithm algorithm) {
  for (std::uint64_t seed = 0; seed < kHistories * support::SoakFactor() / 4 + 1; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    TableKey table(DrawQuota(random, algorithm));
    StoreKey store(table.quota);
    const Quota first = table.quota;
    const std::int64_t span =
        std::min<std::int64_t>(table.quota.window.count(), 500'000'000'000'000);
    std::int64_t clock = 1'600'000'000'000'000'000 + Draw(random, 0, span);
    std::int64_t monotonic = 1'000'000'000'000'000'000;
    std::int64_t written_clock = clock;
    std::int64_t written_line = monotonic;
    for (std::uint64_t i = 0; i < kStepsPerHistory; ++i) {
      switch (Draw(random, 0, 5)) {
        case 0:
          clock -= Draw(random, 0, OneIn(random, 4) ? 5 * span : span / 4);
          break;
        case 1:
          clock += Draw(random, 0, 2 * span);
          break;
        case 2:
          break;
        default:
          clock += Draw(random, 0, std::max<std::int64_t>(span / table.quota.limit, 1));
      }
      monotonic = written_line + std::max<std::int64_t>(clock - written_clock, 0);
      const TableNow on_table{.monotonic = TableInstant(Duration(monotonic)),
                              .wall_clock = WallInstant(Duration(clock))};
      const StoreNow on_store{.monotonic = StoreInstant(Duration(clock)),
                              .wall_clock = WallInstant(Duration(clock))};
      if (span == table.quota.window.count() && OneIn(random, 40)) {
        Quota changed = first;
        changed.limit = Draw(random, (first.limit + 1) / 2, std::min(2 * first.limit, kMaxUnits));
        changed.rate = IsBucket(algorithm) ? changed.limit : 0;
        if (!FaultOf(changed)) {
          table.quota = changed;
          store.quota = changed;
        }
      }
      const Units most = std::max<Units>(table.quota.limit / 4, 1);
      const Units units = Draw(random, 0, most);
      if (OneIn(random, 12)) {
        table.Refund(on_table, units + 1);
        store.Refund(on_store, units + 1);
      } else if (OneIn(random, 4)) {
        ASSERT_EQ(table.Peek(on_table, units), store.Peek(on_store, units)) << i;
      } else {
        ASSERT_EQ(table.Check(on_table, units), store.Check(on_store, units)) << i;
      }
      if (store.state.touched_ns != written_clock && store.state.touched_ns == clock) {
        written_clock = clock;
        written_line = monotonic;
      }
      if (const Duration left = table.Expiry() - on_table.monotonic;
          table.Expiry() != TableInstant{} && left.count() < kJudgedWaitNs) {
        ASSERT_EQ(left, store.Expiry() - on_store.monotonic) << i;
      }
    }
  }
}

TEST(SharedClockProperty, Bucket) {
  ExpectAlike<SteppedKey<Bucket<TableClock>>, SteppedKey<Bucket<StoreClock>, StoreClock>>(
      Algorithm::kGcra);
}

TEST(SharedClockProperty, FixedWindow) {
  ExpectAlike<SteppedKey<FixedWindow<TableClock>>, SteppedKey<FixedWindow<StoreClock>, StoreClock>>(
      Algorithm::kFixedWindow);
}

TEST(SharedClockProperty, SlidingWindowCounter) {
  ExpectAlike<SteppedKey<SlidingWindowCounter<TableClock>>,
              SteppedKey<SlidingWindowCounter<StoreClock>, StoreClock>>(
      Algorithm::kSlidingWindowCounter);
}

TEST(SharedClockProperty, SlidingWindowLog) {
  ExpectAlike<ListKey<SlidingWindowLog<TableClock>>,
              ListKey<SlidingWindowLog<StoreClock>, StoreClock>>(Algorithm::kSlidingWindowLog);
}

TEST(SharedClockProperty, SlidingWindow) {
  ExpectAlike<ListKey<SlidingWindow<TableClock>>, ListKey<SlidingWindow<StoreClock>, StoreClock>>(
      Algorithm::kSlidingWindow);
}

}  // namespace
}  // namespace sluice::core
