// Retry-After tells the truth: over the real table under a clock of the test's own. And the
// same table, made to answer late and out of order, behind a front end.

#include <random>

#include <gmock/gmock.h>

#include "frontend/http/front_end.h"
#include "frontend/http/limit_headers.h"
#include "integration/http/fake_transport.h"
#include "net/event_loop.h"
#include "store/table.h"
#include "support/late_store.h"
#include "support/manual_clock.h"

namespace sluice::frontend::http {
namespace {

constexpr const char* kRules = R"(
rules:
  - {id: bucket, match: {kind: bucket}, key_pattern: "{u}", algorithm: token_bucket, rate: 7, window: 30s, burst: 20}
  - {id: window, match: {kind: window}, key_pattern: "{u}", algorithm: fixed_window, limit: 9, window: 45s}
  - {id: log, match: {kind: log}, key_pattern: "{u}", algorithm: sliding_window_log, limit: 8, window: 20s}
  - {id: sliding, match: {kind: sliding}, key_pattern: "{u}", algorithm: sliding_window, limit: 11, window: 40s}
)";

std::shared_ptr<const rules::RuleSet> BuildRules() {
  rules::Findings findings;
  const rules::SourceText source{.name = "rules.yaml", .text = kRules};
  return rules::RuleSet::Build({&source, 1}, nullptr, findings);
}

struct Asked final : service::Completion {
  void OnCompleted(service::Operation& /*operation*/) noexcept override {
    allowed = check.verdict.allowed;
    seconds = RetryAfterSeconds(check.verdict, 0);
  }
  service::Operation operation{*this};
  service::RuleCheck& check = operation.Ask<service::RuleCheck>();
  bool allowed = false;
  std::optional<std::int64_t> seconds;
};

class RetryAfterTruthTest : public testing::Test {
 protected:
  void SetUp() override {
    auto table = store::Table::Create({.path = {}, .keys = 10'000}, clock_);
    ASSERT_TRUE(table);
    table_ = *std::move(table);
    set_ = BuildRules();
    ASSERT_NE(set_, nullptr);
  }

  support::ManualClock clock_;
  std::unique_ptr<store::Table> table_;
  std::shared_ptr<const rules::RuleSet> set_;
  service::ServiceMetrics metrics_;
};

// A lone caller that waits as long as it was told passes; one that comes a second sooner does
// not. Each denied state is tried both ways, the early way by a peek, which changes nothing.
TEST_F(RetryAfterTruthTest, ALoneCallerThatWaitsAsToldPassesAndASecondSoonerDoesNot) {
  service::LimiterService service(*table_, metrics_);
  service.SetRules(set_);
  std::mt19937 random(16);  // NOLINT(bugprone-random-generator-seed): the same every time.
  const char* const kinds[] = {"bucket", "window", "log", "sliding"};
  int denied = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::string kind = kinds[step % 4];
    const Attribute attributes[] = {{"kind", kind}, {"u", "a"}};
    Asked asked;
    asked.check.attributes = attributes;
    asked.check.cost = Cost{.units = 1 + static_cast<Units>(random() % 6)};
    service.Submit(asked.operation);
    if (asked.allowed) {
      EXPECT_EQ(asked.seconds, std::nullopt);
      clock_.Advance(Duration(random() % 3'000'000'000));
      continue;
    }
    ++denied;
    ASSERT_TRUE(asked.seconds && *asked.seconds >= 1);
    const Duration told = std::chrono::seconds(*asked.seconds);
    if (*asked.seconds > 1) {
      clock_.Advance(told - std::chrono::seconds(1));
      Asked early;
      early.check.attributes = attributes;
      early.check.cost = asked.check.cost;
      early.check.peek = true;
      service.Submit(early.operation);
      ASSERT_FALSE(early.allowed) << kind << " step " << step;
      clock_.Advance(std::chrono::seconds(1));
    } else {
      clock_.Advance(told);
    }
    Asked again;
    again.check.attributes = attributes;
    again.check.cost = asked.check.cost;
    service.Submit(again.operation);
    ASSERT_TRUE(again.allowed) << kind << " step " << step << " told " << *asked.seconds;
  }
  EXPECT_GT(denied, 1'000);
}

TEST_F(RetryAfterTruthTest, RepliesKeepTheirOrderOverATableThatAnswersLateAndOutOfOrder) {
  support::LateStore late(*table_, 7);
  service::LimiterService service(late, metrics_);
  service.SetRules(set_);
  net::EventLoop loop;
  const telemetry::Registry registry;
  const Readiness readiness;
  FrontEnd front_end(loop, service, registry, readiness, clock_, {});
  const auto turn = [&] {
    while (loop.Poll() > 0) {
    }
  };
  net::FakeClient client(loop);
  front_end.Accept(client.MakeTransport());
  std::string requests;
  for (int i = 0; i < 50; ++i) {  // Each user's window has 9: `cost` marks the reply.
    const std::string body = R"({"kind": "window", "u": "u)" + std::to_string(i) +
                             R"(", "cost": )" + std::to_string(i % 9) + "}";
    requests += "POST /v1/ratelimit/check HTTP/1.1\r\nHost: h\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  client.Send(requests);
  turn();
  while (late.Pump()) {
    turn();
  }
  std::size_t at = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string mark = R"({"allowed": true, "remaining": )";
    at = client.received().find(mark, at);
    ASSERT_NE(at, std::string::npos) << i;
    at += mark.size();
    ASSERT_EQ(std::stoi(client.received().substr(at, 4)), 9 - i % 9) << i;
  }
  EXPECT_EQ(front_end.exchanges_in_use(), 0U);
}

}  // namespace
}  // namespace sluice::frontend::http
