#include <string>

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include "replay/human_text.h"
#include "replay/report_html.h"
#include "replay/report_json.h"
#include "replay/report_text.h"
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
  const std::string text = ReportText(MakeReport());
  EXPECT_THAT(text, HasSubstr("91 requests, common or combined, 1 bad line\n"));
  EXPECT_THAT(text, HasSubstr(":1: no [time]\n"));
  EXPECT_THAT(text, HasSubstr("Rule slow: sliding_window, 3 per 1m, key client:{client}\n"));
  EXPECT_THAT(text, HasSubstr("of 91 requests"));
  EXPECT_THAT(text, HasSubstr("of 6 keys"));
  EXPECT_THAT(text, HasSubstr("would have delayed"));
  EXPECT_THAT(text, HasSubstr(">sliding_window, 48 segments"));
  EXPECT_THAT(text, HasSubstr("█"));
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
  EXPECT_THAT(page, HasSubstr("the limit</text>"));
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
}

TEST_F(ReportTest, NoRequestsAreAReportToo) {
  const ReplayReport report =
      Run("rules:\n  - {id: r, key_pattern: all, algorithm: gcra, rate: 1, window: 1m}\n", "");
  EXPECT_THAT(ReportText(report), HasSubstr("applied to no request"));
  EXPECT_THAT(ReportHtml(report), HasSubstr("0 %"));
  EXPECT_EQ(boost::json::parse(ReportJson(report)).at("requests").as_int64(), 0);
}

}  // namespace
}  // namespace sluice::replay
