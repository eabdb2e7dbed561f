// The cost of one decision by itself: no key look-up, no lock, no clock reading. What a store
// adds is measured by its own benchmark. Each loop advances time so that some requests pass and
// some are denied, as under a limit that is reached.

#include <array>
#include <cstddef>
#include <cstdint>

#include <benchmark/benchmark.h>

#include "core/bucket.h"
#include "core/calendar.h"
#include "core/concurrency.h"
#include "core/fixed_window.h"
#include "core/sliding_window.h"
#include "core/sliding_window_counter.h"
#include "core/sliding_window_log.h"

namespace sluice::core {
namespace {

constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

Quota HundredAMinute(Algorithm algorithm) {
  Quota quota;
  quota.algorithm = algorithm;
  quota.limit = 100;
  quota.rate = 100;
  quota.window = std::chrono::minutes(1);
  return quota;
}

TableNow At(std::int64_t ns) {
  return {.monotonic = TableInstant(Duration(ns)), .wall_clock = WallInstant(Duration(ns))};
}

// A ring of entries: what a chain of blocks is to the steps, without the blocks.
class Ring {
 public:
  template <class F>
  void ForEach(F f) const {
    for (std::size_t i = first_; i != next_ && f(at_[i % kSize]); ++i) {
    }
  }

  template <class F>
  void ForEachNewestFirst(F f) const {
    for (std::size_t i = next_; i != first_ && f(at_[(i - 1) % kSize]); --i) {
    }
  }

  void Apply(std::uint32_t drop, const Entry& append) {
    first_ += drop;
    if (first_ != next_ && at_[(next_ - 1) % kSize].at == append.at) {
      at_[(next_ - 1) % kSize].units += append.units;
    } else if (append.units > 0) {
      at_[next_++ % kSize] = append;
    }
  }

 private:
  static constexpr std::size_t kSize = 256;
  std::array<Entry, kSize> at_{};
  std::size_t first_ = 0;
  std::size_t next_ = 0;
};

// A request every half second against 100 a minute: once the burst is spent, five of six pass.
constexpr std::int64_t kGap = 500'000'000;

template <class Algo>
void DecideOn(benchmark::State& run, const Quota& quota) {
  typename Algo::State state{};
  std::int64_t now = kStart;
  for ([[maybe_unused]] auto _ : run) {
    now += kGap;
    const auto outcome = Algo::Check(quota, state, At(now), Cost{1});
    state = outcome.decision.allowed ? outcome.on_allow : outcome.on_deny;
    benchmark::DoNotOptimize(outcome.decision);
  }
}

template <class Algo>
void DecideOnList(benchmark::State& run, const Quota& quota) {
  typename Algo::State state{};
  Ring ring;
  std::int64_t now = kStart;
  for ([[maybe_unused]] auto _ : run) {
    now += kGap;
    const auto outcome = Algo::Check(quota, state, ring, At(now), Cost{1});
    if (outcome.decision.allowed) {
      ring.Apply(outcome.drop, outcome.append);
      state = outcome.on_allow;
    }
    benchmark::DoNotOptimize(outcome.decision);
  }
}

void Gcra(benchmark::State& run) {
  DecideOn<Bucket<TableClock>>(run, HundredAMinute(Algorithm::kGcra));
}
BENCHMARK(Gcra);

// Debts that need more than 64 bits: ten million a day.
void GcraWide(benchmark::State& run) {
  Quota quota = HundredAMinute(Algorithm::kGcra);
  quota.limit = quota.rate = 10'000'000;
  quota.window = std::chrono::hours(24);
  DecideOn<Bucket<TableClock>>(run, quota);
}
BENCHMARK(GcraWide);

void GcraDenied(benchmark::State& run) {
  const Quota quota = HundredAMinute(Algorithm::kGcra);
  using Gate = Bucket<TableClock>;
  const Gate::State full = Gate::Check(quota, {}, At(kStart), Cost{100}).on_allow;
  for ([[maybe_unused]] auto _ : run) {
    benchmark::DoNotOptimize(Gate::Check(quota, full, At(kStart + 1), Cost{1}).decision);
  }
}
BENCHMARK(GcraDenied);

void FixedWindowEpoch(benchmark::State& run) {
  DecideOn<FixedWindow<TableClock>>(run, HundredAMinute(Algorithm::kFixedWindow));
}
BENCHMARK(FixedWindowEpoch);

void FixedWindowMonthInBerlin(benchmark::State& run) {
  const auto calendar = Calendar::Create(CalendarUnit::kMonth, "Europe/Berlin", "15");
  if (!calendar) {
    run.SkipWithError("no time zones on this machine");
    return;
  }
  Quota quota = HundredAMinute(Algorithm::kFixedWindow);
  quota.calendar = calendar->get();
  // A fresh key each time, so that the calendar is asked each time.
  for ([[maybe_unused]] auto _ : run) {
    benchmark::DoNotOptimize(
        FixedWindow<TableClock>::Check(quota, {}, At(kStart), Cost{1}).decision);
  }
}
BENCHMARK(FixedWindowMonthInBerlin);

void Counter(benchmark::State& run) {
  DecideOn<SlidingWindowCounter<TableClock>>(run, HundredAMinute(Algorithm::kSlidingWindowCounter));
}
BENCHMARK(Counter);

void Sliding(benchmark::State& run) {
  DecideOnList<SlidingWindow<TableClock>>(run, HundredAMinute(Algorithm::kSlidingWindow));
}
BENCHMARK(Sliding);

void Log(benchmark::State& run) {
  DecideOnList<SlidingWindowLog<TableClock>>(run, HundredAMinute(Algorithm::kSlidingWindowLog));
}
BENCHMARK(Log);

void InFlight(benchmark::State& run) {
  DecideOn<Concurrency>(run, HundredAMinute(Algorithm::kConcurrency));
}
BENCHMARK(InFlight);

}  // namespace
}  // namespace sluice::core

BENCHMARK_MAIN();
