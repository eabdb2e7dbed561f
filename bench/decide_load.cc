// Decides COUNT requests of 64 users by the rules of a file, in this process, under a clock that
// goes on by a fixed step for each. So the same arguments always give the same work:
// instructions.py counts the instructions of two numbers of requests, and their difference is the
// cost of one.
//
//   build/bench/bin/decide_load RULES.yaml COUNT [seen]
//
// Holds are given back at once. With `seen` each request is recorded for operators, as a daemon
// does (src/insight/), by a thread that decides a million a second. The nanoseconds of a request
// are printed as well, for a comparison of both in one run.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "store/table.h"
#include "support/manual_clock.h"

namespace {

using namespace sluice;  // NOLINT: a program of its own.

constexpr std::uint64_t kUsers = 64;
constexpr std::uint64_t kPerTick = 250'000;
constexpr auto kStep = std::chrono::milliseconds(3);

struct Release final : store::HoldCall {
  void OnAnswered() noexcept override {}
};

class Check final : public service::Completion {
 public:
  explicit Check(store::KeyStore& store) : store_(&store) {}

  void OnCompleted(service::Operation& /*operation*/) noexcept override {
    allowed += check.verdict.allowed ? 1 : 0;
    for (const service::RuleDecision& made : check.verdict.decisions) {
      if (made.hold != 0) {
        release_.key = {.rule = made.rule->id, .formerly = {}, .parts = made.parts};
        release_.quota = made.quota;
        release_.hold = made.hold;
        store_->Release(release_);
      }
    }
  }

  service::Operation operation{*this};
  service::RuleCheck& check = operation.Ask<service::RuleCheck>();
  std::uint64_t allowed = 0;

 private:
  store::KeyStore* store_;
  Release release_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool is_seen = argc == 4 && std::string_view(argv[3]) == "seen";
  if (argc != 3 && !is_seen) {
    std::fprintf(stderr, "usage: decide_load RULES.yaml COUNT [seen]\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);

  support::ManualClock clock;
  store::TableOptions options;
  options.keys = 1000;
  const auto table = std::move(*store::Table::Create(options, clock));
  service::ServiceMetrics metrics;
  insight::Insight insight(clock);
  service::LimiterService service(*table, metrics, nullptr, is_seen ? &insight : nullptr);
  rules::Findings findings;
  const rules::SourceText source{.name = argv[1], .text = text};
  auto rules = rules::RuleSet::Build({&source, 1}, nullptr, findings);
  if (rules == nullptr) {
    std::fprintf(stderr, "%s\n", findings.errors.front().Text().c_str());
    return 1;
  }
  service.SetRules(std::move(rules));

  std::vector<std::string> users;
  for (std::uint64_t i = 0; i < kUsers; ++i) {
    users.push_back("user_" + std::to_string(i));
  }
  Check check(*table);
  const auto decide = [&](std::uint64_t requests) {
    for (std::uint64_t i = 0; i < requests; ++i) {
      const Attribute attributes[] = {{"user_id", users[i % kUsers]}, {"endpoint", "/v1/charges"}};
      check.check.attributes = attributes;
      service.Submit(check.operation);
      clock.Advance(kStep);
      if (i % kPerTick == kPerTick - 1 && is_seen) {
        (void)insight.Tick();
      }
    }
  };
  if (is_seen) {
    decide(kPerTick);  // After it the rate of samples has settled.
  }
  const auto begun = std::chrono::steady_clock::now();
  decide(count);
  const auto took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun);
  std::printf("%llu allowed\n", static_cast<unsigned long long>(check.allowed));
  std::fprintf(stderr, "%.1f ns\n", static_cast<double>(took.count()) / static_cast<double>(count));
  return 0;
}
