// What outliving the process costs: writing a snapshot, what decisions notice of it, and how long
// the next start takes.
//
//   build/bench/bin/survive_bench [KEYS [FOLDER]]     10,000,000 keys; snapshots in /tmp
//
// The table's file lies under /dev/shm, as a daemon's does.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "base/clock.h"
#include "store/table.h"

namespace sluice::store {
namespace {

using core::Algorithm;
using Steady = std::chrono::steady_clock;

core::Quota QuotaOf(Algorithm algorithm) {
  core::Quota quota;
  quota.algorithm = algorithm;
  quota.limit = 1'000'000;
  // One an hour: what a request leaves behind outlives the whole run.
  quota.rate = core::IsBucket(algorithm) ? 1 : 0;
  quota.window = std::chrono::hours(1);
  return quota;
}

// One check, made once and asked of one key after the other.
class OneCheck {
 public:
  explicit OneCheck(Algorithm algorithm) {
    check_ = {.key = {.rule = "api_rate", .formerly = {}, .parts = {&part_, 1}},
              .quota = QuotaOf(algorithm),
              .cost = {}};
    part_ = {.attribute = "user_id", .value = {}};
    call_.checks = {&check_, 1};
    call_.answers = {&answer_, 1};
  }
  void Ask(Table& table, std::uint64_t key) {
    std::snprintf(text_.data(), text_.size(), "customer-%016llx-0123456789abc",
                  static_cast<unsigned long long>(key * 0x9E3779B97F4A7C15ULL));
    part_.value = text_.data();
    table.CheckMany(batch_);
  }

 private:
  struct Call final : CheckCall {
    void OnAnswered() noexcept override {}
  };
  std::array<char, 48> text_{};
  core::KeyPart part_;
  Check check_;
  CheckAnswer answer_;
  Call call_;
  std::array<CheckCall*, 1> batch_{&call_};
};

double SecondsSince(Steady::time_point then) {
  return std::chrono::duration<double>(Steady::now() - then).count();
}

std::unique_ptr<Table> Open(const TableOptions& options, const base::Clock& clock) {
  auto table = Table::Create(options, clock);
  if (!table) {
    std::fprintf(stderr, "%s\n", table.error().Text().c_str());
    std::_Exit(1);
  }
  return *std::move(table);
}

// Decisions one by one on random keys until `stop`; the time of each.
void Measure(const char* what, Table& table, std::uint64_t keys, const std::atomic<bool>& stop) {
  OneCheck check(Algorithm::kGcra);
  std::mt19937_64 random(1);
  std::vector<std::uint32_t> times;
  times.reserve(std::size_t{1} << 25U);
  Steady::time_point then = Steady::now();
  while (!stop && times.size() < times.capacity()) {
    check.Ask(table, random() % keys);
    const Steady::time_point now = Steady::now();
    times.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(
        std::chrono::nanoseconds(now - then).count(), std::int64_t{4'000'000'000})));
    then = now;
  }
  std::ranges::sort(times);
  const auto at = [&times](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%-34s %9zu decisions: p50 %u ns, p99 %u ns, p99.9 %u ns, p99.99 %u ns, most %u us\n",
              what, times.size(), at(0.5), at(0.99), at(0.999), at(0.9999), times.back() / 1000);
}

void MeasureDuring(const char* what, Table& table, std::uint64_t keys,
                   const std::function<void()>& meanwhile) {
  std::atomic<bool> stop{false};
  std::thread decider([&] { Measure(what, table, keys, stop); });
  meanwhile();
  stop = true;
  decider.join();
}

void MeasureSnapshots(const TableOptions& options, const base::Clock& clock) {
  const std::unique_ptr<Table> table = Open(options, clock);
  OneCheck check(Algorithm::kGcra);
  for (std::uint64_t i = 0; i < options.keys; ++i) {
    check.Ask(*table, i);
  }
  const auto idle = [] {
    const auto until = Steady::now() + std::chrono::seconds(4);
    std::this_thread::sleep_until(until);
  };
  MeasureDuring("no snapshot", *table, options.keys, idle);
  for (const char* what : {"while a snapshot is written", "while another is written"}) {
    double took = 0;
    SnapshotReport report;
    MeasureDuring(what, *table, options.keys, [&] {
      const auto then = Steady::now();
      const auto written = table->WriteSnapshot();
      took = SecondsSince(then);
      if (!written) {
        std::fprintf(stderr, "%s\n", written.error().Text().c_str());
        std::_Exit(1);
      }
      report = *written;
    });
    std::printf("  it took %.2f s for %llu keys, %.1f MiB, the disk's part included\n", took,
                static_cast<unsigned long long>(report.keys),
                static_cast<double>(report.bytes) / (1U << 20U));
  }
}

void MeasureStart(const char* what, const TableOptions& options, const base::Clock& clock) {
  const auto then = Steady::now();
  const std::unique_ptr<Table> table = Open(options, clock);
  std::printf("start, %-27s %.2f s, some %llu keys live\n", what, SecondsSince(then),
              static_cast<unsigned long long>(table->Stats().live_slots));
}

void MeasureBytes(const base::Clock& clock) {
  constexpr std::uint64_t kKeys = 100'000;
  std::printf("bytes a key at the rated load, one request each\n");
  for (const Algorithm algorithm : core::kRuleAlgorithms) {
    const std::unique_ptr<Table> table =
        Open({.path = "", .keys = kKeys, .blocks = kKeys * 2}, clock);
    OneCheck check(algorithm);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      check.Ask(*table, key);
    }
    const TableStats stats = table->Stats();
    const auto keys = static_cast<double>(stats.live_slots);
    std::printf("  %-24s %.1f in slots, %.1f in blocks\n",
                std::string(core::NameOf(algorithm)).c_str(),
                static_cast<double>(stats.slots * sizeof(Slot)) / keys,
                static_cast<double>(stats.blocks_in_use * sizeof(Block)) / keys);
  }
}

int Main(int argc, char** argv) {
  const base::SystemClock clock;
  const std::string name = "sluice_survive_bench_" + std::to_string(getpid());
  TableOptions options{.path = "/dev/shm/" + name,
                       .keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000,
                       .blocks = 1000,
                       .snapshot = std::string(argc > 2 ? argv[2] : "/tmp") + "/" + name};
  std::printf("%llu keys, gcra\n", static_cast<unsigned long long>(options.keys));
  MeasureSnapshots(options, clock);
  MeasureStart("the file left by a process", options, clock);
  TableOptions other = options;
  other.keys += options.keys / 4;
  MeasureStart("with a quarter more keys", other, clock);
  std::filesystem::remove(options.path);
  MeasureStart("from a snapshot", options, clock);
  std::filesystem::remove(options.path);
  std::filesystem::remove(options.snapshot);
  std::filesystem::remove(options.snapshot + ".previous");
  MeasureBytes(clock);
  return 0;
}

}  // namespace
}  // namespace sluice::store

int main(int argc, char** argv) {
  return sluice::store::Main(argc, argv);
}
