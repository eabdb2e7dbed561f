// What it costs to find the rules of a request, by the number of rules in force. In each set
// exactly one rule applies, so that rows differ only in how many others there are: 1,000 rules
// must not be slower than 10.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "rules/rule_set.h"

namespace sluice::rules {
namespace {

constexpr std::array<Attribute, 5> kRequest{{{"user_id", "u_42"},
                                             {"method", "POST"},
                                             {"endpoint", "/v1/charges/3/refund"},
                                             {"ip", "10.0.3.7"},
                                             {"plan", "enterprise"}}};

// Rule number 3 is the one that applies; the others have values of their own.
std::string MatchOf(const std::string& kind, std::int64_t i) {
  const std::string n = std::to_string(i);
  if (kind == "exact") {
    return i == 3 ? "{method: POST, endpoint: /v1/charges/3/refund}"
                  : "{method: POST, endpoint: /v1/charges/" + n + "/refund}";
  }
  if (kind == "prefix") {
    return "{method: POST, endpoint: '/v1/charges/" + n + "/*'}";
  }
  if (kind == "cidr") {
    return "{ip: {cidr: 10." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ".0/24}}";
  }
  return "{endpoint: {regex: '/v[0-9]+/charges/" + n + "/.*'}}";
}

std::shared_ptr<const RuleSet> RulesOf(const std::string& kind, std::int64_t count) {
  std::string text = "rules:\n";
  for (std::int64_t i = 0; i < count; ++i) {
    text += "  - {id: r" + std::to_string(i) + ", match: " + MatchOf(kind, i) +
            ", key_pattern: 'user:{user_id}', algorithm: gcra, rate: 100, window: 1m}\n";
  }
  const std::vector<SourceText> sources{{"bench", text, false}};
  Findings findings;
  auto set = RuleSet::Build(sources, nullptr, findings);
  if (set == nullptr) {
    std::fprintf(stderr, "%s\n", findings.errors.front().Text().c_str());
    std::abort();
  }
  return set;
}

void Match(benchmark::State& state, const std::string& kind) {
  const auto set = RulesOf(kind, state.range(0));
  Matches matches;
  const ModeOverrides modes;
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(set->Match(kRequest, Cost{1}, modes, matches).has_value());
  }
  if (matches.applied().size() != 1) {
    state.SkipWithError("one rule should apply");
  }
}

BENCHMARK_CAPTURE(Match, exact, "exact")->Arg(10)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(Match, prefix, "prefix")->Arg(10)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(Match, cidr, "cidr")->Arg(10)->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(Match, regex, "regex")->Arg(10)->Arg(1000);

}  // namespace
}  // namespace sluice::rules

BENCHMARK_MAIN();
