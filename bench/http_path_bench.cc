// What an HTTP check costs without the kernel: bytes through connection, parser, service and
// table to bytes, over a transport without sockets. Items and `allocs` are requests
// and their allocations; FrontEnd/16 is a turn of 16 pipelined ones. The pieces stand below the
// whole.
//
// Counting instructions is what a busy machine cannot disturb:
//   valgrind --tool=callgrind --toggle-collect='*::TakeTurn*' build/bench/bin/http_path_bench
//     --benchmark_filter=FrontEnd/16 --benchmark_min_time=0.1

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/clock.h"
#include "frontend/http/front_end.h"
#include "net/event_loop.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "store/table.h"
#include "support/counted_new.h"
#include "support/instant_transport.h"
#include "wire/check_json.h"
#include "wire/http1_parser.h"

namespace sluice::frontend::http {
namespace {

constexpr std::size_t kUsers = 10'000;
constexpr std::size_t kTurns = 512;  // Made before the clock runs.

constexpr std::string_view kRules = R"(
rules:
  - id: api_rate
    key_pattern: "user:{user_id}"
    algorithm: gcra
    rate: 1000000000
    window: 1m
)";

std::string RequestOf(std::size_t user) {
  char body[96];
  std::snprintf(body, sizeof body,
                R"({"user_id": "u_%05zu", "endpoint": "/v1/charges", "cost": 1})", user % kUsers);
  return "POST /v1/ratelimit/check HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
         "Content-Type: application/json\r\nContent-Length: " +
         std::to_string(std::strlen(body)) + "\r\n\r\n" + body;
}

// What a client sends in one go, again and again.
std::vector<std::string> TurnsOf(std::int64_t depth) {
  std::vector<std::string> turns(kTurns);
  std::size_t user = 0;
  for (std::string& turn : turns) {
    for (std::int64_t i = 0; i < depth; ++i) {
      turn += RequestOf(user);
      user += 7;
    }
  }
  return turns;
}

// Requests and allocations of the timed part, by request.
void Report(benchmark::State& state, std::int64_t depth, std::int64_t allocated) {
  const auto requests = static_cast<double>(state.iterations() * depth);
  state.SetItemsProcessed(state.iterations() * depth);
  state.counters["allocs"] = static_cast<double>(allocated) / requests;
}

void FrontEnd(benchmark::State& state) {
  const base::SystemClock clock;
  store::TableOptions options;
  options.keys = 100'000;
  auto table = store::Table::Create(options, clock);
  service::ServiceMetrics metrics;
  service::LimiterService service(**table, metrics);
  rules::Findings findings;
  const rules::SourceText source{.name = "bench", .text = std::string(kRules)};
  service.SetRules(rules::RuleSet::Build({&source, 1}, nullptr, findings));
  net::EventLoop loop;
  const telemetry::Registry registry;
  const Readiness readiness;
  http::FrontEnd front_end(loop, service, registry, readiness, clock, {});
  auto owned = std::make_unique<support::InstantTransport>();
  support::InstantTransport& wire = *owned;
  front_end.Accept(std::move(owned));

  const std::vector<std::string> turns = TurnsOf(state.range(0));
  for (const std::string& turn : turns) {  // Warm: every key is in the table.
    wire.TakeTurn(turn);
  }
  if (wire.status() != 200) {
    state.SkipWithError("the check should be allowed");
    return;
  }
  const std::int64_t before = support::AllocationsOfThisThread();
  std::size_t at = 0;
  for ([[maybe_unused]] auto _ : state) {
    wire.TakeTurn(turns[at++ % kTurns]);
  }
  Report(state, state.range(0), support::AllocationsOfThisThread() - before);
}

void Parse(benchmark::State& state) {
  const std::vector<std::string> turns = TurnsOf(state.range(0));
  wire::Http1Parser parser;
  parser.Append(turns[0]);
  while (parser.Next() == wire::Http1Parser::Event::kRequest) {
  }
  const std::int64_t before = support::AllocationsOfThisThread();
  for ([[maybe_unused]] auto _ : state) {
    parser.Append(turns[0]);
    while (parser.Next() == wire::Http1Parser::Event::kRequest) {
    }
  }
  Report(state, state.range(0), support::AllocationsOfThisThread() - before);
}

void Json(benchmark::State& state) {
  wire::CheckJson json;
  const std::string request = RequestOf(42);
  const std::string_view body = std::string_view(request).substr(request.find('{'));
  (void)json.Parse(body);
  const std::int64_t before = support::AllocationsOfThisThread();
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(json.Parse(body).has_value());
  }
  Report(state, 1, support::AllocationsOfThisThread() - before);
}

void Match(benchmark::State& state) {
  rules::Findings findings;
  const rules::SourceText source{.name = "bench", .text = std::string(kRules)};
  const auto set = rules::RuleSet::Build({&source, 1}, nullptr, findings);
  const std::vector<Attribute> attributes{{"user_id", "u_00042"}, {"endpoint", "/v1/charges"}};
  rules::Matches matches;
  const rules::ModeOverrides modes;
  (void)set->Match(attributes, Cost{1}, modes, matches);
  const std::int64_t before = support::AllocationsOfThisThread();
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(set->Match(attributes, Cost{1}, modes, matches).has_value());
  }
  Report(state, 1, support::AllocationsOfThisThread() - before);
}

BENCHMARK(FrontEnd)->Arg(1)->Arg(16);
BENCHMARK(Parse)->Arg(16);
BENCHMARK(Json);
BENCHMARK(Match);

}  // namespace
}  // namespace sluice::frontend::http

BENCHMARK_MAIN();
