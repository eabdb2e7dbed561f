#include "otlp/metrics_message.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <protozero/pbf_reader.hpp>

namespace sluice::otlp {
namespace {

using protozero::pbf_reader;
using std::chrono::seconds;
using telemetry::Exposition;
using telemetry::Label;

const Resource kResource{.service_name = "limits",
                         .service_version = "1.2",
                         .service_instance_id = "h:1",
                         .attributes = {{"env", "prod"}}};

// The first field `number` of a message that is a message itself.
pbf_reader In(pbf_reader message, std::uint32_t number) {
  return message.next(number) ? message.get_message() : pbf_reader();
}

std::vector<pbf_reader> All(pbf_reader message, std::uint32_t number) {
  std::vector<pbf_reader> all;
  while (message.next(number)) {
    all.push_back(message.get_message());
  }
  return all;
}

std::string Text(pbf_reader message, std::uint32_t number) {
  return message.next(number) ? message.get_string() : "";
}

// "key=text" of every KeyValue in field `number`.
std::vector<std::string> Attributes(const pbf_reader& message, std::uint32_t number) {
  std::vector<std::string> all;
  for (const pbf_reader& pair : All(message, number)) {
    all.push_back(Text(pair, 1) + "=" + Text(In(pair, 2), 1));
  }
  return all;
}

template <class Get>
auto Number(pbf_reader message, std::uint32_t field, Get get) {
  EXPECT_TRUE(message.next(field)) << field;
  return (message.*get)();
}

std::string Written(const std::function<void(Exposition&)>& write) {
  MetricsMessage message(WallInstant(seconds(100)), WallInstant(seconds(160)));
  write(message);
  return message.Finish(kResource);
}

TEST(MetricsMessageTest, SaysWhoSendsAndByWhichScope) {
  const std::string bytes = Written([](Exposition& out) {
    out.Family("x", "X.", Exposition::Type::kGauge);
    out.Sample("x", {}, 1.5);
  });
  const pbf_reader resource_metrics = In(pbf_reader(bytes), 1);
  EXPECT_EQ(Attributes(In(resource_metrics, 1), 1),
            (std::vector<std::string>{"service.name=limits", "service.version=1.2",
                                      "service.instance.id=h:1", "env=prod"}));
  const pbf_reader scope = In(In(resource_metrics, 2), 1);
  EXPECT_EQ(Text(scope, 1), "sluice");
  EXPECT_EQ(Text(scope, 2), "1.2");
}

TEST(MetricsMessageTest, ACounterIsACumulativeMonotonicSum) {
  const std::string bytes = Written([](Exposition& out) {
    out.Family("cpu_seconds_total", "CPU.", Exposition::Type::kCounter);
    const Label label{.name = "rule", .value = "a\xff"};
    out.Sample("cpu_seconds_total", {&label, 1}, std::uint64_t{7});
    out.Sample("cpu_seconds_total", {}, 0.5);
    out.Family("none_total", "Without samples.", Exposition::Type::kCounter);
  });
  const std::vector<pbf_reader> metrics = All(In(In(pbf_reader(bytes), 1), 2), 2);
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(Text(metrics[0], 1), "cpu_seconds_total");
  EXPECT_EQ(Text(metrics[0], 2), "CPU.");
  EXPECT_EQ(Text(metrics[0], 3), "s");
  const pbf_reader sum = In(metrics[0], 7);
  EXPECT_EQ(Number(sum, 2, &pbf_reader::get_enum), 2);
  EXPECT_TRUE(Number(sum, 3, &pbf_reader::get_bool));
  const std::vector<pbf_reader> points = All(sum, 1);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(Attributes(points[0], 7), std::vector<std::string>{"rule=a\\xff"});
  EXPECT_EQ(Number(points[0], 2, &pbf_reader::get_fixed64), 100'000'000'000U);
  EXPECT_EQ(Number(points[0], 3, &pbf_reader::get_fixed64), 160'000'000'000U);
  EXPECT_EQ(Number(points[0], 6, &pbf_reader::get_sfixed64), 7);
  EXPECT_EQ(Number(points[1], 4, &pbf_reader::get_double), 0.5);
}

TEST(MetricsMessageTest, AHistogramHasABucketMoreThanBounds) {
  telemetry::Histogram histogram;
  histogram.Record(std::chrono::microseconds(4));
  histogram.Record(std::chrono::seconds(2));
  const std::string bytes = Written([&](Exposition& out) {
    out.Family("d_seconds", "D.", Exposition::Type::kHistogram);
    const Label label{.name = "store", .value = "redis"};
    out.Samples("d_seconds", {&label, 1}, histogram.Read());
  });
  const pbf_reader data = In(In(In(In(pbf_reader(bytes), 1), 2), 2), 9);
  EXPECT_EQ(Number(data, 2, &pbf_reader::get_enum), 2);
  pbf_reader point = In(data, 1);
  EXPECT_EQ(Attributes(point, 9), std::vector<std::string>{"store=redis"});
  EXPECT_EQ(Number(point, 4, &pbf_reader::get_fixed64), 2U);
  EXPECT_EQ(Number(point, 5, &pbf_reader::get_double), 2.000004);
  const auto counts = Number(point, 6, &pbf_reader::get_packed_fixed64);
  EXPECT_EQ(counts.size(), telemetry::Histogram::kBuckets);
  const auto bounds = Number(point, 7, &pbf_reader::get_packed_double);
  EXPECT_EQ(bounds.size(), telemetry::Histogram::kBoundsUs.size());
  EXPECT_EQ(*bounds.begin(), 0.000001);
}

TEST(MetricsMessageTest, ReadsWhatACollectorDidNotTake) {
  EXPECT_EQ(ReadPartialSuccess("").rejected, 0);
  const PartialSuccess partial = ReadPartialSuccess("\x0a\x08\x08\x03\x12\x04nope");
  EXPECT_EQ(partial.rejected, 3);
  EXPECT_EQ(partial.message, "nope");
  EXPECT_EQ(ReadPartialSuccess("\x0a\x50no message").rejected, 0);
  EXPECT_EQ(ReadPartialSuccess("<html>").rejected, 0);
}

}  // namespace
}  // namespace sluice::otlp
