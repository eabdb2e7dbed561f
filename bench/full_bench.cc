// What a decision costs when all blocks of the table are in use: nearly each one must first find a
// block. Prints percentiles of single decisions, by what happens when the table is full.
//
//   build/bench/bin/full_bench [decisions]

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "base/clock.h"
#include "store/table.h"

namespace sluice::store {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint64_t kKeys = 200'000;
constexpr std::uint64_t kBlocks = 20'000;
constexpr std::size_t kDecisions = 300'000;

struct Call final : CheckCall {
  void OnAnswered() noexcept override {}
};

// `hot`: the share of decisions, in percent, that go to a hundredth of the keys.
void Measure(const char* name, WhenFull when_full, std::uint64_t hot, std::size_t decisions) {
  const base::SystemClock clock;
  auto made =
      Table::Create({.path = "", .keys = kKeys, .blocks = kBlocks, .when_full = when_full}, clock);
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().Text().c_str());
    std::exit(1);
  }
  Table& table = **made;
  std::array<char, 24> text{};
  core::KeyPart part{.attribute = "user_id", .value = {}};
  Check check{.key = {.rule = "r", .formerly = {}, .parts = {&part, 1}}, .quota = {}, .cost = {}};
  check.quota.algorithm = core::Algorithm::kSlidingWindowLog;
  check.quota.limit = 1000;
  check.quota.window = std::chrono::hours(1);
  CheckAnswer answer;
  Call call;
  call.checks = {&check, 1};
  call.answers = {&answer, 1};
  CheckCall* const one = &call;
  std::mt19937_64 random(1);
  const auto ask = [&] {
    const std::uint64_t keys = random() % 100 < hot ? kKeys / 100 : kKeys;
    const int size = std::snprintf(text.data(), text.size(), "k%llu",
                                   static_cast<unsigned long long>(random() % keys));
    part.value = {text.data(), static_cast<std::size_t>(size)};
    const Steady::time_point before = Steady::now();
    table.CheckMany({&one, 1});
    return (Steady::now() - before).count();
  };
  for (int i = 0; i < 1'000'000 && table.Stats().blocks_in_use < kBlocks; ++i) {
    (void)ask();
  }
  std::vector<std::int64_t> took(decisions);
  for (std::int64_t& ns : took) {
    ns = ask();
  }
  std::ranges::sort(took);
  const auto at = [&](std::size_t per_mille) {
    return static_cast<double>(took[(took.size() - 1) * per_mille / 1000]) / 1000;
  };
  const TableStats stats = table.Stats();
  std::printf(
      "%-24s p50 %7.2f us  p99 %7.2f us  p99.9 %7.2f us  longest %8.2f us  in use %.1f %%\n", name,
      at(500), at(990), at(999), at(1000),
      100.0 * static_cast<double>(stats.blocks_in_use) / kBlocks);
}

}  // namespace
}  // namespace sluice::store

int main(int argc, char** argv) {
  using namespace sluice::store;  // NOLINT(google-build-using-namespace)
  using sluice::WhenFull;
  const std::size_t decisions =
      argc > 1 ? static_cast<std::size_t>(std::strtoull(argv[1], nullptr, 10)) : kDecisions;
  Measure("evict", WhenFull::kEvict, 0, decisions);
  Measure("evict, 90 % hot", WhenFull::kEvict, 90, decisions);
  Measure("deny", WhenFull::kDeny, 0, decisions);
  return 0;
}
