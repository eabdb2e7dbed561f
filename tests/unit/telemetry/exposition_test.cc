#include <array>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/registry.h"

namespace sluice::telemetry {
namespace {

using ::testing::HasSubstr;

TEST(ExpositionTest, WritesHelpTypeAndSamples) {
  std::string text;
  PrometheusText out(text);
  out.Family("sluice_decisions_total", "Decisions made.", Exposition::Type::kCounter);
  const std::array labels{Label{.name = "rule", .value = "api"},
                          Label{.name = "outcome", .value = "allowed"}};
  out.Sample("sluice_decisions_total", labels, std::uint64_t{7});
  EXPECT_EQ(text,
            "# HELP sluice_decisions_total Decisions made.\n"
            "# TYPE sluice_decisions_total counter\n"
            "sluice_decisions_total{rule=\"api\",outcome=\"allowed\"} 7\n");
}

TEST(ExpositionTest, EscapesLabelValuesAndHelp) {
  std::string text;
  PrometheusText out(text);
  out.Family("x", "a\\b \"c\"\nd", Exposition::Type::kGauge);
  const Label label{.name = "path", .value = "C:\\tmp \"new\"\nline"};
  out.Sample("x", {&label, 1}, std::uint64_t{1});
  EXPECT_EQ(text,
            "# HELP x a\\\\b \"c\"\\nd\n"
            "# TYPE x gauge\n"
            "x{path=\"C:\\\\tmp \\\"new\\\"\\nline\"} 1\n");
}

TEST(ExpositionTest, WritesOutWhatATerminalWouldObeyAndBytesThatAreNoUtf8) {
  std::string text;
  PrometheusText out(text);
  const Label label{.name = "key", .value = "a\x1b[31m\xff\u202e"};
  out.Sample("x", {&label, 1}, std::uint64_t{1});
  EXPECT_EQ(text, "x{key=\"a\\\\x1b[31m\\\\xff\\\\u202e\"} 1\n");
}

TEST(ExpositionTest, WritesFractionsAndWhatIsNoNumber) {
  std::string text;
  PrometheusText out(text);
  out.Sample("a", {}, 0.25);
  out.Sample("b", {}, std::numeric_limits<double>::infinity());
  out.Sample("c", {}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(text, "a 0.25\nb +Inf\nc NaN\n");
}

TEST(ExpositionTest, WritesHistogramsCumulativeAndInSeconds) {
  Histogram histogram;
  histogram.Record(std::chrono::microseconds(1));
  histogram.Record(std::chrono::microseconds(4));
  histogram.Record(std::chrono::seconds(2));
  std::string text;
  PrometheusText(text).Samples("d_seconds", histogram.Read());
  EXPECT_THAT(text, HasSubstr("d_seconds_bucket{le=\"0.000001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_bucket{le=\"0.000005\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_bucket{le=\"0.5\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_bucket{le=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_sum 2.000005\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_count 3\n"));
}

TEST(ExpositionTest, WritesTheLabelsOfAHistogramBeforeItsBound) {
  Histogram histogram;
  histogram.Record(std::chrono::milliseconds(1));
  std::string text;
  const Label store{.name = "store", .value = "redis"};
  PrometheusText(text).Samples("d_seconds", {&store, 1}, histogram.Read());
  EXPECT_THAT(text, HasSubstr("d_seconds_bucket{store=\"redis\",le=\"0.0005\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_bucket{store=\"redis\",le=\"0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_sum{store=\"redis\"} 0.001\n"));
  EXPECT_THAT(text, HasSubstr("d_seconds_count{store=\"redis\"} 1\n"));
}

}  // namespace
}  // namespace sluice::telemetry
