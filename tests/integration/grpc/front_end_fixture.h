#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "envoy/rate_limit_service.h"
#include "frontend/grpc/front_end.h"
#include "integration/http/fake_transport.h"
#include "integration/http/pending_store.h"
#include "net/event_loop.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "support/http2_client.h"
#include "support/manual_clock.h"
#include "support/rls_message.h"
#include "wire/grpc_message.h"

namespace sluice::frontend::grpc {

inline constexpr const char* kShouldRateLimit =
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
inline constexpr const char* kHealthCheck = "/grpc.health.v1.Health/Check";
inline constexpr const char* kHealthWatch = "/grpc.health.v1.Health/Watch";
inline constexpr const char* kCheck = "/sluice.v1.RateLimit/Check";

// A front end over a store that answers when the test says so, and a client that the test plays.
class FrontEndFixture : public testing::Test {
 protected:
  using Client = support::Http2Client;

  void Open(FrontEndSettings settings = {}, envoy::Settings envoy_settings = {}) {
    rate_limits_ = std::make_unique<envoy::RateLimitService>(store_, clock_, rate_limit_metrics_,
                                                             std::move(envoy_settings));
    rules::Findings findings;
    auto configuration = envoy::Configuration::Read(
        {{{.name = "f",
           .text = "domain: d\ndescriptors:\n- key: k\n  rate_limit: {unit: minute, "
                   "requests_per_unit: 1000000}\n"}}},
        {}, findings);
    ASSERT_NE(configuration, nullptr);
    rate_limits_->SetConfiguration(std::move(configuration));
    const rules::SourceText source{
        .name = "r",
        .text =
            "rules: [{id: api, key_pattern: 'u:{user}', algorithm: gcra, rate: 9, window: 1s}]"};
    auto rules = rules::RuleSet::Build({&source, 1}, nullptr, findings);
    ASSERT_NE(rules, nullptr);
    service_.SetRules(std::move(rules));
    settings.health_service = "ratelimit";
    health_.Set(true);
    front_end_ = std::make_unique<FrontEnd>(loop_, service_, rate_limits_.get(), health_,
                                            std::move(settings));
    Connect();
  }

  void Connect() {
    client_ = std::make_unique<Client>();
    peer_ = std::make_unique<net::FakeClient>(loop_);
    front_end_->Accept(peer_->MakeTransport());
    Turn();
  }

  void Turn() {
    while (loop_.Poll() > 0) {
    }
  }

  // What the client has to say, the server's turn, what it answers, until all is said.
  void Exchange() {
    for (;;) {
      const std::string up = client_->Output();
      if (!up.empty() && !peer_->closed()) {
        peer_->Send(up);
      }
      Turn();
      const std::string down = std::exchange(peer_->received(), {});
      if (!down.empty()) {
        EXPECT_TRUE(client_->Input(down));
      }
      if (up.empty() && down.empty()) {
        return;
      }
    }
  }

  // Waits, in turns of the loop, for what timers do.
  template <class Condition>
  void Until(const Condition& done) {
    while (!done()) {
      loop_.RunOne();
      Exchange();
    }
  }

  static std::string Framed(const std::string& message, bool compressed = false) {
    std::string framed;
    const std::size_t begun = wire::BeginGrpcMessage(framed);
    framed += message;
    wire::EndGrpcMessage(framed, begun);
    framed[0] = compressed ? '\1' : '\0';
    return framed;
  }

  std::int32_t Call(const std::string& path, const std::string& body, Client::Fields fields = {}) {
    fields.insert(fields.begin(), {{"content-type", "application/grpc"}, {"te", "trailers"}});
    return client_->Ask("POST", path, body, fields);
  }
  std::int32_t AskRls(std::uint32_t hits = 1) {
    return Call(kShouldRateLimit,
                Framed(support::RlsRequestMessage("d", {{.entries = {{"k", "v"}}}}, hits)));
  }

  const Client::Answer& AnswerOf(std::int32_t stream) { return client_->answers[stream]; }
  // The grpc-status of a call that ended; "" of one that did not.
  std::string StatusOf(std::int32_t stream) {
    const Client::Answer& answer = AnswerOf(stream);
    if (!answer.ended) {
      return "";
    }
    const auto& where = answer.trailers.contains("grpc-status") ? answer.trailers : answer.fields;
    return where.contains("grpc-status") ? where.at("grpc-status") : "none";
  }
  std::string MessageOf(std::int32_t stream) { return AnswerOf(stream).body.substr(5); }

  net::EventLoop loop_;
  support::ManualClock clock_;
  store::PendingStore store_;
  service::ServiceMetrics metrics_;
  service::LimiterService service_{store_, metrics_};
  envoy::RateLimitMetrics rate_limit_metrics_;
  std::unique_ptr<envoy::RateLimitService> rate_limits_;
  Health health_;
  std::unique_ptr<FrontEnd> front_end_;
  std::unique_ptr<net::FakeClient> peer_;
  std::unique_ptr<Client> client_;
};

}  // namespace sluice::frontend::grpc
