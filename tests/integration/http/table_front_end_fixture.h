#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "frontend/http/front_end.h"
#include "integration/http/fake_transport.h"
#include "net/event_loop.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "signing/keyring.h"
#include "store/table.h"
#include "support/manual_clock.h"

namespace sluice::frontend::http {

// A front end over a table of its own and under a clock that the test owns: for what several
// requests after one another make of a key.
class TableFrontEndFixture : public testing::Test {
 protected:
  struct Reply {
    int status = 0;
    std::string head;
    std::string text;
    boost::json::value body;

    [[nodiscard]] const boost::json::object& object() const { return body.as_object(); }
    [[nodiscard]] std::string Text(std::string_view member) const {
      const boost::json::value* value = object().if_contains(member);
      return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
    }
    [[nodiscard]] std::int64_t Number(std::string_view member) const {
      const boost::json::value* value = object().if_contains(member);
      return value != nullptr && value->is_int64() ? value->as_int64() : -1;
    }
  };

  void SetUp() override {
    auto table = store::Table::Create(
        {.path = {}, .keys = 2'000, .blocks = 2'000, .huge_pages = false}, clock_);
    ASSERT_TRUE(table.has_value());
    table_ = *std::move(table);
    service_ = std::make_unique<service::LimiterService>(*table_, metrics_);
    keys_ = std::make_unique<signing::Keyring>(signing::Derive(table_->secret(), ""), clock_);
    OpenFrontEnd({});
  }
  void OpenFrontEnd(FrontEndSettings settings) {
    client_.reset();
    settings.keys = keys_.get();
    front_end_ =
        std::make_unique<FrontEnd>(loop_, *service_, registry_, readiness_, clock_, settings);
  }
  void TearDown() override {
    client_.reset();
    front_end_.reset();
  }

  void Load(std::string_view rules) {
    rules::Findings findings;
    const rules::SourceText source{.name = "rules.yaml", .text = std::string(rules)};
    auto set = rules::RuleSet::Build({&source, 1}, service_->Rules().get(), findings);
    ASSERT_NE(set, nullptr) << findings.errors.front().Text();
    service_->SetRules(std::move(set));
  }

  static std::string RequestText(std::string_view method, std::string_view target,
                                 std::string_view body, std::string_view fields = "") {
    std::string request(method);
    request.append(" ").append(target).append(" HTTP/1.1\r\nHost: h\r\n").append(fields);
    request.append("Content-Type: application/json\r\n");
    request.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
    return request.append(body);
  }

  Reply Send(std::string_view method, std::string_view target, std::string_view body,
             std::string_view fields = "") {
    if (client_ == nullptr || client_->closed()) {
      client_ = std::make_unique<net::FakeClient>(loop_);
      front_end_->Accept(client_->MakeTransport());
    }
    client_->received().clear();
    client_->Send(RequestText(method, target, body, fields));
    Turn();
    return ReplyIn(client_->received());
  }
  Reply Post(std::string_view verb, std::string_view body, std::string_view fields = "") {
    return Send("POST", "/v1/ratelimit/" + std::string(verb), body, fields);
  }
  Reply Check(std::string_view body, std::string_view fields = "") {
    return Post("check", body, fields);
  }

  void Turn() {
    while (loop_.Poll() > 0) {
    }
  }

  static Reply ReplyIn(const std::string& received) {
    Reply reply;
    const std::size_t end = received.find("\r\n\r\n");
    if (!received.starts_with("HTTP/1.1 ") || end == std::string::npos) {
      return reply;
    }
    reply.status = std::stoi(received.substr(9, 3));
    reply.head = received.substr(0, end);
    reply.text = received.substr(end + 4);
    boost::json::error_code error;
    reply.body = boost::json::parse(reply.text, error);
    return reply;
  }

  support::ManualClock clock_;
  std::unique_ptr<store::Table> table_;
  service::ServiceMetrics metrics_;
  std::unique_ptr<service::LimiterService> service_;
  std::unique_ptr<signing::Keyring> keys_;
  telemetry::Registry registry_;
  Readiness readiness_;
  net::EventLoop loop_;
  std::unique_ptr<FrontEnd> front_end_;
  std::unique_ptr<net::FakeClient> client_;
};

}  // namespace sluice::frontend::http
