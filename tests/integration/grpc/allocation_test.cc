#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "envoy/rate_limit_service.h"
#include "frontend/grpc/front_end.h"
#include "net/event_loop.h"
#include "service/limiter_service.h"
#include "store/table.h"
#include "support/counted_new.h"
#include "support/http2_client.h"
#include "support/instant_transport.h"
#include "support/manual_clock.h"
#include "support/rls_message.h"
#include "wire/grpc_message.h"

// From the bytes of a call to those of its answer, through HTTP/2, messages, Envoy's service and a
// real table, once everything is warm.
namespace sluice::frontend::grpc {
namespace {

constexpr const char* kConfig = R"(
domain: some_domain
descriptors:
  - key: remote_address
    rate_limit: {unit: hour, requests_per_unit: 30, name: a_name_that_is_no_short_string}
  - key: user
    descriptors:
      - key: path
        value: "/v1/*"
        rate_limit: {unit: minute, requests_per_unit: 1000}
)";

std::string Framed(const std::string& message) {
  std::string framed;
  const std::size_t begun = wire::BeginGrpcMessage(framed);
  framed += message;
  wire::EndGrpcMessage(framed, begun);
  return framed;
}

class GrpcAllocationTest : public testing::Test {
 protected:
  GrpcAllocationTest() {
    rules::Findings findings;
    rate_limits_.SetConfiguration(
        envoy::Configuration::Read({{{.name = "f", .text = kConfig}}}, {}, findings));
    EXPECT_TRUE(findings.errors.empty());
    front_end_.Accept(std::unique_ptr<net::Transport>(transport_));
  }

  support::ManualClock clock_;
  std::unique_ptr<store::Table> table_ =
      std::move(*store::Table::Create({.path = "", .keys = 10'000, .huge_pages = false}, clock_));
  service::ServiceMetrics metrics_;
  service::LimiterService service_{*table_, metrics_};
  envoy::RateLimitMetrics rate_limit_metrics_;
  envoy::RateLimitService rate_limits_{
      *table_, clock_, rate_limit_metrics_, {.response_headers = false}};
  net::EventLoop loop_;
  Health health_;
  FrontEnd front_end_{loop_, service_, &rate_limits_, health_, {}};
  support::InstantTransport* transport_ = new support::InstantTransport;  // The front end's, later.
};

// Allowed ones, and once 30 hits are spent, denied ones.
TEST_F(GrpcAllocationTest, ACallAllocatesNothing) {
  support::Http2Client client;
  const std::string body = Framed(support::RlsRequestMessage(
      "some_domain", {{.entries = {{"remote_address", "a client whose name is no short string"}}},
                      {.entries = {{"user", "u_42"}, {"path", "/v1/some/longer/path"}}}}));
  // A client may have 100 calls under way until it hears more.
  std::vector<std::string> turns;
  for (int i = 0; i < 90; ++i) {
    client.Ask("POST", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit", body,
               {{"content-type", "application/grpc"}, {"te", "trailers"}, {"grpc-timeout", "1S"}});
    turns.push_back(client.Output());
  }
  std::int64_t before = 0;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (i == 30) {
      EXPECT_EQ(support::AllocationsOfThisThread() - before, 0);
    }
    if (i == 10 || i == 40) {  // Warm: room for longer answers comes with the first denials.
      before = support::AllocationsOfThisThread();
    }
    transport_->TakeTurn(turns[i]);
  }
  EXPECT_EQ(support::AllocationsOfThisThread() - before, 0);
  EXPECT_EQ(rate_limit_metrics_.Read(envoy::CallResult::kOk), 30U);
  EXPECT_EQ(rate_limit_metrics_.Read(envoy::CallResult::kOverLimit), 60U);
}

}  // namespace
}  // namespace sluice::frontend::grpc
