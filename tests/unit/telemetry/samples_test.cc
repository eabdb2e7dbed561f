#include "telemetry/samples.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::telemetry {
namespace {

TEST(SamplesTest, ReadsLabelsWithEscapesAndPassesOverTheRest) {
  const Samples metrics(
      "# TYPE a counter\na{x=\"1,}\\\"\",y=\"2\"} 3\na{x=\"q\\\\\\n\"} 4e2\nb 5\nbroken\nc{x=\"1} "
      "2\n");
  EXPECT_EQ(metrics.Sum("a"), 403);
  EXPECT_EQ(metrics.Sum("a", {{"x", "1,}\""}, {"y", "2"}}), 3);
  EXPECT_EQ(metrics.Sum("a", {{"x", "q\\\n"}}), 400);
  EXPECT_EQ(metrics.Sum("b"), 5);
  EXPECT_FALSE(metrics.Has("broken"));
  EXPECT_EQ(metrics.Values("a", "y"), std::vector<std::string>{"2"});
}

TEST(SamplesTest, KeepsOnlyTheFamiliesThatAreAskedFor) {
  const Samples samples("a 1\nb{x=\"y\"} 2\n", [](std::string_view name) { return name == "b"; });
  EXPECT_FALSE(samples.Has("a"));
  EXPECT_EQ(samples.Sum("b"), 2);
}

}  // namespace
}  // namespace sluice::telemetry
