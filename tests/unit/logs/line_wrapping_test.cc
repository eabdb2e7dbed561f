#include "logs/line_wrapping.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::logs {
namespace {

// "-" where the line is not wrapped so, "+" for a piece.
std::string Unwrapped(Unwrapper& unwrapper, std::string_view line) {
  std::string_view content;
  switch (unwrapper.Unwrap(line, content)) {
    case Unwrapper::Outcome::kLine:
      return std::string(content);
    case Unwrapper::Outcome::kPiece:
      return "+";
    case Unwrapper::Outcome::kOther:
      break;
  }
  return "-";
}
std::string Unwrapped(Wrapping wrapping, std::string_view line) {
  Unwrapper unwrapper(wrapping);
  return Unwrapped(unwrapper, line);
}

TEST(LineWrappingTest, TakesOffWhatSyslogWrites) {
  for (const std::string_view header : {
           "Mar 10 10:00:00 web1 nginx: ",
           "Mar  5 10:00:00 web1 nginx[12]: ",
           "Mar 10 10:00:00.123456 web1 nginx[12]: ",
           "Mar 10 2025 10:00:00 web1 nginx: ",
           "Mar 10 10:00:00 nginx: ",
           "Mar 10 10:00:00 web1 ",
           "<190>Mar 10 10:00:00 web1 nginx: ",
           "<190>Mar 10 10:00:00 nginx: ",
           "2025-03-10T10:00:00.123456+01:00 web1 nginx[12]: ",
           "2025-03-10T10:00:00Z app[web.1]: ",
           "<190>1 2025-03-10T10:00:00.003Z web1 nginx - - - ",
           "<190>1 2025-03-10T10:00:00Z web1 nginx 12 access [m x=\"a]\\\"b\"][n] ",
           "<190>1 - - - - - - \xEF\xBB\xBF",
           "1 2025-03-10T10:00:00Z web1 nginx 12 access - ",
           "131 <190>1 2025-03-10T10:00:00Z web1 nginx 12 access - ",
           "Mon 2025-03-10 10:00:00 UTC web1 nginx[12]: ",
       }) {
    EXPECT_EQ(Unwrapped(Wrapping::kSyslog, std::string(header) + "a line [x]: \"y\""),
              "a line [x]: \"y\"")
        << header;
  }
  for (const std::string_view other :
       {"", "192.0.2.1 - - [10/Mar/2025:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5",
        "Mar 10 10:00 web1 nginx: x", "March 10 10:00:00 web1 nginx: x",
        "2025-03-10T10:00:00Z {\"ts\": 1}", "2025-03-10T10:00:00Z stdout F x",
        "<190>1 2025-03-10T10:00:00Z web1 nginx 12 access [m x=\"a", "<1900>1 - - - - - - x"}) {
    EXPECT_EQ(Unwrapped(Wrapping::kSyslog, other), "-") << other;
  }
}

TEST(LineWrappingTest, TakesOffWhatContainerToolsWrite) {
  EXPECT_EQ(Unwrapped(Wrapping::kNames, "web-1  | a | b"), "a | b");
  EXPECT_EQ(Unwrapped(Wrapping::kNames, "web_1      | "), "");
  EXPECT_EQ(Unwrapped(Wrapping::kNames, "0|api  | a"), "a");
  EXPECT_EQ(Unwrapped(Wrapping::kNames, "\x1B[36mweb-1  | \x1B[0ma"), "a");
  EXPECT_EQ(Unwrapped(Wrapping::kNames, "{\"a\": | }"), "-");
  EXPECT_EQ(Unwrapped(Wrapping::kPod, "[pod/web-0/nginx] a"), "a");
  EXPECT_EQ(Unwrapped(Wrapping::kPod, "[2025-03-10T10:00:00.1Z] \"GET"), "-");
  EXPECT_EQ(Unwrapped(Wrapping::kTimestamp, "2025-03-10T10:00:00.123456789Z a b"), "a b");
  EXPECT_EQ(Unwrapped(Wrapping::kTimestamp, "2025-03-10T10:00:00.123+01:00 a"), "a");
  EXPECT_EQ(Unwrapped(Wrapping::kTimestamp, "2025-03-10 10:00:00 a"), "-");
}

TEST(LineWrappingTest, JoinsThePiecesOfALineOfEachStream) {
  Unwrapper cri(Wrapping::kCri);
  EXPECT_EQ(Unwrapped(cri, "2025-03-10T10:00:00.1Z stdout F whole"), "whole");
  EXPECT_EQ(Unwrapped(cri, "2025-03-10T10:00:00.1Z stdout P one "), "+");
  EXPECT_EQ(Unwrapped(cri, "2025-03-10T10:00:00.1Z stderr F other"), "other");
  EXPECT_EQ(Unwrapped(cri, "2025-03-10T10:00:00.1Z stdout P two "), "+");
  EXPECT_EQ(Unwrapped(cri, "2025-03-10T10:00:00.1Z stdout F three"), "one two three");
  EXPECT_EQ(Unwrapped(cri, "2025-03-10T10:00:00.1Z stdout F"), "");
  EXPECT_EQ(Unwrapped(cri, "2025-03-10T10:00:00.1Z stdout X a"), "-");
  EXPECT_EQ(Unwrapped(cri, "2025-03-10T10:00:00.1Z a"), "-");
}

TEST(LineWrappingTest, TakesTheLineOutOfAJsonObject) {
  Unwrapper json(Wrapping::kJsonText);
  EXPECT_EQ(Unwrapped(json, R"({"log": "a \"b\"\r\n", "stream": "stdout"})"), "a \"b\"");
  EXPECT_EQ(Unwrapped(json, R"({"k": {"log": "no"}, "message": "second", "log": "first"})"),
            "first");
  EXPECT_EQ(Unwrapped(json, R"({"MESSAGE": "c", "_PID": "1"})"), "c");
  EXPECT_EQ(Unwrapped(json, R"({"log": 1})"), "-");
  EXPECT_EQ(Unwrapped(json, R"({"log": {"log": "x"}})"), "-");
  EXPECT_EQ(Unwrapped(json, R"({"log": "cut)"), "-");
  EXPECT_EQ(Unwrapped(json, "log"), "-");
  const std::string half(16'384, 'x');  // Where Docker cuts.
  EXPECT_EQ(Unwrapped(json, "{\"log\": \"" + half + "\"}"), "+");
  EXPECT_EQ(Unwrapped(json, R"({"log": "y\n"})"), half + "y");
}

}  // namespace
}  // namespace sluice::logs
