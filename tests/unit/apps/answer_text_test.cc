#include "answer_text.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::app {
namespace {

TEST(AdminTextTest, UsageHasALineForEachLimit) {
  EXPECT_EQ(TellUsage(R"({"limits": [
      {"path": "d.user", "unit": "YEAR", "limit": 3, "remaining": 1, "allowed": true,
       "retry_after_ms": 0},
      {"path": "d.user", "unit": "SECOND", "limit": 1, "remaining": 0, "allowed": false,
       "retry_after_ms": 401},
      {"path": "d.none", "unit": "DAY", "limit": 0, "remaining": 0, "allowed": false,
       "retry_after_ms": null}]})"),
            "d.user: 1 of 3 per year left\n"
            "d.user: 0 of 1 per second left, denied for 1 s more\n"
            "d.none: 0 of 0 per day left, denied\n");
  EXPECT_EQ(TellUsage(R"({"limits": []})"), "no limit applies to this descriptor\n");
}

TEST(AdminTextTest, UsageShowsNoControlCharactersOfAClient) {
  EXPECT_EQ(TellUsage(R"({"limits": [{"path": "d.\u001b[2J", "unit": "DAY", "limit": 2,
                                      "remaining": 2, "allowed": true, "retry_after_ms": 0}]})"),
            "d.\\x1b[2J: 2 of 2 per day left\n");
}

TEST(AdminTextTest, WhatIsNoSuchAnswerStaysAsItIs) {
  EXPECT_EQ(TellUsage("{}"), "{}\n");
  EXPECT_EQ(TellKillSwitch("none"), "none\n");
}

TEST(AdminTextTest, TheKillSwitchIsSaid) {
  EXPECT_EQ(TellKillSwitch(R"({"on": false})"), "the kill switch is off: the rules are active\n");
  EXPECT_EQ(TellKillSwitch(R"({"on": true})"),
            "the kill switch is on: every request is allowed, nothing is counted\n");
  const auto answer = TellAnswer(R"({"allowed": true, "kill_switch": true, "limits": []})", 0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "allowed: the kill switch is on\n");
}

}  // namespace
}  // namespace sluice::app
