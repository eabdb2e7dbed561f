#include "control/log_event.h"

#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace sluice::control {
namespace {

TEST(LogEventTest, ALineHasItsTextAndItsFields) {
  const std::string line = JoinLine(
      "the rules are invalid", {{"rule", "api\"x"}, {"errors", std::uint64_t{3}}, {"share", 0.25}});
  const LogLine parts = SplitLine(line);
  EXPECT_EQ(parts.text, "the rules are invalid");
  EXPECT_EQ(parts.members, R"(, "rule": "api\"x", "errors": 3, "share": 0.25)");
}

TEST(LogEventTest, ATextThatQuotesASeparatorMakesNoField) {
  const std::string line =
      JoinLine("peer \x1e, \"rule\": \"forged\"", {{"peer", "\x1e, \"a\": 1"}});
  EXPECT_EQ(SplitLine(line).text, "peer \x1e, \"rule\": \"forged\"");
  EXPECT_EQ(SplitLine(line).members, R"(, "peer": "\u001e, \"a\": 1")");
}

TEST(LogEventTest, TheLoggerHasTheNameOfTheEvent) {
  std::ostringstream out;
  auto logger = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  logger->set_pattern("%l %! %v");
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(logger);
  LogEvent(spdlog::level::warn, "rules_invalid", "a text with {}", {{"rule", "api"}});
  LogEvent(spdlog::level::debug, "not_logged", "below the level");
  spdlog::set_default_logger(before);
  EXPECT_EQ(out.str(), "warning rules_invalid a text with {}\x1e, \"rule\": \"api\"\n");
}

}  // namespace
}  // namespace sluice::control
