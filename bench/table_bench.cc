// What one decision costs: the table against the maps that one would write first, in the
// same run. `per_check` is the time of one check; machine and build stand in Google
// Benchmark's head. A decision that allocates is an error.
//
//   build/bench/bin/table_bench [--benchmark_filter=gcra]

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "core/bucket.h"
#include "store/table.h"
#include "support/counted_new.h"

namespace sluice::store {
namespace {

using core::Algorithm;

constexpr std::size_t kPicks = std::size_t{1} << 20U;  // Drawn before the clock runs.
constexpr std::size_t kBatch = 32;

enum Spread : std::uint8_t { kUniform = 0, kZipf = 1 };

core::Quota QuotaOf(Algorithm algorithm) {
  core::Quota quota;
  quota.algorithm = algorithm;
  quota.limit = 1'000'000;
  quota.rate = core::IsBucket(algorithm) ? 1'000'000 : 0;
  quota.window = std::chrono::minutes(1);
  if (algorithm == Algorithm::kSlidingWindowLog) {
    quota.window = std::chrono::milliseconds(10);  // So that its entries come and go.
  }
  return quota;
}

constexpr std::size_t kKeyBytes = 40;

// Keys of 40 bytes, in the order in which they are asked for, one behind the other: a
// request's bytes have just come in and are in the cache, so the load must not add misses of
// its own to those that are measured.
class Load {
 public:
  Load(std::size_t keys, Spread spread) : keys_(keys) {
    std::mt19937_64 random(1);
    picked_.resize(kPicks * kKeyBytes);
    // Zipf with exponent 1: the inverse of the harmonic sum, near enough.
    const double log_keys = std::log(static_cast<double>(keys) + 1);
    std::uniform_real_distribution<double> unit(0, 1);
    for (std::size_t i = 0; i < kPicks; ++i) {
      const double at = spread == kUniform ? unit(random) * static_cast<double>(keys)
                                           : std::exp(unit(random) * log_keys) - 1;
      const std::string text = TextOf(std::min(static_cast<std::size_t>(at), keys - 1));
      std::ranges::copy(text, picked_.begin() + static_cast<std::ptrdiff_t>(i * kKeyBytes));
    }
  }
  [[nodiscard]] std::string_view Pick(std::size_t i) const {
    return {picked_.data() + i % kPicks * kKeyBytes, kKeyBytes};
  }
  [[nodiscard]] static std::string TextOf(std::size_t i) {
    std::string text = "customer-" + std::to_string(i * 2'654'435'761U % 1'000'000'007U) + "-";
    text.resize(kKeyBytes, 'x');
    return text;
  }
  [[nodiscard]] std::size_t keys() const { return keys_; }

 private:
  std::size_t keys_;
  std::vector<char> picked_;
};

const Load& LoadOf(std::size_t keys, Spread spread) {
  static std::mutex mutex;
  static std::size_t made_keys = 0;
  static Spread made_spread = kUniform;
  static std::unique_ptr<Load> made;
  const std::scoped_lock lock(mutex);
  if (made == nullptr || made_keys != keys || made_spread != spread) {
    made.reset();
    made = std::make_unique<Load>(keys, spread);
    made_keys = keys;
    made_spread = spread;
  }
  return *made;
}

// Checks made beforehand but for the key's text, as a sender reuses its calls.
class Calls {
 public:
  explicit Calls(Algorithm algorithm) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      parts_[i] = {.attribute = "user_id", .value = {}};
      checks_[i] = {.key = {.rule = "api_rate", .formerly = {}, .parts = {&parts_[i], 1}},
                    .quota = QuotaOf(algorithm),
                    .cost = {}};
      calls_[i].checks = {&checks_[i], 1};
      calls_[i].answers = {&answers_[i], 1};
      batch_[i] = &calls_[i];
    }
  }
  void Ask(Table& to, const Load& load, std::size_t& next, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      SetKey(i, load.Pick(next));
      ++next;
    }
    Send(to, n);
  }
  void SetKey(std::size_t i, std::string_view text) { parts_[i].value = text; }
  void Send(Table& to, std::size_t n) {
    to.CheckMany(std::span(batch_).first(n));
    benchmark::DoNotOptimize(answers_);
  }
  [[nodiscard]] HoldId hold(std::size_t i) const { return answers_[i].hold; }
  [[nodiscard]] const Check& check(std::size_t i) const { return checks_[i]; }

 private:
  struct Call final : CheckCall {
    void OnAnswered() noexcept override {}
  };
  std::array<core::KeyPart, kBatch> parts_;
  std::array<Check, kBatch> checks_;
  std::array<CheckAnswer, kBatch> answers_;
  std::array<Call, kBatch> calls_;
  std::array<CheckCall*, kBatch> batch_{};
};

struct NoAnswer final : HoldCall {
  void OnAnswered() noexcept override {}
};

const base::SystemClock kClock;

// A table of `keys` keys, all of them in it. Made when it is first asked for and kept until
// another is: Google Benchmark runs each case several times.
std::unique_ptr<Table> table;
std::size_t table_keys = 0;
Algorithm table_algorithm = Algorithm::kGcra;

void FillTable(std::size_t keys, Algorithm algorithm) {
  std::vector<std::string> texts(kBatch);
  Calls calls(algorithm);
  for (std::size_t i = 0; i < keys; i += kBatch) {
    const std::size_t n = std::min(kBatch, keys - i);
    for (std::size_t k = 0; k < n; ++k) {
      texts[k] = Load::TextOf(i + k);
      calls.SetKey(k, texts[k]);
    }
    calls.Send(*table, n);
  }
}

// Arguments: keys, spread, algorithm, calls in a batch.
void OpenTable(const benchmark::State& state) {
  const auto keys = static_cast<std::size_t>(state.range(0));
  const auto algorithm = static_cast<Algorithm>(state.range(2));
  (void)LoadOf(keys, static_cast<Spread>(state.range(1)));
  if (table != nullptr && table_keys == keys && table_algorithm == algorithm) {
    return;
  }
  table.reset();
  // Few keys are asked often, and have many entries each.
  const std::size_t blocks = core::IsBucket(algorithm) ? 1024 : std::max<std::size_t>(keys, 65536);
  table = std::move(*Table::Create({.path = "", .keys = keys, .blocks = blocks}, kClock));
  table_keys = keys;
  table_algorithm = algorithm;
  if (algorithm != Algorithm::kConcurrency) {  // Its holds come and go as it is measured.
    FillTable(keys, algorithm);
  }
}

void BmTable(benchmark::State& state) {
  const auto keys = static_cast<std::size_t>(state.range(0));
  const Load& load = LoadOf(keys, static_cast<Spread>(state.range(1)));
  const auto algorithm = static_cast<Algorithm>(state.range(2));
  const auto n = static_cast<std::size_t>(state.range(3));
  Calls calls(algorithm);
  NoAnswer release;
  std::size_t next = static_cast<std::size_t>(state.thread_index()) * 7919;
  if (algorithm != Algorithm::kConcurrency) {
    calls.Ask(*table, load, next, n);  // The thread's lease is allocated once.
  } else {
    (void)table->Sweep();  // Takes a lease, and no hold.
  }
  const std::int64_t allocated = support::AllocationsOfThisThread();
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t done = 0; done < kBatch; done += n) {
      calls.Ask(*table, load, next, n);
      for (std::size_t i = 0; i < n && algorithm == Algorithm::kConcurrency; ++i) {
        release.key = calls.check(i).key;
        release.quota = calls.check(i).quota;
        release.hold = calls.hold(i);
        table->Release(release);
      }
    }
  }
  if (support::AllocationsOfThisThread() != allocated) {
    state.SkipWithError("a decision has allocated memory");
  }
  const auto checks = static_cast<double>(state.iterations()) * static_cast<double>(kBatch);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
  state.counters["per_check"] =
      benchmark::Counter(checks, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (state.thread_index() == 0 && algorithm != Algorithm::kConcurrency) {
    const TableStats stats = table->Stats();
    state.counters["bytes_per_key"] =
        static_cast<double>(stats.slots * sizeof(Slot)) /
        static_cast<double>(std::max<std::uint64_t>(1, stats.live_slots));
  }
  state.SetLabel(std::string(core::NameOf(algorithm)) +
                 (state.range(1) == kZipf ? " zipf" : " uniform") + " batch of " +
                 std::to_string(n));
}

// The same decisions on std::unordered_map<string, state> under `shards` mutexes.
struct Shard {
  std::mutex mutex;
  std::unordered_map<std::string, core::Bucket<TableClock>::State> states;
};
std::vector<Shard>* shards = nullptr;

// Arguments: keys, shards.
void OpenMap(const benchmark::State& state) {
  table.reset();
  const auto keys = static_cast<std::size_t>(state.range(0));
  (void)LoadOf(keys, kUniform);
  shards = new std::vector<Shard>(static_cast<std::size_t>(state.range(1)));
  for (std::size_t i = 0; i < keys; ++i) {
    const std::string text = Load::TextOf(i);
    (*shards)[std::hash<std::string>()(text) % shards->size()].states[text];
  }
}

void CloseMap(const benchmark::State& /*state*/) {
  delete shards;
  shards = nullptr;
}

void BmMap(benchmark::State& state) {
  const Load& load = LoadOf(static_cast<std::size_t>(state.range(0)), kUniform);
  const core::Quota quota = QuotaOf(Algorithm::kGcra);
  std::size_t next = static_cast<std::size_t>(state.thread_index()) * 7919;
  std::string text;
  for ([[maybe_unused]] auto _ : state) {
    const base::ClockReading reading = kClock.Read();  // Once per 32, as the table's batch.
    const TableNow now{.monotonic = TableInstant(reading.boot), .wall_clock = reading.wall_clock};
    for (std::size_t i = 0; i < kBatch; ++i) {
      text.assign(load.Pick(next++));  // Into room that it has: no allocation.
      Shard& shard = (*shards)[std::hash<std::string>()(text) % shards->size()];
      const std::scoped_lock lock(shard.mutex);
      auto& kept = shard.states[text];
      const auto outcome = core::Bucket<TableClock>::Check(quota, kept, now, Cost{1});
      kept = outcome.on_allow;
      benchmark::DoNotOptimize(outcome.decision);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
  state.counters["per_check"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(kBatch),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetLabel("unordered_map under " + std::to_string(state.range(1)) + " mutexes");
}

constexpr double kSeconds = 0.25;  // Of measuring, each case.

void GcraArguments(benchmark::internal::Benchmark* b) {
  for (const std::int64_t keys : {1'000, 1'000'000, 10'000'000}) {
    for (const std::int64_t spread : {kUniform, kZipf}) {
      for (const std::int64_t batch : {std::int64_t{1}, static_cast<std::int64_t>(kBatch)}) {
        b->Args({keys, spread, static_cast<std::int64_t>(Algorithm::kGcra), batch});
      }
    }
  }
}

void OtherArguments(benchmark::internal::Benchmark* b) {
  for (const Algorithm algorithm : core::kRuleAlgorithms) {
    for (const std::int64_t keys : {1'000, 1'000'000}) {
      for (const std::int64_t batch : {std::int64_t{1}, static_cast<std::int64_t>(kBatch)}) {
        if (algorithm != Algorithm::kGcra) {
          b->Args({keys, kUniform, static_cast<std::int64_t>(algorithm), batch});
        }
      }
    }
  }
}

BENCHMARK(BmMap)
    ->ArgsProduct({{1'000, 1'000'000}, {1, 64}})
    ->Setup(OpenMap)
    ->Teardown(CloseMap)
    ->ThreadRange(1, 2)
    ->MinTime(kSeconds)
    ->UseRealTime();
BENCHMARK(BmTable)
    ->Apply(GcraArguments)
    ->Setup(OpenTable)
    ->ThreadRange(1, 2)
    ->MinTime(kSeconds)
    ->UseRealTime();
BENCHMARK(BmTable)->Apply(OtherArguments)->Setup(OpenTable)->MinTime(kSeconds)->UseRealTime();

}  // namespace
}  // namespace sluice::store

BENCHMARK_MAIN();
