#include "replay/events.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace sluice::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EventsTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::string Run(const std::string& events) {
    std::istringstream in(events);
    std::ostringstream out;
    std::ostringstream err;
    exit_code_ =
        RunEvents({.rules_file = (folder_ / "rules.yaml").string(), .keys = 64}, in, out, err);
    errors_ = err.str();
    return out.str();
  }

  const std::string window_ =
      "rules:\n  - {id: r, key_pattern: \"user:{user_id}\", algorithm: fixed_window, limit: 2, "
      "window: 1m}\n";
  int exit_code_ = -1;
  std::string errors_;

 private:
  const support::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(EventsTest, PrintsTheAnswerToTheLetter) {
  Write("rules.yaml", window_);
  EXPECT_EQ(
      Run("{\"t_ms\": 60000, \"user_id\": \"a\"}\n"
          "{\"t_ms\": 61000, \"user_id\": \"a\", \"cost\": 3}\n"
          "{\"t_ms\": 62000}\n"),
      "{\"t_ns\": 60000000000, \"allowed\": true, \"limit\": 2, \"remaining\": 1, "
      "\"retry_after_ns\": 0, \"reset_after_ns\": 60000000000, \"wait_ns\": 0, \"decisions\": "
      "[{\"name\": \"r\", \"allowed\": true, \"limit\": 2, \"remaining\": 1, \"retry_after_ns\": "
      "0, "
      "\"reset_after_ns\": 60000000000, \"wait_ns\": 0, \"reason\": \"\", \"shadow\": false}]}\n"
      "{\"t_ns\": 61000000000, \"allowed\": false, \"limit\": 2, \"remaining\": 1, "
      "\"retry_after_ns\": null, \"reset_after_ns\": 59000000000, \"wait_ns\": 0, \"decisions\": "
      "[{\"name\": \"r\", \"allowed\": false, \"limit\": 2, \"remaining\": 1, \"retry_after_ns\": "
      "null, \"reset_after_ns\": 59000000000, \"wait_ns\": 0, \"reason\": "
      "\"cost_exceeds_capacity\", \"shadow\": false}]}\n"
      "{\"t_ns\": 62000000000, \"allowed\": true, \"limit\": null, \"remaining\": null, "
      "\"retry_after_ns\": 0, \"reset_after_ns\": 0, \"wait_ns\": 0, \"decisions\": []}\n");
  EXPECT_EQ(exit_code_, 0);
  EXPECT_EQ(errors_, "");
}

TEST_F(EventsTest, PeeksRefundsResetsAndSweeps) {
  Write("rules.yaml", window_);
  const std::string out =
      Run("{\"t_ms\": 60000, \"user_id\": \"a\", \"cost\": 2}\n"
          "{\"t_ms\": 60000, \"op\": \"refund\", \"user_id\": \"a\", \"cost\": 1}\n"
          "{\"t_ms\": 60000, \"op\": \"sweep\"}\n"
          "{\"t_ms\": 60000, \"op\": \"peek\", \"user_id\": \"a\"}\n"
          "{\"t_ms\": 60000, \"op\": \"reset\", \"user_id\": \"a\"}\n"
          "{\"t_ms\": 60000, \"op\": \"peek\", \"user_id\": \"a\"}\n");
  std::istringstream lines(out);
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr("\"remaining\": 0"));
  std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr("\"remaining\": 1"));
  std::getline(lines, line);
  EXPECT_THAT(line, HasSubstr("\"remaining\": 2"));
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(EventsTest, ABadLineIsCalledBadAndChangesNothingNotEvenTheClock) {
  Write("rules.yaml", window_);
  const std::string out =
      Run("{\"t_ms\": 5, \"op\": \"free\", \"hold\": 1}\n"  // No such op: not where time begins.
          "{\"t_ms\": 60000, \"user_id\": \"a\", \"cost\": 2}\n"
          "\n"
          "{\"t_ms\": 999000, \"user_id\": \"a\", \"cost\": -1}\n"
          "no json \"at\" all\n"
          "{\"t_ms\": 61000, \"op\": \"peek\", \"user_id\": \"a\"}\n");
  EXPECT_THAT(out, HasSubstr("{\"line\": 1, \"error\": \"unknown op"));
  EXPECT_THAT(out, HasSubstr("{\"line\": 4, \"error\": \"`cost` must not be negative"));
  EXPECT_THAT(out, HasSubstr("{\"line\": 5, \"error\": \""));
  EXPECT_THAT(out, HasSubstr("{\"t_ns\": 61000000000, \"allowed\": false, \"limit\": 2, "
                             "\"remaining\": 0, \"retry_after_ns\": 59000000000"));
  EXPECT_EQ(exit_code_, 0);
}

TEST_F(EventsTest, ARequestThatARuleCannotJudgeIsABadLine) {
  Write(
      "rules.yaml",
      "rules:\n  - {id: r, key_pattern: \"user:{user_id}\", algorithm: gcra, rate: 9, window: 1m, "
      "cost: tokens}\n");
  EXPECT_THAT(Run("{\"t_ms\": 1, \"user_id\": \"a\"}\n"), HasSubstr("{\"line\": 1, \"error\": \""));
}

TEST_F(EventsTest, AnOperatorNeedNotSayWhatACheckWouldCost) {
  Write("rules.yaml",
        "rules:\n  - {id: r, key_pattern: \"user:{user_id}\", algorithm: fixed_window, limit: 9, "
        "window: 1m, cost: tokens}\n");
  const std::string out =
      Run("{\"t_ms\": 1, \"user_id\": \"a\", \"tokens\": 9}\n"
          "{\"t_ms\": 1, \"op\": \"refund\", \"user_id\": \"a\", \"cost\": 2}\n"
          "{\"t_ms\": 1, \"op\": \"peek\", \"user_id\": \"a\", \"tokens\": 0}\n"
          "{\"t_ms\": 1, \"op\": \"reset\", \"user_id\": \"a\"}\n"
          "{\"t_ms\": 1, \"op\": \"peek\", \"user_id\": \"a\", \"tokens\": 0}\n");
  EXPECT_EQ(out.find("error"), std::string::npos);
  EXPECT_THAT(out, HasSubstr("\"remaining\": 2"));
  EXPECT_THAT(out, HasSubstr("\"remaining\": 9"));
}

TEST_F(EventsTest, AHoldNeverGrantedIsNoBadLineAndTimeGoesOn) {
  Write("rules.yaml", window_);
  const std::string out =
      Run("{\"t_ms\": 60000, \"user_id\": \"a\", \"cost\": 2}\n"
          "{\"t_ms\": 70000, \"op\": \"release\", \"hold\": 1}\n"
          "{\"t_ms\": 50000, \"op\": \"peek\", \"user_id\": \"a\"}\n");
  EXPECT_EQ(out.find("error"), std::string::npos);
  EXPECT_THAT(errors_, HasSubstr("line 2: hold 1 was never granted"));
  EXPECT_THAT(out, HasSubstr("\"retry_after_ns\": 50000000000"));  // Ten seconds have passed.
}

TEST_F(EventsTest, ReleasesTheHoldsInTheOrderOfGranting) {
  Write(
      "rules.yaml",
      "rules:\n  - {id: slots, key_pattern: \"user:{user_id}\", algorithm: concurrency, limit: 1, "
      "hold_ttl: 1m}\n");
  Write("renamed.yaml",
        "rules:\n  - {id: places, formerly: slots, key_pattern: \"user:{user_id}\", algorithm: "
        "concurrency, limit: 1, hold_ttl: 1m}\n");
  const std::string out =
      Run("{\"t_ms\": 1, \"user_id\": \"a\"}\n"
          "{\"t_ms\": 1, \"user_id\": \"b\"}\n"
          "{\"t_ms\": 2, \"op\": \"release\", \"hold\": 2}\n"
          "{\"t_ms\": 2, \"op\": \"release\", \"hold\": 2}\n"  // Gone already: no matter.
          "{\"t_ms\": 3, \"op\": \"peek\", \"user_id\": \"a\"}\n"
          "{\"t_ms\": 3, \"op\": \"peek\", \"user_id\": \"b\"}\n"
          "{\"t_ms\": 4, \"op\": \"rules\", \"file\": \"renamed.yaml\"}\n"
          "{\"t_ms\": 5, \"op\": \"release\", \"hold\": 1}\n"  // Granted before the rename.
          "{\"t_ms\": 6, \"op\": \"peek\", \"user_id\": \"a\"}\n");
  EXPECT_THAT(out,
              HasSubstr("{\"t_ns\": 6000000, \"allowed\": true, \"limit\": 1, \"remaining\": 1"));
  EXPECT_THAT(out, HasSubstr("{\"t_ns\": 3000000, \"allowed\": false, \"limit\": 1, \"remaining\": "
                             "0, \"retry_after_ns\": null"));
  EXPECT_THAT(out, HasSubstr("{\"t_ns\": 3000000, \"allowed\": true"));
  EXPECT_EQ(out.find("error"), std::string::npos);
}

TEST_F(EventsTest, ReloadsRulesFromBesideTheFirstAndKeepsThemWhereTheNextDoNotLoad) {
  Write("rules.yaml", window_);
  Write("more.yaml",
        "rules:\n  - {id: r, key_pattern: \"user:{user_id}\", algorithm: fixed_window, limit: 5, "
        "window: 1m}\n");
  Write("bad.yaml", "rules:\n  - {id: r, limit: 5, perid: 1m}\n");
  const std::string out =
      Run("{\"t_ms\": 60000, \"user_id\": \"a\", \"cost\": 2}\n"
          "{\"t_ms\": 60000, \"op\": \"rules\", \"file\": \"more.yaml\"}\n"
          "{\"t_ms\": 60001, \"op\": \"rules\", \"file\": \"bad.yaml\"}\n"
          "{\"t_ms\": 60001, \"op\": \"rules\", \"file\": \"none.yaml\"}\n"
          "{\"t_ms\": 60002, \"op\": \"peek\", \"user_id\": \"a\"}\n");
  EXPECT_EQ(out.find("error"), std::string::npos);  // One answer a check or peek, no more.
  EXPECT_THAT(errors_, AllOf(HasSubstr("line 3: "), HasSubstr("bad.yaml:2:")));
  EXPECT_THAT(errors_, AllOf(HasSubstr("line 4: "), HasSubstr("none.yaml")));
  EXPECT_EQ(exit_code_, 0);
  EXPECT_THAT(out, HasSubstr("\"limit\": 5, \"remaining\": 3"));
}

TEST_F(EventsTest, DoesNotBeginWithRulesThatDoNotLoad) {
  Write("rules.yaml", "rules: 7\n");
  EXPECT_EQ(Run("{\"t_ms\": 60000, \"user_id\": \"a\"}\n"), "");
  EXPECT_EQ(exit_code_, 1);
  EXPECT_THAT(errors_, HasSubstr("rules.yaml:1:"));
}

TEST_F(EventsTest, WarnsWhereTheTableWasTooSmallToBeExact) {
  Write("rules.yaml", window_);
  std::string events;
  for (int i = 0; i < 2'000; ++i) {
    events += "{\"t_ms\": 60000, \"user_id\": " + std::to_string(i) + "}\n";
  }
  (void)Run(events);
  EXPECT_THAT(errors_, HasSubstr("the table was too small"));
}

}  // namespace
}  // namespace sluice::replay
