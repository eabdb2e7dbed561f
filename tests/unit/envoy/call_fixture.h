#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "envoy/rate_limit_service.h"
#include "store/table.h"
#include "support/late_store.h"
#include "support/manual_clock.h"
#include "support/rls_message.h"

namespace sluice::envoy {

using support::RlsDescriptorText;

// Envoy's service over a table, on a clock of the test's that stands at the beginning of a day.
class CallFixture : public testing::Test {
 protected:
  struct Call final : private service::CompletionOf<RateLimitCall>, RateLimitCall {
    Call() : RateLimitCall(static_cast<service::CompletionOf<RateLimitCall>&>(*this)) {}
    void OnCompleted(RateLimitCall& /*call*/) noexcept override { ++decided; }
    int decided = 0;
    wire::RlsRequest own;
    std::string bytes;
  };

  void Configure(const std::string& text, Settings settings = {}) {
    auto table = store::Table::Create({.path = "", .keys = 1000, .huge_pages = false}, clock_);
    ASSERT_TRUE(table) << table.error().Text();
    table_ = *std::move(table);
    service_ = std::make_unique<RateLimitService>(*table_, clock_, metrics_, std::move(settings),
                                                  nullptr, &insight_);
    pin_ = std::make_unique<ConfigurationPin>(*service_);
    if (!text.empty()) {
      Load(text);
    }
  }

  void Load(const std::string& text) {
    rules::Findings findings;
    auto configuration = Configuration::Read({{{.name = "f.yaml", .text = text}}}, {}, findings);
    ASSERT_NE(configuration, nullptr) << findings.errors.front().Text();
    service_->SetConfiguration(std::move(configuration));
  }

  Call& Ask(const std::vector<RlsDescriptorText>& descriptors, std::uint32_t hits = 0,
            const std::string& domain = "d") {
    Call& call = call_;
    call.bytes = support::RlsRequestMessage(domain, descriptors, hits);
    EXPECT_TRUE(call.own.Read(call.bytes));
    call.request = &call.own;
    call.decided = 0;
    RateLimitCall* const one = &call;
    service_->Decide({&one, 1}, *pin_);
    EXPECT_EQ(call.decided, 1);
    return call;
  }

  // What a request with one descriptor of one entry is answered.
  wire::RlsStatus AskOne(const std::string& key, const std::string& value, std::uint32_t hits = 0) {
    Call& call = Ask({{.entries = {{key, value}}}}, hits);
    EXPECT_EQ(call.failure, RateLimitCall::Failure::kNone) << call.failure_text;
    return call.response.statuses.at(0);
  }
  [[nodiscard]] bool IsOver(const Call& call) const {
    return call.response.overall_code == wire::RlsCode::kOverLimit;
  }

  support::ManualClock clock_;
  RateLimitMetrics metrics_;
  insight::Insight insight_{clock_};
  std::unique_ptr<store::Table> table_;
  std::unique_ptr<RateLimitService> service_;
  std::unique_ptr<ConfigurationPin> pin_;
  Call call_;
};

}  // namespace sluice::envoy
