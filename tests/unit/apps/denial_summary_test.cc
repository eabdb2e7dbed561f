#include "denial_summary.h"

#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "net/event_loop.h"

namespace sluice::app {
namespace {

using testing::HasSubstr;

class DenialSummaryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out_));
    logger->set_pattern("%! %v");
    spdlog::set_default_logger(logger);
  }
  void TearDown() override { spdlog::set_default_logger(before_); }

  // The lines of an interval, without line feeds at their end.
  std::string Lines() {
    out_.str("");
    summary_.Write();
    return out_.str();
  }

  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream out_;
  net::EventLoop loop_;
  std::map<std::string, DenialSummary::Counts> counts_;
  std::optional<DenialSummary::TopKey> top_;
  DenialSummary summary_{loop_, std::chrono::seconds(60),
                         [this](const DenialSummary::TakeCounts& take) {
                           for (const auto& [rule, counts] : counts_) {
                             take(rule, counts);
                           }
                         },
                         [this](std::string_view) { return top_; }};
};

TEST_F(DenialSummaryTest, AFloodIsOneLineARuleAndInterval) {
  counts_["api"] = {.allowed = 10, .denied = 100'000};
  counts_["login"] = {.allowed = 0, .denied = 1};
  counts_["quiet"] = {.allowed = 500, .denied = 0};
  EXPECT_EQ(Lines(),
            "denials rule api denied 100000 of 100010 requests within 1m"
            "\x1e, \"rule\": \"api\", \"denied\": 100000, \"allowed\": 10\n"
            "denials rule login denied 1 of 1 requests within 1m"
            "\x1e, \"rule\": \"login\", \"denied\": 1, \"allowed\": 0\n");
}

TEST_F(DenialSummaryTest, AnIntervalWithoutADenialHasNoLine) {
  counts_["api"] = {.allowed = 10, .denied = 7};
  EXPECT_NE(Lines(), "");
  counts_["api"].allowed = 20;
  EXPECT_EQ(Lines(), "");
  counts_["api"].denied = 9;
  counts_["api"].allowed = 21;
  EXPECT_THAT(Lines(), HasSubstr("rule api denied 2 of 3 requests"));
}

TEST_F(DenialSummaryTest, ARuleThatCameAgainStartsAnew) {
  counts_["api"] = {.allowed = 10, .denied = 7};
  (void)Lines();
  counts_.clear();
  EXPECT_EQ(Lines(), "");
  counts_["api"] = {.allowed = 0, .denied = 3};
  EXPECT_THAT(Lines(), HasSubstr("rule api denied 3 of 3 requests"));
}

TEST_F(DenialSummaryTest, SaysWhichKeyWasDeniedMost) {
  counts_["api"] = {.allowed = 0, .denied = 8};
  top_ = DenialSummary::TopKey{.key = "user_id=u\x1b_42", .share = 0.375};
  const std::string line = Lines();
  EXPECT_THAT(line, HasSubstr("within 1m; most of user_id=u\\x1b_42 (38 %)"));
  EXPECT_THAT(line, HasSubstr(R"("top_key": "user_id=u\u001b_42", "top_share": 0.375)"));
}

TEST_F(DenialSummaryTest, WhatWasDeniedLastIsSaidAtTheEnd) {
  summary_.Start();
  counts_["api"] = {.allowed = 0, .denied = 1};
  summary_.Stop();
  EXPECT_THAT(out_.str(), HasSubstr("rule api denied 1 of 1"));
}

}  // namespace
}  // namespace sluice::app
