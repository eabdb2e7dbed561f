#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frontend/http/front_end.h"
#include "net/event_loop.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "store/table.h"
#include "support/counted_new.h"
#include "support/instant_transport.h"
#include "support/manual_clock.h"

// From the bytes of a request to the bytes of its answer, through connection, parser, service
// and a real table, once everything is warm.
namespace sluice::frontend::http {
namespace {

constexpr std::string_view kRules = R"(
rules:
  - id: api_rate_of_a_user_by_plan
    key_pattern: "user:{user_id}"
    algorithm: gcra
    rate: 1000
    window: 1h
    plans:
      - match: {plan: enterprise}
        rate: 10000
  - id: charges
    match: {endpoint: "/v1/charges*"}
    key_pattern: "user:{user_id}:{endpoint}"
    algorithm: sliding_window_log
    limit: 200
    window: 1m
)";

std::string CheckOf(int user) {
  const std::string body = R"({"user_id": "a_user_whose_name_is_no_short_string_)" +
                           std::to_string(user) +
                           R"(", "endpoint": "/v1/charges", "plan": "enterprise", "cost": 1})";
  return "POST /v1/ratelimit/check HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string StatusOf(int user) {
  return "GET /v1/ratelimit/status/a_user_whose_name_is_no_short_string_" + std::to_string(user) +
         "?plan=pro&endpoint=%2Fv1%2Fcharges HTTP/1.1\r\nHost: h\r\n\r\n";
}

class HttpAllocationTest : public testing::Test {
 protected:
  HttpAllocationTest() {
    rules::Findings findings;
    const rules::SourceText source{.name = "rules.yaml", .text = std::string(kRules)};
    service_.SetRules(rules::RuleSet::Build({&source, 1}, nullptr, findings));
    EXPECT_TRUE(findings.errors.empty());
    front_end_.Accept(std::unique_ptr<net::Transport>(client_));
  }

  // Allocations of sending `turns` in turn, again and again, after they all went once or more.
  std::int64_t Allocations(const std::vector<std::string>& turns) {
    constexpr int kWarm = 3;
    constexpr int kRounds = 10;
    std::int64_t before = 0;
    for (int round = 0; round < kWarm + kRounds; ++round) {
      if (round == kWarm) {
        before = support::AllocationsOfThisThread();
      }
      for (const std::string& turn : turns) {
        client_->TakeTurn(turn);
        clock_.Advance(std::chrono::milliseconds(1));
      }
    }
    return support::AllocationsOfThisThread() - before;
  }

  support::ManualClock clock_;
  std::unique_ptr<store::Table> table_ = std::move(*store::Table::Create(
      {.path = "", .keys = 10'000, .blocks = 10'000, .huge_pages = false}, clock_));
  service::ServiceMetrics metrics_;
  service::LimiterService service_{*table_, metrics_};
  net::EventLoop loop_;
  telemetry::Registry registry_;
  Readiness readiness_;
  FrontEnd front_end_{loop_, service_, registry_, readiness_, clock_, {}};
  support::InstantTransport* client_ = new support::InstantTransport;  // The front end's, later.
};

TEST_F(HttpAllocationTest, AnAllowedCheckAllocatesNothing) {
  std::vector<std::string> turns;
  for (int user = 0; user < 60; ++user) {
    turns.push_back(CheckOf(user));
  }
  EXPECT_EQ(Allocations(turns), 0);
  EXPECT_EQ(client_->status(), 200);
}

TEST_F(HttpAllocationTest, ADeniedCheckAllocatesNothing) {
  std::vector<std::string> turns(250, CheckOf(1));
  EXPECT_EQ(Allocations(turns), 0);
  EXPECT_EQ(client_->status(), 429);
}

TEST_F(HttpAllocationTest, PipelinedChecksAllocateNothing) {
  std::vector<std::string> turns(8);
  for (int i = 0; i < 8 * 16; ++i) {
    turns[static_cast<std::size_t>(i / 16)] += CheckOf(i);
  }
  EXPECT_EQ(Allocations(turns), 0);
  EXPECT_EQ(client_->status(), 200);
}

TEST_F(HttpAllocationTest, AStatusAllocatesNothing) {
  EXPECT_EQ(Allocations({CheckOf(1), StatusOf(1), StatusOf(2)}), 0);
  EXPECT_EQ(client_->status(), 200);
}

}  // namespace
}  // namespace sluice::frontend::http
