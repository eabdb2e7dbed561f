#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include "base/display_text.h"
#include "base/utf8.h"
#include "replay/html_parts.h"
#include "replay/human_text.h"
#include "replay/replay_report.h"
#include "unit/replay/replay_fixture.h"

namespace sluice::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HumanTextTest, WritesNumbersAsPeopleReadThem) {
  EXPECT_EQ(Grouped(std::uint64_t{0}), "0");
  EXPECT_EQ(Grouped(std::uint64_t{1'234'567}), "1,234,567");
  EXPECT_EQ(Grouped(std::uint64_t{999}), "999");
  EXPECT_EQ(Percent(0, 10), "0 %");
  EXPECT_EQ(Percent(1, 1'000'000), "< 0.01 %");
  EXPECT_EQ(Percent(1, 300), "0.33 %");
  EXPECT_EQ(Percent(10, 10), "100.0 %");
  EXPECT_EQ(WindowText(std::chrono::milliseconds(250)), "250ms");
  EXPECT_EQ(WindowText(std::chrono::minutes(90)), "90m");
  EXPECT_EQ(WindowText(std::chrono::hours(48)), "2d");
  EXPECT_EQ(InstantText(WallInstant(std::chrono::seconds(1'765'962'001))), "2025-12-17 09:00:01");
}

class ReportTest : public ReplayTest {
 protected:
  ReplayReport MakeReport() {
    options_.compare = true;
    options_.profile = true;
    std::string log = "garbage\n";
    for (int i = 0; i < 90; ++i) {
      log += Line(i * 2, i % 5, "/p");
    }
    log += "2001:db8::<script> - - [17/Dec/2025:09:05:00 +0000] \"GET / HTTP/1.1\" 200 5\n";
    return Run(
        "rules:\n"
        "  - {id: slow, key_pattern: \"client:{client}\", algorithm: sliding_window, limit: 3, "
        "window: 1m}\n"
        "  - {id: shaped, key_pattern: all, algorithm: leaky_bucket, shape: true, rate: 6, window: "
        "1m, burst: 5, mode: shadow}\n",
        log);
  }
};

TEST_F(ReportTest, TheTextSaysWhatWouldHaveBeenDenied) {
  const std::string text = ReportText(MakeReport(), 200);
  EXPECT_THAT(text, HasSubstr("91 requests, common or combined, 1 bad line\n"));
  EXPECT_THAT(text, HasSubstr(":1: no [time]\n"));
  EXPECT_THAT(text, HasSubstr("Rule slow: sliding_window, 3 per 1m, key client:{client}\n"));
  EXPECT_THAT(text, HasSubstr("of 91 requests"));
  EXPECT_THAT(text, HasSubstr("of 6 keys"));
  EXPECT_THAT(text, HasSubstr("would have delayed"));
  EXPECT_THAT(text, HasSubstr("> sliding_window/48 "));
  EXPECT_THAT(text, HasSubstr("at most 3 in any 1m"));
  EXPECT_THAT(text, HasSubstr("█"));
}

// Keys as clients make them up: colours, a window's title, C1, half a character, right to left, a
// kilobyte.
const std::vector<std::string> kHostileKeys{"\x1B[31mRED\x1B[0m",
                                            "\x1B]0;title\x07",
                                            "\xC2\x9B"
                                            "31m",
                                            "caf\xC3",
                                            "\xE2\x80\xAE"
                                            "evil",
                                            "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
                                            "<img src=x onerror=alert(1)>",
                                            std::string(1000, 'k'),
                                            "\xE6\xBC\xA2\xE5\xAD\x97" + std::string(40, 'w')};

TEST_F(ReportTest, NoLineIsWiderThanTheTerminalAndNoByteObeysAClient) {
  ReplayReport report = MakeReport();
  for (RuleReport& rule : report.rules) {
    for (std::size_t i = 0; i < kHostileKeys.size(); ++i) {
      KeyLine line = rule.busiest.front();
      line.key = kHostileKeys[i];
      rule.most_denied.push_back(line);
    }
  }
  report.warnings.push_back("a warning " + std::string(300, 'w') + " \x1B[31m");
  report.logs[0].name = "/a/long/path/" + std::string(120, 'p') + "\x9B";
  for (const std::size_t width : {40U, 60U, 80U, 118U, 200U}) {
    const std::string text = ReportText(report, width);
    EXPECT_TRUE(base::IsUtf8(text));
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      EXPECT_LE(base::ColumnsOf(line), width) << line;
      EXPECT_EQ(base::DisplayText(line), line);
      begin = end + 1;
    }
  }
  const std::string page = ReportHtml(report);
  EXPECT_TRUE(base::IsUtf8(page));
  EXPECT_EQ(base::DisplayText(page, base::LineFeeds::kKept), page);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
}

TEST_F(ReportTest, TheJsonHasAllOfIt) {
  const boost::json::object report = boost::json::parse(ReportJson(MakeReport())).as_object();
  EXPECT_EQ(report.at("requests").as_int64(), 91);
  EXPECT_EQ(report.at("first").as_string(), "2025-12-17T09:00:00Z");
  EXPECT_EQ(report.at("logs").as_array().at(0).at("bad_lines").as_int64(), 1);
  const boost::json::object& rule = report.at("rules").as_array().at(0).as_object();
  EXPECT_EQ(rule.at("name").as_string(), "slow");
  EXPECT_EQ(rule.at("keys").as_int64(), 6);
  std::int64_t sum = 0;
  for (const char* which : {"allowed", "denied"}) {
    for (const auto& count : rule.at("timeline").at(which).as_array()) {
      sum += count.as_int64();
    }
  }
  EXPECT_EQ(sum, 91);
  EXPECT_EQ(rule.at("busiest").as_array().at(0).at("requests").as_int64(), 18);
  EXPECT_EQ(rule.at("comparison").as_array().size(), 6U);
  EXPECT_GT(report.at("rules").as_array().at(1).at("delayed").as_int64(), 0);
}

TEST_F(ReportTest, ThePageStandsAloneAndTrustsNoText) {
  const std::string page = ReportHtml(MakeReport());
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, HasSubstr("Together the enforced rules would have denied"));
  EXPECT_THAT(page, HasSubstr("Who would be hit"));
  EXPECT_THAT(page, HasSubstr("answers to the denied"));
  EXPECT_THAT(page, HasSubstr("2xx 100.0 %"));
  const auto count = [&page](std::string_view what) {
    std::size_t times = 0;
    for (std::size_t at = page.find(what); at != page.npos; at = page.find(what, at + 1)) {
      ++times;
    }
    return times;
  };
  EXPECT_EQ(count("<svg"), count("</svg>"));
  EXPECT_EQ(count("<section"), count("</section>"));
  EXPECT_EQ(count("<g>"), count("</g>"));
  EXPECT_EQ(count("<div"), count("</div>"));
  EXPECT_EQ(count("<li>"), count("</li>"));
  EXPECT_EQ(count("<bdi>"), count("</bdi>"));
}

TEST_F(ReportTest, TheTimelinesTicksAreRoundTimes) {
  Timeline timeline;
  for (int minute = 0; minute < 180; ++minute) {  // From 09:00:00.
    timeline.Add(WallInstant(std::chrono::seconds(1'765'962'000 + (minute * 60))), true);
  }
  const std::string chart = TimelineChart(timeline);
  for (const std::string_view tick : {">09:00<", ">09:30<", ">10:00<", ">11:30<"}) {
    EXPECT_THAT(chart, HasSubstr(tick));
  }
}

TEST_F(ReportTest, NoRequestsAreAReportToo) {
  const ReplayReport report =
      Run("rules:\n  - {id: r, key_pattern: all, algorithm: gcra, rate: 1, window: 1m}\n", "");
  EXPECT_THAT(ReportText(report), HasSubstr("applied to no request"));
  EXPECT_THAT(ReportHtml(report), HasSubstr("no request that could be judged"));
  EXPECT_EQ(boost::json::parse(ReportJson(report)).at("requests").as_int64(), 0);
}

}  // namespace
}  // namespace sluice::replay
