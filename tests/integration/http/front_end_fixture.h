#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "frontend/http/front_end.h"
#include "integration/http/fake_transport.h"
#include "integration/http/pending_store.h"
#include "net/event_loop.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"

namespace sluice::frontend::http {

struct StoppedClock final : base::Clock {
  [[nodiscard]] base::ClockReading Read() const override {
    return {.boot = std::chrono::hours(1),
            .wall_clock = WallInstant(std::chrono::seconds(784'111'777))};
  }
};

// A front end over a store that the test answers for, and clients that it plays.
class FrontEndFixture : public testing::Test {
 protected:
  void MakeFrontEnd(FrontEndSettings settings = {}) {
    rules::Findings findings;
    const rules::SourceText source{.name = "rules.yaml", .text = R"(
rules:
  - id: r
    key_pattern: "user:{user_id}"
    algorithm: token_bucket
    rate: 1000000
    window: 1m
)"};
    auto set = rules::RuleSet::Build({&source, 1}, nullptr, findings);
    ASSERT_NE(set, nullptr);
    service_.SetRules(std::move(set));
    registry_.Add(metrics_);
    front_end_ = std::make_unique<FrontEnd>(loop_, service_, registry_, readiness_, clock_,
                                            std::move(settings));
  }

  std::unique_ptr<net::FakeClient> Connect() {
    auto client = std::make_unique<net::FakeClient>(loop_);
    front_end_->Accept(client->MakeTransport());
    Turn();
    return client;
  }

  // All that can happen without waiting.
  void Turn() {
    while (loop_.Poll() > 0) {
    }
  }

  static std::string Check(std::string_view body, std::string_view fields = "") {
    std::string request = "POST /v1/ratelimit/check HTTP/1.1\r\nHost: h\r\n";
    request.append(fields).append("Content-Length: ") += std::to_string(body.size());
    return request.append("\r\n\r\n").append(body);
  }
  static std::string CheckOf(int cost) {
    return Check(R"({"user_id": "u", "cost": )" + std::to_string(cost) + "}");
  }
  static std::string Get(std::string_view target, std::string_view method = "GET") {
    std::string request(method);
    return request.append(" ").append(target).append(" HTTP/1.1\r\nHost: h\r\n\r\n");
  }

  // The `remaining` of each answer in order: which request it belongs to.
  static std::vector<int> CostsIn(const std::string& received) {
    std::vector<int> costs;
    constexpr std::string_view kMark = R"({"allowed": true, "remaining": )";
    for (std::size_t at = received.find(kMark); at != std::string::npos;
         at = received.find(kMark, at + 1)) {
      costs.push_back(std::stoi(received.substr(at + kMark.size(), 12)));
    }
    return costs;
  }
  static std::vector<int> StatusesIn(const std::string& received) {
    std::vector<int> statuses;
    constexpr std::string_view kMark = "HTTP/1.1 ";
    for (std::size_t at = received.find(kMark); at != std::string::npos;
         at = received.find(kMark, at + 1)) {
      const std::string status = received.substr(at + kMark.size(), 3);
      if (status.find_first_not_of("0123456789") == std::string::npos) {  // No prose of a problem.
        statuses.push_back(std::stoi(status));
      }
    }
    return statuses;
  }

  net::EventLoop loop_;
  StoppedClock clock_;
  store::PendingStore store_;
  service::ServiceMetrics metrics_;
  service::LimiterService service_{store_, metrics_};
  telemetry::Registry registry_;
  Readiness readiness_;
  std::unique_ptr<FrontEnd> front_end_;
};

}  // namespace sluice::frontend::http
