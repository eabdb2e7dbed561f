#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "store/table.h"

// What one request of several checks costs, whole: all its slots found, locked, judged, written
// and unlocked. A thousand users, so that the cache holds them and the work itself shows; the
// batched single check beside it is table_bench's.
namespace {

using namespace sluice;  // NOLINT: a program of its own.

constexpr std::size_t kUsers = 1000;
constexpr std::size_t kMostChecks = 16;

struct Call final : store::CheckCall {
  void OnAnswered() noexcept override {}
};

// Argument: checks in the request, each of a rule of its own on the same user.
void BmRequest(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const base::SystemClock clock;
  const auto table = std::move(*store::Table::Create({.path = "", .keys = 100'000}, clock));
  std::vector<std::string> users;
  users.reserve(kUsers);
  for (std::size_t i = 0; i < kUsers; ++i) {
    users.push_back("user_" + std::to_string(i));
  }
  std::array<std::string, kMostChecks> rules;
  std::array<store::Check, kMostChecks> checks;
  std::array<store::CheckAnswer, kMostChecks> answers;
  core::KeyPart part{.attribute = "user_id", .value = {}};
  for (std::size_t i = 0; i < count; ++i) {
    rules[i] = "rule_" + std::to_string(i);
    checks[i].key = {.rule = rules[i], .formerly = {}, .parts = {&part, 1}};
    checks[i].quota.algorithm = core::Algorithm::kGcra;
    checks[i].quota.limit = kMaxUnits / 1000;
    checks[i].quota.rate = kMaxUnits / 1000;
    checks[i].quota.window = std::chrono::seconds(1);
  }
  Call call;
  call.checks = {checks.data(), count};
  call.answers = {answers.data(), count};
  const std::array<store::CheckCall*, 1> batch{&call};
  std::size_t next = 0;
  for ([[maybe_unused]] auto _ : state) {
    part.value = users[next];
    next = next + 1 == kUsers ? 0 : next + 1;
    table->CheckMany(batch);
    benchmark::DoNotOptimize(answers);
  }
  state.counters["per_check"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(count),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BmRequest)->ArgName("checks")->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16);

}  // namespace

BENCHMARK_MAIN();
